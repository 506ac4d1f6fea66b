"""Treat each answer as a choice among all possible answers, which are rankings of its pairs of leaves."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.luce import choice_logarithms
from ordhc.comparison.units import answers_of, numbered_rows

if TYPE_CHECKING:
    from ordhc.comparison.rows import Rows as Comparisons

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: The possible answers to a question are listed if there are at most this number.
ENUMERATED = 720
#: The maximum number of values that `probabilities` handles at once, to limit memory.
_AT_ONCE = 4_000_000
#: Values with a smaller relative difference count as equal.
_TIED = 1e-9

#: Closeness of pairs of leaves, larger is closer: an (n, n) array, or a function of two arrays of leaves.
Closeness = Floats | Callable[[Numbers, Numbers], Floats]


def order_of(rows: NDArray[Any]) -> tuple[list[tuple[int, int]], list[int]] | None:
    """Return the pairs of leaves that an answer ranks, closest first, and the number of pairs of each rank.

    If c is the odd one out of a, b and c, then (a, b) is closer than (a, c) and (b, c), so the numbers are
    [1, 2]. If c is the most central, the numbers are [2, 1].

    Returns None if the rows do not rank the pairs, for example if two rows contradict each other. Repeated
    rows count once.
    """
    pairs = rows[:, [0, 1, 0, 2]] if rows.shape[1] == 3 else rows
    said = {(tuple(sorted(row[:2])), tuple(sorted(row[2:]))) for row in pairs.tolist()}
    losses: dict[Any, int] = {pair: 0 for row in said for pair in row}
    for _, far in said:
        losses[far] += 1
    order = sorted(losses, key=lambda pair: (losses[pair], pair))
    blocks: list[int] = []
    for at, pair in enumerate(order):
        if at and losses[pair] == losses[order[at - 1]]:
            blocks[-1] += 1
        elif losses[pair] == at:
            blocks.append(1)
        else:
            return None
    compared = (sum(blocks) ** 2 - sum(size**2 for size in blocks)) // 2
    agrees = all(losses[near] < losses[far] for near, far in said)
    return (order, blocks) if agrees and compared == len(said) else None


def n_orders(blocks: Sequence[int]) -> int:
    """Return the number of ways to rank pairs of leaves, if `blocks` has the number of pairs of each rank.

    Examples
    --------
    >>> n_orders([1, 2]), n_orders([1, 1, 1])
    (3, 6)
    """
    return math.factorial(sum(blocks)) // math.prod(map(math.factorial, blocks))


def compared(blocks: Sequence[int]) -> tuple[Numbers, Numbers]:
    """Return the positions of the closer and the farther pair in each comparison that a ranking implies.

    `blocks` has the number of pairs of each rank, closest pairs first. Only pairs of different ranks are
    compared.

    Examples
    --------
    >>> near, far = compared([1, 2])
    >>> near.tolist(), far.tolist()
    ([0, 0], [1, 2])
    """
    ends = np.cumsum(blocks)
    block = np.repeat(np.arange(len(blocks)), blocks)
    near = np.concatenate([np.repeat(i, ends[-1] - ends[block[i]]) for i in range(ends[-1])])
    return near, np.concatenate([np.arange(ends[block[i]], ends[-1]) for i in range(ends[-1])])


def right_of(probabilities: Floats) -> Floats:
    """Return the score of each given answer: 1 if it is the likeliest answer, else 0.

    If t answers have the same largest probability, the score of each of them is 1/t. Each row of
    `probabilities`, (a, K), has the probabilities of all K possible answers to a question. The given answer
    is in column 0.

    Examples
    --------
    >>> import numpy as np
    >>> right_of(np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.1, 0.6, 0.3]]))
    array([1. , 0.5, 0. ])
    """
    tied = probabilities >= probabilities.max(axis=1, keepdims=True) * (1 - _TIED)
    right: Floats = tied[:, 0] / tied.sum(axis=1)
    return right


@dataclass(frozen=True)
class Kind:
    """Answers of one kind, for example all odd ones out."""

    name: str
    #: The number of pairs of each rank, closest pairs first.
    blocks: tuple[int, ...]
    #: (a, k, 2) the pairs of leaves of each answer, closest pairs first.
    pairs: Numbers
    #: (a,) the number of each answer, from `comparison.units.answers_of`.
    answer: Numbers
    #: (a,) the weight of each answer.
    weights: Floats

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def n_possible(self) -> int:
        """The number of possible answers to a question of this kind."""
        return n_orders(self.blocks)

    @property
    def is_enumerated(self) -> bool:
        """True if `orders` lists all possible answers."""
        return self.n_possible <= ENUMERATED

    @cached_property
    def orders(self) -> Numbers:
        """The possible answers, (K, k): orders of the k pairs in `pairs`; the given answer comes first.

        If more than 720 answers are possible, only some are listed: the given answer, and each answer that
        exchanges two pairs of adjacent ranks. This suffices to decide whether the given answer is the most
        likely one: if any possible answer is more likely, then a listed answer is, too.
        """
        if self.is_enumerated:
            return np.array(list(_orders(tuple(range(sum(self.blocks))), self.blocks)), dtype=np.int64)
        ends = np.cumsum((0, *self.blocks))
        found = [list(range(ends[-1]))]
        for start, middle, end in zip(ends, ends[1:], ends[2:], strict=False):
            for one in range(start, middle):
                for other in range(middle, end):
                    found.append(list(range(ends[-1])))
                    found[-1][one], found[-1][other] = other, one
        return np.array(found, dtype=np.int64)

    def question(self, n_leaves: int) -> tuple[Numbers, Numbers]:
        """Assign numbers to questions and to distinct answers; return both numbers of each answer, (a,) each.

        Two answers have the same first number if their questions are the same. They have the same second
        number if the answers are the same, too.
        """
        codes = np.sort(self.pairs, axis=2) @ np.array([n_leaves, 1])
        ends = np.cumsum((0, *self.blocks))
        said = np.concatenate([np.sort(codes[:, start:end], axis=1) for start, end in pairwise(ends)], axis=1)
        return numbered_rows(np.sort(codes, axis=1)), numbered_rows(said)

    def rows(self, order: Sequence[int] | Numbers) -> Numbers:
        """Return an (a, r, 4) array: the r comparisons of each answer, after `order` permutes its pairs.

        Each comparison has the leaves of the closer pair, then those of the farther pair.
        """
        near, far = compared(self.blocks)
        pairs = self.pairs[:, np.asarray(order)]
        return np.concatenate([pairs[:, near], pairs[:, far]], axis=2)

    def utilities(self, closeness: Closeness) -> Floats:
        """Return the (a, k) closeness of the pairs of each answer."""
        i, j = self.pairs[..., 0], self.pairs[..., 1]
        if callable(closeness):
            return np.asarray(closeness(i.ravel(), j.ravel()), dtype=np.float64).reshape(i.shape)
        found: Floats = closeness[i, j]
        return found

    def probabilities(self, closeness: Closeness, noise: float = 0.0) -> Floats:
        """Return the (a, K) probabilities of the answers in `orders`; the given answer comes first.

        `noise` is half of the share of answers that are random guesses.
        """
        U, orders = self.utilities(closeness), self.orders
        found = np.empty((len(U), len(orders)))
        step = max(1, _AT_ONCE // orders.size)
        for start in range(0, len(U), step):
            each = U[start : start + step][:, orders]
            logarithms, _ = choice_logarithms(each.reshape(-1, orders.shape[1]), self.blocks)
            found[start : start + step] = np.exp(logarithms).reshape(each.shape[:2])
        return 2 * noise / self.n_possible + (1 - 2 * noise) * found

    def right(self, closeness: Closeness) -> Floats:
        """Return (a,) scores: 1/t for an answer that is one of the t most likely answers, else 0.

        The most likely answer orders the pairs by closeness. Therefore possible answers need not be
        enumerated, and only the order of the closeness values matters.
        """
        U = self.utilities(closeness)
        ends = np.cumsum((0, *self.blocks))
        if max(self.blocks) > 1:
            U = np.concatenate([-np.sort(-U[:, start:end], axis=1) for start, end in pairwise(ends)], axis=1)
        steps = np.diff(U, axis=1)
        # There are few columns, and NumPy reduces long columns faster than short rows.
        largest = reduce(np.maximum, np.abs(U).T)
        near = np.abs(steps) <= _TIED * (1 + largest[:, None])
        is_sorted = reduce(np.logical_and, (near | (steps < 0)).T)
        # If equally close pairs of different ranks exchange their ranks, the answer is equally likely. Take a
        # set of equally close pairs, of which n1 have one rank, n2 the next rank, and so on. There are
        # (n1 + n2 + ...)! / (n1! n2! ...) such answers. `ways` is the product of these numbers over all sets.
        ways, run, own = np.ones(len(U)), np.ones(len(U)), np.ones(len(U))
        for at in range(1, U.shape[1]):
            run = np.where(near[:, at - 1], run + 1, 1)
            own = np.where(near[:, at - 1] & (at not in ends), own + 1, 1)
            ways *= run / own
        return np.where(is_sorted, 1 / ways, 0.0)


def _orders(left: tuple[int, ...], blocks: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield all ways to divide `left` into groups of sizes `blocks`; the first keeps the order of `left`."""
    if len(blocks) == 1:
        yield left
        return
    for chosen in combinations(left, blocks[0]):
        others = tuple(option for option in left if option not in chosen)
        for rest in _orders(others, blocks[1:]):
            yield (*chosen, *rest)


