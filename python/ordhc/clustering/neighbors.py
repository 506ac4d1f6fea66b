"""Vectors by their nearest neighbours: a graph, then linkage of it, for more vectors than pairs fit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress, part
from ordhc._signals import interrupts_later
from ordhc.agglomerate import sparse
from ordhc.clustering.linked import linked_dot_linkage
from ordhc.clustering.plan import Plan
from ordhc.comparison.units import distinct
from ordhc.errors import InputError, MissingExtraError, warn
from ordhc.similarities.vectors import blocks, is_sparse, normalized
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import from_engine

__all__ = ["MEASURES", "by_neighbors", "check_neighbors"]

#: Similarities whose nearest neighbours are found, and what pynndescent calls them for rows of length 1.
MEASURES = ("cosine", "euclidean")
#: Up to this number of vectors, all pairs are compared.
_FEW = 2000
#: Edges whose similarities are computed at a time.
_EDGES = 1 << 18
#: The share of progress of finding neighbours.
_FINDING = 0.7


def check_neighbors(plan: Plan) -> None:
    """Raise unless the plan goes by neighbours."""
    if plan.similarity is None or plan.similarity.name not in MEASURES:
        raise InputError(f"{plan.title} has no nearest neighbours; similarity {' and '.join(MEASURES)} have")
    if plan.linkage.native not in sparse.LINKAGES or plan.refine:
        raise InputError(
            f"linkages of nearest neighbours are {', '.join(sparse.LINKAGES)}, without moves of subtrees; "
            f"not {plan.title}"
        )


def by_neighbors(
    plan: Plan, rows: Any, neighbors: int, initial: NDArray[np.int64] | None, progress: Progress | None
) -> Dendrogram:
    """Return the tree of a graph that links each vector with its nearest neighbours."""
    assert plan.similarity is not None
    if is_sparse(rows):
        raise InputError("nearest neighbours are found of dense vectors: give X.toarray()")
    n, measure = len(rows), plan.similarity.name
    points = normalized(rows) if measure == "cosine" else rows
    neighbors = min(neighbors, n - 1)
    if n == 1:
        return Dendrogram([], [], kind="dissimilarity" if plan.similarity.dissimilarity else "similarity")
    found = _all_pairs(points, neighbors) if n <= _FEW else _descent(points, neighbors)
    if progress is not None:
        progress(_FINDING)
    low, high = _edges(found)
    del found
    after = part(progress, _FINDING, 1)
    if measure == "cosine" and plan.linkage.native == "average":
        return linked_dot_linkage(points, low, high, initial, after)
    values = _values(points, low, high, measure)
    starts = np.concatenate([[0], np.cumsum(np.bincount(low, minlength=n))]).astype(np.int64)
    # Vectors that aren't linked are at right angles, as far as cosines go; of distances nothing is known.
    missing = "ignore" if plan.similarity.dissimilarity else "zero"
    tree, n_trees = _ordhc.agglomerate_sparse(
        starts,
        high,
        values,
        _ordhc.Linkage.native(str(plan.linkage.native)),
        plan.similarity.dissimilarity,
        missing,
        initial,
        after,
    )
    if n_trees > 1 and missing == "ignore":
        warn(
            f"{neighbors} neighbours leave {n_trees} separate trees, which are joined at the height of the "
            "last merge; more neighbours connect them"
        )
    return from_engine(tree)


def _all_pairs(points: NDArray[Any], neighbors: int) -> NDArray[np.int64]:
    """Return the nearest neighbours of each vector, (n, k)."""
    n = len(points)
    own = np.einsum("ij,ij->i", points, points)
    found = np.empty((n, neighbors), dtype=np.int64)
    for block in blocks(n):
        distances = own - 2 * (points[block] @ points.T)
        distances[np.arange(len(distances)), np.arange(block.start, block.stop)] = np.inf
        found[block] = np.argpartition(distances, neighbors - 1, axis=1)[:, :neighbors]
    return found


def _descent(points: NDArray[Any], neighbors: int) -> NDArray[Any]:
    """Almost all nearest neighbours of each vector, found by descent from neighbours to theirs."""
    try:
        with interrupts_later():
            from pynndescent import NNDescent
    except ImportError:
        raise MissingExtraError.of("neighbors", "pynndescent", "graph") from None
    index = NNDescent(
        points.astype(np.float32, copy=False),
        metric="euclidean",
        n_neighbors=neighbors + 1,
        random_state=0,
        low_memory=True,
        compressed=True,
    )
    found: NDArray[Any] = index.neighbor_graph[0]
    return found


def _edges(found: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each linked pair once, the smaller leaf first, in order."""
    first = np.repeat(np.arange(len(found), dtype=np.int64), found.shape[1])
    second = found.ravel().astype(np.int64)
    linked = (second >= 0) & (second != first)
    first, second = first[linked], second[linked]
    keys = np.minimum(first, second) << 32 | np.maximum(first, second)
    del first, second
    keys = distinct(keys)
    return keys >> 32, keys & 0xFFFFFFFF


def _values(
    points: NDArray[Any], low: NDArray[np.int64], high: NDArray[np.int64], measure: str
) -> NDArray[np.float64]:
    """Return the similarity of each pair, in double precision."""
    values = np.empty(len(low))
    for at in blocks(len(low), _EDGES):
        one, other = points[low[at]].astype(np.float64), points[high[at]].astype(np.float64)
        if measure == "cosine":
            values[at] = np.einsum("ij,ij->i", one, other)
        else:
            values[at] = np.sqrt(((one - other) ** 2).sum(axis=1))
    return values
