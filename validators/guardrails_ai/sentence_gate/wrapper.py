"""`gated`: a model's callable, wrapped so that the gate runs before Guardrails sees any text."""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from sentence_gate import Ending, UsageError

from .answer import whole
from .handshake import Stream, WholeStream
from .session import Session

_LAST: contextvars.ContextVar[tuple[str, Ending | None] | None] = contextvars.ContextVar("sentence_gate_last", default=None)
"""The whole answer that a gated callable returned last in this context, and how it ended: Guardrails passes on the text only."""

_WRAPPED = "__sentence_gate_wrapped__"


class _Answer(str):
    """A whole answer that an asynchronous guard may await."""

    __slots__ = ()

    def __await__(self) -> Any:
        return str.__str__(self)
        yield


def gated(llm: Callable[..., Any]) -> Callable[..., Any]:
    """The callable for a stock `Guard` or `AsyncGuard` with a `SentenceGate`.

    `llm` is synchronous or asynchronous and gives, streaming, strings or OpenAI or LiteLLM chunks; else a str or a chat completion. It is
    called with what the guard passes. In a stream it is called only after the validator took sources and policy, and is closed at the stop,
    when the reader leaves and when another validator raises. Raises UsageError if `llm` can't be called.

    Not promised: that an answer that is not streamed is kept from a stock guard, which stores what it is given (`GatedGuard` doesn't).
    """
    return wrap(llm)


def wrap(llm: Callable[..., Any], session: Session | None = None) -> Callable[..., Any]:
    """`gated`, for a call of a gated guard if there is a session."""
    if not callable(llm):
        raise UsageError(f"a model is a callable, not {type(llm).__name__}")
    model = getattr(llm, _WRAPPED, llm)

    def call(*args: Any, messages: Any = None, **kwargs: Any) -> Any:
        if messages is not None:
            kwargs["messages"] = messages
        opening = partial(model, *args, **kwargs)
        if kwargs.get("stream"):
            return _stream(opening, session)
        result = opening()
        return _awaited(result, session) if inspect.isawaitable(result) else _whole(result, session)

    call.__name__ = getattr(model, "__name__", "gated")
    setattr(call, _WRAPPED, model)
    return call


def ending_of(text: object) -> Ending | None:
    """How the answer ended, if `text` is the one that a gated callable returned last in this context."""
    last = _LAST.get()
    return last[1] if last is not None and last[0] == text else None


def _stream(opening: Callable[[], Any], session: Session | None) -> Stream:
    stream = WholeStream(opening, session.clean) if session is not None and session.structured else Stream(opening)
    if session is not None:
        session.streams.append(stream)
    return stream


def _whole(result: object, session: Session | None) -> _Answer:
    text, ending = whole(result)
    if session is not None:
        return _Answer(session.clean(text, ending))
    _LAST.set((text, ending))
    return _Answer(text)


async def _awaited(result: Awaitable[Any], session: Session | None) -> _Answer:
    return _whole(await result, session)
