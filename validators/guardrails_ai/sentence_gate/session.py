"""What a gated guard knows of one call: the bindings of its gates, and the verdicts on whole answers before Guardrails sees them.

A gated guard hands Guardrails the released text only; its validators find the verdict here, by the text. The session travels in the
call's metadata, as an empty dictionary to whoever serialises it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from guardrails.actions.reask import ReAsk
from guardrails.classes.output_type import OutputTypes
from guardrails.utils.parsing_utils import parse_llm_output

from sentence_gate import Ending, Report, Usage
from sentence_gate.endings import tail_is_judged

from .binding import Binding
from .handshake import Chunk, Stream
from .verdict import accepted

KEY = "sentence_gate"
"""Where a call's metadata holds the session."""


BLANK = " "
"""What Guardrails gets of an answer of which nothing was released: it takes an empty one for a failure of the model, and fixes nothing."""


class Session(dict[str, Any]):
    """One call of a gated guard. `bindings` goes from a gate's identity to what it judges by, `places` from a path to the gates there."""

    def __init__(
        self,
        output_type: OutputTypes = OutputTypes.STRING,
        bindings: Mapping[int, Binding] | None = None,
        places: Mapping[str, list[int]] | None = None,
    ) -> None:
        super().__init__()
        self._output_type = output_type
        self._places = {_plain(path): gates for path, gates in (places or {}).items()}
        self._verdicts: dict[tuple[int, str], Report] = {}
        self._told: set[tuple[int, str]] = set()
        self.bindings = bindings or {}
        self.guarded = bool(bindings)  # by a gated guard, which raises when Guardrails has handed out what it holds
        self.streams: list[Stream] = []  # of this call, in order
        self.usages: list[Usage | None] = []  # of its whole answers, in order, if they were told

    @property
    def structured(self) -> bool:
        """Whether the answer is JSON, whose fields are gated."""
        return self._output_type != OutputTypes.STRING

    @property
    def nothing(self) -> bool:
        """Whether nothing was released of a whole answer that is text."""
        return not self.structured and any(not text for _, text in self._verdicts)

    @property
    def failed(self) -> bool:
        """Whether a part of the last whole answer did not pass."""
        return not all(map(accepted, self._verdicts.values()))

    def unacknowledged(self) -> Chunk | None:
        """The chunk of this call's stream that no validator has answered yet."""
        stream = self.streams[-1] if self.streams else None
        return None if stream is None or stream.acknowledged else stream.chunk

    def verdict(self, gate: object, text: object) -> Report | None:
        """The report behind a released text, if this gate released it."""
        if not isinstance(text, str):
            return None
        key = (id(gate), "" if self.nothing and text == BLANK else text)
        self._told.add(key)
        return self._verdicts.get(key)

    def untold(self) -> dict[int, Report]:
        """By gate, the reports that did not pass and that Guardrails didn't ask for: it misses validators on some paths."""
        return {key[0]: report for key, report in self._verdicts.items() if key not in self._told and not accepted(report)}

    def replaced(self, gate: object, text: object) -> Report | None:
        """The report on the whole answer, if `text` is what another validator made of the released one. Of fields that can't be told."""
        if self.structured or not self._verdicts or not isinstance(text, str) or id(gate) not in self.bindings:
            return None
        return next(report for (of, _), report in self._verdicts.items() if of == id(gate))

    def clean(self, answer: str, ending: Ending | None = None) -> str:
        """What Guardrails may see of a whole answer. A structured one that can't be read is seen as nothing."""
        self._verdicts.clear()
        self._told.clear()
        usage = ending.usage if ending else None
        self.usages.append(usage if usage and usage.input_tokens is not None else None)
        if not self.structured:
            return self._released(self._places.get("$", []), answer, ending) or BLANK
        try:
            parsed, error = parse_llm_output(answer, self._output_type)
            if error or isinstance(parsed, ReAsk) or parsed is None:
                return ""
            cut = ending if ending and not tail_is_judged(ending) else None
            return json.dumps(self._walk("$", parsed, [], cut), ensure_ascii=False)
        except RecursionError:  # nested too deep
            return ""

    def _walk(self, path: str, value: Any, above: list[int], cut: Ending | None) -> Any:
        """The value with the texts at gated paths released. What stands there in place of a text is gated whole, keys too."""
        gates = self._places.get(path) or above
        if isinstance(value, dict):
            return {self._released(gates, key, cut): self._walk(f"{path}.{key}", inner, gates, cut) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._walk(path, inner, gates, cut) for inner in value]
        return self._released(gates, value, cut) if isinstance(value, str) else value

    def _released(self, gates: list[int], text: str, ending: Ending | None) -> str:
        """What these gates release, one after the other. Of two texts that are released alike the worse verdict stays."""
        reports = []
        for gate in gates:
            report = self.bindings[gate].judge(text, ending)
            reports.append(report)
            text = report.text
        for gate, report in zip(gates, reports, strict=True):
            held = self._verdicts.get((gate, text))
            if held is None or accepted(held):
                self._verdicts[gate, text] = report
        return text


def _plain(path: str) -> str:
    """A path without the marks of list elements: Guardrails' two services write them in different places."""
    return path.replace(".*", "")
