"""Sources: an immutable index of what each source says, built once, looked up in constant time.

A source vouches for keys (`values.of_source`); a value of the answer is supported if one of its keys is among them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap

from . import languages, values
from .errors import UsageError
from .normal import UNSPACED, fold, see
from .terms import Lexicon, terms

_ACCEPTED = "a list of str or Source, or a mapping from id to text"
_SCRIPTS = {
    "Arab": "\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc",
    "Deva": "\u0900-\u097f",
    "Beng": "\u0980-\u09ff",
    "Cyrl": "\u0400-\u052f",
    "Grek": "\u0370-\u03ff",
    "Armn": "\u0530-\u058f",
    "Hebr": "\u0590-\u05ff",
    "Ethi": "\u1200-\u137f",
    "Thai": "\u0e00-\u0e7f",
    "Hang": "\uac00-\ud7af",
    "Hira": "\u3040-\u30ff",
    "Hani": "\u3400-\u4dbf\u4e00-\u9fff",
}
_SCRIPT_IN_TEXT = {script: re.compile(f"[{ranges}]") for script, ranges in _SCRIPTS.items()}
_SCRIPTS_OF_LANGUAGES = {"Hira": ("Jpan",), "Hani": ("Hans", "Hant", "Hani", "Jpan"), "Hang": ("Kore", "Hang")}
_WHITE_RUN = re.compile(r"\s+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_REACH = 55
"""How far from a value its surroundings go, in code points, about ten words; in scripts without spaces `_REACH_UNSPACED`."""
_REACH_UNSPACED = 10
_NEIGHBOURS = 2
"""How many terms of the sentence must stand there. Measured: one lets most misplaced values pass, three stop every tenth good sentence."""
_COMPARABLE = 4
"""A source that has less than one in so many of the sentence's terms speaks another language, or otherwise: nothing is compared."""
_LINE = 2000


