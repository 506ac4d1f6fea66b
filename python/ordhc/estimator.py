"""The estimator for scikit-learn (the extra `sklearn`)."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc._frames import ROLES, column_names, columns_of
from ordhc._rows import checked_weights
from ordhc.clustering import cluster
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError, MissingExtraError

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingExtraError.of("OrdinalClustering", "scikit-learn", "sklearn") from None

__all__ = ["OrdinalClustering"]

Comparisons = Triplets | Quadruplets


class OrdinalClustering(ClusterMixin, BaseEstimator):
    """Hierarchical clustering of comparisons, in scikit-learn's manner.

    Samples are comparisons, not leaves: `X` has a row per answer, `labels_` an entry per leaf.

    Parameters
    ----------
    method
        A paper's name for a similarity and a linkage, as in `ordhc.cluster`: "adds3-al" for triplets,
        "adds4-al" for quadruplets. Not used if `similarity` or `linkage` is given.
    n_clusters
        The number of flat clusters, for `labels_` and `fit_predict`.
    similarity, linkage
        The two parts by name, instead of a method.
    similarity_parameters, linkage_parameters
        Their settings.
    n_leaves
        The number of leaves; by default what `X` says. Give it for cross-validation: the largest ids
        may be missing from a part of the rows.
    initial_clusters
        (n_leaves_,) labels of clusters to start from, as in `ordhc.cluster`.
    tie_seed
        Break ties in a random order of the leaves with this seed, instead of by number.

    Attributes
    ----------
    dendrogram_ : Dendrogram
        The tree, with heights in the units of the similarity.
    children_ : ndarray of shape (n_leaves_ - 1, 2)
        The two clusters of each merge, as in `sklearn.cluster.AgglomerativeClustering`.
    distances_ : ndarray of shape (n_leaves_ - 1,)
        The heights of `dendrogram_.to_scipy()`: they grow from 0 (except under inversions).
    n_leaves_ : int
        The number of leaves.
    labels_ : ndarray of shape (n_leaves_,)
        The flat cluster of each leaf. Only set if `n_clusters` is given.
    n_features_in_ : int
        3 for triplets, 4 for quadruplets.

    Notes
    -----
    `X` and `y` can be

    * `Triplets` or `Quadruplets`, without `y`;
    * (m, 3) leaf ids (anchor, near, far) or (m, 4) ids of quadruplets, without `y`;
    * the same with `y` of type bool: where it is False, the answer is the other way round;
    * the same with signed counts `y`: the sign is the direction, the magnitude the number of answers,
      0 is no answer;
    * (n, n, n) counts without `y`: `X[i, j, k]` answers said that i is more similar to j than to k,
      or, if negative, to k than to j; as an array, as `sparse.COO`, or as SciPy's sparse (n, n * n).

    A tensor that is antisymmetric in its last two axes states every answer twice, and each counts
    once. In other tensors all entries are answers of their own, as in cblearn.

    Counts `y` of only 0 and 1 are refused: bools and counts would mean different answers.

    Examples
    --------
    >>> from ordhc import OrdinalClustering
    >>> X = [(0, 1, 2), (1, 0, 3), (2, 3, 0), (3, 1, 2)]
    >>> model = OrdinalClustering(n_clusters=2).fit(X, [1, 1, 1, -1])
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.children_.tolist()
    [[0, 1], [2, 3], [4, 5]]
    >>> model.score([(0, 1, 3), (3, 0, 2)])
    0.5
    """

    def __init__(
        self,
        method: str = "adds3-al",
        n_clusters: int | None = None,
        *,
        similarity: str | None = None,
        linkage: str | None = None,
        similarity_parameters: Mapping[str, Any] | None = None,
        linkage_parameters: Mapping[str, Any] | None = None,
        n_leaves: int | None = None,
        initial_clusters: ArrayLike | None = None,
        tie_seed: int | None = None,
    ) -> None:
        self.method = method
        self.n_clusters = n_clusters
        self.similarity = similarity
        self.linkage = linkage
        self.similarity_parameters = similarity_parameters
        self.linkage_parameters = linkage_parameters
        self.n_leaves = n_leaves
        self.initial_clusters = initial_clusters
        self.tie_seed = tie_seed

    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Make the tree.

        Parameters
        ----------
        X, y
            Comparisons, see the notes of the class.
        sample_weight
            (m,) weights of the rows, besides those that they have.

        Returns
        -------
        OrdinalClustering
            Itself.

        Raises
        ------
        InputError
            Comparisons, responses or weights that are none, with their place.
        """
        wanted = None if self.n_clusters is None else _checks.whole("n_clusters", self.n_clusters, at_least=1)
        data = _comparisons(X, y, sample_weight, self.n_leaves)
        if wanted is not None and wanted > data.n_leaves:
            raise InputError(f"n_clusters = {wanted} is above the {data.n_leaves} leaves")
        by_parts = self.similarity is not None or self.linkage is not None
        tree = cluster(
            data,
            method=None if by_parts else self.method,
            similarity=self.similarity,
            linkage=self.linkage,
            similarity_parameters=self.similarity_parameters,
            linkage_parameters=self.linkage_parameters,
            initial_clusters=self.initial_clusters,
            tie_seed=self.tie_seed,
        )
        self.dendrogram_ = tree
        self.n_leaves_ = tree.n_leaves
        self.n_features_in_ = data.rows.shape[1]
        self.children_ = tree.merges
        self.distances_ = tree.to_scipy()[:, 2]
        if wanted is not None:
            self.labels_ = tree.cut(n_clusters=wanted)
        elif hasattr(self, "labels_"):
            del self.labels_
        return self

    def fit_predict(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.int64]:
        """Make the tree and cut it into `n_clusters`.

        Returns
        -------
        ndarray of shape (n_leaves_,)
            The label of each leaf, counted from 0 by first leaf.

        Raises
        ------
        InputError
            Without `n_clusters`, and as `fit`.
        """
        if self.n_clusters is None:
            raise InputError("n_clusters is None; labels need a number: OrdinalClustering(n_clusters=...)")
        return self.fit(X, y, sample_weight).labels_

    def score(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Share of the comparisons that the tree satisfies, from 0 to 1.

        A triplet (i, j, k) is satisfied if the smallest cluster with i and j has fewer leaves than the
        smallest with i and k; a quadruplet (i, j, k, l) if that with i and j has fewer than that with k
        and l. Equal sizes satisfy nothing, so that 1 - score is not the score of the opposite answers.

        Parameters
        ----------
        X, y
            Comparisons, see the notes of the class; better ones that `fit` has not seen.
        sample_weight
            (m,) weights of the rows, besides those that they have.

        Returns
        -------
        float
            The share by weight.

        Raises
        ------
        InputError
            Leaves that the tree lacks, no comparisons, and as `fit`.
        """
        check_is_fitted(self)
        data = _comparisons(X, y, sample_weight, None)
        rows = _leaves_of(self.dendrogram_, data)
        weights = np.ones(len(rows)) if data.weights is None else data.weights
        if not weights.sum() > 0:
            raise InputError("there are no comparisons to score")
        near = self.dendrogram_.lca_size(rows[:, 0], rows[:, 1])
        far = self.dendrogram_.lca_size(rows[:, -2 if rows.shape[1] == 4 else 0], rows[:, -1])
        return float(np.average(near < far, weights=weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.positive_only = True
        tags.input_tags.string = True
        return tags


def _comparisons(
    X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None, n_leaves: int | None
) -> Comparisons:
    """Comparisons from anything that the estimator takes."""
    data: Comparisons
    if isinstance(X, list) and X and isinstance(X[0], Comparisons):
        X = _joined(X)
    elif not isinstance(X, Comparisons) and not _is_sparse(X):
        X, y, sample_weight = _from_frame(X, y, sample_weight)
    table = X if isinstance(X, Comparisons) or _is_sparse(X) else _table(X)
    if isinstance(table, np.ndarray) and table.ndim != 3:
        return _from_list(X, table, y, sample_weight, n_leaves)
    kind = "a sparse tensor of counts" if _is_sparse(X) else "a tensor of counts"
    if isinstance(X, Comparisons):
        kind = type(X).__name__
    if y is not None:
        raise InputError(f"X is {kind} and holds the answers already; y must be None")
    if isinstance(X, Comparisons):
        data = X if n_leaves is None else type(X)(X, n_leaves)
        return _weighted(data, checked_weights(sample_weight, len(data)))
    if sample_weight is not None:
        raise InputError(f"X is {kind} and has no rows for sample_weight")
    return _from_tensor(table, n_leaves)


def _from_frame(
    X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
) -> tuple[Any, ArrayLike | None, ArrayLike | None]:
    """A data frame's columns by name, responses and weights among them; anything else as it is."""
    names = column_names(X)
    if names is None:
        return X, y, sample_weight
    plain = {str(name).strip().lower() for name in names}
    four = len(names) == 4 or any(plain >= set(known) for known in ROLES["quadruplets"])
    what = "quadruplets" if four and not any(plain >= set(k) for k in ROLES["triplets"]) else "triplets"
    if plain >= set(ROLES["quadruplets"][0]):
        what = "quadruplets"
    if plain >= set(ROLES["responses"][0]):
        what = "responses"
    frame = columns_of(X, what, 4 if what == "quadruplets" else 3)
    assert frame is not None
    y = frame.responses if y is None else y
    return frame.rows, y, frame.weights if sample_weight is None else sample_weight


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "asformat") and hasattr(X, "nnz")


