"""An agent that looks documents up and answers from them, every sentence checked before a listener sees it.

    python examples/langchain/langgraph_agent.py [scripted | openai | anthropic]

`SentenceGateMiddleware` exchanges the agent's model for a gated one; its sources are the documents that the tool returned as artifacts.
What the model says before it calls the tool is not supported by anything: the text is dropped, the call passes.
"""

from __future__ import annotations

import sys

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from scripted import Turn, model_for

from sentence_gate import prompt_rules
from sentence_gate.langchain import SentenceGateMiddleware

TURNS = (
    Turn("Sure, I can help with that. Let me look it up.", "search", '{"query": "opening hours"}'),
    Turn("The museum is open from 9 to 18 [S1]. It is closed on 24 December [S1]. In 2019 it had 4 million visitors [S1]. And so on."),
)


@tool(response_format="content_and_artifact")
def search(query: str) -> tuple[str, list[Document]]:
    """Searches the museum's documents."""
    found = [Document("The museum opens at 9 and closes at 18. It is closed on 24 December.")]
    return "\n\n".join(document.page_content for document in found), found


def main(provider: str = "scripted") -> None:
    with model_for(provider, *TURNS) as model:
        agent = create_agent(model, [search], system_prompt=prompt_rules(), middleware=[SentenceGateMiddleware()])
        asked = {"messages": [("human", "When is the museum open?")]}
        for mode, shown in agent.stream(asked, stream_mode=["messages", "custom"]):
            if mode == "custom":
                print(f"  (gate: {shown['sentence_gate']['status']})")
            elif isinstance(shown[0], ToolMessage):
                print(f"  (tool: {shown[0].name})")
            elif isinstance(shown[0], AIMessage) and shown[0].text:
                print(repr(str(shown[0].text)))


if __name__ == "__main__":
    main(*sys.argv[1:])
