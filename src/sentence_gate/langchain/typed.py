"""`AnswerContractParser`: the typed final answer as the last step of a chain. Needs the extra `contract`.

    chain = prompt | model | AnswerContractParser(contract=contract, sources=documents)

It takes the model's message (or its text) and gives the object, valid whatever came. It guards what comes out of the chain: the model's own
listeners (events, tracers) see the raw JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from langchain_core.runnables.config import ensure_config
from pydantic import ConfigDict, Field

from ..contract import AnswerContract, Final
from ..endings import Tracker
from ..errors import UsageError
from ..events import Ending
from ..providers import ReasoningFilter
from ..providers import langchain as provider
from .documents import QUESTION_KEY, SOURCES_KEY, sources_of
from .run import check_names


class AnswerContractParser(RunnableSerializable[Any, dict[str, Any]]):
    """The final object of a model's message, by an `AnswerContract`.

    `sources` are the documents; per run they are looked for in `for_request(documents)`, in the config's
    `configurable["sentence_gate_sources"]` and here, in this order. `repair` mends structure once (`contract.chat_repair`). `on_final` gets
    the `Final`: where the object came from, faults, the gate's report. Raises UsageError without sources.
    """

    contract: Any
    sources: Any = Field(default=None, repr=False)
    request_sources: Any = Field(default=None, repr=False)
    repair: Callable[..., str | None] | None = Field(default=None, repr=False, exclude=True)
    on_final: Callable[[Final], None] | None = Field(default=None, repr=False, exclude=True)
    name: str | None = "AnswerContract"

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def __init__(self, **fields: Any) -> None:
        check_names(type(self), fields)
        if not isinstance(fields.get("contract"), AnswerContract):
            raise UsageError("contract is an AnswerContract")
        if fields.get("sources") is not None:
            fields["sources"] = sources_of(fields["sources"])
        super().__init__(**fields)

    def for_request(self, documents: Any) -> Self:
        """The same step with the sources of one request."""
        return self.model_copy(update={"request_sources": sources_of(documents)})

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:  # noqa: A002 - LangChain's name
        """The object for one message or text."""
        return self._call_with_config(self._read, input, config, **kwargs)

    def _read(self, message: Any, config: RunnableConfig) -> dict[str, Any]:
        configurable = ensure_config(config).get("configurable", {})
        given = next((one for one in (self.request_sources, configurable.get(SOURCES_KEY), self.sources) if one is not None), None)
        if given is None:
            raise UsageError(f"no sources: give sources=, for_request(documents) or configurable[{SOURCES_KEY!r}]")
        text, ending = _said(message)
        question = str(configurable.get(QUESTION_KEY) or "")
        final = self.contract.read(text, sources_of(given), question=question, ending=ending, repair=self.repair)
        if self.on_final is not None:
            self.on_final(final)
        return dict(final.value)


_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason")


def _once(reason: Any) -> Any:
    """A reason that every chunk told (Gemini's older models): LangChain joins them when it merges the chunks of a stream, "STOPSTOP"."""
    return reason[: (reason * 2).find(reason, 1)] if isinstance(reason, str) and reason else reason


def _said(message: Any) -> tuple[str, Ending]:
    """The text of a message without its reasoning, and how it ended."""
    if isinstance(message, str):
        said, ending = message, Ending.completed()
    elif isinstance(message, BaseMessage):
        tracker = Tracker(provider, carries_reason=False)
        told = {key: _once(value) if key in _REASONS else value for key, value in message.response_metadata.items()}
        delta = provider.read({**message.model_dump(), "response_metadata": told})
        tracker.add(delta)
        said, ending = delta.text, tracker.ending()
    else:
        raise UsageError(f"the step takes a message or a text, not {type(message).__name__}")
    thinking = ReasoningFilter()
    return thinking.feed(said) + thinking.finish(), ending
