"""Keys of dates. A calendar is "g" (Gregorian), "j" (Iranian), "h" (Islamic) or "n" (written in numbers only: any of them).

"d" + calendar + year-month-day, "m" + calendar + year-month, "D" + calendar + month-day, "M" + calendar + month. A date by name is
vouched for by the same calendar or by one in numbers; calendars are never converted.
"""

from __future__ import annotations

import re

from . import clocks
from .look import DASHES, LETTERS, Found, Look
from .numerals import canonical

_CLOCK = re.compile(r"([0-9]{1,2}):([0-5][0-9])(?::([0-5][0-9])(?:[.,][0-9]+)?)?(?![0-9]|:[0-9])")
_SECOND_DAY = re.compile(r" ?[-–—] ?([0-9]{1,2})(?![0-9]|[.,:/][0-9])")
_SECOND_MARKED = re.compile(r" ?[-–—~至到] ?([0-9]{1,2}) ?[日号號일]")
_DAY_AND_MONTH = re.compile(r"(0?[1-9]|[12][0-9]|3[01])\.(0?[1-9]|1[0-2])")
_YEAR_BEHIND = re.compile(r"(?:,| [^\W\d_]{2,4})? ([12][0-9]{3})(?![0-9])")
_SAME_MONTH_REACH = 600
"""Code points within which "the same month" speaks of a date before it."""

Keys = tuple[str, ...]
_ANY = "gjh"


def _calendars(calendar: str) -> str:
    return "n" + (_ANY if calendar == "n" else calendar)


def full(calendar: str, year: int, month: int, day: int) -> Keys:
    """What may vouch for a date of an answer."""
    return tuple(f"d{each}{year}-{month}-{day}" for each in _calendars(calendar))


def month_of_year(calendar: str, year: int, month: int) -> Keys:
    """What may vouch for a month and year of an answer."""
    return tuple(f"m{each}{year}-{month}" for each in _calendars(calendar))


def day_of_month(calendar: str, month: int, day: int) -> Keys:
    """What may vouch for a day and month of an answer."""
    return tuple(f"D{each}{month}-{day}" for each in _calendars(calendar))


def month_alone(calendar: str, month: int) -> Keys:
    """What may vouch for a month of an answer."""
    return tuple(f"M{each}{month}" for each in _calendars(calendar))


def parts(calendar: str, year: int | None, month: int, day: int | None) -> list[str]:
    """All that a date in a source vouches for: itself and each of its parts."""
    found = [f"M{calendar}{month}"]
    if year is not None:
        found += [f"n{year}", f"m{calendar}{year}-{month}"]
        if day is not None:
            found.append(f"d{calendar}{year}-{month}-{day}")
    if day is not None:
        found += [f"n{day}", f"D{calendar}{month}-{day}"]
    return found


def valid(month: int, day: int | None = None) -> bool:
    """Whether some calendar has such a day."""
    return 1 <= month <= 12 and (day is None or 1 <= day <= 31)


def orders(first: int, second: int, third: int, width: tuple[int, int, int], order: str) -> list[tuple[int, int, int]]:
    """(year, month, day) readings of a date in numbers, the one of `order` first. `width` are the digits of each part."""
    found: list[tuple[int, int, int]] = []
    if width[0] == 4 or (width[0] == 3 and first > 31):
        found = [(first, second, third), (first, third, second)]
    elif width[2] >= 3:
        found = [(third, second, first), (third, first, second)]
        if order == "mdy":
            found.reverse()
    elif all(size <= 2 for size in width):
        by_order = {"dmy": (third, second, first), "mdy": (third, first, second), "ymd": (first, second, third)}
        names = [order, *(name for name in by_order if name != order)]
        found = [by_order[name] for name in names]
    return [date for date in found if valid(date[1], date[2])]


def long_years(short: int, calendar: str = "n") -> tuple[int, ...]:
    """The years that two digits may stand for: themselves, and those of this and the last century of the calendar ("n": of any)."""
    gregorian, iranian, islamic = (1900 + short, 2000 + short), (1300 + short, 1400 + short), (1300 + short, 1400 + short)
    return (short, *{"g": gregorian, "j": iranian, "h": islamic}.get(calendar, gregorian + iranian))


