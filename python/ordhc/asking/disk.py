"""When what was written is on the disk."""

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from ordhc.io.guard import brief

__all__ = ["GAP", "Disk", "start_of_machine", "synchronise_folder"]

#: Of so many events at most nobody knows whether they are on the disk: so many numbers of questions may be
#: unknown after the power has failed.
GAP = 2048
#: Seconds between two writes, where answers come fast and nobody insists on waiting.
PAUSE = 0.05
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def start_of_machine() -> str:
    """Another text whenever the machine was started anew; where it doesn't tell, at other times too."""
    with suppress(OSError):
        return _BOOT.read_text().strip()
    return f"{(time.time() - time.monotonic()) // 10:.0f}"


class Disk:
    """Makes sure of commits, which SQLite has only handed to the system.

    Killing a process loses nothing that the system has. What a power cut may take is in the write-ahead log
    since it was synchronised last. Those who wait at the same time are served by one synchronisation.

    Parameters
    ----------
    path
        The session's file.
    is_durable
        True to wait for every commit, None to wait unless they come within `PAUSE` of each other, False never
        to wait.
    """

    def __init__(self, path: str, is_durable: bool | None) -> None:
        self._path = path
        self._is_durable = is_durable
        # The last commit that somebody must be sure of, and how many events there are; what is on the disk.
        self._latest, self._sure = (0, 0), (0, -GAP)
        self._last = 0.0
        self._turn = threading.Lock()
        self._timer: threading.Timer | None = None
        self._trouble: OSError | None = None

    def written(self, n_events: int, *, is_told: bool) -> tuple[int, int] | None:
        """A commit is with the system, after which there are so many events; what `wait` takes.

        What is told to nobody, `is_told` being false, need not be on the disk, as long as few numbers are at
        stake.
        """
        is_told |= n_events - self._sure[1] > GAP
        self._latest = (self._latest[0] + is_told, n_events)
        return self._latest if is_told else None

    def wait(self, commit: tuple[int, int] | None) -> None:
        """Wait until a commit is on the disk, if somebody must.

        Raises
        ------
        OSError
            The disk doesn't take it.
        """
        if commit is None or self._sure[0] >= commit[0]:
            return
        if self._trouble is not None:
            trouble, self._trouble = self._trouble, None
            raise trouble
        if self._is_durable or commit[1] - self._sure[1] > GAP:
            self._synchronise(commit[0])
        elif self._is_durable is False or self._timer is not None:
            return
        elif time.monotonic() - self._last >= PAUSE or not self._will_catch_up():
            self._synchronise(commit[0])

    def close(self) -> None:
        """Wait for all that was written."""
        if self._is_durable is not False:
            self._synchronise(self._latest[0])

    def _will_catch_up(self) -> bool:
        """Whether a thread sees to it soon."""
        self._timer = threading.Timer(PAUSE, self._catch_up)
        try:
            self._timer.start()
        except RuntimeError:
            # No thread can be had, or the program is ending.
            self._timer = None
        return self._timer is not None

    def _catch_up(self) -> None:
        number = self._latest[0]
        try:
            self._synchronise(number)
        except OSError as error:
            # For whoever answers next.
            self._trouble = error
        self._timer = None
        # What came meanwhile.
        if self._trouble is None and self._latest[0] > self._sure[0]:
            self._will_catch_up()

    def _synchronise(self, number: int) -> None:
        with self._turn:
            if self._sure[0] >= number:
                return
            latest = self._latest
            try:
                # Without this file all is in the session's own, which SQLite has synchronised.
                with suppress(FileNotFoundError):
                    file = os.open(f"{self._path}-wal", os.O_RDWR)
                    try:
                        os.fsync(file)
                    finally:
                        os.close(file)
            except OSError as error:
                reason = error.strerror or str(error)
                raise OSError(
                    f"{brief(self._path, 200)}: {reason}; the last answers may not be kept"
                ) from None
            self._sure, self._last = latest, time.monotonic()


def synchronise_folder(path: str) -> None:
    """See to it that the folder of a file knows of it, where the system can."""
    with suppress(OSError):
        folder = os.open(Path(path).absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
