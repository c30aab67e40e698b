"""The endpoint on a real server: events in order and at once, limits with clear answers, and nothing left behind when a reader leaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import pytest
import uvicorn
from recorded import PIECES, SOURCES, chat, said

from sentence_gate import Policy, SentenceGate, Source, UsageError
from sentence_gate.contract import AnswerContract
from sentence_gate.events import Report
from sentence_gate.policy import notice
from sentence_gate.server import Answer, AnswerEndpoint, Question, TurnEndpoint, refused
from sentence_gate.streams import agate_stream, aread_answer
from sentence_gate.turns import Turn, run_turn

GOOD = [*map(said, PIECES), {**chat(finish_reason="stop"), "usage": {"prompt_tokens": 11, "completion_tokens": 22}}]
CANARY = "8675309"
BAD = [said("It opens at eight [S1]. "), said(f"Call {CANARY} for a locker [S1]. And "), *[said("more ")] * 50]


class Upstream:
    """A model's stream that waits between payloads and remembers what became of it."""

    def __init__(self, payloads: list[Any], *, step: float = 0.0, stall: bool = False) -> None:
        self.payloads, self.step, self.stall = payloads, step, stall
        self.sent, self.closed = 0, threading.Event()
        self.closing = False

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            for payload in self.payloads:
                await asyncio.sleep(self.step)
                self.sent += 1
                yield payload
            if self.stall:
                await asyncio.sleep(3600)
        finally:
            self.closing = True
            await asyncio.sleep(0.01)  # closing takes a round trip
            self.closed.set()


class Assistant:
    """The application behind the endpoint, and what it was told."""

    def __init__(self, payloads: list[Any] = GOOD, sources: Any = SOURCES, **more: Any) -> None:
        self.make: Callable[[], Upstream] = lambda: Upstream(payloads, **more)
        self.sources = sources
        self.upstreams: list[Upstream] = []
        self.asked: list[Question] = []
        self.done: list[Report | None] = []
        self.told = threading.Event()

    async def answer(self, question: Question) -> Answer:
        self.asked.append(question)
        self.upstreams.append(self.make())
        gate = SentenceGate(self.sources, question.policy, question=question.text)
        return Answer(gate, aread_answer(self.upstreams[-1], "openai_chat", gate))

    async def on_done(self, question: Question, report: Report | None) -> None:
        await asyncio.sleep(0.02)  # a row is written
        self.done.append(report)
        self.told.set()


class Running:
    """An ASGI application on uvicorn, on loopback, in a thread of its own."""

    def __init__(self, app: Any) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1))
        self.loop: asyncio.AbstractEventLoop | None = None
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.005)

    def _run(self) -> None:
        async def main() -> None:
            self.loop = asyncio.get_running_loop()
            await self.server.serve(sockets=[self.socket])

        asyncio.run(main())

    def tasks(self) -> int:
        """How many tasks the server's loop has that are at work for a stream."""

        async def count() -> int:
            names = [str(task.get_coro()) for task in asyncio.all_tasks()]
            return sum("AnswerEndpoint" in name or "EventSource" in name for name in names)

        assert self.loop is not None
        return asyncio.run_coroutine_threadsafe(count(), self.loop).result(5)

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join(10)
        self.socket.close()


@contextlib.contextmanager
def running(assistant: Any, **more: Any) -> Iterator[Running]:
    more.setdefault("on_done", getattr(assistant, "on_done", None))
    endpoint = AnswerEndpoint(assistant.answer if isinstance(assistant, Assistant) else assistant, **more)
    server = Running(endpoint)
    try:
        yield server
        eventually(lambda: server.tasks() == 0 and endpoint.open == 0)
    finally:
        server.close()


def eventually(true: Callable[[], bool], seconds: float = 5.0) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.01)


def ask(server: Running, **more: Any) -> list[tuple[str, dict[str, Any]]]:
    """The events of an answer."""
    body = {"question": "When does it open?", **more}
    with httpx2.Client(timeout=20) as client, client.stream("POST", server.url, json=body) as response:
        assert response.status_code == 200
        response.encoding = "utf-8-sig"
        return [(event.event, json.loads(event.data)) for event in httpx2.EventSource(response)]


# ---------- what comes out ----------


