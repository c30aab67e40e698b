"""The real clients against a scripted provider: how a stream ended is known although the clients hide it, and it is closed at the stop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anthropic
import boto3
import cohere
import httpx2
import ollama
import openai
import pytest
from botocore.config import Config
from google import genai
from mistralai.client import Mistral
from recorded import DONE, PIECES, SCRIPTS, SOURCES, chat, frame, said
from scripted_server import Plan, Provider

from sentence_gate import Done, SentenceGate, Stopped
from sentence_gate.limits import Limits
from sentence_gate.streams import aread_answer, read_answer

SHOWN = "It opens at eight. The café ☕ closes at six. Bring a towel."
ASKED = [{"role": "user", "content": "When does it open?"}]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    server = Provider()
    yield server
    server.close()


# ---------- one opening function a client: what it yields is what a caller would hand to read_answer ----------


@contextmanager
def openai_chat(url: str) -> Iterator[Any]:
    with (
        openai.OpenAI(base_url=url + "/v1", api_key="x", max_retries=0) as client,
        client.chat.completions.create(model="m", messages=ASKED, stream=True, stream_options={"include_usage": True}) as stream,
    ):
        yield stream


@contextmanager
def openai_responses(url: str) -> Iterator[Any]:
    with (
        openai.OpenAI(base_url=url + "/v1", api_key="x", max_retries=0) as client,
        client.responses.create(model="m", input="When?", stream=True) as stream,
    ):
        yield stream


@contextmanager
def anthropic_create(url: str) -> Iterator[Any]:
    with (
        anthropic.Anthropic(base_url=url, api_key="x", max_retries=0) as client,
        client.messages.create(model="m", max_tokens=99, messages=ASKED, stream=True) as stream,
    ):
        yield stream


@contextmanager
def anthropic_helper(url: str) -> Iterator[Any]:
    with (
        anthropic.Anthropic(base_url=url, api_key="x", max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=99, messages=ASKED) as stream,
    ):
        yield stream


@contextmanager
def bedrock(url: str) -> Iterator[Any]:
    client = boto3.client("bedrock-runtime", endpoint_url=url, config=Config(retries={"total_max_attempts": 1}))
    try:
        yield client.converse_stream(modelId="m", messages=[{"role": "user", "content": [{"text": "When?"}]}])["stream"]
    finally:
        client.close()


@contextmanager
def gemini(url: str) -> Iterator[Any]:
    client = genai.Client(api_key="x", http_options={"base_url": url})
    try:
        yield client.models.generate_content_stream(model="m", contents="When?")
    finally:
        client.close()


@contextmanager
def mistral(url: str) -> Iterator[Any]:
    with Mistral(api_key="x", server_url=url) as client, client.chat.stream(model="m", messages=ASKED) as stream:
        yield stream


@contextmanager
def cohere_v2(url: str) -> Iterator[Any]:
    with httpx2_or_httpx_client() as http:
        yield cohere.ClientV2(api_key="x", base_url=url, httpx_client=http).chat_stream(model="m", messages=ASKED)


def httpx2_or_httpx_client() -> Any:
    """The HTTP client that this release of cohere is built on."""
    import httpx

    return httpx.Client(timeout=10)


@contextmanager
def ollama_chat(url: str) -> Iterator[Any]:
    yield ollama.Client(host=url).chat(model="m", messages=ASKED, stream=True)


@contextmanager
def raw_response(url: str) -> Iterator[Any]:
    with httpx2.Client() as client, client.stream("POST", url) as response:
        yield response


@contextmanager
def raw_events(url: str) -> Iterator[Any]:
    with httpx2.Client() as client, client.stream("POST", url) as response:
        response.encoding = "utf-8-sig"
        yield httpx2.EventSource(response)


Opening = Callable[[str], Any]
CLIENTS: dict[str, tuple[Opening, str]] = {
    "openai chat": (openai_chat, "openai_chat"),
    "openai responses": (openai_responses, "openai_responses"),
    "anthropic create": (anthropic_create, "anthropic"),
    "anthropic stream": (anthropic_helper, "anthropic"),
    "boto3": (bedrock, "bedrock"),
    "google-genai": (gemini, "gemini"),
    "mistralai": (mistral, "mistral"),
    "cohere": (cohere_v2, "cohere"),
    "ollama": (ollama_chat, "ollama"),
    "httpx2 response": (raw_response, "openai_chat"),
    "httpx2 events": (raw_events, "openai_chat"),
}
CONTENT_TYPES = {"bedrock": "application/vnd.amazon.eventstream", "ollama": "application/x-ndjson"}
every = pytest.mark.parametrize("client", CLIENTS)


def play(provider: Provider, protocol: str, chunks: list[bytes], **more: Any) -> Plan:
    return provider.play(chunks, content_type=CONTENT_TYPES.get(protocol, "text/event-stream"), **more)


def run(provider: Provider, client: str) -> tuple[SentenceGate, Exception | None]:
    """The gate after the stream, and what was raised behind the events."""
    opening, protocol = CLIENTS[client]
    gate, last = SentenceGate(SOURCES), None
    raised: Exception | None = None
    with opening(provider.url) as stream:
        try:
            for event in read_answer(stream, protocol, gate):
                last = event
        except Exception as error:
            raised = error
    assert isinstance(last, Done)
    return gate, raised


def kind(gate: SentenceGate) -> str:
    assert gate.report.ending is not None
    return gate.report.ending.kind


@every
def test_a_good_stream(provider: Provider, client: str) -> None:
    protocol = CLIENTS[client][1]
    play(provider, protocol, SCRIPTS[protocol].frames())
    gate, raised = run(provider, client)
    assert raised is None
    assert (gate.report.status, gate.report.text, kind(gate)) == ("accepted", SHOWN, "completed")
    usage = gate.report.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.kind) == (11, 22, "reported")


@every
def test_a_clean_end_without_evidence(provider: Provider, client: str) -> None:
    """The client's loop ends normally here: the text looks complete, and is not."""
    protocol = CLIENTS[client][1]
    script = SCRIPTS[protocol]
    play(provider, protocol, script.frames()[: script.terminal])
    gate, _ = run(provider, client)
    assert (kind(gate), gate.report.status) == ("no_evidence", "failed")
    assert "towel" not in gate.report.text
    assert gate.report.notice


