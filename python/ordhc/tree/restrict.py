"""Trees of some of the leaves; `Dendrogram.keep` and `Dendrogram.prune` are the methods to use."""

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.tree.beside import Beside
from ordhc.tree.merges import Merges

__all__ = ["restricted"]


def restricted(tree: Merges, leaves: NDArray[np.int64]) -> tuple[_ordhc.Dendrogram, Beside]:
    """The tree of some leaves, ascending, at least one, with all that the tree has beside its merges."""
    n, m, mine, nodes = tree.n_leaves, len(leaves), tree._beside, tree._shape.nodes
    # The cluster that is left of each cluster, by its new label; -1 of none.
    left = np.full(2 * n - 1, -1)
    left[leaves] = np.arange(m)
    above = np.full(2 * m - 1, -1)
    kept: list[int] = []
    pairs: list[list[int]] = []
    for merge, (a, b) in enumerate(tree.merges.tolist()):
        parts = sorted((int(left[a]), int(left[b])))
        if parts[0] < 0:
            left[n + merge] = parts[1]
            continue
        above[parts] = len(kept)
        left[n + merge] = m + len(kept)
        kept.append(merge)
        pairs.append(parts)
    merges, at = np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(kept, dtype=np.int64)
    # A merge is joined with the one above it as long as both are left of one node.
    joined = np.zeros(len(at), dtype=bool)
    joined[:-1] = nodes[at[:-1]] == nodes[at[above[m:-1]]]
    found = _ordhc.Dendrogram(
        merges,
        np.ascontiguousarray(tree.heights[at]),
        tree._tree.dissimilarity,
        joined if joined.any() else None,
    )
    tops = nodes[at]
    support = None if mine.support is None else mine.support[tops - n]
    names = None
    if mine.node_names is not None:
        known = [mine.node_names[top] for top in (tops - n).tolist()]
        names = [None if part else name for part, name in zip(joined.tolist(), known, strict=True)]
    lengths = None
    if mine.branch_lengths is not None:
        lengths = _lengths(tree, mine.branch_lengths, np.concatenate([leaves, tops]), above)
    own = tree._all_heights[leaves]
    is_told = mine.leaf_heights is None and np.array_equal(own, Beside().all_heights(found)[:m])
    standing = None
    if mine.standing is not None:
        standing = left[mine.standing[left[mine.standing] >= 0]]
    beside = Beside.of(
        found,
        names=None if mine.names is None else [mine.names[leaf] for leaf in leaves.tolist()],
        node_names=names,
        support=support,
        branch_lengths=lengths,
        leaf_heights=None if is_told else own,
        shares=mine.shares,
        standing=standing,
        settings=mine.settings,
    )
    return found, beside


def _lengths(
    tree: Merges, lengths: NDArray[np.float64], olds: NDArray[np.int64], above: NDArray[np.int64]
) -> NDArray[np.float64]:
    """By new label the length of the branch above: those of the nodes that have gone are added.

    `olds` are the nodes that they were, `above` are the merges above them.
    """
    m, parents, found = (len(olds) + 1) // 2, tree._shape.parents, np.full(len(olds), np.nan)
    for new, merge in enumerate(above[:-1].tolist()):
        old, end = int(olds[new]), int(olds[m + merge])
        # The parts of one node have no branch between them.
        if old == end:
            continue
        found[new] = lengths[old]
        while (old := parents[old]) != end:
            found[new] += lengths[old]
    return found
