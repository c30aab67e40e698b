"""Every other way that an answer takes through NeMo, and the ways round the gate."""

import asyncio
import json
import warnings
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemo_scripted import BAD, BAD_SHOWN, GOOD, GOOD_SHOWN, NOTICE, SOURCES, YML, Scripted, collect, config, messages, parts, rails, run
from nemoguardrails import LLMRails, RailsConfig
from nemoguardrails.actions import action
from nemoguardrails.actions.rail_outcome import RailOutcome
from nemoguardrails.rails.llm.options import RailStatus, RailType
from nemoguardrails.streaming import StreamingHandler

BAD_TOLD = f"{BAD_SHOWN}\n\n{NOTICE}"


def content(result: Any) -> str:
    """The text of any result that NeMo gives."""
    if isinstance(result, str):
        return result
    if isinstance(result, Mapping):
        return str(result["content"])
    response = result.response
    return response if isinstance(response, str) else str(response[-1]["content"])


# ------------------------------------------------------------------------------------------------ generate, check


@pytest.mark.parametrize(
    ("text", "told"), [(GOOD, GOOD_SHOWN), (BAD, BAD_TOLD), ("NO_ANSWER", "The available sources do not answer this question.")]
)
def test_every_way_to_generate_agrees(text: str, told: str) -> None:
    app, _ = rails(text)

    async def ways() -> list[str]:
        return [
            content(await app.generate_async(messages=messages())),
            content(await app.generate_async(messages=messages(), options={"log": {"activated_rails": True}})),
            content(await app.generate_async(messages=messages(), state={})),
        ]

    assert run(ways()) == [told] * 3
    assert content(app.generate(messages=messages())) == told


def test_a_prompt_gets_a_string() -> None:
    app, _ = rails("Short and free.")
    assert run(app.generate_async(prompt="When?")) == "Short and free."


def test_check_says_blocked_by_the_gate() -> None:
    app, _ = rails()

    async def check(text: str) -> Any:
        return await app.check_async([*messages(), {"role": "assistant", "content": text}], rail_types=[RailType.OUTPUT])

    blocked = run(check(BAD))
    assert (blocked.status, blocked.rail, blocked.content) == (RailStatus.BLOCKED, "sentence gate", BAD_TOLD)
    passed = run(check(GOOD))
    assert (passed.status, passed.content) == (RailStatus.MODIFIED, GOOD_SHOWN)


def test_an_empty_and_a_cut_answer_get_their_notice() -> None:
    app, _ = rails("")
    assert content(run(app.generate_async(messages=messages()))) == "There was no answer to this question."
    app, _ = rails("The library opens at 9:00 [S1]. It is", reason="length")
    assert content(run(app.generate_async(messages=messages()))).startswith("The library opens at 9:00.\n\nThis answer was cut")


SENTENCES = [
    "The library opens at 9:00 [S1].",
    "A card costs 5 euros [S1].",
    "The café closes at 6 [S2].",
    "A card costs 7 euros [S1].",
    "Yes.",
    "NO_ANSWER",
]


@settings(max_examples=25)
@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4), st.integers(1, 9))
def test_streaming_and_generating_agree(chosen: list[str], size: int) -> None:
    app, _ = rails(" ".join(chosen), size=size)
    text, payloads = parts(run(collect(app.stream_async(messages=messages()))))
    whole = content(run(app.generate_async(messages=messages())))
    told = json.loads(payloads[0])["error"]["message"] if payloads else ""
    assert whole == (f"{text}\n\n{told}" if told and text else text or told)


# ------------------------------------------------------------------------------------------------ modes of the configuration

DIALOG = """
define user ask hours
  "When does it open?"

define flow
  user ask hours
  bot answer hours
"""
NO_EMBEDDINGS = "core:\n  embedding_search_provider: {name: words}\n"


