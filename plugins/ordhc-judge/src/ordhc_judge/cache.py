"""Everything that a server ever answered, in a SQLite file that processes share."""

import hashlib
import json
import os
import socket
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordhc_judge.errors import JudgeError
from ordhc_judge.replies import Reply

__all__ = ["Cache", "Kept", "key_of"]

#: In the header of the file: "oJdg".
_APPLICATION = 0x6F4A6467
_VERSION = 1
#: Seconds to wait for others that write.
_PATIENCE = 60
_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies(
    key BLOB PRIMARY KEY,      -- of everything that determines the answer
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    request TEXT NOT NULL,     -- what was asked, as JSON
    status TEXT NOT NULL,      -- ok, or why there is no answer
    said INTEGER,              -- 0 to 3
    probabilities TEXT,        -- of 0 to 3, as JSON
    text TEXT NOT NULL,        -- what the model wrote, or what went wrong
    raw TEXT NOT NULL,         -- the beginning of what the server sent, without keys
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    seconds REAL,
    attempts INTEGER NOT NULL,
    run TEXT NOT NULL,
    at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors(key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims(key BLOB PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL) WITHOUT
ROWID;
"""
#: What the server answered, if only to refuse; all else went wrong on the way and may go well another time.
_FINAL = ("ok", "refusal", "malformed", "truncated", "rejected")


def key_of(endpoint: str, kind: str, request: Mapping[str, Any]) -> bytes:
    """The key of a request: of where it goes and of all that is sent, but for secrets."""
    text = json.dumps([endpoint, kind, request], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True)
class Kept:
    """A row to keep: a reply, and how it came."""

    key: bytes
    endpoint: str
    model: str
    request: str
    reply: Reply
    raw: str
    seconds: float
    attempts: int


class Cache:
    """Replies by key. Used from one thread; several processes may share the file.

    Parameters
    ----------
    path
        The file; None keeps replies for as long as this object lives, on disk where they are many.

    Raises
    ------
    JudgeError
        A file that can't be opened or is no such cache.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        #: Who claims, so that others can see whether that process still lives.
        self.owner = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex}"
        with self._telling():
            self._connection = sqlite3.connect(self.path or "", timeout=_PATIENCE, isolation_level=None)
            self._open()

    def _open(self) -> None:
        # In one transaction: another process may make the file meanwhile.
        self._connection.execute("BEGIN")
        found = self._one("PRAGMA application_id")[0]
        version = self._one("PRAGMA user_version")[0]
        empty = self._one("SELECT count(*) FROM sqlite_master")[0] == 0
        self._connection.execute("ROLLBACK")
        if not empty and found != _APPLICATION:
            self._connection.close()
            raise JudgeError(f"{self.path}: this is a SQLite file, but no cache of ordhc-judge")
        if version > _VERSION:
            self._connection.close()
            raise JudgeError(f"{self.path}: a cache of version {version}; this ordhc-judge knows {_VERSION}")
        if self.path is not None:
            self._share()
        # A killed process loses nothing that was written; with the power a few seconds may go.
        self._connection.execute("PRAGMA synchronous=NORMAL")
        with self._writing():
            for statement in _SCHEMA.split(";"):
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA application_id={_APPLICATION}")
            self._connection.execute(f"PRAGMA user_version={_VERSION}")

    def _share(self) -> None:
        """Let processes read while one writes; SQLite doesn't wait for others that do so just now."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    # What was answered.

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Reply]:
        """The replies that there are: all that a server answered, and what went wrong in this run."""
        found: dict[bytes, Reply] = {}
        with self._telling():
            for at in range(0, len(keys), 500):
                part = list(keys[at : at + 500])
                marks = ",".join("?" * len(part))
                rows = self._connection.execute(
                    "SELECT key, status, said, probabilities, text, prompt_tokens, completion_tokens, run"
                    f" FROM replies WHERE key IN ({marks})",
                    part,
                )
                for key, status, said, shares, text, asked, written, run in rows:
                    if status in _FINAL or run == self.owner:
                        shares = None if shares is None else tuple(json.loads(shares))
                        found[key] = Reply(status, said, shares, text, asked, written)
        return found

    def keep(self, row: Kept) -> None:
        """Keep a reply, and give its claim up."""
        reply = row.reply
        shares = None if reply.probabilities is None else json.dumps(reply.probabilities)
        with self._telling(), self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO replies VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    row.key,
                    row.endpoint,
                    row.model,
                    row.request,
                    reply.status,
                    reply.said,
                    shares,
                    _storable(reply.text),
                    _storable(row.raw),
                    reply.prompt_tokens,
                    reply.completion_tokens,
                    row.seconds,
                    row.attempts,
                    self.owner,
                    time.time(),
                ),
            )
            self._connection.execute("DELETE FROM claims WHERE key = ?", (row.key,))

    def usage(self, endpoint: str, model: str) -> tuple[int, float, float, float]:
        """Of the last replies of a model: how many, and means of tokens asked, tokens written and seconds."""
        with self._telling():
            count, asked, written, seconds = self._one(
                "SELECT count(*), avg(prompt_tokens), avg(completion_tokens), avg(seconds) FROM"
                " (SELECT * FROM replies WHERE endpoint = ? AND model = ? AND status = 'ok'"
                " AND prompt_tokens > 0 AND said IS NOT NULL LIMIT 2000)",
                (endpoint, model),
            )
        return int(count), float(asked or 0), float(written or 0), float(seconds or 0)

    # Vectors.

    def find_vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The vectors that there are."""
        found: dict[bytes, bytes] = {}
        with self._telling():
            for at in range(0, len(keys), 500):
                part = list(keys[at : at + 500])
                marks = ",".join("?" * len(part))
                found.update(
                    self._connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)
                )
        return found

    def keep_vectors(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep vectors."""
        with self._telling(), self._writing():
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    # Who is asking what, so that processes side by side ask nothing twice.

    def claim(self, key: bytes, seconds: float) -> bool:
        """Claim a request for a while; False if somebody else who still lives has it, or it is answered."""
        now = time.time()
        with self._telling(), self._writing():
            row = self._connection.execute("SELECT owner, until FROM claims WHERE key = ?", (key,)).fetchone()
            if row is not None and row[0] != self.owner and row[1] > now and _lives(row[0]):
                return False
            if row is None or row[0] != self.owner:
                final = self._connection.execute(
                    f"SELECT 1 FROM replies WHERE key = ? AND status IN ({','.join('?' * len(_FINAL))})",
                    (key, *_FINAL),
                ).fetchone()
                if final is not None:
                    return False
            self._connection.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (key, self.owner, now + seconds)
            )
        return True

    def give_up(self) -> None:
        """Give all claims of this object up."""
        with self._telling(), self._writing():
            self._connection.execute("DELETE FROM claims WHERE owner = ?", (self.owner,))

    def close(self) -> None:
        """Give all claims up and close the file."""
        try:
            self.give_up()
        finally:
            self._connection.close()

    # SQLite.

    def _one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(statement, values).fetchone()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction, which has the file from its beginning."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """What SQLite says, with the name of the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise JudgeError(f"the cache {self.path}: {error}") from error


def _lives(owner: str) -> bool:
    """Whether the process of a claim may still be there; of other machines nobody knows."""
    host, _, rest = owner.partition("/")
    number = rest.partition("/")[0]
    if host != socket.gethostname() or os.name != "posix" or not number.isdigit():
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _storable(text: str) -> str:
    """Text as SQLite takes it: half a surrogate pair is shown as what it is."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
