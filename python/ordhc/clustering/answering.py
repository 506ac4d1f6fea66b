"""Compute the probabilities of answers, and simulate answers, with the model of `ordhc.posterior`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.choices import compared, n_orders, order_of
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.units import answers_of

#: Maximum number of existing answers that are drawn as patterns. A simulated answer has the kind of its
#: pattern, such as an odd one out or a ranking, but is about other leaves.
_KINDS = 40


@dataclass(frozen=True)
class Crowd:
    """The people who give simulated answers.

    Attributes
    ----------
    people
        (k,) numbers of people, as in `Triplets.groups`; None if people are unknown.
    shares
        (k,) for each person: the number of their answers, divided by the number of all answers.
    noises
        (k,) for each person: half of the probability that they answer at random.
    """

    people: NDArray[np.int32] | None
    shares: NDArray[np.float64]
    noises: NDArray[np.float64]

    @classmethod
    def of(cls, data: Triplets | Quadruplets, noise: float, by_group: Mapping[str | int, float]) -> "Crowd":
        """Return the people who gave the answers `data`.

        The noise of a person is half of the probability of a random answer. `by_group` maps people to their
        noise. People who are not in `by_group` have the noise `noise`.
        """
        if data.groups is None or not by_group:
            return cls(None, np.ones(1), np.array([noise]))
        people, counts = np.unique(data.groups, return_counts=True)
        names = data.group_names
        who = [number if names is None else names[number] for number in people.tolist()]
        noises = np.array([by_group.get(name, noise) for name in who])
        return cls(people.astype(np.int32), counts / counts.sum(), noises)

    def drawn(
        self, count: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int32] | None, NDArray[np.float64]]:
        """Draw `count` people with probabilities `shares`; return them (None if unknown) and their noises."""
        at = rng.choice(len(self.shares), count, p=self.shares)
        return None if self.people is None else self.people[at], self.noises[at]


def chances_of(
    data: Triplets | Quadruplets, numbers: NDArray[Any], at: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return for each row in `at` the probability that a random guess gives the row's answer, (k,).

    `numbers` has the number of the answer of each row of `data`, (m,).
    """
    by_answer = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[by_answer], [numbers[at], numbers[at] + 1])
    found = np.full(len(at), 0.5)
    for place, (start, end) in enumerate(starts.T.tolist()):
        order = order_of(data.rows[by_answer[start:end]])
        if order is not None:
            found[place] = 1 / n_orders(order[1])
    return found


def with_own_noise(
    likely: NDArray[np.float64],
    chance: NDArray[np.float64],
    data: Triplets | Quadruplets,
    at: NDArray[np.int64],
    by_group: Mapping[str | int, float],
) -> NDArray[np.float64]:
    """Return the probability of the answer of each row in `at`, (k,), with the noise of the row's person.

    The noise of a person is half of the probability that the person answers at random; `by_group` has the
    noise of each person by name or number. `likely` has the probability of each answer for the mean noise of
    all people, and `chance` the probability by random guessing, (k,).
    """
    mean = float(np.mean(list(by_group.values())))
    who = np.asarray(data.groups)[at].tolist()
    names = who if data.group_names is None else [data.group_names[number] for number in who]
    own = np.array([by_group.get(name, mean) for name in names])
    clear = np.clip((likely - 2 * mean * chance) / max(1 - 2 * mean, 1e-9), 0, 1)
    return np.asarray(2 * own * chance + (1 - 2 * own) * clear)


def simulated(
    H: NDArray[np.float64], crowd: Crowd, count: int, like: Triplets | Quadruplets, seed: int
) -> Triplets | Quadruplets:
    """Return the answers `like`, extended by up to `count` simulated answers to random questions.

    `H` has the closeness of each pair of leaves in the tree that is assumed to be true, (n, n): the height of
    their lowest common ancestor, minus the lengths of both leaves (if leaves have lengths). The simulated
    answers have the same kinds as `like` (odd one out, ranking and so on). Questions that compare a pair with
    itself are left out.
    """
    n = len(H)
    rng = np.random.default_rng(seed)
    if like.answers is not None and len(like) and np.bincount(answers_of(like)).max() > 1:
        rows, answer, who = _several_rows(H, crowd, count, like, rng)
    else:
        rows, who = _single_rows(H, crowd, count, like, rng)
        answer = np.arange(len(rows))
    answers = None
    if like.answers is not None:
        first = int(like.answers.max(initial=-1)) + 1
        answers = np.concatenate([like.answers, first + answer])
    weights = None
    if like.weights is not None:
        weights = np.concatenate([like.weights, np.ones(len(rows))])
    groups = None if who is None or like.groups is None else np.concatenate([like.groups, who])
    both = np.concatenate([like.rows.astype(np.int64), rows.astype(np.int64)])
    return type(like)(both, n_leaves=n, weights=weights, answers=answers, groups=groups)


