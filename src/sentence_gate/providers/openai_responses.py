"""OpenAI Responses: typed events; one of three terminal events holds status, reason and usage.

`incomplete` is a legal end with a reason. A refusal is a content part, and its response is `completed`. `*.done` events repeat what the
deltas said and are not read. The calls of the provider's own tools (search, code, MCP) are no calls of the caller's tools.
Source: the types of the `openai` package; https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..events import Delta, Ending, EndingKind, ToolPiece, Usage
from .shape import Fields, fields, items, number, reason_of, text

PROTOCOL = "openai_responses"
FRAMING = "sse"
CLOSING: str | None = None

TERMINAL = frozenset({"completed", "incomplete", "failed", "cancelled"})

INCOMPLETE: dict[str, EndingKind] = {
    "max_output_tokens": "truncated",
    "max_tokens": "truncated",
    "max_messages": "truncated",
    "steered": "truncated",
    "content_filter": "filtered",
}

_CALLS = frozenset({"function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call"})
_ARGUMENTS = frozenset({"response.function_call_arguments.delta", "response.custom_tool_call_input.delta"})
_REASONING = frozenset({"response.reasoning_text.delta", "response.reasoning_summary_text.delta"})


def read(payload: Mapping[str, Any]) -> Delta:
    """What one event says."""
    kind = text(payload.get("type"))
    if kind == "response.output_text.delta":
        return Delta(text=text(payload.get("delta")))
    if kind in _REASONING:
        return Delta(reasoning=text(payload.get("delta")))
    if kind == "response.refusal.delta":
        return Delta(refusal=text(payload.get("delta")))
    if kind in _ARGUMENTS:
        return Delta(tool=(ToolPiece(number(payload.get("output_index")) or 0, arguments=text(payload.get("delta"))),))
    if kind == "response.output_item.added":
        item = fields(payload.get("item"))
        if text(item.get("type")) in _CALLS:
            name = text(item.get("name")) or text(item.get("type"))
            return Delta(tool=(ToolPiece(number(payload.get("output_index")) or 0, text(item.get("call_id")) or None, name),))
        return Delta()
    if kind in ("response.completed", "response.incomplete", "response.failed"):
        response = fields(payload.get("response"))
        return Delta(ending=ending_of(response, kind.removeprefix("response.")), usage=_usage(response))
    if kind == "error" or payload.get("error"):
        return Delta(ending=Ending.provider_error(reason_of(payload.get("error") or payload), evidence="error"))
    return Delta()


def ending_of(response: Fields, event: str = "") -> Ending | None:
    """The ending that a response object says; `event` is the terminal event's name if there was one. None while it is in progress."""
    status = text(response.get("status")) or event
    if event == "failed" or status in ("failed", "cancelled"):
        reason = reason_of(response.get("error")) if response.get("error") else status
        return Ending("filtered" if "policy" in reason else "provider_error", reason, "response.error")
    if status == "incomplete" or event == "incomplete":
        reason = text(fields(response.get("incomplete_details")).get("reason"))
        return Ending(INCOMPLETE.get(reason, "provider_error"), reason or "incomplete", "response.incomplete_details.reason")
    if status != "completed":
        return Ending.provider_error(status, evidence="response.status") if event else None
    output = [fields(item) for item in items(response.get("output"))]
    parts = [fields(part) for item in output for part in items(item.get("content"))]
    if any(text(part.get("type")) == "refusal" for part in parts):
        return Ending.refused("refusal", evidence="response.output")
    if any(text(item.get("type")) in _CALLS for item in output):
        return Ending.tool_call("completed", evidence="response.status")
    return Ending.completed("completed", evidence="response.status")


def _usage(response: Fields) -> Usage | None:
    usage = fields(response.get("usage"))
    if not usage:
        return None
    reasoning = number(fields(usage.get("output_tokens_details")).get("reasoning_tokens"))
    return Usage(number(usage.get("input_tokens")), number(usage.get("output_tokens")), reasoning, "reported")
