"""Score trees of resamples on the answers that were not drawn, with intervals."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.evaluate.intervals import FEWEST_UNITS, share_about

__all__ = ["JUDGED", "LeftOut", "Rows", "interval_left_out", "sums_left_out"]

#: Number of resamples that are judged unit by unit, which is enough for a standard error.
JUDGED = 50
#: The mean over resamples varies less with the data than one tree does, by this share. Measured by
#: benches/bench_intervals.py.
SMOOTHED = 0.5
#: Fewer trees say nothing about how trees vary.
FEWEST_RESAMPLES = 10

Floats = NDArray[np.float64]
#: Rows, the weight of each, and the unit of each.
Rows = tuple[NDArray[np.int32], Floats, NDArray[np.int64]]


@dataclass(frozen=True)
class LeftOut:
    """The scores of trees of resamples on answers that were not drawn.

    Attributes
    ----------
    out
        (trees, units) True where a unit was not drawn for a tree.
    hits
        (trees, units) what the unit adds to the score of a tree that has not seen it.
    most
        (units,) the most that a unit could add.
    """

    out: NDArray[np.bool_]
    hits: Floats
    most: Floats

    @property
    def estimate(self) -> float:
        """The mean score over trees; NaN if no tree has answers left out."""
        held = self.out @ self.most
        shares = self.hits.sum(axis=1)[held > 0] / held[held > 0]
        return float(shares.mean()) if len(shares) else math.nan


def sums_left_out(
    count: int,
    times: Callable[[int], NDArray[np.integer]],
    blocks: Callable[[], Iterable[Rows]],
    n_units: int,
    agrees: Callable[[int, NDArray[np.int32], NDArray[np.int64]], Floats | NDArray[np.bool_]],
) -> LeftOut:
    """Add up the scores of the first `JUDGED` trees of resamples on answers that were not drawn.

    Parameters
    ----------
    count
        How many resamples there are.
    times
        How often each of the units, people or answers, was drawn for a resample, by its number.
    blocks
        All comparisons, block by block.
    n_units
        How many units there are.
    agrees
        The scores of some comparisons of a block by a tree, given the number of the tree, the comparisons of
        the block, and the places of those to score.
    """
    count = min(count, JUDGED)
    out = np.array([times(at) == 0 for at in range(count)]).reshape(count, n_units)
    most = np.zeros(n_units)
    # (trees, units) what each unit adds to the score of trees made without it.
    hits = np.zeros(out.shape)
    for rows, weights, units in blocks():
        some, codes = np.unique(units, return_inverse=True)
        codes = codes.ravel()
        most[some] += np.bincount(codes, weights)
        for at in range(count):
            left = np.flatnonzero(out[at][units])
            hits[at, some] += np.bincount(codes[left], weights[left] * agrees(at, rows, left), len(some))
    return LeftOut(out, hits, most)


def interval_left_out(estimate: float, sums: LeftOut, z: float) -> tuple[float, float]:
    """Return the interval of the score of trees of resamples on answers that were not drawn.

    The variance is the sum of two parts. The first is over units: the mean score of each over the trees made
    without it. The second is over trees: how much they differ on the same units. The second part is that of a
    single tree, so the interval is rather too wide than too narrow.

    Parameters
    ----------
    estimate
        The score.
    sums
        What single trees get.
    z
        The quantile of the normal distribution.

    Returns
    -------
    low, high
        NaN where there are fewer than five units or ten resamples.
    """
    out, hits, most = sums.out, sums.hits, sums.most
    if len(most) < FEWEST_UNITS or len(out) < FEWEST_RESAMPLES or math.isnan(estimate):
        return math.nan, math.nan
    known = out.any(axis=0) & (most > 0)
    out, hits, most = out[:, known], hits[:, known], most[known]
    count, held = len(most), out @ most
    if count < FEWEST_UNITS or not held.all():
        return math.nan, math.nan
    mean = hits.sum(axis=0) / out.sum(axis=0)
    over, whole = float(mean.sum() / most.sum()), float(most.sum())
    of_units = float((((mean - over * most) / whole) ** 2).sum()) * count / (count - 1)
    # How much more a tree scores than other trees on the same units, and how much of this is chance.
    apart = (hits.sum(axis=1) - out @ mean) / held
    rest = np.where(out, hits - mean - apart[:, None] * most, 0.0)
    chance = float(((rest**2).sum(axis=1) / held**2).mean())
    of_trees = SMOOTHED * max(float(np.var(apart, ddof=1)) - chance, 0.0)
    return share_about(estimate, math.sqrt(of_units + of_trees), count - 1, count, z)
