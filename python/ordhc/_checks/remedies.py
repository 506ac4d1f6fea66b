"""Add a remedy, such as "give fewer leaves", to the message of a MemoryError."""

from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import ParamSpec, TypeVar

__all__ = ["remedied"]

P = ParamSpec("P")
T = TypeVar("T")


class remedied:  # noqa: N801 (used like a function)
    """Add a remedy to the message of a MemoryError, unless the message already has a remedy.

    Use `remedied` as a context manager or as a decorator. `remedy` says what the user can do. In a message,
    the remedy follows ": ".

    Examples
    --------
    >>> from ordhc import _ordhc
    >>> with remedied("give fewer"):
    ...     _ordhc.check_memory("it", 1 << 60)
    Traceback (most recent call last):
    MemoryError: it needs 1152921504606846976 bytes (1073741824.0 GiB), more than can be allocated: give fewer
    """

    def __init__(self, remedy: str) -> None:
        self.remedy = remedy

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, MemoryError) and ": " not in str(error):
            message = str(error) or "there is not enough memory"
            raise MemoryError(f"{message}: {self.remedy}") from None

    def __call__(self, work: Callable[P, T]) -> Callable[P, T]:
        # With a wrapper of contextlib, warnings would point at the line of contextlib.
        @wraps(work)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            with self:
                return work(*args, **kwargs)

        return called
