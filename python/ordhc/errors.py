"""The exceptions and warnings of ordhc."""

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
__dir__ = __all__.copy


def _init_with_place(
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


# Rust and Python create InputErrors with the same fields. The message is the place, followed by the reason.
InputError.__init__ = _init_with_place  # type: ignore[method-assign]


def _text_with_report(self: InternalError) -> str:
    return (
        f"{Exception.__str__(self)} (this is a bug in ordhc {__version__}, unless another thread changed "
        f"an array during the call: please report it at {ISSUES} with this traceback and your call)"
    )


# pyo3 raises a panic in Rust as its own exception class, which is renamed to InternalError here. The class
# derives from BaseException, which `except Exception` does not catch, so it gets another base class here.
InternalError.__bases__ = (RuntimeError,)
InternalError.__name__ = InternalError.__qualname__ = "InternalError"
InternalError.__doc__ = "A bug in ordhc; the message says how to report it."
InternalError.__str__ = _text_with_report  # type: ignore[method-assign, assignment]


class PluginError(RuntimeError):
    """A plugin cannot be used; the message has the plugin's name and the reason."""


class StoppedError(PluginError):
    """An oracle stops without an error, for example if its budget is spent. Learners keep the answers."""


class MissingExtraError(ImportError):
    """An optional package is missing; the message says which extra to install."""

    @classmethod
    def of(cls, what: str, package: str, extra: str) -> "MissingExtraError":
        """Return the error for a missing package.

        `what` is the feature that needs `package`. `extra` is the extra of ordhc that installs the package.
        """
        return cls(f'{what} needs {package}: pip install "ordhc[{extra}]"', name=package)


class SkippedRowsWarning(OrdhcWarning):
    """Rows of a file were skipped.

    Attributes
    ----------
    rows
        For each skipped row, a pair: the number of its line, and the reason. Formats without lines have the
        number of the row.
    counts
        The number of skipped rows for each reason.
    """

    def __init__(self, text: str, rows: list[tuple[int, str]], counts: dict[str, int] | None = None) -> None:
        super().__init__(text)
        self.rows = rows
        self.counts = {} if counts is None else counts


# Tracebacks must show the names that users import, and pickles must find the classes by these names.
for _kind in (InputError, InternalError, OrdhcWarning):
    _kind.__module__ = __name__


def warn(message: str | OrdhcWarning) -> None:
    """Emit an `OrdhcWarning` that points at the line of the user's code, not at a line of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("ordhc"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, OrdhcWarning, stacklevel=level + 1)
