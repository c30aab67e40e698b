"""The grammar of citation markers: where they stand in a text, which source numbers they name, and how they are taken out.

A style is a template with one `{n}`; nothing is guessed and no style is a regular expression. What stands before `{n}` is an opening (its
first character) and a label (the rest, which may be empty); what stands after it closes. Between opening and close a marker may list
several numbers, with or without their label (`[S1, S2]`, `[S1;2]`), and ranges (`[S1-S3]`). Letters match in any case, letters, digits
and brackets also in their fullwidth forms, digits in every script. Knows no source: whether a number was given is for a check to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from .errors import UsageError
from .normal import UNSPACED, WHITE

LONGEST = 64
"""Code points of the longest marker. A stream that opens a bracket and never closes it must not be held for longer (specification section
5.1).
"""
_WIDEST = 64
"""Numbers that a range may span. A wider one names no source that a reader could look up, and would fill the report."""

UNDECIDED = -1
"""What `MarkerStyle.end_at` says while more text may still make a marker."""
NO_MARKER = 0
"""What `MarkerStyle.end_at` says where no marker begins."""


class Marker(NamedTuple):
    """A marker in a text: its span in code points, half-open, and its source numbers, counted from 1 (0: no source can have the number)."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class MarkerStyle:
    """How the answer cites: a template with exactly one `{n}` and literal text on both sides of it, and the number of the first source.

    Raises UsageError for any other template, and for a base that is no int of 0 or more.
    """

    template: str
    base: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.template, str) or self.template.count("{n}") != 1:
            raise UsageError('the template of a marker style is a str with exactly one {n}, such as "[S{n}]"')
        before, after = self.template.split("{n}")
        if not before.strip(WHITE) or not after.strip(WHITE):
            raise UsageError('the template of a marker style has literal text on both sides of {n}, such as "[S{n}]"')
        if any(char.isdigit() for char in before[-1:] + after[:1]) or len(self.template) > LONGEST - 8:
            raise UsageError(f"the template of a marker style has no digit next to {{n}} and at most {LONGEST - 8} code points")
        if isinstance(self.base, bool) or not isinstance(self.base, int) or self.base < 0:
            raise UsageError("the base of a marker style is the number of the first source: 0, 1 or another int that isn't negative")

    def written(self, number: int) -> str:
        """The marker of a source, counted from 1, as the answer should write it."""
        return self.template.replace("{n}", str(number - 1 + self.base))

    def find(self, text: str) -> tuple[Marker, ...]:
        """The markers of a complete text, in order."""
        return _found(self, text) if _grammar(self).opening.search(text) else ()

    def end_at(self, text: str, start: int, *, whole: bool = False) -> int:
        """Where the marker that begins at `start` ends; NO_MARKER if none does, UNDECIDED while more text may change the answer.

        With `whole` nothing more will come, so that it is never UNDECIDED.
        """
        grammar = _grammar(self)
        if not grammar.opening.match(text, start):
            return NO_MARKER
        return grammar.end_at(text, start, whole)

    def start_before(self, text: str, end: int, least: int = 0) -> int:
        """Where the marker that ends at `end` begins, not before `least`; UNDECIDED (-1) if none ends there."""
        grammar = _grammar(self)
        if end <= least or not grammar.close.match(text, end - 1):
            return UNDECIDED
        for opening in grammar.opening.finditer(text, max(least, end - LONGEST), end):
            if grammar.end_at(text, opening.start(), True, end) == end:
                return opening.start()
        return UNDECIDED


_NAMED = {
    "S": MarkerStyle("[S{n}]"),
    "numeric": MarkerStyle("[{n}]"),
    "footnote": MarkerStyle("[^{n}]"),
    "doc": MarkerStyle("[doc{n}]"),  # Azure OpenAI On Your Data
    "lenticular": MarkerStyle("【{n}】"),
    "ID": MarkerStyle("[ID:{n}]", base=0),  # RAGFlow
    "source": MarkerStyle("[Source {n}]"),
    "parenthesis": MarkerStyle("(Source {n})"),
    "citation": MarkerStyle("[citation:{n}]"),
    "caret": MarkerStyle("[^{n}^]"),  # Bing
    "hashes": MarkerStyle("##{n}$$", base=0),  # RAGFlow, older
    "sup": MarkerStyle("<sup>{n}</sup>"),
}
_BY_NAME = {name.lower(): style for name, style in _NAMED.items()}


def style_of(markers: str | MarkerStyle) -> MarkerStyle:
    """The style of a name, in any case, or the style itself. Raises UsageError that lists the names."""
    if isinstance(markers, MarkerStyle):
        return markers
    style = _BY_NAME.get(markers.lower()) if isinstance(markers, str) else None
    if style is None:
        raise UsageError(
            f'unknown marker style {markers!r}; the styles are {", ".join(_NAMED)}, or a MarkerStyle with a template such as "[S{{n}}]"'
        )
    return style


