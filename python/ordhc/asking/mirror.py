"""What is in memory of a session: what its file says, and nothing else."""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.asking.events import BrokenError, Event, Log
from ordhc.asking.schema import damaged
from ordhc.asking.store import Store

__all__ = ["Mirror"]

T = TypeVar("T")

#: A copy of the learner is kept every so many events, so that the last answers are taken back at once.
_STEP = 1000
_N_SNAPSHOTS = 4
#: The share of progress that is told while the file is read; the learner is told then.
_READ = 0.7
#: Events that are written between two words of progress.
_CHUNK = 1 << 14


class Mirror:
    """The log of a file, and a learner that was told it."""

    _path: str
    _store: Store
    _now: Callable[[], float]

    def _begin(self, desk: _ordhc.Desk, n_leaves: int, progress: Progress | None = None) -> None:
        self._lock = threading.RLock()
        self._log = Log(n_leaves, self._store.width)
        # Learners at some events: (how many events they know, how many of these were taken back, learner).
        self._snapshots = [(0, 0, desk)]
        self._at, self._n_undone, self._desk = 0, 0, desk.copy()
        self._is_stale = True
        self._store.leases(0.0)
        self._refresh(progress=progress)

    # The learner follows the log, and the log follows the file. Work on either marks both as stale until it
    # is done, so that after an interrupt they are made anew.

    def _refresh(self, *, applied: int | None = None, progress: Progress | None = None) -> None:
        """Take in what is new in the file, read first, then told to the learner.

        With `applied` the learner has been asked already for what the event of this seq wanted, and is
        otherwise as it should be.
        """
        try:
            is_fine = not self._is_stale or applied is not None
            known, total = self._log.n, 0 if progress is None else self._store.n_events()
            for rows in self._store.events(self._log.n):
                self._is_stale = True
                self._log.extend(rows)
                if progress is not None:
                    progress(min(1.0, _READ * (self._log.n - known) / max(total - known, 1)))
        except BrokenError as error:
            raise damaged(self._path, error) from None
        log = self._log
        if is_fine and self._at == log.n:
            self._is_stale = False
            if progress is not None:
                progress(1.0)
            return
        if not is_fine or log.n_undone(self._at) != self._n_undone:
            self._snapshots = [found for found in self._snapshots if log.n_undone(found[0]) == found[1]]
            self._at, self._n_undone, desk = self._snapshots[-1]
            self._desk, applied = desk.copy(), None
        first = self._at
        while self._at < log.n:
            ahead = log.n - self._at
            stop = log.n if ahead < 2 * _STEP else log.n - _STEP
            log.replay(self._desk, self._at, stop, applied=applied)
            self._at, self._n_undone = stop, log.n_undone(stop)
            if stop - self._snapshots[-1][0] >= _STEP:
                found = (stop, self._n_undone, self._desk.copy())
                self._snapshots = [self._snapshots[0], *self._snapshots[1:][1 - _N_SNAPSHOTS :], found]
            if progress is not None:
                progress(_READ + (1 - _READ) * (stop - first) / (log.n - first))
        if progress is not None:
            progress(1.0)
        self._is_stale = False

    def _reading(self, work: Callable[[], T]) -> T:
        with self._lock:
            self._store.rollback()
            self._refresh()
            return work()

    def _writing(self, work: Callable[[], T], progress: Progress | None = None) -> T:
        """Do work on the file that happens whole or not at all; progress is of what follows the commit."""
        with self._lock:
            self._store.rollback()
            try:
                self._store.begin()
                self._refresh()
                # The work may change the learner: it counts as stale until the file holds the same.
                first, self._is_stale = self._log.n + 1, True
                result = work()
                self._store.commit()
                self._refresh(applied=first, progress=progress)
            except BaseException:
                self._is_stale = True
                self._store.rollback()
                raise
            return result

    def _append(self, events: Sequence[Event], progress: Progress | None = None) -> None:
        at = self._now()
        for start in range(0, len(events), _CHUNK):
            some = events[start : start + _CHUNK]
            self._store.append(some, self._log.n + start, at)
            if progress is not None:
                progress((start + len(some)) / len(events))
