"""The Guardrails AI host: a validator that lets nothing out before it was checked, and the guards that make it so in every mode.

`SentenceGate` is the validator, `gated` wraps a model's callable for a stock guard, `GatedGuard` and `AsyncGatedGuard` do it by themselves.
`AnswerContractValidator`, for typed final answers, needs the extra `contract` and is loaded when it is asked for.
"""

from typing import TYPE_CHECKING, Any

from sentence_gate.errors import without

try:
    from .guards import AsyncGatedGuard, GatedGuard
    from .validator import SentenceGate
    from .wrapper import gated
except ModuleNotFoundError as error:
    raise without("guardrails", error) from None

if TYPE_CHECKING:
    from .typed import AnswerContractValidator

__all__ = ["AnswerContractValidator", "AsyncGatedGuard", "GatedGuard", "SentenceGate", "gated"]


def __getattr__(name: str) -> Any:
    if name == "AnswerContractValidator":
        from .typed import AnswerContractValidator

        return AnswerContractValidator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