class Words:
    """Finds the example that shares most words: no embeddings, no download."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    async def add_item(self, item: Any) -> None:
        self.items.append(item)

    async def add_items(self, items: list[Any]) -> None:
        self.items += items

    async def build(self) -> None:
        return

    async def search(self, text: str, max_results: int = 20, threshold: float | None = None) -> list[Any]:
        return self.items[:max_results]


@pytest.mark.parametrize("mode", ["dialog", "single_call"])
def test_dialog_and_single_call(mode: str) -> None:
    yml = YML + NO_EMBEDDINGS
    if mode == "single_call":
        yml = yml.replace("rails:\n", "rails:\n  dialog: {single_call: {enabled: true}}\n")
        texts = ['  ask hours\nbot answer hours\n  "' + BAD + '"']
    else:
        texts = ["  ask hours", '  "' + BAD + '"']
    model = Scripted("")
    model.texts = [*texts]
    app = LLMRails(RailsConfig.from_content(colang_content=DIALOG, yaml_content=yml), llm=model)
    app.register_embedding_search_provider("words", lambda **_: Words())
    whole = content(run(app.generate_async(messages=messages())))
    assert "7" not in whole
    assert whole.startswith(BAD_SHOWN)
    model.texts = [*texts]
    text, payloads = parts(run(collect(app.stream_async(messages=messages()))))
    assert (text.strip(), len(payloads)) == (BAD_SHOWN, 1)
    assert model.closed == model.opened


def test_passthrough_with_sources() -> None:
    app, model = rails(BAD, yml="passthrough: true\n" + YML)
    assert content(run(app.generate_async(messages=messages()))) == BAD_TOLD
    assert parts(run(collect(app.stream_async(messages=messages()))))[0] == BAD_SHOWN
    assert all("relevant_chunks" not in prompt for prompt in model.prompts)


def test_passthrough_function() -> None:
    app, _ = rails("unused", yml="passthrough: true\n" + YML)

    async def own(context: Any, events: Any) -> tuple[str, dict[str, Any]]:
        return BAD, {}

    app.passthrough_fn = own
    assert content(run(app.generate_async(messages=messages()))) == BAD_TOLD
    text, payloads = parts(run(collect(app.stream_async(messages=messages()))))
    assert (text, len(payloads)) == (BAD_SHOWN, 1)


CANNED = """
define user greet
  "hello"

define bot greet back
  "Welcome, I am your librarian. Ask me 3 things."

define flow
  user greet
  bot greet back

define subflow no insults
  if $user_message == "insult"
    bot refuse insult
    stop

define bot refuse insult
  "I can't respond to that, and I say so 4 times."
"""


def test_canned_messages_and_refusals_pass_verbatim() -> None:
    yml = YML.replace("rails:\n", "rails:\n  input: {flows: [no insults]}\n") + NO_EMBEDDINGS
    app, _ = rails("  greet", yml=yml, colang=CANNED)
    app.register_embedding_search_provider("words", lambda **_: Words())
    refusal = "I can't respond to that, and I say so 4 times."
    insult = [messages()[0], {"role": "user", "content": "insult"}]
    assert content(run(app.generate_async(messages=insult))) == refusal
    assert "".join(run(collect(app.stream_async(messages=insult)))) == refusal
    greeting = "Welcome, I am your librarian. Ask me 3 things."
    assert content(run(app.generate_async(messages=messages()))) == greeting
    assert "".join(run(collect(app.stream_async(messages=messages())))) == greeting


# ------------------------------------------------------------------------------------------------ other rails beside the gate

PROBE = """
define subflow probe rail
  $seen = execute probe(text=$bot_message)
  if $seen.is_blocked
    bot refuse probe
    stop

define bot refuse probe
  "Probed."
