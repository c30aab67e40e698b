"""Cost grows with the length of the answer, by ratio, in CPU time."""

from __future__ import annotations

import time
from typing import Any

import pytest

SENTENCE = "The archive opens at 9:30, and it has many rooms with maps of the region and of the coast beside it [S1]. "


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("seed", ["word and ", SENTENCE], ids=["no sentence end", "sentences"])
def test_ten_times_the_text_costs_about_ten_times_as_much(desk: Any, kind: str, seed: str) -> None:
    spent = []
    for length in (5_000, 5_000, 50_000):  # the first one warms up
        guard = desk.make(kind, "noop", on_violation="observe")
        model = desk.Model((seed * (length // len(seed) + 1))[:length], 4)
        started = time.process_time()
        seen = desk.call(kind, guard, model)
        spent.append(time.process_time() - started)
        assert len(seen.text) >= length * 0.9
    assert spent[2] / spent[1] < 40


def test_the_validator_is_asked_once_a_sentence(desk: Any) -> None:
    for kind in desk.GUARDS:
        seen = desk.call(kind, desk.make(kind), desk.Model((SENTENCE * 50).rstrip(), 1))
        assert len(seen.guard.history.last.iterations.last.validator_logs) == 50 + 2  # begin and end
