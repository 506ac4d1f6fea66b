"""Tasks for any executor: results in the order of the tasks, whoever does them and however often."""

import hashlib
import os
import pickle
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.errors import InputError, warn

__all__ = ["Shared", "as_executor", "cut", "digest", "limited_threads", "run_tasks", "stored", "worth"]

#: Errors of engines that lost a worker, by name: these packages need not be there.
_LOST = {
    "KilledWorker",
    "CommClosedError",
    "TerminatedWorkerError",
    "FutureCancelledError",
    "WorkerStartTimeoutError",
}
#: How often a task is given to somebody else before it is done here.
_TRIES = 8
#: Work for which an executor saves fewer seconds is done here.
AT_HOME = 0.3
#: Values that are larger go to workers in a file.
_INLINE = 1 << 20


def as_executor(executor: Any) -> Executor | None:
    """An executor, or None.

    Raises
    ------
    InputError
        What is no `concurrent.futures.Executor`.
    """
    if executor is None or isinstance(executor, Executor):
        return executor
    hint = "; client.get_executor() gives one" if hasattr(executor, "get_executor") else ""
    raise InputError(f"executor is {_checks.quoted(executor)}, no concurrent.futures.Executor{hint}")


def worth(executor: Executor | None, seconds: float, beside: float = 0.0) -> Executor | None:
    """Return the executor, or None if the work takes less time here than giving it to workers.

    `seconds` is the estimated time of the work on one core of this process, `beside` what two workers take
    for meeting, in addition to half of the work.
    """
    if executor is None or seconds - 2 * beside >= AT_HOME:
        return executor
    warn(f"the work takes about {seconds:.1g} s, less than giving it to workers: it is done in this process")
    return None


def digest(*parts: Any) -> str:
    """A hash of a task's input."""
    return hashlib.sha256(pickle.dumps(parts, protocol=5)).hexdigest()[:32]


def cut(count: int, executor: Executor, each: int = 4) -> list[range]:
    """0..count in parts, `each` of them for a worker; the same result comes of any cut."""
    parts = max(1, min(count, each * (_n_workers(executor) or 2)))
    return [range(count * at // parts, count * (at + 1) // parts) for at in range(parts)]


def _n_workers(executor: Executor) -> int | None:
    """How many tasks are done at the same time, if that is known."""
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
    progress: Progress | bool | None = None,
) -> list[Any]:
    """What `function` gives for each of the arguments, in their order.

    Progress counts tasks. A task whose worker was lost is given to another one; where no worker is left it is
    done here. Whatever is raised cancels what has not begun.

    Raises
    ------
    InputError
        An executor that was shut down, what can't be pickled.
    """
    progress = _checks.callback("progress", progress)
    threads = _threads_each(executor)
    results: dict[int, Any] = {}
    tries = [0] * len(tasks)
    pending: dict[Future[Any], int] = {}
    here: list[int] = []

    def submit(at: int) -> None:
        tries[at] += 1
        try:
            pending[executor.submit(_task, function, tasks[at], threads)] = at
        except BrokenExecutor:
            here.append(at)
        except RuntimeError as error:
            if "shutdown" not in str(error) and "closed" not in str(error).lower():
                raise
            raise InputError(f"the executor takes no tasks: {error}") from None

    try:
        for at in range(len(tasks)):
            submit(at)
        while pending:
            done, _ = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in done:
                at = pending.pop(future)
                error = _error_of(future)
                if error is None:
                    results[at] = future.result()
                elif not _is_lost(error):
                    raise error
                elif tries[at] < _TRIES:
                    submit(at)
                else:
                    here.append(at)
            if progress is not None:
                progress(len(results) / len(tasks))
        if here:
            warn(f"the executor lost its workers: {len(here)} of {len(tasks)} tasks are done in this process")
        for at in here:
            results[at] = function(*tasks[at])
            if progress is not None:
                progress(len(results) / len(tasks))
    except BaseException:
        for future in pending:
            future.cancel()
        raise
    return [results[at] for at in range(len(tasks))]


def _error_of(future: Future[Any]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError as error:
        return error


def _is_lost(error: BaseException) -> bool:
    lost = isinstance(error, BrokenExecutor | CancelledError)
    return lost or bool({kind.__name__ for kind in type(error).__mro__} & _LOST)


def _threads_each(executor: Executor) -> int:
    """The engine's threads in each worker, so that all together are as many as cores; 1 if nobody knows."""
    count = getattr(executor, "_max_workers", None)
    return max(1, (os.cpu_count() or 1) // int(count)) if count else 1


def _task(function: Callable[..., Any], arguments: tuple[Any, ...], threads: int) -> Any:
    with limited_threads(threads):
        return function(*arguments)


_limits = threading.Lock()
_inside = 0
_before: int | None = None


@contextmanager
def limited_threads(threads: int) -> Iterator[None]:
    """Let the engine and, with threadpoolctl, linear algebra make at most so many threads in the block."""
    global _inside, _before
    with ExitStack() as stack:
        with _limits:
            if _inside == 0:
                _before = _ordhc.limit_threads(threads)
            _inside += 1
        stack.callback(_leave)
        try:
            from threadpoolctl import threadpool_limits
        except ImportError:
            pass
        else:
            stack.enter_context(threadpool_limits(threads))
        yield


def _leave() -> None:
    global _inside
    with _limits:
        _inside -= 1
        if _inside == 0:
            _ordhc.limit_threads(_before)


class Shared:
    """A value that all tasks use: small ones go with each task, large ones are written to a file once."""

    def __init__(self, value: Any, folder: Callable[[], Path]) -> None:
        data = pickle.dumps(value, protocol=5)
        self.name = hashlib.sha256(data).hexdigest()[:32]
        self.data: bytes | None = data
        self.path: str | None = None
        if len(data) > _INLINE:
            self.path = str(folder() / f"shared-{self.name}")
            _write(Path(self.path), data)
            self.data = None

    def value(self) -> Any:
        """The value; a worker reads it once."""
        return _loaded(self.name, self.path, self.data)


@lru_cache(maxsize=2)
def _loaded(name: str, path: str | None, data: bytes | None) -> Any:  # noqa: ARG001 (one of each name)
    if path is not None:
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError:
            raise InputError(
                f"the worker has no file {path}: spill must be a folder that all workers see"
            ) from None
    assert data is not None
    return pickle.loads(data)


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; who is second writes the same."""
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


def stored(folder: str, name: str, make: Callable[[Path], None]) -> str:
    """A folder of results named by its input: whoever is first makes and renames it, so it counts once."""
    target = Path(folder) / name
    if not target.exists():
        temporary = Path(tempfile.mkdtemp(dir=folder, prefix="part-"))
        make(temporary)
        try:
            temporary.rename(target)
        except OSError:
            # Somebody else was first, with the same result.
            if not target.exists():
                raise
    return str(target)
