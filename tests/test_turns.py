"""One turn: the loop of model and tools, the final object, the trace. The campus assistant of the examples is run in both ways."""

import functools
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from sentence_gate import Policy, Released, Stopped, UsageError
from sentence_gate.contract import AnswerContract
from sentence_gate.store import SqliteStore
from sentence_gate.turns import Tool, Turn, chat, evals, run_turn, stream

EXAMPLE = Path(__file__).parent.parent / "examples" / "campus_assistant.py"
spec = importlib.util.spec_from_file_location("campus_assistant", EXAMPLE)
assert spec is not None
assert spec.loader is not None
campus = importlib.util.module_from_spec(spec)
spec.loader.exec_module(campus)

Chunk = Mapping[str, object]


class Script:
    """A model that plays chunks, a list a step; it knows whether its streams were closed and what it was asked."""

    def __init__(self, *steps: Sequence[Chunk | Exception]) -> None:
        self.steps = list(steps)
        self.asked: list[list[Mapping[str, object]]] = []
        self.declared: list[int] = []
        self.sent = 0
        self.open = 0

    def __call__(self, messages: Sequence[Mapping[str, object]], tools: Sequence[Mapping[str, object]]) -> Iterator[Chunk]:
        self.asked.append(list(messages))
        self.declared.append(len(tools))
        return self.play(self.steps.pop(0))

    def play(self, chunks: Sequence[Chunk | Exception]) -> Iterator[Chunk]:
        self.open += 1
        try:
            for chunk in chunks:
                if isinstance(chunk, Exception):
                    raise chunk
                self.sent += 1
                yield chunk
        finally:
            self.open -= 1


def said(text: str, reason: str = "stop") -> list[Chunk | Exception]:
    return [*(campus.chunk({"content": text[at : at + 5]}) for at in range(0, len(text), 5)), campus.chunk({}, reason)]


def called(*calls: tuple[str, str]) -> list[Chunk | Exception]:
    chunks: list[Chunk | Exception] = []
    for index, (name, arguments) in enumerate(calls):
        chunks.append(campus.chunk({"tool_calls": [{"index": index, "id": f"c{index}", "function": {"name": name, "arguments": ""}}]}))
        chunks += [
            campus.chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[at : at + 3]}}]})
            for at in range(0, len(arguments), 3)
        ]
    return [*chunks, campus.chunk({}, "tool_calls")]


GOOD = campus.answer("The library opens at 9:00 [S2].", "opening_hours", [])


def options(model: object, **more: object) -> dict[str, object]:
    return {"model": model, "contract": campus.CONTRACT, "sources": campus.KNOWLEDGE, **more}


WANTED = {
    "When does the AI club meet?": ("model", "answered", "The AI club meets on 8 May at 18:00. It meets in room 204."),
    "How many days until then?": ("model", "answered", "There are 3 days until the AI club meets on 8 May."),
    "Which is earlier?": ("model", "answered", "The AI club meets earlier, on 8 May. The chess club meets on 11 May."),
    "What is the Wi-Fi password?": ("model", "not_found", campus.CONTRACT.text("refused")),
    "When does the library open? (with chatter)": ("model", "answered", "The library opens at 9:00."),
    "When does the library open? (in a fence)": ("model", "answered", "The library opens at 9:00."),
    "When does the library open? (broken, mended)": ("repaired", "answered", "The library opens at 9:00."),
    "When does the library open? (in prose)": ("fallback", "needs_clarification", campus.CONTRACT.text("invalid")),
    "When does the library open? (wrong hour)": ("fallback", "needs_clarification", "The library opens at 9:00."),
    "When does the library open? (cut)": ("fallback", "needs_clarification", "The library opens at 9:00."),
}


@pytest.mark.parametrize("question", campus.SCRIPT)
def test_the_campus_assistant_in_chat_and_stream(question: str) -> None:
    def ways(model: object) -> dict[str, object]:
        return options(model, tools=campus.TOOLS, repair=campus.mend)

    turn = chat(question, **ways(campus.scripted(question)))
    origin, status, answer = WANTED[question]
    assert (turn.final.origin, turn.final.value["status"], turn.final.value["answer"]) == (origin, status, answer)
    assert campus.CONTRACT.validate(turn.final.value) == ()

    events = list(stream(question, **ways(campus.scripted(question))))
    assert isinstance(events[-1], Turn)
    assert events[-1].final.value == turn.final.value
    assert "".join(event.text for event in events if isinstance(event, Released)) == answer
    assert "11:45" not in repr(events) + json.dumps(dict(turn.trace)) + turn.final.json
    if question.startswith("What is the Wi-Fi"):
        assert turn.final.value["missing"] == ["the Wi-Fi password"]


