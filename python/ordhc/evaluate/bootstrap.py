"""Resample answers or coordinates to get the support of clusters, a consensus tree and a held-out score."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _html, _ordhc
from ordhc._progress import Progress, part, shows_progress
from ordhc._workers import as_executor, worth
from ordhc.clustering.cluster import fit
from ordhc.clustering.cost import warn_of_cost
from ordhc.clustering.plan import Plan, method_of_many
from ordhc.clustering.scanned import fit_scan
from ordhc.comparison.comparisons import Quadruplets, Triplets, fitting_comparisons
from ordhc.comparison.units import coded, numbered, shares_of, units_of
from ordhc.errors import InputError, MissingExtraError
from ordhc.evaluate.ceiling import NoiseCeiling, chance_of, noise_ceiling
from ordhc.evaluate.features import SCALES, resampled_features, unbiased
from ordhc.evaluate.left_out import (
    JUDGED,
    Block,
    LeftOut,
    Scores,
    bits_left_out,
    interval_left_out,
    sums_of_part,
)
from ordhc.evaluate.resampling import Resampling
from ordhc.evaluate.scanned import ScannedResampling, chance_of_scan, checked_plan
from ordhc.io.portions import rows_of_units, unit_of
from ordhc.io.scan import Scan
from ordhc.io.spill import Spill
from ordhc.plotting.drawing import svg
from ordhc.plugins.names import Linkage, Method, Similarity
from ordhc.similarities.similarity import fitting
from ordhc.similarities.vectors import Vectors
from ordhc.tree.consensus import consensus
from ordhc.tree.dendrogram import Dendrogram, engine_tree, from_engine
from ordhc.tree.pictures import PictureOptions

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from matplotlib.axes import Axes

LABELS = {
    "held_out": "share of held-out answers satisfied",
    "answers": "share of held-out answers predicted",
}
#: Maximum number of leaves of trees that are drawn in notebooks.
_DRAWN = 500


@dataclass(frozen=True)
class Interval:
    """A score and its confidence interval.

    Attributes
    ----------
    estimate
        The mean over resamples.
    low, high
        The ends of the interval; NaN with fewer than ten resamples, or fewer than five people (or answers).
    """

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Bootstrap:
    """The result of `bootstrap`.

    Attributes
    ----------
    tree
        The tree of all answers; `tree.support` is the share of resamples that contain each of its clusters.
    consensus
        The majority-rule consensus: all clusters that more than half of the resamples contain, with their
        support, at their mean heights (`ordhc.consensus`).
    trees
        The trees of the resamples.
    scores
        Arrays of shape (n_resamples,). "revenue" and "satisfied" are scores of `tree` on the resampled
        answers. "held_out" is the share of the left-out answers that the resample's own tree satisfies (NaN
        if none were left out). An answer of several rows counts once, by the share of its rows that are
        satisfied. The first two scores are too high, because `tree` was made from the same answers. So their
        percentiles are not confidence intervals.
    intervals
        An `Interval` for each score. "held_out" is the accuracy of the trees of resamples on new answers of
        people like these; its interval covers the variation over people (or answers) and over trees. A
        resample contains 63% of the people, so this accuracy is slightly lower than that of `tree`. "answers"
        is the share of whole answers that the tree predicts (`ordhc.metrics.answer_accuracy`). It uses as
        many resamples as have ten million comparisons together, but at least ten. A scan has no "answers".
    confidence
        The confidence level of the intervals.
    unanswered
        Leaves without any answers.
    unit
        The unit of resampling: "group", all answers of a person; "answer"; or "coordinate" of vectors.
    chance
        The expected "held_out" if the leaves of the tree are shuffled: 1/3 for triplets.
    answers_chance
        The expected "answers" of random guesses: 1/2 for triplets, 1/3 for odd ones out; NaN for a scan.
    ceiling
        Upper bound on the share of answers that any tree could satisfy; None unless questions were repeated.
    unbiased
        (n_nodes - n,) for vectors, the approximately unbiased p-value of each cluster of `tree`. R's pvclust
        calls it AU, and calls `support` BP. None for answers. Vectors have no scores, intervals or chance.
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
    answers_chance: float = math.nan
    unbiased: NDArray[np.float64] | None = None

    @property
    def support(self) -> NDArray[np.float64]:
        """(n_nodes - n,) the share of resamples that contain each cluster of the tree."""
        support = self.tree.support
        return np.zeros(0) if support is None else support

    @_checks.shows_options(PictureOptions)
    def plot(self, ax: Axes | None = None, **options: Unpack[PictureOptions]) -> Axes:
        """Draw the tree with its support; see `Dendrogram.plot`."""
        return self.tree.plot(ax, **options)

    def _repr_html_(self) -> str:
        notes = [] if np.isnan(self.chance) else [f"chance {self.chance:.4f}"]
        if "answers" in self.intervals:
            notes[0] += f"; for whole answers {self.answers_chance:.4f}"
        if self.ceiling is not None:
            notes.append(f"noise ceiling, from repeated questions: {self.ceiling}")
        columns = ("score", "estimate", f"{self.confidence:.0%} interval")
        rows = []
        for name, found in self.intervals.items():
            ends = "–" if np.isnan(found.low) else f"{found.low:,.4g} to {found.high:,.4g}"
            rows.append((LABELS[name], f"{found.estimate:,.4g}", ends))
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
    data: Triplets | Quadruplets | Scan | Vectors | ArrayLike,
    method: Method | None = None,
    *,
    similarity: Similarity | None = None,
    linkage: Linkage | None = None,
    n_resamples: int = 200,
    seed: int = 0,
    group: ArrayLike | None = None,
    unit: str | None = None,
    confidence: float = 0.95,
    initial_clusters: ArrayLike | None = None,
    tree: Dendrogram | None = None,
    executor: Any = None,
    spill: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> Bootstrap:
    """Resample answers, or coordinates of vectors, to measure how certain each cluster of a tree is.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets`: people or answers are drawn. A scan of files (`ordhc.scan`): people or
        whole files are drawn. Vectors as `cluster` takes them: coordinates (columns) are drawn, as in R's
        pvclust.
    method, similarity, linkage, initial_clusters, **parameters
        As in `cluster`. The default is "adds3-al+spr" or "adds4-al+spr", which are fast, or "posterior-al" if
        a learner chose the questions. For probabilities of clusters see `ordhc.posterior`.
    n_resamples
        The number of resamples. If people are known, each resample draws as many people as there are, with
        replacement, with all of their answers. Otherwise it draws as many answers as there are, with all of
        their rows. For vectors, the number of resamples at each of ten sizes, from half to 1.4 times the
        number of coordinates.
    seed
        The same seed gives the same resamples, whatever the method and the number of threads.
    group
        (m,) the id or name of each row's person, instead of the data's groups. Whole groups are drawn,
        because answers of one person are alike.
    unit
        The unit of resampling: "answer" or "group" for comparisons, "group" or "file" for a scan. By default
        "group" if people are known.
    confidence
        The confidence level of the intervals.
    tree
        A tree of the same leaves whose clusters get support, instead of the tree of all answers.
    executor
        Runs the resamples: a `concurrent.futures.Executor` (threads, processes, loky, MPI), a Dask client, a
        `joblib.Parallel`, or a pool of multiprocessing or Ray. By default the executor of a scan, or threads
        of this process. The result does not depend on the executor, to the last bit.
    spill
        A folder for data that all workers of the executor read. By default a folder for temporary files,
        which workers on this machine can read. The data are deleted at the end. For a scan, give `spill` to
        `ordhc.scan`.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    Bootstrap
        The tree with support, the consensus, and the held-out score with its interval.

    Warns
    -----
    OrdhcWarning
        Before the work begins, if it is estimated to take more than 30 seconds of processor time. For
        "posterior-al", if the chains of the tree of all answers have not mixed (chains of resamples give no
        warnings).

    Raises
    ------
    InputError
        As in `cluster`; if there are no answers; if `group` has another length than `data`; or if the method
        needs all answers ("4-sl", "4-cl").
    MemoryError
        If the trees of all resamples do not fit into memory.

    Notes
    -----
    AddS similarities are sums over answers (near minus far). They are added up while answers are drawn, in
    parallel, so a resample costs little more than one agglomeration. Other methods run once per resample, on
    all cores.

    Support is not a probability: in simulations, one in 25 clusters with a support of .24 was true, and one
    in 8 with .44 (60 leaves, 4 to 64 answers per leaf; docs/explanation/supports.md). `ordhc.posterior` gives
    probabilities.

    Coordinates of vectors should be comparable (standardized) and not copies of each other. `support` uses
    the resamples of the size of the data. `unbiased` corrects the bias of `support` by resamples of the other
    sizes (Shimodaira 2002, 2004; Suzuki & Shimodaira 2006).

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.datasets.planted(500, levels=1, leaves_per_cluster=6, sigma=0.02)
    >>> b = ordhc.bootstrap(t, n_resamples=50)
    >>> float(b.support[-1]), len(b.trees), 0.5 < b.intervals["held_out"].estimate <= 1
    (1.0, 50, True)
    >>> X = [[0, 1, 0, 2], [1, 0, 1, 2], [8, 9, 7, 8], [9, 8, 9, 9]]
    >>> b = ordhc.bootstrap(X, similarity="euclidean", linkage="ward", n_resamples=20)
    >>> b.support.tolist(), b.unbiased.tolist()
    ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    """
    progress = _checks.callback("progress", progress)
    n_resamples = _checks.whole("n_resamples", n_resamples, at_least=1)
    seed = _checks.seed(seed)
    confidence = _checks.number("confidence", confidence, at_least=0, at_most=1, open_ends=True)
    workers = as_executor(executor)
    if isinstance(data, Triplets | Quadruplets | Scan):
        _check_memory(n_resamples, data.n_leaves)
    asked = {"method": method, "similarity": similarity, "linkage": linkage, **parameters}
    if isinstance(data, Scan):
        unit, count = unit_of(data, unit, group)
        if spill is not None:
            raise InputError(
                "bootstrap takes no spill= with ordhc.scan(...): give it to ordhc.scan(..., spill=FOLDER)"
            )
        request = _Request(n_resamples, seed, confidence, initial_clusters, tree, workers or data.executor)
        return _of_scan(data, asked, request, unit, count, progress)
    if not isinstance(data, Triplets | Quadruplets):
        if group is not None or unit is not None or executor is not None or spill is not None:
            raise InputError("group=, unit=, executor= and spill= cannot be used with vectors; omit them")
        request = _Request(n_resamples, seed, confidence, initial_clusters, tree, None)
        return _of_vectors(Plan.of(data, **asked), data, request, progress)
    if not len(data):
        raise InputError("there are no answers to resample")
    units, drawn = units_to_draw(data, group, unit)
    if method is None and similarity is None and linkage is None:
        asked["method"] = method_of_many(data)
    plan = Plan.of(data, **asked)
    seconds = (n_resamples + 1) * plan.seconds(data)
    workers = worth(workers, seconds)
    seconds += len(data) * (_SECONDS_OF_ROW + _SECONDS_JUDGED * min(JUDGED, n_resamples))
    remedy = "a smaller n_resamples takes less time, a scan of several files (ordhc.scan) less memory"
    warn_of_cost(f"bootstrap of {plan.title}", data, seconds, remedy, memory=_BYTES_OF_ROW * len(data))
    ceiling = noise_ceiling(data, progress=part(progress, 0, _CEILING))
    fitted: Any = fitting(data, plan.accepts, plan.title)
    # For the progress, the tree of all answers counts as one resample.
    first, trees_progress = 1 / (n_resamples + 1), part(progress, _CEILING, _LAST)
    found_tree, unanswered = fit(
        plan, fitted, initial_clusters=initial_clusters, progress=part(trees_progress, 0, first)
    )
    tree = found_tree if tree is None else _given_tree(tree, fitted.n_leaves)
    shares = shares_of(fitted)
    resampling_progress = part(trees_progress, first, 1)
    work = Resampling(plan, fitted, tree, units, shares, seed, initial_clusters)
    bits = cache(partial(work.judging.bits, min(n_resamples, JUDGED)))
    with Spill(None if workers is None else spill) as folder:
        if workers is None:
            crew = None
            trees, scores = work.here(n_resamples, resampling_progress)
        else:
            crew = workers, folder, work.shared(asked, folder)
            trees, scores = work.elsewhere(n_resamples, crew, bits, resampling_progress)
        resampled = tuple(from_engine(other, fitted.names, settings=plan.settings) for other in trees)
        agreed = cache(partial(consensus, resampled))
        judged = tuple(other.replace(names=None) for other in resampled[:JUDGED])
        judging_progress = part(progress, _LAST, 1)
        held_out, answers, answers_chance = work.judging.sums(judged, bits(), crew, agreed, judging_progress)
    facts = {"unit": drawn, "chance": chance_of(tree, fitted), "ceiling": ceiling, "unanswered": unanswered}
    found = _summed_up(tree, resampled, agreed(), scores, held_out, confidence, facts)
    if progress is not None:
        progress(1.0)
    if np.isnan(answers_chance):
        return found
    ends = interval_left_out(answers.estimate, answers, _quantile(confidence))
    intervals = {**found.intervals, "answers": Interval(answers.estimate, *ends)}
    return replace(found, intervals=intervals, answers_chance=answers_chance)


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


