"""Temporary folders for calls that need more memory than their limit: one folder for each call."""

import errno
import os
import re
import shutil
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc.errors import InputError, warn
from ordhc.io.paths import checked_path, is_remote, name_of

#: The default limit of memory, in bytes.
_MEMORY = 1 << 30
_PREFIX = "ordhc-spill-"
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def bytes_of(memory: Any) -> int:
    """Return `memory` in bytes, given as a number or as text such as "2GB" or "1GiB"; None means 1 GiB."""
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
                f"memory is {_checks.quoted(memory)}; give a number of bytes, as '2GB' or 2000000000"
            ) from None
    else:
        found = _checks.whole("memory", memory, at_least=1)
    if found < 16_000_000:
        raise InputError(f"memory is {_checks.quoted(memory)}; it must be at least 16MB")
    return found


class Spill:
    """A folder for the files of one call: made at its first use, and removed at the end of the call.

    The folder is made in the folder `parent`, by default the system's temporary folder. At the start, folders
    of calls that were killed are removed, with a warning.
    """

    def __init__(self, folder: Any = None) -> None:
        self._given = None if folder is None else made_folder(folder, "spill")
        self._folder: Path | None = None
        self._lock: Any = None
        self._next = 0

    @property
    def parent(self) -> str | None:
        return None if self._given is None else str(self._given)

    def __enter__(self) -> Self:
        if self._given is not None:
            gone = clear_dead(self._given, _PREFIX)
            if gone:
                removed = ", ".join(gone[:10])
                warn(f"{name_of(self._given)}: removed temporary folders of interrupted calls: {removed}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            self._lock.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        if isinstance(error, OSError) and _is_full(error):
            raise InputError(
                "the disk is full, so temporary files cannot be written: give spill= (or resume=, if you "
                "use it) a folder on a disk with more space",
                path=name_of(self.parent or tempfile.gettempdir()),
            ) from error

    @property
    def folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self.parent))
            self._lock = (self._folder / "lock").open("w")
            locked(self._lock)
        return self._folder

    def path(self, name: str) -> Path:
        self._next += 1
        return self.folder / f"{self._next:06}-{name}"


def _is_full(error: OSError) -> bool:
    # NumPy writes arrays without the number of the error.
    unwritten = error.errno is None and re.search(r"free space|requested and \d+ written", str(error))
    return error.errno == errno.ENOSPC or bool(unwritten)


def made_folder(path: Any, what: str) -> Path:
    """Return the path of a folder; make it, and the folders above it, if they are missing."""
    folder = checked_path(path, what)
    if is_remote(folder):
        raise InputError(f"{what} is a URL; give a local folder", path=name_of(folder))
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "is a file" if isinstance(error, FileExistsError) else f"cannot be made: {error.strerror}"
        raise InputError(f"{what} is not a folder: it {reason}", path=name_of(folder)) from None
    return Path(folder)


def mapped(path: str | os.PathLike[str], dtype: Any) -> NDArray[Any]:
    """Return a file as an array that is mapped into memory. Changes of the array do not change the file."""
    if Path(path).stat().st_size == 0:
        return np.zeros(0, dtype=dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="c"))


def locked(stream: Any, *, wait: bool = False) -> bool:
    """Lock a file until it is closed or this process ends; return True if that succeeded.

    The result is False if another process has locked the file (without `wait`), or on Windows.
    """
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
    """Remove folders of killed processes that are at least `after` seconds old, and return their names.

    A folder belongs to a killed process if its file "lock" is not locked.
    """
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
