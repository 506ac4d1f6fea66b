"""From data to a dendrogram: methods by the papers' names, or by their parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.clustering import routes
from ordhc.clustering.cost import foretell_cost
from ordhc.clustering.neighbors import check_neighbors
from ordhc.clustering.plan import Plan, biased_text, fast_method
from ordhc.clustering.scanned import fit_scan
from ordhc.clustering.unanswered import scaled, unanswered_text, with_unanswered
from ordhc.comparison.canonical import canonical_order, in_order
from ordhc.comparison.comparisons import Comparisons, Quadruplets, Triplets
from ordhc.comparison.rows import changed
from ordhc.comparison.scale import in_units
from ordhc.errors import InputError, warn
from ordhc.io.scan import Scan
from ordhc.plugins.names import Linkage, Method, Similarity
from ordhc.similarities.lengths import less_lengths
from ordhc.similarities.similarity import fitting, is_adds
from ordhc.similarities.vectors import Vectors
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import replaced

__all__ = ["cluster", "fit"]

#: Warn of a tree if a cut into this number of clusters leaves one with at least this share of the leaves.
#: Iris, Wine, Digits, Zoo and Glass by dot products: .96 and more; the same vectors centred: .67 and less
#: (benches/bench_vector_methods.py).
_CUT, _ALL_BUT_FEW = 5, 0.95


@shows_progress("clustering")
def cluster(
    data: Triplets | Quadruplets | Scan | Vectors | ArrayLike,
    method: Method | None = None,
    *,
    similarity: Similarity | None = None,
    linkage: Linkage | None = None,
    initial_clusters: ArrayLike | None = None,
    tie_seed: int | None = None,
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> Dendrogram:
    """From data to a dendrogram.

    Parameters
    ----------
    data
        `Triplets`, `Quadruplets`, or for methods of vectors `ordhc.Vectors`, which an (n, p) array, a SciPy
        sparse matrix or a data frame become; or a scan of files (`ordhc.scan`), if the similarity is a sum
        over answers, AddS3, AddS4 or MulK3.
    method
        A paper's name: "adds3-al", "mulk3-al", "3-al", "build" for triplets; "adds4-al", "4k-al",
        "mulk4-al", "4-al" for quadruplets, or triplets as quadruplets; "4-sl", "4-cl" for complete sets of
        quadruplets; "cosine-al", "dot-al" for vectors that have been centred or have hundreds of noisy
        coordinates. "SIMILARITY+LINKAGE" names the two parts, such as "adds3+complete". After any of these,
        "+spr" moves subtrees as long as that improves the tree: by
        Dasgupta's cost under the similarities of the method, or by the revenue if the method has none
        (`ordhc.refine` has other objectives). By default, of comparisons: "posterior-al" (see
        `ordhc.posterior`), whose trees have the fewest wrong triples, where it is estimated to take at most
        about ten seconds on two cores (a minute if a learner chose the questions); else "adds3-al+spr" for
        triplets and "adds4-al+spr" for quadruplets, without moves of subtrees above 2,000 leaves
        ("adds3-al", "adds4-al"). Say "adds3-al+spr" for a tree within milliseconds. These are also the
        default of scans, and if initial clusters or settings of AddS are given. `Dendrogram.settings` says
        which method it was.
    similarity, linkage
        The two parts by name, instead of a method. For vectors begin with ``similarity="euclidean",
        linkage="ward"``: vectors have no default method. Linkages of comparisons ("3-al", "4-al", "4-sl",
        "4-cl", "build") take no similarity. A method, a similarity and a linkage can each be a pair of a name
        and its settings, too: ``similarity=("mulk3", {"normalize": False})``.
    initial_clusters
        (n,) labels: leaves of the same label are merged first (4-AL-I3 and 4-AL-I5 of the papers),
        at least as close as the closest merge after. Average linkage and its like merge the nearest
        pair within an initial cluster as long as there is one; "3-al" and "4-al" leaf by leaf.
    tie_seed
        Break ties in a random order of the leaves with this seed, instead of by number. Methods that move
        subtrees break ties in an order that comes from the data, of which this takes a random permutation.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].
    **parameters
        Settings of the similarity or the linkage, whichever has that name: ``normalize=False`` of "mulk3",
        or ``lengths=True`` of "adds3" and "adds4", where some leaves are untypical (see `ordhc.similarity`);
        `Dendrogram.settings` says whether lengths were used. If both have the name, give a pair.

    Returns
    -------
    Dendrogram
        With the data's names. Repeated answers count as often as they occur, weights multiply.
        Contradictions cancel in "adds3-al", "adds4-al", "3-al", "4-al", "mulk4-al" and "4k-al"; for
        "mulk3-al" their question counts as answered, for "consistency" each of them counts. The scale of
        all weights, or repeating all answers equally often, changes heights only, and what is whole
        multiples of some unit is computed in whole numbers. Exceptions are "4k-al", which adds products of
        weights to weights, and "posterior-al" and methods with lengths of leaves ("adds3-al+lengths+spr"),
        for which repeats are more evidence.

    Warns
    -----
    OrdhcWarning
        Before the work begins: an estimate of more than 30 seconds of processor time.
    OrdhcWarning
        A learner chose the questions (`data.adaptive`), and the method is biased by that: all but
        "posterior-al", "consistency" and "build" are.
    OrdhcWarning
        Leaves without answers (of positive weight): they are kept and merged last, one by one, at the
        height of the last merge. Average linkage of dot products or cosines that leaves nearly all vectors in
        one of five clusters: they are dominated by the mean of all vectors.

    Raises
    ------
    InputError
        Unknown names (with the nearest ones), data that a method does not take, initial clusters of
        another length, quadruplets that aren't complete for "4-sl" and "4-cl" (with what is missing),
        triplets that no tree satisfies for "build" (with a small set of them).

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([("cat", "dog", "car"), ("dog", "cat", "car"), ("car", "dog", "cat")])
    >>> ordhc.cluster(t, method="adds3-al").to_newick(branch_lengths=False)
    '(car,(cat,dog));'
    >>> ordhc.cluster(t, method="3-al").heights
    array([1., 0.])
    >>> X = [[1, 0], [2, 0], [0, 9], [0, 8]]
    >>> ordhc.cluster(X, similarity="euclidean", linkage="ward").cut(2)
    array([0, 0, 1, 1])
    """
    progress = _checks.callback("progress", progress)
    if method is None and similarity is None and linkage is None and initial_clusters is not None:
        # Trees of a posterior have no fixed parts.
        method = fast_method(data)
    plan = Plan.of(data, method, similarity=similarity, linkage=linkage, **parameters)
    if isinstance(data, Triplets | Quadruplets):
        foretell_cost(plan.title, data, plan.seconds(data), f"{fast_method(data)!r} takes less")
    tree, unanswered = fit(
        plan, data, initial_clusters=initial_clusters, tie_seed=tie_seed, progress=progress
    )
    if len(unanswered):
        warn(unanswered_text(tree, unanswered))
    if (told := biased_text(plan, data)) is not None:
        warn(told)
    return tree


def fit(
    plan: Plan,
    data: Any,
    *,
    initial_clusters: ArrayLike | None = None,
    tie_seed: int | None = None,
    progress: Progress | None = None,
) -> tuple[Dendrogram, NDArray[np.int64]]:
    """Return the tree that `plan` makes of the data, and the leaves without answers (merged last)."""
    if isinstance(data, Scan):
        return fit_scan(plan, data, initial_clusters=initial_clusters, tie_seed=tie_seed, progress=progress)
    data = fitting(data, plan.accepts, plan.title)
    n, names, are_vectors = data.n_leaves, data.names, isinstance(data, Vectors)
    initial = _checks.labels("initial_clusters", initial_clusters, n)
    tie_seed = None if tie_seed is None else _checks.seed(tie_seed, "tie_seed")
    if are_vectors:
        _check_vectors(plan, data, initial)
    unit, degree = 1.0, None if are_vectors else plan.degree
    if degree is not None:
        data, unit = in_units(data)
    if not are_vectors and plan.similarity is None and names is None:
        # Errors name leaves as the caller numbers them.
        data = changed(data, names=tuple(map(str, range(n))))
    order = np.arange(n)
    if plan.refine:
        # Moves depend on ties of the tree they start from.
        order = data.canonical_order() if are_vectors else canonical_order(data)
    if tie_seed is not None:
        order = order[np.random.default_rng(tie_seed).permutation(n)]
    renumbered = bool(plan.refine) or tie_seed is not None
    if renumbered:
        data = data.in_order(order) if are_vectors else _in_order(plan, data, order)
        initial = None if initial is None else initial[order]
    unanswered, made = np.zeros(0, dtype=np.int64), plan
    if are_vectors:
        with _checks.remedied(plan.remedy(of_vectors=True)):
            tree = routes.of_vectors(plan, data, initial, progress)
        if plan.measure == "dot" and plan.linkage.native == "average":
            _warn_of_one_cluster(plan, tree)
    else:
        if plan.similarity is not None and is_adds(plan.similarity):
            # From here on lengths are in the weights of answers.
            data, has_lengths = less_lengths(data, plan.similarity_settings["lengths"], unit=unit)
            made, plan = plan.with_lengths(has_lengths), plan.with_lengths(False)
        with _errors_about(order), _checks.remedied(plan.remedy(of_vectors=False)):
            tree, unanswered = _of_answered(plan, data, initial, progress)
    if renumbered:
        tree, unanswered = tree.relabel(order), np.sort(order[unanswered])
    if degree and unit != 1:
        tree = scaled(tree, unit**degree)
    return replaced(tree, names=names, settings=made.settings), unanswered


def _in_order(plan: Plan, data: Comparisons, order: NDArray[np.int64]) -> Comparisons:
    """Return comparisons with leaf `order[i]` as leaf i, rows sorted if the tree depends on their order."""
    # Sums of whole numbers don't depend on the order of rows.
    are_sums = plan.similarity is not None and is_adds(plan.similarity) and plan.refine in (None, "dasgupta")
    return in_order(data, order, sort=not are_sums or data.weights is not None)


@contextmanager
def _errors_about(leaves: NDArray[np.int64]) -> Iterator[None]:
    """Give the leaves of an InputError the numbers that the caller knows: leaf k is `leaves[k]`."""
    try:
        yield
    except InputError as error:
        if error.leaves is not None:
            error.leaves = tuple(tuple(int(leaves[leaf]) for leaf in group) for group in error.leaves)
        raise


def _warn_of_one_cluster(plan: Plan, tree: Dendrogram) -> None:
    """Warn if a cut separates few leaves from all others, as where the mean of all vectors dominates."""
    if tree.n_leaves <= _CUT:
        return
    largest = int(np.bincount(tree.cut(_CUT)).max())
    if largest >= _ALL_BUT_FEW * tree.n_leaves:
        warn(
            f"cut into {_CUT} clusters, the tree by {plan.title} has {largest:,} of its {tree.n_leaves:,} "
            "leaves in one: the mean of all vectors dominates dot products. Centre them, X - X.mean(axis=0), "
            "or use similarity='euclidean', linkage='ward'"
        )


def _check_vectors(plan: Plan, data: Vectors, initial: NDArray[np.int64] | None) -> None:
    """Raise unless vectors can be clustered as they say."""
    if plan.refine in ("revenue", "satisfied"):
        raise InputError(f"moves by {plan.refine!r} need comparisons; vectors are refined by 'dasgupta'")
    if data.neighbors is not None:
        check_neighbors(plan)
    if data.storage != "vectors":
        return
    if plan.refine:
        raise InputError("moves of subtrees need a matrix: leave out storage='vectors'")
    if plan.measure is None:
        raise InputError(
            f"{plan.title} needs a matrix; without go average linkage of dot, cosine and their "
            "like and of sqeuclidean, single linkage of these and of distances, and ward of euclidean"
        )
    if initial is not None and (plan.linkage.native, plan.measure) != ("average", "dot"):
        raise InputError(f"{plan.title} needs a matrix to start from initial_clusters")


def _of_answered(
    plan: Plan, data: Triplets | Quadruplets, initial: NDArray[np.int64] | None, progress: Progress | None
) -> tuple[Dendrogram, NDArray[np.int64]]:
    """Return the tree of the leaves with answers, extended by the leaves without answers, and the latter."""
    n = data.n_leaves
    answered = _ordhc.answered(data.rows, data.weights, n)
    if answered.all():
        return routes.of_comparisons(plan, data, initial, progress), np.zeros(0, dtype=np.int64)
    unanswered = np.flatnonzero(~answered)
    labels = np.arange(n) if initial is None else initial
    # Leaves without answers stay with their initial cluster, if it has answers.
    kept = np.isin(labels, labels[answered])
    if kept.all():
        return routes.of_comparisons(plan, data, initial, progress), unanswered
    leaves = np.flatnonzero(kept)
    if not len(leaves):
        return with_unanswered(None, leaves, labels), unanswered
    names = None if data.names is None else [data.names[leaf] for leaf in leaves]
    few = data if data.weights is None else data[data.weights > 0]
    few = changed(few, rows=(np.cumsum(kept) - 1)[few.rows], n_leaves=len(leaves), names=names)
    with _errors_about(leaves):
        tree = routes.of_comparisons(plan, few, None if initial is None else initial[leaves], progress)
    return with_unanswered(tree, leaves, labels), unanswered
