"""Work by executors: the same bits, whoever does it."""

import functools
import os
import pathlib
import signal
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import ordhc
from ordhc import _ordhc, _workers
from ordhc.errors import InputError
from support.executors import POOLS, Backwards, Losing, Twice, dask_cluster, ray_pool
from support.random_data import planted

pytest.importorskip("scipy")


def same(found, expected):
    for a, b in zip((found.tree, *found.trees), (expected.tree, *expected.trees), strict=True):
        assert a == b
        np.testing.assert_array_equal(a.merges, b.merges)
        np.testing.assert_array_equal(a.heights, b.heights)
        assert a.names == b.names
    np.testing.assert_array_equal(found.support, expected.support)
    for name, scores in expected.scores.items():
        np.testing.assert_array_equal(found.scores[name], scores)
    assert found.intervals == expected.intervals
    assert found.consensus == expected.consensus


def selected(selection):
    return [
        (c.method, c.revenue, c.revenue_high, c.satisfied, c.satisfied_low, c.behind, c.chance)
        for c in selection.candidates
    ]


# Processes take a second to start, so that tests share them.
@pytest.fixture(
    scope="module", params=["threads", "processes", "loky", "backwards", "twice", "losing", *POOLS]
)
def executor(request):
    if request.param == "threads":
        made = ThreadPoolExecutor(3)
    elif request.param == "processes":
        made = ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    elif request.param == "loky":
        made = pytest.importorskip("loky").ProcessPoolExecutor(2)
    else:
        made = {"backwards": Backwards, "twice": Twice, "losing": Losing, **POOLS}[request.param]()
    with made:
        yield made


DATA = planted(1)[0]


@functools.cache
def resampled(method):
    return ordhc.bootstrap(DATA, method=method, n_resamples=9, seed=4)


@pytest.mark.parametrize("method", ["adds3-al", "mulk3-al"])
def test_resamples_are_the_same(executor, method):
    told = []
    found = ordhc.bootstrap(
        DATA, method=method, n_resamples=9, seed=4, executor=executor, progress=told.append
    )
    same(found, resampled(method))
    assert told == sorted(told)
    assert told[-1] == 1


def test_answers_of_several_rows(executor):
    rows = np.random.default_rng(0).permuted(np.tile(np.arange(9), (100, 1)), axis=1)[:, :3]
    data = ordhc.Triplets.from_odd_one_out(rows, groups=np.arange(100) % 7)
    same(ordhc.bootstrap(data, n_resamples=5, executor=executor), ordhc.bootstrap(data, n_resamples=5))


METHODS = ["adds3-al", "adds3-al+spr", "mulk3-al"]


@functools.cache
def folded():
    return selected(ordhc.select(DATA, METHODS, folds=3))


def test_folds_are_the_same(executor):
    assert selected(ordhc.select(DATA, METHODS, folds=3, executor=executor)) == folded()


def test_large_inputs_go_in_a_file(executor, tmp_path, monkeypatch):
    monkeypatch.setattr(_workers, "_INLINE", 1000)
    written = []
    write = _workers._write
    monkeypatch.setattr(_workers, "_write", lambda *given: written.append(given) or write(*given))
    spill = tmp_path / "spill"
    spill.mkdir()
    found = ordhc.bootstrap(DATA, "adds3-al", n_resamples=9, seed=4, executor=executor, spill=spill)
    same(found, resampled("adds3-al"))
    assert {path.parent.parent for path, _ in written} == {spill}
    assert list(spill.iterdir()) == []


class Failing(ThreadPoolExecutor):
    """Does what it is given, and remembers what was cancelled."""

    def submit(self, function, /, *args, **kwargs):
        future = super().submit(function, *args, **kwargs)
        self.__dict__.setdefault("futures", []).append(future)
        return future


def test_an_error_cancels_the_rest():
    def work(at):
        if at == 1:
            raise InputError("no")
        time.sleep(0.02)

    with Failing(1) as executor:
        with pytest.raises(InputError, match="^no$"):
            _workers.run_tasks(executor, work, [(at,) for at in range(200)])
        assert sum(future.cancelled() for future in executor.futures) > 150


def test_work_meanwhile_is_done_by_the_caller_after_all_tasks_were_given():
    given = []

    class Counting(ThreadPoolExecutor):
        def submit(self, *work):
            given.append(work)
            return super().submit(*work)

    with Counting(2) as executor:
        seen = []
        found = _workers.run_tasks(
            executor, abs, [(-1,), (-2,)], meanwhile=lambda: seen.append((threading.get_ident(), len(given)))
        )
        assert found == [1, 2]
        assert seen == [(threading.get_ident(), 2)]
        with pytest.raises(ZeroDivisionError):
            _workers.run_tasks(executor, abs, [(-1,)], meanwhile=lambda: 1 / 0)


def test_ctrl_c_cancels():
    def work():
        time.sleep(0.05)

    with Failing(1) as executor:
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            _workers.run_tasks(executor, work, [()] * 200)
        timer.join()
        assert sum(future.cancelled() for future in executor.futures) > 150


