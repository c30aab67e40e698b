"""Pieces of a stream become sentences. Never edits text, never judges it.

Theory
------
A sentence that was handed out can't be taken back, so its end must be certain, and it must be the same end however the stream was cut. Both
follow from one rule: every decision is a function of a *window*, the code points from the sentence's start up to `max_chars` further on,
and has three values: it ends here, it doesn't, or more text is needed. "Needed" is answered whenever a longer window could change the
decision, so it is taken at the same place by every cutting. When the window is full and no end is certain, it is cut at its last white
space (the ceiling), again by the window alone.

The window is read left to right by a machine of four phases:

    lead      white space before the sentence
    scan      looking for the next stop: a terminator or a line break (nothing else ends a sentence)
    close     a terminator was met: its run, then closing quotes, brackets and emphasis
    tail      white space and markers after it, up to the first character that is neither: the character that decides

What was read is never read again while waiting: each phase remembers how far it has come, so that endless dots, markers or spaces cost
what they weigh. A stop that turns out to be none sends the machine back to *scan* right after its run, which reads the tail once more; a
window is cut at most once, and what is left of it is read once more. So the cost is linear in the stream, and a piece in the middle of a
sentence costs one search of its own characters.

Why the tail belongs to the sentence. Models write `It opens at nine. [S1] Lockers …`; a splitter that cuts at the full stop ties every
marker to the wrong claim. So markers after a terminator are part of its sentence, whatever white space stands between, except behind a
blank line, and except at a line start with text behind them, where they introduce that text.

What decides at a full stop, in this order: a marker right before it (ends, whatever follows), a lower-case letter behind it (doesn't), a
closing quote or bracket after it (own rules), then the word before it: abbreviations, initials, numbers that are ordinals, and in Hindi
and Thai the script's own rule. A mark that is only ever a terminator (`!` `?` `؟` `।` …) ends a sentence unless a comma or the like
follows. All words come from the language files; the word before the stop is looked up in the language asked for if its script is that
language's, else in the languages of its own script.

Lines. A line that begins with a list number or bullet, `#`, `|`, `>` or a code fence is a block of its own: the line break before it ends
a sentence, and so does its own end. Rows and headings are never cut inside. In a fence every line is a unit of kind "code"; the opening
line travels with the first line of code, the closing line is a unit of its own (or the end of the first, if the fence is empty); nothing
in it is a marker, and `cites` are those of the last sentence before the fence. A gate that needs paragraphs reads them off `lead`: a new
one begins where it holds two line breaks.

White space. What stands before a sentence is its `lead`; more than `max_chars` of it comes as a Sentence with empty text. So `lead +
text` of all sentences is the stream, but for white space at its very end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from . import languages
from .errors import UsageError
from .events import Sentence, SentenceKind
from .markers import NO_MARKER, UNDECIDED, MarkerStyle, style_of, take_out
from .normal import MARKS, UNSPACED, WHITE, fold, see, word_count

_HEADING_WORDS = 12
"""Words of the longest heading (specification section 4): a longer line states something."""
_LEAD_IN_WORDS = 40
"""Words of the longest lead-in (specification section 4)."""

# ------------------------------------------------------------------------------------------------ characters

_DOTS = ".…"
"""Marks that are also written inside a sentence: abbreviations, ordinals, ellipses."""
_TIGHT = "。！？｡．\u104b\u17d4\u17d5"
"""Terminators of scripts without spaces: no white space need follow (ideographic and fullwidth ones, Myanmar section, Khmer khan and
bariyoosan).
"""
_ENDS = "!?؟۔।॥‼⁇⁈⁉\u0589\u1362\u1367\u1368"
"""Marks that do nothing but end sentences, some bound to a script: Armenian, Ethiopic."""
_TERMINATORS = _DOTS + _TIGHT + _ENDS

_QUOTES_CLOSING = "\"'”’»›」』》〉｣＂＇"
_BRACKETS_CLOSING = ")]}）］｝】〕"
_EMPHASIS = "*_~`"
_OPENING = "(\\[{（［｛【〔\"'“”‘’„‚«»‹›「『《〈｢＂＇¿¡*_~`"
_JOINING = ",;:،؛，、；：)]}）］｝】〕"
"""After a terminator and white space these go on with the sentence."""
_DASHES = "-–—―‐‑−"
_BEGINNING_MARKS = "\"“„«‘「『《'`¡¿" + _DASHES
"""After a full stop and white space these show that something new begins, whatever comes in them."""
_NESTING = {"「": 1, "『": 1, "《": 1, "〈": 1, "“": 1, "（": 1, "(": 1, "【": 1, "〔": 1}
_NESTING |= {"」": -1, "』": -1, "》": -1, "〉": -1, "”": -1, "）": -1, ")": -1, "】": -1, "〕": -1}

_SCRIPTS = (
    (0x0250, "Latn"), (0x0370, ""), (0x0400, "Grek"), (0x0530, "Cyrl"), (0x0590, "Armn"), (0x0600, "Hebr"), (0x0700, "Arab"),
    (0x0750, ""), (0x0780, "Arab"),
    (0x08A0, ""), (0x0900, "Arab"), (0x0980, "Deva"), (0x0A00, "Beng"), (0x0E00, ""), (0x0E80, "Thai"), (0x0F00, "Laoo"),
    (0x1000, "Tibt"), (0x10A0, "Mymr"),
    (0x1200, ""), (0x13A0, "Ethi"), (0x1780, ""), (0x1800, "Khmr"), (0x1E00, ""), (0x1F00, "Latn"), (0x2000, "Grek"), (0x2E80, ""),
    (0x3040, "Hani"),
    (0x3100, "Jpan"), (0x31F0, "Hani"), (0x3200, "Jpan"), (0xAC00, "Hani"), (0xD7B0, "Kore"), (0xF900, ""), (0xFB00, "Hani"),
    (0xFB50, ""), (0xFE00, "Arab"),
    (0xFE70, ""), (0xFF00, "Arab"), (0x20000, ""), (0x40000, "Hani"),
)  # fmt: skip
"""First code point beyond a block of one script, and the script (ISO 15924): coarse, since it only picks a language's data."""
_NO_FULL_STOP = frozenset({"Thai", "Laoo", "Khmr"})
"""Scripts whose sentences never end in a full stop: what stands before one is an abbreviation (Unicode Standard 16.1)."""
_SAME_SCRIPT = {"Hans": "Hani", "Hant": "Hani"}
_BEST_KNOWN = {"Latn": ("en",), "Hani": ("zh",), "Jpan": ("ja",)}
"""Whose data serve text of a script that isn't the answer's, where several languages share it and a word doesn't tell which."""


