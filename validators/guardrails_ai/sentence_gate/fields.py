"""Where the gates of a structured answer stand, by the pydantic model: Guardrails looks for validators in some kinds of fields only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from .validator import SentenceGate

_NAME = "sentence_gate/sentence_gate"


def gated_paths(output: Any) -> Iterator[str]:
    """The paths of the fields that have a SentenceGate, as Guardrails writes paths; a part for the keys of a mapping is `{key}`."""
    return _paths(output, "$", ())


def _paths(kind: Any, path: str, above: tuple[type, ...]) -> Iterator[str]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if kind in above:
            return
        for name, field in kind.model_fields.items():
            extra = field.json_schema_extra
            validators = extra.get("validators", ()) if isinstance(extra, Mapping) else ()
            if any(map(_is_gate, validators if isinstance(validators, list | tuple) else (validators,))):
                yield f"{path}.{name}"
            yield from _paths(field.annotation, f"{path}.{name}", (*above, kind))
        return
    origin = get_origin(kind)
    inner = f"{path}.{{key}}" if isinstance(origin, type) and issubclass(origin, Mapping) else path
    for one in get_args(kind):
        yield from _paths(one, inner, above)


def _is_gate(validator: object) -> bool:
    named = validator[0] if isinstance(validator, tuple) and validator else validator
    return isinstance(named, SentenceGate) or named is SentenceGate or (isinstance(named, str) and named.startswith(_NAME))
