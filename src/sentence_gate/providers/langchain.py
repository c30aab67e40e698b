"""LangChain message chunks, as each provider package fills them (`AIMessageChunk.model_dump()` or `vars(chunk)`).

Only single chunks can be read: merged metadata joins reasons (`"STOPSTOP"`). `chunk_position="last"` is made up, also on a cut stream, and
is ignored. Usage comes in parts that add up. langchain-openai drops the text of a refusal, and Azure's filter after the finish.

    package                        reason in response_metadata
    -----------------------------  ------------------------------------------------------
    langchain-openai, and those    finish_reason; Responses: status, incomplete_details.reason
      built on it (azure, deepseek, mistralai, groq, together, fireworks, xai, nvidia)
    langchain-anthropic            stop_reason, stop_sequence, stop_details
    langchain-aws                  stopReason; stop_reason through InvokeModel
    langchain-google-genai         finish_reason in upper case; prompt_feedback.block_reason
    langchain-ollama               done_reason
    langchain-cohere               finish_reason in upper case
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..events import Delta, Ending, EndingKind, ToolPiece, Usage
from . import anthropic, bedrock, cohere, gemini, mistral, ollama, openai_compatible, openai_responses
from .reasoning import blocks
from .shape import Fields, fields, first, items, number, text

PROTOCOL = "langchain"
FRAMING = "objects"
CLOSING: str | None = None
SUMS_USAGE = True

PACKAGES = frozenset(
    {
        "langchain_anthropic", "langchain_aws", "langchain_cohere", "langchain_deepseek", "langchain_fireworks", "langchain_google_genai",
        "langchain_google_vertexai", "langchain_groq", "langchain_mistralai", "langchain_nvidia_ai_endpoints", "langchain_ollama",
        "langchain_openai", "langchain_openrouter", "langchain_perplexity", "langchain_together", "langchain_xai",
    }
)  # fmt: skip
"""Packages whose chunks carry the reason. From any other, an absent reason says nothing: `Tracker(langchain, carries_reason=False)`."""


def carries_reason(module: str) -> bool:
    """Whether the chat models of this module (`type(model).__module__`) say why the turn ended."""
    return module.split(".", 1)[0] in PACKAGES


# Upper-case reasons are Gemini's or Cohere's, which share no word with different meanings.
_REASONS: dict[str, EndingKind] = {
    **gemini.REASONS,
    **cohere.REASONS,
    **mistral.REASONS,
    **bedrock.REASONS,
    **anthropic.REASONS,
    **openai_compatible.REASONS,
}


def read(payload: Mapping[str, Any]) -> Delta:
    """What one chunk says."""
    extra, told = fields(payload.get("additional_kwargs")), fields(payload.get("response_metadata"))
    content = blocks(payload.get("content"))
    ending = _ending(told)
    if ending is None and (blocked := text(fields(told.get("prompt_feedback")).get("block_reason"))):
        ending = gemini.blocked(blocked)
    return Delta(
        text=content.text,
        reasoning=content.reasoning + text(extra.get("reasoning_content")),
        tool=_tools(payload),
        ending=ending,
        usage=_usage(fields(payload.get("usage_metadata"))),
        refusal=content.refusal + text(extra.get("refusal")),
    )


def ending_of(metadata: Mapping[str, Any]) -> Ending | None:
    """The ending in the metadata of one chunk or of a whole message; None if it has none."""
    return _ending(fields(metadata))


def _ending(told: Fields) -> Ending | None:
    for name in ("finish_reason", "stop_reason", "stopReason", "done_reason"):
        if reason := text(told.get(name)):
            kind = ollama.REASONS.get(reason, "provider_error") if name == "done_reason" else _REASONS.get(reason, "provider_error")
            ending = Ending(kind, reason, f"response_metadata.{name}")
            if ending.kind == "completed" and text(told.get("stop_sequence")):
                return replace(ending, kind="stop_sequence")
            return ending
    if text(told.get("object")) == "response" or "incomplete_details" in told or text(told.get("status")) in openai_responses.TERMINAL:
        return openai_responses.ending_of(told)
    return None


def _tools(payload: Fields) -> tuple[ToolPiece, ...]:
    return tuple(
        ToolPiece(
            at if (index := number(piece.get("index"))) is None else index,
            text(piece.get("id")) or None,
            text(piece.get("name")) or None,
            text(piece.get("args")),
        )
        for at, piece in enumerate(map(fields, items(payload.get("tool_call_chunks"))))
    )


def _usage(usage: Fields) -> Usage | None:
    if not usage:
        return None
    details = fields(first(usage, "output_token_details"))
    # A package that has no count writes 0; in a sum both are the same.
    before, after = number(usage.get("input_tokens")) or None, number(usage.get("output_tokens")) or None
    return Usage(before, after, number(details.get("reasoning")), "running")
