"""The data of one language in the form in which the readers look things up. Built once a language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from .. import languages
from ..normal import MARKS, UNSPACED, fold

WORD = rf"\w{MARKS}"
"""What a word is made of, for a character class."""
SPACED_LETTER = rf"(?![{UNSPACED}])[^\W\d_]"
END = rf"(?![{WORD}])"
HANGUL = "\u1100-\u11ff\uac00-\ud7af"
"""Hangul parts words by spaces, but writes particles and counters on to them."""
_UNSPACED_END = re.compile(rf"[{UNSPACED}{HANGUL}]$")
_ASCII_START = re.compile(r"[a-z]+")
_SCRIPTS = {"Hans": "Hani", "Hant": "Hani", "Jpan": "Hani", "Kore": "Hang"}

_VOWELS = frozenset("aeiou")

Month = tuple[str, int, bool]
"""Calendar ("g", "j", "h"), number, and whether the data writes it with a capital."""


@dataclass(frozen=True, slots=True)
class Tables:
    """What the readers know of one language."""

    code: str
    decimal: str
    order: str
    slash_decimal: bool
    months: dict[str, Month]
    calendar: str  # of short years: "g", or "n" where another calendar is in use too
    scales: dict[str, int]
    behind: re.Pattern[str]  # what may stand behind a number, anchored: groups scale, half, hour, month
    behind_starts: frozenset[str]  # characters one of which must stand next but one, or next, for `behind` to match
    behind_words: frozenset[str]  # the ASCII letters that its words begin with
    half: re.Pattern[str]  # the half of day behind a clock
    halves: dict[str, str]
    minutes: re.Pattern[str]  # minutes behind an hour sign
    month_words: frozenset[str]  # words before the number of a month
    before: dict[str, frozenset[str]]  # what may stand before a number -> "month", "count", "reference", "hour", "half", "month_number"
    before_last: frozenset[str]  # the last words of them
    before_unspaced: frozenset[str]  # those of them that are written without a space
    unspaced_lengths: tuple[int, ...]
    marked_date: re.Pattern[str] | None  # 2015年5月3日
    decade: re.Pattern[str]  # what stands behind a decade
    numbered_month: re.Pattern[str]  # a month by its number, and its year, behind a day: "5 tháng 9 năm 2018"
    same_month: re.Pattern[str] | None  # a day and words for the month named last
    year_after: re.Pattern[str]  # a year behind a day and a month
    word: re.Pattern[str] | None  # one number word, or month name
    single_words: bool  # whether each number word is one word
    word_values: dict[str, tuple[int, str]]
    month_gap: re.Pattern[str]  # what may stand between a day in words and its month
    joiners: tuple[str, ...]
    points: frozenset[str]  # words for the decimal mark
    out_of: frozenset[str]  # words for a slash
    gaps: re.Pattern[str]  # what may stand between two words of one number
    fractions: dict[str, str]
    han_digits: dict[str, int]
    han_scales: dict[str, int]
    glued: re.Pattern[str] | None  # words of a number written as one word
    elided: dict[str, tuple[tuple[int, str], tuple[int, str]]]  # two of them that share a vowel: "centotto"
    prefixes: re.Pattern[str] | None  # particles that are written on to a number
    ordinal_nouns: frozenset[str]


def lower(text: str) -> str:
    """Lower case, code point by code point, so that offsets stay."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)


def key(word: str) -> str:
    """A word of the data in the form in which it is compared."""
    return lower(fold(word)).strip()


def one_of(words: Iterable[str], *, bounded: bool = True) -> str:
    """A pattern for one of these words as a whole token, the longest first; words of scripts without spaces need no end."""
    spaced: list[str] = []
    unspaced: list[str] = []
    for word in sorted({word for word in words if word}, key=lambda word: (-len(word), word)):
        (unspaced if _UNSPACED_END.search(word) or word[-1] in ".º'" else spaced).append(re.escape(word).replace("\\ ", " "))
    parts = []
    if spaced:
        parts.append(f"(?:{_by_first(spaced)}){END if bounded else ''}")
    if unspaced:
        parts.append(f"(?:{'|'.join(unspaced)})")
    return f"(?:{'|'.join(parts)})" if parts else "(?!)"


