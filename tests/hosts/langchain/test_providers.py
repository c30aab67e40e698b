"""Real provider packages against scripted servers on the loopback interface."""

from __future__ import annotations

import asyncio
from functools import reduce
from importlib.metadata import version
from operator import add
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langchain_scripted import GOOD, SHOWN, SOURCES, STOPPED, TEXT, pieces, shows_canary
from langchain_server import anthropic, openai_chat, openai_responses, serving
from pydantic import BaseModel

from sentence_gate.langchain import GatedChatModel, SentenceGateRunnable, SentenceGateWarning

LONG = TEXT + " And so on." * 60
FINE = f"{GOOD} It opens at eight on every day [S1]."
FINE_SHOWN = "The pool opens at eight. It opens at eight on every day."


def chat_openai(url: str, **more: Any) -> Any:
    return ChatOpenAI(model="gpt-test", base_url=f"{url}/v1", api_key="none", max_retries=0, stream_usage=True, **more)


def chat_responses(url: str, **more: Any) -> Any:
    return chat_openai(url, use_responses_api=True, **more)


def chat_anthropic(url: str, **more: Any) -> Any:
    return ChatAnthropic(model="claude-test", base_url=url, api_key="none", max_retries=0, max_tokens=100, **more)


def deciding(cut: list[str]) -> int:
    """The number of the first piece that shows where the failing sentence ends."""
    return next(number for number in range(1, len(cut)) if len("".join(cut[:number])) > TEXT.index(" The end") + 1)


PROVIDERS = {
    "openai": (chat_openai, openai_chat, 1),
    "openai responses": (chat_responses, openai_responses, 3),
    "anthropic": (chat_anthropic, anthropic, 2),
}
providers = pytest.mark.parametrize("name", PROVIDERS)


async def _listed(stream: Any) -> list[Any]:
    return [one async for one in stream]


WAYS = {
    "stream": lambda model: reduce(add, model.stream("When?")),
    "astream": lambda model: reduce(add, asyncio.run(_listed(model.astream("When?")))),
    "invoke": lambda model: model.invoke("When?"),
    "ainvoke": lambda model: asyncio.run(model.ainvoke("When?")),
}
ways = pytest.mark.parametrize("way", WAYS)


@providers
@ways
def test_the_server_sees_the_connection_closed(name: str, way: str) -> None:
    make, events, before = PROVIDERS[name]
    cut = pieces(LONG)
    decides = before + deciding(cut)
    with serving((events(cut), decides)) as (url, seen):
        message = WAYS[way](GatedChatModel(make(url), sources=SOURCES))
        assert seen.finished.acquire(timeout=20)
    assert message.text == STOPPED
    assert seen.ended == ["closed by the client"]
    assert seen.sent[0] <= decides + 2
    assert seen.sent[0] < len(events(cut)) / 2


@providers
@ways
def test_a_good_answer_with_its_metadata_and_usage(name: str, way: str) -> None:
    make, events, _ = PROVIDERS[name]
    with serving((events(pieces(FINE)), None)) as (url, seen):
        model = make(url)
        message = WAYS[way](GatedChatModel(model, sources=SOURCES))
        bare = reduce(add, model.stream("When?"))
    assert message.text == FINE_SHOWN
    report = message.response_metadata["sentence_gate"]
    assert (report["status"], report["ending"]["kind"], report["usage"]["kind"]) == ("accepted", "completed", "reported")
    assert message.usage_metadata == bare.usage_metadata
    for key in ("finish_reason", "stop_reason", "model_name", "model_provider", "id", "status"):
        assert message.response_metadata.get(key) == bare.response_metadata.get(key)
    assert seen.ended == ["complete", "complete"]


CUTS = {
    "openai": lambda: openai_chat(pieces(f"{GOOD} It closes at"), "length"),
    "openai responses": lambda: openai_responses(pieces(f"{GOOD} It closes at"), "incomplete"),
    "anthropic": lambda: anthropic(pieces(f"{GOOD} It closes at"), "max_tokens"),
}


@providers
def test_an_answer_cut_by_the_output_limit(name: str) -> None:
    with serving((CUTS[name](), None)) as (url, _):
        message = GatedChatModel(PROVIDERS[name][0](url), sources=SOURCES).invoke("When?")
    report = message.response_metadata["sentence_gate"]
    assert report["status"] == "truncated"
    assert message.text == f"{SHOWN}\n\n{report['notice']}"


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_a_stream_without_its_terminal_event_is_no_complete_answer(name: str) -> None:
    make, events, _ = PROVIDERS[name]
    with serving((events(pieces(FINE), None), None)) as (url, _):
        message = GatedChatModel(make(url), sources=SOURCES).invoke("When?")
    report = message.response_metadata["sentence_gate"]
    assert (report["status"], report["ending"]["kind"]) == ("failed", "no_evidence")
    assert message.text == f"{SHOWN}\n\n{report['notice']}"


@tool
def look_up(what: str) -> str:
    """Looks something up."""
    return f"found {what}"


CALLS = {
    "openai": lambda said: openai_chat(
        pieces(said),
        "tool_calls",
        calls=[{"index": 0, "id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": '{"what": "lockers"}'}}],
    ),
    "anthropic": lambda said: anthropic(pieces(said), "tool_use", call=("look_up", {"what": "lockers"})),
}


