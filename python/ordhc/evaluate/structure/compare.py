"""The verb `structure`: is it a tree at all?"""

import math
import os
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _html
from ordhc._json import finite
from ordhc._progress import Progress, part, shows_progress
from ordhc._workers import Shared, as_executor, run_tasks
from ordhc.comparison.choices import Choices, right_of
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.evaluate.answers import AnswerCeiling, answer_ceilings
from ordhc.evaluate.intervals import FEWEST_UNITS, student
from ordhc.evaluate.structure.trial import (
    ADDITIVE,
    DIMENSIONS,
    EFFECTS,
    PARTS,
    POINTS,
    ULTRAMETRIC,
    Found,
    Trial,
    fitted,
    named,
)
from ordhc.evaluate.structure.words import Estimate, Evidence, Verdict, verdict_of
from ordhc.evaluate.trials import split
from ordhc.similarities.spilled import Spill

__all__ = ["Structure", "StructureScore", "structure"]

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

_CHANCE, _CHOSEN, _BOTH = "chance", "points, dimensions chosen", "tree and points"
#: More leaves than this are refused: spaces take memory and time in proportion to pairs of leaves.
_MOST_LEAVES = 5_000
_FEWEST_LEAVES = 4


@dataclass(frozen=True)
class StructureScore:
    """How well a structure foretells answers that it has not seen.

    Attributes
    ----------
    name
        The name of the structure.
    log_loss, accuracy
        Per answer, with 95% intervals: minus the logarithm of the probability of the answer, in nats, and
        the share of answers that are the likeliest.
    behind
        By how much the log loss is larger than that of the best structure, paired by person or question.
    """

    name: str
    log_loss: Estimate
    accuracy: Estimate
    behind: Estimate


@dataclass(frozen=True, repr=False)
class Structure:
    """What `structure` gives.

    Attributes
    ----------
    verdict
        The conclusion: its `kind`, whether it is `sure`, and a `text`.
    scores
        One for each structure.
    tree_share
        Of what the best structure foretells beyond lengths alone, the share that the better tree foretells,
        by log loss, with a 95% interval; NaN where the best structure foretells nothing for sure.
    points_share
        The share that points foretell: points in one dimension if `dimensions` is 1, else points in the
        number of dimensions that predicts best within the training answers.
    dimensions
        The smallest number of dimensions in which points are not clearly worse than in the best one.
    ceiling
        Bounds for any predictor, by kind of answer, where questions were repeated.
    n_answers, folds, unit
        The number of answers, in how many parts they were split, and what was kept together: "group", a
        person's answers, or "answer", those to the same question.
    """

    verdict: Verdict
    scores: tuple[StructureScore, ...]
    tree_share: Estimate
    points_share: Estimate
    dimensions: int
    ceiling: tuple[AnswerCeiling, ...]
    n_answers: int
    folds: int
    unit: str

    def __getitem__(self, name: str) -> StructureScore:
        """Return the score of a structure by its name."""
        for score in self.scores:
            if score.name == name:
                return score
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it; None for what isn't known."""
        known: dict[str, Any] = finite(asdict(self))
        return known

    def __str__(self) -> str:
        rows = self._table()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, *self._notes(), "", self.verdict.text])

    def _table(self) -> list[tuple[str, ...]]:
        return [
            ("structure", "log loss", "accuracy", "log loss behind the best"),
            *((s.name, str(s.log_loss), str(s.accuracy), str(s.behind)) for s in self.scores),
        ]

    def _notes(self) -> list[str]:
        over = "people" if self.unit == "group" else "questions"
        found = [
            f"{self.n_answers:,} answers in {self.folds} folds, each predicted by models of the others; in "
            f"parentheses: 95% intervals over {over}"
        ]
        if not math.isnan(self.tree_share.value):
            found.append(
                f"share of what can be foretold beyond lengths: tree "
                f"{self.tree_share}, points {self.points_share}"
            )
        return found + [f"ceiling, {one}" for one in self.ceiling]

    def _repr_html_(self) -> str:
        """The table of `print`, in a notebook."""
        columns, *rows = self._table()
        notes = [*self._notes(), self.verdict.text]
        return _html.block(repr(self)[1:-1], _html.table(columns, rows, notes=notes))

    def __repr__(self) -> str:
        return f"<Structure: {self.verdict.kind}, {'sure' if self.verdict.sure else 'not sure'}>"


