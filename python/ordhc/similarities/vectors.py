"""The class `Vectors`, and dot products and distances of vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy as copy_of
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress
from ordhc._signals import interrupts_later
from ordhc.comparison.frames import without_names
from ordhc.errors import InputError, MissingExtraError, warn
from ordhc.tree.convert import index_names

STORAGE = ("auto", "matrix", "vectors")
_BLOCK = 512
#: With at most this number of columns, distances are computed pair by pair instead of by dot products.
_DIRECT = 128


class Vectors:
    """Vectors of leaves with their names, and options of clustering them, for `ordhc.cluster`.

    In `ordhc.cluster`, a plain array, sparse matrix or data frame X means ``Vectors(X)``.

    Parameters
    ----------
    X
        (n, p) array, SciPy sparse matrix or data frame, with one row for each leaf. float32 and float64 keep
        their type, other numbers become float64. In a data frame, the names of the leaves are the index,
        unless it only numbers the rows, or else a first column of text.
    names
        (n,) names of the leaves, instead of the names in the data frame.
    neighbors
        By default, all pairs of vectors are compared. If there are too many vectors for this, give the number
        of nearest neighbours to which each vector is linked, such as 20. Or give the neighbours themselves:

        * an (n, k) array of leaf numbers; negative numbers are skipped
        * the pair of indices and distances from `kneighbors` of scikit-learn or `neighbor_graph` of
          pynndescent; distances are computed anew from X
        * a SciPy sparse (n, n) graph

        First, linked clusters merge until a quarter of the number of vectors is left, but at least 2,000 and
        at most 10,000 clusters. These clusters are then all compared with each other, so the upper part of
        the tree hardly depends on the graph. Similarities can be "cosine", "euclidean" and "sqeuclidean";
        linkages "single", "complete", "average", "weighted" and "ward" (with "euclidean"). The tree is exact
        for up to 2,000 vectors, or if all neighbours are given; :ref:`the guide to scale <neighbours>` has
        the errors of other trees. X is not copied, so do not change it during the call.
    storage
        "matrix" keeps all pairs in memory, O(n^2). "vectors" keeps only the vectors, O(n p). "auto", the
        default, takes the faster of the two that fits into memory. These work without a matrix:

        * "average" of dot products and cosines, from the means of clusters
        * "average" of "sqeuclidean", from the means and variances of clusters
        * "single" of dot products, cosines and distances, by a spanning tree
        * "ward" of "euclidean", from centroids and sizes

        With `initial_clusters`, only "average" of dot products works without a matrix. The tree is the same
        with and without a matrix if similarities differ by more than rounding errors; heights differ by
        rounding.

    Raises
    ------
    InputError
        X is not an (n, p) array of finite numbers (the message has row and column); the number of names is
        wrong; or neighbours have a wrong shape or are not leaves.

    Examples
    --------
    >>> import ordhc
    >>> points = ordhc.Vectors([[1, 0], [2, 0], [0, 9]], ["a", "b", "c"], storage="matrix")
    >>> ordhc.cluster(points, similarity="euclidean", linkage="ward").cut(2)
    array([0, 0, 1])
    """

    def __init__(
        self,
        X: Any,
        names: Sequence[str] | None = None,
        *,
        neighbors: int | Any | None = None,
        storage: str = "auto",
    ) -> None:
        self.storage: str = _checks.choice("storage", storage, STORAGE)
        # Copy, because another thread may write to X; but not with neighbours, to save memory.
        self.rows = as_vectors(X, copy=neighbors is None)
        given = without_names(X)[1] or index_names(X) if names is None else names
        self.names = _checks.names(given, self.n_leaves)
        self.neighbors = None if neighbors is None else _neighbors(neighbors, self.n_leaves)

    @property
    def n_leaves(self) -> int:
        """The number of vectors."""
        return int(self.rows.shape[0])

    def __len__(self) -> int:
        return self.n_leaves

    def __repr__(self) -> str:
        return f"<Vectors: {self.n_leaves:,} of {self.rows.shape[1]:,} coordinates>"

    def canonical_order(self) -> NDArray[np.int64]:
        """Return the leaves in an order that depends on the vectors, not on the numbers of the leaves.

        Equal vectors stay in the order of their numbers. Sparse vectors are not reordered.
        """
        if is_sparse(self.rows) or not self.rows.shape[1]:
            return np.arange(self.n_leaves)
        return np.lexsort(self.rows.T[::-1]).astype(np.int64)

    def in_order(self, order: NDArray[np.int64]) -> Vectors:
        """Return the vectors without names, in which leaf `order[i]` is renumbered to i."""
        found = copy_of(self)
        found.rows, found.names = self.rows[order], None
        if isinstance(self.neighbors, np.ndarray):
            place = np.empty(len(order) + 1, dtype=np.int64)
            place[order], place[-1] = np.arange(len(order)), -1
            found.neighbors = place[self.neighbors[order]]
        return found


def _neighbors(given: Any, n: int) -> int | NDArray[np.int64]:
    if hasattr(given, "tocsr"):
        if given.shape != (n, n):
            raise InputError(f"neighbors, a sparse graph, has shape {given.shape}; it must be ({n}, {n})")
        graph = given.tocsr()
        counts = np.diff(graph.indptr)
        found = np.full((n, max(1, int(counts.max()))), -1, dtype=np.int64)
        found[np.arange(found.shape[1]) < counts[:, None]] = graph.indices
        return found
    if not isinstance(given, list | tuple) and getattr(given, "ndim", 0) == 0:
        return _checks.whole("neighbors", given, at_least=1)
    if isinstance(given, tuple) and len(given) == 2:
        # scikit-learn returns distances first, pynndescent returns indices first.
        parts = [_checks.array("neighbors", part) for part in given]
        integers = [part for part in parts if part.dtype.kind in "iu"]
        if len(integers) != 1:
            raise InputError(
                "neighbors is a pair: one part must be leaf numbers (integers), the other distances (floats)"
            )
        given = integers[0]
    found = _checks.whole_numbers("neighbors", given)
    if found.ndim != 2 or found.shape[0] != n or not found.shape[1]:
        raise InputError(f"neighbors has shape {found.shape}; it must have a row for each of {n} vectors")
    wrong = np.argwhere(found >= n)
    if len(wrong):
        row, column = wrong[0].tolist()
        raise InputError(
            f"neighbors: column {column} is {found[row, column]}; leaves are 0 to {n - 1}", row=row
        )
    return np.maximum(found, -1)


def as_vectors(data: Any, *, copy: bool = False) -> Any:
    """Return rows of finite numbers: an (n, p) array of float32 or float64, or SciPy's CSR.

    Other numbers become float64. Data frames become arrays, without a first column of names. With `copy`, the
    rows are copied before they are checked, so that a thread that writes to `data` cannot change checked
    values. Without `copy`, arrays of float32 and float64 are returned without a copy.
    """
    if hasattr(data, "tocsr"):
        if data.dtype.kind not in "biuf":
            raise InputError(f"the sparse matrix has type {data.dtype}; real numbers are needed")
        rows = data.tocsr()
        if rows.dtype not in (np.float32, np.float64):
            rows = rows.astype(np.float64)
        elif copy:
            rows = rows.copy()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        lost = np.flatnonzero(~np.isfinite(rows.data))
        if lost.size:
            row = int(np.searchsorted(rows.indptr, lost[0], side="right")) - 1
            column, value = rows.indices[lost[0]], rows.data[lost[0]]
            raise InputError(f"column {column}: {value} is not finite", row=row)
    else:
        if isinstance(data, str | bytes):
            raise InputError(f"the vectors are {type(data).__name__}; an (n, p) array of numbers is needed")
        rows = _checks.array("the vectors", without_names(data)[0])
        if rows.dtype not in (np.float32, np.float64):
            rows = _checks.numbers_of("the vectors", rows)
        elif copy:
            rows = rows.copy()
    if rows.ndim != 2 or not rows.shape[0]:
        raise InputError(f"vectors have shape {rows.shape}; (n, p) with at least one row is needed")
    if isinstance(rows, np.ndarray):
        for block in blocks(len(rows)):
            with np.errstate(over="ignore", invalid="ignore"):
                if math.isfinite(rows[block].sum(dtype=np.float64)):
                    continue
            wrong = np.argwhere(~np.isfinite(rows[block]))
            if wrong.size:
                row, column = wrong[0]
                value = rows[block][row, column]
                raise InputError(f"column {column}: {value} is not finite", row=block.start + row)
    return rows


def blocks(n: int, size: int = _BLOCK) -> Iterator[slice]:
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def is_sparse(rows: Any) -> bool:
    return not isinstance(rows, np.ndarray)


def squared_norms(rows: Any) -> NDArray[np.float64]:
    """Return the squared length of each row, (n,), or raise an `InputError` if one overflows.

    If no squared length overflows, no dot product of two rows overflows.
    """
    own: NDArray[np.float64]
    with np.errstate(over="ignore"):
        if is_sparse(rows):
            values = rows.data.astype(np.float64)
            empty = np.diff(rows.indptr) == 0
            own = np.add.reduceat(np.append(values * values, 0.0), np.minimum(rows.indptr[:-1], len(values)))
            own = np.where(empty, 0.0, own)
        else:
            parts = [
                np.einsum("ij,ij->i", rows[block], rows[block], dtype=np.float64)
                for block in blocks(len(rows))
            ]
            own = np.concatenate(parts)
    for row in np.flatnonzero(~np.isfinite(own))[:1].tolist():
        raise InputError(
            "the vectors are too large: the squared length of this row overflows; rescale the vectors",
            row=row,
        )
    return own


def normalized(rows: Any) -> Any:
    """Return rows scaled to length 1; rows of zeros stay zeros."""
    if is_sparse(rows):
        scaled = rows.astype(np.float64)
        largest = np.maximum.reduceat(
            np.append(np.abs(scaled.data), 0.0), np.minimum(scaled.indptr[:-1], len(scaled.data))
        )
        largest[(np.diff(scaled.indptr) == 0) | (largest == 0)] = 1
        scaled.data = scaled.data / np.repeat(largest, np.diff(scaled.indptr))
        lengths = np.sqrt(squared_norms(scaled))
        lengths[lengths == 0] = 1
        scaled.data = scaled.data / np.repeat(lengths, np.diff(scaled.indptr))
        return scaled
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
    scaled = rows / np.where(largest == 0, 1, largest)
    lengths = np.sqrt(squared_norms(scaled)).astype(rows.dtype)[:, None]
    scaled /= np.where(lengths == 0, 1, lengths)
    return scaled


def products(
    rows: Any,
    scale: float,
    layout: str,
    dtype: str,
    progress: Progress | None = None,
    *,
    what: str | None = None,
) -> NDArray[Any]:
    """Return `scale` times the dot products of all pairs of rows.

    `what` is the name of the similarity, or None. With a name, negative values cause a warning that contains
    the name, except for dense rows in the square layout.
    """
    n = rows.shape[0]
    size = np.dtype(dtype).itemsize
    pairs = n * (n - 1) // 2
    _ordhc.check_memory("the similarity matrix", size * (n * n if layout == "square" else pairs))
    negative = NegativeShare()
    if is_sparse(rows):
        indptr, indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
        found: Any = _ordhc.sparse_gram(
            indptr, indices, rows.data, rows.shape[1], dtype == "float32", progress
        )
        condensed, own = found
        for block in blocks(pairs, 1 << 20):
            condensed[block] *= scale
            negative.add(condensed[block])
        negative.warn(what)
        return shaped(condensed, own * scale, layout, dtype)
    out: NDArray[Any]
    if layout == "square":
        # NumPy recognises A @ A.T as symmetric, and computes one half of the products.
        with np.errstate(over="ignore", invalid="ignore"):
            out = rows @ rows.T
        for block in blocks(n):
            out[block] *= rows.dtype.type(scale)
            with np.errstate(invalid="ignore"):
                total = out[block].sum(dtype=np.float64)
            if not math.isfinite(total):
                raise _overflow(out[block], block.start, 0)
        return out.astype(dtype, copy=False)
    out = np.empty(pairs, dtype=dtype)
    at = 0
    for block in blocks(n, 1024):
        with np.errstate(over="ignore", invalid="ignore"):
            # NumPy recognises A @ A.T as symmetric, and computes one half of the products.
            own = rows[block] @ rows[block].T
            rest = rows[block] @ rows[block.stop :].T
        own *= rows.dtype.type(scale)
        rest *= rows.dtype.type(scale)
        start = at
        for offset in range(len(own)):
            for values in (own[offset, offset + 1 :], rest[offset]):
                out[at : at + len(values)] = values
                at += len(values)
        finite = math.isfinite(np.trace(own)) and negative.add(out[start:at])
        if not finite:
            both = np.concatenate([own, rest], axis=1)
            raise _overflow(both, block.start, block.start)
        if progress is not None:
            progress(1 - (1 - block.stop / n) ** 2)
    negative.warn(what)
    return out


def _overflow(values: NDArray[Any], first_row: int, first_column: int) -> InputError:
    row, column = np.argwhere(~np.isfinite(values))[0] + (first_row, first_column)
    reason = f"the dot product of rows {row} and {column} overflows {values.dtype}; rescale the vectors"
    return InputError(reason, leaves=[[row, column]])


class NegativeShare:
    """Counts negative similarities, and adds up their absolute values, for a warning."""

    def __init__(self) -> None:
        self.count, self.n_negative = 0, 0
        self.sum, self.sum_negative, self.least = 0.0, 0.0, 0.0

    def add(self, values: NDArray[Any]) -> bool:
        least = values.min(initial=0)
        # Infinities of both signs add up to NaN.
        with np.errstate(invalid="ignore"):
            total = float(values.sum(dtype=np.float64))
        self.count += values.size
        if least >= 0 or not math.isfinite(total):
            self.sum += total
            return math.isfinite(total)
        below = np.minimum(values, 0)
        negative = float(-below.sum(dtype=np.float64))
        self.n_negative += int(np.count_nonzero(below))
        self.sum_negative += negative
        self.sum += total + 2 * negative
        self.least = min(self.least, float(least))
        return True

    def warn(self, what: str | None, *, sampled: bool = False) -> None:
        """Warn if negative values are more than 1% of the sum of absolute values (Gray et al. 2024, E.4)."""
        if what is None or self.sum_negative <= 0.01 * self.sum:
            return
        share, size = self.n_negative / self.count, self.sum_negative / self.sum
        warn(
            f"{share:.1%} of {'sampled' if sampled else 'all'} pairs have negative {what} similarities: "
            f"{-self.sum_negative / self.n_negative:.4g} on average, {self.least:.4g} at worst, and together "
            f"{size:.1%} of the sum of absolute values. The tree model of dot products has no negative "
            "similarities (Gray et al. 2024, E.4). The clusters can still be good, but do not interpret the "
            "heights by this model. Centred vectors always have negative similarities."
        )


def distances(
    rows: Any, layout: str, dtype: str, progress: Progress | None = None, *, squared: bool = False
) -> NDArray[Any]:
    """Return the Euclidean distances of all pairs of rows; with `squared`, their squares.

    With many columns, distances are computed from dot products. Close pairs, which lose digits in this way,
    are computed again from differences.
    """
    n = rows.shape[0]
    if not is_sparse(rows) and rows.shape[1] <= _DIRECT:
        measure = "sqeuclidean" if squared else "euclidean"
        return shaped(
            _ordhc.vector_distances(np.ascontiguousarray(rows), measure, progress), np.zeros(n), layout, dtype
        )
    if not is_sparse(rows):
        # Centred rows have the same distances, and lose fewer digits to cancellation.
        rows = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    pairs = products(rows, -2.0, "condensed", "float64", progress)
    norms = squared_norms(rows)
    at = 0
    for i in range(n - 1):
        row = pairs[at : at + n - i - 1]
        at += len(row)
        both = norms[i] + norms[i + 1 :]
        row += both
        close = np.flatnonzero(row < 1e-4 * both) + i + 1
        if len(close):
            difference = rows[close] - (rows[[i] * len(close)] if is_sparse(rows) else rows[i])
            row[close - i - 1] = squared_norms(difference.tocsr() if is_sparse(rows) else difference)
    if not squared:
        np.sqrt(pairs, out=pairs)
    return shaped(pairs, np.zeros(n), layout, dtype)


def scipy_distances(rows: Any, metric: Any, layout: str, dtype: str) -> NDArray[Any]:
    """Return distances of all pairs of rows by SciPy's `pdist`; raise `InputError` if one is not finite."""
    try:
        found = by_scipy(rows, metric, "pdist", layout, dtype)
    except (InputError, MemoryError, ImportError):
        raise
    except Exception as error:
        raise InputError(f"metric {_checks.quoted(metric)} failed: {_checks.quoted(str(error))}") from error
    if not np.isfinite(found).all():
        raise InputError(
            f"metric {_checks.quoted(metric)} is not finite for all pairs; correlation and cosine, "
            "for example, need vectors that are not constant"
        )
    return found


