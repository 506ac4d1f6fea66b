"""Questions that were asked, and those that may be."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.asking.events import are_questions
from ordhc.errors import InputError

__all__ = ["Questions", "checked_among"]


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions that may be answered now, in any order.

    Attributes
    ----------
    ids
        (m,) their numbers, by which they are answered.
    rows
        (m, 3) leaves: the answer is the place of the odd one out (0, 1 or 2), or -1 if no two are closer.
        Or (m, 4), two pairs: the answer is 1 if the first pair is more similar, -1 if the second one is,
        0 if neither.
    samplers
        (m,) who chose each: "learner", or in a `Session` also "heldout", "repeat", "random" and "gold". Empty
        where all are the learner's.
    """

    ids: NDArray[np.int64]
    rows: NDArray[np.int32]
    samplers: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        return iter(zip(self.ids.tolist(), map(tuple, self.rows.tolist()), strict=True))


def checked_among(rows: ArrayLike, n_leaves: int) -> NDArray[np.int32]:
    """(m, 3) or (m, 4) questions that may be asked."""
    table = _checks.whole_numbers("among", rows)
    if table.ndim != 2 or table.shape[1] not in (3, 4):
        raise InputError(f"among has shape {table.shape}, not (m, 3) or (m, 4)")
    for at in np.flatnonzero(~are_questions(table, n_leaves))[:1].tolist():
        what = "three different leaves" if table.shape[1] == 3 else "two different pairs of leaves"
        row = table[at].tolist()
        raise InputError(f"among: {row} are not {what} of 0..={n_leaves - 1}", row=at, leaves=[row])
    return np.ascontiguousarray(table, dtype=np.int32)
