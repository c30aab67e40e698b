"""The callback forwards what passed and nothing else, and stops the model if it is told to."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.language_models import BaseChatModel, FakeListLLM
from langchain_core.messages import HumanMessage
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from langchain_scripted import GOOD, SHOWN, SOURCES, STOPPED, AsyncScriptedModel, ScriptedModel, WholeModel, pieces, shows_canary

from sentence_gate import UsageError
from sentence_gate.langchain import SentenceGateCallback, SentenceGateStop


class Sink:
    def __init__(self, **more: Any) -> None:
        self.texts: list[str] = []
        self.reports: list[Any] = []
        self.handler = SentenceGateCallback(**{"sources": SOURCES, "on_text": self.texts.append, "on_report": self.reports.append, **more})
        self.config: Any = {"callbacks": [self.handler]}


async def _read(stream: Any) -> None:
    async for _ in stream:
        pass


WAYS = {
    "stream": lambda model, config: list(model.stream("?", config)),
    "astream": lambda model, config: asyncio.run(_read(model.astream("?", config))),
    "invoke": lambda model, config: model.invoke("?", config),
    "ainvoke": lambda model, config: asyncio.run(model.ainvoke("?", config)),
    "batch": lambda model, config: model.batch(["?"], config),
}
ways = pytest.mark.parametrize("way", WAYS)
kinds = pytest.mark.parametrize("kind", [ScriptedModel, AsyncScriptedModel, WholeModel])


@ways
@kinds
def test_the_sink_gets_what_passed(way: str, kind: Any) -> None:
    sink = Sink()
    WAYS[way](kind(), sink.config)
    assert sink.texts == [SHOWN, STOPPED.removeprefix(SHOWN)]
    assert [report.status for report in sink.reports] == ["stopped"]
    assert sink.handler._runs == {}
    sink = Sink()
    WAYS[way](kind(script=[GOOD]), sink.config)
    assert sink.texts == [SHOWN]


def test_a_handler_of_an_interface_gets_the_same() -> None:
    class Interface(BaseCallbackHandler):
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
            self.seen.append((token, kwargs))

    interface = Interface()
    list(ScriptedModel().stream("?", {"callbacks": [SentenceGateCallback(sources=SOURCES, forward=interface)]}))
    assert "".join(token for token, _ in interface.seen) == STOPPED
    assert not shows_canary(interface.seen)


@pytest.mark.parametrize("way", ["stream", "astream"])
@pytest.mark.parametrize("kind", [ScriptedModel, AsyncScriptedModel])
def test_killing_closes_the_model(way: str, kind: Any) -> None:
    inner, sink = kind(), Sink(kill=True)
    with pytest.raises(SentenceGateStop, match="unsupported_value"):
        WAYS[way](inner, sink.config)
    assert inner.log == ["GeneratorExit 22"]
    assert "".join(sink.texts) == STOPPED
    assert sink.handler._runs == {}


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_killing_a_whole_answer_that_streams(way: str) -> None:
    class Streams(BaseCallbackHandler, _StreamingCallbackHandler):
        def tap_output_iter(self, run_id: Any, output: Any) -> Any:
            return output

        def tap_output_aiter(self, run_id: Any, output: Any) -> Any:
            return output

    inner, sink = AsyncScriptedModel(), Sink(kill=True)
    with pytest.raises(SentenceGateStop):
        WAYS[way](inner, {"callbacks": [sink.handler, Streams()]})
    assert inner.log == ["GeneratorExit 22"]


if hasattr(BaseChatModel, "_chat_model_stream_v3"):

    @pytest.mark.filterwarnings("ignore:.*beta:")
    def test_the_third_protocol() -> None:
        sink = Sink()
        list(ScriptedModel().stream_events("?", sink.config, version="v3"))
        assert "".join(sink.texts) == STOPPED
        inner, sink = ScriptedModel(), Sink(kill=True)
        with pytest.raises(SentenceGateStop):
            list(inner.stream_events("?", sink.config, version="v3"))
        assert "".join(sink.texts) == STOPPED
        assert sink.handler._runs == {}


def test_errors_and_readers_who_leave_drop_what_waits() -> None:
    sink = Sink()
    with pytest.raises(RuntimeError):
        list(ScriptedModel(script=[*pieces(f"{GOOD} It closes "), RuntimeError("down")]).stream("?", sink.config))
    assert sink.texts == [SHOWN]
    assert [report.status for report in sink.reports] == ["failed"]
    sink = Sink()
    stream = ScriptedModel().stream("?", sink.config)
    next(stream)
    stream.close()
    assert sink.texts == []
    assert [report.status for report in sink.reports] == ["cancelled"]
    assert sink.handler._runs == {}


def test_runs_at_a_time_stay_apart() -> None:
    texts: list[str] = []
    handler = SentenceGateCallback(sources=lambda messages: [messages[-1].content], on_text=texts.append)
    inner = AsyncScriptedModel(script=pieces("It costs 45 euros [S1]. It ends"), pause=0.0001)

    async def main() -> None:
        asked = ["It costs 45 euros.", "It costs 44 euros."] * 4
        await asyncio.gather(*(inner.ainvoke(one, {"callbacks": [handler]}) for one in asked))

    asyncio.run(main())
    assert texts.count("It costs 45 euros.") == 4
    assert handler._runs == {}


def test_several_choices_show_nothing() -> None:
    sink = Sink()
    AsyncScriptedModel(n=2).generate([[HumanMessage("?")]], callbacks=[sink.handler])
    assert sink.texts == []
    assert [report.status for report in sink.reports] == ["failed"]


def test_a_model_of_plain_text() -> None:
    sink = Sink()
    FakeListLLM(responses=[f"{GOOD} It costs 45 [S1]. More"]).invoke("?", sink.config)
    assert "".join(sink.texts) == STOPPED


def test_an_async_handler_is_refused() -> None:
    with pytest.raises(UsageError, match="async"):

        class Wrong(SentenceGateCallback, AsyncCallbackHandler):
            pass


def test_no_sources_is_an_error() -> None:
    with pytest.raises(UsageError, match="no sources"):
        SentenceGateCallback(sources=None)
    strict = SentenceGateCallback(sources=lambda messages: None, kill=True)
    with pytest.raises(UsageError, match="no sources"):
        list(ScriptedModel().stream("?", {"callbacks": [strict]}))
