"""The handshake between the wrapped model and the validator, over Guardrails' stream of chunks.

Guardrails hands a validator neither the end of a stream nor a stream's identity, and shows raw chunks beside the validation. So the gate
runs before Guardrails sees any text, and what travels through it are chunks that carry their stream:

    begin   an empty chunk. The validator binds sources and policy to the stream; only then is the model called
    text    one released piece each
    end     an empty chunk, after the upstream was closed. The validator answers with the verdict

Each chunk is acknowledged by the validator before the next one is handed out. If it isn't, there is no SentenceGate on this text (begin),
or another validator ended the stream (text). Nothing is kept on the validator or on the wrapped callable: a stream's state is the stream's.

Who holds what. `Guard.history` keeps the object that a callable returned, for ten calls. So `Stream` holds the running generator weakly:
the runner's frame holds it, and in an asynchronous guard the context that the runner makes for each stream. When the reader leaves, these
go, the generator is closed, and with it the upstream.
"""

from __future__ import annotations

import contextlib
import contextvars
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from typing import Any, Literal

from sentence_gate import Done, Ending, Released, Report, UsageError, agate_stream, gate_stream

from .answer import Opening, apieces, pieces
from .binding import Binding, GateNotBound

Kind = Literal["begin", "text", "end", "notice"]

KEPT: contextvars.ContextVar[Any] = contextvars.ContextVar("sentence_gate_stream")
"""Set in the context that an asynchronous runner makes for one stream; holds the running generator."""


class Chunk(str):
    """A piece of checked text, or a mark, that knows its stream. Always true: Guardrails drops chunks that aren't."""

    __slots__ = ("kind", "stream")

    def __new__(cls, text: str, kind: Kind, stream: Stream) -> Chunk:
        """The text as a chunk of this stream."""
        chunk = super().__new__(cls, text)
        chunk.kind, chunk.stream = kind, stream
        return chunk

    kind: Kind
    stream: Stream

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str.__str__(self),)  # a copy is plain text


class Stream:
    """What a gated callable returns for a stream: an iterator, an asynchronous iterator, and a result that can be awaited.

    False, so that serialising `Guard.history` in the middle of a stream doesn't read it to its end.
    """

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._running: Any = None  # a weak reference to the generator, or the generator until something else holds it
        self.binding: Binding | None = None
        self.owner: Any = None  # the validator
        self.chunk: Chunk | None = None  # the last one handed out
        self.acknowledged = False
        self.report: Report | None = None

    # ------------------------------------------------------------------------------------------------ the validator's side

    def bind(self, binding: Binding, owner: Any) -> None:
        """Answers the begin mark. Raises UsageError if another validator did."""
        if self.binding is not None:
            raise UsageError("a guard takes one SentenceGate for its text; this one has two")
        self.binding, self.owner, self.acknowledged = binding, owner, True

    def acknowledge(self) -> Chunk | None:
        """Says that the validator has seen the last chunk, and gives it."""
        self.acknowledged = True
        return self.chunk

    def keep_in(self, context: contextvars.Context) -> None:
        """Lets the context hold the running generator, which then goes when the context does."""
        if isinstance(self._running, AsyncGenerator):
            context.run(KEPT.set, self._running)
            self._running = weakref.ref(self._running)

    # ------------------------------------------------------------------------------------------------ the guard's side

    def __bool__(self) -> bool:
        if self.chunk is not None and not self.acknowledged:
            self.close()  # asked at the end of a traced stream: another validator raised
        return False

    def __iter__(self) -> Iterator[str]:
        if self._running is not None:
            raise UsageError("this stream was read before")
        running = self._run()
        self._running = weakref.ref(running)
        return running

    def __next__(self) -> str:
        raise UsageError("a gated stream is iterated over")  # here because Guardrails asks for an Iterator

    def __await__(self) -> Generator[Any, None, Stream]:
        return self
        yield

    @property
    def completion_stream(self) -> Stream:
        """Where an asynchronous guard looks for the stream."""
        return self

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        if self._running is None:
            self._running = self._arun()
        running = self._running() if isinstance(self._running, weakref.ref) else self._running
        if running is None:
            raise StopAsyncIteration
        return await anext(running)

    def close(self) -> None:
        """Closes a synchronous stream and its upstream, if it runs."""
        running = self._running() if isinstance(self._running, weakref.ref) else None
        if isinstance(running, Generator):
            with contextlib.suppress(ValueError):  # it runs in this moment, in another thread
                running.close()

    async def aclose(self) -> None:
        """Closes an asynchronous stream and its upstream, if it runs."""
        running = self._running() if isinstance(self._running, weakref.ref) else self._running
        if isinstance(running, AsyncGenerator):
            with contextlib.suppress(RuntimeError):
                await running.aclose()

    # ------------------------------------------------------------------------------------------------ the chunks

    def _hand(self, text: str, kind: Kind) -> Chunk:
        self.chunk, self.acknowledged = Chunk(text, kind, self), False
        return self.chunk

    def _bound(self) -> Binding:
        if self.binding is None:
            raise GateNotBound(
                "no SentenceGate took this stream, so the model was not called: the guard needs one on its text, "
                "Guard().use(SentenceGate()); the fields of a structured answer are gated in a stream by GatedGuard only"
            )
        return self.binding

    def _run(self) -> Generator[str, None, None]:
        yield self._hand("", "begin")
        events = gate_stream(pieces(self._opening), self._bound().gate())
        try:
            for event in events:
                if isinstance(event, Released):
                    yield self._hand(event.text, "text")
                    if not self.acknowledged:
                        return
                elif isinstance(event, Done):
                    self.report = event.report
        finally:
            events.close()  # type: ignore[attr-defined]
        yield self._hand("", "end")

    async def _arun(self) -> AsyncGenerator[str, None]:
        yield self._hand("", "begin")
        events = agate_stream(apieces(self._opening), self._bound().gate())
        try:
            async for event in events:
                if isinstance(event, Released):
                    yield self._hand(event.text, "text")
                    if not self.acknowledged:
                        return
                elif isinstance(event, Done):
                    self.report = event.report
        finally:
            await events.aclose()  # type: ignore[attr-defined]
        yield self._hand("", "end")


class WholeStream(Stream):
    """A stream of one piece: the answer is read to its end, and `clean` gives what may be seen of it. For structured answers."""

    def __init__(self, opening: Opening, clean: Callable[[str, Ending | None], str]) -> None:
        super().__init__(opening)
        self._clean = clean

    def _run(self) -> Generator[str, None, None]:
        yield self._clean(*_parted(list(pieces(self._opening))))

    async def _arun(self) -> AsyncGenerator[str, None]:
        yield self._clean(*_parted([piece async for piece in apieces(self._opening)]))


def _parted(read: list[str | Ending]) -> tuple[str, Ending | None]:
    endings = [piece for piece in read if isinstance(piece, Ending)]
    return "".join(piece for piece in read if isinstance(piece, str)), endings[-1] if endings else None
