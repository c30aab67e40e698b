"""The LangChain host: four faces over one translator of messages, and a middleware for agents.

GatedChatModel          a chat model that says only what was checked: the default
SentenceGateRunnable    the step right after a model in a pipe
gated(chain, …)         an LCEL chain whose answering model is gated, with sources from its input
SentenceGateCallback    checked sentences for interfaces that read callbacks
SentenceGateMiddleware  for `create_agent`; needs the package `langchain`, loaded when it is asked for
AnswerContractParser    the typed final answer as the last step of a chain; needs the extra `contract`, loaded when it is asked for
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import without

try:
    from .callback import SentenceGateCallback
    from .chain import gated
    from .documents import QUESTION_KEY, SOURCES_KEY, format_sources, sources_of, tool_documents
    from .errors import SentenceGateStop, SentenceGateWarning
    from .model import GatedChatModel
    from .runnable import SentenceGateRunnable
except ModuleNotFoundError as error:
    raise without("langchain", error) from None

if TYPE_CHECKING:
    from .middleware import SentenceGateMiddleware
    from .typed import AnswerContractParser

__all__ = [
    "QUESTION_KEY",
    "SOURCES_KEY",
    "AnswerContractParser",
    "GatedChatModel",
    "SentenceGateCallback",
    "SentenceGateMiddleware",
    "SentenceGateRunnable",
    "SentenceGateStop",
    "SentenceGateWarning",
    "format_sources",
    "gated",
    "sources_of",
    "tool_documents",
]


def __getattr__(name: str) -> Any:
    if name == "SentenceGateMiddleware":
        try:
            from .middleware import SentenceGateMiddleware
        except ModuleNotFoundError as error:
            raise without("langchain-agents", error) from None
        return SentenceGateMiddleware
    if name == "AnswerContractParser":
        from .typed import AnswerContractParser

        return AnswerContractParser
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
