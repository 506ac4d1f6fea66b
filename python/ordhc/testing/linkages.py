"""Checks of linkages. Each check receives a linkage and raises AssertionError if it fails."""

from collections.abc import Collection
from typing import Any

import numpy as np

from ordhc import _ordhc
from ordhc.agglomerate.engine import engine_linkage
from ordhc.plugins import registry
from ordhc.plugins.specs import LinkageSpec
from ordhc.testing.preferences import COMPARISON_LINKAGE_CHECKS, ComparisonLinkage
from ordhc.testing.running import (
    RTOL,
    Floats,
    Subject,
    by_name,
    distances,
    need,
    need_same,
    need_tree,
    random_similarities,
    run,
)
from ordhc.tree.dendrogram import Dendrogram, from_engine


class _Linkage(Subject[LinkageSpec]):
    def merge(self, S: Floats, *, dissimilarity: bool = False, engine: str = "auto") -> Dendrogram:
        rule = engine_linkage(self.spec, self.settings, lambda: -S if dissimilarity else S.copy())
        return from_engine(_ordhc.agglomerate(S, rule, dissimilarity, engine, None, None))


def _tied(n: int, seed: int) -> Floats:
    values = np.triu(np.random.default_rng(seed).integers(0, 3, size=(n, n)), 1).astype(np.float64)
    return values + values.T


def _few_leaves(linkage: _Linkage) -> None:
    for n in (1, 2, 3):
        need_tree(linkage.merge(random_similarities(n, n)), n)
        need_tree(linkage.merge(distances(n, n), dissimilarity=True), n)


def _valid_trees(linkage: _Linkage) -> None:
    for n in (5, 17, 40):
        need_tree(linkage.merge(random_similarities(n, n)), n)
        need_tree(linkage.merge(1e6 * distances(n, n), dissimilarity=True), n)


def _nearest_first(linkage: _Linkage) -> None:
    for seed in range(5):
        D = distances(9, seed)
        i, j = np.triu_indices(9, 1)
        at = int(D[i, j].argmin())
        for S, dissimilarity in ((-D, False), (D, True)):
            tree = linkage.merge(S, dissimilarity=dissimilarity)
            pair, first = [int(i[at]), int(j[at])], tree.merges[0].tolist()
            need(first == pair, f"the first merge is {first}, but the most similar pair is {pair}")
            height = S[i[at], j[at]]
            text = f"the first height is {tree.heights[0]}, but the most similar pair has {height}"
            need(abs(tree.heights[0] - height) <= RTOL * abs(height), text)


def _ties(linkage: _Linkage) -> None:
    for seed in range(8):
        S = _tied(9, seed)
        tree = linkage.merge(S)
        need_tree(tree, 9)
        need_same(tree, linkage.merge(S, engine="naive"), "with ties the engines differ")
    need_tree(linkage.merge(np.ones((8, 8))), 8)
    need_tree(linkage.merge(np.ones((8, 8)), dissimilarity=True), 8)
    need_tree(linkage.merge(np.zeros((8, 8))), 8)


def _duplicates(linkage: _Linkage) -> None:
    twice = np.repeat(np.arange(6), 2)
    D = distances(6, 0)[np.ix_(twice, twice)]
    tree = linkage.merge(D, dissimilarity=True)
    need_tree(tree, 12)
    naive = linkage.merge(D, dissimilarity=True, engine="naive")
    need_same(tree, naive, "with duplicates the engines differ")


def _deterministic(linkage: _Linkage) -> None:
    S = random_similarities(15, 0)
    before = S.copy()
    first = linkage.merge(S)
    linkage.merge(random_similarities(7, 1))
    again = linkage.merge(S)
    need(np.array_equal(S, before), "the input was changed")
    need(first == again, "the same input gives different trees")


def _numbering(linkage: _Linkage) -> None:
    for seed in range(5):
        S = random_similarities(13, seed)
        order = np.random.default_rng(seed + 100).permutation(13)
        renumbered = linkage.merge(np.ascontiguousarray(S[np.ix_(order, order)]))
        need_same(renumbered.relabel(order), linkage.merge(S), "renumbering leaves changes the tree")


def _engines(linkage: _Linkage) -> None:
    """Check that the default engine returns the tree of the naive engine.

    The naive engine searches all pairs before each merge. This check fails for a linkage with `reducible` set
    to True that is not reducible.
    """
    for seed in range(10):
        for S, dissimilarity in ((random_similarities(16, seed), False), (distances(16, seed), True)):
            found = linkage.merge(S, dissimilarity=dissimilarity)
            naive = linkage.merge(S, dissimilarity=dissimilarity, engine="naive")
            need_same(found, naive, "the default engine differs from the naive one")


def _signs(linkage: _Linkage) -> None:
    for seed in range(5):
        D = distances(12, seed)
        tree = linkage.merge(D, dissimilarity=True)
        other = linkage.merge(-(D**2) if linkage.spec.squares else -D)
        back = np.sqrt(np.maximum(-other.heights, 0)) if linkage.spec.squares else -other.heights
        expected = Dendrogram(other.merges, back)
        need_same(tree, expected, "dissimilarities and negative similarities differ")


#: The checks of `check_linkage` by name, for linkages that use similarities.
LINKAGE_CHECKS = by_name(
    _few_leaves,
    _valid_trees,
    _nearest_first,
    _ties,
    _duplicates,
    _deterministic,
    _numbering,
    _engines,
    _signs,
)


def check_linkage(linkage: str | LinkageSpec, /, *, skip: Collection[str] = (), **parameters: Any) -> None:
    """Check a linkage, by its registered name or as a `LinkageSpec`.

    Parameters
    ----------
    linkage
        The name of a registered linkage, or the `LinkageSpec` of a linkage that is not registered.
    skip
        The names of checks to skip: keys of `LINKAGE_CHECKS`, or of `COMPARISON_LINKAGE_CHECKS` for linkages
        that use comparisons.
    **parameters
        Settings of the linkage that differ from the defaults.

    Raises
    ------
    AssertionError
        If a check fails. The message has the name of the check and the reason.

    Examples
    --------
    >>> check_linkage("average")
    """
    spec = registry.get("linkage", linkage) if isinstance(linkage, str) else linkage
    if spec.from_comparisons is not None:
        run(ComparisonLinkage(spec, parameters), COMPARISON_LINKAGE_CHECKS, skip)
    else:
        run(_Linkage(spec, parameters), LINKAGE_CHECKS, skip)
