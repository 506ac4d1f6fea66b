"""How good a tree is expected to be, now and after more answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.tree.dendrogram import Dendrogram

__all__ = ["Expected", "expected_of", "simulated"]

#: Numbers of clusters at which trees are compared.
_LEVELS = (2, 4, 8)


@dataclass(frozen=True)
class Expected:
    """How right a tree is expected to be, if the truth is like the trees that were drawn.

    Attributes
    ----------
    accuracy
        The mean share of sets of three leaves, two of which are closer, that the tree joins rightly.
    low, high
        It lies between these with a probability of 0.9.
    aari
        The adjusted Rand index of 2, 4 and 8 clusters, averaged: the mean.
    """

    accuracy: float
    low: float
    high: float
    aari: float

    def __str__(self) -> str:
        return f"accuracy {self.accuracy:.3f} ({self.low:.3f} to {self.high:.3f}), AARI {self.aari:.3f}"


def expected_of(pairs: Sequence[tuple[Dendrogram, Dendrogram]]) -> Expected:
    """From trees and what may be the truth of each."""
    accuracies, indices = [], []
    for tree, truth in pairs:
        same, different, only_truth, _, _ = _ordhc.triplet_counts(truth._tree, tree._tree, True, None)
        resolved = same + different + only_truth
        accuracies.append(same / resolved if resolved else 1.0)
        levels = [k for k in _LEVELS if k < tree.n_leaves]
        indices.append(_ordhc.aari_of_trees(tree._tree, truth._tree, levels, None)[0] if levels else 1.0)
    low, high = np.quantile(accuracies, (0.05, 0.95))
    return Expected(float(np.mean(accuracies)), float(low), float(high), float(np.mean(indices)))


def heights_of_pairs(tree: Dendrogram) -> NDArray[np.float64]:
    """(n, n) heights of lowest common ancestors."""
    n = tree.n_leaves
    found, members = np.zeros((n, n)), [np.array([leaf]) for leaf in range(n)]
    for (a, b), height in zip(tree.merges.tolist(), tree.heights.tolist(), strict=True):
        found[np.ix_(members[a], members[b])] = height
        found[np.ix_(members[b], members[a])] = height
        members.append(np.concatenate([members[a], members[b]]))
    return found


def simulated(
    truth: Dendrogram, noise: float, count: int, like: Triplets | Quadruplets, is_odd: bool, seed: int
) -> Triplets | Quadruplets:
    """The answers `like`, and so many more to questions drawn at random, as the model has them in a tree."""
    n = truth.n_leaves
    rng = np.random.default_rng(seed)
    H = heights_of_pairs(truth)
    if isinstance(like, Quadruplets):
        rows = np.argsort(rng.random((count, n)), axis=1)[:, :2]
        rows = np.concatenate([rows, np.argsort(rng.random((count, n)), axis=1)[:, :2]], axis=1)
        rows = rows[(np.sort(rows[:, :2], axis=1) != np.sort(rows[:, 2:], axis=1)).any(axis=1)]
        d = H[rows[:, 0], rows[:, 1]] - H[rows[:, 2], rows[:, 3]]
        swap = rng.random(len(rows)) > noise + (1 - 2 * noise) / (1 + np.exp(-d))
        rows[swap] = rows[swap][:, [2, 3, 0, 1]]
    else:
        rows = np.stack([rng.permutation(n)[:3] for _ in range(count)])
        a, b, c = rows.T
        if is_odd:
            near = np.exp(np.stack([H[b, c], H[a, c], H[a, b]], axis=1) - H.max())
            p = 2 * noise / 3 + (1 - 2 * noise) * near / near.sum(axis=1, keepdims=True)
            odd = (rng.random((count, 1)) > p.cumsum(axis=1)[:, :2]).sum(axis=1)
            at = np.arange(count)
            x, y, odd_leaf = rows[at, (odd + 1) % 3], rows[at, (odd + 2) % 3], rows[at, odd]
            rows = np.stack([x, y, odd_leaf, y, x, odd_leaf], axis=1).reshape(-1, 3)
        else:
            p = noise + (1 - 2 * noise) / (1 + np.exp(H[a, c] - H[a, b]))
            swap = rng.random(count) > p
            rows[swap] = rows[swap][:, [0, 2, 1]]
    answers = None
    if is_odd and like.answers is not None:
        first = int(like.answers.max(initial=-1)) + 1
        answers = np.concatenate([like.answers, first + np.arange(len(rows)) // 2])
    weights = None
    if like.weights is not None:
        weights = np.concatenate([like.weights, np.ones(len(rows))])
    both = np.concatenate([like.rows.astype(np.int64), rows.astype(np.int64)])
    return type(like)(both, n_leaves=n, weights=weights, answers=answers)
