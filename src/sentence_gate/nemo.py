"""NeMo Guardrails: an output rail that a config.yml imports, and that gates every way an answer can take out of NeMo.

Theory
------
A rail inside NeMo's streaming loop can allow or block a window of tokens; it can't rewrite it, it sees windows and not sentences, and it
doesn't stop the model. So the gate stands before that loop, not in it. `install(app)`, which NeMo calls through the `init` of the imported
folder, puts it around the two public methods that every other entry uses: `generate_async` and `stream_async`, on this one instance.

    stream     the model's chunks (or the caller's generator) -> gate -> NeMo's own loop for the other output rails, if there are any,
               on whole, gated sentences -> reader. At a stop the model's stream is closed, then one payload in NeMo's own form goes out
    generate   NeMo's flow runs the action `sentence_gate` on the whole answer. Where no flow ran it (Colang 2.x without output rails), the
               text is judged when it comes back
    model      `_Model` stands before the configured model and changes no text. It notes how each call ended (finish reason, usage), and
               closes a call that the gate stopped, also one that NeMo started in a task of its own

A `_Session` belongs to one request; it travels in a context variable, which tasks inherit. The action allows a text in NeMo's streaming
loop only if the session says that it was released: without a session it blocks. Nothing here reads a name of NeMo's that isn't public,
except where a comment says so.
"""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import inspect
import json
import logging
import re
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from nemoguardrails.actions.rail_outcome import RailDecision, RailOutcome, TransformSpec, TransformTarget
from nemoguardrails.context import streaming_handler_var
from nemoguardrails.rails.llm.options import GenerationOptions, GenerationResponse
from nemoguardrails.streaming import StreamingHandler

from .endings import UNATTESTED, Tracker
from .errors import UsageError
from .events import Ending, Outcome, Released, Report
from .gate import SentenceGate
from .policy import Policy, notice
from .providers import ReasoningFilter
from .providers import nemo as provider
from .sources import Sources

FLOW = "sentence gate"
"""The flow's name in `rails.output.flows`, and `param` of the payload at a stop."""
SOURCES_FLOW = "sentence gate sources"
ACTION, SOURCES_ACTION = "sentence_gate", "sentence_gate_sources"
_KEY = "sentence_gate_session"
_CALLERS_OWN = ("skip_output_rails", "bot_message", _KEY, "sg", "sg_text")
"""Variables that a context message may not set: they would switch the rail off, or put another text before it."""

_log = logging.getLogger(__name__)
_session: contextvars.ContextVar[_Session | None] = contextvars.ContextVar("sentence_gate_session", default=None)


class _Session:
    """What one request knows: its sources, what was released, and the model calls that are open."""

    def __init__(self, policy: Policy, sources: Sources | None, question: str) -> None:
        self.policy = policy
        self.sources = sources
        self.question = question
        self.released = ""
        self.judged = False
        self.stopped = False
        self.report: Report | None = None
        self.calls: list[tuple[str, Ending]] = []  # of the model: its text, and how it ended
        self.abort = asyncio.Event()
        self.open: set[asyncio.Event] = set()  # set when a model call was closed

    def gate(self) -> SentenceGate:
        if self.sources is None:
            _log.warning(
                "sentence-gate: this request has no sources, so the first sentence that needs one is withheld. Give them in a message of "
                "role 'context' as relevant_chunks_sep (a list of texts), by a retrieval rail, or over HTTP as guardrails.context."
            )
        return SentenceGate(self.sources if self.sources is not None else Sources([]), self.policy, question=self.question)

    def ending_of(self, text: str) -> Ending:
        """How the model call that wrote `text` ended; unattested if no call is known to have written it."""
        wanted = _bare(text)
        for said, ending in reversed(self.calls):
            if wanted and wanted in _bare(said):
                return ending
        return Ending.completed(notes=(UNATTESTED,))

    async def close(self) -> None:
        """Closes the model calls that are open, and waits until they are."""
        self.abort.set()
        for closed in list(self.open):
            await closed.wait()


def _bare(text: str) -> str:
    return re.sub(r"[\s\"']+", " ", text).strip()


