r"""The command line: `sentence-gate demo`, `check`, `replay`, `guardrails-register`. The only place that prints.

Exit status: 0 accepted or done; 1 stopped, refused or empty, or (replay) a line that is no record; 2 wrong use; 3 cut, failed or
cancelled, Ctrl-C and a closed pipe included. What is printed of an answer has its control characters and bidirectional overrides written
out (`\x1b`), on terminals and in pipes alike: a pipe may end at a terminal too.
"""

from __future__ import annotations

import argparse
import codecs
import json
import os
import re
import shutil
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from . import languages
from .demo import Example, Frame, columns, examples, play
from .endings import UNATTESTED
from .errors import UsageError
from .events import ENDING_KINDS, Done, Empty, Ending, EndingKind, Failed, Omitted, Refused, Released, Status, Stopped, Truncated, Violation
from .gate import SentenceGate
from .markers import style_of
from .policy import Policy
from .replay import Malformed, Replayed, Summary, read, replay
from .sources import Source, Sources
from .streams import gate_stream

EXIT: dict[Status, int] = {
    "open": 3,
    "accepted": 0,
    "stopped": 1,
    "refused": 1,
    "empty": 1,
    "truncated": 3,
    "failed": 3,
    "cancelled": 3,
}
WRONG_USE, CANCELLED = 2, 3
_REGISTRY = Path(".guardrails", "hub_registry.json")
_READ = 65536  # bytes asked for at a time; a pipe hands over what is there

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202d\u202e\ud800-\udfff]")
_CONTROLS_AND_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        arguments = _parser().parse_args(argv)
        status = int(arguments.run(arguments))
        sys.stdout.flush()
    except UsageError as error:
        return _wrong_use(str(error))
    except KeyboardInterrupt:  # while it was not waiting for standard input
        _tell("cancelled")
        return CANCELLED
    except BrokenPipeError:
        # The reader left. What is still buffered must not fail again when the interpreter flushes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CANCELLED
    except OSError as error:
        return _wrong_use(_reason(error))
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sentence-gate",
        description="Releases a streamed answer sentence by sentence, each one only after it was checked against the sources it cites.",
        epilog="Exit status: 0 accepted or done; 1 stopped, refused or empty; 2 wrong use; 3 cut, failed or cancelled.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and leave")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser(
        "demo",
        help="watch bundled answers go through the gate",
        description="Streams bundled answers through the gate: left what arrives, right what is released. "
        "Right-to-left text needs a terminal that orders it.",
    )
    demo.add_argument("--language", action="append", default=[], metavar="TAG", help="only this language (may be repeated)")
    demo.add_argument("--plain", action="store_true", help="plain lines, as when the output is no terminal")
    demo.add_argument("--fast", action="store_true", help="without delays")
    demo.set_defaults(run=_demo)

    check = commands.add_parser(
        "check",
        help="gate an answer as it is read from standard input",
        description="Reads an answer (UTF-8) from standard input and prints each sentence as soon as it is released. "
        "Notices and reasons go to standard error; a reason may quote what was withheld.",
        epilog="Exit status: 0 accepted; 1 stopped, refused or empty; 2 wrong use, or input that isn't UTF-8; 3 cut, failed or cancelled.",
    )
    check.add_argument("--source", nargs="+", action="extend", default=[], type=Path, metavar="FILE", help="UTF-8 text; the first is [S1]")
    check.add_argument("--language", metavar="TAG", help="the language that the answer was asked for in (BCP 47); overrides the policy's")
    check.add_argument("--policy", type=Path, metavar="FILE", help="a policy, .toml or .json: the fields of sentence_gate.Policy")
    check.add_argument("--question", default="", metavar="TEXT", help="the question that was asked")
    kinds = ", ".join(ENDING_KINDS)
    check.add_argument("--ending", default="completed", choices=ENDING_KINDS, metavar="KIND", help=f"how the stream ended: {kinds}")
    check.set_defaults(run=_check)

    again = commands.add_parser(
        "replay",
        help="put recorded answers through the gate and count",
        description="Reads records, one JSON object a line: sources, answer and, if there are any, id, language, question, ending. "
        "Prints each stop with its place (code points of the answer) and reason, then counts.",
        epilog="Exit status: 0 every line was replayed, whatever the verdicts; 1 a line was no record; 2 wrong use; 3 cancelled.",
    )
    again.add_argument("files", nargs="+", type=Path, metavar="FILE")
    again.add_argument("--policy", type=Path, metavar="FILE", help="a policy, .toml or .json; a record's language overrides its")
    again.add_argument("--json", action="store_true", help="one JSON document: results (no withheld text), summary")
    again.set_defaults(run=_replay)

    register = commands.add_parser(
        "guardrails-register",
        help="write the Guardrails AI registry entry of this directory",
        description=f"Adds sentence_gate/sentence_gate to {_REGISTRY} here, where Guardrails looks for validators by name: "
        "with it `guardrails validate`, RAIL files and Guard.from_dict find the validator without an import. Other entries stay.",
        epilog="Exit status: 0 written; 2 the file there is no registry.",
    )
    register.set_defaults(run=_register)

    serve = commands.add_parser(
        "serve",
        help="put the gate in front of an endpoint of chat completions",
        description="Serves /v1/chat/completions in front of another endpoint; a request brings its sources. "
        "It listens on this machine only, unless --host says otherwise.",
    )
    serve.add_argument("--upstream", required=True, metavar="URL", help="the endpoint's base URL, such as https://api.openai.com/v1")
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
    serve.add_argument("--port", type=int, default=8080, help="the port to listen on (8080)")
    serve.add_argument("--policy", type=Path, metavar="FILE", help="a policy, .toml or .json: the fields of sentence_gate.Policy")
    serve.set_defaults(run=_serve)

    folder = commands.add_parser(
        "nemo-path",
        help="print the folder that a NeMo Guardrails configuration imports",
        description="Prints the folder for import_paths, where NeMo Guardrails can't find sentence_gate/rails by itself "
        "(an editable install, another site-packages).",
    )
    folder.add_argument("--colang", choices=["1", "2"], default="1", help="the configuration's Colang version (1)")
    folder.set_defaults(run=_nemo_path)
    return parser


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"{parser.prog} {metadata.version('sentence-gate')}")
        parser.exit()