def _by_first(escaped: list[str]) -> str:
    """The alternatives grouped by their first character: a look-up instead of a walk."""
    groups: dict[str, list[str]] = {}
    for word in escaped:
        first = word[:2] if word[0] == "\\" else word[0]
        groups.setdefault(first, []).append(word[len(first) :])
    return "|".join(f"{first}(?:{'|'.join(rest)})" if len(rest) > 1 else first + rest[0] for first, rest in groups.items())


@cache
def _foreign() -> Mapping[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("scripts.toml").read_text(encoding="utf-8"))


def _of_other_scripts(language: languages.Language) -> dict[str, Any]:
    """What is read whatever the language: see scripts.toml."""
    merged: dict[str, Any] = {"scales": {}, "months": [[] for _ in range(12)]}
    for script, section in _foreign().items():
        if script == _SCRIPTS.get(language.script, language.script) and script != "Latn":
            if script == "Hani":  # a short text may be Chinese or Japanese
                merged |= {half: list(section[half]) for half in ("am", "pm")}
            continue
        for part in section.values() if script == "Latn" else (section,):
            for name, value in part.items():
                if name == "scales":
                    merged["scales"] |= value
                elif name == "months":
                    for names, more in zip(merged["months"], value, strict=True):
                        names.extend(more)
                else:
                    merged.setdefault(name, []).extend(value)
    return merged