def _table(X: Any) -> NDArray[Any]:
    try:
        return _checks.array("X", X)
    except InputError:
        # Rows of different lengths: which of them is wrong, the comparisons say.
        if isinstance(X, np.ndarray):
            raise
        return np.empty(0, dtype=object)


def _joined(parts: Sequence[Any]) -> Comparisons:
    """One from many: scikit-learn's splits take the comparisons one by one."""
    first = parts[0]
    for at, part in enumerate(parts):
        same = type(part) is type(first) and (part.n_leaves, part.names) == (first.n_leaves, first.names)
        if not same:
            raise InputError(f"X[{at}] is {_checks.quoted(part)}, with other leaves than X[0], {first!r}")
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([np.ones(len(p)) if p.weights is None else p.weights for p in parts])

    def together(what: str) -> NDArray[Any] | None:
        values = [getattr(part, what) for part in parts]
        return None if any(value is None for value in values) else np.concatenate(values)

    answers, groups, names = together("answers"), together("groups"), first.group_names
    if any(part.group_names != names for part in parts):
        groups = names = None
    rows = np.concatenate([part.rows for part in parts])
    joined: Comparisons = first._changed(
        rows=rows, weights=weights, answers=answers, groups=groups, group_names=names
    )
    return joined


def _weighted(data: Comparisons, weights: NDArray[np.float64] | None) -> Comparisons:
    """The comparisons with their weights times these."""
    if weights is None:
        return data
    return data._changed(weights=weights if data.weights is None else weights * data.weights)


