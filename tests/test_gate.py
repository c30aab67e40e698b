"""The state machine: every row of the transition table, and what is counted."""

from __future__ import annotations

import logging

import pytest

from sentence_gate import (
    DEFAULT_CHECKS,
    Done,
    Empty,
    Ending,
    Failed,
    Omitted,
    Policy,
    Refused,
    Released,
    SentenceGate,
    Source,
    Sources,
    Stopped,
    Truncated,
    Usage,
    UsageError,
    Violation,
    judge,
    notice,
)

POOL = ["The pool opens at eight.", "Lockers cost 45 cents. The sauna has 12 places."]
GOOD = "The pool opens at eight in the morning [S1]."
BAD = "Lockers cost 99 cents for the whole day [S2]."


def play(text: str, policy: Policy | None = None, *, ending: Ending | None = None, size: int = 1, sources=POOL, question: str = ""):
    gate = SentenceGate(sources, policy or Policy(), question=question)
    outcomes = [gate.feed(text[at : at + size]) for at in range(0, len(text), size)]
    outcomes.append(gate.finish(ending))
    return gate, outcomes, [event for outcome in outcomes for event in outcome.events]


def kinds(events) -> list[type]:
    return [type(event) for event in events]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_second_shape_of_use(size: int) -> None:
    text = "It opens at eight [S1]. Lockers cost 45 since May [S1]. Also"
    gate, shown = SentenceGate(sources=["The pool opens at eight."]), ""
    for at in range(0, len(text), size):
        outcome = gate.feed(text[at : at + size])
        shown += outcome.text
        if outcome.stopped:
            break
    assert gate.stopped
    assert shown == "It opens at eight."
    assert gate.report.status == "stopped"


def test_open_to_accepted() -> None:
    gate, _, events = play(f"{GOOD} The sauna has 12 places [S2].\n")
    assert kinds(events) == [Released, Released, Released, Done]
    assert events[2] == Released("\n", ())
    report = gate.report
    assert (report.status, report.sentences, report.cited, report.withheld_chars) == ("accepted", 2, (1, 2), 0)
    assert report.text == "The pool opens at eight in the morning. The sauna has 12 places.\n"


def test_open_to_stopped_keeps_what_passed_in_the_same_piece() -> None:
    gate, _, events = play(f"{GOOD} {BAD} {GOOD}", size=1000)
    assert kinds(events) == [Released, Stopped, Done]
    assert events[1].checks == ("unsupported_value",)
    assert events[1].notice == notice(Policy(), "stopped") == gate.report.notice
    (violation,) = gate.report.violations
    assert (violation.start, violation.end) == (len(GOOD) + 1, len(GOOD) + 1 + len(BAD))
    assert violation.detail == "99"
    assert gate.report.withheld_chars == len(BAD) + 1


def test_after_a_stop_nothing_is_released_and_finish_adds_ending_and_usage() -> None:
    gate = SentenceGate(POOL)
    gate.feed(f"{BAD} And")
    again = gate.feed(GOOD * 3)
    assert (again.text, again.stopped, again.events) == ("", True, ())
    ending = Ending.completed("stop", usage=Usage(10, 20, None, "reported"))
    outcome = gate.finish(ending)
    assert kinds(outcome.events) == [Done]
    assert (gate.report.status, gate.report.ending, gate.report.usage) == ("stopped", ending, ending.usage)
    for late in (lambda: gate.feed("x"), gate.finish):
        with pytest.raises(UsageError):
            late()


def test_omit_goes_on_and_keeps_the_stronger_break() -> None:
    policy = Policy(on_violation="omit")
    gate, _, events = play(f"{GOOD}\n\n{BAD} The sauna has 12 places [S2].", policy)
    assert kinds(events) == [Released, Omitted, Released, Done]
    assert gate.report.text == "The pool opens at eight in the morning.\n\nThe sauna has 12 places."
    assert gate.report.status == "accepted"
    assert gate.report.withheld_chars == len(BAD) + 2


def test_omit_of_the_first_sentence_leaves_no_break_before_the_next() -> None:
    assert judge(f"{BAD} {GOOD}", POOL, Policy(on_violation="omit")).text == "The pool opens at eight in the morning."


