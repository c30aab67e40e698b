"""Server-Sent Events and lines of JSON, from bytes to records, incrementally and to the letter of the standard.

Our own decoder stands here because a provider's bytes have to be read in pieces of any size by a pure object that loads no HTTP library.
Whoever holds an `httpx2` response may use that package's `EventSource` instead (with `response.encoding = "utf-8-sig"`, which keeps a byte
order mark from hiding the first event) and hand its events to `read_answer`: the same events, except that a lone CR at the end of the
stream makes it dispatch the event before it.

Rules: https://html.spec.whatwg.org/multipage/server-sent-events.html section 9.2.6. Lines end in CR, LF or CRLF, wherever the pieces were
cut, and in nothing else (not U+2028). An event without its blank line is dropped at the end of the stream, and so is one without data.
Lines are cut before they are decoded: no byte of a longer UTF-8 character is a line end. Cost is linear in the bytes.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import Literal

from .errors import StreamError

Errors = Literal["strict", "replace"]

EVENT_BYTES = 1 << 20
"""1 MiB, the largest event: httpx2's default. A token is some hundred bytes; a whole response object at the end some ten thousand."""

_BOM = codecs.BOM_UTF8


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `data` is in no repr: it holds answer text."""

    data: str = field(repr=False)
    event: str = "message"
    id: str = ""
    retry: int | None = None


@dataclass(frozen=True, slots=True)
class Ignored:
    """A line that the standard tells to ignore. Some servers report an error in such a line only."""

    line: str = field(repr=False)


class Lines:
    """Bytes to lines. A leading byte order mark is taken off, also a cut one; the limit counts an unfinished line."""

    def __init__(self, limit: int = EVENT_BYTES) -> None:
        self._limit = limit
        self._head: bytes | None = b""  # the first bytes, while they may be a byte order mark
        self._parts: list[bytes] = []
        self.pending = 0  # bytes of the unfinished line
        self._after_cr = False

    def feed(self, data: bytes) -> list[bytes]:
        """The lines whose end has come, without it. Raises StreamError for one that is longer than the limit."""
        if self._head is not None:
            data = self._head + data
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._head = data
                return []
            self._head = None
            data = data.removeprefix(_BOM)
        if self._after_cr and data:
            data = data.removeprefix(b"\n")
            self._after_cr = False
        lines = []
        for line in data.splitlines(keepends=True):
            if line.endswith((b"\n", b"\r")):
                self._after_cr = line.endswith(b"\r")
                line = line.rstrip(b"\r\n")
                self._grow(len(line))
                lines.append(b"".join((*self._parts, line)) if self._parts else line)
                self._parts, self.pending = [], 0
            else:
                self._after_cr = False
                self._grow(len(line))
                self._parts.append(line)
        return lines

    def rest(self) -> bytes:
        """The unfinished line."""
        return b"".join((self._head or b"", *self._parts))

    def _grow(self, more: int) -> None:
        self.pending += more
        if self.pending > self._limit:
            raise StreamError(f"a line is longer than the limit of {self._limit} bytes (Limits.event_bytes)")


class EventDecoder:
    """Bytes to events.

    `errors` says what becomes of bytes that are no UTF-8: "replace" makes them U+FFFD, as the standard says, "strict" raises StreamError.
    `limit` bounds one event, comments aside, in bytes. With `ignored=True` lines that the standard ignores come out too, as `Ignored`.
    """

    def __init__(self, limit: int = EVENT_BYTES, *, errors: Errors = "replace", ignored: bool = False) -> None:
        self._lines, self._limit, self._errors, self._ignored = Lines(limit), limit, errors, ignored
        self._data: list[str] = []
        self._event = self._id = ""
        self._retry: int | None = None
        self._size = 0

    def feed(self, data: bytes) -> list[Event | Ignored]:
        """The events that are complete now. Raises StreamError for an event beyond the limit; if strict, for bytes that are no UTF-8."""
        found: list[Event | Ignored] = []
        for line in self._lines.feed(data):
            record = self._dispatch() if not line else self._line(line)
            if record is not None:
                found.append(record)
        if self._size + self._lines.pending > self._limit:
            raise StreamError(f"an event is larger than the limit of {self._limit} bytes (Limits.event_bytes)")
        return found

    def finish(self) -> tuple[str, ...]:
        """What was left over at the end of the stream, as notes: "partial_event_dropped", "cut_character"."""
        rest = self._lines.rest()
        dropped = bool(rest or self._data)
        return (*(("partial_event_dropped",) if dropped else ()), *(("cut_character",) if cut_character(rest) else ()))

    @property
    def rest(self) -> str:
        """The unfinished line."""
        return self._lines.rest().decode("utf-8", "replace")

    def _line(self, line: bytes) -> Ignored | None:
        if line.startswith(b":"):
            return None
        self._size += len(line)
        if self._size > self._limit:
            raise StreamError(f"an event is larger than the limit of {self._limit} bytes (Limits.event_bytes)")
        text = decode(line, self._errors)
        name, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id":
            self._id = self._id if "\0" in value else value
        elif name == "retry":
            self._retry = int(value) if value.isascii() and value.isdigit() and len(value) < 20 else self._retry
        elif self._ignored:
            return Ignored(text)
        return None

    def _dispatch(self) -> Event | None:
        data, event, retry = self._data, self._event or "message", self._retry
        self._data, self._event, self._retry, self._size = [], "", None, 0
        return Event("\n".join(data), event, self._id, retry) if data else None


def decode(line: bytes, errors: Errors) -> str:
    """A line's text. Raises StreamError for bytes that are no UTF-8, if strict; the message holds none of them."""
    try:
        return line.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        where = error.start
    raise StreamError(f"the stream is not UTF-8: invalid byte at offset {where} of a line")


def cut_character(rest: bytes) -> bool:
    """Whether the bytes end inside a UTF-8 character."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(rest)
    return bool(decoder.getstate()[0])
