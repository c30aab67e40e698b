"""One request: its sources, what its models said and how they ended, its tasks and open streams. Found by a context variable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import asdict, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..endings import UNATTESTED, Tracker
from ..errors import UsageError
from ..events import Delta, Ending, Report
from ..gate import SentenceGate
from ..policy import Policy
from ..providers import ReasoningFilter
from ..providers import nemo as provider
from ..sources import Source, Sources

if TYPE_CHECKING:
    from ..contract import AnswerContract, ContractGate  # needs the extra `contract`, and only a typed answer needs it

log = logging.getLogger("sentence_gate.nemo")

FLOW = "sentence gate"
"""The name of the output rail, which is what NeMo's block payload gives as `param`."""

GRACE = 5.0
"""Seconds that a cancelled model has to end; after that the answer's end is handed out all the same, and a warning is logged."""

_closing: set[asyncio.Task[None]] = set()  # closings that outlive a reader who was cancelled twice


class Call:
    """One call of a model: what it said, and how it ended."""

    __slots__ = ("exhausted", "streamed", "text", "tracker")

    def __init__(self, *, carries_reason: bool, streamed: bool) -> None:
        self.tracker = Tracker(provider, carries_reason=carries_reason)
        self.streamed = streamed
        self.text: list[str] = []
        self.exhausted = False

    def take(self, payload: Mapping[str, Any]) -> None:
        """One chunk, or a whole response in the shape of one."""
        delta = provider.read(payload)
        self.tracker.add(delta)
        if delta.text:
            self.text.append(delta.text)

    def take_text(self, text: str) -> None:
        """A chunk that holds nothing but text, as nearly all do."""
        if text:
            self.tracker.add(Delta(text=text))
            self.text.append(text)

    def ending(self) -> Ending:
        """How it ended; a stream that NeMo read no further met one of NeMo's stop sequences."""
        if self.exhausted or self.tracker.ended:
            return self.tracker.ending()
        return Ending.stop_sequence(evidence="nemo stop", usage=self.tracker.usage)


class Session:
    """One request to a gated `LLMRails`. No repr shows text."""

    def __init__(
        self,
        owner: object,
        policy: Policy,
        *,
        question: str = "",
        sources: Iterable[Any] | None = None,
        contract: AnswerContract | None = None,
    ) -> None:
        self.owner = owner
        self.policy = policy
        self.contract = contract
        self.question = question
        self._given = None if sources is None else tuple(sources)
        self.calls: list[Call] = []
        self.judged: list[tuple[str, str]] = []  # what the rail was given, and what it made of it
        self.stopped = False
        self.report: Report | None = None
        self.released: list[str] = []  # of a stream
        self.tasks: set[asyncio.Task[Any]] = set()
        self.streams: list[AsyncIterator[Any]] = []
        self.closed = False

    def use(self, sources: Iterable[Any]) -> None:
        """Takes the sources of this request from now on."""
        self._given = tuple(sources)

    @property
    def has_sources(self) -> bool:
        """Whether sources were given, if only an empty list."""
        return self._given is not None

    def gate(self) -> SentenceGate:
        """A gate over the sources that are known now."""
        return SentenceGate(indexed(self._given or ()), self.policy, question=self.question)

    # ------------------------------------------------------------------------------------------------ whole answers

    def report_on(self, text: str) -> Report:
        """The report on a whole answer."""
        gate, thoughts = self.gate(), ReasoningFilter()
        gate.feed(thoughts.feed(text))
        gate.feed(thoughts.finish())
        gate.finish(self.ending_of(text))
        return gate.report

    def typed_gate(self, contract: AnswerContract) -> ContractGate:
        """A gate for one typed answer over the sources that are known now."""
        from ..contract import ContractGate

        return ContractGate(contract, indexed(self._given or ()), question=self.question)

    def judge(self, text: str) -> tuple[Report, str]:
        """Judges a whole answer: the report, and the text with its notice, or the typed answer as JSON. Both are kept."""
        if self.contract is not None:
            gate, thoughts = self.typed_gate(self.contract), ReasoningFilter()
            gate.feed(thoughts.feed(text))
            gate.feed(thoughts.finish())
            final = gate.finish(self.ending_of(text))
            report, shown = final.report or self.report_on(""), final.json
        else:
            report = self.report_on(text)
            shown = with_notice(report)
        self.tell(report)
        self.judged.append((text, shown))
        return report, shown

    def tell(self, report: Report) -> None:
        """Keeps the report and logs, without text, why an answer was stopped."""
        self.report = report
        self.stopped = report.status == "stopped"
        if not self.stopped:
            return
        names = ", ".join(dict.fromkeys(violation.check for violation in report.violations))
        log.info("the answer was stopped (%s); %d characters were withheld", names, report.withheld_chars)
        if not self._given:
            log.warning(
                "the answer was stopped and no sources were given: put them into the request as "
                '{"role": "context", "content": {"relevant_chunks_sep": [...]}} (over HTTP: guardrails.context), retrieve them in a rail, '
                "or call sentence_gate.nemo.use_sources in an action"
            )

    def ending_of(self, text: str) -> Ending:
        """How the call ended that this answer came from; unattested if no model said it (an action's answer, a text to be checked)."""
        wanted = squashed(text)
        for call in reversed(self.calls):
            said = squashed("".join(call.text))
            if (wanted and wanted in said) or (not wanted and not said):
                return call.ending()
        return Ending.completed(notes=(UNATTESTED,))

    def said_by_model(self, text: str) -> bool:
        """Whether a model of this request said this."""
        wanted = squashed(text)
        return bool(wanted) and any(wanted in squashed("".join(call.text)) for call in self.calls)

    # ------------------------------------------------------------------------------------------------ closing

    def started(self, task: asyncio.Task[Any] | None) -> None:
        """A task in which a model is being asked. Raises CancelledError if the request is over."""
        if self.closed:
            raise asyncio.CancelledError
        if task is not None:
            self.tasks.add(task)

    async def close(self) -> None:
        """Ends every task and stream of this request; returns when they have ended. Once begun it goes on, whoever is cancelled."""
        if self.closed and not self.tasks and not self.streams:
            return
        self.closed = True
        current = asyncio.current_task()
        for task in self.tasks:
            if task is not current:
                task.cancel()  # at once: a second cancellation may hit the wait below
        closing = asyncio.create_task(self._close(current))
        _closing.add(closing)
        closing.add_done_callback(_closing.discard)
        await asyncio.shield(closing)

    async def _close(self, caller: asyncio.Task[Any] | None) -> None:
        tasks = {task for task in self.tasks if task is not caller and not task.done()}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=GRACE)
            if late:
                log.warning("a model did not end within %.0f seconds after it was cancelled", GRACE)
        self.tasks.clear()
        while self.streams:
            with suppress(Exception):
                await aclose(self.streams.pop())


