"""The exceptions and the warning that ordhc raises."""

import os
import sys
import warnings
from collections.abc import Iterable

from ordhc._ordhc import InputError, InternalError, OrdhcWarning
from ordhc._version import ISSUES, __version__

__all__ = [
    "InputError",
    "InternalError",
    "MissingExtraError",
    "OrdhcWarning",
    "PluginError",
    "SkippedRowsWarning",
    "StoppedError",
    "warn",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def _with_place(
    self: InputError,
    reason: str = "",
    *,
    row: int | None = None,
    line: int | None = None,
    leaves: Iterable[Iterable[int]] | None = None,
    path: str | os.PathLike[str] | None = None,
) -> None:
    place = "" if path is None else f"{path}: "
    if line is not None:
        place = f"line {line}: " if path is None else f"{path}:{line}: "
    elif row is not None:
        place += f"row {row}: "
    ValueError.__init__(self, f"{place}{reason}")
    self.reason = reason
    self.row = None if row is None else int(row)
    self.line = None if line is None else int(line)
    self.leaves = None if leaves is None else tuple(tuple(int(leaf) for leaf in group) for group in leaves)
    self.path = None if path is None else os.fspath(path)


# The fields that an InputError is raised with, from Rust and Python; the place goes in front of the reason.
InputError.__init__ = _with_place  # type: ignore[method-assign]
for _type in (InputError, InternalError, OrdhcWarning):
    _type.__module__ = __name__


def _with_report(self: InternalError) -> str:
    return (
        f"{Exception.__str__(self)} (this is a bug in ordhc {__version__}, unless another thread changed "
        f"an array meanwhile: please report it with this traceback and what you called at {ISSUES})"
    )


# A panic in Rust arrives as the exception of this extension's copy of pyo3, whatever the function, method or
# argument it came from. It derives from BaseException there, which `except Exception` lets through.
InternalError.__bases__ = (RuntimeError,)
InternalError.__name__ = InternalError.__qualname__ = "InternalError"
InternalError.__doc__ = "A bug in ordhc; the message says how to report it."
InternalError.__str__ = _with_report  # type: ignore[method-assign, assignment]


class PluginError(RuntimeError):
    """A plugin cannot be used; the message names it and says why."""


class StoppedError(PluginError):
    """An oracle stops without a fault, for example because its budget is spent; learners keep its answers."""


class MissingExtraError(ImportError):
    """An optional package is missing; the message says which extra to install."""

    @classmethod
    def of(cls, what: str, package: str, extra: str) -> "MissingExtraError":
        """Say that `what` needs `package`, and how to get it."""
        return cls(f'{what} needs {package}: pip install "ordhc[{extra}]"', name=package)


class SkippedRowsWarning(OrdhcWarning):
    """Rows of a file were passed over.

    Attributes
    ----------
    rows
        The line (or the row, for formats without lines) of each, and what is wrong with it.
    counts
        How many rows there are of each reason.
    """

    def __init__(self, text: str, rows: list[tuple[int, str]], counts: dict[str, int] | None = None) -> None:
        super().__init__(text)
        self.rows = rows
        self.counts = {} if counts is None else counts


# Tracebacks show the names that users import, and pickles find them.
for _kind in (InputError, InternalError, OrdhcWarning):
    _kind.__module__ = __name__


def warn(message: str | OrdhcWarning) -> None:
    """Warn, at the line that has called this package, whatever lies between."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("ordhc"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, OrdhcWarning, stacklevel=level + 1)
