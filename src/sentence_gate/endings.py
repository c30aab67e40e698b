"""What an ending does to the unfinished tail and to the status, and which of two endings wins (specification section 7).

Four things differ: bytes arrived; an event is complete; the model's turn ended; the application accepts the answer. An `Ending` says the
third.
"""

from __future__ import annotations

from .events import Ending, EndingKind, Status

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
