"""Every path an answer can take gives the same text, and no path shows a withheld character."""

import asyncio
import json
import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from library_script import (
    BAD,
    BEFORE,
    CANARY,
    CLEAN,
    GOOD,
    NOTICE,
    RAILS_V2,
    SOURCES,
    Script,
    ScriptedModel,
    SlowModel,
    asked,
    collect,
    config,
    drive,
    payload,
    rails,
)  # fmt: skip
from nemoguardrails import LLMRails
from nemoguardrails.rails.llm.options import GenerationResponse, RailStatus, RailType

from sentence_gate import Policy, judge
from sentence_gate.nemo import use_sources

DIALOG = """
define user ask hours
  "When does it open?"

define bot greet
  "I am the library's assistant, hello."

define flow hours
  user ask hours
  bot answer hours

define flow greeting
  user greet
  bot greet
"""
NO_EMBEDDINGS = "core:\n  embedding_search_provider:\n    name: none\n"
SIZES = [1, 3, 7, 0]


@pytest.fixture(scope="module")
def good() -> LLMRails:
    return rails(GOOD)


async def external(script: Script) -> Any:
    try:
        for piece in script.pieces():
            await asyncio.sleep(0)
            script.sent += 1
            yield piece
        script.ended = True
    finally:
        script.closed = True


async def dialogs(*scripts: Script | str, extra: str = "") -> LLMRails:
    from nemoguardrails.embeddings.index import EmbeddingsIndex, IndexItem

    class Nothing(EmbeddingsIndex):
        def __init__(self, **_: Any) -> None:
            pass

        async def add_items(self, items: list[IndexItem]) -> None:
            pass

        async def build(self) -> None:
            pass

        async def search(self, text: str, max_results: int = 5, threshold: Any = None) -> list[IndexItem]:
            return []

    app = rails(*scripts, colang=DIALOG, extra=NO_EMBEDDINGS + extra)
    app.register_embedding_search_provider("none", Nothing)
    return app


@pytest.mark.parametrize("size", SIZES)
def test_a_good_answer_is_one_chunk_a_sentence_without_markers(size: int) -> None:
    app = rails(Script(GOOD, size=size))
    assert drive(collect(app.stream_async(messages=asked()))) == [
        "The reading room opens at 9:00.", " It has 120 seats.", "\n\nA yearly card costs 25 euros.",
    ]  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
def test_a_bad_sentence_stops_the_stream(size: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="sentence_gate")
    app = rails(Script(BAD, size=size))
    *texts, last = drive(collect(app.stream_async(messages=asked())))
    assert "".join(texts) == BEFORE
    assert json.loads(last) == payload()
    assert not [record for record in caplog.records if record.name.startswith("sentence_gate") and CANARY in record.getMessage()]
    assert CANARY not in repr(app.events_history_cache)


@pytest.mark.parametrize("size", SIZES)
def test_a_callers_generator_is_gated(size: int) -> None:
    app = rails(GOOD)
    assert "".join(drive(collect(app.stream_async(messages=asked(), generator=external(Script(GOOD, size=size)))))) == CLEAN
    bad = Script(BAD, size=size)
    *texts, last = drive(collect(app.stream_async(messages=asked(), generator=external(bad))))
    assert ("".join(texts), json.loads(last), bad.closed) == (BEFORE, payload(), True)


def test_the_whole_answer(good: LLMRails) -> None:
    assert drive(good.generate_async(messages=asked())) == {"role": "assistant", "content": CLEAN}
    assert good.generate(messages=asked())["content"] == CLEAN
    bad = rails(BAD)
    assert bad.generate(messages=asked()) == {"role": "assistant", "content": f"{BEFORE}\n\n{NOTICE}"}


def test_a_prompt_has_no_sources_and_is_stopped(caplog: pytest.LogCaptureFixture) -> None:
    app = rails(GOOD)
    assert app.generate(prompt="When?") == NOTICE
    assert "relevant_chunks_sep" in caplog.text
    assert [json.loads(chunk) for chunk in drive(collect(app.stream_async(prompt="When?")))] == [payload()]
    assert rails("It opens early.").generate(prompt="When?") == "It opens early."