def test_omit_of_everything_is_empty() -> None:
    gate, _, events = play(BAD, Policy(on_violation="omit"))
    assert kinds(events) == [Omitted, Empty, Done]
    assert (gate.report.status, gate.report.notice) == ("empty", notice(Policy(), "empty"))


def test_a_failing_line_drops_the_rest_of_its_fence() -> None:
    text = f"Run it like this [S1]:\n```\ncost 45\nprice 99\nmore\n```\n\n{GOOD}"
    report = judge(text, [POOL[0] + " cost 45"], Policy(on_violation="omit"))
    assert "99" not in report.text
    assert "more" not in report.text
    assert report.text.count("```") == 2
    assert report.text.endswith("The pool opens at eight in the morning.")


def test_observe_changes_nothing_and_reports() -> None:
    gate, _, events = play(f"{GOOD} {BAD}", Policy(on_violation="observe"))
    assert kinds(events) == [Released, Released, Done]
    assert gate.report.text == "The pool opens at eight in the morning. Lockers cost 99 cents for the whole day."
    assert gate.report.status == "accepted"
    assert [violation.check for violation in gate.report.violations] == ["unsupported_value"]


def test_all_failed_checks_in_the_order_of_the_policy() -> None:
    text = "I think that lockers cost 99 cents \u202efor\u202c you [S7]."
    report = judge(text, POOL)
    assert list(dict.fromkeys(violation.check for violation in report.violations)) == [
        "citation_range",
        "unsupported_value",
        "first_person",
        "hidden_text",
    ]
    backwards = judge(text, POOL, Policy(checks=DEFAULT_CHECKS[::-1]))
    assert backwards.violations[0].check == "hidden_text"


@pytest.mark.parametrize(
    ("ending", "status", "event", "text"),
    [
        (Ending.completed(), "accepted", None, "The pool opens at eight in the morning. The sauna"),
        (Ending.stop_sequence(), "accepted", None, "The pool opens at eight in the morning. The sauna"),
        (Ending.tool_call(), "accepted", None, "The pool opens at eight in the morning. The sauna"),
        (Ending.truncated(), "truncated", Truncated, "The pool opens at eight in the morning."),
        (Ending.refused(), "refused", Refused, "The pool opens at eight in the morning."),
        (Ending.filtered(), "failed", Failed, "The pool opens at eight in the morning."),
        (Ending.provider_error(), "failed", Failed, "The pool opens at eight in the morning."),
        (Ending.no_evidence(), "failed", Failed, "The pool opens at eight in the morning."),
        (Ending.cancelled(), "cancelled", None, "The pool opens at eight in the morning."),
    ],
)
def test_the_table_of_endings(ending: Ending, status: str, event: type | None, text: str) -> None:
    gate, _, events = play(f"{GOOD} The sauna", ending=ending)
    assert (gate.report.status, gate.report.text) == (status, text)
    assert kinds(events[-2:]) == ([event, Done] if event else [Released, Done])
    assert (gate.report.notice is not None) == (event is not None)
    assert not gate.stopped


@pytest.mark.parametrize("maker", ["truncated", "refused", "filtered", "provider_error", "no_evidence"])
def test_when_nothing_arrived_the_reader_gets_a_notice(maker: str) -> None:
    _, _, events = play("", ending=getattr(Ending, maker)())
    assert events[0].notice


def test_an_empty_answer() -> None:
    gate, _, events = play("")
    assert kinds(events) == [Empty, Done]
    assert gate.report.status == "empty"
    assert play("", ending=Ending.tool_call())[0].report.status == "accepted"


def test_a_last_full_stop_is_dropped_with_a_cut_answer() -> None:
    assert play("The pool opens at 3.", ending=Ending.truncated())[0].report.text == ""


def test_observe_releases_the_tail_of_a_cut_answer_unjudged() -> None:
    gate, _, _ = play(f"{GOOD} Lockers cost 99", Policy(on_violation="observe"), ending=Ending.truncated())
    assert gate.report.text == "The pool opens at eight in the morning. Lockers cost 99"
    assert (gate.report.status, gate.report.violations) == ("truncated", ())


def test_the_stop_wins_over_the_cut() -> None:
    gate, _, _ = play(f"{GOOD} {BAD} And", ending=Ending.truncated())
    assert gate.report.status == "stopped"


