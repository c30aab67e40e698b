"""Answers that are not streamed: `validate`, `parse`, and calls."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

WAYS = ("validate", "parse", "call")


def see(desk: Any, kind: str, guard: Any, way: str, text: str, shape: str = "str") -> Any:
    if way == "call":
        return desk.call(kind, guard, desk.Model(text, shape=shape), stream=False, num_reasks=0)
    return desk.validate(kind, guard, text, method=way)


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("on_fail", ["exception", "noop", "fix", "fix_reask", "filter", "refrain", "custom", "reask"])
@pytest.mark.parametrize("run_sync", ["false", "true"])
def test_gated_guards(desk: Any, monkeypatch: pytest.MonkeyPatch, kind: str, on_fail: str, run_sync: str) -> None:
    monkeypatch.setenv("GUARDRAILS_RUN_SYNC", run_sync)
    guard = desk.make(kind, on_fail)
    for answer, way, shape in itertools.product(desk.ANSWERS, WAYS, ("str", "openai", "litellm")):
        if way != "call" and shape != "str":
            continue
        text, shown, why = desk.ANSWERS[answer]
        guard.history.clear()
        seen, cell = see(desk, kind, guard, way, text, shape), (answer, way, shape)
        assert not [canary for canary in desk.CANARIES if canary in seen.everything], cell
        if why and on_fail == "exception":
            assert str(seen.error) == f"Validation failed for field with errors: {why}", cell
            continue
        (outcome,) = seen.outcomes
        notice = desk.EMPTY if (why or "").startswith("empty") else desk.NOTICE
        told = shown + ("\n\n" if shown.strip() else "") + notice
        failed = {"noop": shown, "fix": told, "fix_reask": told, "reask": told, "filter": None, "refrain": None, "custom": "[custom]"}
        assert (cell, outcome.validated_output) == (cell, failed[on_fail] if why else shown)
        assert outcome.raw_llm_output == shown
        assert (cell, outcome.validation_passed) == (cell, why is None or on_fail in ("fix", "fix_reask", "custom", "reask"))
        if why:
            assert [summary.failure_reason for summary in outcome.validation_summaries] == [why] * len(outcome.validation_summaries)


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard"])
@pytest.mark.parametrize("on_fail", ["exception", "noop", "fix", "fix_reask", "filter", "refrain"])
def test_stock_guards_keep_their_own_rules(desk: Any, kind: str, on_fail: str) -> None:
    """They store the text that they are given, give one that passed back as it was, and under `noop` also one that didn't."""
    guard = desk.make(kind, on_fail)
    for answer, way in itertools.product(desk.ANSWERS, WAYS):
        text, shown, why = desk.ANSWERS[answer]
        seen, cell = see(desk, kind, guard, way, text), (answer, way)
        if why and on_fail == "exception":
            assert str(seen.error) == f"Validation failed for field with errors: {why}", cell
            continue
        (outcome,) = seen.outcomes
        notice = desk.EMPTY if (why or "").startswith("empty") else desk.NOTICE
        told = shown + ("\n\n" if shown.strip() else "") + notice
        failed = {"noop": text, "fix": told, "fix_reask": told, "filter": None, "refrain": None}
        expected = failed[on_fail] if why else text
        assert (cell, outcome.validated_output) == (
            cell,
            expected if text or on_fail == "noop" else None,
        )  # nothing is an error of the model


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_a_cut_answer(desk: Any, kind: str) -> None:
    """The ending of a chat completion reaches the verdict of a stock guard too."""
    text = "The archive opens at 9:30 [S1]. Bring a pen"
    for shape, finish in itertools.product(("openai", "litellm"), ("length", "content_filter")):
        guard = desk.make(kind, "fix")
        seen = desk.call(kind, guard, desk.Model(text, shape=shape, finish=finish), stream=False)
        assert seen.outcomes[0].validated_output.startswith(f"{desk.FIRST}\n\n")
        assert "Bring" not in seen.outcomes[0].validated_output
        again = desk.validate(kind, guard, text)
        assert "Bring a pen" in again.outcomes[0].validated_output  # the same text, given whole


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
def test_asking_again_shows_the_model_what_was_released(desk: Any, kind: str) -> None:
    answers = iter([desk.ANSWERS["bad"][0], desk.ANSWERS["good"][0]])
    model = desk.Model("")
    model._whole = lambda: next(answers)
    guard = desk.make(kind, "reask")
    seen = desk.call(kind, guard, model, stream=False, num_reasks=1)
    assert seen.outcomes[0].validated_output == desk.ANSWERS["good"][1]
    assert seen.outcomes[0].validation_passed
    assert model.calls == 2
    asked_again = str(model.seen[1]["messages"])
    assert "sentence 2: unsupported_value" in asked_again
    assert not [canary for canary in desk.CANARIES if canary in asked_again + seen.everything]


@pytest.mark.parametrize("kind", ["Guard", "GatedGuard"])
def test_inside_a_running_loop(desk: Any, kind: str) -> None:
    async def main() -> Any:
        return desk.make(kind, "fix").validate(desk.ANSWERS["good"][0], metadata={"sources": desk.SOURCES})

    assert desk.run(main()).validated_output == desk.ANSWERS["good"][1]


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
def test_the_question(desk: Any, kind: str) -> None:
    guard = desk.make(kind, "noop", question_supports_values=True)
    text = "You asked about room 77 on the second floor of it [S1]."
    asked = {"sources": ["Rooms are on the second floor."], "question": "Where is room 77?"}
    assert desk.validate(kind, guard, text, asked).outcomes[0].validation_passed
    assert not desk.validate(kind, guard, text, {**asked, "question": ""}).outcomes[0].validation_passed


def test_messages_can_be_validated(desk: Any) -> None:
    guard = desk.host.GatedGuard().use(desk.host.SentenceGate())
    guard.use(desk.host.SentenceGate(), on="messages")
    good, bad = ([{"role": "user", "content": text}] for text in ("It opens at 9:30 [S1].", "It opens at 23:45 sharp [S1]."))
    model = desk.Model(desk.ANSWERS["good"][0])
    assert guard(model, messages=good, metadata={"sources": desk.SOURCES}).validated_output == desk.ANSWERS["good"][1]
    with pytest.raises(Exception, match="sentence 1: unsupported_value"):
        guard(model, messages=bad, metadata={"sources": desk.SOURCES})
    assert model.calls == 1
