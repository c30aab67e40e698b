"""From a provider's bytes or objects to gate events and an ending: the acceptance table of how streams end."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import CHAT_USAGE, DONE, PIECES, SCRIPTS, SOURCES, TEXT, Script, chat, frame, said

from sentence_gate import (
    Done,
    Ending,
    Failed,
    Policy,
    Refused,
    Released,
    Report,
    SentenceGate,
    Stopped,
    StreamError,
    Truncated,
    UsageError,
    Violation,
)
from sentence_gate.limits import Limits
from sentence_gate.streams import aread_answer, gate_stream, read_answer

SHOWN = "It opens at eight. The café ☕ closes at six. Bring a towel."
FIRST_TWO = "It opens at eight. The café ☕ closes at six."
ALL = sorted(SCRIPTS)


class Upstream:
    """Items that remember whether they were closed and how far they were read; `error` is raised at the end."""

    def __init__(self, items: list[Any], error: BaseException | None = None) -> None:
        self.items, self.error, self.closed, self.read = items, error, False, 0

    def __iter__(self) -> Iterator[Any]:
        for item in self.items:
            self.read += 1
            yield item
        if self.error:
            raise self.error

    def close(self) -> None:
        self.closed = True


def cut(body: bytes, size: int) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)] if size else [body]


def drive(upstream: Any, provider: str, gate: SentenceGate, **more: Any) -> tuple[list[Any], Exception | None]:
    """The events, and what was raised behind them."""
    events: list[Any] = []
    stream = read_answer(upstream, provider, gate, **more)
    try:
        while True:
            events.append(next(stream))
    except StopIteration:
        return events, None
    except Exception as error:
        return events, error


def read(items: list[Any], provider: str, error: BaseException | None = None, gate: SentenceGate | None = None, **more: Any) -> Report:
    """The report of a stream; an exception that is raised again must be the upstream's or a StreamError."""
    gate = gate or SentenceGate(SOURCES)
    upstream = Upstream(items, error)
    events, raised = drive(upstream, provider, gate, **more)
    if raised:
        assert raised is error or isinstance(raised, StreamError)
        assert kind(gate.report) in ("no_evidence", "provider_error")
    assert isinstance(events[-1], Done)
    assert "".join(event.text for event in events if isinstance(event, Released)) == gate.report.text
    assert upstream.closed
    return gate.report


def kind(report: Report) -> str:
    assert report.ending is not None
    return report.ending.kind


def notes(report: Report) -> tuple[str, ...]:
    assert report.ending is not None
    return report.ending.notes


# ---------- the good streams ----------


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [1, 7, 0])
@pytest.mark.parametrize("name", ALL)
def test_chunk_sizes_and_line_ends_change_nothing(name: str, size: int, newline: str) -> None:
    script = SCRIPTS[name]
    report = read(cut(script.body(newline), size), name)
    assert (report.status, report.text, kind(report)) == ("accepted", SHOWN, "completed")
    assert report.usage is not None
    assert (report.usage.input_tokens, report.usage.output_tokens, report.usage.kind) == (*script.usage, "reported")
    assert report.ending == read(script.frames(), name).ending
    assert notes(report) == (f"protocol:{name}",)


@pytest.mark.parametrize("name", ALL)
def test_payloads_read_as_their_bytes(name: str) -> None:
    script = SCRIPTS[name]
    report = read([payload for payload in script.payloads if not isinstance(payload, str)], name)
    assert (report.status, report.text, kind(report)) == ("accepted", SHOWN, "completed")
    assert report.usage == read([script.body()], name).usage


