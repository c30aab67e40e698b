"""Models for the examples: no account, no network. A script says what the model says, turn by turn.

`model_for("scripted", …)` is a chat model of LangChain that reads the script itself. `model_for("openai", …)` and `("anthropic", …)` are
the real `ChatOpenAI` and `ChatAnthropic`, talking to a server on this machine that speaks their protocol.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, ToolMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool

PROVIDERS = ("scripted", "openai", "anthropic")


@dataclass(frozen=True)
class Turn:
    """What the model says in one turn, and the tool that it calls then, if any."""

    text: str
    tool: str = ""
    arguments: str = ""

    def words(self) -> list[str]:
        return re.findall(r"\s*\S+", self.text)


class ScriptedModel(BaseChatModel):
    """Says the turn that is due: as many tools as answered, that far is the script."""

    turns: list[Turn]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        kwargs = {key: value for key, value in kwargs.items() if value is not None}
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        turn = self.turns[sum(isinstance(message, ToolMessage) for message in messages)]
        for word in turn.words():
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        if turn.tool:
            call = {"name": turn.tool, "args": turn.arguments, "id": "call_1", "index": 0, "type": "tool_call_chunk"}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        raise NotImplementedError("a scripted model only streams")


@contextmanager
def model_for(provider: str, *turns: Turn) -> Iterator[BaseChatModel]:
    """A chat model that says these turns."""
    if provider == "scripted":
        yield ScriptedModel(turns=list(turns))
        return
    with _server(turns) as url:
        if provider == "openai":
            from langchain_openai import ChatOpenAI

            yield ChatOpenAI(model="gpt-scripted", base_url=f"{url}/v1", api_key="none", stream_usage=True, max_retries=0)
        else:
            from langchain_anthropic import ChatAnthropic

            yield ChatAnthropic(model="claude-scripted", base_url=url, api_key="none", max_retries=0)


@contextmanager
def _server(turns: tuple[Turn, ...]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            sent = json.dumps(body["messages"])
            turn = turns[sent.count('"tool_call_id"') + sent.count('"tool_use_id"')]
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            try:
                for event in _anthropic(turn) if "anthropic-version" in self.headers else _openai(turn):
                    self.wfile.write(event.encode())
                    self.wfile.flush()
            except OSError:
                pass  # the client left: the gate closed its stream

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _openai(turn: Turn) -> Iterator[str]:
    def event(delta: dict[str, Any], reason: str | None = None) -> str:
        choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
        body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-scripted", "choices": choices}
        return f"data: {json.dumps(body)}\n\n"

    for word in turn.words():
        yield event({"content": word})
    if turn.tool:
        function = {"name": turn.tool, "arguments": turn.arguments}
        yield event({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
    yield event({}, "tool_calls" if turn.tool else "stop")
    yield "data: [DONE]\n\n"


def _anthropic(turn: Turn) -> Iterator[str]:
    def event(kind: str, **body: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **body})}\n\n"

    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "claude-scripted", "usage": usage}
    yield event("message_start", message={**message, "stop_reason": None, "stop_sequence": None})
    yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for word in turn.words():
        yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
    yield event("content_block_stop", index=0)
    if turn.tool:
        yield event("content_block_start", index=1, content_block={"type": "tool_use", "id": "toolu_1", "name": turn.tool, "input": {}})
        yield event("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": turn.arguments})
        yield event("content_block_stop", index=1)
    reason = "tool_use" if turn.tool else "end_turn"
    yield event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 9})
    yield event("message_stop")
