"""No listener of LangChain or LangGraph sees what was withheld: a canary in the failing sentence is in the repr of nothing."""

from __future__ import annotations

import asyncio
import importlib.util
import io
import warnings
from contextlib import redirect_stdout
from functools import reduce
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.globals import set_debug, set_verbose
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tracers import BaseTracer
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from langchain_scripted import BAD, CANARY, GOOD, SOURCES, STOPPED, AsyncScriptedModel, call, pieces, shows_canary
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from sentence_gate import Policy
from sentence_gate.langchain import GatedChatModel, SentenceGateRunnable, SentenceGateWarning, gated

PROMPT = ChatPromptTemplate.from_messages([("human", "{question}")])
ASKED = {"question": "When does the pool open?"}
HAS_V3 = hasattr(BaseChatModel, "_chat_model_stream_v3")

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*astream_log:"),
    pytest.mark.filterwarnings("ignore:.*astream_events:"),
    pytest.mark.filterwarnings("ignore:.*version=.v1.:"),
    pytest.mark.filterwarnings("ignore:.*beta:"),
]

CORNERS = [
    *pieces(GOOD + " ", 1),
    {"additional_kwargs": {"reasoning_content": f"let me think {CANARY}"}},
    {"additional_kwargs": {"refusal": "", "parsed": {"a": CANARY}}},
    {"content": [{"type": "reasoning", "reasoning": f"hm {CANARY}", "index": 0}]},
    {"content": [{"type": "thinking", "thinking": f"hm {CANARY}", "index": 1}]},
    {"content": [{"type": "text", "text": "Lockers cost", "index": 2, "annotations": [{"type": "citation", "cited_text": CANARY}]}]},
    {"content": [{"type": "non_standard", "value": {"raw": CANARY}}]},
    {"content": "", "response_metadata": {"logprobs": {"content": [{"token": CANARY}]}, "model_name": "m", "note": CANARY}},
    f" 45 {CANARY} since May [S1].",
    " The end",
    " is near [S1].",
]
SCRIPTS = {"by character": pieces(size=1), "by piece": pieces(size=7), "whole": [f"{GOOD} {BAD} The end."], "corners": CORNERS}
scripts = pytest.mark.parametrize("script", SCRIPTS)


class Everything(BaseTracer):
    """A tracer that keeps whole runs, and everything that any callback hands over."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def _persist_run(self, run: Any) -> None:
        self.seen += runs_of(run)

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> Any:
        self.seen.append((token, kwargs.get("chunk")))
        return super().on_llm_new_token(token, **kwargs)


def runs_of(run: Any) -> list[dict[str, Any]]:
    """A run and all inside it, as plain data."""
    told = {name: getattr(run, name) for name in ("name", "inputs", "outputs", "error", "events", "extra", "serialized", "tags")}
    return [told, *(inner for child in run.child_runs for inner in runs_of(child))]


class Listener(BaseCallbackHandler):
    """Keeps the arguments of every callback."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_"):
            return lambda *args, **kwargs: self.seen.append((name, args, kwargs))
        return super().__getattribute__(name)


class StreamListener(Listener, _StreamingCallbackHandler):
    """Makes `invoke` stream, as LangGraph's messages mode does."""

    def tap_output_aiter(self, run_id: Any, output: Any) -> Any:
        return output

    def tap_output_iter(self, run_id: Any, output: Any) -> Any:
        return output


def model(script: str) -> GatedChatModel:
    return GatedChatModel(AsyncScriptedModel(script=SCRIPTS[script]), sources=SOURCES)


def chain(script: str) -> Any:
    return PROMPT | model(script) | StrOutputParser()


async def listed(stream: Any) -> list[Any]:
    return [one async for one in stream]


def clean(*found: object) -> None:
    assert not shows_canary(*found)
    assert any("opens at eight" in repr(one) for one in found)  # it was looked at in the right place


@scripts
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_events(script: str, version: str) -> None:
    clean(asyncio.run(listed(chain(script).astream_events(ASKED, version=version))))
    clean(asyncio.run(listed(model(script).astream_events("When?", version=version))))


@scripts
def test_log(script: str) -> None:
    clean(asyncio.run(listed(chain(script).astream_log(ASKED))))
    clean(asyncio.run(listed(chain(script).astream_log(ASKED, diff=False))))


@scripts
@pytest.mark.parametrize("handler", [Everything, Listener, StreamListener])
@pytest.mark.parametrize("how", ["stream", "astream", "invoke", "ainvoke", "batch", "abatch"])
def test_callbacks_and_tracers(script: str, handler: Any, how: str) -> None:
    listener = handler()
    config = {"callbacks": [listener]}
    made = chain(script)
    match how:
        case "stream":
            found: Any = list(made.stream(ASKED, config))
        case "astream":
            found = asyncio.run(listed(made.astream(ASKED, config)))
        case "batch":
            found = made.batch([ASKED, ASKED], config)
        case "abatch":
            found = asyncio.run(made.abatch([ASKED, ASKED], config))
        case "ainvoke":
            found = asyncio.run(made.ainvoke(ASKED, config))
        case _:
            found = made.invoke(ASKED, config)
    clean(found)
    clean(listener.seen)


