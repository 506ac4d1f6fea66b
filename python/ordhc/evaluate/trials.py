"""Make trees without some folds of the answers, and score them on these folds."""

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
from ordhc.comparison.rows import persons_of
from ordhc.comparison.units import answers_of, questions_of, shares_of
from ordhc.errors import InputError
from ordhc.evaluate.bootstrap import units_to_draw
from ordhc.evaluate.ceiling import chance_of
from ordhc.evaluate.folds import Result, Sums, left_out
from ordhc.metrics.answers import right_answers
from ordhc.plugins.registry import Named
from ordhc.similarities.similarity import fitting
from ordhc.tree.dendrogram import Dendrogram, engine_tree, lca_size

#: Maximum number of units (people or questions) whose scores are stored. The scores take about 170 bytes
#: per method and unit. A variance over this number of units has a relative standard error of 1%.
MOST_UNITS = 1 << 15


@dataclass(frozen=True)
class _Cut:
    seen: Triplets | Quadruplets
    unseen: Triplets | Quadruplets
    #: The row numbers of `unseen` in all comparisons.
    at: NDArray[np.intp]
    #: The units (people or questions) of the left-out folds, fold by fold.
    units: NDArray[np.intp]
    #: For each row of `unseen`: the index in `units` of the person or question of this row.
    codes: NDArray[np.intp]

    @cached_property
    def choices(self) -> Choices:
        return Choices.of(self.unseen)


@dataclass(frozen=True)
class Folds:
    """Comparisons in memory, split into folds; each fold is held out in turn."""

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
        return left_out(self.folds)

    @cached_property
    def counted(self) -> NDArray[np.float64]:
        """(3, m) the largest amount that each row could add to the satisfied share, revenue and answers."""
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
    def members(self) -> list[NDArray[np.intp]]:
        return [np.flatnonzero(self.parts == fold) for fold in range(self.folds)]

    @cached_property
    def answers_chance(self) -> float:
        rows = self.data if self.apart is None else self.data[np.flatnonzero(self.apart)]
        return Choices.of(rows).chance

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """(3, u) the sum of `counted` over the rows of each person or question."""
        return np.stack([np.bincount(self.units, each, len(self.parts)) for each in self.counted])

    def scores(
        self, without: tuple[int, ...], method: Named, progress: Progress | None = None
    ) -> tuple[NDArray[np.float64], float, float]:
        sums, seconds, chance, _ = self.tried(without, Plan.of(self.data, method=method), progress)
        return sums, seconds, chance

    def tried(
        self, without: tuple[int, ...], plan: Plan, progress: Progress | None = None
    ) -> tuple[NDArray[np.float64], float, float, NDArray[np.int8]]:
        """Make a tree without some folds, and return its scores on the units in these folds.

        Return four items. The amount that each unit (person or question) in these folds adds to each score,
        fold by fold, in three rows: satisfied, revenue and answers. The seconds of the fit. The share of
        answers satisfied by chance; NaN for more than one fold. For each held-out row: 1 if the tree agrees,
        -1 if it disagrees, 0 if it does not decide.
        """
        cut = self._cut(without)
        start = time.perf_counter()
        with one_of_many_trees():
            tree, scores_of = _fitted(plan, fitting(cut.seen, plan.accepts, plan.title), progress)
        seconds = time.perf_counter() - start
        for fold in without:
            if not self.most[1, self.members[fold]].sum():
                raise InputError(
                    f"fold {fold} of {self.folds} has no answers of positive weight: give fewer folds"
                )
        unseen = cut.unseen
        verdicts = _ordhc.verdicts(engine_tree(tree), unseen.rows)
        each = np.stack([verdicts == 1, _revenues(tree, unseen), scores_of(cut)]) * self.counted[:, cut.at]
        # Sums of the left-out units only, because workers send them to the caller.
        sums = np.stack([np.bincount(cut.codes, of_rows, len(cut.units)) for of_rows in each]).astype(float)
        return sums, seconds, chance_of(tree, unseen) if len(without) == 1 else np.nan, verdicts

    def _cut(self, without: tuple[int, ...]) -> _Cut:
        # All compared methods use the same folds in turn, so cache the last result.
        # A single lookup, because other threads can clear the dictionary at any time.
        if (known := self._last.get(without)) is not None:
            return known
        is_left_out = np.zeros(self.folds, dtype=bool)
        is_left_out[list(without)] = True
        rows = is_left_out[self.parts[self.units]]
        seen = self.data[~rows if self.apart is None else ~rows & ~self.apart]
        at = np.flatnonzero(rows if self.apart is None else rows & self.apart)
        units = np.concatenate([self.members[fold] for fold in without])
        position = np.empty(len(self.parts), dtype=np.intp)
        position[units] = np.arange(len(units))
        made = _Cut(seen, self.data[at], at, units, position[self.units[at]])
        self._last.clear()
        self._last[without] = made
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": {}}

    def result(
        self, left: Sequence[tuple[int, ...]], found: Sequence[tuple[NDArray[np.float64], float, float]]
    ) -> Result:
        most = self.most
        got = np.full(most.shape, np.nan)
        without = np.full((3, self.folds, len(self.parts)), np.nan)
        for folds, (sums, _, _) in zip(left, found, strict=True):
            if len(folds) == 1:
                got[:, self.members[folds[0]]] = sums
            else:
                one, other = folds
                middle = len(self.members[one])
                without[:, other, self.members[one]] = sums[:, :middle]
                without[:, one, self.members[other]] = sums[:, middle:]
        alone = [each for folds, each in zip(left, found, strict=True) if len(folds) == 1]
        satisfied, revenue, answers = (Sums(self.parts, most[at], got[at], without[at]) for at in range(3))
        seconds = float(np.mean([seconds for _, seconds, _ in alone]))
        chance = float(np.mean([chance for _, _, chance in alone]))
        return Result(satisfied, revenue, seconds, chance, answers, self.answers_chance)


