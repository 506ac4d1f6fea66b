"""Score the predictions of structures for held-out answers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.choices import Choices, right_of
from ordhc.evaluate.intervals import about, ratio_of_sums
from ordhc.evaluate.structure.coins import columns_of, upper_tail
from ordhc.evaluate.structure.trial import ADDITIVE, PARTS, POINTS, ULTRAMETRIC, Found, Trial
from ordhc.evaluate.structure.words import Estimate

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

CHANCE, WEIGHTED, BOTH = "chance", "points, weighted", "tree and points"


@dataclass(frozen=True)
class Scored:
    """Held-out answers, and how well each structure predicted them. All arrays have one entry per answer.

    `weight`, `unit` and `at` are the weight of each answer, its unit (person or question), and its number in
    the data. `losses` and `right` have, for each structure by name, the log loss of each answer, and 1 if the
    answer is the likeliest one, else 0 (a share for ties). `coins` has, for each tree by name, the (4, number
    of answers) numbers of `coins.columns_of`.
    """

    weight: Floats
    unit: Numbers
    at: Numbers
    losses: dict[str, Floats]
    right: dict[str, Floats]
    coins: dict[str, Floats]
    folds: int

    def error(self, above: Floats, below: Floats) -> tuple[float, float, int]:
        """Return the ratio of the weighted sums of `above` and `below`, its standard error, and a count.

        The count is the number of units (people or questions) with `below` other than 0. The error is NaN for
        fewer than 5 units. The ratio and the error are NaN if the sum of `below` is 0.
        """
        count = int(self.unit.max()) + 1
        over = np.bincount(self.unit, self.weight * above, count)
        under = np.bincount(self.unit, self.weight * below, count)
        counted = np.bincount(self.unit, below != 0, count) > 0
        n = int(counted.sum())
        if under.sum() == 0:
            return math.nan, math.nan, n
        value, error = ratio_of_sums(over[counted], under[counted])
        return value, error * math.sqrt(1 + self.folds / (self.folds - 1)), n

    def ratio(self, above: Floats, below: Floats) -> Estimate:
        value, error, n = self.error(above, below)
        return Estimate(value, *about(value, error, n - 1))

    def better(self, values: Floats, among: Floats) -> tuple[Estimate, float]:
        """Return the mean of `values` for some answers, and a one-sided p-value for a mean above 0.

        `among` is 1 for these answers and 0 for the others. The p-value is NaN for fewer than 5 units (people
        or questions).
        """
        value, error, n = self.error(values * among, among)
        if not error > 0:
            return Estimate(value, value, value) if error == 0 else Estimate(value, error, error), math.nan
        return Estimate(value, *about(value, error, n - 1)), upper_tail(value / error, n - 1)

    def mean(self, values: Floats) -> Estimate:
        return self.ratio(values, np.ones_like(values))

    def share(self, values: Floats) -> Estimate:
        return self.within(values, np.ones_like(values))

    def within(self, values: Floats, among: Floats) -> Estimate:
        """Return the mean of `values` over the answers where `among` is 1, with a confidence interval.

        The values are from 0 to 1, so the ends of the interval are limited to [0, 1].
        """
        found = self.ratio(values * among, among)
        return Estimate(found.value, *np.clip([found.low, found.high], 0.0, 1.0).tolist())


def scored(trial: Trial, folds: int, found: Sequence[Found]) -> Scored:
    weight, at = [], []
    coins: dict[str, list[Floats]] = {ULTRAMETRIC: [], ADDITIVE: []}
    losses: dict[str, list[Floats]] = {}
    right: dict[str, list[Floats]] = {}
    for fold in range(folds):
        choices = Choices.of(trial.parted(fold)[1])
        mine = found[fold * len(PARTS) : (fold + 1) * len(PARTS)]
        tables = {name: each for one in mine for name, each in one.items()}
        chosen = tables.pop(POINTS)
        tables[WEIGHTED] = chosen
        tables[BOTH] = [(a + b) / 2 for a, b in zip(tables[ADDITIVE], chosen, strict=True)]
        tables = {
            CHANCE: [np.full_like(a, 1 / k.n_possible) for a, k in zip(chosen, choices.kinds, strict=True)],
            **tables,
        }
        for name, table in tables.items():
            with np.errstate(divide="ignore"):
                loss = [-np.log(np.maximum(each[:, 0], 1e-300)) for each in table]
            losses.setdefault(name, []).append(choices.gathered(loss)[0])
            right.setdefault(name, []).append(choices.gathered([right_of(each) for each in table])[0])
        for name, parts in coins.items():
            of_kinds = [
                columns_of(kind, tree, points)
                for kind, tree, points in zip(choices.kinds, tables[name], chosen, strict=True)
            ]
            parts.append(
                np.stack([choices.gathered([each[row] for each in of_kinds])[0] for row in range(4)])
            )
        weight.append(choices.gathered([np.ones(len(kind)) for kind in choices.kinds])[1])
        at.append(trial.numbers_of_answers(fold))
    # The accuracy of chance is 1 / the number of possible answers: the probability behind its log loss.
    joined = {name: np.concatenate(each) for name, each in right.items()}
    joined[CHANCE] = np.exp(-np.concatenate(losses[CHANCE]))
    numbers = np.concatenate(at)
    return Scored(
        np.concatenate(weight),
        trial.units_of_answers()[numbers],
        numbers,
        {name: np.concatenate(each) for name, each in losses.items()},
        joined,
        {name: np.concatenate(each, axis=1) for name, each in coins.items()},
        folds,
    )
