"""Estimate the share of answers that trees satisfy by chance, and the largest share they can satisfy."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.comparison import units
from ordhc.comparison.comparisons import Comparisons, Triplets
from ordhc.comparison.rows import changed
from ordhc.tree.dendrogram import Dendrogram, engine_tree

#: Number of random orders of the leaves over which the chance level of quadruplets is averaged.
ORDERS = 20
#: Smallest number of repeated answers for a noise ceiling; with fewer, its standard error can exceed .05.
FEWEST_REPEATED = 100


@dataclass(frozen=True)
class NoiseCeiling:
    """Bounds of the share of answers that the best tree could satisfy, estimated from repeated questions.

    Attributes
    ----------
    lower
        The share satisfied if each answer is predicted by the other answers to its question. A method that
        learns from the same number of answers can reach this share.
    upper
        The share satisfied if each question has a tree that fits the answers to it best. No single tree
        exceeds this share.
    n_answers
        The number of answers to questions that were asked more than once. Both shares refer to these answers.
    """

    lower: float
    upper: float
    n_answers: int

    @property
    def is_reliable(self) -> bool:
        """True if there are at least 100 answers to repeated questions."""
        return self.n_answers >= FEWEST_REPEATED

    def __str__(self) -> str:
        of = "answer" if self.n_answers == 1 else "answers"
        if not self.is_reliable:
            return f"{self.n_answers:,} {of} to repeated questions are too few ({FEWEST_REPEATED} are needed)"
        return f"{self.lower:.4f} to {self.upper:.4f} ({self.n_answers:,} answers to repeated questions)"


def satisfied_share(tree: Dendrogram, data: Comparisons, shares: NDArray[np.float64] | None = None) -> float:
    """Return the share of answers that a tree satisfies.

    An answer of several rows counts by the share of its rows that the tree satisfies. `shares` has, for each
    row, 1 / (number of rows of its answer), from `comparison.units.shares_of`. With None, all rows count the
    same.
    """
    weights = data.weights
    if shares is not None:
        weights = shares if weights is None else weights * shares
    agreed, disagreed, unresolved = _ordhc.satisfied(engine_tree(tree), data.rows, weights)
    total = agreed + disagreed + unresolved
    return agreed / total if total else float("nan")


def chance_of(tree: Dendrogram, data: Comparisons) -> float:
    """Return the share of answers that the tree satisfies on average if its leaves are shuffled.

    For triplets the share is 1/3, because each pair of three leaves is equally likely to merge first. For
    quadruplets the share is the mean over 20 random orders of the leaves.
    """
    if isinstance(data, Triplets):
        return 1 / 3
    random = np.random.default_rng(0)
    shares = units.shares_of(data)
    shuffled = (changed(data, rows=random.permutation(data.n_leaves)[data.rows]) for _ in range(ORDERS))
    return float(np.mean([satisfied_share(tree, each, shares) for each in shuffled]))


def noise_ceiling(data: Comparisons, *, progress: Progress | None = None) -> NoiseCeiling | None:
    """Return bounds of the share of answers that a tree can satisfy; None without repeated questions.

    If all weights are whole numbers, they are used as numbers of equal answers. A row of three leaves is
    satisfied if its closer pair merges first.

    The lower bound predicts each answer by the most common choice in all other answers to the same question.
    If t choices are equally common, an answer with one of these choices counts as 1/t of a satisfied answer.

    Notes
    -----
    The search for repeated questions takes 8 bytes for each answer.

    Examples
    --------
    >>> import ordhc
    >>> from ordhc.evaluate.ceiling import noise_ceiling
    >>> noise_ceiling(ordhc.Triplets([(0, 1, 2), (0, 1, 2), (0, 2, 1)]))
    NoiseCeiling(lower=0.3333333333333333, upper=0.6666666666666666, n_answers=3)
    """
    answers = None if data.answers is None else units.answers_of(data)
    found = _ordhc.noise_ceiling(data.rows, data.weights, answers, data.n_leaves, progress)
    if found is None:
        return None
    lower, upper, n_answers = found
    return NoiseCeiling(lower, upper, round(n_answers))
