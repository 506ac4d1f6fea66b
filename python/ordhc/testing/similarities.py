"""Checks of similarity builders, which compute similarities of leaves from comparisons or vectors.

Each check receives a builder and raises AssertionError if it fails.
"""

import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import OrdhcWarning
from ordhc.plugins import registry
from ordhc.plugins.specs import SimilaritySpec
from ordhc.similarities.similarity import built
from ordhc.similarities.vectors import Vectors
from ordhc.testing.running import RTOL, Subject, by_name, need, renumbered, run


class _Similarity(Subject[SimilaritySpec]):
    def build(self, data: Any, layout: str = "square", dtype: str = "float64") -> NDArray[Any]:
        n = len(data) if isinstance(data, np.ndarray) else data.n_leaves
        result: Any
        if self.spec.build is None:
            with warnings.catch_warnings():
                # The samples can have negative dot products, and ordhc warns about them.
                warnings.simplefilter("ignore", OrdhcWarning)
                given = Vectors(data) if isinstance(data, np.ndarray) else data
                result = built(self.spec, given, layout, dtype, None, self.settings)
        else:
            result = self.spec.build(data, layout=layout, dtype=dtype, progress=None, **self.settings)
        shape = (n, n) if layout == "square" else (n * (n - 1) // 2,)
        kind = type(result).__name__
        text = f"layout {layout!r} of {n} leaves returns {kind}, not an array of shape {shape}"
        need(isinstance(result, np.ndarray) and result.shape == shape, text)
        need(result.dtype.name == dtype, f"dtype is {result.dtype.name}, not {dtype}")
        need(np.isfinite(result).all(), "a similarity is not finite")
        return result  # type: ignore[no-any-return]

    def samples(self, n: int, m: int, seed: int) -> list[Any]:
        return [_sample(kind, n, m, seed) for kind in self.spec.data]


def _sample(kind: str, n: int, m: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    points = np.concatenate([random.random(n - n // 2), 5 + random.random(n // 2)])
    if kind == "vectors":
        # The groups differ in position and in direction, so distances and cosines both separate them.
        return np.column_stack([3 - points, points, 0.1 * points])
    width, make = (3, Triplets) if kind == "triplets" else (4, Quadruplets)
    rows = np.zeros((0, width), dtype=np.int64)
    if n >= 3 and m:
        drawn = [random.choice(n, 3, replace=False) for _ in range(m)]
        rows = np.array(drawn if kind == "triplets" else [(a, b, a, c) for a, b, c in drawn])
        first = np.abs(points[rows[:, 0]] - points[rows[:, 1]])
        second = np.abs(points[rows[:, -width]] - points[rows[:, -1]])
        swap = [0, 2, 1] if kind == "triplets" else [2, 3, 0, 1]
        rows = np.where((first < second)[:, None], rows, rows[:, swap])
    return make(rows, n_leaves=n)


def _need_close(found: NDArray[Any], expected: NDArray[Any], tolerance: float, text: str) -> None:
    need(np.abs(found - expected).max() <= tolerance * np.abs(expected).max(initial=1.0), text)


def _few_leaves(similarity: _Similarity) -> None:
    for n in (1, 2, 3):
        for m in (0, 1):
            for data in similarity.samples(n, m, seed=n):
                similarity.build(data)
                similarity.build(data, layout="condensed")


def _symmetric(similarity: _Similarity) -> None:
    for data in similarity.samples(8, 80, seed=1):
        S = similarity.build(data)
        _need_close(S.T, S, RTOL, "the matrix is not symmetric")


def _layouts(similarity: _Similarity) -> None:
    for data in similarity.samples(7, 60, seed=2):
        S, pairs = similarity.build(data), similarity.build(data, layout="condensed")
        _need_close(pairs, S[np.triu_indices(7, 1)], RTOL, "condensed and square layouts differ")


def _dtypes(similarity: _Similarity) -> None:
    for data in similarity.samples(7, 60, seed=3):
        narrow = similarity.build(data, dtype="float32")
        _need_close(narrow, similarity.build(data), 1e-3, "float32 and float64 differ")


def _duplicates(similarity: _Similarity) -> None:
    for data in similarity.samples(6, 30, seed=4):
        if isinstance(data, np.ndarray):
            similarity.build(np.repeat(data, 2, axis=0))
            continue
        similarity.build(type(data)(np.repeat(data.rows, 3, axis=0), n_leaves=6))
        similarity.build(type(data)(data.rows, n_leaves=6, weights=np.linspace(0.5, 2, len(data))))


def _deterministic(similarity: _Similarity) -> None:
    for data in similarity.samples(8, 80, seed=5):
        first = similarity.build(data)
        for other in similarity.samples(5, 20, seed=6):
            similarity.build(other)
        need(np.array_equal(first, similarity.build(data)), "the same data give different similarities")


def _numbering(similarity: _Similarity) -> None:
    for data in similarity.samples(8, 80, seed=7):
        order = np.random.default_rng(8).permutation(8)
        moved = similarity.build(renumbered(data, order))[np.ix_(order, order)]
        _need_close(moved, similarity.build(data), 1e-6, "renumbering leaves changes similarities")


def _direction(similarity: _Similarity) -> None:
    group = np.arange(12) >= 6
    i, j = np.triu_indices(12, 1)
    within = group[i] == group[j]
    for data in similarity.samples(12, 1500, seed=9):
        S = similarity.build(data)[i, j]
        inside, between = S[within].mean(), S[~within].mean()
        less = similarity.spec.dissimilarity
        rule = f"{'smaller' if less else 'larger'} should be closer"
        text = f"mean within groups {inside:g}, between distant groups {between:g}; {rule}"
        need(inside < between if less else inside > between, text)


#: The checks of `check_similarity`, by name.
SIMILARITY_CHECKS = by_name(
    _few_leaves, _symmetric, _layouts, _dtypes, _duplicates, _deterministic, _numbering, _direction
)


def check_similarity(
    similarity: str | SimilaritySpec, /, *, skip: Collection[str] = (), **parameters: Any
) -> None:
    """Check a similarity builder, by its registered name or as a `SimilaritySpec`.

    A similarity builder computes similarities of leaves from comparisons or vectors.

    Parameters
    ----------
    similarity
        The name of a registered similarity builder, or the `SimilaritySpec` of one that is not registered.
    skip
        The names of checks to skip: keys of `SIMILARITY_CHECKS`.
    **parameters
        Settings of the builder that differ from the defaults.

    Raises
    ------
    AssertionError
        If a check fails. The message has the name of the check and the reason.

    Examples
    --------
    >>> check_similarity("adds3")
    """
    spec = registry.get("similarity", similarity) if isinstance(similarity, str) else similarity
    run(_Similarity(spec, parameters), SIMILARITY_CHECKS, skip)
