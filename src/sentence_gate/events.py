"""Frozen records that cross the wall between the core and its callers. No behaviour beyond printing and construction.

Offsets are code points in the stream, half-open. No `repr` shows text that may be withheld.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from .errors import UsageError

if TYPE_CHECKING:
    from .sources import Sources

SentenceKind = Literal["prose", "heading", "lead_in", "item", "row", "code"]
EndingKind = Literal[
    "completed", "stop_sequence", "tool_call", "truncated", "refused", "filtered", "provider_error", "no_evidence", "cancelled"
]
Status = Literal["open", "accepted", "stopped", "refused", "truncated", "empty", "cancelled", "failed"]
UsageKind = Literal["reported", "running", "estimated", "unknown"]
ENDING_KINDS: tuple[str, ...] = get_args(EndingKind)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the stream.

    `text` is trimmed of white space and keeps its markers; it equals `stream[start:end]`. `lead` is the white space before it. `markers`
    are the source numbers that it cites itself, in order, counted from 1 whatever the style's base; 0 stands for a number that no source
    can have (a reversed or huge range, a number below the base). `cites` adds what it inherits. `prose` is what a reader sees.
    """

    text: str = field(repr=False)
    lead: str = field(repr=False)
    start: int
    end: int
    markers: tuple[int, ...]
    cites: tuple[int, ...]
    prose: str = field(repr=False)
    kind: SentenceKind


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that one sentence broke. `detail` says what was wrong and may quote the sentence: it is in no repr and no `to_dict`."""

    check: str
    detail: str = field(default="", repr=False)
    length: int = 0
    start: int = 0
    end: int = 0

    def to_dict(self) -> dict[str, Any]:
        """What is safe to log and send."""
        return {"check": self.check, "length": self.length, "start": self.start, "end": self.end}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one attempt. `kind` says how the numbers were come by: reported by the provider, a running report, an estimate, or
    unknown.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    kind: UsageKind = "unknown"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "kind": self.kind,
        }


@dataclass(frozen=True, slots=True)
class Ending:
    """How the provider's stream ended, by evidence in the provider's own protocol (specification section 7). One constructor a kind."""

    kind: EndingKind
    provider_reason: str | None = None
    evidence: str | None = None
    usage: Usage | None = None
    transport: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in ENDING_KINDS:
            raise UsageError(f"unknown kind of ending {self.kind!r}; the kinds are {', '.join(ENDING_KINDS)}")
        if self.usage is not None and not isinstance(self.usage, Usage):
            raise UsageError(f"the usage of an ending is a Usage or None, not {type(self.usage).__name__}")

    @classmethod
    def completed(cls, provider_reason: str | None = None, **more: Any) -> Ending:
        """The model's turn ended by itself."""
        return cls("completed", provider_reason, **more)

    @classmethod
    def stop_sequence(cls, provider_reason: str | None = None, **more: Any) -> Ending:
        """A stop sequence of the request was met."""
        return cls("stop_sequence", provider_reason, **more)

    @classmethod
    def tool_call(cls, provider_reason: str | None = None, **more: Any) -> Ending:
        """The turn ended in a call of a tool."""
        return cls("tool_call", provider_reason, **more)

    @classmethod
    def truncated(cls, provider_reason: str | None = None, **more: Any) -> Ending:
        """The output limit was met: what stands last is not whole."""
        return cls("truncated", provider_reason, **more)

    @classmethod
    def refused(cls, provider_reason: str | None = None, **more: Any) -> Ending:
        """The model refused, by the provider's own sign."""
        return cls("refused", provider_reason, **more)

    @classmethod
    def filtered(cls, provider_reason: str | None = None, **more: Any) -> Ending:
        """A content filter of the provider ended the stream."""
        return cls("filtered", provider_reason, **more)

    @classmethod
    def provider_error(cls, provider_reason: str | None = None, **more: Any) -> Ending:
        """The provider reported an error, or a reason that nobody knows."""
        return cls("provider_error", provider_reason, **more)

    @classmethod
    def no_evidence(cls, provider_reason: str | None = None, **more: Any) -> Ending:
        """The stream is over and its channel, which can carry a reason, carried none."""
        return cls("no_evidence", provider_reason, **more)

    @classmethod
    def cancelled(cls, provider_reason: str | None = None, **more: Any) -> Ending:
        """The reader left before there was other evidence."""
        return cls("cancelled", provider_reason, **more)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without `notes` of the transport's own words."""
        return {
            "kind": self.kind,
            "provider_reason": self.provider_reason,
            "evidence": self.evidence,
            "usage": self.usage.to_dict() if self.usage else None,
            "transport": self.transport,
            "notes": list(self.notes),
        }


WHOLE = -1


