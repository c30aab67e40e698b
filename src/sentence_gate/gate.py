"""The sentence gate: feed pieces, get what may be shown now.

Theory
------
The gate is a state machine over sentences. The splitter turns pieces into sentences, the same ones for every way of cutting the stream;
each is judged once, whole, when its end is certain, and is released, omitted or stops the gate. Nothing else decides what a reader sees.

    state      on                                              to         what comes out
    ---------  ----------------------------------------------  ---------  -------------------------------------------
    open       a sentence passes                               open       Released
    open       a sentence fails, on_violation="omit"           open       Omitted
    open       a sentence fails, on_violation="observe"        open       Released, the violations in the report
    open       a sentence fails, on_violation="stop"           stopped    Stopped(checks, notice)
    open       the no-answer token begins the answer           refused    Refused(notice)
    open       the token begins or stands in a later sentence  refused    nothing more
    open       finish: an ending that judges the tail          accepted   Released of the tail and of the last white space; Done
                 (completed, stop_sequence, tool_call)         or empty   ... nothing was released: Empty(notice); Done
    open       finish: an ending that drops the tail           truncated, refused, failed, cancelled
                                                                          Truncated, Refused or Failed(notice), if any; Done
    stopped,   feed                                            same       an empty, stopped outcome
    refused    finish                                          same       Done: the ending and the usage are added
    finished   feed, finish                                    -          UsageError

What may wait. A sentence waits for its end, at most `max_chars` code points (the splitter's ceiling). The no-answer token is looked for
while the beginning of a sentence may still become it, so a normal answer waits for nothing. White space waits for the sentence after it,
whose lead it is.

What is counted. `withheld_chars` is the stream up to the end of the failing sentence (of the token; of the stream if there was no stop)
less the code points of the sentences that passed. The same piece may hold passed and failing sentences: the passed ones come out.

Omitting. The white space before an omitted sentence and that before the next one would both stay: only the stronger break does (more line
ends, then longer). A failing line of a code fence drops the rest of the fence, since half a program is none; the closing line stays if
the opening one was released.

Citations by paragraph. With `citation_scope="paragraph"` a sentence without a marker leans on the last group of adjacent markers before
it in its paragraph or list, at most three sentences back. A paragraph ends at a blank line, except between the items of a list and
between a lead-in and its list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Literal

from .endings import STATUS, tail_is_judged
from .errors import UsageError
from .events import (
    Done,
    Empty,
    Ending,
    Event,
    Failed,
    Omitted,
    Outcome,
    Refused,
    Released,
    Report,
    Sentence,
    Status,
    Stopped,
    Truncated,
    Violation,
)
from .markers import MarkerStyle, ends_in_marker, style_of, take_out
from .normal import UNSPACED, WHITE
from .policy import Policy, notice
from .sources import Source, Sources
from .splitter import SentenceSplitter
from .usage import bytes_of, settle

State = Literal["open", "stopped", "refused"]

_TOLD: Mapping[Status, type[Empty | Truncated | Refused | Failed]] = {
    "empty": Empty,
    "truncated": Truncated,
    "refused": Refused,
    "failed": Failed,
}
_NOTHING = Outcome()
_AFTER_STOP = Outcome(stopped=True)
_REACH = 3
"""How many sentences back a citation is inherited from (specification section 5.2)."""
_BEFORE_TOKEN = "\"'“”„‘’«»‹›「」『』*_`~#"
_OPENING = "(\\[{<（【［"
_INVISIBLE = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef"
_UNSPACED_START = re.compile(f"[{UNSPACED}]")
_FENCE_LINE = re.compile(r"[ \t]*(?:```+|~~~+)[ \t]*")


def _joins(before: str, text: str, style: MarkerStyle) -> bool:
    """Whether a marker before the last full stop kept apart what would be read as one word or number without it: 40[S1].5"""
    return before.endswith(".") and not _UNSPACED_START.match(text) and ends_in_marker(before[:-1], style)


class SentenceGate:
    """Gates one streamed answer against its numbered sources.

    `sources` is a `Sources` or whatever `Sources()` takes; `question` is what the user asked (its values count with
    `question_supports_values`). A gate serves one answer and one thread; `Sources` and `Policy` are shared. Raises UsageError for wrong
    types, and for feed or finish after finish.
    """

    __slots__ = (
        "_before",
        "_bytes",
        "_cited",
        "_distance",
        "_ending",
        "_fed",
        "_fence_dropped",
        "_fence_shown",
        "_finished",
        "_kind",
        "_lead",
        "_leans_on",
        "_notice",
        "_passed",
        "_policy",
        "_released",
        "_sentences",
        "_sources",
        "_split",
        "_splitter",
        "_state",
        "_status",
        "_stopped_at",
        "_style",
        "_token",
        "_token_start",
        "_violations",
        "_watching",
    )

    def __init__(
        self,
        sources: Sources | Iterable[str | Source] | Mapping[str, str],
        policy: Policy | None = None,
        *,
        question: str = "",
    ) -> None:
        if policy is None:
            policy = Policy()
        if not isinstance(policy, Policy):
            raise UsageError(f"policy is a Policy (Policy.from_mapping reads a mapping), not {type(policy).__name__}")
        if not isinstance(question, str):
            raise UsageError(f"question is a str, not {type(question).__name__}")
        self._policy = policy
        self._sources = sources if isinstance(sources, Sources) else Sources(sources)
        if question and policy.question_supports_values:
            self._sources = self._sources.with_question(question)
        self._style = style_of(policy.markers)
        self._splitter = SentenceSplitter(policy.language, markers=self._style, max_chars=policy.max_chars)
        self._split = self._splitter.feed
        self._token = policy.no_answer_token
        self._token_start = _token_start(self._token) if self._token else None
        self._watching = self._token is not None  # the pending text may still begin with the token
        self._state: State = "open"
        self._status: Status = "open"
        self._finished = False
        self._ending: Ending | None = None
        self._notice: str | None = None
        self._released: list[str] = []
        self._violations: list[Violation] = []
        self._cited: dict[int, None] = {}
        self._sentences = self._fed = self._bytes = self._passed = 0
        self._stopped_at: int | None = None  # offset in the stream
        self._lead: str | None = None  # white space that an omitted or empty sentence left behind
        self._kind = ""  # of the sentence before
        self._leans_on: tuple[int, ...] = ()
        self._distance = 0  # sentences since `_leans_on` was cited
        self._fence_dropped = self._fence_shown = False
        self._before = ""  # the sentence before, whose last marker may have been taken out

    @property
    def stopped(self) -> bool:
        """Whether nothing more will be released: a violation stopped the gate, or the no-answer token came."""
        return self._state != "open"

    @property
    def sources(self) -> Sources:
        """The sources that the answer is checked against."""
        return self._sources

    @property
    def report(self) -> Report:
        """What became of the answer so far; its status is "open" until the gate stops or is finished."""
        end = self._fed if self._stopped_at is None else self._stopped_at
        return Report(
            status=self._status,
            text="".join(self._released),
            sentences=self._sentences,
            violations=tuple(self._violations),
            withheld_chars=max(0, end - self._passed),
            cited=tuple(self._cited),
            ending=self._ending,
            usage=settle(self._ending, self._bytes) if self._finished or self.stopped else None,
            notice=self._notice,
        )

    def feed(self, piece: str) -> Outcome:
        """Takes the next piece of the answer, of any size, and gives what may be shown now; after a stop an empty, stopped outcome.

        Raises UsageError after finish and for anything but a str.
        """
        if self._finished:
            raise UsageError("feed after finish: a gate serves one answer, open a new SentenceGate for the next one")
        if not isinstance(piece, str):
            raise UsageError(f"feed takes a str, not {type(piece).__name__}; bytes are decoded before (incrementally)")
        if self._state != "open":
            return _AFTER_STOP
        length = len(piece)
        self._fed += length
        self._bytes += length if piece.isascii() else bytes_of(piece)
        sentences = self._split(piece)
        if not sentences and not self._watching:
            return _NOTHING
        events: list[Event] = []
        first = len(self._violations)
        for sentence in sentences:
            self._take(sentence, events)
            if self._state != "open":
                break
        else:
            self._watch(events, renewed=bool(sentences))
        return self._outcome(events, first)

    def finish(self, ending: Ending | None = None) -> Outcome:
        """Ends the answer, once, also after a stop: judges or drops the unfinished tail by how the provider ended, adds ending and usage,
        emits Done.

        Without an ending the stream counts as completed. Raises UsageError the second time.
        """
        if self._finished:
            raise UsageError("finish was called before; a gate is finished once: open a new SentenceGate for the next answer")
        if ending is None:
            ending = Ending.completed()
        if not isinstance(ending, Ending):
            raise UsageError(f"finish takes an Ending, such as Ending.completed(), not {type(ending).__name__}")
        self._finished, self._ending = True, ending
        events: list[Event] = []
        first = len(self._violations)
        if self._state == "open":
            self._close(ending, events)
        events.append(Done(self.report))
        return self._outcome(events, first)

    # ------------------------------------------------------------------------------------------------ transitions

    def _take(self, sentence: Sentence, events: list[Event]) -> None:
        """One sentence: open -> open, stopped or refused."""
        if not sentence.text:
            self._release(sentence.lead, "", sentence, events)
            return
        sentence = self._leaning(sentence)
        token_end = self._token_end(sentence)
        if token_end is not None:
            self._refuse(token_end, events)
            return
        self._sentences += 1
        if sentence.kind != "code":
            self._fence_dropped = self._fence_shown = False
        elif self._fence_dropped:
            self._drop_line(sentence, events)
            return
        found = self._judge(sentence)
        self._violations += found
        self._kind = sentence.kind
        if found and self._policy.on_violation == "stop":
            self._stop(sentence, found, events)
        elif found and self._policy.on_violation == "omit":
            self._omit(sentence, events)
        else:
            self._pass(sentence, events)

    def _pass(self, sentence: Sentence, events: list[Event]) -> None:
        lead, text = sentence.lead, sentence.text
        if not self._policy.show_markers:
            if sentence.kind != "code":
                glued = not lead and ends_in_marker(self._before, self._style)
                lead, text = take_out(lead, text, self._style, after_marker=glued)
                if not lead and not glued and text and _joins(self._before, text, self._style):
                    lead = " "
            self._before = "" if sentence.kind == "code" else sentence.text
        for number in sentence.cites:
            if 0 < number <= len(self._sources):
                self._cited[number] = None
        if sentence.kind == "code":
            self._fence_shown = _FENCE_LINE.fullmatch(sentence.text) is None
        self._release(lead, text, sentence, events)

    def _release(self, lead: str, text: str, sentence: Sentence, events: list[Event]) -> None:
        self._passed += len(sentence.lead) + len(sentence.text)
        if not text and sentence.text:  # it was nothing but markers
            self._lead = self._stronger(lead)
            return
        lead = self._stronger(lead)
        self._lead = None
        if lead or text:
            self._released.append(lead + text)
            events.append(Released(lead + text, sentence.cites))

    def _omit(self, sentence: Sentence, events: list[Event]) -> None:
        self._lead = self._stronger(sentence.lead)
        self._fence_dropped = sentence.kind == "code"
        events.append(Omitted())

    def _drop_line(self, sentence: Sentence, events: list[Event]) -> None:
        """A line of a fence of which an earlier line failed; the closing line stays if the opening one was shown."""
        closes = _FENCE_LINE.fullmatch(sentence.text) is not None
        if closes and self._fence_shown:
            self._pass(sentence, events)
        else:
            self._omit(sentence, events)
        self._fence_dropped = not closes

    def _stronger(self, lead: str) -> str:
        """Of the white space that an omitted sentence left and `lead`, the stronger break; before anything was released, the first."""
        if self._lead is None:
            return lead
        if not self._released:
            return self._lead
        return max(self._lead, lead, key=lambda white: (white.count("\n"), len(white)))

    def _stop(self, sentence: Sentence, found: list[Violation], events: list[Event]) -> None:
        self._state = self._status = "stopped"
        self._stopped_at = sentence.end
        self._notice = notice(self._policy, "stopped")
        events.append(Stopped(tuple(dict.fromkeys(violation.check for violation in found)), self._notice))

    def _refuse(self, token_end: int, events: list[Event]) -> None:
        self._state = self._status = "refused"
        self._stopped_at = token_end
        if not self._anything_shown():
            self._notice = notice(self._policy, "refused")
            events.append(Refused(self._notice))

    def _close(self, ending: Ending, events: list[Event]) -> None:
        pending = self._splitter.pending
        tail = self._splitter.flush()
        judged = tail_is_judged(ending)
        if tail and judged:
            self._take(tail, events)
        elif tail and self._policy.on_violation == "observe":
            self._pass(tail, events)
        if self._state != "open":
            return
        if judged or self._policy.on_violation == "observe":
            white = pending[len(tail.lead) + len(tail.text) :] if tail else pending
            if white:
                self._passed += len(white)
                self._released.append(white)
                events.append(Released(white))
        self._status = STATUS[ending.kind]
        if self._status == "accepted" and ending.kind != "tool_call" and not self._anything_shown():
            self._status = "empty"
        tell = _TOLD.get(self._status)
        if tell:
            self._notice = notice(self._policy, self._status)
            events.append(tell(self._notice))

    # ------------------------------------------------------------------------------------------------ looking

    def _judge(self, sentence: Sentence) -> list[Violation]:
        """What every check of the policy finds, in their order. A check that raises has failed: closed when in doubt."""
        found: list[Violation] = []
        for check in self._policy.checks:
            try:
                found.extend(_placed(violation, sentence) for violation in check(sentence, self._sources, self._policy))
            except Exception:  # dropped whole: its text may quote the sentence
                name = getattr(check, "__name__", type(check).__name__)
                found.append(Violation("check_failed", name, len(sentence.text), sentence.start, sentence.end))
        return found

    def _leaning(self, sentence: Sentence) -> Sentence:
        """The sentence with the citation that it inherits from its paragraph, if the policy lets it."""
        if self._policy.citation_scope != "paragraph" or sentence.kind == "code":
            return sentence
        continued = sentence.kind == "item" and self._kind in ("item", "lead_in")
        if (_blank_line(sentence.lead) and not continued) or "heading" in (sentence.kind, self._kind):
            self._leans_on = ()
        if sentence.markers:
            self._leans_on, self._distance = self._last_group(sentence.text), 0
        elif self._leans_on and self._distance < _REACH:
            self._distance += 1
            return replace(sentence, cites=self._leans_on)
        return sentence

    def _last_group(self, text: str) -> tuple[int, ...]:
        numbers: tuple[int, ...] = ()
        end = 0
        for marker in self._style.find(text):
            adjacent = numbers and not text[end : marker.start].strip(WHITE)
            numbers = (*numbers, *marker.numbers) if adjacent else marker.numbers
            end = marker.end
        return numbers

    def _anything_shown(self) -> bool:
        return any(part.strip(WHITE) for part in self._released)

    def _token_end(self, sentence: Sentence) -> int | None:
        """Where the no-answer token ends in the stream (at the start of the sentence), or the sentence that holds it; None without it."""
        if self._token is None or self._token_start is None:
            return None
        match = self._token_start.match(sentence.text)
        if match and _word_over(sentence.text, match.end()):
            return sentence.start + match.end()
        for text in (sentence.text, sentence.prose):
            at = text.find(self._token)
            while at >= 0:
                if _word_over(text, at + len(self._token)) and not (at and _in_word(text[at - 1])):
                    return sentence.end
                at = text.find(self._token, at + 1)
        return None

    def _watch(self, events: list[Event], *, renewed: bool) -> None:
        """Looks for the token at the start of the pending text: it is recognised at once, before its sentence ends."""
        if renewed:
            self._watching = self._token is not None
        if not self._watching or self._token is None or self._token_start is None:
            return
        pending = self._splitter.pending
        match = self._token_start.match(pending)
        if match and len(pending) > match.end():
            if _word_over(pending, match.end()):
                self._refuse(self._fed - len(pending) + match.end(), events)
            self._watching = False
        elif not match:
            self._watching = _may_become(pending, self._token)

    def _outcome(self, events: list[Event], first: int) -> Outcome:
        if not events and first == len(self._violations):
            return _AFTER_STOP if self._state != "open" else _NOTHING
        text = "".join(event.text for event in events if isinstance(event, Released))
        return Outcome(text, self._state != "open", tuple(self._violations[first:]), tuple(events))


def _placed(violation: Violation, sentence: Sentence) -> Violation:
    if not isinstance(violation, Violation):
        raise TypeError("a check yields Violations")
    return Violation(violation.check, violation.detail, len(sentence.text), sentence.start, sentence.end)


def _blank_line(white: str) -> bool:
    return white.replace("\r\n", "\n").replace("\r", "\n").count("\n") >= 2


@cache
def _token_lead(token: str) -> str:
    """A pattern for what may stand before the token: white space, invisible characters, emphasis, quotes, one bracket."""
    skipped = f"[{re.escape(''.join(char for char in WHITE + _BEFORE_TOKEN if char != token[0]))}{_INVISIBLE}]*"
    return f"{skipped}(?:[{_OPENING}]{skipped})?"


@cache
def _token_start(token: str) -> re.Pattern[str]:
    return re.compile(_token_lead(token) + re.escape(token))


def _may_become(pending: str, token: str) -> bool:
    """Whether what is pending may still begin with the token when more has come."""
    start = re.match(_token_lead(token), pending)
    return token.startswith(pending[start.end() :] if start else pending)


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _word_over(text: str, at: int) -> bool:
    return at >= len(text) or not _in_word(text[at])


def judge(
    answer: str,
    sources: Sources | Iterable[str | Source] | Mapping[str, str],
    policy: Policy | None = None,
    *,
    ending: Ending | None = None,
    question: str = "",
) -> Report:
    """The report on a whole answer, by the same gate that judges a stream. Raises UsageError for wrong types."""
    gate = SentenceGate(sources, policy, question=question)
    gate.feed(answer)
    gate.finish(ending)
    return gate.report
