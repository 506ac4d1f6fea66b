"""A cache of all replies of servers, in an SQLite file that several processes can share."""

import hashlib
import json
import os
import socket
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ordhc_judge.client import Received
from ordhc_judge.errors import JudgeError
from ordhc_judge.replies import Reply

#: SQLite's application id in the header of the file: "oJdg" in ASCII.
_APPLICATION = 0x6F4A6467
_VERSION = 1
_PATIENCE = 60
_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies(
    key BLOB PRIMARY KEY,      -- hash of everything that determines the answer, see key_of
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    request TEXT NOT NULL,     -- the request as JSON
    status TEXT NOT NULL,      -- ok, or the reason why there is no answer
    said INTEGER,              -- the answer, 0 to 3
    probabilities TEXT,        -- the probabilities of the answers 0 to 3, as JSON
    text TEXT NOT NULL,        -- the text of the model, or the error message
    raw TEXT NOT NULL,         -- the beginning of the reply of the server, without keys
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
#: Statuses of replies that came from the server. Other statuses are faults of the connection; such a request
#: may succeed later.
_FINAL = ("ok", "refusal", "malformed", "truncated", "rejected")


def key_of(endpoint: str, kind: str, request: Mapping[str, Any]) -> bytes:
    """Return the key of a request: a hash of the address and of everything that is sent, without secrets."""
    text = json.dumps([endpoint, kind, request], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class Cache:
    """A cache of replies by key, for use in one thread; several processes can share the file.

    Parameters
    ----------
    path
        The file. None keeps replies only as long as this object exists, in a temporary database.

    Raises
    ------
    JudgeError
        The file cannot be opened or is not a cache.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        #: The id of this object in its claims, which mark requests as being sent (see `claim`). The process
        #: id in this text lets other processes check if this process runs.
        self.owner = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex}"
        with self._naming_errors():
            self._connection = sqlite3.connect(self.path or "", timeout=_PATIENCE, isolation_level=None)
            self._open()

    def _open(self) -> None:
        # Read in one transaction, because another process may be creating the tables.
        self._connection.execute("BEGIN")
        found = self._one("PRAGMA application_id")[0]
        version = self._one("PRAGMA user_version")[0]
        empty = self._one("SELECT count(*) FROM sqlite_master")[0] == 0
        self._connection.execute("ROLLBACK")
        if not empty and found != _APPLICATION:
            self._connection.close()
            raise JudgeError(
                f"{self.path} is an SQLite file, but not a cache of ordhc-judge; give another file"
            )
        if version > _VERSION:
            self._connection.close()
            raise JudgeError(
                f"{self.path} is a cache of version {version}, newer than {_VERSION}; update ordhc-judge"
            )
        if self.path is not None:
            self._share()
        # With NORMAL, a killed process loses no replies; a power cut can lose those of the last few seconds.
        self._connection.execute("PRAGMA synchronous=NORMAL")
        with self._writing():
            for statement in _SCHEMA.split(";"):
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA application_id={_APPLICATION}")
            self._connection.execute(f"PRAGMA user_version={_VERSION}")

    def _share(self) -> None:
        """Turn on the write-ahead log, so that processes can read while another process writes.

        The loop is needed because SQLite does not wait if another process changes the mode at the same time.
        """
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Reply]:
        """Return the cached replies by key.

        A reply with a fault of the connection, such as a timeout, is returned only if this object stored it.
        """
        found: dict[bytes, Reply] = {}
        columns = "status, said, probabilities, text, prompt_tokens, completion_tokens, run"
        for key, status, said, shares, text, asked, written, run in self._rows("replies", columns, keys):
            if status in _FINAL or run == self.owner:
                shares = None if shares is None else tuple(json.loads(shares))
                found[key] = Reply(status, said, shares, text, asked, written)
        return found

    def keep(
        self, key: bytes, endpoint: str, request: Mapping[str, Any], reply: Reply, received: Received
    ) -> None:
        """Store a reply, and delete the claim that marks its request as being sent."""
        shares = None if reply.probabilities is None else json.dumps(reply.probabilities)
        with self._naming_errors(), self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO replies VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    key,
                    endpoint,
                    request["model"],
                    json.dumps(request, ensure_ascii=False),
                    reply.status,
                    reply.said,
                    shares,
                    _storable(reply.text),
                    _storable(received.raw),
                    reply.prompt_tokens,
                    reply.completion_tokens,
                    received.seconds,
                    received.attempts,
                    self.owner,
                    time.time(),
                ),
            )
            self._connection.execute("DELETE FROM claims WHERE key = ?", (key,))

    def usage(self, endpoint: str, model: str) -> tuple[int, float, float, float]:
        """Return how many replies of a model are cached, and their mean tokens and seconds.

        The numbers are: replies (at most 2,000 are read), mean prompt tokens, mean completion tokens, mean
        seconds.
        """
        with self._naming_errors():
            count, asked, written, seconds = self._one(
                "SELECT count(*), avg(prompt_tokens), avg(completion_tokens), avg(seconds) FROM"
                " (SELECT * FROM replies WHERE endpoint = ? AND model = ? AND status = 'ok'"
                " AND prompt_tokens > 0 AND said IS NOT NULL LIMIT 2000)",
                (endpoint, model),
            )
        return int(count), float(asked or 0), float(written or 0), float(seconds or 0)

    def find_vectors(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return dict(self._rows("vectors", "vector", keys))

    def _rows(self, table: str, columns: str, keys: Sequence[bytes]) -> Iterator[Any]:
        """Yield the key and the `columns` of each row of `table` with one of the keys."""
        with self._naming_errors():
            for at in range(0, len(keys), 500):
                part = list(keys[at : at + 500])
                marks = ",".join("?" * len(part))
                query = f"SELECT key, {columns} FROM {table} WHERE key IN ({marks})"
                yield from self._connection.execute(query, part)

    def keep_vectors(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        with self._naming_errors(), self._writing():
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    # Claims. A claim marks a request as being sent, so that no other process sends the same request.

    def claim(self, key: bytes, seconds: float) -> bool:
        """Mark a request as being sent for at most `seconds`, so that no other process sends it.

        Return False if another running process has marked the request, or the reply is in the cache.
        """
        now = time.time()
        with self._naming_errors(), self._writing():
            row = self._connection.execute("SELECT owner, until FROM claims WHERE key = ?", (key,)).fetchone()
            if row is not None and row[0] != self.owner and row[1] > now and _is_running(row[0]):
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

    def release_claims(self) -> None:
        with self._naming_errors(), self._writing():
            self._connection.execute("DELETE FROM claims WHERE owner = ?", (self.owner,))

    def close(self) -> None:
        try:
            self.release_claims()
        finally:
            self._connection.close()

    def _one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(statement, values).fetchone()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _naming_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise JudgeError(f"the cache {self.path}: {error}") from error


def _is_running(owner: str) -> bool:
    """Return True if the process `owner` may still run; True for processes on other machines."""
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
    """Return text that SQLite can store: lone surrogates are escaped with backslashes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
