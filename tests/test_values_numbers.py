"""Numbers: notations, signs, scales, ranges, fractions, powers, versions. Each table has what a source vouches for and what it doesn't."""

from __future__ import annotations

import pytest

from sentence_gate import Policy, Source, judge
from sentence_gate.checks import unsupported_value


def unsupported(answer: str, source: str, code: str = "en", *, language: str | None = None) -> list[str]:
    """The values of an answer that a source doesn't vouch for."""
    policy = Policy(language=code, checks=(unsupported_value,), on_violation="observe")
    sources = [Source(source, language=language)]
    return [violation.detail for violation in judge(answer, sources, policy).violations]


WHOLE_YES = [
    ("It has 2019 seats.", "2019 seats"),
    ("It costs 19%.", "19 percent"),
    ("It costs $45.", "45 euros"),  # units aren't compared
    ("It weighs 20.00 g.", "20 g"),
    ("It weighs 20 g.", "20.00 g"),
    ("It weighs 2.50 g.", "2.5 g"),
    ("Room 007 is open.", "room 007"),
    ("The 3rd floor.", "floor 3"),
    ("Floor 3.", "the 3rd floor"),
    ("It is .5 wide, that is 0.5.", "0.5"),
    ("(45)", "45"),
    ("Between 45, 46 and 47.", "45 46 47"),
    ("About ~45 people.", "45"),
    ("Ratio 3:1 and 16:9.", "3:1, 16:9"),
]
WHOLE_NO = [
    ("It costs 19%.", "in 2019", ["19"]),
    ("It costs 52.", "14.52", ["52"]),
    ("It costs 14.", "14.52", ["14"]),
    ("It costs 200.", "1,200", ["200"]),
    ("It costs 200.", "1'200", ["200"]),
    ("It costs 2019.", "20 19", ["2019"]),
    ("It costs 45.", "450, 145, 4.5, 0.45, x45y", ["45"]),
    ("It costs 1.2.", "version 1.2.3", ["1.2"]),
    ("It costs 0.5.", "5 and 0,05", ["0.5"]),
    ("Room 007 is open.", "room 7", ["007"]),
]


@pytest.mark.parametrize(("answer", "source"), WHOLE_YES)
def test_a_number_is_compared_as_a_whole(answer: str, source: str) -> None:
    assert unsupported(answer, source) == []


@pytest.mark.parametrize(("answer", "source", "details"), WHOLE_NO)
def test_a_part_of_a_number_vouches_for_nothing(answer: str, source: str, details: list[str]) -> None:
    assert unsupported(answer, source) == details


GROUPS_YES = [
    ("en", "1,200", "1200"),
    ("en", "1,200,000.50", "1200000.5"),
    ("en", "1200", "1,200"),
    ("en", "1200", "1 200"),
    ("en", "1200", "1\u00a0200"),
    ("en", "1200", "1\u202f200"),
    ("en", "1200", "1\u2009200"),
    ("en", "1200", "1'200"),
    ("en", "1200", "1’200"),
    ("en", "1200", "1, 200"),
    ("en", "123456", "1,23,456"),
    ("hi", "१,२३,४५६", "123,456"),
    ("fa", "۱٬۲۰۰", "1,200"),
    ("fa", "۳٫۱۴", "3.14"),
    ("ar", "١٬٢٠٠٬٠٠٠", "1200000"),
    ("ar", "٣٫١٤", "3.14"),
    ("ar", "٣,١٤", "3.14"),
    ("de", "1.200", "1200"),
    ("de", "1.200,50", "1,200.5"),
    ("de", "2,5", "2.5"),
    ("fr", "1 200,5", "1200.5"),
    ("es", "1.200.000", "1,200,000"),
    ("pt", "2,5", "2.5"),
    ("ru", "1\u00a0200,5", "1,200.5"),
    ("zh", "１，２００", "1,200"),
    ("zh", "１２．５", "12.5"),
    ("en", "１２", "12"),
    ("en", "१२", "12"),
    ("en", "1.200", "1.200"),  # as written
    ("de", "1,200", "1,200"),
]
GROUPS_NO = [
    ("en", "1.200", "1200"),  # 1.2 in English
    ("de", "1.200", "1,2"),
    ("de", "1,200", "1200"),
    ("en", "1,200", "1.2"),
    ("en", "1,200", "1,201"),
    ("fa", "۳٫۱۴", "314"),
    ("fa", "۱٬۲۰۰", "1.2"),
]


