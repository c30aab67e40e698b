"""Recorded answers: what is a record, what is told of a line that is none, and what is counted."""

import json

import pytest

from sentence_gate import Ending, Policy, UsageError
from sentence_gate.replay import Malformed, Record, Replayed, Summary, read, replay

SOURCE = "The pool opens at eight. Lockers cost 40 cents."
GOOD = "It opens at eight [S1]."
BAD = "It opens at eight [S1]. Lockers cost 45 cents [S1]. So"


def line(**changes: object) -> bytes:
    return json.dumps({"sources": [SOURCE], "answer": GOOD, **changes}).encode()


def only(data: bytes) -> Record | Malformed:
    (one,) = read([data], "runs.jsonl")
    return one


def test_the_least_record() -> None:
    record = only(line())
    assert isinstance(record, Record)
    assert (record.id, record.language, record.question, record.where) == ("", None, "", "runs.jsonl:1")
    assert record.ending == Ending.completed(notes=("unattested",))


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"id": "a-1"}, "id", "a-1"),
        ({"id": 17}, "id", "17"),
        ({"id": 0}, "id", "0"),
        ({"id": None}, "id", ""),
        ({"question": None}, "question", ""),
        ({"language": "pt-BR"}, "language", "pt-BR"),
        ({"ending": "truncated"}, "ending", Ending.truncated()),
        ({"ending": {"kind": "truncated", "provider_reason": "length"}}, "ending", Ending.truncated("length")),
        ({"ending": Ending.filtered("safety").to_dict()}, "ending", Ending.filtered("safety")),
        ({"score": 0.5, "model": "x"}, "answer", GOOD),
        ({"answer": "\ud800"}, "answer", "\ud800"),
    ],
)
def test_fields(changes: dict[str, object], field: str, value: object) -> None:
    assert getattr(only(line(**changes)), field) == value


@pytest.mark.parametrize(
    "sources",
    [[SOURCE], {"pool": SOURCE}, [{"text": SOURCE, "id": "pool", "title": "Pool", "url": "https://pool.example", "language": "en"}]],
)
def test_shapes_of_sources(sources: object) -> None:
    (result,) = replay(read([line(sources=sources)]))
    assert isinstance(result, Replayed)
    assert result.report.status == "accepted"


def test_no_source_is_legal() -> None:
    (result,) = replay(read([line(sources=[])]))
    assert isinstance(result, Replayed)
    assert [violation.check for violation in result.report.violations] == ["citation_range"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{", "not JSON"),
        (b"nonsense", "not JSON"),
        (b'{"answer": "x"', "not JSON"),
        (b"\xff\xfe", "not UTF-8: byte 1"),
        (b"[" * 200_000, "not readable"),
        (b'{"id": ' + b"9" * 10_000 + b"}", "not readable"),
        (b"[]", "a list"),
        (b"null", "null"),
        (b"17", "a number"),
        (b'"text"', "a text"),
        (b"{}", "'sources' is missing"),
        (b'{"sources": []}', "'answer' is missing"),
        (line(answer=17), "'answer' is a text, not a number"),
        (line(answer=None), "'answer' is a text, not null"),
        (line(id=["a"]), "'id' is a text, not a list"),
        (line(id=True), "'id' is a text, not true or false"),
        (line(question=5), "'question' is a text"),
        (line(sources=SOURCE), "'sources' is a list"),
        (line(sources=None), "'sources' is a list"),
        (line(sources=[17]), "source"),
        (line(sources=[None]), "source"),
        (line(sources=[{"title": "x"}]), "'text'"),
        (line(sources=[{"text": 17}]), "text"),
        (line(sources={"a": 17}), "source"),
        (line(sources=[{"text": "x", "id": "a"}, {"text": "y", "id": "a"}]), "'a'"),
        (line(language="xx"), "en"),
        (line(language=17), "language"),
        (line(ending="eof"), "truncated"),
        (line(ending=17), "truncated"),
        (line(ending=[]), "truncated"),
        (line(ending={"provider_reason": "stop"}), "truncated"),
        (line(ending={"kind": "completed", "provider_reason": 17}), "provider_reason"),
    ],
    ids=lambda value: value[:40].decode("latin-1") if isinstance(value, bytes) else None,
)
def test_a_line_that_is_no_record_is_told_and_passed_over(data: bytes, reason: str) -> None:
    first, second, third = read([line(id="a"), data, line(id="b")], "runs.jsonl")
    assert (first.where, third.where) == ("runs.jsonl:1", "runs.jsonl:3")
    assert isinstance(second, Malformed)
    assert second.where == "runs.jsonl:2"
    assert reason in second.reason
    assert len(second.reason) < 500
    assert [type(result) for result in replay([first, second, third])] == [Replayed, Malformed, Replayed]


def test_blank_lines_and_a_byte_order_mark_are_passed_over() -> None:
    records = list(read([b"\xef\xbb\xbf" + line(id="a") + b"\r\n", b"\n", b"  \r\n", line(id="b")], "r"))
    assert [record.where for record in records] == ["r:1", "r:4"]


def test_from_mapping_raises() -> None:
    with pytest.raises(UsageError, match="'answer' is missing"):
        Record.from_mapping({"sources": []})


def test_language_of_the_record_overrides_that_of_the_policy() -> None:
    results = list(replay(read([line(), line(language="fr-CA")]), Policy(language="de")))
    assert [result.language for result in results if isinstance(result, Replayed)] == ["de", "fr"]


def test_policy_and_question_are_used() -> None:
    policy = Policy(question_supports_values=True)
    answer = "The source names no 12 lanes [S1]."
    (result,) = replay(read([line(answer=answer, question="Are there 12 lanes?")]), policy)
    assert isinstance(result, Replayed)
    assert result.report.status == "accepted"


def test_results_come_one_by_one() -> None:
    taken = []

    def lines() -> object:
        for number in range(3):
            taken.append(number)
            yield line()

    results = replay(read(lines()))  # type: ignore[arg-type]
    next(results)
    assert taken == [0]


def test_summary() -> None:
    summary = Summary()
    lines = [line(), line(answer=BAD), b"x", line(answer=BAD, language="de"), line(ending="truncated", answer="It")]
    for result in replay(read(lines)):
        summary.add(result)
    assert summary.to_dict() == {
        "answers": 4,
        "malformed": 1,
        "by_status": {"accepted": 1, "stopped": 2, "truncated": 1},
        "by_check": {"unsupported_value": 2},
        "by_language": {
            "de": {"answers": 1, "by_status": {"stopped": 1}, "by_check": {"unsupported_value": 1}},
            "en": {"answers": 3, "by_status": {"accepted": 1, "stopped": 1, "truncated": 1}, "by_check": {"unsupported_value": 1}},
        },
    }


def test_an_answer_counts_once_a_check() -> None:
    summary = Summary()
    for result in replay(read([line(answer=BAD + " " + BAD)]), Policy(on_violation="observe")):
        summary.add(result)
    assert summary.to_dict()["by_check"] == {"unsupported_value": 1}


def test_nothing_withheld_in_repr_or_dict() -> None:
    (result,) = replay(read([line(id="a", question="SECRET?", answer=BAD.replace("Lockers", "CANARY"))]))
    assert isinstance(result, Replayed)
    told = repr(result) + repr(result.record) + json.dumps(result.to_dict())
    assert "CANARY" not in told
    assert "SECRET" not in told
