"""What is in memory of a session: what its file says, and nothing else.

A session is an append-only log of events in SQLite (write-ahead log). The number of an event is the number
of its question, for good. Opening a session replays the log. Taking an answer back replays the log without
the answer, from a copy of the desk that is made every thousand events; copies share the bank of answers
that wait. A call writes to the file and to memory in one transaction, and any exception marks memory as
stale: then the file is read again. Leases are rows that expire, and no part of the log. Other programs may
keep tables of their own in the file, and change them together with the session in one `transaction`.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.asking.disk import GAP, Disk, start_of_machine
from ordhc.asking.events import GONE, UNDO, BrokenError, Event
from ordhc.asking.leases import Leases
from ordhc.asking.log import Log
from ordhc.asking.schema import damaged
from ordhc.asking.store import Store
from ordhc.errors import InputError

__all__ = ["Mirror"]

T = TypeVar("T")

#: A copy of the learner is kept every so many events, so that the last answers are taken back at once.
_STEP = 1000
_N_SNAPSHOTS = 4
#: The share of progress that is told while the file is read; the learner is told then.
_READ = 0.7
#: Events that are written between two words of progress.
_CHUNK = 1 << 14
#: Seconds for which somebody who asked or answered counts as there.
_LATELY = 300.0


class Mirror:
    """The log of a file, and a learner that was told it.

    What is written is taken into memory at once, in the transaction that writes it. Work marks memory as
    stale until the transaction has ended well: after anything else, memory is what the file says again.
    """

    _path: str
    _store: Store
    _disk: Disk
    _now: Callable[[], float]

    def _begin(
        self, desk: _ordhc.Desk, n_leaves: int, is_shared: bool, progress: Progress | None = None
    ) -> None:
        self._lock = threading.RLock()
        self._log = Log(n_leaves, self._store.width)
        self._log.is_shared = is_shared
        # Learners at some events: (how many events they know, how many of these were taken back, learner).
        self._snapshots = [(0, 0, desk)]
        self._at, self._n_undone, self._desk = 0, 0, desk.copy()
        self._total_undone = 0
        #: Events that are on the disk for sure; the file's version when it was read.
        self._sure, self._version = 0, -1
        self._generation: str | None = None
        self._leases = Leases({})
        #: When people were seen last, in this order, and at which event that is known.
        self._seen: dict[str, float] = {}
        self._seen_at = 0
        #: Whether this process has written already.
        self._is_here = False
        self._is_stale = True
        #: Within `transaction`; a call of it has failed.
        self._is_together, self._is_broken = False, False
        self._refresh(progress)

    # The learner follows the log, and the log follows the file.

    def _refresh(self, progress: Progress | None = None) -> None:
        """Take in what is new in the file, read first, then told to the learner."""
        version = self._store.version()
        if not self._is_stale and version == self._version:
            if progress is not None:
                progress(1.0)
            return
        was_stale, self._is_stale = self._is_stale, True
        if was_stale:
            self._log.cut(self._sure)
            self._snapshots = [found for found in self._snapshots if found[0] <= self._sure]
            self._seen.clear()
            self._seen_at = 0
        generation = self._store.state("forgotten")
        if generation != self._generation:
            # Events are not what they were.
            self._log.cut(0)
            self._seen.clear()
            self._sure, self._seen_at, self._generation = 0, 0, generation
            self._snapshots = self._snapshots[:1]
            was_stale = True
        try:
            known, total = self._log.n, self._store.n_events()
            if total > len(self._log.kinds) and total - known > _CHUNK:
                self._log.reserve(total)
            for rows in self._store.events(self._log.n):
                self._log.extend(rows)
                if progress is not None:
                    progress(min(1.0, _READ * (self._log.n - known) / max(total - known, 1)))
        except BrokenError as error:
            raise damaged(self._path, error) from None
        self._leases = Leases(self._store.leases())
        self._catch_up(progress, is_lost=was_stale)
        self._note_people()
        self._sure, self._version, self._is_stale = self._log.n, version, False
        if progress is not None:
            progress(1.0)

    def _catch_up(self, progress: Progress | None = None, *, is_lost: bool = False) -> None:
        """Tell the learner what it doesn't know; from an earlier one on if answers were taken back."""
        log = self._log
        if is_lost or (log.total_undone != self._total_undone and log.n_undone(self._at) != self._n_undone):
            self._snapshots = [found for found in self._snapshots if self._holds(found[0], found[1])]
            self._at, self._n_undone, desk = self._snapshots[-1]
            self._desk = desk.copy()
        first = self._at
        while self._at < log.n:
            ahead = log.n - self._at
            stop = log.n if ahead < 2 * _STEP else log.n - _STEP
            log.replay(self._desk, self._at, stop)
            self._told(stop)
            if progress is not None:
                progress(_READ + (1 - _READ) * (stop - first) / (log.n - first))
        self._total_undone = log.total_undone

    def _holds(self, n: int, n_undone: int) -> bool:
        return n <= self._log.n and self._log.n_undone(n) == n_undone

    def _told(self, stop: int) -> None:
        """The learner knows so many events."""
        self._at = stop
        if stop - self._snapshots[-1][0] >= _STEP or self._n_undone or self._log.total_undone:
            self._n_undone = self._log.n_undone(stop)
        if stop - self._snapshots[-1][0] >= _STEP:
            found = (stop, self._n_undone, self._desk.copy())
            self._snapshots = [self._snapshots[0], *self._snapshots[1:][1 - _N_SNAPSHOTS :], found]

    def _note_people(self) -> None:
        """Who was seen lately, from events that others have written."""
        log, now = self._log, self._now()
        start = max(self._seen_at, log.n - _CHUNK)
        for row in range(log.n - 1, start - 1, -1):
            if log.at[row] < now - _LATELY:
                start = row + 1
                break
        for row in range(start, log.n):
            name = log.name(row)
            if name is not None:
                self._meet(name, float(log.at[row]))
        self._seen_at = log.n

    def _meet(self, who: str, now: float) -> None:
        """Somebody is there; those who were not for long are no more."""
        self._seen.pop(who, None)
        self._seen[who] = now
        while True:
            first = next(iter(self._seen))
            if self._seen[first] >= now - _LATELY:
                return
            del self._seen[first]

    # Work.

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Several calls as one: they happen whole or not at all, and wait for the disk once.

        Yields
        ------
        sqlite3.Connection
            The file, for tables of one's own that are kept beside the session's, and change with it. Whoever
            uses it leaves the session's own tables alone, and neither commits nor rolls back.

        Raises
        ------
        OSError
            The file cannot be written: nothing of this is kept.
        InputError
            A call within has failed halfway: nothing of this is kept.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=4) as session, session.transaction():
        ...     for who in ["ann", "bob"]:
        ...         states = session.tell(session.ask(who=who).ids, [0], who=who)
        """
        with self._lock:
            if self._is_together:
                raise InputError("a transaction of a session is within another one")
            self._store.rollback()
            try:
                self._start()
                self._is_together = True
                yield self._store.connection
                if self._is_broken:
                    raise InputError("a call within the transaction has failed: nothing of it is kept")
                commit = self._finish(is_told=True)
            except BaseException as error:
                self._is_stale = True
                self._store.rollback()
                if isinstance(error, sqlite3.Error):
                    self._store.refuse(error)
                raise
            finally:
                self._is_together = self._is_broken = False
        self._disk.wait(commit)

    def _start(self) -> None:
        """Begin to write, from what the file says; memory is stale until that has ended well."""
        self._store.begin()
        self._refresh()
        self._is_stale = True
        if not self._is_here:
            self._arrive()

    def _finish(self, *, is_told: bool) -> tuple[int, int] | None:
        """What was written is in the file; what the disk is to wait for."""
        self._store.commit()
        self._sure, self._seen_at, self._is_stale = self._log.n, self._log.n, False
        self._is_here = True
        return self._disk.written(self._log.n, is_told=is_told)

    def _within(self, work: Callable[[], T]) -> T:
        """Work as a part of a transaction."""
        self._is_broken = True
        result = work()
        self._catch_up()
        self._is_broken = False
        return result

    def _reading(self, work: Callable[[], T]) -> T:
        with self._lock:
            if self._is_together:
                return work()
            self._store.rollback()
            self._refresh()
            return work()

    def _writing(self, work: Callable[[], T], progress: Progress | None = None, *, is_told: bool = True) -> T:
        """Do work on the file that happens whole or not at all.

        With `is_told` somebody is told that it is done; if not, a power cut may undo it.
        """
        with self._lock:
            if self._is_together:
                return self._within(work)
            self._store.rollback()
            try:
                self._start()
                result = work()
                self._catch_up(progress)
                commit = self._finish(is_told=is_told)
            except BaseException:
                self._is_stale = True
                self._store.rollback()
                raise
        # Others go on meanwhile, and wait for the same.
        self._disk.wait(commit)
        if progress is not None:
            progress(1.0)
        return result

    def _arrive(self) -> None:
        """Before this process writes for the first time: numbers that may be out are left out.

        When the machine went down, questions were perhaps asked that the file doesn't know of.
        """
        machine = start_of_machine()
        last = self._store.state("machine")
        if last == machine:
            return
        if last is not None:
            self._append([Event(GONE)] * GAP)
        self._store.set_state("machine", machine)

    def _replace(self, numbers: Sequence[int], events: Sequence[Event]) -> None:
        """Put other events in the place of some: all who have the session open take them in anew."""
        moments = [
            0.0 if event.kind == GONE else float(self._log.at[number - 1])
            for number, event in zip(numbers, events, strict=True)
        ]
        self._store.overwrite(numbers, events, moments)
        self._store.set_state("forgotten", str(int(self._generation or 0) + 1))

    def _append(
        self, events: Sequence[Event], progress: Progress | None = None, *, is_asked: bool = False
    ) -> None:
        """Write events, and take them in.

        With `is_asked` the learner has been asked already for what they want.
        """
        at = self._now()
        for start in range(0, len(events), _CHUNK):
            some = events[start : start + _CHUNK]
            first = self._log.n
            self._store.append(some, first, at)
            self._log.append(some, at)
            # What was taken back, the learner has been told: that is put right when the work is done.
            if self._at == first and not any(event.kind == UNDO for event in some):
                if len(some) == 1:
                    self._log.tell(self._desk, first + 1, some[0], is_asked=is_asked)
                else:
                    self._log.replay(self._desk, first, self._log.n, is_asked=is_asked)
                self._told(self._log.n)
            if progress is not None:
                progress((start + len(some)) / len(events))
