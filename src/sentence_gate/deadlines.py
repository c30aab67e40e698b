"""The clock of a stream: the idle timeout, the total deadline, and the short wait after the end. The only room that waits.

asyncio is loaded by the first asynchronous wait, not by importing the package.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

from .limits import Limits, TimeLimitError


class Deadlines:
    """Looks at the time limits of one stream, whose first read begins now."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._last = time.monotonic()
        self._end = self._last + limits.total_seconds if limits.total_seconds is not None else None
        self._until: tuple[float, str] | None = None

    def turn_ended(self) -> None:
        """From now on only `after_end_seconds` are left; called as often as one likes."""
        if self._until is None and self._limits.after_end_seconds is not None:
            self._until = (time.monotonic() + self._limits.after_end_seconds, "after_end_seconds")

    def arrived(self) -> None:
        """Something arrived. Raises TimeLimitError if it came too late."""
        now, (at, name) = time.monotonic(), self._next()
        if now > at:
            raise TimeLimitError(self._message(name))
        self._last = now

    async def arrives(self, iterator: AsyncIterator[Any]) -> Any:
        """The iterator's next item. Raises TimeLimitError when a limit passes first; the pending read is cancelled."""
        import asyncio

        at, name = self._next()
        if at == float("inf"):
            return await anext(iterator)
        try:
            async with asyncio.timeout(max(0.0, at - time.monotonic())) as waiting:
                item = await anext(iterator)
        except TimeoutError:
            if not waiting.expired():
                raise  # the upstream's own
            raise TimeLimitError(self._message(name)) from None
        self._last = time.monotonic()
        return item

    def _next(self) -> tuple[float, str]:
        limits = self._limits
        dues = [(float("inf"), "")]
        if limits.idle_seconds is not None:
            dues.append((self._last + limits.idle_seconds, "idle_seconds"))
        if self._end is not None:
            dues.append((self._end, "total_seconds"))
        if self._until is not None:
            dues.append(self._until)
        return min(dues)

    def _message(self, name: str) -> str:
        return f"the stream took longer than Limits.{name} allows ({getattr(self._limits, name)} s)"