def by_scipy(rows: Any, metric: Any, name: str, layout: str, dtype: str) -> NDArray[Any]:
    if is_sparse(rows):
        raise InputError(f"{name} does not accept sparse vectors: pass X.toarray()")
    n = len(rows)
    _ordhc.check_memory("the similarity matrix", 8 * n * (n - 1) // 2)
    pdist = scipy_module(name, "spatial.distance").pdist
    return shaped(pdist(rows, metric), np.zeros(n), layout, dtype)


def shaped(pairs: NDArray[Any], diagonal: NDArray[np.float64], layout: str, dtype: str) -> NDArray[Any]:
    if layout == "square":
        pairs = _ordhc.square(pairs.astype(np.float64, copy=False), diagonal)
    if np.dtype(dtype).kind == "i" and pairs.dtype.kind == "f" and pairs.size:
        # Whole numbers in double precision are exact up to 2^53.
        limit = min(np.iinfo(dtype).max, 2**53)
        largest = max(pairs.max(), -pairs.min())
        if not largest <= limit:
            raise InputError(
                f"the largest value is {largest:.0f}, above the limit of {dtype}, {limit}: use dtype float64"
            )
    return pairs.astype(dtype, copy=False)


def scipy_module(what: str, module: str) -> ModuleType:
    from importlib import import_module

    try:
        with interrupts_later():
            return import_module(f"scipy.{module}")
    except ImportError:
        raise MissingExtraError(f'{what} need SciPy: pip install "ordhc[vectors]"') from None
