"""Telephone numbers and other chains of digits that are compared digit by digit (ISBN, account numbers). Key: "p" + digits."""

from __future__ import annotations

import re

from .look import Found, Look
from .numerals import canonical

_GAP = r"(?:[ ./-]?\([0-9]{1,5}\)[ ./-]?|\)[ ./-]?|[ /-]{1,2}|[.](?! ))"
"""What parts the groups of a number; a full stop and a space end a sentence, and a bracket that holds more than a group is none."""
_INTERNATIONAL = re.compile(rf"\+(?:[0-9]{{1,4}}(?:{_GAP}[0-9]{{1,8}}){{1,6}}|[0-9]{{7,15}})(?![0-9])")
_BRACKETED = re.compile(r"\((?:0[0-9]{1,5}|[0-9]{3})\)[ -]?[0-9]{2,5}(?:[ .-][0-9]{2,5}){0,4}(?![0-9])")
_LEADING_ZERO = re.compile(r"0(?:[0-9]{1,5}(?:[ /-][0-9]{2,8}){1,5}|[0-9](?:\.[0-9]{2}){4})(?![0-9])")
_THREE_THREE_FOUR = re.compile(r"(?:1[ .-])?[0-9]{3}(?P<gap>[ .-])[0-9]{3}(?P=gap)[0-9]{4}(?![0-9])")
_HYPHENS = re.compile(r"[0-9]{1,9}(?:-[0-9]{1,9}){2,7}(?![0-9]|-[0-9])")
_TRUNK = re.compile(r"\(0\)")
_OTHER = re.compile(r"[^0-9]+")


def digits(text: str) -> str:
    """The digits of a number, without the trunk zero of "+44 (0)20"."""
    return _OTHER.sub("", _TRUNK.sub("", text))


def find(text: str, start: int) -> tuple[int, int] | None:
    """The span of a telephone number or the like whose first digit is at `start`."""
    before = text[start - 1 : start]
    if before == "+":
        match = _INTERNATIONAL.match(text, start - 1)
    elif before == "(":
        match = _BRACKETED.match(text, start - 1)
    else:
        match = None
    if match is None:
        if text[start] == "0":
            match = _LEADING_ZERO.match(text, start)
            if match and len(digits(match.group())) < 8:
                match = None
        match = match or _THREE_THREE_FOUR.match(text, start) or _HYPHENS.match(text, start)
    if match is None or not 7 <= len(digits(match.group())) <= 17:
        return None
    return match.span()


def phone(look: Look, start: int, end: int) -> None:
    """A telephone number found at this span."""
    text = look.low[start:end]
    number = digits(text)
    keys = ["p" + number]
    if text[0] == "+":
        keys.append("n" + canonical(number))
    look.found.append(Found(start, end, "phone", tuple(keys), keys[:1]))
