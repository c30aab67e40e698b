"""What the message of an answer looks like: its text, its last chunk, its metadata and usage."""

from __future__ import annotations

import asyncio
import itertools
from functools import reduce
from operator import add
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.messages import AIMessage, HumanMessage
from langchain_scripted import (
    BAD,
    CANARY,
    GOOD,
    NOTICE,
    SHOWN,
    SOURCES,
    STOPPED,
    TEXT,
    AsyncScriptedModel,
    WholeModel,
    pieces,
    shows_canary,
)

from sentence_gate import Ending, Policy, judge
from sentence_gate.langchain import GatedChatModel, SentenceGateRunnable, SentenceGateStop

FINE = f"{GOOD} It opens at eight on every day [S1]."
USAGE = {"input_tokens": 7, "output_tokens": 9, "total_tokens": 16}


def gate(script: list[Any], kind: type = AsyncScriptedModel, **more: Any) -> GatedChatModel:
    return GatedChatModel(kind(script=script), sources=SOURCES, **more)


def merged(model: Any, **more: Any) -> Any:
    return reduce(add, model.stream("When?", **more))


WAYS = {
    "invoke": lambda model: model.invoke("When?"),
    "ainvoke": lambda model: asyncio.run(model.ainvoke("When?")),
    "stream": merged,
    "astream": lambda model: reduce(add, asyncio.run(_listed(model.astream("When?")))),
    "batch": lambda model: model.batch(["When?"])[0],
    "abatch": lambda model: asyncio.run(model.abatch(["When?"]))[0],
    "generate": lambda model: model.generate([[HumanMessage("When?")]]).generations[0][0].message,
}


async def _listed(stream: Any) -> list[Any]:
    return [one async for one in stream]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_same_text_by_every_way_and_cutting(way: str, size: int) -> None:
    assert WAYS[way](gate(pieces(TEXT, size))).content == STOPPED
    assert WAYS[way](gate(pieces(FINE, size))).content == "The pool opens at eight. It opens at eight on every day."


@pytest.mark.parametrize("way", WAYS)
def test_a_model_without_a_stream(way: str) -> None:
    inner = WholeModel()
    found = WAYS[way](GatedChatModel(inner, sources=SOURCES))
    assert found.content == STOPPED
    assert found.response_metadata["finish_reason"] == "content_filter"
    assert inner.log == ["generated"]


def blocks(text: str, size: int) -> list[Any]:
    thought = {"content": [{"type": "reasoning", "reasoning": "hm, 45?", "index": 0}]}
    found: list[Any] = [thought]
    for number, piece in enumerate(pieces(text, size)):
        found += [{"content": [{"type": "text", "text": piece, "index": 1 + number % 2}]}, thought]
    return found


