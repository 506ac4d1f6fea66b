"""Resample comparisons in files, or split them into folds, by people or by whole files."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress, part
from ordhc._workers import cut, run_tasks
from ordhc.agglomerate.engine import engine_linkage
from ordhc.clustering.plan import Plan
from ordhc.clustering.scanned import check_additive, fit_scan
from ordhc.comparison.comparisons import Comparisons, Triplets, fitting_comparisons
from ordhc.comparison.rows import changed
from ordhc.errors import InputError
from ordhc.evaluate.ceiling import ORDERS
from ordhc.evaluate.folds import Result, Sums
from ordhc.evaluate.resampling import are_sums
from ordhc.io.parts import fingerprint, parts_of, ranges
from ordhc.io.portions import Portion, rows_of_units
from ordhc.io.scan import Scan
from ordhc.io.spill import Spill
from ordhc.metrics.streamed import best_of, revenue_of, satisfied_of
from ordhc.plugins.registry import Named
from ordhc.tree.dendrogram import Dendrogram, engine_tree, from_engine

#: Maximum number of parts that are stored for `ordhc.scan(..., resume=...)`, if several resamples are made in
#: one pass over the files.
_PARTS = 8


@dataclass(frozen=True)
class ScannedResampling:
    """Makes trees and scores of resamples of comparisons in files; can be sent to worker processes."""

    scan: Scan
    asked: Mapping[str, Any]
    tree: Dendrogram
    unit: str
    sizes: NDArray[np.int64]
    seed: int
    initial_clusters: Any
    plan: Plan | None = field(default=None, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # Plans contain functions, which cannot be sent to workers: make them anew from the arguments.
        return {**self.__dict__, "plan": None}

    def all(
        self, n_resamples: int, executor: Executor | None, progress: Progress | None
    ) -> tuple[list[_ordhc.Tree], NDArray[np.float64]]:
        if self.scan.resume is not None:
            found = self._in_parts(n_resamples, executor, progress)
        elif executor is None:
            found = [self.some(range(n_resamples), progress)]
        else:
            # Remove the executor from the scan: a task that waits for tasks of the same executor can wait
            # forever.
            work = replace(self, scan=self.scan.without_executor())
            tasks = [(work, which) for which in cut(n_resamples, executor)]
            found = run_tasks(executor, ScannedResampling.some, tasks, progress=progress)
        trees = [engine_tree(tree) for some, _ in found for tree in some]
        return trees, np.concatenate([scores for _, scores in found])

    def _in_parts(self, n_resamples: int, executor: Executor | None, progress: Progress | None) -> list[Any]:
        scan = self.scan.without_executor()
        scan.executor = executor
        # Each part takes two passes over the files.
        most = _PARTS if are_sums(self._plan(), self.initial_clusters) else None
        tasks = [(which,) for which in ranges(scan, n_resamples, most=most)]
        with Spill(scan.spill) as spill:
            return _Stored(self, ScannedResampling.some, "trees").results(scan, tasks, spill, progress)

    def _plan(self) -> Plan:
        return self.plan or Plan.of(self.scan, **self.asked)

    def some(
        self, which: range, progress: Progress | None = None
    ) -> tuple[list[Dendrogram], NDArray[np.float64]]:
        """Compute the resamples with the numbers `which`.

        Each pass over the files makes as many resamples as fit into memory.
        """
        plan = self._plan()
        n = self.scan.n_leaves
        in_one_pass = are_sums(plan, self.initial_clusters)
        together = max(1, self.scan.memory // max(1, 4 * n * (n - 1))) if in_one_pass else 1
        trees: list[Dendrogram] = []
        scores = np.zeros((len(which), 3))
        for start in range(0, len(which), together):
            some = which[start : start + together]
            times = np.stack([self.times(index) for index in some])
            rows = slice(start, start + len(some))
            tree_progress = part(progress, start / len(which), (start + len(some)) / len(which))
            if in_one_pass:
                made, scores[rows] = self._tallied(plan, times, tree_progress)
            else:
                made, scores[rows] = self._fitted(plan, times[0], tree_progress)
            trees += made
        if progress is not None:
            progress(1.0)
        return trees, scores

    def facts(self, which: range) -> tuple[Any, ...]:
        """Return all settings that determine the resamples with the numbers `which`."""
        plan = Plan.of(self.scan, **self.asked)
        initial = None if self.initial_clusters is None else np.asarray(self.initial_clusters)
        about = (self.unit, self.seed, plan.settings, plan.accepts, which)
        return "resamples", self.tree.merges, self.tree.heights, initial, *about

    def times(self, index: int) -> NDArray[np.uint32]:
        return _ordhc.draw_times(len(self.sizes), None, self.seed, index).astype(np.uint32)

    def _tallied(
        self, plan: Plan, times: NDArray[np.uint32], progress: Progress | None
    ) -> tuple[list[Dendrogram], NDArray[np.float64]]:
        """Make resamples in one pass over all rows; score the rows that were not drawn in a second pass."""
        n = self.scan.n_leaves
        tallies = _ordhc.Tallies(n, times)
        for block in self.scan.blocks(progress=part(progress, 0, 0.5)):
            data = block.data
            tallies.add(data.rows, data.weights, block.units(self.unit), engine_tree(self.tree))
        scores = np.column_stack([tallies.scores(), np.zeros(len(times))])
        rule = engine_linkage(plan.linkage, plan.linkage_settings, lambda: np.zeros((0, 0)))
        trees = tallies.trees(rule, None)
        rest = np.zeros((len(times), 3))
        for block in self.scan.blocks(progress=part(progress, 0.5, 1)):
            data = block.data
            _ordhc.add_rest(data.rows, data.weights, n, block.units(self.unit), times, trees, rest)
        scores[:, 2] = [share_of(sums) for sums in rest]
        return [from_engine(tree) for tree in trees], scores

    def _fitted(
        self, plan: Plan, times: NDArray[np.uint32], progress: Progress | None
    ) -> tuple[list[Dendrogram], NDArray[np.float64]]:
        drawn = Portion(self.scan, self.unit, times, int(times @ self.sizes))
        left = Portion(
            self.scan, self.unit, (times == 0).astype(np.uint32), int(self.sizes[times == 0].sum())
        )
        fitting, *scoring = _fit_and_scores(progress)
        tree, _ = fit_scan(plan, drawn, initial_clusters=self.initial_clusters, progress=fitting)
        revenue = float(revenue_of(self.tree, drawn, scoring[0]))
        satisfied = share_of(satisfied_of(self.tree, drawn, scoring[1]))
        held_out = share_of(satisfied_of(tree, left, scoring[2]))
        return [tree.replace(names=None)], np.array([[revenue, satisfied, held_out]])


def _fit_and_scores(progress: Progress | None) -> list[Progress | None]:
    return [part(progress, 0, 0.7), *(part(progress, at / 10, (at + 1) / 10) for at in (7, 8, 9))]


@dataclass(frozen=True)
class _Stored:
    """Writes the results of each task to a file; a later run with `resume` reads the file instead."""

    work: ScannedResampling | ScannedFold
    compute: Callable[..., Any]
    file: str

    @cached_property
    def _rows(self) -> tuple[Any, ...]:
        return self.work.scan.key(self.work.scan.pieces)

    def name(self, *task: Any) -> str:
        return fingerprint(*self.work.facts(*task), self._rows)

    def make(self, folder: Path, *task: Any, progress: Progress | None = None) -> None:
        results = self.compute(self.work, *task, progress)
        (folder / self.file).write_bytes(pickle.dumps(results, protocol=5))

    def results(
        self, scan: Scan, tasks: Sequence[tuple[Any, ...]], spill: Spill, progress: Progress | None
    ) -> list[Any]:
        job = replace(self, work=replace(self.work, scan=self.work.scan.without_executor(resume=False)))
        folders = parts_of(scan, job, tasks, spill, progress)
        return [pickle.loads((Path(folder) / self.file).read_bytes()) for folder in folders]


@dataclass(frozen=True)
class ScannedFold:
    """The folds of comparisons in files, held out in turn. Each fold has whole units (people or files)."""

    scan: Scan
    unit: str
    parts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(
        cls, scan: Scan, unit: str, count: int, folds: int, seed: int, progress: Progress | None = None
    ) -> ScannedFold:
        if count < folds:
            what = "people" if unit == "group" else "files"
            raise InputError(f"there are {count} {what} for {folds} folds: give fewer folds")
        parts = np.random.default_rng(seed).permutation(count) % folds
        return cls(scan, unit, parts, rows_of_units(scan, unit, count, progress))

    def left_out(self) -> list[tuple[int, ...]]:
        """Return each fold alone; leaving out two folds would take more passes over the files."""
        return [(fold,) for fold in range(int(self.parts.max()) + 1)]

    def scores(
        self, without: tuple[int, ...], method: Named, progress: Progress | None = None
    ) -> tuple[NDArray[np.float64], float, float]:
        """Make a tree without a fold; return its scores on this fold.

        The result has three items: the scores, the seconds of the fit, and the expected share of satisfied
        answers for shuffled leaves. The scores are a (2, 2) array: the satisfied weight and its maximum; the
        revenue and its maximum.
        """
        held = self.parts == without[0]
        seen, unseen = (
            Portion(self.scan, self.unit, which.astype(np.uint32), int(self.sizes[which].sum()))
            for which in (~held, held)
        )
        plan = Plan.of(self.scan, method=method)
        start = time.perf_counter()
        fitting, *scoring = _fit_and_scores(progress)
        tree, _ = fit_scan(plan, seen, progress=fitting)
        seconds = time.perf_counter() - start
        best = best_of(unseen, scoring[0])
        if not best:
            raise InputError(
                f"fold {without[0]} of {len(self.left_out())} has no answers of positive weight: give fewer "
                "folds"
            )
        satisfied = satisfied_of(tree, unseen, scoring[1])
        revenue = revenue_of(tree, unseen, scoring[2])
        sums = np.array([[satisfied[0], sum(satisfied)], [revenue, best]], dtype=np.float64)
        return sums, seconds, chance_of_scan(tree, unseen)

    def in_parts(
        self,
        tasks: Sequence[tuple[tuple[int, ...], Named]],
        executor: Executor | None,
        spill: Spill,
        progress: Progress | None,
    ) -> list[Any]:
        scan = self.scan.without_executor()
        scan.executor = executor
        return _Stored(self, ScannedFold.scores, "scores").results(scan, tasks, spill, progress)

    def facts(self, without: tuple[int, ...], method: Named) -> tuple[Any, ...]:
        """Return all settings that determine the scores of a task."""
        plan = Plan.of(self.scan, method=method)
        return "fold", self.parts, self.unit, without, plan.settings, plan.accepts

    def result(
        self, left: Sequence[tuple[int, ...]], found: Sequence[tuple[NDArray[np.float64], float, float]]
    ) -> Result:
        sums = np.stack([of_part for of_part, _, _ in found])
        nothing = np.full((len(left), len(left)), np.nan)
        satisfied, revenue = (
            Sums(np.arange(len(left)), sums[:, at, 1], sums[:, at, 0], nothing) for at in range(2)
        )
        seconds = float(np.mean([seconds for _, seconds, _ in found]))
        chance = float(np.mean([chance for _, _, chance in found]))
        return Result(satisfied, revenue, seconds, chance)


def share_of(sums: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the share of comparisons that a tree satisfies: agreed / (agreed + disagreed + undecided).

    `sums` has these three sums of weights. The result is NaN if all are 0.
    """
    total = sum(sums)
    return float(sums[0] / total) if total else float("nan")


