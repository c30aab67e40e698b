"""`SentenceGateCallback`: checked sentences for interfaces that read callbacks.

It can't hide text from whoever reads `stream()`, `astream_events` or another callback: LangChain hands the raw tokens to all of them.
Use it where the callback is the only thing that is shown, and `GatedChatModel` everywhere else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from ..errors import UsageError
from ..events import Report
from ..gate import SentenceGate
from ..policy import Policy
from .documents import sources_of
from .errors import SentenceGateStop
from .model import NO_SOURCES
from .run import policy_of
from .translator import Translator


class SentenceGateCallback(BaseCallbackHandler):
    """Forwards only sentences that passed: `model.stream(messages, {"callbacks": [SentenceGateCallback(...)]})`.

    `on_text(text)` gets them as they pass, then the notice, if there is one; `on_report(report)` the report at the end. `forward` is a
    handler of an interface: its `on_llm_new_token` is called with the same texts, and its start, end and error with no text at all.
    `sources` are the documents, or a callable from the run's messages to them.

    `kill=True` raises SentenceGateStop out of the model at the stop, which closes the provider; LangChain calls the model's other handlers
    before, and the text up to the failing sentence's last token was handed to whoever reads the stream. Without it the model runs on.

    Not promised: hiding text from `stream()`, `invoke()`, events, tracers and other handlers. A run with several choices shows nothing. A
    GatedChatModel needs no gate behind it: give it a plain handler.
    """

    run_inline = True

    def __init__(
        self,
        *,
        sources: Any,
        policy: Policy | None = None,
        on_text: Callable[[str], None] | None = None,
        on_report: Callable[[Report], None] | None = None,
        forward: BaseCallbackHandler | None = None,
        kill: bool = False,
    ) -> None:
        self.raise_error = kill
        self._policy = policy_of(policy)
        if sources is None:
            raise UsageError(NO_SOURCES)
        self._sources = sources if callable(sources) else sources_of(sources)
        self._on_text = on_text
        self._on_report = on_report
        self._forward = forward
        self._runs: dict[UUID, _State] = {}
        self._lock = threading.Lock()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if issubclass(cls, AsyncCallbackHandler):
            raise UsageError(
                "an async handler can't stop a sync stream: LangChain swallows its exceptions; SentenceGateCallback works in both"
            )

    def on_chat_model_start(self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **kwargs: Any) -> None:
        """Opens a gate for the run."""
        given = messages[0] if messages else []
        self._start(run_id, self._sources(given) if callable(self._sources) else self._sources)

    def on_llm_start(self, serialized: dict[str, Any], prompts: list[str], *, run_id: UUID, **kwargs: Any) -> None:
        """Opens a gate for the run of a model of plain text."""
        self._start(run_id, self._sources(prompts) if callable(self._sources) else self._sources)

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **kwargs: Any) -> None:
        """Forwards what passes of the token."""
        if (state := self._runs.get(run_id)) is None or not state.hears("tokens"):
            return
        message = getattr(chunk, "message", None)
        if message is None:
            text = state.translator.text(token if isinstance(token, str) else "")
        else:
            passing = state.translator.message(message, chunk.generation_info)
            text = passing.text if passing is not None else ""
        self._pass(state, run_id, str(text))

    def on_stream_event(self, event: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forwards what passes of an event of the third event protocol."""
        if (state := self._runs.get(run_id)) is None or event.get("event") != "content-block-delta":
            return
        delta = event.get("delta") or {}
        if delta.get("type") == "text-delta" and state.hears("events"):
            self._pass(state, run_id, state.translator.text(delta.get("text") or ""))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Judges what is left (the whole answer, if there were no tokens) and forwards the notice."""
        state = self._take(run_id)
        if state is None or state.over:
            return
        generations = response.generations[0] if response.generations else []
        if len(generations) > 1:
            state.translator.give_up("reset", "several choices")
            self._report(state)
            return
        if generations and state.channel is None:
            message = getattr(generations[0], "message", None)
            if message is None:
                self._show(state.translator.text(generations[0].text), run_id)
            elif (passing := state.translator.message(message, generations[0].generation_info)) is not None:
                self._show(str(passing.text), run_id)
        self._end(state, run_id, "clean_eof")

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Drops what waits."""
        if (state := self._take(run_id)) is not None and not state.over:
            state.translator.give_up("reset" if isinstance(error, Exception) else "closed_by_us", type(error).__name__)
            self._report(state)

    def _start(self, run_id: UUID, sources: Any) -> None:
        if sources is None:
            raise UsageError(NO_SOURCES)
        state = _State(Translator(SentenceGate(sources_of(sources), self._policy)))
        with self._lock:
            self._runs[run_id] = state

    def _take(self, run_id: UUID) -> _State | None:
        with self._lock:
            return self._runs.pop(run_id, None)

    def _pass(self, state: _State, run_id: UUID, text: str) -> None:
        self._show(text, run_id)
        if state.translator.over:
            state.over = True
            self._end(state, run_id, "closed_by_us")
            if self.raise_error:
                raise SentenceGateStop(state.translator.report)

    def _end(self, state: _State, run_id: UUID, transport: str) -> None:
        self._show(state.translator.finish_text(transport), run_id)
        self._report(state)

    def _show(self, text: str, run_id: UUID) -> None:
        if not text:
            return
        if self._on_text is not None:
            self._on_text(text)
        if self._forward is not None:
            self._forward.on_llm_new_token(text, run_id=run_id)

    def _report(self, state: _State) -> None:
        if self._on_report is not None:
            self._on_report(state.translator.report)


class _State:
    """What is known of one run."""

    __slots__ = ("channel", "over", "translator")

    def __init__(self, translator: Translator) -> None:
        self.translator = translator
        self.over = False
        self.channel: str | None = None

    def hears(self, channel: str) -> bool:
        """Whether to listen to this channel: in the third event protocol some packages tell their tokens on both."""
        if self.channel is None:
            self.channel = channel
        return self.channel == channel and not self.over
