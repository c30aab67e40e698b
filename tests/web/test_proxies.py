"""The real client, the endpoint, nginx and Caddy before it: a sentence arrives when it is released, and a reader who leaves is missed."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from programs import EXAMPLE, FABRICATED, QUESTION, SENTENCES, Provider, assistant, caddy, eventually, nginx, passthrough, provider_at

from sentence_gate import Policy, notice

BARE = """server {
    listen 127.0.0.1:8080;
    location / {
        proxy_pass http://127.0.0.1:8000;
    }
}
"""
EVERYTHING = "gzip on;\ngzip_proxied any;\ngzip_types *;\ngzip_min_length 1;"

WAYS: dict[str, Callable[[str, Path], contextlib.AbstractContextManager[str]]] = {
    "direct": lambda upstream, _: contextlib.nullcontext(upstream),
    "nginx": nginx,
    "nginx that compresses event streams and buffers": lambda upstream, folder: nginx(upstream, folder, site=BARE, settings=EVERYTHING),
    "caddy": caddy,
}


@dataclass(frozen=True)
class Served:
    way: str
    address: str
    provider: Provider


@pytest.fixture(scope="module", params=WAYS)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    provider = Provider()
    with (
        provider_at(provider) as upstream,
        assistant(upstream=upstream) as (address, _),
        WAYS[request.param](address, tmp_path_factory.mktemp("proxy")) as before,
    ):
        yield Served(request.param, before, provider)


@contextlib.contextmanager
def asked(served: Served) -> Iterator[tuple[httpx2.Response, Iterator[tuple[str, dict[str, Any]]]]]:
    served.provider.reset()
    body = {"question": QUESTION, "language": "en"}
    headers = {"Accept-Encoding": "gzip, deflate"}
    with httpx2.Client(timeout=15) as client, client.stream("POST", f"{served.address}/answer", json=body, headers=headers) as response:
        assert response.status_code == 200
        response.encoding = "utf-8-sig"
        yield response, ((event.event, json.loads(event.data)) for event in httpx2.EventSource(response))


def test_each_sentence_arrives_when_it_is_released(served: Served) -> None:
    """The model goes on only when the sentence before is there: one that is held back for company would never come."""
    with asked(served) as (response, events):
        compressed = served.way.startswith("nginx that")
        assert response.headers.get("content-encoding") == ("gzip" if compressed else None)
        assert "no-transform" in response.headers["cache-control"]
        arrived = []
        for number, sentence in enumerate(SENTENCES, 1):
            served.provider.allowed = number
            name, data = next(events)
            arrived.append((name, data["text"].strip()))
            assert arrived[-1] == ("sentence", sentence)
            assert served.provider.sent == number
        served.provider.allowed = 3
        rest = list(events)
        assert [name for name, _ in rest] == ["guard", "done"]
        assert FABRICATED not in repr(rest)
    eventually(lambda: served.provider.left == [3])  # closed at the stop, before the model's next piece


def test_an_answer_that_begins_at_once_is_never_broken_off(served: Served) -> None:
    """Its first byte may be out before the proxy is done with the question."""
    for _ in range(100):
        with asked(served) as (_, events):
            served.provider.allowed = len(served.provider.pieces)
            assert [name for name, _ in events] == ["sentence", "sentence", "guard", "done"]


@pytest.mark.parametrize("when", ["before the first sentence", "after it"])
def test_a_reader_who_leaves_closes_the_model_before_its_next_piece(served: Served, when: str) -> None:
    with asked(served) as (_, events):
        eventually(lambda: served.provider.asked)
        if when == "after it":
            served.provider.allowed = 1
            assert next(events)[0] == "sentence"
    eventually(lambda: served.provider.left == [served.provider.allowed])
    assert len(served.provider.asked) == 1


def test_the_page_is_compressed_where_that_is_configured(served: Served) -> None:
    response = httpx2.get(f"{served.address}/assistant.js", headers={"Accept-Encoding": "gzip"})
    assert response.status_code == 200
    assert response.headers.get("content-encoding") == (None if served.way == "direct" else "gzip")
    assert "createParser" in httpx2.get(f"{served.address}/eventsource-parser-4.1.3.js").text


def test_the_page_is_there_whatever_its_host_is_called(served: Served) -> None:
    response = httpx2.get(f"{served.address}/", headers={"Host": "desk.example"})
    assert "<title>The Night Desk</title>" in response.text


def test_a_question_that_is_too_large(served: Served) -> None:
    response = httpx2.post(f"{served.address}/answer", json={"question": "x" * 70_000})
    assert response.status_code == 413


def test_with_a_key_the_real_client_asks(served: Served) -> None:
    with asked(served) as (_, events):
        served.provider.allowed = len(served.provider.pieces)
        assert [name for name, _ in events] == ["sentence", "sentence", "guard", "done"]
    (request,) = served.provider.asked
    assert request["stream"] is True
    assert "[S1]" in request["messages"][0]["content"]
    assert "21.55 kilograms" in request["messages"][0]["content"]
    assert request["messages"][-1] == {"role": "user", "content": QUESTION}
    assert httpx2.get(f"{served.address}/desks.json").json()["compare"] is False
    assert httpx2.post(f"{served.address}/unchecked", json={"question": QUESTION, "language": "en"}).status_code in (404, 405)


@pytest.mark.parametrize("way", WAYS)
def test_the_openai_client_reads_the_pass_through(way: str, tmp_path: Path) -> None:
    provider = Provider()
    with provider_at(provider) as upstream, passthrough(upstream) as gate, WAYS[way](gate, tmp_path) as address:
        client = openai.OpenAI(base_url=f"{address}/v1", api_key="x", max_retries=0, timeout=15)
        sources = ["Apollo 11 landed on the Moon on 20 July 1969. The crew brought back 21.55 kilograms of rock and dust."]
        stream = client.chat.completions.create(
            model="x",
            messages=[{"role": "user", "content": QUESTION}],
            stream=True,
            extra_body={"sentence_gate": {"sources": sources, "language": "en"}},
        )
        with stream:
            chunks = iter(stream)
            assert next(chunks).choices[0].delta.content == ""
            for number, sentence in enumerate(SENTENCES, 1):
                provider.allowed = number
                assert str(next(chunks).choices[0].delta.content).strip() == sentence
                assert provider.sent == number
            provider.allowed = 3
            told, last = list(chunks)
            assert str(told.choices[0].delta.content).strip() == notice(Policy(language="en"), "stopped")
            assert last.choices[0].finish_reason == "content_filter"
        eventually(lambda: provider.left == [3])

        provider.reset()  # a client that leaves
        with client.chat.completions.create(
            model="x", messages=[{"role": "user", "content": "?"}], stream=True, extra_body={"sentence_gate": {"sources": sources}}
        ) as stream:
            provider.allowed = 1
            assert [next(stream).choices[0].delta.content for _ in range(2)][1]
        eventually(lambda: provider.left == [1])
        client.close()


def test_caddy_takes_its_file_as_it_is_written() -> None:
    written = (EXAMPLE / "Caddyfile").read_text()
    done = subprocess.run(["caddy", "fmt", "-"], input=written, capture_output=True, text=True, check=True)
    assert done.stdout == written
