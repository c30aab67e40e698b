"""One stream's items, bytes or payloads, to answer text and an ending: decoding, reading, adding up, reasoning taken out. Pure.

`streams.read_answer` drives it. What is an error: bytes that are no UTF-8 (if strict), an event or an answer beyond the limits, a payload
that is no JSON object. Text that came before it in the same piece of bytes is handed over first, so that the cutting changes nothing.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from ..endings import Provider as TrackedProvider
from ..endings import Tracker, tail_is_judged
from ..errors import StreamError, UsageError
from ..events import Delta, Ending
from ..limits import DEFAULT_LIMITS, Limits, TimeLimitError
from ..sse import Errors, Event, EventDecoder, Ignored, Lines, cut_character, decode
from .eventstream import FrameDecoder
from .reasoning import ReasoningFilter
from .transport import Transport, reason_of_exception, transport_of

_DONE = "[DONE]"
_HIGH = re.compile("[\ud800-\udbff]")  # the first half of a character that JSON wrote as two


class Provider(TrackedProvider, Protocol):
    """What a module of this folder offers."""

    FRAMING: str

    def read(self, payload: Mapping[str, Any], /) -> Delta:
        """What one payload says."""
        ...


class Reader:
    """Reads one stream. `tracker` holds what was added up; `over` is true when nothing that matters can come any more."""

    def __init__(
        self,
        provider: Provider,
        *,
        limits: Limits = DEFAULT_LIMITS,
        errors: Errors = "replace",
        reasoning: ReasoningFilter | None = None,
        carries_reason: bool = True,
        library: str | None = None,
        on_delta: Callable[[Delta], object] | None = None,
    ) -> None:
        if errors not in ("strict", "replace"):
            raise UsageError(f"errors is 'strict' or 'replace', not {errors!r}")
        self.tracker = Tracker(provider, carries_reason=carries_reason, library=library)
        self._provider, self._limits, self._errors = provider, limits, errors
        self._reasoning, self._on_delta = reasoning or ReasoningFilter(), on_delta
        self._events: EventDecoder | None = None
        self._lines: Lines | None = None
        self._frames: FrameDecoder | None = None
        self._high = ""  # a high surrogate whose low one is in the next payload
        self._failed = False

    @property
    def over(self) -> bool:
        """The protocol was closed, or the provider failed: upstream may be closed."""
        return self.tracker.closed or self._failed

    def feed(self, item: object) -> Iterator[str]:
        """The answer text that an item brings, piece by piece. Raises StreamError, and UsageError for an item of a wrong type."""
        for delta in self._deltas(item):
            yield from self._take(delta)
            if self.over:
                return  # what follows in the same bytes is not looked at, as it would not be read if it came later

    def finish(self) -> Iterator[str]:
        """The stream is at its clean end: what was held back and is text after all."""
        if not self.over:
            yield from self._left_over()
        held = self._reasoning.feed(self._high) + self._reasoning.finish()
        self._high = ""
        if held and self._wanted():
            yield held

    def _left_over(self) -> Iterator[str]:
        if self._events:
            for note in self._events.finish():
                self.tracker.note(note)
            yield from self._ignored(self._events.rest)
        if self._lines and (rest := self._lines.rest()):
            self.tracker.note("partial_event_dropped")
            if cut_character(rest):
                self.tracker.note("cut_character")
            yield from self._ignored(rest.decode("utf-8", "replace"))
        if self._frames and self._frames.pending:
            self.tracker.note("partial_event_dropped")

    def ending(self, transport: Transport = "clean_eof") -> Ending:
        """How the stream ended, if its transport ended so."""
        return self.tracker.ending(transport)

    def broken(self, error: Exception) -> tuple[Ending, bool]:
        """How the stream ended if it raised this, and whether the exception is still news: not if the turn had ended before."""
        transport = "timeout" if isinstance(error, TimeLimitError) else transport_of(error)
        if transport:
            ended = self.tracker.ended
            ending = self.ending(transport)
            return ending, not (ended and ending.kind != "no_evidence")
        if isinstance(error, StreamError):
            self.tracker.note(str(error))
        reason = "stream_error" if isinstance(error, StreamError) else reason_of_exception(error)
        self.tracker.add(Delta(ending=Ending.provider_error(reason, evidence=type(error).__name__)))
        return self.ending("closed_by_us"), True

    # ------------------------------------------------------------------------------------------------

    def _take(self, delta: Delta) -> Iterator[str]:
        self.tracker.add(delta)
        if self._on_delta is not None:
            self._on_delta(delta)
        self._failed |= delta.ending is not None and delta.ending.kind == "provider_error"
        limit = self._limits.answer_bytes
        if limit is not None and self.tracker.received > limit:
            raise StreamError(f"the answer is larger than the limit of {limit} bytes (Limits.answer_bytes)")
        if delta.text and self._wanted(delta.ending):
            text = self._reasoning.feed(self._paired(delta.text))
            if text:
                yield text

    def _wanted(self, own: Ending | None = None) -> bool:
        """Whether text still belongs to the answer: not behind an ending that drops the tail."""
        said = self.tracker.said
        return said is None or said is own or tail_is_judged(said)

    def _paired(self, text: str) -> str:
        """Joins the halves of a character that a server cut into two payloads."""
        if not self._high and text.isascii():
            return text
        text, self._high = self._high + text, ""
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._high = text[:-1], text[-1]
        if _HIGH.search(text):
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return text

    def _deltas(self, item: object) -> Iterator[Delta]:
        if isinstance(item, (bytes, bytearray, memoryview)):
            yield from self._from_bytes(bytes(item))
        elif isinstance(item, Mapping):
            yield self._provider.read(item)
        elif isinstance(data := getattr(item, "data", None), str) and isinstance(name := getattr(item, "event", None), str):
            yield from self._from_event(Event(data, name))
        elif callable(dump := getattr(item, "model_dump", None)):
            yield self._provider.read(dump(by_alias=True, exclude_unset=True, warnings=False))
        elif dataclasses.is_dataclass(item) and not isinstance(item, type):
            yield self._provider.read(dataclasses.asdict(item))
        else:
            raise UsageError(
                f"a stream holds bytes, mappings, the SDK's events or Server-Sent Events, not {type(item).__name__}; "
                "gate_stream takes text. Was the request made with stream=True?"
            )

    def _from_bytes(self, data: bytes) -> Iterator[Delta]:
        match self._provider.FRAMING:
            case "sse":
                if self._events is None:
                    self._events = EventDecoder(self._limits.event_bytes, errors=self._errors, ignored=True)
                for record in _each(self._events, data):
                    yield from self._ignored_deltas(record.line) if isinstance(record, Ignored) else self._from_event(record)
            case "ndjson":
                if self._lines is None:
                    self._lines = Lines(self._limits.event_bytes)
                for line in _each(self._lines, data):
                    if line.strip():
                        yield self._provider.read(_payload(decode(line, self._errors)))
            case "eventstream":
                if self._frames is None:
                    self._frames = FrameDecoder(self._limits.event_bytes)
                for payload in self._frames.feed(data):
                    yield self._provider.read(payload)
            case _:
                raise UsageError(f"{self._provider.PROTOCOL} hands over objects, not bytes")

    def _from_event(self, event: Event) -> Iterator[Delta]:
        data = event.data.strip()
        if not data:
            return
        if data == _DONE:
            yield Delta(closing=True)
            return
        if event.event == "error":
            payload = _object(data)
            if payload is None:
                yield self._provider.read({"error": data})
            else:
                yield self._provider.read(payload if payload.get("error") else {"error": payload})
            return
        yield self._provider.read(_payload(data))

    def _ignored(self, line: str) -> Iterator[str]:
        for delta in self._ignored_deltas(line):
            yield from self._take(delta)

    def _ignored_deltas(self, line: str) -> Iterator[Delta]:
        """An error that a server reports outside any event: `error: {…}` (llama.cpp of old) or a bare JSON object (Gemini, gateways)."""
        name, _, value = line.partition(":")
        if name == "error" and (payload := _object(value)) is not None:
            yield self._provider.read({"error": payload.get("error") or payload})
        elif line.startswith("{") and (payload := _object(line)) is not None and payload.get("error"):
            yield self._provider.read({"error": payload["error"]})


def _each(decoder: Any, data: bytes) -> Iterator[Any]:
    """What a decoder finds, line by line, so that records before an error come out first."""
    for line in data.splitlines(keepends=True):
        yield from decoder.feed(line)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _payload(text: str) -> dict[str, Any]:
    payload = _object(text)
    if payload is None:
        raise StreamError(f"a payload of {len(text)} characters is no JSON object")
    return payload
