"""Score a tree against labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram, engine_tree, shape_of
from ordhc.tree.matching import core, prepared

_NO_LEVELS = "all merges of the reference have the same height, so it has no levels"


def ari(tree: Any, labels: ArrayLike, n_clusters: int | None = None) -> float:
    """Return the adjusted Rand index of labels and a cut of the tree (Hubert & Arabie 1985).

    Parameters
    ----------
    tree
        The tree, in any form that `ordhc.as_dendrogram` takes.
    labels
        (n,) labels of any type. A series of a data frame is matched by name if its index has names.
    n_clusters
        The number of clusters into which the tree is cut; by default the number of different labels.

    Returns
    -------
    float
        The index, as `sklearn.metrics.adjusted_rand_score` computes it: 1 for equal clusters, about 0 for
        unrelated clusters.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.metrics.ari("((0:1,1:1):2,(2:2,3:2):1);", ["a", "a", "b", "b"])
    1.0
    """
    tree, table = prepared(tree, labels, ("labels",), "ari")
    column = _one_column(table, "ari")
    k = len(np.unique(column)) if n_clusters is None else _checks.whole("n_clusters", n_clusters, at_least=1)
    return _ordhc.ari(column, tree.cut(k))


@shows_progress("scoring")
def aari(
    tree: Any,
    reference: Any,
    levels: Sequence[int] | str | None = None,
    *,
    progress: Progress | bool | None = None,
) -> float:
    """Return the adjusted Rand index averaged over the levels of a hierarchy (AARI).

    The paper compares the partitions "at level l" of both hierarchies (Ghoshdastidar, Perrot & von Luxburg
    2019, section 4.1). By default level l of the tree is the cut that has the reference's number of clusters
    at level l. A cut undoes the last merges, so the order of merges matters. A tree that has all clusters of
    the reference can therefore score below 1. For example, if the tree merges 0, 1, 2 and 3 before 4 and 5,
    no cut gives the clusters (0, 1), (2, 3), (4, 5).

    With ``levels="depth"`` level l of a tree consists of the nodes l edges below the root, and heights are
    ignored. Every tree with Robinson-Foulds distance 0 to a reference tree then scores 1.

    Parameters
    ----------
    tree
        The tree, in any form that `ordhc.as_dendrogram` takes.
    reference
        (n, L) nested labels, one column for each level; or a tree.
    levels
        The levels that are compared.

        * For labels: the columns, counted from 0; by default all columns.
        * For a tree: the numbers of clusters into which both trees are cut. By default all numbers from 2 to
          n - 1 at which a cut does not separate merges of equal height.
        * "depth": column l of the labels, counted from 1, is compared with the nodes at depth l. Two trees
          are compared at each depth of the reference.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    float
        The mean over levels; 1 if all partitions are the same.

    Raises
    ------
    InputError
        The tree and the reference have different numbers of leaves; there are no levels; labels are missing.

    Examples
    --------
    >>> import ordhc
    >>> tree = ordhc.as_dendrogram("(((0:1,1:1):1,(2:1,3:1):1):1,((4:1,5:1):1,(6:1,7:1):1):1);")
    >>> ordhc.metrics.aari(tree, [(0, 0), (0, 0), (0, 1), (0, 1), (1, 2), (1, 2), (1, 3), (1, 3)])
    1.0
    >>> late = ordhc.Dendrogram([(0, 1), (2, 3), (8, 9), (4, 5), (6, 7), (11, 12), (10, 13)], range(1, 8))
    >>> ordhc.metrics.robinson_foulds(late, tree)
    0.0
    >>> labels = [(0, 0), (0, 0), (0, 1), (0, 1), (1, 2), (1, 2), (1, 3), (1, 3)]
    >>> round(ordhc.metrics.aari(late, labels), 3), ordhc.metrics.aari(late, labels, levels="depth")
    (0.722, 1.0)
    """
    progress = _checks.callback("progress", progress)
    tree, other = prepared(tree, reference, ("labels", "tree"), "aari")
    if isinstance(levels, str):
        _checks.choice("levels", levels, ("depth",))
        return _by_depth(tree, other)
    for each in (tree, other):
        if isinstance(each, Dendrogram) and each.scale == "shape":
            raise InputError(
                'a tree without heights and lengths has no order of merges to cut by: give levels="depth"'
            )
    if isinstance(other, Dendrogram):
        wanted = engine_tree(other).levels() if levels is None else _levels(levels, 1)
        if levels is None and not wanted:
            raise InputError(_NO_LEVELS)
        return _ordhc.aari_of_trees(engine_tree(tree), engine_tree(other), wanted, progress)[0]
    columns = other.T
    if levels is not None:
        wanted = _levels(levels, 0)
        for level in wanted:
            if level >= len(columns):
                raise InputError(
                    f"levels contain {level}, but the labels have columns 0 to {len(columns) - 1}"
                )
        columns = np.ascontiguousarray(columns[wanted])
    return _ordhc.aari(engine_tree(tree), columns, progress)[0]


def _by_depth(tree: Dendrogram, other: Dendrogram | NDArray[np.int64]) -> float:
    order, gaps = _gaps(tree)
    truths: Iterable[NDArray[np.int64]]
    if isinstance(other, Dendrogram):
        their_order, their_gaps = _gaps(other)
        n_levels = int(their_gaps.max(initial=0))
        truths = (_at_depth(their_order, their_gaps, level + 1) for level in range(n_levels))
        if not n_levels:
            raise InputError(_NO_LEVELS)
    else:
        truths = (np.ascontiguousarray(column) for column in other.T)
    scores = [_ordhc.ari(_at_depth(order, gaps, level + 1), truth) for level, truth in enumerate(truths)]
    return float(np.mean(scores))


def _at_depth(order: NDArray[np.int64], gaps: NDArray[np.int64], depth: int) -> NDArray[np.int64]:
    """Return for each leaf a label of its ancestor at `depth`; a leaf above `depth` has its own label."""
    labels = np.zeros(len(order), dtype=np.int64)
    labels[order[1:]] = np.cumsum(gaps < depth)
    return labels


def _gaps(tree: Dendrogram) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the leaves in drawing order, and the depth of the common ancestor of adjacent leaves."""
    shape, n = shape_of(tree), tree.n_leaves
    depth, gaps = [0] * len(tree.parents), np.zeros(n - 1, dtype=np.int64)
    for node in range(len(tree.parents) - 1, n - 1, -1):
        for at, child in enumerate(shape.children_of(node)):
            depth[child] = depth[node] + 1
            if at:
                gaps[shape.starts[child] - 1] = depth[node]
    return shape.order, gaps


