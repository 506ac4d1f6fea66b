"""Score a tree against comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.io.scan import Scan
from ordhc.metrics import streamed
from ordhc.tree.dendrogram import engine_tree
from ordhc.tree.matching import prepared


@shows_progress("scoring")
def triplet_revenue(
    tree: Any,
    triplets: Triplets | Scan | ArrayLike,
    *,
    normalize: bool = False,
    progress: Progress | bool | None = None,
) -> int | float:
    """Return the triplet revenue of a tree (Mandal, Perrot & Ghoshdastidar 2023, equation 3).

    A higher revenue is better. The revenue is the sum of ``w (|H(i, k)| - |H(i, j)|)`` over all triplets (i,
    j, k) with weight w: i is closer to j than to k. ``|H(i, j)|`` is the number of leaves below the lowest
    common ancestor of i and j.

    Parameters
    ----------
    tree
        The tree, in any form that `ordhc.as_dendrogram` takes.
    triplets
        `Triplets`, a scan of files (`ordhc.scan`), or (m, 3) leaf ids.
    normalize
        `True` divides the revenue by its upper bound, (n - 2) times the sum of weights. The result is at most
        1.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    int or float
        An exact int for triplets without weights if `normalize` is False; otherwise a float.

    Raises
    ------
    InputError
        The tree and the triplets have different numbers of leaves; the revenue exceeds 64 bits; `normalize`
        is True and the upper bound is 0.

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([(0, 1, 2), (1, 0, 2)])
    >>> tree = ordhc.cluster(t)
    >>> ordhc.metrics.triplet_revenue(tree, t), ordhc.metrics.triplet_revenue(tree, t, normalize=True)
    (2, 1.0)
    """
    return _revenue(tree, triplets, ("triplets",), "triplet_revenue", normalize, progress)


@shows_progress("scoring")
def quadruplet_revenue(
    tree: Any,
    quadruplets: Quadruplets | Triplets | Scan | ArrayLike,
    *,
    normalize: bool = False,
    progress: Progress | bool | None = None,
) -> int | float:
    """Return the quadruplet revenue of a tree (Mandal, Perrot & Ghoshdastidar 2023, equation 4).

    A higher revenue is better. The revenue is the sum of ``w (|H(k, l)| - |H(i, j)|)`` over all quadruplets
    (i, j, k, l) with weight w: i and j are closer than k and l. ``|H(i, j)|`` is the number of leaves below
    the lowest common ancestor of i and j. Parameters, results and errors are those of `triplet_revenue`.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.metrics.quadruplet_revenue("((0,1),(2,3));", ordhc.Quadruplets([(0, 1, 1, 2)], n_leaves=4))
    2
    """
    return _revenue(tree, quadruplets, ("quadruplets",), "quadruplet_revenue", normalize, progress)


def _revenue(
    tree: Any,
    data: Any,
    kinds: tuple[str, ...],
    what: str,
    normalize: bool,
    progress: Progress | bool | None,
) -> int | float:
    normalize = _checks.flag("normalize", normalize)
    progress = _checks.callback("progress", progress)
    if isinstance(data, Scan):
        found = streamed.matched(tree, data, kinds, what)
    else:
        found, data = prepared(tree, data, kinds, what)
    value = streamed.revenue_of(found, data, progress)
    if not normalize:
        return value
    best = streamed.best_of(data)
    if best == 0:
        raise InputError("the upper bound of the revenue is 0: there are no comparisons (of positive weight)")
    return value / best


@dataclass(frozen=True)
class Satisfied:
    """The shares of comparisons that a tree agrees with, disagrees with and does not decide.

    ``float(satisfied)`` is the share `agreed`.

    Attributes
    ----------
    agreed, disagreed, unresolved
        Shares of the total weight of the comparisons, from 0 to 1; their sum is 1.
    """

    agreed: float
    disagreed: float
    unresolved: float

    def __float__(self) -> float:
        return self.agreed

    def __str__(self) -> str:
        return f"{self.agreed:.6g} (disagreed {self.disagreed:.6g}, unresolved {self.unresolved:.6g})"


@shows_progress("scoring")
def satisfied(
    tree: Any,
    comparisons: Triplets | Quadruplets | Scan | ArrayLike,
    *,
    progress: Progress | bool | None = None,
) -> Satisfied:
    """Return the shares of comparisons that a tree agrees with, disagrees with and does not decide.

    A tree agrees with a triplet (i, j, k) if i and j merge before either merges with k. A triplet is
    undecided if i merges with j and k at the same node. A tree agrees with a quadruplet (i, j, k, l) if the
    lowest common ancestor of i and j is below that of k and l. If neither ancestor is below the other, the
    heights decide.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.metrics.satisfied("((0,1),(2,3));", ordhc.Triplets([(0, 1, 2), (0, 2, 3)]))
    Satisfied(agreed=0.5, disagreed=0.0, unresolved=0.5)
    """
    progress = _checks.callback("progress", progress)
    kinds, nothing = ("triplets", "quadruplets"), "there are no comparisons (of positive weight) to satisfy"
    if isinstance(comparisons, Scan):
        weights = streamed.satisfied_of(
            streamed.matched(tree, comparisons, kinds, "satisfied"), comparisons, progress
        )
    else:
        tree, data = prepared(tree, comparisons, kinds, "satisfied")
        if not len(data):
            raise InputError(nothing)
        weights = _ordhc.satisfied(engine_tree(tree), data.rows, data.weights, progress)
    total = sum(weights)
    if not total:
        raise InputError(nothing)
    if total == np.inf:
        raise InputError("the weights are so large that their sum overflows a float; rescale them")
    return Satisfied(*(weight / total for weight in weights))
