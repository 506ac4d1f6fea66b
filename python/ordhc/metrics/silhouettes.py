"""Compute the silhouette of the clusters of a tree, which suggests a number of clusters."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.errors import InputError, OrdhcWarning
from ordhc.tree.matching import prepared

#: The largest number of clusters that is tried by default.
_MOST = 20
#: The largest relative difference of two values that must be equal; the same as in `ordhc.linkage`.
_TOLERANCE = 1e-8


@dataclass(frozen=True)
class Silhouette:
    """The result of `silhouette`; ``float(result)`` is `value`.

    Attributes
    ----------
    value
        The mean silhouette over all leaves, from -1 to 1.
    n_clusters
        The number of clusters with this silhouette: the best one unless a number was given.
    scores
        The mean silhouette for each number of clusters that was tried.
    """

    value: float
    n_clusters: int
    scores: Mapping[int, float] = field(repr=False, compare=False)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.n_clusters:,} clusters)"


def silhouette(
    tree: Any, S: ArrayLike, n_clusters: int | None = None, *, dissimilarity: bool | None = None
) -> Silhouette:
    """Return the mean silhouette of the clusters of a tree, and the number of clusters where it is largest.

    The silhouette of a leaf compares a, its mean distance to the other leaves of its cluster, with b, its
    mean distance to the leaves of the nearest other cluster: ``(b - a) / max(a, b)`` (Rousseeuw 1987). The
    silhouette of a leaf that is a cluster by itself is 0. Values near 1 mean compact clusters far apart,
    values near 0 mean no clusters.

    Parameters
    ----------
    tree
        A tree with heights or lengths, in any form that `ordhc.as_dendrogram` takes.
    S
        (n, n) dissimilarities or similarities, or the n(n-1)/2 pairs in SciPy's order; the diagonal is
        ignored. Similarities s are converted to distances max(s) - s. A data frame is matched by name.
    n_clusters
        The number of clusters. By default all numbers from 2 to 20 (and below n) are tried, and the best one
        is returned; if several are equally good, the smallest.
    dissimilarity
        `True` if `S` contains dissimilarities, `False` if it contains similarities. By default `S` has the
        kind of the tree's heights.

    Raises
    ------
    InputError
        The tree and `S` have different leaves; there are fewer than 3 leaves; `n_clusters` is outside
        2..n - 1; `S` contains NaN or infinity, or negative dissimilarities.

    Examples
    --------
    >>> import ordhc
    >>> points = [0.0, 0.1, 0.3, 5.0, 5.2, 9.0]
    >>> D = [[abs(x - y) for y in points] for x in points]
    >>> tree = ordhc.linkage(D, "average", dissimilarity=True)
    >>> found = ordhc.metrics.silhouette(tree, D)
    >>> found.n_clusters, tree.cut(found.n_clusters)
    (3, array([0, 0, 0, 1, 1, 2]))
    >>> {k: round(score, 2) for k, score in found.scores.items()}
    {2: 0.77, 3: 0.8, 4: 0.51, 5: 0.19}
    """
    found, values = prepared(tree, S, ("similarity",), "silhouette")
    less = found.kind == "dissimilarity" if dissimilarity is None else dissimilarity
    distances = _distances(values, less=_checks.flag("dissimilarity", less))
    n = found.n_leaves
    if n < 3:
        raise InputError(f"the tree has {n} leaves; silhouettes need 3 or more")
    tried: Sequence[int] = range(2, min(_MOST, n - 1) + 1)
    if n_clusters is not None:
        tried = [_checks.whole("n_clusters", n_clusters, at_least=2, at_most=n - 1)]
    scores: dict[int, float] = {}
    for k in tried:
        with warnings.catch_warnings():
            if n_clusters is None:
                # If a node has more than two children, some numbers of clusters have no cut: skip them.
                warnings.simplefilter("ignore", OrdhcWarning)
            flat = found.cut(k)
        if 2 <= int(flat.max()) + 1 < n:
            scores[int(flat.max()) + 1] = _mean_silhouette(distances, flat)
    if not scores:
        raise InputError(f"the tree has no cut into {tried[0]}..{tried[-1]} clusters")
    best = max(scores, key=lambda k: (scores[k], -k))
    return Silhouette(scores[best], best, scores)


def _distances(values: NDArray[Any], *, less: bool) -> NDArray[np.float64]:
    """Return dissimilarities (if `less`) or similarities as finite (n, n) distances, with a zero diagonal."""
    square = _checks.square(values).astype(np.float64)
    outside = ~np.eye(len(square), dtype=bool)
    for row, column in np.argwhere(~np.isfinite(square) & outside)[:1].tolist():
        raise InputError(f"the value at [{row}, {column}] is {square[row, column]}; it must be finite")
    uneven = np.abs(square - square.T) > _TOLERANCE * np.maximum(np.abs(square), np.abs(square.T))
    for row, column in np.argwhere(uneven & outside)[:1].tolist():
        raise InputError(
            f"the matrix is not symmetric: [{row}, {column}] is {square[row, column]} but [{column}, {row}] "
            f"is {square[column, row]}"
        )
    if not less and outside.any():
        square = square[outside].max() - square
    np.fill_diagonal(square, 0.0)
    for row, column in np.argwhere(square < 0)[:1].tolist():
        raise InputError(
            f"the dissimilarity at [{row}, {column}] is {square[row, column]}, below 0: give "
            "dissimilarity=False for similarities"
        )
    return square


def _mean_silhouette(distances: NDArray[np.float64], flat: NDArray[np.int64]) -> float:
    rows, sizes = np.arange(len(flat)), np.bincount(flat)
    member = np.zeros((len(flat), len(sizes)))
    member[rows, flat] = 1.0
    sums = distances @ member
    own = sums[rows, flat] / np.maximum(sizes[flat] - 1, 1)
    means = sums / sizes
    means[rows, flat] = np.inf
    other = means.min(axis=1)
    largest = np.maximum(own, other)
    each = np.divide(other - own, largest, out=np.zeros(len(flat)), where=largest > 0)
    return float(np.where(sizes[flat] > 1, each, 0.0).mean())
