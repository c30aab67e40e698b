"""The clock of a stream: the idle timeout, the total deadline, and the short wait after the end. The only room that waits.

Idle is the upstream only: the time that the reader of the events takes doesn't count, so that a slow reader loses nothing that has come.
asyncio is loaded by the first asynchronous wait, not by importing the package.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

from .limits import Limits, TimeLimitError

_NEVER = float("inf")


class Deadlines:
    """Looks at the time limits of one stream, whose first read begins now."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._asked = time.monotonic()  # when the wait for the next item began
        self._end = _NEVER if limits.total_seconds is None else self._asked + limits.total_seconds
        self._left = _NEVER  # of the wait for what comes behind the end

    def turn_ended(self) -> None:
        """From now on only `after_end_seconds` of waiting are left; called as often as one likes."""
        if self._left == _NEVER and self._limits.after_end_seconds is not None:
            self._left = self._limits.after_end_seconds

    def each(self, iterator: Iterator[Any]) -> Iterator[Any]:
        """The iterator's items. Raises TimeLimitError when one came too late."""
        while True:
            due, name = self._due()
            try:
                item = next(iterator)
            except StopIteration:
                return
            if self._came() > due:
                raise TimeLimitError(self._message(name))
            yield item

    async def arrives(self, iterator: AsyncIterator[Any]) -> Any:
        """The iterator's next item. Raises TimeLimitError when a limit passes first; the pending read is cancelled."""
        import asyncio

        due, name = self._due()
        if due == _NEVER:
            return await anext(iterator)
        try:
            async with asyncio.timeout(max(0.0, due - self._asked)) as waiting:
                item = await anext(iterator)
        except TimeoutError:
            if not waiting.expired():
                raise  # the upstream's own
            raise TimeLimitError(self._message(name)) from None
        self._came()
        return item

    def _due(self) -> tuple[float, str]:
        """When the wait that begins now is too long, and by which limit."""
        self._asked, idle = time.monotonic(), self._limits.idle_seconds
        return min(
            (_NEVER if idle is None else self._asked + idle, "idle_seconds"),
            (self._end, "total_seconds"),
            (self._asked + self._left, "after_end_seconds"),
        )

    def _came(self) -> float:
        now = time.monotonic()
        self._left = max(0.0, self._left - (now - self._asked))
        return now

    def _message(self, name: str) -> str:
        return f"the stream took longer than Limits.{name} allows ({getattr(self._limits, name)} s)"
