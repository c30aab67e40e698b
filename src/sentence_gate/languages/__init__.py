"""One TOML file a language, no code in it, no inheritance. `load(code)` reads one; an unknown code is an error that lists what exists.

The classes here are the schema: every key is named and typed, an unknown or missing key is an error when the file is read. What a list
means is said at its field; what is done with it lives in the room that uses it (splitter, values, checks, gate).

Words are written as a careful writer writes them; the rooms fold both sides (`normal.fold`) before they compare, so that a list needs no
variants of digits, Arabic letter forms, short-vowel marks or width. Lists are matched by whole tokens, never by prefix.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from typing import Any, get_type_hints

from ..errors import UsageError


@dataclass(frozen=True, slots=True)
class Sentences:
    """Where sentences end."""

    terminators: str = ""  # marks that end a sentence in this language only (Greek ";", Armenian ":")
    # with their full stops: "Mr.", "e.g.", "z. B."; a sentence never ends after one
    abbreviations: tuple[str, ...] = ()
    number_abbreviations: tuple[str, ...] = ()  # only before a number: "No.", "p.", "Nr."
    # may end a sentence ("etc.", "p.m.", "Inc."): it ends before one of `starters`, or a new line
    final_abbreviations: tuple[str, ...] = ()
    # close a list ("e.d.", "и т. д."): a sentence ends after one, but before a lower-case letter
    closers: tuple[str, ...] = ()
    starters: tuple[str, ...] = ()  # words that begin a sentence after a final abbreviation or an initial: "The", "He"
    # capitalised words that go on behind a clock time or an era: weekdays, "Eastern"; months need not be listed
    time_words: tuple[str, ...] = ()
    # prepositions that a sentence begins with where its time or place comes first: "At 5 a.m. Mr. Smith …" is one sentence
    fronting: tuple[str, ...] = ()
    # words that begin a sentence in lower case too, behind a word that is no abbreviation, where writers leave capitals out: "they"
    small_starters: tuple[str, ...] = ()
    # final abbreviations that end a sentence before any capital too if one of `determiners` stands before them: "her Ph.D. Tom"
    degrees: tuple[str, ...] = ()
    determiners: tuple[str, ...] = ()
    marked_names: tuple[str, ...] = ()  # names that end in an exclamation mark: "Yahoo!"; those of English hold in all of Latin script
    initials: bool = True  # a single letter and a full stop is an initial: "J. Smith"
    # number + full stop is an ordinal: "none", "months" (before a month), "any" (before any word, "17. Jahrhundert")
    ordinals: str = "none"
    ordinal_nouns: tuple[str, ...] = ()  # with ordinals="months": further words that follow an ordinal ("Jahrhundert")
    # after a closing quotation mark these go on with the sentence: "said", "گفت", "बोला"
    saying_verbs: tuple[str, ...] = ()
    quotes: tuple[tuple[str, str], ...] = ()  # opening and closing mark of each style in use
    # "ends"; "words": only after a marker, a listed verb or a long word (Hindi); "never": no sentence ends with it before a
    # letter of its script (Thai)
    full_stop: str = "ends"
    full_stop_verbs: tuple[str, ...] = ()  # with full_stop="words": verb forms that a full stop ends


@dataclass(frozen=True, slots=True)
class Numbers:
    """How numbers are written."""

    decimal: str = "."  # the decimal mark in running text
    group: tuple[str, ...] = (",",)  # grouping marks in running text, beside any space
    # cardinal words -> value, all irregular ones ("eleven", "twenty", "hundred" is a scale)
    words: Mapping[str, int] = None  # type: ignore[assignment]
    # ordinal words -> value, with their usual inflected forms
    ordinals: Mapping[str, int] = None  # type: ignore[assignment]
    # "hundred", "million", "bn", "k", "тыс.", "万" -> factor; also glued to a number
    scales: Mapping[str, int] = None  # type: ignore[assignment]
    joiners: tuple[str, ...] = ()  # words between parts of a number: "and", "و", "y"
    # how number words are put together: "words" (parts parted by space, hyphen or joiner), "glued" (also one word: German),
    # "unspaced" (one behind the other in a script without spaces: Thai), "han" (characters: 三百二十)
    compose: str = "words"
    # with compose="unspaced": words that hold a number word and are none: "สามารถ" (able) begins with three
    no_words: tuple[str, ...] = ()
    halves: Mapping[str, str] = None  # type: ignore[assignment]  # "half" -> "1/2", where a word is a fraction
    count_words: tuple[str, ...] = ()  # words before a year or decade of two digits: "سال", "دهه", "años"
    # particles written on to a number in digits: Arabic "و", "ب", "ال"; they make no name of it
    prefixes: tuple[str, ...] = ()
    points: tuple[str, ...] = ()  # words for the decimal mark between number words: "point", "virgule"
    out_of: tuple[str, ...] = ()  # words for the slash of a fraction or mark: "4 out of 5", "12 sur 20"
    slash_decimal: bool = False  # a slash may be the decimal mark: Persian "۲/۵" is 2.5 (or two fifths)


@dataclass(frozen=True, slots=True)
class Dates:
    """How dates and clock times are written."""

    order: str = "dmy"  # of numeric dates: "dmy", "mdy" or "ymd"
    # twelve lists: every spelling of each Gregorian month, full, inflected and short
    months: tuple[tuple[str, ...], ...] = ()
    jalali: tuple[tuple[str, ...], ...] = ()  # the same for the Iranian calendar
    hijri: tuple[tuple[str, ...], ...] = ()  # the same for the Islamic calendar
    # words glued or next to the numbers of a date: {"年": "year", "月": "month", "日": "day"}
    marks: Mapping[str, str] = None  # type: ignore[assignment]
    joiners: tuple[str, ...] = ()  # words between the parts: "of", "de", "del"
    # words before or behind a number that make it a decade: "s", "er Jahre", "دهه", "年代"
    decades: tuple[str, ...] = ()
    same_month: tuple[str, ...] = ()  # words before or behind a day that stand for the month named last: "of the same month", "同月"
    am: tuple[str, ...] = ()  # half of day before noon, behind or before the clock: "AM", "a.m.", "صبح"
    pm: tuple[str, ...] = ()
    # by the hour, where minutes or an hour word show a clock: 12 is midnight, 1-5 am, 6-11 pm: "شب"
    night: tuple[str, ...] = ()
    # by the hour, where minutes or an hour word show a clock: 9-11 am, 12 and 1-5 pm: "ظهر", "中午"
    noon: tuple[str, ...] = ()
    # words or signs that make a number a clock time, behind or before it: "o'clock", "Uhr", "ساعت", "時"
    hours: tuple[str, ...] = ()
    hours_before: tuple[str, ...] = ()  # those that stand before the number
    minutes: tuple[str, ...] = ()  # sign or word after the minutes: "分", "min"


@dataclass(frozen=True, slots=True)
class FirstPerson:
    """How a speaker speaks of themself."""

    everywhere: bool = False  # looked for in answers of every language, not only in its own
    words: tuple[str, ...] = ()  # whole words, any case: "me", "my", "ours"
    cased: tuple[str, ...] = ()  # whole words, exact case: "I"
    verbs: tuple[str, ...] = ()  # verb forms of the first person, whole words, any case
    # phrases that hold such a word and aren't meant: "I/O", "mine workers", "自我"; matched as whole tokens, case as written
    exceptions: tuple[str, ...] = ()
    # words after which a listed word is no first person: "Annex" (I), names of rulers ("Francis I ruled"); before a mark any name
    before: tuple[str, ...] = ()
    not_in: tuple[str, ...] = ()  # languages whose answers this list is not applied to, although `everywhere`
    # words not looked for in answers of the languages of `not_in`, instead of the whole list (empty: the whole list)
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notices:
    """Fixed texts for the reader, one or two sentences each. They make no claim and name no technology."""

    stopped: str  # the rest of the answer was withheld since it isn't supported by the sources
    truncated: str  # the answer was cut since it was too long; it isn't complete
    failed: str  # the answer couldn't be finished because of a technical fault
    refused: str  # the sources don't answer this question
    empty: str  # there was no answer


@dataclass(frozen=True, slots=True)
class Language:
    """One language as data."""

    code: str  # BCP 47 primary language subtag
    name: str  # in English
    endonym: str  # its own name
    script: str  # ISO 15924
    rtl: bool
    # words that point to the answer's own list or to a source: "step", "passage", "source", "مرحله"
    references: tuple[str, ...]
    sentences: Sentences
    numbers: Numbers
    dates: Dates
    first_person: FirstPerson
    notices: Notices
    nouns_capitalised: bool = False  # every noun has a capital, so that one capital makes no name: German
    # letters one of which stands in any longer text of the language and in none of the others of its script: the number words of
    # the language are read only in sources that have one; "" for no such test
    letters: str = ""
    # its most frequent small words, lower case, none that English has: by them a text in Latin script is known that says no language.
    # For English: words that tell it from other languages
    common: tuple[str, ...] = ()


def codes() -> tuple[str, ...]:
    """The codes of all languages that exist, sorted."""
    return tuple(sorted(entry.name[:-5] for entry in resources.files(__name__).iterdir() if entry.name.endswith(".toml")))


@cache
def by_script(script: str) -> tuple[str, ...]:
    """The codes of the languages whose file says this ISO 15924 script."""
    line = re.compile(r'^script *= *"(\w+)"', re.MULTILINE)
    folder = resources.files(__name__)
    found = ((code, line.search(folder.joinpath(f"{code}.toml").read_text(encoding="utf-8"))) for code in codes())
    return tuple(code for code, match in found if match and match[1] == script)


@cache
def _telling() -> dict[str, tuple[str, ...]]:
    """Words of Latin script -> the languages that have them; small words, numbers and months that English doesn't have."""
    english = _read("en")
    foreign = {
        *english.numbers.words,
        *english.numbers.ordinals,
        *english.numbers.scales,
        *(name.lower() for month in english.dates.months for name in month),
    }
    found: dict[str, list[str]] = {}
    for code in by_script("Latn"):
        if code == "en":
            continue
        language = _read(code)
        numbers = language.numbers
        longer = (*numbers.words, *numbers.ordinals, *numbers.scales, *(name.lower() for month in language.dates.months for name in month))
        for word in {*language.common, *(word for word in longer if len(word) >= _TELLING)} - foreign:
            found.setdefault(word, []).append(code)
    return {word: tuple(of) for word, of in found.items()}


