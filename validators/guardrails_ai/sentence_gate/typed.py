"""`AnswerContractValidator`: the typed final answer as a validator. Needs the extra `contract`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guardrails.types import OnFailAction
from guardrails.validator_base import FailResult, PassResult, ValidationResult, Validator, register_validator

from sentence_gate import UsageError
from sentence_gate.contract import AnswerContract, Repair

from .binding import read_sources


@register_validator(name="sentence_gate/answer_contract", data_type="string")
class AnswerContractValidator(Validator):
    """One JSON object, valid by an `AnswerContract`, whose answer passed the gate.

    | Property | Value |
    | --- | --- |
    | Name for `format` attribute | `sentence_gate/answer_contract` |
    | Supported data types | `string` |
    | Programmatic fix | the contract's object, as JSON |

    Metadata of a call: `sources` (a list, a mapping from id to text, or a JSON string of either; they win over the parameter) and
    `question`. It passes if the object is the model's own, or was mended by `repair`. A stock guard gives a text that passed back as it
    came, with chatter and markers; so under `on_fail="fix"` a text that isn't the canonical JSON is fixed to it. Else the fix is the
    fallback, and the message names the cause and the paths of the faults, never text of the answer. It judges whole texts: not for
    `stream=True`.
    """

    override_value_on_pass = True

    def __init__(
        self,
        contract: AnswerContract,
        sources: Any = None,
        repair: Repair | None = None,
        on_fail: str | OnFailAction | Callable[[Any, FailResult], Any] | None = None,
        **base: Any,
    ) -> None:
        if not isinstance(contract, AnswerContract):
            raise UsageError("contract is an AnswerContract")
        self._contract, self._repair = contract, repair
        self._sources = None if sources is None else read_sources(sources)
        super().__init__(on_fail=on_fail, **base)
        self.required_metadata_keys = [] if self._sources is not None else ["sources"]

    def _validate(self, value: Any, metadata: dict[str, Any]) -> ValidationResult:
        """The verdict on a whole text; its value is the object as JSON."""
        if not isinstance(value, str):
            raise UsageError(f"AnswerContractValidator validates text, not {type(value).__name__}")
        given = metadata.get("sources")
        sources = self._sources if given is None else read_sources(given)
        if sources is None:
            raise UsageError("no sources: give metadata={'sources': [...]} or the validator's own")
        final = self._contract.read(value, sources, question=str(metadata.get("question") or ""), repair=self._repair)
        if final.origin != "fallback" and (final.json == value or self.on_fail_descriptor is not OnFailAction.FIX):
            return PassResult(value_override=final.json)
        where = ", ".join(dict.fromkeys(fault.path for fault in final.faults))
        told = f"{final.cause}: {where}" if where else final.cause or "not canonical"
        return FailResult(error_message=told, fix_value=final.json)

    def validate_stream(self, chunk: Any, metadata: dict[str, Any], **kwargs: Any) -> ValidationResult:
        """Refuses: an object can be judged when it is whole."""
        raise UsageError("AnswerContractValidator judges whole texts: call the guard without stream=True")
