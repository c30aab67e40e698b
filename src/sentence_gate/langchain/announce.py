"""Tells a run's listeners what became of an answer, beside the message itself."""

from __future__ import annotations

import sys
from typing import Any

from langchain_core.callbacks.manager import adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables.config import (
    RunnableConfig,
    ensure_config,
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
)

from .translator import EVENT


def announce(info: dict[str, Any], config: RunnableConfig | None = None) -> None:
    """Dispatches the custom event "sentence_gate" in the current run, if there is one, and writes it to LangGraph's custom stream."""
    config = ensure_config(config)
    if get_callback_manager_for_config(config).parent_run_id is not None:
        dispatch_custom_event(EVENT, info, config=config)
    _write(info)


async def aannounce(info: dict[str, Any], config: RunnableConfig | None = None) -> None:
    """`announce` for an asynchronous run."""
    config = ensure_config(config)
    if get_async_callback_manager_for_config(config).parent_run_id is not None:
        await adispatch_custom_event(EVENT, info, config=config)
    _write(info)


def _write(info: dict[str, Any]) -> None:
    """LangGraph doesn't show custom events in its custom stream; it has a writer of its own. Without LangGraph loaded there is none."""
    if graph := sys.modules.get("langgraph.config"):
        try:
            writer = graph.get_stream_writer()
        except (RuntimeError, KeyError):  # not inside a graph
            return
        writer({EVENT: info})