current: ContextVar[Session | None] = ContextVar("sentence_gate_session", default=None)


def use_sources(sources: Iterable[Any]) -> None:
    """Gives the request that is being answered its sources, from an action, a retrieval rail or a passthrough function.

    `sources` are texts, `Source`s, or NeMo's chunks (mappings with a body). Raises UsageError outside a gated request.
    """
    session = current.get()
    if session is None:
        raise UsageError("use_sources is called inside a request to a gated LLMRails, such as by an action of it")
    if isinstance(sources, str) or not isinstance(sources, Iterable):
        raise UsageError("sources are a list of texts, of Source, or of mappings with a body")
    session.use(sources)


def indexed(items: Iterable[Any]) -> Sources:
    """The sources of a request; the same ones are indexed once."""
    return _indexed(tuple(map(_source, items)))


@lru_cache(maxsize=64)
def _indexed(items: tuple[Source, ...]) -> Sources:
    return Sources(items)


def _source(item: object) -> Source:
    if isinstance(item, Source):
        return item
    if isinstance(item, Mapping):
        text = item.get("body", item.get("text", ""))
        title, url = item.get("title"), item.get("url")
        return Source(str(text), title=title if isinstance(title, str) else None, url=url if isinstance(url, str) else None)
    return Source(item if isinstance(item, str) else str(item))


def with_notice(report: Report) -> str:
    """What a reader gets who can't be shown a notice apart: the released text, and the notice as a paragraph of its own."""
    text = report.text
    if report.notice is None:
        return text
    return f"{text}\n\n{report.notice}" if text.strip() else report.notice


def squashed(text: str) -> str:
    """The text without what NeMo changes on the way from the model to the rail: white space and quotes."""
    return "".join(text.split()).replace('"', "")


def plain(record: object) -> Any:
    """A record of NeMo's as plain data, a level at a time where it can be."""
    return asdict(record) if is_dataclass(record) and not isinstance(record, type) else record


async def aclose(stream: Any) -> None:
    """Closes an asynchronous iterator if it can be closed."""
    close = getattr(stream, "aclose", None)
    if callable(close):
        await close()
