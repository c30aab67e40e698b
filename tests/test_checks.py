"""The five checks, one table each. Values have tables of their own (test_values_*.py)."""

from __future__ import annotations

import pytest

from sentence_gate import Policy, Source, judge
from sentence_gate.normal import word_count

POOL = [
    "The pool opens at eight on 3 May 2019.",
    "Lockers cost 45 cents.",
    'The sign says "I love cold water". The song We Are Open Now is old.',
]


def checks(text: str, sources=POOL, **policy) -> set[str]:
    return {violation.check for violation in judge(text, sources, Policy(on_violation="observe", **policy)).violations}


@pytest.mark.parametrize("marker", ["[S1]", "[s1]", "[S1, S2]", "[S1;S2]", "[S1-S3]", "[Ｓ１]", "[S۱]", "[S1] [S3]"])
def test_citation_range_right(marker: str) -> None:
    assert checks(f"The pool opens {marker}.") == set()


@pytest.mark.parametrize("marker", ["[S7]", "[S0]", "[S3-S1]", "[S1-S9999]", "[S1, S4]", "[S99999999999999999999]"])
def test_citation_range_wrong(marker: str) -> None:
    assert "citation_range" in checks(f"The pool opens {marker}.")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("one two three", 3),
        ("co-operative don't 3.14 x-y", 4),
        ("— … ! one", 1),
        ("می‌شود است", 2),
        ("泳池九点开门", 4),
        ("泳池 opens 九点开门", 5),
        ("", 0),
    ],
)
def test_words(text: str, count: int) -> None:
    assert word_count(text) == count


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("The pool opens early in the morning every day.", True),
        ("The pool opens early.", False),
        ("It cost 45.", True),
        ("See https://pool.example now.", True),
        ("See [here](https://pool.example).", True),
        ("The pool opens early <!-- every single morning of all the days in the year --> today.", True),
        ("1. The pool opens early.", False),
        ("## All there is to know about the opening hours\n\nIt opens.", False),
        ("The following things should be taken along to the pool by everybody:\n\n- A towel", False),
        ("| Ticket for everybody who comes to the pool today | Price |\n|---|---|\n", False),
        ("泳池每天早上很早就开门欢迎大家来。", True),
        ("泳池开门。", False),
        ("Run this:\n```\npip install one two three four five six seven eight\n```\n", False),
    ],
)
def test_citation_required(text: str, wrong: bool) -> None:
    assert ("citation_required" in checks(text)) == wrong


def test_an_uncited_value_is_this_violation_alone() -> None:
    assert checks("Lockers cost 99.") == {"citation_required"}


