"""The function `cluster`, which makes a dendrogram of comparisons or vectors by a named method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.clustering import routes
from ordhc.clustering.cost import warn_of_cost
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
from ordhc.tree.dendrogram import Dendrogram, engine_tree, replaced

#: Warn if the tree, cut into `_CUT` clusters, has a cluster with at least the share `_ALL_BUT_FEW` of the
#: leaves. By dot products this share is .96 or more for Iris, Wine, Digits, Zoo and Glass, and .67 or less if
#: the same vectors are centred (benches/bench_vector_methods.py).
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
    """Cluster comparisons or vectors hierarchically, and return the dendrogram.

    Parameters
    ----------
    data
        Comparisons: `Triplets` or `Quadruplets`. Vectors: an (n, p) array, a SciPy sparse matrix, a data
        frame, or `ordhc.Vectors`. With the similarities AddS3, AddS4 and MulK3, comparisons can also be a
        scan of files (`ordhc.scan`).
    method
        The name of a method:

        * for triplets: "adds3-al", "mulk3-al", "3-al", "build";
        * for quadruplets, and for triplets as quadruplets: "adds4-al", "4k-al", "mulk4-al", "4-al";
        * for complete sets of quadruplets: "4-sl", "4-cl";
        * for vectors that are centred or have hundreds of noisy coordinates: "cosine-al", "dot-al";
        * "SIMILARITY+LINKAGE", such as "adds3+complete".

        The ending "+spr" moves subtrees as long as that improves the tree. The objective is Dasgupta's cost
        under the similarities of the method, or the revenue if the method has no similarity. `ordhc.refine`
        has other objectives.

        The default for comparisons is "posterior-al" (see `ordhc.posterior`), whose trees have the fewest
        wrong triples of leaves. If "posterior-al" is estimated to take more than about ten seconds on two
        cores (a minute if a learner chose the questions), the default is "adds3-al+spr" for triplets and
        "adds4-al+spr" for quadruplets. Above 2,000 leaves subtrees are not moved ("adds3-al", "adds4-al").
        These fast methods are also the default for scans, with `initial_clusters`, and with settings of
        "adds3" or "adds4" (see `ordhc.similarity`).
        "adds3-al+spr" takes milliseconds for a few hundred leaves, and one or two seconds for 2,000 leaves.
        `Dendrogram.settings` contains the method that was used.
    similarity, linkage
        The names of a similarity and a linkage, instead of a method. Vectors have no default method: begin
        with ``similarity="euclidean", linkage="ward"``. Linkages of comparisons ("3-al", "4-al", "4-sl",
        "4-cl", "build") take no similarity. Each of `method`, `similarity` and `linkage` can also be a pair
        of a name and a dict of settings: ``similarity=("mulk3", {"normalize": False})``.
    initial_clusters
        (n,) labels of clusters to start from: leaves with the same label are merged first (4-AL-I3 and
        4-AL-I5 of the papers). The heights of these merges are at least as close as the closest later merge.
        Linkages of similarities merge the nearest pair of clusters within an initial cluster until one
        cluster is left. "3-al" and "4-al" merge its leaves one by one.
    tie_seed
        The seed of a random order of the leaves, by which ties are broken. By default ties are broken by leaf
        number. Methods that move subtrees order the leaves by the data instead, and `tie_seed` permutes that
        order.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].
    **parameters
        Settings of the similarity or of the linkage: ``normalize=False`` for "mulk3", or ``lengths=True`` for
        "adds3" and "adds4" if some leaves are untypical (see `ordhc.similarity`). `Dendrogram.settings`
        contains whether lengths were used. If the similarity and the linkage both have a setting of the same
        name, give a pair of a name and a dict of settings.

    Returns
    -------
    Dendrogram
        The tree, with the names of the data.

    Warns
    -----
    OrdhcWarning
        Before the work begins: an estimate of more than 30 seconds of processor time.
    OrdhcWarning
        A learner chose the questions (`data.adaptive`), and the method is biased by that choice. All methods
        are biased except "posterior-al", "consistency" and "build".
    OrdhcWarning
        Some leaves have no answers of positive weight. These leaves are merged last, one by one, at the
        height of the last merge.
    OrdhcWarning
        Average linkage of dot products or cosines puts nearly all vectors into one of five clusters, because
        the mean of all vectors dominates the similarities.

    Raises
    ------
    InputError
        An unknown name (the error lists the nearest names); data that the method does not take; initial
        clusters of another length; an incomplete set of quadruplets for "4-sl" or "4-cl" (the error lists
        missing ones); triplets that no tree satisfies for "build" (the error contains a small set of them).

    Notes
    -----
    Repeated answers count as often as they occur, and an answer of weight w counts w times. Contradictory
    answers cancel in "adds3-al", "adds4-al", "3-al", "4-al", "mulk4-al" and "4k-al". In "mulk3-al" their
    question still counts as answered. In "consistency" each contradictory answer counts.

    If all weights are multiplied by a factor, or all answers are repeated equally often, only the heights
    change. There are two exceptions. "4k-al" adds products of weights to weights. In "posterior-al" and in
    methods with lengths of leaves ("adds3-al+lengths+spr"), repeated answers are more evidence. Weights that
    are whole multiples of a unit are computed as whole numbers, without rounding.

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
        # The posterior takes no initial clusters.
        method = fast_method(data)
    plan = Plan.of(data, method, similarity=similarity, linkage=linkage, **parameters)
    if isinstance(data, Triplets | Quadruplets):
        remedy = f"{fast_method(data)!r} takes less"
        warn_of_cost(plan.title, data, plan.seconds(data), remedy)
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
    initial = None if initial_clusters is None else _checks.labels("initial_clusters", initial_clusters, n)
    tie_seed = None if tie_seed is None else _checks.seed(tie_seed, "tie_seed")
    if are_vectors:
        _check_vectors(plan, data, initial)
    unit, degree = 1.0, None if are_vectors or data.weights is None else plan.degree
    if degree is not None:
        data, unit = in_units(data)
    if not are_vectors and plan.similarity is None and names is None:
        # Linkages that take comparisons have names of leaves in their errors. Use the caller's numbers as
        # names, because leaves are renumbered below.
        data = changed(data, names=tuple(map(str, range(n))))
    order = np.arange(n)
    if plan.refine:
        # Moves depend on how ties were broken in the tree that they start from, so ties must not depend on
        # the numbering of leaves.
        order = data.canonical_order() if are_vectors else canonical_order(data)
    if tie_seed is not None:
        order = order[np.random.default_rng(tie_seed).permutation(n)]
    renumbered = bool(plan.refine) or tie_seed is not None
    if renumbered:
        data = data.in_order(order) if are_vectors else _in_order(plan, data, order)
        initial = None if initial is None else initial[order]
    unanswered, made = np.zeros(0, dtype=np.int64), plan
    if are_vectors:
        try:
            tree = routes.of_vectors(plan, data, initial, progress)
        except MemoryError as error:
            raise _checks.with_remedy(error, plan.remedy(of_vectors=True)) from None
        if plan.measure == "dot" and plan.linkage.native == "average":
            _warn_of_one_cluster(plan, tree)
    else:
        if plan.similarity is not None and is_adds(plan.similarity):
            # `less_lengths` corrects the weights for lengths (how untypical each leaf is). The plan must not
            # correct them again.
            data, has_lengths = less_lengths(data, plan.similarity_settings["lengths"], unit=unit)
            made, plan = plan.with_lengths(has_lengths), plan.with_lengths(False)
        try:
            tree, unanswered = of_answered(plan, data, initial, progress)
        except InputError as error:
            raise _about(error, order) from None
    if renumbered:
        tree, unanswered = tree.relabel(order), np.sort(order[unanswered])
    if degree and unit != 1:
        tree = replaced(tree, scaled(engine_tree(tree), unit**degree))
    return replaced(tree, names=names, settings=made.settings), unanswered


