"""Make trees without some folds of the answers, and score them on these folds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress
from ordhc.clustering.cluster import fit
from ordhc.clustering.mixing import one_of_many_trees
from ordhc.clustering.plan import Plan
from ordhc.clustering.posterior import drawn_posterior
from ordhc.clustering.sampling import drawn_by
from ordhc.comparison.choices import Choices
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.rows import changed, persons_of
from ordhc.comparison.units import answers_of, questions_of, shares_of, units_of
from ordhc.errors import InputError
from ordhc.evaluate.bootstrap import groups_to_draw
from ordhc.evaluate.ceiling import chance_of
from ordhc.evaluate.folds import Result, Sums, left_out
from ordhc.metrics.answers import right_answers
from ordhc.plugins.registry import Named
from ordhc.similarities.similarity import fitting
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import engine_tree

__all__ = ["Folds", "bundled", "parts_of", "split", "together"]

#: Maximum number of units whose scores are stored, which takes about 170 bytes per method and unit.
MOST_UNITS = 1 << 18
#: The comparisons without some folds; the row numbers of these folds; the comparisons of these folds.
_Cut = tuple[Triplets | Quadruplets, NDArray[np.intp], Triplets | Quadruplets]


@dataclass(frozen=True)
class Folds:
    """The folds of comparisons in memory, which are held out in turn."""

    data: Triplets | Quadruplets
    #: (m,) the unit (person or question) of each row, and (u,) the fold of each unit.
    units: NDArray[np.int64]
    parts: NDArray[np.int64]
    folds: int
    #: Rows on which trees are scored, and from which no tree is made; None to hold out all rows in turn.
    apart: NDArray[np.bool_] | None = None
    #: The last result of `_cut`, by the folds that it leaves out.
    _last: dict[tuple[int, ...], _Cut] = field(default_factory=dict, init=False, repr=False, compare=False)

    def left_out(self) -> list[tuple[int, ...]]:
        """Return the folds that each tree leaves out."""
        return left_out(self.folds)

    @cached_property
    def counted(self) -> NDArray[np.float64]:
        """(3, m) the largest amount that each row could add to each score: satisfied, revenue and answers."""
        data = self.data
        weights = np.ones(len(data)) if data.weights is None else data.weights
        shares = shares_of(data)
        of_answers = weights if shares is None else weights * shares
        counted = np.stack([of_answers, weights, of_answers])
        counted[1] *= max(0, data.n_leaves - 2)
        if self.apart is not None:
            counted[:, ~self.apart] = 0.0
        return counted

    @cached_property
    def answers_chance(self) -> float:
        """The expected share of answers predicted by random guesses."""
        rows = self.data if self.apart is None else self.data[np.flatnonzero(self.apart)]
        return Choices.of(rows).chance

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """(3, u) the largest amount that each unit (person or question) could add to each score."""
        return np.stack([np.bincount(self.units, each, len(self.parts)) for each in self.counted])

    def scores(
        self, without: tuple[int, ...], method: Named, progress: Progress | None = None
    ) -> tuple[NDArray[np.float64], float, float]:
        """Return the first three items of the result of `tried`, for a method given by name."""
        sums, seconds, chance, _ = self.tried(without, Plan.of(self.data, method=method), progress)
        return sums, seconds, chance

    def tried(
        self, without: tuple[int, ...], plan: Plan, progress: Progress | None = None
    ) -> tuple[NDArray[np.float64], float, float, NDArray[np.int8]]:
        """Make a tree without some folds, and return its scores on the units in these folds.

        Returns
        -------
        tuple
            Four items. (3, u) the amount that each unit (person or question) adds to each score: satisfied,
            revenue and answers; 0 for units from which the tree was made. The seconds of the fit. The share
            of answers satisfied by chance; NaN for more than one fold. For each held-out row: 1 if the tree
            agrees, -1 if it disagrees, 0 if it does not decide.
        """
        seen, at, unseen = self._cut(without)
        start = time.perf_counter()
        with one_of_many_trees():
            tree, scores_of = _fitted(plan, fitting(seen, plan.accepts, plan.title), progress)
        seconds = time.perf_counter() - start
        for fold in without:
            if not self.most[1, self.parts == fold].sum():
                raise InputError(
                    f"fold {fold} of {self.folds} has no answers of positive weight: give fewer folds"
                )
        verdicts = _ordhc.verdicts(engine_tree(tree), unseen.rows)
        each = self.counted[:, at] * np.stack([verdicts == 1, _revenues(tree, unseen), scores_of(unseen)])
        sums = np.zeros(self.most.shape)
        for of_score, of_rows in zip(sums, each, strict=True):
            of_score += np.bincount(self.units[at], of_rows, len(self.parts))
        return sums, seconds, chance_of(tree, unseen) if len(without) == 1 else np.nan, verdicts

    def _cut(self, without: tuple[int, ...]) -> _Cut:
        """Return the comparisons outside of some folds, and the row numbers and comparisons of these folds.

        The last result is stored, because the trees of all methods are made from it.
        """
        # A single lookup, because other threads can clear the dictionary at any time.
        if (known := self._last.get(without)) is not None:
            return known
        rows = np.isin(self.parts, without)[self.units]
        seen = self.data[~rows if self.apart is None else ~rows & ~self.apart]
        at = np.flatnonzero(rows if self.apart is None else rows & self.apart)
        made = seen, at, self.data[at]
        self._last.clear()
        self._last[without] = made
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": {}}

    def result(
        self, left: Sequence[tuple[int, ...]], found: Sequence[tuple[NDArray[np.float64], float, float]]
    ) -> Result:
        """Return the scores of all trees of a method."""
        most = self.most
        got = np.full(most.shape, np.nan)
        without = np.full((3, self.folds, len(self.parts)), np.nan)
        for folds, (sums, _, _) in zip(left, found, strict=True):
            for fold in folds:
                mine = self.parts == fold
                for other in folds if len(folds) > 1 else ():
                    if other != fold:
                        without[:, other, mine] = sums[:, mine]
                if len(folds) == 1:
                    got[:, mine] = sums[:, mine]
        alone = [each for folds, each in zip(left, found, strict=True) if len(folds) == 1]
        satisfied, revenue, answers = (Sums(self.parts, most[at], got[at], without[at]) for at in range(3))
        seconds = float(np.mean([seconds for _, seconds, _ in alone]))
        chance = float(np.mean([chance for _, _, chance in alone]))
        return Result(satisfied, revenue, seconds, chance, answers, self.answers_chance)


def _fitted(
    plan: Plan, data: Triplets | Quadruplets, progress: Progress | None
) -> tuple[Dendrogram, Callable[[Triplets | Quadruplets], NDArray[np.float64]]]:
    """Fit a tree; return the tree and a function that scores the answers of comparisons, (m,).

    The score is 1 if the given choice is the likeliest one, 1/t if it ties with t - 1 others, otherwise 0.
    """
    if plan.linkage.name == "posterior-al" and plan.similarity is None and plan.refine is None:
        drawn, _ = drawn_posterior(data, progress=progress, **drawn_by(plan.linkage_settings))
        return drawn.dendrogram, lambda unseen: drawn.score_answers(unseen).by_answer()[0][answers_of(unseen)]
    tree, _ = fit(plan, data, progress=progress)
    return tree, lambda unseen: right_answers(tree, unseen)[0][answers_of(unseen)]


def _revenues(tree: Dendrogram, data: Triplets | Quadruplets) -> NDArray[np.float64]:
    """Return (m,) revenues of comparisons without weights, divided by the largest possible revenue."""
    rows = data.rows.astype(np.int64)
    near, far = (rows[:, :2], rows[:, ::2]) if rows.shape[1] == 3 else (rows[:, :2], rows[:, 2:])
    sizes = [
        engine_tree(tree).lca_sizes(np.ascontiguousarray(pair[:, 0]), np.ascontiguousarray(pair[:, 1]))
        for pair in (near, far)
    ]
    return (sizes[1] - sizes[0]) / max(1, data.n_leaves - 2)


def parts_of(
    data: Triplets | Quadruplets,
    folds: int,
    seed: int,
    group: ArrayLike | None = None,
    unit: str | None = None,
) -> tuple[NDArray[np.int64], str]:
    """Return the fold of each row, and the kind of unit that is kept in one fold ("group" or "answer")."""
    units, parts, kept = split(data, folds, seed, group, unit)
    return parts[units], kept


def split(
    data: Triplets | Quadruplets,
    folds: int,
    seed: int,
    group: ArrayLike | None = None,
    unit: str | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], str]:
    """Return the unit of each row, the fold of each unit, and the kind of unit ("group" or "answer").

    A unit is a person ("group"), or a question ("answer"). All answers of a unit are in one fold.
    """
    kept = "group"
    units = groups_to_draw(group, len(data))
    if units is not None and unit is not None:
        raise InputError("give group or unit, not both")
    if units is None:
        units, kept = units_of(data, unit)
    if kept == "answer":
        units, _ = questions_of(data)
    count = int(units.max()) + 1 if len(units) else 0
    if count < folds:
        what, advice = ("different questions", "") if kept == "answer" else ("groups", " or unit='answer'")
        raise InputError(
            f"there are {count} {what} for {folds} folds: give fewer folds{advice if group is None else ''}"
        )
    return units, np.random.default_rng(seed).permutation(count) % folds, kept


def bundled(
    units: NDArray[np.int64], parts: NDArray[np.int64], folds: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Join units of a fold if there are more than `MOST_UNITS`; return each row's unit and each unit's fold.

    A unit is a person or a question. Scores do not change. Variances are estimated between joined units,
    which are as independent of each other as the units themselves.

    Examples
    --------
    >>> import numpy as np
    >>> units, parts = bundled(np.arange(4), np.array([0, 1, 0, 1]), 2)
    >>> units.tolist(), parts.tolist()
    ([0, 1, 2, 3], [0, 1, 0, 1])
    """
    if len(parts) <= MOST_UNITS:
        return units, parts
    each = max(1, MOST_UNITS // folds)
    joined = np.empty(len(parts), dtype=np.int64)
    for fold in range(folds):
        mine = np.flatnonzero(parts == fold)
        joined[mine] = fold + folds * (np.arange(len(mine)) % each)
    return joined[units], np.arange(folds * each) % folds


def together(
    data: Triplets | Quadruplets, heldout: Triplets | Quadruplets
) -> tuple[Triplets | Quadruplets, NDArray[np.bool_]]:
    """Concatenate two sets of comparisons; return them, and which rows are from `heldout`."""
    if type(heldout) is not type(data) or (heldout.n_leaves, heldout.names) != (data.n_leaves, data.names):
        raise InputError(
            f"heldout, {_checks.quoted(heldout)}, and the data, {data!r}, must have the same leaves"
        )
    some = (data, heldout)
    numbers = [answers_of(part) for part in some]
    groups = None
    if data.groups is not None and heldout.groups is not None:
        groups = np.concatenate([persons_of(part) for part in some])
    weights = [np.ones(len(part)) if part.weights is None else part.weights for part in some]
    both = changed(
        data,
        rows=np.concatenate([part.rows for part in some]),
        weights=None if data.weights is None and heldout.weights is None else np.concatenate(weights),
        answers=np.concatenate([numbers[0], numbers[1] + numbers[0].max(initial=-1) + 1]),
        groups=groups,
        group_names=None,
    )
    return both, np.arange(len(both)) >= len(data)
