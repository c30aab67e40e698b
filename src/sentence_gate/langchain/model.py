"""`GatedChatModel`: a chat model that says only what was checked. The default; every listener of LangChain sees what it says.

LangChain tells its listeners (callbacks, tracers, `astream_events`, `astream_log`, LangGraph's `messages`) what a model says before the
next step of a chain sees it. So the gate has to be the model: it calls the inner model's `_stream` itself, without callbacks, and closes
it at the stop, before the notice is handed out. The inner model has no run of its own; its rate limiter, tags, metadata, callbacks and
output version are taken over.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from typing import Any, Literal, Self, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.chat_models import agenerate_from_stream, generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig, RunnableParallel, RunnableSequence
from langchain_core.runnables.config import ensure_config, merge_configs, run_in_executor, var_child_runnable_config
from langchain_core.tools import BaseTool
from pydantic import Field

from ..errors import UsageError
from ..events import Report
from ..gate import SentenceGate
from ..policy import Policy
from ..providers.langchain import carries_reason
from ..sources import Sources
from .announce import aannounce, announce
from .documents import QUESTION_KEY, SOURCES_KEY, sources_of
from .run import ExitBehavior, Run, aclose, check_names, close, policy_of
from .translator import ReasoningUse, Translator, as_chunk

NO_SOURCES = (
    "no sources for this run: give the documents that the model saw as sources= (constructor, call argument or bind), with "
    f'for_request(documents), or in the run\'s config as {{"configurable": {{"{SOURCES_KEY}": documents}}}}; an empty list is legal'
)

_SOURCES = "sources"
_QUESTION = "sentence_gate_question"
_STRUCTURED = "sentence_gate_structured"
_CLOSING = "sentence_gate_closing"
_OWN = frozenset({_SOURCES, _QUESTION, _STRUCTURED, _CLOSING})
"""Arguments of a call that are the gate's: neither the provider nor a trace sees them."""
_TAKEN_OVER = ("rate_limiter", "disable_streaming", "output_version", "profile", "verbose", "callbacks", "tags", "metadata")
_FORMATS = (
    "response_format", "format", "output_format", "output_config", "text", "response_schema", "response_json_schema", "response_mime_type",
)  # fmt: skip
_DONE: Any = object()


