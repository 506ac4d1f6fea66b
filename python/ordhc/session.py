"""Sessions: learning that survives everything, in one SQLite file.

A session is its settings and an append-only log of events: questions were asked, an answer was given, an
answer was taken back, answers were imported. Reopening replays the log; nothing else is stored, but leases of
questions, which expire.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc.comparisons import Quadruplets, Triplets, _checked_names, _whole
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError
from ordhc.learning import Learner, Questions, comparisons_of

__all__ = ["Session"]

Row = tuple[int, ...]

_FORMAT = 1
# A question's number stands with an answer; with "asked" how many were asked for at most; with "undo" the
# answer's seq.
_SCHEMA = """
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    question INTEGER,
    a INTEGER, b INTEGER, c INTEGER, d INTEGER,
    answer INTEGER,
    who TEXT,
    at REAL NOT NULL
);
CREATE TABLE leases (question INTEGER PRIMARY KEY, who TEXT, until REAL NOT NULL);
"""
#: Questions are numbered anew after an answer is taken back or answers are imported, from the event's seq
#: times this.
_EPOCH = 1 << 32


class Session:
    """A learner whose answers are kept in a file.

    Answers are on the disk when `tell` returns: killing the process at any moment loses no acknowledged
    answer. Several processes may work on one session.

    Parameters
    ----------
    path
        The file. It is made if it isn't there; then `names` or `n_leaves` is needed.
    names
        The names of the leaves.
    n_leaves
        Their number, where they have no names.
    method, **settings
        As in `Learner`. Of an existing session they are read from the file; others than these are
        errors.

    Examples
    --------
    >>> import ordhc, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
    >>> with ordhc.Session(path, names=["cat", "dog", "car"]) as session:
    ...     questions = session.ask()
    ...     odd = [session.names[leaf] for leaf in questions.rows[0]].index("car")
    ...     session.tell(questions.ids, [odd], who="ann")
    >>> with ordhc.Session(path) as session:
    ...     print(session.done, session.n_answered, session.tree().to_newick(branch_lengths=False))
    True 1 (car,(cat,dog));
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        names: Sequence[str] | None = None,
        *,
        n_leaves: int | None = None,
        method: str | None = None,
        **settings: Any,
    ) -> None:
        self._path = os.fspath(path)
        given = {} if method is None else {"method": method}
        given.update(settings)
        self._now = time.time
        try:
            self._db = sqlite3.connect(self._path, isolation_level=None, timeout=30, check_same_thread=False)
        except sqlite3.OperationalError as error:
            raise InputError(f"{self._path}: {error}") from None
        try:
            # Every commit is on the disk; readers and a writer don't block each other.
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            with self._writing():
                tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master")}
                if not tables:
                    self._create(names, n_leaves, given)
                elif "events" not in tables:
                    raise InputError(f"{self._path}: is an SQLite file, but no session")
            self._load(names, n_leaves, given)
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise InputError(f"{self._path}: is no session ({error})") from None
        except BaseException:
            self._db.close()
            raise

    # --- making and loading ------------------------------------------------------------------

    def _create(self, names: Sequence[str] | None, n_leaves: int | None, given: dict[str, Any]) -> None:
        checked = _checked_names(names)
        if checked is None and n_leaves is None:
            raise InputError(f"{self._path}: a new session needs names or n_leaves")
        if checked is not None and n_leaves is not None and len(checked) != n_leaves:
            raise InputError(f"{len(checked)} names for n_leaves = {n_leaves}")
        n = len(checked) if checked is not None else _whole("n_leaves", n_leaves, at_least=1)
        Learner(n, **given)
        for statement in _SCHEMA.split(";"):
            self._db.execute(statement)
        kept = {
            "format": _FORMAT,
            "n_leaves": n,
            "names": None if checked is None else list(checked),
            "learner": given,
        }
        self._db.executemany(
            "INSERT INTO settings VALUES (?, ?)", [(key, json.dumps(value)) for key, value in kept.items()]
        )

    def _load(self, names: Sequence[str] | None, n_leaves: int | None, given: dict[str, Any]) -> None:
        kept = {key: json.loads(value) for key, value in self._db.execute("SELECT key, value FROM settings")}
        if kept.get("format") != _FORMAT:
            raise InputError(f"{self._path}: has format {kept.get('format')}, this version reads {_FORMAT}")
        self._settings: dict[str, Any] = kept["learner"]
        self._names = None if kept["names"] is None else tuple(kept["names"])
        self._n_leaves: int = kept["n_leaves"]
        if names is not None and tuple(names) != self._names:
            raise InputError(f"{self._path}: the session has other names than those given")
        if n_leaves is not None and n_leaves != self._n_leaves:
            raise InputError(f"{self._path}: the session has {self._n_leaves} leaves, not {n_leaves}")
        for key, value in given.items():
            own = self._settings.get(key, "insertion" if key == "method" else None)
            if own != value:
                raise InputError(f"{self._path}: {key} is {own!r}, not {value!r}")
        self._restart()
        self._catch_up()

    def _restart(self) -> None:
        if not hasattr(self, "_settings"):
            return
        self._seq = 0
        self._epoch = 0
        self._stale = False
        self._last = ""
        self._learner = self._new_learner()
        # By seq: question, leaves, answer, who; of answers that stand.
        self._answers: dict[int, tuple[int, Row, int, str | None]] = {}

    def _new_learner(self) -> Learner:
        return Learner(self._n_leaves if self._names is None else self._names, **self._settings)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            # What happened in memory did not happen on the disk: replay from the start.
            self._restart()
            raise
        self._db.execute("COMMIT")

    def _catch_up(self) -> None:
        """Replay what this process hasn't seen."""
        query = "SELECT seq, kind, question, answer, who, a, b, c, d FROM events WHERE seq > ? ORDER BY seq"
        replay: list[tuple[int, int, int]] = []
        width = self._learner.width
        for seq, kind, question, answer, who, *leaves in self._db.execute(query, (self._seq,)):
            row = tuple(leaves[:width])
            self._seq, self._last = seq, kind
            if kind in ("asked", "answer"):
                # With the answers up to here.
                self._freshen()
            if kind == "asked":
                replay.append((question, 0, 0))
            elif kind == "answer":
                self._answers[seq] = (question, row, answer, who)
                replay.append((0, question - self._epoch * _EPOCH, answer))
            else:
                self._replay(replay)
                replay = []
                if kind == "import":
                    self._answers[seq] = (-1, row, answer, who)
                else:
                    self._answers.pop(question, None)
                self._epoch, self._stale = seq, True
        self._replay(replay)
        self._freshen()

    def _replay(self, events: list[tuple[int, int, int]]) -> None:
        if events:
            self._freshen()
            self._learner._replay(np.array(events, dtype=np.int64))

    def _freshen(self) -> None:
        """After answers were taken back or imported: a new learner, told all answers that it asks for."""
        if not self._stale:
            return
        self._stale = False
        self._learner = learner = self._new_learner()
        bank: dict[tuple[int, ...], list[tuple[Row, int]]] = {}
        for _, row, answer, _ in reversed(self._answers.values()):
            bank.setdefault(_key(row), []).append((row, answer))
        waiting = list(learner.ask())
        while waiting:
            known = [(number, row) for number, row in waiting if bank.get(_key(row))]
            if not known:
                break
            places = [_place_in(row, bank[_key(row)].pop()) for _, row in known]
            learner.tell([number for number, _ in known], places)
            told = {number for number, _ in known}
            waiting = [pair for pair in waiting if pair[0] not in told] + list(learner.ask())

    # --- asking and telling ------------------------------------------------------------------

    def ask(self, limit: int | None = 1, *, who: str | None = None, lease: float = 300.0) -> Questions:
        """Questions to answer now, open ones first.

        With `who` they are leased for `lease` seconds: nobody else gets them, until the lease expires
        because the worker left. The same worker gets them again.
        """
        most = 2**31 if limit is None else _whole("limit", limit, at_least=1)
        if not lease >= 0:
            raise InputError(f"lease = {lease} is below 0")
        with self._writing():
            self._catch_up()
            now = self._now()
            leases = self._db.execute("SELECT question, who FROM leases WHERE until > ?", (now,))
            taken = {number for number, whose in leases if whose != who}
            found = [(number, row) for number, row in self._open() if number not in taken][:most]
            if len(found) < most:
                room = self._learner._room(most - len(found))
                asked = self._learner.ask(room)
                if room and (len(asked) or self._last != "asked"):
                    # Also if there is none: answers take effect when more is asked for.
                    self._append("asked", question=room)
                    found.extend((number + self._epoch * _EPOCH, row) for number, row in asked)
            if who is not None:
                until = now + lease
                rows = [(number, who, until) for number, _ in found]
                self._db.executemany("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", rows)
        return self._learner._questions(found)

    def _open(self) -> list[tuple[int, Row]]:
        return [(number + self._epoch * _EPOCH, row) for number, row in self._learner.open]

    def _append(self, kind: str, *, question: int | None = None, **values: Any) -> None:
        columns = ["kind", "question", "at", *values]
        marks = ", ".join("?" * len(columns))
        cursor = self._db.execute(
            f"INSERT INTO events ({', '.join(columns)}) VALUES ({marks})",
            (kind, question, self._now(), *values.values()),
        )
        self._seq, self._last = int(cursor.lastrowid or 0), kind

    def tell(self, ids: ArrayLike, answers: ArrayLike, *, who: str | None = None) -> None:
        """Answer some questions; when this returns the answers are on the disk.

        Raises
        ------
        InputError
            A question that is not open (answered by somebody else meanwhile, say), or an answer that is
            none: nothing of this call is kept.
        """
        numbers = np.atleast_1d(np.asarray(ids))
        given = np.atleast_1d(np.asarray(answers))
        if numbers.shape != given.shape or numbers.ndim != 1:
            raise InputError(f"answers have shape {given.shape} for ids of shape {numbers.shape}")
        if given.dtype.kind not in "iu" and given.size:
            raise InputError(f"answers of type {given.dtype} are no whole numbers")
        with self._writing():
            self._catch_up()
            before = self._seq
            rows = dict(self._open())
            for number, answer in zip(numbers.tolist(), given.tolist(), strict=True):
                if number not in rows:
                    raise InputError(f"question {number} is not open")
                if not -1 <= answer <= self._learner._largest:
                    limit = f"-1..{self._learner._largest}"
                    raise InputError(f"the answer to question {number} is {answer}, outside {limit}")
                leaves = dict(zip("abcd", rows.pop(number), strict=False))
                self._append("answer", question=number, answer=answer, who=who, **leaves)
            self._db.executemany("DELETE FROM leases WHERE question = ?", [(n,) for n in numbers.tolist()])
        self._seq = before
        self._catch_up()

    def release(self, ids: ArrayLike) -> None:
        """Give leased questions back, for others to answer."""
        numbers = [(int(number),) for number in np.atleast_1d(np.asarray(ids)).tolist()]
        with self._writing():
            self._db.executemany("DELETE FROM leases WHERE question = ?", numbers)

    def undo(self, who: str | None = None) -> Row | None:
        """Take back the last answer (of `who`, if given); gives its leaves, or None if there is none.

        The other answers stay. What was asked because of it may be asked anew.
        """
        with self._writing():
            self._catch_up()
            mine = [seq for seq, kept in self._answers.items() if kept[0] >= 0 and who in (None, kept[3])]
            if not mine:
                return None
            before = self._seq
            row = self._answers[mine[-1]][1]
            self._append("undo", question=mine[-1], who=who)
            self._db.execute("DELETE FROM leases")
        self._seq = before
        self._catch_up()
        return row

    def add_answers(self, rows: ArrayLike, answers: ArrayLike, *, who: str | None = None) -> None:
        """Import answers that were given elsewhere: they are used where the learner would ask for them.

        Parameters
        ----------
        rows
            (m, 3) leaves.
        answers
            (m,) the place of the odd one out, or -1.
        """
        table, given = np.asarray(rows), np.asarray(answers)
        width, largest = self._learner.width, self._learner._largest
        if table.ndim != 2 or table.shape[1] != width or given.shape != (len(table),):
            raise InputError(
                f"answers of shape {given.shape} to questions of {table.shape}, not (m, {width})"
            )
        for at, (row, answer) in enumerate(zip(table.tolist(), given.tolist(), strict=True)):
            pairs = [row] if width == 3 else [row[:2], row[2:]]
            sets = {frozenset(pair) for pair in pairs}
            apart = len(sets) == len(pairs) and sum(map(len, sets)) == width
            if not apart or not all(0 <= leaf < self._n_leaves for leaf in row):
                what = "three different leaves" if width == 3 else "two different pairs of leaves"
                raise InputError(f"row {at}: {row} are not {what} of 0..={self._n_leaves - 1}")
            if not -1 <= answer <= largest or answer != int(answer):
                raise InputError(f"row {at}: the answer is {answer}, outside -1..{largest}")
        with self._writing():
            self._catch_up()
            before = self._seq
            for row, answer in zip(table.tolist(), given.tolist(), strict=True):
                leaves = dict(zip("abcd", row, strict=False))
                self._append("import", answer=int(answer), who=who, **leaves)
            self._db.execute("DELETE FROM leases")
        self._seq = before
        self._catch_up()

    # --- what is known -----------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in what other processes have added."""
        self._catch_up()

    def tree(self) -> Dendrogram:
        """The best tree so far, see `Learner.tree`."""
        self._catch_up()
        return self._learner.tree()

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask."""
        self._catch_up()
        return self._learner.done

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the leaves, or None."""
        return self._names

    @property
    def width(self) -> int:
        """How many leaves a question has: 3, or 4 for two pairs."""
        return self._learner.width

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self._n_leaves

    @property
    def n_answered(self) -> int:
        """How many answers stand, imported ones included."""
        self._catch_up()
        return len(self._answers)

    @property
    def n_placed(self) -> int:
        """How many leaves have their place in the tree."""
        self._catch_up()
        return self._learner.n_placed

    @property
    def remaining_estimate(self) -> float:
        """About how many answers are still needed."""
        self._catch_up()
        return self._learner.remaining_estimate

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the learner."""
        return dict(self._settings)

    def answers(self) -> tuple[NDArray[np.int32], NDArray[np.int8], list[str | None]]:
        """All answers that stand: (m, 3) or (m, 4) leaves, (m,) answers, and who answered."""
        self._catch_up()
        kept = list(self._answers.values())
        rows = np.array([row for _, row, _, _ in kept], dtype=np.int32).reshape(-1, self._learner.width)
        return rows, np.array([answer for _, _, answer, _ in kept], dtype=np.int8), [who for *_, who in kept]

    def comparisons(self) -> Triplets | Quadruplets:
        """All answers as triplets, two for each odd one out, or as quadruplets; groups are who answered."""
        rows, answers, who = self.answers()
        return comparisons_of(rows, answers, self._n_leaves, self._names, who)

    def close(self) -> None:
        """Close the file; everything is kept."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        placed = f"{self.n_placed:,} of {self._n_leaves:,} leaves"
        return f"<Session {self._path}: {placed}, {self.n_answered:,} answers>"


def _key(row: Sequence[int]) -> Row:
    """The same for the same question, however it is put."""
    if len(row) == 3:
        return tuple(sorted(row))
    first, second = sorted(row[:2]), sorted(row[2:])
    return (*min(first, second), *max(first, second))


def _place_in(row: Sequence[int], kept: tuple[Row, int]) -> int:
    """A kept answer as the answer to a question put in another way."""
    leaves, answer = kept
    if len(row) == 4:
        return answer if sorted(row[:2]) == sorted(leaves[:2]) else -answer
    return -1 if answer < 0 else list(row).index(leaves[answer])
