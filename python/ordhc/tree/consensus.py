"""The tree of the clusters that many trees have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.matching import aligned
from ordhc.tree.shape import some_leaves

__all__ = ["consensus"]

#: Shares that differ by less are equal: weights are rounded.
_ROUNDING = 1e-9


def consensus(
    trees: Iterable[Any],
    *,
    threshold: float = 0.5,
    extended: bool = False,
    weights: ArrayLike | None = None,
) -> Dendrogram:
    """The consensus of trees: the tree of the clusters that most of them have.

    Parameters
    ----------
    trees
        Trees of the same leaves, each as `as_dendrogram` takes it. Leaves are matched by their names, or by
        number where no tree has names.
    threshold
        A cluster is taken if at least this share of the trees have it, from 0.5 to 1, and more than half do:
        0.5 is the majority rule (Margush & McMorris 1981), 1 the strict consensus.
    extended
        Take further clusters that contradict none of those taken, as long as there are any: those of more
        trees first, of equally many the smaller ones, then as they occur ("majority rule extended" in
        Phylip).
    weights
        The weight of each tree, not negative; by default 1.

    Returns
    -------
    Dendrogram
        `support` is the share of the trees that have each cluster. A node's height is the mean over these
        trees, but it stands no lower than what is within it. Where the branch lengths of a tree are those of
        no heights, lengths are means instead and heights are ranks, as `Dendrogram.from_newick` has it. Nodes
        of more than two children are joined merges. Leaves are numbered as in the first tree.

    Raises
    ------
    InputError
        No trees; trees of different leaves, with a name that is not in all; similarities beside
        dissimilarities.

    Examples
    --------
    >>> import ordhc
    >>> trees = ["(((a,b),c),d);", "(((b,a),c),d);", "((a,b),(c,d));", "((a,c),(b,d));"]
    >>> ordhc.consensus(trees).to_newick(branch_lengths=False)
    '(d,c,(a,b)75)100;'
    >>> ordhc.consensus(trees, extended=True).to_newick(branch_lengths=False)
    '(d,(c,(a,b)75)50)100;'
    """
    if isinstance(trees, str | Dendrogram):
        raise InputError(f"trees are several, not one {type(trees).__name__}; ordhc.read_trees reads them")
    threshold = _checks.number("threshold", threshold, at_least=0.5, at_most=1)
    extended = _checks.flag("extended", extended)
    found = aligned(trees)
    weight = _weights(weights, len(found))
    found, weight = [tree for tree, w in zip(found, weight, strict=True) if w], weight[weight > 0]
    if found[0].n_leaves == 1:
        return Dendrogram([], [], kind=found[0].kind, names=found[0].names)
    clusters = _Clusters.of(found, weight)
    shares = clusters.shares
    common = np.flatnonzero((shares >= threshold - _ROUNDING) & (shares > 0.5 + _ROUNDING))
    nest = _Nest(clusters, common)
    if extended:
        others = np.setdiff1d(np.arange(len(shares)), common)
        for cluster in others[np.lexsort((clusters.first[others], clusters.sizes[others], -shares[others]))]:
            if nest.is_binary:
                break
            nest.add(int(cluster))
    return _assembled(clusters, nest)


def _weights(given: ArrayLike | None, n_trees: int) -> NDArray[np.float64]:
    if given is None:
        return np.ones(n_trees)
    weights = _checks.numbers_of("weights", given, (n_trees,))
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise InputError(f"weights[{wrong[0]}] is {weights[wrong[0]]}; weights are finite and not negative")
    if not weights.sum() > 0:
        raise InputError("all weights are 0")
    return weights


@dataclass(frozen=True, slots=True, eq=False)
class _Clusters:
    """The different clusters of some trees, each known by the tree and the merge where it occurs first."""

    trees: Sequence[Dendrogram]
    weights: NDArray[np.float64]
    #: By tree and merge the number of the cluster, -1 for a merge that is only part of a node.
    numbers: NDArray[np.int64]
    #: By cluster: the place in `numbers` where it is first, its number of leaves, the share of the trees.
    first: NDArray[np.int64]
    sizes: NDArray[np.int64]
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, trees: Sequence[Dendrogram], weights: NDArray[np.float64]) -> "_Clusters":
        m = trees[0].n_leaves - 1
        # A cluster's code is the exclusive or of random numbers of its leaves: different ones have the same
        # with a probability of 2^-128.
        of_leaves = np.random.default_rng(0).integers(0, 2**64, (m + 1, 2), dtype=np.uint64)
        codes = np.concatenate([_codes(tree, of_leaves) for tree in trees])
        is_node = np.concatenate([np.ones(m, bool) if t.joined is None else ~t.joined for t in trees])
        places = np.flatnonzero(is_node)
        order = places[np.lexsort(codes[places].T)]
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = (codes[order[1:]] != codes[order[:-1]]).any(axis=1)
        numbers = np.full(len(is_node), -1)
        numbers[order] = np.cumsum(is_new) - 1
        first = order[is_new]
        sizes = np.concatenate([tree.sizes for tree in trees])[first]
        times = np.bincount(numbers[places], np.repeat(weights, m)[places], minlength=len(first))
        return cls(trees, weights, numbers, first, sizes, times / weights.sum())

    def mean(self, values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """By cluster the mean over the trees that have it, without NaN; of equal values it is that value."""
        table = np.concatenate(values)
        weights = np.repeat(self.weights, self.trees[0].n_leaves - 1)
        there = (self.numbers >= 0) & ~np.isnan(table)
        numbers, count = self.numbers[there], len(self.first)
        base = np.full(count, np.nan)
        base[numbers[::-1]] = table[there][::-1]
        times = np.bincount(numbers, weights[there], minlength=count)
        rest = np.bincount(numbers, weights[there] * (table[there] - base[numbers]), minlength=count)
        with np.errstate(invalid="ignore"):
            return base + rest / times


def _codes(tree: Dendrogram, of_leaves: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The code of each merge's cluster, (n - 1, 2)."""
    n, order = tree.n_leaves, tree._tree.leaf_order()
    before = np.zeros((n + 1, 2), dtype=np.uint64)
    np.bitwise_xor.accumulate(of_leaves[order], axis=0, out=before[1:])
    start = np.argsort(order)[some_leaves(tree.merges)[n:]]
    codes: NDArray[np.uint64] = before[start + tree.sizes] ^ before[start]
    return codes