@pytest.mark.parametrize("name", CALLS)
@ways
def test_a_call_of_a_tool_passes_and_its_failing_preamble_does_not(name: str, way: str) -> None:
    with serving((CALLS[name]("Sure, I can help. Let me look that up now. "), None)) as (url, seen):
        model = GatedChatModel(PROVIDERS[name][0](url), sources=SOURCES).bind_tools([look_up])
        message = WAYS[way](model)
    assert message.text == ""
    assert [(call["name"], call["args"]) for call in message.tool_calls] == [("look_up", {"what": "lockers"})]
    assert message.response_metadata["sentence_gate"]["tool_call"] is True
    assert seen.bodies[0]["tools"]


def test_reasoning_goes_back_to_the_provider_if_it_may_pass() -> None:
    answers = [(anthropic(["Let me see. "], "tool_use", thinking="Perhaps the lockers?", call=("look_up", {"what": "x"})), None)]
    answers.append((anthropic(pieces(FINE)), None))
    for reasoning in ("pass", "drop"):
        with serving(*answers) as (url, seen):
            inner = chat_anthropic(url, thinking={"type": "enabled", "budget_tokens": 1024})
            model = GatedChatModel(inner, sources=SOURCES, reasoning=reasoning).bind_tools([look_up])  # type: ignore[call-arg]
            asked = [HumanMessage("When?")]
            if reasoning == "drop":
                with pytest.warns(SentenceGateWarning, match="reasoning"):
                    first = model.invoke(asked)
            else:
                first = model.invoke(asked)
            second = model.invoke([*asked, first, *(look_up.invoke(call) for call in first.tool_calls)])
        sent = seen.bodies[1]["messages"][1]["content"]
        kinds = [block["type"] for block in sent]
        if reasoning == "pass":
            assert kinds == ["thinking", "tool_use"]
            assert sent[0] == {"type": "thinking", "thinking": "Perhaps the lockers?", "signature": "c2lnbmVk"}
        else:
            assert kinds == ["tool_use"]
        assert second.text == FINE_SHOWN


# langchain-anthropic 1.4.1 leaves the client's stream to the garbage collector (1.7.10 does not); the gate reaches it as a model, not
# in a pipe.
OLD = tuple(map(int, version("langchain-anthropic").split(".")[:2])) < (1, 5)


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("name", ["openai"] if OLD else ["openai", "anthropic"])
def test_the_gate_in_the_pipe_closes_the_connection_too(name: str, how: str) -> None:
    make, events, before = PROVIDERS[name]
    cut = pieces(LONG)
    decides = before + deciding(cut)
    with serving((events(cut), decides)) as (url, seen):
        chain = ChatPromptTemplate.from_messages([("human", "{q}")]) | make(url) | SentenceGateRunnable(sources=SOURCES)
        found = list(chain.stream({"q": "x"})) if how == "sync" else asyncio.run(_listed(chain.astream({"q": "x"})))
        assert seen.finished.acquire(timeout=20)
    assert reduce(add, found).text == STOPPED
    assert seen.ended == ["closed by the client"]
    assert seen.sent[0] <= decides + 2


@providers
def test_no_listener_sees_the_canary(name: str) -> None:
    make, events, _ = PROVIDERS[name]
    with serving((events(pieces(TEXT, 1)), None)) as (url, _):
        model = GatedChatModel(make(url), sources=SOURCES)
        found = asyncio.run(_listed((model | (lambda message: message)).astream_events("When?", version="v2")))
    assert not shows_canary(found)
    assert any("opens at eight" in repr(one) for one in found)


class Hours(BaseModel):
    """When the pool opens."""

    opens: str


STRUCTURED = {
    "openai, a call": (
        chat_openai,
        {"method": "function_calling"},
        lambda: openai_chat(
            pieces(f"{TEXT} "),
            "tool_calls",
            calls=[{"index": 0, "id": "call_1", "type": "function", "function": {"name": "Hours", "arguments": '{"opens": "8"}'}}],
        ),
    ),
    "openai, a schema": (chat_openai, {"method": "json_schema"}, lambda: openai_chat(['{"opens"', ': "8"}'])),
    "openai, json": (chat_openai, {"method": "json_mode"}, lambda: openai_chat(['{"opens"', ': "8"}'])),
    "anthropic, a call": (chat_anthropic, {}, lambda: anthropic(pieces(f"{TEXT} "), "tool_use", call=("Hours", {"opens": "8"}))),
    "anthropic, a schema": (chat_anthropic, {"method": "json_schema"}, lambda: anthropic(['{"opens"', ': "8"}'])),
}


@pytest.mark.filterwarnings("ignore:.*Pydantic serializer warnings")
@pytest.mark.parametrize("what", STRUCTURED)
def test_structured_output(what: str) -> None:
    make, more, events = STRUCTURED[what]
    with serving((events(), None)) as (url, _):
        made = GatedChatModel(make(url), sources=SOURCES).with_structured_output(Hours, **more)
        assert made.invoke("When?") == Hours(opens="8")
        assert list(made.stream("When?"))[-1] == Hours(opens="8")

        async def main() -> list[Any]:  # a client keeps its event loop
            assert await made.ainvoke("When?") == Hours(opens="8")
            return await _listed(made.astream_events("When?", version="v2"))

        found = asyncio.run(main())
    assert not shows_canary(found)
