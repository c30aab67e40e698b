"""The recipe for guardrails-api, over HTTP with a real OpenAI client."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

RECIPE = Path(__file__).parents[3] / "examples" / "guardrails" / "server"
BAD = ["The archive opens at 9:30 [S1]. The Zan", "zibar room closes at 23:45 sharp [S1]. ", "Quagga notes follow."]


@pytest.fixture
def server(desk: Any, provider: Any, tmp_path: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "GR_CONFIG_FILE_PATH": str(RECIPE / "config.py"),
        "GR_MIDDLEWARE_FILE_PATH": str(RECIPE / "middleware.py"),
        "OPENAI_API_BASE": provider.url,
        "OPENAI_BASE_URL": provider.url,
        "OPENAI_API_KEY": "none",
    }
    command = [sys.executable, "-W", "ignore", "-m", "uvicorn", "--factory", "guardrails_api.app:create_app", "--port", str(port)]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            assert process.poll() is None, process.stdout and process.stdout.read()
            try:
                urllib.request.urlopen(f"{url}/docs", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.communicate(timeout=30)


def ask(server: str, guard: str, *, stream: bool) -> Any:
    """The chunks of a stream, or a completion."""
    sources = json.dumps(["The archive opens at 9:30. A reader's card costs 12 euros."])
    asked = {"model": "openai/scripted", "messages": [{"role": "user", "content": "?"}], "extra_body": {"metadata": {"sources": sources}}}
    with openai.OpenAI(base_url=f"{server}/guards/{guard}/openai/v1", api_key="none", max_retries=0) as client:
        answer = client.chat.completions.create(stream=stream, **asked)
        return list(answer) if stream else answer


def test_clients_see_checked_text_only(desk: Any, server: str, provider: Any) -> None:
    told = f"{desk.FIRST}\n\n{desk.NOTICE}"
    provider.script = BAD
    chunks = ask(server, "archive", stream=True)
    assert "".join(chunk.choices[0].delta.content for chunk in chunks) == told
    assert not [canary for canary in desk.CANARIES if canary in "".join(chunk.model_dump_json() for chunk in chunks)]
    answer = ask(server, "archive-whole", stream=False)
    assert answer.choices[0].message.content == told
    assert not [canary for canary in desk.CANARIES if canary in answer.model_dump_json()]
    provider.script = ["The archive opens at 9:30 [S1]. Bring", " a pen"]
    assert "".join(chunk.choices[0].delta.content for chunk in ask(server, "archive", stream=True)) == f"{desk.FIRST} Bring a pen"
    assert ask(server, "archive-whole", stream=False).choices[0].message.content == f"{desk.FIRST} Bring a pen"

    # Guards of the other kind are rebuilt as stock guards: a stream lets nothing out, a whole answer is judged by Guardrails' rules.
    provider.script = BAD
    try:
        rebuilt = ask(server, "archive-whole", stream=True)
    except openai.APIError as error:
        rebuilt = [error]
    assert not [canary for canary in (*desk.CANARIES, desk.FIRST) if canary in str(rebuilt)]
    assert ask(server, "archive", stream=False).choices[0].message.content == told

    # The server's own route: a text is judged, a stream can't be gated there.
    def post(body: dict[str, Any]) -> str:
        body = {"metadata": {"sources": ["The archive opens at 9:30."]}, **body}
        request = urllib.request.Request(
            f"{server}/guards/archive/validate", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return str(response.read().decode())
        except (urllib.error.HTTPError, ConnectionError) as error:
            return str(error)
        except Exception as error:  # the stream breaks
            return f"{type(error).__name__}"

    judged = post({"llm_output": "".join(BAD)})
    assert json.dumps(told)[1:-1] in judged
    streamed = post({"model": "openai/scripted", "messages": [{"role": "user", "content": "?"}], "stream": True})
    assert not [canary for canary in desk.CANARIES if canary in streamed]


def test_the_recipe_is_two_files() -> None:
    assert {path.name for path in RECIPE.glob("*.py")} == {"config.py", "middleware.py"}
