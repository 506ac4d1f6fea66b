"""Where work goes that needs more memory than it may take: a folder of files for each call."""

import os
import shutil
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ordhc import _checks
from ordhc.errors import InputError, warn
from ordhc.io.files import name_of
from ordhc.io.remote import is_remote

__all__ = ["Spill", "bytes_of", "clear_dead", "locked", "made_folder"]

#: The default limit of memory, in bytes.
_MEMORY = 1 << 30
_PREFIX = "ordhc-spill-"
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def bytes_of(memory: Any) -> int:
    """Return a number of bytes, given as such or as "2GB", "500 MB", "1GiB"; None is 1 GiB.

    Raises
    ------
    InputError
        What is no such text; less than 16 MB.
    """
    if memory is None:
        return _MEMORY
    if isinstance(memory, str):
        text = memory.strip().upper()
        digits = text.rstrip("KMGTIB ")
        unit = text[len(digits) :].strip()
        try:
            found = int(float(digits) * _UNITS[unit])
        except (ValueError, KeyError, OverflowError):
            raise InputError(
                f"memory is {_checks.quoted(memory)}; bytes are given as '2GB' or 2000000000"
            ) from None
    else:
        found = _checks.whole("memory", memory, at_least=1)
    if found < 16_000_000:
        raise InputError(f"memory is {_checks.quoted(memory)}; at least 16MB are needed")
    return found


class Spill:
    """A folder for files of one call, made when the first one is, and gone when the call ends.

    Folders that calls have left that were killed are removed first, with a warning.
    """

    def __init__(self, folder: Any = None) -> None:
        self._given = None if folder is None else made_folder(folder, "spill")
        self._folder: Path | None = None
        self._lock: Any = None
        self._next = 0

    @property
    def parent(self) -> str | None:
        """The folder that was given, or None."""
        return None if self._given is None else str(self._given)

    def __enter__(self) -> Self:
        if self._given is not None:
            gone = clear_dead(self._given, _PREFIX)
            if gone:
                told = f"removed what calls have left that were killed: {', '.join(gone[:10])}"
                warn(f"{name_of(self._given)}: {told}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            self._lock.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    @property
    def folder(self) -> Path:
        """Where files of this call go."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self.parent))
            self._lock = (self._folder / "lock").open("w")
            locked(self._lock)
        return self._folder

    def path(self, name: str) -> Path:
        """Return the path of a new file."""
        self._next += 1
        return self.folder / f"{self._next:06}-{name}"


def made_folder(path: Any, what: str) -> Path:
    """Return a folder, which is made if it is missing, as are those above it.

    Raises
    ------
    InputError
        `path` is a URL or a file, or the folder cannot be made.
    """
    folder = _checks.path(path, what)
    if is_remote(folder):
        raise InputError(f"{what} is a URL; a folder of this machine is needed", path=name_of(folder))
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "is a file" if isinstance(error, FileExistsError) else f"cannot be made: {error.strerror}"
        raise InputError(f"{what} is no folder: it {reason}", path=name_of(folder)) from None
    return Path(folder)


def locked(stream: Any, *, wait: bool = False) -> bool:
    """Lock a file until it is closed, or this process ends; return False if another process has locked it."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def clear_dead(folder: Path, prefix: str, *, after: float = 0.0) -> list[str]:
    """Remove the folders that killed processes have left `after` seconds ago, and return their names."""
    gone = []
    for left in sorted(folder.glob(f"{prefix}*")):
        try:
            with (left / "lock").open("r+") as stream:
                dead = locked(stream) and time.time() - os.fstat(stream.fileno()).st_mtime >= after
        except OSError:
            continue
        if dead:
            shutil.rmtree(left, ignore_errors=True)
            gone.append(left.name)
    return gone
