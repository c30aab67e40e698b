"""The answer reports sources; nobody speaks for themself in it.

What it does: stops a sentence with a first-person pronoun, possessive or listed verb form. The lists of some languages are looked for in
every answer, those of the others only in answers asked for in them (`first_person.everywhere` of the language file).
Why: "I think" is the sign of text that comes from the model and not from a source.
Example: `I think the library opens at nine [S1].`
Limits: verb forms are listed for some languages only. Set aside are acronyms of two and more capitals, the surname before "et al.", the
exceptions of the language file, "I" as a numeral after a name, and words inside a quotation or title of three and more words that stands
verbatim in a cited source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from .. import languages
from ..events import PolicyView, Sentence, Violation
from ..normal import MARKS, UNSPACED, asides, fold
from ..sources import Sources

_TOKEN = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS}])*(?:'[^\W\d_](?:[^\W\d_]|[{MARKS}])*)*'?")
_LATIN = "\u024f"
"""The last letter of Latin script, but for rare ones."""
_LETTERS = re.compile(r"[^\W\d_]+")
_IDENTIFIER = ("_", "/", "@", "=")
_JOINERS = (".", "-")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_QUOTATION = re.compile(
    r"\"([^\"]{5,300})\"|«([^»]{5,300})»|「([^」]{3,300})」|『([^』]{3,300})』|《([^》]{3,300})》|(?<!\w)'((?:[^']|(?<=\w)'(?=\w)){5,300})'(?!\w)"
)
_TITLE = re.compile(r"\*\*([^*]{5,300})\*\*|\*([^*]{5,300})\*|(?<!\w)_([^_]{5,300})_(?!\w)")


class _Token(NamedTuple):
    start: int
    end: int
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class _Lists:
    """What is looked for in answers of one language, folded. Phrases of several tokens stand under their first one."""

    heads: frozenset[str]  # letters of which every word or phrase has some: most sentences have none of them
    words: dict[str, tuple[tuple[str, ...], ...]]
    cased: frozenset[str]
    before: frozenset[str]
    small: frozenset[str]  # small words of the language that English doesn't have
    english: frozenset[str]  # small words of English
    runs: re.Pattern[str] | None  # in scripts without spaces: the words, wherever they stand
    exceptions: dict[str, tuple[tuple[str, int], ...]]  # a word -> the phrases that hold it, and where in them it begins


def _tokens(text: str) -> list[_Token]:
    return [_Token(*match.span(), match.group(), match.group().lower()) for match in _TOKEN.finditer(text)]


def _by_first(phrases: Iterable[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    found: dict[str, set[tuple[str, ...]]] = {}
    for phrase in phrases:
        parts = tuple(token.key for token in _tokens(fold(phrase)))
        if parts:
            found.setdefault(parts[0], set()).add(parts)
    return {first: tuple(sorted(rest, key=len, reverse=True)) for first, rest in found.items()}


@cache
def _lists(language: str) -> _Lists:
    words: set[str] = set()
    cased: set[str] = set()
    exceptions: set[str] = set()
    before: set[str] = set()
    for code in languages.codes():
        own = languages.load(code).first_person
        if code != language and not own.everywhere:
            continue
        mine = {*own.words, *own.verbs}
        own_cased = set(own.cased)
        if language in own.not_in:
            mine, own_cased = (mine - set(own.shared), own_cased - set(own.shared)) if own.shared else (set(), set())
        words |= mine
        cased |= own_cased
        exceptions |= set(own.exceptions)
        before |= {*own.before, *map(str.upper, own.before)}
    small, english = (frozenset(map(fold, languages.load(code).common)) for code in (language, "en"))
    runs = {word for word in words if _UNSPACED.search(word)}
    written = exceptions | {phrase[:1].upper() + phrase[1:] for phrase in exceptions}
    by_first, exact = _by_first(words - runs), frozenset(map(fold, cased))
    telling = [max(phrase, key=len) for phrases in by_first.values() for phrase in phrases]
    heads = frozenset(found.group() for word in (*telling, *exact) if (found := _LETTERS.match(word.lower())))
    longest_first = sorted(map(fold, runs), key=lambda run: (-len(run), run))
    pattern = re.compile("|".join(map(re.escape, longest_first))) if runs else None
    return _Lists(heads, by_first, exact, frozenset(map(fold, before)), small, english, pattern, _by_word(written, pattern))


def _by_word(phrases: Iterable[str], runs: re.Pattern[str] | None) -> dict[str, tuple[tuple[str, int], ...]]:
    found: dict[str, set[tuple[str, int]]] = {}
    for phrase in map(fold, phrases):
        for token in _tokens(phrase):
            found.setdefault(token.key, set()).add((phrase, token.start))
        for run in runs.finditer(phrase) if runs else ():
            found.setdefault(run.group(), set()).add((phrase, run.start()))
    return {word: tuple(sorted(places)) for word, places in found.items()}


def first_person(sentence: Sentence, sources: Sources, policy: PolicyView) -> Iterator[Violation]:
    """One violation a sentence; `detail` is the word."""
    if not policy.first_person:
        return
    lists = _lists(languages.primary(policy.language))
    for seen in (sentence.prose, *asides(sentence.text)):
        text = fold(seen)
        quoted: list[tuple[int, int]] | None = None
        for start, end in _found(text, lists):
            if quoted is None:
                quoted = list(_quoted(text, sentence, sources))
            if not any(a <= start and end <= b for a, b in quoted):
                yield Violation("first_person", text[start:end])
                return


def _found(text: str, lists: _Lists) -> Iterator[tuple[int, int]]:
    """Spans of first-person words that no exception covers."""
    for start, end in _spoken(text, lists):
        if not _excepted(text, start, end, lists):
            yield start, end


def _excepted(text: str, start: int, end: int, lists: _Lists) -> bool:
    """Whether a phrase of the exceptions covers the words found, as whole tokens where their script has spaces."""
    token = _TOKEN.match(text, start)
    for word in {text[start:end], token.group().lower() if token else ""}:
        for phrase, offset in lists.exceptions.get(word, ()):
            begin = start - offset
            close = begin + len(phrase)
            stands = begin >= 0 and close >= end and text.startswith(phrase, begin)
            if stands and (_UNSPACED.search(phrase) or not (_word_at(text, begin - 1) or _word_at(text, close))):
                return True
    return False


def _word_at(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def _spoken(text: str, lists: _Lists) -> Iterator[tuple[int, int]]:
    if not lists.heads.isdisjoint(_LETTERS.findall(text.lower())):
        tokens = _tokens(text)
        hits = [at for at, token in enumerate(tokens) if _head(token, lists)]
        shouting = text.upper() == text
        for at in hits:
            length = _match(tokens, at, lists, shouting=shouting)
            if (
                length
                and not _numeral_or_name(text, tokens, at, lists)
                and not (_in_title(text, tokens, at) or _in_identifier(text, tokens[at]))
            ):
                yield tokens[at].start, tokens[at + length - 1].end
    if lists.runs and not text.isascii():
        for hit in lists.runs.finditer(text):
            yield hit.span()


def _head(token: _Token, lists: _Lists) -> bool:
    if token.key in lists.words or token.text in lists.cased:
        return True
    head, apostrophe, _ = token.text.partition("'")
    return bool(apostrophe) and (head in lists.cased or head.lower() + "'" in lists.words)


def _match(tokens: list[_Token], at: int, lists: _Lists, *, shouting: bool) -> int:
    """How many tokens from `at` are a listed word or phrase, 0 if none."""
    token = tokens[at]
    if token.text in lists.cased:
        return 1
    head, apostrophe, _ = token.text.partition("'")
    if apostrophe and head in lists.cased:
        return 1
    if len(token.text) >= 2 and token.text.isupper() and not shouting:
        return 0
    for phrase in lists.words.get(token.key, ()):
        if tuple(other.key for other in tokens[at : at + len(phrase)]) == phrase:
            return len(phrase)
    return 1 if apostrophe and head.lower() + "'" in lists.words else 0


def _numeral_or_name(text: str, tokens: list[_Token], at: int, lists: _Lists) -> bool:
    """Whether a single letter is a numeral after a name ("Francis I."), or the word a surname ("We et al.")."""
    token, behind = tokens[at], text[tokens[at].end : tokens[at].end + 8]
    if behind.lstrip(" ,").startswith("et al"):
        return True
    if (
        len(token.text) == 1
        and behind[:1] == "."
        and text[max(0, token.start - 1) : token.start] == "."
        and text[token.start - 2 : token.start - 1].isupper()
    ):
        return True  # A.I.
    if at and tokens[at - 1].text in lists.before and text[tokens[at - 1].end : token.start] == " ":
        return True
    if len(token.text) != 1 or text[token.end : token.end + 1] in "/&+":
        return len(token.text) == 1 and bool(text[token.end : token.end + 1])
    if _foreign(tokens, lists) and _beside_name(text, tokens, at, lists):
        return True
    named = at > 0 and tokens[at - 1].text[:1].isupper() and text[tokens[at - 1].end : token.start] == " "
    return named and not behind[:2].lstrip()[:1].isalpha()


def _foreign(tokens: list[_Token], lists: _Lists) -> bool:
    """Whether a sentence of an answer in another language isn't English: by a letter that English doesn't have, a small word of the
    answer's language, or the want of any of English.
    """
    if lists.small == lists.english:
        return False
    return any(token.key in lists.small or max(token.text) > _LATIN for token in tokens) or not any(
        token.key in lists.english for token in tokens
    )


def _beside_name(text: str, tokens: list[_Token], at: int, lists: _Lists) -> bool:
    """Whether a single letter in a sentence that isn't English stands as a numeral does: Willem I opende, la I guerra, Пётр I открыл."""
    token = tokens[at]
    if text[token.end : token.end + 2] == ". ":
        return True
    beside = []
    if at and text[tokens[at - 1].end : token.start] == " ":
        beside.append(tokens[at - 1])
    if at + 1 < len(tokens) and text[token.end : tokens[at + 1].start] == " ":
        beside.append(tokens[at + 1])
    return any(other.text[0].isupper() or other.key in lists.small for other in beside)


