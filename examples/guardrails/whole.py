"""Answers that are not streamed: a call, a text that is there already, and a field of a structured answer. The model is scripted."""

import asyncio
import json
from typing import Any

from pydantic import BaseModel, Field

from guardrails_ai.sentence_gate import AsyncGatedGuard, GatedGuard, SentenceGate

METADATA = {"sources": {"leaflet": "The pool opens at eight. A locker costs 40 cents."}}
GOOD = "The pool opens at 8 [S1]. A locker costs 40 cents [S1]."
BAD = "The pool opens at 8 [S1]. A locker costs 45 cents [S1]."


async def model(*_: Any, messages: Any, **__: Any) -> str:
    return BAD


class Card(BaseModel):
    answer: str = Field(json_schema_extra={"validators": [SentenceGate(on_fail="fix")]})
    page: int


guard = GatedGuard().use(SentenceGate(on_fail="noop"))
for text in (GOOD, BAD):
    outcome = guard.validate(text, metadata=METADATA)
    print(outcome.validation_passed, outcome.validated_output, [summary.failure_reason for summary in outcome.validation_summaries or []])

called = asyncio.run(
    AsyncGatedGuard().use(SentenceGate(on_fail="fix"))(model, messages=[{"role": "user", "content": "?"}], metadata=METADATA)
)
print(called.validated_output)

card = GatedGuard.for_pydantic(Card).parse(json.dumps({"answer": BAD, "page": 3}), metadata=METADATA)
print(card.validated_output)
