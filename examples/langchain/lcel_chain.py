"""A retrieval chain of LangChain whose answer is released sentence by sentence.

    python examples/langchain/lcel_chain.py [scripted | openai | anthropic]

`gated` takes the documents from the chain's own `context`, and `format_sources` numbers them for the prompt: numbering has one author.
"""

from __future__ import annotations

import sys
from operator import itemgetter

from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from scripted import Turn, model_for

from sentence_gate import Policy, prompt_rules
from sentence_gate.langchain import format_sources, gated

DOCUMENTS = [
    Document("The museum opens at 9 and closes at 18. It is closed on 24 December."),
    Document("A ticket costs 12 euros; children under 6 enter free.", metadata={"title": "Prices"}),
]
ANSWER = Turn("The museum is open from 9 to 18 [S1]. A ticket costs 12 euros [S2]. Guided tours start at 11 [S1]. They last an hour.")
POLICY = Policy()

prompt = ChatPromptTemplate.from_messages(
    [("system", "Answer from these sources.\n{rules}\n\n{sources}"), ("human", "{question}")],
).partial(rules=prompt_rules(POLICY))


def retrieve(asked: dict[str, str]) -> list[Document]:
    return DOCUMENTS  # a retriever stands here


def main(provider: str = "scripted") -> None:
    with model_for(provider, ANSWER) as model:
        answer = RunnablePassthrough.assign(sources=lambda asked: format_sources(asked["context"])) | prompt | model | StrOutputParser()
        chain = RunnablePassthrough.assign(context=retrieve) | RunnablePassthrough.assign(
            answer=gated(answer, sources=itemgetter("context"), policy=POLICY)
        )
        for piece in chain.stream({"question": "When is the museum open, and what does it cost?"}):
            if "answer" in piece:
                print(repr(piece["answer"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
