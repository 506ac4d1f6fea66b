"""Score trees of resamples on the answers that were not drawn, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.evaluate.intervals import FEWEST_UNITS, share_about

__all__ = ["JUDGED", "Block", "LeftOut", "Part", "Scores", "interval_left_out", "parts_of", "sums_left_out"]

#: Maximum number of resamples whose trees are scored on left-out answers; enough for a standard error.
JUDGED = 50
#: Variance of the mean score of all trees, as a share of the variance of the score of one tree. Measured by
#: benches/bench_intervals.py.
SMOOTHED = 0.5
#: Smallest number of trees from which the variance over trees is estimated.
FEWEST_RESAMPLES = 10
#: Maximum number of units (people, answers or files), and of rows, that are scored at a time. Each pair of a
#: tree and a unit takes 8 bytes.
_UNITS, _ROWS = 1 << 16, 1 << 18
#: The largest number of bytes for matrices of pairs of leaves, of which each thread can have one.
_MATRICES = 1 << 29

Floats = NDArray[np.float64]
#: Takes the number of a tree and the indices of comparisons in a block, and returns their scores.
Scores = Callable[[int, NDArray[np.int64]], "Floats | NDArray[np.bool_]"]


@dataclass(frozen=True)
class Block:
    """A part of the comparisons, with whole answers.

    Attributes
    ----------
    rows
        (m, w) the leaves of each comparison.
    weights
        (m,) the weight of each row.
    units
        (m,) the unit of each row: a person, an answer or a file.
    at
        The indices of the rows in the data in memory; None for a scan.
    """

    rows: NDArray[np.int32]
    weights: Floats
    units: NDArray[np.int64]
    at: NDArray[np.int64] | slice | None = None


@dataclass(frozen=True)
class Part:
    """The units (people, answers or files) from `first` to `end`, and blocks with all their comparisons."""

    first: int
    end: int
    blocks: Iterable[Block]


class LeftOut:
    """The scores of trees of resamples, each on the answers that its resample did not draw.

    Resamples draw units: people, answers or files. Only sums over units are stored for each tree, because
    the scores of 50 trees would take 400 bytes for each unit.

    Attributes
    ----------
    most
        (units,) the largest amount that a unit could add to a score.
    mean
        (units,) the mean amount that a unit adds, over the trees made without it; NaN if there is no such
        tree.
    held, got
        (trees,) two sums over the units that were left out: of `most`, and of the amounts that the units add
        for this tree.
    expected
        (trees,) the sum of `mean` over the units that were left out.
    squares
        (3, trees) three sums over the units that were left out: of the squared differences between score and
        `mean`, of the differences times `most`, and of the squares of `most`.
    """

    def __init__(self, n_trees: int, n_units: int) -> None:
        self.most, self.mean = np.zeros(n_units), np.full(n_units, np.nan)
        self.held, self.got, self.expected = np.zeros((3, n_trees))
        self.squares = np.zeros((3, n_trees))

    def add(self, first: int, out: NDArray[np.bool_], hits: Floats, most: Floats) -> None:
        """Add the scores on the units (people, answers or files) with the numbers `first`, `first` + 1, ...

        `out` is (trees, units), True if a tree's resample left the unit out. `hits` has the score of each
        tree on each unit, `most` the largest amount that each unit could add to a score.
        """
        end, times = first + len(most), out.sum(axis=0)
        self.most[first:end] = most
        known = (times > 0) & (most > 0)
        mean = np.divide(hits.sum(axis=0), times, out=np.full(len(most), np.nan), where=known)
        self.mean[first:end] = mean
        self.held += out @ most
        self.got += hits.sum(axis=1)
        self.expected += out @ np.where(known, mean, 0.0)
        apart = np.where(out & known, hits - mean, 0.0)
        self.squares[0] += (apart**2).sum(axis=1)
        self.squares[1] += apart @ most
        self.squares[2] += (out & known) @ most**2

    @property
    def estimate(self) -> float:
        """The mean score over trees; NaN if no tree had answers left out."""
        shares = self.got[self.held > 0] / self.held[self.held > 0]
        return float(shares.mean()) if len(shares) else math.nan


def parts_of(
    rows: NDArray[np.int32],
    weights: Floats | None,
    units: NDArray[np.int64],
    n_units: int,
    answers: NDArray[np.int64] | None,
) -> Iterator[Part]:
    """Yield all units (people, answers or files) with their comparisons, in parts of limited size.

    Parameters
    ----------
    rows, weights, units
        The comparisons, their weights (None for 1), and the unit of each; units are numbered from 0.
    n_units
        The number of units.
    answers
        (m,) the answer of each row, so that no block ends within an answer; None if each row is an answer.
    """
    order = None if (units[1:] >= units[:-1]).all() else np.argsort(units, kind="stable")

    def block(at: Any) -> Block:
        return Block(rows[at], np.ones(len(units[at])) if weights is None else weights[at], units[at], at)

    def blocks(start: int, end: int) -> Iterator[Block]:
        """Yield blocks of rows: the rows from `start` to `end`, after sorting all rows by unit."""
        while start < end:
            stop = min(end, start + _ROWS)
            if answers is not None and stop < end:
                ids = answers[stop - 1 : end] if order is None else answers[order[stop - 1 : end]]
                # Rows that are not sorted by answer are not cut, because an answer could be anywhere.
                is_sorted = (ids[1:] >= ids[:-1]).all()
                stop = stop + int(np.searchsorted(ids[1:], ids[0], side="right")) if is_sorted else end
            yield block(slice(start, stop) if order is None else order[start:stop])
            start = stop

    for first in range(0, n_units, _UNITS):
        end = min(n_units, first + _UNITS)
        ends = np.searchsorted(units, [first, end], sorter=order).tolist()
        yield Part(first, end, blocks(*ends))


def sums_left_out(
    count: int,
    times: Callable[[int], NDArray[np.integer]],
    parts: Iterable[Part],
    n_units: int,
    n_leaves: int,
    scores_of: Callable[[Block], Scores],
    progress: Progress | None = None,
) -> LeftOut:
    """Return the scores of trees of resamples on the answers that were not drawn, for at most 50 resamples.

    Parameters
    ----------
    count
        The number of resamples.
    times
        A function that returns how often each unit was drawn, given the number of the resample.
    parts
        All units with their comparisons.
    n_units, n_leaves
        The number of units, and of leaves of the trees.
    scores_of
        A function that takes a block and returns another function. The latter takes the number of a tree and
        the indices of comparisons in the block. It returns the scores of these comparisons, and is called on
        several threads.
    progress
        A callable that receives the completed fraction in [0, 1], or None.
    """
    count = min(count, JUDGED)
    # A bit for each tree and unit: 1 if the tree's resample did not draw the unit.
    left_out = np.zeros(((count + 7) // 8, n_units), dtype=np.uint8)
    for at in range(count):
        left_out[at // 8] |= (times(at) == 0).astype(np.uint8) << (at % 8)
    sums = LeftOut(count, n_units)
    # For quadruplets, the score of a tree takes a matrix of pairs of leaves on each thread.
    threads = min(count, _ordhc.n_threads(), max(1, _MATRICES // (8 * n_leaves**2)))
    for part in parts:
        own = left_out[:, part.first : part.end]
        out = np.unpackbits(own, axis=0, count=count, bitorder="little").astype(bool)
        most, hits = np.zeros(part.end - part.first), np.zeros(out.shape)
        for block in part.blocks:
            some, codes = np.unique(block.units - part.first, return_inverse=True)
            codes = codes.ravel()
            # Usually the block has all units of the part. A slice avoids copies of large arrays.
            where = slice(None) if len(some) == len(most) else some
            most[where] += np.bincount(codes, block.weights)
            got = partial(_got, block, codes, out[:, where], scores_of(block))
            for at, values in enumerate(_on_threads(got, count, threads)):
                hits[at, where] += values
            if progress is not None and len(block.units):
                progress(min(1.0, (part.first + int(some[-1]) + 1) / n_units))
        sums.add(part.first, out, hits, most)
    return sums


def _got(
    block: Block, codes: NDArray[np.intp], out: NDArray[np.bool_], scores: Scores, at: int
) -> NDArray[np.float64]:
    """Return the score of tree `at` on each unit of the block that its resample did not draw.

    `codes` has the unit of each row. `out` is (trees, units), True if a tree's resample left the unit out.
    """
    left = np.flatnonzero(out[at][codes])
    values = block.weights[left] * scores(at, left)
    return np.bincount(codes[left], values, out.shape[1]).astype(np.float64, copy=False)


def _on_threads(work: Callable[[int], Floats], count: int, threads: int) -> list[Floats]:
    """Return `work(0)` to `work(count - 1)`, computed on several threads."""
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            try:
                found = pool.map(work, range(count))
            except RuntimeError:
                # No thread can be started, so everything is computed on this thread.
                found = map(work, range(count))
            return list(found)
    return [work(at) for at in range(count)]


def interval_left_out(estimate: float, sums: LeftOut, z: float) -> tuple[float, float]:
    """Return the interval of the score of trees of resamples on answers that were not drawn.

    The variance is the sum of two parts. The first is the variance over units of the mean score of each unit
    by the trees made without it. The second is the variance over trees on the same units, multiplied by the
    measured factor `SMOOTHED`, because `estimate` is a mean over many trees.

    Parameters
    ----------
    estimate
        The score.
    sums
        The scores of single trees, by `sums_left_out`.
    z
        The quantile of the normal distribution.

    Returns
    -------
    low, high
        NaN if there are fewer than five units or ten resamples.
    """
    known = ~np.isnan(sums.mean)
    mean, most = sums.mean[known], sums.most[known]
    if len(sums.most) < FEWEST_UNITS or len(sums.held) < FEWEST_RESAMPLES or math.isnan(estimate):
        return math.nan, math.nan
    count, held = len(most), sums.held
    if count < FEWEST_UNITS or not held.all():
        return math.nan, math.nan
    over, whole = float(mean.sum() / most.sum()), float(most.sum())
    of_units = float((((mean - over * most) / whole) ** 2).sum()) * count / (count - 1)
    # `apart`: the score of each tree minus the mean score of other trees on the same units. `chance`: the
    # part of the variance of `apart` that is due to the choice of units.
    apart = (sums.got - sums.expected) / held
    rest = sums.squares[0] - 2 * apart * sums.squares[1] + apart**2 * sums.squares[2]
    chance = float((rest / held**2).mean())
    of_trees = SMOOTHED * max(float(np.var(apart, ddof=1)) - chance, 0.0)
    return share_about(estimate, math.sqrt(of_units + of_trees), count - 1, count, z)
