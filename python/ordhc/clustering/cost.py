"""Estimates of the time and memory of a call, before it begins."""

from typing import Any

from ordhc._checks import with_remedy
from ordhc._ordhc import check_memory
from ordhc.errors import warn

#: A call warns before it begins if its estimated processor time in seconds is more than this.
LONG = 30.0
#: Seconds of processor time. AddS similarities, which are sums over comparisons, take `_ADDS_ROW` for each
#: comparison. Other similarities take `_OTHER_ROW` for each comparison. A linkage takes `_PAIR` for each
#: pair of leaves. Measured on triplets of `datasets.planted` with 200 to 2,000 leaves.
_ADDS_ROW, _OTHER_ROW, _PAIR = 3e-8, 1e-6, 1e-8
#: Seconds of processor time of moves of subtrees. For revenue and Dasgupta's cost: `_MOVES` times n^2.6. For
#: satisfied triplets: `_SATISFIED_ROW` for each row, and `_SATISFIED_PAIR` for each pair of leaves. Each
#: restart adds the share `_RESTART` of this time.
_MOVES, _SATISFIED_ROW, _SATISFIED_PAIR, _RESTART = 3.5e-9, 7.5e-6, 4e-6, 0.3


def seconds_of_moves(objective: str, n: int, m: int, restarts: int = 0) -> float:
    """Return the approximate seconds of processor time that `refine` takes for n leaves and m comparisons.

    Examples
    --------
    >>> seconds_of_moves("revenue", 1000, 100_000) < 1 < seconds_of_moves("satisfied", 1000, 100_000)
    True
    """
    if objective == "satisfied":
        once = _SATISFIED_ROW * m + _SATISFIED_PAIR * n**2
    else:
        once = _MOVES * n**2.6 + _ADDS_ROW * m
    return once * (1 + _RESTART * restarts)


def seconds_of_pairs(n: int, m: int, *, are_sums: bool) -> float:
    """Return the approximate seconds of processor time that similarities and their linkage take.

    `are_sums` is True for AddS similarities, which are sums over comparisons and therefore fast.
    """
    return (_ADDS_ROW if are_sums else _OTHER_ROW) * m + _PAIR * n**2


def warn_of_cost(what: str, data: Any, seconds: float, remedy: str, *, memory: float = 0) -> None:
    """Warn before a call that is estimated to take more than half a minute of processor time.

    `what` is the call, and `remedy` a way to need less time or memory. Both are parts of the message.
    `memory` is the estimated memory in bytes, without the comparisons; 0 if it is checked elsewhere. If this
    memory cannot be allocated, a `MemoryError` is raised.
    """
    size = f"{what} of {data.n_leaves:,} leaves and {len(data):,} comparisons"
    try:
        check_memory(size, int(memory))
    except MemoryError as error:
        raise with_remedy(error, remedy) from None
    if seconds > LONG:
        beside = f" and {memory / 1e9:.1g} GB of memory" if memory >= 1e9 else ""
        warn(f"{size} takes about {_duration(seconds)} of processor time{beside}; {remedy}")


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 1.5 * length:
            count = seconds / length
            return f"{float(f'{count:.1g}') if count >= 10 else round(count):,.0f} {unit}"
    return f"{seconds:.1g} seconds".replace("e+01", "0")
