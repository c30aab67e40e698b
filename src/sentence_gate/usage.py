"""Usage: what was generated counts, not what was shown.

What the provider did not report is filled with one token per UTF-8 byte of the text received. No tokenizer in use makes more tokens than
bytes, so the estimate errs upwards for what arrived as text; reasoning never arrives as text and stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterable

from .events import Ending, Usage


def bytes_of(piece: str) -> int:
    """UTF-8 bytes of a piece; a lone surrogate counts three."""
    return len(piece) if piece.isascii() else len(piece.encode("utf-8", "surrogatepass"))


def merge(so_far: Usage | None, reported: Usage) -> Usage:
    """Two reports of one stream that both count from its beginning: the later number holds, where it has one."""
    if so_far is None:
        return reported
    return Usage(
        so_far.input_tokens if reported.input_tokens is None else reported.input_tokens,
        so_far.output_tokens if reported.output_tokens is None else reported.output_tokens,
        so_far.reasoning_tokens if reported.reasoning_tokens is None else reported.reasoning_tokens,
        "reported" if "reported" in (so_far.kind, reported.kind) else reported.kind,
    )


def add(so_far: Usage | None, part: Usage) -> Usage:
    """Two reports that count what came since the one before, or of two attempts: the sum. The weaker kind holds."""
    if so_far is None:
        return part
    return Usage(
        _sum(so_far.input_tokens, part.input_tokens),
        _sum(so_far.output_tokens, part.output_tokens),
        _sum(so_far.reasoning_tokens, part.reasoning_tokens),
        max(so_far.kind, part.kind, key=_BY_WEAKNESS.index),
    )


def total(usages: Iterable[Usage]) -> Usage:
    """What several attempts cost together; of kind "unknown" with no tokens if there were none."""
    so_far = None
    for usage in usages:
        so_far = add(so_far, usage)
    return so_far or Usage()


_BY_WEAKNESS = ("reported", "running", "estimated", "unknown")


def _sum(first: int | None, second: int | None) -> int | None:
    return first if second is None else second if first is None else first + second


def settle(ending: Ending | None, received: int) -> Usage:
    """The usage of a stream from its ending's report, else estimated from the `received` bytes."""
    reported = ending.usage if ending else None
    if reported is None:
        return Usage(output_tokens=received, kind="estimated")
    if reported.output_tokens is None:
        return Usage(reported.input_tokens, received, reported.reasoning_tokens, "estimated")
    return reported