def test_the_example_runs() -> None:
    for way in ([], ["--stream"]):
        done = subprocess.run([sys.executable, EXAMPLE, *way], capture_output=True, text=True, check=True, env={})
        assert done.stdout.count("> ") == len(campus.SCRIPT)
        assert "11:45" not in done.stdout


def test_tools_are_put_together_from_fragments_and_their_results_are_sources() -> None:
    tools = [
        Tool("seats", "Seats of a room.", lambda room: f"Room {room} has 48 seats."),
        Tool("price", "A price.", lambda: "A ticket costs 12 euros."),
    ]
    model = Script(
        called(("seats", '{"room": 204}'), ("price", "")),
        said(campus.answer("It has 48 seats [S4]. A ticket costs 12 euros [S5].", "clubs", [])),
    )
    turn = chat("How many seats?", **options(model, tools=tools))
    assert turn.final.value["answer"] == "It has 48 seats. A ticket costs 12 euros."
    assert [(call["tool"], call["outcome"]) for call in turn.trace["tools"]] == [("seats", "ok"), ("price", "ok")]
    assert model.declared == [2, 2]
    results = [message["content"] for message in model.asked[1] if message["role"] == "tool"]
    assert results == ["[S4] Room 204 has 48 seats.", "[S5] A ticket costs 12 euros."]
    assert "48 seats" in str(model.asked[1][0]["content"])


def broken() -> str:
    raise RuntimeError("the secret is 4711")


@pytest.mark.parametrize(
    ("call", "outcome"),
    [
        (("unknown", "{}"), "unknown"),
        (("broken", "{}"), "failed"),
        (("broken", '{"more": 1}'), "failed"),
        (("broken", "{not json"), "unreadable"),
        (("broken", "[1]"), "unreadable"),
        (("broken", '{"a":' * 5000 + "1" + "}" * 5000), "unreadable"),
        (("secret", "{}"), "forbidden"),
    ],
)
def test_calls_that_fail_are_answered_and_the_turn_goes_on(call: tuple[str, str], outcome: str) -> None:
    tools = [Tool("broken", "Fails.", broken), Tool("secret", "Must not run.", broken)]
    model = Script(called(call), said(GOOD))
    turn = chat("?", **options(model, tools=tools, permit=lambda name, arguments: name != "secret"))
    assert turn.final.origin == "model"
    assert [entry["outcome"] for entry in turn.trace["tools"]] == [outcome]
    assert "secret is" not in repr(model.asked) + repr(turn)


def test_a_permit_that_raises_forbids() -> None:
    def permit(name: str, arguments: object) -> bool:
        raise RuntimeError("the secret is 4711")

    model = Script(called(("broken", "{}")), said(GOOD))
    turn = chat("?", **options(model, tools=[Tool("broken", "Fails.", broken)], permit=permit))
    assert [entry["outcome"] for entry in turn.trace["tools"]] == ["forbidden"]
    assert "secret is" not in repr(model.asked) + repr(turn)


@pytest.mark.parametrize(("reason", "cause"), [("length", "truncated"), ("content_filter", "failed"), (None, "failed")])
def test_a_call_of_a_turn_that_was_cut_does_not_run(reason: str | None, cause: str) -> None:
    ran: list[str] = []
    whole = called(("price", ""))[:-1]
    model = Script([*whole, campus.chunk({}, reason)] if reason else whole)
    turn = chat("?", **options(model, tools=[Tool("price", "A price.", lambda: ran.append("price") or "12")]))
    assert (turn.final.cause, ran) == (cause, [])


def test_a_tool_that_does_not_exist_has_no_name_in_the_trace() -> None:
    turn = chat("?", **options(Script(called(("4711 euros", "{}")), said(GOOD))))
    assert [entry["outcome"] for entry in turn.trace["tools"]] == ["unknown"]
    assert "4711 euros" not in repr(turn)


def test_the_step_limit_ends_with_a_fixed_object() -> None:
    model = Script(*[called(("price", "{}"))] * 9)
    turn = chat("?", **options(model, tools=[Tool("price", "A price.", lambda: "12")], max_steps=3))
    assert len(model.asked) == 3
    assert (turn.final.cause, turn.final.value["answer"]) == ("step_limit", campus.CONTRACT.text("step_limit"))
    assert len(turn.trace["steps"]) == 3


def test_a_stop_closes_the_models_stream_before_the_reader_sees_it() -> None:
    text = campus.answer("The library opens at 9:00 [S2]. It closes at 23:45 [S2]. " + "More and more. " * 50, "opening_hours", [])
    model = Script(said(text))
    for event in stream("?", **options(model)):
        if isinstance(event, Stopped):
            break
        assert "23:45" not in repr(event)
    assert event.checks == ("unsupported_value",)
    assert model.sent < 40


