"""Estimate how many answers a study needs, from simulated studies."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ordhc import _checks
from ordhc._text import aligned
from ordhc.errors import InputError, warn
from ordhc.evaluate.measured import METHODS, NOISES, SCORES, Floats, Table, crossing, measured

#: Studies of up to this multiple of the largest simulated number of leaves are planned as if they had that
#: number, with a warning.
_BEYOND = 10
#: Scores are extrapolated up to this multiple of the largest simulated number of answers.
FURTHEST = 4.0
_WORDS = {"aari": "AARI", "heldout": "held-out accuracy"}
#: The meaning of each value of the argument `noise` of `plan`.
_KINDS = {
    "close": "close leaves confused more often",
    "constant": "all questions equally hard",
    "lengths": "close leaves confused more often, some leaves untypical",
}


@dataclass(frozen=True)
class Way:
    """The number of answers that one way of asking needs.

    Attributes
    ----------
    method
        "uncertain": a learner chooses the questions. "posterior-al" and "adds3-al+spr": questions are drawn
        at random, and this method makes the tree.
    questions
        "chosen" or "random".
    answers_per_leaf, answers, hours, people
        The expected amounts with which a study reaches the target: answers per leaf, answers, hours, people.
        None if no simulated number of answers is enough.
    low, high
        Answers per leaf: 10% of studies reach the target with `low`, 90% with `high`. None if no simulated
        number of answers is enough.
    answers_low, answers_high
        `low` and `high` times the number of leaves: answers about all leaves together.
    is_measured
        False if `high` is above the largest simulated number of answers. `high` is then extrapolated, to at
        most four times `most`; a `high` that is four times `most` is a lower bound.
    best
        The expected score with `most` answers per leaf, the largest simulated number.
    most
        The largest simulated number of answers per leaf.
    heldout
        The expected share of new answers to random questions that a tree made from `answers` answers
        predicts. Chance gives 1/3, and no tree exceeds the accuracy of people. None if `answers` is None.
    """

    method: str
    questions: str
    answers_per_leaf: float | None
    low: float | None
    high: float | None
    is_measured: bool
    answers: int | None
    answers_low: int | None
    answers_high: int | None
    hours: float | None
    people: int | None
    best: float
    most: int
    heldout: float | None


@dataclass(frozen=True)
class StudyPlan:
    """How many answers a study needs: the result of `plan`.

    Attributes
    ----------
    n_leaves, accuracy, target, score, noise, seconds, per_person
        The arguments of `plan`.
    ways
        A `Way` for each method; the method that needs the fewest answers is first.
    """

    n_leaves: int
    accuracy: float
    target: float
    score: str
    noise: str
    seconds: float
    per_person: int
    ways: tuple[Way, ...]

    def __getitem__(self, method: str) -> Way:
        """Return the number of answers that the given method needs, as a `Way`."""
        return {way.method: way for way in self.ways}[method]

    @property
    def n_questions(self) -> int:
        """The number of different questions, that is, sets of three leaves."""
        return math.comb(self.n_leaves, 3)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as a dictionary for JSON."""
        return {**asdict(self), "ways": [asdict(way) for way in self.ways], "n_questions": self.n_questions}

    def __str__(self) -> str:
        rows = [("questions", "answers a leaf", "answers", "hours", "people")]
        rows += [self._row(way) for way in self.ways]
        title = (
            f"{self.n_leaves:,} leaves, {self.accuracy:.0%} of the answers right ({_KINDS[self.noise]}), "
            f"target: {_WORDS[self.score]} {self.target:g}"
        )
        notes = [
            "In parentheses: the range for 8 of 10 studies; the larger number is the safe one.",
            f"An answer takes {self.seconds:g} s, a person gives {self.per_person:,}.",
        ]
        first = self.ways[0]
        if first.heldout is not None:
            notes.append(f"The tree then predicts {first.heldout:.0%} of new answers; chance 33%.")
        if first.answers is not None and first.answers > self.n_questions:
            notes.append(f"There are {self.n_questions:,} different questions: several people answer each.")
        return "\n".join([title, "", *aligned(rows), "", *notes])

    def _row(self, way: Way) -> tuple[str, str, str, str, str]:
        name = f"{way.questions} ({way.method})"
        if way.answers_per_leaf is None:
            most = f"more than {way.most * self.n_leaves:,}"
            # Rounded down: a score just below the target must not look like the target.
            best = math.floor(100 * way.best) / 100
            return name, f"more than {way.most}", most, f"{_WORDS[self.score]} {best:.2f} with these", ""

        how_sure = "" if way.is_measured else "about "
        if way.high == FURTHEST * way.most:
            how_sure = "more than "

        def with_range(form: Any) -> str:
            ends = (way.answers, way.answers_low, way.answers_high)
            middle, low, high = ("" if end is None else form(end) for end in ends)
            return f"{middle} ({low} to {how_sure}{high})"

        return (
            name,
            with_range(lambda answers: f"{answers / self.n_leaves:.3g}"),
            with_range(lambda answers: f"{answers:,}"),
            with_range(lambda answers: f"{answers * self.seconds / 3600:,.1f}"),
            with_range(lambda answers: f"{math.ceil(answers / self.per_person):,}"),
        )