@pytest.mark.parametrize(("code", "value", "source"), GROUPS_YES)
def test_grouping_and_decimal_marks(code: str, value: str, source: str) -> None:
    assert unsupported(f"— {value}", source, code) == []


@pytest.mark.parametrize(("code", "value", "source"), GROUPS_NO)
def test_the_answer_has_the_reading_of_its_language(code: str, value: str, source: str) -> None:
    assert len(unsupported(f"— {value}", source, code)) == 1


def test_a_source_keeps_all_its_readings() -> None:
    assert unsupported("It has 1200 seats.", "1.200") == unsupported("It is 1.2 m.", "1,200") == unsupported("It is 1.2 m.", "1.200") == []


SCALES_YES = [
    ("en", "1.2 million", "1,200,000"),
    ("en", "1,200,000", "1.2 million"),
    ("en", "1.2m and 3bn and 4k", "1.2 million, 3 billion, 4,000"),
    ("en", "$1.2 million", "1.2m dollars"),
    ("en", "2.5 lakh", "250,000"),
    ("en", "3 crore", "30,000,000"),
    ("en", "2 hundred thousand", "200,000"),
    ("en", "1.2–1.5 million", "1,200,000 to 1,500,000"),
    ("en", "5 million", "five million"),
    ("en", "2½ million", "2.5 million"),
    ("de", "2,5 Millionen", "2.5 million"),
    ("de", "3 Mrd.", "3 billion"),
    ("fr", "2,5 milliards", "2.5 billion"),
    ("es", "3 mil millones", "3 billion"),
    ("es", "2,5 millones", "2,500,000"),
    ("pt", "3 mil", "3,000"),
    ("pt", "2 bilhões", "2 billion"),
    ("ru", "25 тыс.", "25,000"),
    ("ru", "1,5 млн", "1.5 million"),
    ("ru", "2 миллиарда", "2 billion"),
    ("fa", "۲٫۵ میلیون", "2.5 million"),
    ("fa", "۳ هزار", "3000"),
    ("fa", "۱ میلیون و ۲۰۰ هزار", "1,200,000"),
    ("ar", "٣ آلاف", "3000"),
    ("ar", "2.5 مليون", "2,500,000"),
    ("hi", "2.5 लाख", "250,000"),
    ("hi", "३ करोड़", "30 million"),
    ("zh", "3万", "30,000"),
    ("zh", "1.2亿", "120 million"),
    ("zh", "1億2500萬", "125,000,000"),
    ("zh", "3千亿", "300 billion"),
    ("ko", "1억 2500만", "125,000,000"),
    ("ja", "2億5000万", "250 million"),
]
SCALES_NO = [
    ("en", "1.2 million", "1.2 billion"),
    ("en", "1.2 million", "1.2"),
    ("en", "1.2", "1.2 million"),
    ("en", "5 million", "5 thousand"),
    ("en", "1,200,001", "1.2 million"),  # nothing is rounded
    ("de", "2,5 Millionen", "2.5 billion"),
    ("ru", "25 тыс.", "25 million"),
    ("fa", "۳ هزار", "3 million"),
    ("ar", "٣ آلاف", "3 million"),
    ("hi", "2.5 लाख", "2.5 crore"),
    ("zh", "3万", "3,000"),
    ("zh", "1.2亿", "1.2 million"),
    ("es", "3 mil millones", "3 million"),
    ("en", "$40k", "40 dollars"),
    ("en", "40  million", "40"),
    ("en", "40\nmillion", "40"),
    ("en", "40 <!-- --> million", "40"),
    ("fa", "۴۰\nمیلیون", "40"),
    ("en", "€ 40 M", "40"),
    ("en", "40B USD", "40"),
    ("en", "$40", "$40k"),
]