def test_with_options_and_with_a_state() -> None:
    app = rails(GOOD, BAD)
    result = app.generate(messages=asked(), options={"llm_params": {"temperature": 0}})
    assert isinstance(result, GenerationResponse)
    assert result.response == [{"role": "assistant", "content": CLEAN}]
    result = app.generate(messages=asked(), state={})
    assert result.response == [{"role": "assistant", "content": f"{BEFORE}\n\n{NOTICE}"}]
    assert "77 euros" not in json.dumps(result.model_dump(), default=repr)
    again = app.generate(messages=[{"role": "user", "content": "And?"}], state=result.state)
    assert again.response[0]["content"] == f"{BEFORE}\n\n{NOTICE}"  # the sources are in the state


@pytest.mark.parametrize("run", ["check", "check_async"])
def test_checks(good: LLMRails, run: str) -> None:
    def check(text: str, **more: Any) -> Any:
        messages = [*asked(), {"role": "assistant", "content": text}]
        return good.check(messages, **more) if run == "check" else drive(good.check_async(messages, **more))

    passed = check("It opens early.", rail_types=[RailType.OUTPUT])
    assert (passed.status, passed.content) == (RailStatus.PASSED, "It opens early.")
    modified = check(GOOD)
    assert (modified.status, modified.content) == (RailStatus.MODIFIED, CLEAN)
    blocked = check(BAD)
    assert (blocked.status, blocked.content, blocked.rail) == (RailStatus.BLOCKED, f"{BEFORE}\n\n{NOTICE}", "sentence gate")


def test_events(good: LLMRails) -> None:
    events = [
        {"type": "ContextUpdate", "data": {"relevant_chunks_sep": SOURCES}},
        {"type": "UtteranceUserActionFinished", "final_transcript": "?"},
    ]
    said = [event["script"] for event in good.generate_events(events) if event["type"] == "StartUtteranceBotAction"]
    assert said == [CLEAN]
    bad = [event["script"] for event in rails(BAD).generate_events(events) if event["type"] == "StartUtteranceBotAction"]
    assert bad == [f"{BEFORE}\n\n{NOTICE}"]


@pytest.mark.parametrize("size", [1, 3, 7])  # of a whole message in one chunk NeMo's handler leaves the closing quote
def test_dialog_mode(size: int) -> None:
    async def both() -> None:
        intents = ["ask hours", "bot answer hours"]
        app = await dialogs(intents[0], Script(f'  "{GOOD[:59]}"', size=size))
        assert "".join(await collect(app.stream_async(messages=asked()))) == "The reading room opens at 9:00. It has 120 seats."
        app = await dialogs(intents[0], Script(f'  "{BAD}"', size=size))
        *texts, last = await collect(app.stream_async(messages=asked()))
        assert ("".join(texts), json.loads(last)) == (BEFORE, payload())
        app = await dialogs(intents[0], f'  "{BAD}"')
        assert (await app.generate_async(messages=asked()))["content"] == f"{BEFORE}\n\n{NOTICE}"

    drive(both())


def test_canned_messages_pass_verbatim() -> None:
    async def both() -> None:
        app = await dialogs("greet")
        assert await collect(app.stream_async(messages=asked("Hi"))) == ["I am the library's assistant, hello."]
        app = await dialogs("greet")
        assert (await app.generate_async(messages=asked("Hi")))["content"] == "I am the library's assistant, hello."

    drive(both())


REFUSING = """
define bot refuse to respond
  "I am sorry, I won't answer this one."

define flow no hours
  $no = True
  bot refuse to respond
  stop
"""


def test_a_refusal_of_an_input_rail_passes_verbatim() -> None:
    extra = ""
    yml = """
import_paths: [{path}]
rails:
  input:
    flows: [no hours]
  output:
    flows: [sentence gate]
    streaming: {{enabled: true}}
custom_data:
  sentence_gate: {{notices: {{stopped: "{notice}"}}}}
"""
    app = rails(GOOD, colang=REFUSING, yml=yml, extra=extra)
    assert drive(collect(app.stream_async(messages=asked()))) == ["I am sorry, I won't answer this one."]
    assert app.generate(messages=asked())["content"] == "I am sorry, I won't answer this one."