#: For the intervals: bytes per row, seconds of processor time per row, and seconds per row and resample.
_BYTES_OF_ROW, _SECONDS_OF_ROW, _SECONDS_JUDGED = 130, 2e-6, 6e-8
#: Bytes per resample and per leaf of a resample, for its tree and its part of the consensus. Measured.
_BYTES, _BYTES_A_LEAF = 1500, 200


def _check_memory(n_resamples: int, n_leaves: int) -> None:
    each = _BYTES + _BYTES_A_LEAF * n_leaves
    try:
        _ordhc.check_memory(f"n_resamples = {n_resamples:,}", n_resamples * each)
    except (MemoryError, OverflowError):
        raise MemoryError(
            f"the trees of n_resamples = {n_resamples:,} need about {n_resamples * each:,} bytes, more than "
            f"is available: give fewer resamples ({each:,} bytes each)"
        ) from None


#: The completed fraction after the noise ceiling, and after the trees.
_CEILING, _LAST = 0.02, 0.8


def _given_tree(tree: Any, n_leaves: int) -> Dendrogram:
    if not isinstance(tree, Dendrogram):
        raise InputError(f"tree = {_checks.quoted(tree)} is not a Dendrogram; ordhc.as_dendrogram makes one")
    if tree.n_leaves != n_leaves:
        raise InputError(f"the tree has {tree.n_leaves} leaves, the comparisons have {n_leaves}")
    return tree


