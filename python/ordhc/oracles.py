"""Oracles, which answer questions, and `estimate_p`, which estimates an oracle's share of right answers.

An oracle is a callable that answers a batch of m questions, an array of leaf ids:

* (m, 3) leaves a, b, c: which of the three is the odd one out? The answers are (m,) positions 0, 1 or 2; -1
  means that no pair of the three is closer than the other pairs.
* (m, 4) leaves i, j, k, l: are i and j more similar than k and l? The answers are (m,) numbers, 1 for yes and
  -1 for no. Only oracles that know similarities answer these questions.
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
__dir__ = __all__.copy
