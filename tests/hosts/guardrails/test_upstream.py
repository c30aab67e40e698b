"""The model's stream is closed at the stop, when the reader leaves, and when another validator raises."""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
from typing import Any

import pytest

GOOD, BAD = "The archive opens at 9:30 [S1]. ", "The Zanzibar room closes at 23:45 sharp [S1]. "


@pytest.fixture(autouse=True)
def _no_frames_in_log_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenTelemetry logs that a generator was closed in another context; pytest keeps the record, and with it the generator's frames."""
    monkeypatch.setattr(logging.getLogger("opentelemetry.context"), "disabled", True)


class Endless:
    """Good sentences for ever, after the `bad_after`-th a bad one; in pieces of one sentence."""

    def __init__(self, bad_after: int | None) -> None:
        self.bad_after, self.pulled, self.closed = bad_after, 0, False

    def __call__(self, *_: Any, messages: Any = None, **__: Any) -> Any:
        try:
            for number in itertools.count():
                self.pulled += 1
                yield BAD if number == self.bad_after else GOOD
        finally:
            self.closed = True

    @property
    def asynchronous(self) -> Any:
        async def stream(*_: Any, messages: Any = None, **__: Any) -> Any:
            try:
                for piece in self():
                    await asyncio.sleep(0)
                    yield piece
            finally:
                self.closed = True

        return stream  # an asynchronous generator function, which a stock guard can't take


async def closed(endless: Endless) -> bool:
    """Whether it is closed, or will be as soon as the loop has come to the generators that nobody holds any more."""
    for turn in range(200):
        if turn % 50 == 0:
            gc.collect()  # Guardrails' tracing leaves a cycle of an exception and its frames
        await asyncio.sleep(0.001)
        if endless.closed:
            return True
    return False


def model_of(desk: Any, kind: str, endless: Endless) -> Any:
    llm = endless.asynchronous if kind.startswith("Async") else endless
    return llm if "Gated" in kind else desk.host.gated(llm)


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("on_fail", ["exception", "noop", "fix"])
def test_closed_at_the_stop_before_the_verdict_is_told(desk: Any, tracing: bool, kind: str, on_fail: str) -> None:
    endless, told = Endless(3), []

    def asked(value: Any, result: Any) -> str:
        told.append(endless.closed)
        return ""

    for action in (on_fail, asked):
        endless.__init__(3)
        guard, llm = desk.make(kind, action), model_of(desk, kind, endless)
        seen = read(desk, kind, guard, llm)
        assert seen == GOOD.replace(" [S1]", "").rstrip() + 2 * (" " + GOOD.replace(" [S1]", "").rstrip()) + (
            "" if on_fail != "fix" or action is asked else f"\n\n{desk.NOTICE}"
        )
        assert endless.closed
        assert endless.pulled <= 6  # the failing sentence is whole when the next one begins
    assert told == [True]


def read(desk: Any, kind: str, guard: Any, llm: Any) -> str:
    texts: list[str] = []

    async def main() -> None:
        async for outcome in await guard(llm, messages=desk.MESSAGES, metadata={"sources": desk.SOURCES}, stream=True):
            texts.append(outcome.validated_output)  # noqa: PERF401 - those before an exception count

    try:
        if kind.startswith("Async"):
            desk.run(main())
        else:
            for outcome in guard(llm, messages=desk.MESSAGES, metadata={"sources": desk.SOURCES}, stream=True):
                texts.append(outcome.validated_output)  # noqa: PERF401
    except Exception as error:
        assert type(error).__name__ == "ValidationError"  # noqa: PT017
    return "".join(texts)


@pytest.mark.parametrize("kind", ["Guard", "GatedGuard"])
def test_closed_when_the_reader_leaves(desk: Any, tracing: bool, kind: str) -> None:
    endless = Endless(None)
    guard = desk.make(kind)
    for _ in guard(model_of(desk, kind, endless), messages=desk.MESSAGES, metadata={"sources": desk.SOURCES}, stream=True):
        if endless.pulled > 3:
            break
    gc.collect()
    assert endless.closed
    assert endless.pulled <= 6
    assert guard.history.length == 1  # which still holds the call


