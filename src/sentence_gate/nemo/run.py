"""One gated stream: NeMo's generation as our own task (or a caller's generator) -> pieces -> the gate -> chunks for the reader."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from nemoguardrails.streaming import END_OF_STREAM, StreamingHandler

from ..endings import UNATTESTED
from ..events import Empty, Ending, Event, Failed, Refused, Released, Stopped, Truncated
from ..providers import ReasoningFilter
from ..streams import agate_stream
from . import session as sessions
from .results import content_of
from .session import FLOW, Session, aclose

if TYPE_CHECKING:
    from ..contract import ContractGate


class Run:
    """The stream of one request. `chunks` is what the reader gets; `result` NeMo's own result, once the generation has ended by itself."""

    def __init__(self, session: Session, canned: Callable[[str], bool]) -> None:
        self.session = session
        self.result: Any = None
        self.shown: list[str] = []  # notices included
        self._canned = canned
        self._handler: StreamingHandler | None = None
        self._task: asyncio.Task[None] | None = None
        self._source: AsyncIterator[Any] | None = None
        self._error: Exception | None = None
        self._verbatim: str | None = None  # the operator's own text, which is not judged
        self._payload: str | None = None  # NeMo's message about an upstream that failed
        self._notice: str | None = None
        self._stop: str | None = None

    def generate(self, generation: Callable[[StreamingHandler], Coroutine[Any, Any, Any]]) -> None:
        """Starts NeMo's generation in a context of its own, in which the session is found."""
        handler = StreamingHandler()

        async def run() -> None:
            try:
                self.result = await generation(handler)
            except Exception as error:
                self._error = error
            finally:
                await handler.push_chunk(END_OF_STREAM)  # nothing if NeMo has done so

        context = copy_context()
        context.run(sessions.current.set, self.session)
        self._handler, self._source = handler, aiter(handler)
        self._task = asyncio.create_task(run(), context=context)
        self.session.tasks.add(self._task)

    def listen(self, generator: AsyncIterator[Any]) -> None:
        """Takes a caller's generator for the stream."""
        self._source = aiter(generator)
        self.session.streams.append(generator)

    async def chunks(self, beside: Callable[[AsyncIterator[str]], AsyncIterator[Any]] | None = None) -> AsyncGenerator[str, None]:
        """What the reader gets. `beside` is NeMo's loop over the other output rails, if there are any."""
        try:
            async with aclosing(self._gated() if beside is None else self._through(beside)) as texts:
                async for text in texts:
                    yield self._keep(text)
            for last in (self._payload, self._stop):
                if last is not None:
                    await self.session.close()
                    yield last
                    return
            if self._notice is not None:
                yield self._keep(f"\n\n{self._notice}" if any(map(str.strip, self.shown)) else self._notice)
            if self._task is not None and not self.session.closed:
                await asyncio.wait({self._task})  # NeMo keeps the turn for the conversation's history
                self.session.tasks.discard(self._task)
        finally:
            await self.session.close()

    @property
    def text(self) -> str:
        """What the reader has got, the notice of a stop as a paragraph of its own."""
        shown = "".join(self.shown)
        report = self.session.report
        if self._stop is not None and report is not None and report.notice is not None:
            return f"{shown}\n\n{report.notice}" if shown.strip() else report.notice
        return shown

    @property
    def error(self) -> Exception | None:
        """Why NeMo's generation failed, if it did."""
        return self._error

    def _keep(self, text: str) -> str:
        self.shown.append(text)
        return text

    async def _through(self, beside: Callable[[AsyncIterator[str]], AsyncIterator[Any]]) -> AsyncGenerator[str, None]:
        """Released text through NeMo's own loop. What comes out and did not go in is another rail's message: the end."""
        handed: list[str] = []
        taken = 0

        async def hand() -> AsyncGenerator[str, None]:
            async with aclosing(self._gated()) as texts:
                async for text in texts:
                    self.session.released.append(text)
                    handed.append(text)
                    yield text

        gated = hand()
        loop = beside(gated)
        try:
            async for chunk in loop:
                if taken < len(handed) and chunk == handed[taken]:
                    taken += 1
                    yield chunk
                    continue
                self._payload, self._stop = str(chunk), None
                await aclose(gated)
                return
        finally:
            await aclose(loop)
            await aclose(gated)

    async def _gated(self) -> AsyncGenerator[str, None]:
        """Released text, as it is released, and nothing else."""
        first = await self._next()
        if self.session.contract is not None:
            async for text in self._typed(first, self.session.typed_gate(self.session.contract)):
                yield text
            return
        gate = self.session.gate()  # the sources are known by the time the answer begins
        events = agate_stream(self._pieces(first), gate)
        try:
            async for event in events:
                for text in self._text(event):
                    yield text
        finally:
            await aclose(events)
            if self._verbatim is None:
                self.session.tell(gate.report)

    async def _typed(self, first: str | None, gate: ContractGate) -> AsyncGenerator[str, None]:
        """A typed answer, as one chunk of JSON when it is decided; the model is closed when its answer is stopped."""
        ending = Ending.cancelled()
        async with aclosing(self._pieces(first)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Ending):
                    ending = piece
                else:
                    gate.feed(piece)
                if gate.stopped:
                    break
        if self._payload is not None:
            return
        if self._verbatim is not None:
            yield self._verbatim
            return
        final = gate.finish(ending)
        if final.report is not None:
            self.session.tell(final.report)
        yield final.json

    def _text(self, event: Event) -> list[str]:
        match event:
            case Released(text=text):
                return _unlike_a_payload(text)
            case Stopped(notice=notice):
                self._stop = block(notice)
            case Empty() if self._verbatim is not None:
                return [self._verbatim]
            case Refused(notice=notice) | Truncated(notice=notice) | Failed(notice=notice) | Empty(notice=notice):
                self._notice = notice
            case _:
                pass
        return []

    async def _pieces(self, first: str | None) -> AsyncGenerator[str | Ending, None]:
        """The answer's text without reasoning, and its ending. Closes everything on every way out but the stream's own end."""
        thoughts = ReasoningFilter()
        ended = False
        piece, held, begun = first, "", False
        try:
            while piece is not None:
                if held:  # more has come, so it was text
                    yield thoughts.feed(held)
                    held, begun = "", True
                if self._task is not None and (is_payload(piece) or (not begun and self._canned(piece))):
                    held = piece
                elif piece:
                    begun = True
                    yield thoughts.feed(piece)
                piece = await self._next()
            if held and is_payload(held) and self._task is not None:
                await asyncio.wait({self._task})
            if self._error is not None:
                ended = True
                self._payload = held if is_payload(held) else failure(self._error)
                yield Ending.provider_error(type(self._error).__name__)
                return
            if held and self._canned(held):
                self._verbatim = held
            elif held:
                yield thoughts.feed(held)
            elif not begun:
                async for text in self._unstreamed():
                    yield thoughts.feed(text)
            yield thoughts.finish()
            ended = True
            yield self._ending()
        finally:
            if not ended:
                await self.session.close()

    async def _unstreamed(self) -> AsyncGenerator[str, None]:
        """An answer that NeMo returned without streaming it (Colang 2.x: what a flow lets the bot say)."""
        if self._task is None:
            return
        await asyncio.wait({self._task})
        text = content_of(self.result)
        if self._error is not None or not text:
            return
        if self._canned(text) or any(text == shown for _, shown in self.session.judged):
            self._verbatim = text
        else:
            yield text

    async def _next(self) -> str | None:
        """The next text; None at the end."""
        if self._source is None:
            return None
        async for chunk in self._source:
            text = chunk.get("text") if isinstance(chunk, Mapping) else chunk
            if isinstance(text, str) and text:
                return text
        return None

    def _ending(self) -> Ending:
        """How the call that was streamed ended. An intent's call isn't streamed; what an action says, no call has streamed."""
        streamed = [call for call in self.session.calls if call.streamed]
        return streamed[-1].ending() if streamed and self._verbatim is None else Ending.completed(notes=(UNATTESTED,))


def block(message: str) -> str:
    """NeMo's own form of a block."""
    return json.dumps({"error": {"message": message, "type": "guardrails_violation", "param": FLOW, "code": "content_blocked"}})


def failure(error: Exception) -> str:
    """NeMo's own form of a generation that failed, where NeMo made none. It names the error's type only."""
    told = {"message": type(error).__name__, "type": "generation_error", "param": None, "code": "generation_failed"}
    return json.dumps({"error": told})


def is_payload(text: str) -> bool:
    """Whether a chunk has the form of NeMo's messages about blocks and failures."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and "error" in told


def _unlike_a_payload(text: str) -> list[str]:
    """Released text as chunks of which none can be taken for a message of NeMo's."""
    start = len(text) - len(text.lstrip())
    return [text[: start + 1], text[start + 1 :]] if is_payload(text) else [text]
