"""A scripted model, registered with NeMo as a provider, and configurations that use it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, ClassVar

from nemoguardrails import LLMRails, RailsConfig
from nemoguardrails.llm.providers import register_provider
from nemoguardrails.types import LLMResponse, LLMResponseChunk, UsageInfo

ROOT = Path(__file__).parents[3]
RAILS = str(ROOT / "rails" / "colang1")
RAILS_V2 = str(ROOT / "rails" / "colang2")

SOURCES = ["The reading room opens at 9:00. It has 120 seats.", "A yearly card costs 25 euros and is valid in 4 branches."]
GOOD = "The reading room opens at 9:00 [S1]. It has 120 seats [S1].\n\nA yearly card costs 25 euros [S2]."
CLEAN = "The reading room opens at 9:00. It has 120 seats.\n\nA yearly card costs 25 euros."
BAD = "The reading room opens at 9:00 [S1]. A yearly card costs 77 euros [S2]. It has 120 seats [S1]."
BEFORE = "The reading room opens at 9:00."
CANARY = "77 euros"
NOTICE = "STOPPED HERE."


class Script:
    """What the model says next, and what became of it."""

    def __init__(self, text: str = "", *, size: int = 3, reason: str | None = "stop", **more: Any) -> None:
        self.text, self.size, self.reason = text, size, reason
        self.reasoning: str | None = more.get("reasoning")
        self.error: Exception | None = more.get("error")
        self.stall_after: int | None = more.get("stall_after")  # code points
        self.barrier: asyncio.Event | None = more.get("barrier")
        self.barrier_at: int = more.get("barrier_at", 0)
        self.tools: list[Any] | None = more.get("tools")
        self.chunks: list[str] | None = more.get("chunks")
        self.sent = 0
        self.closed = False
        self.ended = False
        self.prompts: list[Any] = []

    def pieces(self) -> list[str]:
        if self.chunks is not None:
            return self.chunks
        size = self.size or max(1, len(self.text))
        return [self.text[at : at + size] for at in range(0, len(self.text), size)]


class ScriptedModel:
    """An LLMModel of NeMo's protocol. It says the scripts in order, the last one again and again."""

    def __init__(self, *scripts: Script | str) -> None:
        self.scripts = [script if isinstance(script, Script) else Script(script) for script in scripts]
        self.calls = 0
        self.live = 0
        self.prompts: list[Any] = []

    @property
    def model_name(self) -> str:
        return "scripted"

    @property
    def provider_name(self) -> str:
        return "scripted"

    @property
    def provider_url(self) -> None:
        return None

    def next(self, prompt: Any) -> Script:
        self.prompts.append(prompt)
        script = self.scripts[min(self.calls, len(self.scripts) - 1)]
        self.calls += 1
        return script

    async def generate_async(self, prompt: Any, *, stop: Any = None, **more: Any) -> LLMResponse:
        script = self.next(prompt)
        await asyncio.sleep(0)
        if script.error:
            raise script.error
        return LLMResponse(content=script.text, reasoning=script.reasoning, finish_reason=script.reason, tool_calls=script.tools)

    async def stream_async(self, prompt: Any, *, stop: Any = None, **more: Any) -> AsyncIterator[LLMResponseChunk]:
        script = self.next(prompt)
        self.live += 1
        said = 0
        try:
            if script.reasoning:
                yield LLMResponseChunk(delta_reasoning=script.reasoning)
            for piece in script.pieces():
                if script.barrier is not None and said >= script.barrier_at:
                    await script.barrier.wait()
                if script.stall_after is not None and said >= script.stall_after:
                    await asyncio.sleep(3600)
                await asyncio.sleep(0)
                script.sent += 1
                said += len(piece)
                yield LLMResponseChunk(delta_content=piece)
            if script.error:
                raise script.error
            if script.tools:
                yield LLMResponseChunk(delta_content="", delta_tool_calls=script.tools)
            yield LLMResponseChunk(
                delta_content="", finish_reason=script.reason, usage=UsageInfo(input_tokens=7, output_tokens=5, total_tokens=12)
            )
            script.ended = True
        finally:
            self.live -= 1
            script.closed = True


class SlowModel(ScriptedModel):
    """Doesn't answer a call without a stream; `ended` once it is given up."""

    ended = False

    async def generate_async(self, prompt: Any, *, stop: Any = None, **more: Any) -> Any:
        try:
            await asyncio.sleep(60)
        finally:
            self.ended = True


class Provider(ScriptedModel):
    """What NeMo makes from `engine: scripted`; the script is found by the model's name."""

    known: ClassVar[dict[str, list[Script | str]]] = {}

    def __init__(self, model: str | None = None, **more: Any) -> None:
        super().__init__(*self.known.get(model or "", [GOOD]))


register_provider("scripted", Provider)

YML = """
import_paths: [{path}]
rails:
  output:
    flows: [sentence gate]
    streaming: {{enabled: true}}
custom_data:
  sentence_gate: {{notices: {{stopped: "{notice}"}}}}
"""


def config(colang: str = "", *, yml: str | None = None, extra: str = "", path: str = RAILS) -> RailsConfig:
    return RailsConfig.from_content(colang_content=colang, yaml_content=(yml or YML).format(path=path, notice=NOTICE) + extra)


def rails(*scripts: Script | str, colang: str = "", yml: str | None = None, extra: str = "", **more: Any) -> LLMRails:
    return LLMRails(config(colang, yml=yml, extra=extra, **more), llm=ScriptedModel(*scripts))


def asked(text: str = "When does it open?", sources: Any = SOURCES, **context: Any) -> list[dict[str, Any]]:
    told = {"relevant_chunks_sep": sources} if sources is not None else {}
    return [{"role": "context", "content": {**told, **context}}, {"role": "user", "content": text}]


async def collect(stream: AsyncIterator[Any]) -> list[Any]:
    return [chunk async for chunk in stream]


def drive(coroutine: Any, seconds: float = 60) -> Any:
    """Runs a test's coroutine; no task may be left behind."""

    async def run() -> Any:
        result = await asyncio.wait_for(coroutine, seconds)
        for _ in range(20):
            await asyncio.sleep(0)
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert left == []
        return result

    return asyncio.run(run())


def payload(message: str = NOTICE) -> dict[str, Any]:
    return {"error": {"message": message, "type": "guardrails_violation", "param": "sentence gate", "code": "content_blocked"}}
