"""One turn of an assistant: the model is called until it gives its final answer, its tool calls are run, and the answer is data.

    question -> [ model call -> tool calls, permitted and run -> results become sources ]* -> final object

One loop does it (`run_turn`); `chat` and `stream` are its two faces. The model is a callable from messages and tools to the payloads of a
provider's stream, so any client will do; `chat_model` makes one of a chat-completions client. What a tool returns is a source like the
others, with the next number: a value that the answer takes from it is supported. When the model uses up its steps the turn ends with the
contract's fixed object for a step limit.

What is kept of a turn is safe: `Turn.messages` holds the final object as JSON and never the raw text, `Turn.trace` names tools, seconds
and the final object, and no text that was withheld.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal, overload

from .contract import AnswerContract, ContractGate, Final, Repair
from .endings import Tracker
from .errors import UsageError
from .events import Ending, Event, Released, ToolPiece, Usage
from .markers import style_of
from .prompt import format_sources, prompt_rules
from .providers import ReasoningFilter, openai_chat
from .sources import Source, Sources
from .store import SqliteStore
from .usage import total

_LOG = logging.getLogger(__name__)

Message = Mapping[str, Any]
Model = Callable[[Sequence[Message], Sequence[Mapping[str, Any]]], Iterable[Mapping[str, Any]]]
"""Messages and tool declarations (both of chat completions) to the payloads of a stream. Its iterator is closed at the stop."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that the model may call: `run` gets its arguments by name and returns a text.

    `parameters` is the JSON Schema of the arguments. What `run` raises is told to the model as a failure, without its text.
    """

    name: str
    description: str
    run: Callable[..., str]
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})

    @property
    def declaration(self) -> dict[str, Any]:
        """The tool as chat completions declare it."""
        return {"type": "function", "function": {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}}


@dataclass(frozen=True, slots=True)
class Turn:
    """A finished turn.

    `messages` is the history with this turn's question and final object: what the next turn is given. `usage` counts every model call.
    `trace` is one line of a log, as plain data.
    """

    final: Final
    messages: tuple[Message, ...] = field(repr=False)
    usage: Usage
    trace: Mapping[str, Any]


def chat_model(client: Any, model: str, **options: Any) -> Model:
    """A model from a client of chat completions (the `openai` package's, or one of its shape); `options` go into every request."""

    def call(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        request = {"model": model, "messages": list(messages), "stream": True, "stream_options": {"include_usage": True}, **options}
        if tools:
            request["tools"] = list(tools)
        with client.chat.completions.create(**request) as chunks:
            for chunk in chunks:
                yield chunk.model_dump()

    return call


@overload
def run_turn(question: str, *, stream: Literal[True], **options: Any) -> Iterator[Event | Turn]: ...
@overload
def run_turn(question: str, *, stream: Literal[False] = False, **options: Any) -> Turn: ...
def run_turn(question: str, *, stream: bool = False, **options: Any) -> Turn | Iterator[Event | Turn]:
    """One turn. With `stream`, an iterator of the answer's events as they come and the Turn last; else the Turn.

    Options: `model`, `contract`, `sources`; `tools`; `history` (the messages of the turn before); `instructions` (the beginning of the
    system prompt); `permit` (a function from a tool's name and arguments to whether it may run); `max_steps` (model calls, 6); `repair`;
    `provider` (a module of `sentence_gate.providers`, openai_chat); `write_trace` (gets the trace as one line of JSON). Raises UsageError
    for wrong options; an exception of the model ends the turn with the object for a failure. `store` and `conversation` instead of
    `history`: a SqliteStore that keeps texts, and the name under which it keeps this conversation.
    """
    events = _turn(question, _Options(**options))
    if stream:
        return events
    return next(event for event in events if isinstance(event, Turn))


def chat(question: str, **options: Any) -> Turn:
    """One turn, whole."""
    return run_turn(question, stream=False, **options)


def stream(question: str, **options: Any) -> Iterator[Event | Turn]:
    """One turn, as it comes."""
    return run_turn(question, stream=True, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    model: Model
    contract: AnswerContract
    sources: Sources | Iterable[str | Source] | Mapping[str, str]
    tools: Sequence[Tool] = ()
    history: Sequence[Message] = ()
    instructions: str = ""
    permit: Callable[[str, Mapping[str, Any]], bool] | None = None
    max_steps: int = 6
    repair: Repair | None = None
    provider: ModuleType = openai_chat
    write_trace: Callable[[str], object] | None = None
    store: SqliteStore | None = None
    conversation: str | None = None

    def __post_init__(self) -> None:
        if not callable(self.model):
            raise UsageError("model is a callable from (messages, tools) to an iterable of payloads; see chat_model")
        if not isinstance(self.contract, AnswerContract):
            raise UsageError(f"contract is an AnswerContract, not {type(self.contract).__name__}")
        if isinstance(self.max_steps, bool) or not isinstance(self.max_steps, int) or self.max_steps < 1:
            raise UsageError("max_steps is a whole number from 1")
        if (self.store is None) != (self.conversation is None):
            raise UsageError("store and conversation go together: the store keeps the messages of the conversation of this name")
        if self.store is not None and self.history:
            raise UsageError("give a history or a store, not both: the store has the conversation's own")
        if not all(isinstance(tool, Tool) for tool in self.tools):
            raise UsageError("tools is a list of Tool(name, description, run, parameters)")
        names = [tool.name for tool in self.tools]
        if len(set(names)) < len(names):
            raise UsageError("every tool has a name of its own")


@dataclass(slots=True)
class _Call:
    """A tool call, put together from its pieces."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class _Step:
    """What one model call came to: a final object, or tool calls."""

    final: Final | None = None
    calls: list[_Call] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    error: str | None = None


def _turn(question: str, options: _Options) -> Iterator[Event | Turn]:
    if not isinstance(question, str):
        raise UsageError(f"question is a str, not {type(question).__name__}")
    started = time.monotonic()
    given: list[Source] = list(options.sources if isinstance(options.sources, Sources) else Sources(options.sources))
    history = options.store.history(options.conversation) if options.store and options.conversation else options.history
    asked: list[Message] = [*history, {"role": "user", "content": question}]
    working, ran, steps = list(asked), list[dict[str, Any]](), list[_Step]()
    final: Final | None = None
    while final is None and len(steps) < options.max_steps:
        step = _Step()
        steps.append(step)
        yield from _step(step, question, _messages(working, given, options), Sources(given), options)
        final = step.final
        if final is None:
            _run(step.calls, working, given, ran, options)
    if final is None:
        value = options.contract.fallback("step_limit")
        final = Final(value, "fallback", "step_limit", text=str(value.get(options.contract.answer or "", "")))
        if final.text:
            yield Released(final.text)
    usage = total(step.usage for step in steps)
    trace = _trace(final, steps, ran, time.monotonic() - started)
    if options.write_trace:
        options.write_trace(json.dumps(trace, ensure_ascii=False))
    told: Message = {"role": "assistant", "content": final.json}
    if options.store and options.conversation:
        options.store.remember(options.conversation, (asked[-1], told), time.time())
    yield Turn(final, (*asked, told), usage, trace)


def _messages(working: Sequence[Message], given: Sequence[Source], options: _Options) -> list[Message]:
    policy = options.contract.policy
    parts = [
        options.instructions,
        prompt_rules(policy),
        options.contract.prompt(),
        "Sources:\n\n" + format_sources(given, policy.markers),
    ]
    return [{"role": "system", "content": "\n\n".join(part for part in parts if part)}, *working]


def _step(step: _Step, question: str, messages: Sequence[Message], sources: Sources, options: _Options) -> Iterator[Event]:
    """One model call: events of the answer as it arrives, the outcome in `step`. The stream is closed on every way out."""
    started = time.monotonic()
    gate = ContractGate(options.contract, sources, question=question)
    tracker, thinking, calls = Tracker(options.provider), ReasoningFilter(), dict[int, _Call]()
    transport, shown = "clean_eof", False
    try:
        payloads = iter(options.model(messages, [tool.declaration for tool in options.tools]))
        with _closed(payloads):
            for payload in payloads:
                delta = options.provider.read(payload)
                tracker.add(delta)
                _collect(calls, delta.tool)
                outcome = gate.feed(thinking.feed(delta.text))
                shown = shown or bool(outcome.text)
                yield from outcome.events
                if outcome.stopped:
                    transport = "closed_by_us"
                    break
            else:
                outcome = gate.feed(thinking.finish())
                shown = shown or bool(outcome.text)
                yield from outcome.events
    except Exception as error:
        transport, step.error = "reset", type(error).__name__
        _LOG.error("the model failed: %s", step.error)  # no traceback: it may quote the answer
    step.seconds, step.usage = time.monotonic() - started, tracker.usage
    ending = tracker.ending(transport)
    if calls and not shown and not gate.stopped and ending.kind == "tool_call":  # a call of a cut turn may be half of one
        step.calls = [calls[index] for index in sorted(calls)]
        return
    final = gate.finish(Ending.completed() if ending.kind == "tool_call" else ending, repair=options.repair)
    step.final = final
    if final.text:
        yield Released(final.text)


class _Closable:
    """Something that `contextlib.closing` takes."""

    __slots__ = ("close",)

    def __init__(self, close: Callable[[], object]) -> None:
        self.close = close


def _closed(payloads: Iterator[Mapping[str, Any]]) -> AbstractContextManager[object]:
    close = getattr(payloads, "close", None)
    return closing(_Closable(close)) if callable(close) else nullcontext()


def _collect(calls: dict[int, _Call], pieces: Iterable[ToolPiece]) -> None:
    for piece in pieces:
        index = piece.index if piece.index >= 0 else -1 - len(calls)
        call = calls.setdefault(index, _Call())
        call.id = call.id or piece.id or ""
        call.name = call.name or piece.name or ""
        call.arguments += piece.arguments


def _run(calls: list[_Call], working: list[Message], given: list[Source], ran: list[dict[str, Any]], options: _Options) -> None:
    """Runs the calls of one step; each gets an answer, and each result becomes a source."""
    style = style_of(options.contract.policy.markers)
    declared = [
        {"id": call.id or f"call_{at}", "type": "function", "function": {"name": call.name, "arguments": call.arguments or "{}"}}
        for at, call in enumerate(calls)
    ]
    working.append({"role": "assistant", "content": None, "tool_calls": declared})
    for call, written in zip(calls, declared, strict=True):
        started = time.monotonic()
        outcome, result = _outcome(call, options)
        named = call.name if outcome != "unknown" else ""  # no tool's name, but text of the model's
        ran.append({"tool": named, "outcome": outcome, "seconds": round(time.monotonic() - started, 6)})
        if outcome == "ok":
            given.append(Source(result, title=f"Result of the tool {call.name}"))
            result = f"{style.written(len(given))} {result}"
        working.append({"role": "tool", "tool_call_id": written["id"], "content": result})


def _outcome(call: _Call, options: _Options) -> tuple[str, str]:
    """How a call went, and what the model is told of it."""
    tool = next((tool for tool in options.tools if tool.name == call.name), None)
    if tool is None:
        return "unknown", f"There is no tool of this name; the tools are {', '.join(tool.name for tool in options.tools)}."
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return "unreadable", "The arguments are no JSON object. Call the tool again."
    if not _permitted(call.name, arguments, options):
        return "forbidden", "This call is not permitted."
    try:
        return "ok", str(tool.run(**arguments))
    except Exception as error:
        _LOG.error("the tool %s failed: %s", call.name, type(error).__name__)  # no traceback: it may name what the reader must not see
        return "failed", "The tool failed."


def _permitted(name: str, arguments: dict[str, Any], options: _Options) -> bool:
    """Whether a call may run; one whose permit raises may not."""
    try:
        return options.permit is None or bool(options.permit(name, arguments))
    except Exception:  # the caller's own; its text may name the arguments
        return False


def _trace(final: Final, steps: Sequence[_Step], ran: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    return {
        "steps": [round(step.seconds, 6) for step in steps],
        "tools": ran,
        "seconds": round(seconds, 6),
        "origin": final.origin,
        "cause": final.cause,
        "error": steps[-1].error,
        "checks": sorted({violation.check for violation in final.violations}),
        "faults": [fault.path for fault in final.faults],
        "object": dict(final.value),
    }


# ------------------------------------------------------------------------------------------------ evals


@dataclass(frozen=True, slots=True)
class Eval:
    """How one recorded question came out: `wrong` holds key, wanted and found of everything that differed."""

    line: int
    question: str
    wrong: tuple[tuple[str, Any, Any], ...]
    turn: Turn = field(repr=False)


def evals(lines: Iterable[str], ask: Callable[[str], Turn]) -> Iterator[Eval]:
    """Replays recorded questions: JSON lines of `question` and what its object must hold (`status`, `category`, `missing`).

    `ask` is a turn with everything but the question, such as `functools.partial(chat, model=…, contract=…, sources=…)`. Raises UsageError
    naming the line for one that is no such record.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        record = _record(line, number)
        turn = ask(record["question"])
        wanted = {key: record[key] for key in _ASSERTED if key in record}
        wrong = tuple((key, value, turn.final.value.get(key)) for key, value in wanted.items() if turn.final.value.get(key) != value)
        yield Eval(number, record["question"], wrong, turn)


_ASSERTED = ("status", "category", "missing")


def _record(line: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("question"), str):
        raise UsageError(f"line {number} is no JSON object with a question")
    unknown = set(record) - {"question", *_ASSERTED}
    if unknown:
        raise UsageError(f"line {number}: unknown key {sorted(unknown)[0]!r}; the keys are question, {', '.join(_ASSERTED)}")
    return record
