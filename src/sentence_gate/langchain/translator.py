"""One run's translation: messages of a model in, messages that were checked out. The only place that knows the shape of a message.

What leaves is built anew from a list of what may pass, never copied: raw text hides in log-probabilities, annotations, reasoning and
other corners of a message. Metadata and usage leave once, with the last chunk, since LangChain joins strings when it merges chunks.

In a turn with tools a stop waits: a model may say a sentence before it calls a tool, and that sentence must not cost the call. From the
first failure on nothing more is released; if a call comes, it passes and the text is dropped; if the turn ends without one, it is a stop.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langchain_core.messages.tool import ToolCallChunk

from ..endings import UNATTESTED, Tracker
from ..events import Delta, Ending, Report
from ..gate import SentenceGate
from ..providers import ReasoningFilter
from ..providers import langchain as provider

EVENT = "sentence_gate"
"""Name of the custom event, and of the key in a message's metadata."""

ReasoningUse = Literal["drop", "pass"]

_PASSING = frozenset(
    {
        "created", "done", "done_reason", "finish_reason", "id", "model", "model_id", "model_name", "model_provider", "model_version",
        "object", "service_tier", "status", "stopReason", "stop_reason", "stop_sequence", "system_fingerprint",
    }
)  # fmt: skip
_COUNTS = frozenset({"token_usage", "usage", "metrics"})
_REASONS = frozenset({"done_reason", "finish_reason", "status", "stopReason", "stop_reason", "stop_sequence", "incomplete_details"})
_CALLS = frozenset({"function_call", "tool_calls"})
_SIGNATURES = frozenset({"__gemini_function_call_thought_signatures__"})
_LONGEST = 200  # code points of a metadata value; ids and reasons are short, prose is not
_REASONING_BLOCKS = frozenset({"reasoning", "reasoning_content", "redacted_thinking", "thinking"})
_SIGNED = ("data", "encrypted_content", "extras", "signature")
_NO_EXTRA: Mapping[str, Any] = MappingProxyType({})


