"""A sentence that claims something must cite.

What it does: stops a sentence of `min_words` or more words, or with a value, that cites no source.
Why: what isn't tied to a source can't be checked, by us or by the reader.
Example: `Late fees ended in 2019.` without a marker.
Limits: short sentences without a value pass. Headings, lead-ins and table heads state nothing and need no marker. Lines of a code fence
lean on the sentence that introduces it, and need none if it has none. With `citation_scope="paragraph"` the gate has added inherited
citations.

A word is a run between white space with a letter or digit in it; three characters of a script without spaces count as two words. List
numbers and markers are no words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import values
from ..events import PolicyView, Sentence, Violation
from ..normal import WHITE, asides, targets, word_count
from ..sources import Sources

_LIST_NUMBER = re.compile(rf"[{WHITE}]*(?:>[{WHITE}]*)*(?:\d{{1,3}}[.)、．）]|\(\w\)|[-*•·–—])[{WHITE}]+")


def citation_required(sentence: Sentence, sources: Sources, policy: PolicyView) -> Iterator[Violation]:
    """One violation a sentence that had to cite and doesn't; `detail` says whether by its length or by its values."""
    if sentence.cites or sentence.kind in ("heading", "lead_in", "code"):
        return
    for text in (sentence.prose, *asides(sentence.text)):
        number = _LIST_NUMBER.match(text)
        words = word_count(text[number.end() :] if number else text)
        if words >= policy.min_words:
            yield Violation("citation_required", f"{words} words without a marker")
            return
        found = next((value for value in values.find(text, policy.language) if not sources.asked(value.keys)), None)
        if found:
            yield Violation("citation_required", f"{found.text} without a marker")
            return
    for target in targets(sentence.text):
        if not sources.asked(values.find_target(target).keys):
            yield Violation("citation_required", f"{target} without a marker")
            return
