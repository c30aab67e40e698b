"""The model is closed before the reader sees the block, and when the reader leaves, on every path."""

import asyncio
import gc
import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from library_script import BAD, BEFORE, CANARY, GOOD, NOTICE, SOURCES, Script, ScriptedModel, asked, collect, drive, payload, rails
from nemoguardrails import LLMRails
from nemoguardrails.types import LLMResponseChunk
from test_every_path import ASKING, dialogs, external, v2

MORE = " ".join([GOOD] * 20)
AFTER = len(BAD) + 10  # where a stalling model falls silent: the bad sentence is out, its end is certain


async def general(script: Script) -> LLMRails:
    return rails(script)


async def with_another_rail(script: Script) -> LLMRails:
    app = rails(script, colang="define subflow probe\n  $seen = execute probe(text=$bot_message)\n", yml=BESIDE)
    app.register_action(allow, "probe")
    return app


async def dialog(script: Script) -> LLMRails:
    script.text = f'  "{script.text}"'
    return await dialogs("ask hours", script)


async def single_call(script: Script) -> LLMRails:
    script.text = f'ask hours\nbot answer hours\n  "{script.text}"\n'
    app = await dialogs(script)
    app.config.rails.dialog.single_call.enabled = True
    return app


async def passthrough(script: Script) -> LLMRails:
    return rails(script, extra="passthrough: true\n")


async def colang_2(script: Script) -> LLMRails:
    return v2(script, colang=ASKING)


BESIDE = """
import_paths: [{path}]
rails:
  output:
    flows: [probe, sentence gate]
    streaming: {{enabled: true}}
custom_data:
  sentence_gate: {{notices: {{stopped: "{notice}"}}}}
"""


async def allow(**_: Any) -> Any:
    from nemoguardrails.actions.rail_outcome import RailOutcome

    return RailOutcome.allow()


WAYS = [general, with_another_rail, dialog, single_call, passthrough, colang_2]
Way = Callable[[Script], Any]


@pytest.mark.parametrize("stalls", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_the_model_is_closed_when_the_block_arrives(way: Way, stalls: bool) -> None:
    async def read() -> None:
        script = Script(f"{BAD} {MORE}", size=5, stall_after=AFTER if stalls else None)
        app = await way(script)
        texts: list[str] = []
        async for chunk in app.stream_async(messages=asked()):
            if chunk.startswith('{"error"'):
                assert script.closed
                assert not script.ended
                assert json.loads(chunk) == payload()
            texts.append(chunk)
        assert "".join(texts[:-1]) == BEFORE
        assert CANARY not in "".join(texts)
        assert CANARY not in repr(app.events_history_cache)

    drive(read(), 20)


@pytest.mark.parametrize("stalls", [False, True])
def test_a_callers_generator_is_closed_when_the_block_arrives(stalls: bool) -> None:
    async def read() -> None:
        script = Script(f"{BAD} {MORE}", size=5)

        async def pieces() -> AsyncIterator[str]:
            said = 0
            async for piece in external(script):
                yield piece
                said += len(piece)
                if stalls and said >= AFTER:
                    await asyncio.sleep(60)

        generator = pieces()
        chunks = []
        async for chunk in rails(GOOD).stream_async(messages=asked(), generator=generator):
            chunks.append(chunk)
            if chunk.startswith('{"error"'):
                assert generator.ag_frame is None  # it has ended
        assert json.loads(chunks[-1]) == payload()

    drive(read(), 20)


@pytest.mark.parametrize("leave", ["aclose", "cancel", "forget"])
@pytest.mark.parametrize("way", WAYS)
def test_the_model_is_closed_when_the_reader_leaves(way: Way, leave: str) -> None:
    async def read() -> None:
        script = Script(MORE, size=5, stall_after=200)
        app = await way(script)
        stream = app.stream_async(messages=asked())
        assert await anext(stream) == BEFORE
        if leave == "aclose":
            await stream.aclose()
        elif leave == "cancel":

            async def rest() -> None:
                async for _ in stream:
                    pass

            reader = asyncio.create_task(rest())
            await asyncio.sleep(0.02)
            reader.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reader
        else:
            del stream
            gc.collect()
            for _ in range(100):
                await asyncio.sleep(0)
        assert script.closed
        assert app.events_history_cache == {}

    drive(read(), 20)


class Numbered(ScriptedModel):
    """Answers by the number in the question; every other answer goes wrong in its third sentence."""

    async def stream_async(self, prompt: Any, *, stop: Any = None, **more: Any) -> AsyncIterator[LLMResponseChunk]:
        asking = prompt if isinstance(prompt, str) else "\n".join(str(message.content) for message in prompt)
        number = int(re.findall(r"room (\d+)", asking)[-1])
        text = f"Room {number} is open [S1]. It has {number + 3000} seats [S1]. "
        text += "Ask there." if number % 2 else f"It costs {number + 6000} euros [S1]. And so it goes on and on [S1]."
        self.live += 1
        try:
            for at in range(0, len(text), 4):
                await asyncio.sleep(0)
                yield LLMResponseChunk(delta_content=text[at : at + 4])
            yield LLMResponseChunk(delta_content="", finish_reason="stop")
        finally:
            self.live -= 1


def test_200_answers_of_one_model_at_once_keep_to_their_own_sources() -> None:
    model = Numbered()
    app = rails("")
    app.update_llm(model)

    async def one(number: int) -> list[str]:
        sources = [f"Room {number} is open and has {number + 3000} seats."]
        return await collect(app.stream_async(messages=asked(f"Tell me of room {number}", sources)))

    async def all_of_them() -> list[list[str]]:
        return list(await asyncio.gather(*map(one, range(1000, 1200))))

    for number, chunks in enumerate(drive(all_of_them()), 1000):
        shown = f"Room {number} is open. It has {number + 3000} seats."
        if number % 2:
            assert "".join(chunks) == f"{shown} Ask there."
        else:
            assert ("".join(chunks[:-1]), json.loads(chunks[-1])) == (shown, payload())
    assert model.live == 0


def test_answers_without_a_stream_keep_to_their_own_sources_too() -> None:
    app = rails(GOOD)

    async def both() -> None:
        given = [SOURCES, ["Nothing."]] * 20
        told = await asyncio.gather(*(app.generate_async(messages=asked(sources=sources)) for sources in given))
        assert [message["content"] == NOTICE for message in told] == [False, True] * 20

    drive(both())
