"""Warnings that name the line of whoever called ordhc."""

import sys
import warnings

from ordhc.errors import OrdhcWarning

__all__ = ["warn"]


def warn(told: str | OrdhcWarning) -> None:
    """Warn of what was given, at the line outside of this package that gave it."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("ordhc"):
        level, frame = level + 1, frame.f_back
    warnings.warn(told, OrdhcWarning, stacklevel=level)
