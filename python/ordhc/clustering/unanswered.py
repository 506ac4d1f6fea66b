"""Add leaves without answers to a tree, and change the unit of its heights."""

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._checks import on_one_line
from ordhc.tree.dendrogram import Dendrogram, from_engine


def with_unanswered(
    tree: Dendrogram | None, leaves: NDArray[np.int64], labels: NDArray[np.int64]
) -> Dendrogram:
    """Return the tree over all leaves, given the tree over `leaves`; other leaves are merged last.

    `labels` has the initial cluster of each leaf. Other leaves of the same initial cluster are merged with
    each other first. In a binary tree, the resulting clusters are merged one by one at the height of the
    root. In other trees they become children of the root.
    """
    n = len(labels)
    rest: dict[int, list[int]] = {}
    for leaf in np.setdiff1d(np.arange(n), leaves).tolist():
        rest.setdefault(int(labels[leaf]), []).append(leaf)
    heights = np.zeros(0) if tree is None else tree.heights
    falling = tree is None or tree.kind == "similarity"
    closest = float(heights.max() if falling else heights.min()) if len(heights) else 0.0
    last = float(heights[-1]) if len(heights) else 0.0
    parents, standing = [-1] * n, []

    def joined(parts: list[int], height: float) -> int:
        for part in parts:
            parents[part] = len(parents)
        parents.append(-1)
        standing.append(height)
        return len(parents) - 1

    top: list[int] = []
    for members in rest.values():
        whole = members[0]
        for leaf in members[1:]:
            whole = joined([whole, leaf], closest)
        top.append(whole)
    if tree is not None:
        few, shift = len(leaves), len(parents)
        of = np.concatenate([leaves, np.arange(few, len(tree.parents)) - few + shift]).tolist()
        parents += [-1] * (len(tree.parents) - few)
        standing += heights.tolist()
        for node, above in enumerate(tree.parents[:-1].tolist()):
            parents[of[node]] = of[above]
        is_binary = len(tree.parents) == 2 * few - 1
        if is_binary or few == 1:
            top.insert(0, of[-1])
        else:
            # The root gets the clusters of the other leaves as further children.
            for other in top:
                parents[other] = of[-1]
            top = [of[-1]]
    whole = top[0]
    for other in top[1:]:
        whole = joined([whole, other], last)
    above = np.array(parents)
    above[-1] = len(parents) - 1
    found, _ = _ordhc.Tree.of_nodes(n, above, np.array(standing), None, dissimilarity=not falling, sort=False)
    return from_engine(found)


def scaled(tree: _ordhc.Tree, factor: float) -> _ordhc.Tree:
    """Return the tree with all heights multiplied by a factor."""
    own, heights, is_distance = tree.leaf_heights(), tree.heights() * factor, tree.dissimilarity
    found, _ = _ordhc.Tree.of_nodes(
        tree.n_leaves, tree.parents(), heights, None, dissimilarity=is_distance, sort=False
    )
    return found if own is None else found.with_leaf_heights(own * factor)


def unanswered_text(tree: Dendrogram, unanswered: NDArray[np.int64], where: str = "merged last") -> str:
    """Return a warning about leaves without answers; `where` says what happened to these leaves."""
    some = ", ".join(on_one_line(tree.labels[leaf]) for leaf in unanswered[:5])
    more = f" and {len(unanswered) - 5} more" if len(unanswered) > 5 else ""
    have = "leaf has" if len(unanswered) == 1 else "leaves have"
    merged = "is" if len(unanswered) == 1 else "are"
    return f"{len(unanswered)} {have} no answers and {merged} {where}: {some}{more}"
