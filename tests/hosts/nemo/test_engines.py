"""Construction, the wrappers around LLMRails, Colang 2.x, and the HTTP server with a real client."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
import uvicorn
from nemo_scripted import BAD, BAD_SHOWN, GOOD, GOOD_SHOWN, NOTICE, SOURCES, YML, Scripted, collect, config, messages, parts, rails, run
from nemoguardrails import Guardrails, LLMRails, RailsConfig
from nemoguardrails.integrations.langchain.runnable_rails import RunnableRails

from sentence_gate import UsageError
from sentence_gate.nemo import install

BAD_TOLD = f"{BAD_SHOWN}\n\n{NOTICE}"

# ------------------------------------------------------------------------------------------------ construction


def test_a_second_install_does_nothing() -> None:
    app, _ = rails()
    once = app.generate_async
    install(app)
    assert app.generate_async is once


def test_a_wrong_policy_key_is_told_at_construction() -> None:
    with pytest.raises((RuntimeError, UsageError)) as caught:  # newer releases of NeMo wrap it
        rails(yml=YML + "custom_data:\n  sentence_gate: {colour: red}\n")
    assert "unknown policy key 'colour'; the keys are language" in f"{caught.value} {caught.value.__cause__}"


def test_the_flow_is_added_if_the_user_forgot_it() -> None:
    yml = YML.replace("flows: [sentence gate]", "flows: []")
    config(yml)
    with pytest.warns(UserWarning, match="it was added"):
        app, _ = rails(BAD, yml=yml)
    assert parts(run(collect(app.stream_async(messages=messages()))))[0] == BAD_SHOWN


def test_a_method_that_the_gate_does_not_know_is_an_error() -> None:
    class Other:
        config = None

        async def generate_async(self, text: str) -> str:
            return text

        stream_async = generate_async

    with pytest.raises(UsageError, match="use a release that sentence-gate supports"):
        install(Other())


@pytest.mark.parametrize(
    "yml", [YML.replace("sentence_gate/rails", "sentence_gate/nowhere"), YML.replace("import_paths: [sentence_gate/rails]", "")]
)
def test_without_the_folder_nothing_is_built(yml: str) -> None:
    with pytest.raises(Exception, match=r"could not be resolved|does not exist"):
        rails(yml=yml)


def test_a_file_instead_of_a_folder_builds_nothing(tmp_path: Path) -> None:
    (tmp_path / "config.yml").write_text(YML)
    with pytest.raises(Exception, match=r"does not exist|Field required"):  # NeMo ignores import_paths of a file
        LLMRails(RailsConfig.from_path(str(tmp_path / "config.yml")), llm=Scripted(GOOD))
    app = LLMRails(RailsConfig.from_path(str(tmp_path)), llm=Scripted(BAD))
    assert _content(run(app.generate_async(messages=messages()))) == BAD_TOLD


def test_a_folder_of_the_same_name_in_the_working_directory_builds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sentence_gate" / "rails").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception, match="does not exist"):
        LLMRails(RailsConfig.from_content(yaml_content=YML), llm=Scripted(GOOD))


def test_streaming_that_is_not_enabled_is_refused_as_ever() -> None:
    app, _ = rails(yml=YML.replace("    streaming: {enabled: true}\n", ""))
    with pytest.raises(Exception, match="streaming"):
        run(_first(app))
    assert _content(run(app.generate_async(messages=messages()))) == GOOD_SHOWN


async def _first(app: Any) -> Any:
    return app.stream_async(messages=messages())


def _content(result: Any) -> str:
    return str(result["content"] if isinstance(result, dict) else result)


def test_the_installed_wheel_from_an_empty_folder(tmp_path: Path) -> None:
    program = f"""
