"""Scores of principal components, and the choice of their number."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc._progress import Progress, shows_progress
from ordhc._signals import interrupts_later
from ordhc.errors import InputError, MissingExtraError
from ordhc.similarities.vectors import as_vectors, is_sparse, scipy_module, squared_norms

#: Up to this value of min(n, p), a full decomposition is affordable, so SciPy is optional.
_SMALL = 2000


@shows_progress("components")
def pca(
    X: Any,
    n_components: int | str = "wasserstein",
    *,
    max_components: int = 50,
    candidates: Sequence[int] | None = None,
    seed: int | None = None,
    progress: Progress | bool | None = None,
) -> NDArray[np.float64]:
    """Return the scores of vectors on their principal components, without centring.

    The components are the eigenvectors of the sum of Y_i Y_i' with the largest eigenvalues, where Y_i is
    vector i (Gray et al. 2024, section 2.2).

    Parameters
    ----------
    X
        (n, p) vectors: a dense array or a SciPy sparse matrix.
    n_components
        The number r of components, at most min(n, p). "rank" is the numerical rank of X. "wasserstein", the
        default, is the r for which the projected first half of the rows has the smallest Wasserstein distance
        to the other half (Algorithm 2; needs the extra `vectors`).
    max_components
        The largest r that "wasserstein" tries.
    candidates
        The values of r that "wasserstein" tries, instead of 1 to `max_components`.
    seed
        The seed of a random split into halves, for rows whose order has a meaning. By default the rows are
        split in their order.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    ndarray
        (n, r) float64, the score of each vector on each component.

    Raises
    ------
    InputError
        The number of components is not from 1 to min(n, p).
    MissingExtraError
        SciPy or POT is not installed. SciPy is needed for truncated decompositions (more than 2,000 rows and
        columns), POT for Wasserstein distances.

    Examples
    --------
    >>> import numpy as np
    >>> import ordhc
    >>> X = np.array([[1.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, 0.0, 2.0]])
    >>> ordhc.similarities.pca(X, 2).shape, ordhc.similarities.pca(X, "rank").shape
    ((3, 2), (3, 3))
    """
    progress = _checks.callback("progress", progress)
    rows = as_vectors(X)
    limit = min(rows.shape)
    if isinstance(n_components, str):
        if n_components == "rank":
            return _done(_rank_scores(rows), progress)
        if n_components != "wasserstein":
            raise InputError(
                f"n_components is {_checks.quoted(n_components)}; "
                "it must be a number, 'rank' or 'wasserstein'"
            )
        r = select_dimension(
            rows, max_components=max_components, candidates=candidates, seed=seed, progress=progress
        )[0]
    else:
        r = _whole_in("n_components", n_components, limit)
    return _done(np.asarray(rows @ _components(rows, r), dtype=np.float64), progress)


def _done(scores: NDArray[np.float64], progress: Progress | None) -> NDArray[np.float64]:
    if progress is not None:
        progress(1.0)
    return scores


@shows_progress("components")
def select_dimension(
    X: Any,
    *,
    max_components: int = 50,
    candidates: Sequence[int] | None = None,
    seed: int | None = None,
    progress: Progress | bool | None = None,
) -> tuple[int, dict[int, float]]:
    """Return the number of components with the smallest Wasserstein distance, and all candidates' distances.

    The two halves are the first ceil(n / 2) rows and the other rows. The distance is the Wasserstein distance
    of order 1 with Euclidean costs. `pca` describes the parameters.
    """
    progress = _checks.callback("progress", progress)
    try:
        with interrupts_later():
            import ot
    except ImportError:
        raise MissingExtraError(
            'n_components="wasserstein" needs the package POT: pip install "ordhc[vectors]"'
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
            raise InputError("candidates is empty; give numbers of components")
    V = _components(first, wanted[-1])
    mine, other = np.asarray(first @ V), np.asarray(second @ V)
    # For x in `first` and y in `second`: |VV'x - y|^2 = |V'x|^2 + |y|^2 - 2 (V'x)(V'y).
    squared_norms(first)  # Raises an error if a square overflows.
    squares = squared_norms(second)[None, :]
    found: dict[int, float] = {}
    done = 0
    squares = np.repeat(squares, len(mine), axis=0)
    for at, r in enumerate(wanted):
        a, b = mine[:, done:r], other[:, done:r]
        with np.errstate(over="ignore", invalid="ignore"):
            squares += (a * a).sum(axis=1)[:, None] - 2 * (a @ b.T)
        if not np.isfinite(squares).all():
            raise InputError(
                "the vectors are too large: their squared distances overflow; rescale the vectors"
            )
        done = r
        costs = np.sqrt(np.maximum(squares, 0))
        found[r] = float(ot.emd2([], [], costs, numItermax=10_000_000))
        if progress is not None:
            progress((at + 1) / len(wanted))
    return min(found, key=lambda r: (found[r], r)), found


def _whole_in(what: str, value: Any, limit: int | None) -> int:
    number = _checks.whole(what, value, at_least=1)
    if limit is not None and number > limit:
        raise InputError(
            f"{what} = {number} is above {limit}, the smaller of the numbers of rows and columns"
        )
    return number


def _rank_scores(rows: Any) -> NDArray[np.float64]:
    if is_sparse(rows):
        if min(rows.shape) > _SMALL:
            raise InputError(
                "n_components='rank' of large sparse vectors needs a full decomposition: give a number"
            )
        rows = rows.toarray()
    U, values, _ = np.linalg.svd(rows.astype(np.float64, copy=False), full_matrices=False)
    tiny = values[0] * (max(rows.shape) * np.finfo(rows.dtype).eps)
    r = max(1, int((values > tiny).sum()))
    scores: NDArray[np.float64] = U[:, :r] * values[:r]
    return scores


def _components(rows: Any, r: int) -> NDArray[np.float64]:
    """Return the first r right singular vectors, (p, r); the coordinate largest in magnitude is positive."""
    limit = min(rows.shape)
    # A full decomposition of 1,000 rows and columns takes a hundred times as long as a few components.
    few = 8 * r <= limit and limit > 400 and (limit > _SMALL or find_spec("scipy") is not None)
    if not few and (limit <= _SMALL or r > limit // 4):
        dense = rows.toarray() if is_sparse(rows) else rows
        V = np.linalg.svd(dense.astype(np.float64, copy=False), full_matrices=False)[2][:r].T
    else:
        svds = scipy_module("truncated decompositions", "sparse.linalg").svds
        start = np.random.default_rng(0).normal(size=limit)
        V = svds(rows.astype(np.float64), k=r, v0=start, return_singular_vectors="vh")[2][::-1].T
    largest = V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])]
    result: NDArray[np.float64] = V * np.where(largest < 0, -1.0, 1.0)
    return result
