"""Scores of a tree by similarities."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.matching import prepared
from ordhc.tree.parts import engine_tree

__all__ = ["cophenetic_correlation", "dasgupta_cost", "dasgupta_revenue"]


@shows_progress("scoring")
def dasgupta_cost(tree: Any, S: ArrayLike, *, progress: Progress | bool | None = None) -> int | float:
    """Sum similarities times the leaves under the common ancestor (Dasgupta 2016); lower is better.

    The sum over i < j of ``s_ij |H(i, j)|``. Under dissimilarities higher is better.

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
    return _ordhc.dasgupta(engine_tree(tree), values, False, progress)


@shows_progress("scoring")
def dasgupta_revenue(tree: Any, S: ArrayLike, *, progress: Progress | bool | None = None) -> int | float:
    """Subtract `dasgupta_cost` from n times the sum of similarities; higher is better.

    Takes and returns what `dasgupta_cost` does; under dissimilarities lower is better.
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
    return _ordhc.dasgupta(engine_tree(tree), values, True, progress)


@shows_progress("scoring")
def cophenetic_correlation(
    tree: Any,
    reference: Any,
    *,
    dissimilarity: bool | None = None,
    progress: Progress | bool | None = None,
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
    if _has_lengths(tree) or (isinstance(other, Dendrogram) and _has_lengths(other)):
        return _of_paths(tree, other, dissimilarity)
    if isinstance(other, Dendrogram):
        value = _ordhc.cophenetic_of_trees(engine_tree(tree), engine_tree(other), progress)
        return value if tree.kind == other.kind else -value
    turned = (
        tree.kind == "dissimilarity"
        if dissimilarity is None
        else _checks.flag("dissimilarity", dissimilarity)
    )
    value = _ordhc.cophenetic(engine_tree(tree), other, turned, progress)
    return value if turned == (tree.kind == "dissimilarity") else -value


def _has_lengths(tree: Dendrogram) -> bool:
    """Whether a tree has lengths and no heights that they give."""
    return tree.scale == "lengths" and tree.root.height is None


def _of_paths(tree: Dendrogram, other: Any, dissimilarity: bool | None) -> float:
    """Correlate the n(n-1)/2 lengths of paths with heights, paths or values of a matrix."""
    pairs, is_path = tree.cophenetic(), tree.kind == "dissimilarity"
    if isinstance(other, Dendrogram):
        values, is_far = other.cophenetic(), other.kind == "dissimilarity"
    else:
        values = _checks.square(other)[np.triu_indices(tree.n_leaves, 1)]
        is_far = is_path if dissimilarity is None else _checks.flag("dissimilarity", dissimilarity)
    for what, found in (("paths or heights of the tree", pairs), ("values of the reference", values)):
        if not len(found) or (found == found[0]).all():
            raise InputError(f"the {what} are all the same: there is no correlation")
    value = float(np.corrcoef(pairs, values.astype(np.float64))[0, 1])
    return value if is_far == is_path else -value
