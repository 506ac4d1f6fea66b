"""Rules that exclude people from the analysis of a session."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks

#: Minimum number of answers of a person for the rules `seconds`, `same_side` and `below_chance`.
FEWEST = 8

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rules:
    """Rules that exclude people from the analysis; set them before the first answer.

    Attributes
    ----------
    seconds
        Exclude people whose median response time in seconds is below this number. None (the default) means no
        such rule.
    same_side
        Exclude people who chose the same position on the page in at least this share of their answers. None
        (the default) means no such rule.
    below_chance
        True excludes people whose reliability is at most chance: 1/3 for three leaves, 1/2 for two pairs.
    failed_gold
        Exclude people who answered less than this share of questions with known answers correctly. None (the
        default) means no such rule.
    at
        The time when the rules were set, in seconds since 1970.
    """

    seconds: float | None = None
    same_side: float | None = None
    below_chance: bool = False
    failed_gold: float | None = None
    at: float = 0.0

    def in_words(self) -> list[str]:
        """Return each rule as a clause, for reports."""
        clauses = []
        if self.seconds is not None:
            clauses.append(f"a median response time below {self.seconds:g} s")
        if self.same_side is not None:
            clauses.append(f"the same place in {self.same_side:.0%} of the answers or more")
        if self.below_chance:
            clauses.append("no better than chance")
        if self.failed_gold is not None:
            clauses.append(f"less than {self.failed_gold:.0%} of the questions with known answers right")
        return clauses


@dataclass(frozen=True)
class Figures:
    """For each person, the quantities that the rules for excluding people test; NaN if unknown.

    Each array has shape (n_people,). `n_timed` is the number of answers with a known response time, and
    `n_placed` the number of answers with a known position on the page. The other attributes are described
    in `Rules` and `Person`.
    """

    n_answers: NDArray[np.int64]
    seconds: Floats
    n_timed: NDArray[np.int64]
    same_side: Floats
    n_placed: NDArray[np.int64]
    gold: Floats
    alpha: Floats
    beta: Floats
    reliability: Floats
    low: Floats
    high: Floats


def checked_rules(**rules: Any) -> Rules:
    def number(name: str, most: float) -> float | None:
        given = rules[name]
        return None if given is None else _checks.number(name, given, at_least=0, at_most=most)

    return Rules(
        number("seconds", np.inf),
        number("same_side", 1),
        _checks.flag("below_chance", rules["below_chance"]),
        number("failed_gold", 1),
    )


def to_json(history: Sequence[Rules]) -> str:
    return json.dumps([asdict(rules) for rules in history])


def from_json(text: str | None) -> tuple[Rules, ...]:
    return () if text is None else tuple(Rules(**each) for each in json.loads(text))


def reasons_of(rules: Rules, figures: Figures, person: int, chance: float) -> tuple[str, ...]:
    """Return the reasons, in words, for which the rules exclude a person; empty if no rule does."""
    found = []
    seconds, same = figures.seconds[person], figures.same_side[person]
    if rules.seconds is not None and figures.n_timed[person] >= FEWEST and seconds < rules.seconds:
        found.append(f"too fast: {seconds:.2f} s")
    if rules.same_side is not None and figures.n_placed[person] >= FEWEST and same >= rules.same_side:
        found.append(f"same place: {same:.0%}")
    if rules.below_chance and figures.n_answers[person] >= FEWEST:
        reliability = figures.reliability[person]
        if figures.low[person] < chance >= reliability:
            found.append(f"no better than chance: {reliability:.0%}")
    if rules.failed_gold is not None and figures.gold[person] < rules.failed_gold:
        found.append(f"gold: {figures.gold[person]:.0%} right")
    return tuple(found)


def medians(who: NDArray[Any], values: Floats, size: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return for each of `size` people the median and the number of their values; NaN is ignored.

    `who` has the number of the person of each value.
    """
    known = ~np.isnan(values)
    who, values = who[known], values[known]
    order = np.lexsort((values, who))
    counts = np.bincount(who, minlength=size)
    starts = np.cumsum(counts) - counts
    found = np.full(size, np.nan)
    some = counts > 0
    ordered = values[order]
    low, high = (starts + (counts - 1) // 2)[some], (starts + counts // 2)[some]
    found[some] = (ordered[low] + ordered[high]) / 2
    return found, counts


def same_sides(who: NDArray[Any], places: NDArray[Any], size: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return for each person the share of answers at the most frequent position, and the number of answers.

    Positions count from 1. Answers with position 0 (unknown) are ignored. Both results have shape (size,),
    where `size` is the number of people.
    """
    known = places > 0
    who, places = who[known].astype(np.int64), places[known].astype(np.int64)
    most = int(places.max(initial=0)) + 1
    table = np.bincount(who * most + places, minlength=size * most).reshape(size, most)
    counts = table.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(counts > 0, table.max(axis=1) / counts, np.nan), counts
