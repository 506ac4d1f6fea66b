"""Orders of the leaves of two trees in which few lines between the same leaves cross."""

import numpy as np
from numpy.typing import NDArray

from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import shape_of

__all__ = ["crossings", "untangled"]

Numbers = NDArray[np.int64]
#: Rounds in which one tree is turned to fit the other, from each start, at most.
ROUNDS, STARTS = 20, 8


def crossings(first: Numbers, second: Numbers) -> int:
    """How many of the lines between the same leaves in two orders cross, in O(n log^2 n).

    Examples
    --------
    >>> crossings(np.array([0, 1, 2, 3]), np.array([1, 0, 3, 2]))
    2
    """
    places = np.argsort(second)[first]
    total = 0
    blocks = [places[at : at + 1] for at in range(len(places))]
    while len(blocks) > 1:
        merged = []
        for at in range(0, len(blocks) - 1, 2):
            left, right = blocks[at], blocks[at + 1]
            total += _inversions(left, right)
            merged.append(np.sort(np.concatenate([left, right])))
        if len(blocks) % 2:
            merged.append(blocks[-1])
        blocks = merged
    return total


def untangled(a: Dendrogram, b: Dendrogram) -> tuple[Numbers, Numbers]:
    """Orders of the leaves of two trees, as the trees allow.

    One tree is turned to fit the other's order, then the other way round, until nothing is gained; from
    several starts, of which the best is kept. For a fixed order of one tree the other's is optimal where its
    nodes have two children: how many lines cross between the two sides depends on nothing else. Nodes of many
    children are put in the order of their medians, and then neighbours are exchanged as long as that helps.
    """
    best: tuple[int, Numbers, Numbers] | None = None
    random = np.random.default_rng(0)
    for start in range(STARTS):
        order = a.leaf_order()
        if start:
            # The tree turned by chance.
            order = fitted(a, random.permutation(a.n_leaves))
        mine, other = order, fitted(b, order)
        fewest = crossings(mine, other)
        for _ in range(ROUNDS):
            turned = fitted(a, other)
            answer = fitted(b, turned)
            now = crossings(turned, answer)
            if now >= fewest:
                break
            fewest, mine, other = now, turned, answer
        if best is None or fewest < best[0]:
            best = fewest, mine, other
        if not best[0] or a.n_leaves > 2000:
            break
    assert best is not None
    return best[1], best[2]


def fitted(tree: Dendrogram, order: Numbers) -> Numbers:
    """The order of a tree's leaves whose lines to another order cross least."""
    shape, n = shape_of(tree), tree.n_leaves
    places = np.argsort(order)
    # By node: places of its leaves, sorted; and its leaves in their order.
    sorted_places: dict[int, Numbers] = {leaf: places[leaf : leaf + 1] for leaf in range(n)}
    turned: dict[int, list[int]] = {}
    for label in shape.postorder(shape.root):
        if label < n:
            continue
        children = list(shape.children_of(label))
        children.sort(key=lambda child: float(np.median(sorted_places[child])))
        changed = True
        while changed:
            changed = False
            for at in range(len(children) - 1):
                left, right = (sorted_places[child] for child in children[at : at + 2])
                if _inversions(left, right) > _inversions(right, left):
                    children[at], children[at + 1] = children[at + 1], children[at]
                    changed = True
        turned[label] = children
        parts = [sorted_places.pop(child) for child in children]
        sorted_places[label] = np.sort(np.concatenate(parts), kind="stable")
    found, waiting = [], [shape.root]
    while waiting:
        label = waiting.pop()
        if label < n:
            found.append(label)
        else:
            waiting.extend(reversed(turned[label]))
    return np.array(found, dtype=np.int64)


def _inversions(left: Numbers, right: Numbers) -> int:
    """How many places of the right side come before places of the left side; both are sorted."""
    if len(left) <= len(right):
        return int(np.searchsorted(right, left).sum())
    return int(len(left) * len(right) - np.searchsorted(left, right).sum())
