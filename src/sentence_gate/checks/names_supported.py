"""Every name must stand in a source that its sentence cites. Off by default.

What it does: stops a sentence with a capitalised word that no cited source has, in whatever case or with another ending, or as the
initials of its words. In scripts without capitals it looks for rare terms instead: what a source has no part of.
Why: a made-up person, place or company is the commonest unsupported word that isn't a number.
Example: `The lease was signed by Dr. Kessler [S1].` where the source names Dr. Keller.
Limits: the first word of a sentence counts only if another capitalised word follows it. Where every noun is capitalised (German) only
names of two and more words are looked for. Labels before a colon, headings and table heads aren't names. Names that the user brought up,
and general knowledge ("degrees Fahrenheit"), are stopped unless the source has them. A source in another script can't be compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from .. import languages, values
from ..events import PolicyView, Sentence, Violation
from ..normal import fold
from ..sources import Sources
from ..terms import Name, names, rare

_LABEL = re.compile(r"(?:\d{1,3}[.)] |[-*•] )?[^.!?\n]{1,60}:")


def names_supported(sentence: Sentence, sources: Sources, policy: PolicyView) -> Iterator[Violation]:
    """One violation a name; `detail` is the word."""
    if sentence.kind in ("heading", "code"):
        return
    folded = fold(sentence.prose)
    lexicons = sources.lexicons(sentence.cites or sources.numbers)
    if not lexicons:
        return
    aside = [(value.start, value.end) for value in values.find(sentence.prose, policy.language)]
    if label := _LABEL.match(folded):
        aside.append(label.span())
    for name in _names(folded, policy):
        outside = not any(start < name.end and name.start < end for start, end in aside)
        if outside and not values.units.known(name.text) and not any(lexicon.has(name.text) for lexicon in lexicons):
            yield Violation("names_supported", name.text)
    if not folded.isascii():
        low = folded.lower()
        for start, end in sorted(set.intersection(*(set(rare(low, lexicon)) for lexicon in lexicons))):
            yield Violation("names_supported", low[start:end])


def _names(folded: str, policy: PolicyView) -> list[Name]:
    language = languages.load(policy.language)
    found = list(names(folded, frozenset(map(str.lower, language.sentences.starters))))
    if not language.nouns_capitalised:
        return found
    lengths = Counter(name.run for name in found)
    return [name for name in found if lengths[name.run] > 1]
