"""Test whether a tree describes the answers (`structure`)."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _html
from ordhc._json import finite
from ordhc._progress import Progress, part, shows_progress
from ordhc._text import aligned
from ordhc._workers import as_executor
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.evaluate.answers import AnswerCeiling, answer_ceilings
from ordhc.evaluate.given import ADAPTIVE, comparisons_of
from ordhc.evaluate.structure.coins import CoinFlips
from ordhc.evaluate.structure.misfits import FALSE, Misfit, find_misfits
from ordhc.evaluate.structure.scored import BOTH, CHANCE, WEIGHTED, Scored, scored
from ordhc.evaluate.structure.trial import (
    ADDITIVE,
    DIMENSIONS,
    EFFECTS,
    FLAT,
    PARTS,
    ULTRAMETRIC,
    Found,
    Trial,
    named,
)
from ordhc.evaluate.structure.words import Estimate, Evidence, Verdict, verdict_of
from ordhc.evaluate.tasks import results_of
from ordhc.evaluate.trials import split
from ordhc.io.spill import Spill
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.matching import prepared
from ordhc.tree.pictures import PictureOptions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ordhc.asking.session import Session
    from ordhc.io.scan import Scan

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Maximum number of items and clusters of `Structure.misfits` that `print` shows.
_PRINTED = 10
#: Maximum number of leaves: models of points take memory and time in proportion to the pairs of leaves.
_MOST_LEAVES = 5_000
_FEWEST_LEAVES = 4


@dataclass(frozen=True)
class StructureScore:
    """How well a structure predicts held-out answers.

    Attributes
    ----------
    name
        The name of the structure.
    log_loss, accuracy
        Means over answers, with 95% intervals. The log loss is minus the logarithm of the predicted
        probability of the given answer, in nats. The accuracy is the share of answers that the structure
        calls the likeliest.
    behind
        The log loss minus the log loss of the best structure, paired by person or question.
    """

    name: str
    log_loss: Estimate
    accuracy: Estimate
    behind: Estimate


@dataclass(frozen=True, repr=False)
class Structure:
    """The result of `structure`.

    Attributes
    ----------
    verdict
        The conclusion: its `kind`, whether it is `sure`, and a `text`.
    scores
        A `StructureScore` for each structure.
    tree_share
        The gain of the better tree (ultrametric or additive) divided by the gain of the best structure, with
        a 95% interval. The gain is the log loss of the baseline minus the log loss of the structure. The
        baseline is "lengths alone" (how typical each item is), or chance if chance is better. NaN if the best
        structure has no clear gain.
    points_share
        As `tree_share`, for points: points in one dimension if `dimensions` is 1, else "points, weighted".
    dimensions
        The smallest number of dimensions whose log loss is within one standard error of the smallest log loss
        of points.
    coins
        The coin-flip test: whether points in space predict answers to which the better tree gives (nearly)
        even odds.
    misfits
        Items and clusters whose answers are predicted better by points in space than by the better tree, the
        largest difference first. At most 5% of the entries are expected to be there by chance.
    n_looked_at
        The number of items, and of clusters, that were tested for `misfits`: those with at least 20 answers.
    tree
        The tree whose clusters were tested for `misfits`.
    ceiling
        Bounds on the accuracy of any predictor, for each kind of answer; empty unless questions were
        repeated.
    n_answers, folds
        The number of answers, and of the folds into which they were split.
    unit
        The answers that were kept in one fold: "group", all of a person, or "answer", all to the same
        question.
    adaptive
        True if a learner chose the questions by earlier answers.
    """

    verdict: Verdict
    scores: tuple[StructureScore, ...]
    tree_share: Estimate
    points_share: Estimate
    dimensions: int
    coins: CoinFlips
    misfits: tuple[Misfit, ...]
    n_looked_at: tuple[int, int]
    tree: Dendrogram
    ceiling: tuple[AnswerCeiling, ...]
    n_answers: int
    folds: int
    unit: str
    adaptive: bool

    def __getitem__(self, name: str) -> StructureScore:
        """Return the score of a structure by its name."""
        return {score.name: score for score in self.scores}[name]

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as values for JSON; NaN becomes None."""
        known: dict[str, Any] = finite(asdict(replace(self, tree=None)))  # type: ignore[arg-type]
        del known["tree"]
        known["coins"]["text"] = self.coins.text
        return {**known, "caution": self.caution, "tree": self.tree.to_dict()}

    @property
    def caution(self) -> str | None:
        """A warning about the conclusion if a learner chose the questions; otherwise None."""
        return ADAPTIVE if self.adaptive else None

    @_checks.shows_options(PictureOptions)
    def plot(self, ax: Axes | None = None, **options: Unpack[PictureOptions]) -> Axes:
        """Draw `tree` with marks at the `misfits`: dots at items, rings around clusters.

        Parameters
        ----------
        ax
            Where to draw; by default a new figure.
        **options
            Options of `Dendrogram.plot`.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import ordhc
        >>> t, _ = ordhc.datasets.planted(300, levels=2, leaves_per_cluster=3, seed=1)
        >>> ax = ordhc.structure(t, folds=2).plot(support=False)
        """
        return self.tree.plot(ax, **{"marked": [each.label for each in self.misfits], **options})  # type: ignore[arg-type]

    def __str__(self) -> str:
        return "\n".join([*aligned(self._table()), *self._notes(), "", self.verdict.text])

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
                f"share of what is predictable beyond lengths: tree "
                f"{self.tree_share}, points {self.points_share}"
            )
        found += [f"ceiling, {one}" for one in self.ceiling]
        found += ["", self.coins.text, "", self._misfit_note()]
        found += [f"  {each}" for each in self.misfits[:_PRINTED]]
        if len(self.misfits) > _PRINTED:
            found.append(f"  and {len(self.misfits) - _PRINTED:,} more (`misfits`)")
        if self.caution is not None:
            found += ["", self.caution]
        return found

    def _misfit_note(self) -> str:
        items, clusters = self.n_looked_at
        if not items + clusters:
            return "Where the tree fails: unknown, because all items and clusters have too few answers"
        note = f"Where the tree fails: of {items:,} items and {clusters:,} clusters, points predict "
        if not self.misfits:
            return f"{note}none clearly better"
        return (
            f"{note}{len(self.misfits)} clearly better (log loss of the tree minus that of points; "
            f"{FALSE:.0%} of those listed are expected by chance)"
        )

    def _repr_html_(self) -> str:
        columns, *rows = self._table()
        notes = [*self._notes(), self.verdict.text]
        return _html.block(repr(self)[1:-1], _html.table(columns, rows, notes=notes))

    def __repr__(self) -> str:
        return f"<Structure: {self.verdict.kind}, {'sure' if self.verdict.sure else 'not sure'}>"


