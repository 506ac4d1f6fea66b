"""Predict every answer by a tree that was made without this answer."""

from __future__ import annotations

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
from ordhc.metrics.answers import right_answers
from ordhc.tree.dendrogram import Dendrogram, engine_tree

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """Comparisons grouped by answer. For example, one answer "the odd one out" is two rows.

    `of_row` (m,) has the answer of each row. The other arrays have an entry for each answer: its `first` row,
    its number of rows (`sizes`), the mean weight of its rows, its `question`, and the choice that was made
    (`content`). Equal numbers mean equal questions, and equal choices. `person` is the person who answered,
    as numbered in `data.groups`; None if people are unknown.
    """

    of_row: Numbers
    first: Numbers
    sizes: Numbers
    weights: Floats
    question: Numbers
    content: Numbers
    person: Numbers | None

    @classmethod
    def of(cls, data: Comparisons) -> Answers:
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
        return np.bincount(self.of_row, of_rows.astype(np.float64)) / self.sizes

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True)
class HeldOut:
    """The predictions of answers by trees that were made without them.

    `satisfied` (a,) has, for each answer, the share of its rows with which a tree made without the answer
    agrees, and `at_random` (a,) the expected share if the answer were random. `accuracy` is the share of
    answers satisfied. Its 95% interval, `low` to `high`, covers the variation over people or questions (see
    `unit`), and over the trees that other data would give. `chance` is the expected accuracy of trees with
    shuffled leaves.

    `unit` is kept in one of the `folds`: "group" (all answers of a person) or "answer" (all answers to a
    question). `decided` is the share of comparisons that the trees decide. In an undecided comparison both
    pairs are equally close in the tree. This holds for a third of the questions "is A more like B or C?" in a
    binary tree.
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
    """Return (m,): 1 if the tree agrees with a comparison, -1 if it disagrees, 0 if it does not decide."""
    return _ordhc.verdicts(engine_tree(tree), data.rows)


def scored(model: Dendrogram | Posterior, data: Comparisons) -> Predicted | None:
    """Return the share of answers that a tree or a posterior predicts; None without answers.

    All rows of an answer are one prediction. A posterior predicts the most probable answer. A tree predicts
    the answer whose pairs are closest in the tree.
    """
    if not len(data):
        return None
    answers = Answers.of(data)
    choices = Choices.of(data)
    if isinstance(model, Posterior):
        right, _, weights = model.score_answers(data).by_answer()
    else:
        right, weights = right_answers(model, data, choices)
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
    """Split answers into folds as `ordhc.select` does, and compare each fold with a tree of the other folds.

    The 95% interval of the accuracy needs more trees, each made without two of the folds. These trees are not
    made if `known` is given, the result of `select` for the same method and the same folds. Then the interval
    in `known` is returned.
    """
    units, parts, kept = split(data, folds, seed, None, unit)
    work = Folds(data, units, parts, folds)
    without = [each for each in work.left_out() if known is None or len(each) == 1]
    found = np.zeros(len(data), dtype=np.int8)
    tried = []
    for at, left in enumerate(without):
        tree_progress = part(progress, at / len(without), (at + 1) / len(without))
        sums, seconds, chance, verdicts = work.tried(left, plan, tree_progress)
        tried.append((sums, seconds, chance))
        if len(left) == 1:
            found[parts[units] == left[0]] = verdicts
    result = work.result(without, tried)
    total = score(result.satisfied, is_share=True)
    low, high = (total.low, total.high) if known is None else (known.satisfied_low, known.satisfied_high)
    # A random answer of one row is satisfied with probability 1/2, or 0 if the tree is undecided. For answers
    # of several rows, use the accuracy that is expected of trees with shuffled leaves.
    at_random = np.where(answers.sizes == 1, 0.5 * answers.mean(found != 0), result.chance)
    satisfied = answers.mean(found == 1)
    return HeldOut(
        satisfied, at_random, total.value, low, high, result.chance, kept, folds, float((found != 0).mean())
    )
