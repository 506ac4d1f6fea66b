"""The estimators for scikit-learn (the extra `sklearn`): one for comparisons, one for vectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc._progress import Progress
from ordhc.clustering.cluster import cluster
from ordhc.clustering.posterior import Posterior, posterior
from ordhc.clustering.sampling import drawn_by
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.forms import comparisons_of_any
from ordhc.comparison.frames import column_names
from ordhc.comparison.rows import changed
from ordhc.errors import InputError, MissingExtraError
from ordhc.metrics.answers import answer_accuracy
from ordhc.plugins import registry
from ordhc.plugins.names import Linkage, Method, Similarity
from ordhc.tree.matching import leaves_of

try:
    from sklearn.base import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        ClusterMixin,
        TransformerMixin,
    )
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtraError.of("an estimator", "scikit-learn", "sklearn") from None

__all__ = ["OrdinalClustering", "VectorClustering"]
__dir__ = __all__.copy


def _draws_trees(model: OrdinalClustering) -> bool:
    """Return True if the method of `model` is "posterior-al", which can predict probabilities of answers."""
    given = model.method if model.linkage is None else model.linkage
    name = given[0] if isinstance(given, tuple) and given else given
    return model.similarity is None and isinstance(name, str) and name == "posterior-al"


class OrdinalClustering(ClusterMixin, BaseEstimator):
    """A scikit-learn estimator that makes a tree of leaves from comparisons of these leaves.

    Samples are comparisons, not leaves: `X` has one row for each answer, `labels_` has one entry for each
    leaf. `VectorClustering` is the estimator for vectors.

    Parameters
    ----------
    method
        The name of a method, as in `ordhc.cluster`; a method is a similarity and a linkage. The default is
        the default of `ordhc.cluster`, which may take seconds; "adds3-al+spr" takes milliseconds for a few
        hundred leaves. `method` is ignored if `similarity` or `linkage` is given.
    n_clusters
        The number of flat clusters, for `labels_` and `fit_predict`. By default there are no labels.
    similarity, linkage
        The names of a similarity and a linkage, instead of a method. Each of `method`, `similarity` and
        `linkage` can also be a pair of a name and a dict of settings: ``("mulk3", {"normalize": False})``.
    n_leaves
        The number of leaves; by default the number that `X` implies. Give `n_leaves` for cross-validation,
        because the largest leaf ids may be missing from a subset of the rows.
    initial_clusters
        (n_leaves,) labels of clusters to start from, as in `ordhc.cluster`.
    tie_seed
        The seed of a random order of the leaves, by which ties are broken. By default ties are broken by leaf
        number.

    Attributes
    ----------
    dendrogram_ : Dendrogram
        The tree, with heights in the units of the similarity.
    children_ : ndarray of shape (n_leaves - 1, 2)
        The two clusters of each merge, as in `sklearn.cluster.AgglomerativeClustering`.
    distances_ : ndarray of shape (n_leaves - 1,)
        The heights of `dendrogram_.to_linkage_matrix()`. They increase from 0, except under inversions.
    n_leaves_ : int
        The number of leaves.
    labels_ : ndarray of shape (n_leaves,)
        The flat cluster of each leaf. Only set if `n_clusters` is given.
    posterior_ : Posterior
        The trees drawn from the posterior. Only set by the method "posterior-al" without `initial_clusters`.
    n_features_in_ : int
        3 for triplets, 4 for quadruplets.
    feature_names_in_ : ndarray of shape (n_features_in,)
        The names of the columns. Only set if `X` is a data frame with only these columns. Columns are
        matched by name, so that their order does not matter.

    Notes
    -----
    `X` and `y` can be

    * `Triplets` or `Quadruplets`, without `y`;
    * (m, 3) leaf ids (anchor, near, far) or (m, 4) ids of quadruplets, without `y`;
    * leaf ids with (m,) bools `y`: False reverses the comparison of the row;
    * leaf ids with (m,) signed counts `y`: a negative sign reverses the comparison, the magnitude is the
      number of answers, and 0 means no answer;
    * (n, n, n) counts without `y`: `X[i, j, k]` is the number of answers that i is more similar to j than
      to k. A negative count is the number of answers that i is more similar to k than to j. The counts are
      an array, a `sparse.COO`, or a sparse SciPy matrix of shape (n, n * n).

    A tensor that is antisymmetric in its last two axes contains every answer twice; each answer counts once.
    In other tensors each entry is a separate answer, as in cblearn.

    Counts `y` that contain only 0 and 1 raise an error, because the same values as bools have another
    meaning.

    Examples
    --------
    >>> from ordhc import OrdinalClustering
    >>> X = [(0, 1, 2), (1, 0, 3), (2, 3, 0), (3, 1, 2)]
    >>> model = OrdinalClustering(n_clusters=2).fit(X, [1, 1, 1, -1])
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.children_.shape
    (3, 2)
    >>> model.score([(0, 1, 3), (3, 0, 2)])
    0.5
    """

    def __init__(
        self,
        method: Method | None = None,
        n_clusters: int | None = None,
        *,
        similarity: Similarity | None = None,
        linkage: Linkage | None = None,
        n_leaves: int | None = None,
        initial_clusters: ArrayLike | None = None,
        tie_seed: int | None = None,
    ) -> None:
        self.method = method
        self.n_clusters = n_clusters
        self.similarity = similarity
        self.linkage = linkage
        self.n_leaves = n_leaves
        self.initial_clusters = initial_clusters
        self.tie_seed = tie_seed

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: Progress | bool | None = None,
    ) -> Self:
        """Fit the tree to comparisons and return the estimator.

        Parameters
        ----------
        X, y
            Comparisons, see the notes of the class.
        sample_weight
            (m,) weights of the rows, in addition to the weights that `X` has.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

        Returns
        -------
        OrdinalClustering
            The estimator itself.

        Raises
        ------
        InputError
            Invalid comparisons, responses or weights; the error names the row.
        """
        wanted = None if self.n_clusters is None else _checks.whole("n_clusters", self.n_clusters, at_least=1)
        data = comparisons_of_any(X, y, sample_weight, self.n_leaves)
        if wanted is not None and wanted > data.n_leaves:
            raise InputError(f"n_clusters = {wanted} is above the number of leaves, {data.n_leaves}")
        by_parts = self.similarity is not None or self.linkage is not None
        if hasattr(self, "posterior_"):
            del self.posterior_
        if _draws_trees(self) and self.initial_clusters is None:
            # The trees of the posterior do not depend on leaf numbers, so `tie_seed` has no effect.
            how = drawn_by(registry.named("method", self.method if self.linkage is None else self.linkage)[1])
            self.posterior_: Posterior = posterior(data, progress=progress, **how)
            tree = self.posterior_.dendrogram.replace(support=None)
        else:
            tree = cluster(
                data,
                method=None if by_parts else self.method,
                similarity=self.similarity,
                linkage=self.linkage,
                initial_clusters=self.initial_clusters,
                tie_seed=self.tie_seed,
                progress=progress,
            )
        self.dendrogram_ = tree
        self.n_leaves_ = tree.n_leaves
        self.n_features_in_ = data.rows.shape[1]
        columns = column_names(X) or []
        if len(columns) == self.n_features_in_ and all(isinstance(name, str) for name in columns):
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.children_ = tree.merges
        self.distances_ = tree.to_linkage_matrix()[:, 2]
        if wanted is not None:
            self.labels_ = tree.cut(n_clusters=wanted)
        elif hasattr(self, "labels_"):
            del self.labels_
        return self

    def fit_predict(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: Progress | bool | None = None,
    ) -> NDArray[np.int64]:
        """Fit the tree, as `fit` does, and return the labels of its cut into `n_clusters` clusters.

        Returns
        -------
        ndarray of shape (n_leaves,)
            The label of each leaf. Labels are numbered from 0 in the order of each cluster's first leaf.

        Raises
        ------
        InputError
            `n_clusters` is None; or an error of `fit`.
        """
        if self.n_clusters is None:
            raise InputError("n_clusters is None; labels need a number: OrdinalClustering(n_clusters=...)")
        return self.fit(X, y, sample_weight, progress=progress).labels_

    def score(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of answers that the fitted model predicts correctly, from 0 to 1.

        The method "posterior-al" predicts by probabilities (`Posterior.accuracy`). The trees of other methods
        predict that the closest pair is chosen (`ordhc.metrics.answer_accuracy`). If t answers are equally
        likely, the given answer counts 1/t. Guessing therefore scores 1/2 for triplets and 1/3 for odd ones
        out. `ordhc.metrics.satisfied` returns the share of rows that the tree agrees with.

        Parameters
        ----------
        X, y
            Comparisons, see the notes of the class. Use comparisons that were not given to `fit`.
        sample_weight
            (m,) weights of the rows, in addition to the weights that `X` has.

        Returns
        -------
        float
            The weight of the correctly predicted answers, divided by the weight of all answers.

        Raises
        ------
        InputError
            Leaves that the tree lacks; no comparisons; or an error of `fit`.
        """
        check_is_fitted(self)
        data = self._fitting(X, y, sample_weight)
        if hasattr(self, "posterior_"):
            return self.posterior_.accuracy(data)
        return answer_accuracy(self.dendrogram_, data)

    @available_if(_draws_trees)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of both answers to each comparison. Only for the method "posterior-al".

        Parameters
        ----------
        X
            Comparisons, see the notes of the class.

        Returns
        -------
        ndarray of shape (m, 2)
            For each comparison the probability that a person gives the opposite answer (`y` is False), and
            the probability that a person gives this answer (`y` is True). People can err.

        Raises
        ------
        InputError
            Leaves that the trees lack; or an error of `fit`.

        Examples
        --------
        >>> from ordhc import OrdinalClustering
        >>> model = OrdinalClustering("posterior-al").fit([(0, 1, 2), (1, 0, 2), (0, 1, 2)])
        >>> bool(model.predict_proba([(0, 1, 2)])[0, 1] > 0.5)
        True
        """
        check_is_fitted(self)
        if not hasattr(self, "posterior_"):
            raise InputError(
                "the model was fitted with another method, before method='posterior-al' was set: fit it again"
            )
        p = self.posterior_.predict(self._fitting(X, None, None))
        return np.stack([1 - p, p], axis=1)

    def _fitting(self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Any:
        tree = self.dendrogram_
        data = comparisons_of_any(X, y, sample_weight, None, known=tree.n_leaves)
        return changed(data, rows=leaves_of(tree, data), n_leaves=tree.n_leaves, names=tree.names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.positive_only = True
        tags.input_tags.string = True
        return tags


class VectorClustering(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """A scikit-learn estimator for hierarchical clustering of vectors.

    Samples are vectors: `X` is an (n, p) array, and `labels_` has one entry for each row. The estimator
    passes scikit-learn's `check_estimator`, so it works in `Pipeline`, `GridSearchCV` and with `set_output`.
    `OrdinalClustering` is the estimator for comparisons.

    Parameters
    ----------
    n_clusters
        The number of flat clusters, for `labels_`.
    similarity
        The name of a similarity of vectors, as in `ordhc.cluster`: "euclidean", "sqeuclidean", "manhattan",
        "cosine", "dot", "pca-cosine", "pca-dot", or the name of a plugin's similarity. A pair of a name and a
        dict of settings is also possible.
    linkage
        The name of a linkage, or a pair of a name and a dict of settings. "ward" needs distances.

    Attributes
    ----------
    dendrogram_ : Dendrogram
        The tree.
    children_ : ndarray of shape (n - 1, 2)
        The two clusters of each merge, as in `sklearn.cluster.AgglomerativeClustering`.
    distances_ : ndarray of shape (n - 1,)
        The heights of the merges as dissimilarities, ascending except under inversions.
    labels_ : ndarray of shape (n,)
        The flat cluster of each row, numbered from 0 in the order of each cluster's first row.
    cluster_centers_ : ndarray of shape (n_clusters, p)
        The mean of the rows of each flat cluster.
    n_leaves_ : int
        The number of rows.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (p,)
        The names of the columns. Only set if `X` is a data frame with names of type str.

    Examples
    --------
    >>> from ordhc import VectorClustering
    >>> X = [[0, 0], [0, 1], [5, 5], [5, 6]]
    >>> model = VectorClustering(n_clusters=2).fit(X)
    >>> model.labels_
    array([0, 0, 1, 1])
    >>> model.children_.tolist()
    [[0, 1], [2, 3], [4, 5]]
    >>> model.predict([[1, 1]])
    array([0])
    """

    def __init__(
        self, n_clusters: int = 2, *, similarity: Similarity = "euclidean", linkage: Linkage = "ward"
    ) -> None:
        self.n_clusters = n_clusters
        self.similarity = similarity
        self.linkage = linkage

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the tree to vectors and return the estimator.

        Parameters
        ----------
        X
            (n, p) finite numbers, at least two rows; an array or a data frame.
        y
            Ignored.

        Returns
        -------
        VectorClustering
            The estimator itself.

        Raises
        ------
        InputError
            Comparisons instead of vectors; more clusters than rows; an unknown similarity or linkage.
        ValueError
            Numbers that are not finite; fewer than two rows.
        """
        del y
        if isinstance(X, Triplets | Quadruplets):
            raise InputError(f"{type(X).__name__} are comparisons, not vectors: use OrdinalClustering")
        rows = validate_data(self, X, dtype=(np.float64, np.float32), ensure_min_samples=2)
        wanted = _checks.whole("n_clusters", self.n_clusters, at_least=1)
        if wanted > len(rows):
            raise InputError(f"n_clusters = {wanted} is above the number of rows, {len(rows)}")
        tree = cluster(rows, similarity=self.similarity, linkage=self.linkage)
        self.dendrogram_ = tree
        self.n_leaves_ = tree.n_leaves
        self.children_ = tree.merges
        self.distances_ = tree.to_linkage_matrix()[:, 2]
        self.labels_ = tree.cut(n_clusters=wanted)
        self.cluster_centers_ = np.stack(
            [rows[self.labels_ == label].mean(axis=0) for label in range(wanted)]
        )
        self._n_features_out = wanted
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the Euclidean distance of each row from the mean of each flat cluster.

        Parameters
        ----------
        X
            (m, p) vectors.

        Returns
        -------
        ndarray of shape (m, n_clusters)
        """
        return self._distances(X)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the flat cluster whose mean is nearest to each row, by Euclidean distance.

        A row of the fitted data can be nearer to the mean of another cluster than to the mean of its own
        cluster. `labels_` has the clusters of the fitted rows in the tree.

        Parameters
        ----------
        X
            (m, p) vectors.

        Returns
        -------
        ndarray of shape (m,)
        """
        nearest: NDArray[np.int64] = self._distances(X).argmin(axis=1)
        return nearest

    def _distances(self, X: Any) -> NDArray[Any]:
        # Imported here, because this import takes longer than all other imports of the estimators.
        from sklearn.metrics.pairwise import euclidean_distances

        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=(np.float64, np.float32))
        return np.asarray(euclidean_distances(rows, self.cluster_centers_))
