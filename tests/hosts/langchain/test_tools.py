"""Turns with tools, structured output, and agents."""

from __future__ import annotations

import asyncio
import importlib.util
from functools import reduce
from operator import add
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState, ModelFallbackMiddleware
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_scripted import BAD, CANARY, GOOD, SHOWN, SOURCES, STOPPED, TEXT, AsyncScriptedModel, call, pieces, shows_canary
from pydantic import BaseModel

from sentence_gate import UsageError
from sentence_gate.langchain import GatedChatModel, SentenceGateMiddleware, SentenceGateRunnable, format_sources, tool_documents

PREAMBLES = [
    "Sure, I can help. Let me look that up now. ",
    f"{BAD} I'll check the lockers. ",
    "The answer is 45, it seems, but the tool will tell ",
]


@tool
def look_up(what: str) -> str:
    """Looks something up."""
    return f"found {what}"


@tool(response_format="content_and_artifact")
def search(what: str) -> tuple[str, list[Document]]:
    """Searches the documents."""
    found = [Document("The pool opens at eight."), Document("Lockers cost 3 euros.")]
    return "\n".join(document.page_content for document in found), found


def said(text: str, finish: str | None = None) -> list[Any]:
    return [*pieces(text), *([{"response_metadata": {"finish_reason": finish}}] if finish else [])]


def model(*turns: list[Any], **more: Any) -> GatedChatModel:
    return GatedChatModel(AsyncScriptedModel(turns=list(turns)), sources=SOURCES, **more)


async def _listed(stream: Any) -> list[Any]:
    return [one async for one in stream]


WAYS = {
    "stream": lambda model: reduce(add, model.stream("When?")),
    "astream": lambda model: reduce(add, asyncio.run(_listed(model.astream("When?")))),
    "invoke": lambda model: model.invoke("When?"),
    "ainvoke": lambda model: asyncio.run(model.ainvoke("When?")),
}
ways = pytest.mark.parametrize("way", WAYS)


@ways
@pytest.mark.parametrize("preamble", PREAMBLES)
def test_a_failing_preamble_drops_the_text_and_not_the_call(way: str, preamble: str) -> None:
    gate = model([*said(preamble), call(), {"response_metadata": {"finish_reason": "tool_calls"}}])
    message = WAYS[way](gate.bind_tools([look_up]))
    assert message.content == ""
    assert [(one["name"], one["args"], one["id"]) for one in message.tool_calls] == [("look_up", {"what": "lockers"}, "call_1")]
    told = message.response_metadata
    assert told["finish_reason"] == "tool_calls"
    assert told["sentence_gate"]["tool_call"] is True
    assert told["sentence_gate"]["notice"] is None
    assert not shows_canary(message)


@ways
def test_a_good_preamble_is_shown(way: str) -> None:
    message = WAYS[way](model([*said(f"{GOOD} "), call()]).bind_tools([look_up]))
    assert message.content.strip() == SHOWN
    assert message.tool_calls
    assert message.response_metadata["sentence_gate"]["status"] == "accepted"


@ways
def test_text_behind_a_call_is_judged_too(way: str) -> None:
    message = WAYS[way](model([call(), *said(TEXT)]).bind_tools([look_up]))
    assert message.content == SHOWN
    assert message.tool_calls
    assert not shows_canary(message)


@ways
def test_a_turn_without_a_call_stops(way: str) -> None:
    gate = model(said(TEXT, "stop"))
    message = WAYS[way](gate.bind_tools([look_up]))
    assert message.content == STOPPED
    assert message.response_metadata["finish_reason"] == "content_filter"
    assert gate.llm.log == [f"exhausted {len(said(TEXT, 'stop'))}"]


@ways
@pytest.mark.parametrize(
    "nothing",
    [
        {"additional_kwargs": {"function_call": None}},
        {"additional_kwargs": {"tool_calls": []}},
        {"tool_call_chunks": [{"name": None, "args": "", "id": None, "index": 0, "type": "tool_call_chunk"}]},
    ],
)
def test_a_field_for_calls_without_one_is_no_call(way: str, nothing: dict[str, Any]) -> None:
    gate = model([nothing, *pieces(TEXT), nothing])
    message = WAYS[way](gate)
    assert (message.content, message.tool_calls) == (STOPPED, [])
    assert message.response_metadata["finish_reason"] == "content_filter"
    assert gate.llm.log == ["GeneratorExit 23"]


