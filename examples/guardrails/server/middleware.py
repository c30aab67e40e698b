"""Puts the checked text where OpenAI clients look for it: by itself the server sends the model's raw chunks beside the guard's results.

An event or body that has no guard's result is not sent.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

KEPT = ("validated_output", "validation_passed")


class CheckedTextOnly(BaseHTTPMiddleware):
    async def dispatch(self, request: Request, call_next: Any) -> Response:
        response = await call_next(request)
        if not request.url.path.endswith("/chat/completions") or response.status_code != 200:
            return response
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            return StreamingResponse(events(response.body_iterator), media_type="text/event-stream")
        body = checked(json.loads(b"".join([part async for part in response.body_iterator])))
        return JSONResponse(body or {"message": "no guard's result"}, status_code=200 if body else 502)


async def events(parts: AsyncIterator[bytes | str]) -> AsyncIterator[str]:
    buffer = b""
    async for part in parts:
        buffer += part.encode() if isinstance(part, str) else part
        *whole, buffer = buffer.split(b"\n\n")
        for event in whole:
            if event.startswith(b"data: {") and (body := checked(json.loads(event[6:]))):
                yield f"data: {json.dumps(body)}\n\n"


def checked(completion: dict[str, Any]) -> dict[str, Any] | None:
    """The completion with the checked text as its one choice's content."""
    result = completion.get("guardrails")
    if not isinstance(result, dict):
        return None
    part = "delta" if completion["object"].endswith(".chunk") else "message"
    text = result.get("validated_output") or ""
    choice = {"index": 0, part: {"role": "assistant", "content": text}, "finish_reason": None if part == "delta" else "stop"}
    kept = {name: completion.get(name) for name in ("id", "object", "created", "model")}
    return {**kept, "choices": [choice], "guardrails": {name: result.get(name) for name in KEPT}}
