"""The example as it is started: one command, no key. Every suggested question of every language comes to the end that it is there for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from programs import EXAMPLE, FABRICATED, QUESTION, assistant

from sentence_gate import Policy, notice

LANGUAGES = ("ar", "de", "en", "es", "fa")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with assistant("--seconds", "0.001") as (address, _):
        yield address


def ask(address: str, question: str, language: str, path: str = "answer") -> list[tuple[str, dict[str, Any]]]:
    with (
        httpx2.Client(timeout=20) as client,
        client.stream("POST", f"{address}/{path}", json={"question": question, "language": language}) as it,
    ):
        assert it.status_code == 200
        it.encoding = "utf-8-sig"
        return [(event.event, json.loads(event.data)) for event in httpx2.EventSource(it)]


def questions(address: str, language: str) -> list[str]:
    (desk,) = [desk for desk in httpx2.get(f"{address}/desks.json").json()["desks"] if desk["code"] == language]
    return list(desk["questions"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_suggested_questions(address: str, language: str) -> None:
    told = {name: notice(Policy(language=language), name) for name in ("stopped", "truncated", "refused")}
    whole, fabricated, cut, unanswered, forbidden = (ask(address, question, language) for question in questions(address, language))

    assert [name for name, _ in whole] == ["sentence", "sentence", "sentence", "done"]
    assert whole[-1][1]["status"] == "accepted"
    assert [source["id"] for source in whole[-1][1]["cited"]] == ["moon"]

    assert [name for name, _ in fabricated] == ["sentence", "sentence", "guard", "done"]
    assert fabricated[2][1] == {"checks": ["unsupported_value"], "notice": told["stopped"]}

    assert [name for name, _ in cut] == ["sentence", "sentence", "truncated", "done"]
    assert cut[2][1] == {"notice": told["truncated"]}

    for refused, usage in ((unanswered, True), (forbidden, False)):  # by the model, and before it: the same text
        assert [name for name, _ in refused] == ["refused", "done"]
        assert refused[0][1] == {"notice": told["refused"]}
        assert bool((refused[1][1]["usage"] or {}).get("output_tokens")) is usage


@pytest.mark.parametrize(
    ("question", "language"),
    [("Who won the football match?", "en"), ("پایتخت فرانسه کجاست؟", "fa"), ("?", "de"), ("Quelle est la distance de la Lune ?", "fr")],
)
def test_a_question_that_no_source_speaks_of_is_refused_before_the_model(address: str, question: str, language: str) -> None:
    (name, told), (_, done) = ask(address, question, language)
    assert (name, told["notice"]) == ("refused", notice(Policy(language=language), "refused"))
    assert not (done["usage"] or {}).get("output_tokens")


@pytest.mark.parametrize(
    ("question", "language"), [("Which moons does Mars have?", "en"), ("مریخ چند قمر دارد؟", "fa"), ("ما هي أقمار المريخ؟", "ar")]
)
def test_a_question_of_the_reader_s_own(address: str, question: str, language: str) -> None:
    events = ask(address, question, language)
    assert [name for name, _ in events] == ["sentence", "sentence", "sentence", "done"]
    assert [source["id"] for source in events[-1][1]["cited"]] == ["mars"]


def test_the_unchecked_stream_marks_what_the_gate_withholds(address: str) -> None:
    events = ask(address, QUESTION, "en", "unchecked")
    text = "".join(data["text"] for name, data in events if name == "piece")
    ((start, end),) = [(data["start"], data["end"]) for name, data in events if name == "unsupported"]
    assert FABRICATED in text[start:end]
    assert text[start:end].startswith("The crew")
    assert events[-1][0] == "done"
    assert ask(address, "What does my horoscope say?", "en", "unchecked") == [("done", {})]
    assert httpx2.post(f"{address}/unchecked", json={"question": 7}).status_code == 400


def test_the_page_takes_nothing_from_elsewhere_and_has_no_service_worker() -> None:
    for path in (EXAMPLE / "page").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "serviceWorker" not in text
        assert "innerHTML" not in text
        if path.name != "eventsource-parser-4.1.3.js":
            assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
            assert "https://" not in text


def test_every_language_says_the_same_things(address: str) -> None:
    described = httpx2.get(f"{address}/desks.json").json()["desks"]
    assert [desk["code"] for desk in described] == list(LANGUAGES)
    assert {desk["code"] for desk in described if desk["dir"] == "rtl"} == {"ar", "fa"}
    assert len({tuple(sorted(desk["page"])) for desk in described}) == 1
    assert len({tuple(desk["sources"]) for desk in described}) == 1
