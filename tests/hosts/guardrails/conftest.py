"""Guardrails, a scripted model in every shape, and one way to run a call in every mode.

Without guardrails-ai nothing here is collected: these tests run where the extra is installed, `pytest tests/hosts/guardrails`. Those of the
server need guardrails-api besides.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import json
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pytest

collect_ignore_glob = [] if importlib.util.find_spec("guardrails") else ["test_*.py"]
collect_ignore = [] if importlib.util.find_spec("guardrails_api") else ["test_server.py"]

if importlib.util.find_spec("guardrails"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages it loads
        import guardrails
        import litellm
        from guardrails.settings import settings

        import guardrails_ai.sentence_gate as host


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "hosts/guardrails" in item.path.as_posix():
            item.add_marker(pytest.mark.filterwarnings("ignore"))  # Guardrails warns about its own defaults


MESSAGES = [{"role": "user", "content": "When does the archive open?"}]
SOURCES = ["The archive opens at 9:30. A reader's card costs 12 euros."]
FIRST = "The archive opens at 9:30."
NOTICE = "The rest of this answer was withheld because it is not supported by the sources."
EMPTY = "There was no answer to this question."
CANARIES = ("Zanzibar", "45 sharp", "Quagga")  # in the failing sentence, and after it
ANSWERS = {  # what the model writes, what may be shown of it, why it fails
    "good": (
        "The archive opens at 9:30 [S1].\n\nA reader's card costs 12 euros [S1].  Bring a pen",
        "The archive opens at 9:30.\n\nA reader's card costs 12 euros.  Bring a pen",
        None,
    ),
    "bad": (
        "The archive opens at 9:30 [S1]. The Zanzibar room closes at 23:45 sharp [S1]. Quagga notes follow.",
        FIRST,
        "sentence 2: unsupported_value",
    ),
    "bad tail": ("The archive opens at 9:30 [S1]. The Zanzibar room closes at 23:45 sharp [S1]", FIRST, "sentence 2: unsupported_value"),
    "only bad": ("The Zanzibar room closes at 23:45 sharp [S1]. Quagga notes follow.", "", "sentence 1: unsupported_value"),
    "empty": ("", "", "empty: there was no answer"),
    "spaces": ("   ", "   ", "empty: there was no answer"),
}
ON_FAIL = ("exception", "noop", "fix", "fix_reask", "filter", "refrain", "custom")  # reask has tests of its own
GUARDS = ("Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard")


def custom(value: Any, result: Any) -> str:
    assert not any(canary in f"{value}{result!r}" for canary in CANARIES)
    return "[custom]"


@dataclass
class Model:
    """A scripted model. `shape` is how it streams: "str", "openai" or "litellm"."""

    text: str
    size: int = 4
    shape: str = "str"
    finish: str = "stop"
    fails_after: int | None = None  # pieces
    cut: list[str] | None = None  # the pieces, if they are not all of one size
    pulled: int = 0
    calls: int = 0
    closed: bool = False
    seen: list[dict[str, Any]] = field(default_factory=list)

    def _pieces(self) -> list[Any]:
        cut = self.cut or [self.text[at : at + self.size] for at in range(0, len(self.text), self.size)]
        if self.shape == "str":
            return cut
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        out = [{**chunk, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in cut]
        out.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": self.finish}]})
        out.append({**chunk, "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 9, "total_tokens": 12}})
        if self.shape == "openai":
            from openai.types.chat import ChatCompletionChunk

            return [ChatCompletionChunk.model_validate(one) for one in out]
        return [litellm.ModelResponseStream(**one) for one in out]

    def _whole(self) -> Any:
        if self.shape == "str":
            return self.text
        message = {"role": "assistant", "content": self.text}
        plain = {
            "id": "c", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 9, "total_tokens": 12},
        }  # fmt: skip
        if self.shape == "openai":
            from openai.types.chat import ChatCompletion

            return ChatCompletion.model_validate(plain)
        return litellm.ModelResponse(**plain)

    def _begin(self, kwargs: dict[str, Any]) -> None:
        self.calls += 1
        self.seen.append(kwargs)

    def _next(self) -> None:
        if self.fails_after is not None and self.pulled >= self.fails_after:
            raise ConnectionError("the line is dead")
        self.pulled += 1

    def __call__(self, *args: Any, messages: Any = None, **kwargs: Any) -> Any:
        self._begin({**kwargs, "messages": messages})
        return self._stream() if kwargs.get("stream") else self._whole()

    def _stream(self) -> Iterator[Any]:
        try:
            for piece in self._pieces():
                self._next()
                yield piece
        finally:
            self.closed = True

    @property
    def asynchronous(self) -> Callable[..., Any]:
        async def call(*args: Any, messages: Any = None, **kwargs: Any) -> Any:
            self._begin({**kwargs, "messages": messages})
            return self._astream() if kwargs.get("stream") else self._whole()

        return call

    async def _astream(self) -> Any:
        try:
            for piece in self._pieces():
                await asyncio.sleep(0)
                self._next()
                yield piece
        finally:
            self.closed = True


def _dumped(call: Any) -> str:
    try:
        return str(call.model_dump_json())
    except ValueError:  # Guardrails can't serialise the history of a field that was filtered or refrained
        return str(call.model_dump())


@dataclass
class Seen:
    """What a reader and a log saw of one call."""

    outcomes: list[Any]
    error: Exception | None
    guard: Any
    model: Model

    @property
    def text(self) -> str:
        return "".join(outcome.validated_output or "" for outcome in self.outcomes)

    @property
    def passed(self) -> bool | None:
        return self.outcomes[-1].validation_passed if self.outcomes else None

    @property
    def everything(self) -> str:
        """All that can be read of a call besides what its validators return to the process."""
        told = [outcome.model_dump_json() for outcome in self.outcomes]
        error: BaseException | None = self.error
        while error is not None:
            told += [str(error), repr(error)]
            error = error.__cause__ or error.__context__
        for call in self.guard.history:
            told += [_dumped(call), repr(call), json.dumps(list(map(str, call.raw_outputs)))]
        return "\n".join(told)


def make(kind: str, on_fail: Any = "exception", *validators: Any, **parameters: Any) -> Any:
    gate = host.SentenceGate(on_fail=custom if on_fail == "custom" else on_fail, **parameters)
    cls = getattr(host, kind, None) or getattr(guardrails, kind)
    return cls().use(gate, *validators)


def call(kind: str, guard: Any, model: Model, metadata: dict[str, Any] | None = None, *, stream: bool = True, **more: Any) -> Seen:
    """One call of a guard, read to its end. Stock guards get the model wrapped in `gated`."""
    llm = model.asynchronous if kind.startswith("Async") else model
    return read(kind, guard, llm if "Gated" in kind else host.gated(llm), metadata, script=model, stream=stream, **more)


def read(
    kind: str, guard: Any, llm: Any, metadata: dict[str, Any] | None = None, *, script: Any = None, stream: bool = True, **more: Any
) -> Seen:
    """One call of a guard with this callable as it is, read to its end."""
    metadata = {"sources": SOURCES} if metadata is None else metadata
    more = {"messages": MESSAGES, **more}
    outcomes: list[Any] = []
    error = None

    async def main() -> None:
        result = await guard(llm, metadata=metadata, stream=stream, **more)
        if stream:
            async for outcome in result:
                outcomes.append(outcome)  # noqa: PERF401 - those before an exception count
        else:
            outcomes.append(result)

    try:
        if kind.startswith("Async"):
            run(main())
        elif stream:
            for outcome in guard(llm, metadata=metadata, stream=True, **more):
                outcomes.append(outcome)  # noqa: PERF402 - the same
        else:
            outcomes.append(guard(llm, metadata=metadata, **more))
    except Exception as raised:
        error = raised
    return Seen(outcomes, error, guard, script)


def validate(kind: str, guard: Any, text: str, metadata: dict[str, Any] | None = None, *, method: str = "validate") -> Seen:
    """`validate` or `parse` of a whole text."""
    metadata = {"sources": SOURCES} if metadata is None else metadata
    outcomes, error = [], None
    try:
        result = getattr(guard, method)(text, metadata=metadata)
        outcomes.append(run(_wait(result)) if kind.startswith("Async") else result)
    except Exception as raised:
        error = raised
    return Seen(outcomes, error, guard, Model(text))


async def _cancelled(tasks: set[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def run(coroutine: Any) -> Any:
    """`asyncio.run` that leaves alone the loop that Guardrails takes as the thread's own."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.run_until_complete(_cancelled(asyncio.all_tasks(loop)))  # LiteLLM's logging
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