def plan(
    n_leaves: int,
    accuracy: float,
    target: float = 0.9,
    *,
    score: str = "aari",
    noise: str = "close",
    seconds: float = 5.0,
    per_person: int = 150,
) -> StudyPlan:
    """Estimate how many answers a study needs in which people say which of three items is the odd one out.

    Parameters
    ----------
    n_leaves
        The number of items.
    accuracy
        The share of answers to random questions that are right, from 0.6 to 1. `ordhc.oracles.estimate_p`
        estimates it from repeated questions. Chance gives 1/3.
    target
        The score to be reached.
    score
        "aari": how well the tree recovers the true groups (`ordhc.metrics.aari`; 1 is perfect, 0 is chance).
        "heldout": the share of new answers to random questions that the tree predicts, which stays below
        `accuracy`.
    noise
        Which answers are wrong. "close": people confuse close leaves more often. "constant": all questions
        are equally hard. "lengths": as "close", and some leaves are untypical, that is, farther from all
        others. With "lengths" the right answer is by the lengths of paths in the tree.
    seconds
        The time for an answer in seconds; in `ordhc.datasets.load_car` the median is 4.0.
    per_person
        The number of answers that one person gives.

    Returns
    -------
    StudyPlan
        For each way of asking, the number of answers that is expected to reach the target, and an interval.

    Warns
    -----
    OrdhcWarning
        If there are more leaves than were simulated: the number of answers per leaf is then the one for the
        largest simulated number of leaves.

    Raises
    ------
    InputError
        If arguments are outside the simulated range: fewer than 12 leaves, more than ten times the largest
        simulated number of leaves, or an accuracy below 0.6.

    Notes
    -----
    The numbers come from simulated studies (benches/bench_plan.py): the tree is a binary hierarchy over eight
    groups of equal size, and the score compares the partitions into two, four and eight groups. Scores are
    interpolated between simulated numbers of leaves (by their logarithm) and accuracies, and made monotonic
    in the number of answers. New simulated studies of 20 and 50 leaves, with the expected number of answers,
    scored .02 above the target on average (standard error .01, 31 studies). With `low` answers 16% reached
    the target. With `high` answers, where `is_measured`, all 19 reached it, so plan with `high`. Groups of
    unequal sizes, or more groups, need more answers; a first study of some of the leaves shows how many.

    With noise "lengths" the length of each leaf is drawn from a normal distribution with standard deviation
    0.5, where 1 is the distance between two levels of the tree. A first study shows how large lengths are:
    compare `Posterior.lengths` with the heights of `Posterior.tree`. The method "adds3-al+spr" assumes that
    all leaves are equally typical, so its score may stay below the target with any number of answers. In 24
    new simulated studies of 20 and 50 leaves, 3 reached the target with `low` answers per leaf, and 23 with
    `high`.

    Examples
    --------
    >>> import ordhc
    >>> found = ordhc.plan(100, accuracy=0.85, target=0.9)
    >>> way = found["uncertain"]
    >>> way.answers_per_leaf < found["posterior-al"].answers_per_leaf
    True
    >>> way.low < way.answers_per_leaf < way.high
    True
    """
    n = _checks.whole("n_leaves", n_leaves, at_least=1)
    table = measured()
    least, most = int(table.items[0]), int(table.items[-1])
    if n < least:
        raise InputError(
            f"n_leaves = {n} is below {least}, the smallest number of leaves in the simulated studies from "
            "which plans are made; with few leaves, let several people answer each of the "
            f"{math.comb(n, 3):,} questions"
        )
    if n > _BEYOND * most:
        raise InputError(
            f"n_leaves = {n} is above {_BEYOND * most}, {_BEYOND} times the largest number of leaves in the "
            "simulated studies from which plans are made"
        )
    accuracy = _checks.number("accuracy", accuracy)
    floor = float(table.accuracies[0])
    if not floor <= accuracy <= 1:
        hint = "; give a share, such as 0.85" if 1 < accuracy <= 100 else ""
        raise InputError(f"accuracy = {accuracy:g} is outside {floor:g}..1, the simulated range{hint}")
    target = _checks.number("target", target, at_least=0, at_most=1)
    score = _checks.choice("score", score, SCORES)
    noise = _checks.choice("noise", noise, NOISES)
    seconds = _checks.number("seconds", seconds, at_least=0, at_most=86_400)
    per_person = _checks.whole("per_person", per_person, at_least=1)
    if n > most:
        warn(
            f"{n} leaves are more than the {most} that were simulated: the plan uses the answers per leaf of "
            f"{most} leaves"
        )
    asked = StudyPlan(n, accuracy, target, score, noise, seconds, per_person, ways=())
    ways = [_way(table, asked, method) for method in METHODS]
    return replace(asked, ways=tuple(sorted(ways, key=lambda way: way.answers_per_leaf or math.inf)))


