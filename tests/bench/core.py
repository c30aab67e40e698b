"""Speed and memory of the core, as ratios within one run.

    python tests/bench/core.py            # about a minute
    python tests/bench/core.py --quick    # fewer rounds

The yardstick is what `json.loads` takes for the provider chunk that carries a piece: every client pays it anyway. Figures of a busy
machine are noisy; ratios of one run are what counts. Nothing here can fail.
"""

# ruff: noqa: T201
from __future__ import annotations

import argparse
import gc
import itertools
import json
import statistics
import time
import tracemalloc

from sentence_gate import Policy, SentenceGate, Sources

FACTS = (
    "The reading room on floor {a} opens at {b}:30 and closes at {c}:15 on weekdays, as the rules of {d} March 20{e} say. ",
    "A yearly card costs {a},{b}50.50 euros for groups of up to {c} persons; students pay {d}% less. ",
    "Dr. Ada Keller signed the lease for the hall, which seats {a}{b} and was built in 19{c}. ",
    "Tickets are sold at https://library.example/tickets/{a}{b} and by desk@library.example until {c} p.m. every day. ",
    "The old catalogue, which lists every book of the collection by its author, may be used without a card by all visitors. ",
)
CHUNK = {
    "id": "chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012",
    "object": "chat.completion.chunk",
    "created": 1764547200,
    "model": "gpt-4o-mini-2024-07-18",
    "service_tier": "default",
    "system_fingerprint": "fp_0123456789",
    "choices": [{"index": 0, "delta": {"content": "open"}, "logprobs": None, "finish_reason": None}],
    "usage": None,
}
HOSTILE = {
    "words, no end": "word ",
    "one word": "a",
    "markers": "[S1]",
    "half markers": "[S",
    "spaces": " ",
    "line breaks": "\n",
    "quotes": '"',
    "open brackets": "([{",
    "digits and commas": "1,",
    "digits and spaces": "1 ",
    "dots and spaces": ". ",
    "e-mail": "a@",
    "Han, no end": "字",
    "combining marks": "e\u0301",
    "fences": "```\n",
    "half tokens": "NO_ANSWE",
}


def passage(number: int, length: int, marker: str = "") -> str:
    """Prose with values, the same for the same number, with a marker in every sentence."""
    out, turn = [], number
    while sum(map(len, out)) < length:
        turn = (turn * 37 + 11) % 1009
        fact = FACTS[turn % len(FACTS)].format(a=turn % 7 + 1, b=turn % 9 + 1, c=turn % 8 + 11, d=turn % 27 + 1, e=turn % 15 + 10)
        out.append(fact.rstrip()[:-1] + marker + ". ")
    return "".join(out)[:length].rsplit(". ", 1)[0] + ". "


def answer(length: int) -> tuple[str, list[str]]:
    """An answer that copies its four sources of 2,000 characters, cited."""
    sources = [passage(number, 2000) for number in (3, 5, 7, 9)]
    cited = [sentence + f" [S{number}]. " for number, source in enumerate(sources, 1) for sentence in source.split(". ") if sentence]
    text = "".join(cited)
    return (text * (length // len(text) + 1))[:length], sources


def seconds(work, rounds: int) -> float:
    """The fastest of some rounds, CPU seconds."""
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def feed_all(text: str, size: int, sources: Sources, policy: Policy) -> None:
    gate = SentenceGate(sources, policy)
    feed = gate.feed
    for at in range(0, len(text), size):
        feed(text[at : at + size])
    gate.finish()


def per_piece(rounds: int) -> None:
    text, texts = answer(40_000)
    sources, policy, pieces = Sources(texts), Policy(on_violation="observe"), len(text) // 4
    line = json.dumps(CHUNK)
    load = json.loads

    def parse() -> None:
        for _ in range(pieces):
            load(line)

    feed_all(text, 4, sources, policy)
    ratios = []
    for _ in range(rounds):
        parsed, gated = seconds(parse, 1), seconds(lambda: feed_all(text, 4, sources, policy), 1)
        ratios.append(gated / parsed)
    gated = seconds(lambda: feed_all(text, 4, sources, policy), rounds)
    print(f"a 4-character piece, four sources of 2,000 characters, all checks: {gated / pieces * 1e6:.2f} us")
    print(f"  json.loads of its provider chunk ({len(line)} bytes):              {seconds(parse, rounds) / pieces * 1e6:.2f} us")
    print(f"  ratio, median of {rounds} rounds:                                  {statistics.median(ratios):.2f}   (promised: at most 2)")


def growth(rounds: int) -> None:
    sources, policy = Sources([passage(3, 2000)]), Policy(on_violation="observe")
    print("time per doubling, pieces of 4, up to a million characters (2 is linear; promised: at most 2.4)")
    for name, seed in {"prose with markers": answer(40_000)[0], **HOSTILE}.items():
        times = []
        for length in (62_500, 250_000, 1_000_000):
            text = (seed * (length // len(seed) + 1))[:length]
            times.append(seconds(lambda text=text: feed_all(text, 4, sources, policy), 1))
        ratios = [(b / a) ** 0.5 for a, b in itertools.pairwise(times)]
        print(f"  {name:20} {times[-1]:6.2f} s a million   " + "  ".join(f"{ratio:.2f}" for ratio in ratios))


def memory() -> None:
    sources, policy, count = Sources([passage(3, 2000)]), Policy(), 500
    half = passage(3, 300).replace(". ", ", ")
    SentenceGate(sources, policy).feed(half)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    gates = [SentenceGate(sources, policy) for _ in range(count)]
    opened = tracemalloc.get_traced_memory()[0]
    for gate in gates:
        for at in range(0, len(half), 4):
            gate.feed(half[at : at + 4])
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    fresh, pending = ((size - before) / count / 1000 for size in (opened, held))
    print(f"an open gate: {fresh:.1f} kB, with 300 characters pending {pending:.1f} kB   (promised: at most 8)")


def building(rounds: int) -> None:
    text = passage(3, 1_000_000)
    spent = seconds(lambda: Sources([text]), rounds)
    tracemalloc.start()
    sources = Sources([text])
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    speed, size = len(text) / spent / 1e6, held / len(text)
    print(f"Sources of {len(sources)} text: {speed:.1f} MB/s, index {size:.1f} times the text   (promised: 1 MB/s or more)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round, no growth")
    quick = parser.parse_args().quick
    per_piece(1 if quick else 7)
    memory()
    building(1 if quick else 3)
    if not quick:
        growth(1)


if __name__ == "__main__":
    main()
