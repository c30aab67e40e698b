"""What an ending does to the unfinished tail and to the status, and which of two endings wins (specification section 7).

Four things differ: bytes arrived; an event is complete; the model's turn ended; the application accepts the answer. An `Ending` says the
third.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from .events import Delta, Ending, EndingKind, Status, Usage
from .usage import add, bytes_of, merge

_LONGEST_REASON = 200  # code points: a reason is a code; what is longer may be text that doesn't belong in a log
UNATTESTED = "unattested"
"""Note of an ending on a channel that can't carry a reason, such as plain strings."""

STATUS: dict[EndingKind, Status] = {
    "completed": "accepted",
    "stop_sequence": "accepted",
    "tool_call": "accepted",
    "truncated": "truncated",
    "refused": "refused",
    "filtered": "failed",
    "provider_error": "failed",
    "no_evidence": "failed",
    "cancelled": "cancelled",
}

_BY_STRICTNESS: tuple[EndingKind, ...] = (
    "provider_error", "filtered", "refused", "truncated", "tool_call", "stop_sequence", "completed", "cancelled", "no_evidence",
)  # fmt: skip


def tail_is_judged(ending: Ending) -> bool:
    """Whether what is left when the stream is over is a sentence to be judged; else it is dropped."""
    return STATUS[ending.kind] == "accepted"


def stricter(first: Ending, second: Ending) -> Ending:
    """The ending that holds when the provider says both, one after the other: a later event may only make the verdict stricter.

    `cancelled` and `no_evidence` lose to any evidence.
    """
    return min(first, second, key=lambda ending: _BY_STRICTNESS.index(ending.kind))


class Provider(Protocol):
    """What the tracker needs to know of a provider; the modules in `providers/` are some."""

    PROTOCOL: str
    CLOSING: str | None


class Tracker:
    """Adds up what the payloads of one stream say, by the specification's strictness. Pure: it knows no bytes, no SDK and no clock.

    `add` takes the deltas in order; `ending` tells at any time how the stream ended if it ended there. The first evidence holds, and a
    later event may only make it stricter. Text after the evidence shows that the turn went on: a mild ending is taken back until the next
    one comes, and that one is weak, since a provider that repeats it would do so on a stream that was cut too; it doesn't outlive a broken
    transport.

    `carries_reason=False` is for a channel that can't say why it ended: without evidence it counts as completed, unattested. `library`
    names what the payloads came through, such as "openai 3.57.0"; it is kept in the ending's notes beside the protocol.
    """

    def __init__(self, provider: Provider, *, carries_reason: bool = True, library: str | None = None) -> None:
        self._closing = provider.CLOSING
        self._sums = bool(getattr(provider, "SUMS_USAGE", False))
        self._carries_reason = carries_reason
        self._origin = (f"protocol:{provider.PROTOCOL}", *((f"library:{library}",) if library else ()))
        self.said: Ending | None = None  # the strictest evidence so far
        self._usage: Usage | None = None
        self._notes: dict[str, None] = {}
        self._refused = self._calls = self._reopened = self._weak = False
        self.closed = False  # the protocol's closing event or marker was seen: nothing more will come
        self.text_chars = 0
        self.received = 0  # UTF-8 bytes of text, reasoning, refusal and tool arguments

    @property
    def ended(self) -> bool:
        """Whether there is evidence that the model's turn ended."""
        return self.said is not None and not (self._reopened and tail_is_judged(self.said))

    @property
    def usage(self) -> Usage:
        """What was generated: the provider's report, else an estimate from what arrived (one token a UTF-8 byte, which errs upwards)."""
        reported = self._usage
        if reported is None or reported.output_tokens is None:
            return Usage(reported.input_tokens if reported else None, self.received, None, "estimated")
        return reported

    def add(self, delta: Delta) -> None:
        """Takes what the next payload says."""
        if delta.text:
            self.text_chars += len(delta.text)
            if self.said is not None and not self._reopened:
                self._reopened = True
                self._notes["text_after_terminal"] = None
        self.received += bytes_of(delta.text) + bytes_of(delta.reasoning) + bytes_of(delta.refusal)
        for tool in delta.tool:
            self.received += bytes_of(tool.name or "") + bytes_of(tool.arguments)
        self._refused |= bool(delta.refusal)
        self._calls |= bool(delta.tool)
        self._notes.update(dict.fromkeys(delta.notes))
        if delta.ending is not None:
            self._take(delta.ending)
        if delta.usage is not None:
            self._usage = add(self._usage, delta.usage) if self._sums else merge(self._usage, delta.usage)
            if self.said is not None and self._usage.kind == "running":
                self._usage = replace(self._usage, kind="reported")  # with the end, or behind it: the last word
        self.closed |= delta.closing

    def _take(self, ending: Ending) -> None:
        if ending.provider_reason is not None and len(ending.provider_reason) > _LONGEST_REASON:
            ending = replace(ending, provider_reason=ending.provider_reason[:_LONGEST_REASON])
        if self.said is None:
            self.said = ending
            return
        if self._reopened:
            self._reopened, self._weak = False, True
            self._notes["weak_evidence"] = None
        held = stricter(self.said, ending)
        if held is not self.said:
            self._notes[f"second_terminal:{ending.provider_reason}"] = None
        self.said = held

    def note(self, note: str) -> None:
        """Adds a note to the ending, such as what the decoding of the bytes found."""
        self._notes[note] = None

    def ending(self, transport: str = "clean_eof") -> Ending:
        """How the stream ended, if its transport ended so: "clean_eof", "reset", "timeout" or "closed_by_us" (the reader left)."""
        found = self._evidence(transport)
        notes = (*self._origin, *self._notes)
        if found is None:
            found = self._without_evidence(transport)
            notes = (*notes, *found.notes)
            if self.closed:
                notes = (*notes, "done_marker_without_reason")
        else:
            if self._closing and not self.closed and transport != "closed_by_us":
                notes = (*notes, f"missing_{self._closing}")
            if not self.text_chars and found.kind == "truncated":
                notes = (*notes, "no_text")
        return replace(found, usage=self.usage, transport=transport, notes=tuple(dict.fromkeys(notes)))

    def _evidence(self, transport: str) -> Ending | None:
        said = self.said
        if said is None:
            return None
        if self._refused:
            said = stricter(said, Ending.refused(said.provider_reason, evidence="refusal"))
        elif self._calls:
            said = stricter(said, Ending.tool_call(said.provider_reason, evidence=said.evidence))
        taken_back = self._reopened or (self._weak and transport != "clean_eof")
        return None if taken_back and tail_is_judged(said) else said

    def _without_evidence(self, transport: str) -> Ending:
        if transport == "closed_by_us":
            return Ending.cancelled(evidence="local cancel")
        if not self._carries_reason and transport == "clean_eof":
            return Ending.completed(notes=(UNATTESTED,))
        read = self.received or self._usage or self.closed or self._notes
        return Ending.no_evidence(notes=() if read or transport != "clean_eof" else ("nothing_read",))
