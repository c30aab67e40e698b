"""Bedrock's binary frames (application/vnd.amazon.eventstream), through botocore's own decoder, which checks lengths and checksums."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..errors import StreamError, UsageError


class FrameDecoder:
    """Bytes to payloads, each a mapping with one member, as boto3 hands them over. Raises UsageError if botocore isn't installed."""

    def __init__(self, limit: int) -> None:
        try:
            from botocore.eventstream import EventStreamBuffer, ParserError
        except ModuleNotFoundError:
            raise UsageError("Bedrock's binary frames are read by botocore: pip install 'sentence-gate[bedrock]'") from None
        self._buffer, self._error, self._limit = EventStreamBuffer(), ParserError, limit
        self.pending = 0

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """The payloads whose frames are complete. Raises StreamError for a broken frame and for one beyond the limit."""
        self._buffer.add_data(data)
        self.pending += len(data)
        try:
            for frame in self._buffer:
                self.pending -= frame.prelude.total_length
                yield _payload(frame)
        except self._error as error:
            raise StreamError(f"a broken frame: {type(error).__name__}") from None
        if self.pending > self._limit:
            raise StreamError(f"a frame is larger than the limit of {self._limit} bytes (Limits.event_bytes)")


def _payload(frame: Any) -> dict[str, Any]:
    headers = frame.headers
    name = headers.get(":event-type") or headers.get(":exception-type") or headers.get(":error-code") or "unknown"
    if headers.get(":message-type") == "error":
        name = "internalServerException"
    try:
        body = json.loads(frame.payload or b"{}")
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise StreamError("a frame's payload is no JSON object")
    return {name: body}
