"""Score trees of resamples on the answers that were not drawn, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.evaluate.intervals import FEWEST_UNITS, share_about

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
#: Workers score parts of the units in parallel. There are `_PARTS` parts; fewer if they would have fewer rows
#: than `_ROWS_OF_PART`; more if they would have more units than `_UNITS`. Parts depend on the data only, so
#: that results do not depend on the number of workers.
_PARTS, _ROWS_OF_PART = 16, 1 << 14

Floats = NDArray[np.float64]
#: Takes the number of a tree and the indices of comparisons in a `Block`; returns the tree's score on each.
Scores = Callable[[int, NDArray[np.int64]], "Floats | NDArray[np.bool_]"]


@dataclass(frozen=True)
class Block:
    """A block of comparisons, with all rows of each answer.

    `rows` (m, w) has the leaves of each comparison, `weights` (m,) its weight, and `units` (m,) its unit: a
    person, an answer or a file. `at` has the indices of the rows in the data in memory; None if the
    comparisons are read from files.
    """

    rows: NDArray[np.int32]
    weights: Floats
    units: NDArray[np.int64]
    at: NDArray[np.int64] | slice | None = None


@dataclass(frozen=True)
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
    held
        (trees,) the sum of `most` over the units that the tree's resample left out.
    got
        (trees,) the sum over the same units of the amounts that they add to this tree's score.
    expected
        (trees,) the sum of `mean` over the same units.
    squares
        (3, trees) three sums over the same units. With d, the amount that a unit adds minus its `mean`: the
        sums of d squared, of d times `most`, and of `most` squared.
    """

    most: Floats
    mean: Floats
    held: Floats
    got: Floats
    expected: Floats
    squares: Floats

    @classmethod
    def of(cls, out: NDArray[np.bool_], hits: Floats, most: Floats) -> LeftOut:
        """Return the sums of the scores of trees on units (people, answers or files).

        `out` is (trees, units), True if a tree's resample left the unit out. `hits` is (trees, units), the
        amount that each unit adds to the score of each tree; 0 where `out` is False. `most` is (units,), the
        largest amount that each unit could add.
        """
        times = out.sum(axis=0)
        known = (times > 0) & (most > 0)
        mean = np.divide(hits.sum(axis=0), times, out=np.full(len(most), np.nan), where=known)
        apart = np.where(out & known, hits - mean, 0.0)

        # Not a product of matrices, because BLAS gives other last bits with another number of threads.
        over_units = partial(np.einsum, "tu,u->t")
        squares = [(apart**2).sum(axis=1), over_units(apart, most), over_units(out & known, most**2)]
        held, expected = over_units(out, most), over_units(out, np.where(known, mean, 0.0))
        return cls(most, mean, held, hits.sum(axis=1), expected, np.stack(squares))

    @classmethod
    def joined(cls, parts: Sequence[LeftOut]) -> LeftOut:
        most, mean = (np.concatenate([getattr(part, name) for part in parts]) for name in ("most", "mean"))
        sums = (sum(getattr(part, name) for part in parts) for name in ("held", "got", "expected", "squares"))
        return cls(most, mean, *sums)

    @property
    def estimate(self) -> float:
        shares = self.got[self.held > 0] / self.held[self.held > 0]
        return float(shares.mean()) if len(shares) else math.nan


