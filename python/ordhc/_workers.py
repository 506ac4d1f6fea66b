"""Run tasks in an executor, repeat tasks of lost workers, and return results in the order of the tasks."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from ordhc import _checks, _ordhc
from ordhc._pools import ACCEPTED, executor_of_pool
from ordhc._progress import Progress, shows_progress
from ordhc.errors import InputError, warn

#: Names of exceptions of Dask, Joblib and Ray that mean a lost worker. The packages may not be installed.
_LOST = {
    "KilledWorker",
    "CommClosedError",
    "TerminatedWorkerError",
    "FutureCancelledError",
    "WorkerStartTimeoutError",
    "ActorDiedError",
    "RayActorError",
    "WorkerCrashedError",
}
#: The maximum number of times a task is submitted. After that, the task runs in this process.
_TRIES = 8
#: The number of seconds for which an error waits for the tasks that still run.
_GRACE = 10.0
#: Work that takes fewer seconds than this is done in this process, without the executor.
MIN_SECONDS = 0.3
#: The largest size in bytes of a pickled value that is sent with each task. Larger values go into a file.
_INLINE = 1 << 20


def as_executor(executor: Any) -> Executor | None:
    """Return the argument `executor` of a public function as an `Executor`, in an adapter if necessary.

    Raises
    ------
    InputError
        `executor` is not None, not an `Executor`, and not a pool of a known kind.
    """
    if executor is None or isinstance(executor, Executor):
        return executor
    found = executor_of_pool(executor)
    if found is None:
        raise InputError(f"executor is {_checks.quoted(executor)}; it must be {ACCEPTED}")
    return found


def worth(executor: Executor | None, seconds: float, combining: float = 0.0) -> Executor | None:
    """Return `executor`, or None with a warning if workers would not save enough time.

    Both times are in seconds: `seconds` is the estimated work on one core of this process, `combining` is the
    estimated time to combine the results of workers.
    """
    if executor is None or seconds - 2 * combining >= MIN_SECONDS:
        return executor
    warn(f"the work takes about {seconds:.1g} s, less than with workers: it is done in this process")
    return None


def cut(count: int, executor: Executor, each: int = 4) -> list[range]:
    """Return consecutive ranges that cover 0 to `count`: `each` ranges for each worker of the executor.

    The number of workers differs between machines, so results must not depend on the number of ranges.
    """
    parts = max(1, min(count, each * (_n_workers(executor) or 2)))
    return [range(count * at // parts, count * (at + 1) // parts) for at in range(parts)]


def _n_workers(executor: Executor) -> int | None:
    count = getattr(executor, "_max_workers", None)
    client = getattr(executor, "_client", None)
    if count is None and client is not None:
        count = sum(client.nthreads().values())
    return int(count) if count else None


@shows_progress("working")
def run_tasks(
    executor: Executor,
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    meanwhile: Callable[[], Any] | None = None,
    progress: Progress | bool | None = None,
) -> list[Any]:
    """Return the results of `function` for all tasks, in the order of the tasks.

    A task whose worker was lost is submitted again. If no worker is left, the task runs in this process. If
    a task raises an exception, all tasks that have not started are cancelled.

    `function` must be picklable; each task is a tuple of its arguments. This process calls `meanwhile` after
    all tasks were submitted. No other thread calls it, because a pool that forks would copy its locks.

    Raises
    ------
    InputError
        The executor was shut down.
    """
    progress = _checks.callback("progress", progress)
    threads = _threads_each(executor)
    results: dict[int, Any] = {}
    tries = [0] * len(tasks)
    pending: dict[Future[Any], int] = {}
    in_this_process: list[int] = []
    fail_lost_tasks = getattr(executor, "fail_lost_tasks", lambda: None)

    def submit(at: int) -> None:
        tries[at] += 1
        try:
            pending[executor.submit(_task, function, tasks[at], threads)] = at
        except BrokenExecutor:
            in_this_process.append(at)
        except RuntimeError as error:
            if "shutdown" not in str(error) and "closed" not in str(error).lower():
                raise
            raise InputError(f"the executor takes no tasks: {error}") from None

    try:
        for at in range(len(tasks)):
            submit(at)
        if meanwhile is not None:
            meanwhile()
        while pending:
            fail_lost_tasks()
            done, _ = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in done:
                at = pending.pop(future)
                error = _error_of(future)
                if isinstance(error, BrokenExecutor):
                    _let_shutdown_end(executor)
                if error is None:
                    results[at] = future.result()
                elif not _is_lost(error):
                    raise error
                elif tries[at] < _TRIES:
                    submit(at)
                else:
                    in_this_process.append(at)
            if progress is not None:
                progress(len(results) / len(tasks))
        if in_this_process:
            lost = f"{len(in_this_process)} of {len(tasks)} tasks"
            warn(f"the executor lost its workers: {lost} are computed in this process")
        for at in in_this_process:
            results[at] = function(*tasks[at])
            if progress is not None:
                progress(len(results) / len(tasks))
    except BaseException:
        # Tasks that still run write to folders that the caller removes.
        wait([future for future in pending if not future.cancel()], timeout=_GRACE)
        raise
    return [results[at] for at in range(len(tasks))]


def _let_shutdown_end(executor: Executor) -> None:
    """Close the queue of a broken `ProcessPoolExecutor`, because its `shutdown` could wait forever.

    Before Python 3.11.5, a thread that writes to the dead processes keeps `shutdown` waiting (CPython issue
    94777).
    """
    if sys.version_info < (3, 11, 5) and isinstance(executor, ProcessPoolExecutor):
        # `_call_queue` is None after `shutdown`.
        reader = getattr(getattr(executor, "_call_queue", None), "_reader", None)
        if reader is not None:
            reader.close()


def _error_of(future: Future[Any]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError as error:
        return error


def _is_lost(error: BaseException) -> bool:
    lost = isinstance(error, BrokenExecutor | CancelledError)
    return lost or bool({kind.__name__ for kind in type(error).__mro__} & _LOST)


def _threads_each(executor: Executor) -> int:
    count = getattr(executor, "_max_workers", None)
    return max(1, (os.cpu_count() or 1) // int(count)) if count else 1


def _task(function: Callable[..., Any], arguments: tuple[Any, ...], threads: int) -> Any:
    with limited_threads(threads):
        return function(*arguments)


_limits = threading.Lock()
_n_inside = 0
_before: int | None = None


@contextmanager
def limited_threads(threads: int) -> Iterator[None]:
    """Limit the Rust extension to `threads` threads during the block.

    If threadpoolctl is installed, the threads of linear algebra libraries are limited too.
    """
    global _n_inside, _before
    with ExitStack() as stack:
        with _limits:
            if _n_inside == 0:
                _before = _ordhc.limit_threads(threads)
            _n_inside += 1
        stack.callback(_leave)
        try:
            from threadpoolctl import threadpool_limits
        except ImportError:
            pass
        else:
            stack.enter_context(threadpool_limits(threads))
        yield


def _leave() -> None:
    global _n_inside
    with _limits:
        _n_inside -= 1
        if _n_inside == 0:
            _ordhc.limit_threads(_before)


class Secret:
    """A base class of values with passwords. Such values are sent with each task, never written to a file."""

    __slots__ = ()


class _Pickler(pickle.Pickler):
    """Pickles a value without the `Secret` objects in it, and collects these objects in `secrets`."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, protocol=5)
        self.secrets: list[Secret] = []
        self._index: dict[int, int] = {}

    def persistent_id(self, value: Any) -> int | None:
        if not isinstance(value, Secret):
            return None
        number = self._index.setdefault(id(value), len(self.secrets))
        if number == len(self.secrets):
            self.secrets.append(value)
        return number


