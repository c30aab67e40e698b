"""Number words: in a source of its language all of them, in an answer those put together of several."""

from __future__ import annotations

import pytest

from sentence_gate import Policy, Source, judge
from sentence_gate.checks import unsupported_value


def unsupported(answer: str, source: str, code: str = "en", *, language: str | None = None) -> list[str]:
    """The values of an answer that a source doesn't vouch for."""
    policy = Policy(language=code, checks=(unsupported_value,), on_violation="observe")
    sources = [Source(source, language=language)]
    return [violation.detail for violation in judge(answer, sources, policy).violations]


SOURCE_YES = [
    ("en", "2", "two seasons"),
    ("en", "25", "twenty five euros"),
    ("en", "25", "twenty-five"),
    ("en", "165", "one hundred and sixty-five"),
    ("en", "165", "a hundred sixty five"),
    ("en", "2019", "two thousand nineteen"),
    ("en", "1984", "nineteen eighty-four"),
    ("en", "1200000", "one million two hundred thousand"),
    ("en", "1.2 million", "one point two million"),
    ("en", "3rd", "the third floor"),
    ("en", "21st", "the twenty-first"),
    ("en", "12", "a dozen eggs"),
    ("en", "0.5", "half of it"),
    ("en", "May 5", "the fifth of May"),
    ("de", "25", "fünfundzwanzig"),
    ("de", "165", "einhundertfünfundsechzig"),
    ("de", "3", "der dritte Stock"),
    ("de", "2000", "zweitausend"),
    ("fr", "75", "soixante-quinze"),
    ("fr", "98", "quatre-vingt-dix-huit"),
    ("fr", "2019", "deux mille dix-neuf"),
    ("es", "25", "veinticinco"),
    ("es", "165", "ciento sesenta y cinco"),
    ("es", "2000", "dos mil"),
    ("pt", "165", "cento e sessenta e cinco"),
    ("pt", "3", "terceiro andar"),
    ("ru", "165", "сто шестьдесят пять"),
    ("ru", "3", "третий этаж"),
    ("ru", "2000", "две тысячи"),
    ("fa", "165", "یکصد و شصت و پنجم"),
    ("fa", "19", "قرن نوزدهم"),
    ("fa", "2500", "دو هزار و پانصد"),
    ("ar", "3", "ثلاثة رجال"),
    ("ar", "25", "خمسة وعشرون"),
    ("ar", "165", "مئة وخمسة وستون"),
    ("hi", "25", "पच्चीस"),
    ("hi", "250", "दो सौ पचास"),
    ("zh", "320", "三百二十"),
    ("zh", "2019", "二〇一九年"),
    ("zh", "30000", "三万"),
    ("ja", "250", "二百五十"),
    ("it", "25", "venticinque"),
    ("nl", "25", "vijfentwintig"),
    ("pl", "165", "sto sześćdziesiąt pięć"),
    ("tr", "165", "yüz altmış beş"),
    ("ko", "25", "이십오"),
]
SOURCE_NO = [
    ("en", "5", "twenty five"),
    ("en", "60", "one hundred and sixty-five"),
    ("en", "3", "thirty, thirteenth"),
    ("en", "12", "one, two"),
    ("en", "1000000", "millions"),
    ("en", "10", "They went on."),
    ("de", "5", "fünfundzwanzig"),
    ("fr", "15", "soixante-quinze"),
    ("fa", "60", "یکصد و شصت و پنج"),
    ("ru", "65", "сто шестьдесят пять"),
    ("ar", "20", "خمسة وعشرون"),
    ("zh", "20", "三百二十"),
    ("zh", "3", "三百二十"),
    ("hi", "50", "दो सौ पचास"),
]


@pytest.mark.parametrize(("code", "value", "source"), SOURCE_YES)
def test_words_of_a_source_support_digits(code: str, value: str, source: str) -> None:
    assert unsupported(f"— {value} —", source, language=code) == []


