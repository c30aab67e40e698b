"""sentence-gate: releases a streamed answer sentence by sentence, each one checked against the sources that it cites."""

from .checks import DEFAULT_CHECKS
from .errors import StreamError, UsageError
from .events import (
    Check,
    Done,
    Empty,
    Ending,
    Failed,
    Omitted,
    Outcome,
    Refused,
    Released,
    Report,
    Sentence,
    Stopped,
    Truncated,
    Usage,
    Violation,
)
from .gate import SentenceGate, judge
from .markers import MarkerStyle
from .policy import Policy, notice
from .prompt import format_sources, prompt_rules
from .sources import Source, Sources
from .splitter import SentenceSplitter
from .streams import agate_stream, gate_stream

__all__ = [
    "DEFAULT_CHECKS",
    "Check",
    "Done",
    "Empty",
    "Ending",
    "Failed",
    "MarkerStyle",
    "Omitted",
    "Outcome",
    "Policy",
    "Refused",
    "Released",
    "Report",
    "Sentence",
    "SentenceGate",
    "SentenceSplitter",
    "Source",
    "Sources",
    "Stopped",
    "StreamError",
    "Truncated",
    "Usage",
    "UsageError",
    "Violation",
    "agate_stream",
    "format_sources",
    "gate_stream",
    "judge",
    "notice",
    "prompt_rules",
]