class _Shuffled(Scan):
    def __init__(self, scan: Scan, order: NDArray[np.int64], accepts: tuple[str, ...]) -> None:
        self.__dict__.update(scan.__dict__)
        self._plain, self._order, self._accepts = scan, order, accepts

    @property
    def survey(self) -> Any:
        return self._plain.survey

    def __iter__(self) -> Iterator[Comparisons]:
        for block in self._plain:
            found = fitting_comparisons(block, self._accepts, "the chance")
            yield changed(found, rows=self._order[found.rows])


def chance_of_scan(
    tree: Dendrogram, scan: Scan, accepts: tuple[str, ...] = ("triplets", "quadruplets")
) -> float:
    """Return the mean share of comparisons in files that the tree satisfies if its leaves are shuffled.

    `accepts` are the types of comparisons for which the share is computed. Other types are converted.
    """
    if scan.kind is Triplets and "triplets" in accepts:
        return 1 / 3
    random = np.random.default_rng(0)
    orders = [random.permutation(scan.n_leaves) for _ in range(ORDERS)]
    return float(np.mean([share_of(satisfied_of(tree, _Shuffled(scan, order, accepts))) for order in orders]))


def checked_plan(scan: Scan, asked: Mapping[str, Any]) -> Plan:
    plan = Plan.of(scan, **asked)
    check_additive(plan)
    return plan
