"""Test whether people agree on one tree (`people_groups`)."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _html
from ordhc._json import finite
from ordhc._progress import Progress, part, shows_progress
from ordhc._text import aligned
from ordhc._workers import as_executor
from ordhc.clustering.posterior import Posterior, drawn_posterior
from ordhc.clustering.sampling import people_of
from ordhc.comparison.canonical import canonical_order, in_order
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.units import answers_of, count_answers, numbered_rows, questions_of
from ordhc.errors import InputError
from ordhc.evaluate.given import ADAPTIVE, comparisons_of
from ordhc.evaluate.intervals import FEWEST_UNITS, about, ratio_of_sums
from ordhc.evaluate.mixture import STARTS_OF_ALL, People, answer_probabilities, fit_mixture, weighted
from ordhc.evaluate.structure.words import Estimate, Verdict
from ordhc.evaluate.tasks import results_of
from ordhc.io.spill import Spill
from ordhc.tree.dendrogram import Dendrogram

if TYPE_CHECKING:
    from ordhc.asking.session import Session
    from ordhc.io.scan import Scan

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: A person is a member of a group if the probability of belonging to it is at least this.
CLEAR = 0.8
#: The smallest gain in log loss that counts, as a share of the log loss of chance. If people differ only in
#: how careful they are, gains can reach 0.3% (simulations with one tree, noise 0 to 0.4). In
#: `datasets.load_car` a second tree for 2 of 146 people gains 0.95%, which does not justify a second tree.
WORTH = 0.01
_MOST_TREES = 5


@dataclass(frozen=True)
class TreesScore:
    """How well a number of trees predicts held-out answers.

    Attributes
    ----------
    n_trees
        The number of trees.
    log_loss
        The mean log loss per answer, in nats, with a 95% interval over people. The prediction of several
        trees is averaged with that of one tree.
    gain
        The log loss with one tree minus this log loss, paired by person.
    """

    n_trees: int
    log_loss: Estimate
    gain: Estimate


@dataclass(frozen=True, repr=False)
class PeopleGroup:
    """People who share a tree.

    Attributes
    ----------
    people
        The names or numbers of the people who belong to this group with a probability of at least 0.8.
    size
        The expected number of people: the sum of the probabilities of all people.
    gain
        The log loss of chance minus the log loss of the chosen number of trees, on held-out answers of
        `people`, with a 95% interval over answers. The gain is about 0 for people who answer at random.
    posterior
        Trees drawn from all answers, where each answer is weighted by the probability that its person belongs
        to this group.
    """

    people: tuple[str | int, ...]
    size: float
    gain: Estimate
    posterior: Posterior

    @property
    def tree(self) -> Dendrogram:
        """The tree with lengths of edges, as `ordhc.posterior` gives it."""
        return self.posterior.tree

    @property
    def dendrogram(self) -> Dendrogram:
        """The tree with heights and support, as `ordhc.posterior` gives it."""
        return self.posterior.dendrogram

    def __repr__(self) -> str:
        return f"<PeopleGroup: {len(self.people)} people>"


@dataclass(frozen=True, repr=False)
class PeopleGroups:
    """The result of `people_groups`.

    Attributes
    ----------
    verdict
        The conclusion: its `kind` ("one"; "several"; or "few", too few answers or people), whether it is
        `sure`, and a `text`. Only "several" can be sure, because answers cannot show that there are no
        groups. "several" is not sure if the people of all groups but one may have answered at random.
    groups
        The groups, the largest first: each with `people`, `tree` and `dendrogram`.
    memberships
        For each person, the probability of belonging to each group. For a person who answers at random, no
        probability is near 1, because all groups fit equally well.
    scores
        A `TreesScore` for each number of trees that was tried.
    n_answers, folds
        The number of answers, and of the parts into which each person's answers were split.
    adaptive
        True if a learner chose the questions by earlier answers.
    """

    verdict: Verdict
    groups: tuple[PeopleGroup, ...]
    memberships: dict[str | int, tuple[float, ...]]
    scores: tuple[TreesScore, ...]
    n_answers: int
    folds: int
    adaptive: bool

    @property
    def caution(self) -> str | None:
        """A warning about the conclusion if a learner chose the questions; otherwise None."""
        return ADAPTIVE if self.adaptive else None

    @property
    def n_trees(self) -> int:
        """The number of trees that people follow."""
        return len(self.groups)

    def to_dict(self) -> dict[str, Any]:
        """Return all results as values for JSON; `tree` as Newick text, NaN as None."""
        known: dict[str, Any] = finite(
            {
                "n_trees": self.n_trees,
                "verdict": vars(self.verdict),
                "groups": [
                    {
                        "people": list(group.people),
                        "size": group.size,
                        "gain": vars(group.gain),
                        "tree": group.tree.to_newick(),
                        "dendrogram": group.dendrogram.to_dict(),
                    }
                    for group in self.groups
                ],
                "memberships": [
                    {"person": who, "probabilities": list(each)} for who, each in self.memberships.items()
                ],
                "scores": [
                    {"n_trees": s.n_trees, "log_loss": vars(s.log_loss), "gain": vars(s.gain)}
                    for s in self.scores
                ],
                "n_answers": self.n_answers,
                "folds": self.folds,
                "adaptive": self.adaptive,
                "caution": self.caution,
            }
        )
        return known

    def _table(self) -> list[tuple[str, ...]]:
        return [
            ("trees", "log loss", "less than with one tree"),
            *((str(s.n_trees), str(s.log_loss), str(s.gain) if s.n_trees > 1 else "") for s in self.scores),
        ]

    def _notes(self) -> list[str]:
        notes = [
            f"answers: {self.n_answers:,}; people: {len(self.memberships):,}; parts: {self.folds}, each "
            "predicted from the others; in parentheses: 95% intervals over people"
        ]
        if len(self.scores) > 1:
            notes.append("several trees: the mean of their prediction and that of one tree")
        return notes if self.caution is None else [*notes, "", self.caution]

    def _conclusion(self) -> list[str]:
        groups = self.groups if self.n_trees > 1 else ()
        listed = [f"group {at}: {', '.join(map(str, group.people))}" for at, group in enumerate(groups, 1)]
        return [self.verdict.text, *listed]

    def __str__(self) -> str:
        return "\n".join([*aligned(self._table()), *self._notes(), "", *self._conclusion()])

    def _repr_html_(self) -> str:
        columns, *rows = self._table()
        notes = [*self._notes(), *self._conclusion()]
        return _html.block(repr(self)[1:-1], _html.table(columns, rows, notes=notes))

    def __repr__(self) -> str:
        trees = "1 tree" if self.n_trees == 1 else f"{self.n_trees} trees"
        return f"<PeopleGroups: {trees}, {len(self.memberships)} people>"


@shows_progress("looking for groups")
def people_groups(
    data: Triplets | Quadruplets | Scan | Session,
    *,
    max_trees: int = 3,
    folds: int = 5,
    seed: int = 0,
    executor: Any = None,
    spill: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
) -> PeopleGroups:
    """Test whether people agree on one tree, or find groups of people with different trees.

    Mixtures of 1 to `max_trees` trees are fitted to part of each person's answers, and predict the rest. Each
    person follows one tree of a mixture. More than one tree is chosen only if this clearly predicts better.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets` with the person of each row (`groups`), or a `Session`, whose rules
        exclude people and weight answers. Rows with the same number in `answers` are one answer. A scan is
        read into memory; each of its rows counts as an answer.
    max_trees
        The largest number of trees to try, from 1 to 5.
    folds
        The number of parts of each person's answers, at least 2. A person's answers to the same question are
        in the same part.
    seed
        The same seed gives the same result, whatever the numbers of people and leaves.
    executor
        An executor or a pool that fits the models instead of this process; see `ordhc.bootstrap`.
    spill
        A folder for data that all workers of the executor read. By default a folder for temporary files.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    PeopleGroups
        A `verdict` in words, the `groups` with their trees, each person's `memberships`, and the log loss
        for each number of trees.

    Raises
    ------
    InputError
        If `data` are no comparisons, have no people or no answers of positive weight; or if a number is out
        of bounds.

    Notes
    -----
    A mixture of trees of `ordhc.posterior` is fitted by the EM algorithm. A person's probability of belonging
    to a group comes from trees made without that person. Each person has a separate noise, so careless people
    do not form a group. The prediction of several trees is averaged with that of one tree, because the trees
    of groups are made from fewer answers each. The prediction of one tree is averaged with that of a second
    sample of one tree, so that all averages have the same number of chains. A larger number of trees is
    preferred to a smaller one only under two conditions: the 95% interval of its gain in log loss, over
    people, is above 0, and the gain is at least 1% of the log loss of chance. So small differences, and
    differences of few people, are not found.

    Examples
    --------
    >>> import numpy as np, ordhc
    >>> t, _ = ordhc.datasets.planted(600, levels=2, leaves_per_cluster=3, seed=1)
    >>> other = np.random.default_rng(1).permutation(12)
    >>> rows = np.concatenate([t.rows[:300], other[t.rows[300:]]])
    >>> both = ordhc.Triplets(rows, n_leaves=12, groups=np.repeat(np.arange(12), 50))
    >>> found = ordhc.people_groups(both, max_trees=2, folds=3)
    >>> found.n_trees, sorted(group.people for group in found.groups)
    (2, [(0, 1, 2, 3, 4, 5), (6, 7, 8, 9, 10, 11)])
    """
    progress = _checks.callback("progress", progress)
    workers = as_executor(executor)
    answers = comparisons_of(data, "people_groups")
    max_trees = _checks.whole("max_trees", max_trees, at_least=1, at_most=_MOST_TREES)
    folds = _checks.whole("folds", folds, at_least=2)
    seed = _checks.seed(seed)
    if answers.groups is None:
        raise InputError(
            "people_groups needs to know who gave each answer: pass groups= (a person for each row) to the "
            "comparisons, or who= to the session"
        )
    if answers.weights is not None:
        answers = answers[answers.weights > 0]
    if not len(answers):
        raise InputError("there are no answers (of positive weight) to predict")
    people, names = _numbered(answers)
    parts = _parts(people, folds, seed)
    numbers = range(1, 1 + (max_trees if people.count >= FEWEST_UNITS else 1))
    # k = 0: a second fit of a single tree, whose predictions are averaged with those of k trees for each k.
    tasks = [(fold, k) for k in (0, *numbers) for fold in range(folds)]
    fits = part(progress, 0, 0.85)
    with Spill(None if workers is None else spill) as folder:
        found = results_of(_predicted, (people, parts, seed), tasks, workers, folder, fits)
    likely = np.empty((1 + len(numbers), len(people.data)))
    for (fold, k), each in zip(tasks, found, strict=True):
        likely[k, parts == fold] = each
    losses = -np.log((likely[1:] + likely[0]) / 2)
    by_chance = -np.log(people.chance)
    chance = _mean(people, by_chance).value
    chosen, scores = _compared(people, losses, chance)
    member = fit_mixture(people, chosen, seed, part(progress, 0.85, 0.9), starts=STARTS_OF_ALL).member
    gained = by_chance - losses[chosen - 1]
    groups, memberships = _grouped(answers, names, member, (people, gained), seed, progress)
    verdict = _verdict(groups, memberships, scores, chance)
    if progress is not None:
        progress(1.0)
    n_answers = count_answers(people.data)
    return PeopleGroups(verdict, groups, memberships, scores, n_answers, folds, answers.adaptive)


def _numbered(data: Triplets | Quadruplets) -> tuple[People, list[str | int]]:
    fitting = in_order(data, canonical_order(data))
    known = people_of(fitting)
    if known is not None:
        rows, person, names = known
        return People.of(fitting[rows], person.astype(np.int64)), names
    number = int(np.asarray(data.groups)[0])
    name = number if data.group_names is None else data.group_names[number]
    return People.of(fitting, np.zeros(len(data), dtype=np.int64)), [name]


def _parts(people: People, folds: int, seed: int) -> Numbers:
    rng = np.random.default_rng(seed)
    units = numbered_rows(np.column_stack([people.person, questions_of(people.data)[0]]))
    person = people.person[np.unique(units, return_index=True)[1]]
    order = np.lexsort((rng.random(len(person)), person))
    first = np.searchsorted(person, np.arange(people.count))
    part_of = np.empty(len(person), dtype=np.int64)
    begin = rng.integers(folds, size=people.count)
    part_of[order] = (np.arange(len(person)) - first[person[order]] + begin[person[order]]) % folds
    return part_of[units]


def _predicted(data: tuple[People, Numbers, int], fold: int, k: int, progress: Progress | None) -> Floats:
    """Predict a fold's answers by k trees fitted to the other folds; return their probabilities.

    If k is 0, the model is a single tree as for k = 1, but the random numbers differ.
    """
    people, parts, seed = data
    own = int(np.random.default_rng((seed, fold, k)).integers(1 << 31))
    return answer_probabilities(people[parts != fold], people[parts == fold], max(k, 1), own, progress)


def _mean(people: People, values: Floats) -> Estimate:
    total = np.bincount(people.person, people.weight * values, people.count)
    weight = np.bincount(people.person, people.weight, people.count)
    value, error = ratio_of_sums(total, weight)
    return Estimate(value, *about(value, error, people.count - 1))


def _over_answers(people: People, values: Floats, some: Numbers) -> Estimate:
    rows = np.isin(people.person, some)
    if not rows.any():
        return Estimate(math.nan, math.nan, math.nan)
    _, answer = np.unique(answers_of(people.data)[rows], return_inverse=True)
    weight = np.bincount(answer.ravel(), people.weight[rows])
    value, error = ratio_of_sums(np.bincount(answer.ravel(), (people.weight * values)[rows]), weight)
    return Estimate(value, *about(value, error, len(weight) - 1))


def _compared(people: People, losses: Floats, chance: float) -> tuple[int, tuple[TreesScore, ...]]:
    chosen = 0
    for k in range(1, len(losses)):
        gain = _mean(people, losses[chosen] - losses[k])
        if gain.low > 0 and gain.value > WORTH * chance:
            chosen = k
    scores = [
        TreesScore(k + 1, _mean(people, each), _mean(people, losses[0] - each))
        for k, each in enumerate(losses)
    ]
    return chosen + 1, tuple(scores)


def _grouped(
    data: Triplets | Quadruplets,
    names: list[str | int],
    member: Floats,
    gained: tuple[People, Floats],
    seed: int,
    progress: Progress | None,
) -> tuple[tuple[PeopleGroup, ...], dict[str | int, tuple[float, ...]]]:
    member = member[:, np.argsort(-member.sum(axis=0), kind="stable")]
    numbers, person = np.unique(np.asarray(data.groups), return_inverse=True)
    known = data.group_names
    people = [number if known is None else known[number] for number in numbers.tolist()]
    place = {name: at for at, name in enumerate(names)}
    member = member[[place[name] for name in people]]
    answers = People.of(data, person.ravel())
    groups = []
    k = member.shape[1]
    for at in range(k):
        drawn = weighted(answers, member[:, at])
        tree_progress = part(progress, 0.9 + 0.1 * at / k, 0.9 + 0.1 * (at + 1) / k)
        mine = tuple(who for who, each in zip(people, member[:, at], strict=True) if each >= CLEAR)
        trees, _ = drawn_posterior(data[:0] if drawn is None else drawn, seed=seed, progress=tree_progress)
        gain = _over_answers(*gained, np.array([place[who] for who in mine], dtype=np.int64))
        groups.append(PeopleGroup(mine, float(member[:, at].sum()), gain, trees))
    return tuple(groups), dict(zip(people, map(tuple, member.tolist()), strict=True))


def _verdict(
    groups: Sequence[PeopleGroup],
    memberships: dict[str | int, tuple[float, ...]],
    scores: Sequence[TreesScore],
    chance: float,
) -> Verdict:
    count, k = len(memberships), len(groups)
    if count < FEWEST_UNITS:
        who = "1 person" if count == 1 else f"{count} people"
        headline = f"The answers are by {who}: at least {FEWEST_UNITS} people are needed to find groups."
        return Verdict("few", False, headline, headline)
    if k > 1:
        gain = scores[k - 1].gain
        sizes = [len(group.people) for group in groups]
        headline = f"People do not agree on one tree: {k} trees predict their answers better than one."
        text = (
            f"{headline} The log loss falls by {gain}. The groups have "
            f"{', '.join(map(str, sizes[:-1]))} and {sizes[-1]} people."
        )
        if unclear := count - sum(sizes):
            text += (
                f" It is not clear where {unclear} of {count} people belong (probabilities below {CLEAR})."
            )
        at_random = [at for at, group in enumerate(groups, 1) if group.people and not group.gain.low > 0]
        for at in at_random:
            text += (
                f" The answers of group {at} are not clearly predicted better than by chance: its people may "
                "have answered at random."
            )
        return Verdict("several", k - len(at_random) > 1, headline, text)
    if not scores[0].log_loss.high < chance:
        headline = "There are too few answers to decide how many trees people follow."
        text = f"{headline} Neither one tree nor several clearly predict held-out answers."
        return Verdict("few", False, headline, text)
    if len(scores) == 1:
        headline = "Only one tree was tried."
        return Verdict("one", False, headline, headline)
    gains = " and ".join(f"{score.n_trees} trees gain {score.gain}" for score in scores[1:])
    headline = "One tree is enough for all people."
    text = (
        f"{headline} More trees do not clearly predict people's answers better: in log loss {gains}. This "
        "does not prove that everybody agrees: small groups, or trees that differ little, may need more "
        "answers per person."
    )
    return Verdict("one", False, headline, text)
