"""Find where a tree fails: items and clusters whose answers are predicted better by points in space."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.units import answers_of, distinct
from ordhc.evaluate.structure.scored import Scored
from ordhc.evaluate.structure.words import Estimate
from ordhc.tree.dendrogram import Dendrogram, shape_of

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Items and clusters with fewer answers are not tested.
FEWEST = 20
#: The largest expected share of chance findings in the list of misfits (false discovery rate).
FALSE = 0.05
#: Maximum number of items in the name of a cluster.
_NAMED = 3


@dataclass(frozen=True)
class Misfit:
    """An item or a cluster whose answers are predicted better by points in space than by the tree.

    Attributes
    ----------
    label
        The number of the leaf or node in `Structure.tree`.
    name
        The name of the item or cluster; for a cluster without a name, the names of its first items.
    n_items
        1 for an item, else the number of items in the cluster.
    n_answers
        The number of answers. For an item: all answers about the item. For a cluster: the answers for which
        it is the smallest cluster that contains all of their items.
    behind
        The log loss of the tree minus that of points, per answer, with a 95% interval.
    false_share
        The expected share of chance findings among all items and clusters whose differences are at least as
        clear as this one (Benjamini and Hochberg 1995).
    """

    label: int
    name: str
    n_items: int
    n_answers: int
    behind: Estimate
    false_share: float

    def __str__(self) -> str:
        what = self.name if self.n_items == 1 else f"cluster of {self.n_items:,} items, {self.name}"
        return f"{what}: {self.behind} nats more per answer ({self.n_answers:,} answers)"


def find_misfits(
    scored: Scored, data: Triplets | Quadruplets, tree: Dendrogram, behind: Floats
) -> tuple[tuple[Misfit, ...], tuple[int, int]]:
    """Return `Structure.misfits` and `Structure.n_looked_at`.

    `scored` was made from `data`. `behind` is (a,): for each answer of `scored`, the log loss of the tree
    minus that of points.
    """
    answers, leaves = incidences(data)
    # Maps the number of an answer in the data to its index in `scored`; -1 if the answer is not in `scored`.
    place = np.full(int(answers.max()) + 1, -1)
    place[scored.at] = np.arange(len(scored.at))
    kept = place[answers] >= 0
    answers, leaves = place[answers[kept]], leaves[kept]
    common = common_clusters(tree, answers, leaves, len(scored.at))
    members = [(leaf, answers[leaves == leaf]) for leaf in range(tree.n_leaves)]
    members += [(node, np.flatnonzero(common == node)) for node in range(tree.n_leaves, len(tree.parents))]
    found, tails = [], []
    for label, of in members:
        if len(of) < FEWEST:
            continue
        among = np.zeros(len(behind))
        among[of] = 1.0
        difference, tail = scored.better(behind, among)
        if tail == tail:
            found.append((label, len(of), difference))
            tails.append(tail)
    misfits = [
        Misfit(label, _name(tree, label), tree.node(label).size, count, difference, share)
        for (label, count, difference), share in zip(found, _false_shares(tails), strict=True)
        if share <= FALSE
    ]
    n_items = sum(label < tree.n_leaves for label, *_ in found)
    misfits.sort(key=lambda each: -each.behind.value)
    return tuple(misfits), (n_items, len(found) - n_items)


def incidences(data: Triplets | Quadruplets) -> tuple[Numbers, Numbers]:
    """Return two arrays, answers and leaves: a pair for each answer and each leaf in it."""
    rows = np.asarray(data.rows, dtype=np.int64)
    codes = distinct((answers_of(data)[:, None] * data.n_leaves + rows).ravel())
    return codes // data.n_leaves, codes % data.n_leaves


def common_clusters(tree: Dendrogram, answers: Numbers, leaves: Numbers, count: int) -> Numbers:
    """Return, for each answer, the node of the smallest cluster that contains all of its leaves, (count,)."""
    shape = shape_of(tree)
    starts, sizes, parents = np.array(shape.starts), np.array(shape.sizes), np.array(shape.parents)
    at = starts[leaves]
    first, last = np.full(count, tree.n_leaves), np.full(count, -1)
    np.minimum.at(first, answers, at)
    np.maximum.at(last, answers, at)
    by_place = np.argsort(starts[: tree.n_leaves])
    found = by_place[first]
    while (rising := starts[found] + sizes[found] <= last).any():
        found[rising] = parents[found[rising]]
    return np.asarray(found, dtype=np.int64)


def _false_shares(tails: Sequence[float]) -> list[float]:
    """Return the adjusted p-values of Benjamini and Hochberg (1995).

    Examples
    --------
    >>> _false_shares([0.01, 0.5, 0.02])
    [0.03, 0.5, 0.03]
    """
    p = np.asarray(tails, dtype=np.float64)
    order = np.argsort(p)
    adjusted = np.minimum.accumulate((p[order] * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    found = np.empty(len(p))
    found[order] = np.minimum(adjusted, 1.0)
    return found.tolist()


def _name(tree: Dendrogram, label: int) -> str:
    node = tree.node(label)
    if node.is_leaf or node.name:
        return str(node.name if node.name else tree.labels[label])
    names = [tree.labels[leaf] for leaf in np.sort(node.leaves)[:_NAMED].tolist()]
    return ", ".join(names) + (", …" if node.size > _NAMED else "")