@pytest.mark.parametrize(("code", "value", "source"), SCALES_YES)
def test_scale_words(code: str, value: str, source: str) -> None:
    assert unsupported(f"— {value} —", source, code) == []


@pytest.mark.parametrize(("code", "value", "source"), SCALES_NO)
def test_scale_words_are_part_of_the_number(code: str, value: str, source: str) -> None:
    assert len(unsupported(f"— {value} —", source, code)) == 1


SIGNS_YES = [
    ("It fell to −40.", "−40"),
    ("It fell to -40.", "−40"),
    ("(-40)", "minus: -40"),
    ("It fell to -$40.", "-$40"),
    ("From 10-12 days.", "10–12"),
    ("From 10 to 12 days.", "10–12"),
    ("12 days.", "10–12 days"),
    ("10 days.", "10-12 days"),
    ("From 2011–15.", "2011 and 2015"),
    ("In 2015.", "2011–15"),
    ("From 1998-2001.", "1998 to 2001"),
    ("The F-16 and 5-8 m.", "F-16, 5, 8"),
    ("Temperatures of −5 to −2.", "−5 to −2"),
]
SIGNS_NO = [
    ("It fell to −40.", "40", ["40"]),
    ("It rose to 40.", "−40", ["40"]),
    ("It rose to 40.", "at -40 degrees", ["40"]),
    ("From 10-13 days.", "10–12", ["13"]),
    ("From 2011–16.", "2011 and 2015", ["16"]),
    ("In 2016.", "2011–15", ["2016"]),
]


@pytest.mark.parametrize(("answer", "source"), SIGNS_YES)
def test_minus_and_range(answer: str, source: str) -> None:
    assert unsupported(answer, source) == []


@pytest.mark.parametrize(("answer", "source", "details"), SIGNS_NO)
def test_the_sign_is_part_of_the_number(answer: str, source: str, details: list[str]) -> None:
    assert unsupported(answer, source) == details


FORMS_YES = [
    ("3/4 of it.", "3/4"),
    ("¾ of it.", "3/4"),
    ("2½ cups.", "2.5 cups"),
    ("2 1/2 cups.", "2½ cups"),
    ("1/2 of it.", "0.5"),
    ("5 × 10³ cells.", "5000"),
    ("5×10^3 cells.", "5 × 10³"),
    ("5e3 cells.", "5,000"),
    (r"5 \times 10^{3} cells.", "5000"),
    ("10³ cells.", "1000"),
    ("1.5 × 10⁻³.", "0.0015"),
    ("Version 1.2.3.", "v1.2.3"),
    ("v2.1", "version 2.1"),
    ("Call +49 30 123456.", "+49 (30) 123-456"),
    ("Call +49 30 123456 for 12 places.", "Call +49 30 123-456. 12 places."),
    ("Call +49 30 123456 from 9 to 17.", "Call +49 30 123-456 (9-17 h)."),
    ("Call (+49) 30 123456.", "Call +49 (0)30/123456."),
    ("Call 01.23.45.67.89.", "01 23 45 67 89"),
    ("Call 555-123-4567.", "(555) 123-4567"),
    ("Code 1 2 3 4.", "1 2 3 4"),
    ("Code 1 2 3 4.", "code 1234"),
    ("ISBN 978-3-16-148410-0", "ISBN 9783161484100"),
    ("Open 24/7.", "24/7"),
    ("It is 5'11 tall.", "5'11"),
    ("10<sup>3</sup>", "1000"),
    ("20**19**", "2019"),
    ("20<b></b>19", "2019"),
    ("2\u200b019", "2019"),
    ("1 GB of 512GB", "1 GB, 512 GB"),
]
FORMS_NO = [
    ("3 parts.", "3/4", ["3"]),
    ("4 parts.", "3/4", ["4"]),
    ("3/4 of it.", "3 and 4", ["3/4"]),
    ("103 cells.", "10³", ["103"]),
    ("10³ cells.", "103", ["10³"]),
    ("3 cells.", "10³", ["3"]),
    ("5 × 10³ cells.", "5 × 10⁴", ["5 × 10³"]),
    ("Version 1.2.", "version 1.2.3", ["1.2"]),
    ("Version 1.2.3.", "version 1.2, 3", ["1.2.3"]),
    ("Call +49 30 123457.", "+49 30 123456", ["+49 30 123457"]),
    ("Code 1 2 3 5.", "1 2 3 4, 5", ["1 2 3 5"]),
    ("2½ cups.", "2 and 1/2", ["2 1/2"]),
    ("20[S1]19", "2019", ["20", "19"]),
]


