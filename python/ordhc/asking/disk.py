"""Synchronise committed answers with the disk, so that a power cut does not lose them."""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from ordhc.io.paths import brief

#: Maximum number of events that are written but perhaps not on the disk. A power cut can lose these events.
#: After a restart of the machine, `GAP` question numbers are skipped, so that no number is used twice.
GAP = 2048
#: Minimum number of seconds between two synchronisations, unless `is_durable` is True.
PAUSE = 0.05
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def start_of_machine() -> str:
    """Return a text that changes whenever the machine restarts.

    Systems without a boot id use the start time, which also changes when the clock is set.
    """
    with suppress(OSError):
        return _BOOT.read_text().strip()
    return f"{(time.time() - time.monotonic()) // 10:.0f}"


class Disk:
    """The synchronisation of a session's commits with the disk.

    SQLite hands commits to the operating system, so that killing the process loses none of them. A power cut
    can lose commits in the write-ahead log that were not yet synchronised. Threads that wait at the same time
    share one synchronisation.

    If `is_durable` is True, each commit is waited for. None waits unless commits follow each other within
    `PAUSE` seconds. False waits only if more than `GAP` events are not on the disk.
    """

    def __init__(self, path: str, is_durable: bool | None) -> None:
        self._path = path
        self._is_durable = is_durable
        # `_latest` is (number of commits, number of events) that were written. `_synchronised` is (number of
        # commits, number of events) that are certainly on the disk. Only commits count for which the method
        # `written` did not return None. The first commit must wait for the disk, because events of an earlier
        # process may not be on the disk. The start value -GAP makes the first commit wait, because more than
        # GAP events then seem not to be on the disk.
        self._latest, self._synchronised = (0, 0), (0, -GAP)
        self._last = 0.0
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._error: OSError | None = None

    def written(self, n_events: int, *, is_reported: bool) -> tuple[int, int] | None:
        """Record that `n_events` events are committed; return the argument for `wait`.

        `is_reported` is True if the caller reports the commit to a person. Otherwise the result is None,
        and `wait` returns at once, unless more than `GAP` events are not on the disk.
        """
        is_reported |= n_events - self._synchronised[1] > GAP
        self._latest = (self._latest[0] + is_reported, n_events)
        return self._latest if is_reported else None

    def wait(self, commit: tuple[int, int] | None) -> None:
        """Wait until a commit is on the disk, if `is_durable` requires the wait.

        `OSError` means that the commit could not be written to the disk.
        """
        if commit is None or self._synchronised[0] >= commit[0]:
            return
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        if self._is_durable or commit[1] - self._synchronised[1] > GAP:
            self._synchronise(commit[0])
        elif self._is_durable is False or self._timer is not None:
            return
        elif time.monotonic() - self._last >= PAUSE or not self._will_catch_up():
            self._synchronise(commit[0])

    def close(self) -> None:
        if self._is_durable is not False:
            self._synchronise(self._latest[0])

    def _will_catch_up(self) -> bool:
        self._timer = threading.Timer(PAUSE, self._catch_up)
        try:
            self._timer.start()
        except RuntimeError:
            # The thread limit is reached, or the interpreter is shutting down.
            self._timer = None
        return self._timer is not None

    def _catch_up(self) -> None:
        number = self._latest[0]
        try:
            self._synchronise(number)
        except OSError as error:
            # The next call of `wait` raises the error.
            self._error = error
        self._timer = None
        # Synchronise commits that arrived in the meantime.
        if self._error is None and self._latest[0] > self._synchronised[0]:
            self._will_catch_up()

    def _synchronise(self, number: int) -> None:
        with self._lock:
            if self._synchronised[0] >= number:
                return
            latest = self._latest
            try:
                # Without a write-ahead log all commits are in the session's file, which SQLite has
                # synchronised.
                with suppress(FileNotFoundError):
                    file = os.open(f"{self._path}-wal", os.O_RDWR)
                    try:
                        os.fsync(file)
                    finally:
                        os.close(file)
            except OSError as error:
                reason = error.strerror or str(error)
                raise OSError(f"{brief(self._path, 200)}: {reason}; the last answers may be lost") from None
            self._synchronised, self._last = latest, time.monotonic()


def synchronise_folder(path: str) -> None:
    """Synchronise the folder of a new file, so that a power cut does not lose the file's entry.

    Systems that cannot synchronise folders ignore this.
    """
    with suppress(OSError):
        folder = os.open(Path(path).absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
