"""Add a remedy, such as "give fewer leaves", to the message of a MemoryError."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def with_remedy(error: MemoryError, remedy: str) -> MemoryError:
    """Return the error with a remedy (what the user can do) in its message, unless it has one already."""
    if ": " in str(error):
        return error
    return MemoryError(f"{str(error) or 'there is not enough memory'}: {remedy}")


def remedied(remedy: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that adds a remedy to each MemoryError of a function, see `with_remedy`.

    Examples
    --------
    >>> from ordhc import _ordhc
    >>> remedied("give fewer")(_ordhc.check_memory)("it", 1 << 60)
    Traceback (most recent call last):
    MemoryError: it needs 1152921504606846976 bytes (1073741824.0 GiB), more than can be allocated: give fewer
    """

    def decorate(work: Callable[P, T]) -> Callable[P, T]:
        # With a wrapper of contextlib, warnings would point at the line of contextlib.
        @wraps(work)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return work(*args, **kwargs)
            except MemoryError as error:
                raise with_remedy(error, remedy) from None

        return called

    return decorate