"""


def with_probe(text: str, flows: str, blocks: str | None = None, raises: bool = False, **more: str) -> tuple[LLMRails, Scripted, list[str]]:
    seen: list[str] = []

    @action(name="probe", is_system_action=True)
    async def probe(text: str = "", **_: Any) -> RailOutcome:
        seen.append(text)
        if raises:
            raise RuntimeError("the probe broke")
        return RailOutcome.block() if blocks and blocks in text else RailOutcome.allow()

    yml = YML.replace("[sentence gate]", flows)
    for key, value in more.items():
        yml = yml.replace("  output:\n", f"  output:\n    {key}: {value}\n")
    config(yml, PROBE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        app, model = rails(text, yml=yml, colang=PROBE)
    app.register_action(probe, "probe")
    return app, model, seen


@pytest.mark.parametrize("flows", ["[probe rail, sentence gate]", "[sentence gate, probe rail]"])
@pytest.mark.parametrize("parallel", ["false", "true"])
def test_other_rails_judge_gated_sentences(flows: str, parallel: str) -> None:
    app, _, seen = with_probe(GOOD, flows, parallel=parallel)
    assert "".join(run(collect(app.stream_async(messages=messages())))) == GOOD_SHOWN
    assert all("[S" not in text for text in seen)
    assert seen[0] == BAD_SHOWN
    assert app.config.rails.output.flows[-1] == "sentence gate"
    assert app.config.rails.output.parallel is False


@pytest.mark.parametrize("flows", ["[probe rail, sentence gate]", "[sentence gate, probe rail]"])
def test_another_rail_that_blocks_has_its_own_payload(flows: str) -> None:
    app, model, _ = with_probe(GOOD * 20, flows, blocks="card")
    text, payloads = parts(run(collect(app.stream_async(messages=messages()))))
    assert text == BAD_SHOWN
    assert [json.loads(payload)["error"]["param"] for payload in payloads] == ["probe rail"]
    assert (model.closed, model.sent < 100) == (1, True)
    vanilla = LLMRails(
        config(YML.replace("import_paths: [sentence_gate/rails]", "").replace("[sentence gate]", "[probe rail]"), PROBE), llm=Scripted(GOOD)
    )
    vanilla.register_action(app.runtime.action_dispatcher.get_action("probe"), "probe")

    async def without_gate() -> list[str]:
        return await collect(vanilla.stream_async(messages=messages()))

    assert payloads == parts(run(without_gate()))[1]
    assert content(run(app.generate_async(messages=messages()))) == "Probed."


def test_the_gates_stop_beside_another_rail() -> None:
    app, model, seen = with_probe(BAD, "[probe rail, sentence gate]")
    text, payloads = parts(run(collect(app.stream_async(messages=messages()))))
    assert text == BAD_SHOWN
    assert [json.loads(payload)["error"]["param"] for payload in payloads] == ["sentence gate"]
    assert model.closed == 1
    assert all("7" not in text for text in seen)


def test_another_rail_that_raises_fails_closed() -> None:
    app, model, _ = with_probe(GOOD, "[probe rail, sentence gate]", raises=True)
    text, payloads = parts(run(collect(app.stream_async(messages=messages()))))
    assert text == ""
    assert [json.loads(payload)["error"]["type"] for payload in payloads] == ["internal_error"]
    assert model.closed == 1


# ------------------------------------------------------------------------------------------------ sources

RETRIEVAL = """
define subflow find things
  $relevant_chunks_sep = execute find_chunks
