"""Clock times: halves of day, hours of 12 and 24, hours without minutes, ranges."""

from __future__ import annotations

import pytest

from sentence_gate import Policy, Source, judge
from sentence_gate.checks import unsupported_value


def unsupported(answer: str, source: str, code: str = "en", *, language: str | None = None) -> list[str]:
    """The values of an answer that a source doesn't vouch for."""
    policy = Policy(language=code, checks=(unsupported_value,), on_violation="observe")
    sources = [Source(source, language=language)]
    return [violation.detail for violation in judge(answer, sources, policy).violations]


YES = [
    ("en", "5 PM", "17:00"),
    ("en", "5 pm", "5 p.m."),
    ("en", "5:00 PM", "17:00"),
    ("en", "5:30 p.m.", "17:30"),
    ("en", "17:30", "5:30 PM"),
    ("en", "12 AM", "0:00"),
    ("en", "12 PM", "12:00 pm"),
    ("en", "9", "9:00"),
    ("en", "9:00", "9"),
    ("en", "9:00", "9 o'clock"),
    ("en", "10 AM", "10 AM"),
    ("en", "10 AM", "10:00"),
    ("en", "20:00", "from 8 am to 8 at night"),
    ("es", "20:00", "de 8 de la mañana a 8 de la noche"),
    ("fa", "۲۰:۰۰", "۸ صبح تا ۸ شب"),
    ("en", "10 AM", "10 o'clock"),
    ("en", "4:40 am", "4.40am"),
    ("en", "2:30–4:00 PM", "14:30 to 16:00"),
    ("en", "9am-5pm", "9:00 AM, 17:00"),
    ("de", "9 Uhr", "9"),
    ("de", "9 Uhr", "9:00"),
    ("de", "9", "9 Uhr"),
    ("de", "9.30 Uhr", "9:30"),
    ("de", "9 Uhr 30", "9:30"),
    ("fr", "17 h 30", "17:30"),
    ("fr", "17h30", "5:30 PM"),
    ("fr", "9 h", "9:00"),
    ("es", "las 17:30", "5:30 PM"),
    ("es", "5 de la tarde", "17:00"),
    ("pt", "17h30", "17:30"),
    ("pt", "às 9h30", "9:30"),
    ("it", "ore 17.30", "17:30"),
    ("ru", "19:00", "7 pm"),
    ("ru", "5 часов вечера", "17:00"),
    ("fa", "ساعت ۴:۴۰ صبح", "4.40am"),
    ("fa", "ساعت ۵ عصر", "17:00"),
    ("ar", "الساعة 5 مساء", "17:00"),
    ("hi", "शाम 5 बजे", "17:00"),
    ("zh", "下午5点", "17:00"),
    ("zh", "下午5点30分", "17:30"),
    ("zh", "17时30分", "5:30 PM"),
    ("ja", "午後5時", "17:00"),
    ("ja", "午前9時半", "9:30"),
    ("ko", "오후 5시 30분", "17:30"),
    ("tr", "saat 17.30", "17:30"),
]
NO = [
    ("en", "10 AM", "10 PM"),
    ("en", "10 AM", "22:00"),
    ("en", "5 PM", "5 AM"),
    ("en", "5 PM", "5 people"),
    ("en", "5:30 PM", "17:00"),
    ("en", "5:30", "5 and 30"),
    ("en", "17:30", "5:30 AM"),
    ("en", "12 AM", "12:00 PM"),
    ("en", "9:15", "9 o'clock"),
    ("de", "9 Uhr", "10 Uhr"),
    ("fr", "17 h 30", "17:00"),
    ("es", "5 de la tarde", "5:00 AM"),
    ("ru", "5 часов вечера", "5 am"),
    ("fa", "ساعت ۵ عصر", "5 AM"),
    ("ar", "الساعة 5 مساء", "5 am"),
    ("hi", "शाम 5 बजे", "5 am"),
    ("zh", "下午5点", "5 am"),
    ("ja", "午後5時", "午前5時"),
]


@pytest.mark.parametrize(("code", "clock", "source"), YES)
def test_notations_of_one_time(code: str, clock: str, source: str) -> None:
    assert unsupported(f"— {clock} —", f"({source})", code) == []


@pytest.mark.parametrize(("code", "clock", "source"), NO)
def test_the_half_of_day_is_part_of_the_time(code: str, clock: str, source: str) -> None:
    assert unsupported(f"— {clock} —", f"({source})", code) != []


@pytest.mark.parametrize(("code", "clock", "source"), YES)
def test_a_source_is_read_alike(code: str, clock: str, source: str) -> None:
    assert unsupported(f"— {clock} —", f"({clock})", code, language=code) == []


@pytest.mark.parametrize(
    ("code", "clock", "hour"),
    [
        ("de", "9 Uhr", "9:00"),
        ("fr", "17 h 30", "17:30"),
        ("es", "5 de la tarde", "5 PM"),
        ("zh", "下午五点半", "17:30"),
        ("fa", "ساعت ۵ عصر", "5 PM"),
        ("hi", "शाम 5 बजे", "17:00"),
        ("ru", "5 часов вечера", "17:00"),
        ("ar", "الساعة 5 مساء", "5 pm"),
    ],
)
def test_a_source_in_another_language(code: str, clock: str, hour: str) -> None:
    assert unsupported(f"At {hour}.", f"({clock})", language=code) == []
