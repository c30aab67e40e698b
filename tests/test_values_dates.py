"""Dates: one value of day, month and year; months by name and number in the calendars of the languages; years, short years, decades."""

from __future__ import annotations

import pytest

from sentence_gate import Policy, Source, judge
from sentence_gate.checks import unsupported_value


def unsupported(answer: str, source: str, code: str = "en", *, language: str | None = None) -> list[str]:
    """The values of an answer that a source doesn't vouch for."""
    policy = Policy(language=code, checks=(unsupported_value,), on_violation="observe")
    sources = [Source(source, language=language)]
    return [violation.detail for violation in judge(answer, sources, policy).violations]


FULL = [
    ("en", "May 5, 2019"),
    ("en", "5 May 2019"),
    ("en", "5th of May, 2019"),
    ("en", "May 5th, 2019"),
    ("en", "2019-05-05"),
    ("en", "the 5th May 2019"),
    ("de", "5. Mai 2019"),
    ("de", "05.05.2019"),
    ("fr", "5 mai 2019"),
    ("es", "5 de mayo de 2019"),
    ("es", "5 de mayo del 2019"),
    ("pt", "5 de maio de 2019"),
    ("ru", "5 мая 2019 года"),
    ("fa", "۵ مه ۲۰۱۹"),
    ("fa", "۵ ماه مه ۲۰۱۹"),
    ("ar", "5 مايو 2019"),
    ("ar", "5 من مايو عام 2019"),
    ("hi", "5 मई 2019"),
    ("zh", "2019年5月5日"),
    ("ja", "2019年5月5日"),
    ("ko", "2019년 5월 5일"),
    ("it", "5 maggio 2019"),
    ("nl", "5 mei 2019"),
    ("pl", "5 maja 2019"),
    ("tr", "5 Mayıs 2019"),
    ("vi", "ngày 5 tháng 5 năm 2019"),
    ("id", "5 Mei 2019"),
]


@pytest.mark.parametrize(("code", "date"), FULL)
@pytest.mark.parametrize("source", ["On May 5, 2019 it opened.", "on 5 May 2019", "2019-05-05"])
def test_a_date_in_another_notation(code: str, date: str, source: str) -> None:
    assert unsupported(f"({date})", source, code) == []


@pytest.mark.parametrize(("code", "date"), FULL)
@pytest.mark.parametrize(
    "source",
    [
        "May 6, 2019; June 5, 2019; May 5, 2018",
        "5, 5 and 2019",
        "in May 2019, on 5 June",
        "on 5 May 2018. In 2019",
        "May 5",
    ],
)
def test_day_month_and_year_stand_together(code: str, date: str, source: str) -> None:
    assert unsupported(f"({date})", source, code) != []


@pytest.mark.parametrize(("code", "date"), FULL)
def test_a_source_in_each_language(code: str, date: str) -> None:
    assert unsupported("On May 5, 2019.", f"({date})", language=code) == []
    assert unsupported("In May 2019.", f"({date})", language=code) == []
    assert unsupported("In 2019.", f"({date})", language=code) == []
    assert unsupported("On May 5.", f"({date})", language=code) == []
    assert unsupported("On May 6, 2019.", f"({date})", language=code) != []
    assert unsupported("In June 2019.", f"({date})", language=code) != []
    assert unsupported("In 2018.", f"({date})", language=code) != []


SPANS = [
    ("de", "Vom 3. bis zum 5. Mai.", ["3. Mai", "5. Mai", "3.5.", "03.05."], ["4. Mai", "3.6.", "3. Juni"]),
    ("de", "Vom 3.–5. Mai 2019.", ["3. Mai 2019"], ["4. Mai 2019", "3. Mai 2018"]),
    ("de", "Bis 3.5. offen.", ["3. Mai"], ["5. März"]),
    ("en", "From the 3rd to the 5th of May.", ["May 3", "May 5"], ["May 4"]),
    ("en", "From 9 am to 12 May.", ["9 am", "May 12"], ["May 9"]),
    ("hi", "3 से 5 मई 2019 तक।", ["3-5 मई 2019", "3 मई"], ["4 मई"]),
    ("zh", "2019年5月3日至5日。", ["5月5日", "2019年5月5日"], ["5月4日", "6月5日"]),
    ("de", "Das Semester 2018/19.", ["18/19"], ["19/20", "17/18"]),
]


