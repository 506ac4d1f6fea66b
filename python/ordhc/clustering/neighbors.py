"""Linkage of vectors by a graph of nearest neighbours, for too many vectors to store all pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.clustering.plan import NEIGHBOR_LINKAGES, NEIGHBOR_MEASURES, Plan
from ordhc.errors import InputError
from ordhc.similarities.vectors import Vectors, is_sparse, normalized
from ordhc.tree.dendrogram import Dendrogram, from_engine

#: Up to this number of vectors, all pairs are compared, even if neighbours are given.
_FEW = 2000
#: Merges follow the graph of neighbours until the number of clusters is 1/`_SHARE` of the number of vectors,
#: but at least `_FEW` and at most `_MOST`. Then all pairs of these clusters are compared.
_SHARE, _MOST = 4, 10_000


def check_neighbors(plan: Plan) -> None:
    if plan.similarity is None or plan.similarity.name not in NEIGHBOR_MEASURES:
        raise InputError(
            f"{plan.title} cannot use nearest neighbours: use similarity {', '.join(NEIGHBOR_MEASURES)}"
        )
    if not plan.can_use_neighbors:
        raise InputError(
            f"{plan.title} cannot use nearest neighbours: use linkage {', '.join(NEIGHBOR_LINKAGES[:-1])} "
            "(or ward with similarity euclidean) without moves of subtrees (+spr)"
        )


def links_few_pairs(data: Vectors) -> bool:
    """Return True if neighbours are given and there are too many vectors to compare all pairs."""
    if data.neighbors is None:
        return False
    if is_sparse(data.rows):
        raise InputError("nearest neighbours are found for dense vectors only: give X.toarray()")
    k = data.neighbors if isinstance(data.neighbors, int) else data.neighbors.shape[1]
    return data.n_leaves > _FEW and k < data.n_leaves - 1


def by_neighbors(
    plan: Plan, data: Vectors, initial: NDArray[np.int64] | None, progress: Progress | None
) -> Dendrogram:
    """Return the tree of a graph that links each vector with its nearest neighbours."""
    assert plan.similarity is not None
    rows, name = data.rows, plan.similarity.name
    k, given = (data.neighbors, None) if isinstance(data.neighbors, int) else (0, data.neighbors)
    tree = _ordhc.neighbor_linkage(
        np.ascontiguousarray(normalized(rows) if name == "cosine" else rows),
        str(plan.linkage.native),
        NEIGHBOR_MEASURES[name],
        k,
        given,
        min(_MOST, max(_FEW, data.n_leaves // _SHARE)),
        initial,
        progress,
    )
    return from_engine(tree)