def _in_order(plan: Plan, data: Comparisons, order: NDArray[np.int64]) -> Comparisons:
    """Return the comparisons with leaves renumbered: leaf `order[i]` becomes leaf i.

    Rows are sorted if the tree can depend on their order.
    """
    # Sums of whole numbers do not depend on the order of rows.
    are_sums = plan.similarity is not None and is_adds(plan.similarity) and plan.refine in (None, "dasgupta")
    return in_order(data, order, sort=not are_sums or data.weights is not None)


def _about(error: InputError, leaves: NDArray[np.int64]) -> InputError:
    """Replace leaf k in the error by `leaves[k]`, the number that the caller knows."""
    if error.leaves is not None:
        error.leaves = tuple(tuple(int(leaves[leaf]) for leaf in group) for group in error.leaves)
    return error


def _warn_of_one_cluster(plan: Plan, tree: Dendrogram) -> None:
    if tree.n_leaves <= _CUT:
        return
    largest = int(np.bincount(tree.cut(_CUT)).max())
    if largest >= _ALL_BUT_FEW * tree.n_leaves:
        warn(
            f"the tree by {plan.title}, cut into {_CUT} clusters, has {largest:,} of its {tree.n_leaves:,} "
            "leaves in one cluster, because the mean of all vectors dominates dot products. Centre the "
            "vectors, X - X.mean(axis=0), or use similarity='euclidean', linkage='ward'"
        )


