"""What the caller of `generate_async` gets back, cleared of what was not released.

NeMo keeps raw text beside the answer: reasoning glued before it, completions and parameters in the log, variables, the state. A caller
may ask for all of it, also over HTTP. The operator's own tracing and `explain()` are made before and stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nemoguardrails.rails.llm.options import GenerationResponse

_BARE_CALL = {"completion": None, "raw_response": None, "prompt": None}


def content_of(result: Any) -> str | None:
    """The answer in a result of `generate_async`; None if it holds none, such as a rail's exception."""
    if isinstance(result, str):
        return result
    if isinstance(result, GenerationResponse):
        return content_of(result.response if isinstance(result.response, str) else result.response[-1] if result.response else None)
    if isinstance(result, Mapping) and result.get("role") == "assistant" and isinstance(result.get("content"), str):
        return str(result["content"])
    return None


def with_content(result: Any, text: str) -> Any:
    """The result with another answer."""
    if isinstance(result, str):
        return text
    if isinstance(result, GenerationResponse):
        if isinstance(result.response, str):
            result.response = text
        else:
            result.response = [*result.response[:-1], {**result.response[-1], "content": text}]
        return result
    return {**result, "content": text}


def made(text: str, *, prompt: bool, response: bool, tools: Any = None) -> Any:
    """A result with this answer, in the shape that the call asked for."""
    if prompt:
        return GenerationResponse(response=text) if response else text
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if response:
        return GenerationResponse(response=[message], tool_calls=tools)
    return {**message, "tool_calls": tools} if tools else message


def without_reasoning(text: str) -> str:
    """The answer behind the reasoning that NeMo glues before it. Reasoning may hold a closing tag: the last one counts."""
    if not text.startswith("<think>"):
        return text
    return text.rpartition("</think>")[2].lstrip("\n")


def clear(result: Any, swaps: list[tuple[str, str]]) -> Any:
    """The result with every text of `swaps` (raw, shown) replaced, and without the corners that hold raw text in forms of their own."""
    if isinstance(result, GenerationResponse):
        result.reasoning_content = None
        result.llm_output = None
        if result.output_data is not None:
            kept = {key: value for key, value in result.output_data.items() if not key.startswith("_") and key not in _THOUGHTS}
            result.output_data = swapped(kept, swaps)
        if result.state is not None:
            result.state = swapped(result.state, swaps)
        if result.log is not None:
            _clear_log(result.log)
        if not isinstance(result.response, str):
            result.response = [_without_events(message) for message in result.response]
    elif isinstance(result, Mapping):
        result = _without_events(result)
    return result


_THOUGHTS = frozenset({"bot_thinking"})


def swapped(value: Any, swaps: list[tuple[str, str]]) -> Any:
    """Plain data with the texts replaced, longest first, and without reasoning; what is no plain data stays as it is."""
    return _swapped(value, sorted(((raw, shown) for raw, shown in swaps if raw.strip() and raw != shown), key=lambda swap: -len(swap[0])))


def _swapped(value: Any, swaps: list[tuple[str, str]]) -> Any:
    if isinstance(value, str):
        for raw, shown in swaps:
            if raw in value:
                value = value.replace(raw, shown)
        return value
    if isinstance(value, dict):
        left_out = _THOUGHTS | {"content"} if value.get("type") == "BotThinking" else _THOUGHTS
        return {key: _swapped(inner, swaps) for key, inner in value.items() if key not in left_out}
    if isinstance(value, list):
        return [_swapped(inner, swaps) for inner in value]
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_swapped(inner, swaps) for inner in value)
    return value


def _clear_log(log: Any) -> None:
    """Leaves names, counts and times."""
    for rail in log.activated_rails:
        rail.decisions = [decision for decision in rail.decisions if not decision.startswith("bot ")]
        rail.additional_info = None
        for action in rail.executed_actions:
            action.action_params, action.return_value = {}, None
            action.llm_calls = [call.model_copy(update=_BARE_CALL) for call in action.llm_calls]
    if log.llm_calls is not None:
        log.llm_calls = [call.model_copy(update=_BARE_CALL) for call in log.llm_calls]
    log.internal_events = None if log.internal_events is None else []
    log.colang_history = None


def _without_events(message: Any) -> Any:
    """Colang 2.x returns its events beside the message."""
    return {key: value for key, value in message.items() if key != "events"} if isinstance(message, Mapping) else message