def test_a_models_text_that_is_a_canned_text_and_goes_on_is_judged() -> None:
    canned = "I am sorry, I won't answer this one."
    app = rails(Script(chunks=[canned, " It costs 77 euros [S2]."]), colang=REFUSING)
    assert [json.loads(chunk) for chunk in drive(collect(app.stream_async(messages=asked())))] == [payload()]
    alone = rails(Script(chunks=[canned]), colang=REFUSING)
    assert drive(collect(alone.stream_async(messages=asked()))) == [canned]


@pytest.mark.parametrize("text", [GOOD[:59], BAD])
def test_single_call(text: str) -> None:
    async def both() -> None:
        script = Script(f'ask hours\nbot answer hours\n  "{text}"\n', size=5)
        app = await dialogs(script, extra="")
        app.config.rails.dialog.single_call.enabled = True
        chunks = await collect(app.stream_async(messages=asked()))
        if text == BAD:
            assert ("".join(chunks[:-1]), json.loads(chunks[-1])) == (BEFORE, payload())
            assert script.closed
        else:
            assert "".join(chunks) == "The reading room opens at 9:00. It has 120 seats."

    drive(both())


def test_passthrough() -> None:
    app = rails(GOOD, extra="passthrough: true\n")
    assert "".join(drive(collect(app.stream_async(messages=asked())))) == CLEAN
    assert app.generate(messages=asked())["content"] == CLEAN
    assert all(getattr(message, "role", "") != "context" for prompt in app.llm.prompts for message in prompt)
    bad = rails(BAD, extra="passthrough: true\n")
    assert json.loads(drive(collect(bad.stream_async(messages=asked())))[-1]) == payload()


def test_passthrough_function() -> None:
    app = rails("unused", extra="passthrough: true\n")

    async def answer(context: dict[str, Any], events: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
        return BAD, {"output": BAD, "documents": 2}

    app.passthrough_fn = answer
    *texts, last = drive(collect(app.stream_async(messages=asked())))
    assert ("".join(texts), json.loads(last)) == (BEFORE, payload())
    result = app.generate(messages=asked(), options={"output_vars": True})
    assert result.response[0]["content"] == f"{BEFORE}\n\n{NOTICE}"
    assert "77 euros" not in json.dumps(result.model_dump(), default=repr)
    assert result.output_data["passthrough_output"]["documents"] == 2


V2 = """
colang_version: "2.x"
import_paths: [{path}]
rails:
  output:
    streaming: {{enabled: true}}
custom_data:
  sentence_gate: {{notices: {{stopped: "{notice}"}}}}
"""
PASSING = """
import core
import passthrough
import guardrails

flow main
  activate llm continuation
  activate passthrough

flow llm continuation
  match UtteranceUserAction.Finished() as $event
  $answer = await PassthroughLLMAction(user_message=$event.final_transcript)
  bot say $answer

flow output rails $output_text
  sentence gate
"""
SAYING = """
import core
import guardrails

flow main
  user said something
  bot say "I am the library's assistant."

flow output rails $output_text
  sentence gate
"""


def v2(*scripts: Script | str, colang: str) -> LLMRails:
    return rails(*scripts, colang=colang, yml=V2, path=RAILS_V2)


ASKING = (
    PASSING.replace("  activate llm continuation\n  activate passthrough\n", "  activate answering\n")
    .replace("flow llm continuation", "flow answering")
    .replace("import passthrough\n", "")
)


@pytest.mark.parametrize("size", [3, 0])
def test_colang_2(size: int) -> None:
    app = v2(Script(GOOD, size=size), colang=ASKING)
    assert drive(app.generate_async(messages=asked()))["content"] == CLEAN
    assert "".join(drive(collect(app.stream_async(messages=asked())))) == CLEAN
    script = Script(BAD, size=size)
    bad = v2(script, colang=ASKING)
    *texts, last = drive(collect(bad.stream_async(messages=asked())))
    assert ("".join(texts), json.loads(last), script.closed) == (BEFORE, payload(), True)
    assert drive(bad.generate_async(messages=asked()))["content"] == f"{BEFORE}\n\n{NOTICE}"


def test_colang_2_without_the_flow_is_gated_all_the_same() -> None:
    bad = v2(BAD, colang=ASKING.replace("\nflow output rails $output_text\n  sentence gate\n", ""))
    assert drive(bad.generate_async(messages=asked()))["content"] == f"{BEFORE}\n\n{NOTICE}"
    assert json.loads(drive(collect(bad.stream_async(messages=asked())))[-1]) == payload()


def test_colang_2_literals_pass_verbatim_also_where_nemo_does_not_stream_them() -> None:
    app = v2("unused", colang=SAYING)
    assert drive(app.generate_async(messages=asked()))["content"] == "I am the library's assistant."
    assert drive(collect(app.stream_async(messages=asked()))) == ["I am the library's assistant."]


SENTENCES = [
    "It opens at 9:00 [S1].",
    "A card costs 25 euros [S2].",
    "A card costs 77 euros [S2].",
    "Ask there.",
    "NO_ANSWER",
    "It has 120 seats.",
]


@pytest.fixture(scope="module")
def scripted() -> tuple[LLMRails, ScriptedModel]:
    model = ScriptedModel("")
    app = rails("")
    app.update_llm(model)
    return app, model


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    parts=st.lists(st.sampled_from(SENTENCES), max_size=5), gap=st.sampled_from([" ", "\n\n"]), size=st.integers(0, 9), cut=st.booleans()
)
def test_all_paths_agree_with_the_core(scripted: tuple[LLMRails, ScriptedModel], parts: list[str], gap: str, size: int, cut: bool) -> None:
    app, model = scripted
    text = gap.join(parts)[: -1 if cut else None]
    report = judge(text, SOURCES, Policy(notices={"stopped": NOTICE}))
    script = Script(text, size=size)
    model.scripts = [script]
    chunks = drive(collect(app.stream_async(messages=asked())))
    whole = drive(app.generate_async(messages=asked()))["content"]
    checked = drive(app.check_async([*asked(), {"role": "assistant", "content": text}]))
    stopped = report.status == "stopped"
    streamed = "".join(chunks[:-1]) if stopped else "".join(chunks)
    if stopped:
        assert streamed == report.text
        assert json.loads(chunks[-1]) == payload()
    expected = report.text + ("" if report.notice is None else ("\n\n" if report.text.strip() else "") + report.notice)
    assert stopped or streamed == expected
    assert whole == checked.content == expected
    assert (checked.status is RailStatus.BLOCKED) == stopped


