"""A gate in front of a model, for any language and client: an endpoint of chat completions that passes to another one.

    POST /v1/chat/completions    the request of chat completions, and in it
        "sentence_gate": {"sources": ["…"] | [{"text": "…", "id": …, "title": …, "url": …}] | {"id": "text"},
                          "language": "en", "prompt": true}

The sources and the rules of citing are put before the messages as a system message, unless `prompt` is false: then the caller's own prompt
holds them, numbered in this order. What comes back is a stream of chat completions (or, without `"stream": true`, one), each piece of
content a whole sentence that passed. At a stop the notice is the last content and `finish_reason` is "content_filter"; a cut answer has
"length" and its notice; an answer that failed ends in an `error` object, which clients raise. The last chunk holds `sentence_gate`: status,
checks, cited, ending, notice. The policy is the server's; a request chooses the language. Requests that would let unchecked text through
(several choices, tools, log-probabilities) are refused.
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import anyio
import httpx2
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..errors import UsageError
from ..events import Done, Event, Failed, Released, Report, Stopped
from ..gate import SentenceGate
from ..policy import Policy, notice
from ..prompt import format_sources, prompt_rules
from ..sources import Source, Sources
from ..streams import aread_answer
from .endpoint import Answer, answered

_LOG = logging.getLogger(__name__)
_PATH = "/v1/chat/completions"
_OURS = ("sources", "language", "prompt")
_REFUSED = ("tools", "functions", "tool_choice", "logprobs", "top_logprobs", "audio", "prediction")
_ERROR_FIELDS = ("error", "message", "type", "param", "code", "status", "detail", "object")
_HEADERS = {"Cache-Control": "no-cache, no-store, no-transform"}
_PASSED = ("authorization", "api-key", "openai-organization", "openai-project")
_FINISH = {
    "accepted": "stop",
    "empty": "stop",
    "refused": "stop",
    "truncated": "length",
    "stopped": "content_filter",
    "failed": "content_filter",
}


def application(
    upstream: str, policy: Policy | None = None, *, max_body: int = 4 << 20, ping_seconds: float = 15.0, send_seconds: float = 10.0
) -> Starlette:
    """The ASGI application in front of `upstream`, the base URL of an endpoint of chat completions, such as "https://api.openai.com/v1".

    Authorization is passed on from each request and kept nowhere. `max_body` bounds a request in bytes.
    """
    if not upstream.startswith(("http://", "https://")):
        raise UsageError(f"upstream is the URL of an endpoint, such as https://api.openai.com/v1, not {upstream!r}")
    url, base = upstream.rstrip("/") + "/chat/completions", policy or Policy()
    client = httpx2.AsyncClient(timeout=httpx2.Timeout(60.0, connect=10.0))

    async def complete(request: Request) -> Response:
        try:
            asked = _read(await _body(request, max_body), base)
        except UsageError as error:
            return _error(400, str(error), "invalid_request_error")
        headers = [(name.encode(), request.headers[name].encode("latin-1")) for name in _PASSED if name in request.headers]
        headers += [(b"Content-Type", b"application/json"), (b"Accept-Encoding", b"identity")]
        try:
            response = await client.send(client.build_request("POST", url, content=asked.upstream, headers=headers), stream=True)
        except httpx2.HTTPError as error:
            return _error(502, f"the upstream can't be reached: {type(error).__name__}", "upstream_error")
        if response.status_code != 200:
            return await _passed(response, max_body)
        gate = SentenceGate(asked.sources, asked.policy, question=asked.question)

        async def opening() -> Answer:
            return Answer(gate, aread_answer(response, "openai_compatible", gate))

        async def tell(_: Answer | None) -> None:
            """Nobody is told: usage goes out with the answer."""

        events = answered(opening, Failed(notice(asked.policy, "failed")), tell)
        if not asked.stream:
            return await _whole_unless_left(request, events, asked)
        return _Stream(response, _chunks(events, asked), headers=_HEADERS, ping=ping_seconds, send_timeout=send_seconds, sep="\n")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with client:
            yield

    return Starlette(routes=[Route(_PATH, complete, methods=["POST"])], lifespan=lifespan)


class _Stream(EventSourceResponse):
    """Closes the upstream also if the reader left before the first chunk was asked for."""

    def __init__(self, upstream: httpx2.Response, *content: Any, **settings: Any) -> None:
        super().__init__(*content, **settings)
        self._upstream = upstream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except* TimeoutError:
            _LOG.info("a reader took nothing for %s s: its stream was closed", self.send_timeout)
        finally:
            with anyio.CancelScope(shield=True):
                await self._upstream.aclose()


@dataclass(frozen=True, slots=True)
class _Asked:
    sources: Sources
    policy: Policy
    question: str
    upstream: bytes
    model: str
    stream: bool
    usage: bool


async def _body(request: Request, limit: int) -> Any:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > limit:
            raise UsageError(f"the request is larger than {limit} bytes")
    try:
        return json.loads(bytes(body))
    except (ValueError, RecursionError):
        raise UsageError("the request is no JSON") from None


def _read(body: Any, base: Policy) -> _Asked:
    if not isinstance(body, dict) or not isinstance(messages := body.get("messages"), list) or not messages:
        raise UsageError("the request is an object with messages")
    ours = body.get("sentence_gate")
    if not isinstance(ours, dict) or "sources" not in ours:
        raise UsageError('the request holds "sentence_gate": {"sources": [...]}: what the answer may cite')
    if unknown := sorted(ours.keys() - set(_OURS)):
        raise UsageError(f"unknown field {unknown[0][:40]!r} in sentence_gate; the fields are {', '.join(_OURS)}")
    for name in _REFUSED:
        if body.get(name):
            raise UsageError(f"{name} can't be used here: what it brings can't be checked by the sentence")
    if body.get("n") not in (None, 1):
        raise UsageError("one choice (n: 1) is answered at a time")
    language = ours.get("language", base.language)
    if not isinstance(language, str):
        raise UsageError("language is a BCP 47 tag")
    policy = replace(base, language=language)
    sources = Sources(_sources(ours["sources"]))
    if ours.get("prompt", True):
        told = f"{prompt_rules(policy)}\n\n{format_sources(sources, policy.markers)}"
        messages = [{"role": "system", "content": told}, *messages]
    options = body.get("stream_options")
    passed = {name: value for name, value in body.items() if name != "sentence_gate"}
    told_upstream = {**passed, "messages": messages, "stream": True, "stream_options": {"include_usage": True}}
    try:
        upstream = json.dumps(told_upstream, allow_nan=False).encode()  # in ASCII: a request may hold half a character
    except (ValueError, RecursionError):
        raise UsageError("the request holds a number that JSON doesn't have, or is nested too deep") from None
    wants_usage = isinstance(options, dict) and options.get("include_usage") is True
    asked = next((message for message in reversed(messages) if isinstance(message, dict) and message.get("role") == "user"), {})
    return _Asked(
        sources,
        policy,
        _text(asked.get("content")),
        upstream,
        str(body.get("model")),
        bool(body.get("stream")),
        wants_usage,
    )


def _text(content: Any) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _sources(given: Any) -> Any:
    if not isinstance(given, list):
        return given
    try:
        return [Source(**one) if isinstance(one, dict) else one for one in given]
    except TypeError:
        raise UsageError("a source is a text, or an object with text and perhaps id, title, url, language") from None


async def _passed(response: httpx2.Response, limit: int) -> Response:
    """The upstream's own answer to a request that it refused. Some quote the model in fields of theirs (`failed_generation`)."""
    body = b""
    try:
        async with aclosing(response):
            async for part in response.aiter_bytes():
                body += part
                if len(body) > limit:
                    break
    except httpx2.HTTPError as error:
        return _error(502, f"the upstream failed: {type(error).__name__}", "upstream_error")
    if not response.is_error:
        return _error(502, f"the upstream answered with status {response.status_code}", "upstream_error")
    kept = {name: response.headers[name] for name in ("content-type", "retry-after") if name in response.headers}
    try:
        told = json.loads(body[:limit])
    except (ValueError, RecursionError):
        return Response(body[:limit], response.status_code, headers=kept)
    return Response(json.dumps(_reasons(told)), response.status_code, headers={**kept, "content-type": "application/json"})