@shows_progress("comparing structures")
def structure(
    data: Triplets | Quadruplets | Scan | Session,
    *,
    folds: int = 5,
    seed: int = 0,
    unit: str | None = None,
    tree: Any = None,
    executor: Any = None,
    spill: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
) -> Structure:
    """Test whether a hierarchy, a map or a simpler structure describes answers best.

    Each structure is fitted to all folds of the answers but one, and predicts the answers of that fold. The
    structures are: chance; lengths alone (how typical each item is); flat clusters; a tree whose leaves are
    equally far from the root (ultrametric); a tree whose leaves have lengths (additive); points in 1, 2, 3
    and 5 dimensions; the weighted mean of the predictions of all points; and the mean of the additive tree
    and that weighted mean.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets` of 4 to 5,000 leaves, or a `Session`, whose rules exclude people and
        weight answers. Rows with the same number in `answers` are one answer. A scan is read into memory;
        each of its rows counts as an answer.
    folds
        The number of parts of the answers, at least 2. If people are known, all answers of a person are in
        the same fold; otherwise all answers to the same question are.
    seed
        The same seed gives the same result.
    unit
        Which answers are kept in one fold: "group", those of a group (person) of the data, or "answer", those
        to the same question. By default "group" if people are known.
    tree
        The tree whose clusters are tested for `misfits`, in any form that `ordhc.as_dendrogram` takes, with
        the leaves of `data`. By default the additive tree of all answers.
    executor
        An executor or a pool that fits the models instead of this process; see `ordhc.bootstrap`.
    spill
        A folder for data that all workers of the executor read. By default a folder for temporary files.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    Structure
        A `verdict` in words; log loss and accuracy of each structure with intervals; the share of the
        predictable part that a tree predicts; the coin-flip test; and `misfits`, the items and clusters where
        the tree fails.

    Raises
    ------
    InputError
        If `data` are no comparisons, have fewer than 4 or more than 5,000 leaves, no answers of positive
        weight, or fewer questions (or people) than folds; or if `tree` has other leaves.

    Notes
    -----
    All structures but chance have a closeness s(i, j) of leaves. A pair is chosen with a probability in
    proportion to exp(s), as in `ordhc.posterior`; a share of the answers is given by chance. Lengths alone: s
    = -l(i) - l(j). Flat clusters: s = c - l(i) - l(j) within a cluster of `ordhc.cluster`'s tree, and s =
    -l(i) - l(j) between clusters. Points: s = -``|x(i) - x(j)|`` - l(i) - l(j), so points have lengths as
    trees do (Winsberg & Carroll 1989). Lengths and coordinates have normal priors. The standard deviations of
    the priors and the number of clusters are those that best predict a part of the training answers, which is
    set aside for this purpose. "Points, weighted" is the mean of the predictions of points in all numbers of
    dimensions, with the weights that predict that part best (stacking, Yao et al. 2018). Trees are made by
    `ordhc.posterior` with shorter chains. Repeated answers of a person all count (``repeats="new"``).

    The coin-flip test uses the held-out answers that the better tree ties with another possible answer: of
    the two, the likelier one has a probability of at most .55. If the tree is right, points cannot predict
    which of the tied answers was given. Let p and q be the probabilities of the given answer among the tied
    ones, by the tree and by points. If the tree is right, the mean of q / p - 1 is 0, and this is tested.

    Intervals are those of ratios of sums over people or questions. Their variance is multiplied by 1 + k / (k
    - 1) for k folds, because models of different folds share training answers (Nadeau & Bengio 2003).

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.datasets.planted(3000, levels=3, leaves_per_cluster=6, seed=1)
    >>> found = ordhc.structure(t)
    >>> found.verdict.kind, found.tree_share.value > 0.9
    ('tree', True)
    """
    progress = _checks.callback("progress", progress)
    workers = as_executor(executor)
    answers: Triplets | Quadruplets = comparisons_of(data, "structure")
    if tree is not None:
        tree, answers = prepared(tree, answers, ("triplets", "quadruplets"), "structure")
    if not _FEWEST_LEAVES <= answers.n_leaves <= _MOST_LEAVES:
        raise InputError(
            f"there are {answers.n_leaves:,} leaves; {_FEWEST_LEAVES} to {_MOST_LEAVES:,} are needed"
        )
    folds = _checks.whole("folds", folds, at_least=2)
    seed = _checks.seed(seed)
    if answers.weights is not None:
        answers = answers[answers.weights > 0]
    if not len(answers):
        raise InputError("there are no answers (of positive weight) to predict")
    units, parts, kept = split(answers, folds, seed, None, unit)
    trial = Trial(answers, units, parts, seed)
    tasks = [(fold, what) for fold in range(folds) for what in PARTS]
    with Spill(None if workers is None else spill) as folder:
        found = results_of(Trial.predicted, trial, tasks, workers, folder, part(progress, 0, 0.99))
    compared = _compared(trial, folds, found, kept, trial.tree() if tree is None else tree)
    if progress is not None:
        progress(1.0)
    return compared


