"""The share of whole answers that a tree foretells."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _ordhc
from ordhc.comparison.choices import Choices, Closeness
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.matching import prepared
from ordhc.tree.parts import engine_tree

__all__ = ["answer_accuracy", "answers_foretold"]


def answer_accuracy(tree: Any, comparisons: Triplets | Quadruplets | ArrayLike) -> float:
    """Return the share of answers whose choice is the likeliest one by the tree.

    An answer is a choice among all answers that could have been given. The odd one out of three, and the most
    central of three, is one of 3; "is A more like B or C?" is one of 2; a ranking of k is one of k!. The
    likeliest choice is the one whose pairs are closest in the tree. Where t choices are equally likely, the
    given one counts 1/t.

    `satisfied` counts rows instead. A most central answer has two rows, of which a tree with heights
    satisfies at most one; answers that a tree leaves open count 0 there, and 1/t here.

    Parameters
    ----------
    tree
        See `ordhc.as_dendrogram`. Pairs are closer the deeper their common ancestor is; in a tree with
        lengths, the shorter the path between them.
    comparisons
        `Triplets` or `Quadruplets`, better ones that the tree was not made from, or (m, 3) or (m, 4) leaf
        ids. Rows of one answer have the same number in `answers`; the weight of an answer is the mean of
        those of its rows.

    Returns
    -------
    float
        From 0 to 1. Chance is the mean of one divided by the number of possible answers.

    Raises
    ------
    InputError
        No answers of positive weight; quadruplets with a tree that is shape alone; an edge without a length.

    Examples
    --------
    >>> import ordhc
    >>> central = ordhc.Triplets([(0, 1, 2), (2, 1, 0)], answers=[0, 0])
    >>> ordhc.metrics.answer_accuracy("((0,1),2);", central)
    0.5
    >>> ordhc.metrics.satisfied("((0,1),2);", central).agreed
    0.5
    >>> ordhc.metrics.answer_accuracy("((0:0,1:0):2,2:2);", ordhc.Triplets([(2, 0, 1)]))
    0.5
    """
    found, data = prepared(tree, comparisons, ("triplets", "quadruplets"), "answer_accuracy")
    right, weights = answers_foretold(found, data)
    if not weights.sum():
        raise InputError("there are no answers (of positive weight) to foretell")
    return float(np.average(right, weights=weights))


def answers_foretold(
    tree: Dendrogram, data: Triplets | Quadruplets, choices: Choices | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return for each answer how far a tree foretells it, from 0 to 1, and the weight of the answer.

    Answers are numbered as by `comparison.units.answers_of`. `choices` are those of `data`, if known.
    """
    choices = Choices.of(data) if choices is None else choices
    closeness = _closeness_in(tree, needs_heights=isinstance(data, Quadruplets))
    return choices.gathered([kind.right(closeness) for kind in choices.kinds])


def _closeness_in(tree: Dendrogram, *, needs_heights: bool) -> Closeness:
    """Return how close pairs are in a tree, larger is closer.

    Parameters
    ----------
    needs_heights
        True if pairs without a common leaf are compared. Pairs with a common leaf have common ancestors of
        which one is below the other, so that the shape of the tree is enough.
    """
    if tree.scale == "lengths":
        return -tree.patristic(square=True)
    if needs_heights:
        _ordhc.check_memory("the heights of pairs", 8 * tree.n_leaves**2)
        heights = tree.cophenetic(square=True)
        return -heights if tree.kind == "dissimilarity" else heights

    def by_size(i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.float64]:
        sizes = engine_tree(tree).lca_sizes(np.ascontiguousarray(i), np.ascontiguousarray(j))
        return -sizes.astype(np.float64)

    return by_size