FORMS = {
    "text": lambda text, size: pieces(text, size),
    "blocks": blocks,
    "tagged reasoning": lambda text, size: pieces(f"<think>Perhaps 45? No [S9].</think>{text}", size),
    "strings in lists": lambda text, size: [{"content": [piece]} for piece in pieces(text, size)],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("version", [None, "v1"])
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_the_same_text_from_every_form(form: str, version: str | None, size: int) -> None:
    model = gate(FORMS[form](TEXT, size), output_version=version)
    message = merged(model)
    assert message.text == STOPPED
    assert all(block["type"] == "text" for block in message.content_blocks)
    assert model.invoke("When?").text == STOPPED


def text_of(piece: Any) -> str:
    return piece if isinstance(piece, str) else str(piece.text)


@given(cuts=st.lists(st.integers(0, len(TEXT)), max_size=20), mode=st.sampled_from(["stop", "omit", "observe"]))
def test_what_is_shown_is_what_the_core_releases(cuts: list[int], mode: Any) -> None:
    policy = Policy(on_violation=mode)
    edges = sorted({0, len(TEXT), *cuts})
    script: list[Any] = [TEXT[start:end] for start, end in itertools.pairwise(edges)]
    report = judge(TEXT, SOURCES, policy)
    expected = report.text + (f"\n\n{report.notice}" if report.notice else "")
    model = GatedChatModel(AsyncScriptedModel(script=script), sources=SOURCES, policy=policy)
    assert model.invoke("When?").content == expected
    gate_in_pipe = SentenceGateRunnable(sources=SOURCES, policy=policy)
    assert "".join(gate_in_pipe.transform(iter(script))) == expected


def test_the_last_chunk() -> None:
    script = [*pieces(), {"response_metadata": {"model_name": "late"}}]
    script.insert(0, {"response_metadata": {"model_name": "m", "model_provider": "p", "id": "resp_1", "logprobs": {"x": 1}}})
    chunks = list(gate(script).stream("When?"))
    assert [chunk.chunk_position for chunk in chunks] == [None, "last"]
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[0].response_metadata == {}
    told = merged(gate(script)).response_metadata
    report = told.pop("sentence_gate")
    assert told == {"finish_reason": "content_filter", "model_name": "m", "model_provider": "p"}
    assert (report["status"], report["notice"], report["tool_call"]) == ("stopped", NOTICE, False)
    assert report["sentences"] == 2
    assert report["cited"] == [1]
    assert [violation["check"] for violation in report["violations"]] == ["unsupported_value"]
    assert "text" not in report
    assert report["ending"]["kind"] == "cancelled"


def test_an_accepted_answer_keeps_the_providers_words() -> None:
    script = [
        {"response_metadata": {"model_provider": "openai"}},
        *pieces(FINE),
        {"response_metadata": {"finish_reason": "stop", "model_name": "m", "system_fingerprint": "fp"}},
        {"usage_metadata": USAGE},
    ]
    with get_usage_metadata_callback() as counted:
        message = gate(script).invoke("When?")
    assert isinstance(message, AIMessage)
    told = dict(message.response_metadata)
    assert told.pop("sentence_gate")["status"] == "accepted"
    assert told == {"finish_reason": "stop", "model_name": "m", "model_provider": "openai", "system_fingerprint": "fp"}
    assert message.usage_metadata == USAGE
    assert counted.usage_metadata == {"m": USAGE}


def test_usage_comes_in_parts_and_at_a_stop() -> None:
    start = {"usage_metadata": {"input_tokens": 7, "output_tokens": 0, "total_tokens": 7}}
    end = {"usage_metadata": {"input_tokens": 0, "output_tokens": 9, "total_tokens": 9}}
    assert gate([start, *pieces(FINE), end]).invoke("When?").usage_metadata == USAGE
    stopped = gate([start, *pieces(), end]).invoke("When?")
    assert stopped.usage_metadata == start["usage_metadata"]
    assert stopped.response_metadata["sentence_gate"]["usage"]["input_tokens"] == 7


CUTS = [
    {"finish_reason": "length"},
    {"stop_reason": "max_tokens"},
    {"finish_reason": "MAX_TOKENS"},
    {"stopReason": "max_tokens"},
    {"done_reason": "length", "done": True},
    {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
]


@pytest.mark.parametrize("told", CUTS, ids=lambda told: "-".join(map(str, told)))
@pytest.mark.parametrize("way", ["invoke", "stream", "astream"])
def test_a_cut_answer_keeps_its_reason_and_gets_its_notice(told: dict[str, Any], way: str) -> None:
    message = WAYS[way](gate([*pieces(f"{GOOD} It closes at"), {"response_metadata": told}]))
    report = message.response_metadata["sentence_gate"]
    assert report["status"] == "truncated"
    assert message.content == f"{SHOWN}\n\n{report['notice']}"
    assert {key: value for key, value in message.response_metadata.items() if key in told} == {
        key: value for key, value in told.items() if key != "incomplete_details"
    }


def test_a_violation_before_the_cut_wins() -> None:
    message = gate([f"{GOOD} It costs 45 [S1]. And so", {"response_metadata": {"finish_reason": "length"}}]).invoke("When?")
    assert message.response_metadata["sentence_gate"]["status"] == "stopped"
    assert message.response_metadata["finish_reason"] == "content_filter"


def test_no_reason_on_a_channel_that_carries_one_is_no_end() -> None:
    message = gate([{"response_metadata": {"model_provider": "openai"}}, *pieces(FINE)]).invoke("When?")
    report = message.response_metadata["sentence_gate"]
    assert (report["status"], report["ending"]["kind"]) == ("failed", "no_evidence")
    assert message.content == f"{SHOWN}\n\n{report['notice']}"
    unknown = gate(pieces(FINE)).invoke("When?").response_metadata["sentence_gate"]
    assert (unknown["status"], unknown["ending"]["kind"]) == ("accepted", "completed")
    assert "unattested" in unknown["ending"]["notes"]


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({"stop_reason": "refusal"}, "refused"),
        ({"finish_reason": "content_filter"}, "failed"),
        ({"finish_reason": "what is this"}, "failed"),
        ({"stop_reason": "stop_sequence", "stop_sequence": "END"}, "accepted"),
    ],
)
def test_other_endings(told: dict[str, Any], status: str) -> None:
    message = gate([*pieces(FINE), {"response_metadata": told}]).invoke("When?")
    assert message.response_metadata["sentence_gate"]["status"] == status
    assert told.items() <= message.response_metadata.items()


