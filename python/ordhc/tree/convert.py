"""Make a `Dendrogram` from a tree in another form."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc._progress import Progress, shows_progress
from ordhc.comparison.rows import Rows
from ordhc.errors import InputError
from ordhc.tree.annotations import shown
from ordhc.tree.dendrogram import Dendrogram, from_dict
from ordhc.tree.foreign import newick_of


@shows_progress("reading")
def as_dendrogram(
    tree: Any,
    *,
    n_leaves: int | None = None,
    names: Sequence[str] | None = None,
    progress: Progress | bool | None = None,
) -> Dendrogram:
    """Return a `Dendrogram` made from any form of a tree.

    Parameters
    ----------
    tree
        One of these:

        * a `Dendrogram`, or the mapping that `Dendrogram.to_dict` returns
        * Newick text
        * SciPy's linkage matrix Z, (n - 1, 4), or its `ClusterNode`
        * scikit-learn's `children_`, (n - 1, 2), or a fitted estimator with this attribute. Heights are
          `distances_` if the estimator has them, else 1, 2, ...
        * nested labels, (n,) or (n, L), from coarse to fine, such as columns tissue and subtype of a table
        * a `DiGraph` of networkx, as `Dendrogram.to_networkx` makes it, or with lengths of edges as "length"
          or "weight"
        * a tree of ETE, DendroPy or Biopython, or the single-linkage tree of hdbscan
    n_leaves
        The number of leaves, if known. This number distinguishes labels from merges. The number is rarely
        needed, because merges name each cluster exactly once.
    names
        (n,), the names of the leaves.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    Dendrogram
        With nested labels, leaves of the same labels merge at height 1, leaves that differ only in the last
        column merge at height 2, and so on; the root has height L + 1. Equal labels in a fine column are
        different clusters if the labels in a coarser column differ. None and NaN put a leaf directly below
        its coarser cluster.

    Raises
    ------
    InputError
        `tree` has none of these forms, or a column of labels is coarser than the column before.

    Examples
    --------
    >>> import ordhc
    >>> d = ordhc.as_dendrogram([("skin", "a"), ("skin", "b"), ("skin", "b"), ("bone", "a")])
    >>> d.to_newick(branch_lengths=False)
    '(3,(0,(1,2)));'
    >>> ordhc.as_dendrogram([[0, 1], [2, 3]]).n_leaves            # children_ of scikit-learn
    3
    >>> ordhc.as_dendrogram(d.to_dict()) == d
    True
    """
    if n_leaves is not None:
        n_leaves = _checks.whole("n_leaves", n_leaves, at_least=1)
    progress = _checks.callback("progress", progress)
    if isinstance(tree, str):
        if not {"(", ";"} & set(tree):
            raise InputError(f"{_checks.quoted(tree, 40)} is not Newick text; read files by ordhc.read_tree")
        found = Dendrogram.from_newick(tree, _checks.names(names), progress=progress)
    else:
        found = _dendrogram(tree, n_leaves, _checks.names(names))
        if progress is not None:
            progress(1.0)
    if n_leaves is not None and found.n_leaves != n_leaves:
        raise InputError(f"the tree has {found.n_leaves} leaves, not {n_leaves}")
    return found


def _dendrogram(tree: Any, n_leaves: int | None, names: Sequence[str] | None) -> Dendrogram:
    if isinstance(tree, Dendrogram):
        return tree if names is None else tree.replace(names=names)
    if isinstance(tree, Mapping):
        return _dendrogram(from_dict(tree), n_leaves, names)
    if hasattr(tree, "dendrogram_") and isinstance(tree.dendrogram_, Dendrogram):
        return _dendrogram(tree.dendrogram_, n_leaves, names)
    if isinstance(tree, Rows):
        raise InputError(f"{type(tree).__name__} are not a tree: make a tree of them by ordhc.cluster")
    if hasattr(tree, "children_"):
        return _of_children(
            _checks.array("children_", tree.children_), getattr(tree, "distances_", None), names
        )
    if (text := newick_of(tree)) is not None:
        return Dendrogram.from_newick(text, names)
    if hasattr(tree, "to_numpy") and hasattr(tree, "get_clusters"):
        # The single-linkage tree of hdbscan has the same columns as SciPy's Z.
        tree = tree.to_numpy()
    table = _checks.array("the tree", tree, also="MmS")
    if table.ndim == 2 and len(table) != n_leaves and (_are_merges(table) or len(table) + 1 == n_leaves):
        if table.shape[1] == 4:
            return Dendrogram.from_linkage_matrix(table, names)
        if table.shape[1] == 2:
            return _of_children(table, None, names)
    if table.ndim not in (1, 2) or not len(table) or n_leaves not in (None, len(table)):
        raise InputError(
            f"{type(tree).__name__} of shape {table.shape} is not a tree"
            + ("" if n_leaves is None else f" of {n_leaves} leaves")
            + "; pass a Dendrogram, Newick text, Z of SciPy (n - 1, 4), children_ (n - 1, 2), labels (n, L) "
            "or a dict of Dendrogram.to_dict"
        )
    square = table.ndim == 2 and len(table) == table.shape[1] > 2 and table.dtype.kind in "iuf"
    if square and (table == table.T).all():
        raise InputError(
            f"a symmetric matrix, {table.shape}, is not a tree: make a tree by "
            "ordhc.linkage(D, dissimilarity=True) from distances, or by "
            "ordhc.linkage(S, dissimilarity=False) from similarities"
        )
    return _of_labels(label_columns(tree), names or index_names(tree))


def _are_merges(table: NDArray[Any]) -> bool:
    """Return True if the first two columns name each cluster except the last exactly once."""
    if table.shape[1] not in (2, 4) or table.dtype.kind not in "iuf":
        return False
    ids = np.sort(table[:, :2].ravel())
    return bool((ids == np.arange(len(ids))).all())


def _of_children(
    children: NDArray[Any], distances: ArrayLike | None, names: Sequence[str] | None
) -> Dendrogram:
    heights = np.arange(1, len(children) + 1, dtype=np.float64) if distances is None else distances
    return Dendrogram(children, heights, names=names)


def label_columns(labels: Any) -> NDArray[np.int64]:
    """Return labels, (n,) or (n, L) of any type, as (L, n) integers; None and NaN become -1."""
    table = _checks.array("labels", labels, also="MmS")
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2:
        raise InputError(f"labels have shape {table.shape}; (n,) or (n, L) is needed")
    if table.dtype.kind in "iu" and table.size and table.min() >= 0 and table.max() <= np.iinfo(np.int64).max:
        return np.ascontiguousarray(table.T, dtype=np.int64)
    return np.array([_numbered(column) for column in table.T], dtype=np.int64).reshape(table.shape[::-1])


def _numbered(column: NDArray[Any]) -> NDArray[np.int64]:
    if column.dtype.kind != "O":
        numbers = np.unique(column, return_inverse=True)[1].astype(np.int64)
        if column.dtype.kind in "fMm":
            numbers[np.isnan(column) if column.dtype.kind == "f" else np.isnat(column)] = -1
        return numbers
    number: dict[Hashable, int] = {}
    codes = np.empty(len(column), dtype=np.int64)
    for leaf, label in enumerate(column.tolist()):
        try:
            codes[leaf] = -1 if _is_missing(label) else number.setdefault(label, len(number))
        except Exception:
            raise InputError(
                f"the label of leaf {leaf}, {_checks.quoted(label)}, cannot be compared or hashed"
            ) from None
    return codes


def _is_missing(label: Any) -> bool:
    # Recognise pandas.NA by its type, because `NA != NA` is NA, which has no truth value.
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def index_names(labels: Any) -> list[str] | None:
    return _names_of(getattr(labels, "index", None))


def square_names(S: Any, own: Sequence[Any] | None = None) -> Sequence[Any] | None:
    """Return the names of the leaves of a square data frame, or None; raise if rows and columns differ.

    `own` has the names of the rows, if they were read from a column. By default the index of `S` has the
    names.
    """
    columns = getattr(S, "column_names", getattr(S, "columns", None))
    if columns is None or callable(columns) or getattr(S, "shape", None) != (len(columns), len(columns)):
        return own or (None if columns is None else index_names(S))
    rows, names = own or index_names(S), _names_of(columns)
    if names is None or names == [f"column_{at}" for at in range(len(names))]:
        return rows
    if rows is not None and list(rows) != names:
        at = next(at for at, pair in enumerate(zip(rows, names, strict=True)) if pair[0] != pair[1])
        differ = "are in another order" if set(rows) == set(names) else "have other names"
        raise InputError(
            f"the columns of the data frame {differ} than the rows: row {at} is {shown(rows[at])}, "
            f"column {at} is {shown(names[at])}"
        )
    return names


def _names_of(index: Any) -> list[str] | None:
    if index is None or callable(index) or not len(index):
        return None
    names = list(index)
    if names == list(range(len(names))):
        return None
    return [" ".join(map(_name_of, name)) if isinstance(name, tuple) else _name_of(name) for name in names]


def _name_of(label: Any) -> str:
    try:
        return str(label)
    except Exception as error:
        raise InputError(
            f"the data frame has the label {_checks.quoted(label)}, which cannot become text: {error}"
        ) from error


def _of_labels(columns: NDArray[np.int64], names: Sequence[str] | None) -> Dendrogram:
    n = columns.shape[1]
    # Each level has the cluster of each leaf. Level 0 is the root, and each column splits the level before.
    levels = [np.zeros(n, dtype=np.int64)]
    for at, column in enumerate(columns):
        before = levels[-1]
        # A leaf with a missing label becomes a cluster of its own, directly below its coarser cluster.
        own = np.where(column < 0, column.max(initial=0) + 1 + np.arange(n), column)
        if at and len(np.unique(own)) < (n_before := len(np.unique(columns[at - 1]))):
            pairs = np.unique(np.column_stack([columns[at - 1], own]), axis=0)
            if len(pairs) == n_before:
                raise InputError(
                    f"column {at} of the labels is coarser than column {at - 1}; put coarse columns first"
                )
        levels.append(np.unique(np.column_stack([before, own]), axis=0, return_inverse=True)[1].ravel())
    # Leaves of the same finest cluster join at height 1, the children of the root join at height L + 1.
    parents: list[int] = [-1] * n
    top = np.arange(n)
    heights: list[float] = []
    for height, level in enumerate(reversed(levels), start=1):
        order = np.argsort(level, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(level[order])) + 1):
            clusters = np.unique(top[members])
            if len(clusters) == 1:
                continue
            node = len(parents)
            for cluster in clusters.tolist():
                parents[cluster] = node
            parents.append(-1)
            heights.append(float(height))
            top[members] = node
    return Dendrogram.from_parents(parents, heights=heights, names=names)
