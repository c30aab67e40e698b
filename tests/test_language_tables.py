"""The sentence tables of the languages, tests/languages/xx.txt: an input, a line "---", its sentences one a line, a line "===".

A line break inside an input or a sentence is written as \\n. A table is fed whole and code point by code point.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sentence_gate import Policy, SentenceSplitter, judge
from sentence_gate.languages import codes

TABLES = sorted(Path(__file__).with_name("languages").glob("*.txt"))


def blocks(table: Path) -> list[tuple[str, list[str]]]:
    found = []
    for block in table.read_text(encoding="utf-8").split("\n===\n"):
        lines = [line.replace("\\n", "\n") for line in block.strip("\n").split("\n") if not line.startswith("// ")]
        if lines == [""]:
            continue
        cut = lines.index("---")
        found.append(("\n".join(lines[:cut]), lines[cut + 1 :]))
    return found


CASES = [
    pytest.param(table.stem, text, expected, id=f"{table.stem}-{number}")
    for table in TABLES
    for number, (text, expected) in enumerate(blocks(table), start=1)
]


def split(code: str, text: str, size: int) -> list[str]:
    splitter = SentenceSplitter(code)
    found = [sentence for at in range(0, len(text), size) for sentence in splitter.feed(text[at : at + size])]
    tail = splitter.flush()
    return [sentence.text for sentence in [*found, *([tail] if tail else [])] if sentence.text]


@pytest.mark.parametrize(("code", "text", "expected"), CASES)
def test_sentences(code: str, text: str, expected: list[str]) -> None:
    assert split(code, text, len(text)) == expected


@pytest.mark.parametrize(("code", "text", "expected"), CASES)
def test_sentences_one_character_at_a_time(code: str, text: str, expected: list[str]) -> None:
    assert split(code, text, 1) == expected


@pytest.mark.parametrize(("code", "text", "expected"), CASES)
def test_the_values_of_a_copy_stand_in_its_source(code: str, text: str, expected: list[str]) -> None:
    found = judge(text, [text] * 3, Policy(language=code, on_violation="observe")).violations
    assert not [text[violation.start : violation.end] for violation in found if violation.check == "unsupported_value"]


def test_every_table_has_a_language_and_enough_cases() -> None:
    assert {table.stem for table in TABLES} == set(codes())
    assert all(len(blocks(table)) >= 25 for table in TABLES)
