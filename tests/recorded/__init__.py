"""One good stream of every protocol, as its own documentation and SDK types show it, and how to turn it into bytes."""

from __future__ import annotations

import json
import struct
from binascii import crc32
from dataclasses import dataclass, replace
from typing import Any

TEXT = "It opens at eight [S1]. The café ☕ closes at six [S2]. Bring a towel."
PIECES = ("It opens at ", "eight [S1]. The ca", "fé ☕ closes", " at six [S2]. Br", "ing a towel.")
SOURCES = ["The pool opens at eight.", "The café ☕ closes at six."]
MODEL = {"id": "c-1", "created": 1, "model": "m"}


@dataclass(frozen=True)
class Script:
    """Payloads of one stream; `terminal` is the index of the payload that is the evidence."""

    provider: str
    payloads: tuple[Any, ...]
    terminal: int
    framing: str = "sse"
    named: bool = False  # events carry their type as the event's name
    usage: tuple[int | None, int | None] = (11, 22)

    def frames(self, newline: str = "\n") -> list[bytes]:
        """One chunk of bytes a payload."""
        return [frame(payload, self.framing, newline, named=self.named) for payload in self.payloads]

    def body(self, newline: str = "\n") -> bytes:
        return b"".join(self.frames(newline))

    def evident(self, newline: str = "\n") -> int:
        """The length of the body at which the evidence is complete."""
        return len(b"".join(self.frames(newline)[: self.terminal + 1]))

    def without_terminal(self) -> Script:
        return replace(self, payloads=self.payloads[: self.terminal] + self.payloads[self.terminal + 1 :], terminal=-1)


def frame(payload: Any, framing: str, newline: str = "\n", *, named: bool = False) -> bytes:
    """A payload as bytes; a str is taken as it is (a marker, a comment)."""
    if framing == "eventstream":
        return event_frame(payload)
    if isinstance(payload, str):
        return payload.replace("\n", newline).encode()
    data = json.dumps(payload, ensure_ascii=False)
    if framing == "ndjson":
        return (data + newline).encode()
    name = f"event: {payload['type']}{newline}" if named else ""
    return f"{name}data: {data}{newline}{newline}".encode()


def event_frame(payload: dict[str, Any]) -> bytes:
    """A frame of application/vnd.amazon.eventstream: prelude, checksum, string headers, body, checksum."""
    ((name, body),) = payload.items()
    kind = "exception" if name.endswith("Exception") else "event"
    fields = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    headers = b"".join(
        bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode() for key, value in fields.items()
    )
    data = json.dumps(body, ensure_ascii=False).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(data), len(headers))
    start = prelude + struct.pack(">I", crc32(prelude)) + headers + data
    return start + struct.pack(">I", crc32(start))


DONE = "data: [DONE]\n\n"


def chat(**choice: Any) -> dict[str, Any]:
    """A chunk of Chat Completions."""
    return {**MODEL, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": None, **choice}]}


def said(text: Any, **more: Any) -> dict[str, Any]:
    """A chunk of Chat Completions with text."""
    return chat(delta={"content": text, **more})


CHAT_USAGE = {
    **MODEL,
    "object": "chat.completion.chunk",
    "choices": [],
    "usage": {"prompt_tokens": 11, "completion_tokens": 22, "total_tokens": 33, "completion_tokens_details": {"reasoning_tokens": 4}},
}


def response(status: str, **more: Any) -> dict[str, Any]:
    """A response object of the Responses API."""
    return {
        "id": "r-1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "output": [
            {"id": "i-1", "type": "message", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": TEXT, "annotations": []}]}
        ],
        "usage": {"input_tokens": 11, "output_tokens": 22, "total_tokens": 33, "output_tokens_details": {"reasoning_tokens": 0}},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **more,
    }  # fmt: skip


def _response_text(at: int, text: str) -> dict[str, Any]:
    return {
        "type": "response.output_text.delta", "item_id": "i-1", "output_index": 0, "content_index": 0, "delta": text, "logprobs": [],
        "sequence_number": at,
    }  # fmt: skip


def _gemini(text: str, **candidate: Any) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": 0, **candidate}],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 18, "thoughtsTokenCount": 4, "totalTokenCount": 33},
    }


