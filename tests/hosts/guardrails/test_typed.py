"""The typed final answer as a validator."""

import json

import pytest
from guardrails import Guard

from guardrails_ai.sentence_gate import AnswerContractValidator
from sentence_gate import UsageError
from sentence_gate.contract import AnswerContract

SOURCES = ["The AI club meets at 18:00 in room 204."]
CONTRACT = AnswerContract(categories=("clubs",))
VALUE = {"status": "answered", "answer": "It meets at 18:00 [S1].", "category": "clubs", "items": [], "missing": [], "sources": []}


def outcome(text: str, on_fail: str = "fix", **more: object) -> object:
    guard = Guard().use(AnswerContractValidator(CONTRACT, on_fail=on_fail, **more))  # type: ignore[arg-type]
    return guard.validate(text, metadata={"sources": SOURCES})


def test_a_good_object_passes_as_canonical_json() -> None:
    found = outcome("Sure!\n```json\n" + json.dumps(VALUE) + "\n```")
    assert json.loads(found.validated_output)["answer"] == "It meets at 18:00."  # type: ignore[attr-defined]


@pytest.mark.parametrize(("text", "cause"), [("prose", "invalid"), (json.dumps({**VALUE, "answer": "At 19:00 [S1]."}), "stopped")])
def test_the_fix_is_a_valid_object(text: str, cause: str) -> None:
    found = outcome(text)
    value = json.loads(found.validated_output)  # type: ignore[attr-defined]
    assert CONTRACT.validate(value) == ()
    assert "19:00" not in found.validated_output  # type: ignore[attr-defined]
    with pytest.raises(Exception, match=cause) as caught:
        outcome(text, "exception")
    assert "19:00" not in str(caught.value)


def test_a_repair_and_wrong_use() -> None:
    found = outcome("prose", repair=lambda text, faults: json.dumps(VALUE))
    assert json.loads(found.validated_output)["status"] == "answered"  # type: ignore[attr-defined]
    assert outcome(json.dumps(VALUE), "exception").validation_passed  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="AnswerContract"):
        AnswerContractValidator({})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="whole texts"):
        AnswerContractValidator(CONTRACT, SOURCES).validate_stream("x", {})
