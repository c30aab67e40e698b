"""`SentenceGateRunnable`: the gate as the step right after a model in a pipe.

It guards what comes out of the pipe. It can't guard what LangChain told its listeners before the pipe's next step ran: raw tokens of the
model reach `astream_events`, `astream_log`, tracers, callbacks and LangGraph's `messages`. `GatedChatModel` guards them all.

The framework's own way to write such a step (`RunnableGenerator`, output parsers) hands it a copy of the upstream and, after the step is
over, reads the rest of the model's answer "for tracing". So this step gives the framework an empty upstream to copy and reads and closes
the real one itself. That works directly behind the model; behind a parser, or inside a nested sequence, a map or a branch, the framework
hands over a copy that can't be closed, and the step warns.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from typing import Any, Self

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessageChunk, message_chunk_to_message
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import ensure_config
from langchain_core.runnables.fallbacks import RunnableWithFallbacks
from langchain_core.tracers import _streaming
from pydantic import ConfigDict, Field

from ..errors import UsageError
from ..events import Report
from ..gate import SentenceGate
from ..policy import Policy
from .announce import aannounce, announce
from .documents import QUESTION_KEY, SOURCES_KEY, sources_of
from .errors import SentenceGateWarning
from .model import NO_SOURCES
from .run import ExitBehavior, Run, aclose, check_names, close, policy_of
from .translator import ReasoningUse, Translator

_DONE: Any = object()
_TURNS = 16
"""Turns of the event loop: a finaliser takes two a generator, and a model behind bindings and retries is a few generators deep."""
_COPY: type = type(itertools.tee(())[0])
_LISTENERS: tuple[type, ...] = tuple(
    found for name in ("_StreamingCallbackHandler", "_V2StreamingCallbackHandler") if (found := getattr(_streaming, name, None))
)


class SentenceGateRunnable(RunnableSerializable[Any, Any]):
    """Releases what a model says sentence by sentence, each one only after its check: `prompt | model | SentenceGateRunnable(...)`.

    Takes messages and chunks (gives chunks), plain text (gives text) and lists of content blocks (gives text). `sources` are the
    documents; per run they are looked for in the call's (or `bind`'s) `sources=`, in `for_request(documents)`, in the config's
    `configurable["sentence_gate_sources"]` and here, in this order. `tools=True` says that tools are bound to the model, so that a stop
    waits for the end of the turn. The rest is as in GatedChatModel.

    Not promised: hiding raw tokens from listeners of the model itself (SentenceGateWarning where such a listener is seen), and closing the
    model where the framework hands over a copy (SentenceGateWarning). With `invoke` the model has finished before the gate runs.
    """

    policy: Any = Field(default_factory=Policy)
    sources: Any = Field(default=None, repr=False)
    request_sources: Any = Field(default=None, repr=False)
    question: str | None = Field(default=None, repr=False)
    tools: bool = False
    exit_behavior: ExitBehavior = "end"
    reasoning: ReasoningUse = "drop"
    on_report: Callable[[Report], None] | None = Field(default=None, repr=False, exclude=True)
    name: str | None = "SentenceGate"

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def __init__(self, **fields: Any) -> None:
        check_names(type(self), fields)
        fields["policy"] = policy_of(fields.get("policy"))
        for name in ("sources", "request_sources"):
            if (given := fields.get(name)) is not None:
                if callable(given):
                    raise UsageError(
                        "this step sees the model's answer only, so its sources can't be a callable; use gated(chain, sources=...)"
                    )
                fields[name] = sources_of(given)
        super().__init__(**fields)

    def for_request(self, documents: Any) -> Self:
        """The same step with the sources of one request."""
        return self.model_copy(update={"request_sources": sources_of(documents)})

    def transform(self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        """What was checked, as it becomes certain; closes the upstream at the stop, before the notice comes."""
        config = ensure_config(config)
        run = self._open(config, kwargs)
        _warn(input, config)
        with ExitStack() as own:
            own.callback(close, input)
            with run.watched():
                first = next(input, _DONE)  # so that the model's run starts before this one

            def judged(_: Iterator[Any], run_manager: Any, config: RunnableConfig) -> Iterator[Any]:
                passing = None
                with run.watched():
                    for piece in () if first is _DONE else itertools.chain([first], input):
                        passing = run.take(piece)
                        if run.translator.over:
                            break
                        if passing is not None:
                            yield passing
                            passing = None
                own.close()
                if passing is not None:
                    with run.watched():
                        yield passing
                last = run.last()
                if run.translator.told:
                    announce(run.translator.info, config)
                if last:
                    yield last

            yield from self._transform_stream_with_config(iter(()), judged, config)

    async def atransform(self, input: AsyncIterator[Any], config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:  # noqa: A002
        """`transform` for an asynchronous stream."""
        config = ensure_config(config)
        run = self._open(config, kwargs)
        _warn(input, config)
        async with AsyncExitStack() as own:
            own.push_async_callback(aclose, input)
            with run.watched():
                first = await anext(input, _DONE)

            async def judged(_: AsyncIterator[Any], run_manager: Any, config: RunnableConfig) -> AsyncIterator[Any]:
                passing = None
                with run.watched():
                    piece = first
                    while piece is not _DONE:
                        passing = run.take(piece)
                        if run.translator.over:
                            break
                        if passing is not None:
                            yield passing
                            passing = None
                        piece = await anext(input, _DONE)
                await _closed(own)
                if passing is not None:
                    with run.watched():
                        yield passing
                last = run.last()
                if run.translator.told:
                    await aannounce(run.translator.info, config)
                if last:
                    yield last

            stream = self._atransform_stream_with_config(_nothing(), judged, config)
            own.push_async_callback(aclose, stream)
            async for piece in stream:
                yield piece

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """The checked answer. The model has finished before."""
        config = ensure_config(config)
        run = self._open(config, kwargs)
        _warn_of_listeners(config)

        def judged(_: Any, run_manager: Any, config: RunnableConfig) -> Any:
            answer = self._whole(run, input)
            if run.translator.told:
                announce(run.translator.info, config)
            return answer

        return self._call_with_config(judged, "", config)  # the raw answer is not for this step's trace

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """The checked answer. The model has finished before."""
        config = ensure_config(config)
        run = self._open(config, kwargs)
        _warn_of_listeners(config)

        async def judged(_: Any, run_manager: Any, config: RunnableConfig) -> Any:
            answer = self._whole(run, input)
            if run.translator.told:
                await aannounce(run.translator.info, config)
            return answer

        return await self._acall_with_config(judged, "", config)

    def _whole(self, run: Run, piece: Any) -> Any:
        with run.watched():
            first = run.take(piece)
        last = run.last()
        if isinstance(last, str):
            return (first or "") + last
        whole = first + last if isinstance(first, AIMessageChunk) else last
        return whole if isinstance(piece, AIMessageChunk) else message_chunk_to_message(whole)

    def _open(self, config: RunnableConfig, kwargs: dict[str, Any]) -> Run:
        given = config.get("configurable") or {}
        found = (kwargs.pop("sources", None), self.request_sources, given.get(SOURCES_KEY), self.sources)
        sources = next((one for one in found if one is not None), None)
        if sources is None:
            raise UsageError(NO_SOURCES)
        question = given.get(QUESTION_KEY, self.question) or ""
        gate = SentenceGate(sources_of(sources), self.policy, question=question)
        translator = Translator(gate, tools=self.tools, reasoning=self.reasoning)
        return Run(translator, exit_behavior=self.exit_behavior, on_report=self.on_report)


def _warn(upstream: Any, config: RunnableConfig) -> None:
    if _is_copy(upstream):
        warnings.warn(
            "the framework hands this gate a copy of the model's stream, which can't be closed: after a stop the model runs on. Put the "
            "gate right behind the model, in the same flat pipe and inside of fallbacks, or use GatedChatModel",
            SentenceGateWarning,
            stacklevel=3,
        )
    _warn_of_listeners(config)


def _warn_of_listeners(config: RunnableConfig) -> None:
    callbacks = config.get("callbacks")
    handlers: Any = getattr(callbacks, "handlers", callbacks) or ()
    if any(isinstance(handler, _LISTENERS) for handler in handlers):
        warnings.warn(
            "a listener of this run (astream_events, astream_log or LangGraph's messages) sees the raw tokens of the model, which this "
            "gate can't hide; use GatedChatModel",
            SentenceGateWarning,
            stacklevel=4,
        )


def _is_copy(upstream: Any) -> bool:
    """Whether closing this upstream leaves the model open."""
    code = getattr(upstream, "gi_code", None) or getattr(upstream, "ag_code", None)
    if isinstance(upstream, _COPY) or (code is not None and code.co_name == "tee_peer"):
        return True
    frame = getattr(upstream, "gi_frame", None) or getattr(upstream, "ag_frame", None)
    step = frame.f_locals.get("self") if frame is not None else None
    while isinstance(step, RunnableBindingBase):
        step = step.bound
    if isinstance(step, RunnableWithFallbacks):  # the error that it holds refers to the stream
        return True
    # A step other than a model, closed in sync, reads what is left of the model's answer.
    return inspect.isgenerator(upstream) and isinstance(step, Runnable) and not isinstance(step, BaseLanguageModel)


async def _closed(own: AsyncExitStack) -> None:
    """Closes the upstream and lets the event loop finalise what LangChain leaves to it: the inner generator of each step."""
    await own.aclose()
    for _ in range(_TURNS):
        await asyncio.sleep(0)


async def _nothing() -> AsyncIterator[Any]:
    return
    yield
