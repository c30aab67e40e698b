"""Numbers in words: how the words of a language are put together.

Words are put together by their values alone, since every language of the data builds its numbers from units, tens, hundreds and scales:
a unit may follow a ten ("twenty five") or, with a joiner, stand before it ("fünfundzwanzig", "خمسة وعشرون"); anything below a hundred may follow a
hundred; a scale multiplies what stands before it. What can't follow begins another number: "one two" are two.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    while at < len(words) and not closed:
        value, kind, joined = words[at]
        first = at == start
        if kind == "ordinal" and value >= 100 and value % 100 == 0 and current and current < value:
            kind = "scale"  # "two hundredth"
            closed = True
        elif kind == "ordinal":
            kind, closed = "unit", True
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
        elif first or _follows(current, value, total, joined, below):
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
