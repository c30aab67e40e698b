"""Bundled answers, one a language, and how they go through the gate. Topics, names and wording are invented.

Each answer has a sentence that must be withheld and, before it, one that is easily withheld by mistake and is rightly released.
"""

from __future__ import annotations

import tomllib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib import resources

from .. import languages
from ..errors import UsageError
from ..events import Ending, Event, Outcome, Released, Report, Sentence, Stopped
from ..gate import SentenceGate
from ..policy import Policy
from ..sources import Source, Sources
from ..splitter import SentenceSplitter

ORDER = ("en", "fa", "ar", "hi", "zh", "de", "fr", "es", "pt", "ru")


@dataclass(frozen=True, slots=True)
class Example:
    """One bundled answer. `tempting` and `withheld` are sentence numbers from 1; each comes with its reason in English."""

    language: str
    topic: str
    question: str
    sources: tuple[Source, ...]
    answer: str
    tempting: int
    tempting_why: str
    withheld: int
    withheld_check: str
    withheld_why: str


@dataclass(frozen=True, slots=True)
class Row:
    """One sentence that was judged: what arrived, what was released (None if it was withheld), the failed checks with details, a note."""

    arrived: str
    released: str | None
    checks: tuple[tuple[str, str], ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """What there is to see after one piece: the sentences judged so far, and what has arrived of the next. `generated` counts code points.

    The last frame has the report.
    """

    rows: tuple[Row, ...]
    pending: str
    generated: int
    report: Report | None = None


def examples(chosen: Iterable[str] = ()) -> tuple[Example, ...]:
    """The answers in the chosen languages, in that order; all of them if none is chosen. Raises UsageError for a language that has none."""
    codes = [languages.primary(tag) for tag in chosen]
    for code in codes:
        if code not in ORDER:
            raise UsageError(f"there is no demo in {code!r}; the languages are {', '.join(ORDER)}")
    return tuple(_read(code) for code in codes or ORDER)


@cache
def _read(code: str) -> Example:
    data = tomllib.loads(resources.files(__name__).joinpath("answers", f"{code}.toml").read_text(encoding="utf-8"))
    return Example(
        language=data["language"],
        topic=data["topic"],
        question=data["question"],
        sources=tuple(Source(source["text"], title=source["title"], language=code) for source in data["sources"]),
        answer="".join(data["answer"]),
        tempting=data["tempting"]["sentence"],
        tempting_why=data["tempting"]["why"],
        withheld=data["withheld"]["sentence"],
        withheld_check=data["withheld"]["check"],
        withheld_why=data["withheld"]["why"],
    )


def play(example: Example, *, size: int = 3) -> Iterator[Frame]:
    """The answer in pieces of `size` code points, a frame a piece. At the stop the model is closed. The last frame is whole."""
    gate = SentenceGate(Sources(example.sources), Policy(language=example.language), question=example.question)
    splitter = SentenceSplitter(example.language)  # beside the gate, to show what it withholds
    rows: list[Row] = []
    arrived = ""
    judged = 0
    with closing(_model(example.answer, size)) as model:
        for piece in model:
            arrived += piece
            outcome = gate.feed(piece)
            for sentence, event in _pairs(splitter.feed(piece), outcome):
                rows.append(_row(example, len(rows) + 1, sentence, event, outcome))
                judged = sentence.end
            yield Frame(tuple(rows), arrived[judged:].lstrip(), len(arrived))
            if outcome.stopped:
                break
    if gate.stopped:
        gate.finish(Ending.cancelled(notes=("closed at the stop",)))
    else:
        tail, outcome = splitter.flush(), gate.finish(Ending.completed())
        for sentence, event in _pairs([tail] if tail else [], outcome):
            rows.append(_row(example, len(rows) + 1, sentence, event, outcome))
            judged = sentence.end
    yield Frame(tuple(rows), arrived[judged:].lstrip(), len(arrived), gate.report)


def _model(answer: str, size: int) -> Generator[str, None, None]:
    """Stands for a model: what nobody asks for is never generated."""
    for start in range(0, len(answer), size):
        yield answer[start : start + size]


def _pairs(sentences: list[Sentence], outcome: Outcome) -> Iterator[tuple[Sentence, Event]]:
    """Each sentence with what became of it: one event a sentence; white space at the end has an event and no sentence."""
    return zip(sentences, (event for event in outcome.events if isinstance(event, Released | Stopped)), strict=False)


def _row(example: Example, number: int, sentence: Sentence, event: Event, outcome: Outcome) -> Row:
    note = {example.withheld: example.withheld_why, example.tempting: example.tempting_why}.get(number, "")
    if isinstance(event, Released):
        return Row(sentence.text, event.text.strip(), note=note)
    return Row(sentence.text, None, tuple((violation.check, violation.detail) for violation in outcome.violations), note)
