"""Score trees on held-out answers, with intervals that cover the variation between data sets."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.evaluate.intervals import FEWEST_UNITS, about, share_about

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Each fold is left out together with each of the next two folds. With five folds these are all pairs.
NEIGHBOURS = 2


def left_out(n_folds: int) -> list[tuple[int, ...]]:
    """Return the sets of folds that are left out: each fold alone, then pairs of folds.

    A tree made without folds i and j is compared with the tree made without fold i only. The difference of
    their scores on fold i shows how much the answers of fold j change the tree. With two folds there are no
    pairs, because no answers would be left to make a tree.

    Examples
    --------
    >>> left_out(3)
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    """
    single = [(fold,) for fold in range(n_folds)]
    if n_folds < 3:
        return [*single]
    steps = range(1, NEIGHBOURS + 1)
    pairs = {tuple(sorted((fold, (fold + step) % n_folds))) for fold in range(n_folds) for step in steps}
    return [*single, *sorted(pairs)]


@dataclass(frozen=True)
class Sums:
    """The score of a method, split by unit (person or question).

    `part` (u,) has the fold of each unit, and `most` (u,) the largest amount that the unit's answers could
    add to the score. `got` (u,) has the amount that they add for the tree made without the unit's fold. Row i
    of `without` (folds, u) has the amount that they add for the tree made without the unit's fold and fold i;
    NaN if there is no such tree.
    """

    part: Numbers
    most: Floats
    got: Floats
    without: Floats


@dataclass(frozen=True)
class Result:
    """The scores of the trees of a method.

    `satisfied` is the share of answers that the trees satisfy, and `revenue` the triplet or quadruplet
    revenue of the trees, divided by its upper bound. `answers` is the share of answers that the trees
    predict, where all rows of an answer are one prediction; None for comparisons in files. `seconds` is the
    mean time to make a tree. `chance` is the expected value of `satisfied` for trees with shuffled leaves,
    and `answers_chance` that of `answers` for random guesses; NaN for comparisons in files.
    """

    satisfied: Sums
    revenue: Sums
    seconds: float
    chance: float
    answers: Sums | None = None
    answers_chance: float = math.nan


@dataclass(frozen=True)
class Score:
    """A score, its standard error, and the ends of its 95% interval; NaN if they are unknown."""

    value: float
    error: float
    low: float
    high: float


def score(sums: Sums, *, is_share: bool) -> Score:
    """Return the score over all answers, and its 95% interval.

    The variance has two parts. The first is the variance over units (people or questions) with fixed trees,
    by the formula for a ratio of sums over units (Cochran 1977, chapter 6). The second is the variance over
    trees, because other data would give other trees. A jackknife over folds estimates the second part: each
    tree is made again without one more fold. The degrees of freedom are by Satterthwaite (1946).

    If `is_share` is True, scores are between 0 and 1, and the interval is Wilson's. Its number of answers is
    the number of independent answers that would have this standard error. Other intervals are symmetric.
    """
    value, error, freedom, count = _spread(sums)
    if not is_share:
        return Score(value, error, *about(value, error, freedom))
    return Score(value, error, *share_about(value, error, freedom, count))


def difference(one: Sums, other: Sums) -> Score:
    both = Sums(one.part, one.most, one.got - other.got, one.without - other.without)
    value, error, freedom, _ = _spread(both)
    return Score(value, error, *about(value, error, freedom))


def _spread(sums: Sums) -> tuple[float, float, float, int]:
    """Return the score, its standard error, degrees of freedom (0 if unknown), and the number of units."""
    positive = sums.most > 0
    # A slice avoids copies of large arrays.
    has_some = slice(None) if positive.all() else positive
    most, got = sums.most[has_some], sums.got[has_some]
    without = sums.without[:, has_some]
    count, whole = len(most), float(most.sum())
    value = float(got.sum()) / whole if whole else math.nan
    folds = np.flatnonzero(~np.isnan(without).all(axis=1))
    # The variance over trees is estimated from trees that leave out one fold more. Without such trees, the
    # error is unknown. An exception are folds of one unit each: then only the variance over units is used.
    if count < FEWEST_UNITS or (len(folds) < 2 and count > len(without)):
        return value, math.nan, 0.0, count
    of_units = float((((got - value * most) / whole) ** 2).sum()) * count / (count - 1)
    of_trees = 0.0
    if len(folds) > 1:
        of_trees = _of_trees(sums.part[has_some], most, without - got)
    both = of_units + of_trees
    freedom = float(count - 1)
    if both > 0:
        freedom = both**2 / (of_units**2 / (count - 1) + of_trees**2 / max(len(folds) - 1, 1))
    return value, math.sqrt(both), freedom, count


def _of_trees(part: Numbers, most: Floats, changes: Floats) -> float:
    """Return the variance of a score over the trees that other data would give.

    `part` and `most` are as in `Sums`; `changes` is `Sums.without` minus `Sums.got`.
    """
    n_folds = len(changes)
    units = [np.flatnonzero(part == fold) for fold in range(n_folds)]
    whole = [most[own].sum() for own in units]
    known = {
        (lost, fold): sums.sum() / whole[fold]
        for lost in range(n_folds)
        for fold in range(n_folds)
        if lost != fold and len(units[fold]) and not np.isnan(sums := changes[lost, units[fold]]).any()
    }
    pairs, values = list(known), np.array(list(known.values()))
    lost, fold = np.array(pairs).T
    # `values`: the score on `fold` of a tree made without `fold` and `lost`, minus the score of the tree made
    # without `fold` only. Split each difference into an effect of `lost`, an effect of `fold`, and a
    # residual. The residual is the noise of single trees. In the score, a mean over trees, it nearly cancels.
    design = np.zeros((len(pairs), 2 * n_folds))
    design[np.arange(len(pairs)), lost] = design[np.arange(len(pairs)), n_folds + fold] = 1.0
    fitted, _, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    free = len(pairs) - int(rank)
    accidents = float(((values - design @ fitted) ** 2).sum()) / free if free else 0.0
    of_fold = np.bincount(lost, values, n_folds) / np.bincount(lost, minlength=n_folds)
    systematic = float(np.var(of_fold, ddof=1)) - accidents * n_folds / len(pairs)
    return _share_of_changes(n_folds) * max(systematic, 0.0) + accidents / n_folds


def _share_of_changes(n_folds: int) -> float:
    """Return the ratio of two variances: of a score, and of its changes if trees leave out one more fold.

    The ratio is a first-order approximation, in which the score of a tree is a mean over the folds from which
    the tree was made.
    """
    contrasts = np.zeros((n_folds, n_folds))
    for pair in left_out(n_folds)[n_folds:]:
        for fold, lost in (pair, pair[::-1]):
            worth = np.full(n_folds, 1 / (n_folds - 2) - 1 / (n_folds - 1))
            worth[fold], worth[lost] = 0.0, -1 / (n_folds - 1)
            contrasts[lost] += worth
    contrasts /= np.bincount(np.ravel(left_out(n_folds)[n_folds:]))[:, None]
    spread = float(np.var(contrasts, axis=0, ddof=1).sum())
    return 1 / (n_folds * spread)


def chosen_within(
    methods: Sequence[Sums], choose: Callable[[Sequence[float]], int], scores: Sequence[Sums]
) -> Sums | None:
    """Return the score of the method that nested cross-validation chooses; None if there are too few folds.

    For each fold, `choose` takes the scores of `methods` on the other folds, with trees made without this
    fold, and returns the index of a method. The result has, on this fold, the score of this method in
    `scores`. `methods` and `scores` can contain two different scores of the same methods.
    """
    part = scores[0].part
    got, without = np.zeros(len(part)), np.full(scores[0].without.shape, np.nan)
    for fold in range(len(without)):
        known = ~np.isnan(methods[0].without[fold])
        if not methods[0].most[known].sum():
            return None
        inner = [float(each.without[fold][known].sum() / each.most[known].sum()) for each in methods]
        taken = scores[choose(inner)]
        mine = part == fold
        got[mine] = taken.got[mine]
        without[:, mine] = taken.without[:, mine]
    return Sums(part, scores[0].most, got, without)
