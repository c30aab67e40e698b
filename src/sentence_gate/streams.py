"""The loops: pieces, or a provider's bytes, in; events out; upstream closed. No decision is made here.

`gate_stream` takes pieces of text. `read_answer` takes what a provider sends and ends the answer by its own evidence.
An `Ending` among the pieces says how the provider ended; without one the channel can't carry a reason, and the stream counts as
completed, unattested. The upstream is closed at the stop, before the stop is handed out, and on every other way out: the reader leaves,
the pieces raise. What it raises when it is closed is no part of the answer.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Generator, Iterable, Iterator
from contextlib import suppress
from typing import Any

from .deadlines import Deadlines
from .endings import UNATTESTED
from .errors import UsageError
from .events import Delta, Ending, Event
from .gate import SentenceGate
from .limits import DEFAULT_LIMITS, Limits
from .providers import load
from .providers.reader import Provider, Reader
from .providers.reasoning import ReasoningFilter
from .sse import Errors


def gate_stream(pieces: Iterable[str | Ending], gate: SentenceGate, *, ending: Ending | None = None) -> Iterator[Event]:
    """The events of a stream of pieces, `Done` last.

    `ending` is used if the pieces hold none. An exception of `pieces` ends the answer as provider_error (as the Ending handed over before
    it, if there was one), with its events, and is raised again. A reader who leaves closes `pieces` and ends the answer as cancelled.
    """
    _checked(gate)
    said, iterator = None, iter(pieces)
    try:
        for piece in iterator:
            if isinstance(piece, Ending):
                said = piece
                continue
            outcome = gate.feed(piece)
            if outcome.stopped:
                _close(iterator, pieces)
                yield from outcome.events
                said = said or Ending.cancelled(notes=("closed at the stop",))
                break
            yield from outcome.events
    except GeneratorExit:
        gate.finish(said or Ending.cancelled())
        raise
    except Exception as error:
        yield from gate.finish(said or _broken(error)).events
        raise
    else:
        yield from gate.finish(said or ending or Ending.completed(notes=(UNATTESTED,))).events
    finally:
        _close(iterator, pieces)


async def agate_stream(pieces: AsyncIterable[str | Ending], gate: SentenceGate, *, ending: Ending | None = None) -> AsyncIterator[Event]:
    """`gate_stream` for an asynchronous stream; a cancelled task counts as a reader who left."""
    _checked(gate)
    said, iterator = None, aiter(pieces)
    try:
        async for piece in iterator:
            if isinstance(piece, Ending):
                said = piece
                continue
            outcome = gate.feed(piece)
            if outcome.stopped:
                await _aclose(iterator, pieces)
                for event in outcome.events:
                    yield event
                said = said or Ending.cancelled(notes=("closed at the stop",))
                break
            for event in outcome.events:
                yield event
    except Exception as error:
        for event in gate.finish(said or _broken(error)).events:
            yield event
        raise
    except BaseException:  # the generator is closed or its task cancelled: nobody listens
        gate.finish(said or Ending.cancelled())
        raise
    else:
        for event in gate.finish(said or ending or Ending.completed(notes=(UNATTESTED,))).events:
            yield event
    finally:
        await _aclose(iterator, pieces)


def read_answer(
    stream: Any,
    provider: Provider | str,
    gate: SentenceGate,
    *,
    limits: Limits = DEFAULT_LIMITS,
    errors: Errors = "replace",
    reasoning: ReasoningFilter | None = None,
    carries_reason: bool = True,
    library: str | None = None,
    on_delta: Callable[[Delta], object] | None = None,
) -> Generator[Event, None, None]:
    """The events of an answer, `Done` last, from what a provider sends; its report holds the `Ending`, with usage, evidence and notes.

    `stream` is an iterable of bytes, of payloads (mappings, the SDK's own events) or of Server-Sent Events, or a response with
    `iter_bytes()`; `provider` a module of `sentence_gate.providers` or its name. `errors="strict"` makes bytes that are no UTF-8 an error,
    `reasoning` replaces the filter of reasoning tags, `carries_reason=False` is for a channel that can't say why it ended, `library` is
    kept in the ending's notes, `on_delta` is told what every payload says before its text is judged: text that may be withheld, tool calls.

    The upstream is closed at the stop, before the stop is handed out; when the protocol is closed; and on every other way out. An exception
    of the upstream, or a StreamError of ours (a limit, a payload that is none), ends the answer with its events and is raised again, unless
    the turn had ended before and only the transport broke. A reader who leaves ends it as cancelled.
    """
    _checked(gate)
    reader = Reader(
        load(provider) if isinstance(provider, str) else provider,
        limits=limits,
        errors=errors,
        reasoning=reasoning,
        carries_reason=carries_reason,
        library=library,
        on_delta=on_delta,
    )
    source, deadlines = _opened(stream, "iter_bytes"), Deadlines(limits)
    iterator = iter(source)
    try:
        for item in deadlines.each(iterator):
            for text in reader.feed(item):
                outcome = gate.feed(text)
                if outcome.stopped:
                    _close(iterator, source, stream)
                yield from outcome.events
                if outcome.stopped:
                    break
            if gate.stopped or reader.over:
                _close(iterator, source, stream)
                break
            if reader.tracker.ended:
                deadlines.turn_ended()
        if not gate.stopped:
            for text in reader.finish():
                yield from gate.feed(text).events
        yield from gate.finish(reader.ending("closed_by_us" if gate.stopped else "clean_eof")).events
    except GeneratorExit:
        _left(gate, reader)
        raise
    except Exception as error:
        if gate.report.ending is not None:  # it was finished: the exception is the reader's own
            raise
        ending, news = reader.broken(error)
        _close(iterator, source, stream)
        yield from gate.finish(ending).events
        if news:
            raise
    finally:
        _close(iterator, source, stream)


async def aread_answer(
    stream: Any,
    provider: Provider | str,
    gate: SentenceGate,
    *,
    limits: Limits = DEFAULT_LIMITS,
    errors: Errors = "replace",
    reasoning: ReasoningFilter | None = None,
    carries_reason: bool = True,
    library: str | None = None,
    on_delta: Callable[[Delta], object] | None = None,
) -> AsyncGenerator[Event, None]:
    """`read_answer` for an asynchronous stream (or a response with `aiter_bytes()`); a cancelled task counts as a reader who left.

    The time limits interrupt a wait that is too long.
    """
    _checked(gate)
    reader = Reader(
        load(provider) if isinstance(provider, str) else provider,
        limits=limits,
        errors=errors,
        reasoning=reasoning,
        carries_reason=carries_reason,
        library=library,
        on_delta=on_delta,
    )
    source, deadlines = _opened(stream, "aiter_bytes"), Deadlines(limits)
    iterator = aiter(source)
    try:
        while True:
            try:
                item = await deadlines.arrives(iterator)
            except StopAsyncIteration:
                break
            for text in reader.feed(item):
                outcome = gate.feed(text)
                if outcome.stopped:
                    await _aclose(iterator, source, stream)
                for event in outcome.events:
                    yield event
                if outcome.stopped:
                    break
            if gate.stopped or reader.over:
                await _aclose(iterator, source, stream)
                break
            if reader.tracker.ended:
                deadlines.turn_ended()
        if not gate.stopped:
            for text in reader.finish():
                for event in gate.feed(text).events:
                    yield event
        for event in gate.finish(reader.ending("closed_by_us" if gate.stopped else "clean_eof")).events:
            yield event
    except Exception as error:
        if gate.report.ending is not None:
            raise
        ending, news = reader.broken(error)
        await _aclose(iterator, source, stream)
        for event in gate.finish(ending).events:
            yield event
        if news:
            raise
    except BaseException:  # the generator is closed or its task cancelled: nobody listens
        _left(gate, reader)
        raise
    finally:
        await _aclose(iterator, source, stream)


def _checked(gate: object) -> None:
    if not callable(getattr(gate, "feed", None)):
        raise UsageError(f"gate is a SentenceGate, made with the sources of this answer, not {type(gate).__name__}")


def _opened(stream: Any, bytes_of_response: str) -> Any:
    """The iterable in a stream: a response's bytes, else the stream itself."""
    opened = getattr(stream, bytes_of_response, None)
    return opened() if callable(opened) else stream


def _left(gate: SentenceGate, reader: Reader) -> None:
    if gate.report.ending is None:
        gate.finish(reader.ending("closed_by_us"))


def _broken(error: Exception) -> Ending:
    return Ending.provider_error(transport=type(error).__name__)


def _close(*upstream: Any) -> None:
    for one in upstream:
        if callable(close := getattr(one, "close", None)):
            with suppress(Exception):
                close()


async def _aclose(*upstream: Any) -> None:
    for one in upstream:
        close = getattr(one, "aclose", None) or getattr(one, "close", None)
        if callable(close):
            with suppress(Exception):
                if hasattr(result := close(), "__await__"):
                    await result
