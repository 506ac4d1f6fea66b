"""The expected accuracy of a tree, and the accuracy of its predictions of answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.clustering.refine import refine
from ordhc.tree.dendrogram import Dendrogram, engine_tree

#: Numbers of flat clusters into which two trees are cut, to compare the clusters.
_LEVELS = (2, 4, 8)
#: The largest number of leaves for which the heights of a posterior's `dendrogram` are correlations between
#: rows of the matrix of mean similarities. For more leaves, the heights are mean similarities.
CORRELATED = 3_000
#: Approximate number of drawn trees with which flat clusters are compared.
_COMPARED = 50


@dataclass(frozen=True)
class Expected:
    """The expected accuracy of a tree, where each of the drawn trees is equally likely to be true.

    Attributes
    ----------
    accuracy
        The share of triplets of leaves for which the tree agrees with a drawn tree on the closest pair,
        averaged over the drawn trees. Triplets that the drawn tree does not resolve are left out.
    low, high
        The accuracy is in this interval for 0.9 of the drawn trees. The interval is too narrow: in a few
        simulations it contained a third to two thirds of the true accuracies.
    aari
        The adjusted Rand index between flat clusters of the tree and of a drawn tree, averaged over 2, 4 and
        8 clusters and over the drawn trees. If the heights of the tree are correlations between leaves, as in
        `Posterior.dendrogram`, the heights of a drawn tree are replaced by correlations before it is cut.
    """

    accuracy: float
    low: float
    high: float
    aari: float

    @classmethod
    def mean(cls, several: "Sequence[Expected]") -> "Expected":
        """Return the mean of several `Expected`, attribute by attribute."""
        numbers = [(one.accuracy, one.low, one.high, one.aari) for one in several]
        return cls(*np.mean(numbers, axis=0).tolist())

    def __str__(self) -> str:
        return f"accuracy {self.accuracy:.3f} ({self.low:.3f} to {self.high:.3f}), AARI {self.aari:.3f}"


@dataclass(frozen=True)
class Predicted:
    """How well held-out answers are predicted.

    Attributes
    ----------
    accuracy
        The share of questions for which the given answer has the largest predicted probability of all
        possible answers. If t answers have this probability, the given answer counts 1/t.
    low, high
        The 95% confidence interval of `accuracy`. The interval allows for differences between people, or
        between questions if fewer than five people are known. With fewer than five questions, the interval is
        Wilson's interval for independent answers.
    n_answers
        The number of answers.
    chance
        The expected accuracy of random guesses: one divided by the number of possible answers.
    """

    accuracy: float
    low: float
    high: float
    n_answers: int
    chance: float

    def __str__(self) -> str:
        return f"{self.accuracy:.3f} ({self.low:.3f} to {self.high:.3f}) of {self.n_answers:,} answers"


def expected_of(tree: Dendrogram, truths: Sequence[Dendrogram], *, by_correlation: bool) -> Expected:
    """Return the expected accuracy of a tree if each of `truths` is equally likely to be true.

    `by_correlation` is True if the heights of `tree` are correlations between leaves. The heights of `truths`
    are then replaced by correlations, before flat clusters are compared.
    """
    n = tree.n_leaves
    accuracies = []
    for truth in truths:
        same, different, only_truth, _, _ = _ordhc.triplet_counts(engine_tree(truth), engine_tree(tree), None)
        resolved = same + different + only_truth
        accuracies.append(same / resolved if resolved else 1.0)
    levels, indices = [k for k in _LEVELS if k < n], []
    for truth in truths[:: -(-len(truths) // _COMPARED)] if levels else ():
        cut = _at_correlations(truth) if by_correlation else truth
        indices.append(_ordhc.aari_of_trees(engine_tree(tree), engine_tree(cut), levels, None)[0])
    low, high = np.quantile(accuracies, (0.05, 0.95))
    aari = float(np.mean(indices)) if indices else 1.0
    return Expected(float(np.mean(accuracies)), float(low), float(high), aari)


def _at_correlations(truth: Dendrogram) -> Dendrogram:
    """Return the drawn tree `truth` with correlations between leaves as heights.

    Row i of an (n, n) matrix has the heights at which leaf i joins the other leaves of `truth`. The height of
    a merge is the mean correlation of two rows, over the pairs of leaves that the merge joins.

    The heights of `Posterior.dendrogram` are such correlations. The original heights of a drawn tree are
    noisy, so cuts at these heights would underestimate the accuracy of `Posterior.dendrogram`.
    """
    H = heights_of_pairs(truth)
    np.fill_diagonal(H, -np.inf)
    np.fill_diagonal(H, H.max(axis=1))
    H -= H.mean(axis=1, keepdims=True)
    length = np.sqrt((H * H).sum(axis=1, keepdims=True))
    H /= np.where(length > 0, length, 1.0)
    plain, correlations = truth.replace(names=None), H @ H.T
    return refine(plain, correlations, dissimilarity=False, max_moves=0, restarts=0, heights="average")


def heights_of_pairs(tree: Dendrogram) -> NDArray[np.float64]:
    """Return the height of the lowest common ancestor of each pair of leaves, (n, n); the diagonal is 0."""
    found = tree.cophenetic(square=True)
    np.fill_diagonal(found, 0.0)
    return found
