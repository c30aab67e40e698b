"""What holds for every value: a copy is supported, a changed digit is not, cost grows with length."""

from __future__ import annotations

import time
from datetime import date, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sentence_gate import Source, Sources, values

CODES = ("en", "fa", "ar", "hi", "zh", "de", "fr", "es", "pt", "ru", "tr", "ja", "ko", "it", "vi", "th")
WORDS = {
    "en": ("the", "room", "of", "half", "may", "second", "step", "million", "two", "point", "dozen", "May", "pm", "to", "and"),
    "fa": ("در", "سال", "ماه", "خرداد", "هزار", "و", "ساعت", "دهه", "صبح", "نیم", "دو"),
    "ar": ("في", "عام", "مايو", "ألف", "و", "الساعة", "مساء", "نصف", "ثلاثة"),
    "hi": ("में", "साल", "मई", "लाख", "बजे", "दो", "आधा", "शाम"),
    "zh": ("在", "年", "月", "日", "万", "三百", "点", "下午", "第", "半"),
    "de": ("am", "Mai", "Uhr", "Millionen", "und", "zwei", "er", "halb"),
    "fr": ("le", "mai", "h", "mille", "et", "deux", "années", "demi"),
    "es": ("el", "de", "mayo", "mil", "millones", "y", "años", "tarde"),
    "pt": ("o", "de", "maio", "mil", "e", "anos", "meio"),
    "ru": ("в", "мая", "тыс.", "часов", "года", "два", "вечера"),
    "tr": ("saat", "Mayıs", "bin", "on", "yıl", "yarım"),
    "ja": ("に", "年", "月", "日", "万", "午後", "時", "半"),
    "ko": ("에", "년", "월", "일", "만", "오후", "시"),
    "it": ("il", "maggio", "ore", "mila", "e", "anni"),
    "vi": ("ngày", "tháng", "năm", "giờ", "triệu", "hai"),
    "th": ("ที่", "ล้าน", "พ.ค.", "ปี", "น."),
}
SIGNS = (
    " ",
    " ",
    " ",
    " ",
    "-",
    "–",
    "−",
    ",",
    ", ",
    ".",
    ". ",
    ":",
    "/",
    "(",
    ")",
    "%",
    "$",
    "€",
    "'",
    "×",
    "^",
    "³",
    "½",
    "e",
    "\n",
    "+",
    "~",
    "#",
    "٫",
    "٬",
    "،",
    "\u00a0",
    "\u200c",
    "s",
    "h",
    "Q",
    "v",
)
NATIVE = {"fa": "۰۱۲۳۴۵۶۷۸۹", "ar": "٠١٢٣٤٥٦٧٨٩", "hi": "०१२३४५६७८९", "zh": "０１２３４５６７８９"}


def missing(answer: str, source: str, code: str, language: str | None) -> list[str]:
    sources = Sources([Source(source, language=language)])
    return [value.text for value in values.find(answer, code) if not sources.supports((1,), value.keys)]


def in_digits_of(code: str, text: str) -> str:
    return text.translate(str.maketrans("0123456789", NATIVE[code])) if code in NATIVE else text


@st.composite
def soups(draw: st.DrawFn) -> tuple[str, str]:
    """A language and a text of its words, numerals and marks in any order."""
    code = draw(st.sampled_from(CODES))
    numeral = st.one_of(st.integers(0, 60), st.integers(0, 2100), st.integers(0, 10**9)).map(str)
    piece = st.one_of(numeral, numeral, st.sampled_from(SIGNS), st.sampled_from(WORDS[code]), st.just(" "))
    text = "".join(draw(st.lists(piece, max_size=14)))
    return code, in_digits_of(code, text) if draw(st.booleans()) else text


@given(soups())
def test_a_source_vouches_for_itself(soup: tuple[str, str]) -> None:
    code, text = soup
    assert missing(text, text, code, code) == []


@st.composite
def numbers(draw: st.DrawFn, code: str) -> str:
    whole = draw(st.integers(0, 10**9))
    text = str(whole)
    mark, point = draw(st.sampled_from([("", "."), (",", "."), (".", ","), (" ", ","), ("\u202f", ","), ("'", "."), ("٬", "٫")]))
    if mark:
        text = f"{whole:,}".replace(",", mark)
    if draw(st.booleans()) and (mark or len(text) > 3):
        text += point + str(draw(st.integers(10, 9999)))
    return in_digits_of(code, text) if draw(st.booleans()) else text


MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")


@st.composite
def days(draw: st.DrawFn) -> str:
    day = date(1900, 1, 1) + timedelta(days=draw(st.integers(0, 60_000)))
    name = MONTHS[day.month - 1]
    return draw(
        st.sampled_from(
            [
                day.isoformat(),
                f"{day.day} {name} {day.year}",
                f"{name} {day.day}, {day.year}",
                f"{day.month}/{day.day}/{day.year}",
                f"{name} {day.year}",
            ]
        )
    )


