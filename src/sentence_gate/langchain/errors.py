"""What this host raises and warns of, beside the package's own errors."""

from __future__ import annotations

from ..events import Report


class SentenceGateStop(Exception):  # noqa: N818 - it is no error: the caller asked for an exception at the stop
    """The gate stopped the answer, and `exit_behavior="error"` (or a callback's `kill=True`) asked for an exception.

    `report` says what became of the answer; the message names the failed checks and holds no text of it.
    """

    def __init__(self, report: Report) -> None:
        checks = ", ".join(dict.fromkeys(violation.check for violation in report.violations)) or report.status
        super().__init__(f"the sentence gate stopped the answer: {checks}")
        self.report = report

    def __reduce__(self) -> tuple[type[SentenceGateStop], tuple[Report]]:
        return type(self), (self.report,)


class SentenceGateWarning(UserWarning):
    """The gate stands where the framework doesn't let it do its whole work."""
