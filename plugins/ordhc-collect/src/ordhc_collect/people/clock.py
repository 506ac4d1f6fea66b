"""A clock that nobody turns back."""

import time

__all__ = ["Clock"]


class Clock:
    """Seconds since 1970 that go on steadily, whatever becomes of the system's clock meanwhile."""

    def __init__(self) -> None:
        self._start = time.time() - time.monotonic()

    def now(self) -> float:
        """The time."""
        return self._start + time.monotonic()
