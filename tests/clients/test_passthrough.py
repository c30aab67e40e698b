"""The pass-through in front of a scripted model, read by the real openai client."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest
import uvicorn
from recorded import CHAT_USAGE, DONE, PIECES, SOURCES, chat, frame, said
from scripted_server import Plan, Provider
from starlette.testclient import TestClient

from sentence_gate import Policy, UsageError
from sentence_gate.policy import notice
from sentence_gate.server.passthrough import application

SHOWN = "It opens at eight. The café ☕ closes at six. Bring a towel."
CANARY = "8675309"
ASKED = [{"role": "user", "content": "When does it open?"}]
STOPPED = notice(Policy(), "stopped")


@pytest.fixture(scope="module")
def model() -> Iterator[Provider]:
    server = Provider()
    yield server
    server.close()


@pytest.fixture(scope="module")
def url(model: Provider) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(application(model.url + "/v1/"), port=0, log_config=None, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
    server.should_exit = True
    thread.join(10)


def frames(*payloads: Any) -> list[bytes]:
    return [frame(payload, "sse") for payload in (*payloads, DONE)]


GOOD = frames(*map(said, PIECES), chat(finish_reason="stop"), CHAT_USAGE)
BAD = frames(said("It opens at eight [S1]. "), said(f"Call {CANARY} for a locker [S1]. And "), *[said("more ")] * 30)


def request(**ours: Any) -> dict[str, Any]:
    return {"model": "m", "messages": ASKED, "stream": True, "extra_body": {"sentence_gate": {"sources": SOURCES, **ours}}}


def read(url: str, **more: Any) -> tuple[str, str | None, dict[str, Any], Any]:
    """Content, finish reason, our own field and usage, as the client sees them."""
    content, finish, told, usage = "", None, {}, None
    with openai.OpenAI(base_url=url, api_key="x", max_retries=0) as client:
        for chunk in client.chat.completions.create(**request(), **more):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                content += choice.delta.content or ""
                finish = choice.finish_reason or finish
            told = (chunk.model_extra or {}).get("sentence_gate", told)
    return content, finish, told, usage


def test_an_answer_that_passes(model: Provider, url: str) -> None:
    model.play(GOOD)
    content, finish, told, usage = read(url, stream_options={"include_usage": True})
    assert (content, finish) == (SHOWN, "stop")
    assert told == {"status": "accepted", "checks": [], "cited": [1, 2], "ending": "completed", "notice": None}
    assert (usage.prompt_tokens, usage.completion_tokens) == (11, 22)
    assert read(url)[3] is None


def test_a_stop_and_no_withheld_byte_on_the_wire(model: Provider, url: str) -> None:
    plan: Plan = model.play(BAD, step=0.05, end="open")
    content, finish, told, _ = read(url)
    assert (content, finish) == (f"It opens at eight.\n\n{STOPPED}", "content_filter")
    assert (told["status"], told["checks"], told["notice"]) == ("stopped", ["unsupported_value"], STOPPED)
    assert plan.finished.wait(1)
    assert plan.left_after is not None
    model.play(BAD)
    body = {**request()["extra_body"], "model": "m", "messages": ASKED, "stream": True}
    assert CANARY.encode() not in httpx2.post(url + "/chat/completions", json=body).content


@pytest.mark.parametrize(
    ("payloads", "content", "finish"),
    [
        (
            [said("It opens at eight [S1]. And"), chat(finish_reason="length")],
            f"It opens at eight.\n\n{notice(Policy(), 'truncated')}",
            "length",
        ),
        ([said("NO_ANSWER "), chat(finish_reason="stop")], notice(Policy(), "refused"), "stop"),
        ([chat(finish_reason="stop")], notice(Policy(), "empty"), "stop"),
        ([said("It"), chat(finish_reason="content_filter")], notice(Policy(), "failed"), "content_filter"),
        ([said("<think>Hm 45</think>It opens at eight [S1]."), chat(finish_reason="stop")], "It opens at eight.", "stop"),
    ],
)
def test_how_an_answer_ends(model: Provider, url: str, payloads: list[Any], content: str, finish: str) -> None:
    model.play(frames(*payloads))
    assert read(url)[:2] == (content, finish)


@pytest.mark.parametrize(("payloads", "code"), [([said("It opens")], "no_evidence"), ([{"error": {"code": "gone"}}], "provider_error")])
def test_an_answer_that_fails_raises_in_the_client(model: Provider, url: str, payloads: list[Any], code: str) -> None:
    model.play(frames(*payloads))
    with pytest.raises(openai.APIError) as raised:
        read(url)
    assert raised.value.code == code


def test_without_streaming(model: Provider, url: str) -> None:
    with openai.OpenAI(base_url=url, api_key="x", max_retries=0) as client:
        model.play(GOOD)
        whole = client.chat.completions.create(**{**request(), "stream": False})
        assert (whole.choices[0].message.content, whole.choices[0].finish_reason) == (SHOWN, "stop")
        assert whole.usage is not None
        assert whole.usage.completion_tokens == 22
        model.play(BAD)
        stopped = client.chat.completions.create(**{**request(), "stream": False})
        assert stopped.choices[0].finish_reason == "content_filter"
        assert CANARY not in stopped.to_json()
        model.play(frames(said("It opens")))
        with pytest.raises(openai.APIStatusError) as raised:
            client.chat.completions.create(**{**request(), "stream": False})
        assert raised.value.status_code == 502


def test_what_the_model_is_asked(model: Provider, url: str) -> None:
    model.play(GOOD)
    read(url, temperature=0.5)
    sent = json.loads(model.requests[-1].body)
    assert "sentence_gate" not in sent
    assert (sent["stream"], sent["stream_options"], sent["temperature"]) == (True, {"include_usage": True}, 0.5)
    system, user = sent["messages"]
    assert user == ASKED[0]
    assert "[S1]" in system["content"]
    assert SOURCES[0] in system["content"]
    assert model.requests[-1].headers["authorization"] == "Bearer x"
    with openai.OpenAI(base_url=url, api_key="x", max_retries=0) as client:
        client.chat.completions.create(**{**request(prompt=False), "stream": False})
    assert json.loads(model.requests[-1].body)["messages"] == ASKED


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"sentence_gate": None}, "sources"),
        ({"sentence_gate": {"sources": "text"}}, "source"),
        ({"sentence_gate": {"sources": [{"body": "x"}]}}, "a source is"),
        ({"sentence_gate": {"sources": [], "on_violation": "observe"}}, "unknown field 'on_violation'"),
        ({"sentence_gate": {"sources": [], "language": "tlh"}}, "tlh"),
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"logprobs": True}, "logprobs"),
        ({"n": 2}, "one choice"),
        ({"messages": []}, "messages"),
        ({"sentence_gate": {"sources": [], "language": "a" * 300}}, "unknown language"),
    ],
)
def test_requests_that_are_refused(model: Provider, url: str, change: dict[str, Any], told: str) -> None:
    body = {"model": "m", "messages": ASKED, "stream": True, "sentence_gate": {"sources": SOURCES}, **change}
    response = httpx2.post(url + "/chat/completions", json=body)
    assert response.status_code == 400
    assert told in response.json()["error"]["message"]


def test_the_upstreams_refusal_is_passed_on(model: Provider, url: str) -> None:
    model.play([b'{"error": {"message": "slow down", "code": "rate_limit"}}'], status=429, content_type="application/json")
    with pytest.raises(openai.RateLimitError):
        read(url)
    with pytest.raises(UsageError, match="URL"):
        application("localhost:8000")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_number_that_json_does_not_have(model: Provider, url: str, number: str) -> None:
    body = json.dumps({"model": "m", "messages": ASKED, "sentence_gate": {"sources": []}})[:-1] + f', "temperature": {number}}}'
    response = httpx2.post(url + "/chat/completions", content=body)
    assert response.status_code == 400
    assert "number" in response.json()["error"]["message"]


def test_half_a_character_and_a_key_that_is_not_ascii_are_passed_on(model: Provider, url: str) -> None:
    model.play(GOOD)
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "\ud83d"}], "sentence_gate": {"sources": ["\ud83d"]}})
    response = httpx2.post(url + "/chat/completions", content=body, headers={"Authorization": "Bearer é".encode()})
    assert response.status_code == 200
    assert json.loads(model.requests[-1].body)["messages"][1]["content"] == "\ud83d"


@pytest.mark.parametrize(
    ("status", "body", "seen", "told"),
    [
        (400, {"error": {"message": "no JSON", "code": "json_validate_failed", "failed_generation": CANARY}}, 400, "no JSON"),
        (400, {"error": {"message": "no", "metadata": {"raw": CANARY}}, "generated": CANARY}, 400, "no"),
        (400, [{"error": {"message": "no", "details": [CANARY]}}], 400, "no"),
        (422, {"detail": "no model"}, 422, "no model"),
        (201, {"choices": [{"message": {"content": CANARY}}]}, 502, "201"),
    ],
)
def test_what_a_model_wrote_is_in_no_refusal(model: Provider, url: str, status: int, body: object, seen: int, told: str) -> None:
    model.play([json.dumps(body).encode()], status=status, content_type="application/json")
    response = httpx2.post(url + "/chat/completions", json={"model": "m", "messages": ASKED, "sentence_gate": {"sources": SOURCES}})
    assert response.status_code == seen
    assert told in response.text
    assert CANARY not in response.text


def test_the_question_may_come_in_parts(model: Provider) -> None:
    policy = Policy(question_supports_values=True)
    asked = [{"role": "user", "content": [{"type": "text", "text": "Is it open at 45?"}, {"type": "image_url", "image_url": {"url": "x"}}]}]
    model.play(frames(said("It does not open at 45 [S1]."), chat(finish_reason="stop")))
    with TestClient(application(model.url + "/v1/", policy)) as client:
        body = {"model": "m", "messages": asked, "sentence_gate": {"sources": SOURCES}}
        response = client.post("/v1/chat/completions", json=body)
    assert response.json()["choices"][0]["message"]["content"] == "It does not open at 45."


def test_a_reader_who_leaves_before_the_whole_answer(model: Provider, url: str) -> None:
    plan = model.play(BAD[:1] + frames(*[said("and so on ")] * 60), step=0.05, end="open")
    body = {"model": "m", "messages": ASKED, "sentence_gate": {"sources": SOURCES}}
    with pytest.raises(httpx2.ReadTimeout):
        httpx2.post(url + "/chat/completions", json=body, timeout=0.3)
    assert plan.finished.wait(2), "the model went on"
    assert plan.left_after is not None


def test_a_reader_who_leaves(model: Provider, url: str) -> None:
    plan = model.play(BAD[:1] + frames(*[said("and so on ")] * 60), step=0.05, end="open")
    with openai.OpenAI(base_url=url, api_key="x", max_retries=0) as client, client.chat.completions.create(**request()) as stream:
        next(iter(stream))
    assert plan.finished.wait(2), "the model went on"
    assert plan.left_after is not None


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_command_serves(model: Provider) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "sentence_gate", "serve", "--upstream", model.url, "--port", str(port)]
    with subprocess.Popen(command) as process:
        try:
            until = time.monotonic() + 20
            while not _listens(port):
                assert time.monotonic() < until, "it doesn't listen"
                time.sleep(0.05)
            model.play(GOOD)
            assert read(f"http://127.0.0.1:{port}/v1")[0] == SHOWN
        finally:
            process.terminate()


def test_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sentence_gate", "serve", "--upstream", "nowhere"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "nowhere" in done.stderr
