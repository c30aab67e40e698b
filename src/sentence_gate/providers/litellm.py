"""LiteLLM chunks (`ModelResponseStream.model_dump()`): OpenAI's shape with reasons that LiteLLM has translated.

It gives `stop` for reasons that it doesn't know, for Gemini's errors and for a Gemini stream that was cut: an ending through it is weaker
evidence than the provider's own, and says so in its notes. It counts tokens by itself, unmarked, where the provider reported none, so that
its usage counts as estimated. A raw reason of Anthropic's is read where it comes along; else a refusal is `content_filter`, thus filtered.
Azure's late filter and the words of a refusal are lost. A stream that is cut, reset or ends in an error raises MidStreamFallbackError,
which tells none of them from the others: provider_error.
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
    if delta.usage is not None:
        delta = replace(delta, usage=replace(delta.usage, kind="estimated"))
    if delta.ending is None:
        return delta
    if (raw := _raw_reason(payload)) and raw in anthropic.REASONS:
        return replace(delta, ending=Ending(anthropic.REASONS[raw], raw, "provider_specific_fields.stop_reason"), notes=(_TRANSLATED,))
    return replace(delta, notes=(_TRANSLATED,))


def _raw_reason(payload: Mapping[str, Any]) -> str:
    for choice in map(fields, items(payload.get("choices"))):
        for holder in (fields(choice.get("delta")), choice, payload):
            if reason := text(fields(holder.get("provider_specific_fields")).get("stop_reason")):
                return reason
    return ""
