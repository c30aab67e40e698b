"""The seven invariants of the specification, language and policy drawn by the test. 200 examples, 2,000 with the profile "deep"."""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sentence_gate import (
    Done,
    Ending,
    Omitted,
    Policy,
    Released,
    SentenceGate,
    SentenceSplitter,
    Sources,
    Stopped,
    UsageError,
    judge,
    languages,
)
from sentence_gate.markers import style_of
from sentence_gate.normal import WHITE

SOURCES = Sources(
    ["The pool opens at eight on 3 May 2019 for 1,200 guests. See https://pool.example/fees.", "استخر ساعت ۹ باز می‌شود. 泳池九点开门。", ""]
)
STYLES = {"S": "[S1]", "numeric": "[1]", "footnote": "[^1]", "doc": "[doc1]", "lenticular": "【1】", "ID": "[ID:0]"}

FRAGMENTS = [
    "The pool opens at eight", "It opens", "Dr. Smith", "e.g. here", "z. B. so", "am 17. Mai", "J. R. Smith", "3.14",
    "1,200", "at 10 a.m.", "2019", "https://pool.example/fees", "I think", "NO_ANSWER",
    "استخر ساعت ۹ باز می‌شود", "ه.ش.", "پرسید", "قال", "पुस्तकालय खुलता है", "डॉ. राव", "泳池九点开门", "我认为", "Der Preis",
    "él dijo", "т. е. так", "ไทย น. ", "年费是300元",
    ".", "!", "?", "…", "...", "؟", "۔", "。", "！", "।", "։", "?!", ",", ":", ";", "،", "-", "–",
    " ", " ", " ", "\n", "\n\n", "\r\n", "\u00a0", "\u200c", "\u2028", "\t",
    "[S1]", "[S2]", "[s1, S2]", "[S1-S3]", "[S9]", "[S0]", "[S", "[1]", "[^1]", "[doc2]", "【1】", "[ID:0]",
    "[link](https://x.example)", "[",
    '"', "“", "”", "«", "»", "„", "‘", "’", "「", "」", "(", ")", "[", "]",
    "# Fees", "- ", "* ", "1. ", "2) ", "۱. ", "> ", "| a | b |", "|---|---|", "```", "```py\n", "**", "__", "`", "<b>",
    "</b>", "<!--", "-->", "&nbsp;", "&#49;", "\\*",
    "\u202e", "\u200d", "\u200b", "\ufe0f", "\ud800", "\x00", "\U000e0041", "é", "e\u0301", "👍🏽", "²", "½", "٪", "٣",
]  # fmt: skip

texts = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=30).map("".join)
policies = st.builds(
    Policy,
    language=st.sampled_from(languages.codes()) | st.sampled_from(["en", "fa", "zh", "de"]),
    markers=st.sampled_from(sorted(STYLES)),
    show_markers=st.booleans(),
    min_words=st.integers(1, 12),
    max_chars=st.sampled_from([40, 120, 1000]),
    no_answer_token=st.sampled_from(["NO_ANSWER", None]),
    on_violation=st.sampled_from(["stop", "omit", "observe"]),
    citation_scope=st.sampled_from(["sentence", "paragraph"]),
    question_supports_values=st.booleans(),
)
endings = st.sampled_from([Ending.completed(), Ending.truncated(), Ending.tool_call(), Ending.provider_error(), Ending.cancelled()])


@st.composite
def cuttings(draw: st.DrawFn, text: str) -> list[str]:
    """The text in pieces: one character each, whole, or at drawn places, with empty pieces."""
    way = draw(st.sampled_from(["ones", "whole", "drawn", "drawn"]))
    if way == "ones":
        return list(text)
    if way == "whole":
        return [text]
    at = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]


def play(pieces: list[str], policy: Policy, ending: Ending):
    gate = SentenceGate(SOURCES, policy, question="What costs 77?")
    outcomes = [gate.feed(piece) for piece in pieces]
    outcomes.append(gate.finish(ending))
    return gate, outcomes


