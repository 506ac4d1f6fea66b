"""Positions of nodes along the axis of a picture: heights, distances from the root, or levels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.errors import warn
from ordhc.tree.dendrogram import Dendrogram, node_heights, root_distances

#: The space between the root and the end of the picture, as a fraction of the tree's depth.
_MARGIN = 0.03


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """The position of each node along the axis that runs from the root to the leaves."""

    at: NDArray[np.float64]
    #: The positions of the two ends of the picture: a little beyond the root, and at the names of the leaves.
    root_end: float
    leaf_end: float
    #: The smallest and the largest number of the axis.
    low: float
    high: float
    #: The label of the axis; None if positions are levels, which have no axis.
    label: str | None
    #: The length of an edge whose ends differ by 1 in position. It is 0.5 for heights, so that the path
    #: between two leaves is as long as the height at which they merge.
    length: float = 1.0


def positions_of(tree: Dendrogram) -> Positions:
    """Return the positions of the nodes of a tree along the axis of its picture.

    In a tree with heights, nodes are at their heights. A tree with lengths is a phylogram: each node is at
    its distance from the root. Other trees, and trees with an edge of unknown length, are cladograms: leaves
    are at level 0, and each inner node is one level above its highest child.
    """
    if tree.scale == "heights":
        return _by_heights(tree)
    if tree.scale == "lengths":
        unknown = int(np.isnan(tree.lengths[:-1]).sum())
        if not unknown:
            return _by_distances(tree)
        warn(
            f"{unknown:,} of {len(tree.parents) - 1:,} edges have no length, so the tree is drawn by levels, "
            "without an axis"
        )
    levels = np.zeros(len(tree.parents))
    for node, above in enumerate(tree.parents[:-1].tolist()):
        levels[above] = max(levels[above], levels[node] + 1)
    top = float(levels[-1]) or 1.0
    return Positions(levels, (1 + _MARGIN) * top, 0.0, 0.0, top, None)


def _by_heights(tree: Dendrogram) -> Positions:
    n, heights, own = tree.n_leaves, node_heights(tree), tree.leaf_heights
    rising = tree.kind == "dissimilarity"
    inner = heights[n:]
    low, high = (float(inner.min()), float(inner.max())) if len(inner) else (0.0, 1.0)
    margin = _MARGIN * (high - low or abs(high) or 1.0)
    root_end = high + margin if rising else low - margin
    if own is not None:
        leaf_end = float(min(own.min(), low) if rising else max(own.max(), high))
        at = heights
    else:
        leaf_end = min(0.0, low) if rising else high + 2 * margin
        at = np.concatenate([np.full(n, leaf_end), inner])
    ends = sorted((root_end, leaf_end))
    return Positions(at, root_end, leaf_end, ends[0], ends[1], tree.kind, 0.5)


def _by_distances(tree: Dendrogram) -> Positions:
    at = root_distances(tree)
    # Edges of negative length can put nodes before the root, so `low` can be negative.
    low, high = float(at.min()), float(at.max())
    depth = high - low or 1.0
    return Positions(at, low - _MARGIN * depth, low + depth, low, high, "distance from the root")
