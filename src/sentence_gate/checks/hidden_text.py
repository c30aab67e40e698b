"""What is seen must be what was checked.

What it does: stops a sentence with characters that change how text is shown or hide some of it: direction overrides, tag characters
outside flags, control characters, lone surrogates, private use, line and paragraph separators, fillers, runs of variation selectors.
Why: with U+202E "05" is shown as "50"; tag characters and variation selectors carry text that nobody sees.
Example: `The code is \u202e05\u202c [S1].`
Limits: joiners, ZWSP, soft hyphen, marks, embeddings and isolates that real text uses pass; the values check looks through them.

Source: Unicode TR36 (security considerations), UTS #39.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..events import PolicyView, Sentence, Violation
from ..normal import asides
from ..sources import Sources

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,30}\U000e007f")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202d\u202e\u2028\u2029\ud800-\udfff\ue000-\uf8ff\u115f\u1160\u3164\uffa0"
    "\U000e0000-\U000e007f\U000f0000-\U0010ffff]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}"
)


def hidden_text(sentence: Sentence, sources: Sources, policy: PolicyView) -> Iterator[Violation]:
    """One violation a sentence; `detail` is the code point of the first such character."""
    for text in dict.fromkeys((sentence.text, sentence.prose, *asides(sentence.text))):
        found = _CONTROL.search(text) if text.isascii() else _HIDDEN.search(_FLAG.sub("", text) if "\U0001f3f4" in text else text)
        if found:
            yield Violation("hidden_text", f"U+{ord(found.group()[0]):04X}")
            return
