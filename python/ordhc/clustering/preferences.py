"""Linkages that take comparisons instead of similarities."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, part
from ordhc.clustering.cluster import fit
from ordhc.clustering.plan import Plan
from ordhc.clustering.posterior import drawn_posterior
from ordhc.clustering.refine import refined
from ordhc.comparison.canonical import canonical_order, in_order
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError, warn
from ordhc.tree.dendrogram import Dendrogram, from_engine, replaced

Labels = NDArray[np.int64]


def preferences(
    data: Triplets | Quadruplets, *, initial_clusters: Labels | None = None, progress: Progress | None = None
) -> Dendrogram:
    """Return the tree of average linkage of preferences: 3-AL for triplets, 4-AL for quadruplets."""
    tree = _ordhc.preference_linkage(data.rows, data.weights, data.n_leaves, initial_clusters, progress)
    return from_engine(tree, data.names)


def by_rank(
    name: str,
    data: Quadruplets,
    *,
    initial_clusters: Labels | None = None,
    progress: Progress | None = None,
) -> Dendrogram:
    """Return the tree of single or complete linkage, from a complete set of quadruplets.

    These linkages need only the order of all pairs of leaves. The similarity of a pair is the number of pairs
    that are farther apart.
    """
    beaten = _ordhc.pairs_beaten(data.rows, data.weights, data.n_leaves, progress, data.names)
    rule = _ordhc.Linkage.native(name)
    if data.n_leaves == 1:
        return Dendrogram([], [], kind="similarity", names=data.names)
    tree = _ordhc.agglomerate(beaten, rule, False, "auto", initial_clusters, progress)
    return from_engine(tree, data.names)


def build(
    data: Triplets, *, initial_clusters: Labels | None = None, progress: Progress | None = None
) -> Dendrogram:
    """Return the tree of BUILD; raise `InputError` if no tree satisfies all triplets.

    BUILD works from the root to the leaves, so it cannot start from clusters.
    """
    if initial_clusters is not None and len(np.unique(initial_clusters)) < data.n_leaves:
        raise InputError(
            "linkage 'build' takes no initial_clusters: it splits clusters, it does not merge them"
        )
    order = canonical_order(data)
    tree = _build(in_order(data, order), part(progress, 0, 0.5))
    if tree is not None:
        return tree.relabel(order).replace(names=data.names)
    # Repeat BUILD with the original numbers and names of leaves, so that its error lists contradictory
    # answers as the caller knows them.
    second = part(progress, 0.5, 1)
    found = _ordhc.build(data.rows, data.weights, data.n_leaves, second, data.names)
    return from_engine(found, data.names)


def _build(data: Triplets, progress: Progress | None) -> Dendrogram | None:
    with suppress(InputError):
        return from_engine(_ordhc.build(data.rows, data.weights, data.n_leaves, progress, None))
    return None


def consistency(
    data: Triplets, *, initial_clusters: Labels | None = None, progress: Progress | None = None
) -> Dendrogram:
    """Return the tree of BUILD if there is one, otherwise a tree that satisfies many triplets."""
    order = canonical_order(data)
    fitting = in_order(data, order)
    initial = None if initial_clusters is None else initial_clusters[order]
    tree = _build(fitting, part(progress, 0, 0.1)) if initial is None else None
    if tree is None:
        start = Plan.of(data, method="adds3-al+spr")
        tree, _ = fit(start, fitting, initial_clusters=initial, progress=part(progress, 0.1, 0.4))
        tree = refined(tree, fitting, "satisfied", initial=initial, progress=part(progress, 0.4, 1))
    return tree.relabel(order).replace(names=data.names)


def posterior_linkage(
    data: Triplets | Quadruplets,
    *,
    initial_clusters: NDArray[np.int64] | None = None,
    progress: Progress | None = None,
    scale: str = "heights",
    **how: Any,
) -> Dendrogram:
    """Return the tree that summarizes the posterior.

    `scale` selects the tree: "heights" for `Posterior.dendrogram`, "lengths" for `Posterior.tree`, which has
    lengths of edges.
    """
    scale = _checks.choice("scale", scale, ("heights", "lengths"))
    if initial_clusters is not None and len(np.unique(initial_clusters)) < data.n_leaves:
        raise InputError(
            "linkage 'posterior-al' takes no initial_clusters: use a method such as 'adds3-al' or 'adds4-al'"
        )
    found, _ = drawn_posterior(data, progress=progress, **how)
    for note in found.notes:
        warn(note)
    return replaced(found.tree if scale == "lengths" else found.dendrogram, support=None)