def _script(char: str) -> str:
    """The script of a letter, roughly; "" for anything else."""
    point = ord(char)
    if point < 0x250:
        return "Latn" if char.isalpha() else ""
    return next((name for beyond, name in _SCRIPTS if point < beyond), "")


# ------------------------------------------------------------------------------------------------ a language's rules


class _Rules:
    """A language's data as tables that answer in constant time."""

    __slots__ = (
        "capitals",
        "closing_run",
        "degrees",
        "determiners",
        "fronting",
        "full_stop",
        "grouped",
        "initials",
        "names",
        "nouns",
        "nouns_capitalised",
        "ordinals",
        "parts",
        "phrases",
        "quotes",
        "saying",
        "script",
        "search",
        "small",
        "spaced",
        "starters",
        "terminator_run",
        "terminators",
        "time_words",
        "tokens",
        "verbs",
        "year_first",
    )  # fmt: skip

    def __init__(self, code: str) -> None:
        language = languages.load(code)
        data = language.sentences
        self.script = _SAME_SCRIPT.get(language.script, language.script)
        self.full_stop = data.full_stop
        self.ordinals = data.ordinals
        self.initials = data.initials
        self.year_first = language.dates.order == "ymd"  # 2019. 5. 3.
        self.tokens: dict[str, str] = {}
        self.phrases: dict[str, tuple[tuple[str, str], ...]] = {}
        for kind, words in (
            ("always", data.abbreviations),
            ("number", data.number_abbreviations),
            ("final", data.final_abbreviations),
            ("closer", data.closers),
        ):
            for word in words:
                whole = fold(word)
                last = whole.rsplit(None, 1)[-1]
                if last == whole:
                    self.tokens[whole] = kind
                else:
                    self.phrases[last] = (*self.phrases.get(last, ()), (whole, kind))
        for month in language.dates.months:
            for name in month:
                if name.endswith("."):  # "3 mag. 2019"
                    self.tokens.setdefault(fold(name), "number")
        self.parts = frozenset(part for spaced in self.phrases.values() for whole, _ in spaced for part in whole.split()[:-1])
        self.starters = _Words(data.starters)
        self.small = _Words((*data.small_starters, *(word.lower() for word in language.first_person.cased if len(word) == 1)))
        self.degrees = frozenset(fold(word) for word in data.degrees)
        self.determiners = frozenset(data.determiners)
        self.names = frozenset(fold(word) for word in data.marked_names)
        self.grouped = "." in language.numbers.group
        self.fronting = _Words(data.fronting)
        self.nouns_capitalised = language.nouns_capitalised
        self.time_words = _Words((*data.time_words, *(name for month in language.dates.months for name in month)))
        self.saying = _Words(data.saying_verbs)
        self.capitals = _Words(language.first_person.cased)
        months = [
            name
            for calendar in (language.dates.months, language.dates.jalali, language.dates.hijri)
            for month in calendar
            for name in month
        ]
        self.nouns = _Words((*months, *data.ordinal_nouns) if data.ordinals == "months" else ())
        self.verbs = frozenset(fold(word) for word in data.full_stop_verbs)
        pairs = [(opening[-1], closing[0]) for opening, closing in data.quotes if opening != closing]
        self.quotes = frozenset(_QUOTES_CLOSING + "".join(closing for _, closing in pairs))
        opens = {opening for opening, _ in pairs}
        self.spaced = {closing: opening for opening, closing in pairs if closing not in opens} | {'"': '"'}
        self.terminators = frozenset(_TERMINATORS + data.terminators)
        marks = re.escape("".join(sorted(self.terminators)))
        self.search = re.compile(f"[{marks}\n\r]").search
        self.terminator_run = re.compile(f"[{marks}]+")
        self.closing_run = re.compile(f"[{re.escape(''.join(sorted(self.quotes)) + _BRACKETS_CLOSING + _EMPHASIS)}]+")


class _Words:
    """A set of words, asked with a word that may not have come to its end."""

    __slots__ = ("_beginnings", "_words")

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(fold(word) for word in words)
        self._beginnings = frozenset(word[:end] for word in self._words for end in range(1, len(word) + 1))

    def __bool__(self) -> bool:
        return bool(self._words)

    def has(self, text: str, at: int) -> bool | None:
        """Whether a word of the set stands here; None while more text is needed to tell."""
        match = _WORD.match(text, at)
        if match is None:
            return False
        word = fold(match.group())
        if match.end() == len(text):
            return None if word in self._beginnings or word.split("'", 1)[0] in self._words else False
        if len(word) == 1 and text[match.end()] == ".":
            return False  # an initial
        return word in self._words or ("'" in word and word.split("'", 1)[0] in self._words)


_WORD = re.compile(rf"[^\W_][\w{MARKS}'’\u200c-]*")
_TOKEN_START = re.compile(r"^.*(?:[(\[{（［「『《“”‘’„‚«»‹›/—–-]|(?<!\w)\")|^[*_~`'¿¡$]+")
"""What stands before the word in its token; a double quotation mark between letters is Hebrew's sign of an abbreviation."""
_UNSPACED_CHAR = re.compile(f"[{UNSPACED}]")


@cache
def _rules(code: str) -> _Rules:
    return _Rules(code)


@cache
def _rules_of_script(script: str) -> tuple[_Rules, ...]:
    """The rules that serve a script: of the languages written in it, or of English."""
    known = languages.codes()
    codes = [code for code in _BEST_KNOWN.get(script, ()) if code in known] or languages.by_script(script) or ("en",)
    return tuple(_rules(code) for code in codes)


# ------------------------------------------------------------------------------------------------ lines and patterns

