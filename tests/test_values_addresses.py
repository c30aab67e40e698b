"""URLs, bare hosts, e-mail addresses and targets."""

from __future__ import annotations

import pytest

from sentence_gate import Policy, judge
from sentence_gate.checks import unsupported_value


def unsupported(answer: str, source: str, code: str = "en") -> list[str]:
    """The values of an answer that a source doesn't vouch for."""
    policy = Policy(language=code, checks=(unsupported_value,), on_violation="observe")
    return [violation.detail for violation in judge(answer, [source], policy).violations]


YES = [
    ("See https://pool.example/prices.", "https://pool.example/prices"),
    ("See http://pool.example/prices.", "https://pool.example/prices"),
    ("See https://www.pool.example/prices!", "https://pool.example/prices"),
    ("See (https://pool.example/prices).", "<https://pool.example/prices>"),
    ("See https://pool.example/.", "https://pool.example"),
    ("See https://pool.example/prices#adults.", "https://pool.example/prices"),
    ("See https://POOL.example/prices.", "https://pool.example/prices"),
    ("See pool.com.", "https://pool.com/prices?x=1"),
    ("See www.pool.com.", "pool.com"),
    ("See https://pool.example/a?b=1&amp;c=2.", "https://pool.example/a?b=1&c=2"),
    ("See https://pool.example/a_(b).", "https://pool.example/a_(b)"),
    ("Siehe „https://pool.example/a“.", "https://pool.example/a"),
    ("见https://pool.example/a。", "https://pool.example/a"),
    ("نشانی https://pool.example/aاست", "https://pool.example/a"),
    ("به https://pool.example/a، بروید.", "https://pool.example/a"),
    ("Write to desk@pool.example.", "desk@pool.example"),
    ("Write to Desk@Pool.Example.", "desk@pool.example"),
    ("Write to <desk@pool.example>.", "desk@pool.example"),
    ("[prices](https://pool.example/prices)", "https://pool.example/prices"),
    ("[prices](https://pool.example/prices)", "[here](https://pool.example/prices)"),
    ("[mail](mailto:desk@pool.example)", "desk@pool.example"),
    ("[top](#top)", "nothing"),
    ("Node.js and main.py and e.g. this.", "nothing"),
    ("It ends.In the evening.", "nothing"),
    ("See example dot com.", "example.com"),
]
NO = [
    ("See https://pool.example/price.", "https://pool.example/prices", ["https://pool.example/price"]),
    ("See https://pool.example/prices.", "https://pool.example", ["https://pool.example/prices"]),
    ("See https://pool.example/Prices.", "https://pool.example/prices", ["https://pool.example/Prices"]),
    ("See https://pool.example/a?b=1.", "https://pool.example/a?b=2", ["https://pool.example/a?b=1"]),
    ("See https://poo1.example.", "https://pool.example", ["https://poo1.example"]),
    ("See https://evil.pool.example.", "https://pool.example", ["https://evil.pool.example"]),
    ("See ftp://pool.example/a.", "https://pool.example/a", ["ftp://pool.example/a"]),
    ("See https://pool.example@evil.example.", "https://pool.example@evil.example", ["https://pool.example@evil.example"]),
    ("See https://p\u043eol.example.", "https://p\u043eol.example", ["https://p\u043eol.example"]),
    ("Write to desc@pool.example.", "desk@pool.example", ["desc@pool.example"]),
    ("Write to desk@pools.example.", "desk@pool.example", ["desk@pools.example"]),
    ("See pool.com.", "pools.com", ["pool.com"]),
    ("See evil[.]com.", "nothing", ["evil[.]com"]),
    ("See https:/\\evil.com.", "nothing", ["https:/\\evil.com"]),
    ("See https:/evil.name.", "nothing", ["https:/evil.name"]),
    ("See evil.tk and pool.рф.", "nothing", ["evil.tk", "pool.рф"]),
    ("See evil.xn--p1ai.", "nothing", ["evil.xn--p1ai"]),
    ("See evil dot com.", "nothing", ["evil dot com"]),
    ("[pool.com](https://evil.com)", "pool.com", ["https://evil.com"]),
    ("[a]( https://evil.com )", "a", ["https://evil.com"]),
    ("[a](\n<https://evil.com>)", "a", ["https://evil.com"]),
    ('[a](https://pool.com "evil.com")', "a https://pool.com", ["evil.com"]),
    ("[a](https://pool.com https://evil.com)", "a https://pool.com", ["https://evil.com"]),
    ("![a](//evil.com/x.png)", "a", ["//evil.com/x.png"]),
    ("[a](javascript:x)", "a", ["javascript:x"]),
    ("[a](data:text/html;x)", "a", ["data:text/html;x"]),
    ('<img src="https://evil.com/a">', "a", ["https://evil.com/a"]),
]


@pytest.mark.parametrize(("answer", "source"), YES)
def test_an_address_stands_in_the_source(answer: str, source: str) -> None:
    assert unsupported(answer, source) == []


@pytest.mark.parametrize(("answer", "source", "details"), NO)
def test_an_address_is_compared_as_a_whole(answer: str, source: str, details: list[str]) -> None:
    assert unsupported(answer, source) == details
