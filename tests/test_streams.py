"""The two loops: events in order, upstream closed on every way out."""

from __future__ import annotations

import asyncio

import pytest

from sentence_gate import Done, Ending, Failed, Released, SentenceGate, Stopped, Truncated, agate_stream, gate_stream

POOL = ["The pool opens at eight."]
PIECES = ["It opens at eight [S1]. ", "Lockers cost 45 [S1]. ", "Also ", "more ", "text"]


class Upstream:
    """Pieces that remember how many were pulled and whether they were closed."""

    def __init__(self, pieces, error: Exception | None = None) -> None:
        self.pieces, self.error, self.pulled, self.closed = pieces, error, 0, False

    def run(self):
        try:
            for piece in self.pieces:
                self.pulled += 1
                yield piece
            if self.error:
                raise self.error
        finally:
            self.closed = True

    async def arun(self):
        try:
            for piece in self.pieces:
                self.pulled += 1
                await asyncio.sleep(0)
                yield piece
            if self.error:
                raise self.error
        finally:
            self.closed = True


def drive(upstream: Upstream, *, asynchronous: bool, **more):
    """(events, whether the upstream was closed when each came, the gate, the exception)"""
    gate, events, closed, raised = SentenceGate(POOL), [], [], None
    if asynchronous:

        async def main() -> None:
            nonlocal raised
            try:
                async for event in agate_stream(upstream.arun(), gate, **more):
                    events.append(event)
                    closed.append(upstream.closed)
            except RuntimeError as error:
                raised = error

        asyncio.run(main())
    else:
        try:
            for event in gate_stream(upstream.run(), gate, **more):
                events.append(event)
                closed.append(upstream.closed)
        except RuntimeError as error:
            raised = error
    return events, closed, gate, raised


both = pytest.mark.parametrize("asynchronous", [False, True])


@both
def test_closed_before_the_stop_is_handed_out(asynchronous: bool) -> None:
    upstream = Upstream(PIECES)
    events, closed, gate, _ = drive(upstream, asynchronous=asynchronous)
    assert [type(event) for event in events] == [Released, Stopped, Done]
    assert closed[1]
    assert upstream.pulled == 3
    assert gate.report.status == "stopped"
    assert gate.report.ending is not None
    assert gate.report.ending.kind == "cancelled"


@both
def test_plain_pieces_end_unattested(asynchronous: bool) -> None:
    events, _, gate, _ = drive(Upstream(["It opens at eight [S1]"]), asynchronous=asynchronous)
    assert [type(event) for event in events] == [Released, Done]
    assert gate.report.ending == Ending.completed(notes=("unattested",))


@both
def test_an_ending_among_the_pieces(asynchronous: bool) -> None:
    events, _, gate, _ = drive(Upstream(["It opens at eight [S1]. And", Ending.truncated("length")]), asynchronous=asynchronous)
    assert [type(event) for event in events] == [Released, Truncated, Done]
    assert gate.report.status == "truncated"
    given, _, gate, _ = drive(Upstream(["It opens"]), asynchronous=asynchronous, ending=Ending.truncated())
    assert gate.report.status == "truncated"
    assert isinstance(given[-1], Done)


@both
def test_an_exception_ends_as_provider_error_and_is_raised_again(asynchronous: bool) -> None:
    events, _, gate, raised = drive(Upstream(["It opens at eight [S1]. And"], RuntimeError("secret")), asynchronous=asynchronous)
    assert [type(event) for event in events] == [Released, Failed, Done]
    assert isinstance(raised, RuntimeError)
    assert gate.report.ending is not None
    assert (gate.report.ending.kind, gate.report.ending.transport) == ("provider_error", "RuntimeError")


@both
def test_an_exception_after_the_ending_keeps_it(asynchronous: bool) -> None:
    events, _, gate, raised = drive(
        Upstream(["It opens at eight [S1].", Ending.completed("stop")], RuntimeError("late")), asynchronous=asynchronous
    )
    assert gate.report.status == "accepted"
    assert raised
    assert isinstance(events[-1], Done)


def test_a_reader_who_leaves_closes_the_upstream() -> None:
    upstream, gate = Upstream(["It opens at eight [S1]. And ", "more", "text"]), SentenceGate(POOL)
    events = gate_stream(upstream.run(), gate)
    next(events)
    events.close()
    assert upstream.closed
    assert gate.report.status == "cancelled"


def test_an_async_reader_who_leaves_or_is_cancelled() -> None:
    async def leave() -> tuple[Upstream, SentenceGate]:
        upstream, gate = Upstream(["It opens at eight [S1]. And ", "more"]), SentenceGate(POOL)
        events = agate_stream(upstream.arun(), gate)
        await anext(events)
        await events.aclose()
        return upstream, gate

    async def cancel() -> tuple[Upstream, SentenceGate]:
        upstream, gate = Upstream(["It opens at eight [S1]. And "]), SentenceGate(POOL)

        async def stalls():
            try:
                async for piece in upstream.arun():
                    yield piece
                await asyncio.sleep(60)
            finally:
                upstream.closed = True

        async def read() -> None:
            async for _ in agate_stream(stalls(), gate):
                pass

        task = asyncio.create_task(read())
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return upstream, gate

    for way in (leave, cancel):
        upstream, gate = asyncio.run(way())
        assert upstream.closed
        assert gate.report.status == "cancelled"


def test_a_list_of_pieces_and_an_object_with_close() -> None:
    assert isinstance(list(gate_stream(["It opens."], SentenceGate(POOL)))[-1], Done)

    class Response:
        closed = False

        def __iter__(self):
            yield from PIECES

        def close(self) -> None:
            self.closed = True

    response = Response()
    for event in gate_stream(response, SentenceGate(POOL)):
        if isinstance(event, Stopped):
            assert response.closed


class Unclosable:
    """A stream whose client raises when it is closed."""

    def __init__(self) -> None:
        self.pieces = iter(PIECES)

    def __iter__(self) -> Unclosable:
        return self

    def __next__(self) -> str:
        return next(self.pieces)

    def __aiter__(self) -> Unclosable:
        return self

    async def __anext__(self) -> str:
        return next(self.pieces)

    def close(self) -> None:
        raise RuntimeError("the connection is gone")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_stop_is_told_also_if_closing_the_upstream_raises(asynchronous: bool) -> None:
    async def collected() -> list[object]:
        return [event async for event in agate_stream(Unclosable(), gate)]

    gate = SentenceGate(POOL)
    events = asyncio.run(collected()) if asynchronous else list(gate_stream(Unclosable(), gate))
    assert [type(event) for event in events[-2:]] == [Stopped, Done]
    assert gate.report.ending is not None
    assert gate.report.ending.kind == "cancelled"