@shows_progress("comparing structures")
def structure(
    data: Triplets | Quadruplets,
    *,
    folds: int = 5,
    seed: int = 0,
    unit: str | None = None,
    executor: Executor | None = None,
    spill: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
) -> Structure:
    """Say whether a hierarchy, a map or something simpler describes answers.

    Each structure is fitted to all answers but a fold's, and predicts these: chance; lengths alone (how
    typical items are); flat clusters; a tree whose leaves stand equally far from the root (ultrametric) and
    one whose leaves have lengths (additive); points in 1, 2, 3 and 5 dimensions; and the mean of the additive
    tree and points.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets` of 4 to 5,000 leaves. Rows with the same number in `answers` are one
        answer.
    folds
        In how many parts to split the answers. A person's answers are in the same part where people are
        known, else all answers to the same question.
    seed
        The same seed gives the same result.
    unit
        "answer" or "group" (of the data): what is kept together, instead of people where they are known.
    executor, spill
        Any `concurrent.futures.Executor` fits the models instead of this process; a folder that all its
        workers see, for large data.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    Structure
        A `verdict` in words, log loss and accuracy of each structure with intervals, and the share of
        what can be foretold that a tree foretells.

    Raises
    ------
    InputError
        No `Triplets` or `Quadruplets`; fewer than 4 or more than 5,000 leaves; no answers of positive weight;
        fewer questions (or people) than folds.

    Notes
    -----
    All structures but chance have a closeness s(i, j) of leaves. An answer is a choice among pairs in
    proportion to exp(s), as in `ordhc.posterior`, and a share is given by chance. Lengths alone:
    s = -l(i) - l(j). Flat clusters: s is larger within clusters of `ordhc.cluster`'s tree, less both lengths.
    Points: s = -``|x(i) - x(j)|`` - l(i) - l(j), so that points have lengths as trees do (Winsberg & Carroll
    1989). Lengths and coordinates have normal priors. The spread of the priors, the number of clusters and
    the dimensions of "points, dimensions chosen" are chosen within the training answers. Trees are those of
    `ordhc.posterior` with shorter chains. Repeated answers of a person all count (``repeats="new"``).

    Intervals are those of ratios of sums over people or questions. Their variance is multiplied by
    1 + k / (k - 1) for k folds, as models of different folds share answers (Nadeau & Bengio 2003).

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.simulate_planted(3000, levels=3, leaves_per_cluster=6, seed=1)
    >>> found = ordhc.structure(t)
    >>> found.verdict.kind, found.tree_share.value > 0.9
    ('tree', True)
    """
    progress = _checks.callback("progress", progress)
    workers = as_executor(executor)
    if not isinstance(data, Triplets | Quadruplets):
        raise InputError(f"structure takes Triplets or Quadruplets, not {type(data).__name__}")
    if not _FEWEST_LEAVES <= data.n_leaves <= _MOST_LEAVES:
        raise InputError(
            f"there are {data.n_leaves:,} leaves; {_FEWEST_LEAVES} to {_MOST_LEAVES:,} are needed"
        )
    folds = _checks.whole("folds", folds, at_least=2)
    seed = _checks.seed(seed)
    if data.weights is not None:
        data = data[data.weights > 0]
    if not len(data):
        raise InputError("there are no answers (of positive weight) to predict")
    units, parts, kept = split(data, folds, seed, None, unit)
    trial = Trial(data, units, parts, seed)
    tasks = [(fold, what) for fold in range(folds) for what in PARTS]
    if workers is not None:
        with Spill(spill) as folder:
            shared = Shared(trial, lambda: folder.folder)
            told = part(progress, 0, 0.99)
            found = run_tasks(workers, fitted, [(shared, *task) for task in tasks], progress=told)
    else:
        found = []
        for done, (fold, what) in enumerate(tasks):
            found.append(trial.predicted(fold, what))
            if progress is not None:
                progress(0.99 * (done + 1) / len(tasks))
    compared = _compared(trial, folds, found, kept)
    if progress is not None:
        progress(1.0)
    return compared


@dataclass(frozen=True)
class _Answers:
    """Of each answer: its weight, its unit, and by structure its log loss and whether it is the likeliest."""

    weight: Floats
    unit: Numbers
    losses: dict[str, Floats]
    right: dict[str, Floats]
    folds: int

    def ratio(self, above: Floats, below: Floats) -> Estimate:
        """Return a ratio of weighted sums over answers, with its interval over units."""
        count = int(self.unit.max()) + 1
        over = np.bincount(self.unit, self.weight * above, count)
        under = np.bincount(self.unit, self.weight * below, count)
        counted = np.bincount(self.unit, minlength=count) > 0
        whole = float(under.sum())
        if whole == 0:
            return Estimate(math.nan, math.nan, math.nan)
        value, n = float(over.sum()) / whole, int(counted.sum())
        if n < FEWEST_UNITS:
            return Estimate(value, math.nan, math.nan)
        variance = float(((over - value * under)[counted] ** 2).sum()) / whole**2 * n / (n - 1)
        half = student(n - 1) * math.sqrt(variance * (1 + self.folds / (self.folds - 1)))
        return Estimate(value, value - half, value + half)

    def mean(self, values: Floats) -> Estimate:
        """Return a mean over answers, with its interval over units."""
        return self.ratio(values, np.ones_like(values))

    def share(self, values: Floats) -> Estimate:
        """Return a mean of shares, with its interval within 0 to 1."""
        found = self.mean(values)
        return Estimate(found.value, *np.clip([found.low, found.high], 0.0, 1.0).tolist())


