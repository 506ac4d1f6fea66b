"""Score a tree against another tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.errors import InputError
from ordhc.plugins import registry
from ordhc.tree import untangling
from ordhc.tree.dendrogram import Dendrogram, engine_tree
from ordhc.tree.matching import aligned, core, prepared


@dataclass(frozen=True)
class Entanglement:
    """The result of `entanglement`; ``float(result)`` is `value`.

    Attributes
    ----------
    value
        From 0 (both trees have the same order of leaves) to 1 (the orders are reversed).
    crossings
        The number of crossings of lines between leaves of the same name.
    trees
        The two trees, rotated to the order of leaves with this number of crossings.
    """

    value: float
    crossings: int
    trees: tuple[Dendrogram, Dendrogram] = field(repr=False, compare=False)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.6g} ({self.crossings:,} crossing{'s' * (self.crossings != 1)})"


@dataclass(frozen=True)
class KendallTau:
    """The result of `kendall_tau_b`; ``float(result)`` is `mean`.

    Attributes
    ----------
    mean
        The mean tau-b over the leaves whose tau-b is defined.
    standard_error
        The standard error of the mean, as `scipy.stats.sem` computes it.
    undefined
        The number of leaves without a tau-b, because all entries of one of their rankings tie.
    values
        (n,) the tau-b of each leaf; NaN if it is undefined.
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
    """Return the mean Kendall tau-b of a tree with another tree or a ranking (Gray et al. 2024, section 4.1).

    Each leaf ranks the other leaves by the height at which it merges with them. The tau-b of a leaf compares
    the leaf's ranking in `tree` with the leaf's ranking in `reference`.

    Parameters
    ----------
    tree
        The tree, in any form that `ordhc.as_dendrogram` takes. Closer merges rank first, for similarities
        and for dissimilarities. Equal heights tie. Heights are compared as they are, even if a node is
        farther than its parent (an inversion). In a tree without heights and lengths a node is closer than
        the nodes above it.
    reference
        Another tree, or labels; or (n, n) similarities or ranks. Row i of a matrix ranks all leaves by their
        closeness to leaf i. The matrix need not be symmetric.
    include_self
        `True` (the default): the ranking of each leaf begins with the leaf itself, in `tree` and in
        `reference`. `False`: the leaf itself is left out.
    tie_self
        `True`, which needs `include_self`, lets the ranking of a leaf begin with the leaf itself in `tree`
        only. In a reference matrix, the diagonal gives the rank of the leaf. In a reference tree, the leaf
        ties with its finest class: the leaves that merge with it at the closest merge height of the whole
        reference. For labels, the finest class has the same labels in all columns up to the last column in
        which any two leaves agree. A leaf that is alone in its class ranks first. The paper's code ranks in
        this way: in its matrix a leaf is as similar to itself as to its class.
    dissimilarity
        `True` if smaller numbers in the matrix are closer, as for ranks and distances; `False` if larger
        numbers are closer. By default the matrix has the kind of the tree's heights.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    KendallTau
        The `mean`, its `standard_error`, and the `values` for each leaf, as `scipy.stats.kendalltau` computes
        them.

    Raises
    ------
    InputError
        The tree and the reference have different numbers of leaves; no leaf has a tau-b; a tree has lengths
        but no heights; the matrix contains NaN.

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
        raise InputError("tie_self=True needs include_self=True, so that a leaf is in its own ranking")
    flags = (engine_tree(tree), include_self, tie_self, progress)
    if isinstance(other, Dendrogram):
        if dissimilarity is not None:
            raise InputError(
                "dissimilarity is only used with a matrix; leave it out if the reference is a tree or labels"
            )
        tau = KendallTau(*_ordhc.kendall_tau(engine_tree(other), *flags))
    else:
        is_far = tree.kind == "dissimilarity" if dissimilarity is None else dissimilarity
        tau = KendallTau(*_ordhc.kendall_tau_of_rows(other, _checks.flag("dissimilarity", is_far), *flags))
    if tau.undefined == tree.n_leaves:
        raise InputError(f"none of the {tree.n_leaves} leaves has a tau-b: all entries of their rankings tie")
    return tau


@shows_progress("scoring")
def merge_distortion(tree: Any, reference: Any, *, progress: Progress | bool | None = None) -> float:
    """Return the largest difference of merge heights over all pairs of leaves.

    The score is the merge distortion of Gray et al. 2024, section 3.1; lower is better.

    Parameters
    ----------
    tree, reference
        The trees, in any form that `ordhc.as_dendrogram` takes.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Raises
    ------
    InputError
        The trees have different numbers of leaves; one tree has similarities and the other dissimilarities; a
        tree has no heights.

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
    """Return the rooted triplet distance of two trees (Dobson 1975).

    The distance is the number of sets of three leaves on which the trees differ. In a tree either two of the
    three leaves are closest, or all three separate at the same node. Two trees differ if the closest pairs
    differ, or if only one tree has a closest pair.

    Parameters
    ----------
    tree, reference
        The trees, in any form that `ordhc.as_dendrogram` takes.
    normalize
        `True` (the default) returns the share of all sets of three leaves, `False` the number of sets.
    join_ties
        `True` compares the trees after ``contract(ties=True)``, in which a node with the height of its parent
        is merged into the parent.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

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
    """Return the Robinson-Foulds distance of two rooted trees (Robinson & Foulds 1981).

    The distance is the number of clusters that only one of the trees has. Leaves and the root do not count.

    Parameters
    ----------
    tree, reference
        The trees, in any form that `ordhc.as_dendrogram` takes.
    normalize
        `True` (the default) divides the distance by the number of clusters of both trees. `False` returns the
        number of clusters.
    join_ties
        `True` compares the trees after ``contract(ties=True)``, in which a node with the height of its parent
        is merged into the parent.

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