@dataclass(frozen=True, slots=True)
class ToolPiece:
    """A piece of a call that the model makes of one of the caller's tools; pieces with one `index` belong to one call.

    `index` WHOLE (-1) marks a call that came in one piece: it belongs to no other. `arguments` is JSON text, to be joined over the
    pieces; it is in no repr. `id` and `name` come once, mostly with the first piece.
    """

    index: int = 0
    id: str | None = None
    name: str | None = None
    arguments: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Delta:
    """What one payload of a provider says, as facts: nothing is added up here.

    `text` is answer text, `reasoning` what the model thought aloud, `refusal` its words where the protocol has a channel of its own for a
    refusal. `ending` is set by a payload that says how the turn ended, `usage` by one that reports it (kind "reported" if it is the last
    word, "running" if more may follow). `closing` marks the event after which the protocol sends nothing more.
    """

    text: str = field(default="", repr=False)
    reasoning: str = field(default="", repr=False)
    tool: tuple[ToolPiece, ...] = ()
    ending: Ending | None = None
    usage: Usage | None = None
    refusal: str = field(default="", repr=False)
    closing: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What became of an answer. It may be read at any time; `status` is "open" until the end.

    `text` is what was released, `sentences` how many were judged, `withheld_chars` the code points up to the end of the failing sentence
    (or of the stream if there was no stop) that were neither released nor markers taken out, `cited` the sources of released sentences in
    order of first use, `notice` the fixed localised text for the reader, if there is one.
    """

    status: Status
    text: str
    sentences: int
    violations: tuple[Violation, ...]
    withheld_chars: int
    cited: tuple[int, ...]
    ending: Ending | None
    usage: Usage | None
    notice: str | None

    def to_dict(self) -> dict[str, Any]:
        """What is safe to log and send: no detail of a violation, nothing withheld."""
        return {
            "status": self.status,
            "text": self.text,
            "sentences": self.sentences,
            "violations": [violation.to_dict() for violation in self.violations],
            "withheld_chars": self.withheld_chars,
            "cited": list(self.cited),
            "ending": self.ending.to_dict() if self.ending else None,
            "usage": self.usage.to_dict() if self.usage else None,
            "notice": self.notice,
        }


@dataclass(frozen=True, slots=True)
class Released:
    """Text that may be shown now, and the sources that its sentence cites."""

    text: str
    cites: tuple[int, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"event": "released", "text": self.text, "cites": list(self.cites)}


@dataclass(frozen=True, slots=True)
class Omitted:
    """A sentence was left out (`on_violation="omit"`); what was wrong is in the outcome's violations."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"event": "omitted"}


@dataclass(frozen=True, slots=True)
class Stopped:
    """The gate stopped for good; `checks` are the names of the failed checks, `notice` the text for the reader."""

    checks: tuple[str, ...]
    notice: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"event": "stopped", "checks": list(self.checks), "notice": self.notice}


@dataclass(frozen=True, slots=True)
class Refused:
    """The sources don't hold the answer, or the model refused."""

    notice: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"event": "refused", "notice": self.notice}


@dataclass(frozen=True, slots=True)
class Truncated:
    """The answer was cut by the output limit; this is no violation."""

    notice: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"event": "truncated", "notice": self.notice}


@dataclass(frozen=True, slots=True)
class Failed:
    """The provider failed, filtered, or left no evidence of an end."""

    notice: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"event": "failed", "notice": self.notice}


@dataclass(frozen=True, slots=True)
class Empty:
    """The answer was accepted and nothing was released."""

    notice: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"event": "empty", "notice": self.notice}


@dataclass(frozen=True, slots=True)
class Done:
    """The last event of every stream."""

    report: Report

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"event": "done", "report": self.report.to_dict()}


Event = Released | Omitted | Stopped | Refused | Truncated | Failed | Empty | Done


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one feed brought. `text` is the join of the `Released` events, "" if nothing may be shown yet; a notice is never part of it."""

    text: str = ""
    stopped: bool = False
    violations: tuple[Violation, ...] = ()
    events: tuple[Event, ...] = ()


class PolicyView(Protocol):
    """What a check sees of a policy."""

    @property
    def language(self) -> str: ...
    @property
    def min_words(self) -> int: ...
    @property
    def first_person(self) -> bool: ...
    @property
    def citation_scope(self) -> Literal["sentence", "paragraph"]: ...
    @property
    def requires_citation(self) -> bool: ...


class Check(Protocol):
    """A rule: what it finds wrong with one sentence. The gate fills length and offsets of what it yields.

    A check that raises is a violation `check_failed`: closed when in doubt.
    """

    def __call__(self, sentence: Sentence, sources: Sources, policy: PolicyView, /) -> Iterable[Violation]: ...
