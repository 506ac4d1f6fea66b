"""Nodes of a dendrogram: their children, parents and leaves, laid out once for all of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.tree.beside import Beside


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What stands under what. A node is labelled as the last of its merges; joined ones are no nodes.

    Children stand in the order in which `Dendrogram.to_newick` writes them, and the leaves of each node next
    to each other in `order`: from `starts[node]`, `sizes[node]` of them.
    """

    #: By label, (2n - 1,): -1 above the root, and for merges that are part of another node.
    parents: list[int]
    #: The node that each merge is part of, (n - 1,).
    nodes: NDArray[np.int64]
    #: The children of all nodes; those of one are `children[first[label] : first[label + 1]]`.
    children: list[int]
    first: list[int]
    starts: list[int]
    sizes: list[int]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, tree: _ordhc.Dendrogram, beside: Beside) -> "Shape":
        """Of a tree, in O(n log n)."""
        n, merges, joined = tree.n_leaves, tree.merges(), tree.joined()
        nodes = nodes_of(merges, joined)
        parts, above = merges.ravel(), np.repeat(nodes, 2)
        if joined is not None:
            is_node = np.concatenate([np.ones(n, dtype=bool), ~joined])[parts]
            parts, above = parts[is_node], above[is_node]
        if joined is not None or beside.standing is not None:
            order = tree.leaf_order() if beside.standing is None else beside.standing
            turn = np.lexsort((first_places(order, merges)[parts], above))
            parts, above = parts[turn], above[turn]
        parents = np.full(2 * n - 1, -1)
        parents[parts] = above
        first = np.concatenate([[0], np.cumsum(np.bincount(above, minlength=2 * n - 1))]).tolist()
        children, sizes = parts.tolist(), [1] * n + tree.sizes().tolist()
        starts = [0] * (2 * n - 1)
        for label in range(2 * n - 2, n - 1, -1):
            start = starts[label]
            for child in children[first[label] : first[label + 1]]:
                starts[child] = start
                start += sizes[child]
        leaves = np.empty(n, dtype=np.int64)
        leaves[starts[:n]] = np.arange(n)
        leaves.flags.writeable = False
        return cls(parents.tolist(), nodes, children, first, starts, sizes, leaves)

    def children_of(self, label: int) -> list[int]:
        """The labels of a node's children."""
        return self.children[self.first[label] : self.first[label + 1]]

    def leaves_of(self, label: int) -> NDArray[np.int64]:
        """The leaves below a node, itself if it is one."""
        start = self.starts[label]
        return self.order[start : start + self.sizes[label]]

    def preorder(self, root: int) -> Iterator[int]:
        """A node and all nodes below, parents before children."""
        children, first, waiting = self.children, self.first, [root]
        while waiting:
            label = waiting.pop()
            yield label
            waiting.extend(children[first[label] : first[label + 1]][::-1])

    def postorder(self, root: int) -> Iterator[int]:
        """A node and all nodes below, children before parents."""
        children, first, waiting = self.children, self.first, [root]
        found = []
        while waiting:
            label = waiting.pop()
            found.append(label)
            waiting.extend(children[first[label] : first[label + 1]])
        return reversed(found)

    def of_pairs(self, values: NDArray[np.float64], *, square: bool) -> NDArray[np.float64]:
        """For each pair of leaves the value of the smallest node with both, condensed or square."""
        n = len(self.order)
        # By places, where the leaves of a node are next to each other.
        table = np.empty((n, n))
        table[np.diag_indices(n)] = values[self.order]
        for label in self.preorder(2 * n - 2):
            end = self.starts[label] + self.sizes[label]
            for child in self.children_of(label):
                start = self.starts[child]
                after = start + self.sizes[child]
                table[start:after, after:end] = table[after:end, start:after] = values[label]
        places = np.array(self.starts[:n])
        if square:
            return np.ascontiguousarray(table[np.ix_(places, places)])
        found, end = np.empty(n * (n - 1) // 2), 0
        for leaf, place in enumerate(places.tolist()):
            begin, end = end, end + n - leaf - 1
            found[begin:end] = table[place, places[leaf + 1 :]]
        return found


def nodes_of(merges: NDArray[np.int64], joined: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """The label of the node that each merge is part of, (n - 1,)."""
    m = len(merges)
    top = np.arange(m)
    if joined is not None:
        above = np.zeros(2 * m + 1, dtype=np.int64)
        above[merges.ravel()] = np.repeat(top, 2)
        top = np.where(joined, above[m + 1 :], top)
        while not np.array_equal(further := top[top], top):
            top = further
    return top + m + 1


def some_leaves(merges: NDArray[np.int64]) -> NDArray[np.int64]:
    """A leaf of each cluster, by label, (2n - 1,)."""
    n = len(merges) + 1
    found = np.concatenate([np.arange(n), merges[:, 0]])
    while (found >= n).any():
        found = found[found]
    return found


def first_places(order: NDArray[np.int64], merges: NDArray[np.int64]) -> NDArray[np.int64]:
    """By label the place of the cluster's first leaf in an order."""
    places = np.argsort(order).tolist()
    for a, b in merges.tolist():
        places.append(min(places[a], places[b]))
    return np.array(places, dtype=np.int64)
