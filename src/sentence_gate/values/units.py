"""Units and currencies that stand next to a number. They are no part of a value; only the check `value_in_context` reads them."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources

from ..normal import UNSPACED, fold
from .tables import lower

_BEHIND = re.compile(r"[ \u00a0-]?")
_BOUND = re.compile(rf"[^\W\d_{UNSPACED}]")


@cache
def _units() -> tuple[dict[str, frozenset[str]], tuple[int, ...]]:
    """Form -> its units; and the lengths of forms, longest first."""
    data = tomllib.loads(resources.files(__package__).joinpath("units.toml").read_text("utf-8"))
    found: dict[str, set[str]] = {}
    for unit, forms in data.items():
        for form in forms:
            found.setdefault(lower(fold(form)), set()).add(unit)
    return {form: frozenset(units) for form, units in found.items()}, tuple(sorted({len(form) for form in found}, reverse=True))


def around(low: str, start: int, end: int) -> frozenset[str]:
    """The units that the number at `start` to `end` of a folded, lower-case text may have: what stands behind it, else before it."""
    units, lengths = _units()
    gap = _BEHIND.match(low, end)
    at = gap.end() if gap else end
    for length in lengths:
        form = low[at : at + length]
        if form in units and not (_BOUND.match(form[-1]) and _BOUND.match(low[at + length : at + length + 1] or " ")):
            return units[form]
    before = start - 1 if low[start - 1 : start] == " " else start
    for length in lengths:
        form = low[max(0, before - length) : before]
        if (
            len(form) == length
            and form in units
            and not (_BOUND.match(form[0]) and before > length and _BOUND.match(low[before - length - 1]))
        ):
            return units[form]
    return frozenset()


def known(word: str) -> bool:
    """Whether a word is the name of a unit, or part of one: Fahrenheit."""
    return lower(word) in _words()


@cache
def _words() -> frozenset[str]:
    return frozenset(word for form in _units()[0] for word in form.split())