def marked(look: Look, match: re.Match[str]) -> int:
    """2015年5月3日 and its parts."""
    year, month, day = match["y"], match["m"] or match["m2"], match["d"] or match["d2"]
    look.taken.update(range(match.start(), match.end()))
    if month is None:
        keys = [f"n{canonical(year)}"]
        if len(year) == 2:
            keys = [f"n{each}" for each in long_years(int(year), "g")]
        look.found.append(Found(match.start(), match.end(), "number", tuple(keys), keys))
        return match.end()
    long: list[int | None] = [None]
    if year:
        long = [int(year)] if len(year) == 4 else [*long_years(int(year), "g")]
    by_name(look, match.start(), match.end(), "g", long, int(month), int(day) if day else None, [n for n in (year, month, day) if n])
    if look.source and day and (second := _SECOND_MARKED.match(look.low, match.end())) and int(day) < int(second[1]) <= 31:
        by_name(look, second.start(1), second.end(), "g", long, int(month), int(second[1]), [second[1]])
        return second.end()
    return match.end()


def perhaps(found: Found, text: str) -> None:
    """31.3. is a day and month too, where the decimal mark is a comma."""
    match = _DAY_AND_MONTH.fullmatch(text)
    if match:
        day, month = int(match[1]), int(match[2])
        found.keys = (*found.keys, *day_of_month("n", month, day))
        found.vouched = [*found.vouched, *parts("n", None, month, day)]


def by_name(
    look: Look, start: int, end: int, calendar: str, years: list[int | None], month: int, day: int | None, written: list[str]
) -> None:
    """A date whose month is known; `written` are its numbers, which a source vouches for too."""
    keys: tuple[str, ...] = ()
    vouched = ["n" + canonical(number) for number in written]
    for year in years:
        vouched += parts(calendar, year, month, day)
        if year is None:
            keys += day_of_month(calendar, month, day) if day else month_alone(calendar, month)
        else:
            keys += full(calendar, year, month, day) if day else month_of_year(calendar, year, month)
    if not valid(month, day):
        keys += ("w" + "-".join(written),)
        vouched.append("w" + "-".join(written))
    found = Found(start, end, "date", keys, vouched)
    found.month = calendar, years, month
    look.found.append(found)


def in_numbers(look: Look, match: re.Match[str]) -> int:
    """03/04/2025, 2025-04-03: the readings that are dates, the language's first; 0 if none is."""
    first, mark, second, third = match.groups()
    width = (len(first), len(second), len(third))
    iso = mark == "-" and width[0] == 4
    if mark == "." and not (4 in width and width[0] <= 4) and look.table.decimal == ".":
        return 0
    found = orders(
        int(first),
        int(second),
        int(third),
        width,
        "ymd" if iso else "dmy" if mark == "." and look.table.order == "mdy" else look.table.order,
    )
    if not found or (width[2] == 4 and width[0] > 2):
        return 0
    vouched: list[str] = []
    keys: tuple[str, ...] = ()
    for rank, (year, month, day) in enumerate(found):
        short = year < 100 and 4 not in width and max(width) <= 2
        for long in long_years(year)[1:] if short else (year,):
            vouched += parts("n", long, month, day)
            if rank == 0:
                keys += full("n", long, month, day)
        if iso:
            break
    if max(width) <= 2:
        if mark == ".":  # a version too
            keys += ("v" + match.group(),)
            vouched.append("v" + match.group())
        vouched.append("w" + match.group())
        keys += ("w" + match.group(),)
    look.found.append(Found(match.start(), match.end(), "date", keys, vouched))
    after = match.end()
    if look.low[after : after + 1] == "t" and (clock := _CLOCK.match(look.low, after + 1)) and int(clock[1]) <= 24:
        rest = f":{clock[2]}" + (f":{clock[3]}" if clock[3] else "")
        return clocks.clock(look, after + 1, clock.end(), int(clock[1]), rest, "")
    return after


def days(look: Look, start: int, days: list[str], ahead: re.Match[str], name: tuple[str, int, bool]) -> int:
    """5 May 2019, 5-7 May."""
    calendar, month, _ = name
    look.taken.add(ahead.start("month"))
    end, years, written = year_behind(look, ahead.end(), calendar)
    if name[2] and look.folded[ahead.start("month")].islower() and years == [None] and len(ahead["month"]) <= 5:
        return 0
    for day in days:
        by_name(look, start, end, calendar, years, month, int(day), [day, *written])
    return end


def year_behind(look: Look, at: int, short: str) -> tuple[int, list[int | None], list[str]]:
    """The year behind a day and month: where it ends, what it may be, how it is written."""
    match = look.table.year_after.match(look.low, at)
    if match:
        digits = match["year"]
        if len(digits) == 4 and 1000 <= int(digits) < 2200:
            return match.end(), [int(digits)], [digits]
        if short and len(digits) == 2 and (int(digits) > 31 or not re.match(r" ?[^\W_]", look.low[match.end() : match.end() + 2])):
            return match.end(), [*long_years(int(digits), short)], [digits]
    return at, [None], []