@pytest.mark.parametrize("bom", [b"\xef\xbb\xbf"])
@pytest.mark.parametrize("size", [1, 2, 0])
@pytest.mark.parametrize("name", [name for name in ALL if name != "bedrock"])
def test_a_byte_order_mark(name: str, size: int, bom: bytes) -> None:
    assert read(cut(bom + SCRIPTS[name].body(), size), name).text == SHOWN


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_cut_at_every_byte(name: str, reset: bool) -> None:
    """The text is a prefix; there is no evidence before the terminal event is complete, and it never changes after."""
    script = SCRIPTS[name]
    body, evident = script.body(), script.evident()
    for at in range(len(body) + 1):
        report = read([body[:at]], name, ConnectionResetError() if reset else None)
        assert SHOWN.startswith(report.text), at
        assert kind(report) == ("completed" if at >= evident else "no_evidence"), at
        assert report.ending is not None
        assert report.ending.transport == ("reset" if reset and at < len(body) else report.ending.transport)
        assert report.status == ("accepted" if at >= evident else "failed")
        if at < evident:
            assert report.text in ("", "It opens at eight.", FIRST_TWO)
            assert report.notice
            assert report.usage is not None
            assert report.usage.kind in ("estimated", "running")


@pytest.mark.parametrize("name", ["openai_chat", "anthropic", "ollama"])
def test_a_reset_after_the_evidence_is_no_failure_and_is_not_raised(name: str) -> None:
    script = SCRIPTS[name]
    gate = SentenceGate(SOURCES)
    list(read_answer(Upstream([script.body()[: script.evident()]], ConnectionResetError()), name, gate))
    assert gate.report.status == "accepted"
    assert gate.report.ending is not None
    assert gate.report.ending.transport in ("reset", "clean_eof")


def test_a_reset_before_the_evidence_is_raised_again_after_the_events() -> None:
    error, gate = ConnectionResetError("peer"), SentenceGate(SOURCES)
    events, raised = drive(Upstream([said("It opens at eight [S1]. Then")], error), "openai_chat", gate)
    assert raised is error
    assert [type(event) for event in events] == [Released, Failed, Done]
    assert (kind(gate.report), gate.report.ending and gate.report.ending.transport) == ("no_evidence", "reset")


def test_a_reset_after_evidence_and_before_usage_estimates_it() -> None:
    report = read([*map(said, PIECES), chat(finish_reason="stop")], "openai_chat", ConnectionResetError())
    assert report.status == "accepted"
    assert report.usage is not None
    assert (report.usage.output_tokens, report.usage.kind) == (len(TEXT.encode()), "estimated")


# ---------- evidence that is missing ----------


@pytest.mark.parametrize("name", ALL)
def test_without_the_terminal_event(name: str) -> None:
    judged: list[str] = []

    def counting(sentence: Any, sources: Any, policy: Any) -> Iterator[Violation]:
        judged.append(sentence.text)
        yield from ()

    gate = SentenceGate(SOURCES, Policy(checks=(counting,)))
    report = read([SCRIPTS[name].without_terminal().body()], name, gate=gate)
    assert kind(report) == "no_evidence"
    assert (report.status, report.text) == ("failed", FIRST_TWO if name not in ("gemini", "mistral", "openai_compatible") else report.text)
    assert len(judged) == report.sentences
    assert not any("towel" in text for text in judged)
    marked = any(payload == DONE for payload in SCRIPTS[name].payloads) or name == "anthropic"
    assert ("done_marker_without_reason" in notes(report)) is marked


@pytest.mark.parametrize("name", ["openai_chat", "openai_compatible", "azure_openai", "mistral"])
def test_only_the_marker(name: str) -> None:
    report = read([DONE.encode()], name)
    assert (kind(report), report.status, report.text) == ("no_evidence", "failed", "")
    assert "done_marker_without_reason" in notes(report)


@pytest.mark.parametrize("reason", ["", None])
def test_an_empty_reason_is_none(reason: str | None) -> None:
    assert kind(read([*map(said, PIECES), chat(finish_reason=reason), DONE.encode()], "openai_chat")) == "no_evidence"


def test_nothing_at_all() -> None:
    for name in ALL:
        report = read([], name)
        assert (kind(report), report.status, report.text) == ("no_evidence", "failed", "")
        assert report.notice
        assert "nothing_read" in notes(report)


def test_a_stream_of_another_provider_is_noted() -> None:
    assert "nothing_read" in notes(read([*map(said, PIECES), chat(finish_reason="stop")], "anthropic"))
    assert "nothing_read" not in notes(read([*map(said, PIECES)], "openai_chat"))


