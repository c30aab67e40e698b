"""Policies: defaults, mappings, and errors that say what is accepted."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from sentence_gate import DEFAULT_CHECKS, MarkerStyle, Policy, UsageError, judge, notice


def test_the_defaults() -> None:
    policy = Policy()
    assert (policy.language, policy.markers, policy.show_markers, policy.min_words, policy.max_chars) == ("en", "S", False, 8, 1000)
    assert (policy.first_person, policy.no_answer_token, policy.on_violation, policy.citation_scope) == (
        True,
        "NO_ANSWER",
        "stop",
        "sentence",
    )
    assert (policy.question_supports_values, policy.checks, policy.notices) == (False, DEFAULT_CHECKS, {})
    assert [check.__name__ for check in DEFAULT_CHECKS] == [
        "citation_range",
        "citation_required",
        "unsupported_value",
        "first_person",
        "hidden_text",
    ]


def test_frozen_hashable_picklable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Policy().language = "de"  # type: ignore[misc]
    assert hash(Policy(notices={"empty": "-"})) == hash(Policy(notices={"empty": "-"}))
    assert pickle.loads(pickle.dumps(Policy(language="fa"))) == Policy(language="fa")


def test_from_mapping() -> None:
    policy = Policy.from_mapping(
        {
            "language": "pt-BR",
            "markers": {"template": "[ID:{n}]", "base": 0},
            "checks": ["hidden_text", "citation_range"],
            "no_answer_token": False,
            "notices": {"stopped": "Fim."},
        }
    )
    assert policy.markers == MarkerStyle("[ID:{n}]", base=0)
    assert [check.__name__ for check in policy.checks] == ["hidden_text", "citation_range"]
    assert policy.no_answer_token is None
    assert notice(policy, "stopped") == "Fim."
    assert notice(policy, "empty") == notice(Policy(language="pt"), "empty")
    assert Policy.from_mapping({}) == Policy()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"langauge": "en"}, "language"),
        ({"language": "xx"}, "en, "),
        ({"language": 7}, "BCP 47"),
        ({"markers": "brackets"}, "numeric"),
        ({"markers": {"form": "x"}}, "template"),
        ({"min_words": "8"}, "whole number"),
        ({"min_words": True}, "whole number"),
        ({"max_chars": 0}, "whole number"),
        ({"show_markers": "no"}, "true or false"),
        ({"on_violation": "block"}, "observe"),
        ({"citation_scope": "answer"}, "paragraph"),
        ({"no_answer_token": ""}, "None"),
        ({"no_answer_token": "NO ANSWER"}, "white space"),
        ({"checks": "hidden_text"}, "list"),
        ({"checks": ["facts"]}, "citation_range"),
        ({"notices": {"cut": "x"}}, "truncated"),
        ({"notices": {"stopped": 7}}, "text"),
        ({"notices": "x"}, "mapping"),
    ],
)
def test_wrong_mappings(wrong: dict, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Policy.from_mapping(wrong)


def test_checks_may_be_any_iterable() -> None:
    assert Policy(checks=(check for check in DEFAULT_CHECKS)).checks == DEFAULT_CHECKS  # type: ignore[arg-type]


def test_names_of_checks_stand_in_a_mapping_only() -> None:
    for wrong in (["hidden_text"], "hidden_text", None, 7):
        with pytest.raises(UsageError):
            Policy(checks=wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        Policy.from_mapping("language: en")  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        notice(Policy(), "cut")


def test_notices_of_the_policy_reach_the_reader() -> None:
    report = judge("It costs 99 [S1].", ["x"], Policy(notices={"stopped": "Stop."}))
    assert report.notice == "Stop."
