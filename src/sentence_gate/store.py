"""The attempts' store: SQLite of the standard library, in WAL mode, one transaction a write.

What it holds: ids, states, reasons, times, tokens; text only if the caller asks for it (`keep_text=True`), and then of drafts what was
released to the reader, never withheld text. A final and the state of its attempt are written in one transaction, and a unique key lets an
intent have one final, whatever number of processes write. A process that dies between two writes loses nothing that was written; what it
left open `abandon` settles. A full disk is an error of the write that met it (sqlite3.OperationalError): nothing of it is kept, what was
there before stays readable. Methods may be called from several threads; each blocks for the time of a write to disk.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Any

from .attempts import Attempt, Final
from .errors import UsageError
from .events import Usage
from .usage import total

_VERSION = 1

_SCHEMA = (
    """CREATE TABLE attempts (
        id TEXT PRIMARY KEY, intent TEXT NOT NULL, number INTEGER NOT NULL, state TEXT NOT NULL, reason TEXT, started_at REAL NOT NULL,
        first_text_at REAL, ended_at REAL, settled_at REAL, version INTEGER NOT NULL, ending TEXT,
        input_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER, usage_kind TEXT NOT NULL, text TEXT
    ) STRICT""",
    "CREATE INDEX attempts_intent ON attempts (intent)",
    "CREATE INDEX attempts_started ON attempts (started_at)",
    """CREATE TABLE finals (
        intent TEXT PRIMARY KEY, attempt TEXT NOT NULL UNIQUE, accepted_at REAL NOT NULL, refusal INTEGER NOT NULL, text TEXT
    ) STRICT""",
    """CREATE TABLE messages (
        conversation TEXT NOT NULL, number INTEGER NOT NULL, at REAL NOT NULL, message TEXT NOT NULL, PRIMARY KEY (conversation, number)
    ) STRICT""",
    "CREATE INDEX messages_at ON messages (at)",
)

_COLUMNS = (
    "id", "intent", "number", "started_at", "state", "reason", "first_text_at", "ended_at", "settled_at", "version", "ending",
    "input_tokens", "output_tokens", "reasoning_tokens", "usage_kind", "text",
)  # fmt: skip

_SAVE = (
    f"INSERT INTO attempts ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "
    f"ON CONFLICT (id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS[1:])} "
    "WHERE attempts.state IN ('active', 'ended')"
)


class SqliteStore:
    """Attempts and finals in one file; closed with `close()` or as a context manager.

    `busy_seconds` is how long a write waits for another process's. Raises UsageError for a file of another version of this store.
    """

    def __init__(self, path: str | PathLike[str], *, keep_text: bool = False, busy_seconds: float = 10.0) -> None:
        self._keep_text = keep_text
        self._lock = threading.RLock()
        self._db = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA secure_delete = ON")
            self._create()
        except BaseException:
            self._db.close()
            raise

    def _create(self) -> None:
        with self._writing():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in _SCHEMA:
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {_VERSION}")
            elif version != _VERSION:
                raise UsageError(f"the file holds version {version} of the store, this is version {_VERSION}")

    def __enter__(self) -> SqliteStore:
        """The store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes it."""
        self.close()

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._db.close()

    # ------------------------------------------------------------------------------------------------ writing

    def save(self, attempt: Attempt) -> None:
        """Writes what is known of an attempt. One that is settled stays as it is: nothing late overwrites it."""
        with self._writing():
            self._db.execute(_SAVE, self._row(attempt))

    def promote(self, attempt: Attempt, final: Final) -> bool:
        """Writes attempt and final in one transaction; False, and nothing written, if the intent has a final of another attempt.

        Promoting the same attempt again is True and changes nothing.
        """
        with self._writing():
            found = self._db.execute("SELECT attempt FROM finals WHERE intent = ?", (final.intent,)).fetchone()
            if found is not None:
                return bool(found[0] == final.attempt)
            (state,) = self._db.execute("SELECT state FROM attempts WHERE id = ?", (attempt.id,)).fetchone() or ("active",)
            if state not in ("active", "ended"):
                return False
            self._db.execute(_SAVE, self._row(attempt))
            text = final.text if self._keep_text else None
            self._db.execute(
                "INSERT INTO finals VALUES (?, ?, ?, ?, ?)", (final.intent, final.attempt, final.accepted_at, final.refusal, text)
            )
        return True

    def remember(self, conversation: str, messages: Iterable[Mapping[str, Any]], now: float) -> None:
        """Adds messages (plain data, such as a turn's question and final object) to a conversation, all or none.

        Raises UsageError unless the store keeps texts (`keep_text=True`): a conversation is nothing else.
        """
        if not self._keep_text:
            raise UsageError("a conversation is text: open the store with keep_text=True")
        with self._writing():
            (last,) = self._db.execute("SELECT coalesce(max(number), 0) FROM messages WHERE conversation = ?", (conversation,)).fetchone()
            rows = [(conversation, number, now, json.dumps(dict(message))) for number, message in enumerate(messages, last + 1)]
            self._db.executemany("INSERT INTO messages VALUES (?, ?, ?, ?)", rows)

    def abandon(self, before: float, now: float) -> int:
        """Settles as failed ("abandoned") what was started before that time and is still open: its process died. Gives how many."""
        with self._writing():
            return self._db.execute(
                "UPDATE attempts SET state = 'failed', reason = 'abandoned', settled_at = ? "
                "WHERE state IN ('active', 'ended') AND started_at < ?",
                (now, before),
            ).rowcount

    def forget(self, before: float) -> int:
        """Deletes attempts and finals, and their text, that were started before that time (open ones too), and the messages of
        conversations that were written before it. Gives how many attempts.

        What is deleted is overwritten in the file; in the journal beside it, as soon as no other process reads an older state.
        """
        with self._writing():
            self._db.execute("DELETE FROM finals WHERE attempt IN (SELECT id FROM attempts WHERE started_at < ?)", (before,))
            self._db.execute("DELETE FROM messages WHERE at < ?", (before,))
            gone = self._db.execute("DELETE FROM attempts WHERE started_at < ?", (before,)).rowcount
        with self._lock:
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return gone

    # ------------------------------------------------------------------------------------------------ reading

    def history(self, conversation: str) -> tuple[dict[str, Any], ...]:
        """The messages of a conversation, oldest first; none for an unknown one."""
        with self._lock:
            rows = self._db.execute("SELECT message FROM messages WHERE conversation = ? ORDER BY number", (conversation,)).fetchall()
        return tuple(json.loads(message) for (message,) in rows)

    def final(self, intent: str) -> Final | None:
        """The answer to an intent; None if it has none. Its text is empty if texts are not kept."""
        rows = self._read("SELECT intent, attempt, accepted_at, refusal, text FROM finals WHERE intent = ?", intent)
        return next((Final(found, attempt, at, bool(refusal), text or "") for found, attempt, at, refusal, text in rows), None)

    def finals(self, since: float = 0.0) -> list[Final]:
        """The answers that were accepted since that time, oldest first."""
        rows = self._read(
            "SELECT intent, attempt, accepted_at, refusal, text FROM finals WHERE accepted_at >= ? ORDER BY accepted_at, intent", since
        )
        return [Final(intent, attempt, at, bool(refusal), text or "") for intent, attempt, at, refusal, text in rows]

    def drafts(self, intent: str) -> list[Attempt]:
        """All attempts of an intent with their drafts, which are not the answer, in order."""
        return self._attempts("WHERE intent = ? ORDER BY number, started_at", intent)

    def attempts(self, since: float = 0.0) -> list[Attempt]:
        """The attempts that were started since that time, oldest first, without their drafts; `attempts.count` counts them."""
        return self._attempts("WHERE started_at >= ? ORDER BY started_at, id", since, text=False)

    def attempts_of(self, intent: str) -> int:
        """How many attempts an intent had."""
        ((number,),) = self._read("SELECT COALESCE(MAX(number), 0) FROM attempts WHERE intent = ?", intent)
        return int(number)

    def usage(self, since: float = 0.0) -> Usage:
        """What was generated since that time by every attempt, also by those that came to nothing; the weakest kind among them."""
        return total(attempt.usage for attempt in self.attempts(since) if attempt.usage.kind != "unknown")

    # ------------------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: all of it or nothing."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def _attempts(self, where: str, value: object, *, text: bool = True) -> list[Attempt]:
        rows = self._read(f"SELECT {', '.join(_COLUMNS)} FROM attempts {where}", value)
        return [_attempt(row, text=text) for row in rows]

    def _row(self, attempt: Attempt) -> tuple[object, ...]:
        usage = attempt.usage
        return (
            attempt.id, attempt.intent, attempt.number, attempt.started_at, attempt.state, attempt.reason, attempt.first_text_at,
            attempt.ended_at, attempt.settled_at, attempt.version, attempt.ending, usage.input_tokens, usage.output_tokens,
            usage.reasoning_tokens, usage.kind, attempt.text if self._keep_text else None,
        )  # fmt: skip


def _attempt(row: tuple[Any, ...], *, text: bool) -> Attempt:
    known = dict(zip(_COLUMNS, row, strict=True))
    draft = known.pop("text")
    usage = Usage(*(known.pop(name) for name in ("input_tokens", "output_tokens", "reasoning_tokens", "usage_kind")))
    return Attempt(**known, usage=usage, text=(draft or "") if text else "")
