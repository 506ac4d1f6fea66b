"""How many answers a study needs, by what simulated studies have needed."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ordhc import _checks
from ordhc._text import aligned
from ordhc.errors import InputError, warn
from ordhc.evaluate.measured import METHODS, NOISES, SCORES, Floats, Table, crossing, measured

__all__ = ["StudyPlan", "Way", "plan"]

#: Up to this multiple of the largest measured number of leaves, the latter is used, with a warning.
_BEYOND = 10
#: Curves are continued up to this multiple of the largest number of answers that was tried.
FURTHEST = 4.0
#: The names of scores.
_WORDS = {"aari": "AARI", "heldout": "held-out accuracy"}
#: The meaning of each noise.
_KINDS = {
    "close": "close leaves confused more often",
    "constant": "all questions equally hard",
    "lengths": "close leaves confused more often, some leaves untypical",
}


@dataclass(frozen=True)
class Way:
    """The number of answers that a way of asking needs.

    Attributes
    ----------
    method
        "uncertain" is the learner that chooses its questions; "posterior-al" and "adds3-al+spr" make the tree
        from answers to questions drawn at random.
    questions
        "chosen" or "random".
    answers_per_leaf, answers, hours, people
        What is expected to reach the target; None where no number of answers that was tried does.
    low, high
        Answers for each leaf within which 80% of studies reach the target: one in ten with fewer than `low`,
        one in ten not with `high`. None as above.
    is_measured
        False if `high` is beyond the most answers that were tried. The curve is then continued as it ends, to
        at most four times `most`; a `high` that is four times `most` is a lower bound.
    best
        The largest expected score, which the most answers have that were tried, `most` for each leaf.
    most
        The most answers for each leaf that were tried.
    heldout
        The expected share of new answers to random questions that the tree, made from `answers` answers,
        has right. Chance gives 1/3, and no tree exceeds the accuracy of people. None where `answers` is.
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
    """How many answers a study needs; what `plan` gives.

    Attributes
    ----------
    n_leaves, accuracy, target, score, noise, seconds, per_person
        What was asked for.
    ways
        A `Way` for each method, in the order of what they need.
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
        """Return the entry of a method."""
        for way in self.ways:
            if way.method == method:
                return way
        raise KeyError(method)

    @property
    def n_questions(self) -> int:
        """How many different questions there are: sets of three leaves."""
        return math.comb(self.n_leaves, 3)

    def to_dict(self) -> dict[str, Any]:
        """All numbers, for JSON."""
        return {**asdict(self), "ways": [asdict(way) for way in self.ways], "n_questions": self.n_questions}

    def __str__(self) -> str:
        rows = [("questions", "answers a leaf", "answers", "hours", "people")]
        rows += [self._row(way) for way in self.ways]
        title = (
            f"{self.n_leaves:,} leaves, {self.accuracy:.0%} of the answers right ({_KINDS[self.noise]}), "
            f"target: {_WORDS[self.score]} {self.target:g}"
        )
        notes = [
            "In parentheses: what 8 of 10 studies need; the larger number is the safe one.",
            f"An answer takes {self.seconds:g} s, a person gives {self.per_person:,}.",
        ]
        first = self.ways[0]
        if first.heldout is not None:
            notes.append(f"New answers that the tree then has right: {first.heldout:.0%}; by chance 33%.")
        if first.answers is not None and first.answers > self.n_questions:
            notes.append(f"There are {self.n_questions:,} different questions: several people answer each.")
        return "\n".join([title, "", *aligned(rows), "", *notes])

    def _row(self, way: Way) -> tuple[str, str, str, str, str]:
        """Return the cells of the table for one way of asking."""
        name = f"{way.questions} ({way.method})"
        if way.answers_per_leaf is None:
            most = f"more than {way.most * self.n_leaves:,}"
            # Rounded down: a score just below the target must not look like the target.
            best = math.floor(100 * way.best) / 100
            return name, f"more than {way.most}", most, f"{_WORDS[self.score]} {best:.2f} with these", ""

        how_sure = "" if way.is_measured else "about "
        if way.high == FURTHEST * way.most:
            how_sure = "more than "

        def told(what: Any) -> str:
            ends = (way.answers, way.answers_low, way.answers_high)
            middle, low, high = ("" if end is None else what(end) for end in ends)
            return f"{middle} ({low} to {how_sure}{high})"

        return (
            name,
            told(lambda answers: f"{answers / self.n_leaves:.3g}"),
            told(lambda answers: f"{answers:,}"),
            told(lambda answers: f"{answers * self.seconds / 3600:,.1f}"),
            told(lambda answers: f"{math.ceil(answers / self.per_person):,}"),
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
    """How many answers a study needs, of people asked which of three is the odd one out.

    Parameters
    ----------
    n_leaves
        The number of items.
    accuracy
        The share of answers to random questions that are right, from 0.6 to 1; `ordhc.oracles.estimate_p`
        estimates it from repeated questions. Chance gives 1/3.
    target
        The score to be reached.
    score
        "aari", how much of the groups is found (`ordhc.metrics.aari`: 1 is all, 0 is chance), or "heldout",
        the share of new answers to random questions that the tree has right, which stays below `accuracy`.
    noise
        Which answers are wrong. "close": people confuse close leaves more often. "constant": all questions
        are equally hard. "lengths": as "close", and some leaves are untypical, that is, farther from all
        others. With "lengths" the right answer is the one by the lengths of paths.
    seconds
        How long an answer takes; in `ordhc.datasets.load_car` the median is 4.0.
    per_person
        How many answers one person gives.

    Returns
    -------
    StudyPlan
        For each way of asking the answers that are expected to reach the target, and an interval.

    Warns
    -----
    OrdhcWarning
        More leaves than were measured: as many answers for each leaf are taken as the most that were measured
        need.

    Raises
    ------
    InputError
        Numbers outside of what was measured: fewer than 12 leaves, more than ten times as many as were
        measured, answers that are right less often than 0.6.

    Notes
    -----
    The numbers come from simulated studies (benches/bench_plan.py): a tree of eight groups of equal size, in
    pairs, in pairs of pairs; the score compares two, four and eight groups. Between numbers of leaves (their
    logarithm) and accuracies that were simulated, scores are interpolated, and made not to fall with more
    answers. Fresh studies of 20 and 50 leaves with the expected number of answers have scored .02 more than
    the target on average (standard error .01, 31 studies). With `low` of them 16% have reached it; with
    `high`, where that was measured, all of 19 have: plan with `high`. Groups of unequal sizes, or more of
    them, need more answers; a first study of some of the leaves shows how many.

    With noise "lengths" the length of each leaf is drawn from a normal distribution with standard deviation
    0.5, where 1 is the distance between two levels of the tree. A first study shows how large lengths are:
    compare `Posterior.lengths` with the heights of `Posterior.tree`. The method "adds3-al+spr" assumes that
    all leaves are equally typical, so its score may stay below the target with any number of answers. In 24
    fresh studies of 20 and 50 leaves, 3 reached the target with `low` answers for each leaf, and 23 with
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
            f"n_leaves = {n} is below {least}, the fewest that were measured; of so few all "
            f"{math.comb(n, 3):,} questions can be asked, each of several people"
        )
    if n > _BEYOND * most:
        raise InputError(f"n_leaves = {n} is above {_BEYOND * most}, {_BEYOND} times what was measured")
    accuracy = _checks.number("accuracy", accuracy)
    floor = float(table.accuracies[0])
    if not floor <= accuracy <= 1:
        hint = " (a share is needed, such as 0.85)" if 1 < accuracy <= 100 else ""
        raise InputError(f"accuracy = {accuracy:g} is outside {floor:g}..1, what was measured{hint}")
    target = _checks.number("target", target, at_least=0, at_most=1)
    score = _checks.choice("score", score, SCORES)
    noise = _checks.choice("noise", noise, NOISES)
    seconds = _checks.number("seconds", seconds, at_least=0, at_most=86_400)
    per_person = _checks.whole("per_person", per_person, at_least=1)
    if n > most:
        warn(
            f"{n} leaves are more than the {most} that were measured: the plan has as many answers for each "
            f"leaf as {most} leaves need"
        )
    asked = StudyPlan(n, accuracy, target, score, noise, seconds, per_person, ways=())
    ways = [_way(table, asked, method) for method in METHODS]
    return replace(asked, ways=tuple(sorted(ways, key=lambda way: way.answers_per_leaf or math.inf)))


def _way(table: Table, asked: StudyPlan, method: str) -> Way:
    """Return what a method takes to reach the target of a plan."""
    n, target = asked.n_leaves, asked.target
    checks, curve = table.curve(method, asked.noise, asked.score, n, asked.accuracy)
    # Better studies need fewer answers.
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
    """Where a curve would reach a target beyond the most answers that were tried, `FURTHEST` times at most.

    It goes on straight over the logarithm of the answers, as between the last two numbers of answers.
    """
    step = math.log(float(checks[-1] / checks[-2]))
    rise = max(float(curve[-1] - curve[-2]), 1e-9)
    doublings = min(step * (target - float(curve[-1])) / rise, math.log(FURTHEST))
    return float(checks[-1]) * math.exp(doublings)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
