"""Similarities and dissimilarities of vectors.

`dot`, `cosine`, `pca_dot` and `pca_cosine` return rows and a scale: the similarity of two leaves is the scale
times the dot product of their rows. The other functions return values for all pairs.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ordhc._progress import Progress
from ordhc.similarities.comparisons import float_type
from ordhc.similarities.principal import pca
from ordhc.similarities.vectors import by_scipy, distances, normalized, scipy_distances


def dot(data: Any, *, progress: Progress | None) -> tuple[Any, float]:  # noqa: ARG001
    """Return the vectors, and the factor 1/p for the dot products of vectors of p coordinates."""
    return data, 1 / max(1, data.shape[1])


def cosine(data: Any, *, progress: Progress | None) -> tuple[Any, float]:  # noqa: ARG001
    """Return vectors whose dot products are the cosines (0 with a zero vector), and the factor 1."""
    return normalized(data), 1.0


def pca_dot(data: Any, *, progress: Progress | None, **settings: Any) -> tuple[Any, float]:
    """Return principal component scores, and the factor 1/p for dot products; p is the number of columns."""
    return pca(data, progress=progress, **settings), 1 / max(1, data.shape[1])


def pca_cosine(data: Any, *, progress: Progress | None, **settings: Any) -> tuple[Any, float]:
    """Return scaled principal component scores whose dot products are the cosines, and the factor 1."""
    return normalized(pca(data, progress=progress, **settings)), 1.0


def euclidean(
    data: Any,
    *,
    squared: bool = False,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,
) -> NDArray[Any]:
    return distances(data, layout, float_type(dtype), progress, squared=squared)


def manhattan(
    data: Any,
    *,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,  # noqa: ARG001
) -> NDArray[Any]:
    return by_scipy(data, "cityblock", "manhattan", layout, float_type(dtype))


def pdist(
    data: Any,
    *,
    metric: Any = "euclidean",
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,  # noqa: ARG001
) -> NDArray[Any]:
    return scipy_distances(data, metric, layout, float_type(dtype))
