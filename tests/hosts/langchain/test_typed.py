"""The typed final answer as the last step of a chain."""

import json

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import RunnableLambda

from sentence_gate import UsageError
from sentence_gate.contract import AnswerContract, Final
from sentence_gate.langchain import AnswerContractParser

DOCUMENTS = [Document("The AI club meets at 18:00 in room 204."), Document("The library opens at 9:00.")]
CONTRACT = AnswerContract(categories=("clubs",))
VALUE = {"status": "answered", "answer": "It meets at 18:00 [S1].", "category": "clubs", "items": [], "missing": [], "sources": []}


def chain(message: object, **more: object) -> object:
    return RunnableLambda(lambda _: message) | AnswerContractParser(contract=CONTRACT, **more)


@pytest.mark.parametrize(
    "message",
    [
        json.dumps(VALUE),
        AIMessage("```json\n" + json.dumps(VALUE) + "\n```", response_metadata={"finish_reason": "stop"}),
        AIMessage([{"type": "text", "text": json.dumps(VALUE)}]),
        AIMessage("<think>4711</think>" + json.dumps(VALUE)),
    ],
)
def test_a_message_becomes_the_object(message: object) -> None:
    assert chain(message, sources=DOCUMENTS).invoke("?")["answer"] == "It meets at 18:00."  # type: ignore[attr-defined]


def test_it_is_valid_whatever_came() -> None:
    finals: list[Final] = []
    for text, metadata, cause in (
        ("prose", {}, "invalid"),
        (json.dumps({**VALUE, "answer": "It meets at 19:00 [S1]."}), {}, "stopped"),
        (json.dumps(VALUE)[:70], {"finish_reason": "length"}, "truncated"),
    ):
        value = chain(AIMessage(text, response_metadata=metadata), sources=DOCUMENTS, on_final=finals.append).invoke("?")  # type: ignore[attr-defined]
        assert CONTRACT.validate(value) == ()
        assert "19:00" not in str(value)
        assert finals[-1].cause == cause


def test_sources_per_run() -> None:
    parser = AnswerContractParser(contract=CONTRACT)
    assert parser.for_request(DOCUMENTS).invoke(json.dumps(VALUE))["status"] == "answered"
    given = {"configurable": {"sentence_gate_sources": DOCUMENTS}}
    assert parser.invoke(json.dumps(VALUE), given)["status"] == "answered"  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no sources"):
        parser.invoke(json.dumps(VALUE))
    with pytest.raises(UsageError, match="AnswerContract"):
        AnswerContractParser(contract={})
    with pytest.raises(UsageError, match="a message or a text"):
        parser.for_request(DOCUMENTS).invoke(7)


def test_a_repair_is_asked_once() -> None:
    asked: list[str] = []

    def repair(text: str, faults: object) -> str:
        asked.append(text)
        return json.dumps(VALUE)

    assert chain("prose", sources=DOCUMENTS, repair=repair).invoke("?")["status"] == "answered"  # type: ignore[attr-defined]
    assert asked == ["prose"]


@pytest.mark.parametrize(("reasons", "status"), [(("STOP", "STOP"), "answered"), (("STOP", "MAX_TOKENS"), "needs_clarification")])
def test_a_reason_that_every_chunk_tells(reasons: tuple[str, ...], status: str) -> None:
    text = json.dumps(VALUE)
    told = [{"finish_reason": reason} for reason in reasons]
    merged = AIMessageChunk(text[:40], response_metadata=told[0]) + AIMessageChunk(text[40:], response_metadata=told[1])
    assert chain(merged, sources=DOCUMENTS).invoke("?")["status"] == status  # type: ignore[attr-defined]