@dataclass(frozen=True)
class Parts:
    """All units (people, answers or files) with their comparisons, in parts of limited size.

    `weights` is None for weights of 1. `units` has the unit of each row, from 0 to `n_units` - 1. `answers`
    (m,) has the answer of each row, so that no block ends within an answer; None if each row is an answer.
    """

    rows: NDArray[np.int32]
    weights: Floats | None
    units: NDArray[np.int64]
    n_units: int
    answers: NDArray[np.int64] | None

    @cached_property
    def _order(self) -> NDArray[np.int64] | None:
        is_sorted = (self.units[1:] >= self.units[:-1]).all()
        return None if is_sorted else np.argsort(self.units, kind="stable")

    @cached_property
    def _are_mixed(self) -> bool:
        """True if an answer has rows of several units. Then all rows are one block of one part."""
        if self.answers is None:
            return False
        of_answers = np.empty(int(self.answers.max(initial=-1)) + 1, dtype=np.int64)
        of_answers[self.answers] = self.units
        return bool((of_answers[self.answers] != self.units).any())

    @cached_property
    def _size(self) -> int:
        if self._are_mixed:
            return max(1, self.n_units)
        count = min(_PARTS, max(1, len(self.units) // _ROWS_OF_PART))
        return min(_UNITS, max(1, -(-self.n_units // count)))

    def __len__(self) -> int:
        return -(-self.n_units // self._size)

    def units_of(self, number: int) -> slice:
        return slice(number * self._size, min(self.n_units, (number + 1) * self._size))

    def blocks(self, number: int) -> Iterator[Block]:
        """Yield blocks with all comparisons of a part."""
        order, units = self._order, self.units_of(number)
        start, end = np.searchsorted(self.units, [units.start, units.stop], sorter=order).tolist()
        while start < end:
            stop = end if self._are_mixed else min(end, start + _ROWS)
            if self.answers is not None and stop < end:
                ids = self.answers[slice(stop - 1, end) if order is None else order[stop - 1 : end]]
                # If rows are not sorted by answer, do not cut them: the rows of an answer can be far apart.
                is_sorted = (ids[1:] >= ids[:-1]).all()
                stop = stop + int(np.searchsorted(ids[1:], ids[0], side="right")) if is_sorted else end
            at = slice(start, stop) if order is None else order[start:stop]
            weights = np.ones(stop - start) if self.weights is None else self.weights[at]
            yield Block(self.rows[at], weights, self.units[at], at)
            start = stop


def bits_left_out(count: int, times: Callable[[int], NDArray[np.integer]], n_units: int) -> NDArray[np.uint8]:
    """Return packed flags for each tree and unit: 1 if the tree's resample did not draw the unit.

    `times` takes the number of a resample, and returns how often each unit (person, answer or file) was
    drawn. The result is (ceil(count / 8), n_units); bit i of row k is for tree 8 k + i.
    """
    bits = np.zeros(((count + 7) // 8, n_units), dtype=np.uint8)
    for at in range(count):
        bits[at // 8] |= (times(at) == 0).astype(np.uint8) << (at % 8)
    return bits


def sums_of_part(
    units: slice,
    blocks: Iterable[Block],
    count: int,
    bits: NDArray[np.uint8],
    scores_of: Callable[[Block], Scores],
) -> LeftOut:
    """Return the scores of `count` trees on the units of a part that their resamples did not draw.

    `blocks` have all comparisons of `units`. `bits` is the result of `bits_left_out` for these units.
    `scores_of` takes a block and returns a function. This function takes the number of a tree and the indices
    of comparisons in the block, and returns the scores of these comparisons. The returned function is called
    on several threads.
    """
    out = np.unpackbits(bits, axis=0, count=count, bitorder="little").astype(bool)
    most, hits = np.zeros(units.stop - units.start), np.zeros(out.shape)
    for block in blocks:
        some, codes = np.unique(block.units - units.start, return_inverse=True)
        codes = codes.ravel()
        # Usually the block has all units of the part. A slice avoids copies of large arrays.
        where = slice(None) if len(some) == len(most) else some
        most[where] += np.bincount(codes, block.weights)
        got = partial(_got, block, codes, out[:, where], scores_of(block))
        for at, values in enumerate(_on_threads(got, count)):
            hits[at, where] += values
    return LeftOut.of(out, hits, most)


def _got(
    block: Block, codes: NDArray[np.intp], out: NDArray[np.bool_], scores: Scores, at: int
) -> NDArray[np.float64]:
    left = np.flatnonzero(out[at][codes])
    values = block.weights[left] * scores(at, left)
    return np.bincount(codes[left], values, out.shape[1]).astype(np.float64, copy=False)


def _on_threads(work: Callable[[int], Floats], count: int) -> list[Floats]:
    threads = min(count, _ordhc.n_threads())
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            try:
                found = pool.map(work, range(count))
            except RuntimeError:
                # If no thread can be started, compute everything on this thread.
                found = map(work, range(count))
            return list(found)
    return [work(at) for at in range(count)]


def interval_left_out(estimate: float, sums: LeftOut, z: float) -> tuple[float, float]:
    """Return the interval of the score of trees of resamples on answers that were not drawn.

    The variance is the sum of two parts. The first is the variance over units of the mean score of each unit
    by the trees made without it. The second is the variance over trees on the same units, multiplied by the
    measured factor `SMOOTHED`, because `estimate` is a mean over many trees.

    `z` is the quantile of the normal distribution. The ends of the interval are NaN if there are fewer than
    five units or ten resamples.
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
    # Each tree is scored on the units (people, answers or files) that its resample left out. `apart`: the
    # score of each tree, minus the mean score of all trees on these units. `chance`: the part of the variance
    # of `apart` that is due to the choice of units.
    apart = (sums.got - sums.expected) / held
    rest = sums.squares[0] - 2 * apart * sums.squares[1] + apart**2 * sums.squares[2]
    chance = float((rest / held**2).mean())
    of_trees = SMOOTHED * max(float(np.var(apart, ddof=1)) - chance, 0.0)
    return share_about(estimate, math.sqrt(of_units + of_trees), count - 1, count, z)
