"""Reading fields of a payload that may have any shape: what isn't there, or is of another type, is nothing.

A payload comes from a network or from another package's objects. A reader reports facts, so it never raises on an odd shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_LONGEST_REASON = 200  # characters; a reason is a code, or an error's first words

Fields = Mapping[str, Any]
_NONE: Fields = {}


def fields(value: object) -> Fields:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else _NONE


def items(value: object) -> Sequence[Any]:
    """The value if it is a list or tuple, else an empty one."""
    return value if isinstance(value, (list, tuple)) else ()


def text(value: object) -> str:
    """The value if it is a string (of an enumeration its value), else an empty one."""
    return str.__str__(value) if isinstance(value, str) else ""


def number(value: object) -> int | None:
    """The value as a whole number from 0, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        return None
    return int(value)


def first(payload: Fields, *names: str) -> Any:
    """The value of the first of the names that is there and not None. Wire and library spell one field in two ways (camel, snake)."""
    for name in names:
        value = payload.get(name)
        if value is not None:
            return value
    return None


def reason_of(error: object) -> str:
    """A provider's error as one short word: its code, type or status, else the beginning of its message."""
    if isinstance(error, Mapping):
        for name in ("code", "type", "status", "http_status_code", "message"):
            value = error.get(name)
            if isinstance(value, str) and value:
                return value[:_LONGEST_REASON]
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
    return text(error)[:_LONGEST_REASON] or "error"


def nested(value: object, *, depth: int = 6) -> Iterator[Fields]:
    """Every mapping inside a value, itself included, down to `depth`."""
    if depth < 0:
        return
    if isinstance(value, Mapping):
        yield value
        for inner in value.values():
            yield from nested(inner, depth=depth - 1)
    else:
        for inner in items(value):
            yield from nested(inner, depth=depth - 1)