@pytest.mark.parametrize(("answer", "source"), FORMS_YES)
def test_fractions_powers_versions_chains(answer: str, source: str) -> None:
    assert unsupported(answer, source) == []


@pytest.mark.parametrize(("answer", "source", "details"), FORMS_NO)
def test_no_part_of_a_fraction_power_version_or_chain(answer: str, source: str, details: list[str]) -> None:
    assert unsupported(answer, source) == details


LISTED = [
    ("en", "1. Open the lid."),
    ("en", "2) Open the lid.\n3) Close it."),
    ("en", "12. Open the lid."),
    ("fa", "۱. در را باز کنید."),
    ("zh", "1、打开盖子。"),
    ("en", "Repeat step 2."),
    ("en", "Repeat steps 2 and 3."),
    ("en", "As passage 3 says, it opens."),
    ("en", "See (step 4)."),
    ("en", "As passage no. 3 and source #2 say."),
    ("en", "It opens (passages 1, 2 and 4)."),
    ("de", "Wiederholen Sie Schritt 2."),
    ("fr", "Répétez l'étape 2."),
    ("es", "Repita el paso 2."),
    ("pt", "Repita o passo 2."),
    ("ru", "Повторите шаг 2."),
    ("fa", "گام ۲ را تکرار کنید."),
    ("ar", "كرر الخطوة 2."),
    ("hi", "चरण 2 दोहराएँ।"),
    ("zh", "重复步骤2。"),
]
NOT_LISTED = [
    ("en", "Repeat step 21.", ["21"]),
    ("en", "It has 2. Or so.", ["2"]),
    ("en", "Rule no. 3 says so.", ["3"]),
    ("en", "1. Open 4 lids.", ["4"]),
]


@pytest.mark.parametrize(("code", "answer"), LISTED)
def test_list_numbers_and_references_are_no_values(code: str, answer: str) -> None:
    assert unsupported(answer, "nothing", code) == []


@pytest.mark.parametrize(("code", "answer", "details"), NOT_LISTED)
def test_other_numbers_are(code: str, answer: str, details: list[str]) -> None:
    assert unsupported(answer, "nothing", code) == details


@pytest.mark.parametrize(
    ("code", "words", "slash"),
    [
        ("en", "3.5 out of 5", "3.5/5"),
        ("en", "3 in 10", "3/10"),
        ("de", "4 von 5", "4/5"),
        ("fr", "12,5 sur 20", "12,5/20"),
        ("es", "4 de cada 5", "4/5"),
        ("fa", "۴ از ۵", "۴/۵"),
        ("ru", "4 из 5", "4/5"),
        ("nl", "4 van de 5", "4/5"),
    ],
)
def test_marks_out_of_and_with_a_slash(code: str, words: str, slash: str) -> None:
    assert unsupported(f"({words})", f"({slash})", code, language=code) == []
    assert unsupported(f"({slash})", f"({words})", code, language=code) == []
    assert len(unsupported(f"({slash})", f"({words}9)", code, language=code)) == 1


def test_either_number_of_a_fraction_is_none() -> None:
    assert unsupported("It takes 3 or 4.", "3/4") == ["3", "4"]
    assert unsupported("It takes 4 out of 3.", "3/4") == ["4", "3"]
    assert unsupported("It takes 3/4.", "3 or 4") == ["3/4"]