def test_the_no_answer_token() -> None:
    model = gate(["NO_ANS", "WER ", *pieces(FINE)])
    message = model.invoke("When?")
    report = message.response_metadata["sentence_gate"]
    assert report["status"] == "refused"
    assert message.content == report["notice"]
    assert message.response_metadata["finish_reason"] == "stop"
    assert model.llm.log == ["GeneratorExit 2"]


def test_nothing_said_is_told() -> None:
    for script in ([], [""], [{"response_metadata": {"finish_reason": "stop"}}]):
        message = gate(script).invoke("When?")
        report = message.response_metadata["sentence_gate"]
        assert report["status"] == "empty"
        assert message.content == report["notice"] != ""


def test_markers_are_shown_if_the_policy_says_so() -> None:
    assert gate(pieces(FINE), policy=Policy(show_markers=True)).invoke("When?").content == FINE
    assert gate(pieces(FINE), policy={"show_markers": True}).invoke("When?").content == FINE


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
def test_an_exception_if_asked_for(way: str) -> None:
    reports: list[Any] = []
    model = gate(pieces(), exit_behavior="error", on_report=reports.append)
    with pytest.raises(SentenceGateStop, match="unsupported_value") as caught:
        WAYS[way](model)
    assert caught.value.report.status == "stopped"
    assert caught.value.report is reports[0] or caught.value.report == reports[0]
    assert model.llm.log == ["GeneratorExit 22"]
    assert WAYS[way](gate(pieces(FINE), exit_behavior="error")).content


def test_what_passed_comes_before_the_exception() -> None:
    shown: list[Any] = []
    with pytest.raises(SentenceGateStop):
        shown.extend(chunk.content for chunk in gate([TEXT], exit_behavior="error").stream("When?"))
    assert shown == [SHOWN]


def test_the_gate_in_the_pipe_takes_and_gives_every_form() -> None:
    step = SentenceGateRunnable(sources=SOURCES)
    assert step.invoke(TEXT) == STOPPED
    assert step.invoke(AIMessage(TEXT, id="m1")).content == STOPPED
    assert step.invoke(AIMessage(TEXT, id="m1")).id == "m1"
    assert step.invoke([{"type": "text", "text": TEXT}]) == STOPPED
    assert asyncio.run(step.ainvoke(TEXT)) == STOPPED
    assert step.batch([TEXT, FINE])[0] == STOPPED
    assert "".join(step.transform(iter(pieces()))) == STOPPED
    message = reduce(add, step.transform(iter([AIMessage(TEXT)])))
    assert message.response_metadata["finish_reason"] == "content_filter"
    assert step.invoke("") != ""
    with pytest.raises(ValueError, match="right behind the model"):
        step.invoke(7)


