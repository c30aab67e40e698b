"""Digits in words: names, mixes, units written on, scripts without spaces."""

from __future__ import annotations

import pytest

from sentence_gate import Policy, judge
from sentence_gate.checks import unsupported_value


def unsupported(answer: str, source: str, code: str = "en") -> list[str]:
    """The values of an answer that a source doesn't vouch for."""
    policy = Policy(language=code, checks=(unsupported_value,), on_violation="observe")
    return [violation.detail for violation in judge(answer, [source], policy).violations]


YES = [
    ("en", "COVID-19 spreads.", "nothing"),
    ("en", "H2O and CO2.", "nothing"),
    ("en", "MP3 in Q2.", "nothing"),
    ("en", "The F-16 and the A4 sheet.", "nothing"),
    ("en", "2O19 is a word.", "2O19"),
    ("en", "In Y2019.", "Y2019"),
    ("en", "The U-506 sank.", "the U-506"),
    ("en", "Model SF314-59-52BZ.", "SF314-59-52BZ"),
    ("en", "It is 5km long.", "5 km"),
    ("en", "It is 5 km long.", "5km"),
    ("en", "USD45 or EUR 45.", "45"),
    ("en", "3x faster.", "3"),
    ("en", "1920x1080 pixels.", "1920 x 1080"),
    ("en", "A 14-inch screen.", "14 inch"),
    ("en", "It has 5m² and 3 m3.", "5 m², 3 m³"),
    ("de", "Die 25-jährige Frau.", "25"),
    ("ru", "25-летний сад.", "25"),
    ("zh", "共有3个门", "3"),
    ("zh", "第3层有20人", "3, 20"),
    ("ja", "約30人が3階に", "30, 3"),
    ("ko", "3층에 20명이", "3, 20"),
    ("th", "มี3ชั้น", "3"),
    ("ar", "و50 زائرا", "50"),
    ("he", "ב-50 מקומות", "50"),
]
NO = [
    ("en", "2O19 is a word.", "2019", ["2O19"]),
    ("en", "In Y2019.", "2019", ["Y2019"]),
    ("en", "The U-506 sank.", "the U-505", ["U-506"]),
    ("en", "It is 5km long.", "50 km", ["5"]),
    ("en", "Model SF314-59-52BZ.", "SF314-59-52BY", ["SF314-59-52BZ"]),
    ("en", "In 2019.", "Y2019", ["2019"]),
    ("en", "It costs USD45.", "46", ["45"]),
    ("zh", "共有3个门", "4", ["3"]),
    ("ja", "約30人が", "31", ["30"]),
    ("ko", "20명이", "21", ["20"]),
    ("th", "มี3ชั้น", "4", ["3"]),
    ("ar", "و50 زائرا", "51", ["50"]),
]


@pytest.mark.parametrize(("code", "answer", "source"), YES)
def test_names_are_no_values_and_units_are_not_compared(code: str, answer: str, source: str) -> None:
    assert unsupported(answer, source, code) == []


@pytest.mark.parametrize(("code", "answer", "source", "details"), NO)
def test_mixes_stand_as_a_whole(code: str, answer: str, source: str, details: list[str]) -> None:
    assert unsupported(answer, source, code) == details