@pytest.mark.parametrize("switch", [set_debug, set_verbose])
def test_debug_output(switch: Any) -> None:
    shown = io.StringIO()
    switch(True)
    try:
        with redirect_stdout(shown):
            chain("by piece").invoke(ASKED)
    finally:
        switch(False)
    assert CANARY not in shown.getvalue()
    if switch is set_debug:
        assert "opens at eight" in shown.getvalue()


if HAS_V3:

    @scripts
    def test_events_v3(script: str) -> None:
        stream = model(script).stream_events("When?", version="v3")
        clean(list(stream), stream.output)

        async def main() -> None:
            stream = await model(script).astream_events("When?", version="v3")
            clean([event async for event in stream], await stream.output)

        asyncio.run(main())

    def test_the_shape_of_v3() -> None:
        stream = model("by piece").stream_events("When?", version="v3")
        events = list(stream)
        assert [event["event"] for event in events] == [
            "message-start",
            "content-block-start",
            "content-block-delta",
            "content-block-delta",
            "content-block-finish",
            "message-finish",
        ]
        told = events[-1]["metadata"]
        assert told["finish_reason"] == "content_filter"
        assert told["sentence_gate"]["status"] == "stopped"
        assert stream.output.response_metadata["sentence_gate"]["status"] == "stopped"
        assert str(stream.text) == STOPPED


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


def graph(script: str) -> Any:
    gate = model(script)
    builder = StateGraph(State)
    builder.add_node("answer", lambda state: {"messages": [gate.invoke(state["messages"])]})
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder.compile()


@scripts
def test_graph(script: str) -> None:
    asked = {"messages": [("human", "When?")]}
    for mode in ("messages", "updates", "values", "debug", "tasks", "checkpoints"):
        found = list(graph(script).stream(asked, stream_mode=mode))
        assert not shows_canary(found)
    clean(asyncio.run(listed(graph(script).astream(asked, stream_mode=["messages", "updates", "values", "custom"]))))
    clean(asyncio.run(listed(graph(script).astream_events(asked, version="v2"))))


def test_graph_shows_sentences_as_they_pass() -> None:
    shown = [message.content for message, _ in graph("by character").stream({"messages": [("human", "When?")]}, stream_mode="messages")]
    assert shown == ["The pool opens at eight.", STOPPED.removeprefix("The pool opens at eight.")]


def test_graph_gets_the_stop_in_its_custom_stream() -> None:
    found = list(graph("by piece").stream({"messages": [("human", "When?")]}, stream_mode="custom"))
    assert [one["sentence_gate"]["status"] for one in found] == ["stopped"]


def test_the_tracer_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tracer that LangChain adds by itself would see the inner model's run, if it had one."""
    from langchain_core.callbacks import manager

    tracer = Everything()
    real = manager._configure

    def traced(cls: Any, *args: Any, **kwargs: Any) -> Any:
        found = real(cls, *args, **kwargs)
        if tracer not in found.handlers:
            found.add_handler(tracer, True)
        return found

    monkeypatch.setattr(manager, "_configure", traced)
    chain("by piece").invoke(ASKED)
    list(chain("by piece").stream(ASKED))
    clean(tracer.seen)


@scripts
def test_gated_chain(script: str) -> None:
    made = gated(PROMPT | AsyncScriptedModel(script=SCRIPTS[script]) | StrOutputParser(), sources=SOURCES)
    clean(asyncio.run(listed(made.astream_events(ASKED, version="v2"))))
    clean(list(made.stream(ASKED)))


@pytest.mark.parametrize("mode", ["omit", "stop"])
def test_reports_and_reprs(mode: Any) -> None:
    reports: list[Any] = []
    gate = GatedChatModel(AsyncScriptedModel(), sources=SOURCES, policy=Policy(on_violation=mode), on_report=reports.append)
    message = gate.invoke("When?")
    assert not shows_canary(gate.policy, gate.sources, message, reports, [report.to_dict() for report in reports])
    assert "sources" not in repr(gate)
    assert any(violation.detail for violation in reports[0].violations)


