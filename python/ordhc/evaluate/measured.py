"""Read and interpolate the scores of simulated studies."""

import csv
import itertools
import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

NOISES = ("close", "constant", "lengths")
SCORES = ("aari", "heldout")
#: The methods, and how the questions of each are selected.
METHODS = {"uncertain": "chosen", "posterior-al": "random", "adds3-al+spr": "random"}
#: Suffixes of the columns of a score: the mean, and the 10% and 90% quantiles over studies.
_ENDS = ("", "_low", "_high")

Floats = NDArray[np.float64]


class Table:
    """Scores of simulated studies, interpolated between the simulated `items` and `accuracies`.

    `checks` has, for each method, the simulated numbers of answers per item at which studies were scored.
    `scores` has, for each method, value of the argument `noise` of `plan`, and name of a score, an array of
    shape (3, items, accuracies, checks). The first axis has the mean, the 10% quantile and the 90% quantile
    over studies.
    """

    def __init__(self, rows: list[dict[str, str]]) -> None:
        self.items = np.array(sorted({int(row["items"]) for row in rows}))
        self.accuracies = np.array(sorted({float(row["accuracy"]) for row in rows}))
        self.checks: dict[str, Floats] = {}
        self.scores: dict[tuple[str, str, str], Floats] = {}
        for method in METHODS:
            checks = {float(row["answers_per_item"]) for row in rows if row["method"] == method}
            self.checks[method] = np.array(sorted(checks))
            shape = (len(_ENDS), len(self.items), len(self.accuracies), len(checks))
            for noise, score in itertools.product(NOISES, SCORES):
                self.scores[method, noise, score] = np.full(shape, np.nan)
        for row in rows:
            at = (
                int(np.searchsorted(self.items, int(row["items"]))),
                int(np.searchsorted(self.accuracies, float(row["accuracy"]))),
                int(np.searchsorted(self.checks[row["method"]], float(row["answers_per_item"]))),
            )
            for score in SCORES:
                for end, name in enumerate(_ENDS):
                    self.scores[row["method"], row["noise"], score][end, *at] = float(row[score + name])

    def curve(self, method: str, noise: str, score: str, n: int, accuracy: float) -> tuple[Floats, Floats]:
        """Return numbers of answers per leaf, and the score at each: the mean, 10% and 90% quantile.

        The second array has the shape (3, numbers of answers). It is interpolated between simulated studies,
        for `n` leaves and the share of right answers `accuracy`.
        """
        scores = self.scores[method, noise, score]
        between = _between(np.log(self.items.astype(np.float64)), math.log(n), scores)
        between = _between(self.accuracies, accuracy, between)
        return self.checks[method], np.stack([not_falling(curve) for curve in between])


def _between(points: Floats, at: float, values: Floats) -> Floats:
    """Interpolate `values` along their second axis, whose coordinates are `points`, at the point `at`."""
    place = float(np.interp(at, points, np.arange(len(points))))
    low = min(int(place), len(points) - 2)
    share = place - low
    return (1 - share) * values[:, low] + share * values[:, low + 1]


def not_falling(values: Floats) -> Floats:
    """Return the closest non-decreasing values by least squares (Ayer et al. 1955).

    Examples
    --------
    >>> not_falling(np.array([0.1, 0.5, 0.3, 0.9]))
    array([0.1, 0.4, 0.4, 0.9])
    """
    means: list[float] = []
    counts: list[int] = []
    for value in values.tolist():
        means.append(value)
        counts.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            mean, count = means.pop(), counts.pop()
            means[-1] = (means[-1] * counts[-1] + mean * count) / (counts[-1] + count)
            counts[-1] += count
    return np.repeat(means, counts)


def crossing(checks: Floats, curve: Floats, target: float) -> float | None:
    """Return the number of answers at which a non-decreasing curve reaches a target; None if it does not.

    The curve is linear in the logarithm of the number of answers.

    Examples
    --------
    >>> crossing(np.array([4.0, 16.0]), np.array([0.5, 1.0]), 0.75)
    8.0
    """
    reached = np.flatnonzero(curve >= target - 1e-12)
    if not reached.size:
        return None
    at = int(reached[0])
    if at == 0:
        return float(checks[0])
    share = (target - curve[at - 1]) / (curve[at] - curve[at - 1])
    logs = np.log(checks)
    return round(float(np.exp(logs[at - 1] + min(1.0, share) * (logs[at] - logs[at - 1]))), 9)


@cache
def measured() -> Table:
    from importlib.resources import files

    text = (files("ordhc") / "plans" / "answers.csv").read_text(encoding="utf-8")
    return Table(list(csv.DictReader(text.splitlines())))
