"""Methods of learners: how questions are chosen, each with its own settings.

For answers that are right: `Insertion`, `Quick`, and for two pairs `Single` and `Complete`. For answers that
are right with a known probability: `Robust`, `RobustPaper`, `Majority`. For answers of people: `Uncertain`,
and `Revise` if there is a tree to begin with. `FourKActive` compares pairs with landmarks.
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


def __dir__() -> list[str]:
    return sorted(__all__)
