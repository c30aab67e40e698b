"""Wrong stops and catches on answers that people judged, and sentence ends against gold text.

    python tests/bench/accuracy.py grounded DIR      # one JSON object a line, *.jsonl or *.jsonl.gz, one file a set
    python tests/bench/accuracy.py sentences DIR

`grounded` records hold `lang`, `sources` (texts), `answer`, `marked` (whether the answer has [Sn] markers of its own; else each sentence
may lean on every source), `labels` ({start, end, kind}: supported, unsupported, conflict, baseless, unknown) and `coverage` ("full": what
has no label is supported). Public sets that can be put into this form: RAGTruth, MTRAG, ExpertQA, WiCE, SummEdits, FarsTail, NTREX,
UHGEval. A good sentence is *wrongly stopped* if a check of values stops it; counted are those with a digit. A *catch* is a span that
people found made up and that has a digit, in a sentence that a check stops. The optional checks are measured beside.

`sentences` records hold `lang`, `text` and `sentences` (gold). Boundaries are compared by what stands before them, white space aside, and
not after a gold sentence without a terminator. Universal Dependencies treebanks are a source. Nothing here can fail.
"""

# ruff: noqa: T201
from __future__ import annotations

import argparse
import collections
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sentence_gate import Policy, Sentence, SentenceSplitter, Sources, judge
from sentence_gate.checks import SHIPPED

BAD = ("unsupported", "conflict", "baseless")
WAYS = {
    "as shipped": ("unsupported_value",),
    "+ value_in_context": ("unsupported_value", "value_in_context"),
    "+ names_supported": ("unsupported_value", "names_supported"),
    "+ both": ("unsupported_value", "value_in_context", "names_supported"),
}
TERMINATORS = ".!?…؟۔。！？।॥։።"
MARKERS = re.compile(r"(?:\s*\[S\d+\])+\s*$")
CLOSING = "\"'”’»›」』》)]）】*_ \t\n\u00a0"


def records(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")]):
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for line in lines:
                yield path.name.split(".jsonl")[0], json.loads(line)


def split(text: str, language: str) -> list[Sentence]:
    splitter = SentenceSplitter(language)
    found = splitter.feed(text)
    tail = splitter.flush()
    return [*found, tail] if tail else found


def overlaps(label: dict[str, Any], start: int, end: int) -> bool:
    return label["start"] < end and start < label["end"]


def verdict(record: dict[str, Any], sentence: Sentence) -> str:
    kinds = {label["kind"] for label in record["labels"] if overlaps(label, sentence.start, sentence.end)}
    if kinds & set(BAD):
        return "bad"
    if "unknown" in kinds or (record["coverage"] != "full" and "supported" not in kinds):
        return "unknown"
    return "good"


def has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def grounded(folder: Path) -> None:
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    built: dict[tuple[str, ...], Sources] = {}
    for name, record in records(folder):
        language = record["lang"] if record["lang"].split("-")[0] in LANGUAGES else "en"
        texts = tuple(record["sources"])
        sources = built.setdefault(texts, Sources(texts))
        sentences = split(record["answer"], language)
        for way, checks in WAYS.items():
            policy = Policy(
                language=language, checks=tuple(SHIPPED[check] for check in checks), no_answer_token=None, on_violation="observe"
            )
            stopped = collections.defaultdict[int, set[str]](set)
            for violation in judge(record["answer"], sources, policy).violations:
                stopped[violation.start].add(violation.check)
            count = counts[name]
            for sentence in sentences:
                state = verdict(record, sentence)
                hit = sentence.start in stopped
                on_value = bool(stopped.get(sentence.start, set()) & {"unsupported_value", "value_in_context"})
                if state == "good":
                    count[f"{way}: good"] += 1
                    count[f"{way}: good, stopped"] += hit
                    if has_digit(sentence.text):
                        count[f"{way}: good with a digit"] += 1
                        count[f"{way}: wrong stops"] += on_value
                elif state == "bad":
                    count[f"{way}: bad"] += 1
                    count[f"{way}: bad, stopped"] += hit
                    spans = [label for label in record["labels"] if label["kind"] in BAD and overlaps(label, sentence.start, sentence.end)]
                    for label in spans:
                        if has_digit(record["answer"][label["start"] : label["end"]]):
                            count[f"{way}: spans with a digit"] += 1
                            count[f"{way}: catches"] += hit
    print(f"{'set':<14}{'checks':<22}{'wrong stops':>20}{'catches':>20}{'good stopped':>20}{'bad stopped':>20}")
    for name, count in counts.items():
        for way in WAYS:
            pairs = (
                ("wrong stops", "good with a digit"),
                ("catches", "spans with a digit"),
                ("good, stopped", "good"),
                ("bad, stopped", "bad"),
            )
            shown = "".join(f"{rate(count[f'{way}: {part}'], count[f'{way}: {whole}']):>20}" for part, whole in pairs)
            print(f"{name.split('.')[0]:<14}{way:<22}{shown}")


def rate(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} % ({part}/{whole})" if whole else "-"


def sentences(folder: Path) -> None:
    counts: dict[tuple[str, str], collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for name, record in records(folder):
        text, language = record["text"], record["lang"]
        if language not in LANGUAGES:
            continue
        filled = [0]
        for char in text:
            filled.append(filled[-1] + (not char.isspace()))
        ends, loose, at = set(), set(), 0
        for gold in record["sentences"]:
            at += sum(not char.isspace() for char in gold)
            ends.add(at)
            if MARKERS.sub("", gold).rstrip(CLOSING)[-1:] not in TERMINATORS:
                loose.add(at)
        found = {filled[sentence.end] for sentence in split(text, language)} - {filled[-1]}
        wanted = ends - {filled[-1]}
        count = counts[name.split(".")[0], language]
        count["gold"] += len(record["sentences"])
        count["hit"] += len((wanted & found) - loose)
        count["false"] += len(found - wanted)
        count["missed"] += len(wanted - found - loose)
        count["documents"] += 1
        count["exact"] += not (found - wanted or wanted - found - loose)
    print(f"{'kind':<10}{'language':<10}{'F1':>8}{'false/1000':>12}{'missed/1000':>13}{'documents exact':>18}")
    for (kind, language), count in sorted(counts.items()):
        f1 = 2 * count["hit"] / max(1, 2 * count["hit"] + count["false"] + count["missed"])
        per = 1000 / max(1, count["gold"])
        exact = rate(count["exact"], count["documents"])
        print(f"{kind:<10}{language:<10}{f1:>8.3f}{count['false'] * per:>12.1f}{count['missed'] * per:>13.1f}{exact:>18}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["grounded", "sentences"])
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    {"grounded": grounded, "sentences": sentences}[given.what](given.folder)


if __name__ == "__main__":
    from sentence_gate.languages import codes

    LANGUAGES = codes()
    main()
