"""Similarities and dissimilarities that are taken for each other.

A matrix says itself what it holds: leaves that are alike have like rows. If large numbers join leaves of like
rows, it holds similarities; if small numbers do, dissimilarities.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc._checks.matrices import leaves_of_condensed
from ordhc.errors import InputError, warn

__all__ = ["check_dissimilarities", "is_distances", "warn_of_distances"]

#: So many leaves of a matrix are looked at.
SAMPLED = 100
#: The least number of leaves of which rows say something.
FEW = 6


def warn_of_distances(values: NDArray[Any], instead: str) -> None:
    """Warn if what is taken for similarities, (n, n) or condensed, looks like distances.

    `instead` says what to call.
    """
    why = is_distances(values)
    if why is not None:
        warn(f"the matrix looks like distances ({why}), and is taken for similarities: {instead}")


def is_distances(values: NDArray[Any]) -> str | None:
    """Why (n, n) or condensed numbers look like distances; None if they don't.

    Nothing is below 0, the diagonal is 0 if there is one, and small numbers join leaves with like rows. Where
    the triangle inequality holds less of that is needed, and least if 0 stands on the diagonal only.
    """
    # What similarities mostly are is told first, in microseconds.
    square = values.ndim == 2
    if len(values) < 3 or values[:SAMPLED].min() < 0 or (square and np.diagonal(values).any()):
        return None
    sample = _sample(values)
    n = len(sample)
    if not np.isfinite(sample).all() or sample.min() < 0:
        return None
    pairs = sample[np.triu_indices(n, 1)]
    if pairs.min() == pairs.max() or not np.array_equal(sample, sample.T):
        return None
    sample /= sample.max()
    hollow = square and pairs.min() > 0
    if n == 3:
        low, middle, high = np.sort(pairs).tolist()
        found = hollow and high <= low + middle and 4 * (high - middle) < middle - low
    elif _is_metric(sample):
        found = (hollow or n >= FEW) and _likeness(sample) > (0 if hollow and n >= FEW else 0.3)
    else:
        found = n >= FEW and _likeness(sample) > max(0.3, 0.2 + 3 / n)
    if not found:
        return None
    where = "0 on the diagonal, none below" if square else "none below 0"
    return f"{where}, and the smaller the number of two leaves, the more alike are their rows"


def check_dissimilarities(values: NDArray[Any], any_negative: bool = True, *, squared: bool) -> None:
    """Warn of dissimilarities below 0 and of a diagonal of similarities; where squares lose the sign, raise.

    `any_negative` tells whether there may be any below 0.

    Raises
    ------
    InputError
        With `squared`, a number below 0, with its place.
    """
    text = None
    at, least = _least(values) if any_negative else (0, 0.0)
    if least < 0 and least < -1e-9 * max(float(values.max()), -least):
        place = _place(values, at)
        text = f"the dissimilarity of leaves {place[0]} and {place[1]} is negative, {least:.6g}"
        if squared:
            raise InputError(f"{text}, and squares lose the sign: {_TURN}", leaves=[place])
    elif values.ndim == 2 and len(values) > 2:
        diagonal = np.diagonal(values)
        if np.isfinite(diagonal).all() and diagonal.min() > 0 and (diagonal >= values.max(axis=1)).all():
            text = f"the diagonal is the largest of each row ([0, 0] is {diagonal[0]:.6g})"
    if text is not None:
        warn(f"{text}: the matrix looks like similarities, and is taken for dissimilarities: {_TURN}")


_TURN = "leave out dissimilarity=True for similarities, or give S.max() - S"


def _least(values: NDArray[Any]) -> tuple[int, float]:
    """Where the least number is, and the number; 0 if none off the diagonal is below 0."""
    if not values.size or not values.min() < 0:
        return 0, 0.0
    if values.ndim == 2:
        values = values.copy()
        np.fill_diagonal(values, 0)
    at = int(values.argmin())
    return at, float(values.ravel()[at])


def _place(values: NDArray[Any], at: int) -> tuple[int, int]:
    """The two leaves of the value at a place of the flattened matrix."""
    if values.ndim == 2:
        return at // len(values), at % len(values)
    n = leaves_of_condensed(len(values))
    row = int(np.searchsorted(np.cumsum(np.arange(n - 1, 0, -1)), at, side="right"))
    return row, at - (n * (n - 1) // 2 - (n - row) * (n - row - 1) // 2) + row + 1


def _sample(values: NDArray[Any]) -> NDArray[np.float64]:
    """The matrix of at most `SAMPLED` leaves, with 0 on the diagonal."""
    n = len(values) if values.ndim == 2 else leaves_of_condensed(len(values))
    some = np.unique(np.linspace(0, n - 1, min(n, SAMPLED)).astype(np.int64))
    if values.ndim == 2:
        sample = values[np.ix_(some, some)].astype(np.float64)
    else:
        i, j = np.triu_indices(len(some), 1)
        a, b = some[i], some[j]
        sample = np.zeros((len(some), len(some)))
        sample[i, j] = sample[j, i] = values[a * n - a * (a + 1) // 2 + b - a - 1]
    np.fill_diagonal(sample, 0)
    return sample


def _likeness(sample: NDArray[np.float64]) -> float:
    """The rank correlation, over pairs of leaves, of numbers with the unlikeness of the two rows.

    Rows are alike as far as they correlate over the other leaves, so that neither sums of rows nor units
    matter. Distances measure near 1, similarities near -1, numbers without a structure near 0.
    """
    n = len(sample)
    others = sample.sum(axis=1)[:, None] - sample
    variance = (sample**2).sum(axis=1)[:, None] - sample**2 - others**2 / (n - 2)
    # Not by BLAS, which ends the process where memory does.
    covariance = np.einsum("ik,jk->ij", sample, sample) - others * others.T / (n - 2)
    pairs = np.triu_indices(n, 1)
    spread = (variance * variance.T)[pairs]
    told = spread > 1e-18
    if told.sum() < 3:
        return 0.0
    likeness = covariance[pairs][told] / np.sqrt(spread[told])
    unlike, numbers = _ranks(-np.round(likeness, 9)), _ranks(sample[pairs][told])
    spread = (unlike**2).sum() * (numbers**2).sum()
    return float((unlike * numbers).sum() / np.sqrt(spread)) if spread else 0.0


def _is_metric(sample: NDArray[np.float64]) -> bool:
    """Whether the triangle inequality holds, not only because numbers (up to 1) are about the same."""
    if sample[np.triu_indices(len(sample), 1)].min() >= 0.5:
        return False
    return all(bool((sample <= row[:, None] + row + 1e-9).all()) for row in sample)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks less their mean, those of equal values the same."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - counts / 2 - len(values) / 2)[which.ravel()]
    return ranks