@ways
def test_a_turn_that_may_not_call_stops_at_once(way: str) -> None:
    gate = model(said(TEXT, "stop"))
    assert WAYS[way](gate.bind_tools([look_up], tool_choice="none")).content == STOPPED
    assert gate.llm.log == ["GeneratorExit 22"]


def test_tools_bound_before_the_gate_reach_the_provider() -> None:
    inner = AsyncScriptedModel(script=[*said("I look. "), call()])
    bound = inner.bind_tools([look_up], tool_choice="any").bind(stop=["x"]).with_config(tags=["t"], metadata={"m": 1})
    gate = GatedChatModel(bound, sources=SOURCES)
    assert gate.invoke("When?").tool_calls
    sent = inner.calls[0]
    assert [one["function"]["name"] for one in sent["tools"]] == ["look_up"]
    assert sent["tool_choice"] == "any"
    assert gate.tags == ["t"]
    assert gate.metadata is not None
    assert gate.metadata["m"] == 1
    assert sent["stop"] == ["x"]
    assert gate.invoke("When?", stop=["y"])
    assert inner.calls[1]["stop"] == ["y"]
    assert "sources" not in sent


def test_the_no_answer_token_before_a_call_is_no_refusal() -> None:
    message = model([*said("NO_ANSWER "), call()]).bind_tools([look_up]).invoke("When?")
    assert message.content == ""
    assert message.tool_calls


def test_a_call_that_was_cut_keeps_its_reason() -> None:
    cut = call(args='{"what": "lo')
    message = model([*said("I look. "), cut, {"response_metadata": {"finish_reason": "length"}}]).bind_tools([look_up]).invoke("When?")
    assert message.invalid_tool_calls or message.tool_calls
    assert message.response_metadata["finish_reason"] == "length"
    assert "I look" not in message.content


# ---------- structured output ----------


class Hours(BaseModel):
    """When the pool opens."""

    opens: str


def test_structured_output_through_a_call() -> None:
    turn = [*said(f"{BAD} "), call("Hours", '{"opens": "8"}')]
    for gate in (model(turn), GatedChatModel(AsyncScriptedModel(script=turn))):  # no sources needed
        made = gate.with_structured_output(Hours)
        assert made.invoke("When?") == Hours(opens="8")
        assert asyncio.run(made.ainvoke("When?")) == Hours(opens="8")
        raw = gate.with_structured_output(Hours, include_raw=True).invoke("When?")
        assert raw["parsed"] == Hours(opens="8")
        assert not shows_canary(raw)
        assert not shows_canary(asyncio.run(_listed(made.astream_events("When?", version="v2"))))


def test_json_as_text_passes_by_choice() -> None:
    turn = ['{"opens": ', '"45"}']
    json = {"type": "json_schema", "json_schema": {"name": "hours", "schema": {}}}
    for way in WAYS.values():
        assert way(model(turn).bind(response_format=json)).content == "".join(turn)
    with pytest.raises(UsageError, match="refuse"):
        model(turn, structured="refuse").invoke("When?", response_format=json)
    with pytest.raises(UsageError, match="refuse"):
        model(turn, structured="refuse").with_structured_output(Hours)


@pytest.mark.parametrize("given", [{"type": "text"}, "text", None, "markdown", {"verbosity": "low"}])
def test_what_asks_for_no_json_is_judged(given: Any) -> None:
    for name in ("response_format", "format", "text", "output_config"):
        assert model(said(TEXT)).invoke("When?", **{name: given}).content == STOPPED


# ---------- agents ----------


TURNS = ([*said(PREAMBLES[0]), call("search")], said(f"{GOOD} Lockers cost 3 euros [S2]. They cost 45 {CANARY} [S2]. More"))
AGENT_SHOWN = "The pool opens at eight. Lockers cost 3 euros."
ASKED = {"messages": [HumanMessage("When?")]}


def agent(kind: str, **more: Any) -> tuple[Any, AsyncScriptedModel]:
    inner = AsyncScriptedModel(turns=list(TURNS))
    if kind == "middleware":
        return create_agent(inner, [search], middleware=[SentenceGateMiddleware()], **more), inner
    return create_agent(GatedChatModel(inner, sources=tool_documents), [search], **more), inner