def test_an_answer_as_events() -> None:
    assistant = Assistant(sources=[Source(SOURCES[0], id="leaflet", title="The pool", url="https://pool.example/"), SOURCES[1]])
    with running(assistant) as server:
        events = ask(server, language="en-GB", history=[{"role": "user", "content": "Hello"}])
        assert events == [
            ("sentence", {"text": "It opens at eight.", "cites": [1]}),
            ("sentence", {"text": " The café ☕ closes at six.", "cites": [2]}),
            ("sentence", {"text": " Bring a towel.", "cites": []}),
            (
                "done",
                {
                    "status": "accepted",
                    "cited": [
                        {"number": 1, "id": "leaflet", "title": "The pool", "url": "https://pool.example/"},
                        {"number": 2, "id": None, "title": None, "url": None},
                    ],
                    "usage": {"input_tokens": 11, "output_tokens": 22, "reasoning_tokens": None, "kind": "reported"},
                    "ending": "completed",
                },
            ),
        ]
        (question,) = assistant.asked
        assert (question.text, question.language, question.history) == (
            "When does it open?",
            "en-GB",
            ({"role": "user", "content": "Hello"},),
        )
    assert len(assistant.done) == 1
    report = assistant.done[0]
    assert report is not None
    assert report.status == "accepted"


def test_headers_and_pings() -> None:
    with running(Assistant(GOOD, step=0.15), ping_seconds=0.1) as server, httpx2.Client() as client:
        with client.stream("POST", server.url, json={"question": "?"}) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            assert response.headers["x-accel-buffering"] == "no"
            assert response.headers["cache-control"] == "no-cache, no-store, no-transform"
            body = response.read().decode()
        assert body.count(": ping") >= 3


def test_each_sentence_arrives_when_it_is_released() -> None:
    with running(Assistant(GOOD, step=0.2)) as server, httpx2.Client() as client:
        start, at = time.monotonic(), {}
        with client.stream("POST", server.url, json={"question": "?"}) as response:
            for event in httpx2.EventSource(response):
                at[event.event + event.data[:24]] = time.monotonic() - start
        times = list(at.values())
        assert len(times) == 4
        assert times[1] - times[0] > 0.15
        assert times[0] < 0.9


@pytest.mark.parametrize(
    ("payloads", "name", "status"),
    [
        (BAD, "guard", "stopped"),
        ([*map(said, PIECES), chat(finish_reason="length")], "truncated", "truncated"),
        ([said("NO_ANSWER"), said(" more")], "refused", "refused"),
        ([chat(delta={"refusal": "No."}), chat(finish_reason="stop")], "refused", "refused"),
        ([chat(finish_reason="stop")], "empty", "empty"),
        ([*map(said, PIECES)], "error", "failed"),
        ([said("It opens"), {"error": {"code": "overloaded"}}], "error", "failed"),
        ([said("It opens at eight [S1]. Then"), "rubbish"], "error", "failed"),
    ],
)
def test_how_an_answer_ends(payloads: list[Any], name: str, status: str) -> None:
    assistant = Assistant(payloads)
    with running(assistant) as server:
        events = ask(server, language="de")
        assert [event for event, _ in events if event != "sentence"] == [name, "done"]
        told = dict(events)[name]
        assert told["notice"] == notice(Policy(language="de"), {"guard": "stopped", "error": "failed"}.get(name, name))
        assert events[-1][1]["status"] == status
        if name == "guard":
            assert told["checks"] == ["unsupported_value"]
        assert assistant.upstreams[0].closed.wait(1)
    assert len(assistant.done) == 1


def test_the_withheld_value_is_in_no_byte_on_the_wire() -> None:
    assistant = Assistant(BAD)
    with running(assistant) as server, httpx2.Client() as client:
        body = client.post(server.url, json={"question": "?"}).content
        assert b"guard" in body
        assert CANARY.encode() not in body
        assert assistant.upstreams[0].sent == 2


def test_a_sentence_that_was_left_out() -> None:
    payloads = [said(f"Call {CANARY} [S1]. "), said("It opens at eight [S1]."), chat(finish_reason="stop")]
    with running(Assistant(payloads), policy=Policy(on_violation="omit")) as server:
        assert [name for name, _ in ask(server)] == ["omitted", "sentence", "done"]


def test_a_question_that_is_refused_before_the_model() -> None:
    async def answer(question: Question) -> Answer:
        return refused(SentenceGate(SOURCES, question.policy))

    with running(answer) as server:
        events = ask(server, language="fa")
        assert events[0] == ("refused", {"notice": notice(Policy(language="fa"), "refused")})
        assert (events[1][1]["status"], events[1][1]["ending"]) == ("refused", "refused")


class SecretError(Exception):
    pass


@pytest.mark.parametrize("where", ["no answer", "before the gate", "in the stream"])
def test_what_the_application_does_wrong_leaves_no_reader_waiting(where: str) -> None:
    """It forgets to give an answer, or a task that it waits for was cancelled."""

    async def pieces() -> AsyncIterator[str]:
        yield "It opens at eight [S1]. Then "
        raise asyncio.CancelledError

    async def answer(question: Question) -> Answer:
        if where == "before the gate":
            raise asyncio.CancelledError
        gate = SentenceGate(SOURCES, question.policy)
        return Answer(gate, agate_stream(pieces(), gate)) if where == "in the stream" else None  # type: ignore[return-value]

    with running(answer) as server:
        *_, error, done = ask(server)
        assert error == ("error", {"notice": notice(Policy(), "failed")})
        assert done[0] == "done"


