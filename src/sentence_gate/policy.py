"""What the gate checks and how it acts: one frozen record, made in code or read from a mapping (YAML, TOML, JSON)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from . import languages
from .checks import DEFAULT_CHECKS, SHIPPED
from .errors import UsageError
from .events import Check
from .markers import MarkerStyle, style_of

OnViolation = Literal["stop", "omit", "observe"]
CitationScope = Literal["sentence", "paragraph"]
NOTICES = ("stopped", "truncated", "failed", "refused", "empty")


@dataclass(frozen=True, slots=True)
class Policy:
    """What is checked and what happens. Every field has a default; a wrong value raises UsageError when the policy is made.

    `language` is the BCP 47 tag of the language that the answer was asked for in. `min_words` counts words, `max_chars` code points.
    `no_answer_token=None` switches the token off. `notices` overrides the fixed texts by name.
    """

    language: str = "en"
    markers: str | MarkerStyle = "S"
    show_markers: bool = False
    min_words: int = 8
    max_chars: int = 1000
    first_person: bool = True
    no_answer_token: str | None = "NO_ANSWER"
    on_violation: OnViolation = "stop"
    citation_scope: CitationScope = "sentence"
    question_supports_values: bool = False
    checks: tuple[Check, ...] = DEFAULT_CHECKS
    notices: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        languages.load(self.language)
        style_of(self.markers)
        for name in ("show_markers", "first_person", "question_supports_values"):
            if not isinstance(getattr(self, name), bool):
                raise _wrong(name, "true or false", getattr(self, name))
        for name in ("min_words", "max_chars"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise _wrong(name, "a whole number from 1", value)
        token = self.no_answer_token
        if token is not None and (not isinstance(token, str) or not token or any(char.isspace() for char in token)):
            raise _wrong("no_answer_token", "a word without white space, or None", token)
        for name, choice in (("on_violation", OnViolation), ("citation_scope", CitationScope)):
            if getattr(self, name) not in get_args(choice):
                raise _wrong(name, "one of " + ", ".join(get_args(choice)), getattr(self, name))
        checks = tuple(self.checks) if isinstance(self.checks, Iterable) and not isinstance(self.checks, str) else (None,)
        if not all(map(callable, checks)):
            raise UsageError("checks is a sequence of callables (sentence, sources, policy); Policy.from_mapping takes names")
        object.__setattr__(self, "checks", checks)
        if not isinstance(self.notices, Mapping):
            raise _wrong("notices", "a mapping from name to text", self.notices)
        for name, text in self.notices.items():
            if name not in NOTICES:
                raise UsageError(f"unknown notice {name!r}; the notices are {', '.join(NOTICES)}")
            if not isinstance(text, str):
                raise _wrong(f"notices[{name!r}]", "a text", text)
        object.__setattr__(self, "notices", dict(self.notices))

    @property
    def requires_citation(self) -> bool:
        """Whether `citation_required` is among the checks."""
        return SHIPPED["citation_required"] in self.checks

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> Policy:
        """A policy from plain data as YAML, TOML and JSON give it.

        `checks` is a list of names of shipped checks, `markers` a style's name or {template, base}; `no_answer_token: false` switches the
        token off where a format has no null. Raises UsageError naming the valid keys if one is unknown.
        """
        if not isinstance(data, Mapping):
            raise UsageError(f"a policy is a mapping, not {type(data).__name__}")
        known = [entry.name for entry in fields(cls)]
        for key in data:
            if key not in known:
                raise UsageError(f"unknown policy key {key!r}; the keys are {', '.join(known)}")
        given = dict(data)
        if given.get("no_answer_token") is False:
            given["no_answer_token"] = None
        if isinstance(style := given.get("markers"), Mapping):
            if not set(style) <= {"template", "base"} or "template" not in style:
                raise UsageError("markers is the name of a style, or a mapping with template and, if it doesn't count from 1, base")
            given["markers"] = MarkerStyle(**style)
        if "checks" in given:
            given["checks"] = _checks(given["checks"])
        return cls(**given)


def _checks(names: Any) -> tuple[Check, ...]:
    if isinstance(names, str) or not isinstance(names, list | tuple):
        raise _wrong("checks", "a list of names", names)
    for name in names:
        if name not in SHIPPED:
            raise UsageError(f"unknown check {name!r}; the checks are {', '.join(SHIPPED)}")
    return tuple(SHIPPED[name] for name in names)


def _wrong(name: str, accepted: str, value: object) -> UsageError:
    shown = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    return UsageError(f"{name} is {accepted}, not {shown}")


def notice(policy: Policy, name: str) -> str:
    """The fixed text for the reader, in the policy's language or as the policy overrides it: stopped, truncated, failed, refused or empty.

    For refusals that happen before the gate it gives the same words. Raises UsageError for an unknown name.
    """
    if name not in NOTICES:
        raise UsageError(f"unknown notice {name!r}; the notices are {', '.join(NOTICES)}")
    override = policy.notices.get(name)
    return override if override is not None else str(getattr(languages.load(policy.language).notices, name))
