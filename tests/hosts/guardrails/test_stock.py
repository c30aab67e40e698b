"""Contract pins: what stock Guardrails does today, that this host works around. One that fails after an upgrade says that a work-around
can go, or that the handshake must be looked at again. Each says what leans on it.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest

TEXT = "One is fine. Two is fine. Banned 2019 here. Four is fine. Tail text"


@pytest.fixture
def stock(desk: Any) -> Any:
    """A validator as the hub's are: it fails on a sentence with "Banned"."""
    from guardrails.validator_base import FailResult, PassResult, Validator, register_validator

    @register_validator(name="tests/stock", data_type="string")
    class Stock(Validator):
        def __init__(self, on_fail: Any = None) -> None:
            super().__init__(on_fail=on_fail)
            self.judged: list[str] = []

        def _validate(self, value: Any, metadata: Any) -> Any:
            self.judged.append(value)
            return FailResult(error_message="banned", fix_value="[X]") if "Banned" in value else PassResult()

    return Stock


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def stream(desk: Any, guard: Any, parts: list[str]) -> tuple[str, Exception | None, int]:
    """The text, the exception, and how many of the parts were pulled."""
    pulled: list[str] = []

    def llm(*_: Any, messages: Any = None, **__: Any) -> Any:
        for part in parts:
            pulled.append(part)
            yield part

    seen = desk.read("Guard", guard, llm, {})
    return seen.text, seen.error, len(pulled)


def astream(desk: Any, guard: Any, parts: list[str]) -> tuple[Any, Any]:
    class Response:
        @property
        def completion_stream(self) -> Any:
            async def each() -> Any:
                for part in parts:
                    yield part

            return each()

    async def llm(*_: Any, messages: Any = None, **__: Any) -> Response:
        return Response()

    seen = desk.read("AsyncGuard", guard, llm, {})
    return seen, seen.error


def test_the_release_line(desk: Any) -> None:
    from guardrails.version import GUARDRAILS_VERSION

    assert GUARDRAILS_VERSION.split(".")[:2] == ["0", "11"], "a new release line: read this file's failures before the bound is raised"


def test_fact_1_synchronous_streams_show_raw_text_before_it_is_validated(desk: Any, stock: Any) -> None:
    """Why the gate runs in the callable."""
    text, error, _ = stream(desk, desk.guardrails.Guard().use(stock(on_fail="exception")), pieces(TEXT, 4))
    assert "Banned 2019" in text
    assert type(error).__name__ == "ValidationError"
    text, _, _ = stream(desk, desk.guardrails.Guard().use(stock(on_fail="noop")), pieces(TEXT, 4))
    assert text == TEXT


def test_fact_1_filter_and_refrain_break_a_synchronous_stream(desk: Any, stock: Any) -> None:
    """Why the verdict takes no action for them (`Withheld`)."""
    for on_fail in ("filter", "refrain"):
        _, error, _ = stream(desk, desk.guardrails.Guard().use(stock(on_fail=on_fail)), pieces(TEXT, 4))
        assert isinstance(error, TypeError)


def test_fact_2_no_validator_hears_of_the_end(desk: Any, stock: Any) -> None:
    """Why there is an end mark: the tail is shown unjudged, or lost."""
    validator = stock(on_fail="noop")
    text, _, _ = stream(desk, desk.guardrails.Guard().use(validator), pieces("One is fine. Tail text", 4))
    assert text == "One is fine. Tail text"
    assert validator.judged == ["One is fine."]
    validator = stock(on_fail="noop")
    seen, _ = astream(desk, desk.guardrails.AsyncGuard().use(validator), pieces("One is fine. Tail text", 4))
    assert validator.judged == ["One is fine."]
    assert "Tail" not in seen.text


def test_fact_3_one_sentence_a_chunk(desk: Any, stock: Any) -> None:
    """Why one release is one chunk: of a whole answer in one chunk the first sentence is judged."""
    validator = stock(on_fail="exception")
    text, error, _ = stream(desk, desk.guardrails.Guard().use(validator), [TEXT])
    assert (text, error, validator.judged) == (TEXT, None, ["One is fine."])
    seen, _ = astream(desk, desk.guardrails.AsyncGuard().use(stock(on_fail="fix")), [TEXT])
    assert seen.text == "One is fine."


