"""Where a run's sources come from, and that runs stay apart."""

from __future__ import annotations

import asyncio
import pickle
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.globals import set_llm_cache
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_scripted import SHOWN, SOURCES, STOPPED, AsyncScriptedModel, ScriptedModel, pieces

from sentence_gate import Policy, Source, Sources, UsageError
from sentence_gate.langchain import GatedChatModel, SentenceGateRunnable, format_sources, gated, sources_of, tool_documents

SAID = "It costs 45 euros [S1]."
PASSES = "It costs 45 euros."
OTHER = ["It costs 44 euros."]
RIGHT = ["It costs 45 euros."]
CONFIG = {"configurable": {"sentence_gate_sources": RIGHT}}
PROMPT = ChatPromptTemplate.from_messages([("human", "{question}")])


def gate(**more: Any) -> GatedChatModel:
    return GatedChatModel(AsyncScriptedModel(script=[SAID]), **more)


async def _text(stream: Any) -> str:
    return "".join([piece if isinstance(piece, str) else piece.content async for piece in stream])


WAYS = {
    "invoke": lambda model, config=None, **more: model.invoke("?", config, **more).content,
    "ainvoke": lambda model, config=None, **more: asyncio.run(model.ainvoke("?", config, **more)).content,
    "stream": lambda model, config=None, **more: "".join(chunk.content for chunk in model.stream("?", config, **more)),
    "astream": lambda model, config=None, **more: asyncio.run(_text(model.astream("?", config, **more))),
    "batch": lambda model, config=None, **more: model.batch(["?"], config, **more)[0].content,
    "abatch": lambda model, config=None, **more: asyncio.run(model.abatch(["?"], config, **more))[0].content,
}
ways = pytest.mark.parametrize("way", WAYS)


@ways
def test_every_place(way: str) -> None:
    run = WAYS[way]
    assert run(gate(sources=RIGHT)) == PASSES
    assert run(gate(), sources=RIGHT) == PASSES
    assert run(gate().bind(sources=RIGHT)) == PASSES
    assert run(gate().for_request(RIGHT)) == PASSES
    assert run(gate(), CONFIG) == PASSES
    assert run(gate().with_config(CONFIG)) == PASSES
    assert run(gate(sources=lambda messages: RIGHT)) == PASSES


@ways
def test_the_order(way: str) -> None:
    run = WAYS[way]
    assert run(gate(sources=OTHER), CONFIG) == PASSES
    other = {"configurable": {"sentence_gate_sources": OTHER}}
    assert run(gate().for_request(RIGHT), other) == PASSES
    assert run(gate().for_request(OTHER), other, sources=RIGHT) == PASSES


@ways
def test_none_is_an_error_before_the_provider_is_called(way: str) -> None:
    for model in (gate(), gate(sources=lambda messages: None)):
        with pytest.raises(UsageError, match="no sources for this run"):
            WAYS[way](model)
        assert model.llm.calls == []


@ways
def test_an_empty_list_is_none_too_little(way: str) -> None:
    assert WAYS[way](gate(sources=[])) != PASSES


def test_an_async_callable() -> None:
    async def found(messages: Any) -> Any:
        return RIGHT

    assert WAYS["ainvoke"](gate(sources=found)) == PASSES
    assert WAYS["astream"](gate(sources=found)) == PASSES
    with pytest.raises(UsageError, match="async"):
        WAYS["invoke"](gate(sources=found))


def test_the_config_reaches_the_gate_in_any_chain() -> None:
    chain = PROMPT | gate() | StrOutputParser()
    nested = RunnablePassthrough.assign(answer=chain) | itemgetter("answer") | RunnableLambda(lambda text: text)
    for made in (chain, nested, chain.with_retry()):
        assert made.invoke({"question": "?"}, CONFIG) == PASSES
        assert "".join(made.stream({"question": "?"}, CONFIG)) == PASSES
        assert asyncio.run(made.ainvoke({"question": "?"}, CONFIG)) == PASSES
    in_pipe = PROMPT | AsyncScriptedModel(script=[SAID]) | SentenceGateRunnable() | StrOutputParser()
    assert in_pipe.invoke({"question": "?"}, CONFIG) == PASSES
    assert "".join(in_pipe.stream({"question": "?"}, CONFIG)) == PASSES


