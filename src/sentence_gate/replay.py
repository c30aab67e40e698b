"""Recorded answers through the gate: lines of JSON in, one result a line out. Reads no file and prints nothing.

A record is one JSON object a line:

    {"id": "pool-3", "language": "en", "question": "When does it open?", "sources": ["The pool opens at eight."],
     "answer": "It opens at eight [S1].", "ending": "completed"}

`sources` and `answer` must be there. A source is a text or an object with `text` and, if there are any, `id`, `title`, `url`, `language`;
`sources` may also be an object of id -> text. `language` defaults to the policy's. `ending` is a kind of `Ending`, or an object as
`Ending.to_dict` writes it; without one the answer counts as completed, with the note `unattested`. Other keys are passed over.
"""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from . import languages
from .endings import UNATTESTED
from .errors import UsageError
from .events import ENDING_KINDS, Ending, Report
from .gate import judge
from .policy import Policy
from .sources import Source, Sources


@dataclass(frozen=True, slots=True)
class Record:
    """One recorded answer. `where` says where it was read, for messages: "file:line"."""

    sources: Sources = field(repr=False)
    answer: str = field(repr=False)
    id: str = ""
    language: str | None = None
    question: str = field(default="", repr=False)
    ending: Ending = field(default_factory=lambda: Ending.completed(notes=(UNATTESTED,)))
    where: str = ""

    @classmethod
    def from_mapping(cls, data: object, where: str = "") -> Record:
        """A record from decoded JSON. Raises UsageError saying what is wrong with it and what is accepted."""
        if not isinstance(data, Mapping):
            raise UsageError(f"a record is an object, not {_kind(data)}")
        for key in ("sources", "answer"):
            if key not in data:
                raise UsageError(f"{key!r} is missing")
        identity = data.get("id", "")
        if isinstance(identity, int) and not isinstance(identity, bool):
            identity = str(identity)
        language = data.get("language")
        if language is not None:
            languages.load(language)
        return cls(
            sources=Sources(_sources(data["sources"])),
            answer=_text(data["answer"], "answer"),
            id=_text(identity or "", "id"),
            language=language,
            question=_text(data.get("question") or "", "question"),
            ending=_ending(data.get("ending")),
            where=where,
        )


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the gate made of one record."""

    record: Record
    language: str
    report: Report

    def to_dict(self) -> dict[str, Any]:
        """What is safe to log and send: no question, no source, nothing withheld."""
        return {"id": self.record.id, "where": self.record.where, "language": self.language, **self.report.to_dict()}


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that is no record, and why."""

    where: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"where": self.where, "malformed": self.reason}


@dataclass(slots=True)
class Summary:
    """Counts over results. `add` takes each result once; an answer counts once a check, however many of its sentences broke it."""

    answers: int = 0
    malformed: int = 0
    by_status: Counter[str] = field(default_factory=Counter)
    by_check: Counter[str] = field(default_factory=Counter)
    by_language: dict[str, Counter[str]] = field(default_factory=dict)
    by_language_check: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, result: Replayed | Malformed) -> None:
        """Count one result."""
        if isinstance(result, Malformed):
            self.malformed += 1
            return
        self.answers += 1
        checks = {violation.check for violation in result.report.violations}
        self.by_status[result.report.status] += 1
        self.by_check.update(checks)
        self.by_language.setdefault(result.language, Counter())[result.report.status] += 1
        self.by_language_check.setdefault(result.language, Counter()).update(checks)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, sorted by name."""
        return {
            "answers": self.answers,
            "malformed": self.malformed,
            "by_status": _sorted(self.by_status),
            "by_check": _sorted(self.by_check),
            "by_language": {
                code: {"answers": counts.total(), "by_status": _sorted(counts), "by_check": _sorted(self.by_language_check[code])}
                for code, counts in sorted(self.by_language.items())
            },
        }


def read(lines: Iterable[bytes], name: str = "records") -> Iterator[Record | Malformed]:
    """Records from the lines of a JSONL file (UTF-8, counted from 1); a line that is none is a `Malformed`, a blank one nothing."""
    for number, line in enumerate(lines, 1):
        where = f"{name}:{number}"
        text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if not text.strip():
            continue
        try:
            yield Record.from_mapping(json.loads(text.decode("utf-8")), where)
        except UnicodeDecodeError as error:
            yield Malformed(where, f"not UTF-8: byte {error.start + 1} of the line")
        except json.JSONDecodeError as error:
            yield Malformed(where, f"not JSON: {error.msg} at column {error.colno}")
        except UsageError as error:
            yield Malformed(where, str(error))
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, thousands of brackets
            yield Malformed(where, f"not readable as JSON: {type(error).__name__}")


def replay(records: Iterable[Record | Malformed], policy: Policy | None = None) -> Iterator[Replayed | Malformed]:
    """Each record through a gate of its own, in order; a `Malformed` is handed on. A record's language overrides the policy's."""
    policy = policy or Policy()
    policies: dict[str, Policy] = {}
    for record in records:
        if isinstance(record, Malformed):
            yield record
            continue
        code = languages.primary(policy.language if record.language is None else record.language)
        own = policies.get(code) or policies.setdefault(code, replace(policy, language=code))
        yield Replayed(record, code, judge(record.answer, record.sources, own, ending=record.ending, question=record.question))


def _sources(data: object) -> Any:
    if isinstance(data, list):
        return [_source(item) if isinstance(item, Mapping) else item for item in data]
    if isinstance(data, Mapping):
        return data
    raise UsageError(f"'sources' is a list of texts or objects, or an object of id -> text, not {_kind(data)}")


def _source(data: Mapping[str, Any]) -> Source:
    if "text" not in data:
        raise UsageError("a source that is an object has a 'text'")
    return Source(**{key: data[key] for key in ("text", "id", "title", "url", "language") if key in data})


def _ending(data: object) -> Ending:
    if data is None:
        return Ending.completed(notes=(UNATTESTED,))
    kind: Any = data.get("kind") if isinstance(data, Mapping) else data
    reason = data.get("provider_reason") if isinstance(data, Mapping) else None
    if kind not in ENDING_KINDS:
        raise UsageError(f"'ending' is one of {', '.join(ENDING_KINDS)}, or an object with such a 'kind'")
    return Ending(kind, None if reason is None else _text(reason, "ending.provider_reason"))


def _text(data: object, key: str) -> str:
    if not isinstance(data, str):
        raise UsageError(f"{key!r} is a text, not {_kind(data)}")
    return data


def _kind(data: object) -> str:
    """The JSON name of a value's type."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return "null" if data is None else names.get(type(data), type(data).__name__)


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))
