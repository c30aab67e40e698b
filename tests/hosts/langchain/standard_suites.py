"""LangChain's standard suites for chat models, over a scripted model and over the same model gated.

Not collected by itself: test_standard.py runs it in a pytest of its own and compares what the two pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from sentence_gate.langchain import GatedChatModel

SAID = "The sky is blue [S1]. It stays blue until the evening [S1]."


class SmartModel(BaseChatModel):
    """Answers with supported sentences; calls the first tool that it has, with arguments of the right types."""

    model_name: str = "smart"
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    stop: list[str] | None = None
    max_retries: int = 0
    api_key: str = "none"

    @property
    def _llm_type(self) -> str:
        return "smart"

    def bind_tools(self, tools: Any, *, tool_choice: Any = None, **kwargs: Any) -> Any:
        more = {} if tool_choice is None else {"tool_choice": tool_choice}
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **more, **kwargs)

    def _chunks(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> Iterator[ChatGenerationChunk]:
        tools = kwargs.get("tools") or []
        asked = str(messages[-1].content)
        name = kwargs.get("model") or self.model_name
        if tools and (kwargs.get("tool_choice") or (isinstance(messages[-1], HumanMessage) and wants_tool(asked))):
            function = tools[0]["function"]
            given = json.dumps({key: value_for(key, schema, asked) for key, schema in function["parameters"]["properties"].items()})
            for args in (given[:5], given[5:]):
                call = {
                    "name": function["name"] if args == given[:5] else None,
                    "args": args,
                    "id": "call_1" if args == given[:5] else None,
                }
                message = AIMessageChunk(content="", tool_call_chunks=[{**call, "index": 0, "type": "tool_call_chunk"}])
                yield ChatGenerationChunk(message=message)
        else:
            for at in range(0, len(SAID), 5):
                yield ChatGenerationChunk(message=AIMessageChunk(content=SAID[at : at + 5]))
        usage = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
        told = {"model_name": name, "finish_reason": "stop"}
        yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=usage, response_metadata=told, chunk_position="last"))

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, kwargs):
            if run_manager:
                run_manager.on_llm_new_token(str(chunk.message.content), chunk=chunk)
            yield chunk

    async def _astream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, kwargs):
            if run_manager:
                await run_manager.on_llm_new_token(str(chunk.message.content), chunk=chunk)
            yield chunk

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return generate_from_stream(self._chunks(messages, kwargs))

    def _get_ls_params(self, stop: Any = None, **kwargs: Any) -> Any:
        return {**super()._get_ls_params(stop=stop, **kwargs), "ls_provider": "smart"}


def wants_tool(asked: str) -> bool:
    return any(word in asked.lower() for word in ("magic", "weather", "tool", "joke", "add", "function"))


def value_for(name: str, schema: dict[str, Any], asked: str) -> Any:
    numbers = re.findall(r"\d+", asked)
    match schema.get("type"):
        case "integer" | "number":
            return int(numbers[0]) if numbers else 3
        case "array":
            return []
        case "object":
            return {}
        case "boolean":
            return True
    quoted = re.findall(r"'([^']+)'", asked)
    return "San Francisco" if "location" in name else quoted[0] if quoted else "why"


class Settings:
    """What the model can do."""

    @property
    def has_tool_choice(self) -> bool:
        return True

    @property
    def supports_model_override(self) -> bool:
        return True

    @property
    def model_override_value(self) -> str | None:
        return "smarter"


class Bare(Settings):
    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return SmartModel


class Gated(Settings):
    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return GatedChatModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"llm": SmartModel(temperature=0, max_tokens=100), "sources": ["The sky is blue until the evening."]}


class TestBareUnit(Bare, ChatModelUnitTests):
    pass


class TestGatedUnit(Gated, ChatModelUnitTests):
    pass


class TestBareIntegration(Bare, ChatModelIntegrationTests):
    pass


class TestGatedIntegration(Gated, ChatModelIntegrationTests):
    pass