@dataclass(frozen=True, slots=True)
class Source:
    """One source: its text, and optionally id, title, URL and language (BCP 47). Title and URL count as its content.

    Without a language it is read in the languages of the scripts that occur in it, and in English; of those in Latin script, in the ones
    that it is written in by its small words.
    """

    text: str = field(repr=False)
    id: str | None = None
    title: str | None = None
    url: str | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise UsageError(f"the text of a source is a str, not {type(self.text).__name__}")
        for name in ("id", "title", "url", "language"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise UsageError(f"the {name} of a source is a str or None, not {type(value).__name__}")

    @property
    def content(self) -> str:
        """Title, URL and text."""
        if self.title or self.url:
            return "\n".join(part for part in (self.title, self.url, self.text) if part)
        return self.text


class _Index:
    """What one source vouches for. Its text for quotations is made when the first one is looked up."""

    __slots__ = ("_languages", "_lexicon", "_notations", "_passages", "_quotable", "keys", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self._languages = _languages_of(source)
        self.keys = frozenset(values.of_source(source.content, self._languages))
        self._notations: dict[str, frozenset[str]] = {}
        self._quotable: str | None = None
        self._passages: tuple[_Passage, ...] | None = None
        self._lexicon: Lexicon | None = None

    def holds(self, phrase: str) -> bool:
        if self._quotable is None:
            self._quotable = _quotable(self.source.content)
        return phrase in self._quotable

    def writes(self, keys: Iterable[str], language: str) -> bool:
        """Whether it has one of `keys` in the notations of the answer's language, which may be its own if it doesn't say."""
        if self.source.language is not None or language in self._languages:
            return False
        if language not in self._notations:
            self._notations[language] = frozenset(values.notations(self.source.content, language))
        return not self._notations[language].isdisjoint(keys)

    @property
    def lexicon(self) -> Lexicon:
        """Its words, made when the first name is looked up."""
        if self._lexicon is None:
            self._lexicon = Lexicon(fold(see(self.source.content)).lower())
        return self._lexicon

    def speaks_near(self, keys: Iterable[str], words: frozenset[str], units: frozenset[str]) -> bool:
        """Whether one of `keys` stands close to some of `words`, and not next to another unit."""
        if self._passages is None:
            self._passages = tuple(starmap(_Passage, values.places(self.source.content, self._languages)))
        shared = frozenset(word for passage in self._passages for word in words & passage.known)
        if len(shared) * _COMPARABLE < len(words):
            return True
        wanted = min(_NEIGHBOURS, len(shared))
        return any(passage.speaks_near(key, shared, units, wanted) for passage in self._passages for key in keys)


class _Passage:
    """A part of a source, with the places of its values and terms."""

    __slots__ = ("_low", "_places", "_starts", "_terms", "known")

    def __init__(self, low: str, places: dict[str, list[tuple[int, int]]]) -> None:
        found = list(terms(low))
        self._low = low
        self._places = places
        self._starts = [term.start for term in found]
        self._terms = [term.key for term in found]
        self.known = frozenset(self._terms)

    def speaks_near(self, key: str, words: frozenset[str], units: frozenset[str], wanted: int) -> bool:
        for start, end in self._places.get(key, ()):
            if units and (here := values.units.around(self._low, start, end)) and here.isdisjoint(units):
                continue
            if self._in_table(start, end):
                return True
            reach = _REACH_UNSPACED if self._unspaced(start, end) else _REACH
            first, last = bisect_left(self._starts, start - reach), bisect_right(self._starts, end + reach)
            if len(words.intersection(self._terms[first:last])) >= wanted:
                return True
        return False

    def _in_table(self, start: int, end: int) -> bool:
        line_start, line_end = self._low.rfind("\n", 0, start) + 1, self._low.find("\n", end)
        line = self._low[line_start : line_end if line_end >= 0 else None][:_LINE]
        return line.count("|") > 1 or "\t" in line

    def _unspaced(self, start: int, end: int) -> bool:
        return _UNSPACED.search(self._low, max(0, start - _REACH_UNSPACED), end + _REACH_UNSPACED) is not None


def _quotable(text: str) -> str:
    return _WHITE_RUN.sub(" ", fold(see(text))).lower()


def _languages_of(source: Source) -> tuple[str, ...]:
    if source.language is not None and languages.primary(source.language) in languages.codes():
        return (languages.primary(source.language),)
    found = ["en", *languages.of_latin_text(source.content)]
    if source.content.isascii():
        return tuple(found)
    for script, pattern in _SCRIPT_IN_TEXT.items():
        if pattern.search(source.content):
            for name in _SCRIPTS_OF_LANGUAGES.get(script, (script,)):
                found.extend(code for code in languages.by_script(name) if _has_letters_of(code, source.content))
    return tuple(dict.fromkeys(found))


def _has_letters_of(code: str, text: str) -> bool:
    letters = languages.load(code).letters
    return not letters or any(letter in text for letter in letters)


class Sources:
    """The numbered sources of an answer; `[S1]` is the first. Immutable: any number of gates, threads and tasks share one.

    `items` is an iterable of str or `Source`, or a mapping from id to text. An empty list and empty texts are legal. Raises UsageError
    for a bare str, wrong types and duplicate ids. Not promised: that a text is kept once only; the index holds each value that it found.
    """

    __slots__ = ("_asked", "_indexes")

    def __init__(self, items: Iterable[str | Source] | Mapping[str, str] | Sources) -> None:
        self._asked: frozenset[str] = frozenset()
        self._indexes: tuple[_Index, ...]
        if isinstance(items, Sources):
            self._indexes = items._indexes
            return
        sources = _read(items)
        ids = [source.id for source in sources if source.id is not None]
        if len(set(ids)) < len(ids):
            twice = next(one for one in ids if ids.count(one) > 1)
            raise UsageError(f"two sources have the id {twice!r}; every id may stand once")
        self._indexes = tuple(map(_Index, sources))

    def __len__(self) -> int:
        return len(self._indexes)

    def __iter__(self) -> Iterator[Source]:
        return (index.source for index in self._indexes)

    def __repr__(self) -> str:
        return f"Sources({len(self)})"

    def supports(self, numbers: Sequence[int], keys: Sequence[str], language: str | None = None) -> bool:
        """Whether one of the numbered sources (from 1; numbers out of range are passed over) vouches for one of `keys`.

        A source that doesn't say its language may be written as the answer is: its numerals are read in `language`, the answer's, too.
        """
        indexes = self._indexes
        for number in numbers:
            if 0 < number <= len(indexes) and not indexes[number - 1].keys.isdisjoint(keys):
                return True
        return language is not None and any(0 < number <= len(indexes) and indexes[number - 1].writes(keys, language) for number in numbers)

    def quotes(self, numbers: Iterable[int], phrase: str) -> bool:
        """Whether `phrase` stands word for word, case and spacing aside, in one of the numbered sources."""
        wanted = _quotable(phrase).strip()
        return any(0 < number <= len(self._indexes) and self._indexes[number - 1].holds(wanted) for number in numbers)

    def speak_near(self, numbers: Iterable[int], keys: Iterable[str], words: frozenset[str], units: frozenset[str]) -> bool:
        """Whether one of the numbered sources has one of `keys` near terms of the sentence (`words`), and not with another unit."""
        keys = tuple(keys)
        vouching = (self._indexes[number - 1] for number in numbers if 0 < number <= len(self._indexes))
        return any(index.speaks_near(keys, words, units) for index in vouching if not index.keys.isdisjoint(keys))

    def lexicons(self, numbers: Iterable[int]) -> tuple[Lexicon, ...]:
        """The words of the numbered sources."""
        return tuple(self._indexes[number - 1].lexicon for number in numbers if 0 < number <= len(self._indexes))

    @property
    def numbers(self) -> range:
        """All source numbers."""
        return range(1, len(self._indexes) + 1)

    def asked(self, keys: Iterable[str]) -> bool:
        """Whether the question itself holds the value (`question_supports_values`)."""
        return bool(self._asked) and not self._asked.isdisjoint(keys)

    def with_question(self, question: str) -> Sources:
        """The same sources, with the values of a question that are taken as given."""
        same = Sources(self)
        same._asked = frozenset(values.of_source(question, _languages_of(Source(question))))
        return same


def _read(items: object) -> list[Source]:
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise UsageError(f"sources are {_ACCEPTED}, not {'a bare str' if isinstance(items, str) else type(items).__name__}")
    if isinstance(items, Mapping):
        for key, text in items.items():
            if not isinstance(key, str) or not isinstance(text, str):
                raise UsageError(f"a mapping of sources goes from str to str, not from {type(key).__name__} to {type(text).__name__}")
        return [Source(text, id=key) for key, text in items.items()]
    sources = []
    for number, item in enumerate(items, 1):
        if not isinstance(item, str | Source):
            raise UsageError(f"source {number} is a {type(item).__name__}; sources are {_ACCEPTED}")
        sources.append(item if isinstance(item, Source) else Source(item))
    return sources
