"""Digits in words: names (COVID-19, MP3), which are no values, and mixes (2O19, SF314-59), which stand as a whole or not at all.

Key: "x" + the letters and digits of a mix, in lower case, without hyphens and underscores.
"""

from __future__ import annotations

import re

from . import numbers
from .look import LETTER, UNSPACED, Found, Look

_MIX = re.compile(rf"(?:{LETTER}|[0-9])+(?:[-_.](?:{LETTER}|[0-9])*?[0-9](?:{LETTER}|[0-9])*)*")
_DIGITS = re.compile(r"[0-9]+")
_CODES = frozenset(
    (
        "usd",
        "eur",
        "gbp",
        "jpy",
        "cny",
        "rmb",
        "inr",
        "chf",
        "cad",
        "aud",
        "nzd",
        "sek",
        "nok",
        "dkk",
        "pln",
        "czk",
        "huf",
        "ron",
        "bgn",
        "rub",
        "uah",
        "try",
        "ils",
        "brl",
        "mxn",
        "ars",
        "clp",
        "cop",
        "pen",
        "zar",
        "ngn",
        "kes",
        "egp",
        "mad",
        "sar",
        "aed",
        "qar",
        "kwd",
        "omr",
        "bhd",
        "jod",
        "iqd",
        "irr",
        "afn",
        "pkr",
        "bdt",
        "lkr",
        "npr",
        "krw",
        "sgd",
        "hkd",
        "twd",
        "thb",
        "vnd",
        "idr",
        "myr",
        "php",
        "kzt",
        "gel",
        "amd",
        "azn",
        "etb",
        "isk",
        "rs",
        "us",
        "rp",
        "rm",
        "kr",
        "$",
    )
)


def mix(look: Look, start: int, end: int) -> int:
    """A name or mix of letters and digits: where it ends, or 0 if the digits are a number of their own."""
    low = look.low
    last = start - 1
    hyphen = low[last] in "-_"
    if hyphen:
        last -= 1
        if last < 0 or not low[last].isalpha():
            return 0
    if UNSPACED.match(low[last]):
        return 0
    first = last
    while first > 0 and start - first < 40 and low[first - 1].isalpha() and not UNSPACED.match(low[first - 1]):
        first -= 1
    letters = low[first : last + 1]
    if look.table.prefixes and look.table.prefixes.fullmatch(low, first, start):
        return 0
    if not hyphen and (letters in _CODES or (letters == "x" and first and low[first - 1].isdigit())):
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
            numbers.version(look, start, end, numeral)
            return end
        return 0
    if not decimal and max(map(len, runs)) <= 2:
        return after
    if letters.upper() == letters:
        return 0  # a script without capitals has no codes of letters and digits
    if hyphen:
        written = look.folded[first : last + 1]
        if not written.isupper() or len(written) > 6:
            return after if sum(map(len, runs)) <= 2 else 0
    if decimal and start + len(numeral) > after:
        text = low[first:end]
    key = "x" + re.sub(r"[-_]", "", text)
    look.found.append(Found(first, max(after, end), "mix", (key,), (key,)))
    return max(after, end)
