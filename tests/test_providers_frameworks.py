"""Readers of what frameworks hand over: LangChain's chunk metadata per package, LiteLLM's translated reasons, NeMo's chunks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from recorded import CHAT_USAGE, SOURCES, chat, said

from sentence_gate import SentenceGate, Usage
from sentence_gate.events import Delta, ToolPiece
from sentence_gate.providers import langchain, litellm, nemo
from sentence_gate.streams import read_answer


@pytest.mark.parametrize(
    ("metadata", "kind", "reason"),
    [
        # langchain-openai and those built on it
        ({"finish_reason": "stop", "model_name": "m"}, "completed", "stop"),
        ({"finish_reason": "length"}, "truncated", "length"),
        ({"finish_reason": "tool_calls"}, "tool_call", "tool_calls"),
        ({"finish_reason": "content_filter"}, "filtered", "content_filter"),
        ({"status": "completed", "object": "response"}, "completed", "completed"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "truncated", "max_output_tokens"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "filtered", "content_filter"),
        ({"status": "failed", "error": {"code": "server_error"}, "object": "response"}, "provider_error", "server_error"),
        # langchain-anthropic
        ({"stop_reason": "end_turn", "stop_sequence": None}, "completed", "end_turn"),
        ({"stop_reason": "stop_sequence", "stop_sequence": "###"}, "stop_sequence", "stop_sequence"),
        ({"stop_reason": "refusal"}, "refused", "refusal"),
        ({"stop_reason": "pause_turn"}, "truncated", "pause_turn"),
        ({"stop_reason": "model_context_window_exceeded"}, "truncated", "model_context_window_exceeded"),
        # langchain-aws
        ({"stopReason": "end_turn"}, "completed", "end_turn"),
        ({"stopReason": "max_tokens"}, "truncated", "max_tokens"),
        ({"stopReason": "guardrail_intervened"}, "filtered", "guardrail_intervened"),
        # langchain-google-genai
        ({"finish_reason": "STOP", "model_provider": "google_genai"}, "completed", "STOP"),
        ({"finish_reason": "MAX_TOKENS"}, "truncated", "MAX_TOKENS"),
        ({"finish_reason": "SAFETY"}, "filtered", "SAFETY"),
        ({"prompt_feedback": {"block_reason": "PROHIBITED_CONTENT"}}, "filtered", "PROHIBITED_CONTENT"),
        # langchain-ollama
        ({"done": True, "done_reason": "stop"}, "completed", "stop"),
        ({"done": True, "done_reason": "length"}, "truncated", "length"),
        # langchain-cohere
        ({"finish_reason": "COMPLETE"}, "completed", "COMPLETE"),
        # nobody's
        ({"finish_reason": "STOPSTOP"}, "provider_error", "STOPSTOP"),
        ({"finish_reason": "abort"}, "provider_error", "abort"),
        ({"done_reason": "load"}, "provider_error", "load"),
    ],
)
def test_langchains_reasons_per_package(metadata: dict[str, Any], kind: str, reason: str) -> None:
    ending = langchain.read({"content": "", "response_metadata": metadata}).ending
    assert ending is not None
    assert (ending.kind, ending.provider_reason) == (kind, reason)
    assert langchain.ending_of(metadata) == ending or "prompt_feedback" in metadata


@pytest.mark.parametrize(
    "metadata", [{}, {"model_name": "m"}, {"finish_reason": None}, {"finish_reason": ""}, {"status": "in_progress", "object": "response"}]
)
def test_a_langchain_chunk_without_a_reason_says_nothing(metadata: dict[str, Any]) -> None:
    assert langchain.read({"content": "x", "response_metadata": metadata, "chunk_position": "last"}).ending is None


def test_what_else_a_langchain_chunk_holds() -> None:
    delta = langchain.read(
        {
            "content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Yes."}, {"type": "tool_use", "input": {}}],
            "additional_kwargs": {"reasoning_content": "m", "refusal": "No."},
            "usage_metadata": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "output_token_details": {"reasoning": 1}},
            "tool_call_chunks": [{"index": 1, "id": "t", "name": "look", "args": "{"}, {"index": None, "args": None}],
        }
    )
    assert (delta.text, delta.reasoning, delta.refusal) == ("Yes.", "Hmm", "No.")
    assert delta.usage == Usage(1, 2, 1, "running")
    assert delta.tool == (ToolPiece(1, "t", "look", "{"), ToolPiece(1, None, None, ""))


def test_which_packages_carry_a_reason() -> None:
    assert langchain.carries_reason("langchain_openai.chat_models.base")
    assert not langchain.carries_reason("langchain_core.language_models.fake_chat_models")
    assert not langchain.carries_reason("my_models")


@pytest.mark.parametrize(
    ("choice", "kind", "reason"),
    [
        ({"finish_reason": "stop"}, "completed", "stop"),
        ({"finish_reason": "length"}, "truncated", "length"),
        (
            {"finish_reason": "content_filter", "delta": {"provider_specific_fields": {"stop_reason": "refusal", "stop_details": {}}}},
            "refused",
            "refusal",
        ),
        ({"finish_reason": "length", "delta": {"provider_specific_fields": {"stop_reason": "pause_turn"}}}, "truncated", "pause_turn"),
        ({"finish_reason": "brand_new"}, "provider_error", "brand_new"),
    ],
)
def test_litellms_reasons_are_marked_as_translated(choice: dict[str, Any], kind: str, reason: str) -> None:
    delta = litellm.read(chat(**choice))
    assert delta.ending is not None
    assert (delta.ending.kind, delta.ending.provider_reason, delta.notes) == (kind, reason, ("via_framework:litellm",))


def test_litellms_usage_may_be_its_own_count() -> None:
    assert litellm.read(CHAT_USAGE).usage == Usage(11, 22, 4, "estimated")
    gate = SentenceGate(SOURCES)
    list(read_answer([said("It opens at eight [S1]."), chat(finish_reason="stop"), CHAT_USAGE], "litellm", gate))
    assert gate.report.usage == Usage(11, 22, 4, "estimated")


@dataclass
class Chunk:
    """The fields of NeMo's LLMResponseChunk."""

    delta_content: str | None = None
    delta_reasoning: str | None = None
    delta_tool_calls: list[Any] | None = None
    model: str | None = None
    finish_reason: str | None = None
    request_id: str | None = None
    usage: Any = None
    provider_metadata: dict[str, Any] | None = field(default=None)