@pytest.mark.parametrize("where", ["before the gate", "in the stream", "without done"])
def test_a_failure_inside_the_open_stream(where: str, caplog: pytest.LogCaptureFixture) -> None:
    reports: list[Report | None] = []

    async def pieces() -> AsyncIterator[str]:
        yield "It opens at eight [S1]. Then "
        raise SecretError(CANARY)

    async def answer(question: Question) -> Answer:
        if where == "before the gate":
            raise SecretError(CANARY)
        gate = SentenceGate(SOURCES, question.policy)
        if where == "in the stream":
            return Answer(gate, agate_stream(pieces(), gate))

        async def events() -> AsyncIterator[Any]:
            for event in gate.feed("It opens at eight [S1]. Then ").events:
                yield event

        return Answer(gate, events())

    caplog.set_level(logging.DEBUG)
    with running(answer, on_done=lambda _, report: reports.append(report)) as server:
        names = [name for name, _ in ask(server)]
        assert names == [*(["sentence"] if where != "before the gate" else []), "error", "done"]
    assert len(reports) == 1
    assert (reports[0] is None) is (where == "before the gate")
    assert CANARY not in caplog.text


# ---------- what doesn't come in ----------


@pytest.mark.parametrize(
    ("request_", "status", "told"),
    [
        ({"json": []}, 400, "JSON object"),
        ({"json": {"question": " "}}, 400, "question"),
        ({"json": {"question": 7}}, 400, "question"),
        ({"json": {"question": "?", "prompt": "x"}}, 400, "unknown field 'prompt'"),
        ({"json": {"question": "?", "language": "tlh"}}, 400, "tlh"),
        ({"json": {"question": "?", "language": 7}}, 400, "BCP 47"),
        ({"json": {"question": "?", "history": [{"role": "system", "content": "x"}]}}, 400, "history"),
        ({"json": {"question": "?", "history": "x"}}, 400, "history"),
        ({"content": b"{", "headers": {"content-type": "application/json"}}, 400, "no JSON"),
        ({"content": b"[" * 50_000, "headers": {"content-type": "application/json"}}, 400, "no JSON"),
        ({"content": b"\xff", "headers": {"content-type": "application/json"}}, 400, "no JSON"),
        ({"content": b"question=x", "headers": {"content-type": "application/x-www-form-urlencoded"}}, 415, "application/json"),
        ({"json": {"question": "x" * 70_000}}, 413, "65536 bytes"),
    ],
)
def test_what_is_no_question(request_: dict[str, Any], status: int, told: str) -> None:
    assistant = Assistant()
    with running(assistant) as server, httpx2.Client() as client:
        response = client.post(server.url, **request_)
        assert response.status_code == status
        assert told in response.json()["error"]
    assert assistant.asked == []


def test_other_methods_and_slow_bodies() -> None:
    with running(Assistant(), body_seconds=0.2) as server, httpx2.Client() as client:
        response = client.get(server.url)
        assert (response.status_code, response.headers["allow"]) == (405, "POST")
        with socket.create_connection(("127.0.0.1", server.port)) as slow:
            slow.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")
            assert b" 408 " in slow.recv(100)


def test_too_many_streams_at_once() -> None:
    assistant = Assistant(GOOD, step=0.1)
    with running(assistant, max_streams=2) as server, httpx2.Client() as client, contextlib.ExitStack() as opened:
        for _ in range(2):
            opened.enter_context(client.stream("POST", server.url, json={"question": "?"}))
        response = client.post(server.url, json={"question": "?"})
        assert (response.status_code, response.headers["retry-after"]) == (503, "2")
        opened.close()
        eventually(lambda: client.post(server.url, json={"question": "?"}).status_code == 200)


