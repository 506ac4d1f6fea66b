"""The exceptions and the warning that ordhc raises."""

from ordhc._ordhc import InputError, OrdhcWarning

__all__ = ["InputError", "MissingExtraError", "OrdhcWarning", "PluginError"]


class PluginError(RuntimeError):
    """A plugin cannot be used; the message names it and says why."""


class MissingExtraError(ImportError):
    """An optional package is missing; the message says which extra to install."""

    @classmethod
    def of(cls, what: str, package: str, extra: str) -> "MissingExtraError":
        """Say that `what` needs `package`, and how to get it."""
        return cls(f'{what} needs {package}: pip install "ordhc[{extra}]"', name=package)
