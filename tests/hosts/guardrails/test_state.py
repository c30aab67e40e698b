"""Nothing of one call is left for the next one, and calls at the same time stay apart."""

from __future__ import annotations

import asyncio
import copy
import threading
from typing import Any

import pytest

MANY = 16


def one(number: int) -> tuple[list[str], str, str]:
    """A call's own sources, an answer that leans on them, what is shown of it. Odd ones fail in their second sentence."""
    hour = 3 + number
    source = f"Room {100 + number} holds {hour} maps. The key is number {number + 40}."
    other = 60 + number if number % 2 else hour
    answer = f"Room {100 + number} holds {hour} maps [S1]. It holds {other} maps [S1]. The end"
    good = f"Room {100 + number} holds {hour} maps."
    return [source], answer, good if number % 2 else f"{good} It holds {other} maps. The end"


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_every_end_is_followed_by_a_clean_call(desk: Any, kind: str) -> None:
    guard = desk.make(kind)
    metadata = {"sources": list(desk.SOURCES)}
    before = copy.deepcopy(metadata)
    good, shown, _ = desk.ANSWERS["good"]
    for break_it in (
        lambda: desk.call(kind, guard, desk.Model(good, 5, fails_after=9), metadata),
        lambda: desk.call(kind, guard, desk.Model(good, 5, "openai", fails_after=3), metadata),
        lambda: desk.call(kind, guard, desk.Model(desk.ANSWERS["bad"][0], 5), metadata),
        lambda: desk.call(kind, guard, desk.Model("Half a sentence", 5, "openai", finish="length"), metadata),
    ):
        broken = break_it()
        assert broken.error is not None
        assert "Bring a pen" not in broken.text
        again = desk.call(kind, guard, desk.Model(good, 5), metadata)
        assert (again.text, again.error) == (shown, None)
        assert guard._validators[0].accumulated_chunks == []
        assert metadata == before


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_the_models_own_exception_reaches_the_reader(desk: Any, kind: str) -> None:
    seen = desk.call(kind, desk.make(kind, "fix"), desk.Model(desk.ANSWERS["good"][0], 20, fails_after=3))
    assert isinstance(seen.error, ConnectionError)
    assert seen.text == desk.FIRST

    def dead(*_: Any, messages: Any = None, **__: Any) -> Any:
        raise ConnectionError("no line")

    guard = desk.make(kind)
    llm = dead if "Gated" in kind else desk.host.gated(dead)
    seen = desk.read(kind, guard, llm)
    assert "no line" in str(seen.error)
    assert type(seen.error).__name__ == "PromptCallableException"  # as without a gate


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_a_line_that_breaks_after_the_end_is_no_error(desk: Any, kind: str) -> None:
    text, shown, _ = desk.ANSWERS["good"]
    model = desk.Model(text, 1000, "openai", fails_after=2)  # the text, the finish, then the line dies before the usage
    seen = desk.call(kind, desk.make(kind), model)
    assert (seen.text, seen.error) == (shown, None)


@pytest.mark.parametrize("kind", ["Guard", "GatedGuard"])
def test_threads(desk: Any, kind: str) -> None:
    guard = desk.make(kind, "noop")
    found: dict[int, str] = {}
    barrier = threading.Barrier(MANY)
    shared: dict[int, Any] = {}

    def llm(*_: Any, messages: Any = None, **kwargs: Any) -> Any:
        answer = one(int(messages[0]["content"]))[1]
        return (answer[at : at + 3] for at in range(0, len(answer), 3))

    wrapped = desk.host.gated(llm)

    def read(number: int) -> None:
        barrier.wait()
        metadata = shared.setdefault(number, {"sources": one(number)[0]})
        outcomes = guard(wrapped, messages=[{"role": "user", "content": str(number)}], metadata=metadata, stream=True)
        found[number] = "".join(outcome.validated_output for outcome in outcomes)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(MANY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: one(number)[2] for number in range(MANY)}


@pytest.mark.parametrize("kind", ["AsyncGuard", "AsyncGatedGuard"])
def test_tasks(desk: Any, kind: str) -> None:
    guard = desk.make(kind, "noop")

    async def llm(*_: Any, messages: Any = None, **kwargs: Any) -> Any:
        answer = one(int(messages[0]["content"]))[1]
        for at in range(0, len(answer), 3):
            await asyncio.sleep(0)
            yield answer[at : at + 3]

    wrapped = desk.host.gated(llm)

    async def read(number: int) -> str:
        result = await guard(
            wrapped, messages=[{"role": "user", "content": str(number)}], metadata={"sources": one(number)[0]}, stream=True
        )
        return "".join([outcome.validated_output async for outcome in result])

    async def main() -> list[str]:
        return await asyncio.gather(*map(read, range(MANY)))

    assert desk.run(main()) == [one(number)[2] for number in range(MANY)]


@pytest.mark.parametrize("kind", ["Guard", "GatedGuard"])
def test_threads_that_validate(desk: Any, kind: str) -> None:
    guard = desk.make(kind, "fix")
    found: dict[int, Any] = {}
    barrier = threading.Barrier(MANY)

    def read(number: int) -> None:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        barrier.wait()
        try:
            found[number] = guard.validate(one(number)[1], metadata={"sources": one(number)[0]}).validated_output
        finally:
            loop.close()

    threads = [threading.Thread(target=read, args=(number,)) for number in range(MANY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(MANY):
        _, answer, shown = one(number)
        passed = answer if kind == "Guard" else shown  # a stock guard gives a text that passed back as it was
        assert found[number] == (f"{shown}\n\n{desk.NOTICE}" if number % 2 else passed)


def test_one_guard_in_two_loops_and_two_languages(desk: Any) -> None:
    guard = desk.make("AsyncGatedGuard", "fix")
    text = "Der Lesesaal schließt um 23:45 sharp [S1]."
    german = desk.call("AsyncGatedGuard", guard, desk.Model(text), {"sources": ["Um 9:30."], "language": "de"})
    english = desk.call("AsyncGatedGuard", guard, desk.Model(text), {"sources": ["Um 9:30."]})
    assert german.text
    assert english.text == desk.NOTICE
    assert german.text != english.text