def after_month(
    look: Look, start: int, end: int, value: int, width: int, back: tuple[frozenset[str], str, int], name: tuple[str, int, bool]
) -> int:
    """May 5, 2019; May 2019; in Iran and elsewhere also a month and the short year."""
    calendar, month, _ = name
    begin = back[2]
    low = look.low
    if any(one.end > begin for one in look.found[-1:]):
        return 0  # the month belongs to the date before: 5 May 20
    if width == 4 and 1000 <= value < 2200:
        look.taken.add(begin)
        by_name(look, begin, end, calendar, [value], month, None, [low[start:end]])
        return end
    if width > 2 or value == 0:
        return 0
    digits = low[start:end]
    if value > 31:
        look.taken.add(begin)
        by_name(look, begin, end, calendar, [*long_years(value, calendar)], month, None, [digits])
        return end
    suffix = LETTERS.match(low, end)
    after = suffix.end() if suffix and suffix.end() - end <= 3 else end
    days = [digits]
    second = _SECOND_DAY.match(low, after)
    if second and value < int(second[1]) <= 31:
        days.append(second[1])
        after = second.end()
    after, years, written = year_behind(look, after, "")
    look.taken.add(begin)
    for day in days:
        by_name(look, begin, after, calendar, years, month, int(day), [day, *written])
        if look.table.order != "mdy" and not written and width == 2:
            last = look.found[-1]
            short = long_years(value, calendar)[1:]
            last.keys += tuple(key for year in short for key in month_of_year(calendar, year, month))
            last.vouched = [*last.vouched, *(part for year in short for part in parts(calendar, year, month, None))]
    return after


def month_number(look: Look, start: int, end: int, month: int, digits: str) -> int:
    """tháng 9 năm 2018."""
    match = _YEAR_BEHIND.match(look.low, end)
    end = match.end() if match else end
    by_name(look, start, end, "g", [int(match[1]) if match else None], month, None, [digits, *(match.groups() if match else ())])
    return end


def same_month(look: Look) -> None:
    """The 21st of the same month: the month of the last date before."""
    pattern = look.table.same_month
    assert pattern is not None
    matches = list(pattern.finditer(look.low))
    if not matches:
        return
    known = sorted((one for one in look.found if one.month), key=lambda one: one.start)
    at, last = 0, None
    for match in matches:
        while at < len(known) and known[at].start < match.start():
            last = known[at]
            at += 1
        if last is not None and match.start() - last.end < _SAME_MONTH_REACH:
            day = match["day"] or match["day2"]
            assert last.month is not None
            calendar, years, month = last.month
            by_name(look, match.start(), match.end(), calendar, years, month, int(day), [day])


def after_score(look: Look, start: int, value: int) -> bool:
    """Whether "1" is the end of a score or a falling range: 4-1 de febrero."""
    last = look.found[-1] if look.found else None
    return (
        last is not None
        and last.end == start - 1
        and look.low[start - 1] in DASHES
        and bool(last.parts)
        and last.parts[0][0].isdigit()
        and (len(last.parts[0][0]) > 2 or int(last.parts[0][0]) > value)
    )


def short_year(look: Look, start: int, end: int, digits: str) -> int:
    """The 58 of سال ۵۸: itself and the years that end so."""
    keys = [f"n{each}" for each in long_years(int(digits), look.table.calendar)]
    found = Found(start, end, "number", tuple(keys), keys)
    found.short = True
    look.found.append(found)
    return end


def decade(look: Look, start: int, end: int, digits: str) -> int:
    """1980s, the 80s, دهه ۵۰: vouched for by itself and by any year in it, as a month is by a day."""
    own, years = decade_keys(look, digits)
    found = Found(start, end, "number", (*own, *years), own)
    found.short = found.decade = len(digits) == 2
    look.found.append(found)
    return end


def decade_keys(look: Look, digits: str) -> tuple[list[str], list[str]]:
    """The first year of a decade and the years behind it."""
    firsts = [int(digits)] if len(digits) == 4 else [*long_years(int(digits), look.table.calendar)]
    return [f"n{first}" for first in firsts], [f"n{year}" for first in firsts if first > 99 for year in range(first + 1, first + 10)]
