"""What each provider's payloads say, one file a wire protocol or framework.

A provider is a module with

    PROTOCOL: str           its name, kept beside the ending
    FRAMING: str            how its bytes hold payloads: "sse", "ndjson", "eventstream", or "objects" for a framework's own
    CLOSING: str | None     the event after which it sends nothing more, if it has one
    read(payload: Mapping) -> Delta(text, reasoning, tool, ending, usage, refusal, closing, notes)

`read` takes plain dictionaries (a pydantic object's `model_dump()`, or `vars()` of a flat record), imports no SDK, keeps no state, never
raises on an odd shape, and reports facts: an unknown event is an empty Delta, an unknown reason a `provider_error` with its raw value. What
several payloads together mean, `sentence_gate.endings.Tracker` decides:

    tracker = Tracker(openai_chat)
    for chunk in stream:
        delta = openai_chat.read(chunk.model_dump())
        tracker.add(delta)
        outcome = gate.feed(reasoning_filter.feed(delta.text))
    gate.finish(tracker.ending())                  # or ending("reset"), ending("closed_by_us")

`streams.read_answer` does this for a whole stream. Reasoning is taken out by `reasoning.ReasoningFilter` (tags in the text) and
`reasoning.blocks` (typed content blocks; the readers use it).
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from ..errors import UsageError
from ..events import Delta, ToolPiece
from .reasoning import ReasoningFilter

__all__ = ["Delta", "ReasoningFilter", "ToolPiece", "load", "names"]

_SHARED = frozenset({"eventstream", "reader", "reasoning", "shape", "transport"})


def names() -> tuple[str, ...]:
    """The names of the providers, which are the files' names."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name not in _SHARED))


def load(name: str) -> ModuleType:
    """The provider of this name, such as "openai_chat". Raises UsageError for an unknown one."""
    if name not in names():
        raise UsageError(f"unknown provider {name!r}; there are {', '.join(names())}")
    return importlib.import_module(f"{__name__}.{name}")
