"""What one call is judged by: sources, policy and question, from the validator's parameters and the call's metadata.

Metadata wins over parameters. Everything wrong with them is found here, before a model is called.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sentence_gate import Ending, Policy, Report, Source, Sources, UsageError, judge
from sentence_gate import SentenceGate as Gate

_FIELDS = tuple(field.name for field in fields(Source))


class GateNotBound(UsageError):  # noqa: N818 - it says what is the case
    """Text came to the validator that no gate had checked. Nothing of it was let out; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Binding:
    """Sources, policy and question of one call."""

    sources: Sources
    policy: Policy
    question: str = ""

    def gate(self) -> Gate:
        """A gate for one streamed answer."""
        return Gate(self.sources, self.policy, question=self.question)

    def judge(self, answer: str, ending: Ending | None = None) -> Report:
        """The report on a whole answer."""
        return judge(answer, self.sources, self.policy, ending=ending, question=self.question)


def bind(policy: Policy, sources: Sources | None, metadata: Mapping[str, Any]) -> Binding:
    """The binding of a call with this metadata. `sources` are the validator's own, used if the metadata has none.

    Raises UsageError if there are no sources, or if sources, language or question are of a wrong kind.
    """
    given = metadata.get("sources")
    if given is not None:
        sources = read_sources(given)
    if sources is None:
        raise UsageError(
            'SentenceGate needs sources: pass metadata={"sources": ["...", "..."]} with the call, or SentenceGate(sources=[...]); '
            "an empty list means that there are none"
        )
    language = metadata.get("language")
    if language is not None:
        policy = replace(policy, language=language)
    question = metadata.get("question")
    if question is not None and not isinstance(question, str):
        raise UsageError(f'metadata["question"] is a str, not {type(question).__name__}')
    return Binding(sources, policy, question or "")


def read_sources(given: object) -> Sources:
    """Sources from a list, a mapping from id to text, or a JSON string of either.

    An item of a list is a str, a `Source`, or a mapping with `text` and, as you have them, `id`, `title`, `url` and `language`. Raises
    UsageError for anything else.
    """
    if isinstance(given, Sources):
        return given
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            raise UsageError("sources as a str are JSON: a list of texts, or a mapping from id to text") from None
        if not isinstance(given, list | dict):
            raise UsageError(f"sources as JSON are a list or an object, not {type(given).__name__}")
    if isinstance(given, Mapping):
        return Sources(given)
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise UsageError(f"sources are a list, a mapping from id to text, or a JSON string of either, not {type(given).__name__}")
    return Sources([_source(item) if isinstance(item, Mapping) else item for item in given])


def _source(item: Mapping[str, Any]) -> Source:
    unknown = [key for key in item if key not in _FIELDS]
    if unknown or "text" not in item:
        raise UsageError(f"a source as a mapping has text and, as you have them, {', '.join(_FIELDS[1:])}; not {', '.join(map(str, item))}")
    return Source(**item)
