"""The embedded model: it says what the desk's script has for a question, else the first sentences of the best source, cited.

Its payloads are those of chat completions, so that what reads them reads a real model's too.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

from retrieval import Desk, Found

from sentence_gate import SentenceSplitter


def said(question: str, desk: Desk, found: Found) -> tuple[str, str]:
    """What the model says, and its reason to end."""
    markers = {str(source.id): f"[S{number}]" for number, source in enumerate(found.sources, 1)}
    for line in desk.script:
        if line["question"] == question.strip() and "says" in line:
            return line["says"].format_map(markers), line.get("ends", "stop")
    splitter = SentenceSplitter(desk.language)
    sentences = splitter.feed(found.sources[0].text)
    if last := splitter.flush():
        sentences.append(last)
    return " ".join(f"{one.text[:-1]} [S1]{one.text[-1]}" for one in sentences[:3]), "stop"


def payloads(text: str, reason: str) -> Iterator[dict[str, Any]]:
    """A text as chunks of chat completions, a word each."""
    for word in re.findall(r"\S+\s*", text):
        yield _chunk({"content": word}, None)
    yield _chunk({}, reason)


async def stream(question: str, desk: Desk, found: Found, seconds: float) -> AsyncIterator[dict[str, Any]]:
    """The answer, a word every so many seconds."""
    for payload in payloads(*said(question, desk, found)):
        await asyncio.sleep(seconds)
        yield payload


def _chunk(delta: dict[str, str], reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "scripted", "object": "chat.completion.chunk", "created": 0, "model": "scripted", "choices": [choice]}