def test_the_gate_in_the_pipe_and_its_places() -> None:
    step = SentenceGateRunnable(sources=OTHER)
    assert step.bind(sources=RIGHT).invoke(SAID) == PASSES
    assert step.for_request(RIGHT).invoke(SAID) == PASSES
    assert step.invoke(SAID, CONFIG) == PASSES
    assert step.invoke(SAID, sources=RIGHT) == PASSES
    assert "".join(step.transform(iter([SAID]), sources=RIGHT)) == PASSES
    for call in (lambda: SentenceGateRunnable().invoke(SAID), lambda: list(SentenceGateRunnable().transform(iter([SAID])))):
        with pytest.raises(UsageError, match="no sources for this run"):
            call()
    with pytest.raises(UsageError, match="gated"):
        SentenceGateRunnable(sources=lambda messages: RIGHT)


# ---------- documents ----------


def test_documents() -> None:
    given = [
        Document("one", metadata={"title": "T", "source": "https://example.com/a", "language": "de"}, id="x"),
        Document("two", metadata={"source": "/files/two.pdf"}, id="x"),
        "three",
        Source("four"),
        {"page_content": "five", "metadata": {"title": "Five"}},
        {"text": "six", "url": "https://example.com/six"},
        {"content": "seven"},
    ]
    found = list(sources_of(given))
    assert [source.text for source in found] == ["one", "two", "three", "four", "five", "six", "seven"]
    assert (found[0].title, found[0].url, found[0].language) == ("T", "https://example.com/a", "de")
    assert found[1].url is None
    assert found[4].title == "Five"
    assert found[5].url == "https://example.com/six"
    same = Sources(["a"])
    assert sources_of(same) is same
    assert [source.id for source in sources_of({"a": "x", "b": "y"})] == ["a", "b"]


@pytest.mark.parametrize("wrong", ["text", 7, Document("x"), [7], [{"title": "x"}], b"x", {"a": 1}, [None]])
def test_wrong_documents(wrong: Any) -> None:
    with pytest.raises(UsageError, match="source"):
        sources_of(wrong)


def test_numbering_has_one_author() -> None:
    documents = [Document("It costs 44 euros."), Document("It costs 45 euros [S1].", metadata={"title": "Prices"})]
    assert format_sources(documents) == "[S1]\nIt costs 44 euros.\n\n[S2]\nPrices\nIt costs 45 euros (S1)."
    assert gate(sources=documents).invoke("?").content != PASSES
    assert GatedChatModel(AsyncScriptedModel(script=["It costs 45 euros [S2]."]), sources=documents).invoke("?").content == PASSES


def test_documents_of_tools() -> None:
    found = [Document("a"), Document("b")]
    messages = [
        HumanMessage("?"),
        AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "1"}]),
        ToolMessage("text", tool_call_id="1", artifact=found),
        ToolMessage("text", tool_call_id="2", artifact=Document("c")),
        ToolMessage("text", tool_call_id="3", artifact={"no": "document"}),
        ToolMessage("text", tool_call_id="4"),
    ]
    assert [document.page_content for document in tool_documents(messages)] == ["a", "b", "c"]
    assert tool_documents({"messages": messages}) == tool_documents(messages)
    assert tool_documents({}) == []


# ---------- gated chains ----------


def rag(model: Any, *, parser: bool = True, **more: Any) -> Any:
    answer = PROMPT | model | StrOutputParser() if parser else PROMPT | model
    return RunnablePassthrough.assign(context=lambda asked: asked["docs"]) | RunnablePassthrough.assign(
        answer=gated(answer, sources=itemgetter("context"), **more)
    )