_SPACE_RUN = re.compile(f"[{WHITE}]+")
_TAIL_SPACE = re.compile(f"[{WHITE.replace(chr(10), '').replace(chr(13), '')}]+")
_BREAK = re.compile(r"\r\n|[\r\n]")
_NEWLINE = re.compile("[\n\r]").search
_QUOTE_PREFIX = re.compile(rf"(?:>[{WHITE}]*)+")
_BLOCK = re.compile(
    r"(?P<code>`{3}|~{3})|(?P<heading>#{1,6}(?=[ \t\n\r]))|(?P<row>\|)|(?P<quote>>)"
    r"|(?P<rule>([-*_])(?:[ \t]*\6){2,}[ \t]*(?=[\n\r]))"
    rf"|(?P<item>[-*+·](?=[{WHITE}])|[•‣▪◦●○]|\d{{1,3}}[.)．](?=[{WHITE}\[【［(])|[^\W\d_]\)(?=[{WHITE}])"
    r"|[(（](?:\d{1,3}|[^\W\d_])[)）]|\d{1,3}、|[一二三四五六七八九十]{1,3}、)"
)
_BLOCK_BEGINNING = re.compile(
    r"(?:`{1,2}|~{1,2}|#{1,6}|[-*+·]|([-*_])(?:[ \t]*\1)*[ \t]*|\d{1,3}[.)．]?|[^\W\d_]\)?"
    r"|[(（](?:\d{0,3}|[^\W\d_])|[一二三四五六七八九十]{1,3})\Z"
)
_WHOLE_LINE = frozenset({"code", "heading", "row", "rule"})
"""Lines that are never cut inside."""
_OWN_LINE = frozenset({"heading", "item", "quote", "row", "rule"})
"""Lines whose end is the end of a sentence."""
_LED_IN = frozenset({"code", "item", "quote", "row"})
"""What a lead-in introduces."""
_LINE_NUMBER = re.compile(r"[>#*_\-+•·\s]*[(\[]?(?:\d{1,3}(?:\.\d{1,3})*|[^\W\d_])[)\]]?\Z")
_SHORT_NUMBER = re.compile(r"[*_\-+•\s]*[(\[]?(?:\d{1,2}|[^\W\d_])[)\]]?\Z")
_OPENING_RUN = re.compile(rf"(?:[{_OPENING}]|[{_DASHES}]{{1,3}}[ \u00a0]?){{0,4}}")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_REFERENCE = re.compile(r"\[(?:\d{1,3}\]?)?")
"""The number of a note, "[17]", as encyclopedias write it: it stands behind the full stop of what it is a note to, in every style."""
_COUNTER = re.compile(rf"(?:^|(?<=[{WHITE}(\u2022\u2043]))(?P<label>\d{{1,2}}|[b-zB-Z]|i{{2,3}})\)?\Z")
_FIRST_LABEL = re.compile(r"[\W_]*(?P<label>\d{1,2}|[a-zA-Z])[.)]")
_BULLETS = ("•", "‣", "⁃", "▪", "◦", "●", "○")
_COUNTED = re.compile(r"\d[\d:.]*\s?[^\s\d/]+\Z")
"""A final abbreviation behind a number: a time or an era."""
_LONG_NUMBER = re.compile(r"\d{4}\Z")
_FEW_WORDS = 3
_PLAIN = 3
"""Letters of a word that is no abbreviation for its shortness."""
_APART = re.compile("''?")
_QUOTE_APART = re.compile(rf"(?:^|(?<=[{WHITE}]))''?(?=[{WHITE}])")
_ELIDED = re.compile(r"^[^\W\d_]+['’]")
_ELISION = re.compile(r"\((?:…|\.{3})\)")
_ELISION_BEGINNING = re.compile(r"\((?:…|\.{1,3})?\Z")
"""An ellipsis in brackets, for words left out: it belongs to what stands before it."""
_LED = re.compile(r"(?:…|\.{3})[^\W\d_]")
_BEHIND_QUOTE = ".,;:!?"
_LED_BEGINNING = re.compile(r"(?:…|\.{1,3})\Z")
"""An ellipsis that a sentence begins with."""
_LABEL = re.compile(rf"[(\[](?:[a-z]|i{{2,3}}|iv|vi{{1,3}})[)\]][{WHITE}]{{1,2}}(?=[^{WHITE}])")
_LABEL_BEGINNING = re.compile(rf"[(\[](?:[a-z]|ii?i?|iv|vi{{0,3}})?(?:[)\]][{WHITE}]{{0,2}})?\Z")
"""The label of an item in running text: "(b) The gym"."""
_SMILE = re.compile(r"\)+")
_TITLE_MARK = re.compile(rf"[{WHITE}](?:[^\W\d_a-z][^\W\d_]+|\w*\d\w*)[{WHITE}]+(?:[!?][{WHITE}]+)?\Z")
"""A capitalised word before an exclamation or question mark that stands apart: "Father Came Too ! is …", where tokens are parted."""
_LINK = re.compile(r"(?:https?://|www\.)", re.IGNORECASE)
_LINK_BEGINNING = re.compile(r"(?:h|ht|htt|https?|https?:|https?:/|w|ww|www)\Z", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"[(\[][^\s()\[\]]{1,12}\Z")
"""One word behind a bracket that is still open: "(pop. 256,000)"."""
_GROUP = re.compile(r"\d{1,3}(?:\.\d{3})*\Z")
_THOUSANDS = re.compile(r"\d{3}(?!\d)")
_ADDRESS = re.compile(r"^\W*(?:https?://|www\.)|@|\.\w+/")
_ROMAN = re.compile(r"[IVXLCDM]+\Z")
_ONE_LETTER = re.compile(rf"[^\W\d_][{MARKS}]*\Z")
_SPELLED = re.compile(rf"(?:[^\W\d_]{{1,3}}[{MARKS}]*\.)+[^\W\d_]{{1,3}}[{MARKS}]*\Z")
_NEST = re.compile("[「『《〈“（(【〔」』》〉”）)】〕]")
_KANA = re.compile("[\u3040-\u30ff]")
_COLON = re.compile(f"[:：՝\u1365\u1366][{WHITE}]*[*_~`)]*\\Z")
_CLAUSE = "，、；：,;:）)」』”》"
_EXTENDING = re.compile(f"[{MARKS}\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef]")
_REACH = 48
"""How far before a full stop its word is looked for, in code points: longer than any abbreviation."""

_NO, _ENDS_HERE, _MORE = range(3)


def _breaks(white: str) -> int:
    return len(_BREAK.findall(white)) if "\n" in white or "\r" in white else 0


