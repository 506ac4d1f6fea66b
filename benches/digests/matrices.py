"""Dissimilarities of all pairs, of every kind that the engines treat in a way of its own.

All numbers come from integers and from operations that every processor rounds alike: no logarithm, no BLAS.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Kinds of numbers; those with negative ones come last.
KINDS = [
    "uniform",
    "tenths",
    "whole",
    "0-1",
    "equal",
    "plane",
    "blobs",
    "nested",
    "outlier",
    "large",
    "signs",
]


def condensed(kind: str, n: int) -> Floats:
    """The n(n-1)/2 numbers of a kind, the same in every run."""
    rng = np.random.default_rng([KINDS.index(kind), n])
    n_pairs = n * (n - 1) // 2
    match kind:
        case "uniform":
            return rng.random(n_pairs)
        case "tenths":
            return rng.integers(0, 10, n_pairs) * 0.1
        case "whole":
            return rng.integers(0, 50, n_pairs).astype(np.float64)
        case "0-1":
            return rng.integers(0, 2, n_pairs).astype(np.float64)
        case "equal":
            return np.full(n_pairs, 3.0)
        case "plane":
            return distances(rng.integers(0, 1000, (n, 2)))
        case "blobs":
            # Forty groups, which are far apart.
            centers = rng.integers(0, 100_000, (40, 5))
            return distances(centers[rng.integers(0, 40, n)] + rng.integers(0, 1000, (n, 5)))
        case "nested":
            # Groups of groups of groups.
            points = rng.integers(0, 30, (n, 3))
            for spread, n_groups in ((100_000, 4), (10_000, 16), (1000, 64)):
                groups = np.arange(n) * n_groups // n
                points = points + rng.integers(0, spread, (n_groups, 3))[groups]
            return distances(rng.permutation(points))
        case "outlier":
            far = rng.random(n_pairs)
            far[: n - 1] += 1e6
            return far
        case "large":
            return 1e13 + rng.integers(0, 10, n_pairs)
        case "signs":
            return rng.random(n_pairs) * 2 - 1
    raise ValueError(kind)


def distances(points: NDArray[np.int64]) -> Floats:
    """Euclidean distances of all pairs of points with whole coordinates: one rounding, that of the root."""
    n = len(points)
    squares = np.zeros((n, n), dtype=np.int64)
    for column in points.T:
        squares += np.subtract.outer(column, column) ** 2
    return np.sqrt(squares[np.triu_indices(n, 1)].astype(np.float64))


def square(pairs: Floats, n: int) -> Floats:
    """The (n, n) matrix of condensed numbers, with a diagonal of zeros."""
    matrix = np.zeros((n, n), dtype=pairs.dtype)
    matrix[np.triu_indices(n, 1)] = pairs
    return matrix + matrix.T