def test_without_citation_required_some_source_will_do() -> None:
    mapping = {"checks": ["unsupported_value"], "on_violation": "observe"}
    assert not judge("Lockers cost 45 cents.", POOL, Policy.from_mapping(mapping)).violations
    assert judge("Lockers cost 99 cents.", POOL, Policy.from_mapping(mapping)).violations


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Lockers cost 45 [S2].", False),
        ("Lockers cost 45 [S1].", True),
        ("Lockers cost 45 [S1][S2].", False),
        ("## Fees of 45 cents\n", False),
        ("## Fees of 99 cents\n", True),
        ("There are 3 things to bring:\n\n- A towel", False),
        ("There are 99 things to bring:\n\n- A towel", True),
        ("Run this:\n```\nlocker --price 45\n```\n", False),
        ("Run this:\n```\nlocker --price 99\n```\n", True),
        ("Run this [S1]:\n```\nlocker --price 45\n```\n", True),
        ("The pool opens [S1] <!-- since 1999 -->.", True),
        ("The pool opens [here](https://evil.example) [S1].", True),
        ("Since 20**19** [S1].", False),
        ("Since 20[S1]19.", True),
    ],
)
def test_unsupported_value(text: str, wrong: bool) -> None:
    assert ("unsupported_value" in checks(text)) == wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("I think that it opens [S1].", True),
        ("It is what I’d say [S1].", True),
        ("Let's see [S1].", True),
        ("It's our pool [S1].", True),
        ("Sure, I can answer that.", True),
        ("WE ARE OPEN [S1].", True),
        ("The US has pools [S1].", False),
        ("Francis I. swam here [S1].", False),
        ("King Francis I, who swam here, left [S1].", False),
        ("The I/O port is wet [S1].", False),
        ("See Annex I for more [S1].", False),
        ("The coal mine is closed [S1].", False),
        ("The mine opened in May [S1].", False),
        ("The largest type of mine is closed [S1].", False),
        ("The choice is mine [S1].", True),
        ("He is a friend of mine [S1].", True),
        ("He played in All My Children [S1].", False),
        ("It is on the album, My Moment [S1].", False),
        ("The Tales of Us Tour began [S1].", False),
        ("However, my pool is closed [S1].", True),
        ("My Pool is closed [S1].", True),
        ("Set my_app or us.example.org or us-dal [S1].", False),
        ("The planets of our solar system turn [S1].", False),
        ("Use our pool [S1].", True),
        ("Sure, I can answer the question [S1].", True),
        ("The sign says “I love cold water” [S3].", False),
        ("The sign says “I love cold water” [S1].", True),
        ("The sign says “I love hot water” [S3].", True),
        ("*We Are Open Now* is a song [S3].", False),
        ("Me et al. found it [S1].", False),
        ("فکر می‌کنم باز است [S1].", True),
        ("نظر من این است [S1].", True),
        ("我认为开门 [S1]。", True),
        ("自我介绍 [S1]。", False),
        ("我国有泳池 [S1]。", False),
        ("मैं तैरता हूँ [S1]।", True),
        ("أنا أسبح [S1].", True),
        ("Я думаю так [S1].", True),
        ("The pool opens [S1] <!-- I think -->.", True),
        ("Ich denke so [S1].", False),
    ],
)
def test_first_person(text: str, wrong: bool) -> None:
    assert ("first_person" in checks(text)) == wrong


def test_first_person_by_the_language_asked_for() -> None:
    assert "first_person" in checks("Ich denke so [S1].", language="de")
    assert "first_person" in checks("Creo que abre [S1].", language="es")
    assert "first_person" not in checks("ما هذا من هنا [S1].", language="ar")
    assert "first_person" in checks("نظر من این است [S1].", language="de")
    assert checks("I think so [S1].", first_person=False) == set()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("It is \u202e05\u202c [S1].", True),
        ("It is \u202d05\u202c [S1].", True),
        ("Open\x07 [S1].", True),
        ("Open\x9b [S1].", True),
        ("Open \U000e0041\U000e0042 [S1].", True),
        ("Open \ue200cite\ue201 [S1].", True),
        ("Open \ud800 [S1].", True),
        ("Open\u2028now [S1].", True),
        ("Open \u3164 [S1].", True),
        ("Open a\ufe01\ufe02b [S1].", True),
        ("Open &#x202e;now [S1].", True),
        ("Flag \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f waves [S1].", False),
        ("Emoji ❤️ and 👩‍👩‍👧 [S1].", False),
        ("می‌شود \u2067ok\u2069 \u200e [S1].", False),
        ("soft\u00adhyphen zero\u200bwidth [S1].", False),
        ("tab\there\r\nline [S1].", False),
    ],
)
def test_hidden_text(text: str, wrong: bool) -> None:
    assert ("hidden_text" in checks(text)) == wrong


@pytest.mark.parametrize("answer", ["45 [S1].", "45. [S1]", "**45** [S1].", "(45) [S1].", "۴۵ [S1]."])
def test_a_cited_number_alone_is_no_list_number(answer: str) -> None:
    assert checks(answer, ["4 and 5"]) == {"unsupported_value"}
    assert checks(answer, ["45"]) == set()


def test_a_marker_at_the_first_number_of_a_list() -> None:
    assert checks("1[S1]. Go to the menu [S1].", ["the menu"]) == set()
    assert checks("11[S1]. Go to the menu [S1].", ["the menu"]) == {"unsupported_value"}


def test_a_title_counts_as_content() -> None:
    assert checks("Fees of 2031 [S1].", [Source("x", title="Fees 2031")]) == set()