_TELLING = 4
"""Letters of a number word or month by which a language is known: Turkish "on" (ten) is English too."""
_SHARE = 30
_SAMPLE = 20_000
_WORD = re.compile(r"[^\W\d_]+")


def of_latin_text(text: str) -> tuple[str, ...]:
    """Codes of the Latin-script languages other than English in which a text, or every thirtieth word of a sample of it, is written."""
    if len(text) > 3 * _SAMPLE:
        middle = len(text) // 2
        text = f"{text[:_SAMPLE]} {text[middle : middle + _SAMPLE]} {text[-_SAMPLE:]}"
    words = _WORD.findall(text.lower())
    telling = _telling()
    counts: Counter[str] = Counter(code for word in words if word in telling for code in telling[word])
    return tuple(code for code, count in sorted(counts.items()) if count * _SHARE >= len(words))


def primary(tag: str) -> str:
    """The primary subtag of a BCP 47 tag, lower case: "pt-BR" is "pt". Raises UsageError if it isn't a str."""
    if not isinstance(tag, str):
        raise UsageError(f'a language is a BCP 47 tag such as "en" or "pt-BR", not {type(tag).__name__}')
    return tag.replace("_", "-").split("-", 1)[0].strip().lower()


def load(tag: str) -> Language:
    """The language of a BCP 47 tag; region and script are ignored. Raises UsageError listing what exists if it is unknown."""
    return _read(primary(tag))


