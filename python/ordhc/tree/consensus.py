"""The consensus of many trees: the tree of the clusters that most of the trees contain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.errors import InputError, warn
from ordhc.tree.annotations import shown
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.matching import aligned, listed_trees
from ordhc.tree.shape import Shape
from ordhc.tree.supertrees import supertree

#: Tolerance for comparing shares with the threshold, because sums of weights have rounding errors.
_ROUNDING = 1e-9


def consensus(
    trees: Iterable[Any],
    *,
    threshold: float = 0.5,
    extended: bool = False,
    weights: ArrayLike | None = None,
) -> Dendrogram:
    """Return the consensus of trees: the tree of the clusters that most of the trees contain.

    Parameters
    ----------
    trees
        Trees in any form that `as_dendrogram` takes. Leaves are matched by name, or by number if no tree has
        names. Trees with names can have different leaves: then the result is a supertree of all leaves.
    threshold
        From 0.5 (the default) to 1: the smallest share of the trees that must contain a cluster. The share
        must also be above 0.5. A threshold of 0.5 is the majority rule (Margush & McMorris 1981), 1 is the
        strict consensus.
    extended
        True adds further clusters that do not contradict the clusters added before. Clusters of more trees
        come first. Among equal shares smaller clusters come first, then the order of occurrence decides.
        Phylip calls this method "majority rule extended".
    weights
        (number of trees,), the weight of each tree, 0 or larger. By default all weights are 1.

    Returns
    -------
    Dendrogram
        `support` is the share of the trees that contain each cluster. Leaves are numbered as in the first
        tree.

        If all trees have heights, the height of a node is the mean over the trees that contain its cluster,
        moved away from the leaves if a node below is farther. Otherwise, if all trees have heights or
        lengths, the length of an edge is the mean over the trees that contain the cluster below the edge.
        Otherwise the tree is shape alone.

        A supertree is shape alone. `support` of a node is a share of the triplets that trees resolve. These
        are triplets of leaves a and b in different children of the node, and of a leaf c in another child of
        its parent. The share is that of ab|c. NaN means that no tree resolves such a triplet. A supertree has
        the nodes whose support reaches `threshold` or is NaN; with `extended` all nodes.

    Warns
    -----
    OrdhcWarning
        The trees have different leaves, with the number of leaves that all trees have.

    Raises
    ------
    InputError
        There are no trees; trees without names have different numbers of leaves; or some heights are
        similarities and others are dissimilarities.

    Notes
    -----
    If the trees do not contradict each other, the supertree agrees with all of them (BUILD, Aho, Sagiv,
    Szymanski & Ullman 1981). Leaves about which trees contradict each other are placed by the sums of all
    triplets: average linkage of AddS3, refined by moves of subtrees, as ``cluster(triplets, "adds3-al+spr")``
    does.

    Examples
    --------
    >>> import ordhc
    >>> trees = ["(((a,b),c),d);", "(((b,a),c),d);", "((a,b),(c,d));", "((a,c),(b,d));"]
    >>> ordhc.consensus(trees).to_newick(branch_lengths=False)
    '(c,d,(a,b)75)100;'
    >>> ordhc.consensus(trees, extended=True).to_newick(branch_lengths=False)
    '(d,(c,(a,b)75)50)100;'

    Different leaves make a supertree, with a warning:

    >>> ordhc.consensus(["((a,b),c);", "((b,c),d);"]).to_newick(branch_lengths=False)  # doctest: +SKIP
    '(d,(c,(a,b)100)100)100;'
    """
    threshold = _checks.number("threshold", threshold, at_least=0.5, at_most=1)
    extended = _checks.flag("extended", extended)
    found = listed_trees(trees)
    weight = _weights(weights, len(found))
    if (united := _united(found)) is not None:
        return _supertree(found, *united, weight, threshold, extended=extended)
    found = aligned(found)
    found, weight = [tree for tree, w in zip(found, weight, strict=True) if w], weight[weight > 0]
    if found[0].n_leaves == 1:
        return Dendrogram([], [], kind=found[0].kind, names=found[0].names)
    clusters = _Clusters.of(found, weight)
    shares = clusters.shares
    common = np.flatnonzero((shares >= threshold - _ROUNDING) & (shares > 0.5 + _ROUNDING))
    nest = _Hierarchy(clusters, common)
    if extended:
        others = np.setdiff1d(np.arange(len(shares)), common)
        for cluster in others[np.lexsort((clusters.first[others], clusters.sizes[others], -shares[others]))]:
            if nest.is_binary:
                break
            nest.add(int(cluster))
    return _assembled(clusters, nest)


def _united(trees: Sequence[Dendrogram]) -> tuple[list[str], list[NDArray[np.int64]]] | None:
    """Return the list of the names of all leaves; and for each tree, the index of each leaf in this list.

    The result is None if a tree has no names, or if all trees have the same leaves.
    """
    if not trees or any(tree.names is None for tree in trees):
        return None
    plain = [[name.replace("_", " ") for name in tree.labels] for tree in trees]
    # Underscores and blanks are the same, unless two leaves of a tree differ in nothing else.
    keys = plain if all(len(set(own)) == len(own) for own in plain) else [tree.labels for tree in trees]
    place: dict[str, int] = {}
    names: list[str] = []
    for tree, own in zip(trees, keys, strict=True):
        for name, key in zip(tree.labels, own, strict=True):
            if place.setdefault(key, len(names)) == len(names):
                names.append(name)
    if all(tree.n_leaves == len(names) for tree in trees):
        return None
    return names, [np.array([place[key] for key in own], dtype=np.int64) for own in keys]


def _supertree(
    trees: Sequence[Dendrogram],
    names: Sequence[str],
    leaves: Sequence[NDArray[np.int64]],
    weights: NDArray[np.float64],
    threshold: float,
    *,
    extended: bool,
) -> Dendrogram:
    counts = np.bincount(np.concatenate(leaves), minlength=len(names))
    rare, n_common = int(counts.argmin()), int((counts == len(trees)).sum())
    warn(
        f"the trees have different leaves, so the consensus is a supertree: {n_common:,} of {len(names):,} "
        f"leaves are in all {len(trees):,} trees, {shown(names[rare])} is in {counts[rare]:,} of them"
    )
    used = np.flatnonzero(weights > 0).tolist()
    found = supertree([trees[at] for at in used], [leaves[at] for at in used], weights[used], names)
    return found if extended else found.contract(max(threshold - _ROUNDING, 0.5 + _ROUNDING))


def _weights(given: ArrayLike | None, n_trees: int) -> NDArray[np.float64]:
    if given is None:
        return np.ones(n_trees)
    weights = _checks.numbers_of("weights", given, (n_trees,))
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise InputError(
            f"weights[{wrong[0]}] is {weights[wrong[0]]}; weights must be finite and not negative"
        )
    if not weights.sum() > 0:
        raise InputError("all weights are 0; at least one must be positive")
    return weights


@dataclass(frozen=True, slots=True, eq=False)
class _Clusters:
    """The distinct clusters of several trees. Inner nodes are numbered through all trees, tree after tree."""

    trees: Sequence[Dendrogram]
    weights: NDArray[np.float64]
    #: The number of the first inner node of each tree, and last the total number of inner nodes.
    begins: NDArray[np.int64]
    #: The number of the cluster of each inner node.
    numbers: NDArray[np.int64]
    #: For each cluster: its first inner node, its number of leaves, and the share of the trees with it.
    first: NDArray[np.int64]
    sizes: NDArray[np.int64]
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, trees: Sequence[Dendrogram], weights: NDArray[np.float64]) -> _Clusters:
        n = trees[0].n_leaves
        counts = [len(tree.sizes) for tree in trees]
        of_leaves = np.random.default_rng(0).integers(0, 2**64, (n, 2), dtype=np.uint64)
        codes = np.concatenate([cluster_codes(tree, of_leaves) for tree in trees])
        order = np.lexsort(codes.T)
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = (codes[order[1:]] != codes[order[:-1]]).any(axis=1)
        numbers = np.empty(len(order), dtype=np.int64)
        numbers[order] = np.cumsum(is_new) - 1
        first = order[is_new]
        sizes = np.concatenate([tree.sizes for tree in trees])[first]
        times = np.bincount(numbers, np.repeat(weights, counts), minlength=len(first))
        begins = np.concatenate([[0], np.cumsum(counts)])
        return cls(trees, weights, begins, numbers, first, sizes, times / weights.sum())

    def mean(self, values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the weighted mean of each cluster's values in the trees that contain it, ignoring NaN.

        `values` has an array for each tree, with one value for each inner node.
        """
        return _mean(values, self.weights, self.numbers, len(self.first))


