"""Refine trees: move subtrees as long as that improves an objective."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc._workers import Shared, as_executor, run_tasks
from ordhc.clustering.cost import seconds_of_moves, warn_of_cost
from ordhc.clustering.unanswered import scaled
from ordhc.comparison.canonical import canonical_order, in_order
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.scale import in_units
from ordhc.errors import InputError
from ordhc.io.spill import Spill
from ordhc.plugins.specs import OBJECTIVES
from ordhc.similarities.similarity import similarity
from ordhc.tree.dendrogram import Dendrogram, engine_tree, from_engine
from ordhc.tree.settings import made_by


def refining(
    objective: str, heights: str | None = None, max_moves: int | None = None, restarts: int = 3, seed: int = 0
) -> dict[str, Any]:
    """Return the parameters of `refine` as they are stored in `Dendrogram.settings`.

    The default of `heights` is "sizes" for the objective "satisfied", otherwise "average".
    """
    chosen = heights or ("sizes" if objective == "satisfied" else "average")
    return {"heights": chosen, "max_moves": max_moves, "restarts": restarts, "seed": seed}


@shows_progress("refining")
def refine(
    tree: Any,
    data: Triplets | Quadruplets | ArrayLike,
    objective: str | None = None,
    *,
    dissimilarity: bool | None = None,
    heights: str | None = None,
    initial_clusters: ArrayLike | None = None,
    max_moves: int | None = None,
    restarts: int = 3,
    seed: int = 0,
    executor: Any = None,
    spill: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
) -> Dendrogram:
    """Move subtrees of a dendrogram as long as that improves an objective, and return the better tree.

    Each move cuts off a subtree and puts it where the objective is best (subtree prune and regraft, SPR).
    Moves continue until no single move improves the tree. Then the best tree is changed randomly and improved
    again, `restarts` times. The result is never worse than `tree`.

    Parameters
    ----------
    tree
        The tree to start from; see `ordhc.as_dendrogram` for its types.
    data
        `Triplets` or `Quadruplets`; or similarities or dissimilarities, either (n, n) or the n(n-1)/2 pairs
        in the order of SciPy.
    objective
        "revenue" (the default for comparisons): the triplet or quadruplet revenue. "satisfied": the total
        weight of the triplets that the tree agrees with. "dasgupta" (the default for similarities):
        Dasgupta's cost, which is minimized for similarities and maximized for dissimilarities.
    dissimilarity
        Required for a matrix, not for comparisons: True if larger numbers mean farther apart, False if larger
        numbers mean more alike.
    heights
        The heights of the result. "average" (the default except for "satisfied"): the mean similarity
        (AddS for comparisons) of the pairs that a merge joins, as in average linkage. If a merge would be
        nearer than one of its children (an inversion), it has the height of its farther child. "sizes": the
        number of leaves outside the cluster for similarities, the number of leaves in the cluster for
        dissimilarities.
    initial_clusters
        (n,) labels. Leaves with the same label must be a cluster of `tree`. Moves do not change the tree
        within these clusters.
    max_moves
        The maximum number of moves; by default there is no limit.
    restarts
        The number of times that the best tree is changed randomly and improved again. The new tree is kept if
        it is better. For "satisfied" a restart is simulated annealing: subtrees move randomly, and less and
        less often to worse positions. Each subtree is tried forty times on average, or four times with many
        leaves or answers. For the other objectives, a restart moves some subtrees to random positions, twice.
    seed
        The seed of random moves. The same seed gives the same tree, for any numbering of leaves and order of
        rows.
    executor, spill
        The executor or pool that computes the restarts, and a folder that all workers can read (see
        `ordhc.bootstrap`). With an executor, each restart begins at `tree`, and the best result is kept.
        Without an executor, each restart begins at the best tree so far, so that the result differs.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    Dendrogram
        The better tree, with the leaves numbered as in `data`.

    Warns
    -----
    OrdhcWarning
        Before the work begins: an estimate of more than 30 seconds of processor time.

    Raises
    ------
    InputError
        `tree` and `data` have different leaves; an unknown objective; initial clusters that are not clusters
        of the tree; a matrix without `dissimilarity`, or comparisons with `dissimilarity`.
    MemoryError
        There is no memory for the 2 n^2 floats that "revenue" and "dasgupta" need. This is checked before the
        work begins.

    Notes
    -----
    Average linkage is always a local optimum under exchanges of neighbouring subtrees, so these smallest
    moves cannot improve its trees. All positions of one subtree are scored in O(n) for the revenue and for
    Dasgupta's cost, and in O(n + answers about its leaves) for satisfied triplets. The revenue is defined by
    Mandal, Perrot & Ghoshdastidar 2023, equations 3 and 4. With few answers (less than about n^2) the tree of
    the best revenue overfits noise. Check with `ordhc.select` whether that tree is better.

    The search orders the leaves by the data, so that the result does not depend on their numbers. Leaves that
    the data do not distinguish are ordered by the tree, and otherwise by their numbers.

    Examples
    --------
    >>> import ordhc
    >>> t, labels = ordhc.datasets.planted(240**2, seed=1)
    >>> tree = ordhc.cluster(t, method="adds3-al")
    >>> better = ordhc.refine(tree, t)
    >>> ordhc.score(better, t) > ordhc.score(tree, t)
    True
    """
    progress = _checks.callback("progress", progress)
    from ordhc.tree.matching import prepared

    comparisons = isinstance(data, Triplets | Quadruplets)
    if objective is None:
        objective = "revenue" if comparisons else "dasgupta"
    objective = _checks.choice("objective", objective, OBJECTIVES)
    kinds = {"dasgupta": ("similarity",), "satisfied": ("triplets",), "revenue": ("triplets", "quadruplets")}
    found, reference = prepared(tree, data, kinds[objective], f"refine by {objective!r}")
    if not comparisons:
        dissimilarity = _checks.is_dissimilarity(dissimilarity, "refine(tree, S)")
    elif dissimilarity is not None:
        raise InputError(
            f"dissimilarity is only for matrices, not for {type(data).__name__}: leave out dissimilarity"
        )
    initial = _checks.labels("initial_clusters", initial_clusters, found.n_leaves)
    if heights is not None:
        heights = _checks.choice("heights", heights, ("sizes", "average"))
    if max_moves is not None:
        max_moves = _checks.whole("max_moves", max_moves, at_least=0)
    restarts, seed = _checks.whole("restarts", restarts, at_least=0), _checks.seed(seed)
    how = _Search(bool(dissimilarity), heights, initial, max_moves, restarts, seed)
    if objective != "satisfied":
        # The search stores two (n, n) matrices of float64.
        try:
            _ordhc.check_memory(f"refine by {objective!r}", 16 * found.n_leaves**2)
        except MemoryError as error:
            remedy = "objective='satisfied' needs memory for the triplets only"
            raise _checks.with_remedy(error, remedy) from None
    if comparisons:
        seconds = seconds_of_moves(objective, found.n_leaves, len(reference), restarts)
        memory = _BYTES_OF_ROW * len(reference) if objective == "satisfied" else 0
        remedy = "max_moves= or fewer restarts= take less time, and objective='revenue' less memory"
        warn_of_cost(f"refine by {objective!r}", reference, seconds, remedy, memory=memory)
    workers = as_executor(executor)
    if workers is None:
        if spill is not None:
            raise InputError(
                "spill= is a folder for the workers of an executor: give executor= too, or leave out spill="
            )
        better, _ = _searched(found, reference, objective, how, progress)
    else:
        with Spill(spill) as folder:
            shared = Shared((found, reference, objective, how), lambda: folder.folder)
            tasks = [(shared, min(1, restarts), seed, at) for at in range(max(1, restarts))]
            # `max` returns the first of equal results, so the order in which workers finish does not matter.
            better, _ = max(run_tasks(workers, _restarted, tasks, progress=progress), key=lambda one: one[1])
    given = refining(objective, heights, max_moves, restarts, seed)
    before = {} if found.settings is None else found.settings
    after = {"method": None, "refine": objective, "refine_parameters": given}
    return better.replace(settings={**made_by(), **before, **after})


#: Measured memory of `refine` with the objective "satisfied", in bytes for each comparison.
_BYTES_OF_ROW = 72


@dataclass(frozen=True)
class _Search:
    """The arguments of `refine` that control the search; `initial` is `initial_clusters`."""

    dissimilarity: bool = False
    heights: str | None = None
    initial: NDArray[np.int64] | None = None
    max_moves: int | None = None
    restarts: int = 3
    seed: int = 0


def refined(
    tree: Dendrogram,
    data: Triplets | Quadruplets | NDArray[Any],
    objective: str,
    *,
    progress: Progress | None = None,
    **settings: Any,
) -> Dendrogram:
    return _searched(tree, data, objective, _Search(**settings), progress)[0]


def _restarted(shared: Shared, restarts: int, seed: int, at: int) -> tuple[Dendrogram, float]:
    tree, data, objective, how = shared.value()
    number = int(np.random.default_rng([seed, at]).integers(2**32))
    return _searched(tree, data, objective, replace(how, restarts=restarts, seed=number))


def _searched(
    tree: Dendrogram,
    data: Triplets | Quadruplets | NDArray[Any],
    objective: str,
    search: _Search,
    progress: Progress | None = None,
) -> tuple[Dendrogram, float]:
    """Return the tree after the search, and by how much the search improved the objective."""
    how_high = refining(objective, search.heights)["heights"]
    how = (search.max_moves, search.restarts, search.seed, search.initial)
    if objective == "satisfied":
        if how_high == "average":
            raise InputError(
                "heights='average' needs similarities, which objective='satisfied' does not have: use "
                "heights='sizes'"
            )
        if not isinstance(data, Triplets):
            raise InputError(f"objective='satisfied' takes Triplets, not {type(data).__name__}")
        data, unit = in_units(data)
        better, gain, *_ = _ordhc.refine_satisfied(engine_tree(tree), data.rows, data.weights, how, progress)
        return from_engine(better, tree.names), gain * unit
    order, start, unit = None, tree, 1.0
    if isinstance(data, Triplets | Quadruplets):
        data, unit = in_units(data)
        if data.weights is not None:
            # Rounding depends on the order of rows, so the order of leaves and rows must not depend on the
            # caller's.
            order = canonical_order(data)
            data = in_order(data, order)
            start = tree.relabel(np.argsort(order))
            how = (*how[:3], None if search.initial is None else search.initial[order])
        name = "adds3" if isinstance(data, Triplets) else "adds4"
        S: NDArray[Any] = similarity(data, name, layout="square")
    else:
        S = data
    better, gain, *_ = _ordhc.refine_similarity(
        engine_tree(start), S, search.dissimilarity, how_high == "average", how, progress
    )
    if unit != 1 and how_high == "average":
        better = scaled(better, unit)
    if order is not None:
        better = better.relabel(order)
    return from_engine(better, tree.names), gain * unit
