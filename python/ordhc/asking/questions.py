"""The questions that a learner returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions that may be answered now, in any order.

    Attributes
    ----------
    ids
        (m,) the numbers of the questions; `tell` takes them with the answers.
    rows
        (m, 3) leaves: the answer is the position of the odd one out (0, 1 or 2), or -1 if no two leaves are
        closer than the others. Or (m, 4) leaves, two pairs: the answer is 1 if the first pair is more
        similar, -1 if the second pair is, 0 if neither is.
    samplers
        (m,) the source of each question: "learner", or in a `Session` also "heldout", "repeat", "random" and
        "gold". The tuple is empty if the learner chose all questions.
    """

    ids: NDArray[np.int64]
    rows: NDArray[np.int32]
    samplers: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        return iter(zip(self.ids.tolist(), map(tuple, self.rows.tolist()), strict=True))
