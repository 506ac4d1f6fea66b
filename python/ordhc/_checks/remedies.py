"""Errors of memory that name a way out."""

from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import ParamSpec, TypeVar

__all__ = ["remedied"]

P = ParamSpec("P")
T = TypeVar("T")


class remedied:  # noqa: N801 (used like a function)
    """Add what to do instead to a MemoryError of a block or a function, unless its message names a remedy.

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
        # A wrapper of contextlib would be the frame that warnings point at.
        @wraps(work)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            with self:
                return work(*args, **kwargs)

        return called
