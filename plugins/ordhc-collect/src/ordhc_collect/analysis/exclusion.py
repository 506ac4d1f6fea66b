"""Whose answers are left out of the analysis, and why."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import Session
from ordhc_collect.analysis.tree import people_of
from ordhc_collect.study.model import Exclusion

__all__ = ["Standing", "standings"]

#: Fewer answers of a person than this say nothing about how they answer.
_FEW = 8


@dataclass(frozen=True)
class Standing:
    """How somebody answers.

    Attributes
    ----------
    seconds
        The median of their response times, NaN where none is known.
    same_side
        The share of answers at the place that they chose most.
    reliability, low, high
        How likely an answer of theirs is right, and between what with a probability of 0.9.
    weight
        What their answers weigh in the tree.
    excluded
        The rules that leave them out, in words; empty for those who count.
    """

    who: str
    n_answers: int
    seconds: float
    same_side: float
    reliability: float
    low: float
    high: float
    n_gold: int
    gold: float | None
    agreement: float | None
    n_agreement: int
    weight: float
    excluded: tuple[str, ...]


def standings(
    session: Session, rules: Exclusion, positions: dict[str, NDArray[Any]], table: dict[str, NDArray[Any]]
) -> dict[str, Standing]:
    """How everybody answers who did.

    `positions` are the places on the page that each person chose, from 1 on, 0 for none; `table` is the
    session's table of answers.
    """
    found: dict[str, Standing] = {}
    people = session.people()
    seconds = _by_person(table["who"], table["seconds"])
    weights = _weights(session)
    chance = 1 / 3 if session.width == 3 else 1 / 2
    for who, person in people.items():
        if who is None:
            continue
        took = seconds.get(who, np.zeros(0))
        took = took[~np.isnan(took)]
        median = float(np.median(took)) if len(took) else float("nan")
        places = positions.get(who, np.zeros(0, dtype=int))
        places = places[places > 0]
        same = float(np.bincount(places).max() / len(places)) if len(places) else 0.0
        why = []
        if rules.seconds is not None and len(took) >= _FEW and median < rules.seconds:
            why.append(f"too fast: {median:.2f} s")
        if rules.same_side is not None and len(places) >= _FEW and same >= rules.same_side:
            why.append(f"same place: {same:.0%}")
        if rules.below_chance and person.n_answers >= _FEW and person.low < chance >= person.reliability:
            why.append(f"no better than chance: {person.reliability:.0%}")
        if rules.failed_gold is not None and person.gold is not None and person.gold < rules.failed_gold:
            why.append(f"gold: {person.gold:.0%} right")
        found[who] = Standing(
            who,
            person.n_answers,
            median,
            same,
            person.reliability,
            person.low,
            person.high,
            person.n_gold,
            person.gold,
            person.repeats,
            person.n_repeats,
            weights.get(who, 0.0),
            tuple(why),
        )
    return found


def _by_person(who: NDArray[Any], values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Values by person."""
    if not len(who):
        return {}
    names, numbers = np.unique(who.astype(str), return_inverse=True)
    order = np.argsort(numbers, kind="stable")
    parts = np.split(values[order], np.cumsum(np.bincount(numbers))[:-1])
    return dict(zip(names.tolist(), parts, strict=True))


def _weights(session: Session) -> dict[str, float]:
    """What an answer of everybody weighs; 1 on average."""
    weighted = session.comparisons(weights="reliability", heldout=None)
    if weighted.weights is None:
        return {}
    return dict(zip(people_of(weighted).tolist(), weighted.weights.tolist(), strict=True))
