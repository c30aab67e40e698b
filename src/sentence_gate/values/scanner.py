"""The walk over a folded text from numeral to numeral, which decides what kind of value each one is part of.

At each numeral the kinds are tried from the most to the least specific: a name or mix of letters and digits, a date, a telephone number,
a clock time, a fraction, a number. Each reader looks a bounded distance ahead and behind, so that the walk is linear. An answer and a
source are read by the same walk: what is found has the keys that may vouch for it in an answer and the keys that it vouches for in a
source, and the second always hold one of the first. So an answer that copies its source is never wrong.
"""

from __future__ import annotations

import re

from ..normal import MARKS
from . import clocks, dates, names, numbers, phones, words
from .look import ASCII_WORD, DASHES, LATIN_WORD, Found, Look
from .numerals import NUMERAL, canonical, times
from .tables import Tables

_TOKEN = re.compile(NUMERAL)
_CHAIN_NEXT = frozenset("-–—−/:.")
_NUMERIC_DATE = re.compile(r"([0-9]{1,4})([-/.])([0-9]{1,2})\2([0-9]{1,4})(?![0-9]|\2[0-9])")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-5][0-9])(?::([0-5][0-9])(?:[.,][0-9]+)?)?(?![0-9]|:[0-9])")
_FRACTION = re.compile(rf"({NUMERAL})/({NUMERAL})(?![0-9]|/[0-9])")
_MIXED = re.compile(r"([0-9]+)(?: |-|(?= [0-9]))([0-9]{1,2})/([0-9]{1,2})(?![0-9/])")
_SINGLES = re.compile(r"[0-9](?: [0-9]){2,}(?![0-9])")
_BY_SPACE = re.compile(r"[0-9]{1,3}(?: [0-9]{3})+(?![0-9])(?:[.,٫][0-9]+(?![0-9]))?")
_BY_COMMA_SPACE = re.compile(r"[0-9]{1,3}(?:[,،] [0-9]{3})+(?![0-9])(?:\.[0-9]+(?![0-9]))?")
_FRENCH_CLOCK = re.compile(r"h([0-5][0-9])(?![0-9])")
_SECOND_DAY = re.compile(r" ?[-–—] ?([0-9]{1,2})(?![0-9]|[.,:/][0-9])")
_SECOND_DAY_BY_WORD = re.compile(
    rf"(?:[-.]?[^\W\d_]{{1,3}}(?=[ –—-])|[.º°ª])?(?: ?[-–—] ?|(?: (?:[^\W\d_]|[{MARKS}]){{1,5}}){{1,2}} )"
    r"([0-9]{1,2})(?![0-9]|[.,:/][0-9])"
)
"""From 15 to 20 March, 15.-20. März, the 15th to the 20th of March."""
_DOTTED_CLOCK = re.compile(r"([01]?[0-9]|2[0-4])\.([0-5][0-9])")
"""9.00 to 17.00 Uhr: the word for a clock stands behind the second one only."""
_RANGE_GAP = re.compile(r"[ %°]{0,2}(?:[-–—~～〜至到]|[^\W\d_]{1,5})[ $€£¥₹]{0,2}$")
_NUMBER_SIGN = re.compile(r" (?:no|nr|number|num|n|nº|№|número|nummer|numéro|номер|شماره|رقم|संख्या)[.:#º°]?[ ]?$")
_REFERENCE_GAP = re.compile(r"[ ,،、&–—-]{1,3}$")


def scan(folded: str, low: str, table: Tables, source: bool, *, spelled: bool = True) -> list[Found]:
    """The values of a folded text without its addresses; `low` is the same text in lower case. In order of kind, not of place.

    Without `spelled` number words are left alone.
    """
    look = Look(folded, low, table, source)
    numerals(look)
    if look.found:
        ranges(look)
    if source and table.same_month is not None:
        dates.same_month(look)
    if not spelled:
        return look.found
    if source or not table.single_words or not low.isascii() or _composed(low, table.word_values):
        words.spelled(look)
    if table.han_digits:
        words.han_numerals(look)
    return look.found


