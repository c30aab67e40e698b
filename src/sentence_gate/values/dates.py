"""Keys of dates. A calendar is "g" (Gregorian), "j" (Iranian), "h" (Islamic) or "n" (written in numbers only: any of them).

"d" + calendar + year-month-day, "m" + calendar + year-month, "D" + calendar + month-day, "M" + calendar + month. A date by name is vouched for by the same
calendar or by one in numbers; calendars are never converted.
"""

from __future__ import annotations

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


def years(short: int, calendar: str = "n") -> tuple[int, ...]:
    """The years that two digits may stand for: themselves, and those of this and the last century of the calendar ("n": of any)."""
    gregorian, iranian, islamic = (1900 + short, 2000 + short), (1300 + short, 1400 + short), (1300 + short, 1400 + short)
    return (short, *{"g": gregorian, "j": iranian, "h": islamic}.get(calendar, gregorian + iranian))
