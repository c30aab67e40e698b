"""A chat model that says what a script says, piece by piece, and remembers how it was left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

CANARY = "☃"  # one code point: no cutting can hide it
SOURCES = ["The pool opens at eight."]
GOOD = "The pool opens at eight [S1]."
BAD = f"Lockers cost 45 {CANARY} since May [S1]."
TEXT = f"{GOOD} {BAD} The end is near [S1]."
SHOWN = "The pool opens at eight."
NOTICE = "The rest of this answer was withheld because it is not supported by the sources."
STOPPED = f"{SHOWN}\n\n{NOTICE}"


def pieces(text: str = TEXT, size: int = 3) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def shows_canary(*found: object) -> bool:
    """Whether the canary is in the repr of anything, escaped or not."""
    return any(CANARY in shown or "\\u2603" in shown for shown in map(repr, found))


class Log(list[str]):
    """How each stream was left: "exhausted 29", "GeneratorExit 21" (after how many pieces), …"""


class ScriptedModel(BaseChatModel):
    """Says `script`: a str is a piece of text, a dict the arguments of a chunk, an exception is raised.

    With `turns` the script is chosen by the number of tool messages in the prompt. `log` tells how each stream was left.
    """

    script: list[Any] = Field(default_factory=pieces, repr=False)  # a start event holds the repr of the model
    turns: list[list[Any]] = Field(default_factory=list, repr=False)
    log: Any = Field(default_factory=Log)
    calls: list[Any] = Field(default_factory=list, repr=False)
    pause: float = 0.0
    model_name: str = "scripted"
    n: int = 1

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, *, tool_choice: Any = None, **kwargs: Any) -> Any:
        more = {} if tool_choice is None else {"tool_choice": tool_choice}
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **more, **kwargs)

    def _said(self, messages: list[BaseMessage], kwargs: dict[str, Any], stop: Any = None) -> list[Any]:
        self.calls.append({"messages": messages, "stop": stop, **kwargs})
        if not self.turns:
            return self.script
        return self.turns[min(sum(isinstance(message, ToolMessage) for message in messages), len(self.turns) - 1)]

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        generations = []
        for _ in range(kwargs.get("n", self.n)):
            whole = AIMessageChunk(content="")
            for piece in self._said(messages, kwargs, stop):
                whole += chunk(piece)
            message = AIMessage(
                content=whole.content,
                tool_calls=whole.tool_calls,
                usage_metadata=whole.usage_metadata,
                response_metadata=whole.response_metadata,
                additional_kwargs=whole.additional_kwargs,
            )
            generations.append(ChatGeneration(message=message))
        self.log.append("generated")
        return ChatResult(generations=generations)

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        count = 0
        try:
            for piece in self._said(messages, kwargs, stop):
                count += 1
                said = ChatGenerationChunk(message=chunk(piece))
                if run_manager:  # as partner packages do
                    run_manager.on_llm_new_token(str(said.message.content), chunk=said)
                yield said
            self.log.append(f"exhausted {count}")
        except BaseException as error:
            self.log.append(f"{type(error).__name__} {count}")
            raise


class AsyncScriptedModel(ScriptedModel):
    """The same with an asynchronous stream of its own."""

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        count = 0
        try:
            for piece in self._said(messages, kwargs, stop):
                count += 1
                await asyncio.sleep(self.pause)
                said = ChatGenerationChunk(message=chunk(piece))
                if run_manager:
                    await run_manager.on_llm_new_token(str(said.message.content), chunk=said)
                yield said
            self.log.append(f"exhausted {count}")
        except BaseException as error:
            self.log.append(f"{type(error).__name__} {count}")
            raise


class WholeModel(ScriptedModel):
    """The same without a stream."""

    _stream = BaseChatModel._stream


def chunk(piece: Any) -> AIMessageChunk:
    if isinstance(piece, BaseException):
        raise piece
    return AIMessageChunk(content=piece) if isinstance(piece, str) else AIMessageChunk(**{"content": "", **piece})


def call(name: str = "look_up", args: str = '{"what": "lockers"}', identity: str = "call_1") -> dict[str, Any]:
    """A piece that calls a tool."""
    return {"tool_call_chunks": [{"name": name, "args": args, "id": identity, "index": 0, "type": "tool_call_chunk"}]}