SCRIPTS: dict[str, Script] = {
    script.provider: script
    for script in (
        Script(
            "openai_chat",
            (
                chat(delta={"role": "assistant", "content": ""}),
                *map(said, PIECES),
                chat(finish_reason="stop"),
                CHAT_USAGE,
                DONE,
            ),
            6,
        ),
        Script(
            "openai_compatible",
            (
                ": OPENROUTER PROCESSING\n\n",
                chat(delta={"role": "assistant", "content": None, "reasoning_content": "Hm"}),
                *map(said, PIECES[:-1]),
                chat(delta={"content": PIECES[-1]}, finish_reason="stop", stop_reason=None),
                CHAT_USAGE,
                DONE,
            ),
            6,
        ),
        Script(
            "azure_openai",
            (
                {**MODEL, "choices": [],
                 "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False}}}]},
                *map(said, PIECES),
                chat(finish_reason="stop"),
                {"id": "", "object": "", "choices": [{"index": 0, "finish_reason": None, "content_filter_offsets": {"check_offset": 44},
                                                      "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}]},
                CHAT_USAGE,
                DONE,
            ),
            6,
        ),
        Script(
            "openai_responses",
            (
                {"type": "response.created", "sequence_number": 0, "response": response("in_progress", output=[], usage=None)},
                {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0,
                 "item": {"id": "i-1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}},
                {"type": "response.content_part.added", "sequence_number": 2, "item_id": "i-1", "output_index": 0, "content_index": 0,
                 "part": {"type": "output_text", "text": "", "annotations": []}},
                *(_response_text(at, text) for at, text in enumerate(PIECES, 3)),
                {"type": "response.output_text.done", "sequence_number": 8, "item_id": "i-1", "output_index": 0, "content_index": 0,
                 "text": TEXT, "logprobs": []},
                {"type": "response.completed", "sequence_number": 9, "response": response("completed")},
            ),
            9,
            named=True,
        ),
        Script(
            "anthropic",
            (
                {"type": "message_start", "message": {"id": "m-1", "type": "message", "role": "assistant", "model": "m", "content": [],
                                                      "stop_reason": None, "stop_sequence": None,
                                                      "usage": {"input_tokens": 11, "output_tokens": 1}}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                {"type": "ping"},
                *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in PIECES),
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 22}},
                {"type": "message_stop"},
            ),
            9,
            named=True,
        ),
        Script(
            "bedrock",
            (
                {"messageStart": {"role": "assistant"}},
                *({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": text}}} for text in PIECES),
                {"contentBlockStop": {"contentBlockIndex": 0}},
                {"messageStop": {"stopReason": "end_turn"}},
                {"metadata": {"usage": {"inputTokens": 11, "outputTokens": 22, "totalTokens": 33}, "metrics": {"latencyMs": 1}}},
            ),
            7,
            framing="eventstream",
        ),
        Script("gemini", (*map(_gemini, PIECES[:-1]), _gemini(PIECES[-1], finishReason="STOP")), 4),
        Script(
            "mistral",
            (
                said(""),
                said(PIECES[0]),
                said([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}, {"type": "text", "text": PIECES[1]}]),
                *map(said, PIECES[2:-1]),
                {**chat(delta={"content": PIECES[-1]}, finish_reason="stop"), "usage": {"prompt_tokens": 11, "completion_tokens": 22}},
                DONE,
            ),
            5,
        ),
        Script(
            "cohere",
            (
                {"type": "message-start", "id": "c-1", "delta": {"message": {"role": "assistant"}}},
                {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
                *({"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": text}}}} for text in PIECES),
                {"type": "content-end", "index": 0},
                {"type": "message-end",
                 "delta": {"finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 11, "output_tokens": 22}}}},
            ),
            8,
            named=True,
        ),
        Script(
            "ollama",
            (
                *({"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": text}, "done": False}
                  for text in PIECES),
                {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": ""}, "done": True,
                 "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 22},
            ),
            5,
            framing="ndjson",
        ),
    )
}  # fmt: skip