def test_fact_4_a_synchronous_validator_carries_text_into_the_next_call(desk: Any, stock: Any) -> None:
    """Why nothing is kept on the validator."""
    validator = stock(on_fail="noop")
    guard = desk.guardrails.Guard().use(validator)
    stream(desk, guard, pieces("Hello Ann. Your PIN is 4711", 4))
    stream(desk, guard, pieces("Hello Bob. All fine.", 4))
    assert any("4711Hello" in judged for judged in validator.judged)


def test_fact_5_tracing_reads_the_upstream_to_its_end(desk: Any, stock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Why a gated stream is false: the serialiser then leaves it alone."""
    parts = [*pieces(TEXT, 4), *["More. "] * 500]
    _, error, pulled = stream(desk, desk.guardrails.Guard().use(stock(on_fail="exception")), parts)
    assert error is not None
    assert pulled == len(parts)
    monkeypatch.setattr(desk.settings, "disable_tracing", True)
    _, error, pulled = stream(desk, desk.guardrails.Guard().use(stock(on_fail="exception")), parts)
    assert error is not None
    assert pulled < 20


def test_fact_7_the_default_service_ignores_what_a_pass_overrides(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Why a gated guard judges a whole answer first: a stock guard gives the text back with its markers."""
    text = "The archive opens at 9:30 [S1]."
    guard = desk.guardrails.Guard().use(desk.host.SentenceGate(sources=desk.SOURCES))
    assert guard.validate(text).validated_output == text
    monkeypatch.setenv("GUARDRAILS_RUN_SYNC", "true")
    assert guard.validate(text).validated_output == desk.FIRST


def test_fact_9_an_asynchronous_generator_is_no_stream(desk: Any, stock: Any) -> None:
    """Why `gated` gives an object that can be awaited and has a `completion_stream`."""

    async def llm(*_: Any, messages: Any = None, **__: Any) -> Any:
        yield "One is fine. "

    seen = desk.read("AsyncGuard", desk.guardrails.AsyncGuard().use(stock()), llm, {})
    assert type(seen.error).__name__ == "PromptCallableException"


def test_asynchronous_streams_always_say_that_they_passed(desk: Any, stock: Any) -> None:
    """Why a gated guard sets `validation_passed`."""
    seen, _ = astream(desk, desk.guardrails.AsyncGuard().use(stock(on_fail="noop")), pieces(TEXT, 4))
    assert "Banned" in seen.text
    assert all(outcome.validation_passed for outcome in seen.outcomes)


def test_chunks_travel_as_the_objects_they_are(desk: Any) -> None:
    """What the handshake leans on: a str is handed on as itself, if it is true. Were it copied, GateNotBound would be raised."""
    from guardrails.classes.output_type import OutputTypes
    from guardrails.run import StreamRunner

    chunk = desk.host.handshake.Chunk("", "begin", None)
    runner = StreamRunner.__new__(StreamRunner)
    runner.output_type = OutputTypes.STRING
    assert runner.get_chunk_text(chunk, None) is chunk
    assert "if not chunk:" in inspect.getsource(StreamRunner.get_chunk_text)
    assert runner.parse(chunk, {}, verified=set())[0] is chunk
    assert runner.get_chunk_text("", None) == ""


def test_an_answer_that_is_kept_is_plain_text(desk: Any) -> None:
    """Why verdicts on whole answers travel in the metadata: an LLMResponse copies its output."""
    from guardrails.classes.llm.llm_response import LLMResponse

    assert type(LLMResponse(output=desk.host.handshake.Chunk("a", "text", None)).output) is str


def test_metadata_reaches_the_validators_as_it_is(desk: Any) -> None:
    """What gated guards lean on: the session in the metadata is the same object, and serialises as an empty mapping."""
    from guardrails.validator_base import PassResult, Validator, register_validator

    got: list[Any] = []

    @register_validator(name="tests/metadata", data_type="string")
    class Metadata(Validator):
        def _validate(self, value: Any, metadata: Any) -> Any:
            got.append(metadata["session"])
            return PassResult()

    session = desk.host.session.Session()
    guard = desk.guardrails.Guard().use(Metadata())
    guard.validate("a", metadata={"session": session})
    assert got[0] is session
    assert '"session":{}' in guard.history.last.model_dump_json()


def test_an_empty_answer_is_an_error_of_the_model(desk: Any, stock: Any) -> None:
    """Why a gated guard hands over a blank where nothing was released."""
    outcome = desk.guardrails.Guard().use(stock(on_fail="fix")).validate("")
    assert (outcome.validated_output, outcome.error) == (None, "Empty response received.")
