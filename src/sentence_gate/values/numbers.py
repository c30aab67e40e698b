"""Numbers in digits: what stands around a numeral and belongs to it: sign, groups by spaces, scale words, powers, fractions, the other end
of a range.

Keys: "n" + canonical number ("n-40"), "q" + fraction as written ("q3/4"), "^" + base and exponent of a power, "v" + version, "w" + what
is kept as it is written, "o" + the hour of a clock (clocks.py). In an answer a numeral has the first of its readings, in a source all.
"""

from __future__ import annotations

import re

from . import clocks, dates
from .look import CURRENCY, DASHES, LETTER, LETTERS, WHITE, Found, Look
from .numerals import NUMERAL, Parts, canonical, quotient, read, times
from .words import half_behind

_MIX = re.compile(rf"(?:{LETTER}|[0-9])+(?:[-_.](?:{LETTER}|[0-9])*?[0-9](?:{LETTER}|[0-9])*)*")
_AREA = re.compile(r"(?:[mkcdµμ]?m|ft|in|yd|mi)[23](?![^\W_])")
_DOUBTFUL = frozenset(("k", "m", "b", "t", "mm", "mi"))
"""Scale words that are units too: 100m, 5 mm."""
_SYMBOLS = "".join(sorted(CURRENCY))
_MONEY_BEFORE = re.compile(rf"(?:[{_SYMBOLS}]|(?<![^\W_])(?:usd|eur|gbp|chf|cad|aud|jpy|inr)) ?$")
_MONEY_BEHIND = re.compile(rf" ?(?:[{_SYMBOLS}]|(?:usd|eur|gbp|chf|cad|aud|jpy|inr|euros?|dollars?|pounds?)(?![^\W_]))")
"""Beside an amount of money a letter is a scale word: $40k, 40M EUR."""
_OPENERS = frozenset("([{<«“\"'=~≈<>≤≥±×*/:|,;،؛")
_BEFORE_POINT = frozenset("$€£¥₹-−–+(~≈<>≤≥=/")
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−", "0123456789+--")
_POWER = re.compile(
    r"(?: ?(?P<times>(?:[×x·⋅*]|\\times|\\cdot) ?10)(?: ?\^ ?\{?(?P<exponent>[-−+]?[0-9]{1,6})\}?|(?P<raised>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6}))"
    r"|\^ ?\{?(?P<power>[-−+]?[0-9]{1,6})\}?|(?P<superscript>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6})"
    r"|e(?P<e>[-−+]?[0-9]{1,4})(?![^\W_]))"
)
_POWER_STARTS = frozenset(" ×x·⋅*\\^e⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SIGN_BEFORE = re.compile(r"[A-Z][A-Z]{0,9}$")


def number(look: Look, start: int, end: int, text: str, plain: bool, before: str, behind: str) -> int:
    """A number with its sign, scale words and power; or a list, a version, a clock time with a full stop."""
    low, table = look.low, look.table
    if plain:
        options: tuple[Parts, ...] = ((text, ""),)
    else:
        kind, options = read(text, table.decimal)
        if kind == "list":
            return parts_of_list(look, start, end, text)
        if kind == "version":
            version(look, start, end, text)
            return end
        if (
            len(options[0][0]) <= 2
            and len(text) - len(options[0][0]) == 3
            and (after := clocks.dotted(look, start, end, text, before, behind))
        ):
            return after
    if before == "." and plain and (start < 2 or low[start - 2] in WHITE or low[start - 2] in _BEFORE_POINT):
        start, options = start - 1, (("0", text),)  # .5
    sign = sign_before(look, start)
    if behind in _POWER_STARTS and (power := _POWER.match(low, end)):
        return raised(look, start, power, options, sign)
    after = end
    units: list[int] = []
    if behind:
        ahead = look.behind(end, behind)
        if ahead is not None and ahead.lastgroup == "scale":
            return scaled(look, start, options, sign, ahead)
        if behind.isalpha() and (letters := LETTERS.match(low, end)) and low[letters.end() : letters.end() + 1].isdigit():
            if (area := _AREA.match(low, end)) is not None:
                after = area.end()
            elif letters.group() != "x" and low[start] != "." and not (table.prefixes and table.prefixes.fullmatch(letters.group())):
                whole = _MIX.match(low, start)
                assert whole is not None
                key = "x" + re.sub(r"[-_]", "", whole.group())
                look.found.append(Found(start, max(end, whole.end()), "mix", (key,), (key,)))
                return max(end, whole.end())
    add(look, start, end, options, sign, units)
    if not plain and not sign and (look.source or table.decimal == ",") and behind != "%" and before not in CURRENCY:
        clocks.perhaps(look.found[-1], text)
        if behind == "." and table.decimal == ",":
            dates.perhaps(look.found[-1], text)
    return after


def add(look: Look, start: int, end: int, options: tuple[Parts, ...], sign: str, _units: list[int]) -> None:
    """A number; the first reading counts in an answer, all of them in a source."""
    low = look.low
    if len(options) == 1:
        number = canonical(*options[0])
        vouched = [f"n{sign}{number}"]
    else:
        vouched = [f"n{sign}{canonical(*option)}" for option in options]
        number = vouched[0][1 + len(sign) :]
    if sign == "?":  # a dash that may be a minus or not
        vouched = [key for option in options for key in (f"n{canonical(*option)}", f"n-{canonical(*option)}")]
        keys: tuple[str, ...] = (vouched[0], vouched[1])
    elif number == "0":
        vouched = ["n0"]
        keys = ("n0",)
    else:
        keys = (vouched[0],)
    found = Found(start, end, "number", keys, vouched)
    if not sign:
        whole = options[0][0]
        if not options[0][1]:
            if len(whole) <= 2:
                if int(whole) <= 24:
                    found.keys = (keys[0], f"o{number}")
                    found.small = int(whole) <= 20
            elif len(whole) >= 7:
                found.keys = (keys[0], "p" + whole)
                vouched.append("p" + whole)
            if start and low[start - 1] in DASHES and len(whole) <= 2:
                range_end(look, found, whole)
            if look.source and len(whole) == 4 and start > 2 and low[start - 1] in DASHES:
                range_start(look, whole)
            if look.source and len(whole) > 2 and start > 1 and low[start - 1] == " " and look.folded[start - 2].isupper():
                name = _SIGN_BEFORE.search(look.folded[max(0, start - 11) : start - 1])
                if name:
                    vouched.append(f"x{name.group().lower()}{whole}")
    found.parts = options
    look.found.append(found)


def sign_before(look: Look, start: int) -> str:
    """What stands before a number: "-" is a minus, "?" a dash that may be one, "" none."""
    low = look.low
    at = start - 1
    if at >= 0 and low[at] in CURRENCY:
        at -= 1
    if at < 0 or low[at] not in "-−–":
        return ""
    char = low[at]
    before = low[at - 1] if at else ""
    if before.isdigit() or before == "%":
        return ""
    if char == "−":
        return "-"
    if before and before not in WHITE and before not in _OPENERS and before not in CURRENCY:
        return ""
    if char == "–":
        return "?" if not (before == " " and at > 1 and low[at - 2].isdigit()) else ""
    if look.source and before == " " and at > 1 and low[at - 2].isdigit():
        return "?"  # "10 -12"
    return "-"


def range_end(look: Look, found: Found, digits: str) -> None:
    """The 15 of 2011-15 is 2015; that of 2011-12 may be December too."""
    if not look.found:
        return
    first = look.found[-1]
    year = look.low[first.start : first.end]
    if first.end != found.start - 1 or len(year) != 4 or not year.isdigit() or len(digits) != 2:
        return
    keys: tuple[str, ...] = ()
    if int(digits) > int(year[2:]):
        keys = (f"n{year[:2]}{digits}",)
    if look.low[found.start - 1] == "-" and 1 <= int(digits) <= 12:
        keys += dates.month_of_year("n", int(year), int(digits))
        found.vouched = [*found.vouched, *dates.parts("n", int(year), int(digits), None)]
    if keys:
        found.keys = keys
        found.vouched = [*found.vouched, *keys[:1]]
        found.small = False


def range_start(look: Look, year: str) -> None:
    """57-1342, as a range of years is typed where one writes from right to left: 1342 to 1357."""
    first = look.found[-1] if look.found else None
    if first and first.parts and len(digits := first.parts[0][0]) == 2 and int(digits) > int(year[2:]) and look.low[first.end] in DASHES:
        first.vouched = [*first.vouched, f"n{year[:2]}{digits}"]


def scaled(look: Look, start: int, options: tuple[Parts, ...], sign: str, ahead: re.Match[str]) -> int:
    """A number and its scale words, and a smaller one behind: 3 lakh 20 thousand, 1億2500万."""
    low, table = look.low, look.table
    word = ahead["scale"]
    factor = table.scales[word]
    end = ahead.end("scale")
    look.taken.add(ahead.start("scale"))
    doubtful = word in _DOUBTFUL and not _MONEY_BEFORE.search(low[max(0, start - 5) : start]) and not _MONEY_BEHIND.match(low, end)
    if len(word) == 1 and doubtful and ahead["scale_gap"]:
        add(look, start, ahead.start(), options, sign, [])
        return ahead.start()
    factor, end = more_scales(look, factor, end)
    values = [times(option, factor) for option in options]
    minus = "-" if sign == "-" else ""
    smaller = factor
    following = re.compile(rf" ?(?:{table.gaps.pattern})?({NUMERAL})")
    while len(options) == 1 and (more_digits := following.match(low, end)):
        text = more_digits.group(more_digits.lastindex or 1)
        ahead2 = look.behind(more_digits.end(), low[more_digits.end() : more_digits.end() + 1])
        parts = ((text, ""),) if text.isdigit() else read(text, table.decimal)[1]
        if len(parts) != 1 or parts[0][1]:
            break
        if ahead2 and ahead2.lastgroup == "scale" and table.scales[ahead2["scale"]] < smaller and ahead2["scale"] not in _DOUBTFUL:
            look.taken.add(ahead2.start("scale"))
            smaller, after = more_scales(look, table.scales[ahead2["scale"]], ahead2.end("scale"))
            if smaller >= factor:
                break
            extra = times(parts[0], smaller)
        elif more_digits.start(more_digits.lastindex or 1) == end and word[-1] > "\u0e00" and not ahead2 and len(text) < len(str(smaller)):
            extra, after, smaller = canonical(*parts[0]), more_digits.end(), 0
        else:
            break
        if not values[0].isdigit() or not extra.isdigit() or len(values[0]) > 40 or len(extra) > 40:
            break
        values[0] = str(int(values[0]) + int(extra))
        end = after
    vouched = [f"n{minus}{value}" for value in values]
    if doubtful:
        vouched += [f"n{minus}{canonical(*option)}" for option in options]
    keys = (vouched[0], f"n{minus}{canonical(*options[0])}") if doubtful else (vouched[0],)
    if factor >= 1000 and values[0].isdigit() and len(values[0]) <= 40:
        more, joined = half_behind(look, end, factor)
        if more:
            key = f"n{int(values[0]) + more}"
            keys, vouched = (key,) if joined else (*keys, key), [key] if joined else [*vouched, key]
    found = Found(start, end, "number", keys, vouched)
    found.scale = factor
    look.found.append(found)
    return end


def more_scales(look: Look, factor: int, end: int) -> tuple[int, int]:
    """Scale words behind a scale word multiply: hundred thousand, 千万."""
    while factor < 10**30:
        more = look.behind(end, look.low[end : end + 1])
        if not more or more.lastgroup != "scale" or more["scale"] in _DOUBTFUL:
            break
        factor *= look.table.scales[more["scale"]]
        look.taken.add(more.start("scale"))
        end = more.end("scale")
    return factor, end


def raised(look: Look, start: int, match: re.Match[str], options: tuple[Parts, ...], sign: str) -> int:
    """5 × 10³, 10³, 5e3; another base is kept as it is written."""
    text = match["exponent"] or match["raised"] or match["power"] or match["superscript"] or match["e"]
    exponent = int(text.translate(_SUPERSCRIPT))
    minus = "-" if sign == "-" else ""
    if match["times"] or match["e"]:
        keys = [f"n{minus}{canonical(*option, exponent)}" for option in options]
    elif options[0] == ("10", ""):
        keys = [f"n{minus}{canonical('1', '', exponent)}"]
    else:
        keys = [f"^{canonical(*options[0])}^{exponent}"]
        if match["superscript"] and exponent < 100 and len(options[0][0]) >= 4:
            keys.append(f"n{minus}{canonical(*options[0])}")  # a footnote's number
    look.found.append(Found(start, match.end(), "number", tuple(keys[:1] if len(options) > 1 else keys), keys))
    return match.end()


def fraction(look: Look, start: int, end: int, above: str, below: str) -> int:
    """3/4; 2018/19 is two years."""
    sign = sign_before(look, start)
    minus = "-" if sign == "-" else ""
    key = f"q{minus}{above}/{below}"
    if len(above) == 4 and above.isdigit() and below.isdigit() and len(below) in (2, 4) and 1000 <= int(above) < 2200:
        second = below if len(below) == 4 else above[:2] + below
        if int(second) == int(above) + 1 or len(below) == 4:
            vouched = [key, f"n{above}", f"n{second}", f"q{above[2:]}/{second[2:]}"]  # 18/19 too
            look.found.append(Found(start, start + 4, "number", (f"n{above}", key), vouched))
            look.found.append(Found(start + 5, end, "number", (f"n{second}", key), []))
            return end
    keys, vouched = [key], [key]
    if above.isdigit() and below.isdigit() and len(above) < 9 and len(below) < 9:
        if below in ("2", "4", "5", "8", "10") and int(above) < int(below):
            keys.append(f"n{minus}{quotient(int(above), int(below))}")
        if len(below) == 4 and 1 <= int(above) <= 12 and 1000 <= int(below) < 2200:
            keys += dates.month_of_year("n", int(below), int(above))
            vouched += dates.parts("n", int(below), int(above), None)
    if look.table.slash_decimal and above.isdigit() and below.isdigit():
        behind = look.low[end : end + 1]
        ahead = look.behind(end, behind)
        if ahead and ahead.lastgroup == "scale":
            return scaled(look, start, ((above, below),), minus, ahead)
        keys.append(f"n{minus}{canonical(above, below)}")
    vouched += keys
    look.found.append(Found(start, end, "number", tuple(keys), vouched))
    return end


def mixed(look: Look, start: int, match: re.Match[str]) -> int:
    """2 1/2, which 2½ is folded to."""
    whole, above, below = match.groups()
    minus = "-" if sign_before(look, start) == "-" else ""
    if int(below) in (2, 4, 5, 8, 10, 16):
        parts = (whole, quotient(int(above), int(below))[2:])
        ahead = look.behind(match.end(), look.low[match.end() : match.end() + 1])
        if ahead and ahead.lastgroup == "scale":
            return scaled(look, start, (parts,), minus, ahead)
        key = f"n{minus}{canonical(*parts)}"
    else:
        key = f"n{minus}{canonical(whole)} {above}/{below}"
    vouched = [key]
    if match.group()[len(whole)] == "-":
        vouched += [f"n{canonical(whole)}", f"q{above}/{below}"]
    look.found.append(Found(start, match.end(), "number", (key,), vouched))
    return match.end()


def spaced(look: Look, start: int, match: re.Match[str], before: str) -> int:
    """1 200 000."""
    text = match.group()
    groups = re.split(r"[ .,٫]", text)
    fraction = groups.pop() if text[-len(groups[-1]) - 1] != " " else ""
    options = (("".join(groups), fraction),)
    singly = ["n" + canonical(group) for group in groups[: 1 if fraction else None]]
    if fraction:
        singly += [f"n{canonical(groups[-1], fraction)}", *("n" + canonical(group) for group in groups[1:-1])]
    return grouped(look, start, match.end(), options, singly)


def grouped(look: Look, start: int, end: int, options: tuple[Parts, ...], singly: list[str]) -> int:
    """A number in groups by spaces; a source vouches for each group too."""
    sign = sign_before(look, start)
    behind = look.low[end : end + 1]
    ahead = look.behind(end, behind) if behind else None
    if behind in _POWER_STARTS and (power := _POWER.match(look.low, end)):
        after = raised(look, start, power, options, sign)
    elif ahead and ahead.lastgroup == "scale":
        after = scaled(look, start, options, sign, ahead)
    else:
        add(look, start, end, options, sign, [])
        after = end
    if look.source:
        look.found[-1].vouched = [*look.found[-1].vouched, *singly]
    return after


def comma_spaced(look: Look, start: int, match: re.Match[str], before: str) -> int:
    """1, 000 is one number; 10, 200 may be two: each is vouched for by itself or by the number that both may be."""
    text = match.group()
    groups = re.split(r"[,،] ", text)
    groups[-1], _, fraction = groups[-1].partition(".")
    options: tuple[Parts, ...] = (("".join(groups), fraction),)
    singly = ["n" + canonical(group) for group in groups]
    if fraction:
        singly[-1] = "n" + canonical(groups[-1], fraction)
    one = any(group[0] == "0" for group in groups[1:]) or before in CURRENCY
    if one or look.source:
        return grouped(look, start, match.end(), options, singly)
    joined = "n" + canonical(*options[0])
    at = start
    for group, key in zip(groups, singly, strict=True):
        look.found.append(Found(at, at + len(group), "number", (key, joined), [key, joined]))
        at += len(group) + 2
    return match.end()


def parts_of_list(look: Look, start: int, end: int, text: str) -> int:
    """1,2,3: several numbers, or what is written as a whole."""
    whole = "w" + text
    at = start
    for part in re.split(r"[,'،]", text):
        if part:
            marks = re.sub(r"[.٬٫]", "", part)
            if marks == part:
                options: tuple[Parts, ...] = ((part, ""),)
                keys = ["n" + canonical(part)]
            else:
                kind, options = read(part, look.table.decimal)
                keys = ["n" + canonical(*option) for option in options] if kind == "number" else ["v" + part]
            look.found.append(Found(at, at + len(part), "number", (keys[0], whole), [*keys, whole]))
        at += len(part) + 1
    return end


def version(look: Look, start: int, end: int, text: str) -> None:
    """1.2.3, and what it may be as a number."""
    kind, options = read(text, look.table.decimal)
    keys = [f"n{canonical(*option)}" for option in options]
    if kind != "number":
        keys.insert(0, "v" + text)
    look.found.append(Found(start, end, "number", tuple(keys if kind != "number" else keys[:1]), keys))