def test_an_anthropic_gateway_without_message_stop() -> None:
    report = read([b"".join(SCRIPTS["anthropic"].frames()[:-1])], "anthropic")
    assert report.status == "accepted"
    assert "missing_message_stop" in notes(report)


# ---------- errors inside the open stream ----------

ERRORS: list[tuple[str, bytes, str]] = [
    ("openai_chat", frame({"error": {"message": "overloaded", "type": "server_error", "code": None}}, "sse"), "server_error"),
    ("openai_compatible", frame({"object": "error", "message": "engine", "type": "InternalServerError", "code": 500}, "sse"), "500"),
    ("openai_compatible", b'error: {"code":500,"message":"slot","type":"server_error"}\n\n', "500"),
    ("openai_compatible", b'data: {"error":{"message":"dead","http_status_code":500}}\n\n', "500"),
    ("openai_compatible", b'event: error\ndata: {"message":"dead","code":"gone"}\n\n', "gone"),
    ("openai_compatible", b"event: error\ndata: upstream connect error\n\n", "upstream connect error"),
    ("openai_responses", frame({"type": "error", "code": "server_error", "message": "x"}, "sse", named=True), "server_error"),
    ("openai_responses", frame({"type": "error", "error": {"type": "server_error", "code": None}}, "sse", named=True), "server_error"),
    ("anthropic", frame({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, "sse", named=True), "overloaded_error"),
    ("gemini", b'{"error":{"code":503,"status":"UNAVAILABLE"}}\n', "503"),
    ("gemini", frame({"error": {"code": 503, "status": "UNAVAILABLE"}}, "sse"), "503"),
    ("gemini", b'{"error":{"code":503,"status":"UNAVAILABLE"}}', "503"),
    ("mistral", frame(chat(finish_reason="error"), "sse"), "error"),
    ("cohere", frame({"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "x"}}, "sse", named=True), "ERROR"),
    ("cohere", frame({"type": "message-end", "delta": {"finish_reason": "TIMEOUT"}}, "sse", named=True), "TIMEOUT"),
    ("ollama", b'{"error":"model runner has unexpectedly stopped"}\n', "model runner has unexpectedly stopped"),
    ("ollama", b'{"error":"model runner has unexpectedly stopped"}', "model runner has unexpectedly stopped"),
    ("bedrock", frame({"throttlingException": {"message": "slow down"}}, "eventstream"), "throttlingException"),
    ("bedrock", frame({"modelStreamErrorException": {"originalStatusCode": 424}}, "eventstream"), "modelStreamErrorException"),
]  # fmt: skip


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("size", [1, 0])
@pytest.mark.parametrize(("name", "error", "reason"), ERRORS)
def test_an_error_after_n_events(name: str, error: bytes, reason: str, size: int, done: bool) -> None:
    script = SCRIPTS[name]
    for count in (0, 2, script.terminal):
        body = (
            b"".join(script.frames()[:count]) + error + (DONE.encode() if done and script.framing == "sse" and error[-1:] == b"\n" else b"")
        )
        report = read(cut(body, size), name)
        assert (kind(report), report.status) == ("provider_error", "failed"), count
        assert report.ending is not None
        assert report.ending.provider_reason == reason
        assert report.text in ("", "It opens at eight.", FIRST_TWO)


@pytest.mark.parametrize("reason", ["abort", "error", "insufficient_system_resource", "brand_new"])
def test_reasons_that_nobody_knows_are_errors_with_the_raw_value(reason: str) -> None:
    report = read([*map(said, PIECES), chat(finish_reason=reason), DONE.encode()], "openai_compatible")
    assert kind(report) == "provider_error"
    assert report.ending is not None
    assert report.ending.provider_reason == reason
    assert report.text == FIRST_TWO


@pytest.mark.parametrize("after", [frame({"error": {"code": "late"}}, "sse"), frame(chat(finish_reason="content_filter"), "sse")])
def test_a_later_event_may_only_make_it_stricter(after: bytes) -> None:
    good = b"".join(SCRIPTS["openai_chat"].frames()[:7])
    report = read([good, after], "openai_chat")
    assert kind(report) in ("provider_error", "filtered")
    assert any(note.startswith("second_terminal:") for note in notes(report))
    weaker = read([*map(said, PIECES), chat(finish_reason="length"), chat(finish_reason="stop")], "openai_chat")
    assert kind(weaker) == "truncated"


def test_text_behind_an_ending_that_drops_the_tail_is_not_read() -> None:
    report = read(
        [said("It opens at eight [S1]. And "), chat(finish_reason="content_filter"), said("more [S1]. Text [S1]. ")], "openai_chat"
    )
    assert (kind(report), report.text) == ("filtered", "It opens at eight.")


# ---------- cut, refused, filtered ----------


def test_length_with_text_without_and_inside_reasoning() -> None:
    report = read([*map(said, PIECES), chat(finish_reason="length"), CHAT_USAGE, DONE.encode()], "openai_chat")
    assert (kind(report), report.status, report.text) == ("truncated", "truncated", FIRST_TWO)
    assert "no_text" not in notes(report)
    assert report.usage is not None
    assert (report.usage.kind, report.usage.reasoning_tokens) == ("reported", 4)

    empty = read([said(""), chat(finish_reason="length")], "openai_chat")
    assert (kind(empty), empty.status, empty.text) == ("truncated", "truncated", "")
    assert "no_text" in notes(empty)

    thinking = read([said("<think>It opens at eight [S1]. Hm"), said("m. And"), chat(finish_reason="length")], "openai_chat")
    assert (kind(thinking), thinking.text, thinking.sentences) == ("truncated", "", 0)
    apart = read([chat(delta={"reasoning_content": "It opens [S1]. Hm"}), chat(finish_reason="length")], "openai_compatible")
    assert (kind(apart), apart.text, "no_text" in notes(apart)) == ("truncated", "", True)


def test_truncation_and_violation_together() -> None:
    bad = "It opens at eight [S1]. Lockers cost 45 [S1]. Al"
    body = frame(said(bad), "sse") + frame(chat(finish_reason="length"), "sse")
    for size in (1, 7, 0):
        report = read(cut(body, size), "openai_chat")
        # Closed at the stop: the reason behind it is not waited for, however the bytes were cut.
        assert (report.status, kind(report), report.text) == ("stopped", "cancelled", "It opens at eight.")

    tail = read([said("It opens at eight [S1]. Lockers cost 45 [S1]."), chat(finish_reason="length")], "openai_chat")
    assert (tail.status, kind(tail), tail.text, tail.violations) == ("truncated", "truncated", "It opens at eight.", ())


def test_a_stop_in_the_payload_that_holds_the_reason_keeps_both() -> None:
    report = read([chat(delta={"content": "Lockers cost 45 [S1]. A"}, finish_reason="length")], "openai_chat")
    assert (report.status, kind(report)) == ("stopped", "truncated")


@pytest.mark.parametrize(
    ("name", "items"),
    [
        ("openai_chat", [said("It opens at eight [S1]. And so "), chat(delta={"refusal": "I can't help."}), chat(finish_reason="stop")]),
        (
            "anthropic",
            [
                *SCRIPTS["anthropic"].payloads[:5],
                {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"category": "cyber"}}, "usage": {}},
                {"type": "message_stop"},
            ],
        ),
        (
            "openai_responses",
            [
                *SCRIPTS["openai_responses"].payloads[:6],
                {"type": "response.refusal.delta", "delta": "No."},
                {"type": "response.completed", "response": {"status": "completed", "output": [{"content": [{"type": "refusal"}]}]}},
            ],
        ),
    ],
)
def test_a_refusal_by_the_model_is_never_completed(name: str, items: list[Any]) -> None:
    report = read(items, name)
    assert (kind(report), report.status) == ("refused", "refused")
    assert report.notice
    assert "I can't" not in report.text


def test_a_refusal_gets_its_notice() -> None:
    events = list(read_answer([chat(delta={"refusal": "No."}), chat(finish_reason="stop")], "openai_chat", SentenceGate(SOURCES)))
    assert [type(event) for event in events] == [Refused, Done]


def test_azures_late_filter() -> None:
    late = {"id": "", "choices": [{"index": 0, "content_filter_results": {"violence": {"filtered": True, "severity": "high"}}}]}
    report = read([*map(said, PIECES), chat(finish_reason="stop"), late, DONE.encode()], "azure_openai")
    assert (kind(report), report.status, report.text) == ("filtered", "failed", FIRST_TWO)
    assert report.ending is not None
    assert report.ending.provider_reason == "violence"
    assert "second_terminal:violence" in notes(report)
    down = {"id": "", "choices": [{"index": 0, "content_filter_results": {"error": {"code": "content_filter_error"}}}]}
    down_report = read([*map(said, PIECES), down, chat(finish_reason="stop")], "azure_openai")
    assert down_report.status == "accepted"
    assert "content_filter_down" in notes(down_report)


def test_geminis_stop_with_text_behind_it() -> None:
    def gemini(text: str, reason: str | None = None) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": reason}]}

    twice = [gemini("It opens at eight [S1]. ", "STOP"), gemini("The café ☕ closes at six [S2].", "STOP")]
    report = read(twice, "gemini")
    assert (kind(report), report.text) == ("completed", FIRST_TWO)
    assert {"text_after_terminal", "weak_evidence"} <= set(notes(report))
    assert kind(read(twice, "gemini", ConnectionResetError())) == "no_evidence"
    taken_back = read([gemini("It opens at eight [S1]. ", "STOP"), gemini("The café ☕ closes at six [S2].")], "gemini")
    assert (kind(taken_back), taken_back.text) == ("no_evidence", "It opens at eight.")
    blocked = read([{"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}}], "gemini")
    assert (kind(blocked), blocked.usage and blocked.usage.input_tokens) == ("filtered", 9)


def test_a_tool_call_keeps_the_text_before_it() -> None:
    call = {"index": 0, "id": "t-1", "function": {"name": "look", "arguments": '{"q": "é"}'}}
    for reason in ("tool_calls", "stop"):
        report = read([said("It opens at eight [S1]."), chat(delta={"tool_calls": [call]}), chat(finish_reason=reason)], "openai_chat")
        assert (kind(report), report.status, report.text) == ("tool_call", "accepted", "It opens at eight.")
        assert report.usage is not None
        assert report.usage.output_tokens == len('It opens at eight [S1].look{"q": "é"}'.encode())


# ---------- bad input ----------


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ([b"data: [1]\n\n"], "no JSON object"),
        ([b"data: 7\n\n"], "no JSON object"),
        ([b'data: {"choices": [\n\n'], "no JSON object"),
        ([b"data: " + b"[" * 100_000 + b"\n\n"], "no JSON object"),
        ([b"data: " + b"9" * 10_000 + b"\n\n"], "no JSON object"),
        ([b"data: " + b"x" * 10_000_000], "Limits.event_bytes"),
        ([b"data: x\n"] * 400_000, "Limits.event_bytes"),
        ([frame(said("a" * 500_000), "sse")] * 9, "Limits.answer_bytes"),
    ],
    ids=["list", "number", "broken", "deep", "long number", "long line", "endless event", "long answer"],
)
def test_bad_input_is_a_stream_error_that_says_what_was_wrong(items: list[bytes], told: str) -> None:
    gate = SentenceGate(SOURCES)
    upstream = Upstream([frame(said("It opens at eight [S1]. And"), "sse"), *items])
    events, raised = drive(upstream, "openai_chat", gate)
    assert isinstance(raised, StreamError)
    assert told in str(raised)
    assert isinstance(events[0], Released)
    assert [type(event) for event in events[-2:]] == [Failed, Done]
    assert gate.report.text.startswith("It opens at eight.")
    assert (kind(gate.report), gate.report.status, upstream.closed) == ("provider_error", "failed", True)
    assert any(told in note for note in notes(gate.report))


@given(
    st.sampled_from(ALL),
    st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=3), st.integers(0, 3)), min_size=1, max_size=4),
    st.sampled_from(["strict", "replace"]),
)
def test_damaged_bytes_are_an_ending_or_a_stream_error(name: str, damages: list[tuple[float, bytes, int]], errors: str) -> None:
    """Bytes put in, left out or changed anywhere: the answer ends properly, the same for every cutting."""
    body = SCRIPTS[name].body()
    for place, put_in, left_out in damages:
        at = int(place * len(body))
        body = body[:at] + put_in + body[at + left_out :]
    found = []
    for size in (0, 11):
        gate = SentenceGate(SOURCES)
        events, raised = drive(Upstream(cut(body, size)), name, gate, errors=errors)
        assert raised is None or isinstance(raised, StreamError), raised
        assert isinstance(events[-1], Done)
        assert gate.report.status != "open"
        assert (kind(gate.report) == "provider_error") or raised is None
        found.append((events, str(raised)))
    assert found[0] == found[1]


