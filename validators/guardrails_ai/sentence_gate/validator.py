"""`SentenceGate`, the validator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from guardrails.types import OnFailAction
from guardrails.validator_base import FailResult, PassResult, ValidationResult, Validator, register_validator

from sentence_gate import Policy, UsageError

from .binding import Binding, GateNotBound, bind, read_sources
from .handshake import Chunk
from .session import KEY, Session
from .verdict import Failed, Fixed, Withheld, accepted, notice_piece, reason, replaced_result, whole_result
from .wrapper import ending_of

_UNGATED = (
    "SentenceGate was given a stream that no gate checks, and lets none of it out. Guardrails tells a validator neither where a stream "
    "ends nor what is shown beside the validation. Use GatedGuard or AsyncGatedGuard, or wrap the model: "
    "guard(gated(llm), ..., stream=True)"
)
_REPLACED = (
    "a validator before SentenceGate replaced the mark that begins a stream, so no gate is bound: put SentenceGate first in use(...)"
)
_REASK = 'on_fail="reask" cannot take back a stream, so the model was not called: stream with another on_fail, or call without stream=True'


@register_validator(name="sentence_gate/sentence_gate", data_type="string")
class SentenceGate(Validator):
    """Releases an answer sentence by sentence, each one only after it was checked against the sources that it cites.

    | Property | Value |
    | --- | --- |
    | Name for `format` attribute | `sentence_gate/sentence_gate` |
    | Supported data types | `string` |
    | Programmatic fix | what was released, then a notice |

    The parameters are the fields of `sentence_gate.Policy` as plain data (`checks` is a list of names), and `sources` for every call.
    Metadata of a call: `sources` (a list, a mapping from id to text, or a JSON string of either; they win over the parameter), `language`
    and `question`. One instance serves any number of calls, threads and tasks; it keeps nothing of an answer.

    A stream must come from `gated(llm)` or through a gated guard; any other raises, and so do missing or wrong sources. The exception and
    all messages hold the number of the sentence and the names of the checks, never text of the answer.
    """

    override_value_on_pass = True

    def __init__(
        self,
        sources: Any = None,
        language: str | None = None,
        on_fail: str | OnFailAction | Callable[[Any, FailResult], Any] | None = None,
        **policy: Any,
    ) -> None:
        if isinstance(on_fail, str) and on_fail not in (actions := [action.value for action in OnFailAction]):
            raise UsageError(f"on_fail is one of {', '.join(actions)}, or a callable, not {on_fail!r}")
        given = {"sources": sources, "language": language, **policy}
        given = {name: value for name, value in given.items() if value is not None}
        base = {name: given.pop(name) for name in ("use_local", "validation_endpoint") if name in given}
        self._policy = Policy.from_mapping({name: value for name, value in given.items() if name != "sources"})
        self._sources = None if sources is None else read_sources(sources)
        super().__init__(on_fail=on_fail, **given, **base)
        self.required_metadata_keys = [] if self._sources is not None else ["sources"]

    def binding(self, metadata: Mapping[str, Any] | None) -> Binding:
        """What a call with this metadata is judged by. Raises UsageError if its sources, language or question are missing or wrong."""
        return bind(self._policy, self._sources, metadata or {})

    def refuses_stream(self) -> UsageError | None:
        """Why this gate can't judge a stream, if it can't."""
        return UsageError(_REASK) if self.on_fail_descriptor is OnFailAction.REASK else None

    # ------------------------------------------------------------------------------------------------ a whole text

    def _validate(self, value: Any, metadata: dict[str, Any]) -> ValidationResult:
        """The verdict on a whole text; its value is what was released."""
        session = _session(metadata)
        if session is not None and (report := session.verdict(self, value)) is not None:
            return whole_result(report, len(report.text))
        if value is None or isinstance(value, Fixed):
            return PassResult()
        if session is not None and (report := session.replaced(self, value)) is not None:
            return replaced_result(report, value)
        if not isinstance(value, str):
            raise UsageError(f"SentenceGate validates text, not {type(value).__name__}: put it on a field of type str")
        binding = self._bound(session, metadata)
        return whole_result(binding.judge(value, ending_of(value)), len(value))

    async def async_validate(self, value: Any, metadata: dict[str, Any]) -> ValidationResult:
        """`validate`, in the loop's thread: a sentence takes microseconds, a change of threads more."""
        return self.validate(value, metadata)

    def _bound(self, session: Session | None, metadata: Mapping[str, Any] | None) -> Binding:
        return session.bindings[id(self)] if session is not None and id(self) in session.bindings else self.binding(metadata)

    # ------------------------------------------------------------------------------------------------ a stream

    def validate_stream(self, chunk: Any, metadata: dict[str, Any], *, context: Any = None, **kwargs: Any) -> ValidationResult:
        """Answers the chunks of a gated stream. Raises GateNotBound for any other."""
        session = _session(metadata)
        if isinstance(chunk, Chunk):
            stream, kind, replaced = chunk.stream, chunk.kind, False
        elif session is not None and (held := session.unacknowledged()) is not None:
            chunk, stream, kind, replaced = held, held.stream, held.kind, True
            if kind == "begin":
                raise GateNotBound(_REPLACED)
        else:
            raise GateNotBound(_UNGATED)
        if kind == "begin":
            return self._begin(chunk, metadata, session, context)
        if kind == "notice":
            return PassResult(value_override=chunk, validated_chunk=chunk)
        if stream.owner is not self:
            raise UsageError("a guard takes one SentenceGate for its text; this one has two")
        stream.acknowledge()
        if kind == "end":
            return self._end(chunk, session)
        return PassResult(validated_chunk=chunk) if replaced else PassResult(value_override=chunk, validated_chunk=chunk)

    async def async_validate_stream(self, chunk: Any, metadata: dict[str, Any], **kwargs: Any) -> ValidationResult:
        """`validate_stream`, in the loop's thread."""
        return self.validate_stream(chunk, metadata, **kwargs)

    def _begin(self, chunk: Chunk, metadata: dict[str, Any], session: Session | None, context: Any) -> ValidationResult:
        if refusal := self.refuses_stream():
            raise refusal
        binding = self._bound(session, metadata)
        chunk.stream.bind(binding, self)
        if context is not None:
            chunk.stream.keep_in(context)
        if session is not None:
            return PassResult(value_override=chunk, validated_chunk=chunk)
        # Of a synchronous stream Guardrails hands this metadata to every later chunk: what a neighbour replaced is recognised by it.
        session = Session()
        session.streams.append(chunk.stream)
        return PassResult(value_override=chunk, validated_chunk=chunk, metadata={**metadata, KEY: session})

    def _end(self, chunk: Chunk, session: Session | None) -> ValidationResult:
        report = chunk.stream.report
        if report is None:
            raise GateNotBound(_UNGATED)
        if accepted(report):
            return PassResult(value_override=chunk, validated_chunk=chunk)
        later = session is not None and session.guarded and self.on_fail_descriptor is OnFailAction.EXCEPTION  # the guard raises it
        if later or self.on_fail_descriptor in (OnFailAction.FILTER, OnFailAction.REFRAIN):
            return Withheld(outcome="fail", error_message=reason(report), validated_chunk=chunk)
        return Failed(
            error_message=reason(report),
            fix_value=Chunk(notice_piece(report), "notice", chunk.stream),
            validated_chunk=chunk,
            error_spans=[],
        )

    def _set_on_fail_method(self, on_fail: Callable[[Any, FailResult], Any]) -> None:
        super()._set_on_fail_method(on_fail)

        def once(value: Any, result: FailResult) -> Any:
            if not isinstance(result, Failed):
                return on_fail(value, result)
            answers = result.answered()
            return answers[0] if answers else result.answered(on_fail(value, result))[0]

        self.on_fail_method = once


def _session(metadata: Mapping[str, Any] | None) -> Session | None:
    found = metadata.get(KEY) if metadata else None
    return found if isinstance(found, Session) else None
