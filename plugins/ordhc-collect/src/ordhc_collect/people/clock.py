"""A clock that never jumps."""

import time

__all__ = ["Clock"]


class Clock:
    """A clock in seconds since 1970 that never jumps, even if the system's clock is changed."""

    def __init__(self) -> None:
        self._start = time.time() - time.monotonic()

    def now(self) -> float:
        return self._start + time.monotonic()
