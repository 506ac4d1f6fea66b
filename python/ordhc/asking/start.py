"""Prepare the `start` of a learner: a tree of some of its leaves, with which the learner begins."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress
from ordhc.errors import InputError
from ordhc.tree.annotations import shown
from ordhc.tree.dendrogram import Dendrogram, engine_tree, from_engine

#: The length of the shortest edge that can be divided, as a share of the longest edge. Shorter edges are no
#: larger than rounding errors.
_SMALLEST = 1e-9
Floats = NDArray[np.float64]


def start_tree(tree: Dendrogram, names: Sequence[str] | None, n_leaves: int) -> tuple[_ordhc.Tree, list[int]]:
    """Return the argument `start` as a Rust tree, and the learner's numbers of the leaves of this tree."""
    if tree.n_leaves > n_leaves:
        raise InputError(
            f"start= has {tree.n_leaves:,} leaves, more than the {n_leaves:,} leaves of the learner"
        )
    if tree.names is None:
        return engine_tree(tree), list(range(tree.n_leaves))
    place = _checks.LeafNumbers(names or ())
    for name in tree.names:
        if name not in place:
            raise InputError(f"start= has the leaf {shown(name)}, which is not a leaf of the learner")
    return engine_tree(tree), [place[name] for name in tree.names]


def supported_tree(
    learner: _ordhc.Learner | _ordhc.SessionLearner,
    names: tuple[str, ...] | None,
    start: Dendrogram | None,
    retired: Sequence[str] = (),
    progress: Progress | None = None,
) -> Dendrogram:
    """Return the tree of a learner, with the support of its nodes if the learner knows it.

    The height of a node is the number of levels below it, or its height in `start`, the tree with which the
    learner began. The tree has no `retired` leaves.
    """
    found = learner.tree(progress)
    support = learner.support(found)
    tree = from_engine(found, names)
    if retired:
        tree = tree.prune(list(retired))
    if start is not None and (start := _without(start, retired)) is not None:
        return _with_scale(start, tree)
    return tree if support is None else tree.replace(support=support)


def _without(start: Dendrogram, retired: Sequence[str]) -> Dendrogram | None:
    lost = set(retired)
    gone = [name for name in start.names or () if name in lost]
    return None if len(gone) == start.n_leaves else start.prune(gone) if gone else start


def _with_scale(start: Dendrogram, found: Dendrogram) -> Dendrogram:
    """Return the learner's tree `found` with the heights or lengths, names and support of `start`.

    `found` is `start` with further leaves. An edge of length 0 cannot be divided: the new node would be tied
    with its neighbours, and metrics join tied nodes. If a new node is on such an edge, the heights are
    the levels of `found`.
    """
    n, above = found.n_leaves, found.parents.tolist()
    old, is_old = _old_nodes(start, found)
    at = [None if node is None or not is_old[v] else node - start.n_leaves for v, node in enumerate(old)][n:]
    annotations: dict[str, Any] = {"names": found.names}
    if start.node_names is not None:
        annotations["node_names"] = [None if k is None else start.node_names[k] for k in at]
    if start.support is not None:
        annotations["support"] = [np.nan if k is None else start.support[k] for k in at]
    scale: dict[str, Any] = {}
    if start.scale != "shape" and start.root.height is not None:
        heights = _heights(start, found, old, is_old)
        scale = {"kind": start.kind, "heights": heights[n:]}
        edges = np.abs(heights[above[:-1]] - heights[:-1])
    elif start.scale == "lengths":
        scale = {"lengths": _lengths(start, found, old)}
        edges = scale["lengths"][:-1]
    if scale:
        # Check the edges above and below each new inner node: they are parts of divided edges.
        is_new = np.array([v >= n and not is_old[v] for v in range(len(above))])
        divided = edges[is_new[:-1] | is_new[above[:-1]]]
        if (divided[~np.isnan(divided)] <= _SMALLEST * np.nanmax(edges, initial=0)).any():
            scale = {"heights": found.heights}
    annotations |= scale
    return Dendrogram.from_parents(above, **annotations)