@cache
def tables(code: str) -> Tables:
    """The tables of a language. Raises UsageError for an unknown one."""
    language = languages.load(code)
    numbers, dates = language.numbers, language.dates
    other = _of_other_scripts(language)
    months: dict[str, Month] = {}
    for calendar, lists in (("h", dates.hijri), ("j", dates.jalali), ("g", other["months"]), ("g", dates.months)):
        for number, names in enumerate(lists, 1):
            for name in names:
                if not any(char.isdigit() for char in fold(name)):
                    months[key(name)] = (calendar, number, name[:1] != name[:1].lower())
    scales = {key(word): factor for word, factor in {**other["scales"], **numbers.scales}.items()}
    own_scales = {key(word): factor for word, factor in numbers.scales.items()}
    joiners = [key(word) for word in numbers.joiners]
    date_joiners = [key(word) for word in dates.joiners]
    halves: dict[str, str] = {}
    for kind, words in (("noon", dates.noon), ("night", dates.night), ("pm", dates.pm), ("am", dates.am)):
        halves |= {key(word): kind for word in (*other.get(kind, ()), *words)}
    hours = {key(word) for word in (*other.get("hours", ()), *dates.hours)}
    hours_before = {key(word) for word in (*other.get("hours_before", ()), *dates.hours_before)}
    count_words = {key(word) for word in (*other.get("count_words", ()), *numbers.count_words)}
    month_words = frozenset(key(word) for word in other.get("before_month", ()))
    decades = {key(word) for word in dates.decades}
    same_month = [key(word) for word in dates.same_month]
    minutes = {key(word) for word in (*other.get("minutes", ()), *dates.minutes)}

    month_gap = rf"(?:(?:[-.]?{SPACED_LETTER}{{1,3}}|[º°ª])?\.? ?(?:{one_of(date_joiners)} ?)?)"
    scale_gap = rf"(?:[ -]?[$€£¥₹]?[ -]?(?:{one_of(joiners, bounded=False)} ?)?|-)"
    behind = re.compile(
        rf"(?P<scale_gap>{scale_gap})(?P<scale>{one_of(scales)})"
        rf"|[ ]?(?P<half>{one_of(halves)})"
        rf"|[ -]?(?P<hour>{one_of(hours)})(?![間间간])"
        rf"|{month_gap}(?P<month>{one_of(months, bounded=False)})(?![^\W\d]|[{MARKS}])\.?"
    )
    starts = {word[0] for group in (scales, halves, hours, months, date_joiners, joiners) for word in group}

    before: dict[str, set[str]] = {}
    for name, group in (
        ("month", months), ("count", count_words), ("reference", map(key, language.references)),
        ("hour", hours_before), ("half", halves), ("joiner", date_joiners), ("month_number", month_words), ("decade", decades),
    ):  # fmt: skip
        for word in group:
            before.setdefault(word, set()).add(name)

    unspaced = frozenset(word for word in before if _UNSPACED_END.search(word))
    marks = {
        kind: [key(mark) for mark in (*other.get(kind, ()), *(mark for mark, of in dates.marks.items() if of == kind))]
        for kind in ("year", "month", "day")
    }
    marked_date = None
    if marks["year"] and marks["month"] and marks["day"]:
        month_day = rf"(?P<m>[0-9]{{1,2}}) ?{one_of(marks['month'])}(?: ?(?P<d>[0-9]{{1,2}}) ?{one_of(marks['day'])})?"
        marked_date = re.compile(
            rf"(?P<y>[0-9]{{2}}|[0-9]{{4}}) ?{one_of(marks['year'])}(?![代대])(?: ?{month_day})?"
            rf"|{month_day.replace('<m>', '<m2>').replace('<d>', '<d2>')}"
        )

    values: dict[str, tuple[int, str]] = {}
    han_digits: dict[str, int] = {}
    han_scales: dict[str, int] = {}
    if numbers.compose == "han":
        for word, value in {**numbers.words, **numbers.scales}.items():
            if len(word) == 1:
                (han_scales if value >= 10 else han_digits)[fold(word)] = value
    else:
        # short ones are units and letters in Latin script (k, mm), words in others: صد, सौ; one syllable of Hangul begins other words
        values |= {
            word: (factor, "scale")
            for word, factor in own_scales.items()
            if factor >= 10 and len(word) > (2 if word.isascii() else 1) and "." not in word
        }
        values |= {key(word): (value, "ordinal") for word, value in numbers.ordinals.items()}
        values |= {key(word): (value, "unit") for word, value in numbers.words.items()}
    fractions = {key(word): value for word, value in numbers.halves.items()}
    unspaced_words = numbers.compose == "unspaced"
    names = [*values, *fractions, *(word for word in months if not word.endswith(".")), *map(key, numbers.no_words)]
    joined = one_of(joiners, bounded=False)
    glued = None
    elided: dict[str, tuple[tuple[int, str], tuple[int, str]]] = {}
    if numbers.compose == "glued":
        for scale, factor in values.items():
            if factor[1] == "scale" and factor[0] < 1000 and scale[-1] in _VOWELS:
                elided |= {
                    scale + unit[1:]: (factor, values[unit]) for unit in values if unit[0] == scale[-1] and values[unit][0] < factor[0]
                }
        parts, pairs = (
            "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word))) or "(?!)"
            for words in ({*values, *joiners, *elided}, elided)
        )
        glued = re.compile(rf"(?<![{WORD}-])(?P<joined>)(?P<word>(?:{parts}){{2,40}}+|(?:{pairs})){END}")
    # a joiner may be written on to the word behind it: وعشرون
    lead = f"(?:{joined})?" if any(not word.isascii() for word in joiners) else ""
    prefixes = [key(word) for word in numbers.prefixes]
    return Tables(
        code=code,
        decimal=numbers.decimal,
        order=dates.order,
        slash_decimal=numbers.slash_decimal,
        months=months,
        calendar="n" if dates.jalali or dates.hijri else "g",
        scales=scales,
        behind=behind,
        behind_starts=frozenset(starts),
        behind_words=frozenset(
            match.group()
            for group in (scales, halves, hours, months, date_joiners, joiners)
            for word in group
            if (match := _ASCII_START.match(word))
        ),
        half=re.compile(rf"[ ]?(?P<half>{one_of(halves)})"),
        halves=halves,
        minutes=re.compile(rf" ?([0-5]?[0-9])(?![0-9]) ?(?P<sign>{one_of(minutes)})?"),
        month_words=month_words,
        before={word: frozenset(kinds) for word, kinds in before.items()},
        before_last=frozenset(word.rstrip(".").rsplit(" ", 1)[-1] for word in before),
        before_unspaced=unspaced,
        unspaced_lengths=tuple(sorted({len(word) for word in unspaced}, reverse=True)),
        marked_date=marked_date,
        decade=re.compile(rf"[ '-]{{0,2}}{one_of(decades)}"),
        numbered_month=re.compile(
            rf" {one_of(month_words)} (?P<month>1[0-2]|0?[1-9])(?![0-9])"
            rf"(?:,? (?:{one_of(map(key, other.get('before_year', ())))} )?(?P<year>[12][0-9]{{3}})(?![0-9]))?"
        ),
        same_month=re.compile(
            rf"(?<![0-9.,])(?P<day>3[01]|[12][0-9]|0?[1-9])(?:[-.]?{SPACED_LETTER}{{1,3}}|[º°ª.])? ?{one_of(same_month)}"
            rf"|(?<![{WORD}]){one_of(same_month)}[^\w\n]{{0,3}}(?P<day2>3[01]|[12][0-9]|0?[1-9])(?![0-9])"
        )
        if same_month
        else None,
        year_after=re.compile(rf"(?: ?[.,]{{0,2}} ?(?:{one_of(date_joiners)} ?)?)(?P<year>[0-9]{{4}}|[0-9]{{2}})(?![0-9]|[.,:/-][0-9])"),
        word=re.compile(rf"{'' if unspaced_words else f'(?<![{WORD}])'}(?P<joined>{lead})(?P<word>{one_of(names)})") if names else None,
        single_words=glued is None and not unspaced_words and all(word.isalpha() for word in values),
        word_values=values,
        month_gap=re.compile(rf" ?(?:{one_of(date_joiners)} ?){{0,2}}"),
        joiners=tuple(joiners),
        points=frozenset(key(word) for word in numbers.points),
        out_of=frozenset(key(word) for word in numbers.out_of),
        gaps=re.compile(rf"(?:[ -]| ?(?P<joiner>{joined}) ?){'?' if unspaced_words else ''}"),
        fractions=fractions,
        han_digits=han_digits,
        han_scales=han_scales,
        glued=glued,
        elided=elided,
        prefixes=re.compile(f"(?:{'|'.join(map(re.escape, prefixes))})") if prefixes else None,
        ordinal_nouns=frozenset(key(noun) for noun in language.sentences.ordinal_nouns),
    )


class Han(NamedTuple):
    """What is looked for in a text with Han numerals: a run of them, a date and a clock time."""

    run: re.Pattern[str]
    date: re.Pattern[str]
    clock: re.Pattern[str]


@cache
def han_patterns(code: str) -> Han | None:
    """The patterns of a language that writes numbers with Han characters."""
    table = tables(code)
    if not table.han_digits:
        return None
    marks = languages.load(code).dates.marks
    run = f"[{''.join([*table.han_digits, *table.han_scales])}]"
    year, month, day = ("[" + "".join(mark for mark, of in marks.items() if of == kind) + "]" for kind in ("year", "month", "day"))
    halves = one_of(table.halves)
    hours = one_of(map(key, languages.load(code).dates.hours))
    return Han(
        re.compile(f"{run}+"),
        re.compile(f"(?:(?P<year>{run}{{2,6}}){year})?(?P<month>{run}{{1,3}}){month}(?:(?P<day>{run}{{1,3}}){day})?"),
        re.compile(f"(?P<half>{halves})?(?P<hour>{run}{{1,3}}){hours}(?:(?P<thirty>半)|(?P<minutes>{run}{{1,3}})分?)?"),
    )
