"""How often somebody may do something."""

import time

__all__ = ["Limit"]

#: Addresses that are kept.
_MOST = 20_000


class Limit:
    """So many times a minute for each address, and a number of times at once."""

    def __init__(self, per_minute: float, at_once: float) -> None:
        self._rate, self._most = per_minute / 60, at_once
        self._left: dict[str, tuple[float, float]] = {}

    def allows(self, address: str, cost: float = 1.0) -> bool:
        """Whether somebody may once more; it counts if so."""
        now = time.monotonic()
        left, at = self._left.pop(address, (self._most, now))
        left = min(self._most, left + (now - at) * self._rate)
        is_fine = left >= cost
        self._left[address] = (left - cost if is_fine else left, now)
        while len(self._left) > _MOST:
            # Whoever has done nothing for longest.
            del self._left[next(iter(self._left))]
        return is_fine