def test_a_reason_is_kept_short() -> None:
    report = read([said("It opens"), chat(finish_reason="x" * 10_000)], "openai_chat")
    assert report.ending is not None
    assert report.ending.provider_reason == "x" * 200


def test_invalid_utf8_is_replaced_or_refused() -> None:
    body = frame(said("It opens at eight [S1]. X"), "sse") + b'data: {"choices": [{"index": 0, "delta": {"content": "\xff"}}]}\n\n'
    replaced = read([body, frame(chat(finish_reason="length"), "sse")], "openai_chat")
    assert kind(replaced) == "truncated"
    gate = SentenceGate(SOURCES)
    with pytest.raises(StreamError, match="UTF-8"):
        list(read_answer([body], "openai_chat", gate, errors="strict"))
    assert (kind(gate.report), gate.report.text) == ("provider_error", "It opens at eight.")


def test_a_character_that_was_cut_at_the_end_is_reported() -> None:
    body = frame(said("It opens at eight [S1]. ☕"), "sse")
    report = read([body[: body.index("☕".encode()) + 1]], "openai_chat")
    assert {"partial_event_dropped", "cut_character"} <= set(notes(report))
    line = frame({"message": {"content": "☕"}}, "ndjson")
    assert {"partial_event_dropped", "cut_character"} <= set(notes(read([line[: line.index("☕".encode()) + 2]], "ollama")))


