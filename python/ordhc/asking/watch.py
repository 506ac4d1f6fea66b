"""Make SQL statements interruptible."""

import sqlite3
from collections.abc import Iterator
from math import inf

#: The number of steps of SQLite's virtual machine between two checks; about a millisecond.
_STEPS = 10_000
#: The maximum number of steps to open a file is `_AT_LEAST` plus `_PER_BYTE` for each byte. Measured: 370
#: steps for an empty session, and 0.4 for each byte of a session with 300,000 answers.
_AT_LEAST = 100_000
_PER_BYTE = 20


class Watch:
    """A handler that stops SQL statements on Ctrl-C or when they exceed a limit of steps.

    SQLite then raises its own error and drops the exception of the signal handler; `reason` returns that
    exception. Until `allow_all` is called, the limit is many times the number of steps that opening a file of
    `n_bytes` bytes takes.
    """

    def __init__(self, db: sqlite3.Connection, n_bytes: int) -> None:
        self._db = db
        self._reason: BaseException | None = None
        self._left: float = _AT_LEAST + _PER_BYTE * n_bytes
        self._begin()

    def allow_all(self) -> None:
        self._left = inf

    def reason(self) -> BaseException | None:
        """Return the exception that stopped the last SQL statement, or None; then reset this handler."""
        reason, self._reason = self._reason, None
        self._begin()
        return reason

    def _begin(self) -> None:
        checks = self._checks()
        next(checks)
        self._db.set_progress_handler(checks.__next__, _STEPS)

    def _checks(self) -> Iterator[int]:
        # SQLite calls `__next__` between steps, and stops the SQL statement if the call raises. Python runs
        # signal handlers when a frame starts or resumes. A function would raise before its first line,
        # outside any `try`. A generator resumes inside the `try`. When the generator has ended, `__next__`
        # raises.
        try:
            yield 0
            while (left := self._left - _STEPS) >= 0:
                self._left = left
                yield 0
            self._reason = ValueError("reading the file takes more steps than a file of this size needs")
        except GeneratorExit:
            raise
        except BaseException as error:
            self._reason = error
