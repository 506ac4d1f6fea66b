"""How often somebody may do something."""

import ipaddress
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
        address = _network(address)
        left, at = self._left.pop(address, (self._most, now))
        left = min(self._most, left + (now - at) * self._rate)
        is_fine = left >= cost
        self._left[address] = (left - cost if is_fine else left, now)
        while len(self._left) > _MOST:
            # Whoever has done nothing for longest.
            del self._left[next(iter(self._left))]
        return is_fine


def _network(address: str) -> str:
    """Return the /64 of an IPv6 address, all of which one person has; other addresses as they are."""
    try:
        found = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(found.ipv4_mapped or ipaddress.IPv6Network((int(found) >> 64 << 64, 64)))
