"""Which method to use: trees made from part of the answers, scored by the others."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _html, _ordhc
from ordhc._progress import Progress, part, shows_progress
from ordhc._workers import Shared, as_executor, run_tasks
from ordhc.clustering.cluster import fit
from ordhc.clustering.plan import MOVES_UP_TO, Plan
from ordhc.clustering.sampling import seconds_of
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.units import answers_of, questions_of, shares_of, units_of
from ordhc.errors import InputError
from ordhc.evaluate.bootstrap import groups_to_draw
from ordhc.evaluate.ceiling import NoiseCeiling, chance_of, noise_ceiling, satisfied_share
from ordhc.evaluate.scanned import ScannedFold, checked_plan
from ordhc.io.portions import unit_of
from ordhc.io.scan import Scan, kind_of
from ordhc.plugins import registry
from ordhc.similarities.similarity import fitting
from ordhc.similarities.spilled import Spill

__all__ = [
    "Candidate",
    "NoiseCeiling",
    "Selection",
    "default_methods",
    "noise_ceiling",
    "questions",
    "select",
]


_TRIPLETS = ("adds3-al", "adds3-al+spr", "mulk3-al", "tste-al", "completion")
_QUADRUPLETS = ("adds4-al", "adds4-al+spr", "4k-al")
#: What is compared if nothing is named, by the score; those of plugins if they are installed.
DEFAULT_METHODS: dict[tuple[type, str], tuple[str, ...]] = {
    (Triplets, "revenue"): _TRIPLETS,
    (Triplets, "satisfied"): (*_TRIPLETS, "consistency"),
    (Quadruplets, "revenue"): _QUADRUPLETS,
    (Quadruplets, "satisfied"): _QUADRUPLETS,
}
#: Trees of a posterior are compared by default if all folds take at most so many seconds of one core; five
#: times as long if a learner chose the questions, because other methods are biased then.
_DRAWN, _DRAWN_ADAPTIVE = 60.0, 300.0
_POSTERIOR = "posterior-al"
SCORES = ("revenue", "satisfied")
#: The share of progress that is told while trees are made; the noise ceiling follows.
_FITS = 0.99


@dataclass(frozen=True)
class Candidate:
    """A method and how it did on answers that it had not seen.

    Attributes
    ----------
    method
        Its name.
    revenue, revenue_error
        The revenue on held-out answers as a share of the best conceivable (1 if every answer could be
        satisfied by as much as n leaves allow), the mean over folds and its standard error. Chance gives 0.
    satisfied, satisfied_error
        The share of held-out answers that the tree agrees with, and its standard error. An answer counts
        once, whether it is one row or several; of several by the share of these.
    seconds
        The mean time of a fit.
    chance
        What `satisfied` would be with the leaves of the trees in any order: 1/3 for triplets.
    """

    method: str
    revenue: float
    revenue_error: float
    satisfied: float
    satisfied_error: float
    seconds: float
    chance: float


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
    unit
        What was kept together: "group", a person's answers, or "answer", those to the same question.
    ceiling
        The share of answers that any tree could satisfy, where questions were repeated, or None.
    adaptive
        True if a learner chose the questions: answers to them do not show which tree is right.
    preferred
        The method that is the best unless it is clearly worse, or None.
    on_random
        True if methods are scored on answers that were held out for that, to questions drawn at random.
    """

    candidates: tuple[Candidate, ...]
    by: str
    folds: int
    unit: str
    ceiling: NoiseCeiling | None
    adaptive: bool = False
    on_random: bool = False
    preferred: str | None = None

    @property
    def best(self) -> str:
        """The method to use."""
        return self.candidates[0].method

    @property
    def clearly_worse(self) -> tuple[str, ...]:
        """The methods more than two standard errors of both below the best one."""
        first, *others = self.candidates
        return tuple(other.method for other in others if _is_worse(other, first, self.by))

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "best": self.best,
            "by": self.by,
            "folds": self.folds,
            "unit": self.unit,
            "adaptive": self.adaptive,
            "preferred": self.preferred,
            "on_random": self.on_random,
            "ceiling": None if self.ceiling is None else asdict(self.ceiling),
            "candidates": [asdict(candidate) for candidate in self.candidates],
        }

    def __str__(self) -> str:
        width = max(len("method"), *(len(candidate.method) for candidate in self.candidates))
        lines = [f"{'method':{width}}  held-out revenue  held-out satisfied  seconds"]
        for c in self.candidates:
            revenue = f"{c.revenue:.4f} ± {c.revenue_error:.4f}"
            satisfied = f"{c.satisfied:.4f} ± {c.satisfied_error:.4f}"
            lines.append(f"{c.method:{width}}  {revenue:>16}  {satisfied:>18}  {c.seconds:7.3g}")
        lines.append(f"{'chance':{width}}  {'0':>16}  {self._chance():>18}")
        if self.ceiling is not None:
            lines.append(f"noise ceiling of held-out satisfied: {self.ceiling}")
        lines.extend(self._notes())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The table of `print`, in a notebook; methods that are clearly worse are marked."""
        worse = self.clearly_worse
        rows = [
            (
                c.method,
                f"{c.revenue:.4f} ± {c.revenue_error:.4f}",
                f"{c.satisfied:.4f} ± {c.satisfied_error:.4f}",
                f"{c.seconds:.3g}",
                "best" if at == 0 else "clearly worse" if c.method in worse else "",
            )
            for at, c in enumerate(self.candidates)
        ]
        rows.append(("chance", "0", self._chance(), "", ""))
        notes = [] if self.ceiling is None else [f"noise ceiling of held-out satisfied: {self.ceiling}"]
        notes += self._notes()
        columns = ("method", "held-out revenue", "held-out satisfied", "seconds", "")
        return _html.block(repr(self)[1:-1], _html.table(columns, rows, strong=0, notes=notes))

    def _notes(self) -> list[str]:
        found = []
        if self.on_random:
            found.append("scored on answers to random questions that were held out for this")
        if self.preferred is not None:
            why = "a learner chose the questions, so " if self.adaptive else ""
            found.append(f"{why}{self.preferred} is preferred unless it is clearly worse")
        return found

    def _chance(self) -> str:
        chances = [c.chance for c in self.candidates]
        least, most = f"{min(chances):.4f}", f"{max(chances):.4f}"
        return least if least == most else f"{least} to {most}"

    def __repr__(self) -> str:
        return f"<Selection: {self.best} of {len(self.candidates)} methods, by held-out {self.by}>"


def _is_worse(other: Candidate, first: Candidate, by: str) -> bool:
    """Whether a method is more than two standard errors of both below another one."""
    errors = float(np.hypot(getattr(first, f"{by}_error"), getattr(other, f"{by}_error")))
    gap = float(getattr(first, by)) - float(getattr(other, by))
    return gap > 2 * errors


def default_methods(
    data: Triplets | Quadruplets | Scan, by: str, folds: int, prefer: str | None = None
) -> list[str]:
    """Return the methods that are compared if none is named; one that is preferred may take longer."""
    kind = kind_of(data)
    assert kind is not None
    known = registry.names("method")
    methods = [name for name in DEFAULT_METHODS[kind, by] if name in known]
    if isinstance(data, Scan):
        return [name for name in methods if _is_sum(data, name)]
    limit = _DRAWN_ADAPTIVE if data.adaptive or prefer == _POSTERIOR else _DRAWN
    return [*methods, _POSTERIOR] if folds * seconds_of(data.n_leaves, len(data)) <= limit else methods


@shows_progress("comparing")
def select(
    data: Triplets | Quadruplets | Scan,
    methods: Sequence[str] | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    by: str = "revenue",
    group: ArrayLike | None = None,
    unit: str | None = None,
    heldout: Triplets | Quadruplets | None = None,
    prefer: str | None = None,
    executor: Executor | None = None,
    spill: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
) -> Selection:
    """Say which method to use, by cross-validation.

    Each method makes a tree from all answers but a fold's, and is scored by these.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets`; or a scan of files (`ordhc.scan`), for methods that are sums over
        answers.
    methods
        Names, as `cluster` takes them; by default those that do well on such data by such a score, with
        "tste-al" and "completion" if the plugin that brings them is installed, and "posterior-al" where all
        folds take less than a minute on one core (five minutes if a learner chose the questions).
    folds
        In how many parts to split the answers. All rows of an answer are in the same part, and so are
        repeated and opposite answers to the same question, or, where people are known, all of a person's.
    seed
        The same seed gives the same parts.
    by
        What decides: "revenue" or "satisfied", on held-out answers.
    group
        (m,) what each row belongs to, a participant's id or name, instead of the data's groups: their answers
        are in the same part.
    unit
        "answer" or "group" (of the data): what is kept together, instead of people where they are known. Of a
        scan "group" or "file".
    heldout
        Comparisons of the same leaves that methods are scored on instead of `data`, such as answers to random
        questions that no tree is made of (`Session.comparisons(heldout=True)`). Their parts are those of
        `data`: a person's answers are never in a tree that is scored on this person. Without effect if a
        part has none of them.
    prefer
        A method that is the best unless it is clearly worse: by more than two standard errors. By default
        "posterior-al" if a learner chose the questions, which is then clearly worse only on `heldout`.
    executor, spill
        As in `bootstrap`: who makes the trees, and a folder that all workers see.
    progress
        True for a bar; what can be called is, now and then, with the share that is done, from 0 to 1.

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
    progress = _checks.callback("progress", progress)
    workers = as_executor(executor)
    kind = kind_of(data)
    if kind is None:
        raise InputError(f"select takes Triplets, Quadruplets or a scan, not {type(data).__name__}")
    if heldout is not None and not isinstance(heldout, Triplets | Quadruplets):
        raise InputError(f"heldout is {_checks.quoted(heldout)}, not Triplets or Quadruplets")
    by = _checks.choice("by", by, SCORES)
    folds = _checks.whole("folds", folds, at_least=2)
    seed = _checks.seed(seed)
    if prefer is not None:
        registry.get("method", _checks.text("prefer", prefer))
    methods = _checks.words(
        "methods", default_methods(data, by, folds, prefer) if methods is None else methods
    )
    is_on_random = False
    work: _Folds | ScannedFold
    if isinstance(data, Scan):
        for name in methods:
            checked_plan(data, {"method": name})
        kept, count = unit_of(data, unit, group)
        work, ceiling = ScannedFold.of(data, kept, count, folds, seed), None
    else:
        for name in methods:
            Plan.of(data, method=name)
        parts, kept = parts_of(data, folds, seed, group, unit)
        work = _Folds(data, parts, folds)
        if heldout is not None and len(heldout) and group is None:
            both, apart = _with(data, heldout)
            their_parts, kept = parts_of(both, folds, seed, None, unit)
            if len(np.unique(their_parts[apart])) == folds:
                is_on_random, work = True, _Folds(both, their_parts, folds, apart)
        ceiling = noise_ceiling(heldout if is_on_random and heldout is not None else data)
    tasks = [(fold, name) for fold in range(folds) for name in methods]
    with Spill(spill) as folder:
        found = _fits(work, tasks, workers, folder, part(progress, 0, _FITS))
    scores = np.array(found).reshape(folds, len(methods), 4).swapaxes(0, 1)
    means = scores.mean(axis=1)
    errors = scores.std(axis=1, ddof=1) / np.sqrt(folds)
    candidates = [
        Candidate(name, *map(float, (m[0], e[0], m[1], e[1], m[2], m[3])))
        for name, m, e in zip(methods, means, errors, strict=True)
    ]
    ranked = sorted(candidates, key=lambda candidate: -getattr(candidate, by))
    is_adaptive = not isinstance(data, Scan) and data.adaptive
    preferred = prefer or (_POSTERIOR if is_adaptive else None)
    for candidate in [each for each in ranked if each.method == preferred]:
        can_tell = is_on_random or not is_adaptive
        if not (can_tell and _is_worse(candidate, ranked[0], by)):
            ranked.remove(candidate)
            ranked.insert(0, candidate)
    if progress is not None:
        progress(1.0)
    return Selection(tuple(ranked), by, folds, kept, ceiling, is_adaptive, is_on_random, preferred)


