"""Check the argument `dissimilarity` of public functions; warn if dissimilarities look like similarities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc._checks.matrices import leaves_of_condensed
from ordhc._checks.scalars import flag
from ordhc.errors import InputError, warn


def is_dissimilarity(value: Any, call: str) -> bool:
    """Return the argument `dissimilarity` of a public function, after a check that it was given.

    `call` is the call without this argument, for the message, such as ``linkage(S, "average")``.
    """
    if value is None:
        raise InputError(
            f"say what numbers mean: {call[:-1]}, dissimilarity=True) if larger numbers mean farther apart, "
            "dissimilarity=False if larger numbers mean more alike"
        )
    return flag("dissimilarity", value)


def check_dissimilarities(values: NDArray[Any], any_negative: bool = True, *, squared: bool) -> None:
    """Warn if a matrix of dissimilarities looks like similarities: negative values, or a large diagonal.

    `any_negative` is False if the caller knows that no value is negative. `squared` is True if the linkage
    squares dissimilarities. Then a negative value is an error, because its square is positive.
    """
    text = None
    at, least = _least(values) if any_negative else (0, 0.0)
    if least < 0 and least < -1e-9 * max(float(values.max()), -least):
        place = _place(values, at)
        text = f"the dissimilarity of leaves {place[0]} and {place[1]} is negative, {least:.6g}"
        if squared:
            raise InputError(f"{text}, but this linkage squares dissimilarities: {_REMEDY}", leaves=[place])
    elif values.ndim == 2 and len(values) > 2:
        diagonal = np.diagonal(values)
        if np.isfinite(diagonal).all() and diagonal.min() > 0 and (diagonal >= values.max(axis=1)).all():
            text = f"the diagonal is the largest of each row ([0, 0] is {diagonal[0]:.6g})"
    if text is not None:
        warn(f"{text}: the matrix looks like similarities, but is read as dissimilarities: {_REMEDY}")


_REMEDY = "give dissimilarity=False for similarities, or S.max() - S"


def _least(values: NDArray[Any]) -> tuple[int, float]:
    if not values.size or not values.min() < 0:
        return 0, 0.0
    if values.ndim == 2:
        values = values.copy()
        np.fill_diagonal(values, 0)
    at = int(values.argmin())
    return at, float(values.ravel()[at])


def _place(values: NDArray[Any], at: int) -> tuple[int, int]:
    """Return the two leaves whose dissimilarity is at flat index `at` of a square or condensed matrix."""
    if values.ndim == 2:
        return at // len(values), at % len(values)
    n = leaves_of_condensed(len(values))
    row = int(np.searchsorted(np.cumsum(np.arange(n - 1, 0, -1)), at, side="right"))
    return row, at - (n * (n - 1) // 2 - (n - row) * (n - row - 1) // 2) + row + 1
