"""Oracles, which answer questions, and `estimate_p`, the share of right answers of an oracle that errs.

An oracle is a callable on whole batches: (m, 3) leaves give (m,) places of the odd one out (0, 1 or 2; -1 if
no two are closer); those that know similarities also take (m, 4), "are i and j more similar than k and l?",
and give 1 or -1.
"""

from ordhc.asking.answers import estimate_p
from ordhc.asking.registered import named
from ordhc.asking.sources import from_similarity, from_tree, from_vectors, person, recorded
from ordhc.asking.wrappers import Counting, Recording, majority, noisy, workers

__all__ = [
    "Counting",
    "Recording",
    "estimate_p",
    "from_similarity",
    "from_tree",
    "from_vectors",
    "majority",
    "named",
    "noisy",
    "person",
    "recorded",
    "workers",
]


def __dir__() -> list[str]:
    return sorted(__all__)
