"""The gate for arguments: whole numbers, choices, names, labels and arrays as the engine reads them.

Public functions check what they are given here, once. What passes is of the engine's types: native, aligned,
C-contiguous, nothing masked, nothing rounded. All else is an `InputError` that names the argument, the place
and the value.
"""

import math
import numbers
import operator
import os
import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc._quoting import nearest, quoted, unknown_name
from ordhc.errors import InputError

__all__ = [
    "array",
    "as_int",
    "callback",
    "choice",
    "flag",
    "labels",
    "listed",
    "names",
    "nearest",
    "number",
    "numbers_of",
    "path",
    "quoted",
    "seed",
    "settings",
    "unknown_name",
    "text",
    "whole",
    "whole_numbers",
    "words",
]


def whole(what: str, value: Any, *, at_least: int, at_most: int = 2**63 - 1) -> int:
    """A whole number of any type, as int, that 64 bits hold.

    Raises
    ------
    InputError
        What is no whole number (bools, text, masked values, 2.5) or is outside the limits.
    """
    number = as_int(value)
    if number is None:
        raise InputError(f"{what} = {quoted(value)} is not a whole number")
    if number < at_least:
        raise InputError(f"{what} = {quoted(number)} is below {at_least}")
    if number > at_most:
        raise InputError(f"{what} = {quoted(number)} is above {at_most}")
    return number


def as_int(value: Any) -> int | None:
    """A whole number of any type as int, or None for anything else."""
    if isinstance(value, np.ma.MaskedArray):
        return None
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iuf":
        value = value[()]
    if isinstance(value, bool | np.bool_):
        return None
    try:
        if isinstance(value, numbers.Integral):
            return operator.index(value)
        if isinstance(value, numbers.Real):
            found: Any = value
            return int(found) if float(found).is_integer() and int(found) == found else None
    except Exception:
        return None
    return None


def seed(value: Any, what: str = "seed") -> int:
    """A seed: a whole number from 0 to 2^64 - 1."""
    return whole(what, value, at_least=0, at_most=2**64 - 1)


def number(
    what: str,
    value: Any,
    *,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    open_ends: bool = False,
) -> float:
    """A finite number, as float.

    Raises
    ------
    InputError
        What is no number, not finite, or outside the limits (or one of them, with `open_ends`).
    """
    if isinstance(value, np.ndarray) and value.ndim == 0 and not isinstance(value, np.ma.MaskedArray):
        value = value[()]
    found = math.nan
    if not isinstance(value, bool | np.bool_) and isinstance(value, numbers.Real):
        try:
            found = float(value)
        except Exception:
            found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{what} = {quoted(value)} is not a finite number")
    if not at_least <= found <= at_most or (open_ends and found in (at_least, at_most)):
        limits = f"{at_least:g}..{at_most:g}"
        raise InputError(f"{what} = {quoted(value)} is outside {limits}{' (both excluded)' * open_ends}")
    return found


def flag(what: str, value: Any) -> bool:
    """True or False."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise InputError(f"{what} = {quoted(value)} is neither True nor False")


def choice(what: str, value: Any, allowed: Collection[str]) -> str:
    """One of some words.

    Raises
    ------
    InputError
        Anything else, with the words that there are.
    """
    if isinstance(value, str) and value in allowed:
        return str(value)
    raise InputError(f"{what} is {quoted(value)}, not one of {', '.join(allowed)}")


def callback(what: str, value: Any) -> Any:
    """What can be called, or None."""
    if value is not None and not callable(value):
        raise InputError(f"{what} = {quoted(value)} cannot be called")
    return value


def path(value: Any, what: str = "path") -> str:
    """A path of a file as text.

    Raises
    ------
    InputError
        What is no path, bytes, and text with a NUL.
    """
    try:
        found = os.fspath(value)
    except Exception:
        found = None
    if not isinstance(found, str):
        raise InputError(f"{what} = {quoted(value)} is no path of a file")
    try:
        os.fsencode(found)
    except UnicodeEncodeError:
        found = ""
    if "\0" in found or not found:
        raise InputError(f"{what} = {quoted(value)} is no path of a file")
    return found


def text(what: str, value: Any) -> str:
    """Text that UTF-8 can write."""
    if not isinstance(value, str):
        raise InputError(f"{what} is {quoted(value)}, not a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what}, {quoted(value)}, is no Unicode text") from None
    return str(value)


def listed(what: str, given: Any) -> list[Any]:
    """The items of a list, or of anything else that is gone through; text is none.

    Raises
    ------
    InputError
        One value, text, and what fails on the way.
    """
    try:
        if not isinstance(given, str | bytes | bytearray):
            return list(given)
    except MemoryError:
        raise
    except Exception:
        pass
    raise InputError(f"{what} is {quoted(given)}; give a list")


def words(what: str, given: Any) -> list[str]:
    """Different words, at least one."""
    try:
        found = [] if isinstance(given, str | bytes) else list(given)
    except Exception:
        found = []
    if not found:
        raise InputError(f"{what} is {quoted(given)}; give a list of names")
    for at, word in enumerate(found):
        if not isinstance(word, str):
            raise InputError(f"{what}[{at}] is {quoted(word)}, not a name")
        if any(isinstance(other, str) and word == other for other in found[:at]):
            raise InputError(f"{what}[{at}], {quoted(word)}, is given twice")
    return [str(word) for word in found]


def settings(what: str, given: Any, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of something, those given over the defaults.

    Raises
    ------
    InputError
        What is no mapping, and names that there are none of.
    """
    if not isinstance(given, Mapping):
        raise InputError(f"the parameters of {what} are {quoted(given)}, not a dict")
    for name in given:
        if name not in defaults:
            known = ", ".join(defaults) or "none"
            raise InputError(f"{what} has no parameter {quoted(name)}; its parameters: {known}")
    return {**defaults, **given}


