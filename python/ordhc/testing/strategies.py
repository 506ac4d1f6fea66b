"""Hypothesis strategies for ordhc's data types. The strategies need hypothesis: pip install hypothesis."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.tree.dendrogram import Dendrogram

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["dendrograms", "quadruplets", "similarities", "triplets"]
__dir__ = __all__.copy


def _strategies() -> Any:
    try:
        from hypothesis import strategies
    except ImportError:
        raise ImportError("ordhc.testing.strategies needs hypothesis: pip install hypothesis") from None
    return strategies


def triplets(
    *, min_leaves: int = 3, max_leaves: int = 12, max_size: int = 60, weighted: bool = False
) -> "SearchStrategy[Triplets]":
    """Return a strategy for `Triplets`, including repeated and contradicting triplets.

    Parameters
    ----------
    min_leaves, max_leaves
        The limits of the number of leaves, both included. `min_leaves` below 3 counts as 3.
    max_size
        The maximum number of rows.
    weighted
        True adds a random weight to each row.
    """
    st = _strategies()

    def row(leaf: Any) -> Any:
        return st.lists(leaf, min_size=3, max_size=3, unique=True)

    return _comparisons(Triplets, row, max(min_leaves, 3), max_leaves, max_size, weighted)  # type: ignore[no-any-return]


def quadruplets(
    *, min_leaves: int = 3, max_leaves: int = 12, max_size: int = 60, weighted: bool = False
) -> "SearchStrategy[Quadruplets]":
    """Return a strategy for `Quadruplets`. The two pairs of a row differ, but can share a leaf.

    Parameters
    ----------
    min_leaves, max_leaves
        The limits of the number of leaves, both included. `min_leaves` below 3 counts as 3.
    max_size
        The maximum number of rows.
    weighted
        True adds a random weight to each row.
    """
    st = _strategies()

    def row(leaf: Any) -> Any:
        pair = st.lists(leaf, min_size=2, max_size=2, unique=True)
        pairs = st.tuples(pair, pair).filter(lambda pairs: set(pairs[0]) != set(pairs[1]))
        return pairs.map(lambda pairs: [*pairs[0], *pairs[1]])

    return _comparisons(Quadruplets, row, max(min_leaves, 3), max_leaves, max_size, weighted)  # type: ignore[no-any-return]


def _comparisons(kind: Any, row: Any, min_leaves: int, max_leaves: int, max_size: int, weighted: bool) -> Any:
    st = _strategies()

    @st.composite  # type: ignore[untyped-decorator]
    def build(draw: Any) -> Any:
        n = draw(st.integers(min_leaves, max_leaves))
        rows = draw(st.lists(row(st.integers(0, n - 1)), max_size=max_size))
        weights = None
        if weighted:
            quarters = draw(st.lists(st.integers(1, 16), min_size=len(rows), max_size=len(rows)))
            weights = np.array(quarters, dtype=np.float64) / 4
        width = 3 if kind is Triplets else 4
        return kind(np.array(rows, dtype=np.int64).reshape(-1, width), n_leaves=n, weights=weights)

    return build()


def similarities(
    *, min_leaves: int = 1, max_leaves: int = 12, ties: bool = True
) -> "SearchStrategy[NDArray[np.float64]]":
    """Return a strategy for symmetric (n, n) matrices with zeros on the diagonal.

    Parameters
    ----------
    min_leaves, max_leaves
        The limits of n, both included.
    ties
        True draws integers from -3 to 3, so that many values are equal. False draws normal numbers, which are
        all different.
    """
    st = _strategies()

    @st.composite  # type: ignore[untyped-decorator]
    def build(draw: Any) -> NDArray[np.float64]:
        n = draw(st.integers(min_leaves, max_leaves))
        S = np.zeros((n, n))
        upper = np.triu_indices(n, 1)
        m = len(upper[0])
        if ties:
            values = draw(st.lists(st.integers(-3, 3), min_size=m, max_size=m))
        else:
            values = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal(size=m)
        S[upper] = values
        return S + S.T

    return build()  # type: ignore[no-any-return]


def dendrograms(*, min_leaves: int = 1, max_leaves: int = 12) -> "SearchStrategy[Dendrogram]":
    """Return a strategy for dendrograms of similarities or dissimilarities, without inversions.

    Heights can be equal.

    Parameters
    ----------
    min_leaves, max_leaves
        The limits of the number of leaves, both included.
    """
    st = _strategies()

    @st.composite  # type: ignore[untyped-decorator]
    def build(draw: Any) -> Dendrogram:
        n = draw(st.integers(min_leaves, max_leaves))
        kind = draw(st.sampled_from(["similarity", "dissimilarity"]))
        active, merges = list(range(n)), []
        for step in range(n - 1):
            a = active.pop(draw(st.integers(0, len(active) - 1)))
            b = active.pop(draw(st.integers(0, len(active) - 1)))
            merges.append((min(a, b), max(a, b)))
            active.append(n + step)
        rises = draw(st.lists(st.integers(0, 8), min_size=n - 1, max_size=n - 1))
        heights = np.cumsum(np.array(rises, dtype=np.float64) / 4)
        return Dendrogram(merges, heights if kind == "dissimilarity" else -heights, kind=kind)

    return build()  # type: ignore[no-any-return]
