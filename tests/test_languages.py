"""Every language file is read by the schema and is complete: the rooms rely on it and don't ask again."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest

from sentence_gate.errors import UsageError
from sentence_gate.languages import Language, codes, load

ALL = codes()
DATA = {code: resources.files("sentence_gate.languages").joinpath(f"{code}.toml").read_text(encoding="utf-8") for code in ALL}
DOTTED = {"de", "el", "en", "es", "fr", "id", "it", "nl", "pl", "pt", "tr", "uk", "vi"}
"""Languages whose abbreviations all end in a full stop; others may list ones with other marks."""

TENS = (*range(21), 30, 40, 50, 60, 70, 80, 90)
COMPOSED = {"fr": {70, 90}, "zh": {20, 30, 40, 50, 60, 70, 80, 90, *range(11, 20)}, "ja": {20, 30, 40, 50, 60, 70, 80, 90, *range(11, 20)}}
"""Numbers that a language puts together from others, so that its list needs no word for them."""


def strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(key, f"{path}.{key}")
            yield from strings(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from strings(item, path)


def lists(value: Any, path: str = "") -> Iterator[tuple[str, list[Any]]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from lists(item, f"{path}.{key}")
    elif isinstance(value, list):
        yield path, value
        for item in value:
            yield from lists(item, path)


@pytest.fixture(params=ALL)
def language(request: pytest.FixtureRequest) -> Language:
    return load(request.param)


def test_code_names_and_script(language: Language) -> None:
    assert language.code in ALL
    assert language.name
    assert language.endonym
    assert len(language.script) == 4
    assert language.references


def test_a_code_is_its_file_name() -> None:
    assert [load(code).code for code in ALL] == list(ALL)
    assert len({load(code).endonym for code in ALL}) == len(ALL)


def test_the_source_of_the_abbreviations_is_named_at_the_top(language: Language) -> None:
    head = DATA[language.code].split("\n\n", 1)[0]
    assert head.startswith("#")
    assert any(name in head for name in ("CLDR", "sentencex", "pragmatic_segmenter", "own list"))


def test_no_empty_or_untrimmed_string(language: Language) -> None:
    bad = [(path, text) for path, text in strings(tomllib.loads(DATA[language.code])) if not text or text != text.strip()]
    assert not bad


def test_no_duplicates_in_a_list(language: Language) -> None:
    for path, items in lists(tomllib.loads(DATA[language.code])):
        twice = [item for item, count in Counter(map(str, items)).items() if count > 1]
        assert not twice or path == ".sentences.quotes", path


def test_an_abbreviation_is_of_one_class(language: Language) -> None:
    found = language.sentences
    classes = (*found.abbreviations, *found.number_abbreviations, *found.final_abbreviations, *found.closers)
    assert not [item for item, count in Counter(classes).items() if count > 1]
    raised = [item[0].upper() + item[1:] for item in classes if item[0].islower()]
    assert not (twice := [item for item, count in Counter(raised).items() if count > 1]), twice


def test_abbreviations_end_in_a_full_stop(language: Language) -> None:
    found = language.sentences
    if language.code in DOTTED:
        assert not [
            item
            for item in (*found.abbreviations, *found.number_abbreviations, *found.final_abbreviations, *found.closers)
            if not item.endswith(".")
        ]


def test_starters_begin_a_sentence(language: Language) -> None:
    assert not [word for word in language.sentences.starters if word[0].islower() and word[0].upper() != word[0]]


def test_quotes_are_pairs_of_single_marks(language: Language) -> None:
    assert all(len(pair) == 2 and all(len(mark) in (1, 2) for mark in pair) for pair in language.sentences.quotes)


def test_switches_have_known_values(language: Language) -> None:
    assert language.sentences.ordinals in ("none", "months", "any")
    assert language.sentences.full_stop in ("ends", "words", "never")
    assert language.numbers.compose in ("words", "glued", "unspaced", "han")
    assert language.dates.order in ("dmy", "mdy", "ymd")
    assert language.numbers.decimal not in language.numbers.group


def test_number_words_are_complete(language: Language) -> None:
    numbers = language.numbers
    known = set(numbers.words.values()) | set(numbers.scales.values())
    missing = set(TENS) - known - COMPOSED.get(language.code, set())
    assert not missing
    assert {1, 2, 3, 4, 5, 6, 7, 8, 9, 10} <= set(numbers.ordinals.values()) or not numbers.ordinals
    assert {100, 1000} <= known
    assert any(value >= 1_000_000 for value in numbers.scales.values())


def test_number_words_are_lower_case(language: Language) -> None:
    numbers = language.numbers
    assert not [word for word in (*numbers.words, *numbers.ordinals, *numbers.scales, *numbers.halves) if word != word.lower()]


def test_twelve_months(language: Language) -> None:
    dates = language.dates
    assert len(dates.months) == 12
    assert all(dates.months)
    assert len(dates.jalali) in (0, 12)
    assert len(dates.hijri) in (0, 12)
    for calendar in (dates.months, dates.jalali, dates.hijri):
        shared = [name for name, count in Counter(name for month in calendar for name in month).items() if count > 1]
        assert not shared


def test_halves_of_day_differ(language: Language) -> None:
    assert not set(language.dates.am) & set(language.dates.pm)


def test_first_person(language: Language) -> None:
    found = language.first_person
    assert found.words or found.cased
    assert not set(found.shared) - {*found.words, *found.cased, *found.verbs}
    assert not {word.lower() for word in found.words} & {word.lower() for word in found.verbs}
    assert found.everywhere == (language.code in ("en", "fa", "ar", "ru", "hi", "zh"))


def test_every_exception_holds_a_listed_word(language: Language) -> None:
    found = language.first_person
    listed = [word.lower() for code in ALL for own in [load(code).first_person] for word in (*own.words, *own.cased, *own.verbs)]
    assert not [phrase for phrase in found.exceptions if not any(word in phrase.lower() for word in listed)]


def test_notices_are_short_and_name_no_technology(language: Language) -> None:
    notices = language.notices
    texts = [notices.stopped, notices.truncated, notices.failed, notices.refused, notices.empty]
    assert len(set(texts)) == 5
    for text in texts:
        assert 8 <= len(text) <= 160
        assert not any(word in text.split() for word in ("AI", "KI", "IA", "LLM", "gate", "model"))


def test_region_and_script_are_ignored() -> None:
    assert load("en-GB") is load("EN_us") is load("en")


def test_an_unknown_language_is_an_error_that_lists_what_exists() -> None:
    with pytest.raises(UsageError, match="en"):
        load("tlh")


@pytest.mark.parametrize("tag", ["a" * 300, "a" * 9, "../en", "en\0", ""])
def test_what_is_no_tag_is_told_in_few_words(tag: str) -> None:
    with pytest.raises(UsageError, match="unknown language") as told:
        load(tag)
    assert len(str(told.value)) < 250