# ------------------------------------------------------------------------------------------------ installation


def install(app: Any) -> None:
    """Puts the gate around an LLMRails instance; NeMo calls it through `init(app)` of the imported folder. A second call does nothing.

    Reads `custom_data.sentence_gate` of the configuration (the keys of Policy; raises UsageError naming the valid ones), corrects settings
    that would weaken the gate with a warning, and raises UsageError if this NeMo's methods aren't the ones that the gate is made for.
    """
    if getattr(app, "sentence_gate", None) is not None:
        return
    for name in ("generate_async", "stream_async"):
        known = inspect.signature(getattr(app, name)).parameters
        missing = {"prompt", "messages", "options", "state"} - set(known)
        if missing:
            raise UsageError(f"this NeMo Guardrails' {name} has no {', '.join(sorted(missing))}: use a release that sentence-gate supports")
    adapter = _Adapter(app)
    app.sentence_gate = adapter
    app.generate_async = adapter.generate_async
    app.stream_async = adapter.stream_async


class _Adapter:
    """The gate around one LLMRails instance."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.policy = Policy.from_mapping((app.config.custom_data or {}).get("sentence_gate") or {})
        self._generate: Callable[..., Awaitable[Any]] = app.generate_async
        self._stream: Callable[..., AsyncIterator[Any]] = app.stream_async
        self._correct()
        app.register_action(self._act, ACTION)
        app.register_action(self._take_sources, SOURCES_ACTION)

    def _correct(self) -> None:
        """Settings that would weaken the gate: corrected, with one warning each if the user wrote them."""
        output = self.app.config.rails.output
        if output.streaming is not None:
            if "stream_first" in output.streaming.model_fields_set and output.streaming.stream_first:
                _warn("rails.output.streaming.stream_first: true is ignored. The gate never sends a sentence before it was checked.")
            output.streaming.stream_first = False
        if getattr(output, "parallel", False):
            _warn("rails.output.parallel: true is ignored. Rails that run beside the gate would see text that it has not released.")
            output.parallel = False
        colang_1 = self.app.config.colang_version == "1.0"
        flows = list(output.flows)
        if colang_1 and FLOW not in flows:
            _warn(f"rails.output.flows doesn't list {FLOW!r}; it was added.")
        if colang_1 and flows != [flow for flow in flows if flow != FLOW] + [FLOW] and FLOW in flows:
            _warn(f"rails.output.flows has rails behind {FLOW!r}; it was moved to the end, so that they judge what the reader sees.")
        if colang_1:
            output.flows[:] = [flow for flow in flows if flow != FLOW] + [FLOW]
            retrieval = self.app.config.rails.retrieval
            if SOURCES_FLOW not in retrieval.flows:
                retrieval.flows.append(SOURCES_FLOW)
            for flow in self.app.config.flows:
                if isinstance(flow, dict) and flow.get("id") in (FLOW, SOURCES_FLOW):
                    flow["is_system_flow"] = True
        if output.streaming is not None and self._others():
            wrote = {"chunk_size", "context_size"} & output.streaming.model_fields_set
            if wrote:
                _warn(f"rails.output.streaming.{' and '.join(sorted(wrote))} are ignored. The other output rails judge whole sentences.")
            output.streaming.chunk_size, output.streaming.context_size = 1, 0

    def _others(self) -> list[str]:
        return [flow for flow in self.app.config.rails.output.flows if flow != FLOW]

    def _ready(self) -> None:
        """What must hold at every request: the model is ours, and nothing is sent first."""
        if self.app.llm is not None and not isinstance(self.app.llm, _Model):
            self.app.update_llm(_Model(self.app.llm))
        streaming = self.app.config.rails.output.streaming
        if streaming is not None and streaming.stream_first:
            streaming.stream_first = False

    # -------------------------------------------------------------------------------------------- requests

    def _open(self, prompt: str | None, messages: Sequence[Mapping[str, Any]] | None) -> tuple[_Session, list[dict[str, Any]] | None]:
        """The session of a request, and its messages without what a caller may not set."""
        self._ready()
        sources, question, cleaned = None, prompt or "", None
        if messages is not None:
            cleaned = []
            for message in messages:
                content = message.get("content")
                if message.get("role") == "context" and isinstance(content, Mapping):
                    found = _sources_in(content)
                    sources = found if found is not None else sources
                    kept = {key: value for key, value in content.items() if key not in _CALLERS_OWN}
                    if self.app.config.passthrough:
                        continue  # NeMo's passthrough mode refuses messages of this role
                    cleaned.append({**message, "content": kept})
                else:
                    cleaned.append(dict(message))
                    if message.get("role") == "user" and isinstance(content, str):
                        question = content
        return _Session(self.policy, sources, question), cleaned

    async def generate_async(
        self,
        prompt: str | None = None,
        messages: Sequence[Mapping[str, Any]] | None = None,
        options: Any = None,
        state: Any = None,
        streaming_handler: Any = None,
        **more: Any,
    ) -> Any:
        """LLMRails.generate_async, gated. A `streaming_handler` of the caller's gets gated text only."""
        session, cleaned = self._open(prompt, messages)
        request = {"prompt": prompt, "messages": cleaned, "options": _with_output_rails(options), "state": state, **more}
        if streaming_handler is not None:
            return await self._into(streaming_handler, session, request)
        task = self._start(session, request)
        try:
            result = await task
        finally:
            if not task.done():
                task.cancel()
                await session.close()
        return self._checked(result, session)

    def _start(self, session: _Session, request: Mapping[str, Any], handler: StreamingHandler | None = None) -> asyncio.Task[Any]:
        """NeMo's own generation as a task of ours, in a context of its own: nothing of it leaks into the caller's."""
        context = contextvars.copy_context()
        context.run(_session.set, session)
        context.run(streaming_handler_var.set, None)
        work = self._generate(**request, streaming_handler=handler) if handler is not None else self._generate(**request)
        return context.run(asyncio.ensure_future, work)

    async def _into(self, handler: Any, session: _Session, request: Mapping[str, Any]) -> Any:
        text = ""
        async for chunk in self._gated(session, request, None):
            text += chunk
            await handler.push_chunk(chunk)
        await handler.push_chunk(None)
        if session.report is not None and session.report.notice:
            text = _told(session.report)
        return text if request["prompt"] is not None else {"role": "assistant", "content": text}

    def _checked(self, result: Any, session: _Session) -> Any:
        """A result without reasoning, and judged if no flow has judged it."""

        def text_of(text: Any, tools: object = None) -> Any:
            if not isinstance(text, str):
                return text
            text = _without_reasoning(text)
            if not text.strip() and session.calls and not tools:
                return self._judge(text, session).notice or text
            if session.judged or not session.calls or text in self._canned():
                return text
            if not any(_bare(text) and _bare(text) in _bare(said) for said, _ in session.calls):
                return text
            return _told(self._judge(text, session))

        if isinstance(result, GenerationResponse):
            result.reasoning_content = None
            if isinstance(result.response, str):
                result.response = text_of(result.response)
            else:
                for message in result.response:
                    message["content"] = text_of(message.get("content"), result.tool_calls or message.get("tool_calls"))
            return result
        if isinstance(result, dict):
            return {**result, "content": text_of(result.get("content"), result.get("tool_calls"))}
        return text_of(result)

    def stream_async(
        self,
        prompt: str | None = None,
        messages: Sequence[Mapping[str, Any]] | None = None,
        options: Any = None,
        state: Any = None,
        include_metadata: Any = False,
        generator: AsyncIterator[str] | None = None,
        **more: Any,
    ) -> AsyncIterator[str]:
        """LLMRails.stream_async, gated: a chunk of text a sentence, then at a stop one payload in NeMo's own form."""
        if prompt is None and messages is None and generator is None:
            raise ValueError("Either prompt or messages must be provided.")
        self._stream(prompt=prompt, messages=messages, state=state, generator=_nothing())  # raises what NeMo raises for this configuration
        session, cleaned = self._open(prompt, messages)
        request = {"prompt": prompt, "messages": cleaned, "options": _with_output_rails(options), "state": state, **more}
        return self._delivered(session, request, generator)

    async def _delivered(self, session: _Session, request: Mapping[str, Any], generator: AsyncIterator[str] | None) -> AsyncIterator[str]:
        gated = self._gated(session, request, generator)
        chunks: AsyncIterator[Any] = gated
        if self._others():
            messages = request["messages"] if request["messages"] is not None else [{"role": "user", "content": request["prompt"] or ""}]
            told: dict[str, Any] = next((message["content"] for message in reversed(messages) if message.get("role") == "context"), {})
            chunks = self._stream(messages=[*messages, {"role": "context", "content": {**told, _KEY: session}}], generator=gated)
        try:
            async for chunk in chunks:
                if not isinstance(chunk, str) or not chunk:
                    continue
                if chunks is not gated and _is_payload(chunk):  # another rail has blocked
                    await gated.aclose()  # type: ignore[attr-defined]
                yield chunk
        finally:
            await gated.aclose()  # type: ignore[attr-defined]
        if session.report is not None and session.report.status == "stopped":
            yield _payload(session.report.notice or notice(self.policy, "stopped"))

    async def _gated(self, session: _Session, request: Mapping[str, Any], generator: AsyncIterator[str] | None) -> AsyncIterator[str]:
        """What the reader may see, a chunk a sentence, and notices of other endings than a stop. The model is closed on every way out."""
        upstream = _Upstream(self, session, request, generator)
        thinking, gate, shown = ReasoningFilter(), None, False
        try:
            async for chunk in upstream.chunks():
                if gate is None and chunk in self._canned():
                    session.released += chunk
                    shown = True
                    yield chunk
                    continue
                gate = gate or session.gate()  # not before: a retrieval rail may have found the sources only now
                outcome = gate.feed(thinking.feed(chunk))
                if outcome.stopped:
                    break
                for text in _released(outcome):
                    session.released += text
                    yield text
            else:
                gate = gate or session.gate()
                outcome = gate.feed(thinking.finish())
            if upstream.failed is None and gate is not None:
                last = gate.finish(upstream.ending())
                session.report = gate.report
            await upstream.close()
            if upstream.failed is not None:
                yield upstream.failed
                return
            for text in [*_released(outcome), *_released(last)]:
                session.released += text
                yield text
            told = gate.report.notice
            if told and gate.report.status != "stopped" and not (gate.report.status == "empty" and shown):
                told = ("\n\n" if session.released.strip() else "") + told
                session.released += told
                yield told
        finally:
            session.judged = True
            await upstream.close()

    # -------------------------------------------------------------------------------------------- actions

    async def _act(self, text: str = "", context: Any = None, events: Any = None, **more: Any) -> RailOutcome:
        """The rail's action. In NeMo's streaming loop (no events) it only looks whether the text was released."""
        known = context or {}
        if events is None:
            session = known.get(_KEY)
            if isinstance(session, _Session) and _bare(text) in _bare(session.released):
                return RailOutcome.allow()
            return RailOutcome.block(reason="sentence-gate: this text did not pass the gate")
        if not text or text in self._canned():
            return RailOutcome.allow()
        session = _session.get()
        if session is None:  # the runtime was called directly
            session = _Session(self.policy, None, str(known.get("user_message") or ""))
        if session.sources is None:
            session.sources = _sources_in(known)
        report = self._judge(_without_reasoning(text), session)
        told = _told(report)
        if report.status == "stopped":
            return RailOutcome.block(
                reason="sentence-gate: " + ", ".join(sorted({one.check for one in report.violations})), metadata={"text": told}
            )
        if told == text:
            return RailOutcome.allow()
        return RailOutcome(RailDecision.TRANSFORM, transforms=(TransformSpec(TransformTarget.BOT_MESSAGE, told),))

    async def _take_sources(self, context: Any = None, relevant_chunks_sep: Any = None, **more: Any) -> None:
        """Keeps what a retrieval rail or action found for the gate."""
        session = _session.get()
        found = _sources_in({**(context or {}), **({"relevant_chunks_sep": relevant_chunks_sep} if relevant_chunks_sep else {})})
        if session is not None and found is not None:
            session.sources = found

    def _judge(self, text: str, session: _Session) -> Report:
        session.judged = True
        gate = session.gate()
        gate.feed(text)
        gate.finish(session.ending_of(text))
        session.report = gate.report
        session.released = gate.report.text
        return gate.report

    def _canned(self) -> frozenset[str]:
        """Texts that the operator wrote: `define bot` messages without variables."""
        found = self.__dict__.get("_texts")
        if found is None:
            messages = self.app.config.bot_messages or {}
            found = self._texts = frozenset(text for texts in messages.values() for text in texts if "{" not in text and "$" not in text)
        return found


