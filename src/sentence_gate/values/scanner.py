"""The walk over a folded text from numeral to numeral, which decides what kind of value each one is part of.

At each numeral the kinds are tried from the most to the least specific: a name or mix of letters and digits, a date, a telephone number, a clock time, a
fraction, a number. Each reader looks a bounded distance ahead and behind, so that the walk is linear. An answer and a source are read by the same
walk: what is found has the keys that may vouch for it in an answer and the keys that it vouches for in a source, and the second always hold one
of the first. So an answer that copies its source is never wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from heapq import merge
from math import prod

from ..normal import UNSPACED
from . import clocks, dates, phones
from .numbers import NUMERAL, Parts, canonical, read, times
from .tables import Han, Tables, han_patterns
from .words import compose, han

_TOKEN = re.compile(NUMERAL)
_NAMELESS = f"{UNSPACED}\u1100-\u11ff\uac00-\ud7af"
"""Letters that never make a name of the digits on them: of scripts without spaces, and Hangul, whose particles and counters are written on."""
_LETTER = rf"(?![{_NAMELESS}])[^\W\d_]"
_LETTERS = re.compile(rf"(?:{_LETTER})+")
_MIX = re.compile(rf"(?:{_LETTER}|[0-9])+(?:[-_.](?:{_LETTER}|[0-9])*?[0-9](?:{_LETTER}|[0-9])*)*")
_DIGITS = re.compile(r"[0-9]+")
_AREA = re.compile(r"(?:[mkcdµμ]?m|ft|in|yd|mi)[23](?![^\W_])")
_DOUBTFUL = frozenset(("k", "m", "b", "t", "mm", "mi"))
"""Scale words that are units too: 100m, 5 mm."""
_CURRENCY = frozenset("$€£¥₹₽₩₺₪฿₫₦₱₴₸﷼¢")
_CODES = frozenset((
    "usd", "eur", "gbp", "jpy", "cny", "rmb", "inr", "chf", "cad", "aud", "nzd", "sek", "nok", "dkk", "pln", "czk", "huf", "ron", "bgn",
    "rub", "uah", "try", "ils", "brl", "mxn", "ars", "clp", "cop", "pen", "zar", "ngn", "kes", "egp", "mad", "sar", "aed", "qar", "kwd",
    "omr", "bhd", "jod", "iqd", "irr", "afn", "pkr", "bdt", "lkr", "npr", "krw", "sgd", "hkd", "twd", "thb", "vnd", "idr", "myr", "php",
    "kzt", "gel", "amd", "azn", "etb", "isk", "rs", "us", "rp", "rm", "kr", "$",
))  # fmt: skip
_OPENERS = frozenset("([{<«“\"'=~≈<>≤≥±×*/:|,;،؛")
_BEFORE_POINT = frozenset("$€£¥₹-−–+(~≈<>≤≥=/")
_WHITE = frozenset(" \t\n\r")
_DASHES = frozenset("-–—−~～〜")
_CHAIN_NEXT = frozenset("-–—−/:.")

_NUMERIC_DATE = re.compile(r"([0-9]{1,4})([-/.])([0-9]{1,2})\2([0-9]{1,4})(?![0-9]|\2[0-9])")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-5][0-9])(?::([0-5][0-9])(?:[.,][0-9]+)?)?(?![0-9]|:[0-9])")
_FRACTION = re.compile(rf"({NUMERAL})/({NUMERAL})(?![0-9]|/[0-9])")
_MIXED = re.compile(r"([0-9]+)(?: |-|(?= [0-9]))([0-9]{1,2})/([0-9]{1,2})(?![0-9/])")
_SINGLES = re.compile(r"[0-9](?: [0-9]){2,}(?![0-9])")
_BY_SPACE = re.compile(r"[0-9]{1,3}(?: [0-9]{3})+(?![0-9])(?:[.,٫][0-9]+(?![0-9]))?")
_BY_COMMA_SPACE = re.compile(r"[0-9]{1,3}(?:[,،] [0-9]{3})+(?![0-9])(?:\.[0-9]+(?![0-9]))?")
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−", "0123456789+--")
_POWER = re.compile(
    r"(?: ?(?P<times>(?:[×x·⋅*]|\\times|\\cdot) ?10)(?: ?\^ ?\{?(?P<exponent>[-−+]?[0-9]{1,6})\}?|(?P<raised>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6}))"
    r"|\^ ?\{?(?P<power>[-−+]?[0-9]{1,6})\}?|(?P<superscript>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6})"
    r"|e(?P<e>[-−+]?[0-9]{1,4})(?![^\W_]))"
)
_POWER_STARTS = frozenset(" ×x·⋅*\\^e⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FRENCH_CLOCK = re.compile(r"h([0-5][0-9])(?![0-9])")
_SECOND_DAY = re.compile(r" ?[-–—] ?([0-9]{1,2})(?![0-9]|[.,:/][0-9])")
_SECOND_DAY_BY_WORD = re.compile(r" [^\W\d_]{1,5} ([0-9]{1,2})(?![0-9]|[.,:/][0-9])")
"""From 15 to 20 March."""
_YEAR_BEHIND = re.compile(r"(?:,| [^\W\d_]{2,4})? ([12][0-9]{3})(?![0-9])")
_DOTTED_CLOCK = re.compile(r"([01]?[0-9]|2[0-4])\.([0-5][0-9])")
"""9.00 to 17.00 Uhr: the word for a clock stands behind the second one only."""
_LIST_NUMBER = re.compile(r"[ \t>#*•·|-]{0,12}(?:\(([0-9]{1,3})\)|\(?([0-9]{1,3})[.)）:：、](?![0-9])|([0-9]{1,2}) ?[-–—](?= ))")
_RANGE_GAP = re.compile(r"[ %°]{0,2}(?:[-–—~～〜至到]|[^\W\d_]{1,5})[ $€£¥₹]{0,2}$")
_REFERENCE_GAP = re.compile(r"[ ,،、&–—-]{1,3}$")
_UNSPACED = re.compile(f"[{_NAMELESS}]")
_ASCII_WORD = re.compile(r"[a-z]+")
_UNSPACED_LEAD = re.compile(f"[{_NAMELESS}]+")
_SIGN_BEFORE = re.compile(r"[A-Z][A-Z]{0,9}$")


_SAME_MONTH_REACH = 600
"""Code points within which "the same month" speaks of a date before it."""


class Found:
    """A value as the readers make it: `keys` for an answer, `vouched` for a source."""

    __slots__ = ("decade", "end", "half", "keys", "kind", "month", "parts", "scale", "short", "small", "start", "vouched")

    def __init__(self, start: int, end: int, kind: str, keys: tuple[str, ...], vouched: list[str] | tuple[str, ...]) -> None:
        self.start, self.end, self.kind, self.keys, self.vouched = start, end, kind, keys, vouched
        self.small = False
        self.parts: tuple[Parts, ...] = ()  # of a number: its readings, as a scale word behind a range counts for both ends
        self.scale = 0
        self.short = False  # a year or decade of two digits
        self.decade = False
        self.month: tuple[str, list[int | None], int] | None = None  # of a date by name: calendar, what its year may be, month
        self.half: tuple[int, str] | None = None  # of a clock without half of day: hour and rest


def scan(folded: str, low: str, table: Tables, source: bool) -> list[Found]:
    """The values of a folded text without its addresses; `low` is the same text in lower case. In order of kind, not of place."""
    walk = _Walk(folded, low, table, source)
    walk.numerals()
    if walk.found:
        walk.ranges()
    if source and table.same_month is not None:
        walk.same_month()
    if source or not table.single_words or not low.isascii() or _composed(low, table.word_values):
        walk.words()
    if table.han_digits:
        walk.han()
    return walk.found


def _composed(low: str, known: dict[str, tuple[int, str]]) -> bool:
    """Whether an ASCII text has two number words: a quick look, since an answer's single ones are no values."""
    return sum(word in known for word in _ASCII_WORD.findall(low)) > 1


