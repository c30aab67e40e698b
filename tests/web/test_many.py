"""Five hundred readers of one process of the example: none gets less than all, or another's; and nothing of them is left in the process."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
from pathlib import Path

import httpx2
from programs import assistant, eventually

READERS = 500
ROUNDS = 2
BENCHMARK = Path(__file__).parents[1] / "bench" / "serving.py"
KINDS = 4  # of the suggested questions, those that reach the model


async def answered(address: str, asked: list[tuple[str, str]]) -> list[str]:
    """What each is sent, when all ask at once."""
    async with httpx2.AsyncClient(timeout=120, limits=httpx2.Limits(max_connections=len(asked))) as client:

        async def one(language: str, question: str) -> str:
            response = await client.post(f"{address}/answer", json={"question": question, "language": language})
            assert response.status_code == 200
            return response.text

        return await asyncio.gather(*(one(language, question) for language, question in asked))


def resident(process: int) -> float:
    """MiB of memory that a process holds."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def descriptors(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def test_five_hundred_at_once() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 8192), hard), hard))
    with assistant("--seconds", "0.02") as (address, process):
        desks = httpx2.get(f"{address}/desks.json").json()["desks"]
        questions = [(desk["code"], question) for desk in desks for question in desk["questions"][:KINDS]]
        alone = dict(zip(questions, (asyncio.run(answered(address, [question]))[0] for question in questions), strict=True))
        assert len(set(alone.values())) == len(questions)
        at_rest = descriptors(process.pid)
        asked = [questions[number % len(questions)] for number in range(READERS)]
        held = []
        for _ in range(ROUNDS):
            got = asyncio.run(answered(address, asked))
            assert [number for number, question in enumerate(asked) if got[number] != alone[question]] == []
            eventually(lambda: descriptors(process.pid) <= at_rest)
            held.append(resident(process.pid))
        assert held[-1] < held[0] * 1.1, held  # the first round's memory serves the others


def test_no_object_is_left_behind() -> None:
    told = subprocess.run([sys.executable, str(BENCHMARK), "--traced", "--streams", "100"], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.count("100 at once") == 3
