"""The two loops: pieces in, events out, upstream closed. No decision is made here.

An `Ending` among the pieces says how the provider ended; without one the channel can't carry a reason, and the stream counts as
completed, unattested. The upstream is closed at the stop, before the stop is handed out, and on every other way out: the reader leaves,
the pieces raise.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any

from .endings import UNATTESTED
from .events import Ending, Event
from .gate import SentenceGate


def gate_stream(pieces: Iterable[str | Ending], gate: SentenceGate, *, ending: Ending | None = None) -> Iterator[Event]:
    """The events of a stream of pieces, `Done` last.

    `ending` is used if the pieces hold none. An exception of `pieces` ends the answer as provider_error (as the Ending handed over before
    it, if there was one), with its events, and is raised again. A reader who leaves closes `pieces` and ends the answer as cancelled.
    """
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


def _broken(error: Exception) -> Ending:
    return Ending.provider_error(transport=type(error).__name__)


def _close(*upstream: Any) -> None:
    for one in upstream:
        if callable(close := getattr(one, "close", None)):
            close()


async def _aclose(*upstream: Any) -> None:
    for one in upstream:
        close = getattr(one, "aclose", None) or getattr(one, "close", None)
        if callable(close) and hasattr(result := close(), "__await__"):
            await result
