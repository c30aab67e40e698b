"""Anthropic Messages: named events; `message_delta` says why the turn ended, `message_stop` closes the protocol.

Evidence is a non-null `stop_reason`; gateways leave `message_stop` out, which is noted and forgiven. Input tokens come first, output tokens
with the `message_delta`: a cut stream keeps the input only. Thinking blocks and the calls of the provider's own tools (`server_tool_use`,
`mcp_tool_use`) are no answer and no call of the caller's tools.
Source: the types of the `anthropic` package; https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..events import Delta, Ending, EndingKind, ToolPiece, Usage
from .shape import Fields, fields, number, reason_of, text

PROTOCOL = "anthropic"
FRAMING = "sse"
CLOSING: str | None = "message_stop"

REASONS: dict[str, EndingKind] = {
    "end_turn": "completed",
    "stop_sequence": "stop_sequence",
    "tool_use": "tool_call",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "pause_turn": "truncated",
    "compaction": "truncated",
    "refusal": "refused",
}


def read(payload: Mapping[str, Any]) -> Delta:
    """What one event says."""
    match text(payload.get("type")):
        case "content_block_delta":
            return _block_delta(payload)
        case "content_block_start":
            return _block_start(payload)
        case "message_start":
            # The output count of the start is the first token's, not a running one.
            usage = fields(fields(payload.get("message")).get("usage"))
            return Delta(usage=Usage(input_tokens=_input(usage), kind="running")) if usage else Delta()
        case "message_delta":
            return _message_delta(payload)
        case "message_stop":
            return Delta(closing=True)
        case "error":
            return Delta(ending=Ending.provider_error(reason_of(payload.get("error") or payload), evidence="error"))
        case _ if payload.get("error"):
            return Delta(ending=Ending.provider_error(reason_of(payload["error"]), evidence="error"))
    return Delta()


def _block_start(payload: Fields) -> Delta:
    block = fields(payload.get("content_block"))
    match text(block.get("type")):
        case "text":
            return Delta(text=text(block.get("text")))
        case "thinking":
            return Delta(reasoning=text(block.get("thinking")))
        case "tool_use":
            given = block.get("input")
            whole = json.dumps(given) if given else ""
            return Delta(tool=(ToolPiece(_index(payload), text(block.get("id")) or None, text(block.get("name")) or None, whole),))
    return Delta()


def _block_delta(payload: Fields) -> Delta:
    delta = fields(payload.get("delta"))
    match text(delta.get("type")):
        case "text_delta":
            return Delta(text=text(delta.get("text")))
        case "thinking_delta":
            return Delta(reasoning=text(delta.get("thinking")))
        case "input_json_delta":
            return Delta(tool=(ToolPiece(_index(payload), arguments=text(delta.get("partial_json"))),))
    return Delta()


def _message_delta(payload: Fields) -> Delta:
    delta, usage = fields(payload.get("delta")), fields(payload.get("usage"))
    reason = text(delta.get("stop_reason"))
    ending: Ending | None = None
    notes: tuple[str, ...] = ()
    if reason:
        ending = Ending(REASONS.get(reason, "provider_error"), reason, "message_delta.stop_reason")
        category = text(fields(delta.get("stop_details")).get("category"))
        notes = (f"stop_details:{category}",) if category else ()
    told = None
    if usage:
        told = Usage(_input(usage), number(usage.get("output_tokens")), kind="reported" if reason else "running")
    return Delta(ending=ending, usage=told, notes=notes)


def _input(usage: Fields) -> int | None:
    """Input tokens, cached ones included: they are counted apart on the wire."""
    counts = [number(usage.get(name)) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")]
    return None if counts[0] is None else sum(count or 0 for count in counts)


def _index(payload: Fields) -> int:
    return number(payload.get("index")) or 0