class _Nest:
    """Clusters that contradict each other nowhere, as a tree.

    Its nodes are numbers: a leaf its own, cluster c is n + c.
    """

    def __init__(self, clusters: _Clusters, common: NDArray[np.int64]) -> None:
        self.clusters, self.n = clusters, clusters.trees[0].n_leaves
        self.parents: dict[int, int] = {}
        self.children: dict[int, dict[int, None]] = {}
        self._tops: dict[int, int] = {}
        self._merges: dict[int, list[list[int]]] = {}
        is_common = np.zeros(len(clusters.first), dtype=bool)
        is_common[common] = True
        numbers = clusters.numbers
        of = np.where((numbers >= 0) & is_common[np.maximum(numbers, 0)], numbers, -1).tolist()
        # Children before parents.
        for cluster in common[np.argsort(clusters.sizes[common], kind="stable")].tolist():
            self._complete(cluster, of)

    def _place(self, cluster: int) -> tuple[int, int, list[list[int]]]:
        """Where a cluster is: the place of its tree's first merge, its own merge, the tree's merges."""
        tree, merge = divmod(int(self.clusters.first[cluster]), self.n - 1)
        if tree not in self._merges:
            self._merges[tree] = self.clusters.trees[tree].merges.tolist()
        return tree * (self.n - 1), merge, self._merges[tree]

    def _complete(self, cluster: int, of: list[int]) -> None:
        """Put what is there already, of all smaller clusters, under a cluster."""
        n, own = self.n, self.n + cluster
        start, merge, merges = self._place(cluster)
        waiting, children = list(merges[merge]), self.children.setdefault(own, {})
        while waiting:
            part = waiting.pop()
            if part < n:
                children[self._top(part)] = None
            elif (smaller := of[start + part - n]) >= 0:
                children[self._top(n + smaller)] = None
            else:
                waiting += merges[part - n]
        for child in children:
            self.parents[child] = own

    def _top(self, node: int) -> int:
        """The largest cluster so far that a node is in."""
        way = []
        while node in self.parents:
            way.append(node)
            node = self._tops.get(node, self.parents[node])
        self._tops.update(dict.fromkeys(way, node))
        return node

    def _members(self, cluster: int) -> list[int]:
        """The leaves of a cluster."""
        _, merge, merges = self._place(cluster)
        waiting, leaves = list(merges[merge]), []
        while waiting:
            part = waiting.pop()
            if part < self.n:
                leaves.append(part)
            else:
                waiting += merges[part - self.n]
        return leaves

    @property
    def is_binary(self) -> bool:
        return len(self.children) == self.n - 1

    def size(self, node: int) -> int:
        return 1 if node < self.n else int(self.clusters.sizes[node - self.n])

    def add(self, cluster: int) -> None:
        """Add a cluster, if it contradicts none."""
        covered: dict[int, int] = {}
        parts: dict[int, list[int]] = {}
        waiting = self._members(cluster)
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