def _composed(low: str, known: dict[str, tuple[int, str]]) -> bool:
    """Whether an ASCII text has two number words: a quick look, since an answer's single ones are no values."""
    return sum(word in known for word in ASCII_WORD.findall(low)) > 1


def numerals(look: Look) -> None:
    """All values that begin with a numeral, or around one."""
    low, at, search = look.low, 0, _TOKEN.search
    while match := search(low, at):
        at = numeral(look, match.start(), match.end(), match.group())


def numeral(look: Look, start: int, end: int, text: str) -> int:
    """Reads the value that begins at or around a numeral; returns where to go on."""
    low = look.low
    before = low[start - 1] if start else ""
    behind = low[end] if end < len(low) else ""
    if before and (before.isalpha() or before in "-_"):
        after = names.mix(look, start, end)
        if after:
            return after
    if start in look.listed and not ordinal(look, end):
        return end
    if behind in _CHAIN_NEXT or "." in text or before in ("+", "(") or behind in (" ", ",", "،") or look.table.marked_date:
        after = chain(look, start, end, text, before, behind)
        if after:
            return after
    plain = text.isdigit()
    if plain and len(text) <= 4:
        after = in_words(look, start, end, int(text), len(text), before, behind)
        if after:
            return after
    return numbers.number(look, start, end, text, plain, before, behind)


def ordinal(look: Look, end: int) -> bool:
    """Whether "17." is the ordinal of a date or century and no list number."""
    found = look.table.behind.match(look.low, end)
    if found and found.lastgroup == "month":
        return True
    word = re.match(r"\. ([^\W\d_]+)", look.low[end : end + 40])
    return bool(word and word[1] in look.table.ordinal_nouns)


def chain(look: Look, start: int, end: int, text: str, before: str, behind: str) -> int:
    """What is written with marks or spaces between numerals: dates, telephone numbers, clocks, fractions, groups."""
    low, table = look.low, look.table
    marked = table.marked_date
    if marked and (match := marked.match(low, start)):
        return dates.marked(look, match)
    if behind in ("-", "/", ".") or "." in text:
        match = _NUMERIC_DATE.match(low, start)
        if match and (after := dates.in_numbers(look, match)):
            return after
    if behind == ":":
        match = _CLOCK.match(low, start)
        if match and int(match[1]) <= 24:
            rest = f":{match[2]}" + (f":{match[3]}" if match[3] else "")
            return clocks.clock(look, start, match.end(), int(match[1]), rest, before)
    if behind in ("-", " ", "/", ".") or before in ("+", "(") or "." in text:
        span = phones.find(low, start)
        if span:
            phones.phone(look, *span)
            return span[1]
    if behind == "/":
        match = _FRACTION.match(low, start)
        if match:
            return numbers.fraction(look, start, match.end(), match[1], match[2])
    if behind in (" ", "-") and low[end + 1 : end + 2].isdigit():
        match = _MIXED.match(low, start)
        if match and 0 < int(match[2]) < int(match[3]) <= 16:
            return numbers.mixed(look, start, match)
        if behind == " ":
            match = _SINGLES.match(low, start)
            if match:
                digits = match.group().replace(" ", "")
                key = "n" + canonical(digits)
                look.found.append(Found(start, match.end(), "number", (key,), [key, "p" + digits, *("n" + digit for digit in set(digits))]))
                return match.end()
            match = _BY_SPACE.match(low, start)
            if match and text[0] != "0":
                return numbers.spaced(look, start, match, before)
    elif behind in (",", "،") and low[end + 1 : end + 2] == " " and low[end + 2 : end + 3].isdigit():
        match = _BY_COMMA_SPACE.match(low, start)
        if match and text[0] != "0":
            return numbers.comma_spaced(look, start, match, before)
    return 0


def to_clock(look: Look, start: int) -> bool:
    """Whether a number ends a range that began with a clock time: from 8 in the morning to 8 at night."""
    last = look.found[-1] if look.found else None
    return last is not None and last.kind == "clock" and _RANGE_GAP.fullmatch(look.low[last.end : start]) is not None


