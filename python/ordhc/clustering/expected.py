"""How good a tree is expected to be, now and after more answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.clustering.refine import refine
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import engine_tree

__all__ = ["CORRELATED", "Expected", "Predicted", "expected_of", "heights_of_pairs"]

#: Numbers of clusters at which trees are compared.
_LEVELS = (2, 4, 8)
#: With more leaves than this summaries are cut by mean heights, as `Samples.summary` has it.
CORRELATED = 3_000
#: Number of trees that estimate the accuracy of flat clusters.
_JUDGES = 50


@dataclass(frozen=True)
class Expected:
    """How right a tree is expected to be, if the truth is like the trees that were drawn.

    Attributes
    ----------
    accuracy
        The mean share of sets of three leaves, two of which are closer, that the tree joins rightly.
    low, high
        The accuracy of 0.9 of the drawn trees lies in this interval. In a few simulations, it held a third to
        two thirds of the true accuracies: the interval is too narrow.
    aari
        The adjusted Rand index of 2, 4 and 8 clusters, averaged: the mean. Where the tree is cut by
        correlations, so are those that may be true.
    """

    accuracy: float
    low: float
    high: float
    aari: float

    @classmethod
    def mean(cls, several: "Sequence[Expected]") -> "Expected":
        """Return the mean of each number over several forecasts."""
        numbers = [(one.accuracy, one.low, one.high, one.aari) for one in several]
        return cls(*np.mean(numbers, axis=0).tolist())

    def __str__(self) -> str:
        return f"accuracy {self.accuracy:.3f} ({self.low:.3f} to {self.high:.3f}), AARI {self.aari:.3f}"


@dataclass(frozen=True)
class Predicted:
    """How well answers are foretold that nothing was made from.

    Attributes
    ----------
    accuracy
        The share of answers whose choice is the likeliest one. Where t choices are equally likely, the given
        one counts 1/t.
    low, high
        The 95% interval of `accuracy`: over people, or over questions where fewer than five people are known.
        With fewer than five questions it is Wilson's for independent answers.
    n_answers
        The number of answers.
    chance
        What `accuracy` would be at random: one divided by the number of possible answers.
    """

    accuracy: float
    low: float
    high: float
    n_answers: int
    chance: float

    def __str__(self) -> str:
        return f"{self.accuracy:.3f} ({self.low:.3f} to {self.high:.3f}) of {self.n_answers:,} answers"


def expected_of(tree: Dendrogram, truths: Sequence[Dendrogram], *, by_correlation: bool) -> Expected:
    """How right a tree is expected to be if one of these truths is; whether its merges are by correlation."""
    n = tree.n_leaves
    accuracies = []
    for truth in truths:
        same, different, only_truth, _, _ = _ordhc.triplet_counts(engine_tree(truth), engine_tree(tree), None)
        resolved = same + different + only_truth
        accuracies.append(same / resolved if resolved else 1.0)
    levels, indices = [k for k in _LEVELS if k < n], []
    for truth in truths[:: -(-len(truths) // _JUDGES)] if levels else ():
        cut = _at_correlations(truth) if by_correlation else truth
        indices.append(_ordhc.aari_of_trees(engine_tree(tree), engine_tree(cut), levels, None)[0])
    low, high = np.quantile(accuracies, (0.05, 0.95))
    aari = float(np.mean(indices)) if indices else 1.0
    return Expected(float(np.mean(accuracies)), float(low), float(high), aari)


def _at_correlations(truth: Dendrogram) -> Dendrogram:
    """Return `truth` with each merge at the correlation between rows of its heights, as in the summary.

    Heights of nodes far apart in a tree are compared by few answers. So a cut by the heights of a single
    tree is much more a matter of chance than one by correlations of mean heights is, and one by its
    heights would make the latter look worse than it is.
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
    """(n, n) heights of lowest common ancestors."""
    found = tree.cophenetic(square=True)
    np.fill_diagonal(found, 0.0)
    return found
