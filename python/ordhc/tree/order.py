"""Orders in which leaves are written and drawn without branches that cross."""

import numpy as np
from numpy.typing import NDArray

from ordhc.errors import InputError
from ordhc.tree.beside import shown
from ordhc.tree.merges import Merges
from ordhc.tree.shape import Shape

__all__ = ["by_size", "checked", "turned"]


def by_size(shape: Shape, *, largest_first: bool) -> NDArray[np.int64]:
    """Children by their sizes; what is as large stays in order."""
    order, waiting = [], [len(shape.parents) - 1]
    while waiting:
        label = waiting.pop()
        children = shape.children_of(label)
        if not children:
            order.append(label)
        waiting.extend(sorted(children, key=shape.sizes.__getitem__, reverse=largest_first)[::-1])
    return np.array(order, dtype=np.int64)


def turned(shape: Shape, label: int) -> NDArray[np.int64]:
    """The children of one node in the opposite order."""
    order, children = shape.order.copy(), shape.children_of(label)
    if children:
        start = shape.starts[label]
        leaves = [shape.leaves_of(child) for child in children[::-1]]
        order[start : start + shape.sizes[label]] = np.concatenate(leaves)
    return order


def checked(tree: Merges, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """An order of all leaves, in which those of each node stand together."""
    shape, n, labels = tree._shape, tree.n_leaves, tree.labels
    times = np.bincount(order, minlength=n)
    wrong = np.flatnonzero(times != 1)
    if wrong.size:
        raise InputError(
            f"leaf {shown(labels[wrong[0]])} comes {times[wrong[0]]} times; each of the {n} leaves has to "
            "come once"
        )
    places = np.argsort(order).tolist()
    first, last = places + [n] * (n - 1), places + [0] * (n - 1)
    for label in shape.postorder(2 * n - 2):
        for child in shape.children_of(label):
            first[label] = min(first[label], first[child])
            last[label] = max(last[label], last[child])
        if last[label] - first[label] >= shape.sizes[label]:
            inside = np.sort(np.array(places)[shape.leaves_of(label)])
            gap = inside[np.flatnonzero(np.diff(inside) > 1)[0]]
            before, between = (shown(labels[order[place]]) for place in (gap, gap + 1))
            after = shown(labels[order[inside[inside > gap][0]]])
            raise InputError(
                f"leaf {between} can't stand between {before} and {after}, which are in a cluster without it"
            )
    return order