class _Walk:
    __slots__ = ("found", "folded", "listed", "low", "order", "reference", "scaled_ends", "scaled_starts", "source", "table", "taken")

    def __init__(self, folded: str, low: str, table: Tables, source: bool) -> None:
        self.folded, self.low, self.table, self.source = folded, low, table, source
        self.found: list[Found] = []
        self.taken: set[int] = set()  # where words begin that are part of a value in digits
        self.reference = -1  # the end of the last reference to a list or source
        self.scaled_ends: dict[int, Found] | None = None  # numbers with a scale word by where they end
        self.scaled_starts: dict[int, Found] = {}
        self.listed: set[int] = set()
        if not source:
            line = 0
            while line >= 0:
                match = _LIST_NUMBER.match(folded, line)
                if match:
                    self.listed.add(match.start(match.lastindex or 0))
                line = folded.find("\n", line) + 1 or -1

    # numerals

    def numerals(self) -> None:
        low, at, search = self.low, 0, _TOKEN.search
        while match := search(low, at):
            at = self.numeral(match.start(), match.end(), match.group())

    def numeral(self, start: int, end: int, text: str) -> int:
        """Reads the value that begins at or around a numeral; returns where to go on."""
        low = self.low
        before = low[start - 1] if start else ""
        behind = low[end] if end < len(low) else ""
        if before and (before.isalpha() or before in "-_"):
            after = self.mix(start, end)
            if after:
                return after
        if start in self.listed and not self.ordinal(end):
            return end
        if behind in _CHAIN_NEXT or "." in text or before in ("+", "(") or behind in (" ", ",", "،") or self.table.marked_date:
            after = self.chain(start, end, text, before, behind)
            if after:
                return after
        plain = text.isdigit()
        if plain and len(text) <= 4:
            after = self.in_words(start, end, int(text), len(text), before, behind)
            if after:
                return after
        return self.number(start, end, text, plain, before, behind)

    def ordinal(self, end: int) -> bool:
        """Whether "17." is the ordinal of a date or century and no list number."""
        found = self.table.behind.match(self.low, end)
        if found and found.lastgroup == "month":
            return True
        word = re.match(r"\. ([^\W\d_]+)", self.low[end : end + 40])
        return bool(word and word[1] in self.table.ordinal_nouns)

    def mix(self, start: int, end: int) -> int:
        """A name or mix of letters and digits: where it ends, or 0 if the digits are a number of their own."""
        low = self.low
        last = start - 1
        hyphen = low[last] in "-_"
        if hyphen:
            last -= 1
            if last < 0 or not low[last].isalpha():
                return 0
        if _UNSPACED.match(low[last]):
            return 0
        first = last
        while first > 0 and start - first < 40 and low[first - 1].isalpha() and not _UNSPACED.match(low[first - 1]):
            first -= 1
        letters = low[first : last + 1]
        if self.table.prefixes and self.table.prefixes.fullmatch(low, first, start):
            return 0
        if not hyphen:
            if letters in _CODES or (letters == "x" and first and low[first - 1].isdigit()):
                return 0
        if first and low[first - 1].isdigit():
            return 0  # a unit before a dash: 5km-10km
        whole = _MIX.match(low, first)
        if whole is None:
            return 0
        text, after = whole.group(), whole.end()
        if after < end:
            after = end
        runs = _DIGITS.findall(text)
        numeral = low[start:end]
        decimal = not numeral.isdigit()
        if letters in ("v", "ver", "version") and (decimal or len(runs[0]) > 2):
            if decimal:
                self.version(start, end, numeral)
                return end
            return 0
        if not decimal and max(map(len, runs)) <= 2:
            return after
        if letters.upper() == letters:
            return 0  # a script without capitals has no codes of letters and digits
        if hyphen:
            written = self.folded[first : last + 1]
            if not written.isupper() or len(written) > 6:
                return after if sum(map(len, runs)) <= 2 else 0
        if decimal and start + len(numeral) > after:
            text = low[first:end]
        key = "x" + re.sub(r"[-_]", "", text)
        self.found.append(Found(first, max(after, end), "mix", (key,), (key,)))
        return max(after, end)

    def chain(self, start: int, end: int, text: str, before: str, behind: str) -> int:
        """What is written with marks or spaces between numerals: dates, telephone numbers, clocks, fractions, groups."""
        low, table = self.low, self.table
        marked = table.marked_date
        if marked and (match := marked.match(low, start)):
            return self.marked_date(match)
        if behind in ("-", "/", ".") or "." in text:
            match = _NUMERIC_DATE.match(low, start)
            if match and (after := self.numeric_date(match)):
                return after
        if behind == ":":
            match = _CLOCK.match(low, start)
            if match and int(match[1]) <= 24:
                rest = f":{match[2]}" + (f":{match[3]}" if match[3] else "")
                return self.clock(start, match.end(), int(match[1]), rest, before)
        if behind in ("-", " ", "/", ".") or before in ("+", "(") or "." in text:
            span = phones.find(low, start)
            if span:
                self.phone(*span)
                return span[1]
        if behind == "/":
            match = _FRACTION.match(low, start)
            if match:
                return self.fraction(start, match.end(), match[1], match[2])
        if behind in (" ", "-") and low[end + 1 : end + 2].isdigit():
            match = _MIXED.match(low, start)
            if match and 0 < int(match[2]) < int(match[3]) <= 16:
                return self.mixed(start, match)
            if behind == " ":
                match = _SINGLES.match(low, start)
                if match:
                    digits = match.group().replace(" ", "")
                    key = "n" + canonical(digits)
                    self.found.append(Found(start, match.end(), "number", (key,), [key, "p" + digits, *("n" + digit for digit in set(digits))]))
                    return match.end()
                match = _BY_SPACE.match(low, start)
                if match and text[0] != "0":
                    return self.spaced(start, match, before)
        elif behind in (",", "،") and low[end + 1 : end + 2] == " " and low[end + 2 : end + 3].isdigit():
            match = _BY_COMMA_SPACE.match(low, start)
            if match and text[0] != "0":
                return self.comma_spaced(start, match, before)
        return 0

    # dates

    def marked_date(self, match: re.Match[str]) -> int:
        """2015年5月3日 and its parts."""
        year, month, day = match["y"], match["m"] or match["m2"], match["d"] or match["d2"]
        self.taken.update(range(match.start(), match.end()))
        if month is None:
            keys = [f"n{canonical(year)}"]
            if len(year) == 2:
                keys = [f"n{each}" for each in dates.years(int(year), "g")]
            self.found.append(Found(match.start(), match.end(), "number", tuple(keys), keys))
            return match.end()
        long: list[int | None] = [None]
        if year:
            long = [int(year)] if len(year) == 4 else [*dates.years(int(year), "g")]
        self.date(match.start(), match.end(), "g", long, int(month), int(day) if day else None, [n for n in (year, month, day) if n])
        return match.end()

    def date(
        self, start: int, end: int, calendar: str, years: list[int | None], month: int, day: int | None, written: list[str]
    ) -> None:
        """A date whose month is known; `written` are its numbers, which a source vouches for too."""
        keys: tuple[str, ...] = ()
        vouched = ["n" + canonical(number) for number in written]
        for year in years:
            vouched += dates.parts(calendar, year, month, day)
            if year is None:
                keys += dates.day_of_month(calendar, month, day) if day else dates.month_alone(calendar, month)
            else:
                keys += dates.full(calendar, year, month, day) if day else dates.month_of_year(calendar, year, month)
        if not dates.valid(month, day):
            keys += ("w" + "-".join(written),)
            vouched.append("w" + "-".join(written))
        found = Found(start, end, "date", keys, vouched)
        found.month = calendar, years, month
        self.found.append(found)

    def numeric_date(self, match: re.Match[str]) -> int:
        """03/04/2025, 2025-04-03: the readings that are dates, the language's first; 0 if none is."""
        first, mark, second, third = match.groups()
        width = (len(first), len(second), len(third))
        iso = mark == "-" and width[0] == 4
        if mark == "." and not (4 in width and width[0] <= 4) and self.table.decimal == ".":
            return 0
        found = dates.orders(int(first), int(second), int(third), width, "ymd" if iso else self.table.order)
        if not found or (width[2] == 4 and width[0] > 2):
            return 0
        vouched: list[str] = []
        keys: tuple[str, ...] = ()
        for rank, (year, month, day) in enumerate(found):
            short = year < 100 and 4 not in width and max(width) <= 2
            for full in dates.years(year)[1:] if short else (year,):
                vouched += dates.parts("n", full, month, day)
                if rank == 0:
                    keys += dates.full("n", full, month, day)
            if iso:
                break
        if max(width) <= 2:
            if mark == ".":  # a version too
                keys += ("v" + match.group(),)
                vouched.append("v" + match.group())
            vouched.append("w" + match.group())
            keys += ("w" + match.group(),)
        self.found.append(Found(match.start(), match.end(), "date", keys, vouched))
        after = match.end()
        if self.low[after : after + 1] == "t" and (clock := _CLOCK.match(self.low, after + 1)) and int(clock[1]) <= 24:
            rest = f":{clock[2]}" + (f":{clock[3]}" if clock[3] else "")
            return self.clock(after + 1, clock.end(), int(clock[1]), rest, "")
        return after

    def in_words(self, start: int, end: int, value: int, width: int, before: str, behind: str) -> int:
        """What the words around a whole number make of it: a day, a year, a clock time. 0 if nothing."""
        low, table = self.low, self.table
        ahead = self.behind(end, behind)
        kind = ahead.lastgroup if ahead else None
        back = self.before(start, before)
        if width <= 2 and 1 <= value <= 31:
            if behind == " " and (match := table.numbered_month.match(low, end)):
                year = [int(match["year"])] if match["year"] else [None]
                self.date(start, match.end(), "g", [*year], int(match["month"]), value, [low[start:end], *filter(None, match.groups())])
                return match.end()
            second = _SECOND_DAY.match(low, end) if behind in _DASHES or behind == " " else None
            if second is None and self.source and behind == " ":
                second = _SECOND_DAY_BY_WORD.match(low, end)
            if second and not value < int(second[1]) <= 31:
                second = None
            if second and kind != "month":
                further = self.behind(second.end(), low[second.end() : second.end() + 1])
                if further and further.lastgroup == "month" and (name := self.month(further)):
                    return self.days(start, [str(value), second[1]], further, name)
            if kind == "month" and ahead and not self.after_score(start, value) and (name := self.month(ahead)):
                return self.days(start, [low[start:end]], ahead, name)
        if back and "month" in back[0] and (name := table.months[back[1]]) and self.capital_fits(name, back[2], back[1]):
            after = self.after_month(start, end, value, width, back, name)
            if after:
                return after
        if back and "month_number" in back[0] and 1 <= value <= 12:
            return self.month_number(start, end, value, low[start:end])
        if value <= 24 and width <= 2 and kind != "scale":
            hour = kind == "hour" or (back is not None and "hour" in back[0])
            half = ahead is not None and kind == "half"
            if half and table.halves[ahead["half"]] in ("night", "noon") and not hour:  # type: ignore[index]
                half = False  # "3 nights": only where something shows a clock
            early = back is not None and "half" in back[0] and table.halves[back[1]] in ("am", "pm") and 1 <= value <= 12 and not (hour or half)
            if hour or half or early:
                doubtful = early or (half and not hour and ahead is not None and len(ahead["half"]) == 1)  # "5 م": metres or p.m.
                after, rest = end, ":00"
                if kind == "hour" and ahead is not None:
                    self.taken.add(ahead.start("hour"))
                    after = ahead.end()
                    minutes = table.minutes.match(low, after)
                    if minutes and (minutes["sign"] or (low[after : after + 1].isdigit() and len(minutes[1]) == 2)):
                        after, rest = minutes.end(), f":{int(minutes[1]):02d}"
                    elif minutes and ahead["hour"].isalpha() and low[after] == " " and len(minutes[1]) == 2 and minutes[1] != "" and ahead["hour"].isascii():
                        after, rest = minutes.end(1), f":{minutes[1]}"
                    elif low[after : after + 1] == "半":
                        after, rest = after + 1, ":30"
                elif hour and low[end : end + 1] in (".", "٫") and re.match(r"[.٫][0-5][0-9](?![0-9])", low[end : end + 4]):
                    after, rest = end + 3, ":" + low[end + 1 : end + 3]
                after = self.clock(start, after, value, rest, before, back)
                if doubtful:
                    self.found[-1].keys = (*self.found[-1].keys, f"n{value}")
                    self.found[-1].vouched = [*self.found[-1].vouched, f"n{value}"]
                elif rest == ":00" and kind != "hour" and value <= 20:
                    self.found[-1].small = self.found[-1].half is not None
                return after
            if behind == "h" and (french := _FRENCH_CLOCK.match(low, end)):
                return self.clock(start, french.end(), value, ":" + french[1], before)
        if value % 10 == 0 and (width == 2 or (width == 4 and 1000 <= value < 2200)):
            match = table.decade.match(low, end)
            if match or (back and "decade" in back[0]):
                return self.decade(start, match.end() if match else end, low[start:end])
        if width == 2 and back and "count" in back[0]:
            return self.short_year(start, end, low[start:end])
        if width == 2 and behind == "s" and not low[end + 1 : end + 2].isalnum():
            return self.short_year(start, end + 1, low[start:end])
        if not self.source and back and "reference" in back[0] and value <= 20:
            self.reference = end
            return end
        if not self.source and value <= 20 and 0 <= self.reference < start and start - self.reference < 12:
            gap = low[self.reference : start]
            if _REFERENCE_GAP.match(gap) or self.table.gaps.fullmatch(gap):
                self.reference = end
                return end
        return 0

    def after_score(self, start: int, value: int) -> bool:
        """Whether "1" is the end of a score or a falling range: 4-1 de febrero."""
        last = self.found[-1] if self.found else None
        return last is not None and last.end == start - 1 and self.low[start - 1] in _DASHES and bool(last.parts) and last.parts[0][0].isdigit() and (
            len(last.parts[0][0]) > 2 or int(last.parts[0][0]) > value
        )

    def decade(self, start: int, end: int, digits: str) -> int:
        """1980s, the 80s, دهه ۵۰: vouched for by itself and by any year in it, as a month is by a day."""
        own, years = self.decade_keys(digits)
        found = Found(start, end, "number", (*own, *years), own)
        found.short = found.decade = len(digits) == 2
        self.found.append(found)
        return end

    def decade_keys(self, digits: str) -> tuple[list[str], list[str]]:
        """The first year of a decade and the years behind it."""
        firsts = [int(digits)] if len(digits) == 4 else [*dates.years(int(digits), self.table.calendar)]
        return [f"n{first}" for first in firsts], [f"n{year}" for first in firsts if first > 99 for year in range(first + 1, first + 10)]

    def short_year(self, start: int, end: int, digits: str) -> int:
        keys = [f"n{each}" for each in dates.years(int(digits), self.table.calendar)]
        found = Found(start, end, "number", tuple(keys), keys)
        found.short = True
        self.found.append(found)
        return end

    def behind(self, end: int, behind: str) -> re.Match[str] | None:
        """The word of the language's data behind a numeral."""
        if not behind or behind in ",;)\n!?\"'":
            return None
        starts = self.table.behind_starts
        if behind in " -." or behind in "º°ª":
            if behind in " -":
                if self.low[end + 1 : end + 2] not in starts:
                    return None
                word = _ASCII_WORD.match(self.low, end + 1)
                if word and word.group() not in self.table.behind_words:
                    return None
        elif not behind.isalpha() and behind not in starts and behind not in _CURRENCY:
            return None
        return self.table.behind.match(self.low, end)

    def before(self, start: int, before: str) -> tuple[frozenset[str], str, int] | None:
        """The word of the language's data before a numeral: what it is, the word, where it begins."""
        if not before or before in "\n,;$":
            return None
        low, entries = self.low, self.table.before
        if before == " ":  # most words are none of the data
            word = low[low.rfind(" ", 0, start - 1) + 1 : start - 1]
            if word.isalpha() and word not in self.table.before_last and (word.isascii() or not _UNSPACED.search(word)):
                return None
        caseless = not before.isascii() and before.isalpha() and before.upper() == before and not _UNSPACED.match(before)
        if before in " (#:.[" or caseless or (before.isascii() and not before.isalnum()):
            chunk = low[max(0, start - 40) : start].rstrip(" (#:.[")
            words = chunk[chunk.rfind("\n") + 1 :].rsplit(" ", 3)[-3:]
            for skip in (0, 1):
                if skip:
                    if len(words) < 2 or words[-1] not in entries or "joiner" not in entries[words[-1]]:
                        break
                    words = words[:-1]
                for first in range(len(words)):
                    word = " ".join(words[first:]).lstrip("(\"'[«“")
                    if "'" in word and word not in entries:
                        word = word[word.index("'") + 1 :]  # l'étape, d'août
                    found = entries.get(word) or entries.get(word.rstrip("."))
                    if not found and word and _UNSPACED.match(word):
                        word = _UNSPACED_LEAD.sub("", word)  # 在May 5
                        found = entries.get(word)
                    if found and "joiner" in found and first and "month" in entries.get(words[first - 1], ()):
                        found, word = entries[words[first - 1]], words[first - 1]  # مرداد سال ۶۷
                    if found and found != {"joiner"}:
                        word = word if word in entries else word.rstrip(".")
                        return found, word, low.rfind(word, 0, start)
            if before != " ":
                return None
            start -= 1
            if start < 1 or low[start - 1].isascii():
                return None
        for length in self.table.unspaced_lengths:
            word = low[max(0, start - length) : start]
            if word in self.table.before_unspaced:
                return entries[word], word, start - length
        return None

    def month(self, ahead: re.Match[str]) -> tuple[str, int, bool] | None:
        return self.table.months.get(ahead["month"])

    def capital_fits(self, name: tuple[str, int, bool], at: int, word: str) -> bool:
        """A month that is written with a capital is no month without one: "may 5 people"."""
        return not name[2] or not self.folded[at : at + 1].islower()

    def days(self, start: int, days: list[str], ahead: re.Match[str], name: tuple[str, int, bool]) -> int:
        """5 May 2019, 5-7 May."""
        calendar, month, _ = name
        self.taken.add(ahead.start("month"))
        end, years, written = self.year(ahead.end(), calendar)
        if name[2] and self.folded[ahead.start("month")].islower() and years == [None] and len(ahead["month"]) <= 5:
            return 0
        for day in days:
            self.date(start, end, calendar, years, month, int(day), [day, *written])
        return end

    def year(self, at: int, short: str) -> tuple[int, list[int | None], list[str]]:
        """The year behind a day and month: where it ends, what it may be, how it is written."""
        match = self.table.year_after.match(self.low, at)
        if match:
            digits = match["year"]
            if len(digits) == 4 and 1000 <= int(digits) < 2200:
                return match.end(), [int(digits)], [digits]
            if short and len(digits) == 2 and (int(digits) > 31 or not re.match(r" ?[^\W_]", self.low[match.end() : match.end() + 2])):
                return match.end(), [*dates.years(int(digits), short)], [digits]
        return at, [None], []

    def after_month(self, start: int, end: int, value: int, width: int, back: tuple[frozenset[str], str, int], name: tuple[str, int, bool]) -> int:
        """May 5, 2019; May 2019; in Iran and elsewhere also a month and the short year."""
        calendar, month, _ = name
        begin = back[2]
        low = self.low
        if any(one.end > begin for one in self.found[-1:]):
            return 0  # the month belongs to the date before: 5 May 20
        if width == 4 and 1000 <= value < 2200:
            self.taken.add(begin)
            self.date(begin, end, calendar, [value], month, None, [low[start:end]])
            return end
        if width > 2 or value == 0:
            return 0
        digits = low[start:end]
        if value > 31:
            self.taken.add(begin)
            self.date(begin, end, calendar, [*dates.years(value, calendar)], month, None, [digits])
            return end
        suffix = _LETTERS.match(low, end)
        after = suffix.end() if suffix and suffix.end() - end <= 3 else end
        days = [digits]
        second = _SECOND_DAY.match(low, after)
        if second and value < int(second[1]) <= 31:
            days.append(second[1])
            after = second.end()
        after, years, written = self.year(after, "")
        self.taken.add(begin)
        for day in days:
            self.date(begin, after, calendar, years, month, int(day), [day, *written])
            if self.table.order != "mdy" and not written and width == 2:
                last = self.found[-1]
                short = dates.years(value, calendar)[1:]
                last.keys += tuple(key for year in short for key in dates.month_of_year(calendar, year, month))
                last.vouched = [*last.vouched, *(part for year in short for part in dates.parts(calendar, year, month, None))]
        return after

    def month_number(self, start: int, end: int, month: int, digits: str) -> int:
        """tháng 9 năm 2018."""
        match = _YEAR_BEHIND.match(self.low, end)
        end = match.end() if match else end
        self.date(start, end, "g", [int(match[1]) if match else None], month, None, [digits, *(match.groups() if match else ())])
        return end

    def same_month(self) -> None:
        """The 21st of the same month: the month of the last date before."""
        pattern = self.table.same_month
        assert pattern is not None
        matches = list(pattern.finditer(self.low))
        if not matches:
            return
        known = sorted((one for one in self.found if one.month), key=lambda one: one.start)
        at, last = 0, None
        for match in matches:
            while at < len(known) and known[at].start < match.start():
                last = known[at]
                at += 1
            if last is not None and match.start() - last.end < _SAME_MONTH_REACH:
                day = match["day"] or match["day2"]
                assert last.month is not None
                calendar, years, month = last.month
                self.date(match.start(), match.end(), calendar, years, month, int(day), [day])

    # clocks

    def clock(self, start: int, end: int, hour: int, rest: str, before: str, back: tuple[frozenset[str], str, int] | None = None) -> int:
        low, table = self.low, self.table
        back = back or self.before(start, before)
        half = None
        match = table.half.match(low, end)
        if match:
            half, end = table.halves[match["half"]], match.end()
        else:
            sign = table.behind.match(low, end) if low[end : end + 1] in table.behind_starts or low[end + 1 : end + 2] in table.behind_starts else None
            if sign and sign.lastgroup == "hour":
                end = sign.end()
                match = table.half.match(low, end)
                if match:
                    half, end = table.halves[match["half"]], match.end()
            if half is None and back and "half" in back[0]:
                half = table.halves[back[1]]
            elif half is None and back and "hour" in back[0]:
                earlier = self.before(back[2], low[back[2] - 1 : back[2]] if back[2] else "")
                if earlier and "half" in earlier[0]:
                    half = table.halves[earlier[1]]
        found = Found(start, end, "clock", clocks.asked(hour, rest, half), clocks.vouched(hour, rest, half))
        if half is None and 1 <= hour <= 12:
            found.half = hour, rest
        elif half:
            found.half = 0, half
        self.found.append(found)
        return end

    # numbers

    def number(self, start: int, end: int, text: str, plain: bool, before: str, behind: str) -> int:
        low, table = self.low, self.table
        if plain:
            options: tuple[Parts, ...] = ((text, ""),)
        else:
            kind, options = read(text, table.decimal)
            if kind == "list":
                return self.parts_of_list(start, end, text)
            if kind == "version":
                self.version(start, end, text)
                return end
            if len(options[0][0]) <= 2 and len(text) - len(options[0][0]) == 3 and (after := self.dotted_clock(start, end, text, before, behind)):
                return after
        if before == "." and plain and (start < 2 or low[start - 2] in _WHITE or low[start - 2] in _BEFORE_POINT):
            start, options = start - 1, (("0", text),)  # .5
        sign = self.sign(start)
        if behind in _POWER_STARTS and (power := _POWER.match(low, end)):
            return self.power(start, power, options, sign)
        after = end
        units: list[int] = []
        if behind:
            ahead = self.behind(end, behind)
            if ahead is not None and ahead.lastgroup == "scale":
                return self.scaled(start, options, sign, ahead)
            if behind.isalpha() and (letters := _LETTERS.match(low, end)) and low[letters.end() : letters.end() + 1].isdigit():
                if (area := _AREA.match(low, end)) is not None:
                    after = area.end()
                elif letters.group() != "x" and low[start] != "." and not (table.prefixes and table.prefixes.fullmatch(letters.group())):
                    whole = _MIX.match(low, start)
                    assert whole is not None
                    key = "x" + re.sub(r"[-_]", "", whole.group())
                    self.found.append(Found(start, max(end, whole.end()), "mix", (key,), (key,)))
                    return max(end, whole.end())
        self.add(start, end, options, sign, units)
        return after

    def add(self, start: int, end: int, options: tuple[Parts, ...], sign: str, _units: list[int]) -> None:
        """A number; the first reading counts in an answer, all of them in a source."""
        low = self.low
        if len(options) == 1:
            number = canonical(*options[0])
            vouched = [f"n{sign}{number}"]
        else:
            vouched = [f"n{sign}{canonical(*option)}" for option in options]
            number = vouched[0][1 + len(sign) :]
        if sign == "?":  # a dash that may be a minus or not
            vouched = [key for option in options for key in (f"n{canonical(*option)}", f"n-{canonical(*option)}")]
            keys: tuple[str, ...] = (vouched[0], vouched[1])
        elif number == "0":
            vouched = ["n0"]
            keys = ("n0",)
        else:
            keys = (vouched[0],)
        found = Found(start, end, "number", keys, vouched)
        if not sign:
            whole = options[0][0]
            if not options[0][1]:
                if len(whole) <= 2:
                    if int(whole) <= 24:
                        found.keys = (keys[0], f"o{number}")
                        found.small = int(whole) <= 20
                elif len(whole) >= 7:
                    found.keys = (keys[0], "p" + whole)
                    vouched.append("p" + whole)
                if start and low[start - 1] in _DASHES and len(whole) <= 2:
                    self.range_end(found, whole)
                if self.source and len(whole) == 4 and start > 2 and low[start - 1] in _DASHES:
                    self.range_start(whole)
                if self.source and len(whole) > 2 and start > 1 and low[start - 1] == " " and self.folded[start - 2].isupper():
                    name = _SIGN_BEFORE.search(self.folded[max(0, start - 11) : start - 1])
                    if name:
                        vouched.append(f"x{name.group().lower()}{whole}")
        found.parts = options
        self.found.append(found)

    def range_end(self, found: Found, digits: str) -> None:
        """The 15 of 2011-15 is 2015; that of 2011-12 may be December too."""
        if not self.found:
            return
        first = self.found[-1]
        year = self.low[first.start : first.end]
        if first.end != found.start - 1 or len(year) != 4 or not year.isdigit() or len(digits) != 2:
            return
        keys: tuple[str, ...] = ()
        if int(digits) > int(year[2:]):
            keys = (f"n{year[:2]}{digits}",)
        if self.low[found.start - 1] == "-" and 1 <= int(digits) <= 12:
            keys += dates.month_of_year("n", int(year), int(digits))
            found.vouched = [*found.vouched, *dates.parts("n", int(year), int(digits), None)]
        if keys:
            found.keys = keys
            found.vouched = [*found.vouched, *keys[:1]]
            found.small = False

    def range_start(self, year: str) -> None:
        """57-1342, as a range of years is typed where one writes from right to left: 1342 to 1357."""
        first = self.found[-1] if self.found else None
        if first and first.parts and len(digits := first.parts[0][0]) == 2 and int(digits) > int(year[2:]) and self.low[first.end] in _DASHES:
            first.vouched = [*first.vouched, f"n{year[:2]}{digits}"]

    def sign(self, start: int) -> str:
        """ "-" for a minus, "?" for a dash that may be one, "" for none."""
        low = self.low
        at = start - 1
        if at >= 0 and low[at] in _CURRENCY:
            at -= 1
        if at < 0 or low[at] not in "-−–":
            return ""
        char = low[at]
        before = low[at - 1] if at else ""
        if before.isdigit() or before == "%":
            return ""
        if char == "−":
            return "-"
        if before and before not in _WHITE and before not in _OPENERS and before not in _CURRENCY:
            return ""
        if char == "–":
            return "?" if not (before == " " and at > 1 and low[at - 2].isdigit()) else ""
        if self.source and before == " " and at > 1 and low[at - 2].isdigit():
            return "?"  # "10 -12"
        return "-"

    def dotted_clock(self, start: int, end: int, text: str, before: str, behind: str) -> int:
        """4.40am, 9.30 Uhr; a source's 10.30 may be a clock time too."""
        hour, minutes = text[:-3], text[-2:]
        if text[-3] not in ".٫" or int(hour) > 24 or int(minutes) > 59:
            return 0
        ahead = self.behind(end, behind)
        back = self.before(start, before)
        if (ahead and ahead.lastgroup in ("half", "hour")) or (back and "hour" in back[0]):
            after = self.clock(start, end, int(hour), ":" + minutes, before, back)
            if self.source:
                self.found[-1].vouched = [*self.found[-1].vouched, "n" + canonical(hour, minutes)]
            return after
        return 0

    def scaled(self, start: int, options: tuple[Parts, ...], sign: str, ahead: re.Match[str]) -> int:
        """A number and its scale words, and a smaller one behind: 3 lakh 20 thousand, 1億2500万."""
        low, table = self.low, self.table
        word = ahead["scale"]
        factor = table.scales[word]
        end = ahead.end("scale")
        self.taken.add(ahead.start("scale"))
        doubtful = word in _DOUBTFUL
        if len(word) == 1 and doubtful and ahead["scale_gap"]:
            self.add(start, ahead.start(), options, sign, [])
            return ahead.start()
        factor, end = self.more_scales(factor, end)
        values = [times(option, factor) for option in options]
        minus = "-" if sign == "-" else ""
        smaller = factor
        following = re.compile(rf" ?(?:{table.gaps.pattern})?({NUMERAL})")
        while len(options) == 1 and (more_digits := following.match(low, end)):
            text = more_digits.group(more_digits.lastindex or 1)
            ahead2 = self.behind(more_digits.end(), low[more_digits.end() : more_digits.end() + 1])
            parts = ((text, ""),) if text.isdigit() else read(text, table.decimal)[1]
            if len(parts) != 1 or parts[0][1]:
                break
            if ahead2 and ahead2.lastgroup == "scale" and table.scales[ahead2["scale"]] < smaller and ahead2["scale"] not in _DOUBTFUL:
                self.taken.add(ahead2.start("scale"))
                smaller, after = self.more_scales(table.scales[ahead2["scale"]], ahead2.end("scale"))
                if smaller >= factor:
                    break
                extra = times(parts[0], smaller)
            elif more_digits.start(more_digits.lastindex or 1) == end and word[-1] > "\u0e00" and not ahead2 and len(text) < len(str(smaller)):
                extra, after, smaller = canonical(*parts[0]), more_digits.end(), 0
            else:
                break
            if not values[0].isdigit() or not extra.isdigit() or len(values[0]) > 40 or len(extra) > 40:
                break
            values[0] = str(int(values[0]) + int(extra))
            end = after
        vouched = [f"n{minus}{value}" for value in values]
        if doubtful:
            vouched += [f"n{minus}{canonical(*option)}" for option in options]
        keys = (vouched[0], f"n{minus}{canonical(*options[0])}") if doubtful else (vouched[0],)
        found = Found(start, end, "number", keys, vouched)
        found.scale = factor
        self.found.append(found)
        return end

    def more_scales(self, factor: int, end: int) -> tuple[int, int]:
        """Scale words behind a scale word multiply: hundred thousand, 千万."""
        while factor < 10**30:
            more = self.behind(end, self.low[end : end + 1])
            if not more or more.lastgroup != "scale" or more["scale"] in _DOUBTFUL:
                break
            factor *= self.table.scales[more["scale"]]
            self.taken.add(more.start("scale"))
            end = more.end("scale")
        return factor, end

    def power(self, start: int, match: re.Match[str], options: tuple[Parts, ...], sign: str) -> int:
        """5 × 10³, 10³, 5e3; another base is kept as it is written."""
        text = match["exponent"] or match["raised"] or match["power"] or match["superscript"] or match["e"]
        exponent = int(text.translate(_SUPERSCRIPT))
        minus = "-" if sign == "-" else ""
        if match["times"] or match["e"]:
            keys = [f"n{minus}{canonical(*option, exponent)}" for option in options]
        elif options[0] == ("10", ""):
            keys = [f"n{minus}{canonical('1', '', exponent)}"]
        else:
            keys = [f"^{canonical(*options[0])}^{exponent}"]
            if match["superscript"] and exponent < 100 and len(options[0][0]) >= 4:
                keys.append(f"n{minus}{canonical(*options[0])}")  # a footnote's number
        self.found.append(Found(start, match.end(), "number", tuple(keys[:1] if len(options) > 1 else keys), keys))
        return match.end()

    def fraction(self, start: int, end: int, above: str, below: str) -> int:
        """3/4; 2018/19 is two years."""
        sign = self.sign(start)
        minus = "-" if sign == "-" else ""
        key = f"q{minus}{above}/{below}"
        if len(above) == 4 and above.isdigit() and below.isdigit() and len(below) in (2, 4) and 1000 <= int(above) < 2200:
            second = below if len(below) == 4 else above[:2] + below
            if int(second) == int(above) + 1 or len(below) == 4:
                self.found.append(Found(start, start + 4, "number", (f"n{above}", key), [key, f"n{above}", f"n{second}"]))
                self.found.append(Found(start + 5, end, "number", (f"n{second}", key), []))
                return end
        keys, vouched = [key], [key]
        if above.isdigit() and below.isdigit() and len(above) < 9 and len(below) < 9:
            if below in ("2", "4", "5", "8", "10") and int(above) < int(below):
                keys.append(f"n{minus}{_quotient(int(above), int(below))}")
            if len(below) == 4 and 1 <= int(above) <= 12 and 1000 <= int(below) < 2200:
                keys += dates.month_of_year("n", int(below), int(above))
                vouched += dates.parts("n", int(below), int(above), None)
        if self.table.slash_decimal and above.isdigit() and below.isdigit():
            behind = self.low[end : end + 1]
            ahead = self.behind(end, behind)
            if ahead and ahead.lastgroup == "scale":
                return self.scaled(start, ((above, below),), minus, ahead)
            keys.append(f"n{minus}{canonical(above, below)}")
        vouched += keys
        self.found.append(Found(start, end, "number", tuple(keys), vouched))
        return end

    def mixed(self, start: int, match: re.Match[str]) -> int:
        """2 1/2, which 2½ is folded to."""
        whole, above, below = match.groups()
        minus = "-" if self.sign(start) == "-" else ""
        if int(below) in (2, 4, 5, 8, 10, 16):
            parts = (whole, _quotient(int(above), int(below))[2:])
            ahead = self.behind(match.end(), self.low[match.end() : match.end() + 1])
            if ahead and ahead.lastgroup == "scale":
                return self.scaled(start, (parts,), minus, ahead)
            key = f"n{minus}{canonical(*parts)}"
        else:
            key = f"n{minus}{canonical(whole)} {above}/{below}"
        vouched = [key]
        if match.group()[len(whole)] == "-":
            vouched += [f"n{canonical(whole)}", f"q{above}/{below}"]
        self.found.append(Found(start, match.end(), "number", (key,), vouched))
        return match.end()

    def spaced(self, start: int, match: re.Match[str], before: str) -> int:
        """1 200 000."""
        text = match.group()
        groups = re.split(r"[ .,٫]", text)
        fraction = groups.pop() if text[-len(groups[-1]) - 1] != " " else ""
        options = (("".join(groups), fraction),)
        singly = ["n" + canonical(group) for group in groups[: 1 if fraction else None]]
        if fraction:
            singly += [f"n{canonical(groups[-1], fraction)}", *("n" + canonical(group) for group in groups[1:-1])]
        return self.grouped(start, match.end(), options, singly)

    def grouped(self, start: int, end: int, options: tuple[Parts, ...], singly: list[str]) -> int:
        sign = self.sign(start)
        behind = self.low[end : end + 1]
        ahead = self.behind(end, behind) if behind else None
        if behind in _POWER_STARTS and (power := _POWER.match(self.low, end)):
            after = self.power(start, power, options, sign)
        elif ahead and ahead.lastgroup == "scale":
            after = self.scaled(start, options, sign, ahead)
        else:
            self.add(start, end, options, sign, [])
            after = end
        if self.source:
            self.found[-1].vouched = [*self.found[-1].vouched, *singly]
        return after

    def comma_spaced(self, start: int, match: re.Match[str], before: str) -> int:
        """1, 000 is one number; 10, 200 may be two: each is vouched for by itself or by the number that both may be."""
        text = match.group()
        groups = re.split(r"[,،] ", text)
        groups[-1], _, fraction = groups[-1].partition(".")
        options: tuple[Parts, ...] = (("".join(groups), fraction),)
        singly = ["n" + canonical(group) for group in groups]
        if fraction:
            singly[-1] = "n" + canonical(groups[-1], fraction)
        one = any(group[0] == "0" for group in groups[1:]) or before in _CURRENCY
        if one or self.source:
            return self.grouped(start, match.end(), options, singly)
        joined = "n" + canonical(*options[0])
        at = start
        for group, key in zip(groups, singly, strict=True):
            self.found.append(Found(at, at + len(group), "number", (key, joined), [key, joined]))
            at += len(group) + 2
        return match.end()

    def parts_of_list(self, start: int, end: int, text: str) -> int:
        """1,2,3: several numbers, or what is written as a whole."""
        whole = "w" + text
        at = start
        for part in re.split(r"[,'،]", text):
            if part:
                marks = re.sub(r"[.٬٫]", "", part)
                if marks == part:
                    options: tuple[Parts, ...] = ((part, ""),)
                    keys = ["n" + canonical(part)]
                else:
                    kind, options = read(part, self.table.decimal)
                    keys = ["n" + canonical(*option) for option in options] if kind == "number" else ["v" + part]
                self.found.append(Found(at, at + len(part), "number", (keys[0], whole), [*keys, whole]))
            at += len(part) + 1
        return end

    def version(self, start: int, end: int, text: str) -> None:
        kind, options = read(text, self.table.decimal)
        keys = [f"n{canonical(*option)}" for option in options]
        if kind != "number":
            keys.insert(0, "v" + text)
        self.found.append(Found(start, end, "number", tuple(keys if kind != "number" else keys[:1]), keys))

    def phone(self, start: int, end: int) -> None:
        text = self.low[start:end]
        digits = phones.digits(text)
        keys = ["p" + digits]
        if text[0] == "+":
            keys.append("n" + canonical(digits))
        if text[0] == "(" and text.count("(") == text.count(")"):
            start += 0
        self.found.append(Found(start, end, "phone", tuple(keys), keys[:1]))

    # ranges

    def ranges(self) -> None:
        """A scale word or half of day behind a range counts for both ends: 1.2 to 1.5 million, 2:30-4:00 PM."""
        for first, second in zip(self.found, self.found[1:], strict=False):
            if not (first.parts or first.half or first.short) or second.start - first.end > 9 or second.start < first.end:
                continue
            if first.short and second.parts and second.small is False and len(second.parts[0][0]) == 2 and _RANGE_GAP.match(self.low[first.end : second.start]):
                keys, years = self.decade_keys(second.parts[0][0])
                if not first.decade or second.parts[0][0][1] != "0":
                    years = []
                second.keys, second.vouched, second.short = (*keys, *years), [*second.vouched, *keys], True
            elif second.scale and first.parts and not first.scale and _RANGE_GAP.match(self.low[first.end : second.start]):
                more = [f"n{times(option, second.scale)}" for option in first.parts]
                first.keys = (*first.keys, more[0])
                first.vouched = [*first.vouched, *more]
                first.small = False
            elif first.half and first.half[0] and second.half and not second.half[0] and _RANGE_GAP.match(self.low[first.end : second.start]):
                hour, rest = first.half
                first.keys = (*first.keys, *clocks.asked(hour, rest, second.half[1]))
                first.vouched = [*first.vouched, *clocks.vouched(hour, rest, second.half[1])]
            elif (
                second.keys
                and second.keys[0][0] == "t"
                and (dotted := _DOTTED_CLOCK.fullmatch(self.low, first.start, first.end))
                and _RANGE_GAP.match(self.low[first.end : second.start])
            ):
                first.keys = (*first.keys, *clocks.asked(int(dotted[1]), f":{dotted[2]}", None))
                first.vouched = [*first.vouched, *clocks.vouched(int(dotted[1]), f":{dotted[2]}", None)]
            elif (dotted := _DOTTED_CLOCK.fullmatch(self.low, second.start, second.end)) and _RANGE_GAP.match(self.low[first.end : second.start]):
                pair = _DOTTED_CLOCK.fullmatch(self.low, first.start, first.end) if self.table.decimal == "," else None
                if pair or (first.keys and first.keys[0][0] == "t"):  # w godz. 9.00-17.00, od 9.00 do 17.00
                    for one, clock in ((second, dotted), *(((first, pair),) if pair else ())):
                        one.keys = (*one.keys, *clocks.asked(int(clock[1]), f":{clock[2]}", None))
                        one.vouched = [*one.vouched, *clocks.vouched(int(clock[1]), f":{clock[2]}", None)]
            elif second.half and not second.half[0] and first.parts and not first.scale and len(first.parts) == 1 and not first.parts[0][1]:
                hour_text = first.parts[0][0]
                if len(hour_text) <= 2 and 1 <= int(hour_text) <= 12 and _RANGE_GAP.match(self.low[first.end : second.start]):
                    first.vouched = [*first.vouched, *clocks.vouched(int(hour_text), ":00", None), *clocks.vouched(int(hour_text), ":00", second.half[1])]

    # words

    def words(self) -> None:
        """Number words: in an answer those that are put together of several, in a source all; months by name in a source."""
        table = self.table
        if table.word is None:
            return
        low = self.low
        row: list[tuple[int, str, bool]] = []
        spans: list[tuple[int, int]] = []
        last: tuple[int, int, str] | None = None  # of the row before: its last number and where it ends
        month: tuple[str, int, int] | None = None  # the last month and where it ends
        matches: Iterable[re.Match[str]] = table.word.finditer(low)
        if table.glued:
            matches = merge(matches, table.glued.finditer(low), key=lambda match: match.start("word"))
        for match in matches:
            start, end = match.span("word")
            word = match["word"]
            if self.source and word in table.months:
                name = table.months[word]
                if spans and table.month_gap.fullmatch(low, spans[-1][1], start):
                    self.spelled_day(name, compose(row)[-1][0], end)
                if not name[2] or not self.folded[start].islower():
                    month = (name[0], name[1], end)
                    if start not in self.taken:
                        self.found.append(Found(start, end, "words", (), [f"M{name[0]}{name[1]}"]))
            if self.source and word in table.fractions:
                self.fraction_word(start, end, table.fractions[word])
            value = table.word_values.get(word) or (_glued(word, table) if match.re is table.glued else None)
            if value is None or start in self.taken or (spans and start < spans[-1][1]):
                continue
            joined = bool(match["joined"])
            if spans:
                between = table.gaps.fullmatch(low, spans[-1][1], match.start())
                if between is None and not (joined and low[spans[-1][1] : match.start()] == " "):
                    last = self.row(row, spans, last)
                    row, spans = [], []
                else:
                    joined = joined or bool(between and between["joiner"])
            if not spans:
                joined = False
                if month and self.source and value[0] <= 31 and table.month_gap.fullmatch(low, month[2], match.start()):
                    self.found.append(Found(start, end, "words", (), dates.parts(month[0], None, month[1], value[0])))
            row.append((*value, joined))
            spans.append((start, end))
        if row:
            self.row(row, spans, last)

    def spelled_day(self, name: tuple[str, int, bool], day: int, end: int) -> None:
        """The fifth of May 2019, in a source."""
        if not 1 <= day <= 31:
            return
        _, years, written = self.year(end, name[0])
        self.date(end, end, name[0], years, name[1], day, [str(day), *written])

    def row(self, row: list[tuple[int, str, bool]], spans: list[tuple[int, int]], last: tuple[int, int, str] | None) -> tuple[int, int, str] | None:
        """One row of number words; returns its last number, for what may follow behind a word for the decimal mark."""
        low = self.low
        numbers = compose(row) if len(row) > 1 else [(row[0][0], 0, 1)]
        for value, first, after in numbers:
            start, end = spans[first][0], spans[after - 1][1]
            if first == 0 and row[0][1] == "scale" and re.search(r"[0-9] ?$", low[max(0, start - 2) : start]):
                continue
            if row[first][1] != "ordinal" and self.with_digits(value, start, end):
                continue
            repeated = len({word[:2] for word in row[first:after]}) == 1 and row[first][1] == "scale"  # হাজার হাজার, thousands of them
            built = after - first > 1 or low[start:end] not in self.table.word_values
            if self.source or (built and value > 20 and not repeated):
                key = f"n{value}"
                self.found.append(Found(start, end, "words", (key,), [key]))
        if not self.source or not self.table.points:
            return None
        if last and low[last[1] : spans[0][0]].strip() in self.table.points:
            units = [word for word in row if word[1] != "scale"]
            digits = "".join(str(word[0]) for word in units) if all(word[0] < 10 for word in units) else str(compose(units)[0][0])
            factor = prod(word[0] for word in row[len(units) :] if word[1] == "scale")
            if digits and factor < 10**30 and row[: len(units)] == units:
                self.found.append(Found(spans[0][0], spans[-1][1], "words", (), ["n" + times((str(last[0]), digits), factor)]))
        return numbers[-1][0], spans[-1][1], ""

    def with_digits(self, value: int, start: int, end: int) -> bool:
        """1 million and two hundred thousand; one million and 200 thousand: one number, written in both ways."""
        if self.scaled_ends is None:
            scaled = [one for one in self.found if one.scale]
            self.scaled_ends, self.scaled_starts = {one.end: one for one in scaled}, {one.start: one for one in scaled}
        if not self.scaled_ends:
            return False
        before = self.low[:start].rstrip(" ") if start < 200 else self.low[start - 200 : start].rstrip(" ")
        shift = max(0, start - 200)
        for joiner in self.table.joiners:
            if before.endswith(joiner):
                before = before[: -len(joiner)].rstrip(" ")
                break
        one = self.scaled_ends.get(shift + len(before))
        if one is not None and value < one.scale and (plain := self.plain(one)) is not None:
            key = f"n{plain + value}"
            one.vouched = [*one.vouched, key, f"n{value}"]
            one.keys, one.end = (key,), end
            return True
        gap = self.table.gaps.match(self.low, end)
        one = self.scaled_starts.get(gap.end()) if gap else None
        if one is not None and (plain := self.plain(one)) is not None and plain < value and value % (10 ** len(str(plain))) == 0:
            key = f"n{plain + value}"
            one.vouched = [*one.vouched, key, f"n{value}"]
            one.keys, one.start = (key,), start
            return True
        return False

    def plain(self, one: Found) -> int | None:
        """A scaled number as an int, if it is a whole one of a bounded length."""
        digits = one.vouched[0][1:] if one.vouched else ""
        return int(digits) if digits.isdigit() and len(digits) <= 40 else None

    def fraction_word(self, start: int, end: int, fraction: str) -> None:
        above, _, below = fraction.partition("/")
        vouched = [f"q{fraction}"]
        if below in ("2", "4", "5", "8", "10") and int(above) < int(below):
            vouched.append("n" + _quotient(int(above), int(below)))
        self.found.append(Found(start, end, "words", (), vouched))

    def han(self) -> None:
        patterns = han_patterns(self.table.code)
        if patterns is None:
            return
        digits, scales = self.table.han_digits, self.table.han_scales
        low = self.low
        if self.source:
            self.han_dates(patterns)
        for match in patterns.run.finditer(low):
            start, end = match.span()
            if start in self.taken or (start and low[start - 1].isdigit()):
                continue
            text = match.group()
            value, built = han(text, digits, scales)
            if value is None:
                continue
            keys = [f"n{value}"]
            if 10 <= value < 100 and self.table.marked_date and low[end : end + 1] == "年":
                keys += [f"n{year}" for year in dates.years(value, "g")[1:]]
            if self.source:
                self.found.append(Found(start, end, "words", (), keys))
            elif len(text) >= 2 and value > 20 and (built or len(text) >= 3):
                self.found.append(Found(start, end, "words", tuple(keys), keys))

    def han_dates(self, patterns: Han) -> None:
        """Dates and clock times in Han numerals, in a source."""
        digits, scales = self.table.han_digits, self.table.han_scales

        def number(text: str | None) -> int | None:
            return han(text, digits, scales)[0] if text else None

        for match in patterns.date.finditer(self.low):
            month, day, year = number(match["month"]), number(match["day"]), number(match["year"])
            if month and dates.valid(month, day or None):
                self.found.append(Found(*match.span(), "words", (), dates.parts("g", year, month, day or None)))
        for match in patterns.clock.finditer(self.low):
            hour, minutes = number(match["hour"]), 30 if match["thirty"] else number(match["minutes"]) or 0
            if hour is not None and hour <= 24 and minutes < 60:
                half = self.table.halves[match["half"]] if match["half"] else None
                self.found.append(Found(*match.span(), "words", (), clocks.vouched(hour, f":{minutes:02d}", half)))


def _glued(text: str, table: Tables) -> tuple[int, str] | None:
    """The value of a word that is put together of number words, and what it is: fünfundzwanzig. None where they make no one number."""
    parts: list[tuple[int, str, bool]] = []
    at, joined = 0, False
    while at < len(text):
        for length in range(min(20, len(text) - at), 0, -1):
            piece = text[at : at + length]
            if piece in table.word_values:
                parts.append((*table.word_values[piece], joined))
                joined = False
                break
            if piece in table.elided:
                first, second = table.elided[piece]
                parts += [(*first, joined), (*second, False)]
                joined = False
                break
            if piece == "und" or (length == len(piece) and table.gaps.fullmatch(f" {piece} ")):
                joined = True
                break
        else:
            return None
        at += length
    numbers = compose(parts)
    return (numbers[0][0], "ordinal" if parts[-1][1] == "ordinal" else "unit") if len(numbers) == 1 else None


def _quotient(above: int, below: int) -> str:
    """A proper fraction whose decimals end, as a canonical number."""
    places = {2: 1, 4: 2, 5: 1, 8: 3, 10: 1, 16: 4}[below]
    return canonical("0", str(above * 10**places // below).rjust(places, "0"))
