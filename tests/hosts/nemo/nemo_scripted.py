"""A model that says what a script has, and an LLMRails instance around it, as a user builds one."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any

from nemoguardrails import LLMRails, RailsConfig
from nemoguardrails.types import LLMResponse, LLMResponseChunk

SOURCES = ["The library opens at 9:00. A card costs 5 euros.", "The café closes at six."]
GOOD = "The library opens at 9:00 [S1]. A card costs 5 euros [S1]. The café closes at 6 [S2]."
GOOD_SHOWN = "The library opens at 9:00. A card costs 5 euros. The café closes at 6."
BAD = "The library opens at 9:00 [S1]. A card costs 7 euros [S1]. Nobody reads this sentence any more, and it goes on [S1]."
BAD_SHOWN = "The library opens at 9:00."
NOTICE = "The rest of this answer was withheld because it is not supported by the sources."

YML = """
import_paths: [sentence_gate/rails]
rails:
  output:
    flows: [sentence gate]
    streaming: {enabled: true}
"""


class Scripted:
    """A model of NeMo's own protocol. It counts what it sent and how often its stream was closed; `stall` is where it falls silent."""

    model_name = "scripted"
    provider_name = "scripted"
    provider_url = None

    def __init__(
        self, text: str, size: int = 3, reason: str | None = "stop", stall: int | None = None, fails: int | None = None, reasoning: str = ""
    ) -> None:
        self.texts, self.size, self.reason, self.stall, self.fails, self.reasoning = [text], size, reason, stall, fails, reasoning
        self.sent = self.closed = self.opened = 0
        self.prompts: list[str] = []
        self.allowed: asyncio.Semaphore | None = None  # a barrier: one piece for each permit

    def next(self, prompt: Any) -> str:
        self.prompts.append(prompt if isinstance(prompt, str) else "\n".join(str(message.content) for message in prompt))
        return self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]

    async def generate_async(self, prompt: Any, *, stop: Any = None, **more: Any) -> LLMResponse:
        text = self.next(prompt)
        if self.fails is not None:
            raise ConnectionError("upstream died after 4711")
        return LLMResponse(content=text, finish_reason=self.reason, reasoning=self.reasoning or None)

    async def stream_async(self, prompt: Any, *, stop: Any = None, **more: Any) -> AsyncIterator[LLMResponseChunk]:
        text = self.next(prompt)
        self.opened += 1
        size = self.size or len(text) or 1
        try:
            if self.reasoning:
                yield LLMResponseChunk(delta_reasoning=self.reasoning)
            for at in range(0, len(text), size):
                if self.allowed is not None:
                    await self.allowed.acquire()
                if self.stall is not None and at >= self.stall:
                    await asyncio.sleep(60)
                if self.fails is not None and at >= self.fails:
                    raise ConnectionError("upstream died after 4711")
                await asyncio.sleep(0)
                self.sent += 1
                yield LLMResponseChunk(delta_content=text[at : at + size])
            if self.reason:
                yield LLMResponseChunk(delta_content="", finish_reason=self.reason)
        finally:
            self.closed += 1


@functools.cache
def config(yml: str = YML, colang: str = "") -> RailsConfig:
    return RailsConfig.from_content(colang_content=colang, yaml_content=yml)


def rails(text: str = GOOD, yml: str = YML, colang: str = "", **script: Any) -> tuple[LLMRails, Scripted]:
    model = Scripted(text, **script)
    return LLMRails(config(yml, colang).model_copy(deep=True), llm=model), model


def messages(sources: Sequence[str] | None = SOURCES, question: str = "When does it open?") -> list[dict[str, Any]]:
    given = [{"role": "context", "content": {"relevant_chunks_sep": list(sources)}}] if sources is not None else []
    return [*given, {"role": "user", "content": question}]


async def collect(stream: AsyncIterator[Any]) -> list[str]:
    return [chunk async for chunk in stream]


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Runs to the end within two seconds a step, and leaves no task behind."""

    async def watched() -> Any:
        result = await asyncio.wait_for(work, 20)
        await asyncio.sleep(0.02)
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert not left, left
        return result

    return asyncio.run(watched())


def parts(chunks: Sequence[str]) -> tuple[str, list[str]]:
    """The text of a stream, and its payloads."""
    payloads = [chunk for chunk in chunks if chunk.startswith('{"error"')]
    return "".join(chunk for chunk in chunks if chunk not in payloads), payloads