def _fitted(
    plan: Plan, data: Triplets | Quadruplets, progress: Progress | None
) -> tuple[Dendrogram, Callable[[_Cut], NDArray[np.float64]]]:
    """Fit a tree; return the tree and a function that scores the answers of held-out comparisons, (m,).

    The score is 1 if the given choice is the likeliest one, 1/t if it ties with t - 1 others, otherwise 0.
    """
    if plan.linkage.name == "posterior-al" and plan.similarity is None and plan.refine is None:
        drawn, _ = drawn_posterior(data, progress=progress, **drawn_by(plan.linkage_settings))
        return drawn.dendrogram, lambda cut: drawn.score_answers(cut.unseen).by_answer()[0][
            answers_of(cut.unseen)
        ]
    tree, _ = fit(plan, data, progress=progress)
    return tree, lambda cut: right_answers(tree, cut.unseen, cut.choices)[0][answers_of(cut.unseen)]


def _revenues(tree: Dendrogram, data: Triplets | Quadruplets) -> NDArray[np.float64]:
    """Return (m,) revenues of comparisons without weights, divided by the largest possible revenue."""
    rows = data.rows.astype(np.int64)
    near, far = (rows[:, :2], rows[:, ::2]) if rows.shape[1] == 3 else (rows[:, :2], rows[:, 2:])
    of_near, of_far = (lca_size(tree, pair[:, 0], pair[:, 1]) for pair in (near, far))
    revenues: NDArray[np.float64] = (of_far - of_near) / max(1, data.n_leaves - 2)
    return revenues


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
    units, kept = units_to_draw(data, group, unit)
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
    """Join units (people or questions) of the same fold if there are more than `MOST_UNITS`.

    Return the joined unit of each row, and the fold of each joined unit. Scores do not change. Variances are
    then estimated between joined units, which are as independent of each other as single units.

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
    both = type(data)(
        np.concatenate([part.rows for part in some]),
        data.n_leaves,
        data.names,
        None if data.weights is None and heldout.weights is None else np.concatenate(weights),
        answers=np.concatenate([numbers[0], numbers[1] + numbers[0].max(initial=-1) + 1]),
        groups=groups,
        adaptive=data.adaptive,
    )
    return both, np.arange(len(both)) >= len(data)
