"""Which attempt may become the answer: the table of transitions, and the ways in which an old or cut attempt must not."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from recorded import PIECES, SOURCES, chat, said

from sentence_gate import Ending, SentenceGate, Usage, UsageError
from sentence_gate.attempts import Attempts, Final, ToolCall, count, joined
from sentence_gate.events import WHOLE, ToolPiece
from sentence_gate.streams import read_answer

GOOD = Ending.completed("stop", evidence="choices[0].finish_reason", usage=Usage(11, 22, None, "reported"))


def ready(book: Attempts, intent: str = "i", attempt: str = "a", text: str = "It opens at eight.") -> None:
    """An attempt that may be promoted."""
    book.start(intent, attempt, 0.0)
    book.text(attempt, text, 1.0)
    book.end(attempt, GOOD, 2.0)
    book.check(attempt, book.get(attempt).version, passed=True, now=2.5)


def test_the_way_to_a_final() -> None:
    book = Attempts()
    ready(book)
    assert book.promote("a", 3.0) == Final("i", "a", 3.0, False, "It opens at eight.")
    record = book.get("a")
    assert (record.state, record.ending, record.first_text_at, record.ended_at, record.settled_at) == ("final", "completed", 1.0, 2.0, 3.0)
    assert record.usage == GOOD.usage


def test_promoting_twice_makes_one_final() -> None:
    book = Attempts()
    ready(book)
    assert book.promote("a", 3.0) is book.promote("a", 9.0)


def test_one_accepted_answer_an_intent() -> None:
    book = Attempts()
    ready(book)
    book.promote("a", 3.0)
    ready(book, attempt="b", text="Another.")
    assert book.promote("b", 4.0) is None
    assert (book.get("b").state, book.get("b").reason) == ("superseded", "intent_has_a_final")
    final = book.promote("a", 5.0)
    assert final is not None
    assert final.text == "It opens at eight."


@pytest.mark.parametrize("missing", ["end", "check", "version"])
def test_what_is_missing_prevents_it(missing: str) -> None:
    book = Attempts()
    book.start("i", "a", 0.0)
    book.text("a", "It opens", 1.0)
    old = book.get("a").version
    book.text("a", " at eight.", 1.0)
    if missing != "end":
        book.end("a", GOOD, 2.0)
    if missing != "check":
        assert book.check("a", old if missing == "version" else book.get("a").version, passed=True, now=2.0) is (missing != "version")
    assert book.promote("a", 3.0) is None
    assert book.get("a").state in ("active", "ended")


def test_text_after_a_check_makes_it_void() -> None:
    book = Attempts()
    book.start("i", "a", 0.0)
    book.text("a", "It opens.", 1.0)
    assert book.check("a", 1, passed=True, now=1.0)
    book.text("a", " And 45.", 1.0)
    book.end("a", GOOD, 2.0)
    assert book.promote("a", 3.0) is None
    assert book.check("a", 2, passed=True, now=3.0)
    assert book.promote("a", 4.0) is not None


@pytest.mark.parametrize("kind", ["truncated", "filtered", "provider_error", "no_evidence", "cancelled"])
def test_an_ending_that_is_not_valid_fails_the_attempt(kind: str) -> None:
    book = Attempts()
    book.start("i", "a", 0.0)
    book.text("a", "It opens.", 1.0)
    book.end("a", Ending(kind, usage=Usage(output_tokens=9, kind="estimated")), 2.0)  # type: ignore[arg-type]
    assert not book.check("a", 1, passed=True, now=2.0)
    assert book.promote("a", 3.0) is None
    record = book.get("a")
    assert (record.state, record.reason) == ("cancelled" if kind == "cancelled" else "failed", kind)
    assert record.usage.output_tokens == 9


@pytest.mark.parametrize("when", ["before the end", "during the check", "right before the commit"])
def test_cancelled_is_cancelled(when: str) -> None:
    book = Attempts()
    book.start("i", "a", 0.0)
    book.text("a", "It opens.", 1.0)
    if when == "before the end":
        book.cancel("a", 1.5)
    assert book.end("a", GOOD, 2.0) is (when != "before the end")
    if when == "during the check":
        book.cancel("a", 2.2)
    assert book.check("a", 1, passed=True, now=2.5) is (when == "right before the commit")
    book.cancel("a", 2.7)
    assert book.promote("a", 3.0) is None
    assert book.get("a").state == "cancelled"
    assert book.get("a").ending == (None if when == "before the end" else "completed")


def test_a_cancelled_attempt_keeps_ending_and_usage_of_its_report_once() -> None:
    book, gate = Attempts(), SentenceGate(SOURCES)
    book.start("i", "a", 0.0)
    events = read_answer([said("It opens at eight [S1]. And"), said(" more"), chat(finish_reason="stop")], "openai_chat", gate)
    book.take("a", next(events), 1.0)
    events.close()
    assert book.cancel("a", 2.0, report=gate.report)
    assert not book.cancel("a", 3.0, report=gate.report)
    record = book.get("a")
    assert (record.state, record.ending, record.usage.kind, record.settled_at) == ("cancelled", "cancelled", "estimated", 2.0)
    assert record.usage.output_tokens == len("It opens at eight [S1]. And")


def test_a_late_piece_of_an_old_attempt_changes_nothing() -> None:
    book = Attempts()
    book.start("i", "a", 0.0)
    book.text("a", "It op", 1.0)
    book.start("i", "b", 2.0)
    before = book.get("a")
    assert (before.state, before.reason) == ("superseded", "superseded")
    assert not book.text("a", "ens at eight.", 3.0)
    assert not book.tool("a", [ToolPiece(0, "t", "look", "{}")])
    assert not book.end("a", GOOD, 3.0)
    assert not book.check("a", 1, passed=True, now=3.0)
    assert not book.fail("a", "late", 3.0)
    assert book.promote("a", 3.0) is None
    assert book.get("a") == before
    assert book.get("b").text == ""


def test_a_second_attempt_never_continues_the_firsts_text() -> None:
    book = Attempts()
    book.start("i", "a", 0.0)
    book.text("a", "It opens at", 1.0)
    book.end("a", Ending.truncated("length"), 2.0)
    ready(book, attempt="b", text="eight.")
    final = book.promote("b", 4.0)
    assert final is not None
    assert (final.text, book.get("b").number) == ("eight.", 2)


@pytest.mark.parametrize(
    ("items", "state", "reason"),
    [
        ([*map(said, PIECES), chat(finish_reason="stop")], "final", None),
        ([*map(said, PIECES), chat(finish_reason="length")], "failed", "truncated"),
        ([*map(said, PIECES)], "failed", "no_evidence"),
        ([said("Lockers cost 45 [S1]. And"), chat(finish_reason="stop")], "failed", "stopped"),
        ([said(""), chat(finish_reason="stop")], "failed", "empty"),
        ([said("NO_ANSWER"), said(" more"), chat(finish_reason="stop")], "refused", None),
        ([chat(delta={"refusal": "No."}), chat(finish_reason="stop")], "refused", None),
    ],
)
def test_gate_events_are_ending_and_check_in_one(items: list[object], state: str, reason: str | None) -> None:
    book = Attempts()
    book.start("i", "a", 0.0)
    for event in read_answer(items, "openai_chat", SentenceGate(SOURCES)):
        assert book.take("a", event, 1.0)
    final = book.promote("a", 2.0)
    assert (book.get("a").state, book.get("a").reason) == (state, reason)
    assert (final is not None) is (state in ("final", "refused"))
    if final:
        assert final.refusal is (state == "refused")
        assert final.text == ("" if final.refusal else "It opens at eight. The café ☕ closes at six. Bring a towel.")


def test_a_report_on_another_draft_is_no_check() -> None:
    book, gate = Attempts(), SentenceGate(SOURCES)
    gate.feed("It opens at eight [S1].")
    gate.finish(Ending.completed())
    book.start("i", "a", 0.0)
    book.text("a", "It opens at nine.", 1.0)
    assert book.done("a", gate.report, 2.0)
    assert (book.get("a").state, book.get("a").reason) == ("failed", "other_draft")
    assert book.promote("a", 3.0) is None


CALL = [ToolPiece(0, "t-1", "look", '{"q": '), ToolPiece(1, "t-2", "book", "{}"), ToolPiece(0, arguments='"eight"}')]


def called(book: Attempts, pieces: list[ToolPiece], ending: Ending | None) -> None:
    book.start("i", "a", 0.0)
    book.tool("a", pieces)
    if ending:
        book.end("a", ending, 2.0)


def test_tool_calls_are_handed_out_once_when_complete_and_permitted() -> None:
    book = Attempts()
    called(book, CALL, Ending.tool_call("tool_calls"))
    asked: list[ToolCall] = []
    calls = book.tool_calls("a", lambda call: asked.append(call) or call.name == "look")
    assert calls == (ToolCall("t-1", "look", {"q": "eight"}),)
    assert [call.name for call in asked] == ["look", "book"]
    assert book.tool_calls("a", lambda _: True) == ()
    assert book.promote("a", 3.0) is None
    book.start("i", "b", 4.0)
    assert count(book.all()).tool_turns == 1
    assert count(book.all()).failures == {}


@pytest.mark.parametrize(
    ("pieces", "ending"),
    [
        (CALL, None),
        (CALL, Ending.truncated("length")),
        (CALL, Ending.no_evidence()),
        (CALL, Ending.provider_error("error")),
        (CALL[:2], Ending.tool_call("tool_calls")),
        ([ToolPiece(0, "t", "look", "[1]")], Ending.tool_call("tool_calls")),
        ([ToolPiece(0, "t", None, "{}")], Ending.tool_call("tool_calls")),
        ([ToolPiece(0, "t", "look", "[" * 100_000)], Ending.tool_call("tool_calls")),
    ],
)
def test_calls_of_a_message_that_is_not_whole_are_not_handed_out(pieces: list[ToolPiece], ending: Ending | None) -> None:
    book = Attempts()
    called(book, pieces, ending)
    assert book.tool_calls("a", lambda _: True) == ()


def test_calls_of_a_cancelled_or_superseded_attempt_are_not_handed_out() -> None:
    for way in ("cancel", "start"):
        book = Attempts()
        called(book, CALL, Ending.tool_call("tool_calls"))
        if way == "cancel":
            book.cancel("a", 3.0)
        else:
            book.start("i", "b", 3.0)
        assert book.tool_calls("a", lambda _: True) == ()


def test_whole_calls_are_calls_of_their_own() -> None:
    assert joined([ToolPiece(WHOLE, None, "look", "{}"), ToolPiece(WHOLE, None, "look", '{"a": 1}')]) == [
        ToolCall(None, "look", {}),
        ToolCall(None, "look", {"a": 1}),
    ]


def test_counts() -> None:
    book = Attempts()
    ready(book, "i1", "a1")
    book.promote("a1", 3.0)
    book.start("i2", "a2", 0.0)
    book.fail("a2", "no_connection", 0.5)
    book.start("i3", "a3", 0.0)
    book.text("a3", "It", 0.25)
    book.end("a3", Ending.truncated("length"), 2.0)
    book.start("i4", "a4", 0.0)
    for event in read_answer([said("NO_ANSWER "), chat(finish_reason="stop")], "openai_chat", SentenceGate(SOURCES)):
        book.take("a4", event, 1.0)
    book.promote("a4", 2.0)
    book.start("i5", "a5", 0.0)
    counts = count(book.all())
    assert (counts.started, counts.open, counts.with_text, counts.valid_endings) == (5, 1, 2, 1)
    assert (counts.accepted, counts.accepted_refusals) == (1, 1)
    assert counts.failures == {"no_connection": 1, "truncated": 1}
    assert counts.seconds_to_first_text == (0.25, 1.0)
    assert counts.seconds_to_accepted == (2.0, 3.0)


def test_wrong_calls() -> None:
    book = Attempts()
    with pytest.raises(UsageError, match="start it first"):
        book.text("a", "x", 0.0)
    book.start("i", "a", 0.0)
    with pytest.raises(UsageError, match="was started before"):
        book.start("i", "a", 0.0)
    with pytest.raises(UsageError, match="not empty"):
        book.start("", "b", 0.0)


def test_forget_drops_what_is_settled() -> None:
    book = Attempts()
    ready(book)
    book.promote("a", 3.0)
    book.start("j", "b", 0.0)
    assert (book.forget(3.0), book.forget(3.5), book.forget(9.0)) == (0, 1, 0)
    assert [record.id for record in book.all()] == ["b"]


def test_no_text_in_a_repr() -> None:
    book = Attempts()
    ready(book, text="secret")
    calls = joined([ToolPiece(0, "t", "look", '{"q": "secret"}')])
    assert "secret" not in repr((book.get("a"), book.promote("a", 3.0), calls))


class Storm(RuleBasedStateMachine):
    """Anything in any order: an intent never has two finals, a final is never of a cancelled or superseded attempt, nor changes."""

    names = st.sampled_from([f"{intent}{number}" for intent in "ij" for number in range(3)])

    def __init__(self) -> None:
        super().__init__()
        self.book = Attempts()
        self.clock = itertools.count()
        self.finals: dict[str, Final] = {}
        self.dead: set[str] = set()
        self.texts: dict[str, str] = {}

    @rule(name=names)
    def start(self, name: str) -> None:
        if name not in self.texts:
            self.dead |= {other for other in self.texts if other[0] == name[0]} - {final.attempt for final in self.finals.values()}
            self.book.start(name[0], name, next(self.clock))
            self.texts[name] = ""

    @rule(name=names, piece=st.sampled_from(["a", "b", ""]))
    def text(self, name: str, piece: str) -> None:
        if name in self.texts and self.book.text(name, piece, next(self.clock)):
            assert name not in self.dead
            self.texts[name] += piece

    @rule(name=names, kind=st.sampled_from(["completed", "truncated", "stop_sequence", "cancelled", "tool_call"]))
    def end(self, name: str, kind: str) -> None:
        if name in self.texts and self.book.end(name, Ending(kind), next(self.clock)) and kind in ("truncated", "cancelled"):  # type: ignore[arg-type]
            self.dead.add(name)

    @rule(name=names, version=st.integers(0, 3), passed=st.booleans())
    def check(self, name: str, version: int, passed: bool) -> None:
        if name in self.texts and self.book.check(name, version, passed=passed, now=next(self.clock)) and not passed:
            self.dead.add(name)

    @rule(name=names)
    def cancel(self, name: str) -> None:
        if name in self.texts and self.book.cancel(name, next(self.clock)):
            self.dead.add(name)

    @rule(name=names)
    def promote(self, name: str) -> None:
        final = self.book.promote(name, next(self.clock)) if name in self.texts else None
        if final is not None:
            assert name not in self.dead
            assert final.text == self.texts[name]
            assert self.finals.setdefault(name[0], final) is final

    @invariant()
    def one_final_an_intent(self) -> None:
        states = [(record.intent, record.state) for record in self.book.all() if record.state in ("final", "refused")]
        assert len(states) == len({intent for intent, _ in states}) == len(self.finals)


TestStorm = Storm.TestCase
TestStorm.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
