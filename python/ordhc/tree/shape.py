"""The class `Shape`: parents, children, and an order in which the leaves of each node are contiguous."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """The relations between the nodes of a tree. Nodes are numbered as in the tree: leaves first, root last.

    Children are in the order in which `Dendrogram.to_newick` writes them. The leaves of each node are
    contiguous in `order`: ``order[starts[node] : starts[node] + sizes[node]]``.
    """

    #: The parent of each node, -1 for the root.
    parents: list[int]
    #: The children of all nodes. The children of a node are `children[first[node] : first[node + 1]]`.
    children: list[int]
    first: list[int]
    starts: list[int]
    sizes: list[int]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, tree: _ordhc.Tree, written_order: NDArray[np.int64] | None) -> "Shape":
        n, n_nodes, above = tree.n_leaves, tree.n_nodes, tree.parents()
        parents, root = above.tolist(), n_nodes - 1
        parents[root] = -1
        parts = np.arange(root)
        if written_order is None:
            turn = np.argsort(above[:root], kind="stable")
        else:
            places = np.empty(n_nodes, dtype=np.int64)
            places[written_order] = np.arange(n)
            firsts = places.tolist()
            firsts[n:] = [n] * (n_nodes - n)
            for node in range(root):
                firsts[parents[node]] = min(firsts[parents[node]], firsts[node])
            turn = np.lexsort((np.array(firsts[:root]), above[:root]))
        children = parts[turn].tolist()
        counts = np.bincount(above[:root], minlength=n_nodes)
        first = np.concatenate([[0], np.cumsum(counts)]).tolist()
        sizes = [1] * n + tree.sizes().tolist()
        starts = [0] * n_nodes
        for node in range(root, n - 1, -1):
            start = starts[node]
            for child in children[first[node] : first[node + 1]]:
                starts[child] = start
                start += sizes[child]
        leaves = np.empty(n, dtype=np.int64)
        leaves[starts[:n]] = np.arange(n)
        leaves.flags.writeable = False
        return cls(parents, children, first, starts, sizes, leaves)

    @property
    def root(self) -> int:
        return len(self.parents) - 1

    def children_of(self, node: int) -> list[int]:
        return self.children[self.first[node] : self.first[node + 1]]

    def leaves_of(self, node: int) -> NDArray[np.int64]:
        start = self.starts[node]
        return self.order[start : start + self.sizes[node]]

    def preorder(self, root: int) -> Iterator[int]:
        children, first, waiting = self.children, self.first, [root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(children[first[node] : first[node + 1]][::-1])

    def postorder(self, root: int) -> Iterator[int]:
        children, first, waiting = self.children, self.first, [root]
        found = []
        while waiting:
            node = waiting.pop()
            found.append(node)
            waiting.extend(children[first[node] : first[node + 1]])
        return reversed(found)

    def of_pairs(self, values: NDArray[np.float64], *, square: bool) -> NDArray[np.float64]:
        """Return the value of the lowest common ancestor of each pair of leaves, condensed or square.

        `values` has a value for each node. The diagonal of a square matrix has the values of the leaves.
        """
        n = len(self.order)
        # The table is indexed by position in `order`, so that the leaves of a node are one slice.
        table = np.empty((n, n))
        table[np.diag_indices(n)] = values[self.order]
        for node in self.preorder(self.root):
            end = self.starts[node] + self.sizes[node]
            for child in self.children_of(node):
                start = self.starts[child]
                after = start + self.sizes[child]
                table[start:after, after:end] = table[after:end, start:after] = values[node]
        places = np.array(self.starts[:n])
        if square:
            return np.ascontiguousarray(table[np.ix_(places, places)])
        found, end = np.empty(n * (n - 1) // 2), 0
        for leaf, place in enumerate(places.tolist()):
            begin, end = end, end + n - leaf - 1
            found[begin:end] = table[place, places[leaf + 1 :]]
        return found