def told(gate: SentenceGate, outcomes) -> tuple:
    """Everything that must not depend on the pieces: usage after a stop aside."""
    events = [event for outcome in outcomes for event in outcome.events if not isinstance(event, Done)]
    return replace(gate.report, usage=None), events, [violation for outcome in outcomes for violation in outcome.violations]


@given(texts, policies, endings, st.data())
def test_1_cut_invariant(text: str, policy: Policy, ending: Ending, data: st.DataObject) -> None:
    expected = told(*play([text], policy, ending))
    assert told(*play(list(text), policy, ending)) == expected
    assert told(*play(data.draw(cuttings(text)), policy, ending)) == expected


@given(texts, policies, st.data())
def test_1_sentences_are_cut_invariant(text: str, policy: Policy, data: st.DataObject) -> None:
    def split(pieces: list[str]) -> list:
        splitter = SentenceSplitter(policy.language, markers=policy.markers, max_chars=policy.max_chars)
        found = [sentence for piece in pieces for sentence in splitter.feed(piece)]
        tail = splitter.flush()
        return found + ([tail] if tail else [])

    whole = split([text])
    assert split(list(text)) == whole
    assert split(data.draw(cuttings(text))) == whole
    joined = "".join(sentence.lead + sentence.text for sentence in whole)
    assert text.startswith(joined)
    assert not text[len(joined) :].strip(WHITE)
    assert all(text[sentence.start : sentence.end] == sentence.text for sentence in whole)


@given(texts, policies)
def test_1_one_released_event_a_sentence(text: str, policy: Policy) -> None:
    gate, outcomes = play([text], policy, Ending.completed())
    released = [event for outcome in outcomes for event in outcome.events if isinstance(event, Released)]
    assert all(event.text for event in released)
    assert len(released) <= gate.report.sentences + 1 + len(text) // policy.max_chars


@given(
    st.lists(st.sampled_from(["It opens at eight [S1].", "Open [S1]!", "استخر ساعت ۹ باز می‌شود [S2].", "泳池九点开门[S2]。"]), max_size=4),
    texts,
    policies,
    st.data(),
)
def test_2_no_leak(before: list[str], after: str, policy: Policy, data: st.DataObject) -> None:
    canary = "qxcanary"
    policy = replace(policy, on_violation=data.draw(st.sampled_from(["stop", "omit"])), markers="S", max_chars=1000)
    logged: list[str] = []
    handler = logging.Handler(0)
    handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(0)
    try:
        text = " ".join([*before, f"Lockers {canary} cost 4711 [S1]."])
        text += f"\n\n{after} {canary}." if policy.on_violation == "stop" else ""
        gate, outcomes = play(data.draw(cuttings(text)), policy, Ending.completed())
    finally:
        logging.getLogger().removeHandler(handler)
    seen = [gate.report.text, repr(gate), repr(gate.report), json.dumps(gate.report.to_dict()), *logged]
    for outcome in outcomes:
        seen += [outcome.text, repr(outcome), *(json.dumps(event.to_dict()) for event in outcome.events)]
    with pytest.raises(UsageError) as raised:
        gate.feed("more")
    seen.append(str(raised.value))
    assert not any(canary in one for one in seen)
    assert gate.report.text == "".join(outcome.text for outcome in outcomes)


@given(texts, policies)
@example("  [S1]  \n", Policy(show_markers=True, no_answer_token=None, on_violation="observe"))
def test_3_faithful_with_markers_shown(text: str, policy: Policy) -> None:
    policy = replace(policy, show_markers=True, no_answer_token=None, on_violation="observe")
    gate, _ = play(list(text), policy, Ending.completed())
    assert gate.report.text == text


@given(texts.filter(lambda text: not set(text) & set("([{（【*_`~")), policies)
def test_3_faithful_without_markers_nothing_changes(text: str, policy: Policy) -> None:
    policy = replace(policy, show_markers=False, no_answer_token=None, on_violation="observe")
    assert play([text], policy, Ending.completed())[0].report.text == text


@given(texts, policies)
def test_3_only_markers_and_white_space_go(text: str, policy: Policy) -> None:
    policy = replace(policy, show_markers=False, no_answer_token=None, on_violation="observe")
    gate, _ = play([text], policy, Ending.completed())
    left = iter(text)
    assert all(char in left for char in gate.report.text if char not in WHITE), "the released text is no subsequence of the input"


