"""`stream_async`: whole sentences, one payload at a stop, the model closed before the reader sees it."""

import asyncio
import contextlib
import gc
import json
import time
import warnings
from collections.abc import AsyncIterator

import pytest
from nemo_scripted import BAD, BAD_SHOWN, GOOD, GOOD_SHOWN, NOTICE, SOURCES, YML, collect, config, messages, parts, rails, run

from sentence_gate.nemo import SentenceGateWarning

SIZES = [1, 3, 7, 0]


async def pieces(text: str, size: int, closed: list[bool]) -> AsyncIterator[str]:
    try:
        for at in range(0, len(text), size or len(text)):
            await asyncio.sleep(0)
            yield text[at : at + (size or len(text))]
    finally:
        closed.append(True)


@pytest.mark.parametrize("size", SIZES)
def test_a_good_answer_is_one_chunk_a_sentence_without_markers(size: int) -> None:
    app, model = rails(GOOD, size=size)
    chunks = run(collect(app.stream_async(messages=messages())))
    assert chunks == ["The library opens at 9:00.", " A card costs 5 euros.", " The café closes at 6."]
    assert model.closed == 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("external", [False, True])
def test_a_stop_gives_what_passed_and_one_payload(size: int, external: bool) -> None:
    app, model = rails(BAD, size=size)
    closed: list[bool] = []
    generator = pieces(BAD, size, closed) if external else None
    seen: list[tuple[str, int]] = []

    async def read() -> None:
        async for chunk in app.stream_async(messages=messages(), generator=generator):
            seen.append((chunk, len(closed) if external else model.closed))  # noqa: PERF401 - looked at when it comes

    run(read())
    text, payloads = parts([chunk for chunk, _ in seen])
    assert text == BAD_SHOWN
    assert [json.loads(payload) for payload in payloads] == [
        {"error": {"message": NOTICE, "type": "guardrails_violation", "param": "sentence gate", "code": "content_blocked"}}
    ]
    assert seen[-1][1] == 1, "the model is closed before the reader sees the payload"
    assert all("7" not in chunk for chunk, _ in seen)
    if not external and size == 3:
        assert model.sent < len(BAD) // 3


@pytest.mark.parametrize("language", ["fa", "de", "zh"])
def test_the_notice_is_in_the_language_of_the_policy(language: str) -> None:
    yml = YML + f"custom_data:\n  sentence_gate: {{language: {language}}}\n"
    app, _ = rails(BAD, yml=yml)
    _, payloads = parts(run(collect(app.stream_async(messages=messages()))))
    assert json.loads(payloads[0])["error"]["message"] != NOTICE


def test_a_model_that_stalls_after_the_bad_sentence_is_closed_at_once() -> None:
    app, model = rails(BAD, stall=60)
    started = time.monotonic()
    chunks = run(collect(app.stream_async(messages=messages())))
    assert parts(chunks)[0] == BAD_SHOWN
    assert model.closed == 1
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("leave", ["aclose", "break", "cancel"])
@pytest.mark.parametrize("external", [False, True])
def test_a_reader_who_leaves_closes_the_model(leave: str, external: bool) -> None:
    app, model = rails(GOOD * 50)
    closed: list[bool] = []

    async def read() -> None:
        stream = app.stream_async(messages=messages(), generator=pieces(GOOD * 50, 3, closed) if external else None)
        if leave == "cancel":
            first = asyncio.Event()

            async def wait() -> None:
                async for _ in stream:
                    first.set()
                    await asyncio.sleep(60)

            task = asyncio.create_task(wait())
            await first.wait()
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await stream.aclose()
        else:
            async for _ in stream:
                break
            await stream.aclose()
        assert (len(closed) if external else model.closed) == 1

    run(read())
    assert model.sent < 200


def test_a_tail_without_a_full_stop_is_judged_at_the_end() -> None:
    app, _ = rails("The library opens at 9:00 [S1]. A card costs 5 euros [S1]")
    assert "".join(run(collect(app.stream_async(messages=messages())))) == "The library opens at 9:00. A card costs 5 euros"
    app, _ = rails("The library opens at 9:00 [S1]. A card costs 7 euros [S1]")
    text, payloads = parts(run(collect(app.stream_async(messages=messages()))))
    assert (text, len(payloads)) == (BAD_SHOWN, 1)


@pytest.mark.parametrize(
    ("text", "reason", "shown"),
    [
        ("", "stop", "There was no answer to this question."),
        ("NO_ANSWER", "stop", "The available sources do not answer this question."),
        (
            "The library opens at 9:00 [S1]. It is",
            "length",
            "The library opens at 9:00.\n\nThis answer was cut short because it became too long.",
        ),
        ("The library opens at 9:00 [S1]. It is", "content_filter", "The library opens at 9:00.\n\nThis answer could not be completed"),
        ("The library opens at 9:00 [S1].", None, "The library opens at 9:00."),
    ],
)
def test_other_endings_are_told_apart(text: str, reason: str | None, shown: str) -> None:
    app, _ = rails(text, reason=reason)
    chunks = run(collect(app.stream_async(messages=messages())))
    assert not parts(chunks)[1]
    assert "".join(chunks).startswith(shown)


def test_an_upstream_error_keeps_what_passed_and_nemos_payload() -> None:
    app, _ = rails(GOOD, fails=45)
    text, payloads = parts(run(collect(app.stream_async(messages=messages()))))
    assert text == BAD_SHOWN
    assert [json.loads(payload)["error"]["type"] for payload in payloads] == ["generation_error"]


