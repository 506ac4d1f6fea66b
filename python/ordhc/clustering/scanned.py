"""Make trees of comparisons in files, without loading all comparisons into memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, part
from ordhc.agglomerate import sparse
from ordhc.clustering import routes
from ordhc.clustering.plan import Plan
from ordhc.clustering.refine import refined
from ordhc.clustering.unanswered import scaled, with_unanswered
from ordhc.comparison.comparisons import fitting_comparisons
from ordhc.errors import InputError
from ordhc.io.portions import in_units
from ordhc.io.scan import Scan
from ordhc.io.spill import Spill
from ordhc.similarities.blockwise import mulk3_sums
from ordhc.similarities.lengths import scan_less_lengths
from ordhc.similarities.similarity import is_adds, is_mulk3, square_of
from ordhc.similarities.spilled import csr_of
from ordhc.similarities.streamed import canonical_order_of, dense_sums, sparse_sums
from ordhc.tree.dendrogram import Dendrogram, engine_tree, from_engine, replaced

#: Fractions of the progress that is left: for the sums over all rows, the order of leaves, and their lengths.
_COUNTING, _ORDERING, _LENGTHS = 0.7, 0.3, 0.4
#: How to load answers into memory, for messages.
_WHOLE = "scan.read() or one file (ordhc convert FOLDER FILE)"


def check_additive(plan: Plan) -> None:
    """Raise `InputError` if the similarity or the objective of a plan is not a sum over answers."""
    if plan.similarity is None:
        raise InputError(
            f"{plan.title} reads answers many times, so it needs all answers in memory, {_WHOLE}; a scan can "
            "be clustered by the similarities 'adds3', 'adds4' and 'mulk3' with a linkage of similarities"
        )
    if not is_adds(plan.similarity) and not is_mulk3(plan.similarity):
        raise InputError(
            f"{plan.title} is not a sum over answers, so it needs all answers in memory, {_WHOLE}; a scan "
            "can be clustered by 'adds3', 'adds4' and 'mulk3' (method 'adds3-al', 'adds4-al', 'mulk3-al')"
        )
    if plan.refine == "satisfied":
        raise InputError(
            "moves of subtrees by 'satisfied' read answers many times, so they need all answers in memory, "
            f"{_WHOLE}; for answers in files (a scan) use a method such as 'adds3-al+spr'"
        )


def takes_scan(scan: Scan, **asked: Any) -> bool:
    """Return True if `cluster` accepts answers in files (a scan) with the arguments `asked`.

    `asked` are the arguments `method`, `similarity` and `linkage` of `cluster`. No file is read.
    """
    try:
        if any(asked.values()):
            check_additive(Plan.of(scan, **asked))
    except InputError:
        return False
    return True


def fit_scan(
    plan: Plan,
    scan: Scan,
    *,
    initial_clusters: ArrayLike | None = None,
    tie_seed: int | None = None,
    progress: Progress | None = None,
) -> tuple[Dendrogram, NDArray[np.int64]]:
    """Return the tree of comparisons in files, and the leaves without answers.

    The result is the same as the result of `fit` for all comparisons in memory.
    """
    check_additive(plan)
    progress = scan.surveying(progress)

    n, names = scan.n_leaves, scan.names
    scan, unit = in_units(scan) if plan.degree is not None else (scan, 1.0)
    fitting_comparisons(scan.without_rows(), plan.accepts, plan.title)
    initial = _checks.labels("initial_clusters", initial_clusters, n)
    tie_seed = None if tie_seed is None else _checks.seed(tie_seed, "tie_seed")
    order = np.arange(n)
    if plan.refine:
        order = canonical_order_of(scan, plan.accepts, plan.title, part(progress, 0, _ORDERING))
        progress = part(progress, _ORDERING, 1)
    if tie_seed is not None:
        order = order[np.random.default_rng(tie_seed).permutation(n)]
    made, rest = plan, progress
    with Spill(scan.spill) as folder:
        if plan.may_have_lengths:
            before, rest = part(progress, 0, _LENGTHS), part(progress, _LENGTHS, 1)
            # Estimate lengths with leaves in the same order as `fit`, because rounding depends on the order.
            number = np.argsort(order) if plan.refine or tie_seed is not None else None
            scan, has_lengths = scan_less_lengths(
                scan, plan.similarity_settings["lengths"], folder, unit=unit, number=number, progress=before
            )
            made = plan.with_lengths(has_lengths)
        initial = None if initial is None else initial[order]
        tree, unanswered = _tree(plan, scan, order, initial, folder, rest)
    if plan.refine or tie_seed is not None:
        tree, unanswered = tree.relabel(order), np.sort(order[unanswered])
    if plan.degree and unit != 1:
        tree = replaced(tree, scaled(engine_tree(tree), unit**plan.degree))
    if progress is not None:
        progress(1.0)
    return replaced(tree, names=names, settings=made.settings), unanswered


def _tree(
    plan: Plan,
    scan: Scan,
    order: NDArray[np.int64],
    initial: NDArray[np.int64] | None,
    spill: Spill,
    progress: Progress | None,
) -> tuple[Dendrogram, NDArray[np.int64]]:
    """Return the tree of a scan, and its leaves without answers. Leaf i is leaf `order[i]` of the scan."""
    assert plan.similarity is not None
    counting, after = part(progress, 0, _COUNTING), part(progress, _COUNTING, 1)
    n = len(order)
    has_few_pairs = routes.is_sparse(plan, n, len(scan))
    if has_few_pairs:
        number = np.argsort(order).astype(np.int32)
        sums, answered = sparse_sums(scan, spill, both=False, number=number, progress=counting)
    elif is_mulk3(plan.similarity):
        normalize = bool(plan.similarity_settings["normalize"])
        pairs, _, answered = mulk3_sums(scan, normalize, spill, counting)
    else:
        pairs, answered = dense_sums(scan, spill, counting)
    answered = answered[order]
    unanswered = np.flatnonzero(~answered)
    labels = np.arange(n) if initial is None else initial
    # Keep a leaf without answers if another leaf of its initial cluster has answers.
    leaves = np.flatnonzero(np.isin(labels, labels[answered]))
    initial = None if initial is None else initial[leaves]
    if not len(leaves):
        return with_unanswered(None, leaves, labels), unanswered
    if has_few_pairs:
        place = np.full(n, -1, dtype=np.int64)
        place[leaves] = np.arange(len(leaves))
        rule = _ordhc.Linkage.native(str(plan.linkage.native))
        parts = csr_of(sums, "float64", place)
        tree = from_engine(_ordhc.agglomerate_sparse(*parts, rule, False, "zero", initial, after)[0])
    else:
        pairs = _picked(pairs, n, order[leaves])
        tree = _of_pairs(plan, pairs, initial, after)
    if len(leaves) < n:
        tree = with_unanswered(tree, leaves, labels)
    return tree, unanswered


def _of_pairs(
    plan: Plan, pairs: NDArray[Any], initial: NDArray[np.int64] | None, progress: Progress | None
) -> Dendrogram:
    before, after = routes.stages(plan, progress)
    if pairs.dtype != np.float64 and (plan.refine or plan.linkage.native not in sparse.LINKAGES):
        # Linkages in `sparse.LINKAGES` compare whole numbers exactly in any type; others need float64.
        pairs = pairs.astype(np.float64)
    tree = routes.of_pairs(plan, pairs, initial, before, overwrite=plan.refine is None)
    if plan.refine is None or tree.n_leaves < 3:
        return tree
    # The revenue of comparisons equals Dasgupta's objective of their AddS similarities, which are counts
    # of closer minus farther.
    S = square_of(pairs, tree.n_leaves, "float64") if plan.refine == "revenue" else pairs
    return refined(tree, S, "dasgupta", initial=initial, progress=after)


def _picked(pairs: NDArray[Any], n: int, leaves: NDArray[np.int64]) -> NDArray[Any]:
    """Return the values in `pairs` of all pairs of `leaves`, in the order of SciPy's condensed matrices."""
    if len(leaves) == n and bool((leaves == np.arange(n)).all()):
        return pairs
    m = len(leaves)
    found = np.empty(m * (m - 1) // 2, dtype=pairs.dtype)
    at = 0
    for first in range(m - 1):
        low = np.minimum(leaves[first], leaves[first + 1 :])
        high = np.maximum(leaves[first], leaves[first + 1 :])
        found[at : at + len(low)] = pairs[low * (2 * n - low - 1) // 2 + high - low - 1]
        at += len(low)
    return found
