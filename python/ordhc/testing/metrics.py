"""Checks of metrics. Each check receives a metric and raises AssertionError if it fails."""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.plugins import registry
from ordhc.plugins.specs import MetricSpec
from ordhc.testing.running import RTOL, Subject, by_name, need, random_tree, renumbered, run
from ordhc.tree.dendrogram import Dendrogram, lca_size


class _Metric(Subject[MetricSpec]):
    make_reference: Callable[[Dendrogram], Any] | None = None

    def score(self, tree: Dendrogram, reference: Any) -> float:
        value: Any = self.spec.score(tree, reference, **self.settings)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        need(np.isfinite(number), f"the score is {value!r}, not a finite number")
        return number

    def references(self, truth: Dendrogram, m: int, seed: int) -> list[Any]:
        if self.make_reference is not None:
            return [self.make_reference(truth)]
        return [_reference(kind, truth, m, seed) for kind in self.spec.reference]


def _reference(kind: str, truth: Dendrogram, m: int, seed: int) -> Any:
    if kind in ("triplets", "quadruplets"):
        return _answers(kind, truth, m, seed)
    if kind == "tree":
        return truth
    n = truth.n_leaves
    if kind == "labels":
        return truth.cut(n_clusters=max(n // 3, 1)).reshape(n, 1)
    S = truth.cophenetic(square=True)
    np.fill_diagonal(S, 0.0)
    return S


def _answers(kind: str, tree: Dendrogram, m: int, seed: int) -> Any:
    rows: list[tuple[int, int, int]] = []
    random = np.random.default_rng(seed)
    while tree.n_leaves >= 3 and len(rows) < m:
        a, b, c = random.choice(tree.n_leaves, 3, replace=False).tolist()
        near, far = lca_size(tree, a, b), lca_size(tree, a, c)
        if near != far:
            rows.append((a, b, c) if near < far else (a, c, b))
    triplets = Triplets(np.array(rows, dtype=np.int64).reshape(-1, 3), n_leaves=tree.n_leaves)
    return triplets if kind == "triplets" else triplets.to_quadruplets()


def _few_leaves(metric: _Metric) -> None:
    for n in (1, 2, 3):
        tree = random_tree(n, n)
        for reference in metric.references(tree, 3, seed=n):
            try:
                metric.score(tree, reference)
            except InputError:
                need(n < 3, "InputError for 3 leaves; a score is needed from 3 leaves on")


def _number(metric: _Metric) -> None:
    truth = random_tree(12, 0)
    for reference in metric.references(truth, 60, seed=0):
        for seed in range(4):
            metric.score(random_tree(12, seed), reference)


def _deterministic(metric: _Metric) -> None:
    truth = random_tree(12, 1)
    for reference in metric.references(truth, 60, seed=1):
        first = metric.score(random_tree(12, 2), reference)
        metric.score(truth, reference)
        need(metric.score(random_tree(12, 2), reference) == first, "the same input gives different scores")


def _numbering(metric: _Metric) -> None:
    order = np.random.default_rng(3).permutation(12)
    truth, tree = random_tree(12, 3), random_tree(12, 4)
    for reference in metric.references(truth, 60, seed=3):
        score = metric.score(tree, reference)
        moved = metric.score(tree.relabel(order), _moved(reference, order))
        need(np.isclose(score, moved, rtol=RTOL), f"renumbering leaves gives {moved}, not {score}")


def _moved(reference: Any, order: NDArray[np.int64]) -> Any:
    if isinstance(reference, Triplets | Quadruplets):
        return renumbered(reference, order)
    if isinstance(reference, Dendrogram):
        return reference.relabel(order)
    place = np.argsort(order)
    return reference[place] if reference.shape[1] == 1 else reference[np.ix_(place, place)]


def _direction(metric: _Metric) -> None:
    for seed in range(3):
        truth = random_tree(12, seed)
        for reference in metric.references(truth, 300, seed=seed):
            best = metric.score(truth, reference)
            for other in range(10, 15):
                score = metric.score(random_tree(12, other), reference)
                fine = best >= score if metric.spec.larger_is_better else best <= score
                way = "larger" if metric.spec.larger_is_better else "smaller"
                need(fine, f"the true tree scores {best}, a random tree {score}, but {way} should be better")


#: The checks of `check_metric`, by name.
METRIC_CHECKS = by_name(_few_leaves, _number, _deterministic, _numbering, _direction)


def check_metric(
    metric: str | MetricSpec,
    /,
    *,
    make_reference: Callable[[Dendrogram], Any] | None = None,
    skip: Collection[str] = (),
    **parameters: Any,
) -> None:
    """Check a metric, by its registered name or as a `MetricSpec`.

    Parameters
    ----------
    metric
        The name of a registered metric, or the `MetricSpec` of a metric that is not registered.
    make_reference
        A function that receives the true tree and returns a reference made from it. By default the checks
        make one reference of each kind that the metric accepts.
    skip
        The names of checks to skip: keys of `METRIC_CHECKS`.
    **parameters
        Settings of the metric that differ from the defaults.

    Raises
    ------
    AssertionError
        If a check fails. The message has the name of the check and the reason.

    Examples
    --------
    >>> check_metric("triplet_revenue")
    """
    spec = registry.get("metric", metric) if isinstance(metric, str) else metric
    subject = _Metric(spec, parameters)
    subject.make_reference = make_reference
    run(subject, METRIC_CHECKS, skip)
