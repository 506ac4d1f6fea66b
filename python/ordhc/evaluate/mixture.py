"""Fit a mixture of trees: each person follows one tree, which is inferred from the answers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc._progress import Progress
from ordhc.clustering.posterior import Posterior, drawn_posterior
from ordhc.clustering.sampling import CHAINS, seconds_of, sweeps_for
from ordhc.comparison.choices import Choices
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.rows import changed
from ordhc.comparison.units import answers_of, count_answers
from ordhc.errors import OrdhcWarning

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Candidate values of a person's noise: half the share of answers given by chance (.5: all of them).
_NOISES = np.array([0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5])
#: Numbers in the EM algorithm: random starts; rounds for each start; additional rounds for the best start.
_STARTS, _FIRST_ROUNDS, _ROUNDS = 3, 3, 4
#: Number of random starts of the final fit, to all answers.
STARTS_OF_ALL = 8
#: Number of parts into which people are split; number of last rounds whose predictions are averaged.
_PARTS, _AVERAGED = 4, 3
#: For a tree in a round of the EM algorithm: number of sweeps of the chain (a sweep moves every leaf once);
#: maximum number of answers from which the tree is made.
_SWEEPS, _MOST_ANSWERS = 20, 3_000
#: For final predictions: number of chains of all trees together; sweeps of each chain. A mean over more
#: chains predicts better, so the total is the same for each number of trees, for a fair comparison.
_CHAINS, _FINAL_SWEEPS = 6, 40
#: Estimated seconds to make a tree, besides the time of the sweeps of its chain.
_OF_TREE = 0.008
#: People whose probability of belonging to a group is below this are left out of the group's tree.
_LEAST = 0.02


@dataclass(frozen=True)
class People:
    """Comparisons of positive weight, and the person who answered each.

    `person` (m,) has the person of each row, from 0 to `count` - 1; some people may have no rows here.
    `chance` (m,) has the probability of each row's answer if all possible answers are equally likely.
    `weight` (m,) has the weight of each row, divided by the number of rows of its answer.
    """

    data: Triplets | Quadruplets
    person: Numbers
    count: int
    chance: Floats
    weight: Floats

    @classmethod
    def of(cls, data: Triplets | Quadruplets, person: Numbers) -> People:
        choices, numbers = Choices.of(data), answers_of(data)
        chance = np.full(choices.n_answers, 0.5)
        for kind in choices.kinds:
            chance[kind.answer] = 1 / kind.n_possible
        weight = 1 / np.bincount(numbers)[numbers]
        if data.weights is not None:
            weight = weight * data.weights
        return cls(data, person, int(person.max()) + 1, chance[numbers], weight)

    def __getitem__(self, rows: NDArray[np.bool_]) -> People:
        return People(self.data[rows], self.person[rows], self.count, self.chance[rows], self.weight[rows])

    def logarithms(self, clear: Floats) -> Floats:
        """Return the log probability of each row's answer for each of `_NOISES`, (m, noises).

        `clear` has the probabilities if no answers were given by chance.
        """
        found: Floats = np.log(2 * self.chance[:, None] * _NOISES + (1 - 2 * _NOISES) * clear[:, None])
        return found


@dataclass(frozen=True)
class Memberships:
    """The probabilities that people belong to each tree.

    `joint` (people, k, noises) has the joint probability of each person's tree and noise. The noise is half
    of the share of answers given by chance, one of `_NOISES`. `evidence` is the log probability of all
    answers; each person's answers are predicted by trees made without them.
    """

    joint: Floats
    evidence: float

    @property
    def member(self) -> Floats:
        """(people, k) the probability that each person follows each tree."""
        found: Floats = self.joint.sum(axis=2)
        return found


def fit_mixture(
    people: People, k: int, seed: int, progress: Progress | None = None, *, starts: int = _STARTS
) -> Memberships:
    """Learn which of k trees each person follows.

    After `starts` random starts, more rounds follow for the start that predicts best.

    The method is the EM algorithm with two changes. In every round people are split at random into four
    parts, and each person's answers are predicted by trees of the other parts only. Otherwise everybody would
    stay in their first group, because trees fit the answers from which they are made. Predictions are
    averaged over the last three rounds. The predictions of a tree are means over a short chain of the
    posterior, as in `ordhc.posterior`. Each person has a separate noise; probabilities are summed over its
    possible values.
    """
    rng = np.random.default_rng(seed)
    starts, first = (starts, _FIRST_ROUNDS) if k > 1 else (1, 0)
    done = 0

    def improved(member: Floats, rounds: list[Floats], count: int) -> tuple[Memberships, list[Floats]]:
        nonlocal done
        found = Memberships(member[:, :, None], -np.inf)
        for _ in range(count):
            rounds = [*rounds, _round(people, found.member, rng)][-_AVERAGED:]
            found = _expected(people, np.mean(rounds, axis=0))
            done += 1
            if progress is not None:
                progress(done / (starts * first + _ROUNDS))
        return found, rounds

    tried = [improved(np.eye(k)[rng.permutation(people.count) % k], [], first) for _ in range(starts)]
    best, rounds = max(tried, key=lambda each: each[0].evidence)
    return improved(best.member, rounds, _ROUNDS)[0]


def _round(people: People, member: Floats, rng: np.random.Generator) -> Floats:
    """Return (k, m): for each of k trees, the probability of each answer, as if none were given by chance.

    The trees that predict a person's answers are made from the answers of other people.
    """
    part = rng.permutation(people.count) % _PARTS
    clear = np.empty((member.shape[1], len(people.data)))
    for at in range(_PARTS):
        own = part[people.person] == at
        others, seed = people[~own], int(rng.integers(1 << 31))
        numbers = answers_of(others.data)
        drawn = (rng.permutation(int(numbers.max(initial=-1)) + 1) < _MOST_ANSWERS)[numbers]
        for k in range(len(clear)):
            tree = _tree(others if drawn.all() else others[drawn], member[:, k], seed, 1, _SWEEPS)
            clear[k, own] = _clear(tree, people[own])
    return clear


def _expected(people: People, clear: Floats) -> Memberships:
    k = len(clear)
    logs = np.zeros((people.count, k, len(_NOISES)))
    for at in range(k):
        for e, of_rows in enumerate(people.logarithms(clear[at]).T):
            logs[:, at, e] = np.bincount(people.person, people.weight * of_rows, people.count)
    shares, noises = np.full(k, 1 / k), np.full(len(_NOISES), 1 / len(_NOISES))
    for _ in range(30):
        joint = logs + np.log(shares)[:, None] + np.log(noises)
        most = joint.max(axis=(1, 2), keepdims=True)
        joint = np.exp(joint - most)
        whole = joint.sum(axis=(1, 2), keepdims=True)
        joint /= whole
        # Pseudo-counts: one more person for each tree, spread over all noises.
        shares = (joint.sum(axis=(0, 2)) + 1) / (people.count + k)
        noises = (joint.sum(axis=(0, 1)) + 1 / len(_NOISES)) / (people.count + 1)
    return Memberships(joint, float((most + np.log(whole)).sum()))


def weighted(people: People, member: Floats) -> Triplets | Quadruplets | None:
    """Return the answers weighted by the probability that their person is in a group; None if all are 0."""
    share = member[people.person]
    if (share > 1 - 1e-9).all():
        return people.data
    some = share >= _LEAST
    if not some.any():
        return None
    data = people.data
    weights = share if data.weights is None else share * data.weights
    return changed(data[some], weights=weights[some])


def _tree(people: People, member: Floats, seed: int, chains: int, sweeps: int) -> Posterior | None:
    data = weighted(people, member)
    if data is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        return drawn_posterior(data, chains=chains, sweeps=sweeps, seed=seed, repeats="new")[0]


def _clear(tree: Posterior | None, people: People) -> Floats:
    if tree is None or not tree.n_trees or not len(people.data):
        return people.chance
    found, noise = tree.predict_answers(people.data), min(tree.noise, 0.49)
    return np.clip((found - 2 * noise * people.chance) / (1 - 2 * noise), 1e-4, 1.0)


def answer_probabilities(train: People, test: People, k: int, seed: int, progress: Progress | None) -> Floats:
    found = fit_mixture(train, k, seed, progress)
    likely = np.zeros(len(test.data))
    for at in range(found.joint.shape[1]):
        tree = _tree(train, found.member[:, at], seed, max(1, _CHAINS // k), _FINAL_SWEEPS)
        each = np.exp(test.logarithms(_clear(tree, test)))
        likely += (found.joint[test.person, at] * each).sum(axis=1)
    return likely


def seconds_needed(data: Triplets | Quadruplets, max_trees: int = 3, folds: int = 5) -> float:
    """Return an estimate of the processor time of `people_groups`, in seconds.

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.datasets.planted(2400, levels=2, leaves_per_cluster=8)
    >>> 10 < seconds_needed(t) < 40
    True
    """
    answers = count_answers(data)
    sweep = seconds_of(data) / (CHAINS * sweeps_for(len(data)))
    # Each of k groups of people has a tree. For each of `_PARTS` subsets of people, k trees are made from the
    # answers of the other people. A tree leaves out people who are almost certainly not in its group
    # (`_LEAST`), and most people are clearly in one group. So k trees together take about as long as one.
    of_sweeps = _PARTS * _SWEEPS * sweep * (1 - 1 / _PARTS)

    def learnt(k: int, starts: int, share: float) -> float:
        rounds = _ROUNDS + (starts * _FIRST_ROUNDS if k > 1 else 0)
        share = min(share, _MOST_ANSWERS / max(answers, 1))
        return rounds * (of_sweeps * share + k * _PARTS * _OF_TREE)

    share = 1 - 1 / folds
    predicted = _CHAINS * _FINAL_SWEEPS * sweep * share
    found = sum(folds * (learnt(k, _STARTS, share) + predicted / k) for k in (1, *range(1, max_trees + 1)))
    return float(found + learnt(max_trees, STARTS_OF_ALL, 1.0) + seconds_of(data))
