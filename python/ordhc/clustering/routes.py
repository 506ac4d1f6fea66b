"""Make a tree of comparisons or vectors: choose an algorithm, and run it.

`of_comparisons` and `of_vectors` choose the algorithm; the functions whose names begin with `by_` are the
algorithms. The caller has checked that the data fit `plan`. `initial` has the initial cluster of each leaf,
(n,).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress, part
from ordhc.agglomerate import sparse
from ordhc.agglomerate.linkage import merged_by
from ordhc.clustering.matrix_free import matrix_free_linkage, prefers_no_matrix
from ordhc.clustering.neighbors import by_neighbors, links_few_pairs
from ordhc.clustering.plan import Plan
from ordhc.clustering.refine import refined
from ordhc.comparison.comparisons import Comparisons
from ordhc.errors import InputError, PluginError
from ordhc.plugins import registry
from ordhc.similarities.similarity import built, factored, is_adds
from ordhc.similarities.vectors import Vectors, products, squared_norms
from ordhc.tree.dendrogram import Dendrogram, engine_tree, from_engine, replaced

Initial = NDArray[np.int64] | None

#: The completed fraction of the work when the linkage ends and the moves of subtrees begin.
_REFINING = 0.2

#: With at least `_MANY` leaves, answers count as sparse if they concern less than 1/`_FEW` of all pairs.
_MANY, _FEW = 2000, 20


def of_comparisons(plan: Plan, data: Comparisons, initial: Initial, progress: Progress | None) -> Dendrogram:
    """Return the tree that `plan` makes of comparisons.

    Every leaf must have answers, or must be in the same initial cluster as a leaf with answers.
    """
    if plan.similarity is None:
        return by_comparisons(plan, data, initial, progress)
    if is_sparse(plan, data.n_leaves, len(data.rows)):
        rule = _ordhc.Linkage.native(str(plan.linkage.native))
        return from_engine(
            _ordhc.adds_linkage(data.rows, data.weights, data.n_leaves, rule, initial, progress)
        )
    return by_matrix(plan, data, initial, progress)


def of_vectors(plan: Plan, data: Vectors, initial: Initial, progress: Progress | None) -> Dendrogram:
    if links_few_pairs(data):
        return by_neighbors(plan, data, initial, progress)
    assert plan.similarity is not None
    if plan.similarity.factor is None and _needs_no_matrix(plan, data.rows, initial, data.storage):
        return matrix_free_linkage(plan, data.rows, 1.0, initial, progress)
    return by_matrix(plan, data, initial, progress)


def by_comparisons(plan: Plan, data: Comparisons, initial: Initial, progress: Progress | None) -> Dendrogram:
    merge = plan.linkage.from_comparisons
    if merge is None:
        raise InputError(f"linkage {plan.linkage.name!r} needs a similarity")
    before, after = stages(plan, progress)
    tree = merge(data, initial_clusters=initial, progress=before, **plan.linkage_settings)
    if not isinstance(tree, Dendrogram) or tree.n_leaves != data.n_leaves:
        raise PluginError(f"{plan.title} gave {tree!r}, not a Dendrogram of {data.n_leaves} leaves")
    return tree if plan.refine is None else _moved(plan, tree, data, initial, after)


def by_matrix(
    plan: Plan, data: Comparisons | Vectors, initial: Initial, progress: Progress | None
) -> Dendrogram:
    """Return the tree by similarities of all pairs.

    If similarities are dot products of vectors, the matrix of all pairs may not be needed.
    """
    build = plan.similarity
    assert build is not None
    before, after = stages(plan, progress)
    building, merging = part(before, 0, 0.5), part(before, 0.5, 1)
    settings = dict(plan.similarity_settings)
    own = None
    if build.factor is None:
        pairs = built(build, data, "condensed", "float64", building, settings)
    else:
        rows, scale = factored(build, data, part(building, 0, 0.5), settings)
        own = scale * squared_norms(rows)
        if isinstance(data, Vectors) and _needs_no_matrix(plan, rows, initial, data.storage):
            return _with_own(matrix_free_linkage(plan, rows, scale, initial, merging), own)
        # The linkage overwrites these similarities, so memory for one matrix is enough.
        multiplying = part(building, 0.5, 1)
        pairs = products(rows, scale, "condensed", "float64", multiplying, what=build.name)
    # The linkage may overwrite the matrix, unless moves need it, or a plugin made it and may still use it.
    overwrite = plan.refine != "dasgupta" and (own is not None or registry.is_builtin(build))
    tree = of_pairs(plan, pairs, initial, merging, overwrite=overwrite)
    if plan.refine is not None:
        tree = _moved(plan, tree, pairs if plan.refine == "dasgupta" else data, initial, after)
    return tree if own is None else _with_own(tree, own)


def of_pairs(
    plan: Plan, pairs: NDArray[Any], initial: Initial, progress: Progress | None, *, overwrite: bool
) -> Dendrogram:
    """Return the tree by the condensed similarities `pairs`; `overwrite` lets the linkage change `pairs`."""
    assert plan.similarity is not None
    less_is_closer = plan.similarity.dissimilarity
    if not len(pairs):
        return Dendrogram([], [], kind="dissimilarity" if less_is_closer else "similarity")
    return merged_by(
        plan.linkage,
        pairs,
        dict(plan.linkage_settings),
        initial,
        progress,
        dissimilarity=less_is_closer,
        overwrite=overwrite and pairs.dtype == np.float64,
    )


def stages(plan: Plan, progress: Progress | None) -> tuple[Progress | None, Progress | None]:
    """Split `progress` into one part for the linkage and one part for the moves of subtrees."""
    if plan.refine is None:
        return progress, None
    return part(progress, 0, _REFINING), part(progress, _REFINING, 1)


def _moved(
    plan: Plan, tree: Dendrogram, data: Any, initial: Initial, progress: Progress | None
) -> Dendrogram:
    if tree.n_leaves < 3:
        return tree
    assert plan.refine is not None
    less_is_closer = plan.refine == "dasgupta" and tree.kind == "dissimilarity"
    return refined(tree, data, plan.refine, dissimilarity=less_is_closer, initial=initial, progress=progress)


def _with_own(tree: Dendrogram, own: NDArray[np.float64]) -> Dendrogram:
    engine = engine_tree(tree)
    return replaced(tree, engine.with_leaf_heights(_ordhc.leaf_heights(engine, own)))


def _needs_no_matrix(plan: Plan, rows: Any, initial: Initial, storage: str) -> bool:
    native = plan.linkage.native
    if plan.measure is None or native is None or plan.refine or storage == "matrix":
        return False
    if initial is not None and (native, plan.measure) != ("average", "dot"):
        return False
    return storage == "vectors" or prefers_no_matrix(rows, native, plan.measure)


def is_sparse(plan: Plan, n: int, n_rows: int) -> bool:
    """Return True if answers have so few pairs that AddS similarities are stored without zeros."""
    if plan.similarity is None or plan.refine or not is_adds(plan.similarity):
        return False
    few = n >= _MANY and 2 * n_rows * _FEW < n * (n - 1) // 2
    return few and plan.linkage.native in sparse.LINKAGES