kinds = pytest.mark.parametrize("kind", ["middleware", "model"])


@kinds
@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_agent(kind: str, asynchronous: bool) -> None:
    made, inner = agent(kind)
    found = asyncio.run(made.ainvoke(ASKED)) if asynchronous else made.invoke(ASKED)
    last = found["messages"][-1]
    assert last.content.startswith(AGENT_SHOWN)
    assert last.response_metadata["sentence_gate"]["status"] == "stopped"
    assert not shows_canary(found)
    assert len(inner.log) == 2


@kinds
@pytest.mark.parametrize("mode", ["messages", "updates", "values", "custom", ["messages", "updates", "values", "custom"]])
def test_what_an_agents_listeners_see(kind: str, mode: Any) -> None:
    found = list(agent(kind)[0].stream(ASKED, stream_mode=mode))
    assert found
    assert not shows_canary(found)
    found = asyncio.run(_listed(agent(kind)[0].astream(ASKED, stream_mode=mode)))
    assert not shows_canary(found)


@kinds
def test_an_agents_events(kind: str) -> None:
    events = asyncio.run(_listed(agent(kind)[0].astream_events(ASKED, version="v2")))
    assert not shows_canary(events)
    told = [event["data"]["status"] for event in events if event["event"] == "on_custom_event"]
    assert told == ["stopped"]  # the answer; a preamble that is dropped is no stop


@kinds
def test_an_agents_sentences_come_one_by_one(kind: str) -> None:
    shown = [message.content for message, _ in agent(kind)[0].stream(ASKED, stream_mode="messages") if not isinstance(message, ToolMessage)]
    assert [text for text in shown if text][:2] == ["The pool opens at eight.", " Lockers cost 3 euros."]


if hasattr(BaseChatModel, "_chat_model_stream_v3"):

    @kinds
    @pytest.mark.filterwarnings("ignore:.*beta:")
    @pytest.mark.filterwarnings("ignore:.*experimental:")
    def test_an_agents_third_protocol(kind: str) -> None:
        found = list(agent(kind)[0].stream_events(ASKED, version="v3"))
        assert "opens at eight" in repr(found)
        assert not shows_canary(found)


class Swap(AgentMiddleware[Any, Any, Any]):
    """Exchanges the model for a raw one."""

    def __init__(self, raw: Any) -> None:
        super().__init__()
        self._raw = raw

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(model=self._raw))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request.override(model=self._raw))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_middleware_must_be_last_and_says_so(asynchronous: bool) -> None:
    raw = AsyncScriptedModel(script=said(TEXT))
    last = create_agent(raw, [], middleware=[Swap(raw), SentenceGateMiddleware(sources=SOURCES)])
    not_last = create_agent(raw, [], middleware=[SentenceGateMiddleware(sources=SOURCES), Swap(raw)])
    assert last.invoke(ASKED)["messages"][-1].content == STOPPED
    raw.log.clear()
    with pytest.raises(UsageError, match="must be the last"):
        asyncio.run(not_last.ainvoke(ASKED)) if asynchronous else not_last.invoke(ASKED)
    assert raw.log == []


def test_a_fallback_middleware_does_not_get_around_it() -> None:
    fails, raw = AsyncScriptedModel(script=[RuntimeError("down")]), AsyncScriptedModel(script=said(TEXT))
    made = create_agent(fails, [], middleware=[ModelFallbackMiddleware(raw), SentenceGateMiddleware(sources=SOURCES)])
    found = list(made.stream(ASKED, stream_mode=["messages", "values"]))
    assert not shows_canary(found)
    assert found[-1][1]["messages"][-1].content == STOPPED


def test_the_middleware_leaves_a_gated_model_its_policy_and_gives_it_sources() -> None:
    gate = GatedChatModel(AsyncScriptedModel(script=said(TEXT)))
    made = create_agent(gate, [], middleware=[SentenceGateMiddleware(sources=SOURCES)])
    assert made.invoke(ASKED)["messages"][-1].content == STOPPED


class Retrieved(AgentState[Any]):
    context: list[Document]


