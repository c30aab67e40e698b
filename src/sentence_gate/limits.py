"""How much and how long one answer's stream may take."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import StreamError, UsageError


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one stream; None switches one off. Going beyond is a StreamError that names the limit.

    `event_bytes`: one event, line or frame. `answer_bytes`: text, reasoning and tool arguments together. `idle_seconds`: between two
    arrivals. `total_seconds`: from the first read to the end. `after_end_seconds`: the wait, once the turn has ended, for what may still
    come (usage, a late filter); being late with that is no error.

    A blocking iterator can't be interrupted: there, time is looked at when something arrives, and the client's own read timeout has to
    bound the wait.
    """

    event_bytes: int = 1 << 20
    answer_bytes: int | None = 4 << 20
    idle_seconds: float | None = 60.0
    total_seconds: float | None = 600.0
    after_end_seconds: float | None = 2.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if (value is None and name == "event_bytes") or (value is not None and not value > 0):
                raise UsageError(f"Limits.{name} is a positive number{'' if name == 'event_bytes' else ' or None'}, not {value!r}")


DEFAULT_LIMITS = Limits()


class TimeLimitError(StreamError):
    """A time limit was passed; the message names it."""
