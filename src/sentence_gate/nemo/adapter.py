"""Puts the gate into one `LLMRails`: settings, actions, and the two methods that every path to a reader goes through."""

from __future__ import annotations

import ast
import functools
import inspect
import logging
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from nemoguardrails.actions import action
from nemoguardrails.actions.rail_outcome import RailOutcome, TransformTarget
from nemoguardrails.context import streaming_handler_var
from nemoguardrails.exceptions import StreamingNotSupportedError
from nemoguardrails.streaming import END_OF_STREAM, StreamingHandler

from ..errors import UsageError
from ..events import Report
from ..policy import Policy
from . import results
from .model import GatedModel
from .requests import KEY, cleared, generates, question_of, settled, sources_in, sources_of, without_output_rails
from .run import Run
from .session import FLOW, Session, current, with_notice

if TYPE_CHECKING:
    from ..contract import AnswerContract  # needs the extra `contract`, and only a typed answer needs it

SOURCES_FLOW = "sentence gate sources"
ACTION = "sentence_gate"
SOURCES_ACTION = "sentence_gate_sources"
ACTION_V2 = "SentenceGateAction"

_STREAM = frozenset(
    {"prompt", "messages", "options", "state", "include_metadata", "generator", "include_generation_metadata"}
)  # include_generation_metadata: an older name of include_metadata
_GENERATE = frozenset({"prompt", "messages", "options", "state", "streaming_handler"})
_NEMOS_OWN = frozenset(
    {
        "I'm not sure what to say.",  # actions/llm/generation.py: the model said nothing
        "I'm sorry, an internal error has occurred.",  # runtime.py: an action raised
    }
)

log = logging.getLogger("sentence_gate.nemo")


class SentenceGateWarning(UserWarning):
    """A setting that would weaken the gate was corrected."""


def install(app: Any) -> None:
    """Gates every answer of this `LLMRails`. A configuration's `init(app)` calls it; calling it again changes nothing.

    The policy is read from `custom_data.sentence_gate`, the contract of typed answers, if there is one, from
    `custom_data.sentence_gate_contract`. Raises UsageError for an unknown key or a wrong value, and for a NeMo whose
    methods are not the ones that this adapter replaces: nothing is let through ungated.
    """
    if getattr(app, "sentence_gate", None) is None:
        app.sentence_gate = Adapter(app)


def on_report(app: Any, listener: Callable[[Report], object]) -> None:
    """Calls `listener` with the report of every answer that this gated `LLMRails` judges. Raises UsageError if it has no gate."""
    adapter = getattr(app, "sentence_gate", None)
    if not isinstance(adapter, Adapter):
        raise UsageError("this LLMRails has no gate: its configuration imports sentence_gate/rails, or call install(app)")
    adapter.listeners.append(listener)


