"""Adapters that make a `concurrent.futures.Executor` from a pool of multiprocessing, Ray, joblib or Dask."""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from ordhc.errors import InputError

#: The accepted values of the argument `executor`, for messages.
ACCEPTED = (
    "a concurrent.futures.Executor, a Dask Client, a joblib.Parallel, or a Pool of multiprocessing or "
    "ray.util.multiprocessing"
)
#: Seconds that a joblib executor waits for more tasks, so that its first round has one task for each worker.
_GATHER = 0.02
#: A pool takes no more tasks after processes died this number of times without a finished task in between.
_MAX_LOSSES = 4

_Work = tuple[Future[Any], Callable[..., Any], Sequence[Any], Mapping[str, Any]]


def executor_of_pool(pool: Any) -> Executor | None:
    """Return an executor that runs its tasks in the pool, or None if `pool` is not a known kind of pool."""
    if callable(getattr(pool, "get_executor", None)):
        made: Executor = pool.get_executor()
        return made
    if callable(getattr(pool, "apply_async", None)):
        return _PoolExecutor(pool)
    if type(pool).__module__.partition(".")[0] == "joblib" and callable(pool) and hasattr(pool, "n_jobs"):
        return _JoblibExecutor(pool)
    return None


class _QueuingExecutor(Executor):
    """An executor that keeps tasks until workers need them, because a task in a pool cannot be cancelled."""

    def __init__(self, max_workers: int | None) -> None:
        self._max_workers = max_workers
        self._waiting: deque[_Work] = deque()
        self._lock = threading.RLock()

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            self._waiting.append((future, function, args, kwargs))
        self._submit_waiting()
        return future

    def _submit_waiting(self) -> None:
        raise NotImplementedError

    def _next_waiting(self) -> _Work | None:
        with self._lock:
            while self._waiting:
                work = self._waiting.popleft()
                if work[0].set_running_or_notify_cancel():
                    return work
        return None


class _PoolExecutor(_QueuingExecutor):
    """An executor that runs tasks by `apply_async` of a pool, such as `multiprocessing.pool.Pool`."""

    def __init__(self, pool: Any) -> None:
        # Ray's pool has a list of actors instead of a number of processes.
        count = getattr(pool, "_processes", None) or len(getattr(pool, "_actor_pool", ()))
        super().__init__(int(count) or None)
        self._pool = pool
        self._submitted: set[Future[Any]] = set()
        self._workers = self._processes()
        self._newest = max((_number_of(worker) for worker in self._workers), default=0)
        self._n_losses = 0

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._n_losses >= _MAX_LOSSES:
            raise BrokenExecutor("the processes of the pool end as soon as they receive a task")
        return super().submit(function, *args, **kwargs)

    def _processes(self) -> set[Any]:
        workers = getattr(self._pool, "_pool", None)
        return {worker for worker in workers if _number_of(worker)} if isinstance(workers, list) else set()

    def _submit_waiting(self) -> None:
        with self._lock:
            # A second task for each worker keeps the worker busy while its last result is sent.
            while len(self._submitted) < 2 * (self._max_workers or 1 << 30) and (
                work := self._next_waiting()
            ):
                future, function, args, kwargs = work
                self._submitted.add(future)
                ends = (
                    self._when_ended(future.set_result, future),
                    self._when_ended(future.set_exception, future),
                )
                try:
                    self._pool.apply_async(function, args, kwargs, *ends)
                except Exception as error:
                    self._submitted.discard(future)
                    future.set_exception(InputError(f"the executor takes no tasks: {error}"))

    def _when_ended(self, store: Callable[[Any], None], future: Future[Any]) -> Callable[[Any], None]:
        def end(outcome: Any) -> None:
            with self._lock:
                # `fail_lost_tasks` may have failed this task already.
                if future not in self._submitted:
                    return
                self._submitted.discard(future)
                self._n_losses = 0
            store(outcome)
            self._submit_waiting()

        return end

    def fail_lost_tasks(self) -> None:
        """Fail all submitted tasks if a process of the pool died, because the pool itself never reports that.

        Python numbers the processes of a program. A gap in the numbers of the pool's processes means that a
        process began and died since the last call. Processes outside of the pool leave such gaps, too; the
        tasks then fail and are repeated.
        """
        with self._lock:
            begun = self._processes() - self._workers
            newest = max((_number_of(worker) for worker in begun), default=self._newest)
            unseen = newest - self._newest - len(begun)
            self._newest = newest
            self._workers |= begun
            ended = {worker for worker in self._workers if worker.exitcode is not None}
            self._workers -= ended
            if not unseen and all(worker.exitcode == 0 for worker in ended):
                return
            self._n_losses += 1
            lost, self._submitted = list(self._submitted), set()
            if self._n_losses >= _MAX_LOSSES:
                while work := self._next_waiting():
                    lost.append(work[0])
        for future in lost:
            future.set_exception(BrokenExecutor("a process of the pool died"))


def _number_of(worker: Any) -> int:
    identity: tuple[int, ...] = getattr(worker, "_identity", ())
    return identity[-1] if identity else 0


class _JoblibExecutor(_QueuingExecutor):
    """An executor that runs tasks in a `joblib.Parallel` of any backend, in rounds of one task per worker."""

    def __init__(self, parallel: Any) -> None:
        import joblib

        super().__init__(int(joblib.effective_n_jobs(parallel.n_jobs)))
        self._parallel = parallel
        self._thread: threading.Thread | None = None

    def _submit_waiting(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()

    def _work(self) -> None:
        from joblib import delayed

        time.sleep(_GATHER)
        while True:
            taken: list[_Work] = []
            with self._lock:
                while len(taken) < (self._max_workers or 1) and (work := self._next_waiting()):
                    taken.append(work)
                if not taken:
                    self._thread = None
                    return
            try:
                outcomes = self._parallel(delayed(_outcome)(*work[1:]) for work in taken)
                for (future, *_), (result, error) in zip(taken, outcomes, strict=True):
                    if error is None:
                        future.set_result(result)
                    else:
                        future.set_exception(error)
            except BaseException as error:
                for future, *_ in taken:
                    if not future.done():
                        future.set_exception(error)


def _outcome(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, Exception | None]:
    """Return the result or the exception of a call, because joblib stops all tasks if a call raises."""
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error