def in_words(look: Look, start: int, end: int, value: int, width: int, before: str, behind: str) -> int:
    """What the words around a whole number make of it: a day, a year, a clock time. 0 if nothing."""
    low, table = look.low, look.table
    ahead = look.behind(end, behind)
    kind = ahead.lastgroup if ahead else None
    back = look.before(start, before)
    if width <= 2 and 1 <= value <= 31:
        if behind == " " and (match := table.numbered_month.match(low, end)):
            year = [int(match["year"])] if match["year"] else [None]
            dates.by_name(
                look, start, match.end(), "g", [*year], int(match["month"]), value, [low[start:end], *filter(None, match.groups())]
            )
            return match.end()
        second = _SECOND_DAY.match(low, end) if behind in DASHES or behind == " " else None
        if second is None and look.source and kind is None:
            second = _SECOND_DAY_BY_WORD.match(low, end)
        if second and not value < int(second[1]) <= 31:
            second = None
        if second and kind != "month":
            further = look.behind(second.end(), low[second.end() : second.end() + 1])
            if further and further.lastgroup == "month" and (name := look.month(further)):
                return dates.days(look, start, [str(value), second[1]], further, name)
        if kind == "month" and ahead and not dates.after_score(look, start, value) and (name := look.month(ahead)):
            return dates.days(look, start, [low[start:end]], ahead, name)
    if back and "month" in back[0] and (name := table.months[back[1]]) and look.capital_fits(name, back[2], back[1]):
        after = dates.after_month(look, start, end, value, width, back, name)
        if after:
            return after
    if back and "month_number" in back[0] and 1 <= value <= 12:
        return dates.month_number(look, start, end, value, low[start:end])
    if value <= 24 and width <= 2 and kind != "scale":
        hour = kind == "hour" or (back is not None and "hour" in back[0])
        half = ahead is not None and kind == "half"
        if half and table.halves[ahead["half"]] in ("night", "noon") and not hour and not to_clock(look, start):  # type: ignore[index]
            half = False  # "3 nights": only where something shows a clock
        if behind == "h" and (french := _FRENCH_CLOCK.match(low, end)):
            return clocks.clock(look, start, french.end(), value, ":" + french[1], before)
        early = back is not None and "half" in back[0] and table.halves[back[1]] in ("am", "pm") and 1 <= value <= 12 and not (hour or half)
        if hour or half or early:
            doubtful = early or (half and not hour and ahead is not None and len(ahead["half"]) == 1)  # "5 م": metres or p.m.
            after, rest = end, ":00"
            if kind == "hour" and ahead is not None:
                look.taken.add(ahead.start("hour"))
                after = ahead.end()
                minutes = table.minutes.match(low, after)
                if minutes and (minutes["sign"] or (low[after : after + 1].isdigit() and len(minutes[1]) == 2)):
                    after, rest = minutes.end(), f":{int(minutes[1]):02d}"
                elif (
                    minutes
                    and ahead["hour"].isalpha()
                    and low[after] == " "
                    and len(minutes[1]) == 2
                    and minutes[1] != ""
                    and LATIN_WORD.fullmatch(ahead["hour"])
                ):
                    after, rest = minutes.end(1), f":{minutes[1]}"
                elif low[after : after + 1] == "半":
                    after, rest = after + 1, ":30"
            elif hour and low[end : end + 1] in (".", "٫") and re.match(r"[.٫][0-5][0-9](?![0-9])", low[end : end + 4]):
                after, rest = end + 3, ":" + low[end + 1 : end + 3]
            after = clocks.clock(look, start, after, value, rest, before, back)
            if doubtful:
                look.found[-1].keys = (*look.found[-1].keys, f"n{value}")
                look.found[-1].vouched = [*look.found[-1].vouched, f"n{value}"]
            elif rest == ":00" and kind != "hour" and value <= 20:
                look.found[-1].small = look.found[-1].half is not None
            return after
    if value % 10 == 0 and (width == 2 or (width == 4 and 1000 <= value < 2200)):
        match = table.decade.match(low, end)
        if match or (back and "decade" in back[0]):
            return dates.decade(look, start, match.end() if match else end, low[start:end])
    if width == 2 and back and "count" in back[0]:
        return dates.short_year(look, start, end, low[start:end])
    if width == 2 and before == "'" and behind != "'" and (start < 2 or low[start - 2] in " (-–"):
        return dates.short_year(look, start, end, low[start:end])
    if width == 2 and behind == "s" and not low[end + 1 : end + 2].isalnum():
        return dates.short_year(look, start, end + 1, low[start:end])
    if not look.source and back is None and value <= 20 and (sign := _NUMBER_SIGN.search(low, max(0, start - 12), start)):
        back = look.before(sign.start() + 1, " ")  # passage no. 3
    if not look.source and back and "reference" in back[0] and value <= 20:
        look.reference = end
        return end
    if not look.source and value <= 20 and 0 <= look.reference < start and start - look.reference < 12:
        gap = low[look.reference : start]
        if _REFERENCE_GAP.match(gap) or look.table.gaps.fullmatch(gap):
            look.reference = end
            return end
    return 0


