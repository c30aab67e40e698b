"""The model is closed at the stop, before the notice is handed out, in every composition."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableBranch, RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_scripted import NOTICE, SOURCES, STOPPED, TEXT, AsyncScriptedModel, ScriptedModel, pieces

from sentence_gate.langchain import GatedChatModel, SentenceGateRunnable, SentenceGateWarning

PROMPT = ChatPromptTemplate.from_messages([("human", "{question}")])
ASKED = {"question": "When does the pool open?"}
DECIDES = 22  # of the pieces: the first that shows where the failing sentence ends
LEFT = f"GeneratorExit {DECIDES}"

MODEL_FORMS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda model: PROMPT | model,
    "parser": lambda model: PROMPT | model | StrOutputParser(),
    "bound": lambda model: PROMPT | model.bind(stop=["x"]) | StrOutputParser(),
    "configured": lambda model: PROMPT | model.with_config(tags=["x"]) | StrOutputParser(),
    "retry": lambda model: PROMPT | model.with_retry() | StrOutputParser(),
    "assign": lambda model: RunnablePassthrough.assign(answer=PROMPT | model | StrOutputParser()) | (lambda found: found["answer"]),
    "parallel": lambda model: RunnableParallel(answer=PROMPT | model | StrOutputParser()),
    "branch": lambda model: RunnableBranch((lambda _: True, PROMPT | model), PROMPT | model),
    "lambda": lambda model: RunnableLambda(lambda _: PROMPT | model),
    "nested": lambda model: PROMPT | (model | StrOutputParser()).with_config(tags=["x"]),
    "parallel behind": lambda model: PROMPT | model | RunnableParallel(answer=StrOutputParser()),
    "fallback": lambda model: PROMPT | GatedChatModel(broken(), sources=SOURCES).with_fallbacks([model]) | StrOutputParser(),
    "fallback of chains": lambda model: (PROMPT | GatedChatModel(broken(), sources=SOURCES)).with_fallbacks([PROMPT | model]),
    "chain retry": lambda model: (PROMPT | model).with_retry(),
}

PIPE_FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "alone": lambda model, gate: PROMPT | model | gate,
    "parser": lambda model, gate: PROMPT | model | gate | StrOutputParser(),
    "configured gate": lambda model, gate: PROMPT | model | gate.with_config(tags=["x"]),
    "bound": lambda model, gate: PROMPT | model.bind(stop=["x"]) | gate,
    "retry": lambda model, gate: PROMPT | model.with_retry() | gate,
    "assign": lambda model, gate: RunnablePassthrough.assign(answer=PROMPT | model | gate | StrOutputParser()),
    "parallel": lambda model, gate: RunnableParallel(answer=PROMPT | model | gate),
    "branch": lambda model, gate: RunnableBranch((lambda _: True, PROMPT | model | gate), PROMPT | model | gate),
    "fallback": lambda model, gate: (PROMPT | model | gate).with_fallbacks([PROMPT | model | gate]),
    "retry of chains": lambda model, gate: (PROMPT | model | gate).with_retry(),
}

COPIES: dict[str, Callable[[Any, Any], Any]] = {
    "behind a parser": lambda model, gate: PROMPT | model | StrOutputParser() | gate,
    "nested": lambda model, gate: PROMPT | model | (gate | StrOutputParser()).with_config(tags=["x"]),
    "behind fallbacks": lambda model, gate: PROMPT | ScriptedModel(script=[RuntimeError("down")]).with_fallbacks([model]) | gate,
    "in a map": lambda model, gate: PROMPT | model | RunnableParallel(answer=gate),
}


def broken() -> ScriptedModel:
    return ScriptedModel(script=[RuntimeError("down")])


def text_of(found: Any) -> str:
    """The text in whatever a chain hands out."""
    if isinstance(found, str):
        return found
    if isinstance(found, dict):
        return "".join(text_of(value) for key, value in found.items() if key != "question")
    return str(getattr(found, "content", ""))


def drive(chain: Any, log: list[str], *, asynchronous: bool) -> tuple[str, str | None]:
    """(the text handed out, how the model had been left when the notice came); without the cyclic collector's help"""
    shown, left = "", None
    gc.collect()
    gc.disable()
    try:
        if asynchronous:

            async def main() -> None:
                nonlocal shown, left
                async for piece in chain.astream(ASKED):
                    shown += text_of(piece)
                    if NOTICE in shown and left is None:
                        left = log[-1] if log else "open"

            asyncio.run(main())
        else:
            for piece in chain.stream(ASKED):
                shown += text_of(piece)
                if NOTICE in shown and left is None:
                    left = log[-1] if log else "open"
    finally:
        gc.enable()
    return shown, left


both = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


@both
@pytest.mark.parametrize("form", MODEL_FORMS)
def test_gated_model_closes_its_provider(form: str, asynchronous: bool) -> None:
    inner = AsyncScriptedModel()
    shown, left = drive(MODEL_FORMS[form](GatedChatModel(inner, sources=SOURCES)), inner.log, asynchronous=asynchronous)
    assert shown == STOPPED
    assert left == LEFT
    assert inner.log == [LEFT]