@pytest.mark.parametrize("wrong", [{"max_streams": 0}, {"ping_seconds": 16}, {"ping_seconds": 0}, {"send_seconds": 0}])
def test_wrong_settings(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        AnswerEndpoint(Assistant().answer, **wrong)


# ---------- readers who leave ----------


@pytest.mark.parametrize("stalls", [False, True], ids=["while text comes", "while the model is silent"])
def test_a_reader_who_leaves_closes_the_model_and_usage_is_written_once(stalls: bool) -> None:
    payloads = BAD[:1] * 500 if not stalls else [*BAD[:1], said("And ")]
    assistant = Assistant(payloads, step=0.02, stall=True)
    with running(assistant) as server:
        with httpx2.Client() as client, client.stream("POST", server.url, json={"question": "?"}) as response:
            next(iter(httpx2.EventSource(response)))
            sent = assistant.upstreams[0].sent
        left = time.monotonic()
        assert assistant.upstreams[0].closed.wait(2)
        assert time.monotonic() - left < 1.0
        assert assistant.upstreams[0].sent - sent < 20
        assert assistant.told.wait(2)
        time.sleep(0.1)
        (report,) = assistant.done
        assert report is not None
        assert (report.status, report.ending and report.ending.kind) == ("cancelled", "cancelled")
        assert report.usage is not None
        assert report.usage.kind == "estimated"


def test_a_reader_who_stops_reading_is_let_go() -> None:
    assistant = Assistant([said("It opens at eight [S1]. " * 4000)] * 200, step=0.01)
    with running(assistant, send_seconds=0.5) as server, socket.socket() as stalled:
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stalled.connect(("127.0.0.1", server.port))
        body = b'{"question": "?"}'
        stalled.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        assert stalled.recv(15) == b"HTTP/1.1 200 OK"
        eventually(lambda: bool(assistant.done), 20)
        assert assistant.upstreams[0].closed.is_set()
        assert assistant.upstreams[0].sent < 200
        assert len(assistant.done) == 1


def test_a_reader_who_leaves_while_the_answer_is_being_opened() -> None:
    opening, cancelled = threading.Event(), threading.Event()

    async def answer(question: Question) -> Answer:
        opening.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError

    reports: list[Report | None] = []
    with running(answer, on_done=lambda _, report: reports.append(report)) as server:
        with httpx2.Client() as client, client.stream("POST", server.url, json={"question": "?"}):
            assert opening.wait(2)
        assert cancelled.wait(2)
        eventually(lambda: reports == [None])


def test_many_streams_at_once_stay_apart() -> None:
    """Each answer is checked against its own source and holds its own number."""

    async def answer(question: Question) -> Answer:
        number = int(question.text)
        gate = SentenceGate([f"Room {number} is free."], question.policy)
        text = f"Room {number} is free [S1]. Room {number} is on the left [S1]. Room {number + 1} is free [S1]. "
        payloads = [said(text[at : at + 5]) for at in range(0, len(text), 5)]
        return Answer(gate, aread_answer(Upstream([*payloads, chat(finish_reason="stop")], step=0.001), "openai_chat", gate))

    async def main(url: str, count: int) -> list[str]:
        async with httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=count)) as client:

            async def one(number: int) -> str:
                response = await client.post(url, json={"question": str(number)})
                return response.text

            return await asyncio.gather(*(one(number) for number in range(1000, 1000 + count)))

    with running(answer, max_streams=500) as server:
        for number, body in enumerate(asyncio.run(main(server.url, 200)), 1000):
            assert body.count("event: sentence") == 2, body
            assert body.count(f"Room {number} ") == 2
            assert "event: guard" in body
            assert str(number + 1) not in body
            assert body.rstrip().splitlines()[-2] == "event: done"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_turn_is_one_json_body(asynchronous: bool) -> None:
    contract = AnswerContract(categories=("hours",))
    value = {"status": "answered", "answer": "It opens at eight [S1].", "category": "hours", "items": [], "missing": [], "sources": []}

    def ask(question: Question) -> Turn:
        def model(messages: Any, tools: Any) -> Iterator[dict[str, Any]]:
            if question.text == "broken?":
                raise ZeroDivisionError(CANARY)
            yield said(json.dumps({**value, "answer": f"Call {CANARY} [S1]."} if question.text == "bad?" else value))
            yield chat(finish_reason="stop")

        if question.text == "raises?":
            raise ZeroDivisionError(CANARY)
        return run_turn(question.text, model=model, contract=contract, sources=SOURCES, history=question.history)

    async def later(question: Question) -> Turn:
        return await asyncio.to_thread(ask, question)

    running = Running(TurnEndpoint(later if asynchronous else ask))
    try:
        good = httpx2.post(running.url, json={"question": "When?", "history": []})
        assert (good.status_code, good.json()["answer"]) == (200, "It opens at eight.")
        for question, status in (("bad?", 200), ("broken?", 200), ("raises?", 500)):
            answer = httpx2.post(running.url, json={"question": question})
            assert answer.status_code == status
            assert CANARY not in answer.text
        assert httpx2.post(running.url, json={"question": ""}).status_code == 400
    finally:
        running.close()
    with pytest.raises(UsageError):
        TurnEndpoint("text")  # type: ignore[arg-type]
