"""The model inside a gated `LLMRails`: the same text, but its reasoning stays here, its ending is kept, and a stop reaches it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from ..providers import langchain
from .session import Call, Session, aclose, current, plain

_BESIDE_TEXT = ("finish_reason", "provider_metadata", "usage", "delta_tool_calls", "delta_reasoning")
_OWN = ("_model", "_owner", "_carries_reason")


class GatedModel:
    """An `LLMModel` of NeMo's protocol around another one. Outside a request of its owner it only passes on.

    Whatever else is asked of it, or set on it, is the inner model's.
    """

    def __init__(self, model: Any, owner: object) -> None:
        object.__setattr__(self, "_model", model)
        object.__setattr__(self, "_owner", owner)
        object.__setattr__(self, "_carries_reason", _carries_reason(model))

    def __getattr__(self, name: str) -> Any:
        if name in _OWN:  # while a copy is being made
            raise AttributeError(name)
        return getattr(self._model, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN:
            object.__setattr__(self, name, value)
        else:
            setattr(self._model, name, value)

    def __repr__(self) -> str:
        return f"GatedModel({type(self._model).__name__})"

    @property
    def owner(self) -> object:
        """Whose model it is."""
        return self._owner

    @property
    def model_name(self) -> Any:
        """The inner model's."""
        return self._model.model_name

    @property
    def provider_name(self) -> Any:
        """The inner model's."""
        return self._model.provider_name

    @property
    def provider_url(self) -> Any:
        """The inner model's."""
        return self._model.provider_url

    async def generate_async(self, prompt: Any, *, stop: Any = None, **more: Any) -> Any:
        """One whole response, without its reasoning."""
        session = self._session()
        if session is None:
            return await self._model.generate_async(prompt, stop=stop, **more)
        task = asyncio.current_task()
        session.started(task)
        try:
            response = await self._model.generate_async(prompt, stop=stop, **more)
        finally:
            self._ended(session, task)
        call = self._call(session, streamed=False)
        call.take(
            {
                "delta_content": response.content,
                "delta_reasoning": response.reasoning,
                "delta_tool_calls": [plain(tool) for tool in response.tool_calls or ()],
                "finish_reason": response.finish_reason,
                "usage": plain(response.usage),
                "provider_metadata": response.provider_metadata,
            }
        )
        call.exhausted = True
        self._learn(call)
        return replace(response, reasoning=None) if response.reasoning else response

    async def stream_async(self, prompt: Any, *, stop: Any = None, **more: Any) -> AsyncIterator[Any]:
        """The response in chunks, without its reasoning; closed when the request is over."""
        stream = self._model.stream_async(prompt, stop=stop, **more)
        session = self._session()
        if session is None:
            try:
                async for chunk in stream:
                    yield chunk
            finally:
                await aclose(stream)
            return
        task = asyncio.current_task()
        session.started(task)
        session.streams.append(stream)
        call = self._call(session, streamed=True)
        try:
            async for chunk in stream:
                if any(getattr(chunk, name, None) for name in _BESIDE_TEXT):
                    call.take(_payload(chunk))
                else:
                    call.take_text(chunk.delta_content or "")
                yield replace(chunk, delta_reasoning=None) if chunk.delta_reasoning else chunk
            call.exhausted = True
            self._learn(call)
        finally:
            self._ended(session, task)
            await aclose(stream)
            if stream in session.streams:
                session.streams.remove(stream)

    def _session(self) -> Session | None:
        session = current.get()
        return session if session is not None and session.owner is self._owner else None

    def _call(self, session: Session, *, streamed: bool) -> Call:
        call = Call(carries_reason=self._carries_reason, streamed=streamed)
        session.calls.append(call)
        return call

    def _learn(self, call: Call) -> None:
        """A model that has once said why it ended can say it: from then on an absent reason is no evidence."""
        self._carries_reason |= call.tracker.said is not None

    @staticmethod
    def _ended(session: Session, task: asyncio.Task[Any] | None) -> None:
        if task is not None and not session.closed:
            session.tasks.discard(task)


def _payload(chunk: Any) -> dict[str, Any]:
    """The chunk as plain data."""
    payload: dict[str, Any] = {name: getattr(chunk, name, None) for name in ("delta_content", *_BESIDE_TEXT)}
    if payload.get("delta_tool_calls"):
        payload["delta_tool_calls"] = [plain(tool) for tool in payload["delta_tool_calls"]]
    if payload.get("usage") is not None:
        payload["usage"] = plain(payload["usage"])
    return payload


def _carries_reason(model: Any) -> bool:
    """Whether the model's package is known to hand over why the provider ended."""
    module = type(model).__module__
    if module.startswith("nemoguardrails.integrations.langchain"):
        inner = getattr(model, "raw_llm", None) or getattr(model, "_llm", None)
        return langchain.carries_reason(type(inner).__module__)
    return module.startswith("nemoguardrails.llm.")
