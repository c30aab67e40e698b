"""The typed final answer: prose is for people, software needs a contract.

Theory
------
A model is asked for one JSON object. What arrives is taken for invalid until it was shown to be valid; what leaves is an object that is
valid by the contract's schema, whatever arrived:

    step       on                                     to        what
    ---------  -------------------------------------  --------  -----------------------------------------------------------
    parse      no object in the text, or broken       repair    from the first "{" to the last "}": fences and chatter go
    validate   a fault                                repair    every fault with its path; source lines must stand in a source
    repair     once; a callable gets text and faults  parse     an exception or None is no repair
    fall back  still invalid                          -         a fixed object with a fixed, localised text by cause

The answer in it is text like any other: it passes the sentence gate, while it streams. So it can be shown sentence by sentence, and what
was shown can't be taken back: the `answer` of the final object is always what was released, by the same gate, for every cutting of the
stream. Where nothing was released it is a fixed text. Other texts of the object (items, what is missing) are checked when it is complete:
values must stand in some source or in the question, no first person, nothing hidden; an object that fails falls back. (A schema of the
user's may forbid the released part of an answer, by a length or a pattern. Then the fallback goes out as it is: valid comes first.)

    the gate's verdict                        status of the object (default contract)     answer
    ----------------------------------------  ------------------------------------------  --------------------------
    accepted, and the object is valid         the model's own                             released
    refused (no-answer token), empty          not_found                                   the fixed text
    stopped, truncated, failed, cancelled     needs_clarification                         released, or the fixed text
    the model's status isn't "answered"       the model's own                             the fixed text, if `status` came first

An exception never leaves the ladder, and no withheld text is in a repr, message or trace. What goes into the conversation's history is
`Final.json`, never the raw text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from .checks.first_person import first_person
from .checks.hidden_text import hidden_text
from .checks.unsupported_value import unsupported_value
from .endings import STATUS, tail_is_judged
from .errors import UsageError, without
from .events import Ending, Outcome, Report, Violation
from .gate import SentenceGate, judge
from .policy import Policy, notice
from .sources import Source, Sources

try:
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
except ModuleNotFoundError as error:
    raise without("contract", error) from None

Cause = Literal["invalid", "stopped", "refused", "truncated", "failed", "cancelled", "empty", "step_limit"]
CAUSES: tuple[Cause, ...] = ("invalid", "stopped", "refused", "truncated", "failed", "cancelled", "empty", "step_limit")
"""Why an object is the contract's own and not the model's."""
STATUSES = ("answered", "not_found", "needs_clarification")
REFUSAL = "refusal"
"""The category of objects that the ladder itself made; every default contract has it."""
REPAIR_TOKENS = 800
"""The most tokens that a repair may cost."""

_STATUS_OF: Mapping[str, str] = {"refused": "not_found", "empty": "not_found"}
_NOTICE_OF: Mapping[str, str] = {"invalid": "failed", "cancelled": "failed", "step_limit": "failed"}
_OTHER_CHECKS = (unsupported_value, first_person, hidden_text)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at a place of the object. `message` may quote the model's text, so it is in no repr; the repair gets it.

    In `path` a key that the schema doesn't name is `*`: it is the model's text too.
    """

    path: str
    message: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Final:
    """The final object of an answer.

    `value` is valid by the contract. `origin`: the model's own object, a repaired one, or the fallback, and then `cause` says why. `text`
    is what remains to be shown when the answer was streamed: with what was released before it makes up `value`'s answer. `report` is the
    gate's.
    """

    value: Mapping[str, Any] = field(repr=False)
    origin: Literal["model", "repaired", "fallback"]
    cause: Cause | None = None
    faults: tuple[Fault, ...] = ()
    violations: tuple[Violation, ...] = ()
    report: Report | None = None
    text: str = field(default="", repr=False)

    @property
    def json(self) -> str:
        """The object as canonical JSON: what belongs into the history of the conversation."""
        return json.dumps(self.value, ensure_ascii=False)


class Repair(Protocol):
    """Mends the structure of an object once; gives the new text, or None if it can't."""

    def __call__(self, text: str, faults: Sequence[Fault], /) -> str | None:
        """`text` is all that the model wrote; `faults` is what is wrong with it."""


