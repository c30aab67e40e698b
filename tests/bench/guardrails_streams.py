"""Cost of Guardrails streams: a gated guard beside the stock sentence chunker, in one run.

    python tests/bench/guardrails_streams.py            # some minutes, most of them the stock chunker's
    python tests/bench/guardrails_streams.py --quick    # answers of 1,000 and 10,000 characters

Pieces of 4 characters, CPU microseconds a piece. "stock" is a validator that passes everything, chunked by Guardrails. Two answers: one
sentence every 100 characters, and no sentence end at all. Figures of a busy machine are noisy; ratios of one run are what counts. Nothing
here can fail.
"""

# ruff: noqa: T201
from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HOME = tempfile.mkdtemp(prefix="sentence-gate-bench-")
Path(HOME, ".guardrailsrc").write_text("enable_metrics=false\nuse_remote_inferencing=false\n", encoding="utf-8")
os.environ.update(HOME=HOME, OTEL_SDK_DISABLED="true", LITELLM_LOCAL_MODEL_COST_MAP="True")
warnings.simplefilter("ignore")

from guardrails import AsyncGuard, Guard  # noqa: E402 - after the environment
from guardrails.validator_base import PassResult, Validator, register_validator  # noqa: E402

from guardrails_ai.sentence_gate import AsyncGatedGuard, GatedGuard, SentenceGate  # noqa: E402

SENTENCE = "The reading room on the second floor opens at 9:30 on weekdays and closes in the late evening [S1]. "
METADATA = {"sources": ["The reading room on the second floor opens at 9:30 on weekdays."]}
MESSAGES = [{"role": "user", "content": "?"}]
SIZE = 4


@register_validator(name="bench/stock", data_type="string")
class Stock(Validator):
    """Passes everything."""

    def _validate(self, value: Any, metadata: Any) -> PassResult:
        return PassResult()


def cpu_of(guard: Any, text: str) -> float:
    """CPU seconds of one stream, read to its end."""
    parts = [text[at : at + SIZE] for at in range(0, len(text), SIZE)]

    def llm(*_: Any, messages: Any = None, **__: Any) -> Iterator[str]:
        return iter(parts)

    class Response:
        @property
        def completion_stream(self) -> Any:
            async def each() -> Any:
                for part in parts:
                    yield part

            return each()

    async def allm(*_: Any, messages: Any = None, **__: Any) -> Response:
        return Response()

    async def main() -> None:
        async for _ in await guard(allm, messages=MESSAGES, metadata=METADATA, stream=True):
            pass

    started = time.process_time()
    if isinstance(guard, AsyncGuard):
        asyncio.run(main())
    else:
        for _ in guard(llm, messages=MESSAGES, metadata=METADATA, stream=True):
            pass
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="no answer of 100,000 characters")
    lengths = (1_000, 10_000) if parser.parse_args().quick else (1_000, 10_000, 100_000)
    guards: dict[str, Any] = {
        "GatedGuard": lambda: GatedGuard().use(SentenceGate(on_fail="noop", on_violation="observe")),
        "AsyncGatedGuard": lambda: AsyncGatedGuard().use(SentenceGate(on_fail="noop", on_violation="observe")),
        "stock Guard": lambda: Guard().use(Stock(on_fail="noop")),
        "stock AsyncGuard": lambda: AsyncGuard().use(Stock(on_fail="noop")),
    }
    for make in guards.values():
        cpu_of(make(), SENTENCE)  # imports
    for name, seed in {"a sentence every 100 characters": SENTENCE, "no sentence end": "word and "}.items():
        print(f"{name}: CPU microseconds a piece of {SIZE} characters")
        for label, make in guards.items():
            figures = []
            for length in lengths:
                text = (seed * (length // len(seed) + 1))[:length]
                spent = min(cpu_of(make(), text) for _ in range(3 if length <= 10_000 else 1))
                figures.append(f"{length:>7,}: {spent / (length / SIZE) * 1e6:8.1f}")
            print(f"  {label:18}" + "   ".join(figures), flush=True)


if __name__ == "__main__":
    main()
