"""Place new items in a tree, by their similarities to its leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.tree.convert import as_dendrogram
from ordhc.tree.dendrogram import Dendrogram

#: The linkages that work on squared dissimilarities.
_SQUARED = ("ward", "centroid", "median")


@dataclass(frozen=True)
class Placement:
    """Where m new items merge with a tree of n leaves: the nodes, and the heights of these merges.

    Parameters
    ----------
    tree
        The tree without the new items.
    nodes
        (m,) ids of nodes: each new item merges with this node of `tree`.
    heights
        (m,) heights of these merges, in the units of the tree.
    """

    tree: Dendrogram
    nodes: NDArray[np.int64]
    heights: NDArray[np.float64]

    def labels(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the flat cluster of each new item.

        Parameters
        ----------
        n_clusters
            The number of flat clusters of the tree without the new items.

        Returns
        -------
        ndarray of shape (m,)
            Labels as in ``tree.cut(n_clusters)``; -1 for items that merge with a union of several of
            these clusters.

        Examples
        --------
        >>> import ordhc
        >>> tree = ordhc.linkage([1.0, 9, 9, 9, 9, 2], "average", dissimilarity=True)
        >>> ordhc.place(tree, [[2, 1, 8, 8], [30, 30, 30, 30]]).labels(2)
        array([ 0, -1])
        """
        cut = self.tree.cut(n_clusters=n_clusters)
        n = self.tree.n_leaves
        # The label of each node whose leaves are in one cluster, else -1.
        of_node = np.concatenate([cut, np.full(len(self.tree.merges), -1)])
        for at, (a, b) in enumerate(self.tree.merges):
            of_node[n + at] = of_node[a] if of_node[a] == of_node[b] else -1
        return of_node[self.nodes]

    def extended(self, names: Sequence[str] | None = None) -> Dendrogram:
        """Return the tree with the new items, as leaves n to n + m - 1.

        Old clusters keep their heights, but not their names and supports. If several items merge with the
        same node, the item that is most similar to this node merges first.

        Parameters
        ----------
        names
            (m,) names of the new items, if the tree has names.

        Raises
        ------
        InputError
            A tree with names and no new names, or the other way round; a name that occurs twice.

        Examples
        --------
        >>> import ordhc
        >>> tree = ordhc.linkage([1.0, 9, 9], "average", dissimilarity=True, names=["cat", "dog", "car"])
        >>> ordhc.place(tree, [[9, 9, 2]]).extended(["bus"]).to_newick()
        '((cat:0.5,dog:0.5):4,(car:1,bus:1):3.5);'
        """
        tree = self.tree
        n, m = tree.n_leaves, len(self.nodes)
        if (names is None) != (tree.names is None):
            wanted = "no names" if tree.names is None else f"names: give {m} names of new items"
            raise InputError(f"the tree has {wanted}")
        sign = 1.0 if tree.kind == "dissimilarity" else -1.0
        beside: dict[int, list[int]] = {}
        for item in np.argsort(sign * self.heights, kind="stable"):
            beside.setdefault(int(self.nodes[item]), []).append(int(item))
        # Leaves are first, then inner nodes. After each node of the old tree come the nodes that join new
        # items to it.
        parents, heights = [-1] * (n + m), []
        # For each node of the old tree: the last node that joins a new item to it, or the node itself.
        top: list[int] = []

        def joined(height: float, parts: Iterable[int]) -> int:
            for each in parts:
                parents[each] = len(parents)
            parents.append(-1)
            heights.append(height)
            return len(parents) - 1

        for node in range(2 * n - 1):
            at = node
            if node >= n:
                at = joined(tree.heights[node - n], (top[child] for child in tree.merges[node - n]))
            for item in beside.get(node, ()):
                at = joined(self.heights[item], (at, n + item))
            top.append(at)
        return Dendrogram.from_parents(
            parents,
            heights=heights,
            kind=tree.kind,
            names=None if tree.names is None else (*tree.names, *(names or ())),
            settings=tree.settings,
        )


