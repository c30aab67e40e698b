"""Every value must stand in a source that its sentence cites.

What it does: stops a sentence with a number, date, clock time, URL or e-mail address that no cited source holds, whatever the notation.
Why: figures and addresses are what readers act on, and what models make up.
Example: `Late fees ended in 2019 [S1].` where the first source doesn't say 2019.
Limits: a sentence that cites two sources may take its value from either. Supported means "stands somewhere in what is cited", not "about
this". Units, `%` and currency aren't compared. Nothing is rounded, converted or computed.

In a heading, lead-in, table head or a code fence that cites nothing a value must stand in some given source; a number up to 20 in a
lead-in is the count of its own list. Any other uncited sentence is the business of `citation_required`; where a policy leaves that out,
some source will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import languages, values
from ..events import PolicyView, Sentence, Violation
from ..normal import asides, targets
from ..sources import Sources

_ALONE = re.compile(r"[\W_]*(?!1\D*$)\d{1,3}[\W_]*")
"""A cited number and nothing else ("45 [S1].") is an answer, not the number of a list item; but who puts the markers in afterwards writes
"1[S1]. Go to the menu [S2]"."""
_NO_LIST = " .:)）：、。"


def unsupported_value(sentence: Sentence, sources: Sources, policy: PolicyView) -> Iterator[Violation]:
    """One violation a value that isn't vouched for; `detail` is the value as written."""
    cites: tuple[int, ...] | range = sentence.cites
    if not cites:
        if sentence.kind not in ("heading", "lead_in", "code") and policy.requires_citation:
            return
        cites = sources.numbers
    counts, language = sentence.kind == "lead_in", languages.primary(policy.language)
    prose = sentence.prose
    if sentence.markers and _ALONE.fullmatch(prose):
        prose = prose.rstrip(_NO_LIST)
    for text in (prose, *asides(sentence.text)):
        for value in values.find(text, policy.language):
            if counts and value.small:
                continue
            if not sources.supports(cites, value.keys, language) and not sources.asked(value.keys):
                yield Violation("unsupported_value", value.text)
    for target in targets(sentence.text):
        value = values.find_target(target)
        if not sources.supports(cites, value.keys) and not sources.asked(value.keys):
            yield Violation("unsupported_value", value.text)
