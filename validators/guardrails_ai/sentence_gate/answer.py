"""What a model's callable hands over, read as text and an ending: strings, chunks and whole completions of OpenAI and LiteLLM.

An object is read by its protocol's reader in `sentence_gate.providers`. Strings can't say why they ended. Reasoning is taken out of both.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from guardrails.llm_providers import PromptCallableException

from sentence_gate import Ending, StreamError, UsageError
from sentence_gate.endings import Tracker
from sentence_gate.providers import Delta, ReasoningFilter, litellm, openai_compatible

Opening = Callable[[], Any]
"""Calls the model: gives what its callable returns."""


class AnswerReader:
    """Reads one answer, item by item; after the last one `rest` and `ending` say what is left to say."""

    def __init__(self) -> None:
        self._reasoning = ReasoningFilter()
        self._tracker: Tracker | None = None
        self._calls: dict[int, list[str]] = {}

    def text(self, item: object) -> str:
        """The answer text in one item, reasoning left out. Raises StreamError for what is neither a str nor a chat completion."""
        if item is None:
            return ""
        if isinstance(item, str):
            return self._reasoning.feed(item)
        provider = litellm if type(item).__module__.partition(".")[0] == "litellm" else openai_compatible
        delta: Delta = provider.read(_payload(item))
        if self._tracker is None:
            self._tracker = Tracker(provider)
        self._tracker.add(delta)
        for call in delta.tool:
            self._calls.setdefault(call.index, []).append(call.arguments)
        return self._reasoning.feed(delta.text)

    def rest(self) -> str:
        """What was held back because it could have become a tag of reasoning."""
        return self._reasoning.finish()

    def arguments(self) -> str:
        """The arguments of the last tool call: a structured answer may come as one."""
        return "".join(self._calls[max(self._calls)]) if self._calls else ""

    @property
    def ended(self) -> bool:
        """Whether the provider said that the turn is over."""
        return self._tracker is not None and self._tracker.ended

    def ending(self, transport: str = "clean_eof") -> Ending | None:
        """How the answer ended; None if its items were strings."""
        return self._tracker.ending(transport) if self._tracker else None


def whole(result: object) -> tuple[str, Ending | None]:
    """Text and ending of a result that is the whole answer; the arguments of a tool call if it has no text."""
    reader = AnswerReader()
    text = reader.text(result) + reader.rest()
    return text or reader.arguments(), reader.ending()


def pieces(opening: Opening) -> Iterator[str | Ending]:
    """The pieces of an answer, then its ending if it has one. The model is called when the first one is asked for.

    The upstream is closed on every way out. A connection that breaks after the provider ended the turn is no error.
    """
    upstream = _opened(opening)
    if inspect.isawaitable(upstream) or (hasattr(upstream, "__aiter__") and not hasattr(upstream, "__iter__")):
        if inspect.iscoroutine(upstream):
            upstream.close()
        raise UsageError("the callable is asynchronous: use AsyncGatedGuard, or AsyncGuard with gated(...)")
    reader = AnswerReader()
    try:
        try:
            for item in _items(upstream):
                if text := reader.text(item):
                    yield text
        except Exception:
            if not reader.ended:
                raise
            transport = "reset"
        else:
            transport = "clean_eof"
        yield from _last(reader, transport)
    finally:
        _close(upstream)


async def apieces(opening: Opening) -> AsyncIterator[str | Ending]:
    """`pieces` of an asynchronous callable; a synchronous one is read all the same, in the loop's thread."""
    upstream = _opened(opening)
    if inspect.isawaitable(upstream):
        try:
            upstream = await upstream
        except Exception as error:
            raise _failed(error) from error
    reader = AnswerReader()
    try:
        try:
            items = upstream if hasattr(upstream, "__aiter__") else _items(upstream)
            if hasattr(items, "__aiter__"):
                async for item in items:
                    if text := reader.text(item):
                        yield text
            else:
                for item in items:
                    if text := reader.text(item):
                        yield text
        except Exception:
            if not reader.ended:
                raise
            transport = "reset"
        else:
            transport = "clean_eof"
        for last in _last(reader, transport):
            yield last
    finally:
        await _aclose(upstream)


def _last(reader: AnswerReader, transport: str) -> Iterator[str | Ending]:
    if text := reader.rest():
        yield text
    if ending := reader.ending(transport):
        yield ending


def _opened(opening: Opening) -> Any:
    try:
        return opening()
    except Exception as error:
        raise _failed(error) from error


def _failed(error: Exception) -> PromptCallableException:
    """What Guardrails raises when a callable fails, with its words."""
    return PromptCallableException(f"The callable `fn` passed to `Guard(fn, ...)` failed with the following error: `{error}`.")


def _items(upstream: Any) -> Any:
    """What to iterate over; a callable that doesn't stream gives one item."""
    if isinstance(upstream, str) or hasattr(upstream, "choices") or isinstance(upstream, Mapping):
        return (upstream,)
    if not hasattr(upstream, "__iter__") and hasattr(upstream, "completion_stream"):
        return upstream.completion_stream
    if not hasattr(upstream, "__iter__"):
        raise StreamError(
            f"the callable returned {type(upstream).__name__}; a stream is an iterator of strings or of chat completion chunks"
        )
    return upstream


def _payload(item: object) -> Mapping[str, Any]:
    """An item as plain data in the shape of a chunk: a whole message and a text completion are deltas too."""
    plain = _plain(item)
    if not isinstance(plain, Mapping) or not ("choices" in plain or "error" in plain):
        raise StreamError(f"an item is {type(item).__name__}; the answer of a gated callable is made of strings or chat completion chunks")
    choices = plain.get("choices")
    return {**plain, "choices": [_chunk_choice(choice) for choice in choices]} if isinstance(choices, list | tuple) else plain


def _chunk_choice(choice: Any) -> Any:
    if not isinstance(choice, Mapping) or choice.get("delta") is not None:
        return choice
    message = choice.get("message")
    return {**choice, "delta": message if message is not None else {"content": choice.get("text")}}


def _plain(value: Any, depth: int = 8) -> Any:
    if value is None or isinstance(value, str | int | float) or depth == 0:
        return value
    if isinstance(value, Mapping):
        return {key: _plain(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, depth - 1) for inner in value]
    if callable(dump := getattr(value, "model_dump", None)):
        return dump()
    return {name: _plain(inner, depth - 1) for name, inner in vars(value).items()} if hasattr(value, "__dict__") else None


def _close(upstream: Any) -> None:
    for one in (upstream, getattr(upstream, "completion_stream", None)):
        if callable(close := getattr(one, "close", None)):
            with contextlib.suppress(Exception):  # the verdict counts, not how the connection took its end
                close()


async def _aclose(upstream: Any) -> None:
    for one in (upstream, getattr(upstream, "completion_stream", None)):
        close = getattr(one, "aclose", None) or getattr(one, "close", None)
        if callable(close):
            with contextlib.suppress(Exception):
                if inspect.isawaitable(done := close()):
                    await done
