"""Errors of memory that name a way out."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["remedied"]


@contextmanager
def remedied(remedy: str) -> Iterator[None]:
    """Add what to do instead to a MemoryError of the block, unless its message names a remedy.

    Examples
    --------
    >>> from ordhc import _ordhc
    >>> with remedied("give fewer"):
    ...     _ordhc.check_memory("it", 1 << 60)
    Traceback (most recent call last):
    MemoryError: it needs 1152921504606846976 bytes (1073741824.0 GiB), more than can be allocated: give fewer
    """
    try:
        yield
    except MemoryError as error:
        message = str(error) or "there is not enough memory"
        if ": " in message:
            raise
        raise MemoryError(f"{message}: {remedy}") from None
