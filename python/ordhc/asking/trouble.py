"""Errors of SQLite as those of ordhc, and statements that can be interrupted."""

import sqlite3
from collections.abc import Callable, Iterator
from math import inf

from ordhc.errors import InputError

__all__ = ["Errors", "Watch"]

#: Steps of SQLite's virtual machine between two looks: about a millisecond.
_STEPS = 10_000
#: Maximum number of steps to open a file: this many, and more for each byte. Measured: 370 for an empty
#: session, 0.4 for each byte of one with 300,000 answers.
_AT_LEAST = 100_000
_PER_BYTE = 20


class Errors:
    """A context that hands errors of a file and of what stands in it to what explains them."""

    def __init__(self, explain: Callable[[BaseException], None]) -> None:
        self._explain = explain

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        reading = (sqlite3.Error, ValueError, TypeError, KeyError, OverflowError, RecursionError)
        if isinstance(error, reading) and not isinstance(error, InputError):
            self._explain(error)


class Watch:
    """Ends statements of a connection at Ctrl-C, and when they take more steps than they may.

    SQLite then raises an error of its own and drops the exception of the signal; `reason` returns it.

    Parameters
    ----------
    db
        The connection.
    n_bytes
        Size of the file. Until `allow_all` is called, statements may take the steps that opening a session of
        this size takes.
    """

    def __init__(self, db: sqlite3.Connection, n_bytes: int) -> None:
        self._db = db
        self._reason: BaseException | None = None
        self._left: float = _AT_LEAST + _PER_BYTE * n_bytes
        self._begin()

    def allow_all(self) -> None:
        """Lift the limit."""
        self._left = inf

    def reason(self) -> BaseException | None:
        """Return why a statement was ended, and watch the next one."""
        reason, self._reason = self._reason, None
        self._begin()
        return reason

    def _begin(self) -> None:
        looks = self._looks()
        next(looks)
        self._db.set_progress_handler(looks.__next__, _STEPS)

    def _looks(self) -> Iterator[int]:
        # Python runs handlers of signals when a frame begins or goes on. A function would raise before its
        # first line, outside of any `try`; a generator goes on within. When it has ended, `__next__` raises,
        # which ends the statement.
        try:
            yield 0
            while (left := self._left - _STEPS) >= 0:
                self._left = left
                yield 0
            self._reason = ValueError("reading it takes more steps than a file of its size needs")
        except GeneratorExit:
            raise
        except BaseException as error:
            self._reason = error
