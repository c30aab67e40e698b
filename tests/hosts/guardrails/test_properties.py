"""For every text and every way of cutting it a gated stream shows what the core judges, and no more."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentence_gate import Ending, Policy, judge

PARTS = [
    "The archive opens at 9:30 [S1].", "A reader's card costs 12 euros [S1].", "Bring a pen.", "# Rooms\n",
    "- item 12 [S1]\n", "\n\n", " ",
    "The Zanzibar room closes at 23:45 sharp [S1].",
    "It holds 77 maps and many books of the whole region", "NO_ANSWER", "e.g. this [S2].", "。", "<think>Quagga 23:45</think>",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PARTS), max_size=6).flatmap(lambda parts: st.sampled_from([" ", ""]).map(lambda glue: glue.join(parts)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(
    data=st.data(),
    text=TEXTS,
    kind=st.sampled_from(["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"]),
    on_violation=st.sampled_from(["stop", "omit"]),
    finish=st.sampled_from(["stop", "length"]),
)
def test_a_stream_shows_what_the_core_judges(desk: Any, data: Any, text: str, kind: str, on_violation: str, finish: str) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8))) if text else []
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    shape = data.draw(st.sampled_from(["str", "openai"]))
    model = desk.Model(text, shape=shape, finish=finish)
    model.cut = pieces
    seen = desk.call(kind, desk.make(kind, "noop", on_violation=on_violation), model)
    ending = Ending.truncated() if finish == "length" and shape == "openai" else None
    seen_by_core = text
    while "<think>" in seen_by_core:
        before, _, rest = seen_by_core.partition("<think>")
        after = rest.partition("</think>")[2]
        seen_by_core = before + (after if before.strip() else after.lstrip())
    report = judge(seen_by_core, desk.SOURCES, Policy(on_violation=on_violation), ending=ending)
    assert seen.text == report.text
    assert "45 sharp" not in seen.everything
    assert "Quagga" not in seen.everything
    if "Gated" in kind:
        whole = desk.call(
            kind, desk.make(kind, "noop", on_violation=on_violation), desk.Model(text, shape=shape, finish=finish), stream=False
        )
        assert (whole.outcomes[0].validated_output or "") == report.text
        assert whole.outcomes[0].validation_passed is (report.status == "accepted")
        assert "45 sharp" not in whole.everything
