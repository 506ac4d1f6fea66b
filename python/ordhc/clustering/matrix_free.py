"""Linkages of vectors that need no matrix of all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.clustering.plan import Plan
from ordhc.similarities.vectors import NegativeShare, is_sparse
from ordhc.tree.dendrogram import Dendrogram, from_engine

#: Linkages are faster without a matrix of all pairs if vectors have at most this number of columns. Average
#: linkage has one limit for dot products ("dot") and one for squared distances ("sqeuclidean").
_FEW = {"dot": 256, "sqeuclidean": 64, "single": 128, "ward": 64}


def prefers_no_matrix(rows: Any, linkage: str, measure: str) -> bool:
    """Return True if a linkage is faster without a matrix, or if there is no memory for a matrix."""
    n, p = rows.shape
    if is_sparse(rows):
        return False
    if p <= _FEW[measure if linkage == "average" else linkage]:
        return True
    try:
        # The linkage overwrites the matrix, so it needs memory for one matrix only.
        _ordhc.check_memory("the similarity matrix", 8 * n * (n - 1) // 2)
    except MemoryError:
        return True
    return False


def matrix_free_linkage(
    plan: Plan, rows: Any, scale: float, initial: NDArray[np.int64] | None, progress: Progress | None
) -> Dendrogram:
    """Return the tree that `plan` makes of vectors without a matrix of all pairs.

    The possible linkages are average linkage of dot products or squared distances, single linkage of dot
    products or distances, and Ward's linkage.
    """
    linkage, measure = plan.linkage.native, plan.measure
    assert plan.similarity is not None
    assert linkage is not None
    assert measure is not None
    if is_sparse(rows):
        _ordhc.check_memory("dense vectors", rows.dtype.itemsize * rows.shape[0] * rows.shape[1])
        rows = rows.toarray()
    rows = np.ascontiguousarray(rows)
    if measure == "dot":
        _warn_of_sample(rows, scale, plan.similarity.name)
    if linkage == "average" and measure == "dot":
        return from_engine(_ordhc.mean_dot_linkage(rows, scale, initial, progress))
    return from_engine(_ordhc.vector_linkage(rows, linkage, measure, scale, progress))


def _warn_of_sample(rows: NDArray[Any], scale: float, what: str) -> None:
    negative = NegativeShare()
    step = max(1, len(rows) // 1000)
    some = rows[::step][:1000]
    upper = np.triu_indices(len(some), 1)
    with np.errstate(over="ignore", invalid="ignore"):
        negative.add((some @ some.T)[upper] * scale)
    negative.warn(what, sampled=step > 1)