def ranges(look: Look) -> None:
    """A scale word or half of day behind a range counts for both ends: 1.2 to 1.5 million, 2:30-4:00 PM. "4 out of 5" is 4/5 too."""
    out_of = look.table.out_of
    for first, second in zip(look.found, look.found[1:], strict=False):
        if first.parts and second.parts and 3 < second.start - first.end < 12 and look.low[first.end + 1 : second.start - 1] in out_of:
            key = f"q{look.low[first.start : first.end]}/{look.low[second.start : second.end]}"  # as numbers.fraction has it
            first.keys, first.vouched, second.keys = (*first.keys, key), [*first.vouched, key], (*second.keys, key)
            continue
        if not (first.parts or first.half or first.short) or second.start - first.end > 9 or second.start < first.end:
            continue
        if (
            first.short
            and second.parts
            and second.small is False
            and len(second.parts[0][0]) == 2
            and _RANGE_GAP.match(look.low[first.end : second.start])
        ):
            keys, years = dates.decade_keys(look, second.parts[0][0])
            if not first.decade or second.parts[0][0][1] != "0":
                years = []
            second.keys, second.vouched, second.short = (*keys, *years), [*second.vouched, *keys], True
        elif second.scale and first.parts and not first.scale and _RANGE_GAP.match(look.low[first.end : second.start]):
            more = [f"n{times(option, second.scale)}" for option in first.parts]
            first.keys = (*first.keys, more[0])
            first.vouched = [*first.vouched, *more]
            first.small = False
        elif first.half and first.half[0] and second.half and not second.half[0] and _RANGE_GAP.match(look.low[first.end : second.start]):
            hour, rest = first.half
            first.keys = (*first.keys, *clocks.asked(hour, rest, second.half[1]))
            first.vouched = [*first.vouched, *clocks.vouched(hour, rest, second.half[1])]
        elif (
            second.keys
            and second.keys[0][0] == "t"
            and (dotted := _DOTTED_CLOCK.fullmatch(look.low, first.start, first.end))
            and _RANGE_GAP.match(look.low[first.end : second.start])
        ):
            first.keys = (*first.keys, *clocks.asked(int(dotted[1]), f":{dotted[2]}", None))
            first.vouched = [*first.vouched, *clocks.vouched(int(dotted[1]), f":{dotted[2]}", None)]
        elif (
            first.keys
            and first.keys[0][0] == "t"
            and (dotted := _DOTTED_CLOCK.fullmatch(look.low, second.start, second.end))
            and _RANGE_GAP.match(look.low[first.end : second.start])
        ):
            second.keys = (*second.keys, *clocks.asked(int(dotted[1]), f":{dotted[2]}", None))
            second.vouched = [*second.vouched, *clocks.vouched(int(dotted[1]), f":{dotted[2]}", None)]
        elif second.half and not second.half[0] and first.parts and not first.scale and len(first.parts) == 1 and not first.parts[0][1]:
            hour_text = first.parts[0][0]
            if len(hour_text) <= 2 and 1 <= int(hour_text) <= 12 and _RANGE_GAP.match(look.low[first.end : second.start]):
                first.vouched = [
                    *first.vouched,
                    *clocks.vouched(int(hour_text), ":00", None),
                    *clocks.vouched(int(hour_text), ":00", second.half[1]),
                ]
