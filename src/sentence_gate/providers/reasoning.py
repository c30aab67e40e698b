"""Reasoning never reaches gate or reader: the one filter that takes it out, of tagged text and of content blocks.

A model may think aloud inside its answer text (`<think>…</think>` and relatives), split over pieces in any way; `ReasoningFilter` passes
on what is outside. Frameworks hand over lists of content blocks; `blocks` parts them into text and reasoning. Both are pure.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .shape import Fields, fields, items, text

TAGS: tuple[tuple[str, str], ...] = (
    ("<think>", "</think>"),  # DeepSeek R1, Qwen and most open models
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),  # Magistral
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A
    ("<seed:think>", "</seed:think>"),  # Seed-OSS
    ("◁think▷", "◁/think▷"),  # Kimi
)
"""Opening and closing tag of a stretch of reasoning; upper and lower case are alike."""


class ReasoningFilter:
    """Passes on the text outside reasoning tags, for every cutting of the text into pieces the same.

    What may become a tag is held back (at most one code point less than the longest tag). A stretch that is never closed is never passed
    on. A closing tag without an opening one is taken out by itself: for a model whose prompt opens the reasoning, say `inside=True`, else
    the reasoning before the closing tag passes as answer text. White space between reasoning and the answer's first text goes with it.
    """

    def __init__(self, tags: tuple[tuple[str, str], ...] = TAGS, *, inside: bool = False) -> None:
        every = [tag for pair in tags for tag in pair]
        self._closing = {opening.casefold(): _pattern([closing]) for opening, closing in tags}
        self._any = _pattern(every)
        self._until = _pattern([closing for _, closing in tags]) if inside else None
        self._begins = frozenset(tag.casefold()[:length] for tag in every for length in range(1, len(tag)))
        self._first = "".join(sorted({tag[0] for tag in every}))
        self._longest = max(map(len, every), default=1) - 1
        self._held = ""
        self._shown = self._trims = False  # text was passed on; reasoning came before any was
        self.taken = 0

    @property
    def inside(self) -> bool:
        """Whether the stream is inside reasoning now."""
        return self._until is not None

    def feed(self, piece: str) -> str:
        """The text outside reasoning that is certain now. `taken` counts the code points of reasoning and tags so far."""
        if not self._held and self._until is None and not self._trims and not any(map(piece.__contains__, self._first)):
            self._shown = self._shown or bool(piece.strip())
            return piece
        rest, self._held = self._held + piece, ""
        at, out = 0, []
        while found := (self._until or self._any).search(rest, at):
            if self._until is None:
                out.append(self._pass(rest[at : found.start()]))
                self._until = self._closing.get(found.group().casefold())
                self.taken += found.end() - found.start()
            else:
                self._until = None
                self.taken += found.end() - at
            self._trims = not self._shown
            at = found.end()
        keep = len(rest) - self._undecided(rest, at)
        self._held = rest[keep:]
        if self._until is None:
            out.append(self._pass(rest[at:keep]))
        else:
            self.taken += keep - at
        return "".join(out)

    def finish(self) -> str:
        """What was held back and turned out to be no tag, now that the stream is over; nothing of an unclosed stretch."""
        held, self._held = self._held, ""
        if self._until is None:
            return self._pass(held)
        self.taken += len(held)
        return ""

    def _pass(self, text: str) -> str:
        if self._trims:
            text = text.lstrip()
        if text and not text.isspace():
            self._shown, self._trims = True, False
        return text

    def _undecided(self, rest: str, at: int) -> int:
        """How many code points at the end may be the beginning of a tag."""
        tail = rest[max(at, len(rest) - self._longest) :]
        if not any(first in tail for first in self._first):
            return 0
        tail = tail.casefold()
        return next((len(tail) - start for start in range(len(tail)) if tail[start:] in self._begins), 0)


def _pattern(tags: list[str]) -> re.Pattern[str]:
    first = "".join(sorted({tag[0] for tag in tags}))
    return re.compile(f"(?=[{re.escape(first)}])(?:{'|'.join(map(re.escape, tags))})", re.IGNORECASE | re.ASCII)


class Blocks(NamedTuple):
    """A message's content by what it is."""

    text: str
    reasoning: str = ""
    refusal: str = ""


def blocks(content: object) -> Blocks:
    """A content field, a string or a list of typed blocks, by what it is. Blocks of other types (tools, images, citations) are left out."""
    if isinstance(content, str):
        return Blocks(text(content))
    told: tuple[list[str], list[str], list[str]] = ([], [], [])
    for block in items(content):
        if isinstance(block, str):
            told[0].append(text(block))
            continue
        kind = text(fields(block).get("type"))
        if kind in _TEXT:
            told[0].append(text(fields(block).get("text")))
        elif kind in _REASONING:
            told[1].append(_words(fields(block)))
        elif kind == "refusal":
            told[2].append(text(fields(block).get("refusal")))
    return Blocks(*("".join(part) for part in told))


_TEXT = frozenset({"text", "output_text"})
_REASONING = frozenset({"thinking", "reasoning", "reasoning_content"})


def _words(block: Fields) -> str:
    """The text of a reasoning block: each package nests it in its own way."""
    out = []
    for name in ("thinking", "reasoning", "reasoning_content", "text", "summary"):
        value = block.get(name)
        if isinstance(value, str):
            out.append(text(value))
        out += [_words(fields(inner)) for inner in ([value] if isinstance(value, dict) else items(value))]
    return "".join(out)
