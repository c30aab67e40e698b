"""The tracker: what several payloads together mean, by the specification's strictness."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentence_gate import Ending, Usage, UsageError
from sentence_gate.endings import Tracker, stricter, tail_is_judged
from sentence_gate.events import ENDING_KINDS, Delta, ToolPiece
from sentence_gate.providers import anthropic, langchain, openai_chat
from sentence_gate.usage import add, merge, total

ORDER = ("provider_error", "filtered", "refused", "truncated", "tool_call", "stop_sequence", "completed")
TEXT = Delta(text="It opens.")


def track(*deltas: Delta, transport: str = "clean_eof", provider: object = openai_chat, **more: bool) -> Ending:
    tracker = Tracker(provider, **more)  # type: ignore[arg-type]
    for delta in deltas:
        tracker.add(delta)
    return tracker.ending(transport)


def end(kind: str) -> Delta:
    return Delta(ending=Ending(kind, kind, "evidence"))  # type: ignore[arg-type]


@pytest.mark.parametrize(("first", "second"), list(itertools.product(ORDER, ORDER)))
def test_the_stricter_ending_holds_in_either_order(first: str, second: str) -> None:
    ending = track(TEXT, end(first), end(second))
    assert ending.kind == min(first, second, key=ORDER.index)
    changed = ORDER.index(second) < ORDER.index(first)
    assert (f"second_terminal:{second}" in ending.notes) is changed
    assert stricter(Ending("cancelled"), Ending(first)).kind == first  # type: ignore[arg-type]
    assert stricter(Ending("no_evidence"), Ending(first)).kind == first  # type: ignore[arg-type]


@pytest.mark.parametrize("transport", ["clean_eof", "reset", "timeout", "closed_by_us"])
@pytest.mark.parametrize("kind", ORDER)
def test_evidence_outlives_the_transport(kind: str, transport: str) -> None:
    ending = track(TEXT, end(kind), transport=transport)
    assert (ending.kind, ending.transport) == (kind, transport)


@pytest.mark.parametrize(
    ("transport", "kind"),
    [("clean_eof", "no_evidence"), ("reset", "no_evidence"), ("timeout", "no_evidence"), ("closed_by_us", "cancelled")],
)
def test_without_evidence(transport: str, kind: str) -> None:
    assert track(TEXT, transport=transport).kind == kind
    unattested = track(TEXT, transport=transport, carries_reason=False)
    assert unattested.kind == ("completed" if transport == "clean_eof" else kind)
    assert ("unattested" in unattested.notes) is (transport == "clean_eof")


def test_a_mild_ending_with_text_behind_it_is_taken_back() -> None:
    for kind in ("completed", "stop_sequence", "tool_call"):
        assert track(TEXT, end(kind), TEXT).kind == "no_evidence"
        assert track(TEXT, end(kind), TEXT, transport="closed_by_us").kind == "cancelled"
        weak = track(TEXT, end(kind), TEXT, end(kind))
        assert weak.kind == kind
        assert {"text_after_terminal", "weak_evidence"} <= set(weak.notes)
        assert track(TEXT, end(kind), TEXT, end(kind), transport="reset").kind == "no_evidence"
    for kind in ("truncated", "refused", "filtered", "provider_error"):
        assert track(TEXT, end(kind), TEXT, transport="reset").kind == kind


def test_text_and_reason_in_one_payload_are_no_text_behind_it() -> None:
    both = Delta(text="Yes.", ending=Ending.completed("stop"))
    assert track(TEXT, both).notes == ("protocol:openai_chat",)


def test_refusals_and_calls_change_a_mild_reason() -> None:
    assert track(Delta(refusal="No."), end("completed")).kind == "refused"
    assert track(Delta(refusal="No."), end("filtered")).kind == "filtered"
    assert track(Delta(refusal="No.")).kind == "no_evidence"
    assert track(Delta(tool=(ToolPiece(),)), end("completed")).kind == "tool_call"
    assert track(Delta(tool=(ToolPiece(),)), end("truncated")).kind == "truncated"
    assert track(Delta(tool=(ToolPiece(),))).kind == "no_evidence"


def test_a_refusal_with_text_behind_it_stays_one() -> None:
    assert track(Delta(refusal="No."), end("completed"), TEXT).kind == "refused"


def test_usage_is_reported_running_or_estimated() -> None:
    final = Delta(usage=Usage(11, 22, 4, "reported"))
    running = Delta(usage=Usage(11, 7, None, "running"))
    assert track(TEXT, end("completed"), final).usage == Usage(11, 22, 4, "reported")
    assert track(TEXT, running, TEXT).usage == Usage(11, 7, None, "running")
    assert track(TEXT, running, end("completed"), running).usage == Usage(11, 7, None, "reported")
    assert track(TEXT).usage == Usage(None, 9, None, "estimated")
    arrived = Delta(text="é", reasoning="Hm", refusal="No", tool=(ToolPiece(0, "t", "look", '{"q":1}'), ToolPiece(0, None, None, "x")))
    assert track(arrived).usage == Usage(None, 2 + 2 + 2 + 4 + 7 + 1, None, "estimated")


def test_anthropics_input_survives_a_cut() -> None:
    deltas = [anthropic.read({"type": "message_start", "message": {"usage": {"input_tokens": 40, "output_tokens": 1}}}), TEXT]
    assert track(*deltas, provider=anthropic, transport="reset").usage == Usage(40, 9, None, "estimated")


def test_langchains_usage_adds_up() -> None:
    parts = [Delta(usage=Usage(10, 5, None, "running")), Delta(usage=Usage(0, 6, 2, "running"))]
    assert track(*parts, provider=langchain).usage == Usage(10, 11, 2, "running")
    assert track(*parts, end("completed"), parts[1], provider=langchain).usage == Usage(10, 17, 4, "reported")


def test_adding_and_merging_usage() -> None:
    assert merge(Usage(1, 2, None, "running"), Usage(None, 5, None, "running")) == Usage(1, 5, None, "running")
    assert merge(None, Usage(1, 2)) == Usage(1, 2)
    assert add(Usage(1, 2, None, "reported"), Usage(None, 5, 1, "estimated")) == Usage(1, 7, 1, "estimated")
    assert total([]) == Usage()
    assert total([Usage(1, 2, None, "reported")] * 3) == Usage(3, 6, None, "reported")


def test_the_closing_event() -> None:
    assert "missing_message_stop" in track(TEXT, end("completed"), provider=anthropic).notes
    assert "missing_message_stop" not in track(TEXT, end("completed"), Delta(closing=True), provider=anthropic).notes
    assert "missing_message_stop" not in track(TEXT, end("completed"), provider=anthropic, transport="closed_by_us").notes
    assert "done_marker_without_reason" in track(TEXT, Delta(closing=True)).notes


def test_a_cut_without_text_says_so() -> None:
    assert "no_text" in track(Delta(reasoning="Hm"), end("truncated")).notes
    assert "no_text" not in track(TEXT, end("truncated")).notes


_DELTAS = st.builds(
    Delta,
    text=st.sampled_from(["", "a"]),
    refusal=st.sampled_from(["", "", "no"]),
    tool=st.sampled_from([(), (), (ToolPiece(),)]),
    ending=st.none() | st.sampled_from(ORDER).map(lambda kind: Ending(kind, kind, "evidence")),
    closing=st.booleans(),
)


@given(st.lists(_DELTAS, max_size=8), st.lists(_DELTAS, max_size=3), st.sampled_from(["clean_eof", "reset", "closed_by_us"]))
def test_a_later_event_never_makes_it_milder(deltas: list[Delta], later: list[Delta], transport: str) -> None:
    before = track(*deltas, transport=transport)
    after = track(*deltas, *later, transport=transport)
    assert before.kind in ENDING_KINDS
    if not tail_is_judged(before) and before.kind not in ("no_evidence", "cancelled"):
        assert ORDER.index(after.kind) <= ORDER.index(before.kind)
    if tail_is_judged(before) and tail_is_judged(after):
        assert ORDER.index(after.kind) <= ORDER.index(before.kind)


def test_a_usage_of_another_kind_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError):
        Ending("completed", usage=7)  # type: ignore[arg-type]