_LONGEST_CODE = 8  # of a primary subtag, by BCP 47


@cache
def _read(code: str) -> Language:
    is_code = code.isascii() and code.isalpha() and len(code) <= _LONGEST_CODE
    file = resources.files(__name__).joinpath(f"{code}.toml") if is_code else None
    if file is None or not file.is_file():
        raise UsageError(f"unknown language {code[:40]!r}; the languages are {', '.join(codes())}")
    language: Language = _build(Language, tomllib.loads(file.read_text(encoding="utf-8")), code)
    return language


def _build(kind: Any, data: dict[str, Any], where: str) -> Any:
    """A record of the schema from a TOML table, every key checked."""
    types = get_type_hints(kind)
    unknown = set(data) - set(types)
    if unknown:
        raise UsageError(f"language file {where}: unknown key {sorted(unknown)[0]!r}; the keys are {', '.join(types)}")
    given: dict[str, Any] = {}
    for field in fields(kind):
        expected, value = types[field.name], data.get(field.name)
        if expected in (Sentences, Numbers, Dates, FirstPerson, Notices):
            given[field.name] = _build(expected, value or {}, f"{where} [{field.name}]")
        elif value is None:
            if "Mapping" in str(expected):
                given[field.name] = {}
        elif isinstance(value, list):
            given[field.name] = tuple(tuple(item) if isinstance(item, list) else item for item in value)
        else:
            given[field.name] = value
    try:
        return kind(**given)
    except TypeError as error:
        raise UsageError(f"language file {where}: {error}") from None