def test_a_reader_who_leaves_closes_the_models_stream() -> None:
    model = Script(said(campus.answer("The library opens at 9:00 [S2]. It closes at 21:00 [S2].", "opening_hours", []) + " " * 500))
    events = stream("?", **options(model))
    next(event for event in events if isinstance(event, Released))
    assert model.open == 1
    events.close()  # type: ignore[attr-defined]
    assert model.open == 0


def test_a_model_that_fails_ends_the_turn_with_an_object() -> None:
    model = Script([*said(GOOD)[:6], ConnectionError("the fabricated value is 999")])
    turn = chat("?", **options(model))
    assert (turn.final.origin, turn.final.cause) == ("fallback", "failed")
    assert "fabricated value" not in repr(turn) + json.dumps(dict(turn.trace))  # digits alone may stand in its seconds
    assert turn.trace["error"] == "ConnectionError"


def test_memory_holds_questions_and_canonical_objects() -> None:
    first = chat("When does it open?", **options(Script(said("```\n" + GOOD + "\n```"))))
    model = Script(said(GOOD))
    second = chat("And today?", **options(model, history=first.messages))
    assert [message["role"] for message in second.messages] == ["user", "assistant", "user", "assistant"]
    assert json.loads(str(second.messages[1]["content"])) == first.final.value
    assert [message["role"] for message in model.asked[0]] == ["system", "user", "assistant", "user"]


def test_a_store_keeps_the_conversation(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "turns.db", keep_text=True) as store:
        kept = {"store": store, "conversation": "reader 7"}
        chat("When does it open?", **options(Script(said("Sure!\n" + GOOD)), **kept))
        model = Script(said(GOOD))
        second = chat("And today?", **options(model, **kept))
        assert store.history("reader 7") == second.messages
        assert [message["role"] for message in model.asked[0]] == ["system", "user", "assistant", "user"]
        assert "Sure!" not in repr(store.history("reader 7"))
    for wrong in ({"store": store}, {"conversation": "x"}, {**kept, "history": second.messages}):
        with pytest.raises(UsageError):
            chat("?", **options(Script(said(GOOD)), **wrong))


def test_reasoning_never_reaches_the_object() -> None:
    model = Script(said("<think>{'answer': 'I think 77'}</think>" + GOOD))
    assert chat("?", **options(model)).final.value["answer"] == "The library opens at 9:00."


def test_usage_counts_every_call() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 7}}
    model = Script([*called(("price", "{}")), usage], [*said(GOOD), usage])
    turn = chat("?", **options(model, tools=[Tool("price", "A price.", lambda: "12")]))
    assert (turn.usage.input_tokens, turn.usage.output_tokens, turn.usage.kind) == (200, 14, "reported")


def test_the_trace_is_one_line_of_json() -> None:
    lines: list[str] = []
    chat("?", **options(Script(said(GOOD.replace("9:00", "8:59"))), write_trace=lines.append))
    (line,) = lines
    assert "\n" not in line
    assert "8:59" not in line
    assert json.loads(line)["checks"] == ["unsupported_value"]


def test_evals_say_what_differed() -> None:
    ask = functools.partial(_ask, campus.scripted)
    lines = [
        '{"question": "When does the AI club meet?", "status": "answered", "category": "clubs"}',
        "",
        '{"question": "What is the Wi-Fi password?", "status": "not_found", "missing": ["the Wi-Fi password"]}',
        '{"question": "Which is earlier?", "status": "not_found"}',
    ]
    results = list(evals(lines, ask))
    assert [(result.line, result.wrong) for result in results] == [(1, ()), (3, ()), (4, (("status", "not_found", "answered"),))]
    for wrong in ("{", '{"status": "answered"}', '{"question": "?", "colour": "red"}'):
        with pytest.raises(UsageError, match="line 1"):
            list(evals([wrong], ask))


def _ask(scripted: object, question: str) -> Turn:
    return chat(question, **options(scripted(question)))  # type: ignore[operator]


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "gpt"},
        {"contract": Policy()},
        {"max_steps": 0},
        {"tools": [Tool("a", "", str), Tool("a", "", str)]},
        {"tools": [{"name": "a"}]},
        {"colour": "red"},
    ],
)
def test_wrong_options_are_told(wrong: dict[str, object]) -> None:
    with pytest.raises((UsageError, TypeError)):
        run_turn("?", **{**options(Script(said(GOOD))), **wrong})


def test_a_contract_in_another_language_asks_for_it() -> None:
    model = Script(said(GOOD))
    contract = AnswerContract(policy=Policy(language="fa"))
    chat("?", **options(model, contract=contract, instructions="About the campus."))
    system = str(model.asked[0][0]["content"])
    assert system.startswith("About the campus.")
    assert "Persian" in system
    assert "[S3]" in system
