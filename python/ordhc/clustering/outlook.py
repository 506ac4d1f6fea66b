"""How good a tree is expected to be, now and after more answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.clustering.refine import refine
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.tree.dendrogram import Dendrogram

__all__ = ["CORRELATED", "Crowd", "Expected", "Predicted", "expected_of", "simulated"]

#: Numbers of clusters at which trees are compared.
_LEVELS = (2, 4, 8)
#: With more leaves than this summaries are cut by mean heights, as `Samples.summary` has it.
CORRELATED = 3_000
#: So many trees say how right flat clusters are expected to be.
_JUDGES = 50


@dataclass(frozen=True)
class Expected:
    """How right a tree is expected to be, if the truth is like the trees that were drawn.

    Attributes
    ----------
    accuracy
        The mean share of sets of three leaves, two of which are closer, that the tree joins rightly.
    low, high
        It lies between these for 0.9 of the trees that were drawn. Of few simulated truths a third to two
        thirds did so: the interval is too narrow.
    aari
        The adjusted Rand index of 2, 4 and 8 clusters, averaged: the mean. Where the tree is cut by
        correlations, so are those that may be true.
    """

    accuracy: float
    low: float
    high: float
    aari: float

    @classmethod
    def mean(cls, several: "Sequence[Expected]") -> "Expected":
        """The mean of each number."""
        numbers = [(one.accuracy, one.low, one.high, one.aari) for one in several]
        return cls(*np.mean(numbers, axis=0).tolist())

    def __str__(self) -> str:
        return f"accuracy {self.accuracy:.3f} ({self.low:.3f} to {self.high:.3f}), AARI {self.aari:.3f}"


@dataclass(frozen=True)
class Predicted:
    """How well answers are predicted that nothing was made from.

    Attributes
    ----------
    accuracy
        The share of these answers that are the likelier ones.
    low, high
        Its 95% interval, over questions; NaN where there are fewer than five.
    n_answers
        How many there are.
    """

    accuracy: float
    low: float
    high: float
    n_answers: int

    def __str__(self) -> str:
        return f"{self.accuracy:.3f} ({self.low:.3f} to {self.high:.3f}) of {self.n_answers:,} answers"


def expected_of(tree: Dendrogram, truths: Sequence[Dendrogram], *, by_correlation: bool) -> Expected:
    """How right a tree is expected to be if one of these truths is; whether its merges are by correlation."""
    n = tree.n_leaves
    accuracies = []
    for truth in truths:
        same, different, only_truth, _, _ = _ordhc.triplet_counts(truth._tree, tree._tree, None)
        resolved = same + different + only_truth
        accuracies.append(same / resolved if resolved else 1.0)
    levels, indices = [k for k in _LEVELS if k < n], []
    for truth in truths[:: -(-len(truths) // _JUDGES)] if levels else ():
        cut = _at_correlations(truth) if by_correlation else truth
        indices.append(_ordhc.aari_of_trees(tree._tree, cut._tree, levels, None)[0])
    low, high = np.quantile(accuracies, (0.05, 0.95))
    aari = float(np.mean(indices)) if indices else 1.0
    return Expected(float(np.mean(accuracies)), float(low), float(high), aari)


def _at_correlations(truth: Dendrogram) -> Dendrogram:
    """A truth with its merges at correlations of rows of its own heights, as those of the summary stand.

    Heights of nodes far apart in a tree are compared by few answers. So a cut by the heights of a single
    tree is much more a matter of chance than one by correlations of mean heights is, and one by its
    heights would make the latter look worse than it is.
    """
    H = heights_of_pairs(truth)
    np.fill_diagonal(H, -np.inf)
    np.fill_diagonal(H, H.max(axis=1))
    H -= H.mean(axis=1, keepdims=True)
    length = np.sqrt((H * H).sum(axis=1, keepdims=True))
    H /= np.where(length > 0, length, 1.0)
    return refine(truth.with_names(None), H @ H.T, max_moves=0, restarts=0, heights="average")


def heights_of_pairs(tree: Dendrogram) -> NDArray[np.float64]:
    """(n, n) heights of lowest common ancestors."""
    found = tree.cophenetic(square=True)
    np.fill_diagonal(found, 0.0)
    return found


@dataclass(frozen=True)
class Crowd:
    """Whose answers come next: everybody's share and noise.

    Attributes
    ----------
    people
        (k,) numbers of people as in the groups of comparisons; None where nobody is known.
    shares, noises
        (k,) what share of the answers is theirs, and half of the share that each gives by chance.
    """

    people: NDArray[np.int32] | None
    shares: NDArray[np.float64]
    noises: NDArray[np.float64]

    @classmethod
    def of(cls, data: Triplets | Quadruplets, noise: float, by_group: Mapping[str | int, float]) -> "Crowd":
        """Those who gave some answers, as often as there; `noise` is the mean."""
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
        """(count,) who answers, and their noises."""
        at = rng.choice(len(self.shares), count, p=self.shares)
        return None if self.people is None else self.people[at], self.noises[at]


def simulated(
    truth: Dendrogram, crowd: Crowd, count: int, like: Triplets | Quadruplets, is_odd: bool, seed: int
) -> Triplets | Quadruplets:
    """The answers `like`, and so many more to questions drawn at random, as the model has them in a tree."""
    n = truth.n_leaves
    rng = np.random.default_rng(seed)
    H = heights_of_pairs(truth)
    if isinstance(like, Quadruplets):
        pairs = [np.argsort(rng.random((count, n)), axis=1)[:, :2] for _ in range(2)]
        rows = np.concatenate(pairs, axis=1)
        rows = rows[(np.sort(rows[:, :2], axis=1) != np.sort(rows[:, 2:], axis=1)).any(axis=1)]
    else:
        rows = np.stack([rng.permutation(n)[:3] for _ in range(count)])
    who, noise = crowd.drawn(len(rows), rng)
    if isinstance(like, Quadruplets):
        rows = _compared(
            rows, H[rows[:, 0], rows[:, 1]] - H[rows[:, 2], rows[:, 3]], noise, [2, 3, 0, 1], rng
        )
    elif not is_odd:
        a, b, c = rows.T
        rows = _compared(rows, H[a, b] - H[a, c], noise, [0, 2, 1], rng)
    else:
        a, b, c = rows.T
        heights = np.stack([H[b, c], H[a, c], H[a, b]], axis=1)
        near = np.exp(heights - heights.max(axis=1, keepdims=True))
        p = 2 * noise[:, None] / 3 + (1 - 2 * noise[:, None]) * near / near.sum(axis=1, keepdims=True)
        odd = (rng.random((count, 1)) > p.cumsum(axis=1)[:, :2]).sum(axis=1)
        at = np.arange(count)
        x, y, odd_leaf = rows[at, (odd + 1) % 3], rows[at, (odd + 2) % 3], rows[at, odd]
        rows = np.stack([x, y, odd_leaf, y, x, odd_leaf], axis=1).reshape(-1, 3)
        who = None if who is None else np.repeat(who, 2)
    answers = None
    if is_odd and like.answers is not None:
        first = int(like.answers.max(initial=-1)) + 1
        answers = np.concatenate([like.answers, first + np.arange(len(rows)) // 2])
    weights = None
    if like.weights is not None:
        weights = np.concatenate([like.weights, np.ones(len(rows))])
    groups = None if who is None or like.groups is None else np.concatenate([like.groups, who])
    both = np.concatenate([like.rows.astype(np.int64), rows.astype(np.int64)])
    return type(like)(both, n_leaves=n, weights=weights, answers=answers, groups=groups)


def _compared(
    rows: NDArray[np.int64],
    difference: NDArray[np.float64],
    noise: NDArray[np.float64],
    swapped: list[int],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Comparisons as they are, or with their pairs swapped, by how likely answers are."""
    swap = rng.random(len(rows)) > noise + (1 - 2 * noise) * np.exp(-np.logaddexp(0.0, -difference))
    return np.where(swap[:, None], rows[:, swapped], rows)
