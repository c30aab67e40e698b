"""`GatedGuard` and `AsyncGatedGuard`: guards whose every answer goes through the gate before Guardrails sees it.

A call's model is wrapped, whether it is a callable or named by `model=`; an answer that is not streamed, and a text given to `validate`
or `parse`, is judged first and handed on as what was released. So history, spans, other validators and `raw_llm_output` hold checked text
only.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from guardrails import AsyncGuard, Guard
from guardrails.classes.validation_outcome import ValidationOutcome
from guardrails.errors import ValidationError
from guardrails.types import OnFailAction

from sentence_gate import Report, UsageError

from .binding import GateNotBound
from .fields import gated_paths
from .session import BLANK, KEY, Session
from .validator import SentenceGate
from .verdict import accepted, reason
from .wrapper import wrap


class GatedGuard(Guard):
    """A `Guard` that lets nothing out before it was checked. It needs one `SentenceGate` on its text, or some on fields of its answer.

    Wrong or missing sources, a guard without a SentenceGate and `on_fail="reask"` with `stream=True` raise UsageError before the model is
    called. A stream is closed with its upstream at the stop, when the reader leaves and when another validator raises; a structured answer
    comes as one piece, when it is complete. `validation_passed` is right for every outcome.
    """

    def __call__(self, llm_api: Callable[..., Any] | None = None, *args: Any, metadata: dict[str, Any] | None = None, **kwargs: Any) -> Any:
        """`Guard.__call__`, gated."""
        session = _session(self, metadata, stream=bool(kwargs.get("stream")))
        if llm_api is None and kwargs.get("model"):
            llm_api = _completion
        result = super().__call__(wrap(llm_api, session) if llm_api else None, *args, metadata={**(metadata or {}), KEY: session}, **kwargs)
        return _whole(self, result, session) if isinstance(result, ValidationOutcome) else _read(self, result, session)

    def parse(
        self, llm_output: str, *args: Any, metadata: dict[str, Any] | None = None, llm_api: Callable[..., Any] | None = None, **kwargs: Any
    ) -> Any:
        """`Guard.parse` (and `validate`), gated."""
        session = _session(self, metadata, stream=False)
        if llm_api is None and kwargs.get("model"):
            llm_api = _completion
        outcome = super().parse(
            _clean(session, llm_output),
            *args,
            metadata={**(metadata or {}), KEY: session},
            llm_api=wrap(llm_api, session) if llm_api else None,
            **kwargs,
        )
        return _whole(self, outcome, session)


class AsyncGatedGuard(AsyncGuard):
    """An `AsyncGuard` that lets nothing out before it was checked; see `GatedGuard`."""

    async def __call__(
        self, llm_api: Callable[..., Any] | None = None, *args: Any, metadata: dict[str, Any] | None = None, **kwargs: Any
    ) -> Any:
        """`AsyncGuard.__call__`, gated."""
        session = _session(self, metadata, stream=bool(kwargs.get("stream")))
        if llm_api is None and kwargs.get("model"):
            llm_api = _acompletion
        result = await super().__call__(
            wrap(llm_api, session) if llm_api else None, *args, metadata={**(metadata or {}), KEY: session}, **kwargs
        )
        return _whole(self, result, session) if isinstance(result, ValidationOutcome) else _aread(self, result, session)

    async def parse(
        self, llm_output: str, *args: Any, metadata: dict[str, Any] | None = None, llm_api: Callable[..., Any] | None = None, **kwargs: Any
    ) -> Any:
        """`AsyncGuard.parse` (and `validate`), gated."""
        session = _session(self, metadata, stream=False)
        if llm_api is None and kwargs.get("model"):
            llm_api = _acompletion
        outcome = await super().parse(
            _clean(session, llm_output),
            *args,
            metadata={**(metadata or {}), KEY: session},
            llm_api=wrap(llm_api, session) if llm_api else None,
            **kwargs,
        )
        return _whole(self, outcome, session)


def _completion(*args: Any, **kwargs: Any) -> Any:
    """LiteLLM's `completion`, loaded when it is needed: it takes seconds."""
    from litellm import completion

    kwargs.pop("reask_messages", None)  # meant for Guardrails
    return completion(*args, **kwargs)


async def _acompletion(*args: Any, **kwargs: Any) -> Any:
    """LiteLLM's `acompletion`, in the same way."""
    from litellm import acompletion

    kwargs.pop("reask_messages", None)
    return await acompletion(*args, **kwargs)


