"""Cohere chat v2: typed events; `message-end` holds reason and usage.

Source: the types of the `cohere` package; https://docs.cohere.com/v2/docs/streaming
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..events import Delta, Ending, EndingKind, ToolPiece, Usage
from .reasoning import blocks
from .shape import Fields, fields, number, reason_of, text

PROTOCOL = "cohere"
FRAMING = "sse"
CLOSING: str | None = None

REASONS: dict[str, EndingKind] = {
    "COMPLETE": "completed",
    "STOP_SEQUENCE": "stop_sequence",
    "TOOL_CALL": "tool_call",
    "MAX_TOKENS": "truncated",
    "ERROR": "provider_error",
    "TIMEOUT": "provider_error",
    "ERROR_TOXIC": "filtered",
    "ERROR_LIMIT": "truncated",
    "USER_CANCEL": "provider_error",
}


def read(payload: Mapping[str, Any]) -> Delta:
    """What one event says."""
    kind, delta = text(payload.get("type")), fields(payload.get("delta"))
    message = fields(delta.get("message"))
    if kind in ("content-delta", "content-start"):
        content = fields(message.get("content"))
        return Delta(text=text(content.get("text")), reasoning=text(content.get("thinking")) + blocks(message.get("content")).reasoning)
    if kind == "tool-plan-delta":
        return Delta(reasoning=text(message.get("tool_plan")))
    if kind in ("tool-call-start", "tool-call-delta"):
        call = fields(message.get("tool_calls"))
        function = fields(call.get("function"))
        index = number(payload.get("index")) or 0
        return Delta(
            tool=(ToolPiece(index, text(call.get("id")) or None, text(function.get("name")) or None, text(function.get("arguments"))),)
        )
    if kind == "message-end":
        return _end(delta)
    if payload.get("error"):
        return Delta(ending=Ending.provider_error(reason_of(payload["error"]), evidence="error"))
    return Delta()


def _end(delta: Fields) -> Delta:
    reason = text(delta.get("finish_reason"))
    usage = fields(delta.get("usage"))
    counted = fields(usage.get("tokens")) or fields(usage.get("billed_units"))
    return Delta(
        ending=Ending(REASONS.get(reason, "provider_error"), reason, "message-end.finish_reason") if reason else None,
        usage=Usage(number(counted.get("input_tokens")), number(counted.get("output_tokens")), kind="reported") if counted else None,
    )