class GatedChatModel(BaseChatModel):
    """A chat model whose answers are released sentence by sentence, each one only after its check against the run's sources.

    Use it wherever the inner model stood: `stream`, `invoke`, `batch`, their async twins, events, tools, agents. `sources` are the
    documents (what `sources_of` takes), or a callable from the messages to them (async paths take an async one too). Per run they are
    looked for in this order: the call's `sources=`, `for_request(documents)`, the config's `configurable["sentence_gate_sources"]`, this
    field; with none of them UsageError is raised before the provider is called.

    At a stop the last chunk holds the notice as text, `finish_reason="content_filter"` and the report under `sentence_gate` in its
    metadata; with `exit_behavior="error"` SentenceGateStop is raised instead. `question` is what the user asked, or a callable from the
    messages to it, for `Policy.question_supports_values`. `structured="refuse"` raises UsageError where a response format asks the
    provider for JSON; "bypass" lets such text pass unchecked, since JSON is no prose. `reasoning="pass"` lets reasoning blocks pass in
    turns with tools, for providers that want them back. `on_report` is called with the report of every answer, violations' details
    included.

    Not promised: caching (a cache's key doesn't hold the sources, so `cache` stays False), several choices in one stream (`n` above 1
    works with invoke, generate and batch), and hiding raw text from listeners that the inner model, or a client inside it, brings itself.
    """

    llm: BaseChatModel
    policy: Any = Field(default_factory=Policy)
    sources: Any = Field(default=None, repr=False)
    request_sources: Any = Field(default=None, repr=False)
    question: Any = Field(default=None, repr=False)
    exit_behavior: ExitBehavior = "end"
    structured: Literal["bypass", "refuse"] = "bypass"
    reasoning: ReasoningUse = "drop"
    on_report: Callable[[Report], None] | None = Field(default=None, repr=False, exclude=True)
    bound_kwargs: dict[str, Any] = Field(default_factory=dict, repr=False)

    def __init__(self, llm: Any = None, /, **fields: Any) -> None:
        check_names(type(self), fields)
        inner, bound, config = unwrapped(fields.get("llm") if llm is None else llm)
        if fields.get("cache"):
            raise UsageError("a GatedChatModel has no cache: the key of LangChain's cache doesn't hold the sources of an answer")
        fields |= {"llm": inner, "policy": policy_of(fields.get("policy")), "cache": False}
        fields["bound_kwargs"] = {**(fields.get("bound_kwargs") or {}), **bound}
        for name in ("sources", "request_sources"):
            if (given := fields.get(name)) is not None and not callable(given):
                fields[name] = sources_of(given)
        for name in _TAKEN_OVER:
            if name in type(self).model_fields and name not in fields and (value := getattr(inner, name, None)) is not None:
                fields[name] = value
        for name in ("callbacks", "tags", "metadata"):
            if value := config.get(name):
                merged: Any = merge_configs(cast("RunnableConfig", {name: fields.get(name)}), cast("RunnableConfig", {name: value}))
                fields[name] = merged[name]
        super().__init__(**fields)

    # ------------------------------------------------------------------------------------------------ the caller's side

    def for_request(self, documents: Any) -> Self:
        """The same model with the sources of one request; it shares everything else."""
        return self.model_copy(update={"request_sources": sources_of(documents)})

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The gated model with tools bound, in the inner model's words for them."""
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        return self._in_place_of(self.llm.bind_tools(tools, **kwargs))

    def with_structured_output(
        self, schema: dict[str, Any] | type, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[LanguageModelInput, Any]:
        """What the inner model makes of it, with this model in its place: calls pass, text beside them is checked, JSON text passes."""
        if self.structured == "refuse":
            raise UsageError('structured output is not checked by the gate, and structured="refuse" was asked for')
        chain = self.llm.with_structured_output(schema, include_raw=include_raw, **kwargs)
        replaced: list[Any] = []

        def replace(step: Any) -> Any:
            if isinstance(step, BaseChatModel) or (isinstance(step, RunnableBinding) and isinstance(step.bound, BaseChatModel)):
                replaced.append(step)
                return self._in_place_of(step, **{_STRUCTURED: True})
            return None

        gated = _replanted(chain, replace)
        if not replaced:
            raise UsageError(
                f"{type(self.llm).__name__} builds its structured output in a way that the gate can't enter; use the model itself"
            )
        return cast("Runnable[LanguageModelInput, Any]", gated)

    def _in_place_of(self, found: Any, **more: Any) -> Runnable[Any, Any]:
        """A binding of the inner model as the same binding of this one."""
        inner, bound, config = unwrapped(found)
        gated = self if inner is self.llm else self.model_copy(update={"llm": inner})
        return gated.bind(**bound, **more).with_config(config) if config else gated.bind(**bound, **more)

    def invoke(
        self,
        input: LanguageModelInput,  # noqa: A002
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """See the base class; takes `sources=` for this call."""
        config = ensure_config(config)
        return super().invoke(input, config, stop=stop, **self._lifted(config, kwargs))

    async def ainvoke(
        self,
        input: LanguageModelInput,  # noqa: A002
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """See the base class; takes `sources=` for this call."""
        config = ensure_config(config)
        return await super().ainvoke(input, config, stop=stop, **self._lifted(config, kwargs))

    def stream(
        self,
        input: LanguageModelInput,  # noqa: A002
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> Iterator[AIMessageChunk]:
        """See the base class; takes `sources=` for this call. Closing it closes the provider's stream before it returns."""
        config = ensure_config(config)
        with ExitStack() as closing:
            yield from super().stream(input, config, stop=stop, **{**self._lifted(config, kwargs), _CLOSING: closing})

    async def astream(
        self,
        input: LanguageModelInput,  # noqa: A002
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AIMessageChunk]:
        """See the base class; takes `sources=` for this call. Closing it closes the provider's stream before it returns."""
        config = ensure_config(config)
        async with AsyncExitStack() as closing:  # the base class leaves its inner generator to the event loop's finaliser
            async for chunk in super().astream(input, config, stop=stop, **{**self._lifted(config, kwargs), _CLOSING: closing}):
                yield chunk

    def stream_events(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """See the base class; takes `sources=` for this call."""
        config = ensure_config(config)
        return super().stream_events(input, config, **self._lifted(config, kwargs))

    def astream_events(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """See the base class; takes `sources=` for this call."""
        config = ensure_config(config)
        return super().astream_events(input, config, **self._lifted(config, kwargs))

    def _lifted(self, config: RunnableConfig, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The call's arguments with what the config holds for the gate: a model called directly doesn't hand its config on."""
        given = config.get("configurable") or {}
        lifted = dict(kwargs)
        if lifted.get(_SOURCES) is None and self.request_sources is None:
            lifted[_SOURCES] = given.get(SOURCES_KEY)
        if (sources := lifted.pop(_SOURCES, None)) is not None:
            lifted[_SOURCES] = sources if callable(sources) else sources_of(sources)
        if (question := given.get(QUESTION_KEY)) is not None:
            lifted[_QUESTION] = question
        return lifted

    # ------------------------------------------------------------------------------------------------ the framework's side

    # run_manager is never handed on: partner packages would tell it raw tokens.

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        call = self._open(messages, kwargs, _now(self._given(kwargs), messages), streaming=True)
        with ExitStack() as own:
            upstream = self._upstream(messages, self._stops(stop), call.kwargs)
            for stack in (own, kwargs.get(_CLOSING)):
                if stack is not None:
                    stack.callback(close, upstream)
            if call.new is None:
                while (chunk := _step(upstream)) is not _DONE:
                    yield chunk
                return
            run, passing = call.new(), None
            translator = run.translator
            with run.watched():
                while (chunk := _step(upstream)) is not _DONE:
                    passing = translator.message(chunk.message, chunk.generation_info)
                    if translator.over:
                        break
                    if passing is not None:
                        yield ChatGenerationChunk(message=passing)
                        passing = None
        if passing is not None:
            with run.watched():
                yield ChatGenerationChunk(message=passing)
        last = run.last()
        if translator.told:
            announce(translator.info)
        yield ChatGenerationChunk(message=cast("AIMessageChunk", last))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        call = self._open(messages, kwargs, await _soon(self._given(kwargs), messages), streaming=True)
        async with AsyncExitStack() as own:
            upstream = self._aupstream(messages, self._stops(stop), call.kwargs)
            for stack in (own, kwargs.get(_CLOSING)):
                if stack is not None:
                    stack.push_async_callback(aclose, upstream)
            if call.new is None:
                while (chunk := await _astep(upstream)) is not _DONE:
                    yield chunk
                return
            run, passing = call.new(), None
            translator = run.translator
            with run.watched():
                while (chunk := await _astep(upstream)) is not _DONE:
                    passing = translator.message(chunk.message, chunk.generation_info)
                    if translator.over:
                        break
                    if passing is not None:
                        yield ChatGenerationChunk(message=passing)
                        passing = None
        if passing is not None:
            with run.watched():
                yield ChatGenerationChunk(message=passing)
        last = run.last()
        if translator.told:
            await aannounce(translator.info)
        yield ChatGenerationChunk(message=cast("AIMessageChunk", last))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if self._reads_stream(kwargs, asynchronous=False):
            return generate_from_stream(self._stream(messages, stop, **kwargs))
        call = self._open(messages, kwargs, _now(self._given(kwargs), messages), streaming=False)
        with _unheard_here():
            whole = self.llm._generate(messages, stop=self._stops(stop), **call.kwargs)
        result, infos = call.judged(whole)
        for info in infos:
            announce(info)
        return result

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if self._reads_stream(kwargs, asynchronous=True):
            return await agenerate_from_stream(self._astream(messages, stop, **kwargs))
        call = self._open(messages, kwargs, await _soon(self._given(kwargs), messages), streaming=False)
        with _unheard_here():
            whole = await self.llm._agenerate(messages, stop=self._stops(stop), **call.kwargs)
        result, infos = call.judged(whole)
        for info in infos:
            await aannounce(info)
        return result

    def _should_stream(self, *, async_api: bool, run_manager: Any = None, **kwargs: Any) -> bool:
        return super()._should_stream(async_api=async_api, run_manager=run_manager, **kwargs) and self._inner_streams(kwargs, async_api)

    def _inner_streams(self, kwargs: Mapping[str, Any], asynchronous: bool) -> bool:
        return self.llm._should_stream(async_api=asynchronous, **{**self._outward(kwargs), "stream": True})

    def _reads_stream(self, kwargs: Mapping[str, Any], *, asynchronous: bool) -> bool:
        """Whether a call for a whole answer reads the provider's stream, so that a stop can close it."""
        merged = {**self.bound_kwargs, **kwargs}
        if merged.get("stream") is False or self.disable_streaming is True or _choices(self.llm, merged) > 1:
            return False
        if self.disable_streaming == "tool_calling" and merged.get("tools"):
            return False
        return self._inner_streams(kwargs, asynchronous)

    def _upstream(self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]) -> Iterator[ChatGenerationChunk]:
        if type(self.llm)._stream is not BaseChatModel._stream:
            return self.llm._stream(messages, stop=stop, **kwargs)

        def whole() -> Iterator[ChatGenerationChunk]:
            yield _whole(self.llm._generate(messages, stop=stop, **kwargs))

        return whole()

    def _aupstream(self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]) -> AsyncIterator[ChatGenerationChunk]:
        if type(self.llm)._astream is not BaseChatModel._astream:
            return self.llm._astream(messages, stop=stop, **kwargs)
        if type(self.llm)._stream is not BaseChatModel._stream:
            return _in_threads(self.llm._stream(messages, stop=stop, **kwargs))

        async def whole() -> AsyncIterator[ChatGenerationChunk]:
            yield _whole(await self.llm._agenerate(messages, stop=stop, **kwargs))

        return whole()

    def _open(self, messages: list[BaseMessage], kwargs: Mapping[str, Any], sources: Sources | None, *, streaming: bool) -> _Call:
        """Everything that may be refused, before the provider is called."""
        outward = self._outward(kwargs)
        structured = bool(kwargs.get(_STRUCTURED))
        tools = bool(outward.get("tools") or outward.get("functions")) and not _forbids_calls(outward.get("tool_choice"))
        if _asks_for_json(outward) or (structured and not tools):
            if self.structured == "refuse":
                raise UsageError('the provider was asked for JSON, which the gate doesn\'t check, and structured="refuse" was asked for')
            return _Call(outward, None)
        if streaming and _choices(self.llm, outward) > 1:
            raise UsageError("n above 1 can't be streamed: the pieces of the choices are mixed; use invoke, generate or batch")
        if sources is None:
            if not structured:
                raise UsageError(NO_SOURCES)
            sources = Sources(())
        question = self.question if kwargs.get(_QUESTION) is None else kwargs[_QUESTION]
        if question is None:
            question = (ensure_config().get("configurable") or {}).get(QUESTION_KEY, "")
        asked = question(messages) if callable(question) else question
        packages = any(carries_reason(cls.__module__) for cls in type(self.llm).__mro__)

        def new() -> Run:
            gate = SentenceGate(sources, self.policy, question=asked)
            translator = Translator(gate, tools=tools, carries_reason=packages, reasoning=self.reasoning)
            return Run(translator, exit_behavior=self.exit_behavior, on_report=self.on_report)

        return _Call(outward, new)

    def _given(self, kwargs: Mapping[str, Any]) -> Any:
        """The sources of this run, or the callable that finds them; None if there are none."""
        for given in (kwargs.get(_SOURCES), self.request_sources, (ensure_config().get("configurable") or {}).get(SOURCES_KEY)):
            if given is not None:
                return given
        return self.sources

    def _outward(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that are the provider's."""
        return {key: value for key, value in {**self.bound_kwargs, **kwargs}.items() if key not in _OWN and key != "stop"}

    def _stops(self, stop: list[str] | None) -> list[str] | None:
        return self.bound_kwargs.get("stop") if stop is None else stop

    # ------------------------------------------------------------------------------------------------ what it says of itself

    @property
    def model_name(self) -> str | None:
        """The inner model's name."""
        name = getattr(self.llm, "model_name", None) or getattr(self.llm, "model", None) or getattr(self.llm, "model_id", None)
        return name if isinstance(name, str) else None

    @property
    def _llm_type(self) -> str:
        return "sentence-gate"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"llm": self.llm._llm_type, **self.llm._identifying_params}

    def _get_invocation_params(self, stop: list[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        return self.llm._get_invocation_params(stop=self._stops(stop), **self._outward(kwargs))

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return self.llm._get_ls_params(stop=self._stops(stop), **self._outward(kwargs))

    def _combine_llm_outputs(self, llm_outputs: list[dict[str, Any] | None], /) -> dict[str, Any]:
        return self.llm._combine_llm_outputs(llm_outputs)

    def get_token_ids(self, text: str) -> list[int]:
        """The inner model's."""
        return self.llm.get_token_ids(text)

    def get_num_tokens(self, text: str) -> int:
        """The inner model's."""
        return self.llm.get_num_tokens(text)

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Sequence[Any] | None = None) -> int:
        """The inner model's."""
        return self.llm.get_num_tokens_from_messages(messages, tools)


class _Call:
    """One call of the model: the provider's arguments, and how its answers are translated (not at all where text is not checked)."""

    def __init__(self, kwargs: dict[str, Any], new: Callable[[], Run] | None) -> None:
        self.kwargs = kwargs
        self.new = new

    def judged(self, result: ChatResult) -> tuple[ChatResult, list[dict[str, Any]]]:
        """A complete result, each of its choices judged by a gate of its own; and what is to be announced."""
        if self.new is None:
            return result, []
        generations, infos = [], []
        for generation in result.generations:
            run = self.new()
            info = {**(result.llm_output or {}), **(generation.generation_info or {})}
            chunks = [run.translator.message(generation.message, info), run.last()]
            judged = generate_from_stream(ChatGenerationChunk(message=chunk) for chunk in chunks if isinstance(chunk, AIMessageChunk))
            generations += judged.generations
            if run.translator.told:
                infos.append(run.translator.info)
        return ChatResult(generations=generations), infos


def unwrapped(found: Any) -> tuple[BaseChatModel, dict[str, Any], RunnableConfig]:
    """A chat model, and what is bound to it. Raises UsageError for anything that is none."""
    bound: dict[str, Any] = {}
    config: RunnableConfig = {}
    while isinstance(found, RunnableBinding):
        if found.config_factories:
            raise UsageError("listeners of the inner model would see raw text: call with_listeners on the GatedChatModel")
        bound = {**found.kwargs, **bound}
        config = merge_configs(found.config, config)
        found = found.bound
    if isinstance(found, GatedChatModel):
        raise UsageError("this model is gated already; gate the bare one")
    if not isinstance(found, BaseChatModel):
        raise UsageError(
            f"llm is a chat model (BaseChatModel, also with bind or bind_tools), not {type(found).__name__}; put the gate inside "
            "fallbacks, retries and configurable models: GatedChatModel(llm=first).with_fallbacks([GatedChatModel(llm=second)])"
        )
    return found, bound, config


def _now(given: Any, messages: list[BaseMessage]) -> Sources | None:
    found = given(messages) if callable(given) else given
    if inspect.isawaitable(found):
        if inspect.iscoroutine(found):
            found.close()
        raise UsageError("sources is an async callable, which works with ainvoke, astream and abatch only")
    return None if found is None else sources_of(found)


async def _soon(given: Any, messages: list[BaseMessage]) -> Sources | None:
    found = given(messages) if callable(given) else given
    if inspect.isawaitable(found):
        found = await found
    return None if found is None else sources_of(found)


def _choices(llm: BaseChatModel, kwargs: Mapping[str, Any]) -> int:
    n = kwargs.get("n", getattr(llm, "n", None))
    return n if isinstance(n, int) else 1


def _forbids_calls(choice: Any) -> bool:
    return choice == "none" or (isinstance(choice, Mapping) and choice.get("type") == "none")


def _asks_for_json(kwargs: Mapping[str, Any]) -> bool:
    """Whether the provider is asked for JSON as the answer's text. What isn't known to ask for it is judged as prose."""
    return any(_is_json_format(kwargs[name]) for name in _FORMATS if name in kwargs)


def _is_json_format(value: Any) -> bool:
    if isinstance(value, str):
        return "json" in value
    if isinstance(value, Mapping):
        if _is_json_format(value.get("format")) or _is_json_format(value.get("type")):
            return True
        return any(isinstance(value.get(name), Mapping) for name in ("schema", "json_schema", "properties"))
    return isinstance(value, type)


def _replanted(chain: Any, replace: Callable[[Any], Any]) -> Any:
    """The chain with steps replaced, down through sequences, maps and bindings."""
    if (new := replace(chain)) is not None:
        return new
    if isinstance(chain, RunnableSequence):
        return RunnableSequence(*(_replanted(step, replace) for step in chain.steps), name=chain.name)
    if isinstance(chain, RunnableParallel):
        return RunnableParallel({key: _replanted(step, replace) for key, step in chain.steps__.items()})
    if isinstance(chain, RunnableBinding):
        return chain.model_copy(update={"bound": _replanted(chain.bound, replace)})
    return chain


def _whole(result: ChatResult) -> ChatGenerationChunk:
    generation: ChatGeneration = result.generations[0]
    info = {**(result.llm_output or {}), **(generation.generation_info or {})}
    return ChatGenerationChunk(message=as_chunk(generation.message), generation_info=info)


@contextmanager
def _unheard_here() -> Iterator[None]:
    """What an inner model calls by itself (another model, a chain) would inherit the listeners of the run that is current; here is none."""
    token = var_child_runnable_config.set(None)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _step(upstream: Iterator[ChatGenerationChunk]) -> Any:
    """The next chunk, unheard; _DONE at the end."""
    token = var_child_runnable_config.set(None)
    try:
        return next(upstream, _DONE)
    finally:
        var_child_runnable_config.reset(token)


async def _astep(upstream: AsyncIterator[ChatGenerationChunk]) -> Any:
    """`_step` for an asynchronous stream."""
    token = var_child_runnable_config.set(None)
    try:
        return await anext(upstream, _DONE)
    finally:
        var_child_runnable_config.reset(token)


async def _in_threads(upstream: Iterator[ChatGenerationChunk]) -> AsyncIterator[ChatGenerationChunk]:
    """A synchronous stream read in the executor's threads. A step can't be interrupted: a stream left in one is closed when it is over."""
    step: asyncio.Future[Any] | None = None
    try:
        while True:
            step = asyncio.ensure_future(run_in_executor(None, next, upstream, _DONE))
            item = await asyncio.shield(step)
            if item is _DONE:
                return
            yield item
    finally:
        if step is not None and not step.done():
            step.add_done_callback(lambda done: _left(done, upstream))
        else:
            await run_in_executor(None, close, upstream)


def _left(step: asyncio.Future[Any], upstream: Iterator[ChatGenerationChunk]) -> None:
    if not step.cancelled():
        step.exception()  # nobody else will look at it
    close(upstream)
