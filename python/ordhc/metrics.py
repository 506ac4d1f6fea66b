"""Scores: how good a tree is, by comparisons, by similarities, or beside another tree or labels.

Trees are given in any form that `ordhc.as_dendrogram` takes. Leaves are matched by name where both sides have
names, else by number. `ordhc.score(tree, reference, metric=...)` finds the same functions by name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError
from ordhc.matching import prepared
from ordhc.tree_metrics import (
    KendallTau,
    kendall_tau_b,
    merge_distortion,
    robinson_foulds,
    triplet_distance,
)

__all__ = [
    "KendallTau",
    "Satisfied",
    "aari",
    "ari",
    "cophenetic_correlation",
    "dasgupta_cost",
    "dasgupta_revenue",
    "dendrogram_purity",
    "kendall_tau_b",
    "merge_distortion",
    "quadruplet_revenue",
    "robinson_foulds",
    "satisfied",
    "triplet_distance",
    "triplet_revenue",
]

Progress = Callable[[float], None]


# --- by comparisons --------------------------------------------------------------------------


def triplet_revenue(tree: Any, triplets: Triplets | ArrayLike, *, normalize: bool = False) -> int | float:
    """The triplet revenue (Mandal, Perrot & Ghoshdastidar 2023, equation 3); higher is better.

    The sum, over triplets (i, j, k) of weight w, of w (|H(i, k)| - |H(i, j)|), where |H(i, j)| is the
    number of leaves under the lowest common ancestor of i and j.

    Parameters
    ----------
    tree
        See `ordhc.as_dendrogram`.
    triplets
        `Triplets`, or (m, 3) leaf ids.
    normalize
        Divide by the best conceivable, (n - 2) times the sum of weights: at most 1.

    Returns
    -------
    int or float
        Exact, an int, without weights and `normalize`.

    Raises
    ------
    InputError
        Another number of leaves; a revenue beyond 64 bits; nothing to divide by.

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([(0, 1, 2), (1, 0, 2)])
    >>> tree = ordhc.cluster(t)
    >>> ordhc.metrics.triplet_revenue(tree, t), ordhc.metrics.triplet_revenue(tree, t, normalize=True)
    (2, 1.0)
    """
    return _revenue(*prepared(tree, triplets, ("triplets",), "triplet_revenue"), normalize)


def quadruplet_revenue(
    tree: Any, quadruplets: Quadruplets | Triplets | ArrayLike, *, normalize: bool = False
) -> int | float:
    """The quadruplet revenue (Mandal, Perrot & Ghoshdastidar 2023, equation 4); higher is better.

    The sum, over quadruplets (i, j, k, l) of weight w, of w (|H(k, l)| - |H(i, j)|); otherwise as
    `triplet_revenue`.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.metrics.quadruplet_revenue("((0,1),(2,3));", ordhc.Quadruplets([(0, 1, 1, 2)], n_leaves=4))
    2
    """
    return _revenue(*prepared(tree, quadruplets, ("quadruplets",), "quadruplet_revenue"), normalize)


def _revenue(tree: Dendrogram, data: Triplets | Quadruplets, normalize: bool) -> int | float:
    normalize = _checks.flag("normalize", normalize)
    value = _ordhc.revenue(tree._tree, data.rows, data.weights)
    if not normalize:
        return value
    best = _ordhc.best_revenue(data.rows, data.weights, data.n_leaves)
    if best == 0:
        raise InputError("the best conceivable revenue is 0: there are no comparisons (of positive weight)")
    return value / best


@dataclass(frozen=True)
class Satisfied:
    """Shares of the comparisons (of their weight) that a tree agrees with, disagrees with, leaves open.

    As a number (`float(...)`) it is the share agreed.
    """

    agreed: float
    disagreed: float
    unresolved: float

    def __float__(self) -> float:
        return self.agreed

    def __str__(self) -> str:
        return f"{self.agreed:.6g} (disagreed {self.disagreed:.6g}, unresolved {self.unresolved:.6g})"


def satisfied(tree: Any, comparisons: Triplets | Quadruplets | ArrayLike) -> Satisfied:
    """The shares of comparisons that a tree agrees with, disagrees with and leaves open.

    It agrees with a triplet (i, j, k) when i and j join before k joins them, and leaves it open when
    j and k join first. It agrees with a quadruplet (i, j, k, l) when i and j join below where k and l
    do, or elsewhere at a closer height.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.metrics.satisfied("((0,1),(2,3));", ordhc.Triplets([(0, 1, 2), (0, 2, 3)]))
    Satisfied(agreed=0.5, disagreed=0.0, unresolved=0.5)
    """
    tree, data = prepared(tree, comparisons, ("triplets", "quadruplets"), "satisfied")
    if not len(data) or (data.weights is not None and not data.weights.any()):
        raise InputError("there are no comparisons (of positive weight) to satisfy")
    weights = _ordhc.satisfied(tree._tree, data.rows, data.weights)
    total = sum(weights)
    if total == np.inf:
        raise InputError("the weights are so large that their sum overflows a float; rescale them")
    return Satisfied(*(weight / total for weight in weights))


# --- by similarities -------------------------------------------------------------------------


def dasgupta_cost(tree: Any, S: ArrayLike, *, progress: Progress | None = None) -> int | float:
    """Dasgupta's cost of a tree under similarities (Dasgupta 2016); lower is better.

    The sum over i < j of s_ij |H(i, j)|. Under dissimilarities higher is better.

    Parameters
    ----------
    tree
        See `ordhc.as_dendrogram`.
    S
        (n, n) symmetric, the diagonal is ignored; or the n(n-1)/2 pairs as SciPy orders them. A data
        frame whose rows have names is matched by name.

    Returns
    -------
    int or float
        Exact, an int, for whole numbers of an integer type.

    Raises
    ------
    InputError
        Another number of leaves; NaN, infinity or asymmetry, with their place.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.metrics.dasgupta_cost("((0,1),2);", [[0, 5, 1], [5, 0, 0], [1, 0, 0]])
    13
    """
    progress = _checks.callback("progress", progress)
    tree, values = prepared(tree, S, ("similarity",), "dasgupta_cost")
    return _ordhc.dasgupta(tree._tree, values, False, progress)


def dasgupta_revenue(tree: Any, S: ArrayLike, *, progress: Progress | None = None) -> int | float:
    """N times the sum of similarities, less `dasgupta_cost`; higher is better.

    With the AddS3 similarities of triplets it is their `triplet_revenue`, with the AddS4 similarities
    of quadruplets their `quadruplet_revenue` (Mandal, Perrot & Ghoshdastidar 2023, Theorem 1).

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([(0, 1, 2), (1, 0, 2)])
    >>> ordhc.metrics.dasgupta_revenue("((0,1),2);", ordhc.similarity(t, dtype="int64"))
    2
    """
    progress = _checks.callback("progress", progress)
    tree, values = prepared(tree, S, ("similarity",), "dasgupta_revenue")
    return _ordhc.dasgupta(tree._tree, values, True, progress)


def cophenetic_correlation(
    tree: Any,
    reference: Any,
    *,
    dissimilarity: bool | None = None,
    progress: Progress | None = None,
) -> float:
    """Pearson's correlation, over pairs of leaves, of merge heights with a matrix or another tree.

    Parameters
    ----------
    tree
        See `ordhc.as_dendrogram`.
    reference
        (n, n), or the n(n-1)/2 pairs as SciPy orders them; or a tree. A data frame whose rows have
        names is matched by name.
    dissimilarity
        What the matrix holds; by default what the tree's heights are. Where one holds similarities and
        the other dissimilarities the sign is turned, so that 1 is perfect.

    Returns
    -------
    float
        As `scipy.cluster.hierarchy.cophenet`.

    Raises
    ------
    InputError
        Another number of leaves; heights or values that are all the same.

    Examples
    --------
    >>> import ordhc
    >>> D = [1.0, 4.0, 5.0]
    >>> tree = ordhc.linkage(D, dissimilarity=True)
    >>> round(ordhc.metrics.cophenetic_correlation(tree, D), 4)
    0.9707
    """
    progress = _checks.callback("progress", progress)
    tree, other = prepared(tree, reference, ("similarity", "tree"), "cophenetic_correlation")
    if isinstance(other, Dendrogram):
        value = _ordhc.cophenetic_of_trees(tree._tree, other._tree, progress)
        return value if tree.kind == other.kind else -value
    turned = (
        tree.kind == "dissimilarity"
        if dissimilarity is None
        else _checks.flag("dissimilarity", dissimilarity)
    )
    value = _ordhc.cophenetic(tree._tree, other, turned, progress)
    return value if turned == (tree.kind == "dissimilarity") else -value


# --- beside labels ---------------------------------------------------------------------------


def ari(tree: Any, labels: ArrayLike, n_clusters: int | None = None) -> float:
    """The adjusted Rand index (Hubert & Arabie 1985) of labels with the tree, cut.

    Parameters
    ----------
    tree
        See `ordhc.as_dendrogram`.
    labels
        (n,) labels of any type; a data frame's series with names is matched by name.
    n_clusters
        Into how many clusters to cut; by default as many as there are different labels.

    Returns
    -------
    float
        As `sklearn.metrics.adjusted_rand_score`: 1 for the same clusters, about 0 for unrelated ones.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.metrics.ari("((0,1),(2,3));", ["a", "a", "b", "b"])
    1.0
    """
    tree, table = prepared(tree, labels, ("labels",), "ari")
    column = _one_column(table, "ari")
    k = len(np.unique(column)) if n_clusters is None else _checks.whole("n_clusters", n_clusters, at_least=1)
    return _ordhc.ari(column, tree.cut(k))


def aari(
    tree: Any, reference: Any, levels: Sequence[int] | None = None, *, progress: Progress | None = None
) -> float:
    """The average adjusted Rand index: the truth at each of its levels with the tree cut as finely.

    Cuts undo the last merges, in merge order (Ghoshdastidar, Perrot & von Luxburg 2019, section 4.1).

    Parameters
    ----------
    tree
        See `ordhc.as_dendrogram`.
    reference
        (n, L) nested labels, a column for each level; or a tree.
    levels
        Of labels the columns to take; of a tree the numbers of clusters to cut both trees into. By
        default all columns, and for a tree all numbers of clusters from 2 to n - 1 at which a cut
        does not go through merges of equal height.

    Returns
    -------
    float
        The mean over levels: 1 if the truth is found.

    Raises
    ------
    InputError
        Another number of leaves; no levels; labels that are missing.

    Examples
    --------
    >>> import ordhc
    >>> tree = ordhc.as_dendrogram("(((0,1),(2,3)),((4,5),(6,7)));")
    >>> ordhc.metrics.aari(tree, [(0, 0), (0, 0), (0, 1), (0, 1), (1, 2), (1, 2), (1, 3), (1, 3)])
    1.0
    """
    progress = _checks.callback("progress", progress)
    tree, other = prepared(tree, reference, ("labels", "tree"), "aari")
    if isinstance(other, Dendrogram):
        wanted = _levels_of(other) if levels is None else _levels(levels, 1)
        return _ordhc.aari_of_trees(tree._tree, other._tree, wanted, progress)[0]
    columns = other.T
    if levels is not None:
        wanted = _levels(levels, 0)
        beyond = [level for level in wanted if level >= len(columns)]
        if beyond:
            raise InputError(
                f"level {beyond[0]} of labels of {len(columns)} columns (0 to {len(columns) - 1})"
            )
        columns = np.ascontiguousarray(columns[wanted])
    return _ordhc.aari(tree._tree, columns, progress)[0]


def _levels(given: Any, at_least: int) -> list[int]:
    """Levels as whole numbers."""
    found = _checks.whole_numbers("levels", given, at_least=at_least)
    if found.ndim != 1:
        raise InputError(f"levels have shape {found.shape}; a list of whole numbers is needed")
    return [int(level) for level in found]


def _levels_of(tree: Dendrogram) -> list[int]:
    """The numbers of clusters at which a cut is no choice among merges of equal height."""
    heights = tree.heights
    # Cutting into k clusters keeps the first n - k merges.
    kept = np.flatnonzero(heights[1:] != heights[:-1]) + 1
    if not len(kept):
        raise InputError("all merges of the reference have the same height: it has no levels")
    return (tree.n_leaves - kept).tolist()


def dendrogram_purity(tree: Any, labels: ArrayLike, *, join_ties: bool = True) -> float:
    """Dendrogram purity (Heller & Ghahramani 2005).

    The mean, over pairs of leaves with the same label, of the share of that label among the leaves
    under their lowest common ancestor.

    Parameters
    ----------
    tree
        See `ordhc.as_dendrogram`.
    labels
        (n,) labels of any type.
    join_ties
        Merges of equal height, one in the other, are one node of more than two children.

    Returns
    -------
    float
        1 when each label is all the leaves under one node.

    Raises
    ------
    InputError
        Another number of leaves; labels that are all different.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.metrics.dendrogram_purity("((0,1),(2,3));", [5, 6, 6, 5])
    0.5
    """
    tree, table = prepared(tree, labels, ("labels",), "dendrogram_purity")
    column = _one_column(table, "dendrogram_purity")
    return _ordhc.dendrogram_purity(tree._tree, column, _checks.flag("join_ties", join_ties))


def _one_column(table: NDArray[np.int64], what: str) -> NDArray[np.int64]:
    if table.shape[1] != 1:
        raise InputError(f"{what} takes one label for each leaf, not {table.shape[1]} columns (aari does)")
    column: NDArray[np.int64] = table.T[0]
    return column
