"""Fields of a structured answer: each is gated; the rest of the answer is as the model wrote it."""

from __future__ import annotations

import itertools
import json
from typing import Any, Optional, Union

import pytest
from pydantic import BaseModel, Field, create_model

BAD = "The archive opens at 9:30 [S1]. The Zanzibar room closes at 23:45 sharp [S1]. Quagga notes follow."
GOOD = "The archive opens at 9:30 [S1]. Bring a pen"
SHOWN = "The archive opens at 9:30. Bring a pen"


def guard_of(desk: Any, kind: str, on_fail: str) -> Any:
    def gates() -> list[Any]:
        return [desk.host.SentenceGate(on_fail=desk.custom if on_fail == "custom" else on_fail)]

    class Part(BaseModel):
        text: str = Field(json_schema_extra={"validators": gates()})
        page: int

    class Answer(BaseModel):
        answer: str = Field(json_schema_extra={"validators": gates()})
        room: str
        parts: list[Part] = []

    cls = getattr(desk.host, kind, None) or getattr(desk.guardrails, kind)
    return cls.for_pydantic(Answer)


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("on_fail", ["exception", "noop", "fix", "fix_reask", "filter", "refrain", "custom"])
@pytest.mark.parametrize("run_sync", ["false", "true"])
def test_a_field(desk: Any, monkeypatch: pytest.MonkeyPatch, kind: str, on_fail: str, run_sync: str) -> None:
    monkeypatch.setenv("GUARDRAILS_RUN_SYNC", run_sync)
    guard = guard_of(desk, kind, on_fail)
    for text, way, size in itertools.product((GOOD, BAD), ("validate", "parse", "call", "stream"), (3, 1000)):
        guard.history.clear()
        answer = json.dumps({"answer": text, "room": "B 12"})
        if way in ("call", "stream"):
            seen = desk.call(kind, guard, desk.Model(answer, size, "openai"), stream=way == "stream", num_reasks=0)
        else:
            seen = desk.validate(kind, guard, answer, method=way)
        cell = (text, way, size)
        assert not [canary for canary in desk.CANARIES if canary in seen.everything], cell
        if text is BAD and on_fail == "exception":
            assert "sentence 2: unsupported_value" in str(seen.error), cell
            continue
        assert seen.error is None, cell
        (outcome,) = seen.outcomes
        told = f"{desk.FIRST}\n\n{desk.NOTICE}"
        failed = {"noop": desk.FIRST, "fix": told, "fix_reask": told, "custom": "[custom]"}
        if text is GOOD:
            assert (cell, outcome.validated_output) == (cell, {"answer": SHOWN, "room": "B 12"})
            assert outcome.validation_passed
        elif on_fail in failed:
            assert (cell, outcome.validated_output) == (cell, {"answer": failed[on_fail], "room": "B 12"})
            assert outcome.validation_passed is (on_fail != "noop" and way != "stream")
        else:
            assert not outcome.validated_output or "answer" not in outcome.validated_output
        assert json.loads(outcome.raw_llm_output)["answer"] == (SHOWN if text is GOOD else desk.FIRST)


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("run_sync", ["false", "true"])
def test_fields_of_a_list(desk: Any, monkeypatch: pytest.MonkeyPatch, kind: str, run_sync: str) -> None:
    monkeypatch.setenv("GUARDRAILS_RUN_SYNC", run_sync)
    guard = guard_of(desk, kind, "fix")
    answer = {"answer": GOOD, "room": "B", "parts": [{"text": BAD, "page": 23}, {"text": GOOD, "page": 4}]}
    seen = desk.validate(kind, guard, json.dumps(answer))
    assert [part["text"] for part in seen.outcomes[0].validated_output["parts"]] == [f"{desk.FIRST}\n\n{desk.NOTICE}", SHOWN]
    assert not [canary for canary in desk.CANARIES if canary in seen.everything]


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
def test_a_path_that_guardrails_misses(desk: Any, kind: str) -> None:
    """It never asks a validator on a field of a list's elements; the field is gated all the same, and the verdict told."""
    item = {"type": "object", "properties": {"answer": {"type": "string"}}}
    for way in ("validate", "call", "stream"):
        seen = []
        for on_fail in ("noop", "exception"):
            guard = getattr(desk.host, kind)(output_schema={"type": "array", "items": item})
            guard.use(desk.host.SentenceGate(on_fail=on_fail), on="$.*.answer")
            text = json.dumps([{"answer": BAD}])
            model = desk.Model(text, 5)
            seen.append(desk.validate(kind, guard, text) if way == "validate" else desk.call(kind, guard, model, stream=way == "stream"))
        assert seen[0].outcomes[0].validated_output == [{"answer": desk.FIRST}]
        assert seen[0].passed is False
        assert str(seen[1].error) == "Validation failed for field with errors: sentence 2: unsupported_value"
        assert not [canary for canary in desk.CANARIES if canary in seen[0].everything + seen[1].everything]


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
def test_two_fields_released_alike_with_two_verdicts(desk: Any, kind: str) -> None:
    guard = guard_of(desk, kind, "noop")
    parts = [{"text": "The archive opens at 9:30 [S1].", "page": 1}, {"text": BAD, "page": 2}]
    for order in (parts, parts[::-1]):
        seen = desk.validate(kind, guard, json.dumps({"answer": GOOD, "room": "B", "parts": order}))
        assert seen.outcomes[0].validation_passed is False
        assert [part["text"] for part in seen.outcomes[0].validated_output["parts"]] == [desk.FIRST, desk.FIRST]


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("stream", [True, False])
def test_what_is_no_json_is_not_shown(desk: Any, kind: str, stream: bool) -> None:
    for text in (BAD, '{"answer": "' + BAD, '{"room": "Zanzibar"', "```json\n{Quagga"):
        seen = desk.call(kind, guard_of(desk, kind, "noop"), desk.Model(text, 3, "openai", finish="length"), stream=stream, num_reasks=0)
        assert not [canary for canary in desk.CANARIES if canary in seen.everything]
        assert not seen.text
        assert not seen.passed


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
def test_an_answer_in_the_arguments_of_a_tool_call(desk: Any, kind: str) -> None:
    from openai.types.chat import ChatCompletion

    function = {"name": "answer", "arguments": json.dumps({"answer": BAD, "room": "B"})}
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "t", "type": "function", "function": function}]}
    plain = {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
    }  # fmt: skip
    model = desk.Model("")
    model._whole = lambda: ChatCompletion.model_validate(plain)
    seen = desk.call(kind, guard_of(desk, kind, "noop"), model, stream=False)
    assert seen.outcomes[0].validated_output == {"answer": desk.FIRST, "room": "B"}
    assert not [canary for canary in desk.CANARIES if canary in seen.everything]


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
def test_a_field_that_guardrails_does_not_see_is_refused_before_the_model(desk: Any, kind: str) -> None:
    class Part(BaseModel):
        text: str = Field(json_schema_extra={"validators": [desk.host.SentenceGate(on_fail="fix")]})

    text = json.dumps({"answer": GOOD, "more": {"text": BAD}})
    optional, union = Optional[Part], Union[Part, str, None]  # noqa: UP007, UP045 - `Part | None` is another kind of object
    seen_by_guardrails = (Part, optional, union, list[Part])
    unseen = (Part | None, dict[str, Part], list[list[Part]], tuple[Part, Part], Optional[list[Part]])  # noqa: UP045
    for number, annotation in enumerate((*seen_by_guardrails, *unseen)):
        sees = number < len(seen_by_guardrails)
        gate = Field(json_schema_extra={"validators": [desk.host.SentenceGate(on_fail="fix")]})
        fields: Any = {"answer": (str, gate), "more": (annotation, None)}
        model = desk.Model(text)
        guard = getattr(desk.host, kind).for_pydantic(create_model("Answer", **fields))
        seen = desk.call(kind, guard, model, stream=False, num_reasks=0)
        assert (annotation, type(seen.error).__name__ == "GateNotBound") == (annotation, not sees)
        assert model.calls == sees
        assert not [canary for canary in desk.CANARIES if canary in seen.everything]


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
def test_what_stands_in_place_of_a_text_is_gated_whole(desk: Any, kind: str) -> None:
    for instead in ({"x": BAD}, [BAD], [{"x": [BAD]}], {BAD: 1}):
        answer = json.dumps({"answer": instead, "room": "B 12"})
        seen = desk.call(kind, guard_of(desk, kind, "noop"), desk.Model(answer), stream=False, num_reasks=0)
        assert not [canary for canary in desk.CANARIES if canary in seen.everything], instead
        assert not seen.passed


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("stream", [True, False])
def test_an_object_that_is_whole_in_an_answer_that_is_not(desk: Any, kind: str, stream: bool) -> None:
    answer = json.dumps({"answer": "The archive opens at 9:30 [S1]. Bring a pen.", "room": "B 12"})
    for finish in ("length", "content_filter"):
        guard = guard_of(desk, kind, "noop")
        seen = desk.call(kind, guard, desk.Model(answer, 5, "openai", finish=finish), stream=stream, num_reasks=0)
        assert seen.outcomes[-1].validated_output["answer"] == desk.FIRST
        assert not seen.passed


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("depth", [500, 5_000])
def test_an_object_without_end(desk: Any, kind: str, depth: int) -> None:
    answer = '{"answer": ' + '{"a": ' * depth + "1" + "}" * depth + ', "room": "B"}'
    seen = desk.call(kind, guard_of(desk, kind, "noop"), desk.Model(answer, 100_000), stream=False, num_reasks=0)
    assert "RecursionError" not in repr(seen.error)
    assert not seen.passed


def test_stock_guards_judge_a_field_and_keep_what_they_were_given(desk: Any) -> None:
    for kind in ("Guard", "AsyncGuard"):
        seen = desk.validate(kind, guard_of(desk, kind, "fix"), json.dumps({"answer": BAD, "room": "B"}))
        assert seen.outcomes[0].validated_output["answer"] == f"{desk.FIRST}\n\n{desk.NOTICE}"
        model = desk.Model(json.dumps({"answer": GOOD, "room": "B"}))
        streamed = desk.call(kind, guard_of(desk, kind, "fix"), model)
        assert type(streamed.error).__name__ == "GateNotBound"
        assert model.calls == 0
