"""URLs, bare hosts and e-mail addresses.

Keys: "h" + host for a host as such, "u" + host + path and query for an address on it, "e" + address. A host is compared without case,
`www.` and a final dot, punycode decoded; http and https are one scheme, other schemes stay in the key; the fragment and a root slash go.
A host that can't be vouched for (user info before it, scripts mixed in one label) has no keys at all.

Where an address ends: at white space, a quotation mark or an angle bracket; then sentence punctuation and unbalanced closing brackets are
taken off. A letter of another script is not part of an ASCII address (RFC 3986), but addresses with such letters are written. So the
answer may mean either, the whole (an IRI, RFC 3987) or what stands before the first such letter; a source vouches for the whole, and for
the part before only where the letter is written on to a letter, digit or slash of the host, since in `/wiki/تهران` the part before is no
address. In a host a letter of a script that looks like Latin belongs to the host, so that a mixed host is seen; any other letter ends it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from ..normal import UNSPACED

# Top-level domains that a bare host may end in. Left out are those that are also common file endings or words and names behind a full stop
# without a space: .py, .md, .rs, .sh, .pl, .ps, .so, .cc, .zip, .mov, .in, .it, .is, .no, .at, .be, .me, .to, .us, .am, .as, .do, .my,
# .id, .la.
_STRONG = (
    "com|org|net|edu|gov|mil|int|info|biz|io|ai|co|dev|xyz|online|site|shop|store|blog|cloud|tech|news|museum|travel|jobs|coop|aero|eu|uk|de|fr|es|ir|ru|su|"
    "cn|jp|kr|"
    "tw|hk|sg|th|vn|ph|pk|bd|lk|np|af|iq|sa|ae|qa|kw|om|ye|jo|lb|sy|eg|dz|tn|ly|tr|il|gr|cy|bg|ro|hu|cz|sk|hr|rs|si|ua|by|kz|uz|ge|az|fi|se|dk|nl|"
    "ch|"
    "lu|li|ie|pt|br|ar|mx|cl|pe|ve|uy|bo|ec|cr|cu|au|nz|za|ng|ke|gh|tz|ug|et|zm|zw|mz|ca|tv|fm|ly|gg|tk|gq|pw|icu|ws|mk|mt|ba|рф|xn--[a-z0-9-]{2,59}|example|test|onion|arpa"
)
# Those that are words too: a host only with a path behind it or with two and more dots in it.
_WEAK = (
    "in|it|is|no|at|be|me|to|us|am|as|my|id|la|do|st|app|page|link|live|life|world|today|name|pro|mobi|tel|post|top|club|work|works|email|"
    "help|land|guru|rs|pl|cc|ms"
)
_FILES = re.compile(r"\.(?:rs|cc|pl|ms)$")

# Letters of a bare host: those of other scripts than Latin-like ones are words that are written on to it.
_L = "a-z0-9\u00c0-\u058f"
_ADDRESS = re.compile(
    r"(?P<scheme>(?<![a-z])(?:[a-z][a-z0-9+.-]{1,15}:(?:/{2,}|\\\\)|(?:https?|ftp|wss?):[/\\]+(?=[^\W_])|(?:javascript|vbscript):(?=\S)|data:[a-z]+/[a-z0-9.+-]{1,60}[;,]))"
    r"|(?P<at>@)"
    rf"|(?<![{_L}_@./-])(?P<www>www\.(?=[^\W_]))"
    rf"|(?<![{_L}_@./\\-])(?P<host>(?:[{_L}][{_L}_-]{{0,62}}\.){{1,8}}(?:{_STRONG}|{_WEAK})(?![{_L}_-])(?!\.(?-i:[a-z0-9])))"
    r"|(?P<hidden>(?: ?[\[({] ?(?:\.|dot) ?[\])}] ?| dot )(?=[^\W_]))",
    re.IGNORECASE,
)
_HINT = re.compile(
    rf":[/\\]|@|(?:javascript|vbscript):|data:[a-z]|www\.|\.(?:{_STRONG}|{_WEAK})(?![{_L}_-])| dot |[\[({{] ?(?:dot|\.) ?[\])}}]"
)
_BODY = re.compile(r"[^\s<>\"`|\\^{}\u0001。，、；：！？）】》」』“”«»…]+")
_HOST_BODY = re.compile(r"[^\s<>\"`|\\^{}\u0001。，、；：！？）】》」』“”«»…/?#]+")
_LOCAL = re.compile(r"[^\W_][\w.+%'-]*$")
_DOMAIN = re.compile(r"(?:[^\W_][\w-]{0,62}\.(?=[^\W\d_])){1,8}[^\W\d_][\w-]{0,62}")
_HIDDEN_LEFT = re.compile(r"[\w-]{1,63}$")
_HIDDEN_STEP = re.compile(r"(?: ?[\[({] ?(?:\.|dot) ?[\])}] ?| dot |\.)([\w-]{1,63})", re.IGNORECASE)
_HIDDEN_AT = re.compile(r"([\w.+-]{1,64}) ?[\[({] ?(?:@|at) ?[\])}] ?$", re.IGNORECASE)
_STRONG_END = re.compile(rf"(?:{_STRONG})$", re.IGNORECASE)
_PATH = re.compile(r"[/?#]")
_TRAILING = ".,;:!?'\"*_~،؛؟。…"
_CLOSING = {")": "(", "]": "[", "}": "{"}
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_LOOKALIKE = re.compile("[\u00c0-\u058f\u13a0-\u13ff\u1e00-\u1fff\u2c60-\u2dff\ua720-\ua7ff\uab30-\uabbf]")
_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_DOT_COM_WORDS = frozenset(
    ("the", "a", "an", "this", "that", "each", "every", "of", "during", "and", "early", "late", "first", "second", "former", "post", "pre")
)
_NO_SCHEME = re.compile(r"[a-z0-9+.-]*:", re.IGNORECASE)


_LONGEST_TOKEN = 300
"""Code points before a sign of an address in which its beginning is looked for, so that the search stays linear."""


class Address(NamedTuple):
    """A found address: its span, its kind, the keys of an answer and what a source that has it vouches for."""

    start: int
    end: int
    kind: str
    keys: tuple[str, ...]
    vouched: tuple[str, ...]


_SIGNS = ("@", ":/", ":\\", "www.", "script:", "data:", " dot ", "(", "[", "{")
_DOT_LETTER = re.compile(r"\.[^\W\d_]")


def may_hold(low: str) -> bool:
    """Whether a text in lower case may hold an address: a quick look that spares most sentences the search."""
    return any(sign in low for sign in _SIGNS) or _DOT_LETTER.search(low) is not None


def find(text: str, low: str) -> list[Address]:
    """The addresses of a folded text, in order, none within another; `low` is the same text in lower case, of the same length."""
    found: list[Address] = []
    done = tried = clear = 0  # the end of the last address, of the last look; up to where no address begins
    for hint in _HINT.finditer(low):
        at = hint.start()
        if at < done or hint.end() <= clear:
            continue
        window = max(done, tried, at - _LONGEST_TOKEN)
        begin = max(window, 1 + max(text.rfind(white, window, at) for white in " \n\t"))
        limit = hint.end() + 2 * _LONGEST_TOKEN
        while (match := _ADDRESS.search(text, begin, limit)) and match.start() < hint.end():
            address = _read(text, match, done)
            begin = tried = match.end()
            if address is not None:
                found.append(address)
                begin = done = max(begin, address.end)
        clear = match.start() if match else hint.end() + _LONGEST_TOKEN
        tried = max(tried, at)
    return found


def _read(text: str, match: re.Match[str], done: int) -> Address | None:
    kind = match.lastgroup
    start = match.start()
    if kind == "at":
        return _email(text, start, done)
    if kind == "hidden":
        return _hidden(text, match, done)
    if kind == "scheme":
        word = match.group().lower()
        if not word.endswith(("/", "\\")):
            body = _BODY.match(text, start)
            end = _trim(text, start, body.end() if body else match.end())
            return Address(start, end, "url", ("u" + text[start:end],), ("u" + text[start:end],))
        begin = match.end()
        body = _BODY.match(text, begin)
        if body is None:
            return None
        return _url(text, start, begin, body.end(), word.rstrip("/\\:"))
    body = _BODY.match(text, start)
    assert body is not None
    end = body.end()
    if kind == "host":
        host = match.group()
        after = text[match.end() : match.end() + 1]
        path = after in ("/", "?", "#") and after != ""
        if after == "@":
            return None
        tld = host.rsplit(".", 1)[1]
        if not _STRONG_END.fullmatch(tld) and not path and host.count(".") < 2:
            return None
        if path and _FILES.search(host.lower()) and not host.startswith("www."):
            return None
        if tld != tld.lower() and host != host.upper():
            return None  # "end.It", "Node.Com"
        if not path:
            end = match.end()
    return _url(text, start, start, end, "http")


def _url(text: str, start: int, begin: int, end: int, scheme: str) -> Address | None:
    """The address whose host begins at `begin` and which goes no further than `end`."""
    path = _PATH.search(text, begin, end)
    host_end = path.start() if path else end
    authority = text[begin:host_end]
    if "@" in authority:
        end = _trim(text, begin, end)
        return Address(start, end, "url", (), ()) if end > begin else None
    cut = _host_cut(authority)
    if cut < len(authority):
        host_end = end = begin + cut
        path = None
    end = _trim(text, begin, end)
    if path is None or end <= host_end:
        host_end = end
    if end <= begin:
        return None
    host = _host(text[begin:host_end])
    if host is None:
        return Address(start, end, "url", (), ())
    if not host:
        return None
    prefix = "" if scheme in ("http", "https", "hxxp", "hxxps") else scheme + "://"
    rest = text[host_end:end]
    foreign = _FOREIGN.search(rest)
    whole = _address(prefix, host, rest)
    if not foreign:
        return Address(start, end, "url", (whole,), (whole, f"h{prefix}{host}"))
    before = rest[: foreign.start()]
    part = _address(prefix, host, before.rstrip(_TRAILING) if before else before)
    glued = before == "/" or before[-1:].isalnum()
    return Address(start, end, "url", (whole, part), (whole, part, f"h{prefix}{host}") if glued else (whole, f"h{prefix}{host}"))


def _address(prefix: str, host: str, rest: str) -> str:
    rest = rest.split("#", 1)[0]
    return f"u{prefix}{host}{rest}" if rest not in ("", "/") else f"h{prefix}{host}"


def _host_cut(authority: str) -> int:
    """Where a host ends that a letter of another script is written on to."""
    if authority.isascii():
        return len(authority)
    for match in _FOREIGN.finditer(authority):
        at, char = match.start(), match.group()
        if _LOOKALIKE.match(char) or unicodedata.category(char)[0] == "M":
            continue
        label = authority[:at].rsplit(".", 1)[-1]
        if label and label.isascii() and "." in authority[:at]:
            return at
    return len(authority)


def _host(authority: str) -> str | None:
    """A host in its compared form; "" if it is none, None if its scripts are mixed."""
    host = authority.lower().rstrip(".")
    host = host.removeprefix("www.")
    name, colon, port = host.partition(":")
    if colon and port in ("80", "443", ""):
        host = name
    if "xn--" in host:
        host = ".".join(map(_decoded, host.split(".")))
    if not host.isascii() and any(_mixed(label) for label in host.split(".")):
        return None
    return host


def _decoded(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode").lower()
    except (UnicodeError, ValueError, OverflowError):
        return label


_EAST_ASIAN = ({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}, {"CJK", "HANGUL"}, {"CJK", "BOPOMOFO"})


def _mixed(label: str) -> bool:
    scripts = {unicodedata.name(char, "UNKNOWN").split(" ", 1)[0] for char in label if char.isalpha()}
    return len(scripts) > 1 and not any(scripts <= together for together in _EAST_ASIAN)


def _trim(text: str, start: int, end: int) -> int:
    """The end of an address without the sentence's punctuation and unbalanced closing brackets."""
    opened: dict[str, int] | None = None
    while end > start:
        last = text[end - 1]
        if last in _TRAILING:
            end -= 1
        elif last in _CLOSING:
            if opened is None:
                body = text[start:end]
                opened = {close: body.count(close) - body.count(opening) for close, opening in _CLOSING.items()}
            if opened[last] <= 0:
                break
            opened[last] -= 1
            end -= 1
        else:
            break
    return end


