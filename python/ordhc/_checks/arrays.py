"""Checks of arrays: integers, floats, labels."""

import numbers
import sys
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc._checks.quoting import quoted
from ordhc._checks.scalars import as_int
from ordhc.errors import InputError


def array(what: str, values: Any, *, also: str = "") -> NDArray[Any]:
    """Return `values` as a NumPy array, aligned and in native byte order.

    The elements are bools, integers, floats, text or objects. `also` has NumPy's letters for further kinds:
    "c" complex, "M" dates, "m" durations, "S" bytes, "V" records.
    """
    if isinstance(values, np.ma.MaskedArray):
        table: NDArray[Any] = unmasked(what, values)
    elif isinstance(values, np.ndarray):
        table = np.asarray(values)
    else:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                table = np.asarray(values)
        except MemoryError:
            raise
        except Exception as error:
            raise InputError(f"{what} cannot be read as an array: {quoted(str(error))}") from None
    kind = table.dtype.kind
    if kind in also:
        pass
    elif kind == "c":
        raise InputError(f"{what} holds complex numbers ({table.dtype}): Complex data not supported")
    elif kind in "Mm":
        raise InputError(f"{what} holds dates or times ({table.dtype}), not numbers")
    elif kind == "V":
        raise InputError(f"{what} holds records ({quoted(table.dtype)}), not numbers")
    elif kind == "S":
        raise InputError(f"{what} holds bytes ({table.dtype}), neither numbers nor text: decode them")
    if not table.dtype.isnative:
        table = table.astype(table.dtype.newbyteorder("="))
    if kind == "U" and np.frombuffer(table.tobytes(), dtype=np.uint32).max(initial=0) > sys.maxunicode:
        # Python cannot represent such a string: reading it raises an error or crashes.
        raise InputError(f"{what} has a character beyond U+10FFFF, the last of Unicode")
    return table if table.flags.aligned else table.copy()


def unmasked(what: str, values: "np.ma.MaskedArray[Any, Any]") -> NDArray[Any]:
    if values.dtype.names is not None:
        raise InputError(f"{what} holds records ({quoted(values.dtype)}), not numbers")
    places = np.argwhere(np.ma.getmaskarray(values))
    if len(places):
        raise InputError(f"{what}{_at(places[0])} is masked; leave out missing values")
    return np.asarray(values.data)


def _at(place: Iterable[Any]) -> str:
    index = [int(at) for at in place]
    return str(index) if index else ""


def _shaped(what: str, values: Any, shape: tuple[int, ...] | None) -> NDArray[Any]:
    table = array(what, values)
    if shape is not None and table.shape != shape:
        raise InputError(f"{what} has shape {table.shape}; {shape} is needed")
    return table


def numbers_of(what: str, values: Any, shape: tuple[int, ...] | None = None) -> NDArray[np.float64]:
    """Return `values` as a C-contiguous array of float64; NaN and infinity are kept."""
    table = _shaped(what, values, shape)
    kind = table.dtype.kind
    if kind in "UT":
        raise InputError(f"{what} must be numbers, not text such as {quoted(next(table.flat, ''))}")
    if kind == "O":
        for at, cell in enumerate(table.ravel().tolist()):
            if not isinstance(cell, numbers.Real):
                place = _at(np.unravel_index(at, table.shape))
                raise InputError(f"{what}{place} is {quoted(cell)}; {what} must be numbers")
    try:
        with np.errstate(over="ignore"):
            found = np.ascontiguousarray(table, dtype=np.float64).reshape(table.shape)
    except Exception as error:
        raise InputError(f"{what} must be numbers: {quoted(str(error))}") from None
    if kind == "f" and table.dtype.itemsize > 8:
        lost = np.argwhere(np.isinf(found) & np.isfinite(table))
        if len(lost):
            raise InputError(f"{what}{_at(lost[0])} is {table[tuple(lost[0])]}, too large for float64")
    return found


def whole_numbers(
    what: str, values: Any, shape: tuple[int, ...] | None = None, *, at_least: int | None = None
) -> NDArray[np.int64]:
    """Return `values` as a C-contiguous array of int64; floats and objects must be whole numbers."""
    if type(values) is np.ndarray and values.dtype.kind == "i" and shape is None and at_least is None:
        # A shortcut for speed: most calls pass one row.
        whole = np.ascontiguousarray(values, dtype=np.int64).reshape(values.shape)
        return whole if whole.flags.aligned else whole.copy()
    table = _shaped(what, values, shape)
    kind = table.dtype.kind
    if not table.size:
        return np.zeros(table.shape, dtype=np.int64)
    if kind not in "iufO":
        raise InputError(f"{what} of type {table.dtype} are not whole numbers")
    wrong: int | None = None
    if kind == "f":
        table = table.astype(np.float64) if table.dtype.itemsize < 8 else table
        fine = np.isfinite(table) & (table == np.floor(table)) & (np.abs(table) < 2.0**63)
        wrong = _first_false(fine)
    elif kind == "u" and table.dtype.itemsize == 8:
        wrong = _first_false(table <= np.uint64(np.iinfo(np.int64).max))
    elif kind == "O":
        found = [as_int(cell) for cell in table.ravel().tolist()]
        small = [cell is not None and -(2**63) <= cell < 2**63 for cell in found]
        wrong = None if all(small) else small.index(False)
        table = table if wrong is not None else np.array(found, dtype=np.int64).reshape(table.shape)
    if wrong is not None:
        place = np.unravel_index(wrong, table.shape)
        value = table[place]
        far = as_int(value) is not None
        reason = "is beyond 64 bits" if far else "is not a whole number"
        raise InputError(f"{what}{_at(place)} = {quoted(value)} {reason}")
    found64 = np.ascontiguousarray(table, dtype=np.int64).reshape(table.shape)
    if at_least is not None and found64.size and found64.min() < at_least:
        place = np.unravel_index(int(found64.argmin()), found64.shape)
        raise InputError(f"{what}{_at(place)} = {found64.min()} is below {at_least}")
    return found64


def _first_false(fine: NDArray[np.bool_]) -> int | None:
    return None if fine.all() else int(fine.ravel().argmin())


def labels(what: str, given: Any, n: int) -> NDArray[np.int64] | None:
    if given is None:
        return None
    table = array(what, given)
    if table.shape != (n,):
        raise InputError(f"{what} has shape {table.shape}; a label for each of {n} leaves is needed")
    return whole_numbers(what, table)
