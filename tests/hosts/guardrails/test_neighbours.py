"""Other validators beside the gate: the text is the same, and they see released text only."""

from __future__ import annotations

import itertools
from typing import Any

import pytest


@pytest.fixture
def neighbour(desk: Any) -> Any:
    """A stock validator, chunked by Guardrails, that remembers what it was shown and fails on "euros" if told to."""
    from guardrails.validator_base import FailResult, PassResult, Validator, register_validator

    @register_validator(name="tests/neighbour", data_type="string")
    class Neighbour(Validator):
        def __init__(self, on_fail: Any = None, fails: bool = False) -> None:
            super().__init__(on_fail=on_fail)
            self.shown: list[str] = []
            self.fails = fails

        def _validate(self, value: Any, metadata: Any) -> Any:
            self.shown.append(value)
            if self.fails and "euros" in value:
                return FailResult(error_message="a price", fix_value=value.replace("euros", "coins"))
            return PassResult()

    return Neighbour


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("action", ["noop", "fix", "exception", "filter", "refrain", "custom"])
@pytest.mark.parametrize("first", [True, False], ids=["gate first", "gate last"])
def test_a_neighbour_that_passes_changes_nothing(desk: Any, neighbour: Any, kind: str, action: str, first: bool) -> None:
    cls = getattr(desk.host, kind, None) or getattr(desk.guardrails, kind)
    for answer, size, on_fail in itertools.product(("good", "bad", "spaces"), (1, 1000), ("fix", "exception")):
        if answer == "spaces" and "Gated" not in kind:
            continue  # a stock guard loses what a neighbour holds when an exception comes
        text, shown, why = desk.ANSWERS[answer]
        beside, gate = neighbour(desk.custom if action == "custom" else action), desk.host.SentenceGate(on_fail=on_fail)
        guard = cls().use(*((gate, beside) if first else (beside, gate)))
        seen = desk.call(kind, guard, desk.Model(text, size))
        notice = desk.EMPTY if (why or "").startswith("empty") else desk.NOTICE
        told = ("\n\n" if shown.strip() else "") + notice if why and on_fail == "fix" else ""
        cell = (answer, size, on_fail)
        assert (cell, seen.text) == (cell, shown + told)
        assert (cell, bool(seen.error)) == (cell, bool(why) and on_fail == "exception")
        assert not [canary for canary in desk.CANARIES if canary in seen.everything + "".join(beside.shown)], cell
        assert "[S1]" not in "".join(beside.shown)
        if kind != "AsyncGuard" and not seen.error:
            assert seen.passed is (why is None), cell


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("first", [True, False], ids=["gate first", "gate last"])
def test_a_neighbour_that_fails_acts_on_released_text(desk: Any, neighbour: Any, kind: str, first: bool) -> None:
    cls = getattr(desk.host, kind, None) or getattr(desk.guardrails, kind)
    text = "The archive opens at 9:30 [S1]. A reader's card costs 12 euros [S1]. The Zanzibar room closes at 23:45 sharp [S1]. Quagga."
    for size, action in itertools.product((1, 7, 1000), ("noop", "fix", "exception")):
        beside, gate = neighbour(action, fails=True), desk.host.SentenceGate(on_fail="noop")
        guard = cls().use(*((gate, beside) if first else (beside, gate)))
        seen = desk.call(kind, guard, desk.Model(text, size))
        shown = {"noop": "euros.", "fix": "coins.", "exception": ""}[action]
        start = "The archive opens at 9:30."
        assert seen.text == (f"{start} A reader's card costs 12 {shown}" if shown else start)
        assert (action == "exception") is (seen.error is not None)
        assert not [canary for canary in desk.CANARIES if canary in seen.everything + "".join(beside.shown)]


@pytest.mark.parametrize("kind", ["Guard", "GatedGuard"])
def test_a_neighbour_before_the_gate_that_puts_in_its_own_text(desk: Any, neighbour: Any, kind: str) -> None:
    """Its text is its own: the gate stays bound to the stream, and its verdict is told."""
    cls = getattr(desk.host, kind, None) or getattr(desk.guardrails, kind)
    text = "The archive opens at 9:30 [S1]. A reader's card costs 12 euros [S1]. The Zanzibar room closes at 23:45 sharp [S1]. Quagga."
    guard = cls().use(neighbour(lambda value, result: " [price]", fails=True), desk.host.SentenceGate(on_fail="fix"))
    seen = desk.call(kind, guard, desk.Model(text, 5))
    assert seen.text == f"{desk.FIRST} [price]\n\n{desk.NOTICE}"


@pytest.mark.parametrize("kind", ["Guard", "GatedGuard"])
def test_a_neighbour_that_replaces_the_first_mark(desk: Any, kind: str) -> None:
    from guardrails.validator_base import FailResult, Validator, register_validator

    @register_validator(name="tests/replaces_all", data_type="string")
    class ReplacesAll(Validator):
        def validate_stream(self, chunk: Any, metadata: Any, **kwargs: Any) -> Any:
            return FailResult(error_message="all", validated_chunk="x")

    cls = getattr(desk.host, kind, None) or getattr(desk.guardrails, kind)
    model = desk.Model(desk.ANSWERS["good"][0])
    seen = desk.call(kind, cls().use(ReplacesAll(on_fail=lambda value, result: "x"), desk.host.SentenceGate()), model)
    assert type(seen.error).__name__ == "GateNotBound"
    assert (seen.text, model.calls) == ("", 0)


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
def test_whole_answers_reach_neighbours_released(desk: Any, neighbour: Any, kind: str) -> None:
    cls = getattr(desk.host, kind)
    for stream_off in ("call", "validate", "parse"):
        beside = neighbour("noop")
        guard = cls().use(desk.host.SentenceGate(on_fail="noop"), beside)
        text = desk.ANSWERS["bad"][0]
        seen = (
            desk.call(kind, guard, desk.Model(text), stream=False)
            if stream_off == "call"
            else desk.validate(kind, guard, text, method=stream_off)
        )
        assert beside.shown == [desk.FIRST]
        assert seen.outcomes[0].validated_output == desk.FIRST


@pytest.mark.parametrize("kind", ["GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("run_sync", ["false", "true"])
def test_a_neighbour_may_change_a_whole_answer_before_the_gate_tells_its_verdict(
    desk: Any, neighbour: Any, monkeypatch: pytest.MonkeyPatch, kind: str, run_sync: str
) -> None:
    monkeypatch.setenv("GUARDRAILS_RUN_SYNC", run_sync)
    cls = getattr(desk.host, kind)
    for text, passes in (
        ("A reader's card costs 12 euros [S1].", True),
        ("A reader's card costs 12 euros [S1]. Zanzibar, 23:45 sharp [S1].", False),
    ):
        seen = desk.validate(kind, cls().use(neighbour("fix", fails=True), desk.host.SentenceGate(on_fail="noop")), text)
        changed = "A reader's card costs 12 coins."
        assert seen.outcomes[0].validated_output in ((changed,) if passes else (changed, None))  # None: Guardrails, of a fix and a noop
        assert [one.failure_reason for one in seen.outcomes[0].validation_summaries] == ["a price"] + ["sentence 2: unsupported_value"] * (
            not passes
        )
        assert not [canary for canary in desk.CANARIES if canary in seen.everything]
