"""Limit the rate of requests from an IP address."""

import ipaddress
import time

#: Maximum number of addresses that are remembered.
_MOST = 20_000


class Limit:
    """A limit for each IP address: `per_minute` requests per minute, and bursts of up to `at_once`."""

    def __init__(self, per_minute: float, at_once: float) -> None:
        self._rate, self._most = per_minute / 60, at_once
        self._left: dict[str, tuple[float, float]] = {}

    def allows(self, address: str, cost: float = 1.0) -> bool:
        """Return True, and count the request, if the address is within its limit.

        `cost` is the number of requests for which the request counts.
        """
        now = time.monotonic()
        address = _network(address)
        left, at = self._left.pop(address, (self._most, now))
        left = min(self._most, left + (now - at) * self._rate)
        is_fine = left >= cost
        self._left[address] = (left - cost if is_fine else left, now)
        while len(self._left) > _MOST:
            # Drop the address that was inactive for longest.
            del self._left[next(iter(self._left))]
        return is_fine


def _network(address: str) -> str:
    """Return the /64 network of an IPv6 address, all of which one person can use; IPv4 stays unchanged."""
    try:
        found = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(found.ipv4_mapped or ipaddress.IPv6Network((int(found) >> 64 << 64, 64)))
