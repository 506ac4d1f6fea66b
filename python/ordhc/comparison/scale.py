"""Express weights as whole multiples of a unit, so that results do not depend on their scale and rounding."""

import math
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.rows import changed
from ordhc.comparison.units import distinct

_C = TypeVar("_C", bound=Triplets | Quadruplets)

#: The maximum number of distinct weights for which a common unit is sought. More distinct weights are
#: probably measurements, which have no unit.
MOST_WEIGHTS = 1000
#: The largest denominator of the ratio of a weight to the smallest weight.
_MOST_PARTS = 1000
#: Ratios with a smaller relative difference count as equal up to rounding.
_ROUNDING = 1e-12


def unit_of(weights: NDArray[np.float64]) -> float | None:
    """Return the unit of weights: the largest number of which all weights are multiples, up to rounding.

    `weights` are distinct, positive and ascending. The result is None if they have no unit, as for
    measurements.

    Examples
    --------
    >>> unit_of(np.array([0.1, 0.2, 0.5])), unit_of(np.array([4.0, 6.0])), unit_of(np.array([1.0, 2**0.5]))
    (0.1, 2.0, None)
    """
    if not 0 < len(weights) <= MOST_WEIGHTS:
        return None
    ratios = weights / weights[0]
    if ratios[-1] > 2**40:
        return None
    parts = 1
    for ratio in ratios.tolist():
        near = Fraction(ratio).limit_denominator(_MOST_PARTS)
        parts = math.lcm(parts, near.denominator)
        if abs(float(near) - ratio) > _ROUNDING * ratio or parts > _MOST_PARTS:
            return None
    common = np.gcd.reduce(np.rint(ratios * parts).astype(np.int64))
    return float(weights[0] * int(common) / parts)


def in_units(data: _C) -> tuple[_C, float]:
    """Divide the weights by their unit; return the comparisons with these weights, and the unit.

    The unit is the largest number of which all weights are multiples (`unit_of`). If there is no such number,
    the comparisons are unchanged, and the returned unit is 1.
    """
    weights: Any = data.weights
    if weights is None or not len(weights) or weights.max() >= 2**53:
        return data, 1.0
    unit: float | None
    if bool((weights == np.floor(weights)).all()):
        unit = float(np.gcd.reduce(weights.astype(np.int64)))
    else:
        unit = unit_of(distinct(weights[weights > 0]))
    if not unit or unit == 1:
        return data, 1.0
    return changed(data, weights=np.rint(weights / unit)), unit
