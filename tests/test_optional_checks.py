"""The two checks that are off by default: one table each, of what stops and what doesn't."""

import pytest

from sentence_gate import DEFAULT_CHECKS, Policy, Source, judge
from sentence_gate.checks import OPTIONAL_CHECKS, SHIPPED
from sentence_gate.checks.names_supported import names_supported
from sentence_gate.checks.value_in_context import value_in_context

POOL = (
    "The outdoor pool has a heated basin of 50 metres and opens at the end of April. Swimmers find it behind the old railway station, "
    "next to the tennis courts and the garden of the museum. The changing rooms were renovated by the town. Lockers in the changing rooms "
    "cost 40 cents for every visitor who brings a coin. A season ticket for families costs $85."
)
LIBRARY_ZH = (
    "市立图书馆藏书120万册，其中古籍部收藏善本3500册。读者可以凭身份证免费办理借书证。"
    "该馆每周一闭馆，其余时间从早上开放到晚上。馆内咖啡厅有45个座位。"
)


def checks_of(answer: str, source: str, check: str, language: str = "en") -> list[str]:
    report = judge(answer, [source], Policy(language=language, checks=(SHIPPED[check],), on_violation="observe"))
    assert all(violation.check == check for violation in report.violations)
    return [violation.detail for violation in report.violations]


@pytest.mark.parametrize(
    "answer",
    [
        "The basin of the pool is 50 metres long [S1].",
        "Lockers cost 40 cents in the changing rooms [S1].",
        "A season ticket for families is $85 [S1].",
        "A season ticket for families is 85 dollars [S1].",
        "It is 50 [S1].",  # nothing of the sentence to go by
        "L’ingresso alla vasca grande riscaldata costa 40 monete per ogni persona [S1].",  # another language: not compared
        "The pool costs 99 euros for swimmers and families [S1].",  # not in the source at all: `unsupported_value` says so
    ],
)
def test_a_value_in_its_context_passes(answer: str) -> None:
    assert checks_of(answer, POOL, "value_in_context") == []


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("The tennis courts behind the railway station number 40 [S1].", "40"),
        ("The museum garden beside the tennis courts is 85 years old, says the town [S1].", "85"),
        ("A season ticket for families is 85 euros [S1].", "85"),
        ("The heated basin of the outdoor pool is 50 feet [S1].", "50"),
        ("A season ticket for families costs €85 [S1].", "85"),
    ],
)
def test_a_value_of_something_else_stops(answer: str, value: str) -> None:
    assert checks_of(answer, POOL, "value_in_context") == [value]


def test_a_value_in_its_context_in_a_script_without_spaces() -> None:
    assert checks_of("图书馆藏书120万册[S1]。", LIBRARY_ZH, "value_in_context", "zh") == []
    assert checks_of("图书馆古籍部收藏善本45册[S1]。", LIBRARY_ZH, "value_in_context", "zh") == ["45"]


def test_a_table_vouches_for_its_values() -> None:
    table = (
        "| room | seats | floor |\n|---|---|---|\n| reading room with a view of the river and the old bridge in the south wing | 120 | 3 |"
    )
    assert checks_of("There are seats for readers in the room on floor 3 [S1].", table, "value_in_context") == []


def test_values_of_the_question_need_no_context() -> None:
    policy = Policy(checks=(value_in_context,), question_supports_values=True)
    answer = "The tennis courts behind the railway station number 40 [S1]."
    assert judge(answer, [POOL], policy, question="Are there 40 tennis courts?").status == "accepted"


LIBRARY = (
    "Dr. Ada Keller opened the library of Nordhaven in spring. The Bay Area Reading Trust (now in Lisbon) paid for it. Students of the "
    "University of Porto read there, and the United Nations keep their maps in it."
)


@pytest.mark.parametrize(
    "answer",
    [
        "The library was opened by Ada Keller [S1].",
        "The library was opened by ADA KELLER [S1].",
        "Keller's library stands in Nordhaven [S1].",
        "It was paid for by the BART [S1].",  # initials
        "Nobody knows when maps of the UN will leave [S1].",
        "Readers come from the University of Porto [S1].",
        "1. **Opening Hours**: the library opened in spring [S1].",  # a label
        "## Rules For New Readers",
        "The maps show temperatures in degrees Fahrenheit [S1].",  # a unit
        "Visitors like it [S1].",  # the first word of a sentence
        "I'd go there [S1].",  # the first person is another check's business
        "Библиотека открыта для всех, говорит Вебер [S1].",  # another script: not compared
    ],
)
def test_supported_names_pass(answer: str) -> None:
    assert checks_of(answer, LIBRARY, "names_supported") == []


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("The library was opened by Ada Kessler [S1].", ["Kessler"]),
        ("Martin Kessler opened the library [S1].", ["Martin", "Kessler"]),
        ("The library was paid for by UNESCO [S1].", ["UNESCO"]),
        ("The library stands in Vilnius, near the market [S1].", ["Vilnius"]),
    ],
)
def test_a_made_up_name_stops(answer: str, names: list[str]) -> None:
    assert checks_of(answer, LIBRARY, "names_supported") == names


def test_names_only_in_what_is_cited() -> None:
    policy = Policy(checks=(names_supported,))
    sources = ["The library stands in Nordhaven.", "The museum stands in Vilnius."]
    assert judge("The library stands in Vilnius [S1].", sources, policy).status == "stopped"
    assert judge("The library stands in Vilnius [S1, S2].", sources, policy).status == "accepted"


def test_a_noun_is_no_name_where_nouns_have_capitals() -> None:
    source = "Das Hallenbad von Nordhaven hat ein Becken. Es wurde von Ada Keller eröffnet."
    assert checks_of("Das Bad mit dem Sprungturm öffnet im Frühling [S1].", source, "names_supported", "de") == []
    assert checks_of("Es wurde von Ada Kessler eröffnet [S1].", source, "names_supported", "de") == ["Kessler"]


def test_rare_terms_where_there_are_no_capitals() -> None:
    assert checks_of("读者可以免费办理借书证[S1]。", LIBRARY_ZH, "names_supported", "zh") == []
    assert checks_of("该馆由慕尼黑建筑师设计[S1]。", LIBRARY_ZH, "names_supported", "zh") == ["由慕尼黑建筑师设计"]
    persian = "کتابخانه شهر هر روز از ساعت هشت باز است و کارت عضویت رایگان دارد."
    assert checks_of("کتابخانه شهر باز است [S1].", persian, "names_supported", "fa") == []
    assert checks_of("کتابخانه در فیلادلفیا است [S1].", persian, "names_supported", "fa") == ["فیلادلفیا"]


def test_they_are_off_unless_listed_and_known_by_name() -> None:
    assert not set(OPTIONAL_CHECKS) & set(DEFAULT_CHECKS)
    policy = Policy.from_mapping({"checks": [*(check.__name__ for check in DEFAULT_CHECKS), "value_in_context", "names_supported"]})
    assert policy.checks == (*DEFAULT_CHECKS, *OPTIONAL_CHECKS)


@pytest.mark.parametrize("check", ["value_in_context", "names_supported"])
@pytest.mark.parametrize("flood", ["A ", "字", "م", "Aa", "a'", "1 ", "50 "])
def test_their_cost_grows_with_the_text(check: str, flood: str) -> None:
    import time

    def cost(size: int) -> float:
        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            judge(flood * size, [Source(POOL + flood * size)], Policy(checks=(SHIPPED[check],), max_chars=10**6))
            best = min(best, time.process_time() - started)
        return best

    cost(100)
    assert cost(16_000) < 40 * cost(2_000) + 0.05