def _old_nodes(start: Dendrogram, found: Dendrogram) -> tuple[list[int | None], list[bool]]:
    """Match the nodes of `found` to nodes of `start`, from which `found` was made by placing new leaves.

    The first list has, for each node of `found`, the lowest node of `start` that contains all old leaves
    (leaves of `start`) of this node; None for a node without old leaves. The second list is True for a node
    of `found` that corresponds to a node of `start`. If several nodes of `found` have the same old leaves,
    only the lowest of these nodes corresponds.
    """
    k, n, above = start.n_leaves, found.n_leaves, found.parents.tolist()
    parents = start.parents.tolist()
    number = _checks.LeafNumbers(start.names or ())
    names = found.names
    old: list[int | None] = [None] * len(above)
    for leaf in range(n):
        old[leaf] = number.get(names[leaf]) if names is not None else leaf if leaf < k else None
    is_old = [node is not None for node in old]
    below: list[list[int]] = [[] for _ in above]
    for v, parent in enumerate(above):
        if v >= n:
            # Children come before parents, so all children of v are known.
            own = below[v]
            old[v] = None if not own else own[0] if len(own) == 1 else parents[own[0]]
            is_old[v] = len(own) > 1
        node = old[v]
        if parent >= 0 and node is not None:
            below[parent].append(node)
    return old, is_old


def _heights(start: Dendrogram, found: Dendrogram, old: list[int | None], is_old: list[bool]) -> Floats:
    """Return the heights of all nodes: as in `start`, with new nodes evenly between their neighbours."""
    n, above = found.n_leaves, found.parents.tolist()
    leaf_level = _leaf_level(start)
    known = np.full(len(above), np.nan)
    for v, node in enumerate(old):
        if node is not None and is_old[v]:
            known[v] = leaf_level if v < n else start.heights[node - start.n_leaves]
    # For each node, `base` is the height of the highest node of `start` below it, and `steps` is the number
    # of new nodes from there up to this node.
    base, steps = np.full(len(above), leaf_level), np.zeros(len(above), dtype=int)
    for v, parent in enumerate(above):
        if not np.isnan(known[v]):
            base[v], steps[v] = known[v], 0
        elif v >= n:
            steps[v] += 1
        if parent >= 0 and np.isnan(known[parent]) and (old[v] is not None or old[parent] is None):
            base[parent], steps[parent] = base[v], max(steps[parent], steps[v])
    # A new root is as far above the old root as the old root is above its highest child cluster.
    heights, root = known, len(above) - 1
    if np.isnan(heights[root]):
        inner = [
            start.heights[child.label - start.n_leaves] for child in start.root.children if not child.is_leaf
        ]
        highest = max(inner, key=lambda h: abs(h - leaf_level), default=leaf_level)
        step = float(base[root] - highest) or 1.0
        heights[root] = base[root] + step * steps[root]
    for v in range(root - 1, n - 1, -1):
        if np.isnan(heights[v]):
            upper = heights[above[v]]
            heights[v] = base[v] + (upper - base[v]) * steps[v] / (steps[v] + 1)
    return heights


def _leaf_level(tree: Dendrogram) -> float:
    """Return the height of leaves: 0, or for similarities a value above all heights."""
    if tree.kind == "dissimilarity":
        return 0.0
    heights = tree.heights
    return float(heights.max() + ((heights.max() - heights.min()) / len(heights) or 1.0))


def _lengths(start: Dendrogram, found: Dendrogram, old: list[int | None]) -> Floats:
    """Return the lengths of all edges.

    The parts of an old edge have equal lengths. Edges above clusters of new leaves have length NaN.
    """
    lengths = np.full(len(found.parents), np.nan)
    on_edge: dict[int, list[int]] = {}
    for v, node in enumerate(old):
        if node is not None:
            on_edge.setdefault(node, []).append(v)
    for node, nodes in on_edge.items():
        lengths[nodes] = start.lengths[node] / len(nodes)
    return lengths
