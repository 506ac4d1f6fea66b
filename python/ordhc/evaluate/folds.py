"""Scores of trees on held-out answers, with intervals that cover the variation between data sets."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.evaluate.intervals import FEWEST_UNITS, about, share_about

__all__ = ["Result", "Score", "Sums", "chosen_within", "difference", "left_out", "score"]

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Each fold is left out together with each of this number of next folds: with five folds, with all others.
NEIGHBOURS = 2


def left_out(n_folds: int) -> list[tuple[int, ...]]:
    """Return the folds that trees do without: each fold alone, then pairs of folds.

    Trees without a pair of folds show how much a fold matters for the trees of the others. Two folds have no
    pairs, because nothing would be left to make a tree from.

    Examples
    --------
    >>> left_out(3)
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    """
    single = [(fold,) for fold in range(n_folds)]
    if n_folds < 3:
        return [*single]
    pairs = {
        tuple(sorted((fold, (fold + step) % n_folds))) for fold in range(n_folds) for step in (1, NEIGHBOURS)
    }
    return [*single, *sorted(pair for pair in pairs if pair[0] != pair[1])]


@dataclass(frozen=True)
class Sums:
    """The score of a method, by unit: a person, or a question.

    Attributes
    ----------
    part
        (u,) the fold of each unit.
    most
        (u,) the most that its answers could add to the score.
    got
        (u,) what they add by the tree that is made without the unit's fold.
    without
        (folds, u) the same by the tree that is made without that fold, too; NaN where there is no such tree.
    """

    part: Numbers
    most: Floats
    got: Floats
    without: Floats


@dataclass(frozen=True)
class Result:
    """The scores of the trees of a method: satisfied and revenue, with seconds and chance.

    `answers` is the share of whole answers that are predicted, and `answers_chance` its expected value for
    random guesses; None and NaN for scans.
    """

    satisfied: Sums
    revenue: Sums
    seconds: float
    chance: float
    answers: Sums | None = None
    answers_chance: float = math.nan


@dataclass(frozen=True)
class Score:
    """A score, its standard error, and the ends of its 95% interval, NaN where they aren't known."""

    value: float
    error: float
    low: float
    high: float


def score(sums: Sums, *, is_share: bool) -> Score:
    """Return the score over all answers, and its interval.

    The variance has two parts. The first is the variance over units with fixed trees: the standard error of
    a ratio of sums over units (Cochran 1977, chapter 6). The second is the variance over trees, because
    other data would give other trees. A jackknife over folds estimates it: how much does the score on the
    other folds change if their trees are made without this fold, too? Changes compare the same units, so
    that differences between units cancel. Changes that belong to a single pair of folds are noise, and are
    subtracted. The degrees of freedom are those of Satterthwaite (1946).

    Parameters
    ----------
    sums
        The sums of a method.
    is_share
        True for scores between 0 and 1, whose interval is Wilson's for the number of answers that have this
        standard error; otherwise it is symmetric.
    """
    value, error, freedom, count = _spread(sums)
    if not is_share:
        return Score(value, error, *about(value, error, freedom))
    return Score(value, error, *share_about(value, error, freedom, count))


def difference(one: Sums, other: Sums) -> Score:
    """Return by how much one score is higher than the other, paired by unit on the same folds."""
    both = Sums(one.part, one.most, one.got - other.got, one.without - other.without)
    value, error, freedom, _ = _spread(both)
    return Score(value, error, *about(value, error, freedom))


def _spread(sums: Sums) -> tuple[float, float, float, int]:
    """Return the score, its standard error, degrees of freedom (0 if unknown), and the number of units."""
    has_some = sums.most > 0
    most, got = sums.most[has_some], sums.got[has_some]
    without = sums.without[:, has_some]
    count, whole = len(most), float(most.sum())
    value = float(got.sum()) / whole if whole else math.nan
    known = ~np.isnan(without)
    folds = np.flatnonzero(known.any(axis=1))
    # Only pairs of folds show how trees vary, unless the folds are the units.
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
    """Return the variance of a score over the trees that other data would have given.

    Parameters
    ----------
    part, most
        (u,) folds of units, and the most that they could add.
    changes
        (folds, u) what units add less by trees that do without that fold, too; NaN where there are none.
    """
    n_folds = len(changes)
    pairs = [(lost, fold) for lost in range(n_folds) for fold in range(n_folds)]
    pairs = [(lost, fold) for lost, fold in pairs if not np.isnan(changes[lost, part == fold]).any()]
    pairs = [(lost, fold) for lost, fold in pairs if lost != fold and (part == fold).any()]
    values = np.array([changes[lost, part == fold].sum() / most[part == fold].sum() for lost, fold in pairs])
    lost, fold = np.array(pairs).T
    # Split the changes into the effect of losing a fold, the effect on a fold, and a residual. The residual
    # is noise of single trees: it adds to the changes of all folds, but hardly to the score.
    design = np.zeros((len(pairs), 2 * n_folds))
    design[np.arange(len(pairs)), lost] = design[np.arange(len(pairs)), n_folds + fold] = 1.0
    fitted, _, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    free = len(pairs) - int(rank)
    accidents = float(((values - design @ fitted) ** 2).sum()) / free if free else 0.0
    of_fold = np.bincount(lost, values, n_folds) / np.bincount(lost, minlength=n_folds)
    systematic = float(np.var(of_fold, ddof=1)) - accidents * n_folds / len(pairs)
    return _share_of_changes(n_folds) * max(systematic, 0.0) + accidents / n_folds


def _share_of_changes(n_folds: int) -> float:
    """Return the ratio of the score's variance to the variance of the changes when trees lose a fold.

    To first order (the influence function), the value of a tree is the mean of the values of its folds. The
    score is then the mean over all folds, and each change is a contrast between folds.
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
    """Return the score of a method that is chosen without the answers on which it is scored.

    For each fold, the method is chosen by the other folds, with trees that were made from neither; then its
    tree is scored on the fold.

    Parameters
    ----------
    methods
        The score by which a method is chosen, of each.
    choose
        Which one is taken, given the scores.
    scores
        The score that is returned, of each.

    Returns
    -------
    Sums
        Or None where there are too few folds.
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
