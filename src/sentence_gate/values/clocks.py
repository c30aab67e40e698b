"""Keys of clock times.

"t17:00" is a time whose half of day is known: it was given, or the hour says it. "t?5:00" is a clock time between 1 and 12 without its
half. "o9" says that some clock stands at nine, whatever the half: it vouches for a plain "9". A plain number vouches for a full hour
without a half (9, 9:00, 9 Uhr).
"""

from __future__ import annotations

import re

from .look import Found, Look
from .numerals import canonical

Keys = tuple[str, ...]


def half_known(hour: int, half: str | None) -> int | None:
    """The hour of 24, or None if its half of day isn't known."""
    if hour == 24:
        return 0
    if hour > 12 or hour == 0:
        return hour
    if half == "night":
        half = "am" if hour == 12 or hour <= 5 else "pm"
    elif half == "noon":
        half = "am" if 9 <= hour <= 11 else "pm"
    if half == "am":
        return 0 if hour == 12 else hour
    if half == "pm":
        return 12 if hour == 12 else hour + 12
    return None


def _twelve(hour: int) -> int:
    return (hour - 1) % 12 + 1


def asked(hour: int, rest: str, half: str | None) -> Keys:
    """What may vouch for a clock time of an answer; `rest` is ":00", ":30:15"."""
    exact = half_known(hour, half)
    if exact is not None:
        same = f"t{exact}{rest}"
        keys = (same, f"t?{_twelve(exact)}{rest}")
        return (*keys, f"n{hour}") if half is None and rest == ":00" and hour > 12 else keys
    keys = (f"t?{hour}{rest}", f"t{hour % 24}{rest}")
    return (*keys, f"n{hour}") if rest == ":00" else keys


def vouched(hour: int, rest: str, half: str | None) -> list[str]:
    """What a clock time in a source vouches for."""
    exact = half_known(hour, half)
    found = [f"t?{hour}{rest}"] if exact is None else [f"t{exact}{rest}"]
    if rest.startswith(":00"):
        found.append(f"o{hour}")
        if exact is not None and exact != hour:
            found.append(f"o{exact}")
    if rest.count(":") == 2:
        found += vouched(hour, rest[:3], half)  # with its seconds it tells the minute too
    return found


def clock(look: Look, start: int, end: int, hour: int, rest: str, before: str, back: tuple[frozenset[str], str, int] | None = None) -> int:
    """A clock time, with the hour word and the half of day around it."""
    low, table = look.low, look.table
    back = back or look.before(start, before)
    half = None
    match = table.half.match(low, end)
    if match:
        half, end = table.halves[match["half"]], match.end()
    else:
        sign = (
            table.behind.match(low, end)
            if low[end : end + 1] in table.behind_starts or low[end + 1 : end + 2] in table.behind_starts
            else None
        )
        if sign and sign.lastgroup == "hour":
            end = sign.end()
            match = table.half.match(low, end)
            if match:
                half, end = table.halves[match["half"]], match.end()
        if half is None and back and "half" in back[0]:
            half = table.halves[back[1]]
        elif half is None and back and "hour" in back[0]:
            earlier = look.before(back[2], low[back[2] - 1 : back[2]] if back[2] else "")
            if earlier and "half" in earlier[0]:
                half = table.halves[earlier[1]]
    found = Found(start, end, "clock", asked(hour, rest, half), vouched(hour, rest, half))
    if half is None and 1 <= hour <= 12:
        found.half = hour, rest
    elif half:
        found.half = 0, half
    look.found.append(found)
    return end


_DOTTED = re.compile(r"([01]?[0-9]|2[0-4])[.٫]([0-5][0-9])")


def perhaps(found: Found, text: str) -> None:
    """12.30 is a clock time too, in a source and where the decimal mark is a comma."""
    match = _DOTTED.fullmatch(text)
    if match:
        hour, rest = int(match[1]), f":{match[2]}"
        found.keys = (*found.keys, *(key for key in asked(hour, rest, None) if key[0] == "t"))
        found.vouched = [*found.vouched, *(key for key in vouched(hour, rest, None) if key[0] == "t")]


def dotted(look: Look, start: int, end: int, text: str, before: str, behind: str) -> int:
    """4.40am, 9.30 Uhr; a source's 10.30 may be a clock time too."""
    hour, minutes = text[:-3], text[-2:]
    if text[-3] not in ".٫" or int(hour) > 24 or int(minutes) > 59:
        return 0
    ahead = look.behind(end, behind)
    back = look.before(start, before)
    if (ahead and ahead.lastgroup in ("half", "hour")) or (back and "hour" in back[0]):
        after = clock(look, start, end, int(hour), ":" + minutes, before, back)
        if look.source:
            look.found[-1].vouched = [*look.found[-1].vouched, "n" + canonical(hour, minutes)]
        return after
    return 0
