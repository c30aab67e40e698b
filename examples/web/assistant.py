"""An assistant in a browser: answers that come sentence by sentence, each one after it was checked.

    python examples/web/assistant.py                       # an embedded, scripted model: no key, no network

Open the address that it prints. With OPENAI_API_KEY set and the `openai` package installed it asks a real model (OPENAI_MODEL,
OPENAI_BASE_URL). The switch that shows the unchecked stream is there for the scripted model, and with --compare for a real one: it
sends text that nobody checked, so leave it out of what you build.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import scripted
import uvicorn
from retrieval import Desk, Found, desks
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sentence_gate import Policy, SentenceGate, UsageError, format_sources, notice, prompt_rules
from sentence_gate.events import Report
from sentence_gate.languages import load
from sentence_gate.providers import openai_chat
from sentence_gate.server import Answer, AnswerEndpoint, Question, refused
from sentence_gate.streams import aread_answer

PAGE = Path(__file__).parent / "page"
FLOOR = 0.25  # of a question's words, at least so many must stand in the best source
DESKS = desks()


class Assistant:
    """Answers questions from a desk's sources, with the embedded model or a client of chat completions."""

    def __init__(self, client: Any = None, *, seconds: float = 0.06) -> None:
        self.client, self.seconds = client, seconds
        self.model = os.environ.get("OPENAI_MODEL", "gpt-4o-mini")

    async def answer(self, question: Question) -> Answer:
        """What the endpoint streams. A question that isn't for this desk is refused before the model, always with the same text."""
        desk = DESKS.get(question.language.partition("-")[0])
        if desk is None:
            return refused(SentenceGate([], question.policy))
        found = desk.search(question.text)
        gate = SentenceGate(found.sources, question.policy, question=question.text)
        if desk.forbids(question.text):
            return refused(gate)
        if found.score < FLOOR:
            return refused(gate, "low_retrieval_score")
        return Answer(gate, aread_answer(await self.opened(question, desk, found), "openai_chat", gate))

    async def opened(self, question: Question, desk: Desk, found: Found) -> Any:
        """The model's stream."""
        if self.client is None:
            return scripted.stream(question.text, desk, found, self.seconds)
        told = f"{prompt_rules(question.policy)}\n\n{format_sources(found.sources)}"
        messages = [{"role": "system", "content": told}, *question.history, {"role": "user", "content": question.text}]
        return await self.client.chat.completions.create(
            model=self.model, messages=messages, stream=True, stream_options={"include_usage": True}
        )

    async def unchecked(self, request: Request) -> Response:
        """What the model writes, for the comparison: `piece` events, and `unsupported` with the place of what the gate would withhold."""
        try:
            asked = json.loads(await request.body())
            question = Question(asked["question"], Policy(language=asked["language"], on_violation="observe"))
            desk = DESKS[question.language]
        except (ValueError, LookupError, TypeError, UsageError):
            return JSONResponse({"error": "a question and a language that has a desk"}, 400)
        headers = {"Cache-Control": "no-cache, no-store, no-transform"}
        return EventSourceResponse(self._unchecked(question, desk), headers=headers, send_timeout=10, sep="\n")

    async def _unchecked(self, question: Question, desk: Desk) -> AsyncIterator[ServerSentEvent]:
        found = desk.search(question.text)
        if desk.forbids(question.text) or found.score < FLOOR:
            yield _event("done", {})
            return
        gate = SentenceGate(found.sources, question.policy, question=question.text)
        stream = await self.opened(question, desk, found)
        try:
            async for payload in stream:
                text = openai_chat.read(payload if isinstance(payload, dict) else payload.model_dump()).text
                if text:
                    yield _event("piece", {"text": text})
                for violation in gate.feed(text).violations:
                    yield _event("unsupported", {"start": violation.start, "end": violation.end})
        finally:
            with anyio.CancelScope(shield=True):
                await (stream.aclose() if hasattr(stream, "aclose") else stream.close())
        for violation in gate.finish().violations:
            yield _event("unsupported", {"start": violation.start, "end": violation.end})
        yield _event("done", {})


def _event(name: str, data: dict[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(data, ensure_ascii=False), event=name, sep="\n")


async def told(question: Question, report: Report | None) -> None:
    """Usage, once for every answer, also when the reader left. No text."""
    if report is not None:
        used = report.usage
        print(f"{question.language} {report.status}: {used.output_tokens if used else None} tokens", flush=True)


def application(assistant: Assistant, *, compare: bool) -> Starlette:
    """The page, its data and the endpoint."""
    described = [
        {
            "code": code,
            "name": load(code).endonym,
            "dir": "rtl" if load(code).rtl else "ltr",
            "page": {**desk.page, "failed_notice": notice(Policy(language=code), "failed")},
            "questions": [line["question"] for line in desk.script],
            "sources": {str(source.id): source.text for source in desk.sources},
        }
        for code, desk in DESKS.items()
    ]

    async def data(_: Request) -> Response:
        return JSONResponse({"desks": described, "compare": compare}, headers={"Cache-Control": "no-cache"})

    routes = [
        Route("/answer", AnswerEndpoint(assistant.answer, on_done=told, max_streams=500), methods=["POST"]),
        Route("/desks.json", data),
        *([Route("/unchecked", assistant.unchecked, methods=["POST"])] if compare else []),
        Mount("/", StaticFiles(directory=PAGE, html=True)),
    ]
    return Starlette(routes=routes)


def real_client() -> Any:
    """The client of a real model, if there is a key."""
    if not os.environ.get("OPENAI_API_KEY"):
        return None
    import openai

    return openai.AsyncOpenAI()


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--port", type=int, default=8000, help="0: any that is free")
    asked.add_argument("--compare", action="store_true", help="offer the unchecked stream of a real model too")
    asked.add_argument("--seconds", type=float, default=0.06, help="between two words of the scripted model")
    options = asked.parse_args()
    client = real_client()
    app = application(Assistant(client, seconds=options.seconds), compare=client is None or options.compare)
    listening = socket.create_server(("127.0.0.1", options.port), backlog=2048)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=2))
    asyncio.run(server.serve(sockets=[listening]))


if __name__ == "__main__":
    main()