class Shared:
    """A value that all tasks use: a small value is sent with each task, a large value is written to one file.

    `Secret` objects in the value are sent with each task in any case.

    Parameters
    ----------
    value
        The value, which must be picklable.
    folder
        A function that returns the folder for the file. All workers must be able to read the folder.
    """

    def __init__(self, value: Any, folder: Callable[[], Path]) -> None:
        stream = io.BytesIO()
        pickler = _Pickler(stream)
        pickler.dump(value)
        data = stream.getvalue()
        self.secrets = pickle.dumps(pickler.secrets, protocol=5)
        self.name = hashlib.sha256(data).hexdigest()[:32]
        self.data: bytes | None = data
        self.path: str | None = None
        if len(data) > _INLINE:
            self.path = str(folder() / f"shared-{self.name}")
            _write(Path(self.path), data)
            self.data = None

    def value(self) -> Any:
        return _loaded(self.name, self.path, self.data, self.secrets)


@lru_cache(maxsize=2)
def _loaded(name: str, path: str | None, data: bytes | None, secrets: bytes) -> Any:  # noqa: ARG001 (key of the cache)
    if path is not None:
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError:
            raise InputError(
                f"the worker cannot read the file {path}: spill must be a folder that all workers can read"
            ) from None
    assert data is not None
    unpickler = pickle.Unpickler(io.BytesIO(data))
    unpickler.persistent_load = pickle.loads(secrets).__getitem__  # type: ignore[method-assign]
    return unpickler.load()


def _write(path: Path, data: bytes) -> None:
    """Write a file atomically; an existing file is kept, because its name is a hash of its content."""
    if path.exists():
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix="part-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
