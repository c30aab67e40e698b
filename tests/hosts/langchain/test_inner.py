"""What may stand inside the gate, what is taken over from it, and what is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.chat_models import init_chat_model
from langchain_core.callbacks import BaseCallbackHandler, get_usage_metadata_callback
from langchain_core.language_models import FakeListLLM
from langchain_core.messages import HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_core.runnables import ConfigurableField
from langchain_scripted import SOURCES, STOPPED, AsyncScriptedModel, ScriptedModel, WholeModel

from sentence_gate import UsageError
from sentence_gate.langchain import GatedChatModel, SentenceGateMiddleware, SentenceGateRunnable, gated

REFUSED: dict[str, Any] = {
    "fallbacks": lambda: ScriptedModel().with_fallbacks([ScriptedModel()]),
    "retries": lambda: ScriptedModel().with_retry(),
    "a chain": lambda: ScriptedModel() | StrOutputParser(),
    "configurable": lambda: ScriptedModel().configurable_fields(script=ConfigurableField(id="script")),
    "configurable model": lambda: init_chat_model("openai:gpt-test", configurable_fields="any", api_key="none"),
    "a model of text": lambda: FakeListLLM(responses=["x"]),
    "nothing": lambda: None,
    "gated": lambda: GatedChatModel(ScriptedModel(), sources=SOURCES),
    "listeners": lambda: ScriptedModel().with_listeners(on_end=lambda run: None),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(what: str) -> None:
    with pytest.raises(UsageError):
        GatedChatModel(llm=REFUSED[what](), sources=SOURCES)


def test_the_refusal_says_what_to_do() -> None:
    with pytest.raises(UsageError, match="inside"):
        GatedChatModel(llm=REFUSED["fallbacks"](), sources=SOURCES)


def test_a_model_made_by_name() -> None:
    made = GatedChatModel(init_chat_model("openai:gpt-test", api_key="none"), sources=SOURCES)
    assert made.model_name == "gpt-test"
    assert made._get_ls_params()["ls_provider"] == "openai"


class Heard(BaseCallbackHandler):
    def __init__(self) -> None:
        self.tokens: list[Any] = []

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        self.tokens.append(token)


def test_what_is_taken_over() -> None:
    heard = Heard()
    limiter = InMemoryRateLimiter(requests_per_second=1000)
    inner = AsyncScriptedModel(callbacks=[heard], tags=["a"], metadata={"m": 1}, rate_limiter=limiter, output_version="v1")
    gate = GatedChatModel(inner, sources=SOURCES)
    assert (gate.tags, gate.rate_limiter, gate.output_version) == (["a"], limiter, "v1")
    assert gate.metadata == inner.metadata
    list(gate.stream("?"))
    assert "opens at eight" in str(heard.tokens)
    assert "45" not in str(heard.tokens)
    own = GatedChatModel(inner, sources=SOURCES, tags=["b"], output_version=None)
    assert (own.tags, own.output_version) == (["b"], None)


def test_a_model_that_may_not_stream_is_asked_for_the_whole() -> None:
    inner = AsyncScriptedModel(disable_streaming=True)
    gate = GatedChatModel(inner, sources=SOURCES)
    assert [chunk.content for chunk in gate.stream("?")] == [STOPPED]
    assert inner.log == ["generated"]
    assert GatedChatModel(AsyncScriptedModel(), sources=SOURCES).invoke("?", stream=False).content == STOPPED


def test_several_choices_are_judged_one_by_one() -> None:
    for inner, more in ((AsyncScriptedModel(n=2), {}), (AsyncScriptedModel(), {"n": 2})):
        gate = GatedChatModel(inner, sources=SOURCES)
        found = gate.generate([[HumanMessage("?")]], **more).generations[0]
        assert [generation.text for generation in found] == [STOPPED, STOPPED]
        assert inner.log == ["generated"]
        found = asyncio.run(gate.agenerate([[HumanMessage("?")]], **more)).generations[0]
        assert [generation.text for generation in found] == [STOPPED, STOPPED]
        with pytest.raises(UsageError, match="can't be streamed"):
            list(gate.stream("?", **more))


def test_usage_is_counted_once() -> None:
    usage = {"input_tokens": 7, "output_tokens": 9, "total_tokens": 16}
    told = {"response_metadata": {"model_name": "m"}, "usage_metadata": usage}
    for kind in (AsyncScriptedModel, WholeModel):
        gate = GatedChatModel(kind(script=["The pool opens at eight [S1].", told]), sources=SOURCES)
        with get_usage_metadata_callback() as counted:
            gate.invoke("?")
            list(gate.stream("?"))
        assert counted.usage_metadata["m"]["total_tokens"] == 32


def test_tokens_are_counted_by_the_inner_model() -> None:
    class Counting(ScriptedModel):
        def get_token_ids(self, text: str) -> list[int]:
            return [0] * len(text)

    gate = GatedChatModel(Counting(), sources=SOURCES)
    assert gate.get_num_tokens("four") == 4
    assert gate.get_token_ids("four") == [0] * 4
    assert gate.get_num_tokens_from_messages([HumanMessage("four")]) > 4


def test_an_unknown_policy_key_is_named() -> None:
    with pytest.raises(UsageError, match="unknown policy key"):
        GatedChatModel(ScriptedModel(), sources=SOURCES, policy={"nonsense": 1})


def test_a_misspelt_name_is_an_error() -> None:
    for make in (
        lambda: GatedChatModel(ScriptedModel(), sources=SOURCES, exit_behaviour="error"),
        lambda: SentenceGateRunnable(sources=SOURCES, exit_behaviour="error"),
        lambda: SentenceGateMiddleware(exit_behaviour="error"),
        lambda: gated(ScriptedModel(), sources=SOURCES, exit_behaviour="error"),
    ):
        with pytest.raises(UsageError, match="has no exit_behaviour; exit_behavior is meant"):
            make()
    with pytest.raises(UsageError, match=r"its policy has: policy=Policy\(language=\.\.\.\)"):
        GatedChatModel(ScriptedModel(), sources=SOURCES, language="fa")
    assert (
        GatedChatModel(ScriptedModel(), sources=SOURCES, temperature=0, streaming=True, model="m", timeout=1, stop=[]).model_name
        == "scripted"
    )
