"""The Guardrails AI host: a validator that lets nothing out before it was checked, and the guards that make it so in every mode.

`SentenceGate` is the validator, `gated` wraps a model's callable for a stock guard, `GatedGuard` and `AsyncGatedGuard` do it by themselves.
"""

from .guards import AsyncGatedGuard, GatedGuard
from .validator import SentenceGate
from .wrapper import gated

__all__ = ["AsyncGatedGuard", "GatedGuard", "SentenceGate", "gated"]
