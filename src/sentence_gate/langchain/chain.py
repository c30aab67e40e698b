"""`gated(chain, …)`: an LCEL chain whose answering model is gated, with the sources taken from the chain's own input."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import BaseOutputParser
from langchain_core.runnables import Runnable, RunnableBinding, RunnableBranch, RunnableConfig, RunnableSequence, RunnableSerializable
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import ensure_config, merge_configs
from langchain_core.runnables.fallbacks import RunnableWithFallbacks
from pydantic import ConfigDict, Field

from ..errors import UsageError
from ..policy import Policy
from .documents import QUESTION_KEY, SOURCES_KEY, sources_of
from .model import GatedChatModel
from .run import check_names


def gated(
    chain: Runnable[Any, Any],
    *,
    sources: Any,
    policy: Policy | None = None,
    question: Callable[[Any], str] | None = None,
    **options: Any,
) -> Runnable[Any, Any]:
    """The chain with the chat model that gives its answer gated, by the sources that are found in the chain's input.

        base.assign(answer=gated(prompt | model | StrOutputParser(), sources=itemgetter("context")))

    `sources` is a callable from the chain's input to the documents (an async one for the async calls), or the documents. `question` finds
    what the user asked, for `Policy.question_supports_values`. `options` are GatedChatModel's. The model is the last step of the chain but
    for output parsers; it may have arguments bound, fallbacks, retries or branches around it. Models before it (one that rewrites the
    question, say) are left alone. Raises UsageError if it isn't found so.
    """
    check_names(GatedChatModel, options)
    return GatedChain(bound=_tail(chain, policy, options), sources=sources, question=question)


class GatedChain(RunnableSerializable[Any, Any]):
    """A chain that hands its run's sources to the gated model inside; made by `gated`."""

    bound: Any
    sources: Any = Field(default=None, repr=False)
    question: Any = Field(default=None, repr=False)

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @property
    def InputType(self) -> Any:  # noqa: N802
        """The chain's."""
        return self.bound.InputType

    @property
    def OutputType(self) -> Any:  # noqa: N802
        """The chain's."""
        return self.bound.OutputType

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """See the base class."""
        return self.bound.invoke(input, self._config(input, config, _found(self.sources, input)), **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """See the base class."""
        return await self.bound.ainvoke(input, self._config(input, config, await _afound(self.sources, input)), **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        """See the base class."""
        yield from self.bound.stream(input, self._config(input, config, _found(self.sources, input)), **kwargs)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:  # noqa: A002
        """See the base class."""
        stream = self.bound.astream(input, self._config(input, config, await _afound(self.sources, input)), **kwargs)
        try:
            async for piece in stream:
                yield piece
        finally:
            await stream.aclose()

    def _config(self, given: Any, config: RunnableConfig | None, sources: Any) -> RunnableConfig:
        found: dict[str, Any] = {} if sources is None else {SOURCES_KEY: sources_of(sources)}
        if self.question is not None:
            found[QUESTION_KEY] = self.question(given)
        return merge_configs(ensure_config(config), {"configurable": found})


def _found(sources: Any, given: Any) -> Any:
    found = sources(given) if callable(sources) else sources
    if inspect.isawaitable(found):
        if inspect.iscoroutine(found):
            found.close()
        raise UsageError("sources is an async callable, which works with ainvoke, astream and abatch only")
    return found


async def _afound(sources: Any, given: Any) -> Any:
    found = sources(given) if callable(sources) else sources
    return await found if inspect.isawaitable(found) else found


def _tail(step: Any, policy: Policy | None, options: dict[str, Any]) -> Any:
    """The step with the model at its end gated."""
    if isinstance(step, GatedChatModel) or (isinstance(step, RunnableBinding) and isinstance(step.bound, GatedChatModel)):
        return step
    if isinstance(step, BaseChatModel) or (isinstance(step, RunnableBinding) and isinstance(step.bound, BaseChatModel)):
        return GatedChatModel(llm=step, policy=policy, **options)
    if isinstance(step, RunnableSequence):
        *before, last = step.steps
        after: list[Any] = []
        while isinstance(last, BaseOutputParser) and before:
            after.insert(0, last)
            last = before.pop()
        return RunnableSequence(*before, _tail(last, policy, options), *after, name=step.name)
    if isinstance(step, RunnableBindingBase):  # with_config, with_retry
        return step.model_copy(update={"bound": _tail(step.bound, policy, options)})
    if isinstance(step, RunnableWithFallbacks):
        return step.model_copy(
            update={
                "runnable": _tail(step.runnable, policy, options),
                "fallbacks": [_tail(one, policy, options) for one in step.fallbacks],
            }
        )
    if isinstance(step, RunnableBranch):
        branches = [(condition, _tail(branch, policy, options)) for condition, branch in step.branches]
        return RunnableBranch(*branches, _tail(step.default, policy, options))
    raise UsageError(
        f"gated() looks for a chat model at the end of the chain (output parsers aside) and found {type(step).__name__}; put a "
        "GatedChatModel into the chain where its model stands, and hand it the sources with for_request or in the config"
    )
