"""Reports of how far long work has come."""

from collections.abc import Callable

__all__ = ["Progress", "part"]

#: Called now and then with the share that is done, from 0 to 1.
Progress = Callable[[float], None]


def part(progress: Progress | None, start: float, end: float) -> Progress | None:
    """The callback for a part of the work: its 0 to 1 is `start` to `end` of the whole."""
    if progress is None:
        return None
    return lambda done: progress(start + (end - start) * done)
