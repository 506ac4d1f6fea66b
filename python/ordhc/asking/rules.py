"""Rules by which a session leaves people out of its analysis."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks

__all__ = ["Figures", "Rules", "checked_rules", "from_json", "medians", "reasons_of", "same_sides", "to_json"]

#: The rules say nothing about people with fewer answers.
FEWEST = 8

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rules:
    """Rules by which people are left out of the analysis, written down before anybody answers.

    Attributes
    ----------
    seconds
        Leave out people whose median response time, in seconds, is below this. None: no such rule.
    same_side
        Leave out people who chose the same place on the page in this share of their answers or more.
    below_chance
        True leaves out people whose reliability is at most chance, and whose 90 % interval begins below it.
    failed_gold
        Leave out people who gave the right answer to less than this share of the questions of gold.
    at
        When the rules were set, in seconds since 1970.
    """

    seconds: float | None = None
    same_side: float | None = None
    below_chance: bool = False
    failed_gold: float | None = None
    at: float = 0.0

    def in_words(self) -> list[str]:
        """Return each rule as a clause, for reports."""
        told = []
        if self.seconds is not None:
            told.append(f"a median response time below {self.seconds:g} s")
        if self.same_side is not None:
            told.append(f"the same place in {self.same_side:.0%} of the answers or more")
        if self.below_chance:
            told.append("no better than chance")
        if self.failed_gold is not None:
            told.append(f"less than {self.failed_gold:.0%} of the questions with known answers right")
        return told


@dataclass(frozen=True)
class Figures:
    """What the rules look at, an array of (n_people,) each; NaN where nothing is known."""

    n_answers: NDArray[np.int64]
    seconds: Floats
    n_timed: NDArray[np.int64]
    same_side: Floats
    n_placed: NDArray[np.int64]
    reliability: Floats
    low: Floats
    gold: Floats


def checked_rules(**rules: Any) -> Rules:
    """Rules of numbers in their range."""

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
    """All rules that were ever set, as text."""
    return json.dumps([asdict(rules) for rules in history])


def from_json(text: str | None) -> tuple[Rules, ...]:
    """All rules that were ever set, the last ones last."""
    return () if text is None else tuple(Rules(**each) for each in json.loads(text))


def reasons_of(rules: Rules, figures: Figures, person: int, chance: float) -> tuple[str, ...]:
    """Return why a person is left out, in words; empty for those who count."""
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
    """(size,) median of each person's values that are not NaN, and how many these are."""
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
    """(size,) share of each person's answers at the place that they chose most, and how many have a place.

    Places count from 1; 0 is no place.
    """
    known = places > 0
    who, places = who[known].astype(np.int64), places[known].astype(np.int64)
    most = int(places.max(initial=0)) + 1
    table = np.bincount(who * most + places, minlength=size * most).reshape(size, most)
    counts = table.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(counts > 0, table.max(axis=1) / counts, np.nan), counts