@pytest.mark.parametrize(("code", "value", "source"), SOURCE_NO)
def test_a_word_is_a_whole_number(code: str, value: str, source: str) -> None:
    assert unsupported(f"— {value} —", source, language=code) == [value]


UNSTATED = [
    ("25", "In der Halle stehen fünfundzwanzig Stühle und ein Tisch."),
    ("25", "Dans la salle il y a vingt-cinq chaises."),
    ("25", "En la sala hay veinticinco sillas."),
    ("25", "В зале двадцать пять стульев."),
    ("25", "در سالن بیست و پنج صندلی هست."),
    ("25", "大厅里有二十五把椅子。"),
]


@pytest.mark.parametrize(("value", "source"), UNSTATED)
def test_the_language_of_a_source_needs_not_be_said(value: str, source: str) -> None:
    assert unsupported(f"— {value} —", source) == []


@pytest.mark.parametrize("source", ["They went on Monday.", "The set of ten is on, set out.", "Il y a mil pins."])
def test_an_english_source_is_not_read_in_every_language(source: str) -> None:
    assert unsupported("It is 7.", source, "tr") == ["7"]
    assert unsupported("It is 1000.", "They went on to see mil.", "tr") == ["1000"]


def test_english_on_is_not_turkish_ten() -> None:
    assert unsupported("It is 10.", "They went on Monday to the town.", "tr") == ["10"]
    assert unsupported("It is 10.", "on kişi", "tr", language="tr") == []


ANSWER_NO = [
    ("en", "in two thousand nineteen", "2018"),
    ("en", "twenty-five people", "26 people"),
    ("en", "one hundred and sixty-five pages", "166"),
    ("de", "fünfundzwanzig Gäste", "26 Gäste"),
    ("fr", "deux mille dix-neuf pages", "2018"),
    ("es", "ciento sesenta y cinco páginas", "166"),
    ("pt", "cento e sessenta e cinco páginas", "166"),
    ("ru", "сто шестьдесят пять страниц", "166"),
    ("fa", "یکصد و شصت و پنج صفحه", "166"),
    ("ar", "مئة وخمسة وستون صفحة", "166"),
    ("hi", "दो सौ पचास पेड़", "251"),
    ("zh", "三百元", "301元"),
    ("zh", "二〇一九年", "2018年"),
    ("ja", "二百五十本", "251本"),
]
ANSWER_YES = [
    ("en", "in two thousand nineteen", "2019"),
    ("en", "twenty-five people", "25 people"),
    ("de", "fünfundzwanzig Gäste", "25 Gäste"),
    ("fr", "deux mille dix-neuf pages", "2019"),
    ("es", "ciento sesenta y cinco páginas", "165"),
    ("pt", "cento e sessenta e cinco páginas", "165"),
    ("ru", "сто шестьдесят пять страниц", "165"),
    ("fa", "یکصد و شصت و پنج صفحه", "165"),
    ("ar", "مئة وخمسة وستون صفحة", "165"),
    ("hi", "दो सौ पचास पेड़", "250"),
    ("zh", "三百元", "300元"),
    ("zh", "二〇一九年", "2019年"),
    ("ja", "二百五十本", "250本"),
    ("en", "two people", "nothing"),
    ("en", "the third one", "nothing"),
    ("en", "twelve", "nothing"),
    ("de", "zwei Gäste", "nothing"),
    ("fr", "trois pages", "nothing"),
    ("fa", "سه صفحه", "nothing"),
    ("zh", "三个", "nothing"),
    ("zh", "万一下雨，一起走", "nothing"),
    ("en", "one of the two", "nothing"),
    ("en", "hundreds of thousands", "nothing"),
]


@pytest.mark.parametrize(("code", "words", "source"), ANSWER_NO)
def test_composed_words_of_an_answer_are_values(code: str, words: str, source: str) -> None:
    assert len(unsupported(f"— {words} —", source, code)) == 1


@pytest.mark.parametrize(("code", "words", "source"), ANSWER_YES)
def test_supported_and_single_words(code: str, words: str, source: str) -> None:
    assert unsupported(f"— {words} —", source, code) == []