def test_the_gate_in_the_pipe_guards_what_comes_out_and_warns_of_the_rest() -> None:
    """What it can't hide is known, and pinned here."""

    def made() -> Any:
        return PROMPT | AsyncScriptedModel() | SentenceGateRunnable(sources=SOURCES) | StrOutputParser()

    clean(list(made().stream(ASKED)), asyncio.run(listed(made().astream(ASKED))), made().invoke(ASKED), made().batch([ASKED]))
    with pytest.warns(SentenceGateWarning, match="raw tokens"):
        events = asyncio.run(listed(made().astream_events(ASKED, version="v2")))
    leaking = {event["event"] for event in events if shows_canary(event)}
    assert leaking <= {"on_chat_model_stream", "on_chat_model_end"}
    assert "on_chat_model_stream" in leaking
    own = [event for event in events if event["name"] == "SentenceGate"]
    assert own
    assert not shows_canary(own)
    tracer = Everything()
    made().invoke(ASKED, {"callbacks": [tracer]})
    runs = [run for run in tracer.seen if isinstance(run, dict)]
    own = [run for run in runs if run["name"] == "SentenceGate"]
    assert own
    assert not shows_canary(own)


if importlib.util.find_spec("langserve"):  # it needs the newest LangChain

    def test_langserve() -> None:
        from fastapi import FastAPI
        from fastapi.testclient import TestClient

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from langserve import add_routes

            app = FastAPI()
            add_routes(app, chain("by piece"))
            client = TestClient(app)
            for path in ("invoke", "stream", "stream_log", "stream_events"):
                told = client.post(f"/{path}", json={"input": ASKED}).text
                assert CANARY not in told
                assert "\\u2603" not in told
                assert "opens at eight" in told


class Router(BaseChatModel):
    """A model that calls another one by itself, as its public self."""

    inner: Any

    @property
    def _llm_type(self) -> str:
        return "router"

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        for said in self.inner.stream(messages):
            yield ChatGenerationChunk(message=said)

    async def _astream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        async for said in self.inner.astream(messages):
            yield ChatGenerationChunk(message=said)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.inner.invoke(messages))])


@pytest.mark.parametrize("more", [{}, {"disable_streaming": True}])
def test_a_model_inside_the_inner_model_is_not_heard(more: Any) -> None:
    made = PROMPT | GatedChatModel(Router(inner=AsyncScriptedModel(), **more), sources=SOURCES) | StrOutputParser()
    clean(asyncio.run(listed(made.astream_events(ASKED, version="v2"))))
    for run in (lambda config: list(made.stream(ASKED, config)), lambda config: made.invoke(ASKED, config)):
        listener = Listener()
        run({"callbacks": [listener]})
        clean(listener.seen)
    listener = Listener()
    asyncio.run(made.ainvoke(ASKED, {"callbacks": [listener]}))
    clean(listener.seen)


def test_a_graph_hands_its_config_to_the_gate() -> None:
    gate = GatedChatModel(AsyncScriptedModel())
    builder = StateGraph(State)
    builder.add_node("answer", lambda state: {"messages": [gate.invoke(state["messages"])]})
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    config: Any = {"configurable": {"sentence_gate_sources": SOURCES}}
    asked: Any = {"messages": [("human", "When?")]}
    assert builder.compile().invoke(asked, config)["messages"][-1].content == STOPPED
    assert asyncio.run(builder.compile().ainvoke(asked, config))["messages"][-1].content == STOPPED


def test_calls_in_every_output_version() -> None:
    for version in (None, "v1"):
        calls = [{**one, "index": 1} for one in call()["tool_call_chunks"]]
        inner = AsyncScriptedModel(script=[*pieces(f"{GOOD} {BAD} It"), {"tool_call_chunks": calls}])
        tools = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]
        gate = GatedChatModel(inner, sources=SOURCES, output_version=version).bind(tools=tools)
        for message in (gate.invoke("When?"), reduce(add, gate.stream("When?"))):
            assert message.text == "The pool opens at eight."
            assert [one["name"] for one in message.tool_calls] == ["look_up"]
            assert [block["type"] for block in message.content_blocks] in (["text", "tool_call"], ["text", "tool_call_chunk"])
            assert not shows_canary(message)


def test_what_the_gate_in_the_pipe_can_not_hide_in_a_graph() -> None:
    chain = PROMPT | AsyncScriptedModel() | SentenceGateRunnable(sources=SOURCES)
    builder = StateGraph(State)
    builder.add_node("answer", lambda state: {"messages": [chain.invoke({"question": state["messages"][-1].content})]})
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    asked: Any = {"messages": [("human", "When?")]}
    for mode in ("updates", "values", "custom"):
        assert not shows_canary(list(builder.compile().stream(asked, stream_mode=mode)))
    with pytest.warns(SentenceGateWarning, match="raw tokens"):
        assert shows_canary(list(builder.compile().stream(asked, stream_mode="messages")))
    with pytest.warns(SentenceGateWarning, match="raw tokens"):
        assert shows_canary(asyncio.run(listed(chain.astream_log(ASKED))))
