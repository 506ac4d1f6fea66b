"""Compare methods: make trees from part of the answers, and score them on the rest."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordhc import _checks, _html
from ordhc._json import finite
from ordhc._progress import Progress, part, shows_progress
from ordhc._text import aligned
from ordhc._workers import as_executor, worth
from ordhc.clustering.cost import warn_of_cost
from ordhc.clustering.plan import MOVES_UP_TO, Plan, best_method
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.evaluate.answers import AnswerCeiling, answer_ceilings
from ordhc.evaluate.ceiling import NoiseCeiling, noise_ceiling
from ordhc.evaluate.folds import Result, Score, chosen_within, difference, left_out, score
from ordhc.evaluate.scanned import ScannedFold, checked_plan
from ordhc.evaluate.tasks import results_of
from ordhc.evaluate.trials import Folds, bundled, split, together
from ordhc.io.portions import unit_of
from ordhc.io.scan import Scan, kind_of
from ordhc.io.spill import Spill
from ordhc.plugins import registry
from ordhc.plugins.names import Method
from ordhc.plugins.registry import Named

_TRIPLETS = ("adds3-al", "adds3-al+spr", "adds3-al+lengths+spr", "mulk3-al", "tste-al", "completion")
_QUADRUPLETS = ("adds4-al", "adds4-al+spr", "adds4-al+lengths+spr", "4k-al")
#: The methods that are compared by default, for each type of data and score. Methods of plugins are left out
#: if the plugin is not installed.
DEFAULT_METHODS: dict[tuple[type, str], tuple[str, ...]] = {
    (Triplets, "revenue"): _TRIPLETS,
    (Triplets, "satisfied"): (*_TRIPLETS, "consistency"),
    (Triplets, "answers"): (*_TRIPLETS, "consistency"),
    (Quadruplets, "revenue"): _QUADRUPLETS,
    (Quadruplets, "satisfied"): _QUADRUPLETS,
    (Quadruplets, "answers"): _QUADRUPLETS,
}
_POSTERIOR = "posterior-al"
SCORES = ("revenue", "satisfied", "answers")
#: The completed fraction after the noise ceiling, and the fraction after all trees.
_CEILING, _FITS = 0.02, 0.99
#: Bytes that a row takes, and seconds of processor time for a row and a tree that is scored; measured.
_BYTES_OF_ROW, _SECONDS_OF_ROW = 360, 1.5e-7


@dataclass(frozen=True)
class Candidate:
    """A method and its scores on held-out answers.

    Attributes
    ----------
    method
        The name of the method, followed by its settings in parentheses.
    revenue, revenue_low, revenue_high
        The revenue on held-out answers, divided by its upper bound with n leaves, and its 95% interval.
        Chance gives 0.
    satisfied, satisfied_low, satisfied_high
        The share of held-out answers with which the tree agrees, and its 95% interval. Each answer counts
        once; an answer of several rows counts by the share of its rows.
    answers, answers_low, answers_high
        The share of held-out answers whose choice is the likeliest one by the tree (or by the probabilities
        of "posterior-al"), and its 95% interval. If t choices are equally likely, the given one counts 1/t.
        NaN for scans.
    behind, behind_low, behind_high
        The deciding score (see `Selection.by`) of the best method minus that of this method, and its 95%
        interval, paired by person (or question) on the same folds. 0 for the best method.
    seconds
        The mean time of a fit, in seconds.
    chance
        The expected `satisfied` of trees with shuffled leaves: 1/3 for triplets.
    answers_chance
        The expected `answers` of random guesses: 1/2 for triplets, 1/3 for odd ones out and most central
        items.

    Ends of intervals are NaN if there are fewer than five people (or questions), or only two folds.
    """

    method: str
    revenue: float
    revenue_low: float
    revenue_high: float
    satisfied: float
    satisfied_low: float
    satisfied_high: float
    answers: float
    answers_low: float
    answers_high: float
    behind: float
    behind_low: float
    behind_high: float
    seconds: float
    chance: float
    answers_chance: float


@dataclass(frozen=True, repr=False)
class Selection:
    """The result of `select`.

    Attributes
    ----------
    candidates
        A `Candidate` for each method, the best first.
    by
        The score that decides: "revenue", "satisfied" or "answers".
    folds
        The number of parts into which the answers were split.
    unit
        The unit that was kept in one fold: "group" (all answers of a person), "answer" (all answers to a
        question) or, for a scan, "file" (all answers of a file).
    ceiling
        Upper bound on the share of answers that any tree could satisfy; None unless questions were repeated.
    adaptive
        True if a learner chose the questions. Answers to such questions do not show which tree is right.
    preferred
        The method that is called the best, unless another method is clearly better. None if no method is
        preferred.
    on_random
        True if methods are scored on the answers of `heldout`.
    nested
        The expected `satisfied` of `best` on new answers, a `Score` from nested cross-validation: for each
        fold, the method is chosen on the other folds. The score in `candidates` is too high, because `best`
        was chosen by it. None with one method, two folds, a scan or questions that a learner chose.
    answer_ceiling
        Bounds on the accuracy of the best predictor of whole answers; None unless questions were repeated.
    """

    candidates: tuple[Candidate, ...]
    by: str
    folds: int
    unit: str
    ceiling: NoiseCeiling | None
    adaptive: bool = False
    on_random: bool = False
    preferred: str | None = None
    nested: Score | None = None
    answer_ceiling: AnswerCeiling | None = None

    @property
    def best(self) -> str:
        """The name of the method to use, the first of `candidates`."""
        return self.candidates[0].method

    @property
    def clearly_worse(self) -> tuple[str, ...]:
        """The methods whose 95% interval of `behind` is above 0."""
        return tuple(other.method for other in self.candidates[1:] if other.behind_low > 0)

    def to_dict(self) -> dict[str, Any]:
        """Return all results as values for JSON; NaN becomes None."""
        return {
            "best": self.best,
            "by": self.by,
            "folds": self.folds,
            "unit": self.unit,
            "adaptive": self.adaptive,
            "preferred": self.preferred,
            "on_random": self.on_random,
            "ceiling": None if self.ceiling is None else asdict(self.ceiling),
            "answer_ceiling": None if self.answer_ceiling is None else asdict(self.answer_ceiling),
            "nested": None if self.nested is None else finite(asdict(self.nested)),
            "candidates": [finite(asdict(candidate)) for candidate in self.candidates],
        }

    def __str__(self) -> str:
        columns, rows = self._table()
        return "\n".join([*aligned([columns, *rows], left=1), *self._notes()])

    def _repr_html_(self) -> str:
        worse = self.clearly_worse
        columns, rows = self._table()
        marks = [
            "best" if at == 0 else "clearly worse" if c.method in worse else ""
            for at, c in enumerate(self.candidates)
        ]
        rows = [(*row, mark) for row, mark in zip(rows, [*marks, ""], strict=True)]
        return _html.block(repr(self)[1:-1], _html.table((*columns, ""), rows, strong=0, notes=self._notes()))

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        columns = (
            "method",
            "held-out revenue",
            "held-out satisfied",
            "answers predicted",
            f"{self.by} behind best",
            "seconds",
        )
        rows: list[tuple[str, ...]] = [
            (
                c.method,
                with_interval(c.revenue, c.revenue_low, c.revenue_high),
                with_interval(c.satisfied, c.satisfied_low, c.satisfied_high),
                "" if np.isnan(c.answers) else with_interval(c.answers, c.answers_low, c.answers_high),
                "" if at == 0 else with_interval(c.behind, c.behind_low, c.behind_high),
                f"{c.seconds:.3g}",
            )
            for at, c in enumerate(self.candidates)
        ]
        answers = self.candidates[0].answers_chance
        by_chance = "" if np.isnan(answers) else f"{answers:.4f}"
        return columns, [*rows, ("chance", "0", self._chance(), by_chance, "", "")]

    def _notes(self) -> list[str]:
        found = []
        if not np.isnan(self.candidates[0].satisfied_low):
            over = {"group": "people", "answer": "questions"}.get(self.unit, "folds")
            found.append(
                f"in parentheses: 95% intervals over {over} and the trees of other data; "
                f"differences from the best are paired by {over}"
            )
        if self.nested is not None:
            nested = with_interval(self.nested.value, self.nested.low, self.nested.high)
            found.append(
                f"the best score is too high, because it decided the choice; by nested cross-validation, the "
                f"chosen methods satisfy {nested}"
            )
        if self.ceiling is not None:
            found.append(f"noise ceiling of held-out satisfied: {self.ceiling}")
        if (best := self.answer_ceiling) is not None:
            found.append(
                f"answers predicted by the best predictor: {best.accuracy_low:.4f} to "
                f"{best.accuracy_high:.4f} ({best.n_answers:,} answers to repeated questions)"
            )
        if self.on_random:
            found.append("scored on the held-out answers to random questions")
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


def with_interval(value: float, low: float, high: float) -> str:
    return f"{value:.4f}" if np.isnan(low) else f"{value:.4f} ({low:.4f} to {high:.4f})"


def default_methods(data: Triplets | Quadruplets | Scan, by: str) -> list[str]:
    kind = kind_of(data)
    assert kind is not None
    known = registry.names("method")
    methods = [name for name in DEFAULT_METHODS[kind, by] if name in known]
    if isinstance(data, Scan):
        return [name for name in methods if _suits_scan(data, name)]
    return methods if best_method(data) is None else [*methods, _POSTERIOR]


@shows_progress("comparing")
def select(
    data: Triplets | Quadruplets | Scan,
    methods: Sequence[Method] | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    by: str = "revenue",
    group: ArrayLike | None = None,
    unit: str | None = None,
    heldout: Triplets | Quadruplets | None = None,
    prefer: str | None = None,
    executor: Any = None,
    spill: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
) -> Selection:
    """Choose a method by cross-validation.

    Each method makes a tree from all folds of the answers but one, and is scored on this fold.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets`; or a scan of files (`ordhc.scan`), for methods whose similarities are
        sums over answers.
    methods
        Names, or pairs of a name and its settings, as `cluster` takes them. By default the methods that do
        well for this type of data and score. "tste-al" and "completion" are among them if their plugin is
        installed, and "posterior-al" if it is the default of `cluster` for these data.
    folds
        The number of parts of the answers, at least 2. If people are known, all answers of a person are in
        the same part; otherwise all answers to the same question are. All rows of an answer always are.
    seed
        The same seed gives the same parts.
    by
        The score on held-out answers that decides: "revenue", "satisfied" (the share of rows with which the
        tree agrees) or "answers" (the share of predicted whole answers).
    group
        (m,) the id or name of each row's person, instead of the data's groups. All answers of a person are in
        the same part.
    unit
        The unit whose answers stay in one part: "answer" or "group" for comparisons, "group" or "file" for a
        scan. By default "group" if people are known.
    heldout
        Comparisons of the same leaves on which methods are scored instead of `data`, such as answers to
        random questions (`Session.comparisons(heldout=True)`). No tree is made from them. They are split by
        the same people (or questions) as `data`, so a tree is never scored on a person whose answers it was
        made from. Without effect if a part contains none of them, or with `group`.
    prefer
        The method that is called the best unless another one is clearly better, that is, the 95% interval of
        the difference is above 0. By default "posterior-al" if it is compared, because it had the fewest
        wrong triples in benchmarks. If a learner chose the questions, another method can be clearly better
        only on `heldout`.
    executor
        An executor or a pool that makes the trees, as in `ordhc.bootstrap`.
    spill
        A folder for data that all workers of the executor read. By default a folder for temporary files. For
        a scan, give `spill` to `ordhc.scan`.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    Selection
        The methods with scores and standard errors, best first.

    Warns
    -----
    OrdhcWarning
        Before the work begins, if it is estimated to take more than 30 seconds of processor time. Chains that
        have not mixed give no warnings, because their effect is part of the score.

    Raises
    ------
    InputError
        If a method is unknown or cannot be used with these data, or if there are fewer questions (or groups)
        than folds.

    Notes
    -----
    The revenue on the answers from which a tree was made favours the method that optimises it most. On
    held-out answers, revenue is closely related to the agreement with the true hierarchy.

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.datasets.planted(2000, levels=2, leaves_per_cluster=6, seed=1)
    >>> found = ordhc.select(t, ["adds3-al", "mulk3-al"])
    >>> found.best, len(found.candidates)
    ('adds3-al', 2)
    """
    progress = _checks.callback("progress", progress)
    workers = as_executor(executor)
    if kind_of(data) is None:
        raise InputError(f"select takes Triplets, Quadruplets or ordhc.scan(...), not {type(data).__name__}")
    if heldout is not None and not isinstance(heldout, Triplets | Quadruplets):
        raise InputError(f"heldout is {_checks.quoted(heldout)}, not Triplets or Quadruplets")
    by = _checks.choice("by", by, SCORES)
    folds = _checks.whole("folds", folds, at_least=2)
    seed = _checks.seed(seed)
    if prefer is not None:
        registry.get("method", _checks.text("prefer", prefer))
    given = _by_title(default_methods(data, by) if methods is None else methods)
    is_on_random = False
    of_answers: Callable[[], tuple[AnswerCeiling, ...]] = tuple
    work: Folds | ScannedFold
    if isinstance(data, Scan):
        if by == "answers":
            raise InputError(
                'by="answers" is not for ordhc.scan(...), whose rows are not grouped into answers; give '
                'by="revenue" or by="satisfied"'
            )
        for method in given.values():
            checked_plan(data, {"method": method})
        if spill is not None:
            raise InputError(
                "select takes no spill= with ordhc.scan(...): give it to ordhc.scan(..., spill=FOLDER)"
            )
        workers, spill = workers or data.executor, data.spill
        kept, count = unit_of(data, unit, group)
        work, ceiling = ScannedFold.of(data, kept, count, folds, seed, part(progress, 0, _CEILING)), None
    else:
        workers = worth(workers, _estimated_seconds(data, [*given.values()], folds))
        work, kept, is_on_random = _in_memory(data, heldout, folds, seed, group, unit)
        scored = heldout if is_on_random and heldout is not None else data
        ceiling = noise_ceiling(scored, progress=part(progress, 0, _CEILING))
        of_answers = cache(partial(answer_ceilings, scored))
    fitting = part(progress, _CEILING, _FITS)
    results = _results(work, [*given.values()], workers, spill, of_answers, fitting)
    names = [*given]
    deciding = [getattr(result, by) for result in results]
    scores = [score(tested, is_share=by != "revenue") for tested in deciding]

    is_adaptive = not isinstance(data, Scan) and data.adaptive
    preferred = prefer or (_POSTERIOR if is_adaptive or _POSTERIOR in names else None)
    drawn = names.index(preferred) if preferred in names else None
    margins = np.zeros(len(names))
    if drawn is not None:
        # Another method replaces the preferred method if its score is higher by more than a margin: half the
        # width of the interval of this difference.
        can_tell = is_on_random or not is_adaptive
        ends = [difference(each, deciding[drawn]) for each in deciding]
        margins = np.array([each.value - each.low if can_tell else np.inf for each in ends])

    def choose(values: Sequence[float]) -> int:
        best = int(np.argmax(values))
        return best if drawn is None or values[best] - values[drawn] > margins[best] else drawn

    best = choose([each.value for each in scores])
    nested = None
    if len(names) > 1 and not is_adaptive:
        inner = chosen_within(deciding, choose, [result.satisfied for result in results])
        nested = None if inner is None else score(inner, is_share=True)
    order = sorted(range(len(names)), key=lambda at: (at != best, -scores[at].value))
    candidates = [
        _candidate(names[at], results[at], difference(deciding[best], deciding[at])) for at in order
    ]
    if progress is not None:
        progress(1.0)
    return Selection(
        tuple(candidates),
        by,
        folds,
        kept,
        ceiling,
        is_adaptive,
        is_on_random,
        preferred,
        nested,
        (of_answers() or (None,))[-1],
    )


def _estimated_seconds(data: Triplets | Quadruplets, methods: Sequence[Named], folds: int) -> float:
    of_row = _SECONDS_OF_ROW * len(data)
    seconds = len(left_out(folds)) * sum(Plan.of(data, method).seconds(data) + of_row for method in methods)
    remedy = "fewer methods or folds take less time, a scan of several files (ordhc.scan) less memory"
    what = f"select among {len(methods)} methods"
    warn_of_cost(what, data, seconds, remedy, memory=_BYTES_OF_ROW * len(data))
    return seconds


def _by_title(methods: Any) -> dict[str, Named]:
    given = _checks.listed("methods", methods)
    titles = [registry.title(one) if isinstance(one, tuple) else one for one in given]
    return dict(zip(_checks.words("methods", titles), given, strict=True))


def _in_memory(
    data: Triplets | Quadruplets,
    heldout: Triplets | Quadruplets | None,
    folds: int,
    seed: int,
    group: ArrayLike | None,
    unit: str | None,
) -> tuple[Folds, str, bool]:
    """Return the folds, the unit kept in one fold ("group" or "answer"), and True if `heldout` is scored."""
    units, parts, kept = split(data, folds, seed, group, unit)
    if heldout is not None and len(heldout) and group is None:
        both, apart = together(data, heldout)
        of_both, parts_of_both, kept = split(both, folds, seed, None, unit)
        if len(np.unique(parts_of_both[of_both[apart]])) == folds:
            return Folds(both, *bundled(of_both, parts_of_both, folds), folds, apart), kept, True
    return Folds(data, *bundled(units, parts, folds), folds), kept, False


def _results(
    work: Folds | ScannedFold,
    methods: Sequence[Named],
    workers: Executor | None,
    spill: str | os.PathLike[str] | None,
    meanwhile: Callable[[], Any],
    progress: Progress | None,
) -> list[Result]:
    left = work.left_out()
    with Spill(spill) as folder:
        if isinstance(work, ScannedFold) and work.scan.resume is not None:
            pairs = [(without, method) for without in left for method in methods]
            each = work.in_parts(pairs, workers, folder, progress)
            found = [each[at : at + len(methods)] for at in range(0, len(each), len(methods))]
        else:
            # One task makes the trees of all methods without some folds, so the data are split only once.
            tasks = [(without, tuple(methods)) for without in left]
            found = results_of(_scored, work, tasks, workers, folder, progress, meanwhile=meanwhile)
    return [work.result(left, [of_fold[at] for of_fold in found]) for at in range(len(methods))]


def _candidate(method: str, result: Result, behind: Score) -> Candidate:
    revenue, satisfied = score(result.revenue, is_share=False), score(result.satisfied, is_share=True)
    unknown = Score(np.nan, np.nan, np.nan, np.nan)
    answers = unknown if result.answers is None else score(result.answers, is_share=True)
    ends = [(each.value, each.low, each.high) for each in (revenue, satisfied, answers, behind)]
    return Candidate(
        method, *ends[0], *ends[1], *ends[2], *ends[3], result.seconds, result.chance, result.answers_chance
    )


def _scored(
    work: Folds | ScannedFold,
    without: tuple[int, ...],
    methods: Sequence[Named],
    progress: Progress | None,
) -> list[Any]:
    count = len(methods)
    return [
        work.scores(without, method, part(progress, at / count, (at + 1) / count))
        for at, method in enumerate(methods)
    ]


def _suits_scan(scan: Scan, method: str) -> bool:
    """Return True if a method is compared by default for a scan of files.

    The method must work without all answers in memory. Methods with moves of subtrees are left out if there
    are more than `MOVES_UP_TO` leaves, because the moves take long.
    """
    try:
        plan = checked_plan(scan, {"method": method})
    except InputError:
        return False
    return plan.refine is None or scan.n_leaves <= MOVES_UP_TO
