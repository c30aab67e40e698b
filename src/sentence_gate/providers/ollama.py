"""Ollama `/api/chat` and `/api/generate`: one JSON object a line; the last one has `done: true` and a reason.

An empty reason is none: a runner that died leaves one, or no last line at all. Tool calls end with `stop`. An error is a line with `error`.
Source: ollama docs/api.md, docs/api/errors.mdx; server/routes.go
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..events import WHOLE, Delta, Ending, EndingKind, ToolPiece, Usage
from .shape import Fields, fields, items, number, reason_of, text

PROTOCOL = "ollama"
FRAMING = "ndjson"
CLOSING: str | None = None

REASONS: dict[str, EndingKind] = {"stop": "completed", "length": "truncated"}


def read(payload: Mapping[str, Any]) -> Delta:
    """What one line says."""
    if payload.get("error"):
        return Delta(ending=Ending.provider_error(reason_of(payload["error"]), evidence="error"))
    message = fields(payload.get("message"))
    done, reason = payload.get("done") is True, text(payload.get("done_reason"))
    usage = None
    if done and ("eval_count" in payload or "prompt_eval_count" in payload):
        usage = Usage(number(payload.get("prompt_eval_count")), number(payload.get("eval_count")), kind="reported")
    return Delta(
        text=text(message.get("content")) + text(payload.get("response")),
        reasoning=text(message.get("thinking")) + text(payload.get("thinking")),
        tool=_tools(message),
        ending=Ending(REASONS.get(reason, "provider_error"), reason, "done_reason") if done and reason else None,
        usage=usage,
        closing=done,
    )


def _tools(message: Fields) -> tuple[ToolPiece, ...]:
    calls = [fields(fields(call).get("function")) for call in items(message.get("tool_calls"))]
    return tuple(
        ToolPiece(WHOLE, None, text(call.get("name")) or None, json.dumps(call.get("arguments") or {}, default=str)) for call in calls
    )