def _way(table: Table, asked: StudyPlan, method: str) -> Way:
    n, target = asked.n_leaves, asked.target
    checks, curve = table.curve(method, asked.noise, asked.score, n, asked.accuracy)
    # The three curves are the mean, the 10% and the 90% quantile of the score. The 90% quantile is the
    # highest curve, so it reaches the target with the smallest number of answers.
    needed, high, low = (crossing(checks, curve[end], target) for end in range(3))
    is_measured = high is not None
    if needed is not None and high is None:
        high = _beyond(checks, curve[1], target)
    answers, answers_low, answers_high = (
        None if per_leaf is None else math.ceil(per_leaf * n - 1e-9) for per_leaf in (needed, low, high)
    )
    heldout = None
    if needed is not None:
        _, right = table.curve(method, asked.noise, "heldout", n, asked.accuracy)
        heldout = float(np.interp(math.log(needed), np.log(checks), right[0]))
    return Way(
        method=method,
        questions=METHODS[method],
        answers_per_leaf=_rounded(needed),
        low=_rounded(low),
        high=_rounded(high),
        is_measured=is_measured,
        answers=answers,
        answers_low=answers_low,
        answers_high=answers_high,
        hours=None if answers is None else answers * asked.seconds / 3600,
        people=None if answers is None else math.ceil(answers / asked.per_person),
        best=round(float(curve[0, -1]), 4),
        most=int(checks[-1]),
        heldout=_rounded(heldout),
    )


def _beyond(checks: Floats, curve: Floats, target: float) -> float:
    """Return the number of answers at which the curve, extended beyond `checks`, reaches the target.

    The extension is linear in the logarithm of the number of answers, through the last two points. The result
    is at most `FURTHEST` times the last number of answers in `checks`.
    """
    step = math.log(float(checks[-1] / checks[-2]))
    rise = max(float(curve[-1] - curve[-2]), 1e-9)
    doublings = min(step * (target - float(curve[-1])) / rise, math.log(FURTHEST))
    return float(checks[-1]) * math.exp(doublings)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
