"""OpenAI Chat Completions: `chat.completion.chunk` objects, then `[DONE]`, which proves nothing.

Evidence is `choices[0].finish_reason`; an empty string is as good as null. A refusal is visible in `delta.refusal` only and ends with
`stop`. Usage comes in a chunk of its own with no choices, after the finish, if `stream_options.include_usage` was asked for. An error
inside the open stream is a payload with `error`. A stop sequence can't be told from a natural stop. Only the first choice is read.
Source: the types of the `openai` package; https://platform.openai.com/docs/api-reference/chat-streaming
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..events import Delta, Ending, EndingKind, ToolPiece, Usage
from .reasoning import blocks
from .shape import Fields, fields, first, items, number, reason_of, text

PROTOCOL = "openai_chat"
FRAMING = "sse"
CLOSING: str | None = None

REASONS: dict[str, EndingKind] = {
    "stop": "completed",
    "length": "truncated",
    "tool_calls": "tool_call",
    "function_call": "tool_call",
    "content_filter": "filtered",
}


def read(payload: Mapping[str, Any]) -> Delta:
    """What one chunk says."""
    return delta_of(payload, REASONS)


def delta_of(payload: Fields, reasons: Mapping[str, EndingKind]) -> Delta:
    """What one chunk of this shape says, by a dialect's table of reasons."""
    if payload.get("error"):
        return Delta(ending=Ending.provider_error(reason_of(payload["error"]), evidence="error"))
    if payload.get("object") == "error" or payload.get("type") == "error":
        return Delta(ending=Ending.provider_error(reason_of(payload), evidence="error"))
    choices = [fields(choice) for choice in items(payload.get("choices"))]
    choice = next((choice for choice in choices if not choice.get("index")), {})
    delta = fields(choice.get("delta"))
    content = blocks(delta.get("content"))
    reason = text(choice.get("finish_reason"))
    ending = Ending(reasons.get(reason, "provider_error"), reason, "choices[0].finish_reason") if reason else None
    return Delta(
        text=content.text,
        reasoning=text(first(delta, "reasoning_content", "reasoning")) + content.reasoning,
        tool=_tools(delta),
        ending=ending,
        usage=usage_of(payload.get("usage"), final=not choices or bool(reason)),
        refusal=text(delta.get("refusal")) + content.refusal,
    )


def _tools(delta: Fields) -> tuple[ToolPiece, ...]:
    pieces = []
    for at, call in enumerate(map(fields, items(delta.get("tool_calls")))):
        index, function = number(call.get("index")), fields(call.get("function"))
        name, arguments = text(function.get("name")) or None, text(function.get("arguments"))
        pieces.append(ToolPiece(at if index is None else index, text(call.get("id")) or None, name, arguments))
    if old := fields(delta.get("function_call")):
        pieces.append(ToolPiece(0, None, text(old.get("name")) or None, text(old.get("arguments"))))
    return tuple(pieces)


def usage_of(reported: object, *, final: bool) -> Usage | None:
    """The usage object of this protocol; None without one."""
    usage = fields(reported)
    if not usage:
        return None
    return Usage(
        input_tokens=number(usage.get("prompt_tokens")),
        output_tokens=number(usage.get("completion_tokens")),
        reasoning_tokens=number(fields(usage.get("completion_tokens_details")).get("reasoning_tokens")),
        kind="reported" if final else "running",
    )
