"""4K-AL and 4-AL of all quadruplets, from the order of similarities: no list of 411 million rows."""

import numpy as np

import ordhc


def _ranks(S: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs i < j in the order of their similarities, the least similar first; no two may be equal."""
    i, j = np.triu_indices(len(S), 1)
    order = np.argsort(S[i, j])
    return i[order], j[order], np.arange(len(order))


def four_k(S: np.ndarray, initial: np.ndarray | None = None, *, with_adds: bool = True) -> ordhc.Dendrogram:
    """4K-AL; without AddS4, average linkage of MulK4.

    Of all M pairs, those on the same side of pairs of ranks a and b outnumber those between them by
    M - 2 |a - b|; so MulK4 is a sum of distances of ranks, and AddS4 is 2 a - M + 1.
    """
    i, j, ranks = _ranks(S)
    n, m = len(S), len(ranks)
    R = np.zeros((n, n))
    R[i, j] = R[j, i] = ranks
    # The leaves i and j themselves, where R is 0, put in the rank of the pair, twice.
    apart = np.stack([np.abs(R - row).sum(axis=1) for row in R]) - 2 * R
    K = (n - 2) * m - 2 * apart
    if with_adds:
        K += 2 * (2 * R - m + 1)
    return ordhc.linkage(K, "average", dissimilarity=False, initial_clusters=initial)


def four_al(S: np.ndarray, initial: np.ndarray | None = None) -> ordhc.Dendrogram:
    """4-AL, in O(n^3).

    How much clusters p and q are preferred to all others is the mean, over their pairs of leaves, of the
    pairs between clusters that are less similar minus those that are more similar; a pair of leaves counts
    one part in the sizes of its clusters.
    """
    n = len(S)
    i, j, _ = _ranks(S)
    # Clusters are named by their smallest leaf.
    name = np.arange(n)
    if initial is not None:
        name = np.array([np.flatnonzero(initial == label)[0] for label in initial])
    node = np.arange(n)
    merges = []

    def merge(p: int, q: int) -> None:
        merges.append((node[p], node[q]))
        node[p] = n + len(merges) - 1

    for leaf in range(n):
        if name[leaf] != leaf:
            merge(name[leaf], leaf)
    while len(merges) < n - 1:
        p, q = np.minimum(name[i], name[j]), np.maximum(name[i], name[j])
        sizes = np.bincount(name, minlength=n)
        weights = np.where(p != q, 1.0 / (sizes[p] * sizes[q]), 0.0)
        below = np.cumsum(weights) - weights
        preferred = weights * (2 * below + weights - weights.sum())
        sums = np.bincount(p * n + q, preferred, minlength=n * n)
        sums[np.bincount(p[p != q] * n + q[p != q], minlength=n * n) == 0] = -np.inf
        best = int(np.flatnonzero(sums >= sums.max() - 1e-12 * len(i))[0])
        merge(best // n, best % n)
        name[name == best % n] = best // n
    return ordhc.Dendrogram(merges, np.arange(n - 1.0, 0.0, -1.0))
