"""The class `Node`: a node of a dendrogram, with its parent and its children."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks


class Node:
    """A node of a tree, as `Dendrogram.root`, `Dendrogram.node` and `Dendrogram.nodes` return it.

    A `Node` stores only its tree and its number. Each call makes a new object, so compare nodes by ``==``,
    not by ``is``.

    Examples
    --------
    >>> import ordhc
    >>> root = ordhc.Dendrogram.from_newick("((cat:1,dog:1)pets:2,car:3);").root
    >>> root.children
    (<Node 3 'pets': 2 leaves, height 2>, <Node 2 'car': a leaf>)
    >>> pets = root.children[0]
    >>> pets.leaf_names, pets.height, pets.branch_length, pets.parent == root
    (('cat', 'dog'), 2.0, 2.0, True)
    """

    __slots__ = ("_label", "_tree")

    def __init__(self, tree: Any, label: int) -> None:
        self._tree = tree
        self._label = label

    tree: Any = _checks.read_only("_tree", "The `Dendrogram` that contains the node.")

    label: int = _checks.read_only(
        "_label", "The number of the node: leaves are 0 to n - 1; in a binary tree node n + k is merge k."
    )

    @property
    def is_leaf(self) -> bool:
        """True if the node is a leaf."""
        return bool(self._label < self._tree.n_leaves)

    @property
    def children(self) -> "tuple[Node, ...]":
        """The children of the node, in the order in which `Dendrogram.to_newick` writes them."""
        tree = self._tree
        return tuple([Node(tree, child) for child in tree._shape.children_of(self._label)])

    @property
    def parent(self) -> "Node | None":
        """The parent of the node; None for the root."""
        above = self._tree._shape.parents[self._label]
        return None if above < 0 else Node(self._tree, above)

    @property
    def leaves(self) -> NDArray[np.int64]:
        """The numbers of the leaves below the node, (size,), read-only; for a leaf its own number."""
        found: NDArray[np.int64] = self._tree._shape.leaves_of(self._label)
        return found

    @property
    def leaf_names(self) -> tuple[str, ...]:
        """The names of the leaves below the node; if the tree has no names, their numbers as text."""
        labels = self._tree.labels
        return tuple([labels[leaf] for leaf in self.leaves.tolist()])

    @property
    def size(self) -> int:
        """The number of leaves below the node; 1 for a leaf."""
        return int(self._tree._shape.sizes[self._label])

    @property
    def height(self) -> float | None:
        """The height of the node; None if the tree has no heights, see `Dendrogram.heights`.

        Leaves have the heights `Dendrogram.leaf_heights`. If these are None, leaves have height 0 with
        dissimilarities, and the height of the closest merge with similarities.
        """
        heights = self._tree._heights_if_any
        return None if heights is None else float(heights[self._label])

    @property
    def depth(self) -> int:
        """The number of edges between the root and the node: 0 for the root."""
        above, found, label = self._tree._shape.parents, 0, self._label
        while (label := above[label]) >= 0:
            found += 1
        return found

    @property
    def branch_length(self) -> float | None:
        """The length of the edge above the node, as in `Dendrogram.lengths`; None if unknown."""
        return None if self._tree.scale == "shape" else _known(float(self._tree.lengths[self._label]))

    @property
    def support(self) -> float | None:
        """How certain the node is, from 0 to 1; None for leaves and for nodes of unknown support."""
        values = self._tree.support
        return (
            None if values is None or self.is_leaf else _known(float(values[self._label - len(self._tree)]))
        )

    @property
    def name(self) -> str | None:
        """The name of the leaf or inner node, or None."""
        names, at = self._tree.names, self._label
        if not self.is_leaf:
            at -= len(self._tree)
            return None if self._tree.node_names is None else self._tree.node_names[at]
        return None if names is None else names[at]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        return self._tree is other._tree and self._label == other._label

    def __hash__(self) -> int:
        return hash((id(self._tree), self._label))

    def __repr__(self) -> str:
        name = "" if self.name is None else f" {self.name!r}"
        height = self.height
        what = "a leaf" if self.is_leaf else f"{self.size:,} leaves"
        if height is not None and not self.is_leaf:
            what += f", height {height:.6g}"
        return f"<Node {self._label}{name}: {what}>"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