class SentenceSplitter:
    """Splits a streamed text into sentences, the same ones for every cutting into pieces.

    `language` is a BCP 47 tag, `markers` a style's name or a MarkerStyle, `max_chars` the most code points that a sentence may have.
    Raises UsageError for an unknown language or style, and for anything but a str as piece. Serves one stream and one thread.
    """

    __slots__ = (
        "_after_row", "_at", "_base", "_calm", "_close", "_end", "_fence", "_fence_line", "_held", "_held_end", "_in_text", "_intro",
        "_lines", "_marked",
        "_max", "_mode", "_nest", "_nest_at", "_new_line", "_phase", "_quoted", "_room", "_rules", "_scan", "_search", "_shut", "_start",
        "_stop", "_style",
        "_sure", "_text",
    )  # fmt: skip

    def __init__(self, language: str = "en", *, markers: str | MarkerStyle = "S", max_chars: int = 1000) -> None:
        if isinstance(max_chars, bool) or not isinstance(max_chars, int) or max_chars < 1:
            raise UsageError("max_chars is an int of 1 or more: the most code points that a sentence may have")
        self._rules = _rules(languages.load(language).code)
        self._style = style_of(markers)
        self._max = max_chars
        self._text = ""  # fed and not handed out: the lead, then the sentence
        self._base = 0  # offset in the stream of its first character
        self._start = 0  # where in it the sentence begins
        self._in_text = False  # the lead is over
        self._new_line = True  # the sentence begins a line
        self._mode = ""  # of the line it is in: "" undecided, prose, item, heading, row, quote, rule, code
        self._after_row = False  # the line before was a row
        self._fence = ""  # the run of marks that opened a code fence
        self._fence_line = 0  # where its opening line ended, while that waits for the first line of code
        self._intro: tuple[int, ...] = ()  # the markers of the last sentence that wasn't code
        self._calm = False  # nothing is waiting, everything was searched
        self._room = 0  # length of `_text` from which the window is full
        self._search = self._rules.search
        self._scan = 0  # where the search goes on
        self._phase = 0  # of a stop: 0 none, 1 terminators, 2 closing marks, 3 tail
        self._stop = self._close = self._shut = 0  # its first mark, the end of its run, the end of the closing marks
        self._at = self._end = 0  # how far its tail was read, the end it would make
        self._lines = 0  # line breaks in its tail
        self._held = self._held_end = 0  # markers at a line start, not yet known to be alone on it
        self._marked = self._sure = False  # there are markers in its tail; and a terminator right after one
        self._quoted = False  # a quotation was closed behind it
        self._nest = self._nest_at = 0  # open quotations and brackets, and up to where they were counted

    @property
    def pending(self) -> str:
        """What was fed and not handed out, white space included."""
        return self._text

    def feed(self, piece: str) -> list[Sentence]:
        """The sentences whose end this piece made certain. Raises UsageError for anything but a str."""
        if not isinstance(piece, str):
            raise UsageError(f"feed takes a str, not {type(piece).__name__}")
        if self._calm and len(piece) + len(self._text) < self._room and not self._search(piece):
            self._text += piece
            return []
        found: list[Sentence] = []
        at = 0
        while True:
            room = self._start + self._max - len(self._text)
            if room > 0 and at < len(piece):
                self._text += piece[at : at + room]
                at += room
            sentence = self._next()
            if sentence is not None:
                found.append(sentence)
            elif at >= len(piece):
                return found

    def flush(self) -> Sentence | None:
        """What is left when the stream is over, as one sentence; None for nothing but white space. The splitter is empty then."""
        end = len(self._text.rstrip(WHITE))
        sentence = self._made(end, led_in=False) if end > self._start else None
        self._base += len(self._text)
        self._text = ""
        self._start = self._phase = 0
        self._in_text = self._calm = False
        return sentence

    # ------------------------------------------------------------------------------------------------ the machine

    def _next(self) -> Sentence | None:
        """The next sentence of the window, or None if more text is needed."""
        text = self._text
        if not self._in_text:
            space = _SPACE_RUN.match(text, self._start)
            if space:
                self._start = space.end()
            if self._start > self._max:
                return self._blank()
            if self._start == len(text):
                return None
            self._begin()
        while True:
            if not self._phase:
                match = self._search(text, self._scan)
                if match is None:
                    self._scan = len(text)
                    break
                if not self._met(match.start()):
                    continue
            if self._mode == "code":
                if self._line_of_code():
                    return self._left(self._end, led_in=False)
                continue
            verdict = self._read_on()
            if verdict == _ENDS_HERE:
                return self._left(self._end, led_in=self._leads_in())
            if verdict == _MORE:
                break
            self._phase = 0
        if len(text) - self._start >= self._max:
            return self._cut()
        self._calm = not self._phase
        self._room = self._start + self._max
        return None

    def _begin(self) -> None:
        """The lead is over: what is known of the line that the sentence stands in?"""
        self._in_text = True
        self._scan = self._nest_at = self._start
        self._nest = self._phase = 0
        breaks = _breaks(self._text[: self._start])
        self._new_line = self._new_line or breaks > 0
        self._after_row = self._after_row and breaks < 2
        if self._fence:
            self._mode = "code"
        elif self._new_line:
            self._mode = ""
        self._search = _NEWLINE if self._mode in _WHOLE_LINE else self._rules.search

    def _blank(self) -> Sentence:
        """More white space than a lead may have."""
        lead = self._text[: self._max]
        breaks = _breaks(lead)
        self._new_line = self._new_line or breaks > 0
        self._after_row = self._after_row and breaks < 2
        self._drop(self._max)
        return Sentence("", lead, self._base, self._base, (), (), "", "prose")

    def _drop(self, count: int) -> None:
        self._text = self._text[count:]
        self._start -= count
        self._base += count

    def _left(self, end: int, *, led_in: bool) -> Sentence:
        """The sentence up to `end`; the machine is set to what follows."""
        sentence = self._made(end, led_in=led_in)
        self._after_row = self._mode == "row"
        self._drop(end)
        self._start = self._phase = 0
        self._in_text = self._new_line = self._calm = False
        return sentence

    def _made(self, end: int, *, led_in: bool) -> Sentence:
        """The record of the sentence up to `end`."""
        start = self._start
        text = self._text[start:end]
        lead = self._text[:start]
        mode = self._mode or self._line_mode(end)
        self._mode = mode
        if mode == "code":
            return Sentence(text, lead, self._base + start, self._base + end, (), self._intro, text, "code")
        found = self._style.find(text)
        numbers: tuple[int, ...] = ()
        prose = text
        if found:
            numbers = tuple(dict.fromkeys(number for marker in found for number in marker.numbers))
            prose = take_out("", text, self._style)[1]
        prose = see(prose)
        kind: SentenceKind = "prose"
        if mode == "row":
            kind = "row" if self._after_row else "heading"
        elif mode == "heading":
            kind = "heading" if word_count(prose) <= _HEADING_WORDS else "prose"
        elif led_in and word_count(prose) <= _LEAD_IN_WORDS:
            kind = "lead_in"
        elif mode == "item":
            kind = "item"
        self._intro = numbers
        return Sentence(text, lead, self._base + start, self._base + end, numbers, numbers, prose, kind)

    # ------------------------------------------------------------------------------------------------ stops

    def _met(self, stop: int) -> bool:
        """A stop is met; False if in this line it is none."""
        text = self._text
        line_break = text[stop] in "\n\r"
        if not self._mode:
            self._mode = self._line_mode(stop + 1)
            if self._mode in _WHOLE_LINE:
                self._search = _NEWLINE
                if not line_break:
                    self._scan = stop
                    return False
        self._stop = stop
        self._marked = self._sure = self._quoted = False
        self._lines = self._held = 0
        self._at = self._close = self._shut = stop
        self._phase = 3 if line_break else 1
        if line_break:
            self._end = self._start + len(text[self._start : stop].rstrip(WHITE))
        return True

    def _line_mode(self, known: int) -> str:
        """The mode of the sentence's line by its text up to `known`; "" if that doesn't tell."""
        text, start = self._text, self._start
        prefix = _QUOTE_PREFIX.match(text, start, known)
        begin = prefix.end() if prefix else start
        match = _BLOCK.match(text, begin, known)
        if match:
            mode = str(match.lastgroup)
            return "quote" if prefix and mode == "code" else mode
        if known - begin < 6 and text[known - 1] not in "\n\r":
            return ""
        return "quote" if prefix else "prose"

    def _line_of_code(self) -> bool:
        """A line break in a fence: whether a unit ends there."""
        text, stop = self._text, self._stop
        self._phase = 0
        self._scan = stop + 1
        if not self._fence:
            line = text[self._start : stop]
            mark = line[0]
            run = len(line) - len(line.lstrip(mark))
            if mark == "`" and mark in line[run:]:  # inline code at a line start
                self._mode = "prose"
                self._search = self._rules.search
                self._scan = self._start
            else:
                self._fence = mark * run
                self._fence_line = stop
            return False
        line = text[self._fence_line or self._start : stop].strip(WHITE)
        if not line:
            return False
        self._end = stop
        if (self._fence_line or self._new_line) and line.startswith(self._fence) and not line.strip(self._fence[0]):
            self._fence = ""
        self._fence_line = 0
        return True

    def _read_on(self) -> int:
        """Reads on behind a stop, and decides as soon as it can."""
        text = self._text
        if self._phase == 1:
            run = self._rules.terminator_run.match(text, self._at)
            if run:
                self._at = run.end()
            if self._at == len(text):
                return _MORE
            self._close = self._at
            self._phase = 2
        if self._phase == 2:
            run = self._rules.closing_run.match(text, self._at)
            if run:
                self._at = run.end()
            if self._at == len(text):
                return _MORE
            verdict = self._glued()
            if verdict is not None:
                return verdict
            self._end = self._shut = self._at
            self._quoted = self._shut > self._close and not self._rules.quotes.isdisjoint(text[self._close : self._shut])
            self._phase = 3
        return self._read_tail()

    def _glued(self) -> int | None:
        """What follows a stop and its closing marks at once; None if the tail is to be read."""
        text, at = self._text, self._at
        if text[at] in WHITE or self._tight(at):
            return None
        marker = self._style.end_at(text, at)
        if marker == UNDECIDED:
            return _MORE
        if marker != NO_MARKER or (text[self._stop : at] == "." and self._after_marker(self._stop)):
            return None
        self._scan = at
        return _NO

    def _tight(self, at: int) -> bool:
        """Whether no white space need follow the stop: its mark is of a script without spaces, or stands between such letters (好吗?我)."""
        text, stop = self._text, self._stop
        if text[stop] in _TIGHT or text[self._close - 1] in _TIGHT:
            return True
        between = stop > self._start and _UNSPACED_CHAR.match(text[stop - 1]) and _UNSPACED_CHAR.match(text[at])
        return bool(between) and any(mark in "!?" for mark in text[stop : self._close])

    def _read_tail(self) -> int:
        """White space and markers behind a stop, up to the character that decides."""
        text = self._text
        size = len(text)
        while self._at < size:
            at = self._at
            char = text[at]
            if char in "\n\r":
                self._at = at + 1
                if char == "\n" and at > self._stop and text[at - 1] == "\r":
                    continue
                if self._held:  # a line of markers alone
                    self._end = self._held_end
                    self._marked = True
                    self._held = self._lines = 0
                self._lines += 1
                if self._lines > 1:
                    return _ENDS_HERE
                continue
            space = _TAIL_SPACE.match(text, at)
            if space:
                self._at = space.end()
                continue
            marker = self._style.end_at(text, at)
            if marker == UNDECIDED:
                return _MORE
            if marker != NO_MARKER:
                if not self._lines:
                    self._end = marker
                    self._marked = True
                else:
                    self._held = self._held or at
                    self._held_end = marker
                self._at = marker
                continue
            if not self._lines:
                reference = _REFERENCE.match(text, at)
                if reference:
                    if reference.end() == size:
                        return _MORE
                    if reference.group().endswith("]"):
                        self._at = self._end = reference.end()
                        continue
                more = self._closed_later(at)
                if more == _MORE:
                    return _MORE
                if more == _ENDS_HERE:
                    self._at = self._end
                    continue
            return self._decided(at)
        return _MORE

    def _closed_later(self, at: int) -> int:
        """Whether a mark behind markers or white space still belongs to the sentence's end, which then moves."""
        text, rules = self._text, self._rules
        char = text[at]
        if at == self._end and self._marked:
            run = rules.terminator_run.match(text, at)
            if run:
                self._end = run.end()
                self._sure = True
                return _ENDS_HERE
            if char in _BRACKETS_CLOSING:
                self._end = at + 1
                return _ENDS_HERE
            run = rules.closing_run.match(text, at)
            if run:
                if run.end() == len(text):
                    return _MORE
                if text[run.end()] in WHITE or not (text[run.end()].isalnum() or text[run.end()] in _OPENING):
                    self._end = run.end()
                    return _ENDS_HERE
            return _NO
        opening = rules.spaced.get(char)
        if at == self._end:
            return _NO
        if char == "'":
            apart = _APART.match(text, at)
            end = apart.end() if apart else at
            if end == len(text):
                return _MORE
            marker = self._style.end_at(text, end) if text[end] not in WHITE else end
            if marker == UNDECIDED:
                return _MORE
            return self._quotes_to(end) if marker != NO_MARKER and self._closes_apart(at) else _NO
        if char == ")" and text.count("(", self._start, at) <= text.count(")", self._start, at):  # a smile
            run = _SMILE.match(text, at)
            if run is None or run.end() == len(text):
                return _MORE
            self._end = run.end()
            return _ENDS_HERE
        if opening is None:
            return _NO
        if opening != char:  # a mark that only closes may close what an earlier sentence opened
            return self._quotes_to(at + 1)
        if text.count(char, self._start, at) % 2:
            if at + 1 == len(text):
                return _MORE
            return _NO if text[at + 1].isalnum() else self._quotes_to(at + 1)
        if text[self._stop : self._close] == ".":
            return _NO
        behind = text[at + 1 : at + 3]
        if not behind or behind == ".":
            return _MORE
        # it closes what an earlier sentence opened if a stop or comma is written on to it: He waits... ".
        return self._quotes_to(at + 1) if behind[0] in _BEHIND_QUOTE and behind != ".." else _NO

    def _quotes_to(self, end: int) -> int:
        """A quotation mark behind white space closes the sentence, with the terminators right behind it."""
        run = self._rules.terminator_run.match(self._text, end)
        end = run.end() if run else end
        if end == len(self._text):
            return _MORE
        self._end = end
        self._quoted = True
        return _ENDS_HERE

    def _closes_apart(self, at: int) -> bool:
        """Whether a single quotation mark with white space on both sides closes (' text . '): what is open, or what an earlier sentence
        opened.
        """
        count = len(_QUOTE_APART.findall(self._text, self._start, at))
        return count % 2 == 1 or (count == 0 and not self._quoted)

    def _after_marker(self, end: int) -> bool:
        """Whether a marker ends there, brackets and emphasis around it aside."""
        text, start = self._text, self._start
        for closing in range(end, max(start, end - 4), -1):
            if self._style.start_before(text, closing, start) >= 0:
                return True
            if text[closing - 1] not in _BRACKETS_CLOSING and text[closing - 1] not in _EMPHASIS:
                break
        return False

    # ------------------------------------------------------------------------------------------------ decisions

    def _decided(self, at: int) -> int:
        """The verdict on a stop by the character at `at`, the first behind it that is neither white space nor part of a marker."""
        if self._stop == self._close:
            return self._line_over(at)
        verdict = self._stop_ends(at)
        if self._lines and not self._held and (verdict != _ENDS_HERE or self._ended_in_colon()):
            block = self._block_at(at)
            if block == _MORE or (block != _NO and verdict != _ENDS_HERE):
                verdict = block
        if verdict == _NO:
            self._scan = self._close
        return verdict

    def _line_over(self, at: int) -> int:
        """A single line break: does it end a sentence?"""
        block = _NO if self._held else self._block_at(at)
        if block == _MORE and self._colon_before(self._end):
            return _MORE  # the end may be certain, the kind isn't
        if self._mode in _OWN_LINE or self._marked or self._after_marker(self._end):
            return _ENDS_HERE
        if block == _NO:
            self._scan = self._held or at
        return block

    def _leads_in(self) -> bool:
        """Whether the sentence that ends here may be a lead-in: it ends in a colon, and a blank line or a block follows."""
        text, at = self._text, self._at
        if self._stop != self._close and (self._lines != 1 or not self._ended_in_colon()):
            return False
        if self._lines < 2:
            block = None if self._held else _BLOCK.match(text, at)
            if block is None or block.lastgroup not in _LED_IN:
                return False
        return self._colon_before(self._end)

    def _colon_before(self, end: int) -> bool:
        """Whether the sentence up to `end` ends in a colon, markers aside."""
        bare = self._text[self._start : end]
        if self._style.find(bare):
            bare = take_out("", bare, self._style)[1]
        return _COLON.search(bare) is not None

    def _ended_in_colon(self) -> bool:
        """Whether the stop is a colon that is a full stop too (Armenian): it introduces only a block on the next line."""
        return self._text[self._stop : self._close] == ":"

    def _block_at(self, at: int) -> int:
        """Whether a block begins at the line start `at`."""
        if _BLOCK.match(self._text, at):
            return _ENDS_HERE
        return _MORE if _BLOCK_BEGINNING.match(self._text, at) else _NO

    def _stop_ends(self, at: int) -> int:
        """Whether a terminator ends the sentence before what stands at `at`."""
        text, start, stop = self._text, self._start, self._stop
        char = text[at]
        run = text[stop : self._close]
        if self._sure:
            return _ENDS_HERE
        if run in ".．" and stop - start < 16 and (_LINE_NUMBER if self._new_line else _SHORT_NUMBER).match(text, start, stop):
            return _NO
        if run in ".．" and self._counts_on(stop):
            return _NO
        if (self._marked and self._lines) or (run == "." and self._after_marker(stop)):
            return _ENDS_HERE
        word = at
        if text.startswith(",,", at):  # an opening mark of writers without „
            word = at + 2
        elif char in _JOINING:
            return _MORE if char == "," and at + 1 == len(text) else _NO
        if self._tight(at):
            return self._tight_ends(at)
        if char in self._rules.terminators:
            led = _LED.match(text, at)
            if led is None:
                return _MORE if _LED_BEGINNING.match(text, at) else _NO
            word = led.end() - 1
            if text[word].islower():
                return _ENDS_HERE if run == "." and at > self._shut and self._is_plain() else _NO
        if char == "(" and not self._marked:
            if _ELISION.match(text, at):
                return _NO
            if _ELISION_BEGINNING.match(text, at):
                return _MORE
        dots = not run.strip(_DOTS)
        closing = text[self._close : self._shut]
        bracket = not self._quoted and any(mark in _BRACKETS_CLOSING for mark in closing)
        if not (dots or self._quoted or bracket or char in _DASHES):
            if char.islower() and _TITLE_MARK.search(text, max(start, stop - _REACH), stop):
                return _NO
            return self._name_ends(word) if run == "!" else _ENDS_HERE
        if (
            run == "."
            and (char in _BEGINNING_MARKS or word > at)
            and at > self._shut
            and not (self._quoted or bracket)
            and self._is_plain()
        ):
            return _ENDS_HERE
        if char in "([":
            if _LABEL_BEGINNING.match(text, at):
                return _MORE
            label = _LABEL.match(text, at)
            word = label.end() if label else word
        opening = _OPENING_RUN.match(text, word)
        word = opening.end() if opening else word
        if word == len(text):
            return _MORE
        lower = text[word].islower()
        if dots and run != "." and not self._quoted:
            always = self._rules.capitals.has(text, word)
            if always is not False:
                return _MORE if always is None else _NO
        if lower and (dots or self._quoted or bracket or char in _DASHES):
            small = self._begins_small(word, run) if dots and word == at and not (self._quoted or bracket) else False
            return _MORE if small is None else _ENDS_HERE if small else _NO
        if self._quoted:
            if char in _DASHES:
                return _NO
            said = self._rules_for(text[word])[0].saying.has(text, word)
            if said is not False:
                return _MORE if said is None else _NO
        if bracket and not (self._marked or self._lines or text[word].isupper() or self._opened_at_start(closing)):
            return _NO
        if not dots:
            return _ENDS_HERE
        if not _LETTER_OR_DIGIT.search(text, start, stop):
            return _NO
        return self._full_stop_ends(word) if run == "." else self._ellipsis_ends(word)

    def _name_ends(self, word: int) -> int:
        """Whether an exclamation mark ends the sentence: one that is part of a listed name (Yahoo!) does so before a starter only."""
        text, start, stop = self._text, self._start, self._stop
        head = text[max(start, stop - _REACH) : stop]
        token = _TOKEN_START.sub("", head.rsplit(None, 1)[-1]) if head and head[-1].isalpha() else ""
        if not token:
            return _ENDS_HERE
        rules = _rules_of_script(_script(token[-1]))
        if fold(token) + "!" not in rules[0].names:
            return _ENDS_HERE
        opening = _OPENING_RUN.match(text, word)
        word = opening.end() if opening else word
        begins = rules[0].starters.has(text, word) if word < len(text) else None
        return _MORE if begins is None else _ENDS_HERE if begins and text[word].isupper() else _NO

    def _counts_on(self, stop: int) -> bool:
        """Whether the number or letter before a full stop numbers the next item of a list in running text: "1. Bread 2. Milk", "• 10."."""
        text, start = self._text, self._start
        match = _COUNTER.search(text, max(start, stop - 4), stop)
        if match is None:
            return False
        label = match["label"]
        before = text[start : match.start("label")].rstrip(WHITE + ")(")
        if before.endswith(_BULLETS) or before.endswith((":", "：")):
            return True
        last = str(int(label) - 1) if label.isdecimal() else chr(ord(label) - 1) if len(label) == 1 else label[1:]
        first = _FIRST_LABEL.match(text, start)
        return last.isdecimal() == label.isdecimal() and ((first is not None and first["label"] == last) or f" {last}." in before)

    def _opened_at_start(self, closing: str) -> bool:
        """Whether the bracket that closes behind the stop is the one that the sentence begins with."""
        text, start = self._text, self._start
        match = _OPENING_RUN.match(text, start)
        begin = text[start : match.end()] if match else ""
        return any(
            opening in begin and closed in closing and text.count(opening, start, self._stop) == text.count(closed, start, self._stop) + 1
            for opening, closed in ("()", "[]", "（）", "{}")
        )

    def _tight_ends(self, at: int) -> int:
        """A terminator of a script without spaces."""
        text = self._text
        char = text[at]
        if (
            text[self._stop : self._close] == "．"
            and at == self._close
            and char.isalnum()
            and not char.isupper()
            and _script(char) in ("Latn", "")
        ):
            return _NO  # a fullwidth decimal point, or one in a name
        for mark in _NEST.finditer(text, self._nest_at, self._shut):
            self._nest = max(0, self._nest + _NESTING[mark.group()])
        self._nest_at = self._shut
        if self._nest:
            return _NO
        if self._shut > self._close and _KANA.match(char):
            return _NO
        return _ENDS_HERE

    def _rules_for(self, char: str) -> tuple[_Rules, ...]:
        """The rules of the script of a letter: those asked for if it is theirs."""
        script = _script(char)
        if not script or script == self._rules.script:
            return (self._rules,)
        return _rules_of_script(script)

    def _ellipsis_ends(self, word: int) -> int:
        """Whether an ellipsis ends the sentence: not after a word that the data lists with one (و...)."""
        text, start, stop = self._text, self._start, self._stop
        if self._marked or self._lines:
            return _ENDS_HERE
        token = _TOKEN_START.sub("", text[max(start, stop - _REACH) : stop].rstrip(WHITE).rsplit(None, 1)[-1])
        return _NO if token and self._rules_for(token[-1])[0].tokens.get(fold(token) + "...") == "always" else _ENDS_HERE

    def _full_stop_ends(self, word: int) -> int:
        """Whether a single full stop ends the sentence, by the word before it and the one that begins at `word`."""
        text, start, stop = self._text, self._start, self._stop
        following = text[word]
        if _script(following) in _NO_FULL_STOP:
            return _NO
        if self._marked:
            return _ENDS_HERE
        if self._rules_for(following)[0].full_stop == "never":
            return _NO
        head = text[max(start, stop - _REACH) : stop]
        if following.isdecimal() and _IN_BRACKETS.search(head):
            return _NO
        apart = head[-1:] in WHITE
        head = head[:-1] if apart else head
        whole = "" if not head or head[-1] in WHITE else head.rsplit(None, 1)[-1]
        token = _TOKEN_START.sub("", whole)
        if not token or _ADDRESS.search(whole):
            return _ENDS_HERE
        rules = self._rules_for(token[-1])
        forms = dict.fromkeys((whole, token, _ELIDED.sub("", token)))  # "c.-à-d.", "(vol.", "l'art."
        kind = next(filter(None, (_kind(rules, fold(form) + ".", head) for form in forms)), "")
        if kind == "always":
            return _NO
        if kind == "closer" or (apart and not kind):
            return _ENDS_HERE
        if self._rules.grouped and text[word - 1] == " " and word - self._close == 1 and _GROUP.match(token):
            thousands = _THOUSANDS.match(text, word)
            if thousands:
                return _MORE if thousands.end() == len(text) else _NO
            if len(text) - word < len("000") and text[word:].isdecimal():
                return _MORE
        if kind == "number":
            if following.isdecimal():
                return _NO
            if following in "IVXLC" and (roman := _WORD.match(text, word)) and _ROMAN.match(roman.group()):
                if roman.end() == len(text):
                    return _MORE
                if roman.group() != "I":
                    return _NO
        begins = None
        if token.isdecimal():
            if rules[0].ordinals != "none" and following.isdecimal() and (len(token) < 4 or (rules[0].year_first and len(token) == 4)):
                return _NO
            if rules[0].ordinals == "months":
                begins = rules[0].nouns.has(text, word)
                return _MORE if begins is None else _NO if begins else _ENDS_HERE
            if rules[0].ordinals == "none" or len(token) > 3:
                return _ENDS_HERE if rules[0].full_stop != "words" else _NO
        elif kind != "final" and not _SPELLED.match(token):
            initial = rules[0].initials and _ONE_LETTER.match(token) and (not token.islower() or fold(token) + "." in rules[0].parts)
            if not initial and not (rules[0].ordinals == "any" and _ROMAN.match(token)):
                return self._word_ends(rules[0], token, following)
        elif self._lines:
            return _ENDS_HERE
        if kind == "final" and following.isupper() and fold(token) + "." in rules[0].degrees:
            words = head.split()
            if len(words) > 1 and words[-2] in rules[0].determiners:
                return _ENDS_HERE
        if kind == "final" and text[self._at] != "(" and _COUNTED.search(head):
            return self._after_time(rules[0], word)
        begins = rules[0].starters.has(text, word)
        return _MORE if begins is None else _ENDS_HERE if begins else _NO

    def _after_time(self, rules: _Rules, word: int) -> int:
        """Whether "9 a.m." or "50 A.D." ends the sentence: before a word that begins one, or before a capital in a sentence that has said
        something.
        """
        text = self._text
        begins = rules.starters.has(text, word)
        if begins is not False:
            return _MORE if begins is None else _ENDS_HERE
        fronted = rules.fronting.has(text, self._start) or len(text[self._start : self._stop].split()) <= _FEW_WORDS
        if fronted or rules.nouns_capitalised or not text[word].isupper():
            return _NO
        if word + 1 == len(text):
            return _MORE
        if text[word + 1].isupper():
            return _NO  # a time zone, or another acronym
        goes_on = rules.time_words.has(text, word)
        return _MORE if goes_on is None else _NO if goes_on else _ENDS_HERE

    def _is_plain(self, letters: int = _PLAIN) -> bool:
        """Whether the word before a full stop is nothing in particular: no abbreviation, number or initial."""
        head = self._text[max(self._start, self._stop - _REACH) : self._stop]
        whole = "" if not head or head[-1] in WHITE else head.rsplit(None, 1)[-1]
        token = _TOKEN_START.sub("", whole)
        if len(token) < letters or not token.replace("'", "").replace("’", "").isalpha():
            return False
        rules = self._rules_for(token[-1])
        return rules[0].full_stop == "ends" and not any(
            _kind(rules, fold(form) + ".", head) for form in {whole, token, _ELIDED.sub("", token)}
        )

    def _without_capitals(self) -> bool:
        """Whether the sentence itself begins in lower case (its writer uses no capitals) and a plain word stands before the stop."""
        text = self._text
        return (
            self._mode in ("", "prose")
            and text[self._start].islower()
            and self._is_plain(2)
            and len(text[self._start : self._stop].split()) > 1
        )

    def _begins_small(self, word: int, run: str) -> bool | None:
        """Whether a sentence begins in lower case behind a full stop: in the hand of a writer without capitals, with a word that the data
        list for it, or with a link. None while more text is needed.
        """
        text = self._text
        if run == "." and self._without_capitals():
            return True
        if not self._is_plain(2) and not _LONG_NUMBER.search(text, max(self._start, self._stop - _REACH), self._stop):
            return False
        if _LINK.match(text, word):
            return True
        listed = self._rules_for(text[word])[0].small.has(text, word) if run == "." else False
        return None if listed is not True and _LINK_BEGINNING.match(text, word) else listed

    def _word_ends(self, rules: _Rules, token: str, following: str) -> int:
        """Whether a full stop ends the sentence after a word that is nothing in particular."""
        if rules.full_stop != "words" and self._rules_for(following)[0].full_stop != "words":
            return _ENDS_HERE
        letters = sum(char.isalpha() for char in token)
        return _ENDS_HERE if letters > 3 or fold(token) in rules.verbs else _NO

    # ------------------------------------------------------------------------------------------------ the ceiling

    def _cut(self) -> Sentence:
        """The window is full and no end is certain: what goes out, as a sentence like any other."""
        text, start = self._text, self._start
        end = start + len(text[start : self._cut_at()].rstrip(WHITE))
        if self._mode == "code" and not self._fence:
            self._fence = text[start : start + 3]
        self._fence_line = 0
        return self._left(end, led_in=False)

    def _cut_at(self) -> int:
        """Where the full window is cut: at its last white space, not inside a value or marker if another one can be had."""
        text, start, limit = self._text, self._start, len(self._text)
        held = [(marker.start, marker.end) for marker in self._style.find(text[start:])] if self._mode != "code" else []
        held = [(start + begin, start + end) for begin, end in held]
        for begin in range(max(start, limit - 64), limit):
            if self._style.end_at(text, begin) == UNDECIDED:
                held.append((begin, limit + 1))
                break
        forbidden = bytearray(limit + 2)
        for begin, end in held:
            for inside in range(begin + 1, min(end, limit + 1)):
                forbidden[inside] = 1
        good = fair = 0
        for space in _SPACE_RUN.finditer(text, start + 1):
            at, end = space.span()
            if forbidden[at]:
                continue
            left, right = text[at - 1].isdecimal(), end < limit and text[end].isdecimal()
            if not (left and right):
                fair = at
                if not (left or right):
                    good = at
        if good or fair:
            return good or fair
        apart = [at for begin, end in held for at in (begin, end) if start < at < limit]
        clause = max((text.rfind(mark, start, limit - 1) + 1 for mark in _CLAUSE), default=0)
        if apart or clause > start:
            return max([*apart, clause])
        spaces = [space.start() for space in _SPACE_RUN.finditer(text, start + 1)]
        if spaces:
            return spaces[-1]
        at = limit - 1
        while at > start + 1 and _in_run(text, at) and limit - at < _REACH:
            at -= 1
        if _in_run(text, at):
            at = limit - 1
        while at > start + 1 and _inside_cluster(text, at) and limit - at < _REACH:
            at -= 1
        return limit if at <= start or _inside_cluster(text, at) else at


def _in_run(text: str, at: int) -> bool:
    """Whether a cut there would part letters or digits of one run."""
    left, right = text[at - 1], text[at]
    return left.isalnum() and right.isalnum() and not (_UNSPACED_CHAR.match(left) and _UNSPACED_CHAR.match(right))


def _inside_cluster(text: str, at: int) -> bool:
    """Whether a cut there would part a grapheme cluster, roughly."""
    return _EXTENDING.match(text, at) is not None or text[at - 1] == "\u200d"


def _kind(rules: tuple[_Rules, ...], token: str, head: str) -> str:
    """The class of abbreviation that a word with its full stop is: always, number, final, or "" for none."""
    lowered = token[0].lower() + token[1:]
    for each in rules:
        for form in (token, lowered):
            if form in each.phrases:
                before = fold(head) + "."
                for whole, kind in each.phrases[form]:
                    at = len(before) - len(whole)
                    if (
                        before[at + 1 :] == whole[1:]
                        and before[at : at + 1].lower() == whole[0].lower()
                        and (at == 0 or not before[at - 1].isalnum())
                        and at >= 0
                    ):
                        return kind
        kind = each.tokens.get(token) or each.tokens.get(lowered, "")
        if kind:
            return kind
    return ""
