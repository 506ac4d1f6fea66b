"""What is put right in a tree that was made of fewer leaves, or of other units."""

import numpy as np
from numpy.typing import NDArray

from ordhc._checks import on_one_line
from ordhc.tree.dendrogram import Dendrogram

__all__ = ["scaled", "unanswered_text", "with_unanswered"]


def with_unanswered(
    tree: Dendrogram | None, leaves: NDArray[np.int64], labels: NDArray[np.int64]
) -> Dendrogram:
    """The tree over all leaves from one over `leaves`; the clusters of the others are merged last."""
    n = len(labels)
    rest: dict[int, list[int]] = {}
    for leaf in np.setdiff1d(np.arange(n), leaves).tolist():
        rest.setdefault(int(labels[leaf]), []).append(leaf)
    merges: list[tuple[int, int]] = []
    top: list[int] = []
    for members in rest.values():
        whole = members[0]
        for leaf in members[1:]:
            merges.append((whole, leaf))
            whole = n + len(merges) - 1
        top.append(whole)
    heights = np.zeros(0) if tree is None else tree.heights
    falling = tree is None or tree.kind == "similarity"
    closest = (heights.max() if falling else heights.min()) if len(heights) else 0.0
    before = len(merges)
    if tree is not None:
        few = len(leaves)
        shift = n + before - few
        whole = int(leaves[0]) if few == 1 else 2 * few - 2 + shift
        own = np.where(tree.merges < few, leaves[np.minimum(tree.merges, few - 1)], tree.merges + shift)
        merges.extend(map(tuple, own.tolist()))
        top.insert(0, whole)
    last = heights[-1] if len(heights) else 0.0
    whole = top[0]
    for other in top[1:]:
        merges.append((whole, other))
        whole = n + len(merges) - 1
    after = len(merges) - before - len(heights)
    all_heights = np.concatenate([np.full(before, closest), heights, np.full(after, last)])
    kind = "similarity" if falling else "dissimilarity"
    joined = None
    if tree is not None and tree.joined is not None:
        # The leaves and the tree merged from here on are all children of the root.
        joined = np.concatenate([np.zeros(before, dtype=bool), tree.joined, np.zeros(after, dtype=bool)])
        joined[before + len(heights) - 1 : -1] = True
    return Dendrogram(merges, all_heights, kind=kind, joined=joined)


def scaled(tree: Dendrogram, factor: float) -> Dendrogram:
    """Give the tree with all heights multiplied by a positive factor."""
    result = Dendrogram(tree.merges, tree.heights * factor, kind=tree.kind, joined=tree.joined)
    return result if tree.leaf_heights is None else result.with_leaf_heights(tree.leaf_heights * factor)


def unanswered_text(tree: Dendrogram, unanswered: NDArray[np.int64]) -> str:
    """Which leaves have no answers."""
    some = ", ".join(on_one_line(tree.labels[leaf]) for leaf in unanswered[:5])
    more = f" and {len(unanswered) - 5} more" if len(unanswered) > 5 else ""
    have = "leaf has" if len(unanswered) == 1 else "leaves have"
    merged = "is" if len(unanswered) == 1 else "are"
    return f"{len(unanswered)} {have} no answers and {merged} merged last: {some}{more}"