@pytest.mark.parametrize(("code", "source", "yes", "no"), SPANS)
def test_both_ends_of_a_span_of_days(code: str, source: str, yes: list[str], no: list[str]) -> None:
    assert [date for date in yes if unsupported(f"({date})", source, code)] == []
    assert [date for date in no if not unsupported(f"({date})", source, code)] == []


PARTS_YES = [
    ("en", "In May 2019.", "on 5 May 2019"),
    ("en", "In May 2019.", "2019-05-05"),
    ("en", "In May 2019.", "05/2019"),
    ("en", "In 2019.", "May 2019"),
    ("en", "From 5 to 7 May 2019.", "5–7 May 2019"),
    ("en", "On May 5-7, 2019.", "5–7 May 2019"),
    ("en", "On 7 May 2019.", "5-7 May 2019"),
    ("en", "On Sept. 3, 2011.", "September 3, 2011"),
    ("en", "On September 3, 2011.", "Date | Place\nSeptember 3, 2011 | Hall\nSeptember 4, 2011 | Park"),
    ("en", "On September 3, 2011.", "The reading room of the town hall was opened on September\n3, 2011, as was told."),
    ("en", "On 21 May 2019.", "On 19 May 2019 it closed, on the 21st of the same month it opened."),
    ("fa", "در ۲۱ خرداد ۱۳۵۸.", "در ۱۹ خرداد ۱۳۵۸ بسته شد و در ۲۱ همان ماه باز شد."),
    ("zh", "2019年5月21日", "2019年5月19日关闭，同月21日开放。"),
    ("es", "El 21 de mayo de 2019.", "El 19 de mayo de 2019 cerró y el 21 del mismo mes abrió."),
    ("ru", "21 мая 2019 года.", "19 мая 2019 года закрыт, 21 того же месяца открыт."),
    ("fr", "D'août 2019.", "en août 2019"),
    ("en", "You may 5 times.", "5"),
]
PARTS_NO = [
    ("en", "In June 2019.", "on 5 May 2019", ["June 2019"]),
    ("en", "On 22 May 2019.", "On 19 May 2019 it closed, on the 21st of the same month it opened.", ["22 May 2019"]),
    ("en", "On 21 May 2019.", "It closed on the 21st, in May 2019.", ["21 May 2019"]),
    ("en", "On 8 May 2019.", "5-7 May 2019", ["8 May 2019"]),
    ("en", "On September 4, 2011.", "September 3, 2011 | Hall\nSeptember 4, 2012", ["September 4, 2011"]),
]


@pytest.mark.parametrize(("code", "answer", "source"), PARTS_YES)
def test_parts_of_a_date(code: str, answer: str, source: str) -> None:
    assert unsupported(answer, source, code) == []


@pytest.mark.parametrize(("code", "answer", "source", "details"), PARTS_NO)
def test_no_other_parts(code: str, answer: str, source: str, details: list[str]) -> None:
    assert unsupported(answer, source, code) == details


ORDER_YES = [
    ("en", "04/03/2025", "April 3, 2025"),
    ("de", "03.04.2025", "3 April 2025"),
    ("fr", "03/04/2025", "3 avril 2025"),
    ("en", "03/04/2025", "03/04/2025"),
    ("en", "25/04/2025", "25 April 2025"),
    ("en", "April 3, 2025", "03/04/2025"),  # the source keeps both readings
    ("en", "March 4, 2025", "03/04/2025"),
    ("fa", "۱۳۵۸/۶/۳۱", "۳۱ شهریور ۱۳۵۸"),
    ("fa", "۳۱/۶/۱۳۵۹", "٣١ شهریور ١٣٥٩"),
    ("en", "2025-04-03", "3 April 2025"),
    ("en", "03.04.2025", "3 April 2025"),  # with full stops the day is first
]
ORDER_NO = [
    ("en", "03/04/2025", "3 April 2025"),  # March in English
    ("de", "03.04.2025", "March 4, 2025"),
    ("en", "2025-04-03", "March 4, 2025"),
    ("en", "04/03/2025", "04/05/2025, 3"),
]


@pytest.mark.parametrize(("code", "date", "source"), ORDER_YES)
def test_the_order_of_a_date_in_numbers(code: str, date: str, source: str) -> None:
    assert unsupported(f"({date})", source, code) == []


