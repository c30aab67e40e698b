"""The command line as a process: exit status, what goes where, hostile text, bad input, Ctrl-C and closed pipes."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sentence_gate.cli import main

COMMAND = [sys.executable, "-m", "sentence_gate"]
SOURCE = "The pool opens at eight. Lockers cost 40 cents."


def run(*arguments: object, answer: bytes | str = b"") -> subprocess.CompletedProcess[str]:
    data = answer.encode() if isinstance(answer, str) else answer
    done = subprocess.run([*COMMAND, *map(str, arguments)], input=data, capture_output=True, timeout=60, check=False)
    assert b"Traceback" not in done.stderr
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "pool.txt"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def policy(tmp_path: Path, text: str, name: str = "policy.toml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


# ---------- check ----------


@pytest.mark.parametrize(
    ("answer", "ending", "status", "out", "told"),
    [
        ("It opens at eight [S1].\n", "completed", 0, "It opens at eight.\n", "accepted"),
        ("It opens at eight [S1]. Lockers cost 45 cents [S1]. More", "completed", 1, "It opens at eight.", "stopped"),
        ("It opens at eight [S1]. NO_ANSWER because", "completed", 1, "It opens at eight.", "refused"),
        ("NO_ANSWER", "completed", 1, "", "refused"),
        ("", "completed", 1, "", "empty"),
        ("It opens at eight [S1]. Lockers cost", "truncated", 3, "It opens at eight.", "truncated"),
        ("It opens at eight [S1]. Lockers cost", "provider_error", 3, "It opens at eight.", "failed"),
        ("It opens at eight [S1]. Lockers cost", "no_evidence", 3, "It opens at eight.", "failed"),
        ("It opens at eight [S1]. Lockers cost", "cancelled", 3, "It opens at eight.", "cancelled"),
        ("It opens at eight [S1]. Lockers cost", "refused", 1, "It opens at eight.", "refused"),
        ("It opens at eight [S1]. Lockers cost 45 [S1]. So", "truncated", 1, "It opens at eight.", "stopped"),
    ],
)
def test_check_exit_status_and_streams(source: Path, answer: str, ending: str, status: int, out: str, told: str) -> None:
    done = run("check", "--source", source, "--ending", ending, answer=answer)
    assert (done.returncode, done.stdout) == (status, out)
    assert done.stderr.splitlines()[-1].startswith(f"{told}:")


def test_check_tells_reason_and_notice_on_standard_error_only(source: Path) -> None:
    done = run("check", "--source", source, answer="It opens at eight [S1]. Lockers cost 45 cents [S1]. More follows here.")
    assert "unsupported_value at 24-51" in done.stderr
    assert "notice: " in done.stderr
    assert "45" not in done.stdout
    assert "Lockers" not in done.stdout
    assert "More" not in done.stdout + done.stderr


def test_check_several_sources_in_both_spellings(source: Path, tmp_path: Path) -> None:
    other = tmp_path / "bus.txt"
    other.write_text("The bus leaves at 7:15.", encoding="utf-8")
    answer = "The bus leaves at 7:15 [S2]."
    assert run("check", "--source", source, other, answer=answer).returncode == 0
    assert run("check", "--source", source, "--source", other, answer=answer).returncode == 0
    assert run("check", "--source", other, "--source", source, answer=answer).returncode == 1


def test_check_without_a_source_judges_all_the_same() -> None:
    assert run("check", answer="Hello.").returncode == 0
    assert run("check", answer="It opens at 8 [S1].").returncode == 1


def test_check_byte_order_marks_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "pool.txt"
    path.write_bytes(b"\xef\xbb\xbf" + SOURCE.encode())
    done = run("check", "--source", path, answer=b"\xef\xbb\xbfIt opens at eight [S1].")
    assert (done.returncode, done.stdout) == (0, "It opens at eight.")


def test_check_language_overrides_the_policy(source: Path, tmp_path: Path) -> None:
    path = policy(tmp_path, 'language = "fa"\n')
    assert "پاسخ" in run("check", "--source", source, "--policy", path, answer="").stderr
    assert "answer" in run("check", "--source", source, "--policy", path, "--language", "en-GB", answer="").stderr


@pytest.mark.parametrize(
    ("name", "text"), [("p.toml", 'min_words = 3\nmarkers = "numeric"\n'), ("p.json", '{"min_words": 3, "markers": "numeric"}')]
)
def test_check_reads_a_policy(source: Path, tmp_path: Path, name: str, text: str) -> None:
    path = policy(tmp_path, text, name)
    assert run("check", "--source", source, "--policy", path, answer="It opens early [1].").returncode == 0
    done = run("check", "--source", source, "--policy", path, answer="It opens early.")
    assert done.returncode == 1
    assert "a marker is written [1]" in done.stderr


def test_check_question(source: Path, tmp_path: Path) -> None:
    path = policy(tmp_path, "question_supports_values = true\n")
    arguments = ("check", "--source", source, "--policy", path)
    assert run(*arguments, "--question", "Are there 12 lanes?", answer="The source names no 12 lanes [S1].").returncode == 0
    assert run(*arguments, answer="The source names no 12 lanes [S1].").returncode == 1


def test_check_omit_goes_on(source: Path, tmp_path: Path) -> None:
    path = policy(tmp_path, 'on_violation = "omit"\n')
    done = run("check", "--source", source, "--policy", path, answer="Lockers cost 45 [S1]. It opens at eight [S1].")
    assert (done.returncode, done.stdout.strip()) == (0, "It opens at eight.")
    assert "omitted" in done.stderr


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("\x00\x08\x7f", "\\x00\\x08\\x7f"),
        ("\u202eevil\u202d", "\\u202eevil\\u202d"),
    ],
)
def test_check_control_characters_are_written_out(source: Path, tmp_path: Path, hostile: str, shown: str) -> None:
    path = policy(tmp_path, 'on_violation = "observe"\n')
    done = run("check", "--source", source, "--policy", path, answer=f"Open{hostile} now.")
    assert done.stdout == f"Open{shown} now."
    assert not set(hostile) & set(done.stderr) & set("\x1b\x9b\x00\x08\x7f\x07\u202e\u202d")


def test_check_carriage_returns_cannot_overwrite(source: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "check", "--source", str(source)], input=b"One.\rTwo.\r\nThree.\n\nFour.", capture_output=True, check=False
    )
    assert done.stdout == b"One.\r\nTwo.\r\nThree.\n\nFour."


def test_check_hidden_text_stops(source: Path) -> None:
    done = run("check", "--source", source, answer="It opens \u202etoday.")
    assert (done.returncode, done.stdout) == (1, "")
    assert "hidden_text" in done.stderr


@pytest.mark.parametrize("answer", [b"Open\xff now.", b"Open.\xe2\x82", b"\xed\xa0\x80"])
def test_check_an_answer_that_is_not_utf8_is_wrong_use(source: Path, answer: bytes) -> None:
    done = run("check", "--source", source, answer=answer)
    assert done.returncode == 2
    assert "UTF-8" in done.stderr.splitlines()[-1]


def test_check_pieces_may_split_a_character(source: Path) -> None:
    process = subprocess.Popen([*COMMAND, "check", "--source", str(source)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    for byte in "Öffnet es früh? Ja.".encode():
        process.stdin.write(bytes([byte]))
        process.stdin.flush()
    out, _ = process.communicate(timeout=60)
    assert out.decode() == "Öffnet es früh? Ja."


def _wait_for(stream: object, wanted: bytes, seconds: float = 30) -> bytes:
    got, until = b"", time.monotonic() + seconds
    while wanted not in got and time.monotonic() < until:
        if select.select([stream], [], [], 0.1)[0]:
            data = os.read(stream.fileno(), 4096)  # type: ignore[attr-defined]
            if not data:
                break
            got += data
    return got


def test_check_releases_at_once_and_leaves_at_the_stop(source: Path) -> None:
    with subprocess.Popen([*COMMAND, "check", "--source", str(source)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"It opens at eight [S1]. L")
        process.stdin.flush()
        assert _wait_for(process.stdout, b"eight.") == b"It opens at eight."
        process.stdin.write(b"ockers cost 45 [S1]. A")
        process.stdin.flush()
        assert process.wait(timeout=30) == 1  # standard input is still open


def test_check_interrupt_is_cancelled(source: Path) -> None:
    command = [*COMMAND, "check", "--source", str(source)]
    heard = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background job ignores it, and so would what it starts
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, heard)
    with process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(b"It opens at eight [S1]. Lockers")
        process.stdin.flush()
        _wait_for(process.stdout, b"eight.")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 3
        told = process.stderr.read()
        assert b"cancelled" in told
        assert b"Traceback" not in told


@pytest.mark.parametrize("arguments", [("check",), ("demo", "--fast")])
def test_a_closed_pipe_is_cancelled(arguments: tuple[str, ...]) -> None:
    with subprocess.Popen([*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        if arguments == ("check",):
            process.stdin.write(b"Hello there. And")
        process.stdin.close()
        assert process.wait(timeout=60) == 3
        assert process.stderr.read() == b"" or arguments == ("check",)


# ---------- wrong use ----------


@pytest.mark.parametrize(
    ("text", "name", "accepted"),
    [
        ('languge = "en"\n', "p.toml", "language"),
        ('language = "xx"\n', "p.toml", "en"),
        ('min_words = "8"\n', "p.toml", "whole number"),
        ('on_violation = "warn"\n', "p.toml", "observe"),
        ('checks = ["spelling"]\n', "p.toml", "citation_range"),
        ('markers = "[S1]"\n', "p.toml", "numeric"),
        ("language = en\n", "p.toml", "p.toml"),
        ("{", "p.json", "p.json"),
        ("[]", "p.json", "mapping"),
        ("[" * 100_000, "p.json", "p.json"),
        ("", "p.yaml", ".toml"),
    ],
)
def test_a_wrong_policy_says_what_is_accepted(tmp_path: Path, text: str, name: str, accepted: str) -> None:
    done = run("check", "--policy", policy(tmp_path, text, name), answer="Hello.")
    assert (done.returncode, done.stdout) == (2, "")
    assert name in done.stderr
    assert accepted in done.stderr
    assert len(done.stderr) < 2000


@pytest.mark.parametrize(
    ("arguments", "accepted"),
    [
        ((), "COMMAND"),
        (("stream",), "demo"),
        (("check", "--language", "xx"), "de, el, en"),
        (("check", "--ending", "eof"), "truncated"),
        (("check", "--source", "no-such-file.txt"), "no-such-file.txt"),
        (("check", "--source", "."), "."),
        (("check", "--policy", "no-such-file.toml"), "no-such-file.toml"),
        (("demo", "--language", "xx"), "zh"),
        (("replay",), "FILE"),
        (("replay", "no-such-file.jsonl"), "no-such-file.jsonl"),
        (("replay", "."), "."),
    ],
)
def test_wrong_use(arguments: tuple[str, ...], accepted: str) -> None:
    done = run(*arguments, answer="Hello.")
    assert (done.returncode, done.stdout) == (2, "")
    assert accepted in done.stderr


def test_the_same_source_twice_is_wrong_use(source: Path) -> None:
    done = run("check", "--source", source, source, answer="Hello.")
    assert done.returncode == 2
    assert "pool.txt" in done.stderr


def test_a_source_that_is_not_utf8_is_wrong_use(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("Öffnet um acht.".encode("latin-1"))
    done = run("check", "--source", path, answer="Hello.")
    assert done.returncode == 2
    assert "latin.txt isn't UTF-8 (byte 1)" in done.stderr


def test_standard_input_that_cannot_be_read_is_wrong_use(tmp_path: Path) -> None:
    closed = subprocess.run(["sh", "-c", f"{' '.join(COMMAND)} check <&-"], capture_output=True, check=False)
    assert closed.returncode == 2
    write_only = subprocess.run(["sh", "-c", f"{' '.join(COMMAND)} check 0>{tmp_path / 'out'}"], capture_output=True, check=False)
    assert write_only.returncode == 2
    assert b"Traceback" not in closed.stderr + write_only.stderr


def test_a_megabyte_without_a_space_is_judged_and_bounded(source: Path) -> None:
    done = run("check", "--source", source, answer=b"a" * 1_000_000)
    assert done.returncode in (0, 1)
    assert len(done.stderr) < 10_000


def test_version_and_help() -> None:
    assert run("--version").stdout.startswith("sentence-gate 0.")
    assert all(command in run("--help").stdout for command in ("demo", "check", "replay"))


# ---------- replay ----------


def record(**changes: object) -> dict[str, object]:
    return {"id": "pool-1", "language": "en", "sources": [SOURCE], "answer": "It opens at eight [S1].", "ending": "completed", **changes}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    records = [
        record(),
        record(id="pool-2", answer="It opens at eight [S1]. Lockers cost 45 cents [S1]. So"),
        record(id="pool-3", language="de", answer="Es öffnet um acht Uhr morgens, und zwar an jedem Tag."),
        record(id="pool-4", ending="truncated", answer="It opens"),
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def test_replay_tells_each_stop_with_place_and_reason_and_counts(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(runs)]) == 0
    out = capsys.readouterr().out
    assert f"{runs}:2 pool-2 (en): stopped: unsupported_value at 24-51" in out
    assert "    Lockers cost 45 cents [S1]." in out
    assert f"{runs}:3 pool-3 (de): stopped: citation_required at 0-" in out
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line and line[0] in "asctu"}
    assert rows["status"] == ["all", "de", "en"]
    assert (rows["accepted"], rows["stopped"], rows["truncated"]) == (["1", "-", "1"], ["2", "1", "1"], ["1", "-", "1"])
    assert (rows["unsupported_value"], rows["citation_required"]) == (["1", "-", "1"], ["1", "1", "-"])


def test_replay_json_is_one_document_without_withheld_text(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "--json", str(runs)]) == 0
    out = capsys.readouterr().out
    data = json.loads(out)
    assert [result["status"] for result in data["results"]] == ["accepted", "stopped", "stopped", "truncated"]
    assert data["results"][1]["violations"] == [{"check": "unsupported_value", "length": 27, "start": 24, "end": 51}]
    assert data["summary"]["by_status"] == {"accepted": 1, "stopped": 2, "truncated": 1}
    assert data["summary"]["by_language"]["de"] == {"answers": 1, "by_status": {"stopped": 1}, "by_check": {"citation_required": 1}}
    assert "45" not in out


def test_replay_a_malformed_line_is_told_and_does_not_end_the_run(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = runs.read_bytes()
    runs.write_bytes(b"not json\n" + good + b"\xff\n\n" + json.dumps(record(language="xx")).encode() + b"\n" + good)
    assert main(["replay", str(runs)]) == 1
    out = capsys.readouterr().out
    assert f"{runs}:1: no record: not JSON" in out
    assert f"{runs}:6: no record: not UTF-8" in out
    assert f"{runs}:8: no record: unknown language 'xx'" in out
    assert "8 answers replayed, 3 malformed lines" in out
    assert main(["replay", "--json", str(runs)]) == 1
    assert json.loads(capsys.readouterr().out)["summary"]["malformed"] == 3


def test_replay_several_files_with_a_policy(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = policy(tmp_path, 'on_violation = "observe"\n')
    assert main(["replay", str(runs), str(runs), "--policy", str(path)]) == 0
    out = capsys.readouterr().out
    assert "8 answers replayed" in out
    assert "accepted: unsupported_value at 24-51" in out


def test_replay_hostile_names_and_details_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(record(id="\x1b[31m\nx", answer="Open\x1b[2J \u202e45\ud800.")) + "\n", encoding="utf-8")
    assert main(["replay", str(path)]) == 0
    out = capsys.readouterr().out
    assert not set(out) & set("\x1b\u202e\ud800")
    assert "\\x1b[31m\\x0ax" in out


def test_replay_an_empty_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.jsonl"
    path.touch()
    assert main(["replay", str(path)]) == 0
    assert main(["replay", "--json", str(path)]) == 0
    out = capsys.readouterr().out
    assert json.loads(out[out.index("{") :])["results"] == []


# ---------- on a terminal ----------


def on_terminal(*arguments: object) -> tuple[int, bytes]:
    """Exit status and everything that a terminal of 100 columns was sent."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [*COMMAND, *map(str, arguments)], {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"})
    sent = b""
    try:
        while data := os.read(descriptor, 65536):
            sent += data
    except OSError:  # Linux says so when the other end is closed
        pass
    finally:
        os.close(descriptor)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), sent