def _reasons(told: Any) -> Any:
    """What an error object says, in the fields in which providers say it."""
    if isinstance(told, list):
        return [_reasons(one) for one in told[:1]]
    if not isinstance(told, dict):
        return {}
    said = {name: told[name] for name in _ERROR_FIELDS if isinstance(told.get(name), str | int | None) and name in told}
    return {**said, "error": _reasons(told["error"])} if isinstance(told.get("error"), dict) else said


async def _chunks(events: AsyncGenerator[tuple[Event, Answer | None], None], asked: _Asked) -> AsyncGenerator[ServerSentEvent, None]:
    chunk = {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": "chat.completion.chunk", "created": int(time.time()), "model": asked.model}

    def saying(delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> ServerSentEvent:
        return _data({**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more})

    async with aclosing(events):
        yield saying({"role": "assistant", "content": ""})
        checks: tuple[str, ...] = ()
        async for event, _ in events:
            match event:
                case Released(text):
                    yield saying({"content": text})
                case Stopped(names, _):
                    checks = names
                case Done(report):
                    if failure := _failure(report):
                        yield _data({"error": failure, "sentence_gate": _told(report, checks)})
                        return
                    if report.notice:
                        yield saying({"content": _apart(report)})
                    yield saying({}, _FINISH[report.status], sentence_gate=_told(report, checks))
                    if asked.usage:
                        yield _data({**chunk, "choices": [], "usage": _usage(report)})
                    yield ServerSentEvent("[DONE]", sep="\n")


async def _whole_unless_left(request: Request, events: AsyncGenerator[tuple[Event, Answer | None], None], asked: _Asked) -> Response:
    """The whole answer; a reader who leaves before it is there closes the upstream."""
    made: list[Response] = []
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(watch)
        made.append(await _whole(events, asked))
        group.cancel_scope.cancel()
    return made[0] if made else Response(status_code=499)


async def _whole(events: AsyncGenerator[tuple[Event, Answer | None], None], asked: _Asked) -> Response:
    checks: tuple[str, ...] = ()
    told: Report | None = None
    async with aclosing(events):
        async for event, _ in events:
            if isinstance(event, Stopped):
                checks = event.checks
            elif isinstance(event, Done):
                told = event.report
    if told is None or _failure(told):
        return _error(502, (told and told.notice) or "the upstream failed", "upstream_error")
    message = {"role": "assistant", "content": told.text + (_apart(told) if told.notice else "")}
    return JSONResponse(
        {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": asked.model,
            "choices": [{"index": 0, "message": message, "finish_reason": _FINISH[told.status]}],
            "usage": _usage(told),
            "sentence_gate": _told(told, checks),
        }
    )


def _failure(report: Report) -> dict[str, Any] | None:
    """The error object of an answer that failed; None if it has a finish reason."""
    if report.status in ("failed", "cancelled", "open") and not (report.ending and report.ending.kind == "filtered"):
        return {"message": report.notice, "type": "upstream_error", "code": report.ending.kind if report.ending else "provider_error"}
    return None


def _apart(report: Report) -> str:
    """The notice as content, in a paragraph of its own."""
    return f"\n\n{report.notice}" if report.text.strip() else str(report.notice)


def _told(report: Report, checks: tuple[str, ...]) -> dict[str, Any]:
    return {
        "status": report.status,
        "checks": list(checks),
        "cited": list(report.cited),
        "ending": report.ending.kind if report.ending else None,
        "notice": report.notice,
    }


def _usage(report: Report) -> dict[str, Any]:
    used = report.usage
    before, after = (used.input_tokens or 0, used.output_tokens or 0) if used else (0, 0)
    return {"prompt_tokens": before, "completion_tokens": after, "total_tokens": before + after}


def _data(payload: Mapping[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(payload), sep="\n")


def _error(status: int, message: str, kind: str) -> Response:
    return JSONResponse({"error": {"message": message, "type": kind, "param": None, "code": None}}, status)