def _levels(given: Any, at_least: int) -> list[int]:
    found = _checks.whole_numbers("levels", given, at_least=at_least)
    if found.ndim != 1:
        raise InputError(f"levels have shape {found.shape}; a list of whole numbers is needed")
    return [int(level) for level in found]


def dendrogram_purity(tree: Any, labels: ArrayLike, *, join_ties: bool = False) -> float:
    """Return the dendrogram purity of a tree (Heller & Ghahramani 2005).

    For each pair of leaves with the same label, the purity is the share of this label among the leaves below
    their lowest common ancestor. The dendrogram purity is the mean over these pairs.

    Parameters
    ----------
    tree
        The tree, in any form that `ordhc.as_dendrogram` takes.
    labels
        (n,) labels of any type.
    join_ties
        `True` scores ``tree.contract(ties=True)``, in which a node with the height of its parent is merged
        into the parent.

    Returns
    -------
    float
        The purity, at most 1. The purity is 1 if the leaves of each label are exactly the leaves below one
        node.

    Raises
    ------
    InputError
        The tree and the labels have different numbers of leaves; all labels are different.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.metrics.dendrogram_purity("((0,1),(2,3));", [5, 6, 6, 5])
    0.5
    """
    tree, table = prepared(tree, labels, ("labels",), "dendrogram_purity")
    column = _one_column(table, "dendrogram_purity")
    return _ordhc.dendrogram_purity(core(tree, join_ties), column)


def _one_column(table: NDArray[np.int64], what: str) -> NDArray[np.int64]:
    if table.shape[1] != 1:
        raise InputError(f"{what} takes one label for each leaf, not {table.shape[1]} columns (use aari)")
    column: NDArray[np.int64] = table.T[0]
    return column