class Translator:
    """Translates the messages of one answer through one gate.

    `tools`: a call of a tool may come, so a stop waits for the end of the turn. `carries_reason`: the model's package says how a turn
    ended; an absent reason is then no evidence of an end (else the answer counts as completed, unattested).
    """

    def __init__(self, gate: SentenceGate, *, tools: bool = False, carries_reason: bool = False, reasoning: ReasoningUse = "drop") -> None:
        self._gate = gate
        self._tools = tools
        self._tracker = Tracker(provider, carries_reason=carries_reason)
        self._filter = ReasoningFilter()
        self._passes_reasoning = tools and reasoning == "pass"
        self._dropped = False  # signed reasoning blocks
        self._metadata: dict[str, Any] = {}
        self._usage: UsageMetadata | None = None
        self._provider_known = False
        self._finished = False
        self.called = False
        """Whether the turn calls a tool."""

    @property
    def over(self) -> bool:
        """Whether the upstream is to be closed now: the gate stopped, and no call of a tool has come or is waited for."""
        return self._gate.stopped and not self._tools and not self.called

    @property
    def report(self) -> Report:
        """The gate's report."""
        return self._gate.report

    @property
    def dropped_reasoning(self) -> bool:
        """Whether a turn that calls a tool lost signed reasoning blocks, which its provider may ask to have back."""
        return self.called and self._dropped

    def text(self, piece: str) -> str:
        """What may pass of a piece of plain text."""
        self._tracker.add(Delta(text=piece))
        return self._gate.feed(self._filter.feed(piece)).text

    def message(self, message: BaseMessage, generation_info: Mapping[str, Any] | None = None) -> AIMessageChunk | None:
        """What may pass of a message or chunk now; None if nothing may, yet."""
        told = {**(generation_info or {}), **message.response_metadata}
        calls = _calls(message)
        if calls and not self.called:
            calls = [piece for piece in calls if piece.get("name") or piece.get("args") or piece.get("id")]  # what says nothing is no call
        usage = getattr(message, "usage_metadata", None)
        extra = message.additional_kwargs or _NO_EXTRA
        if isinstance(message.content, str) and not (told or calls or usage or extra):
            delta = Delta(text=str.__str__(message.content))  # what the reader would say of most chunks, sooner
        else:
            delta = provider.read(
                {
                    "content": message.content,
                    "additional_kwargs": extra,
                    "response_metadata": told,
                    "tool_call_chunks": calls,
                    "usage_metadata": usage,
                }
            )
        self._tracker.add(delta)
        if told:
            self._note(told)
        if usage:
            self._usage = add_usage(self._usage, usage)
        blocks = [] if isinstance(message.content, str) else self._reasoning(message.content)
        passing = {key: value for key, value in extra.items() if value and (key in _CALLS or key in _SIGNATURES)} if extra else {}
        self.called |= bool(calls) or not _CALLS.isdisjoint(passing)
        text = self._gate.feed(self._filter.feed(delta.text)).text if delta.text else ""
        if not text and not calls and not passing and not blocks:
            return None
        content: str | list[Any] = [*blocks, *([text] if text else [])] if blocks else text
        return AIMessageChunk(content=content, tool_call_chunks=calls, additional_kwargs=passing)

    def finish(self, transport: str = "clean_eof") -> AIMessageChunk:
        """The last chunk: the judged tail, the notice as text, metadata and usage. Once."""
        text = self._end(transport)
        report = self._gate.report
        if notice := self.notice:
            text += ("\n\n" if report.text.strip() else "") + notice
        return AIMessageChunk(content=text, response_metadata=self._told(), usage_metadata=self._usage, chunk_position="last")

    def finish_text(self, transport: str = "clean_eof") -> str:
        """The last piece of plain text: the judged tail and the notice. Once."""
        text = self._end(transport)
        if notice := self.notice:
            text += ("\n\n" if self._gate.report.text.strip() else "") + notice
        return text

    def give_up(self, transport: str, error: str | None = None) -> None:
        """Ends a run whose stream broke ("reset", with the error's name) or whose reader left ("closed_by_us"); nothing is released."""
        if not self._finished:
            self._finished = True
            ending = self._tracker.ending(transport)
            if error and ending.kind == "no_evidence":
                ending = replace(ending, kind="provider_error", provider_reason=error)
            self._gate.finish(ending)

    @property
    def stopped(self) -> bool:
        """Whether the answer was stopped by a failed check, and not spared for the sake of a call."""
        return self._gate.report.status == "stopped" and not self.called

    @property
    def notice(self) -> str | None:
        """The notice for the reader; none in a turn that calls a tool, unless its text was cut or failed."""
        return None if self._spared else self._gate.report.notice

    @property
    def _spared(self) -> bool:
        """Whether a call passes although its turn's text was stopped or was nothing."""
        return self.called and self._gate.report.status in ("stopped", "refused", "empty")

    @property
    def told(self) -> bool:
        """Whether listeners are told: the answer was not simply accepted, nor was it the text beside a call that was dropped."""
        return self._gate.report.status != "accepted" and not self._spared

    @property
    def info(self) -> dict[str, Any]:
        """What the message's metadata and the custom event say: the report without any text of the answer, and whether a tool is called."""
        told = self._gate.report.to_dict()
        del told["text"]
        if told["ending"]:
            del told["ending"]["usage"]  # it is the report's
        return {**told, "notice": self.notice, "tool_call": self.called}

    def _end(self, transport: str) -> str:
        self._finished = True
        text = ""
        if held := self._filter.finish():
            text = self._gate.feed(held).text
        return text + self._gate.finish(self._ending(transport)).text

    def _ending(self, transport: str) -> Ending:
        ending = self._tracker.ending(transport)
        if UNATTESTED in ending.notes and self._provider_known:
            return replace(ending, kind="no_evidence", notes=tuple(note for note in ending.notes if note != UNATTESTED))
        if self.called and UNATTESTED in ending.notes:
            return replace(ending, kind="tool_call")
        return ending

    def _note(self, told: Mapping[str, Any]) -> None:
        """Keeps what may pass of the metadata; a later value replaces an earlier one."""
        for key, value in told.items():
            if key in _PASSING and _short(value):
                self._metadata[key] = value
            elif key in _COUNTS and (counts := _numbers(value)):
                self._metadata[key] = counts
        if isinstance(name := told.get("model_provider"), str):
            self._provider_known |= provider.carries_reason(f"langchain_{name}") or name.startswith("bedrock")

    def _reasoning(self, content: Sequence[Any]) -> list[Any]:
        """The reasoning blocks that pass, as they are: a provider wants them back beside the results of the tools."""
        found = [block for block in content if isinstance(block, Mapping) and block.get("type") in _REASONING_BLOCKS]
        if self._passes_reasoning:
            return found
        self._dropped |= any(block.get(name) for block in found for name in _SIGNED)
        return []

    def _told(self) -> dict[str, Any]:
        report = self._gate.report
        told = dict(self._metadata)
        if self._gate.stopped and not self.called:
            told = {key: value for key, value in told.items() if key not in _REASONS}
            told["finish_reason"] = "content_filter" if report.status == "stopped" else "stop"
            told.pop("id", None)  # a provider that goes on from this id would go on from what was withheld
        told[EVENT] = self.info
        return told


def as_chunk(message: BaseMessage) -> AIMessageChunk:
    """A complete message as one chunk."""
    if isinstance(message, AIMessageChunk):
        return message
    return AIMessageChunk(
        content=message.content,
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
        usage_metadata=getattr(message, "usage_metadata", None),
        tool_call_chunks=_calls(message),
        id=message.id,
    )


def _calls(message: BaseMessage) -> list[ToolCallChunk]:
    """The message's calls of tools as chunks."""
    if isinstance(message, AIMessageChunk):
        return list(message.tool_call_chunks)
    if not isinstance(message, AIMessage):
        return []
    whole = [(call["name"], json.dumps(call["args"]), call["id"]) for call in message.tool_calls]
    broken = [(call["name"], call["args"], call["id"]) for call in message.invalid_tool_calls]
    return [
        ToolCallChunk(type="tool_call_chunk", name=name, args=args, id=id_, index=index)
        for index, (name, args, id_) in enumerate(whole + broken)
    ]


def _short(value: object) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _LONGEST)


def _numbers(value: object, depth: int = 3) -> dict[str, Any]:
    """The numbers in a mapping of counts, however nested."""
    if not isinstance(value, Mapping) or not depth:
        return {}
    found: dict[str, Any] = {}
    for key, inner in value.items():
        if isinstance(inner, int | float):
            found[str(key)] = inner
        elif nested := _numbers(inner, depth - 1):
            found[str(key)] = nested
    return found