class _Upstream:
    """Where the text of a stream comes from: the caller's generator, or a generation that we started."""

    def __init__(self, adapter: _Adapter, session: _Session, request: Mapping[str, Any], generator: AsyncIterator[str] | None) -> None:
        self._adapter, self._session, self._request, self._generator = adapter, session, request, generator
        self._task: asyncio.Task[Any] | None = None
        self._text = ""
        self.failed: str | None = None  # NeMo's payload for a generation that raised

    async def chunks(self) -> AsyncIterator[str]:
        """The chunks of text. A payload of NeMo's is text unless it is the last thing and the generation really failed."""
        if self._generator is not None:
            async for chunk in self._generator:
                text = chunk.get("text") if isinstance(chunk, dict) else chunk
                if isinstance(text, str) and text:
                    self._text += text
                    yield text
            return
        handler = StreamingHandler()
        # The text is gated here, and other rails judge it sentence by sentence: they need not run once more on the whole of it.
        request = {**self._request, "options": _without_output_rails(self._request["options"])}
        self._task = self._adapter._start(self._session, request, handler)
        self._task.add_done_callback(lambda task: asyncio.ensure_future(_end(handler)) if task.cancelled() or task.exception() else None)
        held: str | None = None
        async for chunk in handler:
            if not isinstance(chunk, str) or not chunk:
                continue
            if held is not None:
                self._text += held
                yield held
                held = None
            if _is_payload(chunk):
                held = chunk
                continue
            self._text += chunk
            yield chunk
        error: BaseException | None = None
        try:
            result = await asyncio.shield(self._task)
        except asyncio.CancelledError:
            raise
        except Exception as raised:
            error, result = raised, None
        if held is not None:
            if error is not None:
                self.failed = held
                return
            self._text += held
            yield held
        if error is not None:
            self.failed = _payload_of_failure()
        elif not self._text and isinstance(text := _text_of(result), str) and text:
            self._text += text  # Colang 2.x says its text when it is whole
            yield text

    def ending(self) -> Ending:
        return self._session.ending_of(_without_reasoning(self._text))

    async def close(self) -> None:
        """Closes the model's stream, whoever holds it, and waits until it is closed."""
        await self._session.close()
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})
        if self._generator is not None and hasattr(self._generator, "aclose"):
            await self._generator.aclose()


