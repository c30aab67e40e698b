"""What the gated model costs per token, against the stream of the bare model.

    python tests/bench/langchain.py            # half a minute
    python tests/bench/langchain.py --quick    # fewer rounds

The model is scripted and takes no time of its own, so the bare stream is what LangChain itself costs per token. The core alone, fed the
same pieces, tells how much of the difference is the judging and how much the host. Figures of a busy machine are noisy; ratios of one run
are what counts. Nothing here can fail.
"""

# ruff: noqa: T201
from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.remove(str(Path(__file__).parent))  # where this file would be the package `langchain`

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.version import VERSION

from sentence_gate import SentenceGate, Sources
from sentence_gate.langchain import GatedChatModel, SentenceGateRunnable

SENTENCES = 100
SAID = [
    f"The reading room on floor {number} opens at 8:30 and closes at 18:15 on weekdays, as the rules of 3 March 2024 say [S{number}]. "
    for number in range(1, SENTENCES + 1)
]
SOURCES = Sources([said[: said.index(" [S")] + "." for said in SAID])


class Said(BaseChatModel):
    """Says everything, four characters at a time: about a token."""

    pieces: list[str]

    @property
    def _llm_type(self) -> str:
        return "said"

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        for piece in self.pieces:
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))

    async def _astream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        for piece in self.pieces:
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage("".join(self.pieces)))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true")
    rounds = 3 if parser.parse_args().quick else 9
    text = "".join(SAID)
    pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
    model = Said(pieces=pieces)
    gate = GatedChatModel(model, sources=SOURCES)
    pipe = model | SentenceGateRunnable(sources=SOURCES)
    assert gate.invoke("?").response_metadata["sentence_gate"]["status"] == "accepted"

    def core() -> None:
        one = SentenceGate(SOURCES)
        for piece in pieces:
            one.feed(piece)
        one.finish()

    async def read(stream: AsyncIterator[Any]) -> None:
        async for _ in stream:
            pass

    ways: dict[str, Callable[[], Any]] = {
        "json.loads of a provider's chunk": lambda: [json.loads(CHUNK) for _ in pieces],
        "the core alone": core,
        "the bare model, stream": lambda: list(model.stream("?")),
        "GatedChatModel, stream": lambda: list(gate.stream("?")),
        "model | SentenceGateRunnable, stream": lambda: list(pipe.stream("?")),
        "the bare model, astream": lambda: asyncio.run(read(model.astream("?"))),
        "GatedChatModel, astream": lambda: asyncio.run(read(gate.astream("?"))),
        "GatedChatModel, invoke": lambda: gate.invoke("?"),
    }
    print(f"langchain-core {VERSION}, Python {sys.version.split()[0]}, {len(pieces)} pieces of 4 characters, {SENTENCES} sentences")
    taken = {name: measured(run, rounds) / len(pieces) for name, run in ways.items()}
    for name, seconds in taken.items():
        print(f"{name:38} {seconds * 1e6:8.1f} us a piece")
    for name in ("stream", "astream"):
        print(f"GatedChatModel against the bare model, {name}: {taken[f'GatedChatModel, {name}'] / taken[f'the bare model, {name}']:.2f}")


CHUNK = json.dumps(
    {
        "id": "chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012",
        "object": "chat.completion.chunk",
        "created": 1764547200,
        "model": "gpt-4o-mini-2024-07-18",
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
        "choices": [{"index": 0, "delta": {"content": "open"}, "logprobs": None, "finish_reason": None}],
        "usage": None,
    }
)


def measured(run: Callable[[], Any], rounds: int) -> float:
    """Median seconds of a run."""
    run()
    taken = []
    for _ in range(rounds):
        gc.collect()
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