class Adapter:
    """The gate of one `LLMRails`."""

    def __init__(self, app: Any) -> None:
        self._stream, self._generate = app.stream_async, app.generate_async
        self._stream_signature = _signature(self._stream, _STREAM)
        self._generate_signature = _signature(self._generate, _GENERATE)
        self._app = app
        self._config = app.config
        self._v2 = app.config.colang_version != "1.0"
        self._policy = Policy.from_mapping((app.config.custom_data or {}).get("sentence_gate") or {})
        self._contract = _contract((app.config.custom_data or {}).get("sentence_gate_contract"), self._policy)
        self._warned: set[str] = set()
        self.listeners: list[Callable[[Report], object]] = []
        self._settle()
        self._register()
        self._replace()

    # ------------------------------------------------------------------------------------------------ settings

    def _settle(self) -> None:
        """Corrects what would weaken the gate; called at load and before every answer, since a configuration stays writable."""
        output = self._config.rails.output
        streaming = output.streaming
        if streaming.stream_first:
            if "stream_first" in streaming.model_fields_set:
                self._warn("rails.output.streaming.stream_first: true is ignored", "The gate never sends a sentence before it was checked.")
            written = set(streaming.model_fields_set)
            streaming.stream_first = False
            if "stream_first" not in written:
                streaming.model_fields_set.discard("stream_first")  # so that a later true is the user's
        if self._v2:
            return
        flows = output.flows
        ours = [flow for flow in flows if _is_ours(flow)]
        if any(flow.strip() != FLOW for flow in ours):
            raise UsageError(f"the flow {FLOW} takes no parameters; its policy stands in custom_data.sentence_gate of the configuration")
        if not ours:
            self._warn(f"rails.output.flows doesn't list {FLOW!r}; it was added", "The folder was imported, so answers are to be gated.")
        if ours != [FLOW] or flows[-1] != FLOW:
            if ours and flows[-1] != FLOW:
                self._warn(
                    f"rails.output.flows has rails behind {FLOW!r}; it was moved to the end", "They would change what it has checked."
                )
            flows[:] = [flow for flow in flows if not _is_ours(flow)] + [FLOW]
        if output.parallel:
            self._warn("rails.output.parallel: true is ignored", "Run side by side, another rail could answer before the gate has checked.")
            output.parallel = False
        if len(flows) > 1 and (streaming.chunk_size, streaming.context_size) != (1, 0):
            if not streaming.model_fields_set.isdisjoint({"chunk_size", "context_size"}):
                self._warn(
                    "rails.output.streaming.chunk_size and context_size are ignored", "The other rails get whole, checked sentences."
                )
            written = set(streaming.model_fields_set)
            streaming.chunk_size, streaming.context_size = 1, 0
            streaming.model_fields_set.intersection_update(written)
        if SOURCES_FLOW not in self._config.rails.retrieval.flows:
            self._config.rails.retrieval.flows.append(SOURCES_FLOW)
        for flow in self._config.flows:
            if flow.get("id") in (FLOW, SOURCES_FLOW):
                flow["is_system_flow"] = flow["is_subflow"] = True

    def _warn(self, what: str, why: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            warnings.warn(f"sentence-gate: {what}. {why}", SentenceGateWarning, stacklevel=2)
            log.warning("%s. %s", what, why)

    def _gate_models(self) -> None:
        """Puts every model that may write an answer into a GatedModel; a model may be replaced at any time."""
        app = self._app
        if app.llm is not None and not self._is_gated(app.llm):
            app.update_llm(GatedModel(app.llm, self))
        for name, model in list(app.runtime.registered_action_params.items()):
            if name.endswith("_llm") and callable(getattr(model, "stream_async", None)) and not self._is_gated(model):
                app.register_action_param(name, GatedModel(model, self))

    def _gate_history(self) -> None:
        """NeMo keeps the events of a conversation by its messages; a server puts a plain dictionary back."""
        if not isinstance(self._app.events_history_cache, _History):
            self._app.events_history_cache = _History(self, self._app.events_history_cache)

    def keep(self, key: Any, events: Any) -> tuple[Any, Any] | None:
        """The key and the events of a turn as they may be kept; None if the turn is not to be kept."""
        session = self._session_now()
        if session is None:
            return key, events
        if session.judged:
            return key, results.swapped(events, self._swaps(session))
        said = [str(event.get("script")) for event in events if event.get("type") == "StartUtteranceBotAction"]
        if not said or not session.said_by_model(said[-1]):
            return key, results.swapped(events, [])
        # of a stream: the key, which ends in the answer, is that of the answer that the reader got
        if self._contract is not None:
            swap = (said[-1], session.judge(said[-1])[1])
            return results.swapped(key, [swap]), results.swapped(events, [swap])
        report = session.report_on(said[-1])
        if report.status == "stopped":
            return None
        swap = (said[-1], with_notice(report))
        return results.swapped(key, [swap]), results.swapped(events, [swap])

    def _is_gated(self, model: object) -> bool:
        return isinstance(model, GatedModel) and model.owner is self

    @functools.cached_property
    def _canned_texts(self) -> frozenset[str]:
        """The operator's own texts, which are not judged: bot messages (1.0), literals in flows (2.x); not those with variables."""
        found = (
            {text for texts in self._config.bot_messages.values() for text in texts} if not self._v2 else set(_literals(self._config.flows))
        )
        return frozenset(text.strip() for text in found if "$" not in text and "{" not in text) | _NEMOS_OWN

    def _canned(self, text: str) -> bool:
        return text.strip() in self._canned_texts

    # ------------------------------------------------------------------------------------------------ actions

    def _register(self) -> None:
        async def sentence_gate(text: str = "", context: Any = None, events: Any = None, **_: Any) -> RailOutcome:
            return self._outcome(text, context, streaming=events is None)

        async def sentence_gate_sources(context: Any = None, **_: Any) -> None:
            session = self._session_now()
            if session is not None and (sources := sources_in(context or {})):
                session.use(sources)

        async def sentence_gate_v2(text: str = "", context: Any = None, **_: Any) -> str:
            if self._canned(text):
                return text
            return self._judged(text, context)[1]

        ours: dict[str, Any] = {ACTION_V2: sentence_gate_v2} if self._v2 else {ACTION: sentence_gate, SOURCES_ACTION: sentence_gate_sources}
        for name, function in ours.items():  # a system action is never sent to an actions server
            self._app.register_action(action(name=name, is_system_action=True)(function), name)

    def _outcome(self, text: str, context: Any, *, streaming: bool) -> RailOutcome:
        if streaming:  # in NeMo's streaming loop, behind the gate
            session = (context or {}).get(KEY)
            released = "".join(session.released) if isinstance(session, Session) and session.owner is self else None
            return RailOutcome.allow() if released is not None and text in released else RailOutcome.block(reason="not gated")
        if self._canned(text):
            return RailOutcome.allow()
        report, shown = self._judged(text, context)
        if report.status == "stopped" and self._contract is None:
            return RailOutcome.block(reason="stopped", metadata={"text": shown})
        if shown == text:
            return RailOutcome.allow()
        return RailOutcome.transform([(TransformTarget.BOT_MESSAGE, shown)])

    def _judged(self, text: str, context: Any, session: Session | None = None) -> tuple[Report, str]:
        context = context or {}
        session = session or self._session_now()
        session = session or Session(self, self._policy, question=str(context.get("user_message") or ""), contract=self._contract)
        if not session.has_sources or sources_in(context):
            session.use(sources_in(context) or ())
        for raw, shown in session.judged:
            if text in (raw, shown) and session.report is not None:  # a flow says it again
                return session.report, shown
        return session.judge(text)

    def _session_now(self) -> Session | None:
        session = current.get()
        return session if session is not None and session.owner is self else None

    # ------------------------------------------------------------------------------------------------ the two methods

    def _replace(self) -> None:
        @functools.wraps(self._generate)
        async def generate_async(*args: Any, **kwargs: Any) -> Any:
            given = self._generate_signature.bind(*args, **kwargs).arguments
            handler = given.pop("streaming_handler", None)
            session = self._begin(given)
            if handler is not None:
                return await self._into(handler, given, session)
            token = current.set(session)
            leaked = streaming_handler_var.set(None)  # an earlier call of NeMo's own leaves its handler behind
            try:
                result = await self._generate(**given)
            except BaseException:  # NeMo may have asked a model in a task of its own
                await session.close()
                raise
            finally:
                streaming_handler_var.reset(leaked)
                current.reset(token)
            return self._finished(result, session)

        @functools.wraps(self._stream)
        def stream_async(*args: Any, **kwargs: Any) -> AsyncIterator[str]:
            given = self._stream_signature.bind(*args, **kwargs).arguments
            for name in ("include_metadata", "include_generation_metadata"):
                given.pop(name, None)  # with output streaming NeMo hands over text either way
            generator = given.pop("generator", None)
            self._settle()
            if given.get("prompt") is None and given.get("messages") is None and generator is None:
                raise ValueError("Either prompt or messages must be provided.")
            if self._config.rails.output.flows and not self._config.rails.output.streaming.enabled:
                raise StreamingNotSupportedError(
                    "stream_async() needs rails.output.streaming.enabled: true where answers are gated; else use generate_async()"
                )
            return self._chunks(given, generator)

        self._app.generate_async, self._app.stream_async = generate_async, stream_async

    def _begin(self, given: dict[str, Any]) -> Session:
        """The session of a request; what would switch the gate off is taken out of the arguments."""
        self._settle()
        self._gate_models()
        self._gate_history()
        messages, state = given.get("messages"), given.get("state")
        question, sources = question_of(given.get("prompt"), messages), sources_of(messages, state)
        session = Session(self, self._policy, question=question, sources=sources, contract=self._contract)
        if "options" in given:
            given["options"] = settled(given["options"])
        if messages is not None:
            no_context = bool(self._config.passthrough) and self._app.passthrough_fn is None and not self._v2
            given["messages"] = cleared(messages, generating=generates(given.get("options")), without_context=no_context)
        return session

    def _run(self, given: dict[str, Any], session: Session, generator: AsyncIterator[Any] | None) -> Run:
        run = Run(session, self._canned)
        if generator is not None:
            run.listen(generator)
        else:
            # The gate and NeMo's loop judge the stream: the output rails need not run once more on the whole of it.
            asked = given if self._v2 else {**given, "options": without_output_rails(given.get("options"))}
            run.generate(lambda handler: self._generate(**asked, streaming_handler=handler))
        return run

    async def _chunks(self, given: dict[str, Any], generator: AsyncIterator[Any] | None) -> AsyncIterator[str]:
        session = self._begin(given)
        run = self._run(given, session, generator)
        try:
            async with aclosing(run.chunks(self._beside(given, session))) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            self._tell(session)

    def _beside(self, given: dict[str, Any], session: Session) -> Callable[[AsyncIterator[str]], AsyncIterator[Any]] | None:
        """NeMo's loop, if there are other output rails. In Colang 2.x it can't run them."""
        if self._v2 or len(self._config.rails.output.flows) < 2:
            return None
        messages = list(given.get("messages") or [{"role": "user", "content": given.get("prompt") or ""}])
        context: Any = next((message["content"] for message in reversed(messages) if message.get("role") == "context"), {})
        messages.append({"role": "context", "content": {**(context if isinstance(context, Mapping) else {}), KEY: session}})
        return lambda gated: self._stream(messages=messages, generator=gated)

    async def _into(self, handler: StreamingHandler, given: dict[str, Any], session: Session) -> Any:
        """`generate_async(streaming_handler=…)`: the handler gets what a reader of the stream gets."""
        run = self._run(given, session, None)
        try:
            async with aclosing(run.chunks(self._beside(given, session))) as chunks:
                async for chunk in chunks:
                    await handler.push_chunk(chunk)
        finally:
            self._tell(session)
            await handler.push_chunk(END_OF_STREAM)
        if run.error is not None:
            raise run.error
        text = run.text
        session.judged.append((results.content_of(run.result) or "", text))
        wants_response = given.get("options") is not None or given.get("state") is not None
        if results.content_of(run.result) is None or not wants_response:
            tools = getattr(run.result, "tool_calls", None)
            return results.made(text, prompt=given.get("prompt") is not None, response=wants_response, tools=tools)
        return results.clear(results.with_content(run.result, text), self._swaps(session))

    def _finished(self, result: Any, session: Session) -> Any:
        """What the caller gets of a result of NeMo's."""
        content = results.content_of(result)
        if content is not None:
            bare = results.without_reasoning(content)
            known = {shown for _, shown in session.judged}
            if bare not in known and not self._canned(bare) and (self._v2 or session.said_by_model(bare)):
                bare = self._judged(bare, {}, session)[1]  # an answer that no rail was asked about
            if bare != content:
                result = results.with_content(result, bare)
        self._tell(session)
        return results.clear(result, self._swaps(session))

    def _swaps(self, session: Session) -> list[tuple[str, str]]:
        """Every raw text of the answer, and what is shown for it."""
        shown = session.judged[-1][1] if session.judged else ""
        judged = [raw for raw, _ in session.judged if raw]
        said = ["".join(call.text) for call in session.calls]
        return [(raw, shown) for raw in dict.fromkeys([*judged, *(text for text in said if any(raw in text for raw in judged))])]

    def _tell(self, session: Session) -> None:
        report = session.report
        if report is not None:
            for listener in self.listeners:
                listener(report)


class _History(dict[Any, Any]):
    """NeMo's memory of conversations, without text that was not released."""

    def __init__(self, adapter: Adapter, known: Mapping[Any, Any]) -> None:
        super().__init__(known)
        self._adapter = adapter

    def __setitem__(self, key: Any, events: Any) -> None:
        kept = self._adapter.keep(key, events)
        if kept is not None:
            super().__setitem__(*kept)


def _contract(given: object, policy: Policy) -> AnswerContract | None:
    """The contract of `custom_data.sentence_gate_contract`: categories, item, texts. Raises UsageError for anything else."""
    if given is None:
        return None
    from ..contract import AnswerContract

    if not isinstance(given, Mapping) or (unknown := sorted(given.keys() - {"categories", "item", "texts"})):
        what = f"has no key {unknown[0]!r}" if isinstance(given, Mapping) else f"is a mapping, not {type(given).__name__}"
        raise UsageError(f"custom_data.sentence_gate_contract {what}; the keys are categories, item, texts")
    return AnswerContract(**given, policy=policy)


def _is_ours(flow: str) -> bool:
    return flow.strip() == FLOW or flow.strip().startswith((f"{FLOW} $", f"{FLOW}("))


def _signature(method: Any, known: frozenset[str]) -> inspect.Signature:
    signature = inspect.signature(method)
    missing, strange = known - signature.parameters.keys() - {"include_generation_metadata"}, signature.parameters.keys() - known
    if missing or strange:
        names = ", ".join(sorted(missing | strange))
        raise UsageError(f"{method.__name__} of this NeMo Guardrails differs in {names}: use a release that sentence-gate supports")
    return signature


def _literals(parsed: Any) -> Iterator[str]:
    """Every quoted text in parsed Colang 2.x, whose parts refer to each other in rings."""
    pending, seen = [parsed], set()
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
                try:
                    text = ast.literal_eval(value)
                except (ValueError, SyntaxError):
                    continue
                if isinstance(text, str):
                    yield text
            continue
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Mapping):
            pending += value.values()
        elif isinstance(value, list | tuple):
            pending += value
        elif hasattr(value, "__dict__"):
            pending.append(vars(value))
