"""`SentenceGateMiddleware`: the gate for agents made with `create_agent`. Needs the package `langchain`.

A middleware that looks at a finished answer is too late: its tokens were streamed. This one exchanges the request's model for a gated one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import BaseMessage, ToolMessage

from ..errors import UsageError
from ..policy import Policy
from ..prompt import format_sources as format_core_sources
from .documents import documents_in, sources_of, tool_documents
from .model import GatedChatModel
from .run import check_names, policy_of

_INNER = frozenset({"inner_handler"})
"""Name of the function that LangChain hands to a middleware with another one inside it (`langchain.agents.factory`)."""


class SentenceGateMiddleware(AgentMiddleware[Any, Any, Any]):
    """Gates what an agent's model says: `create_agent(model, tools, middleware=[..., SentenceGateMiddleware()])`.

    `sources` are the documents, or a callable from the agent's state to them (an async one for async runs). The default takes the documents
    that tools returned as artifacts (`@tool(response_format="content_and_artifact")`), and shows these tools' messages to the model as
    `format_sources` writes them, numbered over all calls; the state keeps them as they are. `options` are GatedChatModel's.

    It must be the last middleware that wraps the model call: one inside it could exchange the model again. If it isn't, UsageError is
    raised before the model is called; `must_be_last=False` is for frameworks that append a middleware of their own which leaves the model
    alone.
    """

    def __init__(self, *, sources: Any = tool_documents, policy: Policy | None = None, must_be_last: bool = True, **options: Any) -> None:
        super().__init__()
        check_names(GatedChatModel, options)
        self._sources = sources if callable(sources) else sources_of(sources)
        self._policy = policy_of(policy)
        self._must_be_last = must_be_last
        self._options = options
        self.tools: list[Any] = []

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]) -> Any:
        """Calls on with the gated model."""
        self._check(handler)
        return handler(self._gated(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> Any:
        """Calls on with the gated model."""
        self._check(handler)
        return await handler(self._gated(request))

    def _check(self, handler: Any) -> None:
        if self._must_be_last and getattr(handler, "__name__", "") in _INNER:
            raise UsageError(
                "SentenceGateMiddleware must be the last middleware that wraps the model call: one inside it could exchange the model "
                "again. Move it to the end of middleware=[...]"
            )

    def _gated(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        sources, state = self._sources, request.state
        found = (lambda _: sources(state)) if callable(sources) else sources
        model: Any = request.model
        if isinstance(model, GatedChatModel):
            model = model.model_copy(update={"request_sources": found})
        else:
            model = GatedChatModel(llm=model, policy=self._policy, request_sources=found, **self._options)
        if sources is not tool_documents:
            return request.override(model=model)
        return request.override(model=model, messages=_numbered(request.messages, self._policy))


def _numbered(messages: list[Any], policy: Policy) -> list[Any]:
    """The messages with the documents of tools shown as numbered sources, counted on from message to message."""
    shown: list[BaseMessage] = []
    before: list[str] = []
    for message in messages:
        found = sources_of(documents_in(message)) if isinstance(message, ToolMessage) else ()
        if found:
            passed = format_core_sources(before, policy.markers) + "\n\n" if before else ""
            block = format_core_sources([*before, *found], policy.markers).removeprefix(passed)
            before += [""] * len(found)
            message = message.model_copy(update={"content": block})
        shown.append(message)
    return shown
