"""What a numeral says: its notations, its readings, its canonical form.

A numeral is a run of ASCII digits with single marks between them (`1,234.56`). It is never turned into a float: all is done on the digits
as text, so that a numeral of any length costs no more than its length and nothing is rounded.
"""

from __future__ import annotations

import re
from functools import lru_cache

NUMERAL = r"[0-9]+(?:[.,'٬٫،][0-9]+)*"
_MARK = re.compile(r"[.,'٬٫،]")
_LONGEST_PLAIN = 80
"""Digits that a shifted number may have written out; beyond that it is kept as digits and exponent, so that 1e999999999 costs nothing."""

Parts = tuple[str, str]
"""The digits before and after the decimal mark."""


def canonical(whole: str, fraction: str = "", shift: int = 0) -> str:
    """The one spelling of a number: no needless zeros, `shift` decimal places to the right. 20.00 is "20", 1.2 by 6 is "1200000".

    A whole number of three and more digits keeps its leading zeros, since it is a code and no quantity.
    """
    if not fraction and not shift:
        if whole[0] != "0" or len(whole) > 2:
            return whole
        return whole.lstrip("0") or "0"
    digits, point = whole + fraction, len(whole) + shift
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    stripped = stripped.rstrip("0")
    if not stripped:
        return "0"
    if point > _LONGEST_PLAIN or point < -_LONGEST_PLAIN:
        return f"{stripped}e{point}"
    if point >= len(stripped):
        return stripped + "0" * (point - len(stripped))
    if point <= 0:
        return "0." + "0" * -point + stripped
    return f"{stripped[:point]}.{stripped[point:]}"


def times(parts: Parts, factor: int) -> str:
    """The canonical form of a number times a scale word's factor."""
    shift = len(str(factor)) - 1
    if factor == 10**shift:
        return canonical(*parts, shift)
    whole, fraction = parts
    if len(whole) + len(fraction) > _LONGEST_PLAIN:
        return canonical(whole, fraction)
    return canonical(str(int(whole + fraction) * factor), "", -len(fraction)) if fraction else str(int(whole) * factor)


def _grouped(groups: list[str]) -> bool:
    """Western (1,234,567) or Indian (12,34,567) grouping."""
    if not 1 <= len(groups[0]) <= 3 or groups[0][0] == "0" or len(groups[-1]) != 3:
        return False
    middle = {len(group) for group in groups[1:-1]}
    return middle <= {3} or (middle == {2} and len(groups[0]) <= 2)


@lru_cache(maxsize=4096)
def read(text: str, decimal: str) -> tuple[str, tuple[Parts, ...]]:
    """What a numeral with marks may mean: a kind and its readings, the one first that a language with this decimal mark prefers.

    Kinds: "number"; "version" (1.2.3: parts that are compared as a whole; its readings as a number, if there are any, come along); "list"
    (1,2,3 and 5'11: several numbers).
    """
    marks = [("," if mark == "،" else mark) for mark in _MARK.findall(text)]
    groups = _MARK.split(text)
    last = marks[-1]
    if len(marks) == 1:
        whole, rest = groups
        joined, parted = (whole + rest, ""), (whole, rest)
        groupable = len(rest) == 3 and len(whole) <= 3 and whole[0] != "0"
        if last == "'":
            return ("number", (joined,)) if groupable else ("list", ())
        if not groupable:
            return "number", (parted,)
        if last == "٬":
            return "number", (joined,)
        preferred = last == "٫" or last == decimal or (decimal == "٫" and last == ".")
        return "number", (parted, joined) if preferred else (joined, parted)
    inner = set(marks[:-1])
    if len(inner) == 1:
        (mark,) = inner
        if last == mark:
            if mark != "٫" and _grouped(groups):
                return ("version" if mark == "." else "number"), (("".join(groups), ""),)
            return ("version", ()) if mark == "." else ("list", ())
        if last in ".,٫" and _grouped([*groups[:-1]]) if len(groups) > 2 else False:
            return "number", (("".join(groups[:-1]), groups[-1]),)
        if last in ".,٫" and len(groups) == 3 and len(groups[1]) == 3 and len(groups[0]) <= 3:
            return "number", ((groups[0] + groups[1], groups[2]),)
    if set(marks) == {",", "."}:
        # a list of decimals such as 1.5,2.5 or 1,5.2: read as it stands, part by part at the commas
        return "list", ()
    return "version", ()


def quotient(above: int, below: int) -> str:
    """A proper fraction whose decimals end, as a canonical number."""
    places = {2: 1, 4: 2, 5: 1, 8: 3, 10: 1, 16: 4}[below]
    return canonical("0", str(above * 10**places // below).rjust(places, "0"))