def test_a_broken_frame() -> None:
    body = bytearray(SCRIPTS["bedrock"].body())
    body[200] ^= 1
    gate = SentenceGate(SOURCES)
    with pytest.raises(StreamError, match="frame"):
        list(read_answer([bytes(body)], "bedrock", gate))
    assert kind(gate.report) == "provider_error"
    with pytest.raises(StreamError, match=r"Limits\.event_bytes"):
        list(read_answer([SCRIPTS["bedrock"].body()[:60]], "bedrock", SentenceGate(SOURCES), limits=Limits(event_bytes=50)))


def test_a_character_cut_into_two_payloads() -> None:
    parts = [
        b'data: {"choices": [{"delta": {"content": "It opens at eight \\ud83c"}}]}\n\n',
        b'data: {"choices": [{"delta": {"content": "\\udfca [S1]."}}]}\n\n',
    ]
    report = read([*parts, chat(finish_reason="stop")], "openai_chat")
    assert (report.status, report.text) == ("accepted", "It opens at eight 🏊.")
    lone = read([parts[0], chat(finish_reason="stop")], "openai_chat")
    assert lone.status == "stopped"
    assert [violation.check for violation in lone.violations] == ["citation_required", "hidden_text"] or lone.text == ""


def test_pings_comments_and_events_without_data_are_nothing() -> None:
    noise = b": ping\n\nevent: ping\n\nid: 7\n\ndata:\n\nretry: 5\n\n:\n\nunknown: x\n\n"
    body = b"".join(noise + one for one in SCRIPTS["openai_chat"].frames())
    assert read(cut(body, 5), "openai_chat").text == SHOWN
    report = read([{"type": "ping"}, {"type": "brand.new", "x": [1]}, *SCRIPTS["anthropic"].payloads], "anthropic")
    assert report.text == SHOWN


