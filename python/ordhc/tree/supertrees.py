"""Make the supertree of trees with different leaves, from the triplets of these trees."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.shape import Shape

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Tree:
    shape: Shape
    weight: float
    #: For each leaf of the supertree, its position in `shape.order`; -1 if the tree does not have the leaf.
    places: Numbers

    @classmethod
    def of(cls, tree: Dendrogram, leaves: Numbers, weight: float, n: int) -> "_Tree":
        """Return a tree whose leaf i is the leaf `leaves[i]` of the supertree."""
        places = np.full(n, -1, dtype=np.int64)
        shape = tree._shape
        places[leaves[shape.order]] = np.arange(len(leaves))
        return cls(shape, weight, places)

    def blocks(self, leaves: Numbers) -> tuple[Numbers, Numbers] | None:
        """Return how the tree splits `leaves` of the supertree; None if the tree has fewer than two of them.

        The result has two arrays. The first has the indices in `leaves` of the leaves that the tree has. The
        second has, for each of these leaves, the child of their lowest common ancestor that contains the
        leaf, numbered from 0.
        """
        places = self.places[leaves]
        there = np.flatnonzero(places >= 0)
        if len(there) < 2:
            return None
        places = places[there]
        node, last = int(self.shape.order[places.min()]), int(places.max())
        while self.shape.starts[node] + self.shape.sizes[node] <= last:
            node = self.shape.parents[node]
        starts = np.array([self.shape.starts[child] for child in self.shape.children_of(node)])
        return there, np.searchsorted(starts, places, side="right") - 1


def supertree(
    trees: Sequence[Dendrogram],
    leaves: Sequence[Numbers],
    weights: NDArray[np.float64],
    names: Sequence[str],
) -> Dendrogram:
    """Return the supertree of trees with different leaves, with the support of each node by triplets.

    `leaves` has, for each tree, the number in the supertree of each of its leaves. `weights` are above 0.
    `names` are the names of the leaves of the supertree. The result is a tree of shape alone. The support of
    a node is NaN if no tree resolves a triplet about the node.
    """
    n = len(names)
    parts = [
        _Tree.of(tree, own, float(weight), n)
        for tree, own, weight in zip(trees, leaves, weights, strict=True)
    ]
    parents = _joined(_clusters(parts, n), n)
    found = Dendrogram.from_parents(parents, names=list(names))
    shape = found._shape
    support = [
        1.0 if node == shape.root else _support(parts, shape, node) for node in range(n, shape.root + 1)
    ]
    return found.replace(support=support)


def _clusters(trees: Sequence[_Tree], n: int) -> list[Numbers]:
    """Return the clusters of the supertree.

    The algorithm is BUILD (Aho et al. 1981), which splits a cluster, first the cluster of all leaves. Two
    leaves are connected if, in some tree, they are below the same child of the lowest common ancestor of the
    cluster. The connected components are smaller clusters, which are split in the same way.

    If all leaves of a cluster are connected, the trees contradict each other. Then the leaves are clustered
    by average linkage of the similarities that `_sums` returns.
    """
    found: list[Numbers] = []
    waiting = [np.arange(n)]
    sums: NDArray[np.float64] | None = None
    while waiting:
        leaves = waiting.pop()
        if len(leaves) < 2:
            continue
        found.append(leaves)
        labels = _together(trees, leaves)
        if (labels != labels[0]).any():
            waiting += [leaves[labels == label] for label in np.unique(labels)]
        else:
            sums = _sums(trees, n) if sums is None else sums
            found += [leaves[own] for own in _by_sums(sums[np.ix_(leaves, leaves)])]
    return found


def _together(trees: Sequence[_Tree], leaves: Numbers) -> Numbers:
    """Return the connected component of each of the given leaves; `_clusters` defines connected leaves."""
    labels = np.arange(len(leaves))
    blocks = [found for tree in trees if (found := tree.blocks(leaves)) is not None]
    while True:
        before = labels.copy()
        for there, block in blocks:
            least = np.full(int(block.max()) + 1, len(leaves))
            np.minimum.at(least, block, labels[there])
            labels[there] = least[block]
            # A label is the index of a connected leaf. Take this leaf's label if it is smaller.
            labels = np.minimum(labels, labels[labels])
        if np.array_equal(labels, before):
            return labels


def _sums(trees: Sequence[_Tree], n: int) -> NDArray[np.float64]:
    """Return the AddS3 similarities of the triplets of all trees, (n, n).

    A triplet ab|c of a tree adds 2 to the similarity of a and b, and subtracts 1 from those of a and c, and
    of b and c.
    """
    sums = np.zeros((n, n))
    for tree in trees:
        leaves = np.flatnonzero(tree.places >= 0)
        leaves = leaves[np.argsort(tree.places[leaves])]
        sizes, starts = tree.shape.sizes, tree.shape.starts
        for node in range(len(leaves), tree.shape.root + 1):
            children = tree.shape.children_of(node)
            for at, child in enumerate(children):
                own = leaves[starts[child] : starts[child] + sizes[child]]
                for other in children[at + 1 :]:
                    # Leaves c outside of the node give ab|c. Leaves c in the child of a give ac|b, and leaves
                    # c in the child of b give bc|a.
                    outside = 2 * (len(leaves) - sizes[node])
                    value = tree.weight * (outside - (sizes[child] - 1) - (sizes[other] - 1))
                    sums[np.ix_(own, leaves[starts[other] : starts[other] + sizes[other]])] += value
    return sums + sums.T


def _by_sums(similarities: NDArray[np.float64]) -> list[Numbers]:
    """Return the clusters of average linkage, after moves of subtrees that lower Dasgupta's cost."""
    similarities = np.ascontiguousarray(similarities)
    tree = _ordhc.agglomerate(similarities, _ordhc.Linkage.native("average"), False, "auto", None, None)
    tree = _ordhc.refine_similarity(tree, similarities, False, False, (None, 3, 0, None), None)[0]
    shape = Shape.of(tree, None)
    return [shape.leaves_of(node) for node in range(len(similarities), shape.root)]


