"""A streamed answer through a gated guard. The model is scripted; put your own callable, or `model="..."`, in its place."""

from collections.abc import Iterator
from typing import Any

from guardrails.errors import ValidationError

from guardrails_ai.sentence_gate import GatedGuard, SentenceGate

SOURCES = ["The pool opens at eight. A locker costs 40 cents."]
ANSWER = "The pool opens at 8 [S1]. A locker costs 45 cents [S1]. Towels are free [S1]."


def model(*_: Any, messages: Any, **__: Any) -> Iterator[str]:
    try:
        for start in range(0, len(ANSWER), 4):
            yield ANSWER[start : start + 4]
    finally:
        print("\n(the model's stream is closed)")


MESSAGES = [{"role": "user", "content": "When does the pool open, and what is a locker?"}]

for on_fail in ("fix", "exception"):
    guard = GatedGuard().use(SentenceGate(on_fail=on_fail))
    try:
        for outcome in guard(model, messages=MESSAGES, metadata={"sources": SOURCES}, stream=True):
            print(outcome.validated_output, end="", flush=True)
        print(f"\n(passed: {outcome.validation_passed})\n")
    except ValidationError as error:
        print(f"({error})")
