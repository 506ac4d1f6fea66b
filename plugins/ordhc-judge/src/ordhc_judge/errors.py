"""What stops a judge. All that was answered before is kept in the cache."""

from ordhc.errors import PluginError

__all__ = ["BudgetError", "JudgeError", "KeyRefusedError"]


class JudgeError(PluginError):
    """The judge cannot go on; the message says why, and how to go on."""


class BudgetError(JudgeError):
    """The budget is spent.

    Attributes
    ----------
    calls, tokens
        What was spent.
    """

    def __init__(self, message: str, calls: int = 0, tokens: int = 0) -> None:
        super().__init__(message)
        self.calls = calls
        self.tokens = tokens


class KeyRefusedError(JudgeError):
    """The server refuses the key, or its owner."""
