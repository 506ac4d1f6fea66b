"""Divide the work on a scan (comparisons in files) into parts, and store each result in a folder.

The name of a folder is a hash of everything that its result depends on. Without `resume` the folders are
temporary. With `resume` they are kept, so that a later call finds them, even if a process was killed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ordhc._progress import Progress, part
from ordhc._version import __version__
from ordhc._workers import Shared, cut, run_tasks
from ordhc.errors import InputError, warn
from ordhc.io.paths import name_of
from ordhc.io.spill import Spill, clear_dead, locked, made_folder

#: The number of parts into which work on files is divided with `resume`, for any number of workers.
PARTS = 64
#: The prefix of folders that are being written.
_UNFINISHED = "part-"
#: An unlocked folder older than this number of seconds was left by a killed process.
_GRACE = 60.0
#: The file in a finished folder with the size and the hash of each other file.
_SEAL = "seal.json"
_ABOUT = """Finished parts of the work of ordhc on answers in files: ordhc.scan(..., resume=THIS FOLDER).

If you repeat the call with this folder, it uses the finished parts. Nothing else needs the folder: delete it
when you have your result, or if you will not repeat the call.
"""


class Job(Protocol):
    """Work on files that is divided into tasks; each task writes its result into a folder of its own."""

    def name(self, *task: Any) -> str:
        """Return a hash of everything that the result of a task depends on."""

    def make(self, *folder_and_task: Any, **how: Any) -> None:
        """Write the result of a task into a folder; `progress=` is None in a worker."""


def fingerprint(*parts: Any) -> str:
    """Return a hash of the input of a task: 32 hexadecimal digits, the same in every process.

    If the `repr` of an object has a memory address, every call returns another hash.
    """
    found = hashlib.sha256(__version__.encode())
    for each in parts:
        if isinstance(each, np.ndarray):
            found.update(f"{each.dtype} {each.shape} ".encode())
            found.update(np.ascontiguousarray(each).tobytes())
            continue
        text = repr(each)
        found.update(f"{len(text)} {text} ".encode("utf-8", "surrogatepass"))
        if " at 0x" in text:
            found.update(os.urandom(16))
    return found.hexdigest()[:32]


def resume_folder(path: Any) -> str | None:
    if path is None:
        return None
    folder = made_folder(path, "resume").resolve()
    about = folder / "README"
    try:
        if not about.exists():
            about.write_text(_ABOUT)
    except OSError as error:
        raise InputError(
            f"the folder resume= cannot be written: {error.strerror}", path=name_of(folder)
        ) from None
    clear_dead(folder, _UNFINISHED, after=_GRACE)
    return str(folder)


def ranges(scan: Any, count: int, *, each: int = 4, most: int | None = None) -> list[range]:
    """Return consecutive ranges that cover 0 to `count`; each range is for one task of a worker.

    If `scan.resume` is None, there are `each` ranges for each worker. Otherwise, there are `PARTS` ranges, or
    `most` if `most` is smaller. Then a later call with another number of workers makes the same tasks, and
    can use their results. But if there are more workers than that, there is one range for each worker.
    """
    if scan.resume is None:
        return cut(count, scan.executor, each)
    workers = 1 if scan.executor is None else len(cut(count, scan.executor, 1))
    parts = max(1, min(count, max(workers, PARTS if most is None else min(PARTS, most))))
    return [range(count * at // parts, count * (at + 1) // parts) for at in range(parts)]


def pieces_in_parts(scan: Any, *, each: int = 4, most: int | None = None) -> list[tuple[Any, ...]]:
    pieces = scan.pieces
    return [tuple(pieces[at] for at in some) for some in ranges(scan, len(pieces), each=each, most=most)]


def parts_of(
    scan: Any, job: Job, tasks: Sequence[tuple[Any, ...]], spill: Spill, progress: Progress | None = None
) -> list[str]:
    """Return the folders with the results of all tasks of `job`, in the order of the tasks.

    Results that are already in the folder `scan.resume` are used, and count as completed in `progress`. The
    scan's executor computes the others; if there is no executor, this process does. Without `resume`, results
    are written to the folder of `spill`.
    """
    keep = scan.resume is not None
    folder = scan.resume if keep else str(spill.folder)
    names = [job.name(*task) for task in tasks]
    rest = [at for at, name in enumerate(names) if not (keep and _is_finished(folder, name))]
    found = len(tasks) - len(rest)
    if found:
        scan.resumed["found"] += found
        if progress is not None:
            progress(found / len(tasks))
    progress = part(progress, found / max(1, len(tasks)), 1)
    if rest and scan.executor is not None:
        shared = Shared(job, lambda: spill.folder)
        to_make = [(shared, tasks[at], Path(folder, names[at]), keep) for at in rest]
        run_tasks(scan.executor, _store_in_worker, to_make, progress=progress)
    else:
        for done, at in enumerate(rest, start=1):
            further = part(progress, (done - 1) / len(rest), done / len(rest))
            _store(job, tasks[at], Path(folder, names[at]), keep, further)
            if progress is not None:
                progress(done / len(rest))
    if keep:
        scan.resumed["made"] += len(rest)
    return [str(Path(folder) / name) for name in names]


def _store_in_worker(shared: Shared, task: tuple[Any, ...], target: Path, keep: bool) -> None:
    _store(shared.value(), task, target, keep, None)


def _store(job: Job, task: tuple[Any, ...], target: Path, keep: bool, progress: Progress | None) -> None:
    """Make the folder of a task's results unless it exists; with `keep`, add a file with hashes of its files.

    `job` writes into a temporary folder, which is then renamed. So a folder with the final name is complete,
    even if several processes make the same folder.
    """
    if target.exists():
        return
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=_UNFINISHED))
    try:
        with (temporary / "lock").open("w") as lock:
            is_locked = locked(lock)
            job.make(temporary, *task, progress=progress)
            if keep:
                (temporary / _SEAL).write_text(json.dumps(_sizes_and_hashes(temporary)))
            if is_locked:
                temporary.rename(target)
        if not is_locked:
            # Windows has no locks, and does not rename a folder with an open file. Without locks, no other
            # process removes the folder.
            temporary.rename(target)
    except OSError:
        # If the folder exists now, another process made it from the same input, with the same result.
        if not target.exists():
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _sizes_and_hashes(folder: Path) -> dict[str, list[Any]]:
    found = {}
    for path in sorted(folder.iterdir()):
        if path.name not in ("lock", _SEAL):
            with path.open("rb") as stream:
                found[path.name] = [path.stat().st_size, hashlib.file_digest(stream, "sha256").hexdigest()]
    return found


def _is_finished(folder: str, name: str) -> bool:
    """Return True if a folder has the results of a task; damaged results are removed with a warning."""
    target = Path(folder) / name
    if not target.exists():
        return False
    if _is_whole(target):
        return True
    with (Path(folder) / "lock").open("a") as stream:
        # Wait until no other process runs this block, if the system has locks.
        locked(stream, wait=True)
        # Another process may have replaced the folder.
        if target.exists() and not _is_whole(target):
            away = Path(tempfile.mkdtemp(dir=folder, prefix=_UNFINISHED))
            target.rename(away / name)
            shutil.rmtree(away, ignore_errors=True)
            warn(f"{name_of(folder)}: the finished part {name} is damaged, so it is computed again")
    return target.exists()


def _is_whole(folder: Path) -> bool:
    try:
        sealed = json.loads((folder / _SEAL).read_text())
        return bool(sealed == _sizes_and_hashes(folder))
    except (OSError, ValueError):
        return False
