"""Simulate comparisons from the planted hierarchical model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError


@shows_progress("simulating")
def planted(
    n_comparisons: int | None = None,
    *,
    levels: int = 3,
    leaves_per_cluster: int = 30,
    mu: float = 0.8,
    delta: float = 0.1,
    sigma: float = 0.1,
    flip: float = 0.0,
    quadruplets: bool = False,
    permute: bool = True,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> tuple[Triplets | Quadruplets, NDArray[np.int64]]:
    """Return comparisons simulated from the planted hierarchical model, and the true labels.

    The true tree is a complete binary tree with `levels` levels above 2^levels pure clusters. The similarity
    of two leaves is normally distributed with standard deviation `sigma`. If their clusters separate at
    level l, its mean is mu - (levels - l) delta (Ghoshdastidar, Perrot & von Luxburg 2019, section 4.1).

    Parameters
    ----------
    n_comparisons
        The number of distinct comparisons, drawn uniformly from all comparisons; by default the square of the
        number of leaves.
    levels, leaves_per_cluster
        The number of levels of the true tree, and the number of leaves in each of its 2^levels pure clusters.
    mu, delta, sigma
        The mean similarity within a pure cluster, its decrease for each level, and the standard deviation.
        The signal-to-noise ratio is delta / sigma.
    flip
        The probability that an answer is flipped.
    quadruplets
        `True` returns quadruplets (comparisons of two pairs), `False` triplets.
    permute
        `True` numbers the leaves in random order, `False` cluster by cluster.
    seed
        The seed of the random numbers; the same seed gives the same comparisons.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    comparisons, labels
        The `Triplets` or `Quadruplets`, and an (n, levels) array with each leaf's cluster at levels 1, 2, ...

    Examples
    --------
    >>> import ordhc
    >>> t, labels = ordhc.datasets.planted(500, levels=2, leaves_per_cluster=5, seed=1)
    >>> t, labels.shape
    (<Triplets: 500 of 20 leaves>, (20, 2))
    """
    progress = _checks.callback("progress", progress)
    model = checked_model(levels, leaves_per_cluster, mu, delta, sigma)
    n = model[1] * 2 ** model[0]
    m = n * n if n_comparisons is None else _checks.whole("n_comparisons", n_comparisons, at_least=0)
    seed = _checks.seed(seed)
    flip = _checks.number("flip", flip, at_least=0, at_most=1)
    quadruplets, permute = _checks.flag("quadruplets", quadruplets), _checks.flag("permute", permute)
    rows, labels = _ordhc.planted(*model, m, flip, quadruplets, permute, seed, progress)
    kind = Quadruplets if quadruplets else Triplets
    return kind(rows, n_leaves=n), labels


def checked_model(
    levels: Any, leaves_per_cluster: Any, mu: Any, delta: Any, sigma: Any
) -> tuple[int, int, float, float, float]:
    levels = _checks.whole("levels", levels, at_least=0)
    leaves_per_cluster = _checks.whole("leaves_per_cluster", leaves_per_cluster, at_least=1)
    n = leaves_per_cluster * 2 ** min(levels, 40)
    if levels > 20 or n > 100_000:
        raise InputError(
            f"levels = {levels} and leaves_per_cluster = {leaves_per_cluster} make {n} leaves; "
            "at most 20 levels and 100,000 leaves are possible"
        )
    numbers = (("mu", mu), ("delta", delta), ("sigma", sigma))
    mu, delta, sigma = (_checks.number(what, value) for what, value in numbers)
    return levels, leaves_per_cluster, mu, delta, sigma
