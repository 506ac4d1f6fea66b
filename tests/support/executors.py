"""Executors that do what executors may do: anything but the tasks in order, once."""

from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.pool import ThreadPool

import pytest


class Backwards(Executor):
    """Does the last task first, when all are there."""

    def __init__(self):
        self.tasks = []

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        self.tasks.append((future, function, args, kwargs))
        if not hasattr(self, "timer"):
            import threading

            self.timer = threading.Timer(0.02, self._work)
            self.timer.start()
        return future

    def _work(self):
        del self.timer
        tasks, self.tasks = self.tasks, []
        for future, function, args, kwargs in reversed(tasks):
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function(*args, **kwargs))
                except BaseException as error:
                    future.set_exception(error)


class Refusing(Executor):
    """Fails when it gets a task."""

    def submit(self, function, /, *args, **kwargs):
        raise AssertionError(f"{function} was given to workers")


class Twice(ThreadPoolExecutor):
    """Does each task twice, as if the first result was lost."""

    def submit(self, function, /, *args, **kwargs):
        def again():
            function(*args, **kwargs)
            return function(*args, **kwargs)

        return super().submit(again)


class Losing(ThreadPoolExecutor):
    """Loses every third task after it was done."""

    count = 0

    def submit(self, function, /, *args, **kwargs):
        self.count += 1
        lost = self.count % 3 == 0

        def work():
            result = function(*args, **kwargs)
            if lost:
                raise BrokenExecutor("the worker was lost")
            return result

        return super().submit(work)


@contextmanager
def dask_cluster(n_workers) -> Iterator:
    """A client of a cluster of processes on this machine, one thread each."""
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(**settings, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def ray_pool() -> Iterator:
    """A pool of two actors of Ray on this machine."""
    ray = pytest.importorskip("ray")
    from ray.util.multiprocessing import Pool

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        with Pool(2) as pool:
            yield pool
    finally:
        ray.shutdown()


EXECUTORS = {
    "threads": lambda: ThreadPoolExecutor(3),
    "processes": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
    "loky": lambda: pytest.importorskip("loky").ProcessPoolExecutor(2),
    "backwards": Backwards,
    "twice": Twice,
    "losing": Losing,
}

#: What the argument `executor` takes besides executors.
POOLS = {
    "pool": lambda: get_context("spawn").Pool(2),
    "thread pool": lambda: ThreadPool(3),
    "joblib": lambda: pytest.importorskip("joblib").Parallel(n_jobs=2),
    "joblib threads": lambda: pytest.importorskip("joblib").Parallel(n_jobs=3, backend="threading"),
}
