"""Compute confidence intervals of shares and of ratios of sums."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: The normal quantile of a 95% interval.
Z = 1.959964
#: Smallest number of units (such as people or questions) that gives an interval.
FEWEST_UNITS = 5


def wilson(share: ArrayLike, count: ArrayLike, z: float = Z) -> NDArray[np.float64]:
    """Return intervals of shares, (2, k), within 0 and 1 (Wilson 1927).

    Examples
    --------
    >>> wilson([0.5, 1.0], [10, 10]).round(3)
    array([[0.237, 0.722],
           [0.763, 1.   ]])
    """
    share, count = np.asarray(share, dtype=np.float64), np.asarray(count, dtype=np.float64)
    scale = 1 / (1 + z * z / count)
    middle = scale * (share + z * z / (2 * count))
    half = scale * z * np.sqrt(np.maximum(share * (1 - share), 0) / count + z * z / (4 * count * count))
    # Rounding must not put a share outside of its interval.
    low, high = np.minimum(middle - half, share), np.maximum(middle + half, share)
    ends: NDArray[np.float64] = np.clip(np.stack([low, high]), 0.0, 1.0)
    return ends


def student(freedom: float, z: float = Z) -> float:
    """Return the quantile of Student's t at the probability of the normal quantile z, by default 97.5%.

    The relative error is below 0.3% from 4 degrees of freedom (Fisher & Cornish 1960).

    Examples
    --------
    >>> round(student(4), 2), round(student(10), 3), round(student(1000), 3)
    (2.77, 2.228, 1.962)
    """
    v = float(freedom)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / v ** (at + 1) for at, term in enumerate(terms))


def about(value: float, error: float, freedom: float) -> tuple[float, float]:
    if math.isnan(error):
        return math.nan, math.nan
    half = student(max(freedom, 1.0)) * error
    return value - half, value + half


def share_about(share: float, error: float, freedom: float, count: int, z: float = Z) -> tuple[float, float]:
    """Return the ends of the interval of a share, at 95% unless z is given.

    The interval is Wilson's, for the number of independent answers whose share would have the standard error
    `error`. If `error` is 0, or the share is 0 or 1, `count` is used, the number of units (such as people).
    """
    if math.isnan(error):
        return math.nan, math.nan
    varies = error > 0 and 0 < share < 1
    worth = share * (1 - share) / (error * error) if varies else float(count)
    low, high = wilson(share, worth, student(max(freedom, 1.0), z)).tolist()
    return low, high


def ratio_of_sums(over: NDArray[Any], under: NDArray[Any]) -> tuple[float, float]:
    """Return a ratio of sums over units, and its standard error (Cochran 1977, chapter 6).

    `over` and `under` are (u,): the contribution of each unit to the numerator and to the denominator, which
    is not 0. The error is NaN if there are fewer than five units.

    Examples
    --------
    >>> import numpy as np
    >>> ratio, error = ratio_of_sums(np.array([1.0, 0.0, 1.0, 1.0, 0.0]), np.ones(5))
    >>> round(ratio, 3), round(error, 3)
    (0.6, 0.245)
    """
    count, whole = len(over), float(under.sum())
    ratio = float(over.sum()) / whole
    if count < FEWEST_UNITS:
        return ratio, math.nan
    error = math.sqrt(float(((over - ratio * under) ** 2).sum()) * count / (count - 1)) / whole
    return ratio, error


def of_units(
    units: NDArray[np.int64], hits: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Return a weighted share and the two ends of its 95% interval; answers of one person are dependent.

    The standard error is computed for a ratio of sums over units such as people (`ratio_of_sums`). The
    interval is Wilson's, for the number of independent answers that would have this standard error, with
    Student's t for z. The tree that is scored is taken as fixed.

    The arguments have an entry for each answer: its unit, numbered from 0; its share, from 0 to 1; its
    weight. The ends of the interval are NaN if there are fewer than five units.
    """
    total = np.bincount(units, weights)
    sums = np.bincount(units, weights * hits)[total > 0]
    total = total[total > 0]
    share, error = ratio_of_sums(sums, total)
    count = len(total)
    return share, *share_about(share, error, count - 1, count)