def _single_rows(
    H: NDArray[np.float64],
    crowd: Crowd,
    count: int,
    like: Triplets | Quadruplets,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int32] | None]:
    n = len(H)
    if isinstance(like, Quadruplets):
        pairs = [np.argsort(rng.random((count, n)), axis=1)[:, :2] for _ in range(2)]
        rows = np.concatenate(pairs, axis=1)
        rows = rows[(np.sort(rows[:, :2], axis=1) != np.sort(rows[:, 2:], axis=1)).any(axis=1)]
        turned = [2, 3, 0, 1]
    else:
        rows = np.stack([rng.permutation(n)[:3] for _ in range(count)])
        turned = [0, 2, 1]
    who, noise = crowd.drawn(len(rows), rng)
    near, far = (rows[:, :2], rows[:, 2:]) if rows.shape[1] == 4 else (rows[:, [0, 1]], rows[:, [0, 2]])
    difference = H[near[:, 0], near[:, 1]] - H[far[:, 0], far[:, 1]]
    swap = rng.random(len(rows)) > noise + (1 - 2 * noise) * np.exp(-np.logaddexp(0.0, -difference))
    return np.where(swap[:, None], rows[:, turned], rows), who


def _several_rows(
    H: NDArray[np.float64],
    crowd: Crowd,
    count: int,
    like: Triplets | Quadruplets,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32] | None]:
    numbers = answers_of(like)
    models = rng.integers(int(numbers.max()) + 1, size=min(_KINDS, count))
    rows, answer, people = [], [], []
    first = 0
    for model, many in zip(models, np.array_split(np.arange(count), len(models)), strict=True):
        own = like.rows[numbers == model].astype(np.int64)
        leaves, places = np.unique(own, return_inverse=True)
        shape = places.reshape(own.shape)
        found = order_of(shape)
        # If the rows of an answer are not a ranking, simulate each row by itself, about the same leaves.
        orders = [found] if found is not None else [order_of(row[None]) for row in shape]
        here = np.argsort(rng.random((len(many), len(H))), axis=1)[:, : len(leaves)]
        who, noise = crowd.drawn(len(many), rng)
        for order in orders:
            assert order is not None
            said = _drawn(H, here, order, noise, rng)
            if isinstance(like, Triplets):
                said = _as_triplets(said)
            rows.append(said.reshape(-1, said.shape[2]))
            answer.append(np.repeat(first + np.arange(len(many)), said.shape[1]))
            people.append(None if who is None else np.repeat(who, said.shape[1]))
        first += len(many)
    told = [each for each in people if each is not None]
    return np.concatenate(rows), np.concatenate(answer), np.concatenate(told) if told else None


def _drawn(
    H: NDArray[np.float64],
    leaves: NDArray[np.int64],
    order: tuple[list[tuple[int, int]], list[int]],
    noise: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Simulate one answer for each row of `leaves`; return (a, r, 4): r quadruplets for each of a answers.

    `order` has the ranked pairs of leaves, closest first, and the number of pairs of each rank.
    """
    pairs, blocks = leaves[:, np.array(order[0])], order[1]
    closeness = H[pairs[..., 0], pairs[..., 1]]
    by_chance = rng.random(len(pairs)) < 2 * noise
    closeness = np.where(by_chance[:, None], 0.0, closeness)
    # Sorting by closeness plus Gumbel noise draws one pair after the other, in proportion to exp(closeness)
    # among the pairs that remain.
    ranks = np.argsort(-closeness - rng.gumbel(size=closeness.shape), axis=1)
    at = np.arange(len(pairs))
    if blocks[-1] == 1 and blocks[-2] > 1:
        # Best-and-worst questions: draw the last pair, the farthest, in proportion to exp(-closeness).
        last = ranks[:, -blocks[-2] - 1 :]
        left = closeness[at[:, None], last]
        worst = np.argmax(-left + rng.gumbel(size=left.shape), axis=1)
        last[at, worst], last[:, -1] = last[:, -1].copy(), last[at, worst].copy()
    pairs = pairs[at[:, None], ranks]
    near, far = compared(blocks)
    return np.concatenate([pairs[:, near], pairs[:, far]], axis=2)


def _as_triplets(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Convert quadruplets to triplets; the two pairs of each quadruplet share a leaf."""
    i, j, k, other = np.moveaxis(rows, 2, 0)
    is_first = (i == k) | (i == other)
    anchor, near = np.where(is_first, i, j), np.where(is_first, j, i)
    return np.stack([anchor, near, np.where(k == anchor, other, k)], axis=2)


def unknown_text(count: int) -> str:
    first = "1 answer has" if count == 1 else f"{count:,} answers have"
    return (
        f"{first} several rows, but the rows are no odd one out, most central one, ranking, best and worst, "
        "or choice of some: such rows count as one answer together. If each row is an answer, give no answers"
    )