def _with(
    data: Triplets | Quadruplets, heldout: Triplets | Quadruplets
) -> tuple[Triplets | Quadruplets, NDArray[np.bool_]]:
    """Both together, and which rows are held out."""
    if type(heldout) is not type(data) or (heldout.n_leaves, heldout.names) != (data.n_leaves, data.names):
        raise InputError(f"heldout is {_checks.quoted(heldout)}, with other leaves than the data, {data!r}")
    some = (data, heldout)
    numbers = [answers_of(part) for part in some]
    groups = None
    if data.groups is not None and heldout.groups is not None:
        groups = np.concatenate([part._persons() for part in some])
    weights = [np.ones(len(part)) if part.weights is None else part.weights for part in some]
    both = data._changed(
        rows=np.concatenate([part.rows for part in some]),
        weights=None if data.weights is None and heldout.weights is None else np.concatenate(weights),
        answers=np.concatenate([numbers[0], numbers[1] + numbers[0].max(initial=-1) + 1]),
        groups=groups,
        group_names=None,
    )
    return both, np.arange(len(both)) >= len(data)


@dataclass(frozen=True)
class _Folds:
    """What of comparisons in memory is held out in turn."""

    data: Triplets | Quadruplets
    parts: NDArray[np.int64]
    folds: int
    #: Rows that trees are scored on and never made of; None for all rows, by turns.
    apart: NDArray[np.bool_] | None = None

    def scores(self, fold: int, method: str, progress: Progress | None = None) -> tuple[float, ...]:
        """Revenue, share satisfied, seconds and chance of a method's tree on a part that it has not seen."""
        held = self.parts == fold
        may_be_seen, may_score = (True, True) if self.apart is None else (~self.apart, self.apart)
        seen, unseen = self.data[~held & may_be_seen], self.data[held & may_score]
        plan = Plan.of(self.data, method=method)
        start = time.perf_counter()
        tree, _ = fit(plan, fitting(seen, plan.accepts, plan.title), progress=progress)
        seconds = time.perf_counter() - start
        best = _ordhc.best_revenue(unseen.rows, unseen.weights, unseen.n_leaves)
        if not best:
            raise InputError(f"part {fold} of {self.folds} holds no answers of positive weight")
        revenue = _ordhc.revenue(tree._tree, unseen.rows, unseen.weights) / best
        satisfied = satisfied_share(tree, unseen, shares_of(unseen))
        return revenue, satisfied, seconds, chance_of(tree, unseen)


