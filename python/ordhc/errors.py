"""The exceptions and the warning that ordhc raises."""

from ordhc._ordhc import InputError

__all__ = ["InputError", "MissingExtraError", "OrdhcWarning", "PluginError", "SkippedRowsWarning"]


class PluginError(RuntimeError):
    """A plugin cannot be used; the message names it and says why."""


class MissingExtraError(ImportError):
    """An optional package is missing; the message says which extra to install."""

    @classmethod
    def of(cls, what: str, package: str, extra: str) -> "MissingExtraError":
        """Say that `what` needs `package`, and how to get it."""
        return cls(f'{what} needs {package}: pip install "ordhc[{extra}]"', name=package)


class OrdhcWarning(UserWarning):
    """Something was passed over that the user should know of."""


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