def cluster_codes(tree: Dendrogram, of_leaves: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a hash of the cluster of each inner node, (n_nodes - n, 2), from 128 random bits of each leaf.

    The hash is the exclusive or of the bits of the cluster's leaves. Two different clusters have the same
    hash with a probability of 2^-128.
    """
    n, shape = tree.n_leaves, tree._shape
    before = np.zeros((n + 1, 2), dtype=np.uint64)
    np.bitwise_xor.accumulate(of_leaves[shape.order], axis=0, out=before[1:])
    start = np.array(shape.starts[n:], dtype=np.int64)
    codes: NDArray[np.uint64] = before[start + tree.sizes] ^ before[start]
    return codes


class _Hierarchy:
    """A tree of clusters that do not contradict each other. Leaf i is node i, cluster c is node n + c."""

    def __init__(self, clusters: _Clusters, common: NDArray[np.int64]) -> None:
        self.clusters, self.n = clusters, clusters.trees[0].n_leaves
        self.parents: dict[int, int] = {}
        self.children: dict[int, dict[int, None]] = {}
        self._tops: dict[int, int] = {}
        is_common = np.zeros(len(clusters.first), dtype=bool)
        is_common[common] = True
        of = np.where(is_common[clusters.numbers], clusters.numbers, -1).tolist()
        # Smaller clusters first, so that children are inserted before their parents.
        for cluster in common[np.argsort(clusters.sizes[common], kind="stable")].tolist():
            self._complete(cluster, of)

    def _place(self, cluster: int) -> tuple[int, int, Shape]:
        """Return where a cluster occurs in the first tree that contains it.

        The result is the number of inner nodes of earlier trees, the cluster's node, and the tree's shape.
        """
        first = int(self.clusters.first[cluster])
        tree = int(np.searchsorted(self.clusters.begins, first, side="right")) - 1
        begin = int(self.clusters.begins[tree])
        return begin, self.n + first - begin, self.clusters.trees[tree]._shape

    def _complete(self, cluster: int, of: list[int]) -> None:
        """Set the children of `cluster`: its largest subclusters in the tree so far, and its other leaves."""
        n, own = self.n, self.n + cluster
        begin, node, shape = self._place(cluster)
        waiting, children = list(shape.children_of(node)), self.children.setdefault(own, {})
        while waiting:
            part = waiting.pop()
            if part < n:
                children[self._top(part)] = None
            elif (smaller := of[begin + part - n]) >= 0:
                children[self._top(n + smaller)] = None
            else:
                waiting += shape.children_of(part)
        for child in children:
            self.parents[child] = own

    def _top(self, node: int) -> int:
        way = []
        while node in self.parents:
            way.append(node)
            node = self._tops.get(node, self.parents[node])
        self._tops.update(dict.fromkeys(way, node))
        return node

    @property
    def is_binary(self) -> bool:
        return len(self.children) == self.n - 1

    def size(self, node: int) -> int:
        return 1 if node < self.n else int(self.clusters.sizes[node - self.n])

    def add(self, cluster: int) -> None:
        covered: dict[int, int] = {}
        parts: dict[int, list[int]] = {}
        _, source, shape = self._place(cluster)
        waiting: list[int] = shape.leaves_of(source).tolist()
        while waiting:
            node = waiting.pop()
            above = self.parents[node]
            covered[above] = covered.get(above, 0) + self.size(node)
            parts.setdefault(above, []).append(node)
            if covered[above] == self.size(above):
                waiting.append(above)
        partly = [node for node, count in covered.items() if count < self.size(node)]
        if len(partly) != 1:
            return
        above, own = partly[0], self.n + cluster
        self.children[own] = dict.fromkeys(parts[above])
        for child in parts[above]:
            del self.children[above][child]
            self.parents[child] = own
        self.children[above][own] = None
        self.parents[own] = above


def _assembled(clusters: _Clusters, nest: _Hierarchy) -> Dendrogram:
    trees, n = clusters.trees, nest.n
    first = trees[0]
    nodes = sorted(nest.children, key=nest.size)
    number = {node: n + at for at, node in enumerate(nodes)}
    parents = [-1] * (n + len(nodes))
    for node in nodes:
        for child in nest.children[node]:
            parents[number.get(child, child)] = number[node]
    order = np.array(nodes, dtype=np.int64) - n
    leaves = np.tile(np.arange(n), len(trees))
    heights = lengths = own = None
    if all(tree.root.height is not None for tree in trees):
        rises = 1.0 if first.kind == "dissimilarity" else -1.0
        means = (clusters.mean([tree.heights for tree in trees])[order] * rises).tolist()
        for at, parent in enumerate(parents[n:-1]):
            means[parent - n] = max(means[parent - n], means[at])
        heights = np.array(means) * rises
        own_heights = [tree.leaf_heights for tree in trees if tree.leaf_heights is not None]
        if len(own_heights) == len(trees):
            own = _mean(own_heights, clusters.weights, leaves, n)
    elif all(tree.scale != "shape" for tree in trees):
        lengths = np.concatenate(
            [
                _mean([tree.lengths[:n] for tree in trees], clusters.weights, leaves, n),
                clusters.mean([tree.lengths[n:] for tree in trees])[order],
            ]
        )
    return Dendrogram.from_parents(
        parents,
        heights=heights,
        lengths=lengths,
        kind=first.kind,
        names=first.names,
        support=np.minimum(1.0, clusters.shares[order]),
        leaf_heights=own,
    )


def _mean(
    values: Sequence[NDArray[np.float64]],
    of_trees: NDArray[np.float64],
    numbers: NDArray[np.int64],
    count: int,
) -> NDArray[np.float64]:
    """Return the weighted mean of the values with each number from 0 to `count` - 1, ignoring NaN.

    `values` has an array for each tree, `of_trees` the weight of each tree, and `numbers` the number of each
    value, through all trees. The mean of equal values has no rounding error, because the differences from the
    first value are averaged.
    """
    table, weights = np.concatenate(values), np.repeat(of_trees, list(map(len, values)))
    there = ~np.isnan(table)
    table, weights, numbers = table[there], weights[there], numbers[there]
    base = np.full(count, np.nan)
    base[numbers[::-1]] = table[::-1]
    rest = np.bincount(numbers, weights * (table - base[numbers]), minlength=count)
    with np.errstate(invalid="ignore"):
        return base + rest / np.bincount(numbers, weights, minlength=count)