def _joined(clusters: Sequence[Numbers], n: int) -> Numbers:
    ordered = sorted(clusters, key=lambda members: (len(members), int(members.min())))
    parents = np.full(n + len(ordered), -1, dtype=np.int64)
    top = np.arange(n)
    for node, members in enumerate(ordered, start=n):
        parents[np.unique(top[members])] = node
        top[members] = node
    return parents


def _support(trees: Sequence[_Tree], shape: Shape, node: int) -> float:
    """Return the support of a node of the supertree: the share of triplets of the input trees that agree.

    Leaves a and b of a triplet are in different children of the node. Leaf c is below the parent of the node,
    but not below the node. The triplet agrees if a and b are closest (ab|c). It disagrees if another pair is
    closest (ac|b or bc|a). NaN if no tree resolves such a triplet.
    """
    kind = np.full(len(shape.order), -1)
    for at, child in enumerate(shape.children_of(node), start=1):
        kind[shape.leaves_of(child)] = at
    for child in shape.children_of(shape.parents[node]):
        if child != node:
            kind[shape.leaves_of(child)] = 0
    agrees = against = 0.0
    for tree in trees:
        there = np.flatnonzero((tree.places >= 0) & (kind >= 0))
        if len(there) < 3:
            continue
        # Count the leaves of each kind below each node of the input tree. In the supertree, leaves below the
        # i-th child of `node` have kind i, from 1 on. Leaves below a sibling of `node` have kind 0.
        ends = np.zeros((len(tree.shape.order) + 1, int(kind.max()) + 1), dtype=np.int64)
        ends[tree.places[there] + 1, kind[there]] = 1
        ends = np.cumsum(ends, axis=0)
        starts, sizes = np.array(tree.shape.starts), np.array(tree.shape.sizes)
        own = ends[starts + sizes] - ends[starts]
        outside, inside = own[:, :1], own[:, 1:]
        pairs = (inside.sum(axis=1) ** 2 - (inside**2).sum(axis=1)) // 2
        agrees += tree.weight * float((_joining(tree, pairs) * (outside[-1, 0] - outside[:, 0])).sum())
        others = inside.sum(axis=1)[:, None] - inside
        against += tree.weight * float((_joining(tree, inside * outside) * (others[-1] - others)).sum())
    return agrees / (agrees + against) if agrees + against else float("nan")


def _joining(tree: _Tree, pairs: Numbers) -> Numbers:
    """Return, for each node, the number of pairs of leaves whose lowest common ancestor is the node.

    `pairs` has, for each node, the number of pairs of leaves that are both below the node.
    """
    found = pairs.copy()
    np.subtract.at(found, np.array(tree.shape.parents[:-1]), pairs[:-1])
    return found