def place(tree: Any, values: ArrayLike, *, linkage: str | None = None) -> Placement:
    """Place new items in a tree by their similarities or dissimilarities to its leaves.

    The tree keeps its shape. The linkage gives the similarity of each item to each cluster, as if the item
    were one more leaf. An item can merge with a cluster at this similarity, or at the height of the cluster
    if the cluster forms later. After a cluster has merged with another cluster, no item can merge with it.
    Each item takes its first possible merge. `insert` places items by asking an oracle instead.

    Parameters
    ----------
    tree
        A binary tree with monotone heights, such as `linkage` and `cluster` return.
    values
        (m, n) finite numbers: from each of m new items to each leaf of the tree, in the units of
        ``tree.kind``. (n,) for one item.
    linkage
        "single", "complete", "average", "weighted", "ward", "centroid" or "median". By default the linkage
        that ``tree.settings`` names.

    Returns
    -------
    Placement
        Nodes and heights of the new merges; `Placement.labels` gives flat clusters, `Placement.extended` the
        larger tree.

    Raises
    ------
    InputError
        A tree with inversions or with nodes of more than two children; values of another shape, or that are
        not finite; an unknown linkage.

    Notes
    -----
    The similarities to clusters are computed by the recurrence of Lance and Williams (1967), with the heights
    of the tree. Time and memory are O(m n).

    Examples
    --------
    >>> import ordhc
    >>> tree = ordhc.linkage([1.0, 9, 9, 9, 9, 2], "average", dissimilarity=True)
    >>> placed = ordhc.place(tree, [[2, 2, 8, 8], [9, 8, 1, 3]])
    >>> placed.nodes, placed.heights
    (array([4, 2]), array([2., 1.]))
    """
    tree = as_dendrogram(tree)
    n = tree.n_leaves
    name = (tree.settings or {}).get("linkage") if linkage is None else linkage
    if name is None:
        raise InputError("the tree does not record its linkage: give one, such as linkage='average'")
    name = _checks.choice("linkage", name, ("single", "complete", "average", "weighted", *_SQUARED))
    if len(tree.parents) != 2 * n - 1:
        raise InputError(
            "the tree has a node of more than two children; items can be placed in binary trees only"
        )
    if not tree.is_monotone:
        raise InputError("the tree has inversions, so that heights do not say where a new item belongs")
    rows = np.atleast_2d(_checks.numbers_of("values", values))
    if rows.ndim != 2 or rows.shape[1] != n:
        raise InputError(f"values have shape {np.shape(values)}; a number for each of {n} leaves is needed")
    for row in np.flatnonzero(~np.isfinite(rows).all(axis=1))[:1]:
        raise InputError("values are not finite", row=int(row))
    farther = tree.kind == "dissimilarity"
    squared = farther and name in _SQUARED

    def similarity(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return -(x * x) if squared else -x if farther else x

    near = np.empty((2 * n - 1, len(rows)))
    near[:n] = similarity(rows.T)
    inner = similarity(np.asarray(tree.heights))
    sizes, first = np.ones(2 * n - 1), np.arange(2 * n - 1)
    for at, (a, b) in enumerate(tree.merges):
        near[n + at] = _to_merged(name, near[a], near[b], float(inner[at]), float(sizes[a]), float(sizes[b]))
        sizes[n + at], first[n + at] = sizes[a] + sizes[b], min(first[a], first[b])
    # A cluster exists from its own merge (`begin`) to its merge with another cluster (`end`). An item can
    # merge with the cluster only in between. `begin` and `end` are dissimilarities (negated similarities).
    begin, end = np.full(2 * n - 1, -np.inf), np.full(2 * n - 1, np.inf)
    begin[n:] = -inner
    end[tree.merges.reshape(-1)] = np.repeat(-inner, 2)
    # For each node and item: the dissimilarity at which they could merge.
    times = np.maximum(-near, begin[:, None])
    times[times > end[:, None]] = np.inf
    # Among nodes with equal `times`, take the node with the smallest leaf, then the smaller node.
    order = np.lexsort((sizes, first))
    nodes = order[times[order].argmin(axis=0)]
    found = times[nodes, np.arange(len(rows))]
    heights = np.sqrt(np.maximum(found, 0)) if squared else found if farther else -found
    return Placement(tree, nodes, heights)


def _to_merged(
    name: str, x: NDArray[np.float64], y: NDArray[np.float64], inside: float, n_x: float, n_y: float
) -> NDArray[np.float64]:
    """Return the (m,) similarities of items to the union of two clusters.

    `x` and `y` are the items' similarities to the two clusters. `inside` is the similarity of the two
    clusters, `n_x` and `n_y` are their numbers of leaves.
    """
    n = n_x + n_y
    if name == "single":
        return np.maximum(x, y)
    if name == "complete":
        return np.minimum(x, y)
    if name == "average":
        return (n_x * x + n_y * y) / n
    if name == "weighted":
        return (x + y) / 2
    if name == "ward":
        return ((n_x + 1) * x + (n_y + 1) * y - inside) / (n + 1)
    if name == "centroid":
        return (n_x * x + n_y * y) / n - n_x * n_y * inside / n**2
    return (x + y) / 2 - inside / 4
