"""A campus assistant whose final answer is data: clubs, opening hours, office hours.

    python examples/campus_assistant.py                  # a scripted model, no key, no network
    python examples/campus_assistant.py --stream

With OPENAI_API_KEY set and the `openai` package installed it asks a real model (OPENAI_MODEL, OPENAI_BASE_URL).
"""

import argparse
import datetime as dt
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence

from sentence_gate import Released
from sentence_gate.contract import AnswerContract
from sentence_gate.turns import Model, Tool, Turn, chat, chat_model, stream

KNOWLEDGE = [
    "AI club: meets on 8 May at 18:00 in room 204.\nChess club: meets on 11 May at 17:30 in room 12.",
    "The library opens at 9:00 and closes at 21:00.\nThe sports hall opens at 7:00.",
    "Office hours of Dr. Ada Keller: Wednesdays from 14:00 to 16:00 in room 310.",
]
CONTRACT = AnswerContract(
    categories=("clubs", "opening_hours", "office_hours"),
    item={"properties": {"name": {"type": "string"}, "when": {"type": "string"}}},
)
TODAY = dt.date(2026, 5, 5)


def days_until(day: str) -> str:
    """How many days from today until a day of this year, given as 2026-05-08."""
    date = dt.date.fromisoformat(day)
    return f"From today until {date.day} {date:%B} there are {(date - TODAY).days} days."


TOOLS = [
    Tool(
        "days_until",
        "Counts the days from today until a day.",
        days_until,
        {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}, "required": ["day"]},
    )
]


def answer(text: str, category: str, lines: Sequence[str], **more: object) -> str:
    """A final object as a model writes it."""
    whole = {"status": "answered", "answer": text, "category": category, "items": [], "missing": [], "sources": list(lines), **more}
    return json.dumps(whole)


AI_CLUB = answer("The AI club meets on 8 May at 18:00 [S1]. It meets in room 204 [S1].", "clubs", KNOWLEDGE[0].splitlines()[:1])
SCRIPT: dict[str, Sequence[str | tuple[str, dict[str, str]]]] = {
    # question -> what the model says, step by step: a text, or a tool call
    "When does the AI club meet?": [AI_CLUB],
    "How many days until then?": [
        ("days_until", {"day": "2026-05-08"}),
        answer("There are 3 days until the AI club meets on 8 May [S1][S4].", "clubs", []),
    ],
    "Which is earlier?": [answer("The AI club meets earlier, on 8 May [S1]. The chess club meets on 11 May [S1].", "clubs", [])],
    "What is the Wi-Fi password?": [
        answer("", "opening_hours", [], status="not_found", missing=["the Wi-Fi password"]),
    ],
    "When does the library open? (with chatter)": [
        "Sure! Here is what was found:\n"
        + answer("The library opens at 9:00 [S2].", "opening_hours", KNOWLEDGE[1].splitlines()[:1])
        + "\nAnything else?",
    ],
    "When does the library open? (in a fence)": [
        "```json\n" + answer("The library opens at 9:00 [S2].", "opening_hours", KNOWLEDGE[1].splitlines()[:1]) + "\n```",
    ],
    "When does the library open? (broken, mended)": [
        answer("The library opens at 9:00 [S2].", "opening_hours", KNOWLEDGE[1].splitlines()[:1]).replace('"category"', "category"),
    ],
    "When does the library open? (in prose)": ["The library opens at 9:00 [S2]."],
    "When does the library open? (wrong hour)": [
        answer("The library opens at 9:00 [S2]. On Sundays it opens at 11:45 [S2].", "opening_hours", []),
    ],
    "When does the library open? (cut)": [
        answer("The library opens at 9:00 [S2]. It closes at 21:00 [S2].", "opening_hours", [])[:90] + "\0",
    ],
}


def scripted(question: str) -> Model:
    """A model that says what the script has for a question, in chat-completions chunks of four characters."""
    steps = iter(SCRIPT[question])

    def call(messages: Sequence[Mapping[str, object]], tools: Sequence[Mapping[str, object]]) -> Iterator[Mapping[str, object]]:
        said = next(steps)
        if isinstance(said, tuple):
            name, arguments = said
            written = json.dumps(arguments)
            yield chunk({"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": name, "arguments": ""}}]})
            for at in range(0, len(written), 4):
                yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": written[at : at + 4]}}]})
            yield chunk({}, "tool_calls")
            return
        text, cut, _ = said.partition("\0")
        for at in range(0, len(text), 4):
            yield chunk({"content": text[at : at + 4]})
        yield chunk({}, "length" if cut else "stop")

    return call


def chunk(delta: Mapping[str, object], reason: str | None = None) -> Mapping[str, object]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def mend(text: str, faults: object) -> str | None:
    """Stands in for `chat_repair`: a model that mends structure. It gives up on prose."""
    return re.sub(r"([{,]\s*)(\w+):", r'\1"\2":', text) if "{" in text else None


def real_model() -> Model | None:
    if not os.environ.get("OPENAI_API_KEY"):
        return None
    from openai import OpenAI

    return chat_model(OpenAI(), os.environ.get("OPENAI_MODEL", "gpt-4o-mini"), **CONTRACT.decoding("openai"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stream", action="store_true", help="show each sentence as it is released")
    streaming = parser.parse_args().stream
    model = real_model()
    history: Sequence[Mapping[str, object]] = ()
    for question in SCRIPT:
        print(f"\n> {question}")
        options = {
            "model": model or scripted(question),
            "contract": CONTRACT,
            "sources": KNOWLEDGE,
            "tools": TOOLS,
            "history": history,
            "instructions": f"You answer questions about the campus. Today is {TODAY}.",
            "repair": mend,
        }
        if streaming:
            for event in stream(question, **options):
                if isinstance(event, Released):
                    print(event.text, end="", flush=True)
                elif isinstance(event, Turn):
                    turn = event
            print()
        else:
            turn = chat(question, **options)
        print(turn.final.json)
        history = turn.messages


if __name__ == "__main__":
    main()
