"""Place further leaves in a tree that exists."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc._progress import Progress, shows_progress
from ordhc.asking.learner import Learner
from ordhc.asking.loop import learn, learner_for
from ordhc.asking.methods import Method
from ordhc.asking.wrappers import as_oracle
from ordhc.errors import InputError
from ordhc.tree.convert import as_dendrogram
from ordhc.tree.dendrogram import Dendrogram

__all__ = ["insert"]

Floats = NDArray[np.float64]


@shows_progress("asking")
def insert(
    tree: Any,
    items: str | int | Sequence[str] | Sequence[int],
    oracle: Any,
    method: Method | str | None = None,
    *,
    budget: int | None = None,
    batch: int | None = None,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Dendrogram:
    """Place new items in a tree by asking an oracle; the tree itself stays as it is.

    This is FindSibling of Emamjomeh-Zadeh & Kempe 2018. If all answers are right, an item takes at most
    log2(2n - 1) questions in a binary tree of n leaves with ``Insertion(exact=True)``, and fewer on average
    with the default. If answers are right with probability p, `ordhc.learners.Robust` takes O(log n +
    log(1 / delta)) questions.

    Parameters
    ----------
    tree
        The tree, in any form that `ordhc.as_dendrogram` takes.
    items
        The name of the new item, or several names. In a tree without names: the number of the new leaf,
        which is the number of leaves so far, or several consecutive numbers.
    oracle
        As in `learn`. It is asked about the leaves of the tree and the new items, by name if both sides have
        names.
    method
        As in `learn`: "insertion", "robust", "robust-paper" or "majority" (`ordhc.learners`). By default
        `Insertion`, or `Robust` with the oracle's `p` if the oracle errs. `delta` is the largest probability
        that any of the new items gets a wrong place.
    budget, batch, progress
        As in `learn`.
    **settings
        `repeat`, `limit` and `seed` as in `Learner`.

    Returns
    -------
    Dendrogram
        The tree with the new items. Old clusters keep their heights or lengths, names and support. A new node
        on an edge divides the edge evenly, and the length of the edge to a new item is unknown (NaN).
        ``settings["inserted"]`` has for each item its most probable places, each with its `probability`,
        the `leaves` of a cluster, and `where`: "beside" or "under" this cluster. The list is empty for
        methods that compute no probabilities.

    Raises
    ------
    InputError
        An item that is in the tree, numbers that do not continue those of the tree, or a method that does not
        place single leaves.
    Exception
        An exception of the oracle; ``error.learner`` keeps all answers.

    See Also
    --------
    Learner : With `start` it asks the same questions one by one.

    Examples
    --------
    >>> import ordhc
    >>> truth = ordhc.oracles.from_tree("((cat,(dog,wolf)),(car,bus));")
    >>> tree = ordhc.insert("((cat,dog),(car,bus));", "wolf", truth)
    >>> tree.to_newick(branch_lengths=False)
    '((car,bus),(cat,(dog,wolf)));'
    """
    start = as_dendrogram(tree)
    new, leaves = _new_leaves(start, items)
    answer = as_oracle(oracle)
    learner = learner_for(answer, leaves, method, {**settings, "budget": budget, "start": start})
    found = learn(answer, learner=learner, budget=budget, batch=batch, progress=progress)
    places = {str(item): _places(learner, item) for item in new}
    made = _with_scale(start, found)
    return made.replace(settings={**(start.settings or {}), "inserted": places})


def _new_leaves(tree: Dendrogram, items: Any) -> tuple[list[Any], Any]:
    """Return the new items, and the leaves of a learner: all names, or the number of leaves."""
    single = isinstance(items, str | int | np.integer)
    new: list[Any] = [items] if single else _checks.listed("items", items)
    if not new:
        raise InputError("items is empty: give the name of a new leaf, or several")
    if tree.names is None:
        numbers = _checks.whole_numbers("items", new).tolist()
        expected = list(range(tree.n_leaves, tree.n_leaves + len(new)))
        if numbers != expected:
            raise InputError(
                f"items are {_checks.quoted(numbers)}; the new leaves of a tree of {tree.n_leaves:,} leaves "
                f"without names are {_checks.quoted(expected)}"
            )
        return numbers, tree.n_leaves + len(new)
    names = _checks.words("items", new)
    known = set(tree.names)
    for name in names:
        if name in known:
            raise InputError(f"the tree has a leaf {_checks.quoted(name)} already")
    return names, [*tree.names, *names]


def _places(learner: Learner, item: Any) -> list[dict[str, Any]]:
    found = learner.places(item)
    return [
        {"probability": place.probability, "where": place.where, "leaves": list(place.leaves)}
        for place in found
    ]


def _with_scale(start: Dendrogram, found: Dendrogram) -> Dendrogram:
    """Return `found`, which has further leaves, with the heights or lengths and names of `start`."""
    n, above = found.n_leaves, found.parents.tolist()
    old, is_old = _old_nodes(start, found)
    at = [None if node is None or not is_old[v] else node - start.n_leaves for v, node in enumerate(old)][n:]
    annotations: dict[str, Any] = {"names": found.names}
    if start.node_names is not None:
        annotations["node_names"] = [None if k is None else start.node_names[k] for k in at]
    if start.support is not None:
        annotations["support"] = [np.nan if k is None else start.support[k] for k in at]
    if start.scale == "heights":
        annotations["kind"] = start.kind
        annotations["heights"] = _heights(start, found, old, is_old)[n:]
    elif start.scale == "lengths":
        annotations["lengths"] = _lengths(start, found, old)
    return Dendrogram.from_parents(above, **annotations)


def _old_nodes(start: Dendrogram, found: Dendrogram) -> tuple[list[int | None], list[bool]]:
    """Return for each node the lowest node of `start` above its old leaves, and whether it is that cluster.

    A node without old leaves has None. Of several nodes with the same old leaves the lowest is the cluster.
    """
    k, n, above = start.n_leaves, found.n_leaves, found.parents.tolist()
    parents = start.parents.tolist()
    number = {name: leaf for leaf, name in enumerate(start.names or ())}
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
    """Return the heights of all nodes: those of `start`, and new nodes evenly between their neighbours."""
    n, above = found.n_leaves, found.parents.tolist()
    leaf_level = _leaf_level(start)
    known = np.full(len(above), np.nan)
    for v, node in enumerate(old):
        if node is not None and is_old[v]:
            known[v] = leaf_level if v < n else start.heights[node - start.n_leaves]
    # From the bottom: the height of the known node below, and the number of new nodes since.
    base, steps = np.full(len(above), leaf_level), np.zeros(len(above), dtype=int)
    for v, parent in enumerate(above):
        if not np.isnan(known[v]):
            base[v], steps[v] = known[v], 0
        elif v >= n:
            steps[v] += 1
        if parent >= 0 and np.isnan(known[parent]) and (old[v] is not None or old[parent] is None):
            base[parent], steps[parent] = base[v], max(steps[parent], steps[v])
    # A new root is as far above the old root as the highest cluster is below it.
    heights, root = known, len(above) - 1
    if np.isnan(heights[root]):
        inner = [start.heights[child - start.n_leaves] for child in _inner_children(start)]
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


def _inner_children(tree: Dendrogram) -> list[int]:
    return [child.label for child in tree.root.children if not child.is_leaf]


def _lengths(start: Dendrogram, found: Dendrogram, old: list[int | None]) -> Floats:
    """Return the lengths of all edges: old edges are divided evenly, edges to new clusters are unknown."""
    lengths = np.full(len(found.parents), np.nan)
    on_edge: dict[int, list[int]] = {}
    for v, node in enumerate(old):
        if node is not None:
            on_edge.setdefault(node, []).append(v)
    for node, nodes in on_edge.items():
        lengths[nodes] = start.lengths[node] / len(nodes)
    return lengths
