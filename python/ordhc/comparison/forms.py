"""Convert all input that estimators accept (tables, tensors, sparse matrices) to comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.comparison.comparisons import Comparisons, Quadruplets, Triplets
from ordhc.comparison.frames import ROLES, column_names, columns_of, eager
from ordhc.comparison.rows import changed, checked_weights
from ordhc.errors import InputError

_VECTORS = "; for vectors use ordhc.VectorClustering"


def comparisons_of_any(
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    n_leaves: int | None,
    *,
    known: int = 0,
) -> Comparisons:
    """Return comparisons from any input that estimators accept.

    `known` is the number of leaves of the estimator's tree, 0 without a tree. If all ids are below `known`,
    the comparisons have `known` leaves.
    """
    data: Comparisons
    if isinstance(X, list) and X and isinstance(X[0], Comparisons):
        X = _joined(X)
    elif not isinstance(X, Comparisons) and not is_sparse(X):
        X, y, sample_weight = _from_frame(X, y, sample_weight)
    table = X if isinstance(X, Comparisons) or is_sparse(X) else _table(X)
    if isinstance(table, np.ndarray) and table.ndim != 3:
        if known and table.ndim == 2 and table.size and table.dtype.kind in "iuf" and (table < known).all():
            n_leaves = known
        return _from_list(X, table, y, sample_weight, n_leaves)
    kind = "a sparse tensor of counts" if is_sparse(X) else "a tensor of counts"
    if isinstance(X, Comparisons):
        kind = type(X).__name__
    if y is not None:
        raise InputError(f"X is {kind} and holds the answers already; y must be None")
    if isinstance(X, Comparisons):
        data = X if n_leaves is None else type(X)(X, n_leaves)
        return _weighted(data, checked_weights(sample_weight, len(data)))
    if sample_weight is not None:
        raise InputError(f"X is {kind}, whose counts are the weights; sample_weight must be None")
    return _from_tensor(table, n_leaves)


def _from_frame(
    X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
) -> tuple[Any, ArrayLike | None, ArrayLike | None]:
    X = eager(X)
    names = column_names(X)
    if names is None:
        return X, y, sample_weight
    plain = {str(name).strip().lower() for name in names}
    four = len(names) == 4 or any(plain >= set(known) for known in ROLES["quadruplets"])
    what = "quadruplets" if four and not any(plain >= set(k) for k in ROLES["triplets"]) else "triplets"
    if plain >= set(ROLES["quadruplets"][0]):
        what = "quadruplets"
    if plain >= set(ROLES["responses"][0]):
        what = "responses"
    frame = columns_of(X, what, 4 if what == "quadruplets" else 3)
    assert frame is not None
    y = frame.responses if y is None else y
    return frame.rows, y, frame.weights if sample_weight is None else sample_weight


def is_sparse(X: Any) -> bool:
    return hasattr(X, "asformat") and hasattr(X, "nnz")


def _table(X: Any) -> NDArray[Any]:
    try:
        return _checks.array("X", X)
    except InputError:
        # Rows may have different lengths. Then the constructor raises a better error, which names the row.
        if isinstance(X, np.ndarray):
            raise
        return np.empty(0, dtype=object)


def _joined(parts: Sequence[Any]) -> Comparisons:
    # scikit-learn's splitters index rows one by one, and so make a list of comparisons.
    first = parts[0]
    for at, part in enumerate(parts):
        same = type(part) is type(first) and (part.n_leaves, part.names) == (first.n_leaves, first.names)
        if not same:
            raise InputError(
                f"X[{at}] is {_checks.quoted(part)} and X[0] is {first!r}; "
                "all must have the same type, n_leaves and names"
            )
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([np.ones(len(p)) if p.weights is None else p.weights for p in parts])

    def together(what: str) -> NDArray[Any] | None:
        values = [getattr(part, what) for part in parts]
        return None if any(value is None for value in values) else np.concatenate(values)

    answers, groups, names = together("answers"), together("groups"), first.group_names
    if any(part.group_names != names for part in parts):
        groups = names = None
    rows = np.concatenate([part.rows for part in parts])
    about = {"answers": answers, "groups": groups, "group_names": names}
    adaptive = any(part.adaptive for part in parts)
    joined: Comparisons = changed(first, rows=rows, weights=weights, adaptive=adaptive, **about)
    return joined


def _weighted(data: Comparisons, weights: NDArray[np.float64] | None) -> Comparisons:
    if weights is None:
        return data
    product = weights if data.weights is None else weights * data.weights
    return changed(data, weights=checked_weights(product, len(data)))


def _from_list(
    X: Any,
    table: NDArray[Any],
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    n_leaves: int | None,
) -> Comparisons:
    if table.ndim == 2 and table.shape[1] not in (3, 4):
        raise InputError(
            f"X has {table.shape[1]} feature(s) (shape={table.shape}) while a minimum of 3 is required: give "
            f"rows of 3 leaves (anchor, near, far), or of 4 leaves for quadruplets{_VECTORS}"
        )
    if table.ndim == 2 and table.dtype.kind in "if":
        for row, column in np.argwhere(table < 0)[:1]:
            raise InputError(f"Negative values in data: X[{row}, {column}] is {table[row, column]}{_VECTORS}")
    if table.ndim == 2 and table.dtype.kind == "f":
        broken = np.isfinite(table) & (table % 1 != 0)
        # A few fractions are mistakes in a table of ids; a later check reports them with their column.
        if broken.mean() > 0.5:
            row, column = np.argwhere(broken)[0]
            raise InputError(
                f"X[{row}, {column}] is {table[row, column]}; leaf ids are whole numbers{_VECTORS}"
            )
    kind: type[Comparisons] = Quadruplets if table.ndim == 2 and table.shape[1] == 4 else Triplets
    data = kind(X, n_leaves)
    data = _weighted(data, checked_weights(sample_weight, len(data)))
    if y is None:
        return data
    counts = _signed(y, len(data))
    rows = data.rows.copy()
    swapped = [2, 3, 0, 1] if kind is Quadruplets else [0, 2, 1]
    rows[counts < 0] = rows[counts < 0][:, swapped]
    magnitude = np.abs(counts)
    answered = magnitude > 0
    plain = data.weights is None and bool((magnitude[answered] == 1).all())
    # Products too large for a float become infinite, and the check of weights refuses them.
    with np.errstate(over="ignore"):
        weights = magnitude if data.weights is None else magnitude * data.weights
    return changed(data, rows=rows, weights=checked_weights(None if plain else weights, len(rows)))[answered]


def _signed(y: ArrayLike, m: int) -> NDArray[np.float64]:
    answers = _checks.array("y", y)
    if answers.shape != (m,):
        raise InputError(f"y has shape {answers.shape} for {m} questions")
    if answers.dtype == bool:
        return np.where(answers, 1.0, -1.0)
    counts = _checks.numbers_of("y", answers)
    for row in np.flatnonzero(~np.isfinite(counts))[:1]:
        raise InputError(f"y is {answers[row]}; counts must be finite", row=row)
    zeros = np.flatnonzero(counts == 0)
    if len(zeros) and np.isin(counts, (0, 1)).all():
        raise InputError(
            "y is 0, and y holds only 0 and 1: give bools if 0 is the opposite answer, "
            "or leave out the row if 0 means no answer",
            row=zeros[0],
        )
    return counts


def _from_tensor(X: Any, n_leaves: int | None) -> Triplets:
    """Return triplets from an (n, n, n) tensor of counts: X[i, j, k] > 0 if j is nearer to i than k is."""
    cells, counts, n = _sparse_entries(X) if is_sparse(X) else _dense_entries(X)
    for at in np.flatnonzero(~np.isfinite(counts))[:1]:
        raise InputError(f"X{cells[at].tolist()} is {counts[at]}; counts must be finite")
    repeated = (cells == cells[:, [1, 2, 0]]).any(axis=1)
    for at in np.flatnonzero(repeated)[:1]:
        raise InputError(f"X{cells[at].tolist()} is {counts[at]:g}, but a triplet has three different leaves")
    if is_antisymmetric(cells, counts, n):
        once = cells[:, 1] < cells[:, 2]
        cells, counts = cells[once], counts[once]
    rows = np.where((counts < 0)[:, None], cells[:, [0, 2, 1]], cells)
    weights = None if (np.abs(counts) == 1).all() else np.abs(counts)
    return Triplets(rows, n if n_leaves is None else n_leaves, weights=weights)


def _dense_entries(X: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
    n = X.shape[0]
    if X.shape != (n, n, n):
        raise InputError(f"X has shape {X.shape}; a tensor of counts must have shape (n, n, n)")
    counts = _checks.numbers_of("X", X)
    cells = np.argwhere(counts)
    return cells, counts[tuple(cells.T)], n


def _sparse_entries(X: Any) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
    n = X.shape[0]
    if X.shape not in ((n, n, n), (n, n * n)):
        raise InputError(
            f"X is sparse with shape {X.shape}; a sparse X must hold counts in shape (n, n, n) or (n, n * n)"
        )
    coo = X.asformat("coo")
    if hasattr(coo, "sum_duplicates"):
        coo = coo.copy()
        coo.sum_duplicates()
    axes = coo.coords if hasattr(coo, "coords") else (coo.row, coo.col)
    cells = np.column_stack([np.asarray(axis, dtype=np.int64) for axis in axes])
    if cells.shape[1] == 2:
        cells = np.column_stack([cells[:, 0], *divmod(cells[:, 1], n)])
    counts = _checks.numbers_of("X", np.asarray(coo.data))
    return cells[counts != 0], counts[counts != 0], n


def is_antisymmetric(cells: NDArray[np.int64], counts: NDArray[np.float64], n: int) -> bool:
    place = np.ravel_multi_index(tuple(cells.T), (n, n, n))
    mirrored = np.ravel_multi_index(tuple(cells[:, [0, 2, 1]].T), (n, n, n))
    order, mirrored_order = np.argsort(place), np.argsort(mirrored)
    return np.array_equal(place[order], mirrored[mirrored_order]) and np.array_equal(
        counts[order], -counts[mirrored_order]
    )
