"""Check matrices of (dis)similarities, and return them as arrays of a type that the Rust crate reads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc._checks.arrays import array, numbers_of
from ordhc.errors import InputError


def matrix(S: ArrayLike) -> NDArray[Any]:
    """Return a matrix of (dis)similarities as a C-contiguous array of a type that the Rust crate reads.

    The shape is (n, n) or (n(n-1)/2,). The types are int32, int64, float32 and float64.
    """
    if (
        type(S) is np.ndarray
        and S.ndim == 1
        and S.dtype == np.float64
        and S.flags.c_contiguous
        and S.flags.aligned
    ):
        return S
    values = array("the matrix", S)
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[0] != values.shape[1]):
        hint = ": for vectors, one row per leaf, use ordhc.cluster(X, similarity='euclidean', linkage='ward')"
        raise InputError(
            f"the matrix has shape {values.shape}; (n, n) or a condensed vector is needed"
            + hint * (values.ndim == 2)
        )
    if values.dtype.kind in "iub":
        if values.dtype.kind == "u" and values.dtype.itemsize == 8:
            _check_unsigned(values)
        small = values.dtype.itemsize < 4 or values.dtype == np.int32
        values = values.astype(np.int32 if small else np.int64, copy=False)
    elif values.dtype.kind in "UT":
        raise InputError(f"the matrix has text ({values.dtype}), not numbers")
    elif values.dtype not in (np.float32, np.float64):
        values = numbers_of("the matrix", values)
    return np.ascontiguousarray(values)


def _check_unsigned(values: NDArray[Any]) -> None:
    limit = np.iinfo(np.int64).max
    if not values.size or values.max() <= limit:
        return
    above = values > limit
    if values.ndim == 2:
        np.fill_diagonal(above, False)
    places = np.argwhere(above)
    if len(places):
        place = tuple(places[0].tolist())
        reason = f"the value at {list(place)} is {values[place]}; the largest whole number is 2^63 - 1"
        raise InputError(reason, leaves=[place] if len(place) == 2 else None)


def overwritable(S: ArrayLike) -> NDArray[np.float64]:
    """Return `S` itself, after a check that it is a writable array that the Rust crate can overwrite."""
    fine = isinstance(S, np.ndarray) and S.dtype == np.float64 and S.dtype.isnative
    if not (fine and S.flags.c_contiguous and S.flags.writeable and S.flags.aligned):  # type: ignore[union-attr]
        found = f"{type(S).__name__} of {S.dtype}" if isinstance(S, np.ndarray) else type(S).__name__
        raise InputError(
            f"overwrite=True needs a writable, C-contiguous array of float64, not this {found}: "
            "give np.array(S, dtype=np.float64)"
        )
    return matrix(S)


def leaves_of_condensed(length: int) -> int:
    """Return n for a condensed vector of n(n-1)/2 values; raise `InputError` for other lengths."""
    n = (1 + math.isqrt(1 + 8 * length)) // 2
    if n * (n - 1) // 2 != length:
        raise InputError(f"a condensed vector has n(n-1)/2 values; {length} is no such number")
    return n


def square(values: NDArray[Any]) -> NDArray[Any]:
    """Return (dis)similarities as an (n, n) matrix; a condensed vector gets zeros on the diagonal."""
    if values.ndim == 2:
        return values
    n = leaves_of_condensed(len(values))
    square = np.zeros((n, n), dtype=values.dtype)
    upper = np.triu_indices(n, 1)
    square[upper] = values
    square.T[upper] = values
    return square