def names(given: Any, n: int | None = None) -> tuple[str, ...] | None:
    """Names of leaves: different strings, `n` of them, or None.

    Raises
    ------
    InputError
        One string, what is no string, a name twice, another number.
    """
    if given is None:
        return None
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"names must be a sequence of strings, not the {_kind(given)} {quoted(given)}")
    if isinstance(given, np.ma.MaskedArray):
        given = _unmasked("names", given)
    try:
        checked = tuple(given)
    except Exception as error:
        raise InputError(f"names cannot be read: {quoted(str(error))}") from None
    seen: dict[str, int] = {}
    for at, name in enumerate(checked):
        if not isinstance(name, str):
            raise InputError(f"names[{at}] is {quoted(name)}, not a string")
        if name in seen:
            raise InputError(f"the name {quoted(name)} occurs twice, at {seen[name]} and {at}")
        seen[name] = at
    if n is not None and len(checked) != n:
        raise InputError(f"{len(checked)} names for {n} leaves")
    return tuple(str(name) for name in checked)


def _kind(value: Any) -> str:
    return "string" if isinstance(value, str) else type(value).__name__


def array(what: str, values: Any, *, also: str = "") -> NDArray[Any]:
    """Values as an array of bools, whole numbers, floats, text or objects: native and aligned.

    Subclasses of arrays become plain arrays; what is masked, complex, bytes, records or dates is refused,
    unless NumPy's letter of its kind is in `also`.

    Raises
    ------
    InputError
        What is no array: ragged rows, masked values (with the place of the first), complex numbers, dates,
        records, and whatever fails when it is read.
    """
    if isinstance(values, np.ma.MaskedArray):
        table: NDArray[Any] = _unmasked(what, values)
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
    return table if table.flags.aligned else table.copy()


def _unmasked(what: str, values: "np.ma.MaskedArray[Any, Any]") -> NDArray[Any]:
    if values.dtype.names is not None:
        raise InputError(f"{what} holds records ({quoted(values.dtype)}), not numbers")
    places = np.argwhere(np.ma.getmaskarray(values))
    if len(places):
        raise InputError(f"{what}{_at(places[0])} is masked; leave out what is missing")
    return np.asarray(values.data)


def _at(place: Iterable[Any]) -> str:
    """A place in an array: [3], [0, 2], or nothing for a single value."""
    index = [int(at) for at in place]
    return str(index) if index else ""


def numbers_of(what: str, values: Any, shape: tuple[int, ...] | None = None) -> NDArray[np.float64]:
    """Values as a C-contiguous array of float64; not a number and infinity are kept.

    Raises
    ------
    InputError
        As `array`; text; an object that is no number (None, a missing value, a list), with its place; a
        number beyond float64; another shape.
    """
    table = array(what, values)
    if shape is not None and table.shape != shape:
        raise InputError(f"{what} has shape {table.shape}; {shape} is needed")
    kind = table.dtype.kind
    if kind in "UT":
        raise InputError(f"{what} must be numbers, not text such as {quoted(_first(table))}")
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
            raise InputError(f"{what}{_at(lost[0])} is {table[tuple(lost[0])]}, beyond double precision")
    return found


def _first(table: NDArray[Any]) -> Any:
    return table.ravel()[0] if table.size else ""


def whole_numbers(
    what: str, values: Any, shape: tuple[int, ...] | None = None, *, at_least: int | None = None
) -> NDArray[np.int64]:
    """Values as a C-contiguous array of int64; floats and objects only if they are whole.

    Raises
    ------
    InputError
        As `array`; text and bools; 2.5, NaN, infinity, and what 64 bits don't hold, with the place.
    """
    table = array(what, values)
    if shape is not None and table.shape != shape:
        raise InputError(f"{what} has shape {table.shape}; {shape} is needed")
    kind = table.dtype.kind
    if not table.size:
        return np.zeros(table.shape, dtype=np.int64)
    if kind not in "iufO":
        raise InputError(f"{what} of type {table.dtype} are no whole numbers")
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
        reason = "is beyond 64 bits" if far else "is no whole number"
        raise InputError(f"{what}{_at(place)} = {quoted(value)} {reason}")
    found64 = np.ascontiguousarray(table, dtype=np.int64).reshape(table.shape)
    if at_least is not None and found64.size and found64.min() < at_least:
        place = np.unravel_index(int(found64.argmin()), found64.shape)
        raise InputError(f"{what}{_at(place)} = {found64.min()} is below {at_least}")
    return found64


def _first_false(fine: NDArray[np.bool_]) -> int | None:
    return None if fine.all() else int(fine.ravel().argmin())


def labels(what: str, given: Any, n: int) -> NDArray[np.int64] | None:
    """A whole number for each of n leaves, (n,), or None."""
    if given is None:
        return None
    table = array(what, given)
    if table.shape != (n,):
        raise InputError(f"{what} has shape {table.shape}; a label for each of {n} leaves is needed")
    return whole_numbers(what, table)
