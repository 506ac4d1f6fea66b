"""Similarities and dissimilarities that are taken for each other.

A matrix says itself what it holds: leaves that are alike have like rows. If large numbers join leaves of like
rows, it holds similarities; if small numbers do, dissimilarities.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._checks.matrices import leaves_of_condensed
from ordhc.errors import InputError, warn

__all__ = ["check_dissimilarities", "is_distances", "warn_of_distances"]


def warn_of_distances(values: NDArray[Any], instead: str) -> None:
    """Warn if what is taken for similarities, (n, n) or condensed, looks like distances.

    `instead` says what to call.
    """
    why = is_distances(values)
    if why is not None:
        warn(f"the matrix looks like distances ({why}), and is taken for similarities: {instead}")


def is_distances(values: NDArray[Any]) -> str | None:
    """Why (n, n) or condensed numbers look like distances; None if they don't.

    Nothing is below 0, the diagonal is 0 if there is one, and small numbers join leaves with like rows.
    """
    if not _ordhc.looks_like_distances(values):
        return None
    where = "0 on the diagonal, none below" if values.ndim == 2 else "none below 0"
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