def _from_list(
    X: Any,
    table: NDArray[Any],
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    n_leaves: int | None,
) -> Comparisons:
    """From rows of leaves, with or without responses."""
    if table.ndim == 2 and table.shape[1] not in (3, 4):
        raise InputError(
            f"X has {table.shape[1]} feature(s) (shape={table.shape}) while a minimum of 3 is required, "
            "anchor, near and far, and 4 for quadruplets"
        )
    if table.ndim == 2 and table.dtype.kind in "if":
        for row, column in np.argwhere(table < 0)[:1]:
            raise InputError(f"Negative values in data: X[{row}, {column}] is {table[row, column]}")
    kind: type[Comparisons] = Quadruplets if table.ndim == 2 and table.shape[1] == 4 else Triplets
    data = kind(X, n_leaves)
    data = _weighted(data, checked_weights(sample_weight, len(data)))
    if y is None:
        return data
    counts = _signed(y, len(data))
    rows = data.rows.copy()
    turned = [2, 3, 0, 1] if kind is Quadruplets else [0, 2, 1]
    rows[counts < 0] = rows[counts < 0][:, turned]
    magnitude = np.abs(counts)
    answered = magnitude > 0
    plain = data.weights is None and bool((magnitude[answered] == 1).all())
    weights = magnitude if data.weights is None else magnitude * data.weights
    turned_round = data._changed(rows=rows, weights=None if plain else weights)
    return turned_round[answered]


