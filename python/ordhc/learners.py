"""The methods by which learners choose questions; each is a class with its own settings.

* Answers that are always right: `Insertion` and `Quick`; `Single` and `Complete` ask which of two pairs is
  more alike.
* Answers that are right with a known probability: `Robust`, `RobustPaper`, `Majority`.
* Answers of people: `Uncertain`, or `Revise` if there is a tree to begin with.
* `FourKActive` compares pairs of leaves with reference pairs, in one round of questions.
"""

from ordhc.asking.methods import (
    Complete,
    FourKActive,
    Insertion,
    Majority,
    Quick,
    Revise,
    Robust,
    RobustPaper,
    Single,
    Uncertain,
)
from ordhc.asking.settings import arguments, named

__all__ = [
    "Complete",
    "FourKActive",
    "Insertion",
    "Majority",
    "Quick",
    "Revise",
    "Robust",
    "RobustPaper",
    "Single",
    "Uncertain",
    "arguments",
    "named",
]
__dir__ = __all__.copy
