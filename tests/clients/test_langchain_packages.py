"""LangChain's provider packages against a scripted provider: the chunk metadata tells what the packages' own loops hide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_aws import ChatBedrockConverse
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_mistralai import ChatMistralAI
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from recorded import SCRIPTS, SOURCES, frame
from scripted_server import Provider

from sentence_gate import SentenceGate
from sentence_gate.providers import langchain
from sentence_gate.streams import read_answer

SHOWN = "It opens at eight. The café ☕ closes at six. Bring a towel."
MODELS: dict[str, tuple[Callable[[str], Any], str]] = {
    "openai": (lambda url: ChatOpenAI(model="m", base_url=url, api_key="x", max_retries=0, stream_usage=True), "openai_chat"),
    "openai responses": (
        lambda url: ChatOpenAI(model="m", base_url=url, api_key="x", max_retries=0, use_responses_api=True),
        "openai_responses",
    ),
    "anthropic": (lambda url: ChatAnthropic(model="m", base_url=url, api_key="x", max_retries=0), "anthropic"),
    "aws": (lambda url: ChatBedrockConverse(model="amazon.nova-lite-v1:0", endpoint_url=url, region_name="eu-central-1"), "bedrock"),
    "google": (lambda url: ChatGoogleGenerativeAI(model="gemini-x", base_url=url, max_retries=0, google_api_key="x"), "gemini"),
    "ollama": (lambda url: ChatOllama(model="m", base_url=url), "ollama"),
    "mistral": (lambda url: ChatMistralAI(model="m", endpoint=url, api_key="x", max_retries=0), "mistral"),
}
CONTENT_TYPES = {"bedrock": "application/vnd.amazon.eventstream", "ollama": "application/x-ndjson"}
every = pytest.mark.parametrize("name", MODELS)
pytestmark = pytest.mark.filterwarnings("ignore")  # the packages' own


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    server = Provider()
    yield server
    server.close()


def run(provider: Provider, name: str, chunks: list[bytes], **more: Any) -> tuple[SentenceGate, str, Exception | None]:
    make, protocol = MODELS[name]
    provider.play(chunks, content_type=CONTENT_TYPES.get(protocol, "text/event-stream"), **more)
    model, gate, raised = make(provider.url), SentenceGate(SOURCES), None
    stream = (vars(chunk) for chunk in model.stream("When does it open?"))
    carries = langchain.carries_reason(type(model).__module__)
    try:
        for _ in read_answer(stream, langchain, gate, carries_reason=carries):
            pass
    except Exception as error:
        raised = error
    assert gate.report.ending is not None
    return gate, gate.report.ending.kind, raised


@every
def test_a_good_stream(provider: Provider, name: str) -> None:
    gate, kind, raised = run(provider, name, SCRIPTS[MODELS[name][1]].frames())
    assert (gate.report.status, gate.report.text, kind, raised) == ("accepted", SHOWN, "completed", None)
    assert gate.report.usage is not None
    assert gate.report.usage.kind == "reported"
    # The package reads Anthropic's last event only.
    assert gate.report.usage.input_tokens == (None if name == "anthropic" else 11)
    assert gate.report.usage.output_tokens == 22


@every
@pytest.mark.parametrize("end", ["clean", "reset"])
def test_a_stream_that_was_cut(provider: Provider, name: str, end: str) -> None:
    script = SCRIPTS[MODELS[name][1]]
    gate, kind, raised = run(provider, name, script.frames()[: script.terminal], end=end)
    assert (kind, gate.report.status) == ("no_evidence", "failed")
    assert (raised is not None) is (end == "reset" or name == "aws")
    assert "towel" not in gate.report.text


CUT: dict[str, Any] = {
    "anthropic": {"type": "message_delta", "delta": {"stop_reason": "max_tokens", "stop_sequence": None}, "usage": {"output_tokens": 22}},
    "aws": {"messageStop": {"stopReason": "max_tokens"}},
    "google": {"candidates": [{"content": {"parts": [{"text": ""}]}, "index": 0, "finishReason": "MAX_TOKENS"}]},
    "ollama": {**SCRIPTS["ollama"].payloads[-1], "done_reason": "length"},
}


@pytest.mark.parametrize("name", CUT)
def test_the_output_limit(provider: Provider, name: str) -> None:
    script = SCRIPTS[MODELS[name][1]]
    chunks = [*script.frames()[: script.terminal], frame(CUT[name], script.framing, named=script.named)]
    gate, kind, _ = run(provider, name, chunks)
    assert (kind, gate.report.status) == ("truncated", "truncated")
    assert "towel" not in gate.report.text
