"""Score a tree against similarities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram, engine_tree
from ordhc.tree.matching import prepared


@shows_progress("scoring")
def dasgupta_cost(tree: Any, S: ArrayLike, *, progress: Progress | bool | None = None) -> int | float:
    """Return Dasgupta's cost of a tree (Dasgupta 2016); lower is better.

    The cost is the sum of ``s_ij |H(i, j)|`` over i < j. ``s_ij`` is the similarity of leaves i and j, and
    ``|H(i, j)|`` is the number of leaves below their lowest common ancestor. If `S` contains dissimilarities,
    higher is better.

    Parameters
    ----------
    tree
        The tree, in any form that `ordhc.as_dendrogram` takes.
    S
        A symmetric (n, n) matrix whose diagonal is ignored, or n(n-1)/2 values in the order of SciPy's
        condensed matrices. A data frame is matched by name if its index has names.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    int or float
        An exact int if `S` has an integer type; otherwise a float.

    Raises
    ------
    InputError
        The tree and `S` have different numbers of leaves; `S` contains NaN or infinity, or is asymmetric. The
        error names the entry.

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
    """Return Dasgupta's revenue of a tree; higher is better.

    The revenue is n times the sum of similarities, minus `dasgupta_cost`. Parameters, results and errors are
    those of `dasgupta_cost`. If `S` contains dissimilarities, lower is better.

    The revenue for the AddS3 similarities of triplets equals their `triplet_revenue`. The revenue for the
    AddS4 similarities of quadruplets equals their `quadruplet_revenue` (Mandal, Perrot & Ghoshdastidar 2023,
    Theorem 1).

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
    """Return the correlation of a tree's merge heights with a matrix or another tree (Sokal & Rohlf 1962).

    The result is Pearson's correlation over all pairs of leaves. In a tree with lengths but without heights,
    the length of the path between two leaves replaces their merge height.

    Parameters
    ----------
    tree
        The tree, in any form that `ordhc.as_dendrogram` takes.
    reference
        An (n, n) matrix, n(n-1)/2 values in the order of SciPy's condensed matrices, or a tree. A data frame
        is matched by name if its index has names.
    dissimilarity
        `True` if the matrix contains dissimilarities, `False` if it contains similarities. By default the
        matrix has the kind of the tree's heights. If the two kinds differ, the sign of the correlation is
        reversed, so that 1 is always perfect.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    float
        The correlation, as `scipy.cluster.hierarchy.cophenet` computes it.

    Raises
    ------
    InputError
        The tree and the reference have different numbers of leaves; all heights or all values are the same.

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
    is_far = tree.kind == "dissimilarity"
    turned = is_far if dissimilarity is None else _checks.flag("dissimilarity", dissimilarity)
    value = _ordhc.cophenetic(engine_tree(tree), other, turned, progress)
    return value if turned == is_far else -value


def _has_lengths(tree: Dendrogram) -> bool:
    return tree.scale == "lengths" and tree.root.height is None


def _of_paths(tree: Dendrogram, other: Any, dissimilarity: bool | None) -> float:
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
