"""The built-in oracles: which of three leaves is the odd one out?"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError
from ordhc.hooks import hookimpl
from ordhc.specs import OracleSpec

Oracle = Callable[[ArrayLike], NDArray[np.int64]]


def _odd_one_out(together: NDArray[np.float64]) -> NDArray[np.int64]:
    """The leaf that isn't in the closest pair; -1 if no pair is closest.

    Column c of `together` is the similarity of the two leaves other than c.
    """
    best = together.max(axis=1, keepdims=True)
    tied = (together == best).sum(axis=1) > 1
    return np.where(tied, -1, together.argmax(axis=1)).astype(np.int64)


def _questions(rows: ArrayLike, n_leaves: int) -> NDArray[np.int64]:
    table = np.asarray(rows)
    if table.size == 0:
        return np.zeros((0, 3), dtype=np.int64)
    if table.ndim != 2 or table.shape[1] != 3 or table.dtype.kind not in "iu":
        raise InputError(f"questions are (m, 3) leaf ids, not {table.dtype} of shape {table.shape}")
    outside = np.flatnonzero(((table < 0) | (table >= n_leaves)).any(axis=1))
    if outside.size:
        row = table[outside[0]].tolist()
        raise InputError(f"row {outside[0]}: a leaf of {row} is outside 0..={n_leaves - 1}")
    return table.astype(np.int64)


def from_tree(tree: Dendrogram) -> Oracle:
    """Answers as a tree has it: the odd one out is the leaf that joins last."""

    def answer(rows: ArrayLike) -> NDArray[np.int64]:
        a, b, c = _questions(rows, tree.n_leaves).T
        pairs = [tree.lca_size(b, c), tree.lca_size(a, c), tree.lca_size(a, b)]
        return _odd_one_out(-np.stack([np.asarray(sizes) for sizes in pairs], axis=1).astype(float))

    return answer


def from_similarity(S: ArrayLike) -> Oracle:
    """Answers as an (n, n) similarity matrix has it: the most similar pair stays together."""
    matrix = np.asarray(S, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"similarities have shape {matrix.shape}, not (n, n)")

    def answer(rows: ArrayLike) -> NDArray[np.int64]:
        a, b, c = _questions(rows, len(matrix)).T
        return _odd_one_out(np.stack([matrix[b, c], matrix[a, c], matrix[a, b]], axis=1))

    return answer


@hookimpl
def ordhc_oracles() -> list[OracleSpec]:
    """Register the oracles that need no person."""
    return [
        OracleSpec(name="tree", summary="answers as a dendrogram has it", make=from_tree),
        OracleSpec(name="similarity", summary="answers as a matrix has it", make=from_similarity),
    ]