@dataclass(frozen=True)
class Choices:
    """Comparisons grouped into whole answers, by kind."""

    #: The answers of each kind. If the rows of an answer do not rank its pairs of leaves, each row is a
    #: choice of its own, and the rows share the weight of the answer.
    kinds: tuple[Kind, ...]
    #: The number of answers, including answers of weight 0.
    n_answers: int
    n_leaves: int

    @classmethod
    def of(cls, data: "Comparisons") -> "Choices":
        """Return the answers in `data` that have a positive weight, grouped by kind."""
        numbers = answers_of(data)
        weights = np.ones(len(data)) if data.weights is None else np.asarray(data.weights, dtype=np.float64)
        rows = np.asarray(data.rows, dtype=np.int64)
        rows = rows[:, [0, 1, 0, 2]] if rows.shape[1] == 3 else rows
        kept = np.flatnonzero(weights > 0)
        kept = kept[np.argsort(numbers[kept], kind="stable")]
        sizes = np.bincount(numbers[kept], minlength=1)
        starts = np.cumsum(sizes) - sizes
        parts: dict[tuple[Any, ...], list[tuple[Numbers, Numbers, Floats]]] = {}
        for size in np.unique(sizes[sizes > 0]).tolist():
            which = np.flatnonzero(sizes == size)
            at = kept[starts[which][:, None] + np.arange(size)]
            leaves = rows[at].reshape(len(which), -1)
            for mine, pattern in _patterns(leaves):
                for key, order, share in _kinds_of(pattern.reshape(size, 4)):
                    pairs = leaves[mine][:, order]
                    weight = weights[at[mine]].mean(axis=1) * share
                    parts.setdefault(key, []).append((pairs, which[mine], weight))
        kinds = [
            Kind(key[0], key[1], *(np.concatenate(column) for column in zip(*found, strict=True)))
            for key, found in sorted(parts.items())
        ]
        return cls(tuple(kinds), int(numbers.max(initial=-1)) + 1, data.n_leaves)

    @property
    def chance(self) -> float:
        """The share of answers that random guesses predict: the mean of 1 / (number of possible answers)."""
        weights = [float(kind.weights.sum()) for kind in self.kinds]
        return float(np.average([1 / kind.n_possible for kind in self.kinds], weights=weights))

    def gathered(self, of_kinds: Sequence[Floats]) -> tuple[Floats, Floats]:
        """Return a weighted mean of values for each answer, and the answer's weight: (n_answers,) each.

        `of_kinds` has, for each kind, an (a,) array with a value for each choice. Usually an answer is one
        choice. If its rows do not rank its pairs of leaves, each row is a choice. The mean of an answer
        without weight is 0.
        """
        total, weight = np.zeros(self.n_answers), np.zeros(self.n_answers)
        for kind, values in zip(self.kinds, of_kinds, strict=True):
            total += np.bincount(kind.answer, kind.weights * values, self.n_answers)
            weight += np.bincount(kind.answer, kind.weights, self.n_answers)
        return np.divide(total, weight, out=np.zeros_like(total), where=weight > 0), weight


