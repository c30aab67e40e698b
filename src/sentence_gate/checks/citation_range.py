"""A marker must name a source that was given.

What it does: stops a sentence whose marker has a number that no source has, or a reversed or huge range.
Why: a reader who sees `[7]` under six sources takes an invention for a reference.
Example: `It opens at nine [S7].` with six sources.
Limits: that the source exists says nothing of what it holds; `unsupported_value` looks into it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..events import PolicyView, Sentence, Violation
from ..sources import Sources


def citation_range(sentence: Sentence, sources: Sources, policy: PolicyView) -> Iterator[Violation]:
    """One violation a sentence whose markers name a source that wasn't given; `detail` lists the numbers (0: no number at all)."""
    wrong = [number for number in sentence.markers if not 0 < number <= len(sources)]
    if wrong:
        yield Violation("citation_range", ", ".join(map(str, wrong)))
