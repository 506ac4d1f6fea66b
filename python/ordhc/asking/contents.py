"""Hold the contents of a session's file in memory.

A session is an append-only log of events in an SQLite file with a write-ahead log. The number of a question
is the number of its event and never changes. Opening a session replays the log on a learner,
which chooses questions and builds the tree.

Taking an answer back replays the log without the answer, from a snapshot of the learner. A snapshot is
made every thousand events. Snapshots share the answers that the learner has not used yet, to save memory.

A call writes to the file and to memory in one transaction. Any exception marks the memory as stale, and the
next call reads the file again. A lease reserves a question for one person until a time; leases are not part
of the log. Other programs can keep their own tables in the file, and change them together with the session
in one `transaction`.
"""

import sqlite3
import threading
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.asking.disk import GAP, Disk, start_of_machine
from ordhc.asking.events import ADDED, GONE, RETIRED, BrokenError, Event, as_rows
from ordhc.asking.log import Log
from ordhc.asking.store import Store, damaged
from ordhc.errors import InputError

_SNAPSHOT_EVENTS = 1000
#: The number of snapshots that are kept, besides the snapshot before the first event.
_N_SNAPSHOTS = 4
#: The share of progress for reading the file; the rest is for replaying the events on the learner.
_READ = 0.7
_CHUNK = 1 << 14
#: A person who asked or answered within this number of seconds counts as present.
_PRESENT_SECONDS = 300.0


