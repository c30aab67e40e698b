"""Attempts, drafts and finals: which attempt at an answer may become the answer. Pure: times come in as arguments, records go out.

Theory
------
An *intent* is one request of a user. An *attempt* is one call of a model for it; it has an id of its own and one *draft*, the text that was
released for it. A draft is not the answer: what a reader saw while it streamed may be cut, refused or cancelled a moment later. The answer
is the *final*, and an attempt becomes it only if all of this holds:

    the provider's ending is valid (its status is "accepted"), and not a call of tools;
    a check passed, of this very version of the draft (every change of the draft makes a new version);
    the attempt is the intent's current one: not cancelled, not failed, not superseded by a newer attempt;
    the intent has no final yet, here or in the store.

    state       on                               to
    ----------  -------------------------------  ----------------------------------------------------
    active      text, tool                       active (a new version of the draft)
    active      end                              ended
    ended       check                            ended (passed, or not)
    ended       promote, all conditions hold     final; refused, if what was checked is a refusal
    active,     fail, cancel, a newer attempt    failed, cancelled, superseded
      ended
    any other   anything                         no change

A late piece of an old attempt therefore changes nothing; promoting twice makes one final; a second attempt starts with an empty draft, also
if its prompt says "continue". An answer that is refused because the sources don't hold it is an accepted refusal, counted apart.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from .endings import STATUS
from .errors import UsageError
from .events import WHOLE, Done, Ending, Event, Released, Report, ToolPiece, Usage

State = Literal["active", "ended", "final", "refused", "failed", "cancelled", "superseded"]
OPEN: tuple[State, ...] = ("active", "ended")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of a model. Times are seconds since the epoch, by the caller's clock; `reason` says why it is no answer.

    `version` counts the changes of the draft; `ending` is the kind of the provider's ending. `text` is the draft, in no repr.
    """

    id: str
    intent: str
    number: int
    started_at: float
    state: State = "active"
    reason: str | None = None
    first_text_at: float | None = None
    ended_at: float | None = None
    settled_at: float | None = None
    version: int = 0
    ending: str | None = None
    usage: Usage = Usage()  # noqa: RUF009 - frozen
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Final:
    """The one accepted answer to an intent; `refusal` if it says that there is none."""

    intent: str
    attempt: str
    accepted_at: float
    refusal: bool = False
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete call that the model made of one of the caller's tools. `arguments` are in no repr."""

    id: str | None
    name: str
    arguments: Mapping[str, Any] = field(repr=False)


class Store(Protocol):
    """Where attempts and finals are kept; `store.SqliteStore` is one. Every method is one transaction."""

    def save(self, attempt: Attempt) -> None:
        """Writes what is known of an attempt, over what was known of it."""
        ...

    def promote(self, attempt: Attempt, final: Final) -> bool:
        """Writes attempt and final together; False, and nothing written, if the intent has a final of another attempt."""
        ...

    def final(self, intent: str) -> Final | None:
        """The final of an intent."""
        ...

    def attempts_of(self, intent: str) -> int:
        """How many attempts an intent had."""
        ...


class _Draft:
    __slots__ = ("attempt", "ending", "handed_out", "passed", "pieces", "refusal", "tools")

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self.pieces: list[str] = []
        self.tools: list[ToolPiece] = []
        self.ending: Ending | None = None
        self.passed: int | None = None  # the version that a check passed
        self.refusal = False
        self.handed_out = False


