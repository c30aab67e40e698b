"""Many answers at once through one process of the endpoint: are all whole and apart, how long do they take, does the memory come back?

    python tests/bench/serving.py                 # 500 at once, three times
    python tests/bench/serving.py --traced        # slower; also what Python's objects take, without what the allocator keeps

A server of its own process, a scripted model that sends a piece every 20 ms, each question with a source of its own. Nothing here can fail
for being slow; it does for an answer that is lost or mixed, and with --traced for objects that are left behind.
"""

# ruff: noqa: T201
from __future__ import annotations

import argparse
import asyncio
import gc
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2

STEP = 0.02  # seconds between two pieces
LEFT = 1.0  # MiB that may be left behind: caches that fill, whatever the number of streams


def serve(max_streams: int, *, traced: bool) -> None:
    """The server's process: prints its port, then serves; on SIGUSR1, what its objects take, in bytes."""
    import socket

    import uvicorn

    from sentence_gate import SentenceGate
    from sentence_gate.server import Answer, AnswerEndpoint, Question
    from sentence_gate.streams import aread_answer

    async def model(number: int) -> AsyncIterator[dict[str, Any]]:
        text = (
            "".join(f"Room {number} has desk {number * 1000 + desk} [S1]. " for desk in range(8)) + f"Room {number + 1} is free [S1]. And"
        )
        for at in range(0, len(text), 12):
            await asyncio.sleep(STEP)
            yield {"choices": [{"index": 0, "delta": {"content": text[at : at + 12]}, "finish_reason": None}]}

    async def answer(question: Question) -> Answer:
        number = int(question.text)
        gate = SentenceGate([f"Room {number}: " + ", ".join(str(number * 1000 + desk) for desk in range(8))], question.policy)
        return Answer(gate, aread_answer(model(number), "openai_chat", gate))

    def tell() -> None:
        gc.collect()
        print(tracemalloc.get_traced_memory()[0], flush=True)

    async def main() -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, tell)
        await uvicorn.Server(config).serve(sockets=[listening])

    if traced:
        tracemalloc.start()
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(AnswerEndpoint(answer, max_streams=max_streams), log_config=None, lifespan="off")
    asyncio.run(main())


async def round_of(url: str, count: int) -> tuple[list[float], list[float]]:
    """Seconds to the first sentence and to the end of each answer, all asked at once."""
    firsts: list[float] = []
    lasts: list[float] = []
    async with httpx2.AsyncClient(timeout=120, limits=httpx2.Limits(max_connections=count)) as client:

        async def one(number: int) -> None:
            start, body = time.perf_counter(), ""
            async with client.stream("POST", url, json={"question": str(number)}) as response:
                async for text in response.aiter_text():
                    if not body:
                        firsts.append(time.perf_counter() - start)
                    body += text
            lasts.append(time.perf_counter() - start)
            numbers = {word for word in body.replace(".", " ").split() if word.isdigit()}
            if numbers != {str(number), *(str(number * 1000 + desk) for desk in range(8))} or "event: guard" not in body:
                raise SystemExit(f"answer {number} was lost or mixed")

        await asyncio.gather(*(one(number) for number in range(100, 100 + count)))
    return firsts, lasts


def memory(process: int) -> float:
    """The resident memory of a process, MiB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def objects(server: subprocess.Popen[str]) -> float:
    """What the objects of a traced server take, MiB."""
    assert server.stdout is not None
    server.send_signal(signal.SIGUSR1)
    return int(server.stdout.readline()) / 2**20


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--streams", type=int, default=500)
    asked.add_argument("--traced", action="store_true", help="what Python's objects take, too")
    asked.add_argument("--serve", action="store_true", help="be the server's process")
    options = asked.parse_args()
    if options.serve:
        serve(options.streams, traced=options.traced)
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(65536, hard), hard))
    arguments = [sys.executable, __file__, "--serve", "--streams", str(options.streams), *(["--traced"] if options.traced else [])]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{int(server.stdout.readline())}"
            asyncio.run(round_of(url, 5))
            print(f"{'':>12} {'first sentence':>24} {'whole answer':>24} {'server memory':>15} {'objects':>12}")
            at_rest = objects(server) if options.traced else 0.0
            print(f"{'at rest':>12} {'':>49} {memory(server.pid):>11.0f} MiB {at_rest:>8.2f} MiB")
            for _ in range(3):
                firsts, lasts = asyncio.run(round_of(url, options.streams))
                told = [f"{statistics.median(times):.2f} s, at most {max(times):.2f} s" for times in (firsts, lasts)]
                time.sleep(1)
                held = objects(server) if options.traced else 0.0
                print(f"{options.streams:>4} at once {told[0]:>24} {told[1]:>24} {memory(server.pid):>11.0f} MiB {held:>8.2f} MiB")
                if held > at_rest + LEFT:
                    raise SystemExit(f"{held - at_rest:.1f} MiB are left behind")
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