def _in_title(text: str, tokens: list[_Token], at: int) -> bool:
    """Whether a word has a capital that its place in the sentence doesn't give it: All My Children, Tales of Us Tour. Not for "I"."""
    token = tokens[at]
    if len(token.text.partition("'")[0]) < 2 or not token.text[0].isupper() or token.text.isupper() or not at:
        return False
    gap = text[tokens[at - 1].end : token.start]
    behind = tokens[at + 1].text if at + 1 < len(tokens) and text[token.end : tokens[at + 1].start] == " " else ""
    return (gap == " " and tokens[at - 1].text[0].isupper()) or (gap in (" ", ", ") and behind[:1].isupper())


def _in_identifier(text: str, token: _Token) -> bool:
    """Whether a word is part of a name that a machine reads: my_app, us.example.org/, us-dal."""
    before, after = text[max(0, token.start - 2) : token.start], text[token.end : token.end + 2]
    if before[-1:] in _IDENTIFIER or after[:1] in _IDENTIFIER:
        return True
    glued = (after[:1] in _JOINERS and after[1:].isalnum()) or (before[-1:] in _JOINERS and before[:1].isalnum())
    return glued and token.text.islower()


def _quoted(text: str, sentence: Sentence, sources: Sources) -> Iterator[tuple[int, int]]:
    """Spans of quotations and titles of three and more words that stand verbatim in a cited source."""
    cites: Iterable[int] = sentence.cites or sources.numbers
    for match in _QUOTATION.finditer(text):
        span = match.span(match.lastindex or 0)
        if _long_enough(text[slice(*span)]) and sources.quotes(cites, text[slice(*span)].strip(" .,!?")):
            yield span
    for match in _TITLE.finditer(sentence.text):
        title = fold(match[match.lastindex or 0]).strip(" .,!?")
        at = text.find(title)
        if at >= 0 and _long_enough(title) and sources.quotes(cites, title):
            yield at, at + len(title)


def _long_enough(text: str) -> bool:
    return len(text.split()) >= 3 or len(_UNSPACED.findall(text)) >= 5
