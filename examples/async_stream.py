"""A streamed answer behind the gate in an asynchronous program. The model is a stand-in; put your client's stream in its place."""

import asyncio
from collections.abc import AsyncIterator

from sentence_gate import Done, Ending, Policy, Released, SentenceGate, Stopped, agate_stream, format_sources, prompt_rules

SOURCES = {
    "leaflet": "The pool opens at eight. A locker costs 40 cents.",
    "notice": "On 3 May the pool stays closed.",
}


async def model(prompt: str) -> AsyncIterator[str | Ending]:
    answer = "The pool opens at 8 [S1]. It stays closed on 3 May [S2]. A locker costs 45 cents [S1]. Towels are free [S1]."
    try:
        for start in range(0, len(answer), 5):
            await asyncio.sleep(0)
            yield answer[start : start + 5]
        yield Ending.completed("stop")  # what your provider's last chunk says
    finally:
        print("\n(the model's stream is closed)")


async def main() -> None:
    policy = Policy(language="en")
    prompt = f"{prompt_rules(policy)}\n\n{format_sources(SOURCES)}\n\nWhen does the pool open?"
    gate = SentenceGate(SOURCES, policy)
    async for event in agate_stream(model(prompt), gate):
        match event:
            case Released(text):
                print(text, end="", flush=True)
            case Stopped(checks, notice):
                print(f"({notice} Why: {', '.join(checks)})")
            case Done(report):
                print(f"({report.status}; sources cited: {report.cited})")


asyncio.run(main())
