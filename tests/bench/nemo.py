"""Time to the first sentence and cost a token, against NeMo's own rail loop with a trivial rail, same stream, same run.

    python tests/bench/nemo.py [--quick]

Three instances of NeMo with one scripted model: no output rail, a rail that allows everything (NeMo's loop, stream_first off, its default
window of 200 tokens), and the sentence gate. The model sends a token each 5 ms for the time to the first sentence, and without a pause for
the cost. Figures of a busy machine are noisy; ratios of one run are what counts. Nothing here can fail.
"""

# ruff: noqa: T201
from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import AsyncIterator
from typing import Any

os.environ.setdefault("NEMO_GUARDRAILS_NO_USAGE_STATS", "1")

from nemoguardrails import LLMRails, RailsConfig
from nemoguardrails.actions.rail_outcome import RailOutcome
from nemoguardrails.types import LLMResponse, LLMResponseChunk

SOURCE = ["The reading room opens at 9:30 and seats 48 readers. A yearly card costs 24 euros."]
SENTENCE = "The reading room opens at 9:30 in the morning and seats 48 readers [S1]. "
TRIVIAL = """
define subflow trivial rail
  $seen = execute trivial(text=$bot_message)
  if $seen.is_blocked
    stop
"""
STREAMING = "    streaming: {enabled: true, stream_first: false}\n"
WAYS = {
    "no output rail": ("models: []\n", ""),
    "NeMo's loop, a trivial rail": (f"rails:\n  output:\n    flows: [trivial rail]\n{STREAMING}", TRIVIAL),
    "sentence gate": (f"import_paths: [sentence_gate/rails]\nrails:\n  output:\n    flows: [sentence gate]\n{STREAMING}", ""),
}


class Model:
    model_name = "scripted"
    provider_name = "scripted"
    provider_url = None

    def __init__(self, sentences: int, pause: float) -> None:
        text = SENTENCE * sentences
        self.tokens, self.pause = [text[at : at + 4] for at in range(0, len(text), 4)], pause

    async def generate_async(self, prompt: Any, **_: Any) -> LLMResponse:
        return LLMResponse(content="".join(self.tokens), finish_reason="stop")

    async def stream_async(self, prompt: Any, **_: Any) -> AsyncIterator[LLMResponseChunk]:
        for token in self.tokens:
            await asyncio.sleep(self.pause)
            yield LLMResponseChunk(delta_content=token)
        yield LLMResponseChunk(delta_content="", finish_reason="stop")


async def trivial(text: str = "", **_: Any) -> RailOutcome:
    return RailOutcome.allow()


def build(way: str, model: Model) -> LLMRails:
    yml, colang = WAYS[way]
    app = LLMRails(RailsConfig.from_content(colang_content=colang, yaml_content=yml), llm=model)
    app.register_action(trivial, "trivial")
    return app


async def first_and_all(app: LLMRails) -> tuple[float, float]:
    started, cpu, first = time.perf_counter(), time.process_time(), 0.0
    messages = [{"role": "context", "content": {"relevant_chunks_sep": SOURCE}}, {"role": "user", "content": "When?"}]
    async for _ in app.stream_async(messages=messages):
        first = first or time.perf_counter() - started
    return first, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round")
    rounds = 1 if parser.parse_args().quick else 5
    slow, fast = Model(20, 0.005), Model(100, 0)
    complete = len(SENTENCE) / 4 * 0.005
    print(
        f"{'':<30}{'first text, ms':>16}{'CPU a token, us':>18}     (the first sentence is complete after about {complete * 1000:.0f} ms)"
    )
    for way in WAYS:
        asyncio.run(first_and_all(build(way, Model(2, 0))))  # what is loaded once is no cost of a token
        firsts = [asyncio.run(first_and_all(build(way, slow)))[0] for _ in range(rounds)]
        costs = [asyncio.run(first_and_all(build(way, fast)))[1] / len(fast.tokens) for _ in range(rounds)]
        print(f"{way:<30}{statistics.median(firsts) * 1000:>16.0f}{statistics.median(costs) * 1e6:>18.0f}")


if __name__ == "__main__":
    main()