def _check_vectors(plan: Plan, data: Vectors, initial: NDArray[np.int64] | None) -> None:
    if plan.refine in ("revenue", "satisfied"):
        raise InputError(
            f"moves of subtrees by {plan.refine!r} need comparisons; for vectors use a method such as "
            "'cosine-al+spr'"
        )
    if data.neighbors is not None:
        check_neighbors(plan)
    if data.storage != "vectors":
        return
    if plan.refine:
        raise InputError("moves of subtrees (+spr) need a matrix: leave out storage='vectors'")
    if plan.measure is None:
        raise InputError(
            f"{plan.title} needs a matrix of all pairs: leave out storage='vectors'. No matrix is needed by "
            "average linkage of dot, cosine, pca-dot, pca-cosine and sqeuclidean; by single linkage of these "
            "five, euclidean and manhattan; and by ward linkage of euclidean distances"
        )
    if initial is not None and (plan.linkage.native, plan.measure) != ("average", "dot"):
        raise InputError(
            f"{plan.title} needs a matrix to start from initial_clusters: leave out storage='vectors'"
        )


def of_answered(
    plan: Plan,
    data: Triplets | Quadruplets,
    initial: NDArray[np.int64] | None = None,
    progress: Progress | None = None,
) -> tuple[Dendrogram, NDArray[np.int64]]:
    """Return the tree of comparisons, and the leaves without answers, which are merged last.

    Unlike `fit`, ties are broken by the numbers of leaves, and the tree has no names and settings.
    """
    n = data.n_leaves
    answered = _ordhc.answered(data.rows, data.weights, n)
    unanswered = np.flatnonzero(~answered)
    labels = np.arange(n) if initial is None else initial
    # Keep a leaf without answers if another leaf of its initial cluster has answers.
    kept = np.isin(labels, labels[answered])
    leaves = np.flatnonzero(kept)
    if not len(leaves):
        return with_unanswered(None, leaves, labels), unanswered
    if not kept.all():
        names = None if data.names is None else [data.names[leaf] for leaf in leaves]
        data = data if data.weights is None else data[data.weights > 0]
        rows = (np.cumsum(kept) - 1)[data.rows]
        data = changed(data, rows=rows, n_leaves=len(leaves), names=names)
        initial = None if initial is None else initial[leaves]
    try:
        tree = routes.of_comparisons(plan, data, initial, progress)
    except InputError as error:
        raise _about(error, leaves) from None
    except MemoryError as error:
        raise _checks.with_remedy(error, plan.remedy(of_vectors=False)) from None
    return tree if kept.all() else with_unanswered(tree, leaves, labels), unanswered