class Attempts:
    """The attempts of one process; with a store, finals are unique among all processes that share it.

    Methods that take something of an attempt give False when it changed nothing: the attempt is over. An unknown id is a UsageError.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._drafts: dict[str, _Draft] = {}
        self._current: dict[str, str] = {}
        self._numbers: Counter[str] = Counter()
        self._finals: dict[str, Final] = {}

    def start(self, intent: str, attempt: str, now: float) -> Attempt:
        """A new attempt, before the request is sent. The intent's attempt that was open is superseded: it can't become the answer any more.

        Raises UsageError for an id that was used before.
        """
        if attempt in self._drafts:
            raise UsageError(f"attempt {attempt!r} was started before; every attempt has an id of its own")
        if not intent or not attempt:
            raise UsageError("an intent and an attempt have ids that are not empty")
        before = self._current.get(intent)
        if before is not None:
            ending = self._drafts[before].ending
            called = ending is not None and ending.kind == "tool_call"
            self._settle(before, "superseded", "tool_turn" if called else "superseded", now)
        if self._store is not None and intent not in self._numbers:
            self._numbers[intent] = self._store.attempts_of(intent)
        self._numbers[intent] += 1
        record = Attempt(attempt, intent, self._numbers[intent], now)
        if self._store is not None:
            self._store.save(record)
        self._drafts[attempt] = _Draft(record)
        self._current[intent] = attempt
        return record

    def take(self, attempt: str, event: Event, now: float) -> bool:
        """What `gate_stream` or `read_answer` gave: released text goes into the draft; `Done` ends the attempt and is the check of it."""
        if isinstance(event, Released):
            return self.text(attempt, event.text, now)
        if isinstance(event, Done):
            return self.done(attempt, event.report, now)
        return self._open(attempt) is not None

    def text(self, attempt: str, piece: str, now: float) -> bool:
        """Adds to the draft. Nothing is added once the attempt has ended."""
        draft = self._open(attempt)
        if draft is None or draft.ending is not None:
            return False
        if not piece:
            return True
        draft.pieces.append(piece)
        first = draft.attempt.first_text_at is None
        draft.attempt = replace(
            draft.attempt, version=draft.attempt.version + 1, first_text_at=now if first else draft.attempt.first_text_at
        )
        if first:
            self._save(draft)
        return True

    def tool(self, attempt: str, pieces: Iterable[ToolPiece]) -> bool:
        """Keeps pieces of tool calls until the message is complete."""
        draft = self._open(attempt)
        if draft is None or draft.ending is not None:
            return False
        draft.tools.extend(pieces)
        return True

    def end(self, attempt: str, ending: Ending, now: float, *, usage: Usage | None = None) -> bool:
        """The provider's ending. An invalid one fails the attempt, for the reason that is its kind; its usage counts all the same."""
        draft = self._open(attempt)
        if draft is None or draft.ending is not None:
            return False
        draft.ending = ending
        used = usage or ending.usage or Usage()
        draft.attempt = replace(draft.attempt, state="ended", ended_at=now, ending=ending.kind, usage=used)
        if STATUS[ending.kind] not in ("accepted", "refused"):
            return self._settle(attempt, "cancelled" if ending.kind == "cancelled" else "failed", ending.kind, now)
        self._save(draft)
        return True

    def check(self, attempt: str, version: int, *, passed: bool, reason: str = "check_failed", now: float) -> bool:
        """The verdict on one version of the draft. A pass of an older version is none; a failure ends the attempt whatever its version."""
        draft = self._open(attempt)
        if draft is None:
            return False
        if not passed:
            return self._settle(attempt, "failed", reason, now)
        if version != draft.attempt.version:
            return False
        draft.passed = version
        return True

    def done(self, attempt: str, report: Report, now: float) -> bool:
        """A gate's report, as ending and check in one: it passes if it is accepted, of exactly the text that the draft holds."""
        draft = self._open(attempt)
        if draft is None or report.ending is None:
            return False
        same = report.text == "".join(draft.pieces)
        if report.status == "refused" and same:
            # The upstream was closed at the no-answer token: the answer is the refusal, however the provider would have ended.
            draft.ending, draft.refusal = report.ending, True
            used = report.usage or Usage()
            draft.attempt = replace(draft.attempt, state="ended", ended_at=now, ending=report.ending.kind, usage=used)
            draft.passed = draft.attempt.version
            self._save(draft)
            return True
        if report.status == "accepted" and same:
            return self.end(attempt, report.ending, now, usage=report.usage) and self.check(
                attempt, draft.attempt.version, passed=True, now=now
            )
        draft.ending = report.ending
        draft.attempt = replace(draft.attempt, ended_at=now, ending=report.ending.kind, usage=report.usage or Usage())
        reason = report.ending.kind if report.status == "failed" else report.status if same else "other_draft"
        return self._settle(attempt, "cancelled" if reason == "cancelled" else "failed", reason, now)

    def fail(self, attempt: str, reason: str, now: float, *, report: Report | None = None) -> bool:
        """The attempt came to nothing: no connection, a status that is no success, an exception. `reason` is a short word."""
        self._tell(attempt, report)
        return self._settle(attempt, "failed", reason, now)

    def cancel(self, attempt: str, now: float, *, reason: str = "cancelled", report: Report | None = None) -> bool:
        """The user, or the caller, doesn't want the answer any more: it can't become one. Ending and usage of the report are kept."""
        self._tell(attempt, report)
        return self._settle(attempt, "cancelled", reason, now)

    def promote(self, attempt: str, now: float) -> Final | None:
        """Makes the attempt the intent's answer and gives the final; None if it may not be. Twice is once: the same final comes again."""
        draft = self._draft(attempt)
        intent = draft.attempt.intent
        found = self._final(intent)
        if found is not None:
            if found.attempt != attempt:
                self._settle(attempt, "superseded", "intent_has_a_final", now)
                return None
            return found
        if self._open(attempt) is None or draft.ending is None or draft.passed != draft.attempt.version:
            return None
        if draft.ending.kind == "tool_call" and not draft.refusal:
            return None
        text = "".join(draft.pieces)
        refusal = draft.refusal or STATUS[draft.ending.kind] == "refused"
        final = Final(intent, attempt, now, refusal, text)
        record = replace(draft.attempt, state="refused" if refusal else "final", settled_at=now, text=text)
        if self._store is not None and not self._store.promote(record, final):
            self._settle(attempt, "superseded", "intent_has_a_final" if self._final(intent) else "settled_elsewhere", now)
            return None
        draft.attempt = record
        self._finals[intent] = final
        return final

    def tool_calls(self, attempt: str, permit: Callable[[ToolCall], bool]) -> tuple[ToolCall, ...]:
        """The calls of a complete message that `permit` allows, once; nothing of one that was cut, cancelled or superseded.

        A call whose arguments are no JSON object is not handed out, nor is any other of its message.
        """
        draft = self._open(attempt)
        if draft is None or draft.handed_out or draft.ending is None or draft.ending.kind != "tool_call":
            return ()
        draft.handed_out = True
        calls = joined(draft.tools)
        if any(call is None for call in calls):
            return ()
        return tuple(call for call in calls if call is not None and permit(call))

    def get(self, attempt: str) -> Attempt:
        """What is known of an attempt, its draft included. Raises UsageError for an unknown id."""
        draft = self._draft(attempt)
        return replace(draft.attempt, text="".join(draft.pieces))

    def all(self) -> tuple[Attempt, ...]:
        """The attempts of this process that were not forgotten, without their drafts."""
        return tuple(draft.attempt for draft in self._drafts.values())

    def forget(self, before: float) -> int:
        """Drops what was settled before that time from memory; open attempts stay. Gives how many."""
        old = [
            name
            for name, draft in self._drafts.items()
            if draft.attempt.state not in OPEN and draft.attempt.settled_at is not None and draft.attempt.settled_at < before
        ]
        for name in old:
            draft = self._drafts.pop(name)
            intent = draft.attempt.intent
            if self._current.get(intent) == name:
                del self._current[intent]
                self._finals.pop(intent, None)
                del self._numbers[intent]
        return len(old)

    # ------------------------------------------------------------------------------------------------

    def _draft(self, attempt: str) -> _Draft:
        try:
            return self._drafts[attempt]
        except KeyError:
            raise UsageError(f"there is no attempt {attempt!r}; start it first") from None

    def _open(self, attempt: str) -> _Draft | None:
        draft = self._draft(attempt)
        return draft if draft.attempt.state in OPEN else None

    def _final(self, intent: str) -> Final | None:
        if intent not in self._finals and self._store is not None and (found := self._store.final(intent)) is not None:
            self._finals[intent] = found
        return self._finals.get(intent)

    def _tell(self, attempt: str, report: Report | None) -> None:
        draft = self._open(attempt)
        if draft is not None and report is not None and draft.ending is None:
            ending = report.ending.kind if report.ending else None
            draft.attempt = replace(draft.attempt, ending=ending, usage=report.usage or Usage())

    def _settle(self, attempt: str, state: State, reason: str, now: float) -> bool:
        draft = self._open(attempt)
        if draft is None:
            return False
        draft.attempt = replace(draft.attempt, state=state, reason=reason, settled_at=now)
        self._save(draft)
        return True

    def _save(self, draft: _Draft) -> None:
        if self._store is not None:
            self._store.save(replace(draft.attempt, text="".join(draft.pieces)))