import socket, sys
def refuse(*args, **kwargs): raise OSError("no network")
socket.socket.connect = refuse
sys.path.insert(0, {str(Path(__file__).parent)!r})
import asyncio
from nemo_scripted import BAD, collect, messages, rails
app, model = rails(BAD)
print("".join(asyncio.run(collect(app.stream_async(messages=messages())))))
assert "fastembed" not in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, cwd="/", env={**os.environ, "HOME": str(tmp_path)}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(BAD_SHOWN)
    assert not list(tmp_path.rglob("usage_stats*"))


def test_the_command_that_prints_the_folder() -> None:
    for arguments, name in ((["nemo-path"], "sentence_gate.rails"), (["nemo-path", "--colang", "2"], "sentence_gate.rails_v2")):
        done = subprocess.run([sys.executable, "-m", "sentence_gate", *arguments], capture_output=True, text=True, check=True)
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert [done.stdout.strip()] == list(spec.submodule_search_locations or ())


# ------------------------------------------------------------------------------------------------ wrappers


def test_the_guardrails_wrapper_and_its_engines() -> None:
    app = Guardrails(config().model_copy(deep=True), llm=Scripted(BAD))
    assert _content(run(app.generate_async(messages=messages()))) == BAD_TOLD
    assert parts(run(collect(app.stream_async(messages=messages()))))[0] == BAD_SHOWN
    with pytest.raises(Exception):  # noqa: B017, PT011 - NeMo has no one error for it; what counts is that nothing is built
        Guardrails(config().model_copy(deep=True), llm=Scripted(BAD), require_iorails=True)


def test_the_other_engine_by_environment_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEMO_GUARDRAILS_IORAILS_ENGINE", "1")
    app = Guardrails(config().model_copy(deep=True), llm=Scripted(BAD))
    assert parts(run(collect(app.stream_async(messages=messages()))))[0] == BAD_SHOWN


def test_runnable_rails() -> None:
    runnable = RunnableRails(config().model_copy(deep=True), llm=None, passthrough=False)
    runnable.rails.update_llm(Scripted(BAD))
    given = {"input": "When?", "context": {"relevant_chunks_sep": SOURCES}}
    told = runnable.invoke(given)
    assert "7" not in str(told)
    assert BAD_SHOWN in str(told)

    async def streamed() -> str:
        return "".join([str(getattr(chunk, "content", chunk)) async for chunk in runnable.astream(given)])

    text = run(streamed())
    assert BAD_SHOWN in text
    assert NOTICE in text
    assert "costs 7" not in text


# ------------------------------------------------------------------------------------------------ Colang 2.x

MAIN_2 = """
import core
{guardrails}

flow main
  match UtteranceUserAction.Finished() as $event
  $text = await PassthroughLLMAction(user_message=$event.final_transcript)
  bot say $text

{rails}
"""
OUTPUT_RAILS_2 = """
flow output rails $output_text
  sentence gate $output_text
"""
YML_2 = """
colang_version: "2.x"
import_paths: [sentence_gate/rails_v2]
"""


@pytest.mark.parametrize("text", [GOOD, BAD])
@pytest.mark.parametrize("rail", [True, False])
def test_colang_2_generates_and_streams_gated(text: str, rail: bool) -> None:
    main = MAIN_2.format(guardrails="import guardrails" if rail else "", rails=OUTPUT_RAILS_2 if rail else "")
    model = Scripted(text)
    app = LLMRails(RailsConfig.from_content(colang_content=main, yaml_content=YML_2), llm=model)
    whole = _content(run(app.generate_async(messages=messages())))
    assert whole == (GOOD_SHOWN if text == GOOD else BAD_TOLD)
    shown, payloads = parts(run(collect(app.stream_async(messages=messages()))))
    assert shown == (GOOD_SHOWN if text == GOOD else BAD_SHOWN)
    assert len(payloads) == (0 if text == GOOD else 1)
    assert model.closed == model.opened


