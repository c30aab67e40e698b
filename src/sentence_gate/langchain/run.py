"""One run: pieces of an answer through a translator to its last piece, and who is told about it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias, TypeVar

from langchain_core.messages import AIMessageChunk, BaseMessage
from pydantic import BaseModel

from ..errors import UsageError
from ..events import Report
from ..policy import Policy
from .errors import SentenceGateStop, SentenceGateWarning
from .translator import Translator

ExitBehavior = Literal["end", "error"]
Piece: TypeAlias = str | AIMessageChunk
Message = TypeVar("Message", AIMessageChunk, AIMessageChunk | None)


_CLOSE = 0.8
"""How alike two names are that mean the same: streaming and reasoning, which are two things, are 0.67."""
_POLICY = frozenset(field.name for field in fields(Policy))


class Run:
    """The translation of one answer, whatever it comes as: messages and chunks, plain text, lists of content blocks."""

    def __init__(
        self, translator: Translator, *, exit_behavior: ExitBehavior = "end", on_report: Callable[[Report], None] | None = None
    ) -> None:
        self.translator = translator
        self._exit_behavior = exit_behavior
        self._on_report = on_report
        self._plain = False
        self._id: str | None = None

    def take(self, piece: Any) -> Piece | None:
        """What may pass of a piece now, in the kind that it came in; None if nothing may, yet."""
        if isinstance(piece, BaseMessage):
            self._id = piece.id or self._id
            return self._named(self.translator.message(piece))
        self._plain = True
        if isinstance(piece, str):
            return self.translator.text(piece) or None
        if isinstance(piece, list):
            message = self.translator.message(AIMessageChunk(content=piece))
            return message.text or None if message is not None else None
        raise UsageError(
            f"the gate takes messages of a chat model, text, or lists of content blocks, not {type(piece).__name__}; "
            "put it right behind the model"
        )

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Ends the answer where its stream breaks or its reader leaves; what waits is never released."""
        try:
            yield
        except Exception as error:
            self._give_up("reset", type(error).__name__)
            raise
        except BaseException:  # the generator was closed or the task cancelled
            self._give_up("closed_by_us")
            raise

    def last(self) -> Piece:
        """The last piece, when the upstream is closed. Raises SentenceGateStop if that is what a stop should do."""
        transport = "closed_by_us" if self.translator.over else "clean_eof"
        last: Piece = self.translator.finish_text(transport) if self._plain else self._named(self.translator.finish(transport))
        self._tell()
        if self.translator.dropped_reasoning:
            warnings.warn(
                'signed reasoning blocks were dropped in a turn that calls a tool; if the provider wants them back, say reasoning="pass"',
                SentenceGateWarning,
                stacklevel=2,
            )
        if self.translator.stopped and self._exit_behavior == "error":
            raise SentenceGateStop(self.translator.report)
        return last

    def _named(self, message: Message) -> Message:
        if message is not None:
            message.id = self._id
        return message

    def _give_up(self, transport: str, error: str | None = None) -> None:
        self.translator.give_up(transport, error)
        self._tell()

    def _tell(self) -> None:
        if self._on_report is not None:
            self._on_report(self.translator.report)


def check_names(owner: type[BaseModel], given: Iterable[str]) -> None:
    """Raises UsageError for a misspelt field of `owner`, or one of a policy, which pydantic would pass over. Other unknown names are none
    of ours, as there.
    """
    for name in set(given) - owner.model_fields.keys():
        if name in _POLICY:
            raise UsageError(f"{owner.__name__} has no {name}, its policy has: policy=Policy({name}=...)")
        if meant := get_close_matches(name, owner.model_fields, n=1, cutoff=_CLOSE):
            raise UsageError(f"{owner.__name__} has no {name}; {meant[0]} is meant, it seems")


def policy_of(given: Any) -> Policy:
    """A policy from a policy, a mapping or nothing."""
    if given is None:
        return Policy()
    return given if isinstance(given, Policy) else Policy.from_mapping(given)


def close(upstream: Any) -> None:
    """Closes an iterator if it can be closed; what a provider's client says then is no part of the answer."""
    held = _held(upstream)
    for one in (upstream, *held):
        if callable(found := getattr(one, "close", None)):
            with suppress(Exception):
                found()


async def aclose(upstream: Any) -> None:
    """`close` for an asynchronous iterator."""
    held = _held(upstream)
    for one in (upstream, *held):
        if callable(found := getattr(one, "aclose", None) or getattr(one, "close", None)):
            with suppress(Exception):
                result = found()
                if inspect.isawaitable(result):
                    await result


def _held(upstream: Any) -> list[Any]:
    """The client's streams that a generator has in its variables.

    Some packages leave them to the garbage collector, which takes its time: such a stream and its own generator refer to each other.
    """
    frame = getattr(upstream, "gi_frame", None) or getattr(upstream, "ag_frame", None)
    found = frame.f_locals.values() if frame is not None else ()
    return [one for one in found if hasattr(one, "close") and (hasattr(one, "__iter__") or hasattr(one, "__aiter__"))]
