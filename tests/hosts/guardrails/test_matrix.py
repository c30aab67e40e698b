"""Every guard, every action, every shape and size of pieces: the reader sees one and the same thing, and nobody sees more."""

from __future__ import annotations

import itertools
import json
import logging
from typing import Any

import pytest

SIZES = (1, 2, 3, 5, 7, 11, 13, 17, 40, 1000)


def expected(desk: Any, answer: str, on_fail: str) -> tuple[str, str | None]:
    """The text and the exception's message."""
    _, shown, why = desk.ANSWERS[answer]
    if why is None:
        return shown, None
    if on_fail == "exception":
        return shown, f"Validation failed for field with errors: {why}"
    notice = desk.EMPTY if why.startswith("empty") else desk.NOTICE
    last = {"fix": notice, "fix_reask": notice, "custom": "[custom]"}.get(on_fail, "")
    return shown + ("\n\n" if last == notice and shown.strip() else "") + last, None


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("on_fail", ["exception", "noop", "fix", "fix_reask", "filter", "refrain", "custom"])
def test_streams(desk: Any, kind: str, on_fail: str) -> None:
    guard = desk.make(kind, on_fail)
    for answer, (shape, size) in itertools.product(
        desk.ANSWERS, [*(("str", size) for size in SIZES), ("openai", 1), ("openai", 6), ("openai", 1000)]
    ):
        text, _, why = desk.ANSWERS[answer]
        model = desk.Model(text, size, shape)
        guard.history.clear()
        seen = desk.call(kind, guard, model)
        cell = (answer, shape, size)
        assert (cell, seen.text, seen.error and str(seen.error)) == (cell, *expected(desk, answer, on_fail))
        assert not [canary for canary in desk.CANARIES if canary in seen.everything], cell
        assert model.closed, cell
        if seen.error is None and kind != "AsyncGuard":  # which says True whatever happened
            assert seen.passed is (why is None), cell
        gate = seen.guard._validators[0]
        assert gate.accumulated_chunks == []


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_chunks_of_litellm(desk: Any, kind: str) -> None:
    for answer, size in itertools.product(desk.ANSWERS, (3, 1000)):
        seen = desk.call(kind, desk.make(kind, "fix"), desk.Model(desk.ANSWERS[answer][0], size, "litellm"))
        assert (answer, seen.text) == (answer, expected(desk, answer, "fix")[0])


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_what_passed_in_the_batch_of_the_failing_sentence_comes_out_first(desk: Any, kind: str) -> None:
    seen = desk.call(kind, desk.make(kind), desk.Model(desk.ANSWERS["bad"][0], 1000))
    assert type(seen.error).__name__ == "ValidationError"
    assert [outcome.validated_output for outcome in seen.outcomes if outcome.validated_output] == [desk.FIRST]


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
def test_gated_guards_show_no_marks(desk: Any, kind: str) -> None:
    seen = desk.call(kind, desk.make(kind, "noop"), desk.Model(desk.ANSWERS["good"][0]))
    assert [outcome.validated_output for outcome in seen.outcomes] == [desk.FIRST, "\n\nA reader's card costs 12 euros.", "  Bring a pen"]
    assert all(outcome.validation_passed for outcome in seen.outcomes)
    assert [outcome.raw_llm_output for outcome in seen.outcomes] == [outcome.validated_output for outcome in seen.outcomes]


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("on_fail", ["exception", "noop", "fix", "filter"])
def test_spans_and_logs(desk: Any, spans: Any, caplog: pytest.LogCaptureFixture, kind: str, on_fail: str) -> None:
    caplog.set_level(logging.DEBUG)
    for stream in (True, False):
        if not stream and "Gated" not in kind:
            continue  # a stock guard is handed the whole answer
        spans.clear()
        desk.call(kind, desk.make(kind, on_fail), desk.Model(desk.ANSWERS["bad"][0], 3), stream=stream)
        told = "\n".join(span.to_json() for span in spans.get_finished_spans())
        assert "sentence_gate/sentence_gate.validate" in told
        assert not [canary for canary in desk.CANARIES if canary in told + caplog.text]


@pytest.mark.parametrize("kind", ["Guard", "GatedGuard"])
def test_the_history_can_be_read_in_the_middle_of_a_stream(desk: Any, kind: str) -> None:
    model, guard, texts = desk.Model(desk.ANSWERS["good"][0], 2), desk.make(kind), []
    llm = desk.host.gated(model) if kind == "Guard" else model
    for outcome in guard(llm, messages=desk.MESSAGES, metadata={"sources": desk.SOURCES}, stream=True):
        texts.append(outcome.validated_output)
        json.loads(guard.history.last.model_dump_json())
    assert "".join(texts) == desk.ANSWERS["good"][1]


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_a_cut_answer_is_not_judged_as_if_it_were_whole(desk: Any, kind: str) -> None:
    text = "The archive opens at 9:30 [S1]. A card costs 12 euros [S1]. Bring a pen"
    shown = "The archive opens at 9:30. A card costs 12 euros."
    model = desk.Model(text, 4, "openai", finish="length")
    seen = desk.call(kind, desk.make(kind, "noop"), model)
    assert seen.text == shown
    raised = desk.call(kind, desk.make(kind, "exception"), desk.Model(text, 4, "openai", finish="length"))
    assert raised.text == shown
    assert "truncated: " in str(raised.error)
    told = desk.call(kind, desk.make(kind, "fix"), desk.Model(text, 4, "openai", finish="length"))
    assert told.text.startswith(f"{shown}\n\n")
    assert "truncated: " in told.everything
    assert desk.call(kind, desk.make(kind, "noop"), desk.Model(text, 4, "openai", finish="content_filter")).text == shown


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_reasoning_never_arrives(desk: Any, kind: str) -> None:
    text = "<think>The Quagga knows. It is 23:45.</think>The archive opens at 9:30 [S1]."
    for size, stream in itertools.product((1, 3, 1000), (True, False)):
        seen = desk.call(kind, desk.make(kind), desk.Model(text, size), stream=stream)
        if "Gated" in kind or stream:
            assert seen.text == desk.FIRST
        assert "Quagga" not in seen.everything


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_a_model_without_an_answer(desk: Any, kind: str) -> None:
    seen = desk.call(kind, desk.make(kind, "fix"), desk.Model("NO_ANSWER. Zanzibar.", 3))
    assert seen.text
    assert "NO_ANSWER" not in seen.text
    assert "Zanzibar" not in seen.everything


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize(("on_violation", "shown"), [("omit", "The archive opens at 9:30. Quagga notes follow."), ("observe", None)])
def test_policies_that_go_on_pass(desk: Any, kind: str, on_violation: str, shown: str | None) -> None:
    text = desk.ANSWERS["bad"][0]
    seen = desk.call(kind, desk.make(kind, on_violation=on_violation), desk.Model(text, 3))
    assert seen.error is None
    assert seen.passed
    assert seen.text == (shown or text.replace(" [S1]", ""))


def test_the_callable_of_the_user_is_asked_once(desk: Any) -> None:
    for kind in desk.GUARDS:
        asked: list[Any] = []
        gate = desk.host.SentenceGate(on_fail=lambda value, result, asked=asked: asked.append(result.error_message) or "[mine]")
        cls = getattr(desk.host, kind, None) or getattr(desk.guardrails, kind)
        seen = desk.call(kind, cls().use(gate), desk.Model(desk.ANSWERS["bad"][0]))
        assert seen.text == desk.FIRST + "[mine]"
        assert asked == ["sentence 2: unsupported_value"]
