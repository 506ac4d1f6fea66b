"""From data to a dendrogram: methods by the papers' names, or by their parts."""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc._workers import as_executor
from ordhc.clustering import routes
from ordhc.clustering.neighbors import by_neighbors, check_neighbors
from ordhc.clustering.plan import Plan, biased_text, fast_method
from ordhc.clustering.scanned import fit_scan
from ordhc.clustering.unanswered import scaled, unanswered_text, with_unanswered
from ordhc.comparison.canonical import canonical_order, in_order
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.frames import without_names
from ordhc.comparison.rows import changed
from ordhc.comparison.scale import in_units
from ordhc.errors import InputError, warn
from ordhc.io.scan import Scan, kind_of
from ordhc.similarities.lengths import less_lengths
from ordhc.similarities.similarity import fitting, is_adds
from ordhc.tree.convert import index_names
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import replaced

__all__ = ["cluster", "fit"]

#: A tree is warned about if, cut into so many clusters, one of them holds at least this share of the leaves.
#: Iris, Wine, Digits, Zoo and Glass by dot products: .96 and more; the same vectors centred: .67 and less
#: (benches/bench_vector_methods.py).
_CUT, _ALL_BUT_FEW = 5, 0.95

#: What of vectors is kept in memory.
MEMORY = ("auto", "matrix", "vectors")


