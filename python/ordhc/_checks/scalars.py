"""Checks of numbers, words, names, paths and settings."""

import math
import numbers
import operator
import os
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from ordhc._checks.quoting import quoted
from ordhc.errors import InputError

__all__ = [
    "as_int",
    "callback",
    "choice",
    "flag",
    "listed",
    "number",
    "path",
    "seed",
    "settings",
    "text",
    "whole",
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


def callback(what: str, value: Any) -> Callable[[float], None] | None:
    """What can be called, or None; None for False as well.

    Raises
    ------
    InputError
        What is neither; True is only for functions that show a bar themselves.
    """
    if value is None or value is False:
        return None
    if not callable(value):
        told = "what can be called with the share that is done"
        raise InputError(f"{what} = {quoted(value)} is neither True, False nor {told}")
    found: Callable[[float], None] = value
    return found


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
    """Return text that UTF-8 can write.

    Raises
    ------
    InputError
        What is no string; half of a character (a lone surrogate); code points above U+10FFFF, which NumPy
        makes of damaged arrays.
    """
    if not isinstance(value, str):
        raise InputError(f"{what} is {quoted(value)}, not a string")
    try:
        # Code points above U+10FFFF can be encoded, but not decoded.
        value.encode().decode()
    except UnicodeError:
        raise InputError(f"{what} is {quoted(value)}, which is no Unicode text") from None
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
