"""A server on the loopback interface that speaks a provider's protocol from a script, and sees when its client leaves.

After the deciding event it waits, a few seconds at most, for the client to close before it goes on: how many events a client that closes
was sent doesn't depend on how busy the machine is.
"""

from __future__ import annotations

import json
import select
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE = 5.0  # seconds


class Seen:
    """What the server saw of its requests: their bodies, how many events each was sent, and how each ended."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.sent: list[int] = []
        self.ended: list[str] = []  # "complete" or "closed by the client"
        self.finished = threading.Semaphore(0)


@contextmanager
def serving(*answers: tuple[list[str], int | None]) -> Iterator[tuple[str, Seen]]:
    """Serves each request the next of `answers` (the last one again and again): its events, and the number of the deciding one, if any."""
    seen = Seen()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                events, decides = answers[min(len(seen.bodies), len(answers) - 1)]
                seen.bodies.append(body)
            sent = 0
            try:
                if not body.get("stream"):
                    whole = events[-1].encode()
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(whole)))
                    self.end_headers()
                    self.wfile.write(whole)
                    self._note(0, "complete")
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for event in events:
                    data = event.encode()
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
                    self.wfile.flush()
                    sent += 1
                    if decides is not None and sent >= decides and self._left():
                        self._note(sent, "closed by the client")
                        return
                self.wfile.write(b"0\r\n\r\n")
                self._note(sent, "complete")
            except OSError:
                self._note(sent, "closed by the client")

        def _left(self) -> bool:
            ready, _, _ = select.select([self.connection], [], [], PATIENCE if not seen.ended else 0.05)
            if not ready:
                return False
            try:
                left = self.connection.recv(1) == b""
            except OSError:
                left = True
            self.close_connection = left
            return left

        def _note(self, sent: int, how: str) -> None:
            with lock:
                seen.sent.append(sent)
                seen.ended.append(how)
            seen.finished.release()

        def log_message(self, *args: object) -> None:
            """Nothing: what is asked for may be looked at in `seen`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def openai_chat(pieces: Iterable[str], finish: str | None = "stop", *, usage: bool = True, calls: Any = None) -> list[str]:
    """The events of an answer of OpenAI Chat Completions."""

    def event(choices: list[Any], **more: Any) -> str:
        body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test", "choices": choices, **more}
        return f"data: {json.dumps(body)}\n\n"

    def choice(delta: dict[str, Any], reason: str | None = None) -> list[Any]:
        return [{"index": 0, "delta": delta, "finish_reason": reason}]

    events = [event(choice({"role": "assistant", "content": ""}))]
    events += [event(choice({"content": piece})) for piece in pieces]
    if calls is not None:
        events.append(event(choice({"tool_calls": calls})))
    if finish:
        events.append(event(choice({}, finish)))
    if usage:
        events.append(event([], usage={"prompt_tokens": 7, "completion_tokens": 9, "total_tokens": 16}))
    return [*events, "data: [DONE]\n\n"]


def anthropic(pieces: Iterable[str], stop: str | None = "end_turn", *, thinking: str = "", call: Any = None) -> list[str]:
    """The events of an answer of Anthropic Messages."""

    def event(kind: str, **body: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **body})}\n\n"

    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "claude-test",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 1},
    }
    events = [event("message_start", message=message)]
    index = 0
    if thinking:
        events.append(event("content_block_start", index=index, content_block={"type": "thinking", "thinking": "", "signature": ""}))
        events.append(event("content_block_delta", index=index, delta={"type": "thinking_delta", "thinking": thinking}))
        events.append(event("content_block_delta", index=index, delta={"type": "signature_delta", "signature": "c2lnbmVk"}))
        events.append(event("content_block_stop", index=index))
        index += 1
    events.append(event("content_block_start", index=index, content_block={"type": "text", "text": ""}))
    events += [event("content_block_delta", index=index, delta={"type": "text_delta", "text": piece}) for piece in pieces]
    events.append(event("content_block_stop", index=index))
    if call is not None:
        index += 1
        block = {"type": "tool_use", "id": "toolu_1", "name": call[0], "input": {}}
        events.append(event("content_block_start", index=index, content_block=block))
        events.append(event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": json.dumps(call[1])}))
        events.append(event("content_block_stop", index=index))
    if stop:
        events.append(event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 9}))
    return [*events, event("message_stop")]


def openai_responses(pieces: Iterable[str], status: str = "completed") -> list[str]:
    """The events of an answer of OpenAI Responses."""
    number = iter(range(1000))

    def event(kind: str, **body: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, 'sequence_number': next(number), **body})}\n\n"

    def response(state: str, output: list[Any], **more: Any) -> dict[str, Any]:
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": state,
            "model": "gpt-test",
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": None,
            **more,
        }

    text = "".join(pieces := list(pieces))
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed"}
    whole = {**item, "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]}
    usage = {
        "input_tokens": 7,
        "output_tokens": 9,
        "total_tokens": 16,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    details = {"reason": "max_output_tokens"} if status == "incomplete" else None
    done = event(f"response.{status}", response=response(status, [whole], usage=usage, incomplete_details=details))
    events = [event("response.created", response=response("in_progress", []))]
    events.append(event("response.output_item.added", output_index=0, item={**item, "status": "in_progress", "content": []}))
    part = {"type": "output_text", "text": "", "annotations": []}
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events.append(event("response.content_part.added", **at, part=part))
    events += [event("response.output_text.delta", **at, delta=piece, logprobs=[]) for piece in pieces]
    events.append(event("response.output_text.done", **at, text=text, logprobs=[]))
    events.append(event("response.output_item.done", output_index=0, item=whole))
    return [*events, done]
