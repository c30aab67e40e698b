"""What a text speaks of: the words that tell one passage from another, and the names in it. For the checks that are off by default.

A *term* is a word of four and more letters, by its first five, so that "opened" and "opening" are one; in scripts without spaces it is
two neighbouring characters. No list of function words is needed: a term counts only where both texts have it close to the same value.

A *name* is a capitalised word that doesn't begin its sentence. Where a script has no capitals a name can't be told from a word, and what
is looked for is a *rare term*: one that the text to compare with holds no part of.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from .normal import MARKS, UNSPACED

_STEM = 5
_SHORTEST = 4
_ENDING = 2
"""Letters at the end of a name that another case or number may change."""
_ACRONYM = 6
_SMALL = 3
"""Words up to this length often have no letter in an acronym ("of", "and", "the")."""
_STRANGE = 3
_LONG = 6
_WORD = re.compile(rf"[^\W\d_](?:[^\W_]|[{MARKS}])*(?:'[^\W\d_]+)*")
_UNSPACED = re.compile(f"[{UNSPACED}]+")
_UNSPACED_START = re.compile(f"[{UNSPACED}]")


class Term(NamedTuple):
    """A word at an offset of a text, in the form in which it is compared."""

    start: int
    key: str


def terms(low: str) -> Iterator[Term]:
    """The terms of a folded, lower-case text, in order."""
    for match in _WORD.finditer(low):
        word, start = match.group(), match.start()
        if _UNSPACED_START.match(word):
            for run in _UNSPACED.finditer(word):
                for at in range(run.end() - run.start() - 1):
                    yield Term(start + run.start() + at, run.group()[at : at + 2])
        elif len(word) >= _SHORTEST:
            yield Term(start, word[:_STEM])


class Name(NamedTuple):
    """A capitalised word of a text, or a rare term to be. `run` numbers the names that stand next to each other."""

    start: int
    end: int
    text: str
    run: int


_FIRST = frozenset(".:!?\"'«»„“”(*-–—•;…¿¡。！？·|>")


def names(folded: str, starters: frozenset[str] = frozenset()) -> Iterator[Name]:
    """The capitalised words of a folded text, less the first word of a sentence, line or quotation, unless one more follows it.

    `starters`: words, in lower case, that begin a sentence and no name.
    """
    words = list(_WORD.finditer(folded))
    run = 0
    for at, match in enumerate(words):
        word = match.group()
        if not word[0].isupper() or len(word.partition("'")[0]) < 2:
            continue
        gap = folded[words[at - 1].end() : match.start()] if at else "\n"
        if gap != " " or not words[at - 1].group()[0].isupper():
            run += 1
        if "\n" in gap or (gap.rstrip() and gap.rstrip()[-1] in _FIRST):
            behind = words[at + 1] if at + 1 < len(words) else None
            named = behind is not None and behind.group()[0].isupper() and folded[match.end() : behind.start()] == " "
            if not named or word.lower() in starters:
                continue
        yield Name(match.start(), match.end(), word, run)


def rare(low: str, known: Lexicon) -> Iterator[tuple[int, int]]:
    """Spans of a folded, lower-case text that a source has no part of, in scripts without capitals.

    Three and more characters in a row, none of them in the source, where words aren't parted by spaces; elsewhere a word of six and more
    letters, no two neighbours of which stand so in the source. A script that the source isn't written in can't be compared.
    """
    for match in _WORD.finditer(low):
        word = match.group()
        if word[0].isupper() or word[0] != word[0].upper() or not known.writes(word[0]):
            continue
        if _UNSPACED_START.match(word):
            start = None
            for at in range(len(word) + 1):
                strange = at < len(word) and word[at] not in known.text
                if strange and start is None:
                    start = at
                elif not strange and start is not None:
                    if at - start >= _STRANGE:
                        yield match.start() + start, match.start() + at
                    start = None
        elif len(word) >= _LONG and not any(word[at : at + 2] in known.text for at in range(len(word) - 1)):
            yield match.span()


class Lexicon:
    """The words of one source, for looking names up."""

    __slots__ = ("_initials", "_letters", "_words", "text")

    def __init__(self, low: str) -> None:
        words = _WORD.findall(low)
        self.text = low
        self._words = sorted({part for word in words for part in (word, *word.split("'"))})
        self._initials = ("".join(word[0] for word in words), "".join(word[0] for word in words if len(word) > _SMALL))
        self._letters = frozenset(map(_block, set(low)))

    def writes(self, letter: str) -> bool:
        """Whether the source has letters of this one's script, roughly."""
        return _block(letter) in self._letters

    def has(self, name: str) -> bool:
        """Whether the source has this name, in whatever case, with another ending, or as the initials of its words."""
        low = name.lower()
        low = low[:-2] if low.endswith("'s") else low.rstrip("'")
        if not self.writes(low[0]) or self._begins(low, exact=True):
            return True
        stem = low[: max(_SHORTEST, len(low) - _ENDING)]
        if len(low) >= _STEM and self._begins(stem, exact=False):
            return True
        return name.isupper() and 2 <= len(low) <= _ACRONYM and any(low in initials for initials in self._initials)

    def _begins(self, start: str, *, exact: bool) -> bool:
        at = bisect_left(self._words, start)
        if at == len(self._words):
            return False
        return self._words[at] in (start, start + "s") if exact else self._words[at].startswith(start)


def _block(letter: str) -> int:
    """Which stretch of Unicode a letter is of: Latin, Greek, Cyrillic, …; coarse, Han and kana are one."""
    point = ord(letter)
    if point < 0x250 or 0x1E00 <= point < 0x1F00:
        return 0 if letter.isalpha() else -1
    if 0x2E80 <= point < 0xA000 or 0xF900 <= point < 0xFB00 or point >= 0x20000:
        return 0x3000
    return 0x600 if 0x600 <= point < 0x780 else point >> 7 << 7
