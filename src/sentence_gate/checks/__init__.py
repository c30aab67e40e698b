"""The checks: one rule, one file. A check is any callable `(sentence, sources, policy) -> iterable of Violation(check, detail)`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..events import Check
from .citation_range import citation_range
from .citation_required import citation_required
from .first_person import first_person
from .hidden_text import hidden_text
from .names_supported import names_supported
from .unsupported_value import unsupported_value
from .value_in_context import value_in_context

DEFAULT_CHECKS: tuple[Check, ...] = (citation_range, citation_required, unsupported_value, first_person, hidden_text)
"""What is checked unless the policy says otherwise, in the order in which failures are listed."""

OPTIONAL_CHECKS: tuple[Check, ...] = (value_in_context, names_supported)
"""Checks that catch more and stop more good sentences. Off unless a policy lists them."""

SHIPPED: Mapping[str, Check] = MappingProxyType({check.__name__: check for check in (*DEFAULT_CHECKS, *OPTIONAL_CHECKS)})  # type: ignore[attr-defined]
"""Every check of the package by its name, for policies that are read from a file."""
