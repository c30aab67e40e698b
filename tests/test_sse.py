"""Server-Sent Events to the letter of the standard, for every cutting of the bytes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentence_gate import StreamError
from sentence_gate.sse import Event, EventDecoder, Ignored, Lines, cut_character


def events(data: bytes, *sizes: int, **more: object) -> list[Event | Ignored]:
    """The events of the bytes, the same for every size of piece."""
    found = []
    for size in sizes or (1, 2, 3, 7, len(data) or 1):
        decoder = EventDecoder(**more)  # type: ignore[arg-type]
        found.append([event for at in range(0, len(data), size) for event in decoder.feed(data[at : at + size])])
    assert all(one == found[0] for one in found)
    return found[0]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"data: a\n\n", [Event("a")]),
        (b"data: a\r\rdata: b\r\n\r\ndata: c\n\n", [Event("a"), Event("b"), Event("c")]),
        (b"data: a\r\n\rdata: b\r\r", [Event("a"), Event("b")]),
        (b"data: a", []),
        (b"data: a\n", []),
        (b"data: a\r", []),
        (b"data:a\n\n", [Event("a")]),
        (b"data:  a\n\n", [Event(" a")]),
        (b"data: a\ndata: b\ndata\n\n", [Event("a\nb\n")]),
        (b"data\n\n", [Event("")]),
        (b"data:\n\n", [Event("")]),
        (b"event: ping\n\ndata: a\n\n", [Event("a")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", [Event("a", "x"), Event("b")]),
        (b": comment\n\ndata: a\n: b\n\n", [Event("a")]),
        (b"id: 1\n\ndata: a\n\nid: x\0y\ndata: b\n\nid\ndata: c\n\n", [Event("a", id="1"), Event("b", id="1"), Event("c")]),
        (b"retry: 5\ndata: a\n\nretry: -5\ndata: b\n\nretry: 5s\ndata: c\n\n", [Event("a", retry=5), Event("b"), Event("c")]),
        (b"\xef\xbb\xbfdata: a\n\n", [Event("a")]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", [Event("b")]),
        (b"\xef\xbb", []),
        ("data: a\u2028b\u0085c\x0bd\x0ce\x1cf\n\n".encode(), [Event("a\u2028b\u0085c\x0bd\x0ce\x1cf")]),
        ("data: café ☕ 🏊\n\n".encode(), [Event("café ☕ 🏊")]),
        (b"data: \xff\xe2\x98\n\n", [Event("\ufffd\ufffd")]),
        (b"Data: a\ndata : b\n data: c\n\n", []),
        (b"\n\n\n", []),
    ],
)
def test_the_standards_rules(data: bytes, found: list[Event]) -> None:
    assert events(data) == found


def test_lines_that_are_ignored_come_out_if_wanted() -> None:
    assert events(b'error: {"code": 1}\ndata: a\n\n{"x": 1}\n', ignored=True) == [
        Ignored('error: {"code": 1}'),
        Event("a"),
        Ignored('{"x": 1}'),
    ]
    assert events(b"error: x\n\n") == []


_LINES = ["data: a", "data:b", "data", ": c", "event: e", "id: 4", "retry: 3", "junk", "", "", "data: é☕"]


@given(st.lists(st.tuples(st.sampled_from(_LINES), st.sampled_from(["\n", "\r", "\r\n"])), max_size=14), st.data())
def test_line_ends_and_cuts_change_nothing(lines: list[tuple[str, str]], data: st.DataObject) -> None:
    # A CR directly before a line that begins with LF would be one line end: an empty line then takes the same end as the line before it.
    ended = "".join(line + end for line, end in lines)
    body = ended.encode()
    whole = EventDecoder()
    expected = whole.feed(body)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    decoder = EventDecoder()
    got = [event for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True) for event in decoder.feed(body[start:end])]
    assert got == expected
    plain = ended.replace("\r\n", "\n").replace("\r", "\n")
    assert EventDecoder().feed(plain.encode()) == expected
    assert decoder.finish() == whole.finish()


@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes_are_read_or_a_stream_error(body: bytes, size: int) -> None:
    assert events(body, size, len(body) or 1) is not None
    try:
        body.decode()
    except UnicodeDecodeError:
        return
    assert events(body, size, len(body) or 1, errors="strict") == events(body, size)


def test_strict_utf8() -> None:
    with pytest.raises(StreamError, match="offset 6") as raised:
        EventDecoder(errors="strict").feed(b"data: \xff\n")
    assert raised.value.__context__ is None  # it would hold the bytes
    assert EventDecoder(errors="strict").feed("data: é\n\n".encode()) == [Event("é")]


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (b"data: a\n\n", ()),
        (b"data: a\n", ("partial_event_dropped",)),
        (b"data: \xe2\x98", ("partial_event_dropped", "cut_character")),
        (b": comment", ("partial_event_dropped",)),
        (b"\xef\xbb", ("partial_event_dropped", "cut_character")),
    ],
)
def test_what_is_left_over_is_reported(body: bytes, left: tuple[str, ...]) -> None:
    decoder = EventDecoder()
    decoder.feed(body)
    assert decoder.finish() == left


def test_cut_characters() -> None:
    assert [cut_character("é".encode()[:1]), cut_character("🏊".encode()[:3]), cut_character(b"\xff"), cut_character(b"")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("pieces", "limit"),
    [
        ([b"data: " + b"a" * 95 + b"\n\n"], 100),
        ([b"data: aaaa\n"] * 11, 100),
        ([b"data: " + b"a" * 40] * 3, 100),
        ([b"junk" * 26 + b"\n"], 100),
        ([b"id: 12345\n"] * 12, 100),
    ],
)
def test_the_limit_of_an_event(pieces: list[bytes], limit: int) -> None:
    decoder = EventDecoder(limit)
    with pytest.raises(StreamError, match=r"100 bytes \(Limits\.event_bytes\)"):
        list(map(decoder.feed, pieces))


def test_an_event_of_the_limit_and_endless_comments_pass() -> None:
    decoder = EventDecoder(100)
    assert len(decoder.feed(b"data: " + b"a" * 94 + b"\n\n")) == 1
    for _ in range(50):
        assert decoder.feed(b": still here\n") == []
    assert decoder.feed(b"data: a\n\n") == [Event("a")]


def test_lines() -> None:
    lines = Lines(10)
    assert lines.feed(b"a\r") == [b"a"]
    assert lines.feed(b"\nb\n\nc") == [b"b", b""]
    assert (lines.rest(), lines.pending) == (b"c", 1)
    with pytest.raises(StreamError, match="10 bytes"):
        lines.feed(b"1234567890")


def test_the_cost_is_linear() -> None:
    def cost(size: int) -> float:
        best = 9.0
        for _ in range(3):
            decoder = EventDecoder(1 << 30)
            start = time.thread_time()
            for _ in range(size):
                decoder.feed(b"x" * 64)
            decoder.feed(b"\n\n")
            best = min(best, time.thread_time() - start)
        return best

    assert cost(40_000) < 200 * cost(2_000)  # twenty times as much; quadratic would be four hundred


def test_no_text_in_a_repr() -> None:
    assert "secret" not in repr(Event("secret")) + repr(Ignored("secret"))
