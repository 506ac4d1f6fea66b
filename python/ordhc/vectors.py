"""Vectors: dot products and distances of all pairs, principal components."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._signals import interrupts_later
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError, MissingExtraError, OrdhcWarning

__all__ = ["as_vectors", "pca"]

Progress = Callable[[float], None]

#: Rows of a block of the matrix of pairs.
_BLOCK = 512
#: Up to so many columns linkages are faster without a matrix of pairs.
_FEW = {"average": 256, "single": 128, "ward": 32}
#: Up to so many columns distances are summed pair by pair.
_DIRECT = 128
#: Above so many rows and columns a truncated decomposition is used.
_SMALL = 2000


def as_vectors(data: Any) -> Any:
    """Rows of finite numbers: an (n, p) array of float32 or float64, or SciPy's CSR.

    Arrays of these types are used without a copy; other numbers become float64, data frames arrays.

    Raises
    ------
    InputError
        Other shapes, what is no number, NaN and infinity with row and column.
    """
    if hasattr(data, "tocsr"):
        if data.dtype.kind not in "biuf":
            raise InputError(f"a sparse matrix of {data.dtype} holds no vectors of real numbers")
        rows = data.tocsr()
        if rows.dtype not in (np.float32, np.float64):
            rows = rows.astype(np.float64)
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
            raise InputError(f"{type(data).__name__} is no (n, p) array of numbers")
        rows = _checks.array("the vectors", data)
        if rows.dtype not in (np.float32, np.float64):
            rows = _checks.numbers_of("the vectors", rows)
    if rows.ndim != 2 or not rows.shape[0]:
        raise InputError(f"vectors have shape {rows.shape}; (n, p) with at least one row is needed")
    if isinstance(rows, np.ndarray):
        for block in _blocks(len(rows)):
            with np.errstate(over="ignore", invalid="ignore"):
                if math.isfinite(rows[block].sum(dtype=np.float64)):
                    continue
            wrong = np.argwhere(~np.isfinite(rows[block]))
            if wrong.size:
                row, column = wrong[0]
                value = rows[block][row, column]
                raise InputError(f"column {column}: {value} is not finite", row=block.start + row)
    return rows


def _blocks(n: int, size: int = _BLOCK) -> Iterator[slice]:
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def is_sparse(rows: Any) -> bool:
    """Whether vectors are SciPy's CSR."""
    return not isinstance(rows, np.ndarray)


def squared_norms(rows: Any) -> NDArray[np.float64]:
    """The dot product of every row with itself."""
    if is_sparse(rows):
        values = rows.data.astype(np.float64)
        empty = np.diff(rows.indptr) == 0
        own = np.add.reduceat(np.append(values * values, 0.0), np.minimum(rows.indptr[:-1], len(values)))
        return np.where(empty, 0.0, own)
    return np.concatenate(
        [np.einsum("ij,ij->i", rows[block], rows[block], dtype=np.float64) for block in _blocks(len(rows))]
    )


def normalized(rows: Any) -> Any:
    """Rows of length 1; rows of zeros stay."""
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
    """`scale` times the dot products of all pairs of rows; `what` they are, to warn of negative ones.

    Only the condensed layout, which is what is clustered, is looked at for these.
    """
    n = rows.shape[0]
    size = np.dtype(dtype).itemsize
    pairs = n * (n - 1) // 2
    _ordhc.check_memory("the similarity matrix", size * (n * n if layout == "square" else pairs))
    negative = _Negative()
    if is_sparse(rows):
        indptr, indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
        found: Any = _ordhc.sparse_gram(
            indptr, indices, rows.data, rows.shape[1], dtype == "float32", progress
        )
        condensed, own = found
        for block in _blocks(pairs, 1 << 20):
            condensed[block] *= scale
            negative.add(condensed[block])
        negative.warn(what)
        return shaped(condensed, own * scale, layout, dtype)
    out: NDArray[Any]
    if layout == "square":
        # NumPy knows that this is symmetric, and multiplies one half.
        with np.errstate(over="ignore", invalid="ignore"):
            out = rows @ rows.T
        for block in _blocks(n):
            out[block] *= rows.dtype.type(scale)
            if not math.isfinite(out[block].sum(dtype=np.float64)):
                raise _overflow(out[block], block.start, 0)
        return out.astype(dtype, copy=False)
    out = np.empty(pairs, dtype=dtype)
    at = 0
    for block in _blocks(n, 1024):
        with np.errstate(over="ignore", invalid="ignore"):
            # NumPy knows that the first one is symmetric, and multiplies one half.
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
    reason = f"the dot product of rows {row} and {column} overflows {values.dtype}: rescale"
    return InputError(reason, leaves=[[row, column]])


