"""Typed final answers through the rail: `custom_data.sentence_gate_contract`."""

import json

import pytest
from nemo_scripted import SOURCES, YML, collect, messages, rails, run

from sentence_gate import UsageError
from sentence_gate.contract import AnswerContract

CONTRACT = AnswerContract(categories=("hours",))
TYPED = YML + "custom_data:\n  sentence_gate_contract: {categories: [hours]}\n"
VALUE = {"status": "answered", "answer": "It opens at 9:00 [S1].", "category": "hours", "items": [], "missing": [], "sources": []}
BAD = {**VALUE, "answer": "It opens at 9:00 [S1]. A card costs 7 euros [S1]. And this goes on and on, sentence by sentence [S1]."}


@pytest.mark.parametrize(
    "text", [json.dumps(VALUE), "Sure:\n```json\n" + json.dumps(VALUE) + "\n```", "<think>77</think>" + json.dumps(VALUE)]
)
def test_a_good_object_comes_as_canonical_json(text: str) -> None:
    app, _ = rails(text, yml=TYPED)
    whole = json.loads(run(app.generate_async(messages=messages()))["content"])
    assert whole == {**VALUE, "answer": "It opens at 9:00."}
    (chunk,) = run(collect(app.stream_async(messages=messages())))
    assert json.loads(chunk) == whole


@pytest.mark.parametrize(("text", "status"), [("prose", "needs_clarification"), (json.dumps(BAD), "needs_clarification")])
def test_whatever_the_model_says_the_reader_gets_a_valid_object(text: str, status: str) -> None:
    app, model = rails(text, yml=TYPED)
    for said in (run(app.generate_async(messages=messages()))["content"], "".join(run(collect(app.stream_async(messages=messages()))))):
        value = json.loads(said)
        assert CONTRACT.validate(value) == ()
        assert value["status"] == status
        assert "costs 7" not in said
    assert model.closed == model.opened
    if text != "prose":
        assert model.sent < len(text) // 3 - 10, "the model's stream is closed at the stop"


def test_a_cut_object_and_wrong_settings() -> None:
    app, _ = rails(json.dumps(VALUE)[:60], yml=TYPED, reason="length")
    value = json.loads("".join(run(collect(app.stream_async(messages=messages(SOURCES))))))
    assert (value["status"], value["category"]) == ("needs_clarification", "refusal")
    with pytest.raises((RuntimeError, UsageError)) as caught:
        rails(yml=TYPED.replace("categories", "colours"))
    assert "the keys are categories, item, texts" in f"{caught.value} {caught.value.__cause__}"