def test_threads_do_not_multiply():
    limits = []

    def work(_):
        before = _ordhc.limit_threads(1)
        _ordhc.limit_threads(before)
        limits.append(before)
        time.sleep(0.01)

    with ThreadPoolExecutor(64) as executor:
        _workers.run_tasks(executor, work, [(at,) for at in range(64)])
    assert limits == [1] * 64
    assert _ordhc.limit_threads(None) is None


def test_what_is_no_executor():
    for function in (ordhc.bootstrap, ordhc.select):
        for wrong in (3, "loky", ordhc, object()):
            with pytest.raises(
                InputError, match="^executor is .*; it must be a concurrent.futures.Executor, a Dask"
            ):
                function(DATA, executor=wrong)
    with ThreadPoolExecutor(1) as executor:
        pass
    with pytest.raises(
        InputError, match="^the executor takes no tasks: cannot schedule new futures after shutdown"
    ):
        ordhc.select(DATA, ["adds3-al"], executor=executor)


@pytest.mark.parametrize("started", [dask_cluster, ray_pool])
def test_a_client_of_dask_and_a_pool_of_ray(started):
    with started(2) if started is dask_cluster else started() as workers:
        found = ordhc.bootstrap(DATA, method="mulk3-al", n_resamples=9, seed=4, executor=workers)
        selection = ordhc.select(DATA, METHODS, folds=3, executor=workers)
    same(found, resampled("mulk3-al"))
    assert selected(selection) == folded()


@pytest.mark.parametrize("kind", POOLS)
def test_pools_cancel_what_has_not_begun(kind, tmp_path):
    work = functools.partial(_fail_at_once, str(tmp_path))
    with POOLS[kind]() as pool:
        executor = _workers.as_executor(pool)
        assert _workers.as_executor(executor) is executor
        with pytest.raises(InputError, match="^no$"):
            _workers.run_tasks(executor, work, [(at,) for at in range(200)])
    assert len(list(tmp_path.iterdir())) < 100


def _fail_at_once(folder, at):
    (pathlib.Path(folder) / str(at)).touch()
    if at == 0:
        raise InputError("no")
    time.sleep(0.02)


def test_a_pool_that_is_closed():
    with POOLS["thread pool"]() as pool:
        pass
    with pytest.raises(InputError, match="^the executor takes no tasks: Pool not running$"):
        ordhc.select(DATA, ["adds3-al"], executor=pool)


def test_a_process_of_a_pool_that_is_killed():
    """A pool of multiprocessing never returns the task of a process that was killed."""
    with POOLS["pool"]() as pool:
        executor = _workers.as_executor(pool)
        victim = executor.submit(os.getpid).result()
        # In the middle of a task: a process that is killed while it waits for one blocks the whole pool.
        threading.Timer(0.22, lambda: os.kill(victim, signal.SIGKILL)).start()
        assert _workers.run_tasks(executor, _slow, [(at,) for at in range(12)]) == list(range(12))


def _slow(at):
    time.sleep(0.15)
    return at


class _SpoilsWorkers:
    """A function that can't be unpickled in the processes of a pool: each that gets it ends."""

    def __init__(self):
        self.parent = os.getpid()

    def __reduce__(self):
        return _end_elsewhere, (self.parent,)

    def __call__(self, at):
        return at


def _end_elsewhere(parent):
    if os.getpid() != parent:
        os._exit(1)
    return _SpoilsWorkers()


def test_a_pool_whose_processes_end_at_each_task():
    """Such a process can begin and end between two looks at the pool."""
    with POOLS["pool"]() as pool:
        executor = _workers.as_executor(pool)
        with pytest.warns(UserWarning, match="^the executor lost its workers: 20 of 20 tasks"):
            done = _workers.run_tasks(executor, _SpoilsWorkers(), [(at,) for at in range(20)])
    assert done == list(range(20))


def test_a_process_that_is_killed():
    data, _ = planted(3)
    expected = ordhc.bootstrap(data, method="mulk3-al", n_resamples=12)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        executor.submit(os.getpid).result()
        victim = next(iter(executor._processes))
        threading.Timer(0.05, lambda: os.kill(victim, signal.SIGKILL)).start()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*lost its workers")
            found = ordhc.bootstrap(data, method="mulk3-al", n_resamples=12, executor=executor)
    same(found, expected)


def test_restarts_are_the_same_whoever_makes_them():
    tree = ordhc.cluster(DATA, method="adds3-al")
    for objective in ("revenue", "satisfied"):
        found = []
        for made in (ThreadPoolExecutor(3), Backwards(), Losing(2), ThreadPoolExecutor(1)):
            with made as executor:
                found.append(ordhc.refine(tree, DATA, objective, restarts=3, seed=1, executor=executor))
        for other in found[1:]:
            np.testing.assert_array_equal(other.merges, found[0].merges)
            np.testing.assert_array_equal(other.heights, found[0].heights)
        metric = None if objective == "revenue" else "satisfied"
        once = ordhc.refine(tree, DATA, objective, restarts=0)
        assert float(ordhc.score(found[0], DATA, metric)) >= float(ordhc.score(once, DATA, metric))
