"""Checks of linkages that use comparisons directly, without similarities."""

import warnings
from typing import Any

import numpy as np

from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import OrdhcWarning
from ordhc.plugins.specs import LinkageSpec
from ordhc.testing.running import Subject, by_name, need, need_tree, renumbered
from ordhc.tree.dendrogram import Dendrogram


class ComparisonLinkage(Subject[LinkageSpec]):
    """A linkage that uses comparisons, and the settings with which it is checked."""

    def merge(self, data: Any) -> Dendrogram:
        need(self.spec.from_comparisons is not None, "the linkage does not accept comparisons")
        make: Any = self.spec.from_comparisons
        tree = make(data, initial_clusters=None, progress=None, **self.settings)
        need(isinstance(tree, Dendrogram), f"the linkage returns {type(tree).__name__}, not a Dendrogram")
        need_tree(tree, data.n_leaves)
        return tree  # type: ignore[no-any-return]

    def samples(self, n: int, seed: int) -> list[Any]:
        return [data for data, _ in self.answered(n, seed)]

    def answered(self, n: int, seed: int) -> list[tuple[Any, set[frozenset[int]]]]:
        return [answers_of_a_tree(kind, n, seed) for kind in self.spec.data]


def answers_of_a_tree(kind: str, n: int, seed: int) -> tuple[Any, set[frozenset[int]]]:
    """Return comparisons of a random tree with distinct heights, and the clusters of this tree.

    A triplet exists if the anchor merges with the near leaf first. Quadruplets compare every two pairs of
    leaves: if both merge at the same height, a random one of them counts as the closer pair.
    """
    random = np.random.default_rng(seed)
    similarity = np.zeros((n, n))
    clusters = [[leaf] for leaf in range(n)]
    of_tree = {frozenset(cluster) for cluster in clusters}
    for height in range(n - 1, 0, -1):
        a, b = sorted(random.choice(len(clusters), 2, replace=False).tolist())
        for i in clusters[a]:
            for j in clusters[b]:
                similarity[i, j] = similarity[j, i] = height
        clusters[a] += clusters.pop(b)
        of_tree.add(frozenset(clusters[a]))
    if kind == "triplets":
        i, j, k = np.meshgrid(*[np.arange(n)] * 3, indexing="ij")
        fine = (similarity[i, j] > similarity[i, k]) & (i != j) & (i != k)
        return Triplets(np.column_stack([i[fine], j[fine], k[fine]]), n_leaves=n), of_tree
    # The noise is smaller than the difference between two heights, so it does not change the tree.
    noise = random.random((n, n)) / 2
    similarity += noise + noise.T
    i, j = np.triu_indices(n, 1)
    values = similarity[i, j]
    near, far = np.nonzero(values[:, None] > values[None])
    return Quadruplets(np.column_stack([i[near], j[near], i[far], j[far]]), n_leaves=n), of_tree


def _few_leaves(linkage: ComparisonLinkage) -> None:
    for n in (1, 2, 3):
        for data in linkage.samples(n, n):
            linkage.merge(data)


def _recovers(linkage: ComparisonLinkage) -> None:
    for data, clusters in linkage.answered(9, seed=4):
        kind = type(data).__name__.lower()
        need(clusters_of(linkage.merge(data)) == clusters, f"all {kind} of a true tree do not give this tree")


def _deterministic(linkage: ComparisonLinkage) -> None:
    for data in linkage.samples(7, seed=5):
        need(linkage.merge(data) == linkage.merge(data), "the same comparisons give different trees")


def _numbering(linkage: ComparisonLinkage) -> None:
    for data in linkage.samples(8, seed=6):
        order = np.random.default_rng(7).permutation(8)
        found = clusters_of(linkage.merge(renumbered(data, order)))
        need(found == clusters_of(linkage.merge(data).relabel(order)), "renumbering leaves changes the tree")


def _repeats(linkage: ComparisonLinkage) -> None:
    for data in linkage.samples(7, seed=8):
        once = clusters_of(linkage.merge(data))
        twice = type(data)(np.repeat(data.rows, 2, axis=0), n_leaves=7)
        weighted = type(data)(data.rows, n_leaves=7, weights=np.full(len(data), 2.0))
        with warnings.catch_warnings():
            # A linkage can warn that repeated equal answers count only once. The warning is not an error.
            warnings.simplefilter("ignore", OrdhcWarning)
            found = clusters_of(linkage.merge(twice))
        need(found == once, "repeated comparisons give another tree")
        need(clusters_of(linkage.merge(weighted)) == once, "weights of 2 give another tree")


def clusters_of(tree: Dendrogram) -> set[frozenset[int]]:
    members: list[frozenset[int]] = [frozenset([leaf]) for leaf in range(tree.n_leaves)]
    members += [frozenset()] * (len(tree.sizes))
    for node, above in enumerate(tree.parents[:-1].tolist()):
        members[above] |= members[node]
    return set(members)


#: The checks of `check_linkage` by name, for linkages that use comparisons.
COMPARISON_LINKAGE_CHECKS = by_name(_few_leaves, _recovers, _deterministic, _numbering, _repeats)