# ------------------------------------------------------------------------------------------------ grammar

_SPACE = f"[{WHITE}]"
_LIST = "[,;，；、،؛]"
_DASH = "[-‐‑‒–—−~～－]"
_FULLWIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def _literal(char: str) -> str:
    """A pattern for one character of a template: any case, fullwidth too; white space stands for any or none."""
    if char in WHITE:
        return f"{_SPACE}*"
    forms = {char, char.lower(), char.upper()}
    forms |= {form.translate(_FULLWIDTH) for form in forms}
    return f"[{''.join(re.escape(form) for form in sorted(forms) if len(form) == 1)}]"


def _beginnings(literals: list[str], then: str) -> str:
    """A pattern for every beginning of the literals, the empty one too; `then` may follow the whole."""
    pattern = then
    for literal in reversed(literals):
        pattern = f"(?:{literal}{pattern})?"
    return pattern


class _Grammar:
    """The compiled patterns of one style."""

    __slots__ = ("_beginning", "_item", "_marker", "_plain", "close", "opening")

    def __init__(self, style: MarkerStyle) -> None:
        before, after = style.template.split("{n}")
        before = before.lstrip(WHITE)
        after = after.rstrip(WHITE)
        opening, label = _literal(before[0]), [_literal(char) for char in before[1:]]
        close = [_literal(char) for char in after]
        number = r"\d{1,60}"
        labelled = f"(?:{_SPACE}*{''.join(label)})?" if label else ""
        first = f"{_SPACE}*{''.join(label)}{_SPACE}*{number}"
        item = f"{labelled}{_SPACE}*{number}"
        between = f"{_SPACE}*(?:{_LIST}|{_DASH})"
        ahead = rf"(?={''.join(close)})" if after[0] in WHITE else ""
        self._marker = re.compile(f"{opening}{first}(?:{between}{item})*{_SPACE}*{ahead}{''.join(close)}")
        # A beginning of a marker, up to the end of the text: whole items, then the beginning of an item or of the close.
        more = f"(?:{between}(?:{item}{_SPACE}*(?:{_beginnings(close, '')}|{between})|{_SPACE}*{_beginnings(label, f'{_SPACE}*')})?)?"
        self._beginning = re.compile(
            rf"{opening}{_SPACE}*(?:{_beginnings(label, f'{_SPACE}*')}"
            rf"|{''.join(label)}{_SPACE}*{number}(?:{between}{item})*{_SPACE}*(?:{_beginnings(close, '')}|{more}))\Z"
        )
        self._item = re.compile(rf"({_DASH})?[^\d]*?(\d+)")
        self.opening = re.compile(opening)
        self.close = re.compile(_literal(after[-1]))
        self._plain = not label  # "[1]" may also be an index or the label of a link

    def end_at(self, text: str, start: int, whole: bool, limit: int | None = None) -> int:
        limit = len(text) if limit is None else limit
        reach = min(limit, start + LONGEST)
        if self._plain and start and _in_word(text[start - 1]):
            return NO_MARKER
        match = self._marker.match(text, start, reach)
        if match is None:
            open_end = not whole and reach == limit < start + LONGEST
            return UNDECIDED if open_end and self._beginning.match(text, start, reach) else NO_MARKER
        end = match.end()
        if self._plain and end == limit:
            return end if whole else UNDECIDED
        return NO_MARKER if self._plain and text[end] == "(" else end

    def find(self, text: str, base: int) -> Iterator[Marker]:
        at = 0
        while opening := self.opening.search(text, at):
            start = opening.start()
            end = self.end_at(text, start, True)
            if end > 0:
                yield Marker(start, end, self._numbers(text[start + 1 : end], base))
            at = end if end > 0 else start + 1

    def _numbers(self, inside: str, base: int) -> tuple[int, ...]:
        numbers: list[int] = []
        for dash, digits in self._item.findall(inside):
            number = int(digits) - base + 1
            number = number if 0 < number < 10**9 else 0
            if not dash or not numbers:
                numbers.append(number)
            elif numbers[-1] and numbers[-1] < number <= numbers[-1] + _WIDEST:
                numbers.extend(range(numbers[-1] + 1, number + 1))
            else:
                numbers.append(0)
        return tuple(numbers)


@lru_cache(maxsize=64)
def _grammar(style: MarkerStyle) -> _Grammar:
    return _Grammar(style)


@lru_cache(maxsize=8)
def _found(style: MarkerStyle, text: str) -> tuple[Marker, ...]:
    """The splitter, the prose and the release of a sentence ask for the markers of the same text."""
    return tuple(_grammar(style).find(text, style.base))


