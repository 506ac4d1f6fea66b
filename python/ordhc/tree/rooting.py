"""Move the root of a tree to another edge; find the edge of an outgroup and the midpoint."""

import numpy as np
from numpy.typing import NDArray

from ordhc.errors import InputError
from ordhc.tree.annotations import shown
from ordhc.tree.shape import Shape


def rerooted(
    shape: Shape, lengths: NDArray[np.float64], node: int, below: float
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Move the root to the edge above `node`, at distance `below` from `node`; return four arrays by node.

    The arrays are the parents, the lengths, the old number of each node, and for the edge above each node the
    node that was below this edge in the old tree. The new root has no old numbers: -1. Leaves are first,
    children before parents. Support moves with edges.
    """
    n, root = len(shape.order), shape.root
    parents, length, edge = shape.parents.copy(), lengths.tolist(), list(range(root + 1))
    new = root + 1
    parents.append(-1)
    length.append(np.nan)
    edge.append(-1)
    path = [node]
    while parents[path[-1]] >= 0:
        path.append(parents[path[-1]])
    # Edges between the node and the old root change their direction.
    for lower, upper in zip(path[-2:0:-1], path[:1:-1], strict=True):
        parents[upper], length[upper], edge[upper] = lower, lengths[lower], lower
    top = path[1]
    parents[node], parents[top] = new, new
    length[node], length[top], edge[top] = below, float(lengths[node]) - below, node
    rest = [child for child in shape.children_of(root) if child != path[-2]]
    gone = -1
    if len(rest) == 1:
        # The old root has one child left, so the root is removed and the lengths of its two edges are added.
        child, gone = rest[0], root
        length[child] = float(lengths[child]) + float(length[root])
        parents[child] = parents[root]
    depth = _depths(parents, new)
    kept = [v for v in range(new + 1) if v != gone]
    order = [v for v in kept if v < n] + sorted((v for v in kept if v >= n), key=lambda v: (-depth[v], v))
    number = {old: at for at, old in enumerate(order)}
    return (
        np.array([number[parents[v]] if v != new else len(order) - 1 for v in order], dtype=np.int64),
        np.array([length[v] for v in order]),
        np.array([v if v != new else -1 for v in order], dtype=np.int64),
        np.array([edge[v] for v in order], dtype=np.int64),
    )


def _depths(parents: list[int], root: int) -> list[int]:
    depth = [-1] * len(parents)
    depth[root] = 0
    for start in range(len(parents)):
        path = []
        node = start
        while depth[node] < 0:
            path.append(node)
            node = parents[node]
        for node in reversed(path):
            depth[node] = depth[parents[node]] + 1
    return depth


def edge_of_outgroup(shape: Shape, labels: tuple[str, ...], outgroup: NDArray[np.int64]) -> int:
    """Return the node below the edge that separates the leaves of `outgroup` from all other leaves."""
    n = len(labels)
    is_out = np.zeros(n, dtype=bool)
    is_out[outgroup] = True
    if is_out.all():
        raise InputError(f"the outgroup has all {n} leaves; some must be outside of it")
    for side in (is_out, ~is_out):
        count, inside = int(side.sum()), [0] * (shape.root + 1)
        for node in shape.postorder(shape.root):
            children = shape.children_of(node)
            inside[node] = sum(inside[child] for child in children) if children else int(side[node])
            if inside[node] == count:
                if shape.sizes[node] == count:
                    return node
                break
    # Find the smallest cluster that contains the outgroup, and one of its other leaves for the message.
    node = int(outgroup[0])
    while is_out.sum() != is_out[shape.leaves_of(node)].sum():
        node = shape.parents[node]
    other = next(leaf for leaf in shape.leaves_of(node).tolist() if not is_out[leaf])
    raise InputError(
        "no edge separates the outgroup from all other leaves: the smallest cluster that contains the "
        f"outgroup also contains {shown(labels[other])}"
    )


def midpoint(shape: Shape, lengths: NDArray[np.float64]) -> tuple[int, float]:
    """Return the middle of the longest path between two leaves: a node, and the distance above this node."""
    ways = [0.0] * (shape.root + 1)
    ends = list(range(shape.root + 1))
    longest, top, pair = -np.inf, shape.root, (0, 0)
    for node in shape.postorder(shape.root):
        best = [(ways[child] + float(lengths[child]), ends[child]) for child in shape.children_of(node)]
        best.sort(key=lambda way: -way[0])
        if best:
            ways[node], ends[node] = best[0]
        if len(best) > 1 and best[0][0] + best[1][0] > longest:
            longest, top, pair = best[0][0] + best[1][0], node, (best[0][1], best[1][1])
    node, left = pair[0], 0.5 * longest
    # The path from the first leaf to the top is at least half of the whole path, so it contains the middle.
    while shape.parents[node] != top and left > lengths[node]:
        left -= float(lengths[node])
        node = shape.parents[node]
    return node, min(max(left, 0.0), max(float(lengths[node]), 0.0))