def prefers_no_matrix(rows: Any, linkage: str) -> bool:
    """Whether a linkage that needs no matrix of pairs is better off without."""
    n, p = rows.shape
    if is_sparse(rows):
        return False
    if p <= _FEW[linkage]:
        return True
    try:
        # The engine works in the similarities.
        _ordhc.check_memory("the similarity matrix", 8 * n * (n - 1) // 2)
    except MemoryError:
        return True
    return False


def matrix_free_linkage(
    rows: Any,
    linkage: str,
    measure: str,
    scale: float,
    initial: NDArray[np.int64] | None,
    progress: Progress | None,
    *,
    what: str,
) -> Dendrogram:
    """Average linkage of dot products, single linkage of any measure or Ward's, without a matrix of pairs."""
    if is_sparse(rows):
        _ordhc.check_memory("dense vectors", rows.dtype.itemsize * rows.shape[0] * rows.shape[1])
        rows = rows.toarray()
    rows = np.ascontiguousarray(rows)
    if measure == "dot":
        _warn_of_sample(rows, scale, what)
    if linkage == "average":
        return Dendrogram._of(_ordhc.mean_dot_linkage(rows, scale, initial, progress), None)
    return Dendrogram._of(_ordhc.vector_linkage(rows, linkage, measure, scale, progress), None)


class _Negative:
    """How many values are negative, and how large these are."""

    def __init__(self) -> None:
        self.count, self.n_negative = 0, 0
        self.sum, self.sum_negative, self.least = 0.0, 0.0, 0.0

    def add(self, values: NDArray[Any]) -> bool:
        """Count values; whether they are finite."""
        least = values.min(initial=0)
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
        """Warn if negative values carry more than 1% of the total size (Gray et al. 2024, E.4)."""
        if what is None or self.sum_negative <= 0.01 * self.sum:
            return
        share, size = self.n_negative / self.count, self.sum_negative / self.sum
        warnings.warn(
            f"{share:.1%} of {'sampled' if sampled else 'all'} pairs have negative {what} similarities, "
            f"{size:.1%} of the total size: {-self.sum_negative / self.n_negative:.4g} on average, "
            f"{self.least:.4g} at the least. Under a tree model there are none (Gray et al. 2024, E.4): "
            "the tree may not fit. Vectors that have been centred are like that.",
            OrdhcWarning,
            stacklevel=2,
        )


def _warn_of_sample(rows: NDArray[Any], scale: float, what: str) -> None:
    """The same from a sample of at most 1,000 rows."""
    negative = _Negative()
    step = max(1, len(rows) // 1000)
    some = rows[::step][:1000]
    upper = np.triu_indices(len(some), 1)
    with np.errstate(over="ignore", invalid="ignore"):
        negative.add((some @ some.T)[upper] * scale)
    negative.warn(what, sampled=step > 1)


def distances(
    rows: Any, layout: str, dtype: str, progress: Progress | None = None, *, squared: bool = False
) -> NDArray[Any]:
    """Euclidean distances of all pairs of rows.

    Where there are many columns they come from dot products, and close pairs are computed anew.
    """
    n = rows.shape[0]
    if not is_sparse(rows) and rows.shape[1] <= _DIRECT:
        measure = "sqeuclidean" if squared else "euclidean"
        return shaped(
            _ordhc.vector_distances(np.ascontiguousarray(rows), measure, progress), np.zeros(n), layout, dtype
        )
    if not is_sparse(rows):
        # Less is lost to cancellation, and distances stay the same.
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


def manhattan(rows: Any, layout: str, dtype: str) -> NDArray[Any]:
    """Manhattan distances of all pairs of rows."""
    if is_sparse(rows):
        raise InputError("manhattan takes no sparse vectors: give X.toarray()")
    n = len(rows)
    _ordhc.check_memory("the similarity matrix", 8 * n * (n - 1) // 2)
    pdist = _scipy("manhattan", "spatial.distance").pdist
    return shaped(pdist(rows, "cityblock"), np.zeros(n), layout, dtype)


def shaped(pairs: NDArray[Any], diagonal: NDArray[np.float64], layout: str, dtype: str) -> NDArray[Any]:
    """Condensed values in the layout and the type that is asked for."""
    if layout == "square":
        pairs = _ordhc.square(pairs.astype(np.float64, copy=False), diagonal)
    if np.dtype(dtype).kind == "i" and pairs.dtype.kind == "f" and pairs.size:
        # Whole numbers in double precision are exact up to 2^53.
        limit = min(np.iinfo(dtype).max, 2**53)
        largest = max(pairs.max(), -pairs.min())
        if not largest <= limit:
            raise InputError(f"the largest value is {largest:.0f}, above {limit} of {dtype}: ask for float64")
    return pairs.astype(dtype, copy=False)


# --- principal components --------------------------------------------------------------------


def pca(
    X: Any,
    n_components: int | str = "wasserstein",
    *,
    max_components: int = 50,
    candidates: Sequence[int] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """Scores of the principal components of vectors that are not centred (Gray et al. 2024, section 2.2).

    The components are eigenvectors of the sum of Y_i Y_i', of the largest eigenvalues.

    Parameters
    ----------
    X
        (n, p) dense or SciPy sparse.
    n_components
        Their number r, at most min(n, p); "rank", the numerical rank of X; or "wasserstein": the r for
        which the first half of the rows, projected, is nearest to the other half in Wasserstein distance
        (Algorithm 2; the extra `vectors`).
    max_components
        The largest r that "wasserstein" looks at.
    candidates
        Those that it looks at, instead of all up to `max_components`.
    seed
        Of a random split into halves, where rows stand in an order; by default they are taken as they are.
    progress
        Called with the share of candidates that is done, from 0 to 1.

    Returns
    -------
    ndarray
        (n, r) float64.

    Raises
    ------
    InputError
        Another number of components than 1 to min(n, p).
    MissingExtraError
        SciPy is needed for truncated decompositions (sparse vectors, or more than 2,000 rows and
        columns), and POT for Wasserstein distances.

    Examples
    --------
    >>> import numpy as np
    >>> import ordhc
    >>> X = np.array([[1.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, 0.0, 2.0]])
    >>> ordhc.pca(X, 2).shape, ordhc.pca(X, "rank").shape
    ((3, 2), (3, 3))
    """
    progress = _checks.callback("progress", progress)
    rows = as_vectors(X)
    limit = min(rows.shape)
    if isinstance(n_components, str):
        if n_components == "rank":
            return _rank_scores(rows)
        if n_components != "wasserstein":
            raise InputError(
                f"n_components is {_checks.quoted(n_components)}: neither a number, 'rank' nor 'wasserstein'"
            )
        r = select_dimension(
            rows, max_components=max_components, candidates=candidates, seed=seed, progress=progress
        )[0]
    else:
        r = _whole_in("n_components", n_components, limit)
    return np.asarray(rows @ _components(rows, r), dtype=np.float64)


def select_dimension(
    X: Any,
    *,
    max_components: int = 50,
    candidates: Sequence[int] | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> tuple[int, dict[int, float]]:
    """The number of principal components by Wasserstein distance, and the distance for each candidate.

    The halves are the first ceil(n / 2) rows and the others. Distances are of order 1, with Euclidean
    costs. See `pca`.
    """
    progress = _checks.callback("progress", progress)
    try:
        with interrupts_later():
            import ot
    except ImportError:
        raise MissingExtraError(
            'n_components="wasserstein" needs POT: pip install "ordhc[vectors]"'
        ) from None
    rows = as_vectors(X)
    n = rows.shape[0]
    if n < 2:
        # There are no halves to compare.
        return 1, {}
    seed = None if seed is None else _checks.seed(seed)
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
    first, second = rows[order[: -(-n // 2)]], rows[order[-(-n // 2) :]]
    limit = min(first.shape)
    if candidates is None:
        wanted = list(range(1, min(limit, _whole_in("max_components", max_components, None)) + 1))
    else:
        wanted = sorted({_whole_in("candidates", r, limit) for r in candidates})
        if not wanted:
            raise InputError("there are no candidates")
    V = _components(first, wanted[-1])
    mine, other = np.asarray(first @ V), np.asarray(second @ V)
    # |VV'x - y|^2 = |V'x|^2 + |y|^2 - 2 (V'x)(V'y)
    squares = squared_norms(second)[None, :]
    found: dict[int, float] = {}
    done = 0
    squares = np.repeat(squares, len(mine), axis=0)
    for at, r in enumerate(wanted):
        a, b = mine[:, done:r], other[:, done:r]
        squares += (a * a).sum(axis=1)[:, None] - 2 * (a @ b.T)
        done = r
        costs = np.sqrt(np.maximum(squares, 0))
        found[r] = float(ot.emd2([], [], costs, numItermax=10_000_000))
        if progress is not None:
            progress((at + 1) / len(wanted))
    return min(found, key=lambda r: (found[r], r)), found


def _whole_in(what: str, value: Any, limit: int | None) -> int:
    number = _checks.whole(what, value, at_least=1)
    if limit is not None and number > limit:
        raise InputError(f"{what} = {number} is above {limit}, the smaller one of rows and columns")
    return number


def _rank_scores(rows: Any) -> NDArray[np.float64]:
    if is_sparse(rows):
        if min(rows.shape) > _SMALL:
            raise InputError(
                "n_components='rank' of large sparse vectors needs a full decomposition: give a number"
            )
        rows = rows.toarray()
    U, values, _ = np.linalg.svd(rows.astype(np.float64, copy=False), full_matrices=False)
    tiny = values[0] * max(rows.shape) * np.finfo(rows.dtype).eps
    r = max(1, int((values > tiny).sum()))
    scores: NDArray[np.float64] = U[:, :r] * values[:r]
    return scores


def _components(rows: Any, r: int) -> NDArray[np.float64]:
    """The first r right singular vectors, (p, r), each with its largest coordinate positive."""
    limit = min(rows.shape)
    # A full decomposition of 1,000 rows and columns takes a hundred times as long as a few components.
    few = 8 * r <= limit and limit > 400 and (limit > _SMALL or find_spec("scipy") is not None)
    if not few and (limit <= _SMALL or r > limit // 4):
        dense = rows.toarray() if is_sparse(rows) else rows
        V = np.linalg.svd(dense.astype(np.float64, copy=False), full_matrices=False)[2][:r].T
    else:
        svds = _scipy("truncated decompositions", "sparse.linalg").svds
        start = np.random.default_rng(0).normal(size=limit)
        V = svds(rows.astype(np.float64), k=r, v0=start, return_singular_vectors="vh")[2][::-1].T
    largest = V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])]
    result: NDArray[np.float64] = V * np.where(largest < 0, -1.0, 1.0)
    return result


def _scipy(what: str, module: str) -> ModuleType:
    from importlib import import_module

    try:
        with interrupts_later():
            return import_module(f"scipy.{module}")
    except ImportError:
        raise MissingExtraError(f'{what} need SciPy: pip install "ordhc[vectors]"') from None
