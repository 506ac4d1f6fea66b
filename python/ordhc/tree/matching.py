"""Match a tree with the reference that it is compared with: convert both, and align leaves by name."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._checks.matrices import leaves_of_condensed, matrix
from ordhc.comparison.comparisons import Quadruplets, Triplets, fitting_comparisons
from ordhc.comparison.frames import column_names, without_names
from ordhc.errors import InputError
from ordhc.tree.annotations import shown
from ordhc.tree.convert import as_dendrogram, index_names, label_columns
from ordhc.tree.dendrogram import Dendrogram


def prepared(tree: Any, reference: Any, kinds: tuple[str, ...], what: str) -> tuple[Dendrogram, Any]:
    """Return a tree and its reference, over the same leaves in the same order.

    `tree` is in any form that `as_dendrogram` takes. `kinds` are the allowed kinds of the reference:
    "triplets", "quadruplets", "tree", "labels", "similarity", "ranking". `what` is the name of the metric or
    figure, for messages. A reference of "labels" is returned as an (n, L) array of integers, "ranking" as an
    (n, n) array.
    """
    _refuse_others(reference, kinds, what)
    of_comparisons = [kind for kind in kinds if kind in ("triplets", "quadruplets")]
    if isinstance(reference, Triplets | Quadruplets) or len(of_comparisons) == len(kinds):
        found = as_dendrogram(tree)
        data = _comparisons(reference, found, kinds, what)
        if data.n_leaves != found.n_leaves:
            raise InputError(f"the tree has {found.n_leaves} leaves, the comparisons have {data.n_leaves}")
        # Rows of integer ids have no names, so their leaves are matched by number.
        named = (
            isinstance(reference, Triplets | Quadruplets)
            or _checks.array("the comparisons", reference).dtype.kind not in "iuf"
        )
        return _by_name(found, data.names if named else None, "the comparisons", tree), data
    found = as_dendrogram(tree, n_leaves=reference.n_leaves if isinstance(reference, Dendrogram) else None)
    n = found.n_leaves
    is_tree = isinstance(reference, Dendrogram | str) or hasattr(reference, "children_")
    if not is_tree:
        shape = _shape(reference, what)
        if "ranking" in kinds and shape == (n, n):
            rows = _checks.numbers_of("the matrix", reference)
            lost = np.argwhere(np.isnan(rows))
            if len(lost):
                raise InputError(f"the matrix at {lost[0].tolist()} is NaN; a ranking has numbers only")
            return _by_name(found, _row_names(reference, found), "the matrix", tree), rows
        pairs = (n * (n - 1) // 2,)
        if "similarity" in kinds and (shape in ((n, n), pairs) or kinds == ("similarity",)):
            if _checks.array("the matrix", reference, also="MmS").dtype.kind in "OUT" and shape != (n, n):
                raise InputError(f"{what} takes similarity, not text of shape {shape}: {_TAKERS['labels']}")
            values = matrix(reference)
            leaves = len(values) if values.ndim == 2 else leaves_of_condensed(len(values))
            if leaves != n:
                raise InputError(f"the tree has {n} leaves, the matrix has {leaves}")
            names = _row_names(reference, found) if values.ndim == 2 else None
            return _by_name(found, names, "the matrix", tree), values
        if "labels" in kinds and (shape[:1] == (n,) or "tree" not in kinds):
            return _with_labels(found, reference, tree)
    other = as_dendrogram(reference, n_leaves=n)
    if isinstance(reference, str) and other.names is not None and found.names is None:
        raise InputError(
            "the leaves of the Newick text have names, the leaves of the tree have no names: read the text "
            "with Dendrogram.from_newick(text, names=[...]), with the names in the order of the tree's leaves"
        )
    return _by_name(found, other.names, "the reference", tree), other


#: For each kind of reference, a hint for error messages: the metrics that take this kind.
_TAKERS = {
    "triplets": "comparisons are for triplet_revenue and satisfied",
    "quadruplets": "comparisons of pairs are for quadruplet_revenue",
    "tree": "another tree is for triplet_distance, robinson_foulds, kendall_tau_b and merge_distortion",
    "labels": "labels are for ari, aari and dendrogram_purity",
    "similarity": "similarities are for dasgupta_cost, dasgupta_revenue and cophenetic_correlation",
    "ranking": "a ranking, (n, n), is for kendall_tau_b",
}


def _refuse_others(reference: Any, kinds: tuple[str, ...], what: str) -> None:
    if isinstance(reference, Triplets | Quadruplets):
        own, title = "triplets" if isinstance(reference, Triplets) else "quadruplets", f"metric {what!r}"
        fine = own in kinds or (own == "triplets" and "quadruplets" in kinds)
    elif isinstance(reference, str) and not {"(", ";"} & set(reference):
        raise InputError(
            f"the reference of {what} is {_checks.quoted(reference, 40)}, not Newick text; read files by "
            "ordhc.read_tree, ordhc.read_answers or ordhc.io.read_reference"
        )
    elif isinstance(reference, Dendrogram | str) or hasattr(reference, "children_"):
        own, title, fine = "tree", what, "tree" in kinds
    else:
        shape = _shape(reference, what)
        if {"triplets", "quadruplets"}.isdisjoint(kinds) or len(shape) == 2 or 0 in shape:
            return
        own, title, fine = "labels", what, not set(kinds) <= {"triplets", "quadruplets"}
    if not fine:
        given = type(reference).__name__
        raise InputError(f"{title} takes {' or '.join(kinds)}, not {given}: {_TAKERS[own]}")


def _shape(reference: Any, what: str) -> tuple[int, ...]:
    shape = getattr(reference, "shape", None)
    if isinstance(shape, tuple):
        return shape
    return _checks.array(f"the reference of {what}", reference, also="MmS").shape


def _comparisons(reference: Any, tree: Dendrogram, kinds: tuple[str, ...], what: str) -> Any:
    if not isinstance(reference, Triplets | Quadruplets):
        width = _shape(reference, what)[-1:]
        kind = Quadruplets if width == (4,) and "quadruplets" in kinds else Triplets
        reference = kind(reference, n_leaves=tree.n_leaves, names=tree.names)
    return fitting_comparisons(reference, kinds, f"metric {what!r}")


def _with_labels(tree: Dendrogram, labels: Any, given: Any) -> tuple[Dendrogram, NDArray[np.int64]]:
    columns = label_columns(labels)
    n = tree.n_leaves
    table = _checks.array("labels", labels, also="MmS")
    if n > 2 and table.shape == (n, n) and np.array_equal(table, table.T):
        raise InputError(
            f"a symmetric matrix, {table.shape}, does not contain labels: {_TAKERS['similarity']}"
        )
    if columns.shape[1] != n:
        raise InputError(f"labels have shape {_shape(labels, 'labels')}; the tree has {n} leaves")
    lost = np.argwhere(columns < 0)
    if len(lost):
        column, leaf = lost[0]
        raise InputError(f"the label of leaf {leaf} in column {column} is missing")
    names = _row_names(labels, tree)
    return _by_name(tree, names, "the labels", given), columns.T


def _row_names(table: Any, tree: Dendrogram) -> list[str] | None:
    """Return the names of the rows; numbers in the index are names only if the leaves have the same names."""
    names = index_names(table)
    if names is None or all(isinstance(name, str) for name in table.index):
        return names
    return names if tree.names is not None and set(names) == set(tree.names) else None


def with_rows(tree: Any, table: Any) -> tuple[Dendrogram, NDArray[np.float64], list[str] | None]:
    """Return a tree, a table with one row for each leaf in order, and the names of the columns or None.

    Missing numbers are NaN.
    """
    found = as_dendrogram(tree)
    rows, own = without_names(table)
    values = _checks.numbers_of("the table", rows)
    if values.ndim != 2 or len(values) != found.n_leaves:
        raise InputError(
            f"the table has shape {values.shape}; one row for each of the tree's {found.n_leaves} leaves is "
            "needed"
        )
    names = _row_names(table, found) if own is None else [str(name) for name in own]
    columns = column_names(rows)
    return (
        found,
        values[places_of(found, names, "the table")],
        None if columns is None else [str(name) for name in columns],
    )


def places_of(tree: Dendrogram, names: Sequence[str] | None, whose: str) -> NDArray[np.int64]:
    """Return the position in `names` of each leaf of a tree; without names, the number of the leaf."""
    if tree.names is None or names is None:
        return np.arange(tree.n_leaves)
    _by_name(tree, names, whose, tree)
    place = _checks.LeafNumbers(names)
    return np.array([place[name] for name in tree.names], dtype=np.int64)


def _by_name(tree: Dendrogram, names: Sequence[str] | None, whose: str, given: Any) -> Dendrogram:
    if tree.names is None:
        return tree
    if names is None:
        if isinstance(given, str):
            raise InputError(
                f"the leaves of the Newick text have names, the leaves of {whose} have no names: read the "
                "text with Dendrogram.from_newick(text, names=[...]), with the names in the order of the "
                f"leaves of {whose}"
            )
        return tree
    if tuple(names) == tree.names:
        return tree
    place = _checks.LeafNumbers(names)
    lost = [name for name in tree.names if name not in place]
    if lost or len({place[name] for name in tree.names}) != len(place):
        example = f": {shown(lost[0])} is only in the tree" if lost else ""
        raise InputError(f"the tree and {whose} have leaves with different names{example}")
    return tree.relabel([place[name] for name in tree.names])


def listed_trees(trees: Iterable[Any]) -> list[Dendrogram]:
    """Return a list of trees as dendrograms; refuse a single tree.

    A matrix of numbers is refused, too: it can be one tree, or a list of flat clusterings.
    """
    is_matrix = isinstance(trees, np.ndarray) and trees.dtype != object and trees.ndim < 3
    if is_matrix or isinstance(trees, str | Dendrogram):
        what = f"array of shape {trees.shape}" if isinstance(trees, np.ndarray) else type(trees).__name__
        raise InputError(f"trees is one {what}; pass a list of trees, for example of ordhc.read_trees")
    return [as_dendrogram(tree) for tree in _checks.listed("trees", trees)]


def aligned(trees: Iterable[Any]) -> list[Dendrogram]:
    """Return the trees with leaves numbered as in the first tree.

    Leaves are matched by name, or by number if no tree has names.
    """
    found = listed_trees(trees)
    if not found:
        raise InputError("there are no trees")
    first = found[0]
    # A tree of shape alone has no heights, so its `kind` cannot contradict another tree's.
    kinds = [(at, tree.kind) for at, tree in enumerate(found) if tree.scale != "shape"]
    for at, kind in kinds:
        if kind != kinds[0][1]:
            before, known = kinds[0]
            raise InputError(f"tree {before} has {known[:-1]}ies as heights, tree {at} {kind[:-1]}ies")
    for at, tree in enumerate(found):
        if (tree.names is None) != (first.names is None):
            named, bare = (0, at) if tree.names is None else (at, 0)
            raise InputError(f"the leaves of tree {named} have names, those of tree {bare} have none")
        if tree.n_leaves != first.n_leaves and tree.names is None:
            raise InputError(f"tree 0 has {first.n_leaves} leaves, tree {at} has {tree.n_leaves}")
    if first.names is None:
        return found
    place = _checks.LeafNumbers(first.names)
    for at, tree in enumerate(found):
        names = tree.names or ()
        lost = [name for name in names if name not in place]
        numbers = [] if lost else [place[name] for name in names]
        there = set(numbers)
        missing = [] if lost else [name for leaf, name in enumerate(first.names) if leaf not in there]
        if lost or missing:
            where, name = (at, lost[0]) if lost else (0, missing[0])
            raise InputError(f"the leaf {shown(name)} is in tree {where}, but not in tree {at - where}")
        if names != first.names:
            found[at] = tree.relabel(numbers)
    return found


def core(tree: Dendrogram, join_ties: bool) -> _ordhc.Tree:
    return (tree.contract(ties=True) if _checks.flag("join_ties", join_ties) else tree)._tree


def leaves_of(tree: Dendrogram, data: Triplets | Quadruplets) -> NDArray[np.int64]:
    rows = data.rows.astype(np.int64)
    if tree.names and data.names and tree.names != data.names:
        place = _checks.LeafNumbers(tree.names)
        for leaf in np.unique(rows):
            if data.names[leaf] not in place:
                raise InputError(_checks.unknown_name(data.names[leaf], tree.names))
        rows = np.array([place.get(name, -1) for name in data.names], dtype=np.int64)[rows]
    for row in np.flatnonzero((rows >= tree.n_leaves).any(axis=1))[:1]:
        leaf = rows[row].max()
        reason = f"leaf {leaf} is not in the tree of {tree.n_leaves} leaves"
        raise InputError(reason, row=row, leaves=[[leaf]])
    return rows
