"""The attempts' store: what survives a killed process, a full disk and a second process, and what is never kept."""

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from sentence_gate import Ending, Usage, UsageError
from sentence_gate.attempts import Attempt, Attempts, Final, count
from sentence_gate.store import SqliteStore

USED = Usage(11, 22, None, "reported")


def answered(book: Attempts, intent: str, attempt: str, text: str = "It opens at eight.", at: float = 0.0) -> Final | None:
    book.start(intent, attempt, at)
    book.text(attempt, text, at + 1)
    book.end(attempt, Ending.completed("stop", usage=USED), at + 2)
    book.check(attempt, 1, passed=True, now=at + 2)
    return book.promote(attempt, at + 3)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "attempts.db"


def test_finals_by_default_drafts_when_asked(path: Path) -> None:
    with SqliteStore(path, keep_text=True) as store:
        book = Attempts(store)
        book.start("i", "a", 0.0)
        book.text("a", "It op", 1.0)
        assert store.final("i") is None
        book.end("a", Ending.truncated("length", usage=Usage(output_tokens=5, kind="estimated")), 2.0)
        final = answered(book, "i", "b", at=3.0)
        assert store.final("i") == final
        assert store.finals() == [final]
        assert store.finals(since=7.0) == []
        assert [(draft.id, draft.number, draft.state, draft.reason, draft.text) for draft in store.drafts("i")] == [
            ("a", 1, "failed", "truncated", "It op"),
            ("b", 2, "final", None, "It opens at eight."),
        ]
        assert store.usage() == Usage(11, 27, None, "estimated")
        assert store.usage(since=3.0) == USED
    with SqliteStore(path) as again:
        assert again.final("i") == final
        assert count(again.attempts()).accepted == 1
        assert [attempt.text for attempt in again.attempts()] == ["", ""]


def test_text_is_kept_only_if_asked_for(path: Path) -> None:
    with SqliteStore(path) as store:
        final = answered(Attempts(store), "i", "a", text="A canary sang.")
        assert final is not None
        assert final.text == "A canary sang."
        kept = store.final("i")
        assert kept == Final("i", "a", 3.0, False, "")
        assert store.drafts("i")[0].text == ""
        files = b"".join(file.read_bytes() for file in path.parent.iterdir())
        assert b"canary" not in files


def test_promoting_again_after_a_restart_is_the_same_final(path: Path) -> None:
    with SqliteStore(path, keep_text=True) as store:
        final = answered(Attempts(store), "i", "a")
    with SqliteStore(path, keep_text=True) as store:
        book = Attempts(store)
        assert answered(book, "i", "b") is None
        assert (book.get("b").number, book.get("b").reason) == (2, "intent_has_a_final")
        assert store.final("i") == final
        record = Attempt("a", "i", 1, 0.0)
        assert store.promote(record, Final("i", "a", 9.0))
        assert store.final("i") == final


def test_nothing_late_overwrites_what_is_settled(path: Path) -> None:
    with SqliteStore(path) as store:
        book = Attempts(store)
        book.start("i", "a", 0.0)
        book.cancel("a", 1.0)
        store.save(Attempt("a", "i", 1, 0.0, state="active"))
        assert store.drafts("i")[0].state == "cancelled"
        assert not store.promote(Attempt("a", "i", 1, 0.0), Final("i", "a", 2.0))
        assert store.final("i") is None


def test_an_attempt_that_another_process_settled_is_not_promoted(path: Path) -> None:
    with SqliteStore(path) as store, SqliteStore(path) as other:
        book = Attempts(store)
        book.start("i", "a", 0.0)
        book.text("a", "x", 0.0)
        book.end("a", Ending.completed(), 1.0)
        book.check("a", 1, passed=True, now=1.0)
        assert other.abandon(before=0.5, now=5.0) == 1
        assert book.promote("a", 6.0) is None
        assert book.get("a").reason == "settled_elsewhere"
        assert store.drafts("i")[0].reason == "abandoned"


