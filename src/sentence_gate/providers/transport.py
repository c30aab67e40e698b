"""What an exception says about the stream: its transport broke, or the provider reported an error through its SDK.

The libraries are not imported: their exceptions are known by the names of their classes, of those they derive from, and of their causes.
"""

from __future__ import annotations

from typing import Literal

from .shape import fields, reason_of, text

Transport = Literal["clean_eof", "reset", "timeout", "closed_by_us"]

_RESET = frozenset(
    {
        "OSError",  # ConnectionResetError, ssl.SSLError
        "EOFError",
        "TransportError",  # httpx, httpx2
        "ProtocolError",  # urllib3, httpcore, h11
        "NetworkError",
        "APIConnectionError",  # openai, anthropic
        "OpenAIConnectionError",  # langchain-openai
        "HTTPClientError",  # botocore
        "IncompleteRead",  # http.client
        "ChunkedEncodingError",  # requests
        "ClientPayloadError",  # aiohttp
        "ClientConnectionError",
    }
)
_LIMITS = frozenset({"SSEError"})  # httpx2: a transport error by its class, but an event beyond the limit by its meaning


def transport_of(error: BaseException) -> Transport | None:
    """How the transport ended, if that is what the exception says; None for anything else."""
    seen: BaseException | None = error
    for _ in range(4):
        if seen is None:
            break
        names = {kind.__name__ for kind in type(seen).__mro__}
        if names & _LIMITS:
            return None
        if any("Timeout" in name for name in names):
            return "timeout"
        if names & _RESET:
            return "reset"
        seen = seen.__cause__
    return None


def reason_of_exception(error: BaseException) -> str:
    """A short word for what the provider's SDK raised: the provider's own code or type if the exception has it, else the class."""
    response = fields(getattr(error, "response", None))  # botocore: a mapping
    if code := text(fields(response.get("Error")).get("Code")):
        return code
    body = fields(getattr(error, "body", None))
    if body:
        return reason_of(body.get("error") or body)
    for name in ("code", "type"):
        if value := text(getattr(error, name, None)):
            return value
    return type(error).__name__
