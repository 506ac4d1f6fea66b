"""Average linkage of dot products along a graph of nearest neighbours, then of all pairs of what is left."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress, part
from ordhc.similarities.vectors import blocks
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import from_engine

__all__ = ["linked_dot_linkage"]

#: All pairs are compared when this number of clusters is left, or a tenth of the vectors if that is fewer.
_MOST, _LEAST = 20_000, 1000
#: Edges whose similarities are computed at a time.
_EDGES = 1 << 18
#: A round that merges less than this share of the clusters is slow.
_SLOW = 1 / 64
#: The share of progress of merging along the graph.
_MERGING = 0.5


def linked_dot_linkage(
    points: NDArray[Any],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    initial: NDArray[np.int64] | None,
    progress: Progress | None,
) -> Dendrogram:
    """Return the dendrogram of vectors, given which pairs of them are linked.

    The average dot product of two clusters is that of their means, whatever of it is linked. So links only
    say which pairs are looked at: of these, clusters merge that are each other's nearest. When few clusters
    are left, all of their pairs are looked at. Where a pair merges that is closer than its parts, as links
    may leave out closer ones, it stands at the height of the less similar part.
    """
    n = len(points)
    graph = _Graph(points, low, high, initial)
    target = min(_MOST, max(_LEAST, n // 10))
    before = graph.size
    while graph.size > target and len(graph.low):
        merged = graph.step(graph.size - target)
        if progress is not None and before > target:
            progress(_MERGING * (before - graph.size) / (before - target))
        if merged < _SLOW * graph.size and graph.size <= 4 * target:
            break
    top = _ordhc.mean_dot_linkage(points, 1.0, np.ascontiguousarray(graph.label), part(progress, _MERGING, 1))
    merges, heights = graph.joined(from_engine(top))
    n_initial = n - before
    return _monotone(merges, heights, n, n_initial)


@dataclass
class _Graph:
    """Clusters of vectors, with links: sums of vectors, sizes, nodes of the tree, each vector's cluster."""

    points: NDArray[Any]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    initial: NDArray[np.int64] | None
    merges: list[NDArray[np.int64]] = field(default_factory=list)
    heights: list[NDArray[np.float64]] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = len(self.points)
        self.count = n
        self.label, self.node = np.arange(n), np.arange(n)
        self.sums = self.points.astype(np.float64)
        self.sizes = np.ones(n, dtype=np.int64)
        self.values = self._dots(self.low, self.high)
        if self.initial is not None:
            self._begin(self.initial)

    @property
    def size(self) -> int:
        """How many clusters there are."""
        return len(self.node)

    def _begin(self, initial: NDArray[np.int64]) -> None:
        """Merge initial clusters; their heights are not known yet."""
        _, first, label = np.unique(initial, return_index=True, return_inverse=True)
        into = first[label]
        others = np.flatnonzero(into != np.arange(self.count))
        # Each cluster takes its vectors one by one.
        last = np.arange(self.count)
        pairs = np.empty((len(others), 2), dtype=np.int64)
        for at, leaf in enumerate(others.tolist()):
            pairs[at] = last[into[leaf]], leaf
            last[into[leaf]] = self.count + at
        self.node = last
        self._merged(pairs, np.full(len(pairs), np.inf), into)

    def _dots(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the average dot product of each pair of clusters."""
        found = np.empty(len(low))
        for at in blocks(len(low), _EDGES):
            found[at] = np.einsum("ij,ij->i", self.sums[low[at]], self.sums[high[at]])
        return found / (self.sizes[low].astype(np.float64) * self.sizes[high])

    def step(self, most: int) -> int:
        """Merge linked pairs that are each other's nearest, at most `most`, the closest first."""
        m, low, high, values = self.size, self.low, self.high, self.values
        best = np.full(m, -np.inf)
        np.maximum.at(best, low, values)
        np.maximum.at(best, high, values)
        # Ties go to the first edge in an order unrelated to leaf numbers. By leaf numbers, long chains of
        # equal vectors would merge at one end only.
        equal = np.flatnonzero((values == best[low]) & (values == best[high]))
        rank = _mixed(low[equal] << 32 | high[equal])
        first = np.full(m, np.iinfo(np.uint64).max, dtype=np.uint64)
        np.minimum.at(first, low[equal], rank)
        np.minimum.at(first, high[equal], rank)
        chosen = equal[(rank == first[low[equal]]) & (rank == first[high[equal]])]
        chosen = chosen[np.argsort(-values[chosen], kind="stable")][:most]
        a, b = low[chosen], high[chosen]
        into = np.arange(m)
        into[b] = a
        pairs = np.column_stack([self.node[a], self.node[b]])
        self.node[a] = self.count + np.arange(len(a))
        self._merged(pairs, values[chosen], into)
        return len(a)

    def _merged(
        self, pairs: NDArray[np.int64], heights: NDArray[np.float64], into: NDArray[np.int64]
    ) -> None:
        """Note merges of which each cluster goes `into` another, and put links together."""
        self.merges.append(pairs)
        self.heights.append(heights)
        self.count += len(pairs)
        kept = into == np.arange(len(into))
        gone = np.flatnonzero(~kept)
        np.add.at(self.sums, into[gone], self.sums[gone])
        np.add.at(self.sizes, into[gone], self.sizes[gone])
        changed = np.zeros(len(into), dtype=bool)
        changed[into[gone]] = True
        number = (np.cumsum(kept) - 1)[into]
        self.sums, self.sizes, self.node = self.sums[kept], self.sizes[kept], self.node[kept]
        self.label = number[self.label]
        changed = changed[kept]
        low, high = number[self.low], number[self.high]
        apart = low != high
        keys = np.minimum(low, high)[apart] << 32 | np.maximum(low, high)[apart]
        keys, at = np.unique(keys, return_index=True)
        self.low, self.high, self.values = keys >> 32, keys & 0xFFFFFFFF, self.values[apart][at]
        stale = changed[self.low] | changed[self.high]
        self.values[stale] = self._dots(self.low[stale], self.high[stale])

    def joined(self, top: Dendrogram) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """All merges: those along the graph, then those of a tree whose initial clusters these are."""
        n, m = len(self.points), self.size
        inside = n - m
        ends = top.merges[inside:].astype(np.int64).ravel()
        # Any of its leaves identifies an initial cluster.
        leaves = np.where(ends < n + inside, ends, 0)
        while (large := leaves >= n).any():
            leaves[large] = top.merges[leaves[large] - n, 0]
        ends = np.where(ends < n + inside, self.node[self.label[leaves]], ends - n - inside + self.count)
        merges = np.concatenate([*self.merges, ends.reshape(-1, 2)])
        return merges, np.concatenate([*self.heights, top.heights[inside:]])


def _mixed(keys: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Different numbers for different keys, in no order (a round of splitmix64, which can be undone)."""
    mixed = keys.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _monotone(merges: NDArray[np.int64], heights: NDArray[np.float64], n: int, n_initial: int) -> Dendrogram:
    """Return the tree of `merges`, given with parts first; make heights monotone."""
    later = heights[n_initial:]
    heights[:n_initial] = later.max() if len(later) else 1.0
    found = heights.tolist()
    for at, (one, other) in enumerate(merges.tolist()):
        if one >= n and found[one - n] < found[at]:
            found[at] = found[one - n]
        if other >= n and found[other - n] < found[at]:
            found[at] = found[other - n]
    heights = np.array(found)
    order = np.argsort(-heights, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    merges = merges[order]
    merges = np.where(merges < n, merges, n + place[np.maximum(merges - n, 0)])
    return Dendrogram(merges, heights[order], kind="similarity")