# ------------------------------------------------------------------------------------------------ the HTTP server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, Scripted]]]:
    """NeMo's own server on loopback, with the yml of the README; its configurations' models are scripted."""
    from nemoguardrails.server import api

    root = tmp_path_factory.mktemp("configs")
    models: dict[str, Scripted] = {}
    for name, text in (("good", GOOD), ("bad", BAD), ("long", GOOD + " " + GOOD * 200)):
        (root / name).mkdir()
        (root / name / "config.yml").write_text(YML)
        models[name] = Scripted(text, stall=len(GOOD) * 4 if name == "long" else None)
    api.app.rails_config_path = str(root)
    api.set_default_config_id("good")
    real = api.LLMRails

    def build(config: RailsConfig, **more: Any) -> LLMRails:
        return real(config=config, llm=models[Path(str(config.config_path)).name], verbose=False)

    api.LLMRails = build
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = uvicorn.Server(uvicorn.Config(api.app, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}", models
    running.should_exit = True
    thread.join(10)
    api.LLMRails = real


def body(name: str, **more: Any) -> dict[str, Any]:
    guardrails = {"config_id": name, "context": {"relevant_chunks_sep": SOURCES}, **more.pop("guardrails", {})}
    return {"model": "scripted", "messages": [{"role": "user", "content": "When?"}], "guardrails": guardrails, **more}


def test_the_openai_client_reads_gated_sentences_then_the_notice(server: tuple[str, dict[str, Scripted]]) -> None:
    client = openai.OpenAI(base_url=server[0] + "/v1", api_key="none", max_retries=0)
    extra = {"guardrails": body("bad")["guardrails"]}
    stream = client.chat.completions.create(
        model="scripted", messages=[{"role": "user", "content": "When?"}], stream=True, extra_body=extra
    )
    got: list[str] = []
    with pytest.raises(openai.APIError, match="withheld"):
        got.extend(chunk.choices[0].delta.content or "" for chunk in stream)
    assert "".join(got) == BAD_SHOWN
    whole = client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "When?"}], extra_body=extra)
    assert whole.choices[0].message.content == BAD_TOLD


EVERYTHING = {"llm_output": True, "output_vars": True, "log": {"activated_rails": True, "llm_calls": True, "internal_events": True}}


@pytest.mark.parametrize("options", [{}, {"rails": {"output": False}}, {"rails": ["input", "dialog"]}, EVERYTHING])
def test_no_byte_on_the_wire_holds_what_was_withheld(server: tuple[str, dict[str, Scripted]], options: dict[str, Any]) -> None:
    for streaming in (True, False):
        sent = body(
            "bad", stream=streaming, guardrails={"options": options, "context": {"relevant_chunks_sep": SOURCES, "skip_output_rails": True}}
        )
        answer = httpx.post(server[0] + "/v1/chat/completions", json=sent, timeout=20)
        assert "costs 7" not in answer.text
        assert BAD_SHOWN in answer.text


def test_checks_over_http(server: tuple[str, dict[str, Scripted]]) -> None:
    sent = body("bad")
    sent["messages"] = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": BAD}]
    answer = httpx.post(server[0] + "/v1/checks", json=sent, timeout=20)
    assert answer.status_code == 200
    assert "costs 7" not in json.dumps(answer.json().get("content", ""))
    assert "blocked" in answer.text


def test_a_client_that_disconnects_closes_the_model(server: tuple[str, dict[str, Scripted]]) -> None:
    model = server[1]["long"]
    with httpx.stream("POST", server[0] + "/v1/chat/completions", json=body("long", stream=True), timeout=20) as answer:
        for line in answer.iter_lines():
            if "opens" in line:
                break
    for _ in range(200):
        if model.closed == model.opened:
            break
        time.sleep(0.02)
    assert model.closed == model.opened == 1
    assert model.sent < len(GOOD) * 5


@pytest.mark.parametrize("way", [[], ["--serve"]])
def test_the_example_runs(way: list[str], tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "examples" / "nemo" / "assistant.py"
    done = subprocess.run([sys.executable, "-W", "ignore", example, *way], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "closes at 20:00. On Saturdays it closes at 14:00." in done.stdout
    assert "withheld" in done.stdout
    assert "Pensioners" not in done.stdout
