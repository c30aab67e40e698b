"""The normal form for comparison, and what a reader sees through.

`see(text)` is what a reader sees of Markdown and HTML: emphasis, tags, comments, link targets, backslash escapes and entities are gone.
`fold(text)` is the form in which two texts are compared: digits of every script are ASCII, Arabic letter forms are Persian ones,
short-vowel marks, tatweel and the Armenian marks of intonation inside words are gone, width, font and presentation forms are folded (NFKC,
character by character), ZWNJ is a space, other invisible characters are nothing. Superscript digits stay, since a power is no digit, but
behind white space or a currency sign they are digits like any other. Case stays. Both are copies: the stream's text is never changed.

Source of the rules: UAX #15 (NFKC), UTS #39 (what is invisible), CommonMark 0.31 (escapes, emphasis, entities).
"""

from __future__ import annotations

import html
import re
import unicodedata

WHITE = "\t\n\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""White space of the contract: tab, CR, LF and Unicode Zs. For use in str.strip and in a character class."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Letters of scripts that are written without spaces between words, for a character class: Thai, Lao, Myanmar, Khmer, Han, kana."""

MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0971-\u09e5\u09f0-\u0a65\u0a70-\u0ae5\u0af0-\u0b65\u0b70-\u0be5\u0bf0-\u0c65\u0c70-\u0ce5\u0cf0-\u0d65\u0d70-\u0de5\u0df0-\u0dff"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u17b4-\u17d3"
)
"""Combining signs that are part of a word and that `\\w` leaves out, for a character class: Indic blocks without dandas and digits, and
others."""

_SUPERSCRIPTS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
_KEPT = frozenset("−–—٫٬،…。") | _SUPERSCRIPTS
_LETTERS = {
    "ي": "ی", "ى": "ی", "ې": "ی", "ك": "ک", "ڪ": "ک", "ۀ": "ه", "ہ": "ه", "ھ": "ه", "أ": "ا", "إ": "ا", "ٱ": "ا", "٪": "%",
    "‘": "'", "’": "'", "ʼ": "'", "‛": "'", "′": "'", "“": '"', "”": '"', "„": '"', "‟": '"', "″": '"', "‐": "-", "‑": "-",
    "\u200c": " ", "\u2028": " ", "\u2029": " ", "⁄": "/", "∕": "/", "∶": ":",
}  # fmt: skip
_MARKS_GONE = re.compile(
    r"[\u055b\u055c\u055e\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_CIRCLED = re.compile("[\u2776-\u2793\u24eb-\u24ff\U0001f10b\U0001f10c]")
"""Digits and numbers in circles that have no compatible form."""
_MARKS_ON_DIGITS = re.compile(r"(?<=\d)[\u0300-\u036f\u0483-\u0489\u20d0-\u20ff\ufe00-\ufe0f]+")
_ZWNJ_IN_NUMBER = re.compile("(?<=\\d)\u200c+(?=\\d)")
_COMBINING = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u20d0-\u20ff\u3099\u309a]")


_BASELESS = re.compile("(?<![mM] )(?<=[ \\t$€£¥₹~≈=<>])[⁰¹²³⁴⁵⁶⁷⁸⁹]+|(?m:^)[⁰¹²³⁴⁵⁶⁷⁸⁹]{2,}")
"""Superscript digits that are no power and no note's number."""
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


