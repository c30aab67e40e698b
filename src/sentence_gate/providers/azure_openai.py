"""Azure OpenAI: Chat Completions with a content filter's results in the chunks.

The first chunk has no choices but `prompt_filter_results`; with the asynchronous filter, chunks without a delta carry
`content_filter_results`, some of them after the finish. Anything that says `"filtered": true` is a filtered answer, whatever the finish
reason said. A filter that was down (`content_filter_error`) did not look: noted.
Source: https://learn.microsoft.com/azure/foundry/openai/concepts/content-streaming
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..events import Delta, Ending
from .openai_chat import read as read_openai
from .shape import Fields, fields, items, nested, text

PROTOCOL = "azure_openai"
FRAMING = "sse"
CLOSING: str | None = None


def read(payload: Mapping[str, Any]) -> Delta:
    """What one chunk says."""
    delta = read_openai(payload)
    results: list[Any] = [payload.get("prompt_filter_results"), payload.get("prompt_annotations")]
    results += [fields(choice).get("content_filter_results") for choice in items(payload.get("choices"))]
    found = [result for group in results if group for result in nested(group)]
    if any(text(fields(result.get("error")).get("code")) == "content_filter_error" for result in found):
        delta = replace(delta, notes=(*delta.notes, "content_filter_down"))
    if any(result.get("filtered") is True for result in found) and (delta.ending is None or delta.ending.kind != "provider_error"):
        reason = delta.ending.provider_reason if delta.ending and delta.ending.kind == "filtered" else _category(found)
        return replace(delta, ending=Ending.filtered(reason, evidence="content_filter_results"))
    return delta


def _category(found: list[Fields]) -> str:
    """The name of the filter that said so."""
    for result in found:
        for name, inner in result.items():
            if fields(inner).get("filtered") is True:
                return name
    return "content_filter"