def joined(pieces: Iterable[ToolPiece]) -> list[ToolCall | None]:
    """The calls that pieces make up, in order; None for one without a name or whose arguments are no JSON object."""
    calls: dict[int, list[ToolPiece]] = {}
    for at, piece in enumerate(pieces):
        # A piece that is a whole call gets a place of its own, behind any index a provider counts to.
        calls.setdefault(piece.index if piece.index != WHOLE else (1 << 32) + at, []).append(piece)
    return [_call(parts) for parts in calls.values()]


def _call(parts: list[ToolPiece]) -> ToolCall | None:
    name = next((part.name for part in parts if part.name), "")
    try:
        arguments = json.loads("".join(part.arguments for part in parts) or "{}")
    except (ValueError, RecursionError):
        return None
    if not name or not isinstance(arguments, dict):
        return None
    return ToolCall(next((part.id for part in parts if part.id), None), name, arguments)


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of attempts. `started` is the denominator: it includes those that failed before their first text.

    `valid_endings`: the provider ended as it should, accepted or not. `tool_turns`: superseded by the attempt that has the tools' results.
    Times are seconds from the start of the attempt, sorted.
    """

    started: int = 0
    open: int = 0
    with_text: int = 0
    valid_endings: int = 0
    accepted: int = 0
    accepted_refusals: int = 0
    tool_turns: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    seconds_to_first_text: tuple[float, ...] = ()
    seconds_to_accepted: tuple[float, ...] = ()


def count(attempts: Iterable[Attempt]) -> Counts:
    """The counts of some attempts, such as a store's of the last day."""
    records = list(attempts)
    states = Counter(record.state for record in records)
    reasons = Counter(record.reason or record.state for record in records if record.state in ("failed", "cancelled", "superseded"))
    return Counts(
        started=len(records),
        open=states["active"] + states["ended"],
        with_text=sum(record.first_text_at is not None for record in records),
        valid_endings=sum(record.ending in ("completed", "stop_sequence", "tool_call", "refused") for record in records),
        accepted=states["final"],
        accepted_refusals=states["refused"],
        tool_turns=reasons.pop("tool_turn", 0),
        failures=dict(reasons),
        seconds_to_first_text=_spans((record.started_at, record.first_text_at) for record in records),
        seconds_to_accepted=_spans((record.started_at, record.settled_at) for record in records if record.state in ("final", "refused")),
    )


def _spans(pairs: Iterable[tuple[float, float | None]]) -> tuple[float, ...]:
    return tuple(sorted(end - start for start, end in pairs if end is not None))
