"""The typed final answer: the ladder, the gate in it, and the reader of one streamed string."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from sentence_gate import Ending, Policy, UsageError
from sentence_gate.contract import CAUSES, AnswerContract, ContractGate, Fault, FieldReader, Final, chat_repair

SOURCES = ["AI club: Tuesdays at 18:00 in room 204.\nChess club: Fridays at 17:30 in room 12.", "The library opens at 9:00."]
CONTRACT = AnswerContract(categories=("clubs", "hours"))


def written(**changes: object) -> str:
    value = {
        "status": "answered",
        "answer": "The AI club meets on Tuesdays at 18:00 [S1]. It is in room 204 [S1].",
        "category": "clubs",
        "items": [{"name": "AI club", "room": 204}],
        "missing": [],
        "sources": ["AI club: Tuesdays at 18:00 in room 204."],
    }
    return json.dumps({**value, **changes}, ensure_ascii=False)


def read(text: str, **options: object) -> Final:
    return CONTRACT.read(text, SOURCES, **options)  # type: ignore[arg-type]


def streamed(text: str, size: int, contract: AnswerContract = CONTRACT, **finish: object) -> tuple[str, Final]:
    gate = ContractGate(contract, SOURCES)
    shown = "".join(gate.feed(text[at : at + size]).text for at in range(0, len(text), size))
    final = gate.finish(**finish)  # type: ignore[arg-type]
    return shown + final.text, final


# ------------------------------------------------------------------------------------------------ the ladder


@pytest.mark.parametrize(
    "text",
    [
        written(),
        "Here is the answer:\n```json\n" + written() + "\n```\nAnything else?",
        "  " + json.dumps(json.loads(written()), indent=2) + "\n",
    ],
)
def test_a_good_object_is_the_models_own(text: str) -> None:
    final = read(text)
    assert (final.origin, final.cause, final.faults) == ("model", None, ())
    assert final.value["answer"] == "The AI club meets on Tuesdays at 18:00. It is in room 204."
    assert final.value["items"] == [{"name": "AI club", "room": 204}]
    assert json.loads(final.json) == final.value
    assert "[S1]" not in final.json


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("The AI club meets on Tuesdays.", "$"),
        ("} and then {", "$"),
        ("{not json}", "$"),
        (written() + written(), "$"),
        ('{"status": "answered", "status": "not_found"}', "$"),
        ('{"status": NaN}', "$"),
        ('{"status": 1e999}', "$"),
        ("{" * 5000 + "}", "$"),
        (written(status="maybe"), "$.status"),
        (written(category="sports"), "$.category"),
        (written(items=["AI club"]), "$.items[0]"),
        (written(missing="nothing"), "$.missing"),
        (written(note="x"), "$"),
        (written(sources=["AI club: Tuesdays at 19:00 in room 204."]), "$.sources[0]"),
        (written(sources=["AI club"]), "$.sources[0]"),
    ],
)
def test_an_invalid_object_falls_back_and_says_where(text: str, path: str) -> None:
    final = read(text)
    assert (final.origin, final.cause) == ("fallback", "invalid")
    assert final.faults[0].path == path
    assert CONTRACT.validate(final.value) == ()
    assert final.value["category"] == "refusal"
    assert final.value["status"] == "needs_clarification"


def test_every_fault_is_listed() -> None:
    faults = CONTRACT.validate({"status": "maybe", "answer": 3, "category": "clubs", "items": [1], "missing": [2], "sources": []})
    assert [fault.path for fault in faults] == ["$.status", "$.answer", "$.items[0]", "$.missing[0]"]


def test_a_repair_is_called_once_with_the_faults() -> None:
    calls: list[tuple[str, list[str]]] = []

    def repair(text: str, faults: object) -> str:
        calls.append((text, [fault.path for fault in faults]))  # type: ignore[attr-defined]
        return written()

    final = read(written(status="maybe"), repair=repair)
    assert (final.origin, final.cause) == ("repaired", None)
    assert final.value["status"] == "answered"
    assert [paths for _, paths in calls] == [["$.status"]]

    still = read("nothing here", repair=lambda text, faults: calls.append((text, [])) or "still nothing")  # type: ignore[func-returns-value]
    assert (still.origin, still.cause) == ("fallback", "invalid")
    assert len(calls) == 2


@pytest.mark.parametrize("mended", [None, 3, "", "{}", "{"])
def test_a_repair_that_doesnt_mend_falls_back(mended: object) -> None:
    assert read("prose", repair=lambda text, faults: mended).cause == "invalid"  # type: ignore[arg-type, return-value]


def test_a_repair_that_raises_falls_back() -> None:
    def repair(text: str, faults: object) -> str:
        raise RuntimeError(text)

    assert read("prose", repair=repair).cause == "invalid"


def test_a_repaired_answer_passes_the_gate_too() -> None:
    final = read("prose", repair=lambda text, faults: written(answer="It meets at 19:00 [S1]."))
    assert (final.origin, final.cause) == ("fallback", "stopped")
    assert "19:00" not in final.json
    assert "19:00" not in repr(final)


def test_no_repair_of_a_stream_that_was_cut() -> None:
    def repair(text: str, faults: object) -> str:
        raise AssertionError("a cut answer can't be mended")

    final = read(written()[:60], ending=Ending.truncated(), repair=repair)
    assert final.cause == "truncated"
    assert final.value["status"] == "needs_clarification"


def test_chat_repair_asks_a_client_once_at_temperature_zero() -> None:
    asked: list[dict[str, object]] = []

    def create(**arguments: object) -> object:
        asked.append(arguments)
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=written()))])

    client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    assert read("prose", repair=chat_repair(client, "small", CONTRACT)).origin == "repaired"
    assert (asked[0]["temperature"], asked[0]["max_tokens"], asked[0]["model"]) == (0, 800, "small")
    assert "keep every fact" in str(asked[0]["messages"])

    def fails(**arguments: object) -> object:
        raise ConnectionError

    client.chat.completions.create = fails
    assert chat_repair(client, "small", CONTRACT)("prose", [Fault("$", "no object")]) is None


# ------------------------------------------------------------------------------------------------ the gate in it


@pytest.mark.parametrize(
    ("text", "ending", "cause", "status", "answer"),
    [
        (written(answer="It meets at 18:00 [S1]. Room 205 [S1]. And"), None, "stopped", "needs_clarification", "It meets at 18:00."),
        (written(answer="Room 205 [S1]."), None, "stopped", "needs_clarification", CONTRACT.text("stopped")),
        (written(answer="NO_ANSWER"), None, "refused", "not_found", CONTRACT.text("refused")),
        (written(answer=""), None, "empty", "not_found", CONTRACT.text("empty")),
        (written()[:95], Ending.truncated(), "truncated", "needs_clarification", "The AI club meets on Tuesdays at 18:00."),
        (written(), Ending.filtered(), "failed", "needs_clarification", "The AI club meets on Tuesdays at 18:00. It is in room 204."),
        (written()[:95], Ending.cancelled(), "cancelled", "needs_clarification", "The AI club meets on Tuesdays at 18:00."),
        (
            written(items=[{"room": 205}]),
            None,
            "stopped",
            "needs_clarification",
            "The AI club meets on Tuesdays at 18:00. It is in room 204.",
        ),
        (written(items=[{"note": "I think so"}]), None, "stopped", "needs_clarification", None),
        (written(missing=["the phone number 555 1234"]), None, "stopped", "needs_clarification", None),
    ],
)
def test_verdicts_become_a_status(text: str, ending: Ending | None, cause: str, status: str, answer: str | None) -> None:
    for size in (1, 7, len(text)):
        shown, final = streamed(text, size, ending=ending)
        assert (final.origin, final.cause, final.value["status"]) == ("fallback", cause, status)
        assert answer is None or final.value["answer"] == answer
        assert shown == final.value["answer"]
        assert "205" not in final.json + repr(final)


def test_a_typed_refusal_names_what_is_missing() -> None:
    text = written(status="not_found", answer="I could not find the password.", items=[], missing=["Wi-Fi password"], sources=[])
    for size in (1, 5, len(text)):
        shown, final = streamed(text, size)
        assert final.origin == "model"
        assert (final.value["status"], final.value["missing"]) == ("not_found", ["Wi-Fi password"])
        assert shown == final.value["answer"] == CONTRACT.text("refused")


def test_values_of_the_question_may_be_named_as_missing() -> None:
    text = written(status="not_found", answer="", items=[], missing=["the door of room 999"], sources=[])
    assert read(text, question="Who has the key of room 999?").origin == "model"
    assert read(text).cause == "stopped"


def test_sentences_are_shown_while_the_object_arrives() -> None:
    gate = ContractGate(CONTRACT, SOURCES)
    text = written()
    upto = text.index("It is in") + 2
    assert gate.feed(text[:upto]).text == "The AI club meets on Tuesdays at 18:00."
    assert gate.feed(text[upto:]).text == ""
    final = gate.finish()
    assert final.text == " It is in room 204."
    with pytest.raises(UsageError, match="after finish"):
        gate.feed("x")
    with pytest.raises(UsageError, match="finished once"):
        gate.finish()


def test_a_stop_says_that_the_stream_can_be_closed() -> None:
    gate = ContractGate(CONTRACT, SOURCES)
    outcome = gate.feed(written(answer="Room 205 [S1]. More")[:60])
    assert outcome.stopped
    assert gate.stopped
    assert gate.finish(Ending.cancelled()).cause == "stopped"


def test_what_was_shown_outlives_a_repair() -> None:
    broken = written()[:-1] + ', "extra": 1}'
    shown, final = streamed(broken, 3, repair=lambda text, faults: written(answer="The chess club meets on Fridays [S1]."))
    assert final.origin == "repaired"
    assert shown == final.value["answer"] == "The AI club meets on Tuesdays at 18:00. It is in room 204."


@pytest.mark.parametrize("cause", CAUSES)
def test_fixed_texts_are_localised_and_can_be_replaced(cause: str) -> None:
    persian = AnswerContract(policy=Policy(language="fa"))
    assert persian.text(cause) != CONTRACT.text(cause)  # type: ignore[arg-type]
    own = AnswerContract(texts={cause: "Ask at the desk."})
    assert own.fallback(cause)["answer"] == "Ask at the desk."  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ schemas of the user's


class Ticket(BaseModel):
    answer: str
    priority: int = Field(ge=1, le=3)


def test_a_pydantic_model_is_a_schema() -> None:
    contract = AnswerContract(schema=Ticket, fallback={"answer": "Ask at the desk.", "priority": 3}, decided=["priority"])
    good = '{"answer": "The library opens at 9:00 [S2].", "priority": 1}'
    assert contract.read(good, SOURCES).value == {"answer": "The library opens at 9:00.", "priority": 1}
    bad = contract.read(good.replace("1}", "9}"), SOURCES)
    assert (bad.cause, bad.faults[0].path, bad.value["priority"]) == ("invalid", "$.priority", 3)
    assert "priority" in contract.prompt()


def test_a_json_schema_without_an_answer() -> None:
    schema = {"type": "object", "properties": {"room": {"type": "integer"}}, "required": ["room"]}
    contract = AnswerContract(schema=schema, fallback={"room": 0}, answer=None, source_lines=None)
    assert contract.read('{"room": 204}', SOURCES).value == {"room": 204}
    assert contract.read('{"room": 205}', SOURCES).cause == "stopped"
    assert contract.read('{"room": "x"}', SOURCES).value == {"room": 0}


def test_valid_comes_before_what_was_shown() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string", "minLength": 40}}, "required": ["answer"]}
    text = "Please ask at the information desk on the ground floor."
    contract = AnswerContract(schema=schema, fallback={"answer": text})
    final = contract.read('{"answer": "It opens at 9:00 [S2]. It closes at 23:59 [S2]. That is all there is."}', SOURCES)
    assert (final.cause, final.value) == ("stopped", {"answer": text})


@pytest.mark.parametrize(
    "options",
    [
        {"schema": "text"},
        {"schema": {"type": "nonsense"}, "fallback": {}},
        {"schema": {"type": "object"}},
        {"schema": Ticket, "fallback": {"answer": "x", "priority": 9}},
        {"categories": "clubs"},
        {"categories": [""]},
        {"texts": {"tired": "x"}},
        {"texts": {"stopped": " "}},
    ],
)
def test_wrong_contracts_are_usage_errors(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        AnswerContract(**options)  # type: ignore[arg-type]


def test_the_prompt_names_every_key_and_value() -> None:
    prompt = CONTRACT.prompt()
    for word in (
        "status",
        "answer",
        "category",
        "items",
        "missing",
        "sources",
        "answered",
        "not_found",
        "needs_clarification",
        "clubs",
        "refusal",
    ):
        assert f'"{word}"' in prompt


def test_guided_decoding_carries_the_schema() -> None:
    assert CONTRACT.decoding("openai")["response_format"]["json_schema"]["schema"] == CONTRACT.schema
    assert CONTRACT.decoding("nim")["extra_body"]["nvext"]["guided_json"] == CONTRACT.schema
    assert CONTRACT.decoding("ollama")["format"] == CONTRACT.schema
    with pytest.raises(UsageError):
        CONTRACT.decoding("other")  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ properties

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
FRAGMENTS = [
    "{",
    "}",
    '"',
    "\\",
    "\\u",
    "\\ud83d",
    "\\ude00",
    "d83d",
    '"answer"',
    '"status"',
    ":",
    ",",
    "[",
    "]",
    "answered",
    "It opens at 9:00 [S2].",
    " ",
]
hostile = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), max_size=25).map("".join)
near = st.builds(
    lambda answer, extra: written(answer=answer, **extra),
    hostile | st.text(),
    st.dictionaries(st.sampled_from(["items", "missing", "status"]), JSON),
)


@given(text=hostile | near | st.text(), mended=st.none() | hostile | near)
def test_for_any_text_at_all_the_object_is_valid(text: str, mended: str | None) -> None:
    final = read(text, repair=lambda text, faults: mended)
    assert CONTRACT.validate(final.value) == ()
    assert json.loads(final.json) == final.value


@given(text=near | hostile, data=st.data())
def test_the_streamed_answer_is_the_final_one_for_any_cutting(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    gate = ContractGate(CONTRACT, SOURCES)
    shown = "".join(gate.feed(text[a:b]).text for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True))
    final = gate.finish()
    assert shown + final.text == final.value["answer"]
    whole = read(text)
    assert (whole.value, whole.cause) == (final.value, final.cause)


@given(value=st.dictionaries(st.text(max_size=8), JSON, max_size=5), ascii_only=st.booleans(), size=st.integers(1, 9))
def test_the_reader_reads_what_json_reads(value: dict[str, object], ascii_only: bool, size: int) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    reader, found = FieldReader(), dict[str, str]()
    for at in range(0, len(text), size):
        for key, part, _ in reader.feed(text[at : at + size]):
            found[key] = found.get(key, "") + part
    assert found == {key: item for key, item in json.loads(text).items() if isinstance(item, str)}
    assert all(reader.closed(key) for key in found)


def test_half_a_surrogate_pair_is_no_character() -> None:
    reader = FieldReader()
    found = [part for piece in ('{"a": "\\ud83', "d\\ude0", '0 \\ud83d!"}') for _, part, _ in reader.feed(piece)]
    assert "".join(found) == "😀 \ud83d!"


def test_a_key_of_the_models_is_in_no_path() -> None:
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string"}, "rooms": {"type": "object", "additionalProperties": {"type": "string"}}},
    }
    contract = AnswerContract(schema=schema, fallback={"answer": "No answer."})
    final = contract.read('{"answer": "", "rooms": {"costs 4711": 3}}', ["A room."])
    assert [fault.path for fault in final.faults] == ["$.rooms.*"]
    assert "$.rooms.costs 4711: " in final.faults[0].message
    assert "4711" not in repr(final)


def test_nothing_more_is_shown_if_the_schema_takes_no_answer_that_was_cut() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string", "pattern": r"Thank you\.$"}}, "required": ["answer"]}
    contract = AnswerContract(schema=schema, fallback={"answer": "There is no answer. Thank you."})
    gate = ContractGate(contract, ["It meets at 19:00."])
    shown = gate.feed('{"answer": "It meets at 19:00 [S1]. It ends at 23:00 [S1]. And').text
    final = gate.finish()
    assert (shown, final.text) == ("It meets at 19:00.", "")
    assert final.value == {"answer": "There is no answer. Thank you."}
