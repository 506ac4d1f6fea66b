"""The prediction of every answer by a tree that was made without it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress, part
from ordhc.clustering.expected import Predicted
from ordhc.clustering.plan import Plan
from ordhc.clustering.posterior import Posterior
from ordhc.comparison.choices import Choices
from ordhc.comparison.comparisons import Comparisons
from ordhc.comparison.units import answers_of, numbered, questions_of
from ordhc.evaluate.folds import score
from ordhc.evaluate.intervals import FEWEST_UNITS, of_units, wilson
from ordhc.evaluate.select import Candidate
from ordhc.evaluate.trials import Folds, split
from ordhc.metrics.answers import answers_foretold
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import engine_tree

__all__ = ["Answers", "HeldOut", "held_out", "scored"]

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """Comparisons, by answer: an odd one out is two rows and one answer.

    Attributes
    ----------
    of_row
        (m,) the answer of each row.
    first
        (a,) the first row of each answer.
    sizes
        (a,) how many rows it has.
    weights
        (a,) the mean weight of its rows.
    question, content
        (a,) which question it is to, and what it says: the same numbers for the same.
    person
        (a,) who gave it, by the numbers of `data.groups`; None where people aren't known.
    """

    of_row: Numbers
    first: Numbers
    sizes: Numbers
    weights: Floats
    question: Numbers
    content: Numbers
    person: Numbers | None

    @classmethod
    def of(cls, data: Comparisons) -> "Answers":
        """Return the answers that the comparisons come from."""
        of_row = answers_of(data)
        sizes = np.bincount(of_row)
        first = np.full(len(sizes), -1)
        first[of_row[::-1]] = np.arange(len(of_row))[::-1]
        weights = np.ones(len(data)) if data.weights is None else data.weights
        question, content = questions_of(data)
        return cls(
            of_row,
            first,
            sizes,
            np.bincount(of_row, weights) / sizes,
            numbered(question[first])[0],
            numbered(content[first])[0],
            None if data.groups is None else data.groups[first].astype(np.int64),
        )

    def mean(self, of_rows: NDArray[np.generic]) -> Floats:
        """Return the mean of `of_rows` over the rows of each answer, (a,)."""
        return np.bincount(self.of_row, of_rows.astype(np.float64)) / self.sizes

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True)
class HeldOut:
    """The predictions of answers by trees that were made without them.

    Attributes
    ----------
    satisfied
        (a,) for each answer the share of its rows that a tree made without it agrees with.
    at_random
        (a,) the same share if the answer were given at random.
    accuracy, low, high
        The share of answers satisfied, and its 95% interval over people, or over questions (see `unit`), and
        over the trees that other data would have given.
    chance
        What it would be with the leaves of the trees in any order.
    unit, folds
        What was kept together, and in how many parts.
    decided
        The share of comparisons about which the trees say something. In the others both pairs are equally
        close, as in a third of the questions "is A more like B or C?" of a binary tree.
    """

    satisfied: Floats
    at_random: Floats
    accuracy: float
    low: float
    high: float
    chance: float
    unit: str
    folds: int
    decided: float


def verdicts(tree: Dendrogram, data: Comparisons) -> NDArray[np.int8]:
    """(m,) 1 where a tree agrees with a comparison, -1 where it disagrees, 0 where it leaves it open."""
    return _ordhc.verdicts(engine_tree(tree), data.rows)


def scored(model: Dendrogram | Posterior, data: Comparisons) -> Predicted | None:
    """Return the share of whole answers that a tree or a posterior foretells; None without answers.

    A posterior foretells by its probabilities, a tree by which pairs are closest in it.
    """
    if not len(data):
        return None
    answers = Answers.of(data)
    choices = Choices.of(data)
    if isinstance(model, Posterior):
        right, _, weights = model.foretell(data).by_answer()
    else:
        right, weights = answers_foretold(model, data, choices)
    units = answers.question
    if answers.person is not None and len(np.unique(answers.person)) >= FEWEST_UNITS:
        units = numbered(answers.person)[0]
    share, low, high = of_units(units, right, weights)
    if np.isnan(low):
        low, high = wilson(share, len(answers)).tolist()
    return Predicted(share, low, high, len(answers), choices.chance)


def held_out(
    data: Comparisons,
    plan: Plan,
    answers: Answers,
    *,
    folds: int,
    seed: int,
    unit: str | None,
    known: Candidate | None = None,
    progress: Progress | None = None,
) -> HeldOut:
    """Split answers into folds as `ordhc.select` does, and compare each with a tree of the other folds.

    `known` is what `select` has found about the same method on the same folds: then its interval is taken,
    and the trees that only the interval needs are not made again.
    """
    units, parts, kept = split(data, folds, seed, None, unit)
    work = Folds(data, units, parts, folds)
    without = [each for each in work.left_out() if known is None or len(each) == 1]
    found = np.zeros(len(data), dtype=np.int8)
    tried = []
    for at, left in enumerate(without):
        told = part(progress, at / len(without), (at + 1) / len(without))
        sums, seconds, chance, verdicts = work.tried(left, plan, told)
        tried.append((sums, seconds, chance))
        if len(left) == 1:
            found[parts[units] == left[0]] = verdicts
    result = work.result(without, tried)
    total = score(result.satisfied, is_share=True)
    low, high = (total.low, total.high) if known is None else (known.satisfied_low, known.satisfied_high)
    # A single comparison has chance 1/2, unless the tree is undecided. Answers of several rows use the mean.
    at_random = np.where(answers.sizes == 1, 0.5 * answers.mean(found != 0), result.chance)
    satisfied = answers.mean(found == 1)
    return HeldOut(
        satisfied, at_random, total.value, low, high, result.chance, kept, folds, float((found != 0).mean())
    )