def _email(text: str, at: int, done: int) -> Address | None:
    local = _LOCAL.search(text[max(done, at - 64) : at])
    if local is None:
        return None
    domain = _DOMAIN.match(text, at + 1)
    if domain is None:
        return None
    start, end = at - len(local.group()), domain.end()
    cut = _host_cut(domain.group())
    end = _trim(text, at + 1, at + 1 + cut)
    host = _host_of_email(text[at + 1 : end])
    if host is None:
        return Address(start, end, "email", (), ())
    name = text[start:at].lower()
    foreign = [match.end() for match in _FOREIGN.finditer(name)]
    keys = [f"e{name}@{host}"]
    if foreign and not _LOOKALIKE.match(name[foreign[-1] - 1]) and foreign[-1] < len(name):
        keys.append(f"e{name[foreign[-1] :]}@{host}")  # a letter of another script is written on to it
    return Address(start, end, "email", tuple(keys), tuple(keys))


def _host_of_email(domain: str) -> str | None:
    host = domain.lower().rstrip(".")
    if "xn--" in host:
        host = ".".join(map(_decoded, host.split(".")))
    if not host.isascii() and any(_mixed(label) for label in host.split(".")):
        return None
    return host


def _hidden(text: str, match: re.Match[str], done: int) -> Address | None:
    """evil[.]com, evil (dot) com, "evil dot com", name [at] host [dot] com."""
    left = _HIDDEN_LEFT.search(text[max(done, match.start() - 63) : match.start()])
    if left is None or not left.group().strip("-_"):
        return None
    start, at = match.start() - len(left.group()), match.start()
    labels, ends = [left.group()], [at]
    while len(labels) < 8 and (step := _HIDDEN_STEP.match(text, ends[-1])):
        labels.append(step[1])
        ends.append(step.end())
    while len(labels) > 1 and not _STRONG_END.fullmatch(labels[-1]):
        labels.pop()
        ends.pop()
    at = ends[-1]
    if len(labels) < 2:
        return None
    if match.group() == " dot " and len(labels) == 2 and labels[0].lower() in _DOT_COM_WORDS:
        return None
    host = ".".join(labels)
    before = text[max(done, start - 80) : start]
    if name := _HIDDEN_AT.search(before):
        return Address(
            start - len(name.group()), at, "email", (f"e{name[1].lower()}@{host.lower()}",), (f"e{name[1].lower()}@{host.lower()}",)
        )
    if before.endswith("@") and (local := _LOCAL.search(before[:-1])):
        key = f"e{local.group().lower()}@{host.lower()}"
        return Address(start - 1 - len(local.group()), at, "email", (key,), (key,))
    scheme = re.search(r"[a-z]{1,8}://(?:www\.)?$", before, re.IGNORECASE)
    body = _BODY.match(text, at) if text[at : at + 1] in ("/", "?") else None
    end = _trim(text, at, body.end()) if body else at
    whole = _address("", host.lower().removeprefix("www."), text[at:end])
    return Address(start - (len(scheme.group()) if scheme else 0), end, "url", (whole,), (whole, "h" + host.lower().removeprefix("www.")))