def test_nothing_is_emitted_before_its_sentence_is_complete() -> None:
    async def counted() -> None:
        app, model = rails(GOOD, size=1)
        model.allowed = asyncio.Semaphore(0)
        got: list[str] = []

        async def follow() -> None:
            async for chunk in app.stream_async(messages=messages()):
                got.append(chunk)  # noqa: PERF401 - looked at when it comes

        task = asyncio.create_task(follow())
        boundary = GOOD.index(". A") + 2
        for at in range(boundary + 1):
            model.allowed.release()
            while model.sent <= at:
                await asyncio.sleep(0)
            for _ in range(50):
                await asyncio.sleep(0)
            assert len(got) == (1 if at == boundary else 0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    run(counted())


@pytest.mark.parametrize("written", ["true", "false", None])
def test_stream_first_is_forced_off(written: str | None) -> None:
    line = f", stream_first: {written}" if written else ""
    yml = YML.replace("{enabled: true}", f"{{enabled: true{line}}}")
    config(yml)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        app, _ = rails(BAD, yml=yml)
    told = [str(warning.message) for warning in caught if "stream_first" in str(warning.message)]
    assert len(told) == (1 if written == "true" else 0)
    assert app.config.rails.output.streaming.stream_first is False
    app.config.rails.output.streaming.stream_first = True
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert parts(run(collect(app.stream_async(messages=messages()))))[0] == BAD_SHOWN
    assert [warning.category for warning in caught if "stream_first" in str(warning.message)] == [SentenceGateWarning] * (written != "true")
    assert app.config.rails.output.streaming.stream_first is False


def test_200_streams_at_once_stay_apart_and_leave_nothing() -> None:
    app, model = rails("unused")

    async def one(number: int) -> list[str]:
        good = f"Room {number + 1000} is open [S1]. It has {number + 2000} seats [S1]. "
        text = good if number % 2 else good + f"It costs {number + 5000} euros [S1]. And more [S1]."
        source = [f"Room {number + 1000} is open and has {number + 2000} seats."]
        closed: list[bool] = []
        chunks = await collect(app.stream_async(messages=messages(source), generator=pieces(text, 4, closed)))
        assert closed == [True]
        return chunks

    async def all_of_them() -> list[list[str]]:
        return list(await asyncio.gather(*map(one, range(200))))

    for number, chunks in enumerate(run(all_of_them())):
        text, payloads = parts(chunks)
        assert text.strip() == f"Room {number + 1000} is open. It has {number + 2000} seats."
        assert len(payloads) == (0 if number % 2 else 1)
    gc.collect()
    assert model.opened == 0


def test_100_models_at_once_and_two_streams_in_one_task() -> None:
    app, model = rails(BAD)

    async def many() -> list[list[str]]:
        return list(await asyncio.gather(*(collect(app.stream_async(messages=messages())) for _ in range(100))))

    assert all(parts(chunks)[0] == BAD_SHOWN for chunks in run(many()))
    assert model.closed == 100

    async def interleaved() -> tuple[list[str], list[str]]:
        streams = [
            app.stream_async(messages=messages()),
            app.stream_async(messages=messages(["The library opens at 9:00. A card costs 7 euros."])),
        ]
        got: tuple[list[str], list[str]] = ([], [])
        running = [0, 1]
        while running:
            for which in list(running):
                try:
                    got[which].append(await anext(streams[which]))
                except StopAsyncIteration:
                    running.remove(which)
        return got

    first, second = run(interleaved())
    assert parts(first) == (BAD_SHOWN, first[-1:])
    assert parts(second)[0].startswith("The library opens at 9:00. A card costs 7 euros.")


@pytest.mark.parametrize("text", ["<think>I plan 4711 things.</think>" + GOOD, "<think>\nI plan</think>\n\n" + GOOD])
@pytest.mark.parametrize("size", SIZES)
def test_reasoning_never_reaches_the_reader(text: str, size: int) -> None:
    app, _ = rails(text, size=size, reasoning="I think of 4711.")
    assert "".join(run(collect(app.stream_async(messages=messages())))) == GOOD_SHOWN


def test_a_token_that_looks_like_an_error_is_text() -> None:
    spoof = '{"error": {"message": "secret 4711", "type": "generation_error", "param": null, "code": "x"}}'
    for size in (0, 9):
        app, _ = rails(spoof, size=size)
        chunks = run(collect(app.stream_async(messages=messages())))
        assert "4711" not in "".join(chunks)
        assert json.loads(parts(chunks)[1][0])["error"]["param"] == "sentence gate"


def test_metadata_and_prompt_are_accepted() -> None:
    app, _ = rails("Short and free.")
    assert run(collect(app.stream_async(prompt="When?"))) == ["Short and free."]
    assert run(collect(app.stream_async(messages=messages(), include_metadata=True))) == ["Short and free."]
    with pytest.raises(ValueError, match="Either prompt or messages"):
        app.stream_async()


def test_without_sources_the_first_sentence_that_needs_one_stops(caplog: pytest.LogCaptureFixture) -> None:
    app, _ = rails(GOOD)
    text, payloads = parts(run(collect(app.stream_async(messages=messages(None)))))
    assert (text, len(payloads)) == ("", 1)
    assert "relevant_chunks_sep" in caplog.text


def test_sources_of_the_last_context_message_count_and_one_text_will_do() -> None:
    app, _ = rails("The library opens at 9:00 [S1].")
    chain = [*messages(["Nothing about it."]), *messages(SOURCES)]
    assert run(collect(app.stream_async(messages=chain))) == [BAD_SHOWN]
    single = [
        {"role": "context", "content": {"relevant_chunks": "کتابخانه ساعت ۹:۰۰ باز می‌شود. The library opens at ۹:۰۰."}},
        messages()[-1],
    ]
    assert run(collect(app.stream_async(messages=single))) == [BAD_SHOWN]