class _Fold(dict[int, str]):
    """code point -> its folded text, filled as characters are met."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        folded = self[point] = _fold_char(char)
        return folded


def _fold_char(char: str) -> str:
    if char.isascii() or char in _KEPT:
        return char
    if char in _LETTERS:
        return _LETTERS[char]
    if (digit := unicodedata.decimal(char, None)) is not None:
        return str(digit)
    if _CIRCLED.match(char):
        return f"{unicodedata.numeric(char):.0f}"
    category = unicodedata.category(char)
    if category == "Zs":
        return " "
    if category == "Cf" or _MARKS_GONE.match(char) or _INVISIBLE.match(char):
        return ""
    if "VULGAR FRACTION" in unicodedata.name(char, ""):
        return " " + unicodedata.normalize("NFKC", char).replace("⁄", "/")
    compatible = unicodedata.normalize("NFKC", char)
    if compatible == char or compatible.startswith(" "):
        return char
    return "".join(map(_fold_char, compatible)) if compatible != char else char


_TABLE = _Fold()


def fold(text: str) -> str:
    """The form in which texts are compared. Offsets of the result are its own; nothing is released from it."""
    if text.isascii():
        return text
    if _COMBINING.search(text) or "\ufe0f" in text:
        text = unicodedata.normalize("NFC", _MARKS_ON_DIGITS.sub("", text))
    if "\u200c" in text:
        text = _ZWNJ_IN_NUMBER.sub("", text)
    return _BASELESS.sub(lambda match: match.group().translate(_LOWERED), text.translate(_TABLE))


_MARKUP = re.compile(r"[*_`~<&\\\[{]")
_SEEN_THROUGH = re.compile(
    r"(?=[\\<!\[&*`~_{])(?:"  # one look decides for most characters
    r"(?<=[0-9])(?:\{(?P<braces>[0-9]*[.,]?[0-9]*)\}|(?P<thin>\\!))(?=[0-9])"  # 1{,}200 of TeX
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<empty><!--(?:-?>))"
    r"|(?P<comment><!--(?:[^<-]|<(?!!--)|-(?!->))*-->)"
    r"|(?P<other><(?:!(?=[A-Za-z\[])|\?)[^<>]*+>)"  # a browser takes it for a comment
    r"|<(?P<auto>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@/]+@[^\s<>@]+)>"
    r"|(?P<sup><sup\b[^<>]*>)"
    rf"|(?P<gap></?(?:br|p|div|li|ul|ol|td|th|tr|table|hr|h[1-6]|blockquote|pre)\b[^<>]*>)"
    r"|(?P<tag></?[A-Za-z][^<>]*>)"
    r"|!?\[(?P<label>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\(\s*+(?P<target><[^<>\n]*+>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)"
    r"(?P<title>\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\))?\s*+)?\)"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
    rf"|(?P<emphasis>(?<![{WHITE}])\*+|\*+(?![{WHITE}])|`+|~~+|(?<!\w)_+|_+(?!\w)))"
)
_SHOWN = re.compile(r"\b(?:title|alt|aria-label|placeholder|label)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'<>]+)", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"(?:href|src|srcset|action|formaction|data|cite|poster|background|ping|xlink:href)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'<>]+)",
    re.IGNORECASE,
)


def _seen(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "escape":
        return match.group()[1:]
    if kind == "auto":
        return match["auto"]
    if kind == "sup":
        return "^"
    if kind == "gap":
        return " "
    if kind == "braces":
        return match["braces"]
    if kind == "entity":
        return html.unescape(match.group())
    if kind in ("target", "title", "label"):
        return see(match["label"])
    return ""


def see(text: str) -> str:
    """What a reader sees of Markdown and HTML; markers must have been taken out before. The label of a link stays, its target goes
    (`targets`).
    """
    return _SEEN_THROUGH.sub(_seen, text) if _MARKUP.search(text) else text


def asides(text: str) -> tuple[str, ...]:
    """What a page may show besides: the insides of HTML comments, titles of links, title and alt of tags."""
    if "](" not in text and "<" not in text:
        return ()
    found: list[str] = []
    for match in _SEEN_THROUGH.finditer(text):
        if match["comment"]:
            found.append(match["comment"][4:-3])
        elif match["other"]:
            found.append(match["other"][2:-1])
        elif match["tag"] or match["gap"]:
            found.extend(html.unescape(value.strip("\"'")) for value in _SHOWN.findall(match.group()))
        elif match["label"] is not None:
            if match["title"] and (title := match["title"].strip()):
                found.append(see(title[1:-1]))
            found.extend(asides(match["label"]))
    return tuple(found)


def targets(text: str) -> tuple[str, ...]:
    """Where links, images and attributes of tags point to, as written, entities unescaped."""
    if "](" not in text and "<" not in text:
        return ()
    found: list[str] = []
    for match in _SEEN_THROUGH.finditer(text):
        if match["target"]:
            found.append(html.unescape(match["target"].strip("<>")))
            found.extend(targets(match["label"]))
        elif match["tag"] or match["gap"]:
            found.extend(html.unescape(value.strip("\"'")) for value in _ATTRIBUTE.findall(match.group()))
    return tuple(found)


_WORD = re.compile(rf"[^\W_][^{WHITE}]*")
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")


def word_count(prose: str) -> int:
    """Words of a text: runs between white space with a letter or digit; three characters of a script without spaces are two words."""
    if prose.isascii():
        return len(_WORD.findall(prose))
    without, unspaced = _UNSPACED_LETTER.subn(" ", prose)
    return len(_WORD.findall(without)) + unspaced * 2 // 3
