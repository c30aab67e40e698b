"""Servers that speak OpenAI's Chat Completions with words of their own: vLLM, llama.cpp, TGI, NVIDIA NIM, OpenRouter, DeepSeek, SGLang.

Their marker `[DONE]` comes after errors too (vLLM, TGI), or not at all. vLLM names the stop sequence that it met in `stop_reason`; TGI has
reasons of its own; `abort` (vLLM), `error` (OpenRouter), `insufficient_system_resource` (DeepSeek) and every reason that nobody knows are
errors. Older vLLM sends `{"object": "error"}`, older llama.cpp a field `error:` that is no event at all (the payload layer hands it over).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..events import Delta, EndingKind
from .openai_chat import REASONS as OPENAI
from .openai_chat import delta_of
from .shape import fields, items

PROTOCOL = "openai_compatible"
FRAMING = "sse"
CLOSING: str | None = None

REASONS: dict[str, EndingKind] = {
    **OPENAI,
    "stop_sequence": "stop_sequence",  # TGI
    "eos_token": "completed",  # TGI before 2.0
    "eos": "completed",
}


def read(payload: Mapping[str, Any]) -> Delta:
    """What one chunk says."""
    delta = delta_of(payload, REASONS)
    if delta.ending and delta.ending.kind == "completed":
        choice = next((one for one in map(fields, items(payload.get("choices"))) if not one.get("index")), {})
        met = choice.get("stop_reason")
        if isinstance(met, (str, int)) and not isinstance(met, bool) and met != "":
            return replace(delta, ending=replace(delta.ending, kind="stop_sequence"))
    return delta