_UNSPACED_CHAR = re.compile(f"[{UNSPACED}]")


def _in_word(char: str) -> bool:
    """A letter or digit of a script that parts words by spaces."""
    return char.isalnum() and not _UNSPACED_CHAR.match(char)


# ------------------------------------------------------------------------------------------------ taking out

_WRAPPERS = {"(": ")", "[": "]", "{": "}", "（": "）", "［": "］", "【": "】", "〔": "〕", "*": "*", "_": "_", "~": "~", "`": "`"}
_EMPHASIS = "*_~`"
_BREAKS = re.compile(r"\r\n|\r|\n")


def take_out(lead: str, text: str, style: MarkerStyle, *, after_marker: bool = False) -> tuple[str, str]:
    """A sentence's lead and text without its markers, spacing repaired (specification section 6).

    `after_marker` says that the sentence before ended in a marker that was taken out: where no white space parts the two and a letter or
    digit follows, one space does. The text of a sentence that was nothing but markers is "".
    """
    text = _bare(style, text)
    if after_marker and not lead and text and (_in_word(text[0]) or _opens_word(text, 0)):
        lead = " "
    return lead, text


@lru_cache(maxsize=8)
def _bare(style: MarkerStyle, text: str) -> str:
    """The text without its markers; asked for twice a sentence, for its prose and for its release."""
    found = style.find(text)
    return _without(text, _groups(text, found)) if found else text


def ends_in_marker(text: str, style: MarkerStyle) -> bool:
    """Whether the last thing in the text is a marker, brackets and emphasis around it aside."""
    end, least = len(text), max(0, len(text) - LONGEST)
    while end > least:
        if style.start_before(text, end) >= 0:
            return True
        if text[end - 1] not in WHITE and text[end - 1] not in _WRAPPERS.values():
            return False
        end -= 1
    return False


def _groups(text: str, found: tuple[Marker, ...]) -> list[tuple[int, int]]:
    """Spans of what goes: neighbouring markers together, with the brackets and emphasis that hold nothing else."""
    groups: list[tuple[int, int]] = []
    for marker in found:
        start, end = _unwrapped(text, marker.start, marker.end)
        while groups and not text[groups[-1][1] : start].strip(WHITE):
            start, end = _unwrapped(text, groups.pop()[0], end)
        groups.append((start, end))
    return groups


def _unwrapped(text: str, start: int, end: int) -> tuple[int, int]:
    """The span grown by brackets and emphasis that hold nothing else."""
    while True:
        left, right = start, end
        while left and text[left - 1] in WHITE:
            left -= 1
        while right < len(text) and text[right] in WHITE:
            right += 1
        if not left or right == len(text) or _WRAPPERS.get(text[left - 1]) != text[right]:
            return start, end
        if text[right] in _EMPHASIS and (left, right) != (start, end):
            return start, end  # white space inside: this is no emphasis around the markers
        start, end = left - 1, right + 1


def _without(text: str, groups: list[tuple[int, int]]) -> str:
    out = ""
    at = 0
    for start, end in groups:
        out += text[at:start]
        stop = end
        while stop < len(text) and text[stop] in WHITE:
            stop += 1
        out = _joined(out, text[end:stop], text[stop : stop + 8], first=not out.strip(WHITE))
        at = stop
    return (out + text[at:]).strip(WHITE)


def _joined(before: str, space: str, following: str, *, first: bool) -> str:
    """What stood before a group, and the white space that stays between it and what follows."""
    kept = before.rstrip(WHITE)
    gone = before[len(kept) :]
    if first or not following:  # the white space at either end of a sentence is its lead or the next one's
        return kept
    if _breaks(gone) > _breaks(space):
        return kept + gone  # a line break outlives spaces; at a line start the space after the marker goes
    if space:
        return kept + space
    word_follows = following[0].isalnum() or _opens_word(following, 0)
    if not word_follows or not kept:
        return kept
    if gone and not _UNSPACED_CHAR.match(kept[-1]) and not _UNSPACED_CHAR.match(following[0]):
        return kept + gone[-1]
    return (
        kept + " "
        if _in_word(following[0]) and (_in_word(kept[-1]) or not kept[-1].isalnum()) and kept[-1] not in "([{（«“„‘‚-–—/*_~`"
        else kept
    )


def _opens_word(text: str, at: int) -> bool:
    """Whether an opening mark or emphasis and then a letter or digit stand here."""
    end = at
    while end < len(text) and text[end] in "([{\"'“„«‘‚¿¡*_~`$€£":
        end += 1
    return end > at and end < len(text) and text[end].isalnum()


def _breaks(white: str) -> int:
    return len(_BREAKS.findall(white)) if "\n" in white or "\r" in white else 0
