"""Usage: what was generated counts, not what was shown.

What the provider did not report is filled with one token per UTF-8 byte of the text received. No tokenizer in use makes more tokens than
bytes, so the estimate errs upwards for what arrived as text; reasoning never arrives as text and stays unknown.
"""

from __future__ import annotations

from .events import Ending, Usage


def bytes_of(piece: str) -> int:
    """UTF-8 bytes of a piece; a lone surrogate counts three."""
    return len(piece) if piece.isascii() else len(piece.encode("utf-8", "surrogatepass"))


def settle(ending: Ending | None, received: int) -> Usage:
    """The usage of a stream from its ending's report, else estimated from the `received` bytes."""
    reported = ending.usage if ending else None
    if reported is None:
        return Usage(output_tokens=received, kind="estimated")
    if reported.output_tokens is None:
        return Usage(reported.input_tokens, received, reported.reasoning_tokens, "estimated")
    return reported
