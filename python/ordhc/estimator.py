"""The estimator for scikit-learn (the extra `sklearn`)."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc._progress import Progress
from ordhc.clustering.cluster import cluster
from ordhc.clustering.posterior import Posterior, posterior
from ordhc.clustering.sampling import drawn_by
from ordhc.comparison.forms import comparisons_of_any
from ordhc.comparison.frames import column_names
from ordhc.comparison.rows import changed
from ordhc.errors import InputError, MissingExtraError
from ordhc.metrics.answers import answer_accuracy
from ordhc.plugins import registry
from ordhc.plugins.registry import Named
from ordhc.tree.matching import leaves_of

try:
    from sklearn.base import BaseEstimator, ClusterMixin
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingExtraError.of("OrdinalClustering", "scikit-learn", "sklearn") from None

__all__ = ["OrdinalClustering"]


def __dir__() -> list[str]:
    return sorted(__all__)


def _draws_trees(model: "OrdinalClustering") -> bool:
    """Whether the trees are drawn from a posterior, which predicts answers."""
    given = model.method if model.linkage is None else model.linkage
    name = given[0] if isinstance(given, tuple) and given else given
    return model.similarity is None and isinstance(name, str) and name == "posterior-al"


class OrdinalClustering(ClusterMixin, BaseEstimator):
    """Hierarchical clustering of comparisons, in scikit-learn's manner.

    Samples are comparisons, not leaves: `X` has a row per answer, `labels_` an entry per leaf.

    Parameters
    ----------
    method
        A paper's name for a similarity and a linkage, as in `ordhc.cluster`, with the same default,
        which may take seconds; "adds3-al+spr" takes milliseconds. Not used if `similarity` or `linkage` is
        given.
    n_clusters
        The number of flat clusters, for `labels_` and `fit_predict`.
    similarity, linkage
        The two parts by name, instead of a method. A method, a similarity and a linkage can each be a pair of
        a name and its settings, too: ``("mulk3", {"normalize": False})``.
    n_leaves
        The number of leaves; by default what `X` says. Give it for cross-validation: the largest ids
        may be missing from a part of the rows.
    initial_clusters
        (n_leaves,) labels of clusters to start from, as in `ordhc.cluster`.
    tie_seed
        Break ties in a random order of the leaves with this seed, instead of by number.

    Attributes
    ----------
    dendrogram_ : Dendrogram
        The tree, with heights in the units of the similarity.
    children_ : ndarray of shape (n_leaves - 1, 2)
        The two clusters of each merge, as in `sklearn.cluster.AgglomerativeClustering`.
    distances_ : ndarray of shape (n_leaves - 1,)
        The heights of `dendrogram_.to_linkage_matrix()`: they grow from 0 (except under inversions).
    n_leaves_ : int
        The number of leaves.
    labels_ : ndarray of shape (n_leaves,)
        The flat cluster of each leaf. Only set if `n_clusters` is given.
    posterior_ : Posterior
        The trees that were drawn. Only set by the method "posterior-al".
    n_features_in_ : int
        3 for triplets, 4 for quadruplets.
    feature_names_in_ : ndarray of shape (n_features_in,)
        The names of the columns. Only set if `X` is a data frame with these columns alone; columns are found
        by name, whatever their order.

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
    >>> model.children_.shape
    (3, 2)
    >>> model.score([(0, 1, 3), (3, 0, 2)])
    0.5
    """

    def __init__(
        self,
        method: Named | None = None,
        n_clusters: int | None = None,
        *,
        similarity: Named | None = None,
        linkage: Named | None = None,
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
        """Make the tree.

        Parameters
        ----------
        X, y
            Comparisons, see the notes of the class.
        sample_weight
            (m,) weights of the rows, besides those that they have.
        progress
            True for a bar; what can be called is, now and then, with the share that is done, from 0 to 1.

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
        data = comparisons_of_any(X, y, sample_weight, self.n_leaves)
        if wanted is not None and wanted > data.n_leaves:
            raise InputError(f"n_clusters = {wanted} is above the {data.n_leaves} leaves")
        by_parts = self.similarity is not None or self.linkage is not None
        if hasattr(self, "posterior_"):
            del self.posterior_
        if _draws_trees(self) and self.initial_clusters is None:
            # Its trees do not depend on the numbers of leaves, so neither on a seed for ties.
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
        """Make the tree, as `fit` does, and cut it into `n_clusters`.

        Returns
        -------
        ndarray of shape (n_leaves,)
            The label of each leaf, counted from 0 by first leaf.

        Raises
        ------
        InputError
            Without `n_clusters`, and as `fit`.
        """
        if self.n_clusters is None:
            raise InputError("n_clusters is None; labels need a number: OrdinalClustering(n_clusters=...)")
        return self.fit(X, y, sample_weight, progress=progress).labels_

    def score(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of whole answers whose choice is the likeliest one, from 0 to 1.

        The method "posterior-al" has probabilities (`Posterior.accuracy`). The trees of other methods
        foretell by which pairs are closest (`ordhc.metrics.answer_accuracy`). Where t choices are equally
        likely, the given one counts 1/t, so that chance is 1/2 for triplets and 1/3 for odd ones out.
        `ordhc.metrics.satisfied` is the share of rows that the tree agrees with.

        Parameters
        ----------
        X, y
            Comparisons, see the notes of the class; better ones that `fit` has not seen.
        sample_weight
            (m,) weights of the rows, besides those that they have.

        Returns
        -------
        float
            The share by the weight of answers.

        Raises
        ------
        InputError
            Leaves that the tree lacks, no comparisons, and as `fit`.
        """
        check_is_fitted(self)
        data = self._fitting(X, y, sample_weight)
        if hasattr(self, "posterior_"):
            return self.posterior_.accuracy(data)
        return answer_accuracy(self.dendrogram_, data)

    @available_if(_draws_trees)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """How likely answers are, noise included. Only with the method "posterior-al".

        Parameters
        ----------
        X
            Comparisons, see the notes of the class.

        Returns
        -------
        ndarray of shape (m, 2)
            The probability of the contrary, and of each comparison as it stands (of `y` False and True).

        Raises
        ------
        InputError
            Leaves that the trees lack, and as `fit`.

        Examples
        --------
        >>> from ordhc import OrdinalClustering
        >>> model = OrdinalClustering("posterior-al").fit([(0, 1, 2), (1, 0, 2), (0, 1, 2)])
        >>> bool(model.predict_proba([(0, 1, 2)])[0, 1] > 0.5)
        True
        """
        check_is_fitted(self)
        if not hasattr(self, "posterior_"):
            raise InputError("the model was fitted by another method than 'posterior-al'; fit it again")
        p = self.posterior_.predict(self._fitting(X, None, None))
        return np.stack([1 - p, p], axis=1)

    def _fitting(self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Any:
        """Comparisons by the leaves of the tree."""
        tree = self.dendrogram_
        data = comparisons_of_any(X, y, sample_weight, None, known=tree.n_leaves)
        return changed(data, rows=leaves_of(tree, data), n_leaves=tree.n_leaves, names=tree.names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.positive_only = True
        tags.input_tags.string = True
        return tags