@every
@pytest.mark.parametrize("end", ["cut", "reset"])
def test_a_connection_that_breaks_before_the_evidence(provider: Provider, client: str, end: str) -> None:
    protocol = CLIENTS[client][1]
    script = SCRIPTS[protocol]
    play(provider, protocol, script.frames()[: script.terminal], end=end)
    gate, raised = run(provider, client)
    assert (kind(gate), gate.report.status) == ("no_evidence", "failed")
    assert raised is not None
    assert gate.report.ending is not None
    assert gate.report.ending.transport == "reset"
    assert "towel" not in gate.report.text


@every
@pytest.mark.parametrize("end", ["cut", "reset"])
def test_a_connection_that_breaks_after_the_evidence_is_no_failure(provider: Provider, client: str, end: str) -> None:
    protocol = CLIENTS[client][1]
    script = SCRIPTS[protocol]
    play(provider, protocol, script.frames()[: script.terminal + 1], end=end)
    gate, raised = run(provider, client)
    assert raised is None
    assert (gate.report.status, gate.report.text, kind(gate)) == ("accepted", SHOWN, "completed")


ERRORS = {
    "openai_chat": (frame({"error": {"message": "x", "type": "server_error", "code": "overloaded"}}, "sse"), "overloaded"),
    "openai_responses": (
        frame({"type": "error", "code": "server_error", "message": "x", "param": None}, "sse", named=True),
        "server_error",
    ),
    "anthropic": (frame({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, "sse", named=True), "overloaded_error"),
    "bedrock": (frame({"throttlingException": {"message": "slow down"}}, "eventstream"), "throttlingException"),
    "gemini": (frame({"error": {"code": 503, "status": "UNAVAILABLE", "message": "x"}}, "sse"), None),
    "mistral": (frame(chat(finish_reason="error"), "sse"), "error"),
    "cohere": (frame({"type": "message-end", "delta": {"finish_reason": "ERROR"}}, "sse", named=True), "ERROR"),
    "ollama": (b'{"error":"model runner has unexpectedly stopped"}\n', None),
}


@every
def test_an_error_inside_the_open_stream(provider: Provider, client: str) -> None:
    protocol = CLIENTS[client][1]
    error, reason = ERRORS[protocol]
    play(provider, protocol, [*SCRIPTS[protocol].frames()[:3], error])
    gate, _ = run(provider, client)
    assert (kind(gate), gate.report.status) == ("provider_error", "failed")
    assert gate.report.ending is not None
    assert gate.report.ending.provider_reason == reason or reason is None
    assert gate.report.ending.provider_reason


BAD = ("It opens at eight [S1]. Lockers cost 45", " [S1]. And ", "more ", "text ", "without ", "end ")


def stopping(protocol: str) -> list[bytes]:
    """The protocol's stream with a fabricated value in its second sentence."""
    script = SCRIPTS[protocol]
    texts = iter(BAD)
    payloads = []
    for payload in script.payloads[: script.terminal]:
        told = json.dumps(payload, ensure_ascii=False)
        for piece in PIECES:
            told = told.replace(
                json.dumps(piece, ensure_ascii=False), json.dumps(next(texts)) if json.dumps(piece, ensure_ascii=False) in told else ""
            )
        payloads.append(payload if isinstance(payload, str) else json.loads(told))
    return [frame(payload, script.framing, named=script.named) for payload in payloads]


@every
def test_the_provider_sees_its_connection_closed_at_the_stop(provider: Provider, client: str) -> None:
    opening, protocol = CLIENTS[client]
    chunks = stopping(protocol)
    plan = play(provider, protocol, chunks, step=0.15, end="open")
    gate = SentenceGate(SOURCES)
    with opening(provider.url) as stream:
        for event in read_answer(stream, protocol, gate):
            if isinstance(event, Stopped):
                # Before the stop is handed out, while the caller still holds the stream open.
                assert plan.finished.wait(1.0), "the provider went on"
    assert gate.report.status == "stopped"
    assert gate.report.text == "It opens at eight."
    assert plan.left_after is not None
    assert plan.left_after < len(chunks)


@every
def test_a_reader_who_leaves(provider: Provider, client: str) -> None:
    opening, protocol = CLIENTS[client]
    plan = play(provider, protocol, SCRIPTS[protocol].frames(), step=0.15, end="open")
    gate = SentenceGate(SOURCES)
    with opening(provider.url) as stream:
        events = read_answer(stream, protocol, gate)
        next(events)
        events.close()
        assert plan.finished.wait(1.0), "the provider went on"
    assert kind(gate) == "cancelled"
    assert plan.left_after is not None
    assert gate.report.usage is not None
    assert gate.report.usage.kind in ("estimated", "running")


# ---------- asynchronous ----------


@asynccontextmanager
async def async_openai(url: str) -> AsyncIterator[Any]:
    async with openai.AsyncOpenAI(base_url=url + "/v1", api_key="x", max_retries=0) as client:
        stream = await client.chat.completions.create(model="m", messages=ASKED, stream=True)
        async with stream:
            yield stream


@asynccontextmanager
async def async_anthropic(url: str) -> AsyncIterator[Any]:
    async with (
        anthropic.AsyncAnthropic(base_url=url, api_key="x", max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=99, messages=ASKED) as stream,
    ):
        yield stream


@asynccontextmanager
async def async_response(url: str) -> AsyncIterator[Any]:
    async with httpx2.AsyncClient() as client, client.stream("POST", url) as response:
        yield response


ASYNC_CLIENTS: dict[str, tuple[Opening, str]] = {
    "openai": (async_openai, "openai_chat"),
    "anthropic": (async_anthropic, "anthropic"),
    "httpx2": (async_response, "openai_chat"),
}
every_async = pytest.mark.parametrize("client", ASYNC_CLIENTS)


@every_async
def test_asynchronous_streams(provider: Provider, client: str) -> None:
    opening, protocol = ASYNC_CLIENTS[client]
    script = SCRIPTS[protocol]

    async def read(chunks: list[bytes], **more: Any) -> tuple[SentenceGate, list[Any], Exception | None]:
        play(provider, protocol, chunks, **more)
        gate, events, raised = SentenceGate(SOURCES), [], None
        async with opening(provider.url) as stream:
            try:
                async for event in aread_answer(stream, protocol, gate):
                    events.append(event)  # noqa: PERF401 - what came before the exception counts
            except Exception as error:
                raised = error
        return gate, events, raised

    async def main() -> None:
        gate, _, raised = await read(script.frames())
        assert (gate.report.status, gate.report.text, raised) == ("accepted", SHOWN, None)
        gate, _, _ = await read(script.frames()[: script.terminal])
        assert kind(gate) == "no_evidence"
        gate, events, raised = await read(script.frames()[: script.terminal], end="reset")
        assert (kind(gate), isinstance(events[-1], Done)) == ("no_evidence", True)
        assert raised is not None
        gate, _, raised = await read(script.frames()[: script.terminal + 1], end="reset")
        assert (gate.report.status, raised) == ("accepted", None)

    asyncio.run(main())


@every_async
def test_asynchronously_closed_at_the_stop_on_leaving_and_on_cancelling(provider: Provider, client: str) -> None:
    opening, protocol = ASYNC_CLIENTS[client]

    async def stop() -> None:
        plan = play(provider, protocol, stopping(protocol), step=0.15, end="open")
        gate = SentenceGate(SOURCES)
        async with opening(provider.url) as stream:
            async for event in aread_answer(stream, protocol, gate):
                if isinstance(event, Stopped):
                    assert await asyncio.to_thread(plan.finished.wait, 1.0), "the provider went on"
        assert gate.report.text == "It opens at eight."
        assert plan.left_after is not None

    async def cancel() -> None:
        plan = play(provider, protocol, SCRIPTS[protocol].frames(), step=0.15, end="open")
        gate, started = SentenceGate(SOURCES), asyncio.Event()

        async def read() -> None:
            async with opening(provider.url) as stream:
                async for _ in aread_answer(stream, protocol, gate):
                    started.set()

        task = asyncio.create_task(read())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(plan.finished.wait, 1.0), "the provider went on"
        assert kind(gate) == "cancelled"
        assert len(asyncio.all_tasks()) == 1

    async def stall() -> None:
        plan = play(provider, protocol, SCRIPTS[protocol].frames()[:4], end="open")
        gate = SentenceGate(SOURCES)
        async with opening(provider.url) as stream:
            with pytest.raises(Exception, match="idle_seconds"):
                async for _ in aread_answer(stream, protocol, gate, limits=Limits(idle_seconds=0.3)):
                    pass
        assert await asyncio.to_thread(plan.finished.wait, 1.0), "the provider went on"
        assert kind(gate) == "no_evidence"

    for way in (stop, cancel, stall):
        asyncio.run(way())


def test_bytes_that_break_clients_are_read(provider: Provider) -> None:
    """A byte order mark, heartbeats without data and U+2028 cost several clients events or text."""
    body = b"\xef\xbb\xbf" + b"id: 1\n\n".join([b"", *SCRIPTS["openai_chat"].frames()])
    provider.play([body[:1], body[1:2], body[2:]])
    gate, _ = run(provider, "httpx2 response")
    assert gate.report.text == SHOWN
    provider.play([frame(said("It opens at\u2028eight [S1]."), "sse"), frame(chat(finish_reason="length"), "sse"), DONE.encode()])
    gate, _ = run(provider, "httpx2 response")
    assert gate.report.usage is not None
    assert gate.report.usage.output_tokens == len("It opens at\u2028eight [S1].".encode())
