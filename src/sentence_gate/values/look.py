"""What every reader looks at: the text, the language's tables, what was found so far, and the words around a number.

`Look.behind` and `Look.before` are the only places where words of the language's data are looked up next to a number. Both look a bounded
distance, so that a walk over a text is linear.
"""

from __future__ import annotations

import re

from ..normal import UNSPACED as UNSPACED_LETTERS
from .numerals import Parts
from .tables import Tables

NAMELESS = f"{UNSPACED_LETTERS}\u1100-\u11ff\uac00-\ud7af"
"""Letters that never make a name of the digits on them: of scripts without spaces, and Hangul, whose particles are written on."""
LETTER = rf"(?![{NAMELESS}])[^\W\d_]"
LETTERS = re.compile(rf"(?:{LETTER})+")
CURRENCY = frozenset("$€£¥₹₽₩₺₪฿₫₦₱₴₸﷼¢")
WHITE = frozenset(" \t\n\r")
DASHES = frozenset("-–—−~～〜")
UNSPACED = re.compile(f"[{NAMELESS}]")
UNSPACED_LEAD = re.compile(f"[{NAMELESS}]+")
ASCII_WORD = re.compile(r"[a-z]+")
LATIN_WORD = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]+")
_LIST_NUMBER = re.compile(r"[ \t>#*•·|-]{0,12}(?:\(([0-9]{1,3})\)|\(?([0-9]{1,3})[.)）:：、](?![0-9])|([0-9]{1,2}) ?[-–—](?= ))")


class Found:
    """A value as the readers make it: `keys` for an answer, `vouched` for a source."""

    __slots__ = ("decade", "end", "half", "keys", "kind", "month", "parts", "scale", "short", "small", "start", "vouched")

    def __init__(self, start: int, end: int, kind: str, keys: tuple[str, ...], vouched: list[str] | tuple[str, ...]) -> None:
        self.start, self.end, self.kind, self.keys, self.vouched = start, end, kind, keys, vouched
        self.small = False
        self.parts: tuple[Parts, ...] = ()  # of a number: its readings, as a scale word behind a range counts for both ends
        self.scale = 0
        self.short = False  # a year or decade of two digits
        self.decade = False
        self.month: tuple[str, list[int | None], int] | None = None  # of a date by name: calendar, what its year may be, month
        self.half: tuple[int, str] | None = None  # of a clock without half of day: hour and rest


class Look:
    """One text on its way through the readers."""

    __slots__ = ("folded", "found", "listed", "low", "order", "reference", "scaled_ends", "scaled_starts", "source", "table", "taken")

    def __init__(self, folded: str, low: str, table: Tables, source: bool) -> None:
        self.folded, self.low, self.table, self.source = folded, low, table, source
        self.found: list[Found] = []
        self.taken: set[int] = set()  # where words begin that are part of a value in digits
        self.reference = -1  # the end of the last reference to a list or source
        self.scaled_ends: dict[int, Found] | None = None  # numbers with a scale word by where they end
        self.scaled_starts: dict[int, Found] = {}
        self.listed: set[int] = set()
        if not source:
            line = 0
            while line >= 0:
                match = _LIST_NUMBER.match(folded, line)
                if match:
                    self.listed.add(match.start(match.lastindex or 0))
                line = folded.find("\n", line) + 1 or -1

    def behind(self, end: int, behind: str) -> re.Match[str] | None:
        """The word of the language's data behind a numeral."""
        if not behind or behind in ",;)\n!?\"'":
            return None
        starts = self.table.behind_starts
        if behind in " -." or behind in "º°ª":
            if behind in " -":
                if self.low[end + 1 : end + 2] not in starts:
                    return None
                word = ASCII_WORD.match(self.low, end + 1)
                if word and word.group() not in self.table.behind_words:
                    return None
        elif not behind.isalpha() and behind not in starts and behind not in CURRENCY:
            return None
        return self.table.behind.match(self.low, end)

    def before(self, start: int, before: str) -> tuple[frozenset[str], str, int] | None:
        """The word of the language's data before a numeral: what it is, the word, where it begins."""
        if not before or before in "\n,;$":
            return None
        low, entries = self.low, self.table.before
        if before == " ":  # most words are none of the data
            word = low[low.rfind(" ", 0, start - 1) + 1 : start - 1]
            if word.isalpha() and word not in self.table.before_last and (word.isascii() or not UNSPACED.search(word)):
                return None
        caseless = not before.isascii() and before.isalpha() and before.upper() == before and not UNSPACED.match(before)
        if before in " (#:.[" or caseless or (before.isascii() and not before.isalnum()):
            chunk = low[max(0, start - 40) : start].rstrip(" (#:.[")
            words = chunk[chunk.rfind("\n") + 1 :].rsplit(" ", 3)[-3:]
            for skip in (0, 1):
                if skip:
                    if len(words) < 2 or words[-1] not in entries or "joiner" not in entries[words[-1]]:
                        break
                    words = words[:-1]
                for first in range(len(words)):
                    word = " ".join(words[first:]).lstrip("(\"'[«“")
                    if "'" in word and word not in entries:
                        word = word[word.index("'") + 1 :]  # l'étape, d'août
                    found = entries.get(word) or entries.get(word.rstrip("."))
                    if not found and word and UNSPACED.match(word):
                        word = UNSPACED_LEAD.sub("", word)  # 在May 5
                        found = entries.get(word)
                    if found and "joiner" in found and first and "month" in entries.get(words[first - 1], ()):
                        found, word = entries[words[first - 1]], words[first - 1]  # مرداد سال ۶۷
                    if found and found != {"joiner"}:
                        word = word if word in entries else word.rstrip(".")
                        return found, word, low.rfind(word, 0, start)
            if before != " ":
                return None
            start -= 1
            if start < 1 or low[start - 1].isascii():
                return None
        for length in self.table.unspaced_lengths:
            word = low[max(0, start - length) : start]
            if word in self.table.before_unspaced:
                return entries[word], word, start - length
        return None

    def month(self, ahead: re.Match[str]) -> tuple[str, int, bool] | None:
        """The month that was found behind a number."""
        return self.table.months.get(ahead["month"])

    def capital_fits(self, name: tuple[str, int, bool], at: int, word: str) -> bool:
        """A month that is written with a capital is no month without one: "may 5 people"."""
        return not name[2] or not self.folded[at : at + 1].islower()