@pytest.mark.parametrize("kind", ["AsyncGuard", "AsyncGatedGuard"])
def test_closed_when_an_asynchronous_reader_leaves(desk: Any, tracing: bool, kind: str) -> None:
    endless = Endless(None)
    guard = desk.make(kind)

    async def leave() -> bool:
        outcomes = await guard(model_of(desk, kind, endless), messages=desk.MESSAGES, metadata={"sources": desk.SOURCES}, stream=True)
        async for _ in outcomes:
            if endless.pulled > 3:
                break
        await outcomes.aclose()
        del outcomes
        return await closed(endless)

    assert desk.run(leave())
    assert endless.pulled <= 6
    assert guard.history.length == 1


@pytest.mark.parametrize("kind", ["AsyncGuard", "AsyncGatedGuard"])
def test_closed_when_the_readers_task_is_cancelled(desk: Any, kind: str) -> None:
    endless = Endless(None)
    guard = desk.make(kind)

    async def main() -> bool:
        async def reads() -> None:
            async for _ in await guard(
                model_of(desk, kind, endless), messages=desk.MESSAGES, metadata={"sources": desk.SOURCES}, stream=True
            ):
                pass

        task = asyncio.create_task(reads())
        while endless.pulled < 4:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        del task
        return await closed(endless)

    assert desk.run(main())


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("first", [True, False], ids=["gate first", "gate last"])
def test_closed_when_another_validator_raises(desk: Any, tracing: bool, kind: str, first: bool) -> None:
    from guardrails.validator_base import FailResult, PassResult, Validator, register_validator

    @register_validator(name="tests/no_third", data_type="string")
    class NoThird(Validator):
        def _validate(self, value: Any, metadata: Any) -> Any:
            metadata["count"].append(value)
            return FailResult(error_message="the third") if len(metadata["count"]) > 2 else PassResult()

    endless, gate = Endless(None), desk.host.SentenceGate()
    cls = getattr(desk.host, kind, None) or getattr(desk.guardrails, kind)
    guard = cls().use(*((gate, NoThird()) if first else (NoThird(), gate)))
    llm, metadata = model_of(desk, kind, endless), {"sources": desk.SOURCES, "count": []}

    async def main() -> None:
        with pytest.raises(Exception, match="the third"):
            async for _ in await guard(llm, messages=desk.MESSAGES, metadata=metadata, stream=True):
                pass
        assert await closed(endless)

    if kind.startswith("Async"):
        desk.run(main())
    else:
        with pytest.raises(Exception, match="the third"):
            for _ in guard(llm, messages=desk.MESSAGES, metadata=metadata, stream=True):
                pass
        gc.collect()
        assert endless.closed
    assert endless.pulled <= 8
    assert "[S1]" not in "".join(metadata["count"])


def test_a_completion_stream_object(desk: Any) -> None:
    """What stock asynchronous guards ask for."""

    class Response:
        def __init__(self, endless: Endless) -> None:
            self.completion_stream = endless.asynchronous()

    for kind in ("AsyncGuard", "AsyncGatedGuard"):
        endless = Endless(1)

        async def llm(*_: Any, messages: Any = None, endless: Endless = endless, **__: Any) -> Response:
            return Response(endless)

        guard = desk.make(kind, "noop")
        assert read(desk, kind, guard, llm if "Gated" in kind else desk.host.gated(llm)) == desk.FIRST
        assert endless.closed


def test_a_synchronous_callable_in_an_asynchronous_guard(desk: Any) -> None:
    for kind in ("AsyncGuard", "AsyncGatedGuard"):
        endless = Endless(1)
        llm = endless if "Gated" in kind else desk.host.gated(endless)
        assert read(desk, kind, desk.make(kind, "noop"), llm) == desk.FIRST
        assert endless.closed