# ---------------------------------------------------------------------------------------------------- no-answer token


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize(
    "text",
    [
        "NO_ANSWER",
        " \u200fNO_ANSWER.",
        "**NO_ANSWER**",
        '"NO_ANSWER" is what I say',
        "(NO_ANSWER)",
        "`NO_ANSWER`\n\nSorry 99",
        "\n\nNO_ANSWER - 99",
    ],
)
def test_the_token_at_the_start(text: str, size: int) -> None:
    for mode in ("stop", "omit", "observe"):
        gate, _, events = play(text, Policy(on_violation=mode), size=size)
        assert gate.stopped
        assert gate.report.text.strip() == ""
        assert (gate.report.status, gate.report.violations) == ("refused", ())
        assert kinds(events) == [Refused, Done]
        assert events[0].notice == notice(Policy(), "refused")


def test_the_token_is_recognised_at_once() -> None:
    gate = SentenceGate(POOL)
    outcomes = [gate.feed(char) for char in "NO_ANSWER b"]
    assert [outcome.stopped for outcome in outcomes].index(True) == len("NO_ANSWER")


@pytest.mark.parametrize("size", [1, 3, 100])
def test_the_token_after_released_sentences(size: int) -> None:
    gate, _, events = play(f"{GOOD} NO_ANSWER and so on", size=size)
    assert kinds(events) == [Released, Done]
    assert (gate.report.status, gate.stopped, gate.report.text) == ("refused", True, "The pool opens at eight in the morning.")
    assert gate.report.withheld_chars == len(" NO_ANSWER")


def test_the_token_inside_a_sentence_withholds_it() -> None:
    gate, _, _ = play(f"{GOOD} The answer is NO_ANSWER [S1]. {GOOD}")
    assert (gate.report.status, gate.report.text) == ("refused", "The pool opens at eight in the morning.")


@pytest.mark.parametrize("text", ["NO_ANSWERS are given here [S1].", "NO_ANSWER_2 is a name [S1].", "no_answer is a name [S1]."])
def test_what_is_no_token(text: str) -> None:
    assert judge(text, ["NO_ANSWER_2"]).status == "accepted"


def test_a_normal_answer_does_not_wait_for_the_token() -> None:
    gate = SentenceGate(POOL)
    text = "No lockers. " + GOOD
    assert [gate.feed(char).text for char in text].index("No lockers.") == len("No lockers. T") - 1


def test_without_a_token() -> None:
    assert judge("NO_ANSWER", POOL, Policy(no_answer_token=None)).status == "accepted"


# ---------------------------------------------------------------------------------------------------- citations, question, custom checks


def test_paragraph_scope() -> None:
    policy = Policy(citation_scope="paragraph")
    text = (
        "Lockers cost 45 cents [S2]. The sauna has 12 places for all the guests. One more sentence. And another one. Here is the 12 again."
    )
    assert judge(text, POOL, policy).violations[0].start == text.index("Here")
    assert judge("The pool opens [S1]. The sauna has 12 places.", POOL, policy).violations[0].check == "unsupported_value"
    assert judge("Lockers cost 45 cents [S2].\n\nThe sauna has 12 places.", POOL, policy).violations[0].check == "citation_required"
    assert judge("Lockers cost 45 cents [S2].\n- The sauna has 12 places.\n- It has 12.", POOL, policy).status == "accepted"
    assert judge("Lockers cost 45 cents [S2]. The sauna has 12 places.", POOL).status == "stopped"


def test_released_cites_hold_what_is_inherited() -> None:
    _, _, events = play("Lockers cost 45 cents [S2]. The sauna has 12 places.", Policy(citation_scope="paragraph"))
    assert [event.cites for event in events if isinstance(event, Released)] == [(2,), (2,)]


def test_the_question_supports_values_if_the_policy_says_so() -> None:
    ask = "Does a child of 7 years get in?"
    answer = "A child of 7 gets in at eight [S1]."
    assert judge(answer, POOL, question=ask).status == "stopped"
    assert judge(answer, POOL, Policy(question_supports_values=True), question=ask).status == "accepted"
    assert judge("You said 7.", POOL, Policy(question_supports_values=True), question=ask).status == "accepted"