def _assembled(clusters: _Clusters, nest: _Nest) -> Dendrogram:
    trees, n = clusters.trees, nest.n
    first, m = trees[0], nest.n - 1
    rises = 1.0 if first.kind == "dissimilarity" else -1.0
    with_lengths = not all(map(_are_of_heights, trees))
    means = clusters.mean([tree.heights for tree in trees]) * rises
    nodes = sorted(nest.children, key=nest.size)
    height: dict[int, float] = {}
    smallest = dict(zip(range(n), range(n), strict=True))
    for node in nodes:
        within = [height[child] for child in nest.children[node] if child in height]
        height[node] = (
            1.0 + max(within, default=0.0) if with_lengths else max([float(means[node - n]), *within])
        )
        smallest[node] = min(smallest[child] for child in nest.children[node])
    merges: list[tuple[int, int]] = []
    heights, joined, support = np.empty(m), np.ones(m, dtype=bool), np.full(m, np.nan)
    label = dict(zip(range(n), range(n), strict=True))
    for node in sorted(nodes, key=lambda node: (height[node], nest.size(node), smallest[node])):
        whole, *others = [label[child] for child in sorted(nest.children[node], key=smallest.__getitem__)]
        for other in others:
            heights[len(merges)] = height[node]
            merges.append((whole, other))
            whole = n + len(merges) - 1
        label[node] = whole
        joined[whole - n], support[whole - n] = False, min(1.0, clusters.shares[node - n])
    lengths = None
    if with_lengths:
        own = clusters.mean([tree._lengths[n:] for tree in trees])
        lengths = np.full(2 * n - 1, np.nan)
        lengths[:n] = _mean_of([tree._lengths[:n] for tree in trees], clusters.weights)
        lengths[[label[node] for node in nodes]] = own[np.array(nodes, dtype=np.int64) - n]
    own_heights = [tree.leaf_heights for tree in trees if tree.leaf_heights is not None]
    return Dendrogram(
        merges,
        heights * (1.0 if with_lengths else rises),
        kind="dissimilarity" if with_lengths else first.kind,
        names=first.names,
        joined=joined,
        support=support,
        branch_lengths=lengths,
        leaf_heights=_mean_of(own_heights, clusters.weights)
        if len(own_heights) == len(trees) and not with_lengths
        else None,
    )


def _are_of_heights(tree: Dendrogram) -> bool:
    """Whether branch lengths are differences of heights, but for rounding."""
    if tree.branch_lengths is None:
        return True
    far = np.abs(tree.branch_lengths - tree.with_branch_lengths(None)._lengths)[:-1]
    if tree.joined is not None:
        far = np.delete(far, tree.n_leaves + np.flatnonzero(tree.joined))
    return bool((far <= 1e-4 * np.abs(tree.heights).max()).all())


def _mean_of(values: Sequence[NDArray[np.float64]], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean by leaf; of equal values it is that value. NaN counts not."""
    table = np.array(values)
    there = ~np.isnan(table)
    base = np.take_along_axis(table, there.argmax(axis=0)[None], axis=0)[0]
    rest = np.where(there, (table - base) * weights[:, None], 0.0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(base + rest / (there * weights[:, None]).sum(axis=0))