@pytest.mark.parametrize("parser", [True, False])
def test_a_retrieval_chain(parser: bool) -> None:
    inner = AsyncScriptedModel()
    made = rag(inner, parser=parser)
    asked = {"question": "?", "docs": [Document(text) for text in SOURCES]}

    def text(answer: Any) -> str:
        return answer if isinstance(answer, str) else answer.content

    assert text(made.invoke(asked)["answer"]) == STOPPED
    assert text(asyncio.run(made.ainvoke(asked))["answer"]) == STOPPED
    shown = [text(piece["answer"]) for piece in made.stream(asked) if "answer" in piece]
    assert shown[0] == SHOWN
    assert "".join(shown) == STOPPED
    assert set(inner.log) == {"GeneratorExit 22"}
    assert text(made.batch([asked, {**asked, "docs": []}])[1]["answer"]) != STOPPED


def test_only_the_answering_model_of_a_chain_is_gated() -> None:
    rewriter, answerer = AsyncScriptedModel(script=["a question of 45 words"]), AsyncScriptedModel()
    chain = PROMPT | rewriter | StrOutputParser() | (lambda text: [HumanMessage(text)]) | answerer | StrOutputParser()
    made = gated(chain, sources=SOURCES)
    assert made.invoke({"question": "?"}) == STOPPED
    assert answerer.calls[0]["messages"] == [HumanMessage("a question of 45 words")]


def test_chains_with_something_around_the_model() -> None:
    def broken() -> Any:
        return ScriptedModel(script=[RuntimeError("down")])

    model = AsyncScriptedModel()
    for chain in (
        model,
        PROMPT | model.bind(stop=["x"]),
        PROMPT | model.with_retry(),
        PROMPT | broken().with_fallbacks([model]),
        (PROMPT | broken()).with_fallbacks([PROMPT | model]),
        (PROMPT | (model | StrOutputParser()).with_config(tags=["t"])),
        PROMPT | GatedChatModel(model),
    ):
        asked: Any = "?" if chain is model else {"question": "?"}
        found = gated(chain, sources=SOURCES).invoke(asked)
        assert (found if isinstance(found, str) else found.content) == STOPPED
    for chain in (PROMPT | model | (lambda message: message.content), RunnablePassthrough.assign(answer=PROMPT | model), StrOutputParser()):
        with pytest.raises(UsageError, match="looks for a chat model"):
            gated(chain, sources=SOURCES)


def test_the_question_vouches_for_values_if_the_policy_says_so() -> None:
    policy = Policy(question_supports_values=True)
    asked = {"question": "Does it cost 45 euros?"}
    model = AsyncScriptedModel(script=[SAID])
    assert gated(PROMPT | model, sources=OTHER, policy=policy, question=itemgetter("question")).invoke(asked).content == PASSES
    assert gated(PROMPT | model, sources=OTHER, policy=policy).invoke(asked).content != PASSES
    told = GatedChatModel(model, sources=OTHER, policy=policy, question=lambda messages: messages[-1].content)
    assert told.invoke("Does it cost 45 euros?").content == PASSES
    config = {"configurable": {"sentence_gate_question": "45 euros?"}}
    assert GatedChatModel(model, sources=OTHER, policy=policy).invoke("?", config).content == PASSES
    assert SentenceGateRunnable(sources=OTHER, policy=policy).invoke(SAID, config) == PASSES


# ---------- apart ----------


class Echo(AsyncScriptedModel):
    """Says the sentence that the prompt asks for."""

    def _said(self, messages: list[Any], kwargs: dict[str, Any], stop: Any = None) -> list[Any]:
        number = str(messages[-1].content)
        return pieces(f"It costs {number} euros [S1]. It costs {int(number) + 1} euros [S1]. The end.", 5)


def costs(number: int) -> list[str]:
    return [f"It costs {number} euros."]


