"""The leases of questions; a lease reserves a question for one person until a time."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from math import inf

import numpy as np
from numpy.typing import NDArray

__all__ = ["Leases"]


class Leases:
    """The leased questions by number, each with its person and the time when the lease ends.

    Times are in seconds since 1970.
    """

    def __init__(self, leases: Mapping[int, tuple[str, float]]) -> None:
        self._leases: dict[int, tuple[str, float]] = {}
        self._of: dict[str, set[int]] = {}
        self._sorted = array("q")
        # A lower bound of the times when leases end, so that `expire` usually need not check each lease.
        self._first_end = inf
        for number, (who, until) in leases.items():
            self.add([number], who, until)

    def __len__(self) -> int:
        return len(self._leases)

    def __contains__(self, number: int) -> bool:
        return number in self._leases

    def numbers(self) -> NDArray[np.int64]:
        return np.array(self._sorted, dtype=np.int64)

    def of_person(self, who: str | None) -> list[int]:
        return [] if who is None else sorted(self._of.get(who, ()))

    def add(self, numbers: Iterable[int], who: str, until: float) -> None:
        for number in numbers:
            if number in self._leases:
                self._of[self._leases[number][0]].discard(number)
            else:
                self._sorted.insert(bisect_left(self._sorted, number), number)
            self._leases[number] = (who, until)
            self._of.setdefault(who, set()).add(number)
        self._first_end = min(self._first_end, until)

    def drop(self, numbers: Iterable[int]) -> list[int]:
        found = []
        for number in numbers:
            lease = self._leases.pop(number, None)
            if lease is None:
                continue
            found.append(number)
            del self._sorted[bisect_left(self._sorted, number)]
            self._of[lease[0]].discard(number)
        return found

    def expire(self, now: float) -> list[int]:
        if now < self._first_end:
            return []
        found = self.drop([number for number, (_, until) in self._leases.items() if until <= now])
        self._first_end = min((until for _, until in self._leases.values()), default=inf)
        return found
