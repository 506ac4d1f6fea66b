"""Checks of methods. Each check receives a method and raises AssertionError if it fails."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.clustering.cluster import fit
from ordhc.clustering.plan import Plan
from ordhc.metrics.comparisons import satisfied
from ordhc.plugins import registry
from ordhc.plugins.specs import MethodSpec
from ordhc.testing.preferences import answers_of_a_tree, clusters_of
from ordhc.testing.running import by_name, need, need_tree, random_tree, renumbered, run
from ordhc.tree.dendrogram import Dendrogram


class _Method:
    def __init__(self, spec: MethodSpec, parameters: Mapping[str, Any]) -> None:
        self.spec = spec
        settings = {**spec.parameters, **parameters}
        plan = Plan.of(None, similarity=spec.similarity, linkage=spec.linkage, **settings)
        self.plan = replace(plan, refine=spec.refine)

    @property
    def kinds(self) -> list[str]:
        return [kind for kind in ("triplets", "quadruplets") if kind in self.plan.accepts]

    def merge(self, data: Any) -> Dendrogram:
        n = len(data) if isinstance(data, np.ndarray) else data.n_leaves
        tree, _ = fit(self.plan, data)
        need_tree(tree, n)
        return tree

    def samples(self, n: int, seed: int) -> list[Any]:
        found: list[Any] = [answers_of_a_tree(kind, n, seed)[0] for kind in self.kinds]
        if "vectors" in self.plan.accepts:
            found.append(_points(n, seed))
        return found


def _points(n: int, seed: int) -> NDArray[np.float64]:
    # Positive numbers, so that no dot product is negative.
    return np.random.default_rng(seed).random((n, 4)) + 0.1


def _few_leaves(method: _Method) -> None:
    for n in (1, 2, 3):
        for data in method.samples(n, n):
            method.merge(data)


def _deterministic(method: _Method) -> None:
    for data in method.samples(9, seed=1):
        need(method.merge(data) == method.merge(data), "the same data give different trees")


def _numbering(method: _Method) -> None:
    order = np.random.default_rng(2).permutation(9)
    for data in method.samples(9, seed=3):
        found = clusters_of(method.merge(renumbered(data, order)))
        need(found == clusters_of(method.merge(data).relabel(order)), "renumbering leaves changes the tree")


def _knows(method: _Method) -> None:
    for kind in method.kinds:
        for seed in (4, 5):
            data, _ = answers_of_a_tree(kind, 9, seed)
            share = float(satisfied(method.merge(data), data))
            chance = max(float(satisfied(random_tree(9, other), data)) for other in range(10))
            text = f"its tree satisfies {share:.0%} of a true tree's {kind}, a random tree {chance:.0%}"
            need(share > chance, text)


#: The checks of `check_method`, by name.
METHOD_CHECKS = by_name(_few_leaves, _deterministic, _numbering, _knows)


def check_method(method: str | MethodSpec, /, *, skip: Collection[str] = (), **parameters: Any) -> None:
    """Check a method, by its registered name or as a `MethodSpec`.

    Parameters
    ----------
    method
        The name of a registered method, or the `MethodSpec` of a method that is not registered. Its
        similarity and its linkage must be registered.
    skip
        The names of checks to skip: keys of `METHOD_CHECKS`.
    **parameters
        Settings of the similarity or the linkage that differ from the settings of the method.

    Raises
    ------
    AssertionError
        If a check fails. The message has the name of the check and the reason.

    Examples
    --------
    >>> check_method("adds3-al+spr")
    """
    spec = registry.get("method", method) if isinstance(method, str) else method
    run(_Method(spec, parameters), METHOD_CHECKS, skip)
