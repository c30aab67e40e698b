"""A library's assistant on NeMo Guardrails: the folder `configs/library` is all that a user adds.

python examples/nemo/assistant.py            # streams two answers on a scripted model: no key, no network
python examples/nemo/assistant.py --serve    # the same over HTTP, NeMo's own server and the openai client, on loopback
"""

import argparse
import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

os.environ.setdefault("NEMO_GUARDRAILS_NO_USAGE_STATS", "1")

from nemoguardrails import LLMRails, RailsConfig
from nemoguardrails.types import LLMResponse, LLMResponseChunk

CONFIG = Path(__file__).resolve().parent / "configs" / "library"
SOURCES = [
    "Opening hours: the reading room is open from 9:30 to 20:00, on Saturdays until 14:00.",
    "Cards: a yearly card costs 24 euros. Students pay 12 euros.",
]
ANSWERS = {
    "When is it open?": "The reading room opens at 9:30 a.m. and closes at 20:00 [S1]. On Saturdays it closes at 14:00 [S1].",
    "What does a card cost?": "A card for a year costs 24 euros [S2]. Pensioners pay 9 euros [S2]. Children are free [S2].",
}


class ScriptedModel:
    """Stands in for a model: it says what is written above."""

    model_name = "scripted"
    provider_name = "scripted"
    provider_url = None

    def answer(self, prompt: Any) -> str:
        asked = prompt if isinstance(prompt, str) else "\n".join(str(message.content) for message in prompt)
        return max(ANSWERS.items(), key=lambda pair: asked.rfind(pair[0]))[1]

    async def generate_async(self, prompt: Any, **_: Any) -> LLMResponse:
        return LLMResponse(content=self.answer(prompt), finish_reason="stop")

    async def stream_async(self, prompt: Any, **_: Any) -> AsyncIterator[LLMResponseChunk]:
        text = self.answer(prompt)
        for at in range(0, len(text), 4):
            await asyncio.sleep(0.01)
            yield LLMResponseChunk(delta_content=text[at : at + 4])
        yield LLMResponseChunk(delta_content="", finish_reason="stop")


def context() -> dict[str, Any]:
    return {"relevant_chunks_sep": SOURCES}


async def talk() -> None:
    rails = LLMRails(RailsConfig.from_path(str(CONFIG)), llm=ScriptedModel())
    for question in ANSWERS:
        print(f"> {question}")
        messages = [{"role": "context", "content": context()}, {"role": "user", "content": question}]
        async for chunk in rails.stream_async(messages=messages):
            if chunk.startswith('{"error"'):
                print(f"\n[{json.loads(chunk)['error']['message']}]", end="")
            else:
                print(chunk, end="", flush=True)
        print()


def serve() -> None:
    import openai
    import uvicorn
    from nemoguardrails.server import api

    real = api.LLMRails
    api.LLMRails = lambda config, **_: real(config, llm=ScriptedModel())
    api.app.rails_config_path = str(CONFIG.parent)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(api.app, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0)
    for question in ANSWERS:
        print(f"> {question}")
        try:
            for chunk in client.chat.completions.create(
                model="scripted",
                messages=[{"role": "user", "content": question}],
                stream=True,
                extra_body={"guardrails": {"config_id": CONFIG.name, "context": context()}},
            ):
                print(chunk.choices[0].delta.content or "", end="", flush=True)
        except openai.APIError as error:
            print(f"\n[{error.message}]", end="")
        print()
    server.should_exit = True
    thread.join(10)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serve", action="store_true", help="over HTTP, with the openai client")
    serve() if parser.parse_args().serve else asyncio.run(talk())
