"""A gate's report as Guardrails' result. No text of a withheld sentence is in it."""

from __future__ import annotations

from typing import Any

from guardrails.validator_base import ErrorSpan, FailResult, PassResult, ValidationResult
from pydantic import PrivateAttr

from sentence_gate import Report


class Fixed(str):
    """Text that a gate put together and that is not judged again: Guardrails checks a fix once more under `fix_reask`."""

    __slots__ = ()


class Failed(FailResult):
    """A FailResult that remembers what the user's `on_fail` callable made of it: asynchronous guards ask twice."""

    _answers: list[Any] = PrivateAttr(default_factory=list)

    def answered(self, answer: Any = ...) -> list[Any]:
        """The callable's answer in a list, empty before there is one; `answer` sets it."""
        if answer is not ...:
            self._answers = [answer]
        return self._answers


class Withheld(ValidationResult):
    """A failure on which Guardrails takes no action: its actions for `filter` and `refrain` break a stream, or drop what others hold."""

    error_message: str = ""


def accepted(report: Report) -> bool:
    """Whether the answer passed. One that was stopped, cut, refused, empty or that failed did not."""
    return report.status == "accepted"


def reason(report: Report) -> str:
    """Why the answer did not pass: the number of the failing sentence and the names of the checks, or what became of the answer."""
    match report.status:
        case "stopped":
            return f"sentence {report.sentences}: {', '.join(dict.fromkeys(violation.check for violation in report.violations))}"
        case "truncated":
            return "truncated: the answer was cut by the output limit, its unfinished sentence is dropped"
        case "refused":
            return "refused: the answer is not in the sources, or the model refused"
        case "empty":
            return "empty: there was no answer"
        case status:
            return f"{status}: {report.ending.kind if report.ending else 'no ending'}"


def notice_piece(report: Report) -> str:
    """The notice as the last piece of the text, set apart from what was released; "" without one."""
    if not report.notice:
        return ""
    return f"\n\n{report.notice}" if report.text.strip() else report.notice


def whole_result(report: Report, length: int) -> ValidationResult:
    """The result for a text that was judged as a whole; `length` is that of the text Guardrails holds."""
    if accepted(report):
        return PassResult(value_override=report.text)
    spans = [
        ErrorSpan(start=min(violation.start, length), end=min(violation.end, length), reason=violation.check)
        for violation in report.violations
    ]
    return Failed(error_message=reason(report), fix_value=Fixed(report.text + notice_piece(report)), error_spans=spans or None)


def replaced_result(report: Report, text: str) -> ValidationResult:
    """The same for a text that another validator made of what was released."""
    if accepted(report):
        return PassResult()
    return Failed(error_message=reason(report), fix_value=Fixed(text + notice_piece(report)))