class Retrieve(AgentMiddleware[Any, Any, Any]):
    state_schema = Retrieved

    def before_model(self, state: Any, runtime: Any) -> Any:
        return {"context": [Document(text) for text in SOURCES]}


def test_sources_from_the_agents_state() -> None:
    inner = AsyncScriptedModel(script=said(TEXT))
    made = create_agent(inner, [], middleware=[Retrieve(), SentenceGateMiddleware(sources=lambda state: state["context"])])
    assert made.invoke(ASKED)["messages"][-1].content == STOPPED
    assert asyncio.run(made.ainvoke(ASKED))["messages"][-1].content == STOPPED

    async def found(state: Any) -> Any:
        return state["context"]

    made = create_agent(inner, [], middleware=[Retrieve(), SentenceGateMiddleware(sources=found)])
    assert asyncio.run(made.ainvoke(ASKED))["messages"][-1].content == STOPPED
    with pytest.raises(UsageError, match="async"):
        made.invoke(ASKED)


def test_documents_of_tools_are_numbered_over_all_calls() -> None:
    inner = AsyncScriptedModel(
        turns=[[call("search", '{"what": "a"}', "c1")], [call("search", '{"what": "b"}', "c2")], said("Lockers cost 3 euros [S4].")]
    )
    found = create_agent(inner, [search], middleware=[SentenceGateMiddleware()]).invoke(ASKED)
    assert found["messages"][-1].content == "Lockers cost 3 euros."
    shown = [message.content for message in inner.calls[-1]["messages"] if isinstance(message, ToolMessage)]
    documents = [Document("The pool opens at eight."), Document("Lockers cost 3 euros.")]
    assert "\n\n".join(shown) == format_sources(documents * 2)
    kept = [message.content for message in found["messages"] if isinstance(message, ToolMessage)]
    assert kept == ["The pool opens at eight.\nLockers cost 3 euros."] * 2


@kinds
@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
def test_response_formats(kind: str, strategy: Any) -> None:
    turn = [*said(f"{BAD} "), call("Hours", '{"opens": "8"}')] if strategy is ToolStrategy else ['{"opens":', ' "8"}']
    inner = AsyncScriptedModel(turns=[turn])
    if kind == "middleware":
        made = create_agent(inner, [], middleware=[SentenceGateMiddleware()], response_format=strategy(Hours))
    else:
        made = create_agent(GatedChatModel(inner, sources=SOURCES), [], response_format=strategy(Hours))
    found = made.invoke(ASKED)
    assert found["structured_response"] == Hours(opens="8")
    assert not shows_canary(found)


def test_a_response_format_left_to_the_agent() -> None:
    inner = AsyncScriptedModel(turns=[[call("Hours", '{"opens": "8"}')]])
    assert create_agent(GatedChatModel(inner, sources=SOURCES), [], response_format=Hours).invoke(ASKED)["structured_response"]


if importlib.util.find_spec("deepagents"):

    @pytest.mark.filterwarnings("ignore")
    def test_a_deep_agent() -> None:
        from deepagents import create_deep_agent

        inner = AsyncScriptedModel(script=said(TEXT))
        gate = SentenceGateMiddleware(sources=SOURCES, must_be_last=False)  # it appends a middleware of its own
        for made in (create_deep_agent(model=GatedChatModel(inner, sources=SOURCES)), create_deep_agent(model=inner, middleware=[gate])):
            found = list(made.stream(ASKED, stream_mode=["messages", "updates", "values"]))
            assert "opens at eight" in repr(found)
            assert not shows_canary(found)


def test_the_gate_in_the_pipe_with_tools() -> None:
    inner = AsyncScriptedModel(script=[*said(PREAMBLES[0]), call()])
    chain = inner.bind_tools([look_up]) | SentenceGateRunnable(sources=SOURCES, tools=True)
    message = reduce(add, chain.stream("When?"))
    assert message.content == ""
    assert message.tool_calls
    assert chain.invoke("When?").tool_calls


def test_a_call_of_a_tool_that_was_bound_elsewhere_is_read_to_its_end() -> None:
    parts = [call(args='{"what":'), *said(TEXT), call(args=' "lockers"}', name="", identity="")]
    message = model(parts).invoke("When?")
    assert message.content == SHOWN
    assert [one["args"] for one in message.tool_calls] == [{"what": "lockers"}]