@pytest.mark.parametrize("item", ["data: {}\n\n", 7, None, ["x"]])
def test_items_of_a_wrong_type_are_the_callers_mistake(item: object) -> None:
    upstream = Upstream([item])
    with pytest.raises(UsageError, match="bytes, mappings"):
        list(read_answer(upstream, "openai_chat", SentenceGate(SOURCES)))
    assert upstream.closed


def test_wrong_calls() -> None:
    with pytest.raises(UsageError, match="openai_chat"):
        list(read_answer([], "opnai", SentenceGate(SOURCES)))
    with pytest.raises(UsageError, match="objects, not bytes"):
        list(read_answer([b"x"], "langchain", SentenceGate(SOURCES)))
    with pytest.raises(UsageError, match="event_bytes"):
        Limits(event_bytes=0)
    for loop in (gate_stream(["x"], SOURCES), read_answer([], "openai_chat", SOURCES)):  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="gate is a SentenceGate"):
            list(loop)


# ---------- leaving ----------


def test_the_stop_closes_the_upstream_before_it_is_handed_out() -> None:
    upstream = Upstream([said("It opens at eight [S1]. Lockers cost 45 [S1]. And"), said("more"), chat(finish_reason="stop")])
    gate = SentenceGate(SOURCES)
    for event in read_answer(upstream, "openai_chat", gate):
        if isinstance(event, Stopped):
            assert upstream.closed
    assert upstream.read == 1
    assert gate.report.ending is not None
    assert (kind(gate.report), gate.report.ending.transport) == ("cancelled", "closed_by_us")
    assert gate.report.usage is not None
    assert gate.report.usage.kind == "estimated"


