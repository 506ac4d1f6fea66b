"""Scores of a tree beside another tree; `ordhc.metrics` has all scores."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.matching import aligned, core, prepared
from ordhc.tree.parts import engine_tree


@dataclass(frozen=True)
class KendallTau:
    """What `kendall_tau_b` gives. As a number (`float(...)`) it is the mean.

    Attributes
    ----------
    mean
        Over the leaves whose tau-b is defined.
    standard_error
        Of the mean, as `scipy.stats.sem`.
    undefined
        The number of leaves without a tau-b, because one of their rankings is all ties.
    values
        The tau-b of each leaf, (n,); NaN where it is undefined.
    """

    mean: float
    standard_error: float
    undefined: int
    values: NDArray[np.float64] = field(repr=False, compare=False)

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        return f"{self.mean:.6g} (standard error {self.standard_error:.3g})"


@shows_progress("scoring")
def kendall_tau_b(
    tree: Any,
    reference: Any,
    include_self: bool = True,
    *,
    tie_self: bool = False,
    dissimilarity: bool | None = None,
    progress: Progress | bool | None = None,
) -> KendallTau:
    """Return the mean Kendall tau-b of a tree with another tree or ranking (Gray et al. 2024, section 4.1).

    Each leaf ranks the others by the height at which it merges with them, and as the reference ranks them.

    Parameters
    ----------
    tree
        See `ordhc.as_dendrogram`. Closer merges rank first, whether heights are similarities or
        dissimilarities; equal heights tie, inversions count as they stand. In a tree of shape alone a node
        is closer than the nodes above it.
    reference
        Another tree, or labels; or (n, n) similarities or ranks, whose row i ranks all leaves by how close
        they are to leaf i. The matrix need not be symmetric.
    include_self
        True if the leaf takes part in its own ranking, before all others in the tree and in the reference.
    tie_self
        With `include_self`: before all others in the tree only. In a matrix the diagonal ranks the leaf. In
        a reference tree the leaf ties with its finest class. These are the leaves that merge with it at the
        closest of all merge heights of the reference: of labels, those with the same labels in all columns
        (up to the last one in which any two leaves agree). A leaf without others in its class is before all
        others. The paper's code does this: it ranks by a matrix in which a leaf is as similar to itself as
        to its class.
    dissimilarity
        True if smaller numbers of the matrix are closer, as ranks and distances are. By default what the
        tree's heights are.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    KendallTau
        With `mean`, `standard_error` and the `values` by leaf, each that of `scipy.stats.kendalltau`.

    Raises
    ------
    InputError
        Another number of leaves; no leaf with a tau-b; a tree with lengths but without heights; NaN.

    Examples
    --------
    >>> import ordhc
    >>> tau = ordhc.metrics.kendall_tau_b("((0,1),(2,3));", "((0,2),(1,3));")
    >>> round(tau.mean, 4), round(tau.standard_error, 4)
    (0.4, 0.0)
    >>> labels = ["pet", "pet", "car", "car"]
    >>> round(ordhc.metrics.kendall_tau_b("((0,1),(2,3));", labels).mean, 4)
    1.0
    >>> round(ordhc.metrics.kendall_tau_b("((0,1),(2,3));", labels, tie_self=True).mean, 4)
    0.8944
    >>> ranks = [[0, 1, 2], [1, 0, 2], [1, 1, 0]]
    >>> ordhc.metrics.kendall_tau_b("((0,1),2);", ranks, dissimilarity=True).mean
    1.0
    """
    progress = _checks.callback("progress", progress)
    tree, other = prepared(tree, reference, ("tree", "ranking"), "kendall_tau_b")
    include_self, tie_self = _checks.flag("include_self", include_self), _checks.flag("tie_self", tie_self)
    if tie_self and not include_self:
        raise InputError("tie_self=True needs include_self=True: else a leaf is not in its own ranking")
    flags = (engine_tree(tree), include_self, tie_self, progress)
    if isinstance(other, Dendrogram):
        if dissimilarity is not None:
            raise InputError("dissimilarity is for a matrix: the heights of a tree have a kind")
        tau = KendallTau(*_ordhc.kendall_tau(engine_tree(other), *flags))
    else:
        is_far = tree.kind == "dissimilarity" if dissimilarity is None else dissimilarity
        tau = KendallTau(*_ordhc.kendall_tau_of_rows(other, _checks.flag("dissimilarity", is_far), *flags))
    if tau.undefined == tree.n_leaves:
        raise InputError(f"none of the {tree.n_leaves} leaves has a tau-b: its rankings are all ties")
    return tau


@shows_progress("scoring")
def merge_distortion(tree: Any, reference: Any, *, progress: Progress | bool | None = None) -> float:
    """The largest difference of merge heights over all pairs of leaves (Gray et al. 2024, section 3.1).

    Raises
    ------
    InputError
        Another number of leaves; similarities beside dissimilarities; a tree without heights.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.metrics.merge_distortion("((0:1,1:1):1,2:2);", "((0:1,1:1):3,2:4);")
    4.0
    """
    progress = _checks.callback("progress", progress)
    tree, other = prepared(tree, reference, ("tree",), "merge_distortion")
    return _ordhc.merge_distortion(engine_tree(tree), engine_tree(other), progress)


@shows_progress("scoring")
def triplet_distance(
    tree: Any,
    reference: Any,
    normalize: bool = True,
    *,
    join_ties: bool = False,
    progress: Progress | bool | None = None,
) -> int | float:
    """The rooted triplet distance: sets of three leaves about which two trees differ.

    A tree says of three leaves which two are closest, or nothing if they part at the same node; trees
    differ where they say something different, or only one of them says something.

    Parameters
    ----------
    tree, reference
        See `ordhc.as_dendrogram`.
    normalize
        The share of all sets of three leaves, instead of their number.
    join_ties
        `True` compares the trees of ``contract(ties=True)``: a node as high as the node above becomes a
        part of the node above.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.metrics.triplet_distance("((0,1),(2,3));", "(((0,1),2),3);", normalize=False)
    2
    """
    progress = _checks.callback("progress", progress)
    normalize = _checks.flag("normalize", normalize)
    tree, other = prepared(tree, reference, ("tree",), "triplet_distance")
    same, different, first, second, neither = _ordhc.triplet_counts(
        core(tree, join_ties), core(other, join_ties), progress
    )
    distance = different + first + second
    return distance / max(distance + same + neither, 1) if normalize else distance


def robinson_foulds(
    tree: Any, reference: Any, normalize: bool = True, *, join_ties: bool = False
) -> int | float:
    """The Robinson-Foulds distance of rooted trees: clusters that only one of them has.

    Parameters
    ----------
    tree, reference
        See `ordhc.as_dendrogram`.
    normalize
        The share of the clusters of both trees (without leaves and the root), instead of their number.
    join_ties
        `True` compares the trees of ``contract(ties=True)``: a node as high as the node above becomes a
        part of the node above.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.metrics.robinson_foulds("((0,1),(2,3));", "(((0,1),2),3);", normalize=False)
    2
    """
    normalize = _checks.flag("normalize", normalize)
    tree, other = prepared(tree, reference, ("tree",), "robinson_foulds")
    shared, first, second = _ordhc.cluster_counts(core(tree, join_ties), core(other, join_ties))
    distance = first + second
    return distance / max(distance + 2 * shared, 1) if normalize else distance


#: Distances that are the same from either tree to the other.
_DISTANCES: dict[str, Callable[..., int | float]] = {
    "robinson_foulds": robinson_foulds,
    "triplet_distance": triplet_distance,
    "merge_distortion": merge_distortion,
}


@shows_progress("comparing")
def tree_distances(
    trees: Iterable[Any],
    metric: str = "robinson_foulds",
    *,
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> NDArray[np.float64]:
    """The distances of all pairs of trees, (t, t), symmetric.

    Parameters
    ----------
    trees
        Trees of the same leaves, each as `ordhc.as_dendrogram` takes it; leaves are matched by name, or by
        number where no tree has names.
    metric
        "robinson_foulds", "triplet_distance" or "merge_distortion".
    progress
        True for a bar, or called now and then with the share that is done, from 0 to 1.
    **parameters
        Of the metric, such as ``normalize=False``.

    Raises
    ------
    InputError
        As `ordhc.consensus`, and as the metric.

    Examples
    --------
    >>> import ordhc
    >>> trees = ["((a,b),(c,d));", "(((a,b),c),d);", "(((d,c),a),b);"]
    >>> ordhc.metrics.tree_distances(trees, normalize=False)
    array([[0., 2., 2.],
           [2., 0., 4.],
           [2., 4., 0.]])
    """
    progress = _checks.callback("progress", progress)
    distance = _DISTANCES[_checks.choice("metric", metric, tuple(_DISTANCES))]
    known = {"normalize": True, "join_ties": False} if metric != "merge_distortion" else {}
    parameters = _checks.settings(f"metric {metric!r}", parameters, known)
    found = aligned(trees)
    pairs = list(zip(*np.triu_indices(len(found), 1), strict=True))
    distances = np.zeros((len(found), len(found)))
    for at, (i, j) in enumerate(pairs):
        distances[i, j] = distances[j, i] = distance(found[i], found[j], **parameters)
        if progress is not None:
            progress((at + 1) / len(pairs))
    return distances