@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_an_exception_in_the_pipe_if_asked_for(way: str) -> None:
    chain = AsyncScriptedModel() | SentenceGateRunnable(sources=SOURCES, exit_behavior="error")
    with pytest.raises(SentenceGateStop, match="unsupported_value"):
        WAYS[way](chain)


CORNERS: list[Any] = [
    {"additional_kwargs": {"reasoning_content": CANARY}},
    {"additional_kwargs": {"refusal": ""}, "response_metadata": {"note": CANARY, "logprobs": {"content": [CANARY]}}},
    {"content": [{"type": "reasoning", "reasoning": CANARY, "index": 0}]},
    {"content": [{"type": "thinking", "thinking": CANARY, "index": 1}, {"type": "non_standard", "value": CANARY}]},
    {"content": [{"type": "text", "text": "", "annotations": [{"cited_text": CANARY}], "index": 2}]},
    {"content": [{"type": "image", "base64": CANARY}, {"type": "server_tool_call", "name": CANARY, "args": {}, "id": "1"}]},
    {"content": f"<think>{CANARY}</think>"},
    {"content": ""},
]
SENTENCES = [f"{GOOD} ", f"{BAD} ", "It opens at eight on every day [S1]. ", "Fine.\n\n", f"It costs 7 {CANARY} euros. ", "NO_ANSWER "]


@st.composite
def scripts(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """(the answer's text, pieces that hold it between corners of all kinds)"""
    text = "".join(draw(st.lists(st.sampled_from(SENTENCES), max_size=6)))
    cuts = sorted({0, len(text), *draw(st.lists(st.integers(0, len(text)), max_size=12))})
    script: list[Any] = []
    for start, end in itertools.pairwise(cuts):
        piece = text[start:end]
        kind = draw(st.sampled_from(["text", "block", "string in a list"]))
        block = {"type": "text", "text": piece, "index": 2 + start % 2}
        script.append(piece if kind == "text" else {"content": [block] if kind == "block" else [piece]})
        script += draw(st.lists(st.sampled_from(CORNERS), max_size=2))
    return text, script


@given(
    made=scripts(),
    mode=st.sampled_from(["stop", "omit"]),
    tools=st.booleans(),
    called=st.booleans(),
    version=st.sampled_from([None, "v1"]),
    way=st.sampled_from(["stream", "astream", "invoke", "ainvoke"]),
)
def test_whatever_the_message_looks_like(made: Any, mode: Any, tools: bool, called: bool, version: Any, way: str) -> None:
    text, script = made
    policy = Policy(on_violation=mode)
    report = judge(text, SOURCES, policy)
    calls = called and tools
    if calls:
        one = {"name": "look_up", "args": "{}", "id": "call_1", "index": 7, "type": "tool_call_chunk"}
        script = [*script, {"tool_call_chunks": [one]}]
        report = judge(text, SOURCES, policy, ending=Ending.tool_call())
    inner = AsyncScriptedModel(script=script)
    model = GatedChatModel(inner, sources=SOURCES, policy=policy, output_version=version)
    message = WAYS[way](model.bind(tools=[{"type": "function"}]) if tools else model)
    notice = report.notice if not (calls and report.status in ("stopped", "refused", "empty")) else None
    assert message.text == report.text + (("\n\n" if report.text.strip() else "") + notice if notice else "")
    assert bool(message.tool_calls) is calls
    assert message.response_metadata["sentence_gate"]["status"] == report.status
    assert not shows_canary(message)
