"""Linkages that need the members of clusters.

Each linkage is a row update: a function that returns the row of a merged cluster in the similarity matrix.
The number of a cluster is its smallest leaf. The merge of clusters i < j gets the number i.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Leaves = NDArray[np.int64]
#: A row update, with the arguments of `update` in `ordhc.specs.LinkageSpec.update_row`.
Update = Callable[..., Floats]


def make_median_pairwise(S: Floats) -> Update:
    """Return the row update of a linkage by the median of the similarities over all pairs of members.

    A row update returns the row of a merged cluster in the similarity matrix.
    """
    members: dict[int, Leaves] = {leaf: np.array([leaf]) for leaf in range(len(S))}

    def update(*merge: Any) -> Floats:
        i, j, others = merge[-3:]
        members[i] = np.concatenate([members[i], members.pop(j)])
        between = S[members[i]]
        return np.array([np.median(between[:, members[k]]) for k in others.tolist()], dtype=np.float64)

    return update


def make_hausdorff(S: Floats) -> Update:
    """Return the row update of a linkage by the negative Hausdorff distance of two clusters.

    For each member of both clusters, take the similarity with its nearest member of the other cluster. The
    similarity of the clusters is the smallest of these similarities.
    """
    n = len(S)
    members: dict[int, Leaves] = {leaf: np.array([leaf]) for leaf in range(n)}
    cluster_of = np.arange(n)
    # nearest[x, k] is the largest similarity of leaf x with a member of cluster k.
    nearest = S.copy()

    def update(*merge: Any) -> Floats:
        i, j, others = merge[-3:]
        cluster_of[members[j]] = i
        members[i] = np.concatenate([members[i], members.pop(j)])
        nearest[:, i] = np.maximum(nearest[:, i], nearest[:, j])
        worst_here: Floats = nearest[np.ix_(members[i], others)].min(axis=0)
        worst_there = np.full(n, np.inf)
        np.minimum.at(worst_there, cluster_of, nearest[:, i])
        worst: Floats = np.minimum(worst_here, worst_there[others])
        return worst

    return update
