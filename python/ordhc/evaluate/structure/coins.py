"""The coin-flip test: answers that a tree leaves open, which points may foretell."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.choices import Kind, right_of
from ordhc.evaluate.structure.words import Estimate

__all__ = ["CoinFlips", "columns_of", "upper_tail"]

Floats = NDArray[np.float64]

#: Two possible answers are tied if, of the two, the likelier one has at most this probability.
TIED = 0.55
#: A p-value of at most this is said to show something.
_LEVEL = 0.05
#: Fewer tied answers are not tested.
_FEWEST = 20


@dataclass(frozen=True)
class CoinFlips:
    """Whether points foretell answers that the tree leaves open.

    Attributes
    ----------
    tree
        The tree that leaves them open, by its name in `Structure.scores`.
    unit
        What the test counts as independent: "group", people, or "answer", questions.
    n_answers
        The number of answers that the tree gives nearly the same probability as another possible answer.
    share
        The share of these answers of which points say that they are the likeliest one of those tied, with a
        95% interval.
    chance
        The same share by chance: .5 where each answer is tied with one other.
    p_value
        One-sided, by Student's t over people (questions): how probable so good a prediction by points is if
        the tree is right. NaN with fewer than 5 people (questions).
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
                "few to test whether points foretell these."
            )
        over = "people" if self.unit == "group" else "questions"
        p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.3f}"
        said = (
            "better than a tree allows, so the answers hold something that is no tree"
            if self.p_value <= _LEVEL
            else "no evidence that the answers hold more than a tree"
        )
        return (
            f"Coin flips: the {self.tree} ties {n} of the answers with another possible answer. Points "
            f"foretell {self.share} of these, chance {self.chance:.3f}: {said} (one-sided {p}, over {over})."
        )


def columns_of(kind: Kind, tree: Floats, points: Floats) -> Floats:
    """Return what the test needs of answers to one kind of question.

    Parameters
    ----------
    kind
        The answers.
    tree, points
        (a, K) the probabilities of all possible answers by the tree and by points, the given one first.

    Returns
    -------
    ndarray of shape (4, a)
        1 if the tree ties the answer with another one; then 1 / the number of tied answers, the share to
        which points make the answer the likeliest of these, and the gain q / p - 1, where p and q are the
        probabilities of the answer among the tied ones by the tree and by points. If p is right, the
        gain is 0 on average, whatever q is. All are 0 for other answers.
    """
    found = np.zeros((4, len(tree)))
    if not kind.is_enumerated:
        return found
    # Ties are chains: possible answers in order of probability whose neighbours are nearly equal. So they do
    # not depend on which of the possible answers was given.
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
    """Return the probability of a larger value of Student's t, within .001 from 4 degrees of freedom.

    Notes
    -----
    Wallace 1959, "Bounds on normal approximations to Student's and the chi-square distributions".

    Examples
    --------
    >>> round(upper_tail(2.132, 4), 3), round(upper_tail(-1.725, 20), 3)
    (0.05, 0.95)
    """
    v = float(freedom)
    z = math.copysign((8 * v + 1) / (8 * v + 3) * math.sqrt(v * math.log1p(t * t / v)), t)
    return 0.5 * math.erfc(z / math.sqrt(2))
