"""Errors that stop a judge. All earlier replies are kept in the cache."""

from ordhc.errors import PluginError, StoppedError


class JudgeError(PluginError):
    """The judge cannot continue; the message gives the reason and a remedy."""


class BudgetError(JudgeError, StoppedError):
    """The budget is spent.

    Attributes
    ----------
    calls, tokens
        The numbers of calls and tokens that were spent.
    """

    def __init__(self, message: str, calls: int = 0, tokens: int = 0) -> None:
        super().__init__(message)
        self.calls = calls
        self.tokens = tokens


class KeyRefusedError(JudgeError):
    """The server rejects the key or the account."""
