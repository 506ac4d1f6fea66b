"""How sure a tree is: resampled answers, support, consensus, confidence intervals."""

import os
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _html, _ordhc
from ordhc._progress import Progress, part, shows_progress
from ordhc.agglomerate.engine import engine_linkage
from ordhc.clustering.cluster import fit
from ordhc.clustering.plan import Plan
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.units import coded, numbered, shares_of, units_of
from ordhc.errors import InputError, MissingExtraError
from ordhc.evaluate.ceiling import NoiseCeiling, chance_of, noise_ceiling, satisfied_share
from ordhc.plotting.drawing import svg
from ordhc.similarities.comparisons import adds
from ordhc.similarities.similarity import fitting
from ordhc.tree.consensus import consensus
from ordhc.tree.dendrogram import Dendrogram

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from matplotlib.axes import Axes

__all__ = ["SCORES", "Bootstrap", "Interval", "bootstrap"]

#: What the scores of resamples are.
SCORES = {
    "revenue": "revenue",
    "satisfied": "share of answers satisfied",
    "held_out": "share of held-out answers satisfied",
}
#: Trees of more leaves are not drawn in notebooks.
_DRAWN = 500


@dataclass(frozen=True)
class Interval:
    """A score and its confidence interval.

    Attributes
    ----------
    estimate
        The score on all answers; for "held_out" the mean over resamples.
    low, high
        Percentiles over resamples.
    """

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Bootstrap:
    """What `bootstrap` gives.

    Attributes
    ----------
    tree
        The tree of all answers; `tree.support` is the share of resamples with each of its clusters.
    consensus
        The majority-rule consensus: all clusters of more than half of the resamples, with their support, at
        their mean heights (`ordhc.consensus`).
    trees
        The trees of the resamples.
    scores
        For every resample, (n_resamples,): "revenue" and "satisfied" of `tree` on the resampled answers,
        and "held_out", the share of the answers not drawn that the resample's own tree satisfies
        (NaN if all were drawn). An answer counts once, of several rows by the share of these.
    intervals
        An `Interval` for each score.
    confidence
        That of the intervals.
    unanswered
        Leaves without any answers.
    unit
        What was drawn: "group", all answers of a person, or "answer".
    chance
        What "held_out" would be with the leaves of the tree in any order: 1/3 for triplets.
    ceiling
        The share of answers that any tree could satisfy, where questions were repeated, or None.
    """

    tree: Dendrogram
    consensus: Dendrogram
    trees: tuple[Dendrogram, ...]
    scores: Mapping[str, NDArray[np.float64]]
    intervals: Mapping[str, Interval]
    confidence: float
    unanswered: NDArray[np.int64]
    unit: str
    chance: float
    ceiling: NoiseCeiling | None

    @property
    def support(self) -> NDArray[np.float64]:
        """The share of resamples with each cluster of the tree, (n - 1,)."""
        support = self.tree.support
        return np.zeros(0) if support is None else support

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the tree with its support; see `Dendrogram.plot`."""
        return self.tree.plot(ax, **options)

    def _repr_html_(self) -> str:
        """Intervals, and where Matplotlib is there the consensus, in a notebook."""
        rows = [
            (SCORES[name], f"{x.estimate:,.6g}", f"{x.low:,.6g} to {x.high:,.6g}")
            for name, x in self.intervals.items()
        ]
        notes = [f"of held-out answers: chance {self.chance:.4f}"]
        if self.ceiling is not None:
            notes.append(f"of repeated questions: noise ceiling {self.ceiling}")
        columns = ("score", "estimate", f"{self.confidence:.0%} interval")
        parts = [_html.table(columns, rows, notes=notes)]
        with suppress(MissingExtraError):
            if self.consensus.n_leaves <= _DRAWN:
                parts.append(f"<div>{_html.picture(svg(self.consensus))}</div>")
        return _html.block(repr(self)[1:-1], *parts)

    def __repr__(self) -> str:
        sure = int((self.support[:-1] >= 0.5).sum())
        inner = max(0, self.tree.n_leaves - 2)
        return (
            f"<Bootstrap: {len(self.trees)} resamples, {sure} of {inner} clusters in at least half of them>"
        )


@shows_progress("resampling")
def bootstrap(
    data: Triplets | Quadruplets,
    *,
    method: str | None = None,
    similarity: str | None = None,
    linkage: str | None = None,
    n_resamples: int = 200,
    seed: int = 0,
    group: ArrayLike | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
    initial_clusters: ArrayLike | None = None,
    tree: Dendrogram | None = None,
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> Bootstrap:
    """Resample the answers, and see what of the tree stays.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets`.
    method, similarity, linkage, initial_clusters, **parameters
        As in `cluster`, with ``refine``.
    n_resamples
        The number of resamples, each as many answers drawn with replacement as there are, with all of their
        rows; or as many people, where they are known, with all of their answers.
    seed
        The same seed gives the same resamples, whatever the method and the number of threads.
    group
        (m,) what each row belongs to, a participant's id or name, instead of the data's groups: whole groups
        are drawn, which is right where one person's answers are alike.
    unit
        "answer" or "group" (of the data): what is drawn, instead of people where they are known.
    confidence
        Of the intervals.
    tree
        A tree of the same leaves to give support to, instead of the one of all answers.
    progress
        True for a bar; what can be called is, now and then, with the share that is done, from 0 to 1.

    Returns
    -------
    Bootstrap
        The tree with support, the consensus, the scores with intervals.

    Raises
    ------
    InputError
        As `cluster`; no answers; groups of another length; a method that cannot do without all
        answers ("4-sl", "4-cl").

    Notes
    -----
    For AddS similarities answers are counted where they are drawn, in parallel, so that a resample
    costs little more than one agglomeration; other methods run once a resample, on all cores.

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.simulate_planted(500, levels=1, leaves_per_cluster=6, sigma=0.02)
    >>> b = ordhc.bootstrap(t, n_resamples=50)
    >>> float(b.support[-1]), len(b.trees), 0.5 < b.intervals["held_out"].estimate <= 1
    (1.0, 50, True)
    """
    progress = _checks.callback("progress", progress)
    n_resamples = _checks.whole("n_resamples", n_resamples, at_least=1)
    seed = _checks.seed(seed)
    confidence = _checks.number("confidence", confidence, at_least=0, at_most=1, open_ends=True)
    if not isinstance(data, Triplets | Quadruplets):
        raise InputError(f"bootstrap takes Triplets or Quadruplets, not {type(data).__name__}")
    if not len(data):
        raise InputError("there are no answers to resample")
    units, drawn = groups_to_draw(group, len(data)), "group"
    if units is not None and unit is not None:
        raise InputError("give group or unit, not both")
    if units is None:
        units, drawn = units_of(data, unit)
    plan = Plan.of(data, method=method, similarity=similarity, linkage=linkage, **parameters)
    ceiling = noise_ceiling(data)
    data = fitting(data, plan.accepts, plan.title)
    # The tree of all answers takes as long as a resample, or longer; support and consensus are the rest.
    first, last = 1 / (n_resamples + 1), 0.98
    found_tree, unanswered = fit(
        plan, data, initial_clusters=initial_clusters, progress=part(progress, 0, first * last)
    )
    if tree is None:
        tree = found_tree
    elif not isinstance(tree, Dendrogram):
        raise InputError(f"tree = {_checks.quoted(tree)} is no Dendrogram; ordhc.as_dendrogram makes one")
    elif tree.n_leaves != data.n_leaves:
        raise InputError(f"the tree has {tree.n_leaves} leaves, the comparisons have {data.n_leaves}")
    shares = shares_of(data)
    told = part(progress, first * last, last)
    work = _Work(plan, data, tree, units, shares, seed, n_resamples, initial_clusters, told)
    trees, scores = work.additive() if work.is_additive else work.one_by_one()
    resampled = tuple(Dendrogram._of(other, data.names, settings=plan.settings) for other in trees)
    found = dict(zip(("revenue", "satisfied", "held_out"), scores.T, strict=True))
    estimates = {
        "revenue": float(_ordhc.revenue(tree._tree, data.rows, data.weights)),
        "satisfied": satisfied_share(tree, data, shares),
        "held_out": _mean(found["held_out"]),
    }
    result = Bootstrap(
        tree=tree.with_support(_ordhc.support(tree._tree, trees)),
        consensus=consensus(resampled),
        trees=resampled,
        scores=found,
        intervals={name: _interval(estimates[name], found[name], confidence) for name in found},
        confidence=float(confidence),
        unanswered=unanswered,
        unit=drawn,
        chance=chance_of(tree, data),
        ceiling=ceiling,
    )
    if progress is not None:
        progress(1.0)
    return result


_Resample = tuple[_ordhc.Dendrogram, tuple[float, float, float]]


class _StoppedError(Exception):
    """The call was stopped while this resample was worked on."""


class _Watch:
    """How far resamples are, which work on several threads; only the caller's tells it."""

    def __init__(self, n_resamples: int, progress: Progress | None) -> None:
        self.shares = np.zeros(n_resamples)
        self.progress = progress
        self.caller = threading.get_ident()
        self.stopped = threading.Event()

    def tell(self, index: int, done: float) -> None:
        """A resample is so far; an error if the whole was stopped."""
        if self.stopped.is_set():
            raise _StoppedError
        self.shares[index] = done
        if self.progress is not None and threading.get_ident() == self.caller:
            self.progress(float(self.shares.mean()))

    def wait(self, future: "Future[_Resample]") -> _Resample:
        """The result, once it is there; progress is told meanwhile."""
        from concurrent.futures import wait

        while not wait([future], timeout=0.1).done:
            if self.progress is not None:
                self.progress(float(self.shares.mean()))
        return future.result()


@dataclass(frozen=True)
class _Work:
    plan: Plan
    data: Triplets | Quadruplets
    tree: Dendrogram
    units: NDArray[np.int64]
    shares: NDArray[np.float64] | None
    seed: int
    n_resamples: int
    initial_clusters: ArrayLike | None
    progress: Progress | None

    @property
    def is_additive(self) -> bool:
        build, merge = self.plan.similarity, self.plan.linkage
        in_engine = merge.native is not None or merge.coefficients is not None
        plain = self.initial_clusters is None and self.plan.refine is None
        return build is not None and build.build is adds and in_engine and plain

    def additive(self) -> tuple[list[_ordhc.Dendrogram], NDArray[np.float64]]:
        rule = engine_linkage(self.plan.linkage, self.plan.linkage_settings, lambda: np.zeros((0, 0)))
        return _ordhc.bootstrap_adds(
            self.data.rows,
            self.data.weights,
            rule,
            self.tree._tree,
            self.units,
            self.shares,
            self.seed,
            self.n_resamples,
            self.progress,
        )

    def one_by_one(self) -> tuple[list[_ordhc.Dendrogram], NDArray[np.float64]]:
        from concurrent.futures import ThreadPoolExecutor

        trees: list[_ordhc.Dendrogram] = []
        scores = np.empty((self.n_resamples, 3))
        watch = _Watch(self.n_resamples, self.progress)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            try:
                for index, (tree, found) in enumerate(self._results(pool, watch)):
                    trees.append(tree)
                    scores[index] = found
                    watch.tell(index, 1.0)
            except BaseException:
                # Signals reach the main thread only; the others stop when they see the event set.
                watch.stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return trees, scores

    def _results(self, pool: "Executor", watch: "_Watch") -> Iterator[_Resample]:
        """The trees and scores in order, from as many threads as there are."""
        pending: deque[Future[_Resample]] = deque()
        for index in range(self.n_resamples):
            try:
                pending.append(pool.submit(self.resample, index, watch))
            except RuntimeError:
                # No thread can be started. Those that run finish what they have begun.
                for future in pending:
                    future.cancel()
                for done, future in enumerate(pending):
                    yield self.resample(done, watch) if future.cancelled() else watch.wait(future)
                for left in range(len(pending), self.n_resamples):
                    yield self.resample(left, watch)
                return
        while pending:
            yield watch.wait(pending.popleft())

    def resample(self, index: int, watch: "_Watch") -> _Resample:
        go_on = partial(watch.tell, index)
        go_on(0.0)
        times = _ordhc.draw_times(len(self.data), self.units, self.seed, index)
        at, left = np.repeat(np.arange(len(self.data)), times), np.flatnonzero(times == 0)
        drawn = self.data[at]
        tree, _ = fit(self.plan, drawn, initial_clusters=self.initial_clusters, progress=go_on)
        revenue = float(_ordhc.revenue(self.tree._tree, drawn.rows, drawn.weights))
        shares = [None if self.shares is None else self.shares[which] for which in (at, left)]
        satisfied = satisfied_share(self.tree, drawn, shares[0])
        held_out = satisfied_share(tree, self.data[left], shares[1])
        return tree._tree, (revenue, satisfied, held_out)


def _mean(values: NDArray[np.float64]) -> float:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else float("nan")


def _interval(estimate: float, values: NDArray[np.float64], confidence: float) -> Interval:
    there = values[~np.isnan(values)]
    if not len(there):
        return Interval(estimate, float("nan"), float("nan"))
    low, high = np.quantile(there, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(estimate, float(low), float(high))


def groups_to_draw(group: ArrayLike | None, m: int) -> NDArray[np.int64] | None:
    """Groups numbered from 0, in order of first appearance."""
    if group is None:
        return None
    return numbered(coded("group", group, m)[0])[0]
