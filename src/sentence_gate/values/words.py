"""Numbers in words: how the words of a language are put together.

Words are put together by their values alone, since every language of the data builds its numbers from units, tens, hundreds and scales: a
unit may follow a ten ("twenty five") or, with a joiner, stand before it ("fünfundzwanzig", "خمسة وعشرون"); anything below a hundred may
follow a hundred; a scale multiplies what stands before it. What can't follow begins another number: "one two" are two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from heapq import merge
from math import prod

from . import clocks, dates
from .look import Found, Look
from .numerals import quotient, times
from .tables import Han, Tables, han_patterns

Word = tuple[int, str, bool]
"""Value of a number word, what it is ("unit", "scale", "ordinal") and whether a joiner stands before it."""


def compose(words: Sequence[Word]) -> list[tuple[int, int, int]]:
    """The numbers in a row of number words: (value, index of the first word, index after the last)."""
    found: list[tuple[int, int, int]] = []
    start = 0
    while start < len(words):
        value, after = _one(words, start)
        found.append((value, start, after))
        start = after
    return found


def _one(words: Sequence[Word], start: int) -> tuple[int, int]:
    total = current = 0
    below = 0  # the smallest scale so far: what follows must be smaller
    at, year = start, False
    closed = False
    place = 0  # behind an ordinal that is a round number: what a further ordinal must stay below ("dwudziesty pierwszy")
    while at < len(words) and not closed:
        value, kind, joined = words[at]
        first = at == start
        if place and (kind != "ordinal" or joined or not 0 < value < place):
            break
        further = bool(place)
        if kind == "ordinal" and value >= 100 and value % 100 == 0 and current and current < value:
            kind = "scale"  # "two hundredth"
            closed = True
        elif kind == "ordinal":
            place = next((scale for scale in (100, 10) if value and value % scale == 0), 0)
            kind, closed = "unit", not place
        if kind == "scale":
            if year or (joined and not first and value > 100):
                break
            if value < 1000:
                if current >= 100 or (first and joined):
                    break
                if not first and not current and below and value >= below:
                    break
                current = (current or 1) * value
            elif not current and total and words[at - 1][1] == "scale":
                if total > 10**30:
                    break
                total *= value  # "mil millones", "lakh crore"
                below = value
            elif below and value >= below:
                if not current or total > 10**30:
                    break
                total, current = (total + current) * value, 0
                below = value
            else:
                total, current = total + (current or 1) * value, 0
                below = value
        elif first or further or _follows(current, value, total, joined, below):
            current += value
        elif not joined and not total and 11 <= current <= 20 and 10 <= value < 100 and not year and at == start + 1:
            current, year = current * 100 + value, True  # "nineteen eighty-four"
        else:
            break
        at += 1
    return total + current, max(at, start + 1)


def _follows(current: int, value: int, total: int, joined: bool, below: int) -> bool:
    """Whether a word of this value goes on with a number that stands at `current`, behind `total` of bigger scales."""
    if not value:
        return False
    if not current:
        return 0 < value < (below or 1000) if total else False
    if value >= 100:
        return current % 1000 == 0 and value < 1000
    rest = current % 100
    if not rest:
        return True
    if rest % 10 == 0 and rest >= 20 and value < 10:
        return True
    if rest in (60, 80) and value < 20:
        return True  # soixante-dix, quatre-vingt-dix
    return rest < 10 and joined and value >= 20 and value % 10 == 0


def han(text: str, digits: dict[str, int], scales: dict[str, int]) -> tuple[int | None, bool]:
    """The value of a run of Han numerals, and whether it was built with scales; None where it is no number (万一, 七八)."""
    if not any(char in scales for char in text):
        if all(char in digits and digits[char] < 10 for char in text):
            return int("".join(str(digits[char]) for char in text[:_LONGEST_HAN])), False
        return None, False
    total = section = 0
    unit: int | None = None
    below, last_scale = 0, 0
    for char in text[:_LONGEST_HAN]:
        if char in scales:
            scale = scales[char]
            if scale < 10000:
                if unit == 0 or (unit is None and (section or scale > 10) and scale > 10):
                    return None, True
                section += (1 if unit is None else unit) * scale
            else:
                section += unit or 0
                if not section and not total:
                    return None, True
                if section and not (below and scale >= below):
                    total += section * scale
                else:
                    total = (total + section) * scale
                section, below = 0, scale
            unit, last_scale = None, scale
        else:
            if unit:
                return None, True
            unit = digits[char]
            if unit >= 10:
                return None, True
    if unit and last_scale >= 100 and text[-2:-1] in scales:
        unit *= last_scale // 10  # 三千五 is 3500
    return total + section + (unit or 0), True


_LONGEST_HAN = 60


def spelled(look: Look) -> None:
    """Number words: in an answer those that are put together of several, in a source all; months by name in a source."""
    table = look.table
    if table.word is None:
        return
    low = look.low
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
        if look.source and word in table.months:
            name = table.months[word]
            if spans and table.month_gap.fullmatch(low, spans[-1][1], start):
                spelled_day(look, name, compose(row)[-1][0], end)
            if not name[2] or not look.folded[start].islower():
                month = (name[0], name[1], end)
                if start not in look.taken:
                    look.found.append(Found(start, end, "words", (), [f"M{name[0]}{name[1]}"]))
        if look.source and word in table.fractions:
            fraction_word(look, start, end, table.fractions[word])
            units = compose(row)[-1][0] if spans and table.gaps.fullmatch(low, spans[-1][1], start) and row[-1][1] == "unit" else 0
            scale_behind(look, start, end, table.fractions[word], units)
        value = table.word_values.get(word) or (_glued(word, table) if match.re is table.glued else None)
        if value is None or start in look.taken or (spans and start < spans[-1][1]):
            continue
        joined = bool(match["joined"])
        if spans:
            between = table.gaps.fullmatch(low, spans[-1][1], match.start())
            if between is None and not (joined and low[spans[-1][1] : match.start()] == " "):
                last = read_row(look, row, spans, last)
                row, spans = [], []
            else:
                joined = joined or bool(between and between["joiner"])
        if not spans:
            joined = False
            if month and look.source and value[0] <= 31 and table.month_gap.fullmatch(low, month[2], match.start()):
                look.found.append(Found(start, end, "words", (), dates.parts(month[0], None, month[1], value[0])))
        row.append((*value, joined))
        spans.append((start, end))
    if row:
        read_row(look, row, spans, last)


def spelled_day(look: Look, name: tuple[str, int, bool], day: int, end: int) -> None:
    """The fifth of May 2019, in a source."""
    if not 1 <= day <= 31:
        return
    _, years, written = dates.year_behind(look, end, name[0])
    dates.by_name(look, end, end, name[0], years, name[1], day, [str(day), *written])


def read_row(
    look: Look, row: list[tuple[int, str, bool]], spans: list[tuple[int, int]], last: tuple[int, int, str] | None
) -> tuple[int, int, str] | None:
    """One row of number words; returns its last number, for what may follow behind a word for the decimal mark."""
    low = look.low
    numbers = compose(row) if len(row) > 1 else [(row[0][0], 0, 1)]
    for value, first, after in numbers:
        start, end = spans[first][0], spans[after - 1][1]
        if first == 0 and row[0][1] == "scale" and re.search(r"[0-9] ?$", low[max(0, start - 2) : start]):
            continue
        if row[first][1] != "ordinal" and with_digits(look, value, start, end):
            continue
        repeated = len({word[:2] for word in row[first:after]}) == 1 and row[first][1] == "scale"  # হাজার হাজার, thousands of them
        built = after - first > 1 or low[start:end] not in look.table.word_values
        if look.source or (built and value > 20 and not repeated):
            keys = [f"n{value}"]
            if row[after - 1][1] == "scale" and row[after - 1][0] >= 1000:
                more, joined = half_behind(look, end, row[after - 1][0])
                keys = [*([] if joined else keys), f"n{value + more}"] if more else keys
            look.found.append(Found(start, end, "words", tuple(keys), keys))
    if not look.source or not look.table.points:
        return None
    if last and low[last[1] : spans[0][0]].strip() in look.table.points:
        units = [word for word in row if word[1] != "scale"]
        digits = "".join(str(word[0]) for word in units) if all(word[0] < 10 for word in units) else str(compose(units)[0][0])
        factor = prod(word[0] for word in row[len(units) :] if word[1] == "scale")
        if digits and factor < 10**30 and row[: len(units)] == units:
            look.found.append(Found(spans[0][0], spans[-1][1], "words", (), ["n" + times((str(last[0]), digits), factor)]))
    return numbers[-1][0], spans[-1][1], ""


def with_digits(look: Look, value: int, start: int, end: int) -> bool:
    """1 million and two hundred thousand; one million and 200 thousand: one number, written in both ways."""
    if look.scaled_ends is None:
        scaled = [one for one in look.found if one.scale]
        look.scaled_ends, look.scaled_starts = {one.end: one for one in scaled}, {one.start: one for one in scaled}
    if not look.scaled_ends:
        return False
    before = look.low[:start].rstrip(" ") if start < 200 else look.low[start - 200 : start].rstrip(" ")
    shift = max(0, start - 200)
    for joiner in look.table.joiners:
        if before.endswith(joiner):
            before = before[: -len(joiner)].rstrip(" ")
            break
    one = look.scaled_ends.get(shift + len(before))
    if one is not None and value < one.scale and (plain := whole_of(look, one)) is not None:
        key = f"n{plain + value}"
        one.vouched = [*one.vouched, key, f"n{value}"]
        one.keys, one.end = (key,), end
        return True
    gap = look.table.gaps.match(look.low, end)
    one = look.scaled_starts.get(gap.end()) if gap else None
    if one is not None and (plain := whole_of(look, one)) is not None and plain < value and value % (10 ** len(str(plain))) == 0:
        key = f"n{plain + value}"
        one.vouched = [*one.vouched, key, f"n{value}"]
        one.keys, one.start = (key,), start
        return True
    return False


def whole_of(look: Look, one: Found) -> int | None:
    """A scaled number as an int, if it is a whole one of a bounded length."""
    digits = one.vouched[0][1:] if one.vouched else ""
    return int(digits) if digits.isdigit() and len(digits) <= 40 else None


def fraction_word(look: Look, start: int, end: int, fraction: str) -> None:
    """A word that is a fraction: half, anderthalb."""
    above, _, below = fraction.partition("/")
    vouched = [f"q{fraction}"]
    if below in ("2", "4", "5", "8", "10") and int(above) < int(below):
        vouched.append("n" + quotient(int(above), int(below)))
    look.found.append(Found(start, end, "words", (), vouched))


def scale_behind(look: Look, start: int, end: int, fraction: str, units: int) -> None:
    """A scale word behind a fraction, in a source: anderthalb Millionen, bir buçuk milyon (`units` is the one before the fraction)."""
    word = _word_behind(look, end)
    value, kind = look.table.word_values.get(word["word"], (0, "")) if word else (0, "")
    if word and kind == "scale" and value >= 1000:
        above, below = map(int, fraction.split("/"))
        for whole in {0, units}:
            if (whole * below + above) * value % below == 0:
                key = f"n{(whole * below + above) * value // below}"
                look.found.append(Found(start, word.end(), "words", (), [key]))


def _word_behind(look: Look, end: int) -> re.Match[str] | None:
    """The number word behind a space, and a joiner."""
    low, table = look.low, look.table
    if table.word is None or not (match := table.gaps.match(low, end)):
        return None
    after = match.end()
    joiner = next((joiner for joiner in table.joiners if low.startswith(joiner + " ", after)), "")
    return table.word.match(low, after) or (table.word.match(low, after + len(joiner) + 1) if joiner else None)


def half_behind(look: Look, end: int, scale: int) -> tuple[int, bool]:
    """What a fraction behind a scale word adds to the number (un milione e mezzo, một triệu rưỡi), 0 for none; whether a joiner says so."""
    word = _word_behind(look, end)
    above, _, below = look.table.fractions.get(word["word"], "0/1").partition("/") if word else ("0", "", "1")
    if word is None or int(above) >= int(below) or scale * int(above) % int(below):
        return 0, False
    return scale * int(above) // int(below), look.low[end : word.start()].strip(" -") in look.table.joiners


def han_numerals(look: Look) -> None:
    """Numbers in Han characters: in a source all, in an answer what was built of several (三百, 二〇一九)."""
    patterns = han_patterns(look.table.code)
    if patterns is None:
        return
    digits, scales = look.table.han_digits, look.table.han_scales
    low = look.low
    if look.source:
        han_dates(look, patterns)
    for match in patterns.run.finditer(low):
        start, end = match.span()
        if start in look.taken or (start and low[start - 1].isdigit()):
            continue
        text = match.group()
        value, built = han(text, digits, scales)
        if value is None:
            continue
        keys = [f"n{value}"]
        if 10 <= value < 100 and look.table.marked_date and low[end : end + 1] == "年":
            keys += [f"n{year}" for year in dates.long_years(value, "g")[1:]]
        if look.source:
            look.found.append(Found(start, end, "words", (), keys))
        elif len(text) >= 2 and value > 20 and (built or len(text) >= 3):
            look.found.append(Found(start, end, "words", tuple(keys), keys))


def han_dates(look: Look, patterns: Han) -> None:
    """Dates and clock times in Han numerals, in a source."""
    digits, scales = look.table.han_digits, look.table.han_scales

    def number(text: str | None) -> int | None:
        return han(text, digits, scales)[0] if text else None

    for match in patterns.date.finditer(look.low):
        month, day, year = number(match["month"]), number(match["day"]), number(match["year"])
        if month and dates.valid(month, day or None):
            look.found.append(Found(*match.span(), "words", (), dates.parts("g", year, month, day or None)))
    for match in patterns.clock.finditer(look.low):
        hour, minutes = number(match["hour"]), 30 if match["thirty"] else number(match["minutes"]) or 0
        if hour is not None and hour <= 24 and minutes < 60:
            half = look.table.halves[match["half"]] if match["half"] else None
            look.found.append(Found(*match.span(), "words", (), clocks.vouched(hour, f":{minutes:02d}", half)))


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
