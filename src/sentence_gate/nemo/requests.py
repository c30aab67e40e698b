"""What a request says: its question, its sources, and what in it would switch the gate off, which is taken out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nemoguardrails.rails.llm.options import GenerationOptions

from ..errors import UsageError

KEY = "sentence_gate_session"
"""The key under which our rail finds its session in NeMo's streaming loop; no request can set it."""

_SWITCHES = frozenset(
    {
        "skip_output_rails",  # llm_flows.co: no output rail runs
        "generation_options",  # llm_flows.co reads rails.output from it
        "config",  # ... and the list of flows from this
        "event",
        "output_flows",
        "output_rails_in_progress",  # guardrails.co (2.x): no output rail runs
        "sg",  # the flow's own
        "sg_text",
        KEY,
    }
)
_TEXT = frozenset({"bot_message", "last_bot_message", "bot_thinking"})  # would replace the answer that the rails are given


def question_of(prompt: str | None, messages: list[dict[str, Any]] | None) -> str:
    """The last thing that the user said."""
    if prompt is not None:
        return prompt
    for message in reversed(messages or []):
        if message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, str):
                return content
            parts = content if isinstance(content, list) else []
            return " ".join(str(part["text"]) for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))
    return ""


def sources_of(messages: list[dict[str, Any]] | None, state: object = None) -> list[Any] | None:
    """The sources of the last context that has any: the list `relevant_chunks_sep`, else the text `relevant_chunks`. None without."""
    found = None
    for context in _contexts(messages, state):
        given = sources_in(context)
        found = given if given is not None else found
    return found


def sources_in(context: Mapping[str, Any]) -> list[Any] | None:
    """The sources in one context; None without. An empty list counts as given: nothing was found."""
    parts, whole = context.get("relevant_chunks_sep"), context.get("relevant_chunks")
    for chunks in (parts, whole):
        if isinstance(chunks, str) and chunks.strip():
            return [chunks]
        if isinstance(chunks, list | tuple) and chunks:
            return list(chunks)
        if chunks is not None and not isinstance(chunks, str | list | tuple):
            raise UsageError(f"relevant_chunks_sep is a list of texts, relevant_chunks a text, not {type(chunks).__name__}")
    return [] if isinstance(parts, list | tuple) else None


def cleared(messages: list[dict[str, Any]] | None, *, generating: bool, without_context: bool) -> list[dict[str, Any]] | None:
    """The messages without what would switch the gate off. `generating`: an answer will be made, so no message may bring one along.

    `without_context` leaves context messages out: NeMo can't send them to a model in passthrough mode.
    """
    if messages is None:
        return None
    switches = _SWITCHES | _TEXT if generating else _SWITCHES
    out = []
    for message in messages:
        if message.get("role") == "context" and isinstance(message.get("content"), Mapping):
            if without_context:
                continue
            message = {**message, "content": _without(message["content"], switches)}
        elif message.get("role") == "event" and isinstance(event := message.get("event"), Mapping) and event.get("type") == "ContextUpdate":
            data = event.get("data")
            message = {**message, "event": {**event, "data": _without(data, switches) if isinstance(data, Mapping) else {}}}
        out.append(message)
    return out


def settled(options: Any) -> Any:
    """The options with the output rails on if an answer will be generated, and a copy: the caller's stay as they are."""
    if isinstance(options, Mapping) and options:
        options = GenerationOptions(**options)
    if not isinstance(options, GenerationOptions):
        return options
    options = options.model_copy(deep=True)
    if options.rails.dialog:
        options.rails.output = True
    return options


def without_output_rails(options: Any) -> Any:
    """The options of a stream's generation; what are no options NeMo shall refuse."""
    if options and not isinstance(options, GenerationOptions):
        return options
    options = options.model_copy(deep=True) if options else GenerationOptions()
    options.rails.output = False
    return options


def generates(options: Any) -> bool:
    """Whether an answer will be generated; else the caller's own text is checked."""
    return not isinstance(options, GenerationOptions) or bool(options.rails.dialog)


def _contexts(messages: list[dict[str, Any]] | None, state: object) -> Iterator[Mapping[str, Any]]:
    events = state.get("events") if isinstance(state, Mapping) else None
    told = [*(events if isinstance(events, list) else []), *(message.get("event") for message in messages or [] if message.get("event"))]
    for event in told:
        if isinstance(event, Mapping) and event.get("type") == "ContextUpdate" and isinstance(event.get("data"), Mapping):
            yield event["data"]
    for message in messages or []:
        if message.get("role") == "context" and isinstance(message.get("content"), Mapping):
            yield message["content"]


def _without(context: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in context.items() if key not in names}