def test_forty_in_a_batch_stay_apart() -> None:
    model = GatedChatModel(Echo())
    before = dict(vars(model))
    numbers = list(range(100, 180, 2))
    found = model.batch(
        [str(number) for number in numbers], [{"configurable": {"sentence_gate_sources": costs(number)}} for number in numbers]
    )
    assert [message.content.split("\n")[0] for message in found] == [f"It costs {number} euros." for number in numbers]
    assert all(message.response_metadata["sentence_gate"]["status"] == "stopped" for message in found)
    assert {name: value for name, value in vars(model).items() if name in before} == before


def test_fifty_at_a_time_stay_apart() -> None:
    inner = Echo(pause=0.0001)
    model = GatedChatModel(inner)

    async def one(number: int) -> str:
        return await _text(model.for_request(costs(number)).astream(str(number)))

    async def main() -> list[str]:
        return await asyncio.gather(*(one(number) for number in range(100, 200, 2)))

    found = asyncio.run(main())
    assert [text.split("\n")[0] for text in found] == [f"It costs {number} euros." for number in range(100, 200, 2)]


def test_threads_and_one_step_stay_apart() -> None:
    chain = Echo() | SentenceGateRunnable() | StrOutputParser()

    def one(number: int) -> str:
        return "".join(chain.stream(str(number), {"configurable": {"sentence_gate_sources": costs(number)}}))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(one, range(100, 150, 2)))
    assert [text.split("\n")[0] for text in found] == [f"It costs {number} euros." for number in range(100, 150, 2)]


@ways
def test_a_global_cache_does_not_answer_for_other_sources(way: str) -> None:
    set_llm_cache(InMemoryCache())
    try:
        assert WAYS[way](gate(sources=RIGHT)) == PASSES
        assert WAYS[way](gate(sources=OTHER)) != PASSES
    finally:
        set_llm_cache(None)
    for cache in (True, InMemoryCache()):
        with pytest.raises(UsageError, match="cache"):
            gate(sources=RIGHT, cache=cache)


def test_configurable_fields() -> None:
    model = GatedChatModel(AsyncScriptedModel(script=[SAID]).bind(stop=["x"]), sources=OTHER).configurable_fields(
        policy=ConfigurableField(id="policy"), sources=ConfigurableField(id="documents")
    )
    assert model.invoke("?").content != PASSES
    assert model.invoke("?", {"configurable": {"documents": RIGHT}}).content == PASSES
    assert model.invoke("?", {"configurable": {"policy": Policy(on_violation="observe", show_markers=True)}}).content == SAID
    step = SentenceGateRunnable(sources=OTHER).configurable_fields(policy=ConfigurableField(id="policy"))
    assert step.invoke(SAID, {"configurable": {"policy": {"on_violation": "observe"}}}) == PASSES


def test_pickle_copy_and_graphs() -> None:
    model = GatedChatModel(AsyncScriptedModel(), sources=SOURCES).for_request(SOURCES)
    again = pickle.loads(pickle.dumps(model))
    assert again.invoke("?").content == STOPPED
    step = pickle.loads(pickle.dumps(SentenceGateRunnable(sources=SOURCES)))
    assert step.invoke(SAID) != PASSES
    assert "SentenceGate" in str((PROMPT | AsyncScriptedModel() | step).get_graph().draw_mermaid())
    assert "GatedChatModel" in str((PROMPT | model).get_graph().draw_mermaid())


class Heard(BaseCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        self.seen.append((args, kwargs))


@ways
def test_sources_are_for_no_trace_and_no_provider(way: str) -> None:
    secret = ["It costs 45 euros. zebra"]
    for model, config, more in (
        (gate(), None, {"sources": secret}),
        (gate().bind(sources=secret), None, {}),
        (gate().for_request(secret), None, {}),
        (gate(sources=secret), None, {}),
        (gate(), {"configurable": {"sentence_gate_sources": secret}}, {}),
    ):
        heard = Heard()
        assert WAYS[way](model, {**(config or {}), "callbacks": [heard]}, **more) == PASSES
        assert heard.seen
        assert "zebra" not in repr(heard.seen)
        inner = model.bound.llm if hasattr(model, "bound") else model.llm
        assert set(inner.calls[0]) == {"messages", "stop"}
