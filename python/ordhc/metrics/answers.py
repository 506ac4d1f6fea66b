"""Compute the share of answers that a tree predicts correctly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc.comparison.choices import Choices, Closeness
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram, lca_nodes, node_heights, root_distances
from ordhc.tree.matching import prepared


def answer_accuracy(tree: Any, comparisons: Triplets | Quadruplets | ArrayLike) -> float:
    """Return the share of answers that the tree predicts correctly (Luce 1959).

    An answer is one choice among several possible choices. There are 3 choices for the odd one out of three
    and for the most central of three. "Is A more like B or C?" has 2 choices, and a ranking of k leaves has
    k! choices. The tree predicts the choice whose pairs are closest in the tree. If t choices are equally
    close, the given choice counts 1/t.

    `satisfied` counts rows instead of answers. A "most central" answer has two rows, and a tree with heights
    satisfies at most one of them. An answer that the tree does not decide counts 0 in `satisfied` and 1/t
    here.

    Parameters
    ----------
    tree
        The tree, in any form that `ordhc.as_dendrogram` takes. In a tree with heights, pairs are closer the
        deeper their lowest common ancestor is. In a tree with lengths, pairs are closer the shorter the path
        between them is.
    comparisons
        `Triplets`, `Quadruplets`, or (m, 3) or (m, 4) leaf ids. Use comparisons that the tree was not made
        from. Rows of one answer have the same number in `answers`. The weight of an answer is the mean weight
        of its rows.

    Returns
    -------
    float
        The share, from 0 to 1. Guessing scores the mean of 1 / (number of possible choices).

    Raises
    ------
    InputError
        No answer has a positive weight; quadruplets with a tree without heights and lengths; an edge without
        a length.

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
    right, weights = right_answers(found, data)
    if not weights.sum():
        raise InputError("there are no answers (of positive weight) to predict")
    return float(np.average(right, weights=weights))


def right_answers(
    tree: Dendrogram, data: Triplets | Quadruplets, choices: Choices | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each answer's score and weight.

    The score is 1 if the tree predicts the given choice, 1/t if t choices tie with it, and 0 otherwise.
    Answers are numbered as by `comparison.units.answers_of`. `choices` is ``Choices.of(data)``, if the caller
    has computed it already.
    """
    choices = Choices.of(data) if choices is None else choices
    closeness = _closeness_in(tree, needs_heights=isinstance(data, Quadruplets))
    return choices.gathered([kind.right(closeness) for kind in choices.kinds])


def _closeness_in(tree: Dendrogram, *, needs_heights: bool) -> Closeness:
    """Return a function that computes the closeness of pairs of leaves in a tree; larger is closer.

    `needs_heights` is True if pairs without a shared leaf are compared. Otherwise the tree's shape is enough:
    if two pairs share a leaf, one of their two common ancestors is below the other.
    """
    if tree.scale == "lengths":
        from_root = root_distances(tree)

        def by_path(i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.float64]:
            joint = from_root[lca_nodes(tree, i, j)]
            return -((from_root[i] - joint) + (from_root[j] - joint))

        return by_path
    values = (
        node_heights(tree) if needs_heights else np.append(np.ones(tree.n_leaves), tree.sizes).astype(float)
    )
    sign = 1.0 if needs_heights and tree.kind == "similarity" else -1.0
    return lambda i, j: sign * values[lca_nodes(tree, i, j)]
