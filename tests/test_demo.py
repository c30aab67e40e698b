"""The bundled answers: each is gated as its file says, and both columns show it."""

import re
import unicodedata

import pytest

from sentence_gate import Policy, SentenceSplitter, UsageError, judge
from sentence_gate.cli import main
from sentence_gate.demo import ORDER, Example, columns, examples, play

ALL = pytest.mark.parametrize("example", examples(), ids=ORDER)


@ALL
def test_the_answer_is_stopped_where_its_file_says(example: Example) -> None:
    *_, last = play(example)
    assert last.report
    assert last.report.status == "stopped"
    assert [row.released is None for row in last.rows] == [False] * (example.withheld - 1) + [True]
    assert [check for check, _ in last.rows[-1].checks] == [example.withheld_check]
    assert example.tempting < example.withheld


@ALL
def test_what_follows_the_withheld_sentence_is_never_generated(example: Example) -> None:
    *_, last = play(example)
    assert len(example.answer) - last.generated > 20


@ALL
def test_the_same_for_every_piece_size(example: Example) -> None:
    shown = {play_to_end(example, size) for size in (1, 2, 3, 7, 1000)}
    assert len(shown) == 1


def play_to_end(example: Example, size: int) -> tuple[object, ...]:
    *_, last = play(example, size=size)
    assert last.report
    return (*last.rows, last.report.text, last.report.withheld_chars)


@ALL
def test_without_the_withheld_sentence_all_is_accepted(example: Example) -> None:
    splitter = SentenceSplitter(example.language)
    sentences = [*splitter.feed(example.answer), splitter.flush()]
    answer = "".join(s.lead + s.text for number, s in enumerate(sentences, 1) if s and number != example.withheld)
    report = judge(answer, example.sources, Policy(language=example.language))
    assert (report.status, report.violations) == ("accepted", ())


@ALL
def test_the_data_is_whole(example: Example) -> None:
    assert 2 <= len(example.sources) <= 3
    assert example.question
    assert unicodedata.is_normalized("NFC", example.answer)
    assert set(re.findall(r"\[S\d\]", example.answer)) <= {"[S1]", "[S2]", "[S3]", "[S4]"}


def test_frames_grow_and_wait_for_a_sentence() -> None:
    frames = list(play(examples(["en"])[0]))
    generated = [frame.generated for frame in frames]
    assert generated == sorted(generated)
    assert frames[0].pending == "The"
    assert frames[0].rows == ()
    assert all(row.arrived for row in frames[-1].rows)


def test_a_language_without_an_answer_is_wrong_use() -> None:
    with pytest.raises(UsageError, match="en, fa, ar"):
        examples(["xx"])
    assert [example.language for example in examples(["pt-BR", "zh_Hans"])] == ["pt", "zh"]


def test_plain_is_deterministic_and_has_no_controls(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for _ in range(2):
        assert main(["demo", "--plain"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert not [char for char in shown[0] if unicodedata.category(char) == "Cc" and char != "\n"]
    assert len(re.findall("^Stopped:", shown[0], re.MULTILINE)) == len(ORDER)
    assert len(re.findall("^Notice:", shown[0], re.MULTILINE)) == len(ORDER)
    assert max(columns.width(line) for line in shown[0].splitlines()) <= 100


def test_plain_never_shows_the_withheld_sentence_on_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    main(["demo", "--plain", "--language", "en"])
    right = "\n".join(line.partition(" | ")[2] for line in capsys.readouterr().out.splitlines())
    assert "Admission" not in right
    assert "[S1]" not in right


# ---------- columns ----------


@pytest.mark.parametrize(
    ("text", "cells"), [("abc", 3), ("茶馆", 4), ("१२", 2), ("کتاب\u200cها", 6), ("e\u0301", 1), ("\u2067ab\u2069", 2), ("", 0)]
)
def test_width_in_cells(text: str, cells: int) -> None:
    assert columns.width(text) == cells


@pytest.mark.parametrize("example", examples(), ids=ORDER)
@pytest.mark.parametrize("cells", [5, 12, 40])
def test_wrapped_lines_fit_and_lose_nothing_but_spaces(example: Example, cells: int) -> None:
    lines = columns.wrap(example.answer, cells)
    assert max(map(columns.width, lines)) <= cells + 2  # closing marks of Chinese stay with their character
    assert re.sub(r"[ \t]", "", "".join(lines)) == re.sub(r"[ \t]", "", example.answer)


def test_a_long_word_is_broken() -> None:
    assert columns.wrap("a" * 25, 10) == ["a" * 10, "a" * 10, "a" * 5]


def test_closing_marks_do_not_begin_a_line() -> None:
    assert columns.wrap("茶馆开门。", 8) == ["茶馆开", "门。"]


def test_right_to_left_cells_stand_at_the_right_in_isolates() -> None:
    (cell,) = columns.cells("باغ", 10, "plain", rtl=True)
    assert (cell.text, cell.indent) == ("\u2067باغ\u2069", 7)