@pytest.fixture(scope="session", autouse=True)
def _own_loop() -> Iterator[None]:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()
    for left in [one for one in gc.get_objects() if isinstance(one, asyncio.BaseEventLoop) and not one.is_closed()]:
        left.close()  # Guardrails and LiteLLM make some of their own


async def _wait(awaitable: Any) -> Any:
    return await awaitable


SENTENCE = "The archive opens at 9:30 [S1]. "


class Provider(ThreadingHTTPServer):
    """Speaks Chat Completions. `script` is what it says, endlessly repeated if `endless`; it counts what it could send."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.endless, self.finish = [SENTENCE], False, "stop"
        self.sent = self.requests = 0
        self.hung_up = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def log_message(self, *_: Any) -> None: ...

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if asked.get("stream") else "application/json")
        self.end_headers()
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": "".join(self.server.script)}
            usage = {"prompt_tokens": 3, "completion_tokens": 9, "total_tokens": 12}
            choices = [{"index": 0, "message": message, "finish_reason": self.server.finish}]
            self.wfile.write(json.dumps({**chunk, "object": "chat.completion", "choices": choices, "usage": usage}).encode())
            return
        try:
            for round_ in range(5000 if self.server.endless else 1):
                for text in self.server.script if not round_ else [SENTENCE]:
                    self._send({**chunk, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})
                    self.server.sent += 1
                    time.sleep(0.002)
            self._send({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": self.server.finish}]})
            self._send({**chunk, "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 9, "total_tokens": 12}})
            self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            self.server.hung_up.set()

    def _send(self, payload: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(payload)}\n\n".encode())
        self.wfile.flush()


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def desk() -> SimpleNamespace:
    """All of the above, for tests: modules can't import each other here."""
    return SimpleNamespace(**{name: value for name, value in globals().items() if not name.startswith("_")})


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An in-memory exporter that gets all spans of the test."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    monkeypatch.setenv("OTEL_SDK_DISABLED", "false")
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return exporter


@pytest.fixture(params=[False, True], ids=["traced", "untraced"])
def tracing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(settings, "disable_tracing", request.param)
    return not request.param