def _gathered(trial: Trial, folds: int, found: Sequence[Found]) -> _Answers:
    """The predictions of all folds together."""
    weight, unit = [], []
    losses: dict[str, list[Floats]] = {}
    right: dict[str, list[Floats]] = {}
    for fold in range(folds):
        choices = Choices.of(trial.parted(fold)[1])
        mine = found[fold * len(PARTS) : (fold + 1) * len(PARTS)]
        tables = {name: each for one in mine for name, each in one.items()}
        chosen = tables.pop(POINTS)
        tables[_CHOSEN] = chosen
        tables[_BOTH] = [(a + b) / 2 for a, b in zip(tables[ADDITIVE], chosen, strict=True)]
        tables = {
            _CHANCE: [np.full_like(a, 1 / k.n_possible) for a, k in zip(chosen, choices.kinds, strict=True)],
            **tables,
        }
        for name, table in tables.items():
            with np.errstate(divide="ignore"):
                loss = [-np.log(np.maximum(each[:, 0], 1e-300)) for each in table]
            losses.setdefault(name, []).append(choices.gathered(loss)[0])
            right.setdefault(name, []).append(choices.gathered([right_of(each) for each in table])[0])
        weight.append(choices.gathered([np.ones(len(kind)) for kind in choices.kinds])[1])
        unit.append(trial.units_of_answers(fold))
    # Chance is right as often as one of the possible answers is.
    joined = {name: np.concatenate(each) for name, each in right.items()}
    joined[_CHANCE] = np.exp(-np.concatenate(losses[_CHANCE]))
    return _Answers(
        np.concatenate(weight),
        np.concatenate(unit),
        {name: np.concatenate(each) for name, each in losses.items()},
        joined,
        folds,
    )


def _dimensions(answers: _Answers, means: dict[str, float]) -> int:
    """The smallest number of dimensions in which points are not clearly worse than in the best one."""
    known = [d for d in DIMENSIONS if named(d) in means]
    best = min(known, key=lambda d: means[named(d)])
    losses = answers.losses
    return next(
        d for d in known if d == best or not answers.mean(losses[named(d)] - losses[named(best)]).low > 0
    )


def _compared(trial: Trial, folds: int, found: Sequence[Found], kept: str) -> Structure:
    answers = _gathered(trial, folds, found)
    losses = answers.losses
    means = {name: answers.mean(each).value for name, each in losses.items()}
    best = min(means, key=means.__getitem__)
    base = min((_CHANCE, EFFECTS), key=means.__getitem__)
    tree = min((ULTRAMETRIC, ADDITIVE), key=means.__getitem__)
    gained = losses[base] - losses[best]
    beyond = answers.mean(gained)
    # Without an advantage that is clearly above 0 shares of it are shares of nothing.
    is_some = beyond.low > 0
    unknown = Estimate(math.nan, math.nan, math.nan)
    tree_share = answers.ratio(losses[base] - losses[tree], gained) if is_some else unknown
    dimensions = _dimensions(answers, means)
    points = named(1) if dimensions == 1 else _CHOSEN
    points_share = answers.ratio(losses[base] - losses[points], gained) if is_some else unknown
    evidence = Evidence(
        by_effects=answers.mean(losses[_CHANCE] - losses[EFFECTS]),
        beyond_effects=beyond,
        tree=tree_share,
        points=points_share,
        points_behind=answers.mean(losses[points] - losses[tree]),
        dimensions=dimensions,
        chance=means[_CHANCE],
    )
    names = [
        _CHANCE,
        *(name for name in losses if name not in (_CHANCE, ULTRAMETRIC, ADDITIVE, _CHOSEN, _BOTH)),
    ]
    names[3:3] = [ULTRAMETRIC, ADDITIVE]
    scores = [
        StructureScore(
            name,
            answers.mean(losses[name]),
            answers.share(answers.right[name]),
            answers.mean(losses[name] - losses[best]),
        )
        for name in (*names, _CHOSEN, _BOTH)
    ]
    return Structure(
        verdict_of(evidence),
        tuple(scores),
        tree_share,
        points_share,
        dimensions,
        answer_ceilings(trial.data),
        len(answers.weight),
        folds,
        kept,
    )
