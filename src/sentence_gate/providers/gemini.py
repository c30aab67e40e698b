"""Google Gemini streamGenerateContent (`alt=sse`): one GenerateContentResponse an event, no closing event, usage so far in each.

Evidence is a `finishReason` with no text after it: some models send one and go on, older Vertex sent `STOP` with every chunk. A blocked
prompt has no candidate, only `promptFeedback.blockReason`. A stop sequence ends as `STOP`. Keys are read as on the wire (camel case) and as
the `google-genai` package dumps them (snake case).
Source: google/genai/types.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..events import WHOLE, Delta, Ending, EndingKind, ToolPiece, Usage
from .shape import Fields, fields, first, items, number, reason_of, text

PROTOCOL = "gemini"
FRAMING = "sse"
CLOSING: str | None = None

REASONS: dict[str, EndingKind] = {
    "STOP": "completed",
    "MAX_TOKENS": "truncated",
    "CONTINUATION": "truncated",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "LANGUAGE": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
    "IMAGE_SAFETY": "filtered",
    "IMAGE_PROHIBITED_CONTENT": "filtered",
    "IMAGE_OTHER": "filtered",
    "IMAGE_RECITATION": "filtered",
    "MODEL_ARMOR": "filtered",
    "ESCALATION": "filtered",
    "PUP_LIMITED_DISABLED": "filtered",
    "OTHER": "provider_error",
    "NO_IMAGE": "provider_error",
    "FINISH_REASON_UNSPECIFIED": "provider_error",
    "MALFORMED_FUNCTION_CALL": "provider_error",
    "MALFORMED_RESPONSE": "provider_error",
    "UNEXPECTED_TOOL_CALL": "provider_error",
    "TOO_MANY_TOOL_CALLS": "provider_error",
    "MISSING_THOUGHT_SIGNATURE": "provider_error",
}


def read(payload: Mapping[str, Any]) -> Delta:
    """What one response says."""
    if payload.get("error"):
        return Delta(ending=Ending.provider_error(reason_of(payload["error"]), evidence="error"))
    candidate = next((one for one in map(fields, items(payload.get("candidates"))) if not one.get("index")), {})
    parts = [fields(part) for part in items(fields(candidate.get("content")).get("parts"))]
    reason = text(first(candidate, "finishReason", "finish_reason"))
    ending = Ending(REASONS.get(reason, "provider_error"), reason, "candidates[0].finishReason") if reason else None
    feedback = fields(first(payload, "promptFeedback", "prompt_feedback"))
    if block := text(first(feedback, "blockReason", "block_reason")):
        ending = blocked(block)
    return Delta(
        text="".join(text(part.get("text")) for part in parts if not part.get("thought")),
        reasoning="".join(text(part.get("text")) for part in parts if part.get("thought")),
        tool=_tools(parts),
        ending=ending,
        usage=_usage(payload, final=bool(reason)),
    )


def blocked(reason: str) -> Ending:
    """The ending of a prompt that was not answered."""
    return Ending.filtered(reason, evidence="promptFeedback.blockReason")


def _tools(parts: list[Fields]) -> tuple[ToolPiece, ...]:
    calls = [fields(first(part, "functionCall", "function_call")) for part in parts]
    return tuple(
        ToolPiece(WHOLE, text(call.get("id")) or None, text(call.get("name")) or None, json.dumps(call.get("args") or {}, default=str))
        for call in calls
        if call
    )


def _usage(payload: Fields, *, final: bool) -> Usage | None:
    usage = fields(first(payload, "usageMetadata", "usage_metadata"))
    if not usage:
        return None
    shown = number(first(usage, "candidatesTokenCount", "candidates_token_count"))
    thought = number(first(usage, "thoughtsTokenCount", "thoughts_token_count"))
    output = None if shown is None and thought is None else (shown or 0) + (thought or 0)  # thoughts are counted apart on the wire
    return Usage(number(first(usage, "promptTokenCount", "prompt_token_count")), output, thought, kind="reported" if final else "running")
