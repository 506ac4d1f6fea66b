"""Convert rows of the SQLite table of events to columns."""

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordhc.asking.events import LEAF, NO_ANSWER, REF

Ints = NDArray[np.int64]


class Columns(NamedTuple):
    """Consecutive events as columns: `names` lists people, and `who` has each event's index in `names`."""

    kinds: Ints
    refs: Ints
    leaves: Ints
    answers: Ints
    names: Sequence[Any]
    who: NDArray[np.int32]
    at: NDArray[np.float64]
    seconds: NDArray[np.float64]
    p: NDArray[np.float64]
    sums: Ints


def from_rows(rows: Sequence[Sequence[Any]], width: int) -> Columns:
    """Return events as columns, from one or more rows that were read with the SQL of `events.packed`.

    Raise `TypeError`, `ValueError` or `OverflowError` if a value of a damaged row has an impossible type or
    size.
    """
    *whole, names, at, durations, probabilities, sums = zip(*rows, strict=True)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    near, far, rest = (np.frombuffer(array("q", column), dtype=np.int64) for column in whole)
    mask = (1 << LEAF) - 1
    leaves = [near & mask, near >> LEAF, far & mask, far >> LEAF]
    seconds, p = np.array(durations, dtype=np.float64), np.array(probabilities, dtype=np.float64)
    seconds[seconds < 0] = np.nan
    p[p < 0] = np.nan
    return Columns(
        rest >> (REF + 3),
        (rest & ((1 << REF) - 1)) - 1,
        np.stack(leaves[:width], axis=1) - 1,
        ((rest >> REF) & 7) + NO_ANSWER,
        tuple(numbers),
        np.array([numbers[name] for name in names], dtype=np.int32),
        np.frombuffer(array("d", at), dtype=np.float64),
        seconds,
        p,
        np.frombuffer(array("q", sums), dtype=np.int64),
    )
