"""Linkage of sparse similarities: SciPy's matrices that store only some of the pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.errors import InputError, warn
from ordhc.tree.dendrogram import Dendrogram, from_engine

#: The linkages that take sparse matrices.
LINKAGES = ("single", "complete", "average")


def is_sparse(data: Any) -> bool:
    return hasattr(data, "tocsr") and hasattr(data, "nnz")


def as_pairs(S: Any) -> Any:
    """Return an (n, n) sparse matrix as canonical CSR of float64; S itself if it has this form."""
    if len(S.shape) != 2 or S.shape[0] != S.shape[1]:
        raise InputError(f"the sparse matrix has shape {S.shape}; (n, n) is needed")
    if S.dtype.kind not in "biuf":
        raise InputError(f"the sparse matrix has type {S.dtype}; real numbers are needed")
    pairs = S.tocsr()
    if pairs.dtype != np.float64:
        pairs = pairs.astype(np.float64)
    if not pairs.has_canonical_format:
        pairs = pairs.copy()
        pairs.sum_duplicates()
    return pairs


def merged(
    pairs: Any,
    name: str,
    native: str | None,
    initial: NDArray[np.int64] | None,
    progress: Progress | None,
    *,
    dissimilarity: bool,
    missing: str,
) -> Dendrogram:
    if native not in LINKAGES:
        raise InputError(
            f"linkage {name!r} does not accept a sparse matrix: pass S.toarray(), "
            f"or use one of the linkages {', '.join(LINKAGES)}"
        )
    if dissimilarity and missing == "zero":
        raise InputError(
            "with missing='zero', pairs that are not stored would have dissimilarity 0, as if they were "
            "identical: pass missing='ignore'"
        )
    tree, n_trees = _ordhc.agglomerate_sparse(
        *_row_pointers_and_columns(pairs),
        np.ascontiguousarray(pairs.data),
        _ordhc.Linkage.native(native),
        dissimilarity,
        missing,
        initial,
        progress,
    )
    if n_trees > 1:
        warn(
            f"the stored pairs leave {n_trees} separate trees, "
            "which are joined at the height of the last merge"
        )
    return from_engine(tree)


def _row_pointers_and_columns(pairs: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return `indptr` and `indices` of a CSR matrix with the same type, as `_ordhc` requires."""
    wide = np.int64 if np.int64 in (pairs.indptr.dtype, pairs.indices.dtype) else np.int32
    return tuple(np.ascontiguousarray(part, dtype=wide) for part in (pairs.indptr, pairs.indices))  # type: ignore[return-value]