class _Model:
    """Stands before the configured model: no text is changed; how a call ended is noted, and a call that the gate stopped is closed."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    @property
    def model_name(self) -> str:
        return str(self._model.model_name)

    @property
    def provider_name(self) -> str | None:
        return self._model.provider_name  # type: ignore[no-any-return]

    @property
    def provider_url(self) -> str | None:
        return self._model.provider_url  # type: ignore[no-any-return]

    async def generate_async(self, prompt: Any, *, stop: Any = None, **more: Any) -> Any:
        response = await self._model.generate_async(prompt, stop=stop, **more)
        session = _session.get()
        if session is not None:
            tracker = Tracker(provider, carries_reason=False)
            said = {"delta_content": response.content, "finish_reason": getattr(response, "finish_reason", None)}
            said["provider_metadata"] = getattr(response, "provider_metadata", None)
            tracker.add(provider.read(said))
            session.calls.append((response.content or "", tracker.ending()))
        return response

    async def stream_async(self, prompt: Any, *, stop: Any = None, **more: Any) -> AsyncIterator[Any]:
        session = _session.get()
        chunks = self._model.stream_async(prompt, stop=stop, **more)
        if session is None:
            async for chunk in chunks:
                yield chunk
            return
        tracker, text, closed = Tracker(provider, carries_reason=False), [], asyncio.Event()
        session.open.add(closed)
        transport = "reset"
        stopping = asyncio.ensure_future(session.abort.wait())
        try:
            while True:
                following = asyncio.ensure_future(anext(chunks))
                try:
                    await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not following.done():
                        following.cancel()
                        await asyncio.wait({following})
                if session.abort.is_set():
                    transport = "closed_by_us"
                    return
                try:
                    chunk = following.result()
                except StopAsyncIteration:
                    transport = "clean_eof"
                    return
                said = dataclasses.asdict(chunk) if dataclasses.is_dataclass(chunk) and not isinstance(chunk, type) else vars(chunk)
                tracker.add(provider.read(said))
                text.append(said.get("delta_content") or "")
                yield chunk
        finally:
            stopping.cancel()
            if hasattr(chunks, "aclose"):
                await chunks.aclose()
            session.calls.append(("".join(text), tracker.ending(transport)))
            session.open.discard(closed)
            closed.set()


# ------------------------------------------------------------------------------------------------ small translations


def _warn(text: str) -> None:
    warnings.warn(f"sentence-gate: {text}", UserWarning, stacklevel=2)
    _log.warning("sentence-gate: %s", text)


def _sources_in(context: Mapping[str, Any]) -> Sources | None:
    """Sources of a context: `relevant_chunks_sep`, a list of texts, else `relevant_chunks` as one."""
    chunks = context.get("relevant_chunks_sep")
    if chunks is None:
        chunks = context.get("relevant_chunks")
    if chunks is None or chunks == "":
        return None
    if isinstance(chunks, str):
        return Sources([chunks])
    if isinstance(chunks, Mapping | Iterable):
        return Sources(chunks)
    raise UsageError(f"relevant_chunks_sep is a list of texts, not {type(chunks).__name__}")


def _with_output_rails(options: Any) -> Any:
    """Generation options under which an answer that is generated is also checked."""
    if options is None:
        return None
    made = GenerationOptions(**options) if isinstance(options, Mapping) else options
    if not isinstance(made, GenerationOptions) or made.rails.dialog is False:
        return options
    made = made.model_copy(deep=True)
    made.rails.output = True
    return made


def _without_output_rails(options: Any) -> GenerationOptions:
    made = GenerationOptions(**options) if isinstance(options, Mapping) else options
    made = made.model_copy(deep=True) if isinstance(made, GenerationOptions) else GenerationOptions()
    made.rails.output = False
    return made


def _without_reasoning(text: str) -> str:
    thinking = ReasoningFilter()
    return (thinking.feed(text) + thinking.finish()).lstrip("\n") if "<" in text else text


def _told(report: Report) -> str:
    """What a reader of a whole answer gets: what was released, and the notice."""
    if not report.notice:
        return report.text
    return f"{report.text}\n\n{report.notice}" if report.text.strip() else report.notice


def _released(outcome: Outcome) -> list[str]:
    return [event.text for event in outcome.events if isinstance(event, Released)]


def _payload(message: str) -> str:
    return json.dumps(
        {"error": {"message": message, "type": "guardrails_violation", "param": FLOW, "code": "content_blocked"}}, ensure_ascii=False
    )


def _payload_of_failure() -> str:
    told = {"message": "The generation failed.", "type": "generation_error", "param": None, "code": "generation_failed"}
    return json.dumps({"error": told})


def _is_payload(chunk: str) -> bool:
    if not chunk.lstrip().startswith('{"error"'):
        return False
    try:
        return isinstance(json.loads(chunk).get("error"), dict)
    except (ValueError, AttributeError):
        return False


def _text_of(result: Any) -> Any:
    if isinstance(result, GenerationResponse):
        result = result.response if isinstance(result.response, str) else (result.response or [{}])[-1]
    return result.get("content") if isinstance(result, dict) else result


async def _nothing() -> AsyncIterator[str]:
    return
    yield ""


async def _end(handler: StreamingHandler) -> None:
    await handler.push_chunk(None)