@dataclass(frozen=True)
class _Request:
    n_resamples: int
    seed: int
    confidence: float
    initial_clusters: ArrayLike | None
    tree: Dendrogram | None
    executor: Executor | None


def _of_scan(
    scan: Scan,
    asked: Mapping[str, Any],
    request: _Request,
    unit: str,
    count: int,
    progress: Progress | None,
) -> Bootstrap:
    seed, n_resamples, initial = request.seed, request.n_resamples, request.initial_clusters
    plan = checked_plan(scan, asked)
    first = 1 / (n_resamples + 1)
    found, unanswered = fit_scan(
        plan, scan, initial_clusters=initial, progress=part(progress, 0, first * _LAST)
    )
    tree = found if request.tree is None else _given_tree(request.tree, scan.n_leaves)
    counting = part(progress, first * _LAST, first * _LAST + _CEILING)
    sizes = rows_of_units(scan, unit, count, counting)
    work = ScannedResampling(scan, asked, tree.replace(names=None), unit, sizes, seed, initial, plan)
    trees, scores = work.all(n_resamples, request.executor, part(progress, first * _LAST + _CEILING, _LAST))
    resampled = tuple(from_engine(other, scan.names, settings=plan.settings) for other in trees)

    def blocks() -> Iterator[Block]:
        for block in scan.blocks(progress=part(progress, _LAST, 1)):
            found = fitting_comparisons(block.data, plan.accepts, plan.title)
            weights = np.ones(len(found)) if found.weights is None else found.weights
            yield Block(found.rows, weights, block.units(unit).astype(np.int64))

    def scores_of(block: Block) -> Scores:
        return lambda at, some: np.asarray(_ordhc.verdicts(trees[at], block.rows[some]) == 1)

    n_judged = min(len(trees), JUDGED)
    bits = bits_left_out(n_judged, work.times, count)
    sums = sums_of_part(slice(0, count), blocks(), n_judged, bits, scores_of)
    chance = chance_of_scan(tree, scan, plan.accepts)
    facts = {"unit": unit, "chance": chance, "ceiling": None, "unanswered": unanswered}
    return _summed_up(tree, resampled, consensus(resampled), scores, sums, request.confidence, facts)


