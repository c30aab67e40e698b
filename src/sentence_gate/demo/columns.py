"""Frames as lines of two columns: left what arrives, right what is released. Prints nothing.

Widths are terminal cells (UAX #11: wide and fullwidth characters take two, marks and format characters none). A terminal may draw marks
otherwise, so a live view places the columns by cursor and not by padding. Right-to-left text stands in isolates (UAX #9), so that it
can't swap the columns, and at the column's right edge.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from . import Frame, Row

Style = Literal["plain", "released", "withheld", "note", "rule"]

_WIDE = "\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6"
_NO_LINE_START = "、。，．：；？！）］｝〉》」』】"
_TOKEN = re.compile(rf"[ \t]+|[{_WIDE}](?:[{_NO_LINE_START}]*)|[^ \t{_WIDE}]+[{_NO_LINE_START}]*")
_RTL_ISOLATE, _POP_ISOLATE = "\u2067", "\u2069"


@dataclass(frozen=True, slots=True)
class Cell:
    """One line of one column. `indent` is the number of cells before the text."""

    text: str = ""
    indent: int = 0
    style: Style = "plain"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of both columns."""

    left: Cell
    right: Cell


def width(text: str) -> int:
    """The number of terminal cells that a text takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def wrap(text: str, cells: int) -> list[str]:
    """The text in lines of at most `cells` cells, broken at spaces, before wide characters and, if it can't be helped, in words."""
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        line, used = "", 0
        for token in _TOKEN.findall(paragraph):
            size = width(token)
            if used + size > cells and line:
                lines.append(line.rstrip())
                line, used = "", 0
            if not line and token.isspace():
                continue
            while size > cells:
                head = _head(token, cells)
                lines.append(head)
                token = token[len(head) :]
                size = width(token)
            line, used = line + token, used + size
        lines.append(line.rstrip())
    return lines


def _head(token: str, cells: int) -> str:
    """As much of a token as fits: at least one character."""
    used = 0
    for index, char in enumerate(token):
        used += _cells(char)
        if used > cells and index:
            return token[:index]
    return token


def cells(text: str, columns: int, style: Style, *, rtl: bool = False) -> list[Cell]:
    """A text as the lines of one column."""
    if rtl:
        return [Cell(f"{_RTL_ISOLATE}{line}{_POP_ISOLATE}", columns - width(line), style) for line in wrap(text, columns)]
    return [Cell(line, 0, style) for line in wrap(text, columns)]


def isolated(text: str, *, rtl: bool) -> str:
    """A right-to-left text that may stand in a line of other text."""
    return f"{_RTL_ISOLATE}{text}{_POP_ISOLATE}" if rtl else text


def judged(row: Row, columns: int, *, rtl: bool) -> Iterator[Line]:
    """The lines of one sentence that was judged."""
    if row.released is None:
        right = cells("withheld: " + ", ".join(dict.fromkeys(check for check, _ in row.checks)), columns, "withheld")
    else:
        right = cells(row.released, columns, "released", rtl=rtl)
    if row.note:
        right += cells(f"({row.note})", columns, "note")
    return _beside(cells(row.arrived, columns, "plain", rtl=rtl), right)


def pending(frame: Frame, columns: int, *, rtl: bool) -> Iterator[Line]:
    """The lines of what has arrived of a sentence that isn't judged."""
    if not frame.pending:
        return iter(())
    right = cells("(arrived with the stop, never judged)" if frame.report else "...", columns, "note")
    return _beside(cells(frame.pending, columns, "note", rtl=rtl), right)


def _beside(left: list[Cell], right: list[Cell]) -> Iterator[Line]:
    for index in range(max(len(left), len(right))):
        yield Line(left[index] if index < len(left) else Cell(), right[index] if index < len(right) else Cell())