@pytest.mark.parametrize(("code", "date", "source"), ORDER_NO)
def test_an_answer_has_the_order_of_its_language(code: str, date: str, source: str) -> None:
    assert len(unsupported(f"({date})", source, code)) == 1


CALENDARS_YES = [
    ("fa", "۵ خرداد ۱۳۵۸", "۵ خرداد ۱۳۵۸"),
    ("fa", "۵ خرداد ۱۳۵۸", "5 خردادماه سال ۱۳۵۸"),
    ("fa", "خرداد ۵۸", "خرداد ۱۳۵۸"),
    ("fa", "اسفندماه ۵۸", "اسفند ۱۳۵۸"),
    ("fa", "تیر سال ۶۶", "تیر ماه سال۱۳۶۶"),
    ("fa", "۲۱ رمضان ۴۰", "۲۱ رمضان سال ۴۰ق"),
    ("ar", "5 رمضان 1440", "5 رمضان 1440"),
    ("fa", "سال ۵۸", "۱۳۵۸"),
    ("fa", "دهه ۵۰", "دهه ۱۳۵۰"),
]
CALENDARS_NO = [
    ("fa", "۵ خرداد ۱۳۵۸", "26 May 1979"),  # nothing is converted
    ("fa", "۵ خرداد ۱۳۵۸", "۵ تیر ۱۳۵۸"),
    ("fa", "خرداد ۵۸", "خرداد ۱۳۵۹"),
    ("fa", "سال ۵۸", "۱۳۵۹"),
    ("ar", "5 رمضان 1440", "10 May 2019"),
]


@pytest.mark.parametrize(("code", "date", "source"), CALENDARS_YES)
def test_calendars(code: str, date: str, source: str) -> None:
    assert unsupported(f"({date})", source, code) == []


@pytest.mark.parametrize(("code", "date", "source"), CALENDARS_NO)
def test_calendars_are_not_converted(code: str, date: str, source: str) -> None:
    assert len(unsupported(f"({date})", source, code)) == 1


DECADES_YES = [
    ("en", "the 1980s", "in the 1980s"),
    ("en", "the 1980s", "in the 80s"),
    ("en", "the '80s", "in the 1980s"),
    ("en", "in '98", "in 1998"),
    ("en", "the mid-1990s", "in 1995"),
    ("en", "the 1980s", "in 1983"),
    ("de", "die 1980er Jahre", "in the 1980s"),
    ("de", "die 80er", "1984"),
    ("fr", "les années 80,", "the 1980s"),
    ("es", "los años 80", "the 1980s"),
    ("pt", "os anos 80", "the 1980s"),
    ("it", "gli anni 80", "the 1980s"),
    ("nl", "de jaren 80", "the 1980s"),
    ("ru", "1980-е годы", "the 1980s"),
    ("ru", "в 80-х годах", "the 1980s"),
    ("fa", "دهه ۸۰", "۱۳۸۳"),
    ("fa", "دهه ۴۰ تا ۵۰", "سالهای ۵۷-۱۳۴۲"),
    ("ar", "عقد 1980", "1984"),
    ("hi", "1980 के दशक", "1984"),
    ("zh", "20世纪80年代", "20世纪，1984年"),
    ("ja", "1980年代", "1984年"),
    ("ko", "1980년대", "the 1980s"),
    ("tr", "1980'ler", "1984"),
]
DECADES_NO = [
    ("en", "the 1980s", "in 1993"),
    ("en", "the 1980s", "in the 1990s"),
    ("en", "in 1980", "in 1983"),
    ("en", "in 1983", "in the 1980s"),
    ("en", "the 80s", "83 people"),
    ("en", "in '98", "in 1997"),
    ("en", "'98'", "in 1998"),
    ("fa", "دهه ۸۰", "۱۳۷۳"),
    ("fa", "سال ۸۰", "۱۳۸۳"),
    ("zh", "20世纪80年代", "20世纪，1994年"),
    ("de", "die 80er", "1994"),
]


@pytest.mark.parametrize(("code", "decade", "source"), DECADES_YES)
def test_a_decade_is_vouched_for_by_itself_and_its_years(code: str, decade: str, source: str) -> None:
    assert unsupported(f"— {decade} —", source, code) == []


@pytest.mark.parametrize(("code", "decade", "source"), DECADES_NO)
def test_another_decade_is_not(code: str, decade: str, source: str) -> None:
    assert len(unsupported(f"— {decade} —", source, code)) == 1
