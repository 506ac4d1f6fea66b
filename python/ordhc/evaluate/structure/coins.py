"""Test whether a model of points in space predicts answers to which a tree gives even odds."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.choices import Kind, right_of
from ordhc.evaluate.structure.words import Estimate

Floats = NDArray[np.float64]

#: Two possible answers are tied if, of the two, the likelier one has at most this probability.
TIED = 0.55
#: Largest p-value that is called significant.
_LEVEL = 0.05
#: Smallest number of tied answers for the test.
_FEWEST = 20


@dataclass(frozen=True)
class CoinFlips:
    """Result of the coin-flip test.

    The test shows whether points in space predict answers to which the tree gives even odds.

    Attributes
    ----------
    tree
        The name, in `Structure.scores`, of the tested tree.
    unit
        The independent units of the test: "group" for people, "answer" for questions.
    n_answers
        The number of tied answers: the tree gives the answer nearly the same probability as another possible
        answer.
    share
        The share of the tied answers that points predict: according to the model of points, the given answer
        is the likeliest of the tied possible answers. With a 95% interval.
    chance
        The share that is expected by chance: .5 if each answer is tied with exactly one other.
    p_value
        The probability of a prediction by points that is at least this good if the tree is right. One-sided,
        by Student's t over people (questions). NaN with fewer than 5 people (questions).
    """

    tree: str
    unit: str
    n_answers: int
    share: Estimate
    chance: float
    p_value: float

    @property
    def text(self) -> str:
        """The result of the test, in a sentence."""
        n = f"{self.n_answers:,}"
        if self.n_answers < _FEWEST or math.isnan(self.p_value):
            return (
                f"Coin flips: the {self.tree} ties only {n} of the answers with another possible answer, too "
                "few to test whether points predict them."
            )
        over = "people" if self.unit == "group" else "questions"
        p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.3f}"
        said = (
            "better than a tree allows, so a tree does not describe the answers fully"
            if self.p_value <= _LEVEL
            else "no evidence that a tree leaves anything out"
        )
        return (
            f"Coin flips: the {self.tree} ties {n} of the answers with another possible answer. Points "
            f"predict {self.share} of them, chance {self.chance:.3f}: {said} (one-sided {p}, over {over})."
        )


def columns_of(kind: Kind, tree: Floats, points: Floats) -> Floats:
    """Return the numbers that the coin-flip test needs, for answers to one kind of question, (4, a).

    The test compares a tree with a model of points in space, on answers to which the tree gives even odds.
    `tree` and `points` are (a, K): the probabilities of all possible answers by the tree and by the model of
    points. The given answer comes first.

    The result has a column for each answer. All its numbers are 0 if the tree does not tie the given answer
    with other possible answers. Otherwise:

    * row 0: 1;
    * row 1: 1 / t, where t is the number of answers in the tie;
    * row 2: 1 if the points make the given answer the likeliest of the t answers, 1 / s if s of the t
      answers are equally likely, else 0;
    * row 3: the gain q / p - 1. The tree gives the given answer the probability p, given that the answer
      is in the tie; the points give it q. If p is right, the mean gain is 0, whatever q is.
    """
    found = np.zeros((4, len(tree)))
    if not kind.is_enumerated:
        return found
    # Sort the possible answers by probability; neighbours that are nearly equal are in the same tie. So ties
    # do not depend on which answer was given.
    order = np.argsort(-tree, axis=1, kind="stable")
    likely = np.take_along_axis(tree, order, axis=1)
    is_new = likely[:, :-1] > TIED * (likely[:, :-1] + likely[:, 1:])
    chain = np.concatenate([np.zeros((len(tree), 1), dtype=np.int64), np.cumsum(is_new, axis=1)], axis=1)
    of_answer = np.empty_like(chain)
    np.put_along_axis(of_answer, order, chain, axis=1)
    is_tied = of_answer == of_answer[:, :1]
    size = is_tied.sum(axis=1)
    p, q = (np.where(is_tied, each, 0.0) for each in (tree, points))
    gain = (q[:, 0] * p.sum(axis=1)) / (p[:, 0] * q.sum(axis=1)) - 1
    is_coin = size > 1
    found[:, is_coin] = np.stack([np.ones(len(tree)), 1 / size, right_of(q), gain])[:, is_coin]
    return found


def upper_tail(t: float, freedom: float) -> float:
    """Return the probability of a larger value of Student's t.

    The error is below .001 from 4 degrees of freedom (Wallace 1959, "Bounds on normal approximations to
    Student's and the chi-square distributions").

    Examples
    --------
    >>> round(upper_tail(2.132, 4), 3), round(upper_tail(-1.725, 20), 3)
    (0.05, 0.95)
    """
    v = float(freedom)
    z = math.copysign((8 * v + 1) / (8 * v + 3) * math.sqrt(v * math.log1p(t * t / v)), t)
    return 0.5 * math.erfc(z / math.sqrt(2))