def _nemo_path(arguments: argparse.Namespace) -> int:
    found = find_spec("sentence_gate.rails" if arguments.colang == "1" else "sentence_gate.rails_v2")
    if found is None or not found.submodule_search_locations:
        raise UsageError("this installation has no folder for NeMo Guardrails: install the wheel of sentence-gate")
    print(found.submodule_search_locations[0])
    return 0


# ---------- check ----------


def _check(arguments: argparse.Namespace) -> int:
    policy = _policy(arguments.policy, arguments.language)
    sources = Sources([Source(_text(path), id=str(path)) for path in arguments.source])
    if sys.stdin is None:
        raise UsageError("the answer comes on standard input, which is closed")
    kind: EndingKind = arguments.ending
    ending = Ending(kind, notes=(UNATTESTED,) if kind == "completed" else ())
    gate = SentenceGate(sources, policy, question=arguments.question)
    screen = _Screen(sys.stdout)
    for event in gate_stream(_pieces(sys.stdin.fileno()), gate, ending=ending):
        match event:
            case Released(text):
                screen.write(text)
            case Omitted():
                _tell("a sentence was omitted")
            case Stopped(_, notice) | Refused(notice) | Truncated(notice) | Failed(notice) | Empty(notice):
                screen.end()
                _tell(f"notice: {notice}")
            case Done(report):
                screen.end()
                for violation in report.violations:
                    _tell(_place(violation))
                if not report.cited and any(violation.check == "citation_required" for violation in report.violations):
                    marker = style_of(policy.markers).written(1)
                    _tell(f"a marker is written {marker} unless a policy names another style in its key markers")
                _tell(f"{report.status}: {len(report.text)} code points released, {report.withheld_chars} withheld")
    return EXIT[gate.report.status]


