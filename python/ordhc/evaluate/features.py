"""Bootstrap vectors: make trees of resampled coordinates, and compute the support values of pvclust."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy as copy_of
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.clustering.cluster import fit
from ordhc.clustering.plan import Plan
from ordhc.similarities.vectors import Vectors
from ordhc.tree.dendrogram import Dendrogram, engine_tree

#: The sizes of resamples, as shares of the number of coordinates; the same as in pvclust.
SCALES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4)


def resampled_features(
    plan: Plan,
    data: Vectors,
    tree: Dendrogram,
    n_resamples: int,
    seed: int,
    initial_clusters: ArrayLike | None,
    progress: Progress | None,
) -> tuple[list[Dendrogram], NDArray[np.float64]]:
    """Return the trees of resamples, and the share of resamples that contain each cluster of `tree`.

    Each of `SCALES` is a number of drawn coordinates, divided by the number of coordinates of the data. The
    trees are those at scale 1. The shares are (number of `SCALES`, number of inner nodes of `tree`).
    """
    p = int(data.rows.shape[1])
    total, done = len(SCALES) * n_resamples, 0
    kept: list[Dendrogram] = []
    shares = np.empty((len(SCALES), len(tree.sizes)))

    def made(scale: int, at: int) -> Dendrogram:
        random = np.random.default_rng([seed, scale, at])
        drawn = np.sort(random.integers(0, p, max(1, round(SCALES[scale] * p))))
        vectors = copy_of(data)
        vectors.rows = data.rows[:, drawn]
        return fit(plan, vectors, initial_clusters=initial_clusters)[0]

    with ThreadPoolExecutor(_ordhc.n_threads()) as pool:
        for scale in range(len(SCALES)):
            trees = []
            # `scale` is a default argument, because threads call the lambda later.
            for found in pool.map(lambda at, scale=scale: made(scale, at), range(n_resamples)):
                trees.append(found)
                done += 1
                if progress is not None:
                    progress(done / total)
            shares[scale] = _ordhc.support(engine_tree(tree), [engine_tree(other) for other in trees])
            if SCALES[scale] == 1:
                kept = trees
    return kept, shares


def unbiased(shares: NDArray[np.float64], n_resamples: int) -> NDArray[np.float64]:
    """Return the approximately unbiased p-value of each cluster (Shimodaira 2002, 2004), as in pvclust.

    z is the normal quantile of 1 - share at the scale r. The weighted least squares fit of
    ``z = d * sqrt(r) + c / sqrt(r)`` gives the p-value ``1 - Phi(d - c)``.

    `shares` is (number of `SCALES`, number of clusters): the share of the resamples of each scale that
    contain each cluster. There are `n_resamples` resamples at each scale.
    """
    return np.array([_unbiased(column, n_resamples) for column in shares.T.tolist()])


def _unbiased(shares: Sequence[float], n_resamples: int) -> float:
    normal = NormalDist()
    rows: list[Any] = []
    for share, scale in zip(shares, SCALES, strict=True):
        # Quantiles of 0 and 1 are infinite, so these scales cannot be used in the fit.
        if 0 < share < 1:
            z = -normal.inv_cdf(share)
            weight = normal.pdf(z) * np.sqrt(n_resamples / (share * (1 - share)))
            rows.append((weight * np.sqrt(scale), weight / np.sqrt(scale), weight * z))
    if len(rows) < 2:
        return float(np.mean(shares) >= 0.5)
    table = np.array(rows)
    (d, c), *_ = np.linalg.lstsq(table[:, :2], table[:, 2], rcond=None)
    return normal.cdf(float(c - d))
