"""How far answers can be right: by chance, and given that repeated ones disagree."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.comparison import units
from ordhc.comparison.comparisons import Comparisons, Triplets
from ordhc.comparison.rows import changed
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import engine_tree

__all__ = ["FEWEST_REPEATED", "ORDERS", "NoiseCeiling", "chance_of", "noise_ceiling", "satisfied_share"]


#: Orders of the leaves over which the chance level of quadruplets is averaged.
ORDERS = 20
#: A noise ceiling of fewer answers to repeated questions is not told or drawn: its error is .05 or more.
FEWEST_REPEATED = 100


@dataclass(frozen=True)
class NoiseCeiling:
    """The share of answers that the best tree could satisfy, as far as repeated questions tell.

    Attributes
    ----------
    lower
        The share satisfied if every answer is predicted by the other answers to its question: what a method
        reaches that learns from as many answers.
    upper
        The share satisfied by the best tree for each question, made of its own answers: no tree does better.
    n_answers
        How many answers are to questions that were asked more than once; the shares are of these.
    """

    lower: float
    upper: float
    n_answers: int

    @property
    def is_told(self) -> bool:
        """True if there are enough answers to repeated questions, 100, to say something."""
        return self.n_answers >= FEWEST_REPEATED

    def __str__(self) -> str:
        of = "answer" if self.n_answers == 1 else "answers"
        if not self.is_told:
            return f"{self.n_answers:,} {of} to repeated questions are too few ({FEWEST_REPEATED} are needed)"
        return f"{self.lower:.4f} to {self.upper:.4f} ({self.n_answers:,} answers to repeated questions)"


def satisfied_share(tree: Dendrogram, data: Comparisons, shares: NDArray[np.float64] | None = None) -> float:
    """The share of answers that a tree satisfies, each counted once, of several rows by the share of these.

    `shares` are `comparison.units.shares_of`, if they are known.
    """
    weights = data.weights
    if shares is not None:
        weights = shares if weights is None else weights * shares
    agreed, disagreed, unresolved = _ordhc.satisfied(engine_tree(tree), data.rows, weights)
    total = agreed + disagreed + unresolved
    return agreed / total if total else float("nan")


def chance_of(tree: Dendrogram, data: Comparisons) -> float:
    """The share of answers that the tree would satisfy with its leaves in any order.

    For triplets that is 1/3: of three leaves each pair is as likely to join first. For quadruplets it depends
    on the tree, and is a mean over some orders.
    """
    if isinstance(data, Triplets):
        return 1 / 3
    random = np.random.default_rng(0)
    shares = units.shares_of(data)
    found = []
    for _ in range(ORDERS):
        order = random.permutation(data.n_leaves)
        found.append(satisfied_share(tree, changed(data, rows=order[data.rows]), shares))
    return float(np.mean(found))


def noise_ceiling(data: Comparisons) -> NoiseCeiling | None:
    """The noise ceiling of answers, or None if no question was asked more than once.

    Weights that are all whole numbers are taken as numbers of equal answers. Of three leaves, a tree says
    which pair joins first, and satisfies the rows whose closer pair that is; ties among the others' answers
    count by their share.

    Examples
    --------
    >>> import ordhc
    >>> from ordhc.evaluate.ceiling import noise_ceiling
    >>> noise_ceiling(ordhc.Triplets([(0, 1, 2), (0, 1, 2), (0, 2, 1)]))
    NoiseCeiling(lower=0.3333333333333333, upper=0.6666666666666666, n_answers=3)
    """
    if data.weights is not None:
        data = data[data.weights > 0]
    if not len(data):
        return None
    question, _ = units.questions_of(data)
    answers = units.answers_of(data)
    weights = np.ones(len(data)) if data.weights is None else data.weights
    sizes = np.bincount(answers)
    counts = bool((weights == np.floor(weights)).all())
    of_answer = np.bincount(answers, weights) / sizes
    first = np.zeros(len(sizes), dtype=np.int64)
    first[answers] = question
    times = np.bincount(first, of_answer if counts else None)
    repeated = times[question] > 1
    if not repeated.any():
        return None
    cell, slot = _cells(data, question)
    value = weights / sizes[answers]
    within = np.unique(np.column_stack([cell, answers]), axis=0, return_inverse=True)[1].ravel()
    n_cells, n_parts = int(cell.max()) + 1, int(within.max()) + 1
    total = np.bincount(3 * cell + slot, value, 3 * n_cells).reshape(-1, 3)
    own = np.bincount(3 * within + slot, value, 3 * n_parts).reshape(-1, 3)
    cell_of, answer_of = np.zeros(n_parts, dtype=np.int64), np.zeros(n_parts, dtype=np.int64)
    cell_of[within], answer_of[within] = cell, answers
    asked_again = times[first[answer_of]] > 1
    once = of_answer[answer_of][:, None] if counts else 1.0
    others = total[cell_of] - own / once
    best = others >= others.max(axis=1, keepdims=True) - 1e-9 * (1 + others.sum(axis=1, keepdims=True))
    predicted = (own * best).sum(axis=1) / best.sum(axis=1)
    cells = np.unique(cell[repeated])
    whole = float(value[repeated].sum())
    again = times[first] > 1
    return NoiseCeiling(
        lower=float(predicted[asked_again].sum()) / whole,
        upper=float(total[cells].max(axis=1).sum()) / whole,
        n_answers=round(float(of_answer[again].sum())) if counts else int(again.sum()),
    )


def _cells(data: Comparisons, question: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows that a tree decides alike, as numbers, and which of three ways each row is.

    Of three leaves, the way is the pair that joins first. Of four, the pairs that are compared belong to the
    cell, and the way is which of them is closer.
    """
    rows = data.rows.astype(np.int64)
    if rows.shape[1] == 3:
        rows = rows[:, [0, 1, 0, 2]]
    leaves = units.sorted_leaves(rows)
    near, far = np.sort(rows[:, :2], axis=1), np.sort(rows[:, 2:], axis=1)
    four = leaves[:, 0] >= 0
    # The leaf that is not in the closer pair, among the three in order.
    apart = (leaves[:, 1:] != near[:, :1]) & (leaves[:, 1:] != near[:, 1:])
    first = (near[:, 0] < far[:, 0]) | ((near[:, 0] == far[:, 0]) & (near[:, 1] < far[:, 1]))
    slot = np.where(four, first, apart.argmax(axis=1)).astype(np.int64)
    pairs = np.where(first[:, None], near, far) * four[:, None]
    key = np.column_stack([question, leaves, pairs])
    return units.numbered_rows(key), slot