def test_forget_deletes_attempts_finals_and_their_bytes(path: Path) -> None:
    with SqliteStore(path, keep_text=True) as store:
        book = Attempts(store)
        answered(book, "i", "a", text="A canary sang.", at=0.0)
        answered(book, "j", "b", text="Another bird.", at=10.0)
        assert b"canary" in b"".join(file.read_bytes() for file in path.parent.iterdir())
        assert store.forget(before=10.0) == 1
        assert store.final("i") is None
        assert store.drafts("i") == []
        assert [final.intent for final in store.finals()] == ["j"]
        assert b"canary" not in b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_a_file_of_another_version(path: Path) -> None:
    SqliteStore(path).close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(UsageError, match="version 99"):
        SqliteStore(path)


# ---------- kill -9 ----------

VICTIM = """
import os, signal, sys
from sentence_gate import Ending, Usage
from sentence_gate.attempts import Attempts
from sentence_gate.store import SqliteStore

store, left = SqliteStore(sys.argv[1], keep_text=True), [int(sys.argv[2])]

def count_down(statement):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)

store._db.set_trace_callback(count_down)
book = Attempts(store)
for number in range(2):
    intent, attempt = f"i{number}", f"a{number}"
    book.start(intent, attempt, 0.0)
    book.text(attempt, "It opens at eight.", 1.0)
    book.end(attempt, Ending.completed("stop", usage=Usage(1, 2, None, "reported")), 2.0)
    book.check(attempt, 1, passed=True, now=2.0)
    if book.promote(attempt, 3.0):
        print(intent, flush=True)
print("all", flush=True)
"""


def test_a_process_killed_before_any_statement(path: Path) -> None:
    """At every SQL statement of two answers: what was reported as final is there, what wasn't is whole or not there."""
    at, killed = 0, True
    while killed:
        for file in path.parent.iterdir():
            file.unlink()
        done = subprocess.run([sys.executable, "-c", VICTIM, str(path), str(at)], capture_output=True, text=True, check=False)
        killed = done.returncode == -signal.SIGKILL
        assert killed or done.stdout.endswith("all\n"), done.stderr
        with SqliteStore(path, keep_text=True) as store:
            assert store._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            promised = {line for line in done.stdout.split() if line != "all"}
            finals = {final.intent: final for final in store.finals()}
            assert promised <= set(finals)
            assert len(finals) - len(promised) <= 1
            assert all(final.text == "It opens at eight." for final in finals.values())
            states = {attempt.intent: attempt.state for attempt in store.attempts()}
            assert {intent for intent, state in states.items() if state == "final"} == set(finals)
            opened = sum(state in ("active", "ended") for state in states.values())
            assert store.abandon(before=1.0, now=9.0) == opened <= 1
            again = Attempts(store)
            answered(again, "i9", "a9")
            assert store.final("i9") is not None
        at += 1
    assert at > 20


def test_a_process_killed_at_any_moment(path: Path) -> None:
    endless = VICTIM.replace("range(2)", "range(10**9)")
    for delay in (0.0, 0.003, 0.01, 0.02):
        process = subprocess.Popen([sys.executable, "-c", endless, str(path), str(10**9)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        seen = [process.stdout.readline().strip()]
        time.sleep(delay)
        process.kill()
        seen += process.stdout.read().split()
        process.wait()
        process.stdout.close()
        with SqliteStore(path) as store:
            assert store._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert {line for line in seen if line} <= {final.intent for final in store.finals()}
            store.forget(before=10.0)


# ---------- full disk ----------


def fill(book: Attempts, numbers: Iterable[int]) -> None:
    for number in numbers:
        answered(book, f"i{number}", f"a{number}", text="x" * 3000)


def test_a_full_disk(path: Path) -> None:
    with SqliteStore(path, keep_text=True) as store:
        book = Attempts(store)
        first = answered(book, "i0", "a0")
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages + 2}")
        reached = itertools.count(1)
        with pytest.raises(sqlite3.OperationalError, match="full"):
            fill(book, reached)
        failed = f"i{next(reached) - 1}"
        assert store.final("i0") == first
        assert store._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert store.final(failed) is None
        store._db.execute("PRAGMA max_page_count = 100000")
        again = Attempts(store)
        assert answered(again, failed, "later") is not None


LIMITED = """
import resource, signal, sqlite3, sys
sys.path[:0] = sys.argv[2:]
from test_store import answered
from sentence_gate.attempts import Attempts
from sentence_gate.store import SqliteStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with SqliteStore(sys.argv[1], keep_text=True) as store:
    book = Attempts(store)
    print(answered(book, "i0", "a0").intent, flush=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    try:
        for number in range(1, 1000):
            answered(book, f"i{number}", f"a{number}", text="x" * 3000)
            print(f"i{number}", flush=True)
    except sqlite3.OperationalError as error:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("full", answered(Attempts(store), "after", "later") is not None, flush=True)
"""


def test_a_file_that_may_not_grow(path: Path) -> None:
    """The operating system refuses a write in the middle of a transaction."""
    assert resource.RLIM_INFINITY
    here = str(Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path), here], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    *reported, last = done.stdout.splitlines()
    assert last == "full True"
    with SqliteStore(path) as store:
        assert {final.intent for final in store.finals()} == {*reported, "after"}
        assert store._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