def test_colang_2_with_the_rail_in_the_yml() -> None:
    yml = V2.replace("  output:\n", "  output:\n    flows: [sentence gate]\n")
    colang = ASKING.replace("\nflow output rails $output_text\n  sentence gate\n", "")
    app = rails(BAD, colang=colang, yml=yml, path=RAILS_V2)
    assert drive(app.generate_async(messages=asked()))["content"] == f"{BEFORE}\n\n{NOTICE}"
    *texts, last = drive(collect(app.stream_async(messages=asked())))
    assert ("".join(texts), json.loads(last)) == (BEFORE, payload())


def test_colang_2_ends_with_its_caller() -> None:
    async def leave() -> None:
        model = SlowModel(GOOD)
        app = v2("", colang=ASKING)
        app.update_llm(model)
        caller = asyncio.create_task(app.generate_async(messages=asked()))
        await asyncio.sleep(0.2)
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        assert model.ended

    drive(leave())


def test_runnable_rails_around_a_runnable() -> None:
    from langchain_core.runnables import RunnableLambda
    from nemoguardrails.integrations.langchain.runnable_rails import RunnableRails

    def answer(given: Any) -> dict[str, Any]:
        use_sources(SOURCES)
        return {"output": BAD, "documents": 2}

    runnable = RunnableRails(config(extra="passthrough: true\n"), passthrough=True, runnable=RunnableLambda(answer))
    assert runnable.invoke({"input": "When?"}) == {"output": f"{BEFORE}\n\n{NOTICE}", "documents": 2}


def test_the_ending_of_an_intents_call_is_not_the_answers() -> None:
    async def read() -> None:
        app = await dialogs(Script("greet", reason="length"))
        assert await collect(app.stream_async(messages=asked("Hi"))) == ["I am the library's assistant, hello."]
        app = await dialogs(Script("ask hours", reason="length"), Script(f'  "{GOOD[:59]}"', size=4))
        assert "".join(await collect(app.stream_async(messages=asked()))) == "The reading room opens at 9:00. It has 120 seats."

    drive(read())
