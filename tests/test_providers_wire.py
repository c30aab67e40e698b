"""Readers of the wire protocols: every reason they know, odd shapes, tools, reasoning, usage."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import CHAT_USAGE, SCRIPTS, chat

from sentence_gate import Ending, Usage, UsageError
from sentence_gate import providers as folder
from sentence_gate.events import ENDING_KINDS, Delta, ToolPiece
from sentence_gate.providers import (
    anthropic,
    azure_openai,
    bedrock,
    cohere,
    gemini,
    load,
    mistral,
    names,
    ollama,
    openai_chat,
    openai_compatible,
    openai_responses,
)

EVERY = names()


def _anthropic(reason: str) -> Any:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}


def _ollama(reason: str) -> Any:
    return {"message": {"content": ""}, "done": True, "done_reason": reason}


SAYING = {
    openai_chat: lambda reason: chat(finish_reason=reason),
    openai_compatible: lambda reason: chat(finish_reason=reason),
    azure_openai: lambda reason: chat(finish_reason=reason),
    mistral: lambda reason: {"data": chat(finish_reason=reason)},
    anthropic: _anthropic,
    bedrock: lambda reason: {"messageStop": {"stopReason": reason}},
    gemini: lambda reason: {"candidates": [{"finishReason": reason}]},
    cohere: lambda reason: {"type": "message-end", "delta": {"finish_reason": reason}},
    ollama: _ollama,
}


@pytest.mark.parametrize(
    ("provider", "reason", "kind"),
    [
        *((one, reason, kind) for one in (openai_chat, openai_compatible, azure_openai) for reason, kind in openai_chat.REASONS.items()),
        (openai_compatible, "stop_sequence", "stop_sequence"),
        (openai_compatible, "abort", "provider_error"),
        (openai_chat, "stop_sequence", "provider_error"),
        *((mistral, *known) for known in mistral.REASONS.items()),
        *((anthropic, *known) for known in anthropic.REASONS.items()),
        *((bedrock, *known) for known in bedrock.REASONS.items()),
        *((gemini, *known) for known in gemini.REASONS.items()),
        *((cohere, *known) for known in cohere.REASONS.items()),
        (ollama, "stop", "completed"),
        (ollama, "length", "truncated"),
        (ollama, "load", "provider_error"),
        (ollama, "unload", "provider_error"),
    ],
)
def test_what_a_reason_means(provider: Any, reason: str, kind: str) -> None:
    ending = provider.read(SAYING[provider](reason)).ending
    assert (ending.kind, ending.provider_reason, bool(ending.evidence)) == (kind, reason, True)


def test_the_tables_hold_what_the_documentation_lists() -> None:
    """A mapping that is turned round by mistake would pass the test above: the meanings that matter, by hand."""
    assert {reason for reason, kind in anthropic.REASONS.items() if kind == "completed"} == {"end_turn"}
    assert {reason for reason, kind in openai_chat.REASONS.items() if kind == "completed"} == {"stop"}
    assert {reason for reason, kind in bedrock.REASONS.items() if kind == "completed"} == {"end_turn"}
    assert {reason for reason, kind in gemini.REASONS.items() if kind == "completed"} == {"STOP"}
    assert {reason for reason, kind in cohere.REASONS.items() if kind == "completed"} == {"COMPLETE"}
    assert {reason for reason, kind in mistral.REASONS.items() if kind == "completed"} == {"stop"}
    assert {"SAFETY", "RECITATION", "SPII", "BLOCKLIST", "MODEL_ARMOR"} <= {
        key for key, kind in gemini.REASONS.items() if kind == "filtered"
    }
    assert (anthropic.REASONS["refusal"], anthropic.REASONS["pause_turn"]) == ("refused", "truncated")
    assert bedrock.REASONS["guardrail_intervened"] == "filtered"


@pytest.mark.parametrize("provider", SAYING)
def test_an_unknown_reason_is_an_error_with_its_raw_value(provider: Any) -> None:
    ending = provider.read(SAYING[provider]("brand_new")).ending
    assert (ending.kind, ending.provider_reason) == ("provider_error", "brand_new")
    assert provider.read(SAYING[provider]("")).ending is None
    assert provider.read(SAYING[provider](None)).ending is None


def test_the_folder_names_its_providers() -> None:
    assert set(EVERY) == {
        "anthropic", "azure_openai", "bedrock", "cohere", "gemini", "langchain", "litellm", "mistral", "nemo", "ollama", "openai_chat",
        "openai_compatible", "openai_responses",
    }  # fmt: skip
    for name in EVERY:
        provider = load(name)
        assert name == provider.PROTOCOL
        assert provider.FRAMING in ("sse", "ndjson", "eventstream", "objects")
        assert provider.__doc__
    with pytest.raises(UsageError, match="anthropic, azure_openai"):
        load("reader")
    assert folder.Delta is Delta


_KEYS = st.sampled_from(
    [
        "choices", "delta", "content", "finish_reason", "index", "tool_calls", "function", "arguments", "usage", "error", "type", "message",
        "candidates", "parts", "finishReason", "usageMetadata", "promptFeedback", "contentBlockDelta", "messageStop", "stopReason",
        "metadata", "response", "status", "output", "item", "done", "done_reason", "data", "response_metadata", "usage_metadata",
        "additional_kwargs", "tool_call_chunks", "content_block", "stop_reason", "delta_tool_calls", "provider_metadata", "object",
        "incomplete_details", "content_filter_results", "function_call", "prompt_feedback", "usage", "code", "contentBlockStart", "start",
    ]
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)
_TYPES = st.sampled_from(
    [
        "content_block_delta", "content_block_start", "message_start", "message_delta", "message_stop", "error", "response.completed",
        "response.failed", "response.incomplete", "response.output_item.added", "response.output_text.delta", "content-delta",
        "message-end", "tool-call-start",
    ]
)  # fmt: skip


@given(st.dictionaries(_KEYS, _JSON, max_size=5), st.none() | _TYPES)
def test_odd_shapes_never_raise(payload: dict[str, Any], kind: str | None) -> None:
    if kind:
        payload["type"] = kind
    for name in EVERY:
        delta = load(name).read(payload)
        assert isinstance(delta, Delta)
        assert isinstance(delta.text, str)
        assert delta.ending is None or (isinstance(delta.ending, Ending) and delta.ending.kind in ENDING_KINDS)
        assert all(isinstance(piece, ToolPiece) for piece in delta.tool)


def test_only_the_first_choice_is_read() -> None:
    other = {"index": 1, "delta": {"content": "Other."}, "finish_reason": "stop"}
    assert openai_chat.read({"choices": [other]}) == Delta()
    both = openai_chat.read({"choices": [other, {"index": 0, "delta": {"content": "Mine."}}]})
    assert (both.text, both.ending) == ("Mine.", None)


def test_vllm_names_the_stop_sequence() -> None:
    for met, kind in (("###", "stop_sequence"), (128009, "stop_sequence"), (None, "completed"), ("", "completed"), (True, "completed")):
        ending = openai_compatible.read(chat(finish_reason="stop", stop_reason=met)).ending
        assert ending is not None
        assert ending.kind == kind


@pytest.mark.parametrize(
    ("provider", "payload", "tool"),
    [
        (
            openai_chat,
            chat(delta={"tool_calls": [{"index": 1, "id": "t", "function": {"name": "look", "arguments": "{"}}]}),
            (ToolPiece(1, "t", "look", "{"),),
        ),
        (openai_chat, chat(delta={"function_call": {"name": "look", "arguments": "{}"}}), (ToolPiece(0, None, "look", "{}"),)),
        (
            anthropic,
            {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "t", "name": "look", "input": {}}},
            (ToolPiece(2, "t", "look", ""),),
        ),
        (
            anthropic,
            {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"q"'}},
            (ToolPiece(2, None, None, '{"q"'),),
        ),
        (
            anthropic,
            {"type": "content_block_start", "index": 2, "content_block": {"type": "server_tool_use", "id": "t", "name": "web"}},
            (),
        ),
        (
            bedrock,
            {"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t", "name": "look"}}}},
            (ToolPiece(1, "t", "look"),),
        ),
        (
            bedrock,
            {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "{}"}}}},
            (ToolPiece(1, None, None, "{}"),),
        ),
        (
            gemini,
            {"candidates": [{"content": {"parts": [{"functionCall": {"name": "look", "args": {"q": 1}}}]}}]},
            (ToolPiece(-1, None, "look", '{"q": 1}'),),
        ),
        (
            cohere,
            {"type": "tool-call-delta", "index": 1, "delta": {"message": {"tool_calls": {"function": {"arguments": "{}"}}}}},
            (ToolPiece(1, None, None, "{}"),),
        ),
        (
            ollama,
            {"message": {"tool_calls": [{"function": {"name": "look", "arguments": {"q": 1}}}]}},
            (ToolPiece(-1, None, "look", '{"q": 1}'),),
        ),
        (
            openai_responses,
            {"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "call_id": "t", "name": "look"}},
            (ToolPiece(1, "t", "look"),),
        ),
        (
            openai_responses,
            {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{}"},
            (ToolPiece(1, None, None, "{}"),),
        ),
        (openai_responses, {"type": "response.output_item.added", "output_index": 1, "item": {"type": "web_search_call"}}, ()),
    ],
)
def test_pieces_of_tool_calls(provider: Any, payload: dict[str, Any], tool: tuple[ToolPiece, ...]) -> None:
    assert provider.read(payload) == Delta(tool=tool)


@pytest.mark.parametrize(
    ("provider", "payload"),
    [
        (openai_compatible, chat(delta={"reasoning_content": "Hm"})),
        (openai_compatible, chat(delta={"reasoning": "Hm"})),
        (openai_responses, {"type": "response.reasoning_text.delta", "delta": "Hm"}),
        (openai_responses, {"type": "response.reasoning_summary_text.delta", "delta": "Hm"}),
        (anthropic, {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}}),
        (bedrock, {"contentBlockDelta": {"delta": {"reasoningContent": {"text": "Hm"}}}}),
        (gemini, {"candidates": [{"content": {"parts": [{"text": "Hm", "thought": True}]}}]}),
        (mistral, chat(delta={"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}]})),
        (cohere, {"type": "content-delta", "delta": {"message": {"content": {"thinking": "Hm"}}}}),
        (cohere, {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "Hm"}}}),
        (ollama, {"message": {"thinking": "Hm"}}),
    ],
)
def test_reasoning_is_no_text(provider: Any, payload: dict[str, Any]) -> None:
    assert provider.read(payload) == Delta(reasoning="Hm")


@pytest.mark.parametrize(
    ("provider", "payload", "usage"),
    [
        (openai_chat, CHAT_USAGE, Usage(11, 22, 4, "reported")),
        (
            openai_compatible,
            {**chat(delta={"content": ""}), "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
            Usage(3, 4, None, "running"),
        ),
        (anthropic, SCRIPTS["anthropic"].payloads[0], Usage(11, None, None, "running")),
        (anthropic, _anthropic("end_turn"), Usage(None, 5, None, "reported")),
        (
            anthropic,
            {
                "type": "message_start",
                "message": {"usage": {"input_tokens": 1, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 4}},
            },
            Usage(25, None, None, "running"),
        ),
        (bedrock, SCRIPTS["bedrock"].payloads[-1], Usage(11, 22, None, "reported")),
        (gemini, SCRIPTS["gemini"].payloads[0], Usage(11, 22, 4, "running")),
        (cohere, SCRIPTS["cohere"].payloads[-1], Usage(11, 22, None, "reported")),
        (ollama, SCRIPTS["ollama"].payloads[-1], Usage(11, 22, None, "reported")),
        (openai_responses, SCRIPTS["openai_responses"].payloads[-1], Usage(11, 22, 0, "reported")),
    ],
)
def test_usage(provider: Any, payload: dict[str, Any], usage: Usage) -> None:
    assert provider.read(payload).usage == usage


@pytest.mark.parametrize(
    ("response", "event", "kind", "reason"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "incomplete", "truncated", "max_output_tokens"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "incomplete", "filtered", "content_filter"),
        ({"status": "incomplete", "incomplete_details": {"reason": "new"}}, "incomplete", "provider_error", "new"),
        ({"status": "failed", "error": {"code": "server_error"}}, "failed", "provider_error", "server_error"),
        ({"status": "failed", "error": {"code": "bio_policy"}}, "failed", "filtered", "bio_policy"),
        ({"status": "cancelled"}, "failed", "provider_error", "cancelled"),
        ({"status": "completed", "output": [{"type": "function_call"}]}, "completed", "tool_call", "completed"),
        ({"status": "completed", "output": [{"content": [{"type": "refusal", "refusal": "No."}]}]}, "completed", "refused", "refusal"),
        ({"status": "completed", "output": []}, "completed", "completed", "completed"),
        ({}, "completed", "completed", "completed"),
        ({"status": "in_progress"}, "completed", "provider_error", "in_progress"),
    ],
)
def test_the_terminal_events_of_responses(response: dict[str, Any], event: str, kind: str, reason: str) -> None:
    ending = openai_responses.read({"type": f"response.{event}", "response": response}).ending
    assert ending is not None
    assert (ending.kind, ending.provider_reason) == (kind, reason)


def test_anthropics_reason_for_a_refusal_is_noted() -> None:
    payload = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"category": "cyber"}}}
    assert anthropic.read(payload).notes == ("stop_details:cyber",)


def test_azures_filters() -> None:
    assert azure_openai.read(SCRIPTS["azure_openai"].payloads[0]).ending is None
    blocked = azure_openai.read({"choices": [], "prompt_filter_results": [{"content_filter_results": {"jailbreak": {"filtered": True}}}]})
    assert blocked.ending == Ending.filtered("jailbreak", evidence="content_filter_results")
    assert azure_openai.read(chat(finish_reason="content_filter")).ending == Ending.filtered(
        "content_filter", evidence="choices[0].finish_reason"
    )


def test_geminis_snake_case_is_read_too() -> None:
    payload = {
        "candidates": [{"finish_reason": "STOP", "content": {"parts": [{"text": "Yes."}]}}],
        "usage_metadata": {"prompt_token_count": 1, "candidates_token_count": 2},
    }
    delta = gemini.read(payload)
    assert (delta.text, delta.ending and delta.ending.kind, delta.usage) == ("Yes.", "completed", Usage(1, 2, None, "reported"))


def test_no_text_in_a_repr() -> None:
    delta = Delta(text="secret", reasoning="secret", refusal="secret", tool=(ToolPiece(0, "t", "look", "secret"),))
    assert "secret" not in repr(delta)


@pytest.mark.parametrize("count", [-5, -0.5, float("nan"), float("inf"), True, "7"])
def test_a_count_that_is_none(count: object) -> None:
    assert openai_chat.usage_of({"prompt_tokens": 3, "completion_tokens": count}, final=True) == Usage(3, None, None, "reported")