def _of_vectors(plan: Plan, data: Any, request: _Request, progress: Progress | None) -> Bootstrap:
    vectors: Vectors = fitting(data, plan.accepts, plan.title)
    n_resamples, initial = request.n_resamples, request.initial_clusters
    _check_memory(n_resamples, vectors.n_leaves)
    tree, unanswered = fit(plan, vectors, initial_clusters=initial)
    if request.tree is not None:
        tree = _given_tree(request.tree, vectors.n_leaves)
    trees, shares = resampled_features(
        plan, vectors, tree, n_resamples, request.seed, initial, part(progress, 0, _LAST)
    )
    found = Bootstrap(
        tree=tree.replace(support=shares[SCALES.index(1.0)]),
        consensus=consensus(trees),
        trees=tuple(trees),
        scores={},
        intervals={},
        confidence=request.confidence,
        unanswered=unanswered,
        unit="coordinate",
        chance=math.nan,
        ceiling=None,
        unbiased=unbiased(shares, n_resamples),
    )
    if progress is not None:
        progress(1.0)
    return found


def _summed_up(
    tree: Dendrogram,
    trees: tuple[Dendrogram, ...],
    agreed: Dendrogram,
    scores: NDArray[np.float64],
    sums: LeftOut,
    confidence: float,
    facts: dict[str, Any],
) -> Bootstrap:
    found = dict(zip(("revenue", "satisfied", "held_out"), scores.T, strict=True))
    known = scores[~np.isnan(scores[:, 2]), 2]
    estimate = float(known.mean()) if len(known) else math.nan
    held_out = Interval(estimate, *interval_left_out(estimate, sums, _quantile(confidence)))
    return Bootstrap(
        tree=tree.replace(support=_ordhc.support(engine_tree(tree), [engine_tree(other) for other in trees])),
        consensus=agreed,
        trees=trees,
        scores=found,
        intervals={"held_out": held_out},
        confidence=confidence,
        **facts,
    )


def units_to_draw(
    data: Triplets | Quadruplets, group: ArrayLike | None, unit: str | None
) -> tuple[NDArray[np.int64], str]:
    """Return the unit of each row, numbered from 0, and the kind of unit ("group" or "answer")."""
    if group is None:
        return units_of(data, unit)
    groups = numbered(coded("group", group, len(data))[0])[0]
    if unit is not None:
        raise InputError("give group= or unit=, not both")
    return groups, "group"
