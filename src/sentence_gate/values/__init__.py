"""Values: numbers, dates, clock times, telephone numbers, URLs and e-mail addresses; found, read, compared.

What is compared is never a spelling but a *key*: a short string that says what a value is ("n1200000", "dg2019-5-5", "t17:00",
"hpool.example"). Every notation of one value has the same key, so a look-up is one test of a set, however the value is written here and
there. The files of the kinds say which keys they make.

An answer and a source are read by the same walk (`scanner`), with one difference. A notation may have several readings: 1.234,
03/04/2025, 5 m. In an *answer* a value has the reading of the answer's language; what it has are the keys that may vouch for it, one of
which must be found. A *source* keeps all readings; what it has are the keys that it vouches for, parts of a date and ends of a range too.
The second always hold one of the first, so an answer that copies its source is never wrong; a test holds that for texts at random.

The way of a text: `normal.see` (what a reader sees) -> `normal.fold` (digits are ASCII) -> lower case, wrapped lines joined. Offsets stay
the same from `fold` on. Then, from the most to the least specific:

    addresses   URLs, hosts, e-mail addresses; what they cover is no number any more
    names       COVID-19 is no value, 2O19 stands as a whole
    dates       with a month by name or number, years, decades, "the same month"
    phones      and other chains of digits
    clocks      with the half of day and the hour words of the language
    numbers     sign, groups, scale words, powers, fractions, ranges; `numerals` has what the digits and marks alone say
    words       number words: of a source all, of an answer those put together of several

`look` holds what all of them look at: the text, what was found so far, and the words next to a number. `tables` has the language's data
in the form in which it is looked up; the data itself is in languages/*.toml, and in scripts.toml what is read in any language since its
script says what it is.

Each reader looks a bounded distance ahead and behind, and the walk goes forward only: cost grows with the length of the text, also of a
hostile one. A numeral is never turned into a float, and nothing is rounded, converted or computed. Units, `%` and currency are no part of
a value; `units` reads them for the check `value_in_context` alone.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ..normal import fold, see, targets
from . import addresses
from . import units as units  # read by value_in_context through this package
from .scanner import scan
from .tables import lower, tables

_ANY = re.compile(r"[0-9]")
_WRAPPED = re.compile(r"(?<=[^\n]{40})(?:(?<![0-9])\n(?=\w)|\n(?=[^\W\d]))")
"""A line break behind a long line that goes on with a word: wrapped text, in which a value may go over the break."""
_KEYCAP = re.compile(r"(?m)^([ \t]*)(?:[0-9]\ufe0f?\u20e3|[\u2460-\u2473\u2776-\u2793])(?=[ \t])")


_RUN = re.compile(
    r"(?<=[0-9])(?:[ \t]{2,}|\n(?=[a-z\u00df-\u00ff\u0430-\u045f\u0620-\u06d3\u0900-\u097f]))(?=[^\W\d_])|(?<=[^\W\d_])[ \t]{2,}(?=[0-9])"
)
"""Space between a number and a word that a page shows as one: 40  million."""


def form(text: str) -> str:
    """The folded text in which values are looked for."""
    return _RUN.sub(" ", fold(text))


class Value(NamedTuple):
    """A value of an answer. `start` and `end` are code points in the folded prose; `text` is what stands there.

    One of `keys` must be vouched for by a cited source; without keys it can't be supported. `small` is a plain whole number up to 20.
    """

    kind: str
    text: str
    start: int
    end: int
    keys: tuple[str, ...]
    small: bool = False


def _low(folded: str) -> str:
    """The text in lower case, in which the readers look; wrapped lines are joined. Offsets stay."""
    low = lower(folded)
    return _WRAPPED.sub(" ", low) if "\n" in low else low


@lru_cache(maxsize=32)
def find(prose: str, language: str) -> tuple[Value, ...]:
    """The values of an answer's text, in order. `language` is a code of the language data; raises UsageError for an unknown one."""
    if not prose.isascii():
        prose = _KEYCAP.sub(r"\1", prose)
    folded = form(prose)
    low = _low(folded)
    found = []
    if addresses.may_hold(low):
        found = [Value(one.kind, folded[one.start : one.end], one.start, one.end, one.keys) for one in addresses.find(folded, low)]
    for value in found:
        low = low[: value.start] + "\u0001" * (value.end - value.start) + low[value.end :]
    table = tables(language)
    if _ANY.search(low) or table.word is not None or table.han_digits:
        for one in scan(folded, low, table, False):
            found.append(Value(one.kind, folded[one.start : one.end], one.start, one.end, one.keys, one.small))
    found.sort(key=lambda value: value.start)
    return tuple(found)


def find_target(target: str) -> Value:
    """Where a link, image or attribute points to, as a value of kind "url", "email" or "phone"."""
    link = fold(target).strip()
    address = addresses.target(link)
    return Value(address.kind, link, address.start, address.end, address.keys)


def of_source(text: str, languages: tuple[str, ...]) -> set[str]:
    """Every key that a source vouches for."""
    keys: set[str] = {"u#"}
    for target in targets(text):
        keys.update(addresses.target(fold(target)).vouched)
    for part in _parts(text):
        seen = see(part)
        _collect(seen, languages, keys)
        if seen != part:
            _collect(part, languages, keys)
    return keys


def notations(text: str, language: str) -> set[str]:
    """The keys that a source vouches for if its numerals are read as this language writes them; its words are not read."""
    keys: set[str] = set()
    for part in _parts(text):
        folded = form(see(part))
        for one in scan(folded, _low(folded), tables(language), True, spelled=False):
            keys.update(one.vouched)
    return keys


_PART = 32_768


def _parts(text: str) -> list[str]:
    parts, at = [], 0
    while len(text) - at > _PART:
        end = max(text.rfind("\n", at, at + _PART), text.rfind(". ", at, at + _PART)) + 1
        if end <= at:
            end = text.rfind(" ", at, at + _PART) + 1
        if end <= at:
            end = at + _PART
        parts.append(text[at:end])
        at = end
    parts.append(text[at:])
    return parts


def _collect(text: str, languages: tuple[str, ...], keys: set[str]) -> None:
    folded = form(text)
    low = _low(folded)
    pieces, at = [], 0
    for address in addresses.find(folded, low):
        keys.update(address.vouched)
        pieces += [low[at : address.start], "\u0001" * (address.end - address.start)]
        at = address.end
    if at:
        low = "".join([*pieces, low[at:]])
    for language in languages:
        for one in scan(folded, low, tables(language), True):
            keys.update(one.vouched)


def places(text: str, languages: tuple[str, ...]) -> list[tuple[str, dict[str, list[tuple[int, int]]]]]:
    """Where in a source each key stands: the source in parts, each folded and in lower case, with the spans of its keys."""
    found = []
    for part in _parts(text):
        folded = form(see(part))
        low = _low(folded)
        spans: dict[str, list[tuple[int, int]]] = {}
        for address in addresses.find(folded, low):
            for key in address.vouched:
                spans.setdefault(key, []).append((address.start, address.end))
        for language in languages:
            for one in scan(folded, low, tables(language), True):
                for key in one.vouched:
                    spans.setdefault(key, []).append((one.start, one.end))
        found.append((low, spans))
    return found