@given(texts, policies)
def test_4_prompt(text: str, policy: Policy) -> None:
    policy = replace(policy, on_violation="observe", show_markers=True, no_answer_token=None)
    splitter = SentenceSplitter(policy.language, markers=policy.markers, max_chars=policy.max_chars)
    gate = SentenceGate(SOURCES, policy)
    for char in text:
        certain = splitter.feed(char)
        assert gate.feed(char).text == "".join(sentence.lead + sentence.text for sentence in certain)


@given(texts, policies)
def test_4_the_texts_add_up(text: str, policy: Policy) -> None:
    gate, outcomes = play(list(text), policy, Ending.completed())
    assert "".join(outcome.text for outcome in outcomes) == gate.report.text
    for outcome in outcomes:
        assert outcome.text == "".join(event.text for event in outcome.events if isinstance(event, Released))


@given(
    st.sampled_from(["word ", "a", "[S1]", "[S", " ", "\n", '"', "(", "1,", ". ", "字", "e\u0301", "NO_ANSWE", "```\n", "| "]),
    st.sampled_from([40, 200]),
    st.integers(1, 7),
)
def test_5_every_hold_is_bounded(seed: str, max_chars: int, size: int) -> None:
    splitter = SentenceSplitter("en", max_chars=max_chars)
    text = seed * (6 * max_chars // len(seed))
    for at in range(0, len(text), size):
        splitter.feed(text[at : at + size])
        assert len(splitter.pending) <= 2 * max_chars + size


def _lines(text: str, size: int) -> int:
    """Lines of Python that a gate runs for a text: a measure of work that no busy machine changes."""
    count = 0

    def count_lines(frame, event, arg):
        nonlocal count
        count += event == "line"
        return count_lines

    gate = SentenceGate(SOURCES, Policy(on_violation="observe"))
    before = sys.gettrace()
    sys.settrace(count_lines)
    try:
        for at in range(0, len(text), size):
            gate.feed(text[at : at + size])
        gate.finish()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("size", [1, 4, 10_000])
@pytest.mark.parametrize(
    "seed", ["word ", "a", "[S1]", "[S1] ", "[S", " ", '"', "([{", "1,", "1 ", ". ", "字", "e\u0301", "a@", "It opens. "]
)
def test_5_linear(seed: str, size: int) -> None:
    text = seed * (6000 // len(seed))
    half, whole = _lines(text[: len(text) // 2], size), _lines(text, size)
    assert whole <= 2.4 * half + 500


@given(texts, texts, policies)
def test_6_final(text: str, more: str, policy: Policy) -> None:
    gate = SentenceGate(SOURCES, replace(policy, on_violation="stop"))
    gate.feed(f"Lockers cost 4711 [S1].\n\n{text}")
    assert gate.stopped
    shown = gate.report.text
    outcome = gate.feed(more)
    assert (outcome.text, outcome.stopped, outcome.events) == ("", True, ())
    assert [type(event) for event in gate.finish().events] == [Done]
    assert gate.report.text == shown


@given(texts.filter(lambda text: text.strip(WHITE)), st.sampled_from([ValueError, KeyError, RecursionError, UnicodeError]), policies)
def test_7_closed_when_in_doubt(text: str, error: type[Exception], policy: Policy) -> None:
    def breaks(sentence, sources, policy):
        raise error(sentence.text)

    policy = replace(policy, checks=(breaks,), on_violation="stop", no_answer_token=None)
    report = judge(text, SOURCES, policy)
    assert report.status == "stopped"
    assert {violation.check for violation in report.violations} == {"check_failed"}
    assert report.text.strip(WHITE) == ""


def test_the_events_of_the_modes() -> None:
    text = "Lockers cost 4711 [S1]."
    assert isinstance(play([text], Policy(), Ending.completed())[1][-1].events[0], Stopped)
    assert isinstance(play([text], Policy(on_violation="omit"), Ending.completed())[1][1].events[0], Omitted)


def test_every_style_of_the_tests_exists() -> None:
    assert all(style_of(name).find(written) for name, written in STYLES.items())
