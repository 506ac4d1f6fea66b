"""The built-in linkages."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc, clustering
from ordhc.canonical import canonical_order, in_order
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError
from ordhc.hooks import hookimpl
from ordhc.refining import refined
from ordhc.specs import LinkageSpec

_SUMMARIES = {
    "single": "the most similar pair of members",
    "complete": "the least similar pair of members",
    "average": "the mean over all pairs of members (UPGMA)",
    "weighted": "the mean of the two merged clusters (WPGMA)",
    "ward": "minimum increase of variance; squares dissimilarities",
    "centroid": "distance of centroids (UPGMC); squares dissimilarities",
    "median": "distance of midpoints (WPGMC); squares dissimilarities",
}


_SOURCE = "Ghoshdastidar, Perrot & von Luxburg 2019"

Progress = Callable[[float], None]
Labels = NDArray[np.int64]


def preferences(
    data: Triplets | Quadruplets, *, initial_clusters: Labels | None = None, progress: Progress | None = None
) -> Dendrogram:
    """3-AL of triplets, 4-AL of quadruplets."""
    tree = _ordhc.preference_linkage(data.rows, data.weights, data.n_leaves, initial_clusters, progress)
    return Dendrogram._of(tree, data.names)


def by_rank(
    name: str,
    data: Quadruplets,
    *,
    initial_clusters: Labels | None = None,
    progress: Progress | None = None,
) -> Dendrogram:
    """A linkage that needs the order of similarities only; the number of pairs beaten gives it."""
    beaten = _ordhc.pairs_beaten(data.rows, data.weights, data.n_leaves, progress, data.names)
    rule = _ordhc.Linkage.native(name)
    if data.n_leaves == 1:
        return Dendrogram([], [], kind="similarity", names=data.names)
    tree = _ordhc.agglomerate(beaten, rule, False, "auto", initial_clusters, progress)
    return Dendrogram._of(tree, data.names)


def build(
    data: Triplets, *, initial_clusters: Labels | None = None, progress: Progress | None = None
) -> Dendrogram:
    """BUILD; it goes from the root to the leaves and can't start from clusters."""
    if initial_clusters is not None and len(np.unique(initial_clusters)) < data.n_leaves:
        raise InputError(
            "linkage 'build' takes no initial_clusters: it splits clusters, it does not merge them"
        )
    order = canonical_order(data)
    tree = _build(in_order(data, order), clustering.part(progress, 0, 0.5))
    if tree is not None:
        return tree.relabel(order).with_names(data.names)
    # The answers that contradict each other, as they are numbered.
    second = clustering.part(progress, 0.5, 1)
    found = _ordhc.build(data.rows, data.weights, data.n_leaves, second, data.names)
    return Dendrogram._of(found, data.names)


def _build(data: Triplets, progress: Progress | None) -> Dendrogram | None:
    """The tree of BUILD, if there is one."""
    with suppress(InputError):
        return Dendrogram._of(_ordhc.build(data.rows, data.weights, data.n_leaves, progress, None), None)
    return None


def consistency(
    data: Triplets, *, initial_clusters: Labels | None = None, progress: Progress | None = None
) -> Dendrogram:
    """The tree of BUILD if there is one, else one that satisfies many triplets."""
    order = canonical_order(data)
    fitting = in_order(data, order)
    if initial_clusters is None:
        tree = _build(fitting, clustering.part(progress, 0, 0.1))
        if tree is not None:
            return tree.relabel(order).with_names(data.names)
    initial = None if initial_clusters is None else initial_clusters[order]
    start = clustering.Plan.of(data, method="adds3-al+spr")
    tree, _ = start.fit(fitting, initial_clusters=initial, progress=clustering.part(progress, 0.1, 0.4))
    tree = refined(tree, fitting, "satisfied", initial=initial, progress=clustering.part(progress, 0.4, 1))
    return tree.relabel(order).with_names(data.names)


@hookimpl
def ordhc_linkages() -> list[LinkageSpec]:
    """Register the Lance-Williams linkages of the engine, and those of comparisons."""
    source = "Lance & Williams 1967"
    lance_williams = [
        LinkageSpec(name=name, summary=summary, native=name, source=source)
        for name, summary in _SUMMARIES.items()
    ]
    return [
        *lance_williams,
        LinkageSpec(
            name="3-al",
            summary="the mean preference over other clusters, from triplets alone",
            from_comparisons=preferences,
            data=("triplets",),
            source=f"{_SOURCE}, equations 6 and 7",
        ),
        LinkageSpec(
            name="4-al",
            summary="the mean preference over other pairs of clusters, from quadruplets alone",
            from_comparisons=preferences,
            data=("quadruplets",),
            source=f"{_SOURCE}, equations 4 and 5",
        ),
        LinkageSpec(
            name="4-sl",
            summary="single linkage from a complete set of quadruplets",
            from_comparisons=partial(by_rank, "single"),
            data=("quadruplets",),
            source=f"{_SOURCE}, section 3.1",
        ),
        LinkageSpec(
            name="4-cl",
            summary="complete linkage from a complete set of quadruplets",
            from_comparisons=partial(by_rank, "complete"),
            data=("quadruplets",),
            source=f"{_SOURCE}, section 3.1",
        ),
        LinkageSpec(
            name="build",
            summary="the tree that satisfies all triplets, or a proof that there is none",
            from_comparisons=build,
            data=("triplets",),
            source="Aho, Sagiv, Szymanski & Ullman 1981",
        ),
        LinkageSpec(
            name="consistency",
            summary="a tree that satisfies as many triplets as a search finds, all of them if it can be done",
            from_comparisons=consistency,
            data=("triplets",),
        ),
    ]
