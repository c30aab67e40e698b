"""To the reader: an ASGI endpoint that answers a question with Server-Sent Events, each sentence as it is released.

    POST {"question": "…", "language": "en", "history": [{"role": "user", "content": "…"}, …]}

    event      data                                       when
    ---------  -----------------------------------------  ----------------------------------------------------------------
    sentence   text, cites                                a sentence passed (also white space between two, without cites)
    omitted    -                                          a sentence was left out (on_violation="omit")
    guard      checks, notice                             the gate stopped; the rest is withheld
    truncated  notice                                     the output limit was met
    refused    notice                                     the sources don't hold the answer, or the model refused
    empty      notice                                     the answer was accepted and nothing was released
    error      notice                                     anything failed inside the open stream, whose status is 200 by then
    done       status, cited, usage, ending               always last

What can be told before the stream is open has its own status: 400, 405, 408, 413, 415, and 503 when as many streams are open as allowed.
The stream goes out through sse-starlette: a comment as ping, a send timeout for a reader who stalls, the headers that keep proxies from
buffering. The answer is made in a task of its own, so that a reader who leaves cancels it once, its provider is closed in peace, and
`on_done` is told what was used, shielded from every cancellation, exactly once for every answer that was begun.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import UsageError, without
from ..events import Done, Empty, Ending, Event, Failed, Omitted, Refused, Released, Report, Stopped, Truncated
from ..gate import SentenceGate
from ..policy import Policy, notice
from ..sources import Source

try:
    import anyio
    from sse_starlette.event import ServerSentEvent
    from sse_starlette.sse import EventSourceResponse
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.types import Receive, Scope, Send
except ModuleNotFoundError as error:
    raise without("server", error) from None

_LOG = logging.getLogger(__name__)
_HEADERS = {"Cache-Control": "no-cache, no-store, no-transform", "X-Content-Type-Options": "nosniff"}  # X-Accel-Buffering: sse-starlette's
_FIELDS = ("question", "language", "history")
_ROLES = ("user", "assistant")

_Queue = asyncio.Queue[Event | None]


@dataclass(frozen=True, slots=True)
class Question:
    """What a reader asked.

    `policy` is the endpoint's, in the language asked for; `history` are messages with role and content, oldest first.
    """

    text: str = field(repr=False)
    policy: Policy
    history: tuple[Mapping[str, str], ...] = field(default=(), repr=False)

    @property
    def language(self) -> str:
        """The BCP 47 tag of the language that the answer is asked for in."""
        return self.policy.language


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that is about to be streamed: its gate and its events, such as `aread_answer(stream, provider, gate)`; Done is the last."""

    gate: SentenceGate
    events: AsyncIterator[Event]


def refused(gate: SentenceGate, reason: str = "out_of_scope") -> Answer:
    """The answer to a question that is refused before any model is asked: the same fixed text as a refusal for lack of sources."""

    async def events() -> AsyncIterator[Event]:
        for event in gate.finish(Ending.refused(reason, evidence="before the model")).events:
            yield event

    return Answer(gate, events())