def test_a_custom_check_sees_sentence_sources_policy() -> None:
    seen = []

    def no_bakery(sentence, sources, policy):
        seen.append((sentence.prose, len(sources), policy.language))
        if "bakery" in sentence.prose:
            yield Violation("no_bakery", "bakery")

    report = judge("The **bakery** opens [S1].", POOL, Policy(checks=(*DEFAULT_CHECKS, no_bakery)))
    assert seen == [("The bakery opens.", 2, "en")]
    (violation,) = report.violations
    assert (violation.check, violation.detail, violation.length) == ("no_bakery", "bakery", len("The **bakery** opens [S1]."))


@pytest.mark.parametrize("wrong", [lambda *_: 1 / 0, lambda *_: ["no violation"], lambda *_: None])
def test_a_check_that_fails_is_a_violation(wrong, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    report = judge("The secretword opens.", POOL, Policy(checks=(wrong,)))
    assert [violation.check for violation in report.violations] == ["check_failed"]
    assert report.status == "stopped"
    assert "secretword" not in caplog.text


# ---------------------------------------------------------------------------------------------------- markers, white space, reports


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Open at eight [S1].", "Open at eight."),
        ("Open at eight. [S1]", "Open at eight."),
        ("Open at eight. [S1] [S1]\n\nOpen.", "Open at eight.\n\nOpen."),
        ("[S1] Open at eight.", "Open at eight."),
        ("Open (see [S1]) at eight ([S1]).", "Open (see) at eight."),
        ("Ouvert à huit heures [S1] ?", "Ouvert à huit heures ?"),
        ("باز است [S1].", "باز است."),
        ("九点开门[S1]。", "九点开门。"),
        ("Open at eight[S1].com [S1].", "Open at eight. com."),
        ("Open at eight **[S1]**.com [S1].", "Open at eight. com."),
        ("Open at eight ([S1]).com [S1].", "Open at eight. com."),
        ("九点[S1].九点[S1]。", "九点.九点。"),
    ],
)
def test_markers_are_taken_out(text: str, shown: str) -> None:
    assert judge(text, ["eight huit باز 九点"]).text == shown


def test_show_markers_is_the_input_exactly() -> None:
    text = f"\n {GOOD}\r\n\r\n* The sauna [S2]\n* has **12** places. [S2]  \n"
    assert judge(text, POOL, Policy(show_markers=True)).text == text


def test_nothing_but_white_space() -> None:
    report = judge(" \n ", POOL)
    assert (report.text, report.status) == (" \n ", "empty")


def test_usage_is_estimated_upwards() -> None:
    usage = judge("Öffnet [S1].", POOL).usage
    assert usage is not None
    assert (usage.kind, usage.output_tokens) == ("estimated", len("Öffnet [S1].".encode()))


def test_a_report_may_be_read_at_any_time() -> None:
    gate = SentenceGate(POOL)
    gate.feed(GOOD)
    assert (gate.report.status, gate.report.ending, gate.report.text) == ("open", None, "")


def test_to_dict_holds_nothing_withheld() -> None:
    report = judge("Lockers cost 99 secretword [S2].", POOL)
    assert "secretword" not in str(report.to_dict()) + repr(report)
    assert "99" not in repr(report.violations)


# ---------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("sources", ["a bare string", b"bytes", 7, None, [7], {"a": 7}, [Source("x", id="a"), Source("y", id="a")]])
def test_wrong_sources(sources) -> None:
    with pytest.raises(UsageError):
        SentenceGate(sources)


def test_right_sources() -> None:
    for sources in ([], [""], {"a": "x"}, ["x", Source("y")], (text for text in "xy"), Sources(["x"])):
        SentenceGate(sources).feed("x")


@pytest.mark.parametrize("piece", [b"bytes", None, 7])
def test_wrong_pieces(piece) -> None:
    with pytest.raises(UsageError):
        SentenceGate(POOL).feed(piece)


def test_wrong_policy_question_ending() -> None:
    for wrong in (
        lambda: SentenceGate(POOL, {"language": "en"}),
        lambda: SentenceGate(POOL, question=7),
        lambda: SentenceGate(POOL).finish("stop"),
        lambda: Ending("over"),
    ):
        with pytest.raises(UsageError):
            wrong()


@pytest.mark.parametrize("text", ["\ud800 lone", "a\x00b", "x" * 100_000, "[S1]" * 20_000, " " * 50_000, "word " * 20_000, "(" * 50_000])
def test_hostile_text_is_handled(text: str) -> None:
    for mode in ("stop", "omit", "observe"):
        judge(text, POOL, Policy(on_violation=mode))
