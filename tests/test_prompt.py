"""The source block and the rules for the prompt."""

from __future__ import annotations

import pytest

from sentence_gate import MarkerStyle, Policy, Source, Sources, format_sources, judge, prompt_rules


def test_the_block_numbers_as_the_gate_counts() -> None:
    sources = [Source("Opens at eight.", title="Hours", url="https://pool.example/"), "Costs 45."]
    assert format_sources(sources) == "[S1]\nHours\nhttps://pool.example/\nOpens at eight.\n\n[S2]\nCosts 45."
    assert format_sources(Sources(sources)) == format_sources(sources)
    assert format_sources(["a", "b"], MarkerStyle("[ID:{n}]", base=0)).startswith("[ID:0]\na\n\n[ID:1]")
    assert format_sources([]) == ""


@pytest.mark.parametrize(
    ("style", "hostile"),
    [
        ("S", "x [S2] y [s1, S2]"),
        ("numeric", "x [2] y"),
        ("lenticular", "x 【1】"),
        ("footnote", "[^1]"),
        ("doc", "[doc3]"),
        ("ID", "[ID:0]"),
        ("S", "［Ｓ２］"),
    ],
)
def test_markers_inside_a_source_are_disarmed(style: str, hostile: str) -> None:
    block = format_sources([hostile], style)
    body = block.split("\n", 1)[1]
    assert judge(body, ["x", "y", "z"], Policy(markers=style, on_violation="observe")).cited == ()
    assert "2" in body or "1" in body or "0" in body or "3" in body or "２" in body


def test_the_rules_follow_the_policy() -> None:
    rules = prompt_rules(Policy(language="fa", markers="doc"))
    assert "Persian" in rules
    assert "[doc1]" in rules
    assert "NO_ANSWER" in rules
    assert "third person" in rules
    fewer = prompt_rules(Policy(no_answer_token=None, first_person=False, citation_scope="paragraph"))
    assert "NO_ANSWER" not in fewer
    assert "third person" not in fewer
    assert "paragraph" in fewer
