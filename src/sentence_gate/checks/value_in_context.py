"""A value must stand in its source near what the sentence says of it. Off by default.

What it does: stops a sentence with a value that a cited source has, but only far from the sentence's words, or next to another unit: two
of the terms that sentence and source share must stand within 55 code points (ten in scripts without spaces) of one place of the value.
Why: most made-up values that get by are numbers that the source has for something else.
Example: `The hall seats 400 [S1].` where the source says "400 lockers" and elsewhere "The hall is closed".
Limits: prose only; a table's row vouches for its values. A source in another language, or one that shares less than a quarter of the
sentence's terms, isn't compared. A paraphrase in other words is stopped: the README has the price.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import values
from ..events import PolicyView, Sentence, Violation
from ..sources import Sources
from ..terms import terms


def value_in_context(sentence: Sentence, sources: Sources, policy: PolicyView) -> Iterator[Violation]:
    """One violation a value that stands elsewhere in what is cited; `detail` is the value as written."""
    if sentence.kind in ("heading", "row", "code"):
        return
    found = values.find(sentence.prose, policy.language)
    if not found:
        return
    cites = sentence.cites or sources.numbers
    low = values.form(sentence.prose).lower()
    told = list(terms(low))
    for value in found:
        if (sentence.kind == "lead_in" and value.small) or sources.asked(value.keys) or not sources.supports(cites, value.keys):
            continue  # not supported at all is the business of `unsupported_value`
        words = frozenset(term.key for term in told if not value.start <= term.start < value.end)
        if not sources.speak_near(cites, value.keys, words, values.units.around(low, value.start, value.end)):
            yield Violation("value_in_context", value.text)
