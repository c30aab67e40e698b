"""The desks: one a language, with its sources, and the search that tells whether a question is one for them.

A search by words is enough for four short texts. Yours will be another one; what matters is that it has a floor.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentence_gate import Source

FOLDER = Path(__file__).parent / "desk"
STEM = 5  # letters of a word that are compared: "comet" for "comets", "bahn" for "Bahn"
_SPELLINGS = str.maketrans("يىكةۀ", "ییکهه")
_ARTICLE = re.compile(r"^[وف]?(?:ال|لل|بال|کال)(?=\w{3})")


@dataclass(frozen=True, slots=True)
class Found:
    """The sources for a question, best first, and how much of it the best one speaks of: 0 to 1."""

    sources: tuple[Source, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Desk:
    """What one language has: its sources, the questions that are not for it, what the page says, and the script of the embedded model."""

    language: str
    sources: tuple[Source, ...]
    stop_words: frozenset[str]
    out_of_scope: tuple[str, ...]
    page: Mapping[str, str]
    script: tuple[Mapping[str, str], ...]

    def forbids(self, question: str) -> bool:
        """Whether a question is out of scope, whatever the sources say."""
        words = _words(question)
        return any(word.startswith(stem) for stem in self.out_of_scope for word in words)

    def search(self, question: str) -> Found:
        """The sources that share words with a question."""
        asked = {word for word in _words(question) if word not in self.stop_words}
        scored = [(_share(asked, _words(f"{source.title} {source.text}")), source) for source in self.sources]
        scored.sort(key=lambda one: -one[0])
        best = scored[0][0]
        return Found(tuple(source for score, source in scored if score > best / 2), best)


def _share(asked: set[str], words: set[str]) -> float:
    held = sum(any(word.startswith(one[:STEM]) for word in words) for one in asked)
    return held / len(asked) if asked else 0.0


def _words(text: str) -> set[str]:
    """The words of a text as they are compared: without marks, joiners, case, and the Arabic article."""
    plain = unicodedata.normalize("NFKD", text).casefold().translate(_SPELLINGS)
    plain = "".join(char for char in plain if unicodedata.category(char) not in ("Mn", "Cf"))
    return {_ARTICLE.sub("", word) for word in re.findall(r"\w+", plain)}


def desks() -> dict[str, Desk]:
    """Every desk by its language."""
    read = (tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.toml")))
    return {desk.language: desk for desk in map(_desk, read)}


def _desk(read: Mapping[str, Any]) -> Desk:
    code = read["code"]
    return Desk(
        code,
        tuple(Source(one["text"], id=one["id"], title=one["title"], language=code) for one in read["sources"]),
        frozenset(_words(read["stop_words"])),
        tuple(sorted(_all_words(read["out_of_scope"]))),
        read["page"],
        tuple(read["script"]),
    )


def _all_words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _words(text)}