@pytest.mark.parametrize(("name", "evidence"), [("openai_chat", False), ("openai_chat", True)])
def test_a_reader_who_leaves(name: str, evidence: bool) -> None:
    """Before the evidence the answer is cancelled; after it, it keeps what the provider said."""
    upstream = Upstream([said("It opens at eight [S1]. The"), chat(finish_reason="stop"), said(" pool opens at eight [S1]. X")])
    gate = SentenceGate(SOURCES)
    events = read_answer(upstream, name, gate)
    next(events)
    if evidence:
        upstream.items[2] = chat(delta={"content": ""})
        for _ in events:
            break
    events.close()
    assert upstream.closed
    assert kind(gate.report) == ("completed" if evidence else "cancelled")
    assert gate.report.usage is not None


def test_a_check_that_is_interrupted_commits_nothing() -> None:
    class Interrupt(BaseException):
        pass

    def interrupted(sentence: Any, sources: Any, policy: Any) -> Iterator[Violation]:
        raise Interrupt

    upstream, gate = Upstream([said("It opens at eight [S1]. The")]), SentenceGate(SOURCES, Policy(checks=(interrupted,)))
    with pytest.raises(Interrupt):
        list(read_answer(upstream, "openai_chat", gate))
    assert upstream.closed
    assert gate.report.text == ""


# ---------- asynchronous ----------


class AsyncUpstream(Upstream):
    """The same, with a pause before every item; `stall` never brings the item of that number."""

    stall: int | None = None

    async def __aiter__(self) -> Any:
        for at, item in enumerate(self.items):
            if at == self.stall:
                await asyncio.sleep(3600)
            self.read += 1
            await asyncio.sleep(0)
            yield item
        if self.error:
            raise self.error

    async def aclose(self) -> None:
        self.closed = True


async def collect(upstream: Any, provider: str, gate: SentenceGate, **more: Any) -> list[Any]:
    return [event async for event in aread_answer(upstream, provider, gate, **more)]


@pytest.mark.parametrize("name", ALL)
def test_asynchronously_the_same(name: str) -> None:
    for items in (SCRIPTS[name].frames(), cut(SCRIPTS[name].body(), 7), SCRIPTS[name].without_terminal().frames()):
        gate, upstream = SentenceGate(SOURCES), AsyncUpstream(items)
        events = asyncio.run(collect(upstream, name, gate))
        other = SentenceGate(SOURCES)
        assert events == list(read_answer(Upstream(items), name, other))
        assert gate.report == other.report
        assert upstream.closed


def stalling(items: list[Any], at: int) -> AsyncUpstream:
    upstream = AsyncUpstream([*items, said("late")])
    upstream.stall = at
    return upstream