def _signed(y: ArrayLike, m: int) -> NDArray[np.float64]:
    """Responses as signed counts."""
    answers = _checks.array("y", y)
    if answers.shape != (m,):
        raise InputError(f"y has shape {answers.shape} for {m} questions")
    if answers.dtype == bool:
        return np.where(answers, 1.0, -1.0)
    counts = _checks.numbers_of("y", answers)
    for row in np.flatnonzero(~np.isfinite(counts))[:1]:
        raise InputError(f"y is {answers[row]}; counts are finite", row=row)
    zeros = np.flatnonzero(counts == 0)
    if len(zeros) and np.isin(counts, (0, 1)).all():
        raise InputError(
            "y is 0, and y holds only 0 and 1: give bools if 0 is the opposite answer, "
            "or leave the row out if it is no answer",
            row=zeros[0],
        )
    return counts


def _from_tensor(X: Any, n_leaves: int | None) -> Triplets:
    """From (n, n, n) signed counts."""
    cells, counts, n = _sparse_entries(X) if _is_sparse(X) else _dense_entries(X)
    for at in np.flatnonzero(~np.isfinite(counts))[:1]:
        raise InputError(f"X{cells[at].tolist()} is {counts[at]}; counts are finite")
    repeated = (cells == cells[:, [1, 2, 0]]).any(axis=1)
    for at in np.flatnonzero(repeated)[:1]:
        raise InputError(f"X{cells[at].tolist()} is {counts[at]:g}, but a triplet has three leaves")
    if _states_all_twice(cells, counts, n):
        once = cells[:, 1] < cells[:, 2]
        cells, counts = cells[once], counts[once]
    rows = np.where((counts < 0)[:, None], cells[:, [0, 2, 1]], cells)
    weights = None if (np.abs(counts) == 1).all() else np.abs(counts)
    return Triplets(rows, n if n_leaves is None else n_leaves, weights=weights)


def _dense_entries(X: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
    """Cells that are not zero, (m, 3), their counts, and the number of leaves."""
    n = X.shape[0]
    if X.shape != (n, n, n):
        raise InputError(f"X has shape {X.shape}; a tensor of counts is (n, n, n)")
    counts = _checks.numbers_of("X", X)
    cells = np.argwhere(counts)
    return cells, counts[tuple(cells.T)], n


def _sparse_entries(X: Any) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
    """As `_dense_entries`, from the arrays of SciPy and of the package sparse."""
    n = X.shape[0]
    if X.shape not in ((n, n, n), (n, n * n)):
        raise InputError(f"X is sparse of shape {X.shape}; a sparse X is (n, n, n) or (n, n * n) counts")
    coo = X.asformat("coo")
    if hasattr(coo, "sum_duplicates"):
        coo = coo.copy()
        coo.sum_duplicates()
    axes = coo.coords if hasattr(coo, "coords") else (coo.row, coo.col)
    cells = np.column_stack([np.asarray(axis, dtype=np.int64) for axis in axes])
    if cells.shape[1] == 2:
        cells = np.column_stack([cells[:, 0], *divmod(cells[:, 1], n)])
    counts = _checks.numbers_of("X", np.asarray(coo.data))
    return cells[counts != 0], counts[counts != 0], n


def _states_all_twice(cells: NDArray[np.int64], counts: NDArray[np.float64], n: int) -> bool:
    """Whether X[i, j, k] = -X[i, k, j] everywhere."""
    place = np.ravel_multi_index(tuple(cells.T), (n, n, n))
    mirrored = np.ravel_multi_index(tuple(cells[:, [0, 2, 1]].T), (n, n, n))
    order, mirrored_order = np.argsort(place), np.argsort(mirrored)
    return np.array_equal(place[order], mirrored[mirrored_order]) and np.array_equal(
        counts[order], -counts[mirrored_order]
    )


def _leaves_of(tree: Dendrogram, data: Comparisons) -> NDArray[np.int64]:
    """The rows of the comparisons with the leaf numbers of the tree."""
    rows = data.rows.astype(np.int64)
    if tree.names and data.names and tree.names != data.names:
        place = {name: leaf for leaf, name in enumerate(tree.names)}
        for leaf in np.unique(rows):
            if data.names[leaf] not in place:
                raise InputError(_checks.unknown_name(data.names[leaf], tree.names))
        rows = np.array([place.get(name, -1) for name in data.names], dtype=np.int64)[rows]
    for row in np.flatnonzero((rows >= tree.n_leaves).any(axis=1))[:1]:
        leaf = rows[row].max()
        reason = f"leaf {leaf} is not in the tree of {tree.n_leaves} leaves"
        raise InputError(reason, row=row, leaves=[[leaf]])
    return rows
