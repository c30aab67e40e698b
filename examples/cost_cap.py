"""A monthly cost cap that counts what was generated, not what was shown.

A reader who leaves, an answer that the gate stopped, one that was cut: all of them were generated and will be billed. Every attempt is
written down before its request, with what it used when it ended, however it ended; one whose use is not known yet (it runs, or its process
died) counts with all it may use. Before a request the sum of the month, and the most that the request may cost, must fit under the cap.
"""

import datetime as dt
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sentence_gate import Released, SentenceGate
from sentence_gate.attempts import Attempt, Attempts
from sentence_gate.limits import Limits
from sentence_gate.store import SqliteStore
from sentence_gate.streams import read_answer

SOURCES = ["The pool opens at eight. A locker costs 40 cents."]
CAP = 2_500  # micro-dollars a month: small, so that the example reaches it
INPUT_PRICE, OUTPUT_PRICE = 1, 4  # micro-dollars a token, from your provider's price list
MOST_INPUT, MOST_OUTPUT = 100, 200  # tokens: the length of your prompt, and the max_tokens that you send

ANSWERS: list[list[tuple[str, str | None, tuple[int, int] | None]]] = [  # (text, finish_reason, reported usage)
    [("The pool opens at eight [S1].", None, None), ("", "stop", (80, 60))],
    [("The pool opens at eight [S1]. A locker costs 45 cents [S1]. And ", None, None), ("so on and so on", "stop", (80, 190))],
    [("The pool opens at eight [S1]. ", None, None), ("A locker costs 40 cents [S1]. ", None, None), ("More", "stop", (80, 90))],
    [("The pool opens at eight [S1]. A locker", "length", (80, 200))],
    [("The pool opens at eight [S1].", "stop", (80, 60))],
]
LEAVES = {2}  # the reader of the third answer leaves after the first sentence


def model(number: int) -> Iterator[Mapping[str, Any]]:
    """A stand-in for your client's stream, with usage where the provider reports it: at the end, if it comes to that."""
    for text, reason, usage in ANSWERS[number]:
        chunk: dict[str, Any] = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]}
        if usage:
            chunk["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
        yield chunk


def cost(attempt: Attempt) -> int:
    """What an attempt costs, at the most where nobody knows."""
    usage = attempt.usage
    if usage.kind == "unknown":
        return MOST_INPUT * INPUT_PRICE + MOST_OUTPUT * OUTPUT_PRICE
    # A provider that was closed early reports nothing: the output is counted from the bytes that arrived, which errs upwards; the input
    # with its most.
    tokens = MOST_INPUT if usage.input_tokens is None else usage.input_tokens
    return tokens * INPUT_PRICE + (usage.output_tokens or 0) * OUTPUT_PRICE


def spent(store: SqliteStore, today: dt.date) -> int:
    """What the month's attempts cost so far."""
    month = dt.datetime(today.year, today.month, 1, tzinfo=dt.UTC).timestamp()
    return sum(cost(attempt) for attempt in store.attempts(since=month))


def ask(store: SqliteStore, number: int, now: dt.datetime) -> str:
    """One request, counted in every case."""
    left = CAP - spent(store, now.date())
    if left < MOST_INPUT * INPUT_PRICE + MOST_OUTPUT * OUTPUT_PRICE:
        return "not asked: the month's budget may not last"
    attempts, gate, name, seconds = Attempts(store), SentenceGate(SOURCES), f"attempt-{number}", now.timestamp()
    attempts.start(f"request-{number}", name, seconds)
    events = read_answer(model(number), "openai_chat", gate, limits=Limits(answer_bytes=100_000))
    try:
        for event in events:
            attempts.take(name, event, seconds)
            if number in LEAVES and isinstance(event, Released):
                break
    finally:  # the reader left, or an exception came: what arrived was generated all the same
        events.close()
        if gate.report.status == "cancelled":
            attempts.cancel(name, seconds, report=gate.report)
    return "accepted" if attempts.promote(name, seconds) else f"no answer: {attempts.get(name).reason}"


def main() -> None:
    now = dt.datetime(2026, 5, 20, 12, tzinfo=dt.UTC)
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()) / "attempts.db"
    with SqliteStore(path) as store:
        for number in range(len(ANSWERS)):
            result = ask(store, number, now)
            print(f"request {number + 1}: {result:45} spent this month: {spent(store, now.date()):5} of {CAP}")
        for attempt in store.attempts():
            print(f"{attempt.id}: {attempt.usage.output_tokens} output tokens, {attempt.usage.kind}")


main()
