"""Mistral chat completions: like OpenAI's, with content as a string or a list of chunks, and the usage always in the last chunk.

The `mistralai` package wraps each payload in `data`. Source: the models of the `mistralai` package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..events import Delta, EndingKind
from .openai_chat import delta_of
from .shape import fields

PROTOCOL = "mistral"
FRAMING = "sse"
CLOSING: str | None = None

REASONS: dict[str, EndingKind] = {
    "stop": "completed",
    "length": "truncated",
    "model_length": "truncated",
    "tool_calls": "tool_call",
    "error": "provider_error",
}


def read(payload: Mapping[str, Any]) -> Delta:
    """What one chunk says."""
    inner = fields(payload.get("data"))
    return delta_of(inner if inner and "choices" not in payload else payload, REASONS)