def test_async_over_a_model_with_a_sync_stream_only() -> None:
    inner = ScriptedModel()
    shown, left = drive(PROMPT | GatedChatModel(inner, sources=SOURCES), inner.log, asynchronous=True)
    assert (shown, left) == (STOPPED, LEFT)


@both
@pytest.mark.parametrize("form", PIPE_FORMS)
def test_gate_in_the_pipe_closes_the_model(form: str, asynchronous: bool) -> None:
    inner = AsyncScriptedModel()
    shown, left = drive(PIPE_FORMS[form](inner, SentenceGateRunnable(sources=SOURCES)), inner.log, asynchronous=asynchronous)
    assert shown == STOPPED
    assert left == LEFT
    assert inner.log == [LEFT]


@both
@pytest.mark.parametrize("form", COPIES)
def test_gate_in_the_pipe_warns_of_a_copy(form: str, asynchronous: bool) -> None:
    inner = AsyncScriptedModel()
    chain = COPIES[form](inner, SentenceGateRunnable(sources=SOURCES))
    if form == "behind a parser" and asynchronous:  # the framework hands the parser's own generator over
        shown, _ = drive(chain, inner.log, asynchronous=True)
        assert inner.log == [LEFT]
    else:
        with pytest.warns(SentenceGateWarning, match="copy of the model's stream"):
            shown, _ = drive(chain, inner.log, asynchronous=asynchronous)
    assert shown == STOPPED


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_whole_answer_is_read_as_a_stream_and_closed_too(how: str) -> None:
    inner = AsyncScriptedModel()
    model = GatedChatModel(inner, sources=SOURCES)
    answer = model.invoke("When?") if how == "invoke" else asyncio.run(model.ainvoke("When?"))
    assert answer.content == STOPPED
    assert inner.log == [LEFT]


def test_a_reader_who_leaves_closes_the_provider() -> None:
    inner = AsyncScriptedModel()
    model = GatedChatModel(inner, sources=SOURCES)
    stream = model.stream("When?")
    next(stream)
    stream.close()
    assert inner.log == ["GeneratorExit 11"]


def test_an_async_reader_who_leaves_closes_the_provider_at_once() -> None:
    async def main() -> list[str]:
        inner = AsyncScriptedModel()
        stream = GatedChatModel(inner, sources=SOURCES).astream("When?")
        await anext(stream)
        await stream.aclose()
        return list(inner.log)

    assert asyncio.run(main()) == ["GeneratorExit 11"]


@pytest.mark.parametrize("kind", [AsyncScriptedModel, ScriptedModel])
def test_a_cancelled_task_closes_the_provider(kind: type[ScriptedModel]) -> None:
    inner = kind(pause=0.01, script=pieces(size=1))
    reports: list[Any] = []
    model = GatedChatModel(inner, sources=SOURCES, on_report=reports.append)

    async def main() -> None:
        started = asyncio.Event()

        async def read() -> None:
            async for _ in model.astream("When?"):
                started.set()
                await asyncio.sleep(0)

        task = asyncio.create_task(read())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for _ in range(100):
            if inner.log:
                break
            await asyncio.sleep(0.01)

    asyncio.run(main())
    assert len(inner.log) == 1
    assert not inner.log[0].startswith("exhausted")
    assert [report.status for report in reports] == ["cancelled"]


@both
def test_a_reader_who_leaves_a_pipe_closes_the_model(asynchronous: bool) -> None:
    inner = AsyncScriptedModel()
    reports: list[Any] = []
    chain = PROMPT | inner | SentenceGateRunnable(sources=SOURCES, on_report=reports.append)

    async def leave() -> None:
        stream = chain.astream(ASKED)
        await anext(stream)
        await stream.aclose()
        for _ in range(50):
            await asyncio.sleep(0)

    if asynchronous:
        asyncio.run(leave())
    else:
        stream = chain.stream(ASKED)
        next(stream)
        stream.close()
    assert inner.log == ["GeneratorExit 11"]
    assert [report.status for report in reports] == ["cancelled"]


def test_a_reader_who_leaves_with_the_last_sentence_is_told_of_once() -> None:
    inner = AsyncScriptedModel(script=[TEXT])
    reports: list[Any] = []
    stream = GatedChatModel(inner, sources=SOURCES, on_report=reports.append).stream("When?")
    next(stream)
    stream.close()
    assert [report.status for report in reports] == ["stopped"]
    assert inner.log == ["GeneratorExit 1"]


if hasattr(BaseChatModel, "_chat_model_stream_v3"):

    @pytest.mark.filterwarnings("ignore:.*beta:")
    @both
    def test_the_third_event_protocol_closes_the_provider(asynchronous: bool) -> None:
        inner = AsyncScriptedModel()
        model = GatedChatModel(inner, sources=SOURCES)

        async def main() -> str:
            stream = await model.astream_events("When?", version="v3")
            return "".join([piece async for piece in stream.text])

        shown = asyncio.run(main()) if asynchronous else "".join(model.stream_events("When?", version="v3").text)
        assert shown == STOPPED
        assert inner.log == [LEFT]