class AnswerContract:
    """What a final answer must look like.

    Without a `schema` the object has the keys `status` (answered, not_found, needs_clarification), `answer` (text), `category` (one of
    `categories`, or "refusal"), `items` (objects, of the JSON Schema `item` if given), `missing` (what was asked and isn't in the
    sources) and `sources` (lines of the sources, word for word).

    `schema` is a JSON Schema of an object or a pydantic model class instead; then `fallback` is an object that is valid by it, or a
    function from a cause to one; `answer` names the text that passes the gate (None: no text does) and `source_lines` the key that lists
    source lines, and `decided` the keys that the model decides and no source holds (a priority): every other text and number is checked.
    `texts` replaces fixed texts by cause; the others are the policy's localised notices. Raises UsageError for a schema that is none, or
    a fallback that isn't valid.
    """

    def __init__(
        self,
        *,
        categories: Iterable[str] = ("general",),
        item: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | type | None = None,
        fallback: Mapping[str, Any] | Callable[[str], Mapping[str, Any]] | None = None,
        answer: str | None = "answer",
        source_lines: str | None = "sources",
        decided: Iterable[str] = (),
        texts: Mapping[str, str] | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.policy = policy or Policy()
        self._texts = _texts(texts or {})
        self._model: Any = None
        self.standard = schema is None
        if schema is None:
            self.schema = _default_schema(categories, item)
        elif isinstance(schema, Mapping):
            self.schema = dict(schema)
        elif hasattr(schema, "model_json_schema") and hasattr(schema, "model_validate"):
            self._model = schema
            self.schema = schema.model_json_schema()
        else:
            raise UsageError(f"schema is a JSON Schema (a mapping) or a pydantic model class, not {type(schema).__name__}")
        self._validator = _validator(self.schema)
        self._names = _names_in(self.schema)
        properties = self.schema.get("properties", {})
        self.answer = answer if answer is not None and (self.standard or answer in properties) else None
        self.source_lines = source_lines if source_lines is not None and (self.standard or source_lines in properties) else None
        if schema is not None and fallback is None:
            raise UsageError(
                "a contract with its own schema needs fallback: an object that is valid by it, or a function from a cause to one"
            )
        self.decided = frozenset(("status", "category") if self.standard else decided)
        self._fallback = fallback
        for cause in CAUSES:
            faults = self.validate(self.fallback(cause))
            if faults:
                raise UsageError(f"the fallback for {cause!r} isn't valid by the schema: {faults[0].path}: {faults[0].message}")

    def prompt(self) -> str:
        """The block of the system prompt that asks for the object: exact keys and values, one object and nothing else."""
        only = "Your final answer is one JSON object and nothing else: no code fence, no text before or behind it."
        if not self.standard:
            return f"{only}\nIt is valid by this JSON Schema:\n{json.dumps(self.schema, ensure_ascii=False)}"
        properties = self.schema["properties"]
        item = properties["items"]["items"]
        shape = f" Each is valid by {json.dumps(item, ensure_ascii=False)}" if len(item) > 1 else ""
        return "\n".join(
            (
                only,
                "Its keys, in this order:",
                f'- "status": {_choice(STATUSES)}. "answered" only if the sources hold the whole answer.',
                '- "answer": a text, by the rules for answers, source markers included. Empty unless the status is "answered".',
                f'- "category": {_choice(properties["category"]["enum"])}.',
                f'- "items": a list of objects, one for each thing that the answer lists; else [].{shape}',
                '- "missing": a list of texts: what was asked for and isn\'t in the sources; else [].',
                '- "sources": a list of texts: the lines of the sources that the answer rests on, copied word for word; else [].',
            )
        )

    def decoding(self, server: Literal["openai", "nim", "ollama"]) -> dict[str, Any]:
        """Arguments of a request that make the server decode by the schema, where it can. The answer is validated all the same.

        "openai": `response_format` of chat completions; "nim": `nvext.guided_json` of NVIDIA NIM, for the client's `extra_body`;
        "ollama": `format` of Ollama's own API.
        """
        if server == "openai":
            return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": self.schema}}}
        if server == "nim":
            return {"extra_body": {"nvext": {"guided_json": self.schema}}}
        if server == "ollama":
            return {"format": self.schema}
        raise UsageError(f"server is openai, nim or ollama, not {server!r}")

    def parse(self, text: str) -> tuple[dict[str, Any] | None, tuple[Fault, ...]]:
        """The object in a text, from its first "{" to its last "}", or the fault that kept it from being read."""
        start, end = text.find("{"), text.rfind("}")
        if start < 0:
            return None, (Fault("$", 'there is no "{" in the text: one JSON object is wanted'),)
        if end < start:
            return None, (Fault("$", 'the object is not closed: no "}" behind its "{"'),)
        repeated: list[str] = []

        def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
            made: dict[str, Any] = {}
            for key, value in found:
                if key in made:
                    repeated.append(key)
                made[key] = value
            return made

        try:
            value = json.loads(
                text[start : end + 1], strict=False, object_pairs_hook=pairs, parse_float=_number, parse_constant=_no_constant
            )
        except ValueError as error:
            return None, (Fault("$", f"this is no JSON: {error}"),)
        except RecursionError:
            return None, (Fault("$", "the object is nested too deep"),)
        if repeated:
            return None, (Fault("$", f"the key {repeated[0]!r} stands twice in one object"),)
        return value, ()

    def validate(self, value: object, sources: Sources | None = None) -> tuple[Fault, ...]:
        """Everything that is wrong with an object, each with its path. With `sources`, source lines must stand in them word for word."""
        faults = [_fault(error.absolute_path, error.message, self._names) for error in self._validator.iter_errors(value)]
        if not faults and self._model is not None:
            try:
                self._model.model_validate(value)
            except Exception as error:  # a validator of the user's may raise anything
                faults.extend(_model_faults(error, self._names))
        if not faults and sources is not None and self.source_lines and isinstance(value, dict):
            lines = _lines(sources)
            for number, line in enumerate(value.get(self.source_lines) or ()):
                if not isinstance(line, str) or line.strip() not in lines:
                    faults.append(Fault(f"$.{self.source_lines}[{number}]", "this is no line of a given source; copy lines word for word"))
        return tuple(faults)

    def fallback(self, cause: Cause) -> dict[str, Any]:
        """The fixed object for a cause."""
        if callable(self._fallback):
            return dict(self._fallback(cause))
        if self._fallback is not None:
            return dict(self._fallback)
        status = _STATUS_OF.get(cause, "needs_clarification")
        return {"status": status, "answer": self.text(cause), "category": REFUSAL, "items": [], "missing": [], "sources": []}

    def text(self, cause: Cause) -> str:
        """The fixed text for a cause: the contract's own, or the policy's notice."""
        return self._texts.get(cause) or notice(self.policy, _NOTICE_OF.get(cause, cause))

    def read(
        self,
        text: str,
        sources: Sources | Iterable[str | Source] | Mapping[str, str],
        *,
        question: str = "",
        ending: Ending | None = None,
        repair: Repair | None = None,
    ) -> Final:
        """The final object of a whole text. Never raises for a text; raises UsageError for wrong arguments."""
        gate = ContractGate(self, sources, question=question)
        gate.feed(text)
        return gate.finish(ending, repair=repair)


class ContractGate:
    """Reads one streamed object: its answer goes through a sentence gate while it arrives, the rest is checked at the end.

    `feed` gives what may be shown now, as `SentenceGate.feed` does; `finish` gives the final object. One answer, one thread.
    """

    __slots__ = ("_contract", "_finished", "_gate", "_held", "_question", "_raw", "_reader", "_shown", "_sources", "_status")

    def __init__(
        self,
        contract: AnswerContract,
        sources: Sources | Iterable[str | Source] | Mapping[str, str],
        *,
        question: str = "",
    ) -> None:
        if not isinstance(contract, AnswerContract):
            raise UsageError(f"contract is an AnswerContract, not {type(contract).__name__}")
        self._contract = contract
        self._sources = sources if isinstance(sources, Sources) else Sources(sources)
        self._question = question
        self._gate = SentenceGate(self._sources, contract.policy, question=question)
        self._reader = FieldReader()
        self._raw: list[str] = []
        self._shown: list[str] = []
        self._status = ""  # the model's own, as far as it was read
        self._held = False  # by its own status this is no answer: nothing of its text is shown
        self._finished = False

    @property
    def stopped(self) -> bool:
        """Whether the answer's gate stopped: the model's stream should be closed."""
        return self._gate.stopped

    def feed(self, piece: str) -> Outcome:
        """What may be shown of the answer now. Raises UsageError after finish, and for anything but a str."""
        if self._finished:
            raise UsageError("feed after finish: a ContractGate reads one answer")
        if not isinstance(piece, str):
            raise UsageError(f"feed takes a str, not {type(piece).__name__}")
        self._raw.append(piece)
        outcomes = []
        for key, text, closed in self._reader.feed(piece):
            if key == "status" and self._contract.standard:
                self._status += text[:_LONGEST_STATUS]
                self._held = self._held or (closed and self._status in STATUSES[1:])
            elif key == self._contract.answer and not self._held:
                outcomes.append(self._gate.feed(text))
        outcome = Outcome(
            "".join(one.text for one in outcomes),
            self._gate.stopped,
            tuple(violation for one in outcomes for violation in one.violations),
            tuple(event for one in outcomes for event in one.events),
        )
        self._shown.append(outcome.text)
        return outcome

    def finish(self, ending: Ending | None = None, *, repair: Repair | None = None) -> Final:
        """The final object, once. `repair` is called at most once, if the object isn't valid and the stream wasn't cut."""
        if self._finished:
            raise UsageError("finish was called before; a ContractGate is finished once")
        self._finished = True
        ending = ending or Ending.completed()
        whole = self._reader.closed(self._contract.answer)  # then its last sentence is one, however the stream ended
        last = self._gate.finish(Ending.completed() if whole else ending).text
        final = self._decide("".join([*self._shown, last]), ending, repair)
        if self._contract.answer is None:
            return final
        shown, told = "".join(self._shown), str(final.value[self._contract.answer])
        return replace(final, text=told[len(shown) :] if told.startswith(shown) else "")  # else the fallback that takes no other answer

    def _decide(self, shown: str, ending: Ending, repair: Repair | None) -> Final:
        report = self._gate.report
        cause = self._cut(report, ending)
        if cause:
            return self._fallen(cause, shown, report)
        value, faults, origin = self._mended(repair)
        if value is None:
            return self._fallen("invalid", shown, report, faults)
        if self._contract.answer and origin == "repaired" and not shown.strip() and not self._says_no(value):
            report = judge(str(value[self._contract.answer]), self._sources, self._contract.policy, question=self._question)
            shown = shown + report.text
            cause = self._cut(report, Ending.completed())
            if cause:
                return self._fallen(cause, shown, report)
        violations = tuple(self._others(value))
        if violations:
            return replace(self._fallen("stopped", shown, report), violations=violations)
        if self._contract.answer:
            if not shown.strip() and not self._says_no(value):
                return self._fallen("empty", shown, report)
            value = {**value, self._contract.answer: shown if shown.strip() else shown + self._contract.text("refused")}
            if self._contract.validate(value):  # a schema of the user's that the released part of an answer doesn't satisfy
                return self._fallen("invalid", shown, report)
        return Final(value, origin, None, faults, (), report)

    def _cut(self, report: Report, ending: Ending) -> Cause | None:
        """Why the answer isn't the model's whole answer, by the gate and by how the stream ended."""
        for status in (report.status if report.status == "stopped" else "", _ended(ending), report.status):
            if status in ("stopped", "refused", "truncated", "failed", "cancelled"):
                return status
        return None

    def _mended(self, repair: Repair | None) -> tuple[dict[str, Any] | None, tuple[Fault, ...], Literal["model", "repaired"]]:
        text = "".join(self._raw)
        value, faults = self._valid(text)
        if value is not None or repair is None:
            return value, faults, "model"
        try:
            mended = repair(text, faults)
        except Exception:  # dropped whole: its text may quote the answer
            mended = None
        if not isinstance(mended, str):
            return None, faults, "repaired"
        value, more = self._valid(mended)
        return value, faults if value is not None else (*faults, *more), "repaired"

    def _valid(self, text: str) -> tuple[dict[str, Any] | None, tuple[Fault, ...]]:
        value, faults = self._contract.parse(text)
        faults = faults or self._contract.validate(value, self._sources)
        return (None, faults) if faults else (value, ())

    def _fallen(self, cause: Cause, shown: str, report: Report, faults: tuple[Fault, ...] = ()) -> Final:
        value = self._contract.fallback(cause)
        if self._contract.answer:
            told = {**value, self._contract.answer: shown if shown.strip() else shown + str(value[self._contract.answer])}
            value = value if self._contract.validate(told) else told
        return Final(value, "fallback", cause, faults, report.violations, report)

    def _says_no(self, value: Mapping[str, Any]) -> bool:
        return self._contract.standard and value["status"] != STATUSES[0]

    def _others(self, value: Mapping[str, Any]) -> Iterator[Violation]:
        """What the checks find in the other texts: their values may stand in any source, or in the question."""
        policy = replace(
            self._contract.policy,
            checks=tuple(check for check in self._contract.policy.checks if check in _OTHER_CHECKS),
            no_answer_token=None,
            on_violation="observe",
            question_supports_values=True,
        )
        aside = {self._contract.answer, self._contract.source_lines, *self._contract.decided}
        for text in _texts_in([part for key, part in value.items() if key not in aside]):
            yield from judge(text, self._sources, policy, question=self._question).violations


_LONGEST_STATUS = max(map(len, STATUSES)) + 1


def _ended(ending: Ending) -> str:
    return "" if tail_is_judged(ending) else STATUS[ending.kind]


class FieldReader:
    """The string fields of a streamed JSON object, decoded as they arrive. Only fields of the outermost object; a repeated one once.

    It begins at the first "{" of the text. For every valid object the texts of a field, joined, are what `json.loads` reads (RFC 8259);
    at a broken escape it stops. Each code point is looked at once.
    """

    __slots__ = ("_broken", "_closed", "_depth", "_escape", "_expects_key", "_high", "_in_string", "_key", "_name", "_seen")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._expects_key = True
        self._name: list[str] = []  # of the key that is being read
        self._key = ""  # the last key of the outermost object
        self._escape = ""  # an escape whose end has not come
        self._high = ""  # the first half of a surrogate pair
        self._seen: set[str] = set()
        self._closed: set[str] = set()
        self._broken = False

    def closed(self, key: str | None) -> bool:
        """Whether the string under this key came to its end."""
        return key in self._closed

    def feed(self, piece: str) -> list[tuple[str, str, bool]]:
        """(key, text, whether the string ends here) for what arrived of string fields."""
        found: list[tuple[str, str, bool]] = []
        at = 0
        if self._depth == 0 and not self._broken:
            at = piece.find("{") + 1
            if not at:
                return found
            self._depth = 1
        while at < len(piece) and not self._broken:
            at = self._string(piece, at, found) if self._in_string else self._structure(piece, at)
        return found

    def _structure(self, piece: str, at: int) -> int:
        match = _STRUCTURE.search(piece, at)
        if match is None:
            return len(piece)
        mark = match.group()
        if mark == '"':
            self._in_string = True
            if self._depth == 1 and not self._expects_key:
                self._broken = self._broken or self._key in self._seen
                self._seen.add(self._key)
        elif mark in "{[":
            self._depth += 1
        elif mark in "}]":
            self._depth -= 1
            self._broken = self._depth == 0  # the object is over; nothing behind it is read
        elif self._depth == 1:
            if mark == ":":
                self._key, self._name = "".join(self._name), []
            self._expects_key = mark == ","
        return match.end()

    def _string(self, piece: str, at: int, found: list[tuple[str, str, bool]]) -> int:
        if self._escape:
            return self._escaped(piece, at, found)
        match = _STRING_END.search(piece, at)
        end = match.start() if match else len(piece)
        if end > at:
            self._give(piece[at:end], found)
        if match is None:
            return end
        if match.group() == "\\":
            self._escape = "\\"
        else:
            self._give("", found, closed=True)
            self._in_string = False
        return match.end()

    def _escaped(self, piece: str, at: int, found: list[tuple[str, str, bool]]) -> int:
        self._escape += piece[at]
        kind = self._escape[1]
        if kind in _ESCAPES:
            self._escape = ""
            self._give(_ESCAPES[kind], found)
        elif kind != "u" or not _HEX.fullmatch(self._escape[2:]):
            self._broken = True
        elif len(self._escape) == _ESCAPE_LENGTH:
            point = chr(int.from_bytes(bytes.fromhex(self._escape[2:])))
            self._escape = ""
            if "\ud800" <= point <= "\udbff":
                self._give("", found)
                self._high = point
            elif self._high and "\udc00" <= point <= "\udfff":
                pair, self._high = self._high + point, ""
                self._give(pair.encode("utf-16", "surrogatepass").decode("utf-16"), found)
            else:
                self._give(point, found)
        return at + 1

    def _give(self, text: str, found: list[tuple[str, str, bool]], *, closed: bool = False) -> None:
        text, self._high = self._high + text, ""
        if self._depth != 1:
            return
        if self._expects_key:
            self._name.append(text)
            return
        if closed:
            self._closed.add(self._key)
        if text or closed:
            found.append((self._key, text, closed))


_STRUCTURE = re.compile(r'["{}\[\]:,]')
_STRING_END = re.compile(r'["\\]')
_HEX = re.compile(r"[0-9A-Fa-f]{0,4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE_LENGTH = 6  # \\uXXXX


def chat_repair(client: Any, model: str, contract: AnswerContract) -> Repair:
    """A repair by a client of chat completions (the `openai` package's, or one of its shape): temperature 0, at most 800 tokens.

    It keeps every fact and mends only the structure. None on any error of the API: an answer never fails because its repair did.
    """

    def repair(text: str, faults: Sequence[Fault]) -> str | None:
        messages = [
            {"role": "system", "content": _REPAIR + contract.prompt()},
            {"role": "user", "content": "\n".join([*(f"{fault.path}: {fault.message}" for fault in faults), "", text])},
        ]
        try:
            response = client.chat.completions.create(model=model, messages=messages, temperature=0, max_tokens=REPAIR_TOKENS)
            content = response.choices[0].message.content
        except Exception:  # the API's own errors are many, and not ours to tell apart
            return None
        return content if isinstance(content, str) else None

    return repair


_REPAIR = (
    "The user sends faults of a JSON object, and the object. Mend only its structure: keep every fact, add none, leave the wording as it "
    "is. What can't be mended stays out.\n\n"
)


def _default_schema(categories: Iterable[str], item: Mapping[str, Any] | None) -> dict[str, Any]:
    if isinstance(categories, str):
        raise UsageError("categories is a list of names, not one str")
    names = list(dict.fromkeys([*categories, REFUSAL]))
    if not all(isinstance(name, str) and name for name in names):
        raise UsageError("a category is a text that isn't empty")
    texts = {"type": "array", "items": {"type": "string"}}
    return {
        "type": "object",
        "properties": {
            "status": {"enum": list(STATUSES)},
            "answer": {"type": "string"},
            "category": {"enum": names},
            "items": {"type": "array", "items": {"type": "object", **(item or {})}},
            "missing": texts,
            "sources": texts,
        },
        "required": ["status", "answer", "category", "items", "missing", "sources"],
        "additionalProperties": False,
    }


def _validator(schema: dict[str, Any]) -> Any:
    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise UsageError(f"this is no JSON Schema: {error.json_path}: {error.message}") from None
    return kind(schema)


def _texts(texts: Mapping[str, str]) -> dict[str, str]:
    for cause, text in texts.items():
        if cause not in CAUSES or not isinstance(text, str) or not text.strip():
            raise UsageError(f"texts goes from a cause ({', '.join(CAUSES)}) to a text that isn't empty; {cause!r} doesn't")
    return dict(texts)


def _choice(names: Iterable[str]) -> str:
    return " or ".join(json.dumps(name, ensure_ascii=False) for name in names)


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON value")


def _model_faults(error: Exception, names: frozenset[str]) -> Iterator[Fault]:
    listed = getattr(error, "errors", None)
    if not callable(listed):
        yield Fault("$", str(error))
        return
    for one in listed():
        yield _fault(one["loc"], one["msg"], names)


def _fault(place: Iterable[str | int], message: str, names: frozenset[str]) -> Fault:
    """A fault with its path; keys that are no `names` are told in its message only."""
    place = tuple(place)
    told = _path(place)
    path = _path(part if isinstance(part, int) or part in names else "*" for part in place)
    return Fault(path, message if path == told else f"{told}: {message}")


def _path(place: Iterable[str | int]) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)


def _names_in(schema: Mapping[str, Any]) -> frozenset[str]:
    """The keys of objects that a JSON Schema names."""
    names: set[str] = set()
    pending: list[Any] = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, Mapping):
            named = part.get("properties")
            names.update(named if isinstance(named, Mapping) else ())
            pending += part.values()
        elif isinstance(part, list):
            pending += part
    return frozenset(names)


def _lines(sources: Sources) -> frozenset[str]:
    return frozenset(line.strip() for source in sources for line in source.content.splitlines())


def _texts_in(value: object) -> Iterator[str]:
    """Every text and number in a value, keys included."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, Mapping):
            pending += [*part.keys(), *part.values()]
        elif isinstance(part, list):
            pending += part
        elif isinstance(part, str):
            yield part
        elif isinstance(part, int | float) and not isinstance(part, bool):
            yield str(part)