def _dimensions(answers: Scored, means: dict[str, float]) -> int:
    """Choose `Structure.dimensions` by the one-standard-error rule (Breiman et al. 1984)."""
    losses = answers.losses
    known = [d for d in DIMENSIONS if named(d) in means]
    best = min(known, key=lambda d: means[named(d)])
    for d in known:
        difference = losses[named(d)] - losses[named(best)]
        value, error, _ = answers.error(difference, np.ones_like(difference))
        if value <= 0 or value <= error:
            return d
    return best


def _coins(answers: Scored, tree: str, kept: str) -> CoinFlips:
    is_coin, chance, right, gain = answers.coins[tree]
    _, tail = answers.better(gain, is_coin)
    n = int((is_coin > 0).sum())
    return CoinFlips(
        tree, kept, n, answers.within(right, is_coin), answers.ratio(chance, is_coin).value, tail
    )


def _compared(trial: Trial, folds: int, found: Sequence[Found], kept: str, drawn: Dendrogram) -> Structure:
    answers = scored(trial, folds, found)
    losses = answers.losses
    means = {name: answers.mean(each).value for name, each in losses.items()}
    best = min(means, key=means.__getitem__)
    base = min((CHANCE, EFFECTS), key=means.__getitem__)
    tree = min((ULTRAMETRIC, ADDITIVE), key=means.__getitem__)
    gained = losses[base] - losses[best]
    beyond = answers.mean(gained)
    # Shares of the gain are meaningless unless the gain is clearly above 0.
    is_some = beyond.low > 0
    unknown = Estimate(math.nan, math.nan, math.nan)
    tree_share = answers.ratio(losses[base] - losses[tree], gained) if is_some else unknown
    dimensions = _dimensions(answers, means)
    points = named(1) if dimensions == 1 else WEIGHTED
    points_share = answers.ratio(losses[base] - losses[points], gained) if is_some else unknown
    evidence = Evidence(
        by_effects=answers.mean(losses[CHANCE] - losses[EFFECTS]),
        beyond_effects=beyond,
        tree=tree_share,
        points=points_share,
        dimensions=dimensions,
        chance=means[CHANCE],
    )
    spaces = [named(d) for d in DIMENSIONS if named(d) in losses]
    scores = [
        StructureScore(
            name,
            answers.mean(losses[name]),
            answers.share(answers.right[name]),
            answers.mean(losses[name] - losses[best]),
        )
        for name in (CHANCE, EFFECTS, FLAT, ULTRAMETRIC, ADDITIVE, *spaces, WEIGHTED, BOTH)
    ]
    misfits, n_looked_at = find_misfits(answers, trial.data, drawn, losses[tree] - losses[WEIGHTED])
    return Structure(
        verdict_of(evidence),
        tuple(scores),
        tree_share,
        points_share,
        dimensions,
        _coins(answers, tree, kept),
        misfits,
        n_looked_at,
        drawn,
        answer_ceilings(trial.data),
        len(answers.weight),
        folds,
        kept,
        trial.data.adaptive,
    )
