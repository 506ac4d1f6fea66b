"""Orders in which the leaves of a tree can be written and drawn without crossing branches."""

import numpy as np
from numpy.typing import NDArray

from ordhc.errors import InputError
from ordhc.tree.annotations import shown
from ordhc.tree.shape import Shape


def by_size(shape: Shape, *, largest_first: bool) -> NDArray[np.int64]:
    """Return the order of leaves after sorting all children by size; equal children keep their order."""
    order, waiting = [], [shape.root]
    while waiting:
        node = waiting.pop()
        children = shape.children_of(node)
        if not children:
            order.append(node)
        waiting.extend(sorted(children, key=shape.sizes.__getitem__, reverse=largest_first)[::-1])
    return np.array(order, dtype=np.int64)


def turned(shape: Shape, node: int) -> NDArray[np.int64]:
    order, children = shape.order.copy(), shape.children_of(node)
    if children:
        start = shape.starts[node]
        leaves = [shape.leaves_of(child) for child in children[::-1]]
        order[start : start + shape.sizes[node]] = np.concatenate(leaves)
    return order


def checked(shape: Shape, labels: tuple[str, ...], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `order`; raise `InputError` unless it has all leaves, with the leaves of each node adjacent."""
    n = len(labels)
    times = np.bincount(order, minlength=n)
    wrong = np.flatnonzero(times != 1)
    if wrong.size:
        raise InputError(
            f"leaf {shown(labels[wrong[0]])} is listed {times[wrong[0]]} times; each of the {n} leaves "
            "must be listed once"
        )
    places = np.argsort(order).tolist()
    first, last = places + [n] * (shape.root + 1 - n), places + [0] * (shape.root + 1 - n)
    for node in shape.postorder(shape.root):
        for child in shape.children_of(node):
            first[node] = min(first[node], first[child])
            last[node] = max(last[node], last[child])
        if last[node] - first[node] >= shape.sizes[node]:
            inside = np.sort(np.array(places)[shape.leaves_of(node)])
            gap = inside[np.flatnonzero(np.diff(inside) > 1)[0]]
            before, between = (shown(labels[order[place]]) for place in (gap, gap + 1))
            after = shown(labels[order[inside[inside > gap][0]]])
            raise InputError(
                f"leaf {between} is between {before} and {after}, which are in a cluster without it: "
                "branches would cross"
            )
    return order