def test_demo_on_a_terminal_redraws_and_leaves_it_as_it_was() -> None:
    status, sent = on_terminal("demo", "--language", "en", "--fast")
    assert status == 0
    assert sent.count(b"what is released") > 20
    assert b"withheld: unsupported_value" in sent
    assert sent.rindex(b"\x1b[?25h") > sent.rindex(b"\x1b[?25l")
    assert sent.rindex(b"\x1b[?7h") > sent.rindex(b"\x1b[?7l")


def test_demo_plain_on_a_terminal_sends_no_controls() -> None:
    status, sent = on_terminal("demo", "--language", "fa", "--fast", "--plain")
    assert status == 0
    assert b"\x1b" not in sent


def test_replay_shows_its_progress_on_a_terminal(runs: Path) -> None:
    status, sent = on_terminal("replay", runs)
    assert status == 0
    assert b" 100 %" in sent
    assert sent.index(b"\r\x1b[K") < sent.index(b"answers replayed")


# ---------- guardrails-register ----------


def test_register_adds_one_entry_and_keeps_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    registry = tmp_path / ".guardrails" / "hub_registry.json"
    assert main(["guardrails-register"]) == 0
    written = json.loads(registry.read_text(encoding="utf-8"))
    assert list(written) == ["version", "validators"]
    entry = written["validators"]["sentence_gate/sentence_gate"]
    assert (entry["import_path"], entry["package_name"]) == ("guardrails_ai.sentence_gate", "sentence-gate")
    written["validators"]["other/one"] = {"import_path": "other.one"}
    registry.write_text(json.dumps(written), encoding="utf-8")
    assert main(["guardrails-register"]) == 0
    assert set(json.loads(registry.read_text(encoding="utf-8"))["validators"]) == {"other/one", "sentence_gate/sentence_gate"}
    assert [path.name for path in registry.parent.iterdir()] == ["hub_registry.json"]
    for broken in ("{", "[]", '{"validators": 3}'):
        registry.write_text(broken, encoding="utf-8")
        assert main(["guardrails-register"]) == 2
        assert registry.read_text(encoding="utf-8") == broken
    assert "no registry" in capsys.readouterr().err