@pytest.mark.parametrize(("limits", "told"), [(Limits(idle_seconds=0.05), "idle_seconds"), (Limits(total_seconds=0.05), "total_seconds")])
def test_time_limits_name_themselves(limits: Limits, told: str) -> None:
    upstream, gate = stalling([said("It opens at eight [S1]. The")], 1), SentenceGate(SOURCES)
    with pytest.raises(StreamError, match=told):
        asyncio.run(collect(upstream, "openai_chat", gate, limits=limits))
    assert (kind(gate.report), gate.report.text, upstream.closed) == ("no_evidence", "It opens at eight.", True)
    assert gate.report.ending is not None
    assert gate.report.ending.transport == "timeout"


def test_a_body_that_stays_open_after_the_end_is_closed_soon() -> None:
    upstream, gate = stalling([*map(said, PIECES), chat(finish_reason="stop")], 6), SentenceGate(SOURCES)
    asyncio.run(collect(upstream, "openai_chat", gate, limits=Limits(after_end_seconds=0.05)))
    assert (gate.report.status, gate.report.text, upstream.closed) == ("accepted", SHOWN, True)


def test_the_synchronous_reader_looks_at_the_clock_when_something_arrives() -> None:
    class Late(Upstream):
        def __iter__(self) -> Iterator[Any]:
            for item in self.items:
                yield item
                time.sleep(0.03)

    gate = SentenceGate(SOURCES)
    with pytest.raises(StreamError, match="idle_seconds"):
        list(read_answer(Late([said("It opens at eight [S1]. X"), said("y")]), "openai_chat", gate, limits=Limits(idle_seconds=0.01)))
    assert gate.report.text == "It opens at eight."


def test_the_time_that_the_reader_takes_is_not_the_upstreams() -> None:
    """A slow reader gets everything that has come, also what comes behind the end."""
    items = [*map(said, PIECES), chat(finish_reason="stop"), CHAT_USAGE]
    limits = Limits(idle_seconds=0.02, after_end_seconds=0.02)
    gate = SentenceGate(SOURCES)
    for _ in read_answer(Upstream(items), "openai_chat", gate, limits=limits):
        time.sleep(0.04)
    assert (gate.report.status, gate.report.usage and gate.report.usage.kind) == ("accepted", "reported")

    async def main(gate: SentenceGate) -> None:
        async for _ in aread_answer(AsyncUpstream(items), "openai_chat", gate, limits=limits):
            await asyncio.sleep(0.04)

    other = SentenceGate(SOURCES)
    asyncio.run(main(other))
    assert other.report == gate.report


def test_a_cancelled_task_counts_as_a_reader_who_left() -> None:
    async def main() -> tuple[AsyncUpstream, SentenceGate]:
        upstream, gate = stalling([said("It opens at eight [S1]. The")], 1), SentenceGate(SOURCES)
        task = asyncio.create_task(collect(upstream, "openai_chat", gate))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return upstream, gate

    upstream, gate = asyncio.run(main())
    assert upstream.closed
    assert (kind(gate.report), gate.report.status) == ("cancelled", "cancelled")


# ---------- what the ending keeps ----------


def test_protocol_and_library_are_kept_beside_the_ending() -> None:
    report = read(SCRIPTS["openai_chat"].frames(), "openai_chat", library="openai 3.57.0")
    assert notes(report) == ("protocol:openai_chat", "library:openai 3.57.0")
    assert json.dumps(report.to_dict())


def test_a_channel_that_cant_carry_a_reason() -> None:
    chunk = {"content": "It opens at eight [S1]. Bring a towel."}
    assert kind(read([chunk], "langchain")) == "no_evidence"
    report = read([chunk], "langchain", carries_reason=False)
    assert (kind(report), "unattested" in notes(report)) == ("completed", True)
    assert report.ending == replace(report.ending or Ending.completed(), kind="completed")


def test_events_of_another_parser() -> None:
    class ServerSentEvent:
        def __init__(self, data: str, event: str = "message") -> None:
            self.data, self.event = data, event

    items = [ServerSentEvent(json.dumps(payload)) for payload in SCRIPTS["openai_chat"].payloads[:-1]]
    assert read([*items, ServerSentEvent("[DONE]")], "openai_chat").text == SHOWN
    assert isinstance(SCRIPTS["anthropic"], Script)
    assert Truncated.__doc__
