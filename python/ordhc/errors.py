"""The exceptions and the warning that ordhc raises."""

from ordhc._ordhc import InputError, InternalError, OrdhcWarning
from ordhc._version import __version__

__all__ = [
    "InputError",
    "InternalError",
    "MissingExtraError",
    "OrdhcWarning",
    "PluginError",
    "SkippedRowsWarning",
]


def _with_report(self: InternalError) -> str:
    return (
        f"{Exception.__str__(self)} (this is a bug in ordhc {__version__}: please report it with this "
        "traceback and what you called at https://github.com/ordhc/ordhc/issues)"
    )


# A panic in Rust arrives as the exception of this extension's copy of pyo3, whatever the function, method or
# argument it came from. It derives from BaseException there, which `except Exception` lets through.
InternalError.__bases__ = (RuntimeError,)
InternalError.__name__ = InternalError.__qualname__ = "InternalError"
InternalError.__module__ = __name__
InternalError.__doc__ = "A bug in ordhc; the message says how to report it."
InternalError.__str__ = _with_report  # type: ignore[method-assign, assignment]


class PluginError(RuntimeError):
    """A plugin cannot be used; the message names it and says why."""


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
    """

    def __init__(self, text: str, rows: list[tuple[int, str]]) -> None:
        super().__init__(text)
        self.rows = rows
