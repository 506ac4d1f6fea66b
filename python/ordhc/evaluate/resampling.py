"""Make trees of resampled answers, in this process on all cores or in an executor."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc._workers import Shared, cut, run_tasks
from ordhc.agglomerate.engine import engine_linkage
from ordhc.clustering.cluster import fit
from ordhc.clustering.mixing import one_of_many_trees
from ordhc.clustering.plan import Plan
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.rows import changed
from ordhc.evaluate.ceiling import satisfied_share
from ordhc.evaluate.left_scores import LeftOutScores
from ordhc.io.spill import Spill
from ordhc.similarities.similarity import is_adds
from ordhc.tree.dendrogram import Dendrogram, engine_tree, from_engine

_Resample = tuple[_ordhc.Tree, tuple[float, float, float]]
#: The trees of n resamples, and their (n, 3) scores: revenue, satisfied, held out.
Resamples = tuple[list[_ordhc.Tree], NDArray[np.float64]]


class _StoppedError(Exception):
    """A call of `bootstrap` was stopped while a thread computed a resample."""


class _Watch:
    """The progress of resamples on several threads; only the caller's thread reports it."""

    def __init__(self, n_resamples: int, progress: Progress | None) -> None:
        self.shares = np.zeros(n_resamples)
        self.progress = progress
        self.caller = threading.get_ident()
        self.stopped = threading.Event()

    def report(self, index: int, done: float) -> None:
        if self.stopped.is_set():
            raise _StoppedError
        self.shares[index] = done
        if self.progress is not None and threading.get_ident() == self.caller:
            self.progress(float(self.shares.mean()))

    def wait(self, future: Future[_Resample]) -> _Resample:
        while not wait([future], timeout=0.1).done:
            if self.progress is not None:
                self.progress(float(self.shares.mean()))
        return future.result()


@dataclass(frozen=True)
class Resampling:
    """Makes trees and scores of resamples. A resample depends only on its number and the seed."""

    #: A `Plan`; None while the object is sent to workers, because each worker makes its own.
    plan: Any
    data: Triplets | Quadruplets
    tree: Dendrogram
    units: NDArray[np.int64]
    shares: NDArray[np.float64] | None
    seed: int
    initial_clusters: ArrayLike | None

    @property
    def is_additive(self) -> bool:
        return are_sums(self.plan, self.initial_clusters)

    def here(self, n_resamples: int, progress: Progress | None) -> Resamples:
        return (self.additive if self.is_additive else self.one_by_one)(range(n_resamples), progress)

    @cached_property
    def judging(self) -> LeftOutScores:
        return LeftOutScores(self.data, self.units, self.shares, self.seed)

    def shared(self, asked: Mapping[str, Any], folder: Spill) -> Shared:
        state = replace(self, plan=None, tree=self.tree.replace(names=None))
        return Shared((state, dict(asked)), lambda: folder.folder)

    def elsewhere(
        self,
        n_resamples: int,
        crew: tuple[Executor, Spill, Shared],
        meanwhile: Callable[[], Any],
        progress: Progress | None,
    ) -> Resamples:
        """Compute all resamples in an executor; this process calls `meanwhile` while workers compute."""
        executor, _, shared = crew
        tasks = [(shared, part) for part in cut(n_resamples, executor)]
        found = run_tasks(executor, _some, tasks, meanwhile=meanwhile, progress=progress)
        trees = [engine_tree(tree) for some, _ in found for tree in some]
        return trees, np.concatenate([scores for _, scores in found])

    def additive(self, which: range, progress: Progress | None) -> Resamples:
        rule = engine_linkage(self.plan.linkage, self.plan.linkage_settings, lambda: np.zeros((0, 0)))
        return _ordhc.bootstrap_adds(
            self.data.rows,
            self.data.weights,
            rule,
            engine_tree(self.tree),
            self.units,
            self.shares,
            self.seed,
            which.start,
            len(which),
            progress,
        )

    def one_by_one(self, which: range, progress: Progress | None) -> Resamples:
        watch = _Watch(len(which), progress)
        futures: list[Future[_Resample]] = []
        found: list[_Resample] = []
        with ThreadPoolExecutor(_ordhc.n_threads()) as pool:
            try:
                try:
                    for at, index in enumerate(which):
                        futures.append(pool.submit(self.resample, at, index, watch))
                except RuntimeError:
                    # No further thread can be started: compute here what no thread has begun.
                    for future in futures:
                        future.cancel()
                for at, index in enumerate(which):
                    if at < len(futures) and not futures[at].cancelled():
                        found.append(watch.wait(futures[at]))
                    else:
                        found.append(self.resample(at, index, watch))
                    watch.report(at, 1.0)
            except BaseException:
                # Only the main thread receives signals such as Ctrl-C; other threads stop by this event.
                watch.stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return _joined(found)

    def one_after_the_other(self, which: range) -> Resamples:
        watch = _Watch(len(which), None)
        return _joined([self.resample(at, number, watch) for at, number in enumerate(which)])

    def resample(self, at: int, index: int, watch: _Watch) -> _Resample:
        go_on = partial(watch.report, at)
        go_on(0.0)
        times = _ordhc.draw_times(len(self.data), self.units, self.seed, index)
        places, left = np.repeat(np.arange(len(self.data)), times), np.flatnonzero(times == 0)
        drawn = self.data[places]
        fitted = drawn
        if self.plan.linkage.name == "posterior-al" or self.plan.may_have_lengths:
            # Numbers of draws become weights, because repeated rows would be wrong: the posterior would treat
            # equal answers as repeats without new information, and the fit of lengths of leaves would treat
            # rows with the same answer number as one answer.
            kept = np.flatnonzero(times)
            weights = times[kept] * (1.0 if self.data.weights is None else self.data.weights[kept])
            fitted = changed(self.data[kept], weights=weights)
        with one_of_many_trees():
            tree, _ = fit(self.plan, fitted, initial_clusters=self.initial_clusters, progress=go_on)
        revenue = float(_ordhc.revenue(engine_tree(self.tree), drawn.rows, drawn.weights))
        shares = [None if self.shares is None else self.shares[which] for which in (places, left)]
        satisfied = satisfied_share(self.tree, drawn, shares[0])
        held_out = satisfied_share(tree, self.data[left], shares[1])
        return engine_tree(tree), (revenue, satisfied, held_out)


def _joined(found: list[_Resample]) -> Resamples:
    return [tree for tree, _ in found], np.array([scores for _, scores in found]).reshape(-1, 3)


def are_sums(plan: Plan, initial_clusters: ArrayLike | None) -> bool:
    """Return True if Rust code can make a resample in one pass: draw answers, and add up similarities."""
    merge = plan.linkage
    return (
        plan.similarity is not None
        and is_adds(plan.similarity)
        and (merge.native is not None or merge.coefficients is not None)
        and not plan.may_have_lengths
        and plan.refine is None
        and initial_clusters is None
    )


def _some(shared: Shared, which: range) -> tuple[list[Dendrogram], NDArray[np.float64]]:
    state, asked = shared.value()
    work = replace(state, plan=Plan.of(state.data, **asked))
    trees, scores = work.additive(which, None) if work.is_additive else work.one_after_the_other(which)
    return [from_engine(tree) for tree in trees], scores
