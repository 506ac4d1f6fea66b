"""Which method to use: trees made from part of the answers, scored by the others."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc, registry, verbs
from ordhc.clustering import Plan
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.resampling import _groups, _share

__all__ = ["Candidate", "Selection", "questions", "select"]

Progress = Callable[[float], None]

#: What is compared if nothing is named; those of plugins if they are installed.
DEFAULT_METHODS = {
    Triplets: ("adds3-al", "adds3-al+spr", "mulk3-al", "tste-al", "complete"),
    Quadruplets: ("adds4-al", "adds4-al+spr", "4k-al"),
}
SCORES = ("revenue", "satisfied")


@dataclass(frozen=True)
class Candidate:
    """A method and how it did on answers that it had not seen.

    Attributes
    ----------
    method
        Its name.
    revenue, revenue_error
        The revenue on held-out answers as a share of the best conceivable (1 if every answer could be
        satisfied by as much as n leaves allow), the mean over folds and its standard error.
    satisfied, satisfied_error
        The share of held-out answers that the tree agrees with, and its standard error.
    seconds
        The mean time of a fit.
    """

    method: str
    revenue: float
    revenue_error: float
    satisfied: float
    satisfied_error: float
    seconds: float


@dataclass(frozen=True, repr=False)
class Selection:
    """What `select` gives.

    Attributes
    ----------
    candidates
        One for each method, the best first.
    by
        The score that decides, "revenue" or "satisfied".
    folds
        In how many parts the answers were split.
    """

    candidates: tuple[Candidate, ...]
    by: str
    folds: int

    @property
    def best(self) -> str:
        """The method to use."""
        return self.candidates[0].method

    @property
    def clearly_worse(self) -> tuple[str, ...]:
        """The methods more than two standard errors of both below the best one."""
        first, *others = self.candidates
        error = f"{self.by}_error"

        def distance(other: Candidate) -> float:
            errors = float(np.hypot(getattr(first, error), getattr(other, error)))
            gap = float(getattr(first, self.by)) - float(getattr(other, self.by))
            return gap / errors if errors else (np.inf if gap > 0 else 0.0)

        return tuple(other.method for other in others if distance(other) > 2)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "best": self.best,
            "by": self.by,
            "folds": self.folds,
            "candidates": [asdict(candidate) for candidate in self.candidates],
        }

    def __str__(self) -> str:
        width = max(len("method"), *(len(candidate.method) for candidate in self.candidates))
        lines = [f"{'method':{width}}  held-out revenue  held-out satisfied  seconds"]
        for c in self.candidates:
            revenue = f"{c.revenue:.4f} ± {c.revenue_error:.4f}"
            satisfied = f"{c.satisfied:.4f} ± {c.satisfied_error:.4f}"
            lines.append(f"{c.method:{width}}  {revenue:>16}  {satisfied:>18}  {c.seconds:7.3g}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Selection: {self.best} of {len(self.candidates)} methods, by held-out {self.by}>"


def select(
    data: Triplets | Quadruplets,
    methods: Sequence[str] | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    by: str = "revenue",
    group: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Selection:
    """Say which method to use, by cross-validation.

    Each method makes a tree from all answers but a fold's, and is scored by these.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets`.
    methods
        Names, as `cluster` takes them; by default those that do well on such data, with "tste-al" and
        "complete" if the plugin that brings them is installed.
    folds
        In how many parts to split the answers. Repeated and opposite answers to the same question are in
        the same part.
    seed
        The same seed gives the same parts.
    by
        What decides: "revenue" or "satisfied", on held-out answers.
    group
        (m,) what each answer belongs to, a participant's id or name: their answers are in the same part.
    progress
        Called now and then with the share that is done, from 0 to 1.

    Returns
    -------
    Selection
        The methods with scores and standard errors, best first.

    Raises
    ------
    InputError
        Unknown methods, fewer questions (or groups) than folds, what a method can't do without.

    Notes
    -----
    The revenue on the answers that a tree was made from always favours the method that searches hardest for
    it. On held-out answers it follows the agreement with the true hierarchy closely.

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.simulate_planted(2000, levels=2, leaves_per_cluster=6, seed=1)
    >>> found = ordhc.select(t, ["adds3-al", "mulk3-al"])
    >>> found.best, len(found.candidates)
    ('adds3-al', 2)
    """
    if not isinstance(data, Triplets | Quadruplets):
        raise InputError(f"select takes Triplets or Quadruplets, not {type(data).__name__}")
    if by not in SCORES:
        raise InputError(f"by is {by!r}, not one of {', '.join(SCORES)}")
    folds = _checks.whole("folds", folds, at_least=2)
    seed = _checks.whole("seed", seed, at_least=0)
    if methods is None:
        known = registry.names("method")
        methods = [name for name in DEFAULT_METHODS[type(data)] if name in known]
    if isinstance(methods, str) or not methods:
        raise InputError(f"methods is {methods!r}; give a list of names")
    for name in methods:
        if list(methods).count(name) > 1:
            raise InputError(f"the method {name!r} is given twice")
    plans = [Plan.of(data, method=name) for name in methods]
    part = _parts(data, folds, seed, group)
    scores = np.empty((len(plans), folds, 3))
    for fold, seen, unseen in _splits(data, part, folds):
        for at, plan in enumerate(plans):
            start = time.perf_counter()
            tree, _ = plan.fit(verbs._fitting(seen, plan.accepts, plan.title))
            seconds = time.perf_counter() - start
            best = _ordhc.best_revenue(unseen.rows, unseen.weights, unseen.n_leaves)
            if not best:
                raise InputError(f"part {fold} of {folds} holds no answers of positive weight")
            revenue = _ordhc.revenue(tree._tree, unseen.rows, unseen.weights) / best
            scores[at, fold] = revenue, _share(tree, unseen), seconds
            if progress is not None:
                progress((fold * len(plans) + at + 1) / (folds * len(plans)))
    means = scores.mean(axis=1)
    errors = scores.std(axis=1, ddof=1) / np.sqrt(folds)
    candidates = [
        Candidate(name, *map(float, (m[0], e[0], m[1], e[1], m[2])))
        for name, m, e in zip(methods, means, errors, strict=True)
    ]
    ranked = sorted(candidates, key=lambda candidate: -getattr(candidate, by))
    return Selection(tuple(ranked), by, folds)


def _splits(
    data: Triplets | Quadruplets, part: NDArray[np.int64], folds: int
) -> Iterator[tuple[int, Any, Any]]:
    for fold in range(folds):
        unseen = part == fold
        yield fold, data[~unseen], data[unseen]


def _parts(data: Triplets | Quadruplets, folds: int, seed: int, group: ArrayLike | None) -> NDArray[np.int64]:
    """The part of each answer."""
    unit = _groups(group, len(data))
    what = "groups"
    if unit is None:
        unit, what = questions(data), "different questions"
    count = int(unit.max()) + 1 if len(unit) else 0
    if count < folds:
        raise InputError(f"there are {count} {what} for {folds} folds")
    part = np.random.default_rng(seed).permutation(count) % folds
    return part[unit]


def questions(data: Triplets | Quadruplets) -> NDArray[np.int64]:
    """Which question each answer answers, whichever way, numbered from 0."""
    rows = data.rows.astype(np.int64)
    n = data.n_leaves
    if isinstance(data, Triplets):
        first, second = rows[:, 0] * n + rows[:, 1], rows[:, 0] * n + rows[:, 2]
    else:
        pairs = np.sort(rows.reshape(-1, 2, 2), axis=2)
        first, second = (pairs[:, :, 0] * n + pairs[:, :, 1]).T
    _, numbers = np.unique(np.concatenate([first, second]), return_inverse=True)
    count = int(numbers.max()) + 1 if len(numbers) else 1
    numbers = np.sort(numbers.reshape(2, -1), axis=0)
    return np.unique(numbers[0] * count + numbers[1], return_inverse=True)[1].astype(np.int64)
