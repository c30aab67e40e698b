"""NeMo Guardrails' `LLMResponseChunk` (`dataclasses.asdict(chunk)`), which every model inside NeMo hands over.

Its reasons are its own: `stop`, `length`, `tool_calls`, `content_filter`, `error`, `other`. `other` stands for whatever the adapter doesn't
know, among it some ends of Anthropic's that are legal: an error, unless the raw metadata that came along says more. Through its LangChain
adapter the reasons of AWS and Ollama are in the metadata only, and Google's are all `other`: that channel can't carry one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..endings import UNATTESTED
from ..events import WHOLE, Delta, Ending, EndingKind, ToolPiece, Usage
from . import langchain
from .shape import Fields, fields, first, items, number, text

PROTOCOL = "nemo"
FRAMING = "objects"
CLOSING: str | None = None

REASONS: dict[str, EndingKind] = {
    "stop": "completed",
    "length": "truncated",
    "tool_calls": "tool_call",
    "content_filter": "filtered",
    "error": "provider_error",
}


def read(payload: Mapping[str, Any]) -> Delta:
    """What one chunk says."""
    ending = _ending(text(payload.get("finish_reason")), fields(payload.get("provider_metadata")))
    return Delta(
        text=text(payload.get("delta_content")),
        reasoning=text(payload.get("delta_reasoning")),
        tool=_tools(payload),
        ending=ending,
        usage=_usage(payload.get("usage"), final=ending is not None),
        notes=(UNATTESTED,) if ending and UNATTESTED in ending.notes else (),
    )


def _ending(reason: str, raw: Fields) -> Ending | None:
    if reason in REASONS:
        return Ending(REASONS[reason], reason, "finish_reason")
    if told := langchain.ending_of(raw):
        return told
    if not reason:
        return None
    if reason == "other" and text(raw.get("model_provider")).startswith("google"):
        return Ending.completed(reason, evidence="finish_reason", notes=(UNATTESTED,))
    return Ending.provider_error(reason, evidence="finish_reason")


def _tools(payload: Fields) -> tuple[ToolPiece, ...]:
    pieces = []
    for call in map(fields, items(payload.get("delta_tool_calls"))):
        function = fields(call.get("function"))
        arguments = function.get("arguments")
        whole = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, default=str)
        pieces.append(ToolPiece(WHOLE, text(call.get("id")) or None, text(function.get("name")) or None, whole))
    return tuple(pieces)


def _usage(reported: object, *, final: bool) -> Usage | None:
    usage = fields(reported)
    if not usage:
        return None
    return Usage(
        number(first(usage, "input_tokens", "prompt_tokens")),
        number(first(usage, "output_tokens", "completion_tokens")),
        number(usage.get("reasoning_tokens")),
        "reported" if final else "running",
    )
