"""Amazon Bedrock ConverseStream: each payload is a mapping with one member, as boto3 hands it over and as the frames name it.

Evidence is `messageStop.stopReason`; `metadata` with the usage comes after it. Exceptions are members too. With a guardrail in asynchronous
mode text is out before it was looked at, and `guardrail_intervened` comes at the end.
Source: botocore's model of bedrock-runtime 2023-09-30
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..events import Delta, Ending, EndingKind, ToolPiece, Usage
from .shape import fields, number, text

PROTOCOL = "bedrock"
FRAMING = "eventstream"
CLOSING: str | None = None

REASONS: dict[str, EndingKind] = {
    "end_turn": "completed",
    "stop_sequence": "stop_sequence",
    "tool_use": "tool_call",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "guardrail_intervened": "filtered",
    "content_filtered": "filtered",
    "malformed_model_output": "provider_error",
    "malformed_tool_use": "provider_error",
}

_EXCEPTIONS = (
    "internalServerException", "modelStreamErrorException", "validationException", "throttlingException", "serviceUnavailableException",
    "modelTimeoutException",
)  # fmt: skip


def read(payload: Mapping[str, Any]) -> Delta:
    """What one event says."""
    if "contentBlockDelta" in payload:
        block = fields(payload["contentBlockDelta"])
        delta, index = fields(block.get("delta")), number(block.get("contentBlockIndex")) or 0
        tool = fields(delta.get("toolUse"))
        return Delta(
            text=text(delta.get("text")),
            reasoning=text(fields(delta.get("reasoningContent")).get("text")),
            tool=(ToolPiece(index, arguments=text(tool.get("input"))),) if tool else (),
        )
    if "contentBlockStart" in payload:
        block = fields(payload["contentBlockStart"])
        tool = fields(fields(block.get("start")).get("toolUse"))
        if tool:
            index = number(block.get("contentBlockIndex")) or 0
            return Delta(tool=(ToolPiece(index, text(tool.get("toolUseId")) or None, text(tool.get("name")) or None),))
        return Delta()
    if "messageStop" in payload:
        reason = text(fields(payload["messageStop"]).get("stopReason"))
        return Delta(ending=Ending(REASONS.get(reason, "provider_error"), reason, "messageStop.stopReason") if reason else None)
    if "metadata" in payload:
        usage = fields(fields(payload["metadata"]).get("usage"))
        return (
            Delta(usage=Usage(number(usage.get("inputTokens")), number(usage.get("outputTokens")), kind="reported")) if usage else Delta()
        )
    for name in _EXCEPTIONS:
        if name in payload:
            return Delta(ending=Ending.provider_error(name, evidence=name))
    return Delta()