#: The distances that `tree_distances` can compute; all are symmetric.
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
    """Return the symmetric (t, t) matrix of distances between trees.

    Parameters
    ----------
    trees
        The t trees over the same leaves, each in any form that `ordhc.as_dendrogram` takes. Leaves are
        matched by name, or by number if no tree has names.
    metric
        "robinson_foulds", "triplet_distance" or "merge_distortion".
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].
    **parameters
        Settings of the metric, such as ``normalize=False``.

    Raises
    ------
    InputError
        The trees do not have the same leaves; or an error of the metric.

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
    parameters = registry.settings_for(f"metric {metric!r}", parameters, known)
    found = aligned(trees)
    pairs = list(zip(*np.triu_indices(len(found), 1), strict=True))
    distances = np.zeros((len(found), len(found)))
    for at, (i, j) in enumerate(pairs):
        distances[i, j] = distances[j, i] = distance(found[i], found[j], **parameters)
        if progress is not None:
            progress((at + 1) / len(pairs))
    return distances


def entanglement(tree: Any, reference: Any) -> Entanglement:
    """Return how tangled two trees are when they are drawn face to face; lower is better.

    The nodes of both trees are first rotated so that few lines between the same leaves cross, as in
    `ordhc.plots.tanglegram`. The number of crossings is the smallest found by a search, which begins with the
    given order of the leaves. For binary trees of a few leaves it is the smallest possible.

    Parameters
    ----------
    tree, reference
        Trees of the same leaves, in any form that `ordhc.as_dendrogram` takes.

    Returns
    -------
    Entanglement
        The `value`, the number of `crossings`, and the rotated `trees`.

    Raises
    ------
    InputError
        The trees have different leaves.

    Notes
    -----
    The value is the sum of ``|difference of the two positions of a leaf| ** 1.5``, divided by this sum for
    reversed orders, as in R's dendextend (Galili 2015). `entanglement` of dendextend does not rotate the
    trees, ``untangle`` does.

    Examples
    --------
    >>> import ordhc
    >>> found = ordhc.metrics.entanglement("((a,b),(c,d));", "((d,c),(b,a));")
    >>> found.value, found.crossings, found.trees[1].to_newick()
    (0.0, 0, '((a,b),(c,d));')
    """
    first, second = prepared(tree, reference, ("tree",), "entanglement")
    left, right = untangling.untangled(first, second)
    turned = (first.rotate(order=left), second.rotate(order=right))
    return Entanglement(untangling.entanglement(left, right), untangling.crossings(left, right), turned)