def target(link: str) -> Address:
    """Where a link, image or attribute points to. What has no host (data:, a relative path) must stand in the source as such."""
    link = link.strip()
    size = len(link)
    low = link.lower()
    if link.startswith("#"):
        return Address(0, size, "url", ("u#",), ("u#",))
    if low.startswith("mailto:"):
        name = link[7:].split("?", 1)[0]
        for address in find(name, name.lower() if len(name.lower()) == len(name) else name):
            if address.kind == "email" and address.end == len(name):
                return Address(0, size, "email", address.keys, address.vouched)
        return Address(0, size, "email", ("u" + link,), ("u" + link,))
    if low.startswith("tel:"):
        digits = "".join(char for char in link if char.isdigit())
        return Address(0, size, "phone", ("p" + digits,), ("p" + digits,))
    slashes = re.match(r"(?:([a-z][a-z0-9+.-]*):)?[/\\]{2,}", low)
    if slashes:
        found = _url(link, 0, slashes.end(), size, slashes[1] or "http")
        return found or Address(0, size, "url", ("u" + link,), ("u" + link,))
    if not _NO_SCHEME.match(link) or re.match(r"[\w.-]+:[0-9]", link):
        bare = _ADDRESS.match(link)
        if bare and bare.lastgroup in ("host", "www"):
            found = _url(link, 0, 0, size, "http")
            if found is not None:
                return found._replace(keys=(*found.keys, "u:" + link), vouched=(*found.vouched, "u:" + link))
    return Address(0, size, "url", ("u:" + link,), ("u:" + link,))