class AnswerEndpoint:
    """The ASGI endpoint: `Route("/answer", AnswerEndpoint(answer))`, or an application by itself.

    `answer` takes a `Question` and gives an `Answer`: it retrieves the sources, opens the model's stream and returns at once. What it
    raises is an `error` event; the log gets the exception's type, never a text. `policy` is the policy in every field but the language.
    `on_done(question, report)` is awaited, or called in a thread if it is no coroutine function, when an answer has ended in whatever way:
    the place to write usage; the report is None if there was no gate yet. Bounds: `max_body` bytes, `body_seconds` to send it,
    `max_streams` open at once in this process, `send_seconds` for one event to be taken by the reader, `ping_seconds` between pings.
    """

    def __init__(
        self,
        answer: Callable[[Question], Awaitable[Answer]],
        *,
        policy: Policy | None = None,
        on_done: Callable[[Question, Report | None], Any] | None = None,
        max_body: int = 64 * 1024,
        body_seconds: float = 10.0,
        max_streams: int = 200,
        send_seconds: float = 10.0,
        ping_seconds: float = 15.0,
    ) -> None:
        if not callable(answer):
            raise UsageError("answer is a coroutine function from a Question to an Answer")
        bounds = {"max_body": max_body, "body_seconds": body_seconds, "max_streams": max_streams, "send_seconds": send_seconds}
        for name, value in bounds.items():
            if not value > 0:
                raise UsageError(f"{name} is a positive number, not {value!r}")
        if not 0 < ping_seconds <= 15:
            raise UsageError(f"ping_seconds is above 0 and at most 15 (proxies close what is silent for longer), not {ping_seconds!r}")
        self._answer, self._policy, self._on_done = answer, policy or Policy(), on_done
        self._max_body, self._body_seconds, self._max_streams = max_body, body_seconds, max_streams
        self._send_seconds, self._ping_seconds = send_seconds, ping_seconds
        self.open = 0
        """How many streams are open now."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            raise UsageError(f"the endpoint speaks HTTP, not {scope['type']}")
        request = Request(scope, receive)
        try:
            question = await self._question(request)
        except ClientDisconnect:
            return
        if isinstance(question, Response):
            await question(scope, receive, send)
            return
        if self.open >= self._max_streams:
            busy = _problem(503, f"{self._max_streams} answers are being written; ask again in a moment", {"Retry-After": "2"})
            await busy(scope, receive, send)
            return
        self.open += 1
        try:
            await (await self._response(question))(scope, receive, send)
        except* TimeoutError:
            _LOG.info("a reader took nothing for %s s: its stream was closed", self._send_seconds)
        finally:
            self.open -= 1

    async def _response(self, question: Question) -> Response:
        return EventSourceResponse(
            self._stream(question), headers=_HEADERS, ping=self._ping_seconds, send_timeout=self._send_seconds, sep="\n"
        )

    # ------------------------------------------------------------------------------------------------ the request

    async def _question(self, request: Request) -> Question | Response:
        if request.method != "POST":
            return _problem(405, "ask with POST", {"Allow": "POST"})
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return _problem(415, "the body is application/json")
        body = b""
        with anyio.move_on_after(self._body_seconds) as waiting:
            async for part in request.stream():
                body += part
                if len(body) > self._max_body:
                    return _problem(413, f"the body is larger than {self._max_body} bytes", {"Connection": "close"})
        if waiting.cancelled_caught:
            return _problem(408, f"the body did not come within {self._body_seconds} s", {"Connection": "close"})
        try:
            return self._read(json.loads(body))
        except UsageError as error:
            return _problem(400, str(error))
        except (ValueError, RecursionError):
            return _problem(400, "the body is no JSON")

    def _read(self, asked: Any) -> Question:
        if not isinstance(asked, dict):
            raise UsageError("the body is a JSON object")
        if unknown := sorted(asked.keys() - set(_FIELDS)):
            raise UsageError(f"unknown field {unknown[0][:40]!r}; the fields are {', '.join(_FIELDS)}")
        text, history = asked.get("question"), asked.get("history", [])
        if not isinstance(text, str) or not text.strip():
            raise UsageError("question is a text that is not empty")
        if not isinstance(history, list) or not all(map(_is_message, history)):
            raise UsageError(f"history is a list of objects with a role ({' or '.join(_ROLES)}) and a text as content")
        language = asked.get("language", self._policy.language)
        if not isinstance(language, str):
            raise UsageError("language is a BCP 47 tag")
        messages = tuple({"role": message["role"], "content": message["content"]} for message in history)
        return Question(text, replace(self._policy, language=language), messages)

    # ------------------------------------------------------------------------------------------------ the stream

    async def _stream(self, question: Question) -> AsyncGenerator[ServerSentEvent, None]:
        failed = Failed(notice(question.policy, "failed"))
        events = answered(lambda: self._answer(question), failed, lambda answer: self._tell(question, answer))
        async with aclosing(events):
            async for event, answer in events:
                yield _sse(event, answer)

    async def _tell(self, question: Question, answer: Answer | None) -> None:
        if self._on_done is None:
            return
        report = answer.gate.report if answer else None
        try:
            if asyncio.iscoroutinefunction(self._on_done):
                await self._on_done(question, report)
            else:
                await asyncio.to_thread(self._on_done, question, report)
        except Exception as error:
            _LOG.error("on_done failed: %s", type(error).__name__)  # no traceback: it may quote the answer


class TurnEndpoint(AnswerEndpoint):
    """The same question, answered by one JSON body: the final object of a turn (`sentence_gate.turns`), whatever its own status says.

    `ask` takes a `Question` and gives the Turn; a function that is no coroutine function is called in a thread. What it raises is a 500
    without a text of it. The bounds are AnswerEndpoint's.
    """

    def __init__(self, ask: Callable[[Question], Any], *, policy: Policy | None = None, **bounds: Any) -> None:
        if not callable(ask):
            raise UsageError("ask is a function from a Question to a Turn")
        super().__init__(ask, policy=policy, **bounds)
        self._ask: Callable[[Question], Any] = ask

    async def _response(self, question: Question) -> Response:
        try:
            if asyncio.iscoroutinefunction(self._ask):
                turn = await self._ask(question)
            else:
                turn = await asyncio.to_thread(self._ask, question)
            return Response(turn.final.json, media_type="application/json", headers=_HEADERS)
        except Exception as error:
            _LOG.error("the turn failed: %s", type(error).__name__)  # no traceback: it may quote the answer
            return _problem(500, "the turn failed")


async def answered(
    opening: Callable[[], Awaitable[Answer]], failed: Event, tell: Callable[[Answer | None], Awaitable[None]]
) -> AsyncGenerator[tuple[Event, Answer | None], None]:
    """The events of an answer that is made in a task of its own; Done is the last, whatever happens.

    When this generator is closed or cancelled the task is cancelled once, and has all the time it needs to close its provider. `tell` is
    awaited when all is over, shielded from cancellation, once. `failed` is the event for an answer that could not be opened.
    """
    queue: _Queue = asyncio.Queue(1)
    answer: list[Answer] = []
    task = asyncio.create_task(_produce(opening, answer, queue, failed))
    try:
        while (event := await queue.get()) is not None:
            yield event, answer[0] if answer else None
    finally:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
            await tell(answer[0] if answer else None)


async def _produce(opening: Callable[[], Awaitable[Answer]], answer: list[Answer], queue: _Queue, failed: Event) -> None:
    last: Event | None = None
    try:
        opened = await opening()
        if not isinstance(opened, Answer):
            raise UsageError(f"answer gives an Answer, not {type(opened).__name__}")
        answer.append(opened)
        events = opened.events
        try:
            async for last in events:
                await queue.put(last)
        finally:
            if close := getattr(events, "aclose", None):
                await close()
    except (Exception, asyncio.CancelledError) as error:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise  # the reader left; else something inside was cancelled, and the reader waits
        _LOG.error("an answer failed: %s", type(error).__name__)  # no traceback: it may quote the answer
    if not isinstance(last, Done):
        for event in _end(answer, failed):
            await queue.put(event)
    await queue.put(None)


def _end(answer: list[Answer], failed: Event) -> list[Event]:
    """The events of an answer whose own came to nothing before Done."""
    if answer and answer[0].gate.report.ending is None:
        return list(answer[0].gate.finish(Ending.provider_error()).events)
    told = answer[0].gate.report if answer else Report("failed", "", 0, (), 0, (), None, None, None)
    return [failed, Done(told)]


def _sse(event: Event, answer: Answer | None) -> ServerSentEvent:
    match event:
        case Released(text, cites):
            return _event("sentence", {"text": text, "cites": cites})
        case Omitted():
            return _event("omitted", {})
        case Stopped(checks, told):
            return _event("guard", {"checks": checks, "notice": told})
        case Truncated(told):
            return _event("truncated", {"notice": told})
        case Refused(told):
            return _event("refused", {"notice": told})
        case Empty(told):
            return _event("empty", {"notice": told})
        case Failed(told):
            return _event("error", {"notice": told})
        case Done(report):
            sources = list(answer.gate.sources) if answer else []
            return _event(
                "done",
                {
                    "status": report.status,
                    "cited": [_cited(number, sources[number - 1]) for number in report.cited],
                    "usage": report.usage.to_dict() if report.usage else None,
                    "ending": report.ending.kind if report.ending else None,
                },
            )


def _cited(number: int, source: Source) -> dict[str, Any]:
    return {"number": number, "id": source.id, "title": source.title, "url": source.url}


def _event(name: str, data: dict[str, Any]) -> ServerSentEvent:
    text = json.dumps(data, ensure_ascii=False)
    if any("\ud800" <= char <= "\udfff" for char in text):  # half a character, in a mode that lets it pass
        text = json.dumps(data)
    return ServerSentEvent(text, event=name, sep="\n")


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") in _ROLES and isinstance(message.get("content"), str)


def _problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": detail}, status, headers={"Cache-Control": "no-store", **(headers or {})})