def _pieces(descriptor: int) -> Iterator[str | Ending]:
    """Standard input as it comes. Ctrl-C ends it as cancelled."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    taken = 0
    try:
        while data := os.read(descriptor, _READ):
            yield decoder.decode(data)
            taken += len(data)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise UsageError(f"the answer on standard input isn't UTF-8 (within bytes {taken} to {taken + _READ})") from None
    except KeyboardInterrupt:
        yield Ending.cancelled()


class _Screen:
    """Writes released text at once and safely.

    A carriage return alone would let a text overwrite itself on a terminal: it is written as a whole line end.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._last = "\n"

    def write(self, text: str) -> None:
        if not text:
            return
        rest = text.removeprefix("\n") if self._last == "\r" else text
        self._last = text[-1]
        self._stream.write(_CONTROLS.sub(_written_out, re.sub("\r\n?", "\r\n", rest)))
        self._stream.flush()

    def end(self) -> None:
        """On a terminal, what follows begins a line of its own."""
        if self._last not in "\r\n" and self._stream.isatty():
            self._stream.write("\n")
            self._stream.flush()
            self._last = "\n"


# ---------- replay ----------


def _replay(arguments: argparse.Namespace) -> int:
    policy = _policy(arguments.policy, None)
    summary = Summary()
    progress = _Progress(sum(path.stat().st_size for path in arguments.files))  # a wrong name shows before the first answer
    if arguments.json:
        print('{"results": [', end="")
    for path in arguments.files:
        with path.open("rb") as file:
            for result in replay(read(progress.count(file), str(path)), policy):
                if arguments.json:
                    print(",\n" if summary.answers + summary.malformed else "\n", json.dumps(result.to_dict()), sep="", end="")
                else:
                    for line in _lines(result):
                        progress.clear()
                        print(line)
                summary.add(result)
    progress.clear()
    if arguments.json:
        print(f'\n], "summary": {json.dumps(summary.to_dict())}}}')
    else:
        print("\n".join(_tables(summary)))
    return 1 if summary.malformed else 0


def _lines(result: Replayed | Malformed) -> Iterator[str]:
    """What is told of one result: nothing if nothing was wrong."""
    if isinstance(result, Malformed):
        yield f"{_line(result.where)}: no record: {_line(result.reason)}"
        return
    record = result.record
    for violation in result.report.violations:
        name = f" {record.id}" if record.id else ""
        yield f"{_line(record.where + name)} ({result.language}): {result.report.status}: {_place(violation)}"
        yield f"    {_short(record.answer[violation.start : violation.end])}"


def _tables(summary: Summary) -> Iterator[str]:
    codes = sorted(summary.by_language)
    yield f"{summary.answers} answers replayed, {summary.malformed} malformed lines"
    statuses = ("status", summary.by_status, summary.by_language)
    checks = ("check", summary.by_check, summary.by_language_check)
    for title, counts, by_language in (statuses, checks):
        if counts:
            yield ""
            yield f"{title:<20} {'all':>7}" + "".join(f" {code:>6}" for code in codes)
            for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
                yield f"{name:<20} {count:>7}" + "".join(f" {by_language[code][name] or '-':>6}" for code in codes)