def _fits(
    work: "_Folds | ScannedFold",
    tasks: Sequence[tuple[int, str]],
    executor: Executor | None,
    folder: Spill,
    progress: Progress | None,
) -> list[tuple[float, ...]]:
    """The scores of each fold and method, here or by an executor."""
    if executor is not None:
        shared = Shared(work, lambda: folder.folder)
        return run_tasks(executor, _scores, [(shared, *task) for task in tasks], progress=progress)
    return [
        work.scores(fold, method, part(progress, at / len(tasks), (at + 1) / len(tasks)))
        for at, (fold, method) in enumerate(tasks)
    ]


def _scores(shared: Shared, fold: int, method: str) -> tuple[float, ...]:
    found: tuple[float, ...] = shared.value().scores(fold, method)
    return found


def _is_sum(scan: Scan, method: str) -> bool:
    """Whether a method goes without all answers in memory; moves of subtrees are for few leaves."""
    try:
        plan = checked_plan(scan, {"method": method})
    except InputError:
        return False
    return plan.refine is None or scan.n_leaves <= MOVES_UP_TO


def parts_of(
    data: Triplets | Quadruplets,
    folds: int,
    seed: int,
    group: ArrayLike | None = None,
    unit: str | None = None,
) -> tuple[NDArray[np.int64], str]:
    """The part of each row, and what was kept together."""
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
        what, advice = (
            ("different questions", "") if kept == "answer" else ("groups", "; or say unit='answer'")
        )
        raise InputError(f"there are {count} {what} for {folds} folds{advice if group is None else ''}")
    parts = np.random.default_rng(seed).permutation(count) % folds
    return parts[units], kept


def questions(data: Triplets | Quadruplets) -> NDArray[np.int64]:
    """Which question each row answers, whichever way, numbered from 0; all rows of an answer the same one."""
    return questions_of(data)[0]
