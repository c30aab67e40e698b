"""LiteLLM chunks (`ModelResponseStream.model_dump()`): OpenAI's shape with reasons that LiteLLM has translated.

It gives `stop` for reasons that it doesn't know, for Gemini's errors and for a Gemini stream that was cut, and counts tokens by itself,
unmarked, where the provider reported none: an ending through it is weaker evidence than the provider's own, and says so in its notes. The
raw reason is kept for a few cases of Anthropic's and is read there. Gemini's upper-case usage and Azure's late filter are lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..events import Delta, Ending
from . import anthropic
from .openai_compatible import read as read_openai
from .shape import fields, items, text

PROTOCOL = "litellm"
FRAMING = "objects"
CLOSING: str | None = None

_TRANSLATED = "via_framework:litellm"


def read(payload: Mapping[str, Any]) -> Delta:
    """What one chunk says."""
    delta = read_openai(payload)
    if delta.ending is None:
        return delta
    if (raw := _raw_reason(payload)) and raw in anthropic.REASONS:
        return replace(delta, ending=Ending(anthropic.REASONS[raw], raw, "provider_specific_fields.stop_reason"), notes=(_TRANSLATED,))
    return replace(delta, notes=(_TRANSLATED,))


def _raw_reason(payload: Mapping[str, Any]) -> str:
    for choice in map(fields, items(payload.get("choices"))):
        for holder in (fields(choice.get("delta")), choice):
            if reason := text(fields(holder.get("provider_specific_fields")).get("stop_reason")):
                return reason
    return ""