class _Progress:
    """A bar on standard error, if that is a terminal: the share of the bytes that were read."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._read = 0
        self._shown = -1
        self._on = sys.stderr.isatty()

    def count(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        for line in lines:
            yield line
            self._read += len(line)
            share = min(100, self._read * 100 // max(1, self._total))
            if self._on and share != self._shown:
                self._shown = share
                sys.stderr.write(f"\r[{'#' * (share // 4):<25}] {share:>3} %")
                sys.stderr.flush()

    def clear(self) -> None:
        if self._on and self._shown >= 0:
            sys.stdout.flush()
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = -1


# ---------- serve ----------


def _serve(arguments: argparse.Namespace) -> int:
    if missing := [name for name in ("httpx2", "sse_starlette", "starlette", "uvicorn") if find_spec(name) is None]:
        raise UsageError(f"serve needs {', '.join(missing)}: pip install 'sentence-gate[server]'")
    import uvicorn  # these load a web framework: only this command pays for it

    from .server.passthrough import application

    uvicorn.run(
        application(arguments.upstream, _policy(arguments.policy, None)), host=arguments.host, port=arguments.port, log_level="warning"
    )
    return 0


# ---------- guardrails-register ----------


def _register(_: argparse.Namespace) -> int:
    try:
        registry: dict[str, Any] = json.loads(_REGISTRY.read_text(encoding="utf-8")) if _REGISTRY.exists() else {"version": 1}
        registry.setdefault("validators", {})["sentence_gate/sentence_gate"] = {
            "import_path": "guardrails_ai.sentence_gate",
            "exports": ["SentenceGate", "gated", "GatedGuard", "AsyncGatedGuard"],
            "installed_at": datetime.now(UTC).isoformat(),
            "package_name": "sentence-gate",
        }
    except (ValueError, AttributeError, TypeError):
        raise UsageError(f"{_REGISTRY} is there, and is no registry of Guardrails: move it away") from None
    _REGISTRY.parent.mkdir(exist_ok=True)
    written = _REGISTRY.with_suffix(".new")
    written.write_text(json.dumps(registry, indent=2) + "\n", encoding="utf-8")
    written.replace(_REGISTRY)
    print(f"sentence_gate/sentence_gate is in {_REGISTRY}")
    return 0


# ---------- demo ----------

_GAP = " | "
_PLAIN_WIDTH = 100
_PIECE_SECONDS, _PAUSE_SECONDS = 0.04, 1.5
_COLOURS: dict[columns.Style, str] = {"plain": "", "released": "32", "withheld": "1;31", "note": "2", "rule": "2"}


def _demo(arguments: argparse.Namespace) -> int:
    chosen = examples(arguments.language)
    terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    delay = not arguments.fast and sys.stdout.isatty()
    for number, example in enumerate(chosen):
        if number:
            print()
            time.sleep(_PAUSE_SECONDS if delay else 0)
        if terminal and not arguments.plain:
            _live(example, delay=delay)
        else:
            _plain(example, delay=delay)
    return 0


def _heading(example: Example, total: int) -> Iterator[str]:
    language = languages.load(example.language)
    yield "=" * total
    yield from _labelled(f"{language.name}:", example.topic, total, rtl=language.rtl)
    yield from _labelled("Question:", example.question, total, rtl=language.rtl)
    for number, source in enumerate(example.sources, 1):
        yield from _labelled(f"[S{number}]", f"{source.title}: {source.text}", total, rtl=language.rtl)
    yield ""


def _closing(example: Example, frame: Frame, total: int) -> Iterator[str]:
    language = languages.load(example.language)
    report = frame.report
    if report is None:
        return
    yield ""
    for checks in (row.checks for row in frame.rows if row.released is None):
        details = ((check, columns.isolated(_line(detail), rtl=language.rtl)) for check, detail in checks)
        reasons = "; ".join(f"{check}: {detail}" for check, detail in details)
        yield from _labelled("Stopped:", reasons, total)
    if never := len(example.answer) - frame.generated:
        told = f"after {frame.generated} of {len(example.answer)} characters; {never} were never generated"
        yield from _labelled("Closed:", told, total)
    if report.notice:
        yield from _labelled("Notice:", report.notice, total, rtl=language.rtl)


def _labelled(label: str, text: str, total: int, *, rtl: bool = False) -> Iterator[str]:
    for index, line in enumerate(columns.wrap(text, total - 12)):
        yield f"{'' if index else label:<12}{columns.isolated(line, rtl=rtl)}"


def _plain(example: Example, *, delay: bool) -> None:
    rtl = languages.load(example.language).rtl
    column = (_PLAIN_WIDTH - len(_GAP)) // 2
    for line in _heading(example, _PLAIN_WIDTH):
        print(line)
    print(f"{'what arrives':<{column}}{_GAP}what is released")
    print(f"{'-' * column}-+-{'-' * column}")
    shown = 0
    for frame in play(example):
        time.sleep(_PIECE_SECONDS if delay else 0)
        lines = [line for row in frame.rows[shown:] for line in columns.judged(row, column, rtl=rtl)]
        if frame.report:
            lines += columns.pending(frame, column, rtl=rtl)
        for pair in lines:
            padding = " " * (column - pair.left.indent - columns.width(pair.left.text))
            print(f"{' ' * pair.left.indent}{pair.left.text}{padding}{_GAP}{' ' * pair.right.indent}{pair.right.text}".rstrip())
        shown = len(frame.rows)
        sys.stdout.flush()
        for line in _closing(example, frame, _PLAIN_WIDTH):
            print(line)


def _live(example: Example, *, delay: bool) -> None:
    """Draws the columns again after every piece, over the last drawing. One higher than the terminal shows its end until it is whole."""
    rtl = languages.load(example.language).rtl
    width, height = shutil.get_terminal_size()
    total = min(width - 1, 120)
    column = max(10, (total - len(_GAP)) // 2)
    for line in _heading(example, total):
        print(line)
    drawn = 0
    out = sys.stdout
    out.write("\x1b[?25l\x1b[?7l")  # no cursor, and no wrapping by the terminal: its idea of a width may differ
    try:
        for frame in play(example):
            lines = [_painted(line, column) for line in _drawing(frame, column, rtl=rtl)]
            if frame.report:
                lines += _closing(example, frame, total)
            else:
                lines = lines[1 - height :]
            up = f"\x1b[{drawn}F" if drawn else ""
            end = "\x1b[?7h" if frame.report else ""
            out.write(up + end + "".join(f"\x1b[2K{line}\n" for line in lines) + "\x1b[J")
            out.flush()
            drawn = len(lines)
            time.sleep(_PIECE_SECONDS if delay else 0)
    finally:
        out.write("\x1b[?25h\x1b[?7h")
        out.flush()


def _drawing(frame: Frame, column: int, *, rtl: bool) -> Iterator[columns.Line]:
    yield columns.Line(columns.Cell("what arrives", style="note"), columns.Cell("what is released", style="note"))
    yield columns.Line(columns.Cell("-" * column, style="rule"), columns.Cell("-" * column, style="rule"))
    for row in frame.rows:
        yield from columns.judged(row, column, rtl=rtl)
    yield from columns.pending(frame, column, rtl=rtl)


def _painted(line: columns.Line, column: int) -> str:
    """A line for a terminal: the cursor puts each cell at its place, so that a character drawn wider than counted moves nothing else."""
    left = f"\x1b[{line.left.indent + 1}G{_coloured(line.left)}"
    right = f"\x1b[{column + len(_GAP) + line.right.indent + 1}G{_coloured(line.right)}"
    return f"{left}\x1b[{column + 1}G{_GAP}{right}"


def _coloured(cell: columns.Cell) -> str:
    code = "" if os.environ.get("NO_COLOR") else _COLOURS[cell.style]
    return f"\x1b[{code}m{cell.text}\x1b[0m" if code else cell.text


# ---------- in and out ----------


def _policy(path: Path | None, language: str | None) -> Policy:
    data: Any = {}
    if path is not None:
        text = _text(path)
        parse = {".toml": tomllib.loads, ".json": json.loads}.get(path.suffix.lower())
        if parse is None:
            raise UsageError(f"{path}: a policy file is named .toml or .json")
        try:
            data = parse(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}: {error}") from None
    try:
        policy = Policy.from_mapping(data)
        return policy if language is None else Policy.from_mapping({**data, "language": language})
    except UsageError as error:
        raise UsageError(f"{path}: {error}" if path is not None else str(error)) from None


def _text(path: Path) -> str:
    """A text file, UTF-8 with or without a byte order mark."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} isn't UTF-8 (byte {error.start + 1})") from None


def _place(violation: Violation) -> str:
    detail = f": {_short(violation.detail)}" if violation.detail else ""
    return f"{violation.check} at {violation.start}-{violation.end}{detail}"


def _short(text: str) -> str:
    text = _line(text)
    return text if len(text) <= 200 else text[:199] + "…"


def _line(text: str) -> str:
    """A text that may not leave its line."""
    return _CONTROLS_AND_BREAKS.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    point = ord(match.group())
    return f"\\x{point:02x}" if point < 256 else f"\\u{point:04x}"


def _tell(message: str) -> None:
    print(_CONTROLS.sub(_written_out, message), file=sys.stderr, flush=True)


def _wrong_use(message: str) -> int:
    _tell(f"sentence-gate: {message}")
    return WRONG_USE


def _reason(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
