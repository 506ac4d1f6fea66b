"""What the trees of resamples say of the answers that were not drawn, and how sure that is."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.evaluate.intervals import FEWEST_UNITS, share_about

__all__ = ["JUDGED", "LeftOut", "Rows", "interval_left_out", "sums_left_out"]

#: So many resamples are judged unit by unit, which is enough for a standard error.
JUDGED = 50
#: The mean over resamples varies less with the data than one tree does: by this share, measured by
#: benches/bench_intervals.py.
SMOOTHED = 0.5
#: Fewer say nothing about how trees vary.
FEWEST_RESAMPLES = 10

Floats = NDArray[np.float64]
#: Rows, the weight of each, and the unit of each.
Rows = tuple[NDArray[np.int32], Floats, NDArray[np.int64]]


@dataclass(frozen=True)
class LeftOut:
    """What trees of resamples get of the answers that were not drawn.

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
    """Add up what the first `JUDGED` trees of resamples get of the answers that were not drawn.

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
    # (trees, units) what the units add that a tree has not seen.
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

    The variance is that over units, of the mean of each over the trees that it is not in, and that over
    trees, of what they differ by on the same units. The second is that of one tree, so that the interval is
    rather too wide than too narrow.

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
    # What a tree gets more than other trees from the same units, and how far that is chance.
    apart = (hits.sum(axis=1) - out @ mean) / held
    rest = np.where(out, hits - mean - apart[:, None] * most, 0.0)
    chance = float(((rest**2).sum(axis=1) / held**2).mean())
    of_trees = SMOOTHED * max(float(np.var(apart, ddof=1)) - chance, 0.0)
    return share_about(estimate, math.sqrt(of_units + of_trees), count - 1, count, z)