"""


def test_sources_of_a_retrieval_rail() -> None:
    yml = YML.replace("rails:\n", "rails:\n  retrieval: {flows: [find things]}\n")
    app, _ = rails("  ask hours", yml=yml + NO_EMBEDDINGS, colang=RETRIEVAL + DIALOG)
    app.register_embedding_search_provider("words", lambda **_: Words())

    @action(name="find_chunks", is_system_action=True)
    async def find_chunks() -> list[str]:
        return SOURCES

    app.register_action(find_chunks, "find_chunks")
    app.llm.texts = ["  ask hours", '  "' + BAD + '"']
    assert content(run(app.generate_async(messages=messages(None)))).startswith(BAD_SHOWN)
    model = getattr(app.llm, "_model", app.llm)
    model.texts = ["  ask hours", '  "' + BAD + '"']
    text, payloads = parts(run(collect(app.stream_async(messages=messages(None)))))
    assert (text.strip(), len(payloads)) == (BAD_SHOWN, 1)


def test_wrong_sources_are_told() -> None:
    app, _ = rails()
    wrong = [{"role": "context", "content": {"relevant_chunks_sep": 7}}, messages()[-1]]
    with pytest.raises(ValueError, match="relevant_chunks_sep is a list of texts"):
        run(app.generate_async(messages=wrong))


# ------------------------------------------------------------------------------------------------ ways round the gate


@pytest.mark.parametrize("options", [{"rails": {"output": False}}, {"rails": ["input", "dialog"]}, {"rails": ["dialog"]}])
def test_output_rails_cannot_be_switched_off(options: dict[str, Any]) -> None:
    app, _ = rails(BAD)
    assert content(run(app.generate_async(messages=messages(), options=options))) == BAD_TOLD
    assert parts(run(collect(app.stream_async(messages=messages(), options=options))))[0] == BAD_SHOWN


@pytest.mark.parametrize("key", ["skip_output_rails", "bot_message", "sentence_gate_session", "sg_text"])
def test_a_context_message_cannot_switch_it_off(key: str) -> None:
    app, _ = rails(BAD)
    given = [
        {"role": "context", "content": {"relevant_chunks_sep": SOURCES, key: True if key == "skip_output_rails" else "Safe."}},
        messages()[-1],
    ]
    assert content(run(app.generate_async(messages=given))) == BAD_TOLD
    assert parts(run(collect(app.stream_async(messages=given))))[0] == BAD_SHOWN


def test_a_streaming_handler_of_the_callers_gets_gated_text() -> None:
    app, model = rails(BAD)

    async def through() -> tuple[list[str], Any, Any]:
        handler = StreamingHandler()
        result = await app.generate_async(messages=messages(), streaming_handler=handler)
        chunks = [chunk async for chunk in handler]
        return chunks, result, await app.generate_async(messages=messages(["Nothing."]))

    chunks, result, after = run(through())
    text, payloads = parts(chunks)
    assert (text, len(payloads)) == (BAD_SHOWN, 1), "it gets what a reader of the stream gets"
    assert content(result) == BAD_TOLD
    assert content(after) == NOTICE, "the handler doesn't stay behind in the caller's context"
    assert model.closed == 1


@pytest.mark.parametrize("text", ["<think>I plan 4711.</think>" + GOOD, GOOD])
def test_reasoning_is_in_no_result(text: str) -> None:
    app, _ = rails(text, reasoning="I think of 4711.")
    assert content(run(app.generate_async(messages=messages()))) == GOOD_SHOWN
    result = run(app.generate_async(messages=messages(), options={"log": {"activated_rails": True}}))
    assert (content(result), result.reasoning_content) == (GOOD_SHOWN, None)


def test_without_its_wrapper_the_rail_blocks() -> None:
    app, _ = rails(GOOD)

    async def around() -> list[str]:
        return await collect(app.sentence_gate._stream(messages=messages()))

    text, payloads = parts(run(around()))
    assert text == ""
    assert payloads


def test_nothing_withheld_is_in_a_log(caplog: pytest.LogCaptureFixture) -> None:
    app, _ = rails("The library opens at 9:00 [S1]. The canary costs 4711 [S1].")
    caplog.set_level("DEBUG", logger="sentence_gate")
    run(collect(app.stream_async(messages=messages())))
    assert "4711" not in "".join(record.getMessage() for record in caplog.records if record.name.startswith("sentence_gate"))


# ------------------------------------------------------------------------------------------------ several turns


def test_the_next_turn_holds_what_the_reader_saw() -> None:
    app, model = rails(GOOD)

    async def talk() -> None:
        first = "".join(await collect(app.stream_async(messages=messages())))
        chain = [*messages(), {"role": "assistant", "content": first}, *messages(["It closes at 18:00."], "And when does it close?")]
        model.texts = ["It closes at 18:00 [S1]."]
        assert "".join(await collect(app.stream_async(messages=chain))) == "It closes at 18:00."
        assert GOOD_SHOWN in model.prompts[-1]
        model.texts = [BAD]
        await collect(app.stream_async(messages=messages()))
        model.texts = [GOOD]
        assert "".join(await collect(app.stream_async(messages=messages()))) == GOOD_SHOWN

    run(talk())


def test_two_instances_one_with_and_one_without() -> None:
    gated, _ = rails(BAD)
    plain = LLMRails(RailsConfig.from_content(yaml_content="models: []"), llm=Scripted(BAD))

    async def both() -> tuple[str, str]:
        return tuple(await asyncio.gather(*(_whole(app) for app in (gated, plain))))  # type: ignore[return-value]

    assert run(both()) == (BAD_TOLD, BAD)


async def _whole(app: LLMRails) -> str:
    return content(await app.generate_async(messages=messages()))
