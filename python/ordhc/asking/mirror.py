"""What is in memory of a session: what its file says, and nothing else."""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from ordhc import _ordhc
from ordhc.asking.events import BrokenError, Event, Log
from ordhc.asking.schema import damaged
from ordhc.asking.store import Store

__all__ = ["Mirror"]

T = TypeVar("T")

#: A copy of the learner is kept every so many events, so that the last answers are taken back at once.
_STEP = 1000
_N_SNAPSHOTS = 4


class Mirror:
    """The log of a file, and a learner that was told it."""

    _path: str
    _store: Store
    _now: Callable[[], float]

    def _begin(self, desk: _ordhc.Desk, n_leaves: int) -> None:
        self._lock = threading.RLock()
        self._log = Log(n_leaves, self._store.width)
        # Learners at some events: (how many events they know, how many of these were taken back, learner).
        self._snapshots = [(0, 0, desk)]
        self._at, self._n_undone, self._desk = 0, 0, desk.copy()
        self._is_stale = True
        self._store.leases(0.0)
        self._refresh()

    # The learner follows the log, and the log follows the file. Work on either marks both as stale until it
    # is done, so that after an interrupt they are made anew.

    def _refresh(self, *, applied: int | None = None) -> None:
        """Take in what is new in the file.

        With `applied` the learner has been asked already for what the event of this seq wanted, and is
        otherwise as it should be.
        """
        try:
            is_fine = not self._is_stale or applied is not None
            for rows in self._store.events(self._log.n):
                self._is_stale = True
                self._log.extend(rows)
        except BrokenError as error:
            raise damaged(self._path, error) from None
        log = self._log
        if is_fine and self._at == log.n:
            self._is_stale = False
            return
        if not is_fine or log.n_undone(self._at) != self._n_undone:
            self._snapshots = [found for found in self._snapshots if log.n_undone(found[0]) == found[1]]
            self._at, self._n_undone, desk = self._snapshots[-1]
            self._desk, applied = desk.copy(), None
        while self._at < log.n:
            ahead = log.n - self._at
            stop = log.n if ahead < 2 * _STEP else log.n - _STEP
            log.replay(self._desk, self._at, stop, applied=applied)
            self._at, self._n_undone = stop, log.n_undone(stop)
            if stop - self._snapshots[-1][0] >= _STEP:
                found = (stop, self._n_undone, self._desk.copy())
                self._snapshots = [self._snapshots[0], *self._snapshots[1:][1 - _N_SNAPSHOTS :], found]
        self._is_stale = False

    def _reading(self, work: Callable[[], T]) -> T:
        with self._lock:
            self._store.rollback()
            self._refresh()
            return work()

    def _writing(self, work: Callable[[], T]) -> T:
        """Do work on the file that happens whole or not at all."""
        with self._lock:
            self._store.rollback()
            try:
                self._store.begin()
                self._refresh()
                # The work may change the learner: it counts as stale until the file holds the same.
                first, self._is_stale = self._log.n + 1, True
                result = work()
                self._store.commit()
                self._refresh(applied=first)
            except BaseException:
                self._is_stale = True
                self._store.rollback()
                raise
            return result

    def _append(self, events: Sequence[Event]) -> None:
        self._store.append(events, self._log.n, self._now())