class Contents:
    """The contents of a session's file in memory: the log of events, and a learner that has replayed it.

    A transaction changes the file and the memory together. The memory is marked as stale until the
    transaction has succeeded. If the transaction fails, the next call reads the file again.
    """

    def __init__(
        self, store: Store, disk: Disk, learner: _ordhc.SessionLearner, progress: Progress | None = None
    ) -> None:
        self.store, self.disk = store, disk
        self.now: Callable[[], float] = time.time
        self._lock = threading.RLock()
        self.log = Log(store.settings["n_leaves"], store.width)
        self.log.is_shared = store.method.uses_any_answer
        names = store.settings["names"]
        self._names: tuple[str, ...] | None = None if names is None else tuple(names)
        # Snapshots of the learner: (number of events replayed, number of answers among them that were taken
        # back, learner).
        self._snapshots = [(0, 0, learner)]
        # The same numbers for `learner`: the events replayed, and the answers among them that were taken
        # back.
        self._at, self._n_undone, self.learner = 0, 0, learner.copy()
        self._total_undone = 0
        #: The number of committed events, and the version of the file at the last read.
        self._n_committed, self._version = 0, -1
        #: The number of times that people were forgotten, as text, at the last read.
        self._generation: str | None = None
        self.leases = Leases({})
        #: The time when each person was last seen, in ascending order.
        self.seen: dict[str, float] = {}
        #: `seen` takes the first `_seen_at` events into account.
        self._seen_at = 0
        self._has_written = False
        self._is_stale, self._is_closed = True, False
        self._is_in_transaction, self._has_failed = False, False
        self._refresh(self.store.version(), progress)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of all leaves, also of retired leaves; None if the leaves have no names."""
        if self._names is None or not self.log.changes:
            return self._names
        return (*self._names, *(change.name for change in self.log.changes if change.kind == ADDED))

    @property
    def retired(self) -> tuple[str, ...]:
        """The names of retired items, in the order of their numbers."""
        names = self.names or ()
        return tuple(names[leaf] for leaf in sorted(c.leaf for c in self.log.changes if c.kind == RETIRED))

    def _refresh(self, version: int, progress: Progress | None = None) -> None:
        """Read the events that other processes wrote; `version` is the file's `Store.version`."""
        was_stale, self._is_stale = self._is_stale, True
        generation = self.store.state("forgotten")
        if generation != self._generation:
            # A person was forgotten, which changed earlier events. Read all events again.
            self._n_committed, self._generation, was_stale = 0, generation, True
        if was_stale:
            self.log.cut(self._n_committed)
            self._snapshots = [found for found in self._snapshots if found[0] <= self._n_committed]
            self.seen.clear()
            self._seen_at = 0
        try:
            known, total = self.log.n, self.store.n_events()
            if total > len(self.log.kinds) and total - known > _CHUNK:
                self.log.reserve(total)
            for rows in self.store.events(self.log.n):
                self.log.extend(rows)
                if progress is not None:
                    progress(min(1.0, _READ * (self.log.n - known) / max(total - known, 1)))
        except BrokenError as error:
            raise damaged(self.store.path, error) from None
        self.leases = Leases(self.store.leases())
        self._catch_up(progress, is_lost=was_stale)
        self._note_people()
        self._n_committed, self._version, self._is_stale = self.log.n, version, False
        if progress is not None:
            progress(1.0)

    def _catch_up(self, progress: Progress | None = None, *, is_lost: bool = False) -> None:
        log = self.log
        if is_lost or (log.total_undone != self._total_undone and log.n_undone(self._at) != self._n_undone):
            self._snapshots = [
                at for at in self._snapshots if at[0] <= log.n and log.n_undone(at[0]) == at[1]
            ]
            self._at, self._n_undone, learner = self._snapshots[-1]
            self.learner = learner.copy()
        first = self._at
        while self._at < log.n:
            ahead = log.n - self._at
            stop = log.n if ahead < 2 * _SNAPSHOT_EVENTS else log.n - _SNAPSHOT_EVENTS
            log.replay(self.learner, self._at, stop)
            self._replayed(stop)
            if progress is not None:
                progress(_READ + (1 - _READ) * (stop - first) / (log.n - first))
        self._total_undone = log.total_undone

    def _replayed(self, stop: int) -> None:
        self._at = stop
        if stop - self._snapshots[-1][0] >= _SNAPSHOT_EVENTS or self._n_undone or self.log.total_undone:
            self._n_undone = self.log.n_undone(stop)
        if stop - self._snapshots[-1][0] >= _SNAPSHOT_EVENTS:
            found = (stop, self._n_undone, self.learner.copy())
            self._snapshots = [self._snapshots[0], *self._snapshots[1:][1 - _N_SNAPSHOTS :], found]

    def _note_people(self) -> None:
        log, now = self.log, self.now()
        start = max(self._seen_at, log.n - _CHUNK)
        for row in range(log.n - 1, start - 1, -1):
            if log.at[row] < now - _PRESENT_SECONDS:
                start = row + 1
                break
        for row in range(start, log.n):
            name = log.people[log.who[row]]
            if name is not None:
                self.note_seen(name, float(log.at[row]))
        self._seen_at = log.n

    def note_seen(self, who: str, now: float) -> None:
        self.seen.pop(who, None)
        self.seen[who] = now
        while self.seen[first := next(iter(self.seen))] < now - _PRESENT_SECONDS:
            del self.seen[first]

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._is_in_transaction:
                raise InputError(
                    "a transaction of this session is open already: transactions cannot be nested"
                )
        with self.writing():
            self._is_in_transaction = True
            try:
                yield self.store.db
                if self._has_failed:
                    raise InputError(
                        "a call within the transaction has failed, so the transaction has no effect"
                    )
            except sqlite3.Error as error:
                self.store.rollback()
                self.store.refuse(error)
                raise
            finally:
                self._is_in_transaction = self._has_failed = False

    @contextmanager
    def reading(self, *, may_be_closed: bool = False) -> Iterator[None]:
        """Read the current state of the file before the block; no other thread changes it during the block.

        If the file was closed and `may_be_closed` is True, the block sees the last state that is in memory.
        """
        with self._lock:
            if not (self._is_in_transaction or (may_be_closed and self._is_closed)):
                self.store.rollback()
                if (version := self.store.version()) != self._version or self._is_stale:
                    self._refresh(version)
            yield

    @contextmanager
    def writing(self, progress: Progress | None = None, *, is_reported: bool = True) -> Iterator[None]:
        """Make all changes of the block to the file, or none of them.

        Within `transaction` the changes are a part of that transaction. `is_reported` is an argument of
        `Disk.written`.
        """
        with self._lock:
            if self._is_in_transaction:
                self._has_failed = True
                yield
                self._catch_up()
                self._has_failed = False
                return
            try:
                if (version := self.store.begin()) != self._version or self._is_stale:
                    self._refresh(version)
                self._is_stale = True
                if not self._has_written:
                    self._skip_lost_numbers()
                yield
                self._catch_up(progress)
                self.store.commit()
                self._n_committed, self._seen_at, self._is_stale = self.log.n, self.log.n, False
                self._has_written = True
                commit = self.disk.written(self.log.n, is_reported=is_reported)
            except BaseException:
                self._is_stale = True
                self.store.rollback()
                raise
        # Wait without the lock, so that other threads can work and share the same synchronisation.
        self.disk.wait(commit)
        if progress is not None:
            progress(1.0)

    def _skip_lost_numbers(self) -> None:
        """Skip `GAP` question numbers if the machine has restarted since the last write.

        A power cut can lose questions that people were already given. Their numbers must not be used again.
        """
        machine = start_of_machine()
        last = self.store.state("machine")
        if last == machine:
            return
        if last is not None:
            self.append([Event(GONE)] * GAP)
        self.store.set_state("machine", machine)

    def replace(self, numbers: Sequence[int], events: Sequence[Event]) -> None:
        """Overwrite the events that have the given numbers; other processes then read all events again."""
        moments = [
            0.0 if event.kind == GONE else float(self.log.at[number - 1])
            for number, event in zip(numbers, events, strict=True)
        ]
        self.store.overwrite(numbers, events, moments)
        self.store.set_state("forgotten", str(int(self._generation or 0) + 1))

    def append(
        self, events: Sequence[Event], progress: Progress | None = None, *, is_asked: bool = False
    ) -> None:
        """Write events to the file, and apply them to the log and the learner.

        `is_asked` is True if the learner has already chosen the questions of these events. Then the learner
        is not asked for questions again.
        """
        at = self.now()
        for start in range(0, len(events), _CHUNK):
            some = events[start : start + _CHUNK]
            first = self.log.n
            self.store.append(as_rows(some, first + 1, self.log.width, at))
            self.log.append(some, at)
            # The learner cannot take answers back. So after an `UNDO`, `_catch_up` replays the events from an
            # earlier snapshot of the learner. `writing` calls `_catch_up` before its transaction ends.
            if self._at == first and self.log.total_undone == self._total_undone:
                self.log.apply(self.learner, some, is_asked=is_asked)
                self._replayed(self.log.n)
            if progress is not None:
                progress((start + len(some)) / len(events))

    def lease(self, numbers: Sequence[int], who: str, until: float) -> None:
        self.leases.add(numbers, who, until)
        self.store.lease(numbers, who, until)

    def release(self, numbers: Iterable[int]) -> None:
        if leased := self.leases.drop(numbers):
            self.store.release(leased)

    def expire(self, now: float) -> None:
        """End the leases whose time is over."""
        self.release(self.leases.expired(now))

    def erase(self) -> None:
        """Remove the old contents of replaced events from the file."""
        with self._lock:
            self._is_stale = True
            with self.reading():
                self.store.erase()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self.store.close()
        self.disk.close()