# ---------- several writers ----------

RIVAL = """
import sys
from sentence_gate import Ending
from sentence_gate.attempts import Attempts
from sentence_gate.store import SqliteStore
path, me = sys.argv[1:]
book = Attempts(SqliteStore(path))
print("ready", flush=True)
sys.stdin.readline()
for number in range(60):
    attempt = f"{me}-{number}"
    book.start(f"i{number}", attempt, 0.0)
    book.text(attempt, "x", 0.0)
    book.end(attempt, Ending.completed(), 0.0)
    book.check(attempt, 1, passed=True, now=0.0)
    if book.promote(attempt, 0.0):
        print(number, flush=True)
"""


def test_two_processes_one_answer_an_intent(path: Path) -> None:
    SqliteStore(path).close()
    rivals = [
        subprocess.Popen([sys.executable, "-c", RIVAL, str(path), me], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for me in "xy"
    ]
    for rival in rivals:
        assert rival.stdout is not None
        assert rival.stdout.readline() == "ready\n"
    outputs = []
    for rival in rivals:
        assert rival.stdin is not None
        rival.stdin.write("go\n")
        rival.stdin.flush()
    for rival in rivals:
        out, _ = rival.communicate(timeout=60)
        assert rival.returncode == 0
        outputs.append({int(line) for line in out.split()})
    assert not outputs[0] & outputs[1]
    assert outputs[0] | outputs[1] == set(range(60))
    with SqliteStore(path) as store:
        won = {final.intent: final.attempt[0] for final in store.finals()}
        assert won == {f"i{number}": "xy"[number in outputs[1]] for number in range(60)}
        states = [attempt.state for attempt in store.attempts()]
        assert states.count("final") == 60
        assert states.count("superseded") == 60


def test_threads_share_a_store(path: Path) -> None:
    with SqliteStore(path) as store:
        errors: list[BaseException] = []

        def work(me: int) -> None:
            try:
                book = Attempts(store)
                for number in range(20):
                    answered(book, f"i{me}-{number}", f"a{me}-{number}")
            except BaseException as error:  # reported below
                errors.append(error)

        threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert count(store.attempts()).accepted == 80


def test_the_file_is_in_wal_mode_and_closed_cleanly(path: Path) -> None:
    with SqliteStore(path) as store:
        assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        answered(Attempts(store), "i", "a")
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert os.access(path, os.R_OK)


def test_a_conversation_is_kept_in_order_and_forgotten(path: Path) -> None:
    question, told = {"role": "user", "content": "When?"}, {"role": "assistant", "content": '{"answer": "At nine."}'}
    with SqliteStore(path) as store, pytest.raises(UsageError, match="keep_text"):
        store.remember("a", [question], 1.0)
    with SqliteStore(path, keep_text=True) as store:
        store.remember("a", [question, told], 1.0)
        store.remember("b", [question], 2.0)
        store.remember("a", [question], 3.0)
    with SqliteStore(path, keep_text=True) as store:
        assert store.history("a") == (question, told, question)
        assert store.history("b") == (question,)
        assert store.history("c") == ()
        store.forget(before=2.5)
        assert (store.history("a"), store.history("b")) == ((question,), ())