def _patterns(leaves: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
    first = np.stack([(leaves == leaves[:, [at]]).argmax(axis=1) for at in range(leaves.shape[1])], axis=1)
    if (first == first[0]).all():
        yield np.arange(len(leaves)), first[0]
        return
    patterns, inverse = np.unique(first, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    for at, pattern in enumerate(patterns):
        yield np.flatnonzero(inverse == at), pattern


def _kinds_of(rows: Numbers) -> list[tuple[tuple[str, tuple[int, ...]], Numbers, float]]:
    """Return an answer as one choice if its rows rank its pairs of leaves, else each row as a choice.

    Each choice has its kind, its pairs of leaves and its weight. The weights are equal, and their sum is 1.
    """
    found = order_of(rows)
    if found is None:
        return [(key, pairs, share / len(rows)) for row in rows for key, pairs, share in _kinds_of(row[None])]
    order, blocks = np.array(found[0]), tuple(found[1])
    return [((_name(order, blocks), blocks), order, 1.0)]


def _name(order: Numbers, blocks: tuple[int, ...]) -> str:
    leaves = len(np.unique(order))
    shared = bool((order == order[0, 0]).any(axis=1).all() or (order == order[0, 1]).any(axis=1).all())
    if blocks == (1, 1):
        return "triplet" if shared else "quadruplet"
    if leaves == 3:
        names: dict[Any, str] = {(1, 2): "odd one out", (2, 1): "most central"}
        return names.get(blocks, "ranking of 3 pairs")
    what = "items" if shared else "pairs"
    if len(blocks) == 2:
        return f"{blocks[0]} of {sum(blocks)} {what}"
    if len(blocks) == 3 and blocks[0] == blocks[2] == 1 < blocks[1]:
        return f"best and worst of {sum(blocks)} {what}"
    if set(blocks[:-1]) == {1}:
        part = "" if blocks[-1] == 1 else f"{len(blocks) - 1} of "
        return f"ranking of {part}{sum(blocks)} {what}"
    return f"ranking of {sum(blocks)} {what} with ties, {', '.join(map(str, blocks))} of each rank"
