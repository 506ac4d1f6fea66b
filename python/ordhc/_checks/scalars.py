"""Checks of numbers, words, names, paths and settings."""

import math
import numbers
import operator
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

import numpy as np

from ordhc._checks.quoting import quoted
from ordhc.errors import InputError


def whole(what: str, value: Any, *, at_least: int, at_most: int = 2**63 - 1) -> int:
    number = as_int(value)
    if number is None:
        raise InputError(f"{what} = {quoted(value)} is not a whole number")
    if not at_least <= number <= at_most:
        limit = f"below {at_least}" if number < at_least else f"above {at_most}"
        raise InputError(f"{what} = {quoted(number)} is {limit}")
    return number


def as_int(value: Any) -> int | None:
    """Return a whole number of any type as int; None for all other values, bools included."""
    if isinstance(value, np.ma.MaskedArray):
        return None
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iuf":
        value = value[()]
    if isinstance(value, bool | np.bool_):
        return None
    with suppress(Exception):
        if isinstance(value, numbers.Integral):
            return operator.index(value)
        if isinstance(value, numbers.Real):
            found: Any = value
            return int(found) if float(found).is_integer() and int(found) == found else None
    return None


def seed(value: Any, what: str = "seed") -> int:
    return whole(what, value, at_least=0, at_most=2**64 - 1)


def number(
    what: str,
    value: Any,
    *,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    open_ends: bool = False,
) -> float:
    """Return `value`, a finite number within the limits, as float; `open_ends` excludes both limits."""
    if isinstance(value, np.ndarray) and value.ndim == 0 and not isinstance(value, np.ma.MaskedArray):
        value = value[()]
    found = math.nan
    if not isinstance(value, bool | np.bool_) and isinstance(value, numbers.Real):
        with suppress(Exception):
            found = float(value)
    if not math.isfinite(found):
        raise InputError(f"{what} = {quoted(value)} is not a finite number")
    if not at_least <= found <= at_most or (open_ends and found in (at_least, at_most)):
        limits = f"{at_least:g}..{at_most:g}"
        raise InputError(f"{what} = {quoted(value)} is outside {limits}{' (both excluded)' * open_ends}")
    return found


def flag(what: str, value: Any) -> bool:
    if isinstance(value, bool | np.bool_) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise InputError(f"{what} = {quoted(value)} is neither True nor False")


def choice(what: str, value: Any, allowed: Collection[str]) -> str:
    if isinstance(value, str) and value in allowed:
        return str(value)
    raise InputError(f"{what} is {quoted(value)}, not one of {', '.join(allowed)}")


def callback(what: str, value: Any) -> Callable[[float], None] | None:
    """Return `value`, a callable; None for None and False.

    True is an error, because functions that accept True replace it by the function of a progress bar before
    this check.
    """
    if value is None or value is False:
        return None
    if not callable(value):
        rule = "True, False or a callable, which receives the completed fraction in [0, 1]"
        raise InputError(f"{what} = {quoted(value)} must be {rule}")
    found: Callable[[float], None] = value
    return found


def text(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what} is {quoted(value)}, not a string")
    try:
        # `encode` finds lone surrogates. `decode` finds code points above U+10FFFF, which `encode` accepts.
        value.encode().decode()
    except UnicodeError:
        raise InputError(f"{what} is {quoted(value)}, which is not valid Unicode") from None
    return str(value)


def listed(what: str, given: Any) -> list[Any]:
    try:
        if not isinstance(given, str | bytes | bytearray):
            return list(given)
    except MemoryError:
        raise
    except Exception:
        pass
    raise InputError(f"{what} is {quoted(given)}; give a list")


def words(what: str, given: Any) -> list[str]:
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
