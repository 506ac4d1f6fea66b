"""Trees without the nodes that little speaks for; `Dendrogram.contract` is the method to use."""

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc.errors import InputError
from ordhc.tree.beside import Beside
from ordhc.tree.merges import Merges

__all__ = ["contracted"]


def contracted(tree: Merges, min_support: float) -> tuple[_ordhc.Dendrogram, Beside]:
    """The merges without those of less support, and all that the tree has beside these."""
    min_support = _checks.number("min_support", min_support, at_least=0, at_most=1)
    n, mine, support = tree.n_leaves, tree._beside, tree.support
    n_nodes = n - 1 if tree.joined is None else int((~tree.joined).sum())
    if support is None and n_nodes > 1:
        raise InputError(
            "the tree has no support: ordhc.bootstrap, ordhc.posterior and ordhc.consensus give it, "
            "or labels of nodes in Newick"
        )
    # NaN is not known, and stays.
    weak = np.zeros(n - 1, dtype=bool) if support is None else support < min_support
    weak[-1:] = False
    if not weak.any():
        return tree._tree, mine
    joined = weak if tree.joined is None else weak | tree.joined
    merges, heights = tree.merges, tree.heights.copy()
    above = np.full(2 * n - 1, -1)
    above[merges.ravel()] = np.repeat(np.arange(n - 1), 2)
    for merge in np.flatnonzero(joined)[::-1].tolist():
        heights[merge] = heights[above[n + merge]]
    order = _order(merges, heights, tree.kind == "dissimilarity")
    number = np.arange(2 * n - 1)
    number[n + order] = n + np.arange(n - 1)
    found = _ordhc.Dendrogram(
        np.ascontiguousarray(number[merges[order]]),
        np.ascontiguousarray(heights[order]),
        tree._tree.dissimilarity,
        joined[order],
    )
    lengths = None if mine.branch_lengths is None else _lengths(tree, mine.branch_lengths, weak)
    if lengths is not None:
        lengths = np.concatenate([lengths[:n], lengths[n + order]])
    names = None
    if mine.node_names is not None:
        names = [None if joined[at] else mine.node_names[at] for at in order.tolist()]
    own = tree._all_heights[:n]
    is_told = mine.leaf_heights is None and np.array_equal(own, Beside().all_heights(found)[:n])
    beside = Beside.of(
        found,
        names=mine.names,
        node_names=names,
        support=None if support is None else support[order],
        branch_lengths=lengths,
        leaf_heights=None if is_told else own,
        shares=mine.shares,
        standing=mine.standing,
        settings=mine.settings,
    )
    return found, beside


def _order(merges: NDArray[np.int64], heights: NDArray[np.float64], rises: bool) -> NDArray[np.int64]:
    """Merges by height, none before those within it."""
    n = len(merges) + 1
    last = (heights if rises else -heights).tolist()
    for merge, parts in enumerate(merges.tolist()):
        last[merge] = max([last[merge], *(last[part - n] for part in parts if part >= n)])
    return np.argsort(last, kind="stable")


def _lengths(tree: Merges, lengths: NDArray[np.float64], weak: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Branch lengths, to which those of the nodes above that have gone are added."""
    n, shape, found = tree.n_leaves, tree._shape, lengths.copy()
    for label in shape.preorder(2 * n - 2):
        if label >= n and weak[label - n] and not np.isnan(found[label]):
            found[shape.children_of(label)] += found[label]
    return found
