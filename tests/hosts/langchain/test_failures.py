"""When the provider fails, what passed stays shown and what waits is never released."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_scripted import CANARY, GOOD, SHOWN, SOURCES, STOPPED, AsyncScriptedModel, ScriptedModel, pieces, shows_canary

from sentence_gate import Policy
from sentence_gate.langchain import GatedChatModel, SentenceGateRunnable, SentenceGateStop

DOWN = RuntimeError("down")
PROMPT = ChatPromptTemplate.from_messages([("human", "{question}")])


def gate(script: list[Any], **more: Any) -> GatedChatModel:
    return GatedChatModel(AsyncScriptedModel(script=script), sources=SOURCES, **more)


async def _listed(stream: Any, into: list[Any]) -> None:
    async for one in stream:  # what came before an exception counts
        into += [one]


def drive(model: Any, asynchronous: bool) -> tuple[str, BaseException | None]:
    shown: list[Any] = []
    try:
        if asynchronous:
            asyncio.run(_listed(model.astream("?"), shown))
        else:
            shown.extend(model.stream("?"))
    except Exception as error:
        return "".join(chunk.content for chunk in shown), error
    return "".join(chunk.content for chunk in shown), None


both = pytest.mark.parametrize("asynchronous", [False, True])


@both
@pytest.mark.parametrize("form", ["model", "pipe"])
def test_the_providers_error_comes_through(form: str, asynchronous: bool) -> None:
    reports: list[Any] = []
    script = [*pieces(f"{GOOD} It closes "), DOWN]
    if form == "model":
        made: Any = gate(script, on_report=reports.append)
    else:
        made = AsyncScriptedModel(script=script) | SentenceGateRunnable(sources=SOURCES, on_report=reports.append)
    shown, error = drive(made, asynchronous)
    assert shown == SHOWN
    assert error is DOWN
    assert [(report.status, report.ending.kind, report.ending.provider_reason) for report in reports] == [
        ("failed", "provider_error", "RuntimeError")
    ]


@both
def test_fallbacks_work_while_nothing_is_released(asynchronous: bool) -> None:
    fails = gate([*pieces("The pool opens at"), DOWN])
    assert drive(fails.with_fallbacks([gate(pieces())]), asynchronous) == (STOPPED, None)
    shown, error = drive(gate([*pieces(GOOD + " It"), DOWN]).with_fallbacks([gate(pieces())]), asynchronous)
    assert (shown, error) == (SHOWN, DOWN)


@both
def test_an_exception_at_the_stop_makes_fallbacks_and_retries_work(asynchronous: bool) -> None:
    bad = ["Lockers cost 45 [S1]. And more"]
    strict = gate(bad, exit_behavior="error")
    fine = gate([GOOD])
    assert drive(strict.with_fallbacks([fine]), asynchronous) == (SHOWN, None)
    again = gate(bad, exit_behavior="error")
    retried = again.with_retry(stop_after_attempt=3, wait_exponential_jitter=False)
    with pytest.raises(SentenceGateStop):
        asyncio.run(retried.ainvoke("?")) if asynchronous else retried.invoke("?")
    assert len(again.llm.calls) == 3


def test_the_exception_tells_no_text() -> None:
    with pytest.raises(SentenceGateStop) as caught:
        gate([f"Lockers cost 45 {CANARY} [S1]. And more"], exit_behavior="error").invoke("?")
    assert not shows_canary(caught.value, str(caught.value), caught.value.args, vars(caught.value))
    assert caught.value.__cause__ is None
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.report == caught.value.report
    assert str(again) == str(caught.value)


def test_a_check_that_raises_is_a_stop_without_its_words() -> None:
    def broken(sentence: Any, sources: Any, policy: Any) -> Any:
        raise ValueError(sentence.text)

    found = gate([f"Lockers {CANARY}. And more"], policy=Policy(checks=(broken,))).invoke("?")
    assert found.response_metadata["sentence_gate"]["violations"][0]["check"] == "check_failed"
    assert not shows_canary(found)


def test_a_client_that_fails_when_it_is_closed_changes_nothing() -> None:
    class Sulking(ScriptedModel):
        def _stream(self, *args: Any, **kwargs: Any) -> Any:
            try:
                yield from super()._stream(*args, **kwargs)
            finally:
                raise OSError("already gone")

    assert GatedChatModel(Sulking(), sources=SOURCES).invoke("?").content == STOPPED


@both
def test_the_custom_event_comes_once_at_a_stop_and_never_else(asynchronous: bool) -> None:
    async def told(script: list[Any]) -> list[Any]:
        chain = PROMPT | gate(script) | RunnableLambda(lambda message: message)
        events = [event async for event in chain.astream_events({"question": "?"}, version="v2")]
        return [event for event in events if event["event"] == "on_custom_event"]

    (event,) = asyncio.run(told(pieces()))
    assert (event["name"], event["data"]["status"]) == ("sentence_gate", "stopped")
    assert asyncio.run(told([GOOD])) == []
    shown, error = drive(gate(pieces()), asynchronous)  # no run around it: nobody to tell
    assert (shown, error) == (STOPPED, None)


def test_the_gate_in_the_pipe_tells_too() -> None:
    async def told() -> list[Any]:
        chain = PROMPT | (lambda _: AIMessage("Lockers cost 45 [S1]. More")) | SentenceGateRunnable(sources=SOURCES)
        events = [event async for event in chain.astream_events({"question": "?"}, version="v2")]
        return [event for event in events if event["event"] == "on_custom_event"]

    with pytest.warns(UserWarning, match="raw tokens"):
        (event,) = asyncio.run(told())
    assert event["data"]["status"] == "stopped"
