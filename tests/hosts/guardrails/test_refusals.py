"""Closed when in doubt: what can't be gated is an error, and no model was called."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

WRONG = {
    "none": ({}, "needs sources|Missing required metadata keys: sources"),
    "a bare text": ({"sources": "The archive opens at 9:30."}, "JSON"),
    "a JSON text": ({"sources": '"The archive"'}, "list or an object"),
    "a number": ({"sources": 7}, "not int"),
    "numbers": ({"sources": [7]}, "source 1 is a int"),
    "an unknown field": ({"sources": [{"text": "a", "body": "b"}]}, "body"),
    "no text": ({"sources": [{"title": "a"}]}, "has text"),
    "an unknown language": ({"sources": ["a"], "language": "tlh"}, "tlh"),
    "a question that is none": ({"sources": ["a"], "question": 7}, "question"),
}


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("name", WRONG)
def test_missing_or_wrong_sources(desk: Any, kind: str, name: str) -> None:
    metadata, message = WRONG[name]
    for stream in (True, False):
        if not stream and "Gated" not in kind and name != "none":
            continue  # a stock guard that doesn't stream asks its validators when the answer is there
        model = desk.Model(desk.ANSWERS["good"][0])
        seen = desk.call(kind, desk.make(kind), model, metadata, stream=stream)
        assert isinstance(seen.error, ValueError)
        assert re.search(message, str(seen.error))
        assert model.calls == 0


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_sources_in_every_form(desk: Any, kind: str) -> None:
    text, shown, _ = desk.ANSWERS["good"]
    forms: list[Any] = [
        desk.SOURCES,
        tuple(desk.SOURCES),
        {"leaflet": desk.SOURCES[0]},
        json.dumps(desk.SOURCES),
        json.dumps({"leaflet": desk.SOURCES[0]}),
        [{"text": desk.SOURCES[0], "title": "Leaflet", "url": "https://archive.example/leaflet"}],
        json.dumps([{"text": desk.SOURCES[0], "id": "leaflet"}]),
    ]
    for form in forms:
        assert desk.call(kind, desk.make(kind), desk.Model(text), {"sources": form}).text == shown
        assert desk.call(kind, desk.make(kind, sources=form), desk.Model(text), {}).text == shown
    won = desk.call(kind, desk.make(kind, "noop", sources=["Nothing of this."]), desk.Model(text), {"sources": desk.SOURCES})
    assert won.text == shown
    empty = desk.call(kind, desk.make(kind, "noop"), desk.Model(text), {"sources": []})
    assert empty.text == ""


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_a_stream_can_not_be_asked_again(desk: Any, kind: str) -> None:
    model = desk.Model(desk.ANSWERS["good"][0])
    seen = desk.call(kind, desk.make(kind, "reask"), model)
    assert "reask" in str(seen.error)
    assert (model.calls, seen.text) == (0, "")


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_a_guard_without_a_gate(desk: Any, kind: str) -> None:
    cls = getattr(desk.host, kind, None) or getattr(desk.guardrails, kind)
    model = desk.Model(desk.ANSWERS["good"][0])
    seen = desk.call(kind, cls(), model)
    assert type(seen.error).__name__ == "GateNotBound"
    assert (model.calls, seen.text) == (0, "")


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_two_gates(desk: Any, kind: str) -> None:
    model = desk.Model(desk.ANSWERS["good"][0])
    seen = desk.call(kind, desk.make(kind, "exception", desk.host.SentenceGate(on_fail="noop")), model)
    assert "two" in str(seen.error)
    assert (model.calls, seen.text) == (0, "")


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard"])
@pytest.mark.parametrize("on_fail", ["exception", "noop", "fix", "fix_reask", "filter", "refrain", "custom"])
def test_a_stock_guard_with_a_model_that_is_not_gated(desk: Any, kind: str, on_fail: str) -> None:
    """Guardrails calls the model before it asks a validator; nothing of what it says gets out."""
    guard, model = desk.make(kind, on_fail), desk.Model(desk.ANSWERS["good"][0], 1000)

    class Response:
        completion_stream = model._astream()

    async def llm(*_: Any, messages: Any = None, **__: Any) -> Response:
        return Response()

    seen = desk.read(kind, guard, llm if kind == "AsyncGuard" else model)
    assert isinstance(seen.error, ValueError)
    assert "guard(gated(llm)" in str(seen.error)
    assert seen.outcomes == []


def test_an_asynchronous_model_in_a_synchronous_guard(desk: Any) -> None:
    for kind in ("Guard", "GatedGuard"):
        model = desk.Model(desk.ANSWERS["good"][0])
        llm = model.asynchronous if "Gated" in kind else desk.host.gated(model.asynchronous)
        with pytest.raises(ValueError, match="AsyncGatedGuard"):
            list(desk.make(kind)(llm, messages=desk.MESSAGES, metadata={"sources": desk.SOURCES}, stream=True))
        assert model.calls == 0


def test_wrong_parameters(desk: Any) -> None:
    for parameters in ({"min_word": 3}, {"language": "tlh"}, {"checks": ["spelling"]}, {"max_chars": 0}, {"sources": "plain"}):
        with pytest.raises(ValueError, match=r"\w"):
            desk.host.SentenceGate(**parameters)
    with pytest.raises(ValueError, match="on_fail is one of reask"):
        desk.host.SentenceGate(on_fail="stop")
    with pytest.raises(ValueError, match="callable"):
        desk.host.gated("gpt")
    with pytest.raises(ValueError, match="use_server"):
        desk.host.GatedGuard(use_server=True).use(desk.host.SentenceGate()).validate("a", metadata={"sources": []})


def test_what_is_no_text(desk: Any) -> None:
    gate = desk.host.SentenceGate(sources=[])
    assert gate.validate(None, {}).outcome == "pass"
    with pytest.raises(ValueError, match="type str"):
        gate.validate(["a"], {})
    for kind in desk.GUARDS:
        model = desk.Model("")
        model._pieces = lambda: [b"bytes"]
        seen = desk.call(kind, desk.make(kind), model)
        assert type(seen.error).__name__ == "StreamError"
        assert model.closed
