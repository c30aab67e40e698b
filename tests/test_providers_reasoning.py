"""Reasoning is taken out, for every cutting of the text, and nothing else is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentence_gate.providers.reasoning import TAGS, Blocks, ReasoningFilter, blocks

ALPHABET = [tag for pair in TAGS[:4] for tag in pair] + [
    "<",
    "th",
    "ink>",
    "/",
    "[",
    "]",
    "[S1]",
    "a",
    "B.",
    " ",
    "\n",
    "<b>",
    "◁",
    "İ",
    "ſ",
    "K",
]


def run(pieces: list[str], **more: object) -> tuple[str, int]:
    taking = ReasoningFilter(**more)  # type: ignore[arg-type]
    shown = "".join(taking.feed(piece) for piece in pieces) + taking.finish()
    return shown, taking.taken


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>plan 42</think>\n\nIt opens [S1].", "It opens [S1]."),
        ("<think>plan <b> 4 < 5 </b></think>It opens.", "It opens."),
        (" \n<think>plan</think>\nIt opens.", " \nIt opens."),
        ("It opens. <think>now what</think> At eight.", "It opens.  At eight."),
        ("<THINK>plan</Think>Yes.", "Yes."),
        ("[THINK]plan[/THINK]Yes [S1].", "Yes [S1]."),
        ("<think>one</think>\n<think>two</think>\nYes.", "Yes."),
        ("<think>never closed. It opens at 45.", ""),
        ("plan</think>Yes.", "planYes."),
        ("<thin", "<thin"),
        ("a < b and <thinker>", "a < b and <thinker>"),
        ("<think>a</thinking>b</think>c", "c"),
        ("<b>bold</b> [S1", "<b>bold</b> [S1"),
        ("", ""),
    ],
)
def test_what_is_passed_on(text: str, shown: str) -> None:
    for size in (1, 2, 3, 7, 100):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert run(pieces)[0] == shown


def test_a_prompt_that_opens_the_reasoning() -> None:
    assert run(["plan 42", "</thi", "nk>\n\nYes."], inside=True) == ("Yes.", 15)
    assert run(["Yes."], inside=True) == ("", 4)


@given(st.lists(st.sampled_from(ALPHABET), max_size=30).map("".join), st.data())
def test_every_cutting_gives_the_same(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole, taken = run([text])
    assert run(pieces) == (whole, taken)
    assert run(list(text)) == (whole, taken)
    assert taken + len(whole) <= len(text)


@given(st.lists(st.sampled_from(ALPHABET), max_size=12).map("".join), st.sampled_from(TAGS))
def test_a_canary_inside_reasoning_is_never_passed_on(before: str, tags: tuple[str, str]) -> None:
    opening, closing = tags
    taking = ReasoningFilter()
    shown = taking.feed(before)
    if taking.inside:
        return
    shown += taking.feed(f"{opening}canary{closing}rest") + taking.finish()
    if not before.endswith(tuple(opening[:length] for length in range(1, len(opening)))):
        assert "canary" not in shown
        assert shown.endswith("rest")


@given(st.text(alphabet="ab <>[]/S1.\n", max_size=60))
def test_text_without_tags_is_passed_on_as_it_is(text: str) -> None:
    assert run(list(text)) == (text, 0)


def test_the_cost_is_linear() -> None:
    def cost(count: int) -> float:
        best = 9.0
        for _ in range(4):
            taking = ReasoningFilter()
            start = time.thread_time()
            for _ in range(count):
                taking.feed("<thin<|START_THINKIN")
            best = min(best, time.thread_time() - start)
        return best

    assert cost(40_000) < 200 * cost(2_000)  # twenty times as much; quadratic would be four hundred


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("Yes.", Blocks("Yes.")),
        (None, Blocks("")),
        ([{"type": "text", "text": "Yes"}, ".", {"type": "text", "text": None}], Blocks("Yes.")),
        ([{"type": "thinking", "thinking": "plan", "signature": "x"}, {"type": "text", "text": "Yes."}], Blocks("Yes.", "plan")),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "plan"}]}], Blocks("", "plan")),
        ([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "plan"}]}], Blocks("", "plan")),
        ([{"type": "reasoning", "reasoning": "plan"}], Blocks("", "plan")),
        ([{"type": "reasoning_content", "reasoning_content": {"text": "plan", "signature": ""}}], Blocks("", "plan")),
        ([{"type": "refusal", "refusal": "No."}], Blocks("", "", "No.")),
        ([{"type": "tool_use", "input": {}}, {"type": "image"}, 7, {"text": "untyped"}], Blocks("")),
    ],
)
def test_blocks_by_what_they_are(content: object, found: Blocks) -> None:
    assert blocks(content) == found