@shows_progress("clustering")
def cluster(
    data: Triplets | Quadruplets | Scan | ArrayLike,
    *,
    method: str | None = None,
    similarity: str | None = None,
    linkage: str | None = None,
    similarity_parameters: Mapping[str, Any] | None = None,
    linkage_parameters: Mapping[str, Any] | None = None,
    initial_clusters: ArrayLike | None = None,
    tie_seed: int | None = None,
    memory: str | int = "auto",
    spill: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    neighbors: int | None = None,
    refine: bool | str | None = None,
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> Dendrogram:
    """From data to a dendrogram.

    Parameters
    ----------
    data
        `Triplets`, `Quadruplets`, or for methods of vectors an (n, p) array (float32 and float64 are used
        as they are), a SciPy sparse matrix, or a data frame; or a scan of files (`ordhc.scan`), if the
        similarity is a sum over answers, AddS3 or AddS4. A frame's index names the leaves (as text, unless it
        only numbers the rows), or else a first column of text.
    method
        A paper's name: "adds3-al", "mulk3-al", "3-al", "build" for triplets; "adds4-al", "4k-al",
        "mulk4-al", "4-al" for quadruplets, or triplets as quadruplets; "4-sl", "4-cl" for complete sets of
        quadruplets; "cosine-al", "dot-al" for vectors that have been centred or have hundreds of noisy
        coordinates. By default, of comparisons: "posterior-al" (see `ordhc.posterior`), whose trees have the
        fewest wrong triples, where it is estimated to take at most about ten seconds on two cores (a minute
        if a learner chose the questions); else "adds3-al+spr" for triplets and "adds4-al+spr" for
        quadruplets, whose moves of subtrees are left out above 2,000 leaves ("adds3-al", "adds4-al"). Say
        ``method="adds3-al+spr"`` for a tree within milliseconds. These are also the default of scans, and if
        `refine`, initial clusters or a method's parameters are given. `Dendrogram.settings` says
        which method it was.
    similarity, linkage
        The two parts by name, instead of a method. For vectors begin with ``similarity="euclidean",
        linkage="ward"``: vectors have no default method. Linkages of comparisons ("3-al", "4-al", "4-sl",
        "4-cl", "build") take no similarity.
    similarity_parameters, linkage_parameters
        Their settings, where keywords would not say which of the two is meant.
    initial_clusters
        (n,) labels: leaves of the same label are merged first (4-AL-I3 and 4-AL-I5 of the papers),
        at least as close as the closest merge after. Average linkage and its like merge the nearest
        pair within an initial cluster as long as there is one; "3-al" and "4-al" leaf by leaf.
    tie_seed
        As in `linkage`. Methods that refine break ties in an order that comes from the data, of which this
        takes a random permutation.
    memory
        For vectors, what is kept in memory: "matrix" all pairs, in O(n^2), "vectors" only these, in O(n p).
        Without a matrix go average linkage of dot products and cosines (the average of two clusters is the
        dot product of their means) and of "sqeuclidean" (the squared distance of their means, and how far
        both are spread), single linkage of these and of distances (a spanning tree), and "ward" of
        "euclidean" (centroids and sizes). Where no two similarities are closer than rounding the tree is the
        same, heights differ by rounding. "auto" takes the faster one, and the one that fits. From
        `initial_clusters` without a matrix starts only average linkage of dot products. For a scan, how many
        bytes sparse sums may take, as "2GB", before they go to files; by default 1 GiB.
    spill
        For a scan, the folder for these files, by default one for temporary files. It is left as it was.
    executor
        For a scan, who reads and adds up its files: any `concurrent.futures.Executor`, as of processes, loky
        or Dask (`client.get_executor()`), whose workers see files and `spill`. The tree is the same.
    neighbors
        For vectors, link each with so many nearest ones only ("cosine", "euclidean"; average, single or
        complete linkage), for millions of vectors. Average linkage of cosines merges linked clusters at
        their exact similarities, and looks at all pairs of the last 20,000 clusters (or a tenth of the
        vectors, at least 1,000): of 20,000 vectors of nested blobs 10 neighbours gave tau-b 1.0 to the
        exact tree and AARI 0.9996 to its cuts, 20 neighbours 1.0 and 1.0; of the 10,000 images of MNIST's
        test set 10 gave AARI 0.90 to the exact tree, 20 gave 0.99. Other linkages count cosines that aren't
        linked as 0, distances as unknown, and lose much more. Needs `pip install "ordhc[graph]"`.
    refine
        Move subtrees afterwards as long as that improves the tree (see `ordhc.refine`): True goes by
        Dasgupta's cost under the similarities of the method, or by the revenue where it has none; or
        "dasgupta", "revenue", "satisfied". Methods named "...+spr" do that by themselves; False is without.
    progress
        True for a bar; what can be called is, now and then, with the share that is done, from 0 to 1.
    **parameters
        Settings of the similarity or the linkage, for example ``normalize=False`` of "mulk3", or
        ``lengths=True`` of "adds3" and "adds4", where some leaves are untypical (see `ordhc.similarity`);
        `Dendrogram.settings` says whether lengths were used.

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
        method = fast_method(data, refine)
    plan = Plan.of(
        data,
        method=method,
        similarity=similarity,
        linkage=linkage,
        similarity_parameters=similarity_parameters,
        linkage_parameters=linkage_parameters,
        refine=refine,
        **parameters,
    )
    tree, unanswered = fit(
        plan,
        data,
        initial_clusters=initial_clusters,
        tie_seed=tie_seed,
        memory=memory,
        spill=spill,
        executor=executor,
        neighbors=neighbors,
        progress=progress,
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
    memory: Any = "auto",
    spill: Any = None,
    executor: Any = None,
    neighbors: Any = None,
    progress: Progress | None = None,
) -> tuple[Dendrogram, NDArray[np.int64]]:
    """The tree that a plan makes of data, and the leaves without answers, which are merged last."""
    if neighbors is not None and kind_of(data) is not None:
        raise InputError("neighbors are for vectors")
    if isinstance(data, Scan):
        return fit_scan(
            plan,
            data,
            initial_clusters=initial_clusters,
            tie_seed=tie_seed,
            memory=memory,
            spill=spill,
            executor=as_executor(executor),
            progress=progress,
        )
    if spill is not None or as_executor(executor) is not None:
        raise InputError("spill and executor are for a scan: what is in memory is clustered here")
    if isinstance(data, Triplets | Quadruplets):
        names: Sequence[Any] | None = data.names
    else:
        names = without_names(data)[1] or index_names(data)
    # Millions of vectors are linked by neighbours: there is no room for another copy of them.
    data = fitting(data, plan.accepts, plan.title, copy=neighbors is None)
    is_comparisons = isinstance(data, Triplets | Quadruplets)
    n = data.n_leaves if is_comparisons else data.shape[0]
    initial = _checks.labels("initial_clusters", initial_clusters, n)
    tie_seed = None if tie_seed is None else _checks.seed(tie_seed, "tie_seed")
    memory = _checks.choice("memory", memory, MEMORY)
    if not is_comparisons:
        _check_memory(plan, memory, initial)
        if neighbors is not None:
            neighbors = check_neighbors(plan, neighbors)
    unit, degree = 1.0, plan.degree if is_comparisons else None
    if degree is not None:
        data, unit = in_units(data)
    if is_comparisons and plan.similarity is None and names is None:
        # Errors name leaves as the caller numbers them.
        data = changed(data, names=tuple(map(str, range(n))))
    # Moves depend on ties of the tree they start from.
    order = canonical_order(data) if plan.refine else np.arange(n)
    if tie_seed is not None:
        order = order[np.random.default_rng(tie_seed).permutation(n)]
    renumbered = bool(plan.refine) or tie_seed is not None
    if renumbered:
        # Sums of whole numbers don't go by the order of rows.
        counts = (
            plan.similarity is not None and is_adds(plan.similarity) and plan.refine in (None, "dasgupta")
        )
        whole = counts and kind_of(data) is not None and data.weights is None
        data = in_order(data, order, sort=not whole)
        initial = None if initial is None else initial[order]
    unanswered, made = np.zeros(0, dtype=np.int64), plan
    if is_comparisons and plan.similarity is not None and is_adds(plan.similarity):
        # From here on lengths are in the weights of answers.
        data, has_lengths = less_lengths(data, plan.similarity_settings["lengths"], unit=unit)
        made, plan = plan.with_lengths(has_lengths), plan.with_lengths(False)
    if is_comparisons:
        with _errors_about(order):
            tree, unanswered = _of_answered(plan, data, initial, progress)
    else:
        if neighbors is not None:
            tree = by_neighbors(plan, data, neighbors, initial, progress)
        else:
            tree = routes.of_vectors(plan, data, initial, memory, progress)
        if plan.measure == "dot" and plan.linkage.native == "average":
            _warn_of_one_cluster(plan, tree)
    if renumbered:
        tree, unanswered = tree.relabel(order), np.sort(order[unanswered])
    if degree and unit != 1:
        tree = scaled(tree, unit**degree)
    return replaced(tree, names=names, settings=made.settings), unanswered


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


def _check_memory(plan: Plan, memory: str, initial: NDArray[np.int64] | None) -> None:
    """Whether vectors can be clustered as is asked."""
    if plan.refine in ("revenue", "satisfied"):
        raise InputError(f"refine={plan.refine!r} needs comparisons; for vectors there is 'dasgupta'")
    if memory != "vectors":
        return
    if plan.refine:
        raise InputError("refining needs a matrix: leave out memory='vectors'")
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
    """The tree over the leaves that have answers, with those that have none, and these."""
    n = data.n_leaves
    answered = _ordhc.answered(data.rows, data.weights, n)
    if answered.all():
        return routes.of_comparisons(plan, data, initial, progress), np.zeros(0, dtype=np.int64)
    unanswered = np.flatnonzero(~answered)
    labels = np.arange(n) if initial is None else initial
    # What is in an initial cluster with answers goes where the cluster goes.
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
