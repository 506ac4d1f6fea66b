"""Single linkage of similarities that a function returns for one leaf at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram, from_engine


def single_linkage(
    similarities: Callable[[int, NDArray[np.int64]], Any],
    order: NDArray[np.int64],
    *,
    dissimilarity: bool,
    progress: Progress | None = None,
) -> Dendrogram:
    """Return the single-linkage tree, from a maximum spanning tree that grows leaf by leaf (Prim).

    Leaf i of the tree is `order[i]`. Among equally similar pairs, the pair with the smallest leaf is taken
    first, then the pair with the smallest other leaf.
    """
    n = len(order)
    sign = -1.0 if dissimilarity else 1.0
    # For each leaf `outside` of the spanning tree: `link` is its nearest leaf in the tree, and `best` is the
    # similarity of both.
    outside = np.arange(1, n)
    link = np.zeros(n - 1, dtype=np.int64)
    best = np.full(n - 1, -np.inf)
    edges = np.empty((n - 1, 2), dtype=np.int64)
    heights = np.empty(n - 1)
    last = 0
    for step in range(n - 1):
        values = sign * _checked(similarities(int(order[last]), order[outside]), order[last], order[outside])
        tied = values == best
        closer = (values > best) | (tied & _before(last, link, outside))
        best[closer] = values[closer]
        link[closer] = last
        nearest = np.flatnonzero(best == best.max())
        pairs = np.sort(np.column_stack([link[nearest], outside[nearest]]), axis=1)
        at = nearest[np.lexsort(pairs.T[::-1])[0]]
        edges[step] = sorted((link[at], outside[at]))
        heights[step] = sign * best[at]
        last = int(outside[at])
        outside, link, best = (np.delete(values, at) for values in (outside, link, best))
        if progress is not None and (step % 256 == 0 or step == n - 2):
            progress((step + 1) / (n - 1))
    by_row = np.lexsort((edges[:, 1], edges[:, 0]))
    starts = np.searchsorted(edges[by_row, 0], np.arange(n + 1)).astype(np.int64)
    columns = np.ascontiguousarray(edges[by_row, 1])
    rule = _ordhc.Linkage.native("single")
    tree, _ = _ordhc.agglomerate_sparse(
        starts, columns, heights[by_row], rule, dissimilarity, "ignore", None, None
    )
    return from_engine(tree)


def _before(last: int, link: NDArray[np.int64], outside: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each k whether the pair (last, outside[k]) comes before the pair (link[k], outside[k]).

    `link[k]` is the leaf of the spanning tree that is nearest to leaf `outside[k]`. `last` is the leaf that
    was added last. Pairs are ordered by their smaller leaf, then by their larger leaf.
    """
    low, high = np.minimum(last, outside), np.maximum(last, outside)
    other_low, other_high = np.minimum(link, outside), np.maximum(link, outside)
    before: NDArray[np.bool_] = (low < other_low) | ((low == other_low) & (high < other_high))
    return before


def _checked(values: Any, leaf: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
    found = _checks.numbers_of(f"the result of the function for leaf {leaf}", values)
    if found.shape != others.shape:
        raise InputError(
            f"the function returned shape {found.shape} for leaf {leaf} with {len(others)} others; "
            f"it must return {others.shape}"
        )
    for at in np.flatnonzero(~np.isfinite(found))[:1]:
        raise InputError(
            f"the function returned {found[at]} for leaves {leaf} and {others[at]}; values must be finite",
            leaves=[[leaf, others[at]]],
        )
    return found
