"""Simulated people, who answer from a known tree with a given accuracy."""

import random
from dataclasses import dataclass

import ordhc
from ordhc import Dendrogram
from ordhc.errors import InputError
from ordhc_collect.people.asking import key_of
from ordhc_collect.study.model import Gold

#: For each choice, the two shown items that are closer than others if the choice is right.
_PAIRS = {"odd": [(1, 2), (0, 2), (0, 1)], "triplet": [(0, 1), (0, 2)], "pairs": [(0, 1), (2, 3)]}


@dataclass(frozen=True)
class Kind:
    """A kind of simulated people: its share of the crowd, and its accuracy (None for random clicks)."""

    share: float
    accuracy: float | None


def crowd_of(text: str) -> list[Kind]:
    """Return the kinds of people in a text "SHARE:ACCURACY,..."; the accuracy "random" means random clicks.

    Raises
    ------
    InputError
        The text does not have this form.

    Examples
    --------
    >>> [kind.accuracy for kind in crowd_of("0.7:0.9,0.2:0.7,0.1:random")]
    [0.9, 0.7, None]
    """
    found = []
    for part in text.split(","):
        share, colon, accuracy = part.strip().partition(":")
        try:
            kind = Kind(float(share), None if accuracy.strip() == "random" else float(accuracy))
        except ValueError:
            colon = ""
        if not colon or kind.share <= 0 or (kind.accuracy is not None and not 0 <= kind.accuracy <= 1):
            raise InputError(
                f"--crowd: {part.strip()!r} is not SHARE:ACCURACY, such as 0.7:0.9 or 0.1:random"
            )
        found.append(kind)
    total = sum(kind.share for kind in found)
    return [Kind(kind.share / total, kind.accuracy) for kind in found]


def drawn_tree(n: int, seed: int) -> Dendrogram:
    """Return a random binary tree of `n` leaves with heights; each merge joins clusters of similar size."""
    chance = random.Random(f"tree {n} {seed}")

    def grown(leaves: list[int], height: float) -> str:
        if len(leaves) == 1:
            return f"{leaves[0]}:{height:.9f}"
        cut = max(1, min(len(leaves) - 1, round(len(leaves) * chance.uniform(0.35, 0.65))))
        below = height * chance.uniform(0.6, 0.8)
        parts = ",".join(grown(part, below) for part in (leaves[:cut], leaves[cut:]))
        return f"({parts}):{height - below:.9f}"

    leaves = list(range(n))
    chance.shuffle(leaves)
    return ordhc.as_dendrogram(grown(leaves, 1.0) + ";")


class SimulatedPerson:
    """A simulated person; calling it with the numbers of the shown items returns the number of the choice.

    The right answer to a gold question is its known answer; the tree gives the right answers to other
    questions. Wrong answers are drawn from the other choices.
    """

    def __init__(
        self, tree: Dendrogram, question: str, accuracy: float | None, seed: str, gold: Gold | None = None
    ) -> None:
        self._tree, self._question, self._accuracy = tree, question, accuracy
        self._chance = random.Random(seed)
        gold = Gold() if gold is None else gold
        self._gold = {key_of(row): (row, answer) for row, answer in zip(gold.rows, gold.answers, strict=True)}

    def __call__(self, shown: list[int]) -> int:
        choices = list(range(1, len(_PAIRS[self._question]) + 1))
        if self._accuracy is None:
            return self._chance.choice(choices)
        right = self._right(shown)
        if self._chance.random() < self._accuracy:
            return right
        return self._chance.choice([choice for choice in choices if choice != right])

    def _right(self, shown: list[int]) -> int:
        asked = [shown[0], shown[1], shown[0], shown[2]] if self._question == "triplet" else shown
        if (known := self._gold.get(key_of(asked))) is not None:
            row, answer = known
            if self._question == "odd":
                return 1 + shown.index(row[answer])
            near = row[:2] if answer == 1 else row[2:]
            return 1 if set(asked[:2]) == set(near) else 2
        sizes = [self._tree.node([shown[i], shown[j]]).size for i, j in _PAIRS[self._question]]
        best = [place for place, size in enumerate(sizes, 1) if size == min(sizes)]
        return self._chance.choice(best)
