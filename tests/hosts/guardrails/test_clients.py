"""Real clients against a scripted server on loopback: OpenAI and LiteLLM, synchronous and asynchronous, and `model=`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

GOOD, BAD = "The archive opens at 9:30 [S1]. ", "The Zanzibar room closes at 23:45 sharp [S1]. "
MODEL = "openai/scripted"


def llm_of(name: str, kind: str, provider: Any) -> tuple[Any, dict[str, Any]]:
    """A client's callable and what it is called with."""
    import litellm
    import openai

    asynchronous = kind.startswith("Async")
    at = {"base_url": provider.url, "api_key": "none"}
    if name == "openai":
        client: Any = (openai.AsyncOpenAI if asynchronous else openai.OpenAI)(**at, max_retries=0)
        return client.chat.completions.create, {"model": "scripted"}
    if name == "litellm":
        return litellm.acompletion if asynchronous else litellm.completion, {"model": MODEL, **at}
    return None, {"model": MODEL, **at}


CASES = [
    (name, kind)
    for name in ("openai", "litellm", "model=")
    for kind in ("Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard")
    if name != "model=" or "Gated" in kind
]


def ask(desk: Any, name: str, kind: str, guard: Any, provider: Any, **more: Any) -> Any:
    llm, keywords = llm_of(name, kind, provider)
    if llm is not None and "Gated" not in kind:
        llm = desk.host.gated(llm)
    return desk.read(kind, guard, llm, **keywords, **more)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_the_server_sees_the_client_hang_up_at_the_stop(desk: Any, provider: Any, name: str, kind: str) -> None:
    provider.script, provider.endless = [GOOD, GOOD, BAD], True
    seen = ask(desk, name, kind, desk.make(kind), provider)
    shown = GOOD.replace(" [S1]", "").rstrip()
    assert seen.text == f"{shown} {shown}"
    assert str(seen.error) == "Validation failed for field with errors: sentence 3: unsupported_value"
    assert provider.hung_up.wait(10)
    assert provider.sent < 1000  # of 5,003, the rest of which would take ten seconds
    assert not [canary for canary in desk.CANARIES if canary in seen.everything]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_whole_stream_and_a_cut_one(desk: Any, provider: Any, name: str, kind: str) -> None:
    provider.script = ["The archive opens ", "at 9:30 [S1]. Bring", " a pen"]
    assert ask(desk, name, kind, desk.make(kind), provider).text == f"{desk.FIRST} Bring a pen"
    provider.finish = "length"
    cut = ask(desk, name, kind, desk.make(kind), provider)
    assert cut.text == desk.FIRST
    assert "truncated: " in str(cut.error)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_not_streamed(desk: Any, provider: Any, name: str, kind: str) -> None:
    provider.script = [GOOD, BAD]
    seen = ask(desk, name, kind, desk.make(kind, "fix"), provider, stream=False)
    assert seen.outcomes[0].validated_output == f"{desk.FIRST}\n\n{desk.NOTICE}"
    if "Gated" in kind:
        assert not [canary for canary in desk.CANARIES if canary in seen.everything]


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
def test_tokens_are_counted(desk: Any, provider: Any, kind: str) -> None:
    """As LiteLLM reports them, though Guardrails sees a callable and not LiteLLM."""
    guard = desk.make(kind)
    seen = ask(desk, "model=", kind, guard, provider, stream=False)
    assert seen.error is None
    assert guard.history.last.tokens_consumed == 12


def test_a_reader_who_leaves_hangs_up(desk: Any, provider: Any) -> None:
    provider.endless = True
    llm, keywords = llm_of("openai", "GatedGuard", provider)
    outcomes = desk.make("GatedGuard")(llm, messages=desk.MESSAGES, metadata={"sources": desk.SOURCES}, stream=True, **keywords)
    next(outcomes)
    outcomes.close()
    assert provider.hung_up.wait(10)
    assert provider.sent < 1000


def test_an_asynchronous_reader_who_is_cancelled_hangs_up(desk: Any, provider: Any) -> None:
    provider.endless = True
    llm, keywords = llm_of("openai", "AsyncGatedGuard", provider)
    guard = desk.make("AsyncGatedGuard")

    async def reads() -> None:
        async for _ in await guard(llm, messages=desk.MESSAGES, metadata={"sources": desk.SOURCES}, stream=True, **keywords):
            pass

    async def main() -> None:
        task = asyncio.create_task(reads())
        while not provider.sent:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    desk.run(main())
    assert provider.hung_up.wait(10)
    assert provider.sent < 1000


def test_missing_sources_are_told_before_the_provider_is_called(desk: Any, provider: Any) -> None:
    for name, kind in CASES:
        seen = ask(desk, name, kind, desk.make(kind), provider, metadata={})
        assert isinstance(seen.error, ValueError)
    assert provider.requests == 0