def _session(guard: Guard, metadata: dict[str, Any] | None, *, stream: bool) -> Session:
    """The session of a call; raises UsageError for all that can be known to be wrong before a model is called."""
    if metadata is not None and not isinstance(metadata, dict):
        raise UsageError(f"metadata is a dict, not {type(metadata).__name__}")
    if guard._use_server:
        raise UsageError("a gated guard runs in this process; with use_server the text is validated, and shown, elsewhere")
    guard._fill_validator_map()
    output_type = guard._output_type
    places = {
        path: [gate for gate in validators if isinstance(gate, SentenceGate)]
        for path, validators in guard._validator_map.items()
        if path.startswith("$")
    }
    gates = [gate for found in places.values() for gate in found]
    session = Session(
        output_type, {id(gate): gate.binding(metadata) for gate in gates}, {path: list(map(id, found)) for path, found in places.items()}
    )
    if not gates or (not session.structured and not places.get("$")):
        raise GateNotBound(f"this {type(guard).__name__} has no SentenceGate on its answer: add one, .use(SentenceGate())")
    if unseen := next((path for path in gated_paths(guard._base_model) if path not in places), None):
        raise GateNotBound(
            f"Guardrails doesn't look at {unseen}, so its SentenceGate would not be asked. It sees fields of a model, of a list of models "
            "and of typing.Optional[Model]; not of Model | None, dict[str, Model], a list in a list, a tuple, an optional list"
        )
    if not session.structured and len(places["$"]) > 1:
        raise UsageError("a guard takes one SentenceGate for its text; this one has two")
    for gate in gates:
        if stream and (refusal := gate.refuses_stream()):
            raise refusal
    return session


def _clean(session: Session, text: Any) -> Any:
    return session.clean(text) if isinstance(text, str) else text


def _whole(guard: Guard, outcome: Any, session: Session) -> Any:
    """The outcome of an answer that was not streamed, without the blank that stands for nothing; its call's log gets the tokens."""
    call = _call(guard, outcome)
    for iteration, usage in zip(call.iterations if call else (), session.usages, strict=False):
        if usage is not None and (response := iteration.outputs.llm_response_info) is not None:
            response.prompt_token_count, response.response_token_count = usage.input_tokens, usage.output_tokens
    untold = session.untold()
    if untold:
        _raise_untold(guard, untold)
        outcome.validation_passed = False
    if session.nothing and outcome.raw_llm_output == BLANK:
        outcome.raw_llm_output = ""
        if outcome.validated_output == BLANK:
            outcome.validated_output = ""
    return outcome


def _read(guard: GatedGuard, outcomes: Iterator[Any], session: Session) -> Iterator[Any]:
    try:
        for outcome in outcomes:
            if _told(guard, outcome, session):
                yield outcome
        _raise(session)
        _raise_untold(guard, session.untold())
    finally:
        for stream in session.streams:
            stream.close()


async def _aread(guard: AsyncGatedGuard, outcomes: AsyncIterator[Any], session: Session) -> AsyncIterator[Any]:
    try:
        async for outcome in outcomes:
            if _told(guard, outcome, session):
                yield outcome
        _raise(session)
        _raise_untold(guard, session.untold())
    finally:
        for stream in session.streams:
            await stream.aclose()


def _raise_untold(guard: Guard, untold: dict[int, Report]) -> None:
    """Raises for gates that Guardrails left out and that ask for an exception."""
    for gate in guard._validators:
        if id(gate) in untold and gate.on_fail_descriptor is OnFailAction.EXCEPTION:
            raise ValidationError(f"Validation failed for field with errors: {reason(untold[id(gate)])}")


def _raise(session: Session) -> None:
    """Raises what `on_fail="exception"` asks for, after the stream: other validators may have held released text to its end."""
    if (report := _raising(session)) is not None:
        raise ValidationError(f"Validation failed for field with errors: {reason(report)}")


def _raising(session: Session) -> Report | None:
    """The report that an exception will tell of."""
    for stream in session.streams:
        report = stream.report
        if report is not None and not accepted(report) and stream.owner.on_fail_descriptor is OnFailAction.EXCEPTION:
            return report
    return None


def _told(guard: Guard, outcome: Any, session: Session) -> bool:
    """Sets whether the validation passed so far; says whether the outcome tells the reader anything."""
    if _failed(guard, outcome, session):
        outcome.validation_passed = False
    return outcome.validated_output != "" or (not outcome.validation_passed and _raising(session) is None)


def _failed(guard: Guard, outcome: Any, session: Session) -> bool:
    if session.structured:
        return session.failed
    stream = session.streams[-1]
    if stream.report is None or stream.chunk is None or stream.chunk.kind != "end":
        return False
    if not accepted(stream.report):
        return True
    # Asynchronous guards say True whatever the other validators found; the call's own log knows.
    call = _call(guard, outcome)
    return call is not None and call.iterations.last is not None and bool(call.iterations.last.failed_validations)


def _call(guard: Guard, outcome: Any) -> Any:
    """The log of this very call; None if later ones have pushed it out of the history."""
    return next((call for call in guard.history if call.id == outcome.call_id), None)