@pytest.mark.parametrize(
    ("chunk", "kind", "reason"),
    [
        (Chunk(finish_reason="stop"), "completed", "stop"),
        (Chunk(finish_reason="length"), "truncated", "length"),
        (Chunk(finish_reason="content_filter"), "filtered", "content_filter"),
        (Chunk(finish_reason="tool_calls"), "tool_call", "tool_calls"),
        (Chunk(finish_reason="error"), "provider_error", "error"),
        (Chunk(finish_reason="other"), "provider_error", "other"),
        (Chunk(provider_metadata={"stopReason": "end_turn"}), "completed", "end_turn"),
        (Chunk(provider_metadata={"done_reason": "length", "done": True}), "truncated", "length"),
        (Chunk(finish_reason="other", provider_metadata={"model_provider": "google_genai"}), "completed", "other"),
        (Chunk(), "no_evidence", None),
    ],
)
def test_nemos_chunks(chunk: Chunk, kind: str, reason: str | None) -> None:
    gate = SentenceGate(SOURCES)
    list(read_answer([Chunk(delta_content="It opens at eight [S1]."), chunk], nemo, gate))
    assert gate.report.ending is not None
    assert (gate.report.ending.kind, gate.report.ending.provider_reason) == (kind, reason)
    assert ("unattested" in gate.report.ending.notes) is (reason == "other" and kind == "completed")


def test_what_else_a_nemo_chunk_holds() -> None:
    call = {"id": "t", "type": "function", "function": {"name": "look", "arguments": {"q": 1}}}
    delta = nemo.read(
        {
            "delta_content": "Yes.",
            "delta_reasoning": "Hm",
            "delta_tool_calls": [call],
            "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "reasoning_tokens": None},
        }
    )
    assert isinstance(delta, Delta)
    assert (delta.text, delta.reasoning, delta.tool) == ("Yes.", "Hm", (ToolPiece(-1, "t", "look", '{"q": 1}'),))
    assert delta.usage == Usage(1, 2, None, "running")
