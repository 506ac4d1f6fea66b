"""Order the leaves of two trees so that few lines between the same leaves cross."""

import numpy as np
from numpy.typing import NDArray

from ordhc.tree.dendrogram import Dendrogram, shape_of

Numbers = NDArray[np.int64]
#: The maximum number of times that `untangled` reorders each tree in one start, and the number of starts.
ROUNDS, STARTS = 20, 8


def crossings(first: Numbers, second: Numbers) -> int:
    """Return the number of crossings of lines between the same leaves in two orders, in O(n log^2 n).

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


def entanglement(first: Numbers, second: Numbers) -> float:
    """Return the entanglement of two orders, from 0 (the orders are equal) to 1 (one reverses the other).

    The score is the sum of ``|position in first - position in second| ** 1.5`` over all leaves, divided by
    this sum for an order and its reverse, as in R's dendextend.

    Examples
    --------
    >>> entanglement(np.arange(4), np.array([3, 2, 1, 0])), entanglement(np.arange(4), np.arange(4))
    (1.0, 0.0)
    """
    at = np.arange(len(first))
    worst = float((np.abs(at - at[::-1]).astype(np.float64) ** 1.5).sum())
    apart = np.abs(np.argsort(first) - np.argsort(second)).astype(np.float64)
    return float((apart**1.5).sum()) / worst if worst else 0.0


def untangled(a: Dendrogram, b: Dendrogram) -> tuple[Numbers, Numbers]:
    """Return orders of the leaves of two trees with few crossings, without crossing branches of the trees.

    The search turns one tree to fit the order of the other tree, and vice versa, until the number of
    crossings stops falling. The best result of several random starts is returned.

    For a fixed order of one tree, the order of a binary tree is optimal, because the number of crossings
    between the two children of a node does not depend on other nodes. Nodes with more than two children are
    a heuristic: children are sorted by the median position of their leaves, then neighbours are exchanged as
    long as the number of crossings falls.
    """
    best: tuple[int, Numbers, Numbers] | None = None
    random = np.random.default_rng(0)
    for start in range(STARTS):
        order = a.leaf_order()
        if start:
            # A random start: the order of the tree that fits a random permutation.
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
    """Return an order of the tree's leaves that has few crossings with `order`; optimal for binary trees."""
    shape, n = shape_of(tree), tree.n_leaves
    places = np.argsort(order)
    # For each node: the sorted positions of its leaves in `order`, and its children in the new order.
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
    """Return the number of pairs (a in `left`, b in `right`) with b < a; both arrays are sorted."""
    if len(left) <= len(right):
        return int(np.searchsorted(right, left).sum())
    return int(len(left) * len(right) - np.searchsorted(left, right).sum())