class Leases:
    """The leased questions by number, each with its person and the time when the lease ends.

    Times are in seconds since 1970.
    """

    def __init__(self, leases: Mapping[int, tuple[str, float]]) -> None:
        self._leases: dict[int, tuple[str, float]] = {}
        self._of: dict[str, set[int]] = {}
        self._sorted = array("q")
        # A lower bound of the times when leases end, so that `expired` usually need not check each lease.
        self._first_end = inf
        for number, (who, until) in leases.items():
            self.add([number], who, until)

    def numbers(self) -> NDArray[np.int64]:
        return np.array(self._sorted, dtype=np.int64)

    def of_person(self, who: str | None) -> list[int]:
        return [] if who is None else sorted(self._of.get(who, ()))

    def add(self, numbers: Iterable[int], who: str, until: float) -> None:
        for number in numbers:
            if number in self._leases:
                self._of[self._leases[number][0]].discard(number)
            else:
                self._sorted.insert(bisect_left(self._sorted, number), number)
            self._leases[number] = (who, until)
            self._of.setdefault(who, set()).add(number)
        self._first_end = min(self._first_end, until)

    def drop(self, numbers: Iterable[int]) -> list[int]:
        """Remove the leases of questions; return the numbers of the questions that were leased."""
        found = []
        for number in numbers:
            lease = self._leases.pop(number, None)
            if lease is None:
                continue
            found.append(number)
            del self._sorted[bisect_left(self._sorted, number)]
            self._of[lease[0]].discard(number)
        return found

    def expired(self, now: float) -> list[int]:
        if now < self._first_end:
            return []
        self._first_end = min((until for _, until in self._leases.values() if until > now), default=inf)
        return [number for number, (_, until) in self._leases.items() if until <= now]