LABEL = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)
PATH = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_/=?&", max_size=20)


@st.composite
def addresses(draw: st.DrawFn) -> str:
    host = draw(LABEL) + draw(st.sampled_from([".com", ".example", ".co.uk", ".org"]))
    if draw(st.booleans()):
        return f"{draw(LABEL)}{draw(st.integers(0, 999))}@{host}"
    return f"https://{host}/{draw(LABEL)}{draw(PATH)}{draw(st.integers(0, 9999))}"


BEFORE = ("", "It says ", "(", "“", "约", "در ", "в ", "the ", ", ", "**", "\n")
AFTER = ("", ".", ") was.", "” and", "个", " است", "!", ", then", "**", "\n")
SIDES = st.tuples(st.sampled_from(BEFORE), st.sampled_from(AFTER))


@given(st.data(), st.sampled_from(CODES), SIDES, SIDES)
def test_a_copied_value_is_supported(data: st.DataObject, code: str, here: tuple[str, str], there: tuple[str, str]) -> None:
    value = data.draw(st.one_of(numbers(code), days(), addresses()))
    here = ("", " so") if "@" in value or "://" in value else here  # what a letter on an address means is in the table of addresses
    answer, source = value.join(here), value.join(there)
    # months by name are English here
    code = "en" if any(name in value for name in MONTHS) else code
    assert missing(answer, source, code, code) == []


@given(st.data(), st.sampled_from(CODES), st.sampled_from(("It says ", "в ", "the ", "约 ")), st.sampled_from(AFTER[:8]))
def test_a_changed_digit_is_not(data: st.DataObject, code: str, before: str, after: str) -> None:
    value = data.draw(st.one_of(numbers(code), days(), addresses()))
    code = "en" if any(name in value for name in MONTHS) else code
    places = [at for at, char in enumerate(value) if char.isdigit()]
    at = data.draw(st.sampled_from(places))
    shift = data.draw(st.integers(1, 9))
    other = value[:at] + chr(ord(value[at]) - int(value[at]) + (int(value[at]) + shift) % 10) + value[at + 1 :]
    assume(not (set(values.of_source(other, (code,))) & set(values.of_source(value, (code,))) & set(asked(other, code))))
    assert missing(before + other + after, value, code, code)


def asked(text: str, code: str) -> list[str]:
    return [key for value in values.find(text, code) for key in value.keys]


HOSTILE = {
    "digits": "7",
    "commas": "1,",
    "slashes": "1/",
    "dots": "1.",
    "spaces": "1 ",
    "groups": "123 ",
    "colons": "1:",
    "dashes": "1-",
    "at": "@",
    "at words": "a@",
    "dotted words": "a.",
    "points": ".",
    "Han numerals": "三百",
    "Han digits": "一二",
    "number words": "twenty five ",
    "hundreds": "hundred ",
    "ands": "and ",
    "months": "May ",
    "month and day": "May 5 ",
    "scales": "5 million ",
    "scale words": "million ",
    "minus": "-5 ",
    "powers": "5e3 ",
    "letters and digits": "a1",
    "names": "A-1-",
    "Persian words": "هزار و ",
    "Persian digits": "۱٬",
    "clocks": "5:30 pm ",
    "halves": "am ",
    "fractions": "1/2 ",
    "superscripts": "5³",
    "hosts": "a.com/",
    "hidden": "a dot ",
    "brackets": "(1) ",
    "phones": "+1 ",
    "years": "2019年",
    "decades": "80s ",
    "same month": "5 of the same month ",
    "German words": "hundert",
    "marks": "1\u0301",
}


def seconds(text: str, code: str) -> float:
    best = 1e9
    for _ in range(2):
        start = time.process_time()
        values.find.__wrapped__(text, code)
        values.of_source(text, (code,))
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("name", HOSTILE)
def test_cost_grows_with_length(name: str) -> None:
    unit = HOSTILE[name]
    code = {
        "Han numerals": "zh",
        "Han digits": "zh",
        "Persian words": "fa",
        "Persian digits": "fa",
        "years": "zh",
        "German words": "de",
    }.get(name, "en")
    small, big = (unit * (size // len(unit)) for size in (2_000, 16_000))
    # eight times the length; quadratic growth would be 64 times
    assert seconds(big, code) < 24 * seconds(small, code) + 0.05


@pytest.mark.parametrize(
    "text",
    ["https://a.example/" + "a" * 1_000_000, "7" * 1_000_000, "https://a.example/" + "a(" * 500_000, "a." * 500_000, "三" * 1_000_000],
)
def test_a_million_characters_are_read(text: str) -> None:
    found = values.find(text, "zh")
    assert all(value.end <= len(text) for value in found)
    assert values.of_source(text, ("zh",))
