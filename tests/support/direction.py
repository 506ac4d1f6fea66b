"""The plain version of the engine's look at what numbers mean: distances, or similarities."""

import numpy as np

#: So many leaves of a matrix are looked at.
SAMPLED = 100
#: The least number of leaves of which rows say something.
FEW = 6


def looks_like_distances(values):
    """Whether (n, n) or condensed numbers look like distances, by all leaves that are looked at."""
    square = values.ndim == 2
    if len(values) < 3 or values[:SAMPLED].min() < 0 or (square and np.diagonal(values).any()):
        return False
    sample = _sample(values)
    n = len(sample)
    if not np.isfinite(sample).all() or sample.min() < 0:
        return False
    pairs = sample[np.triu_indices(n, 1)]
    if pairs.min() == pairs.max() or not np.array_equal(sample, sample.T):
        return False
    sample /= sample.max()
    hollow = square and pairs.min() > 0
    if n == 3:
        low, middle, high = np.sort(pairs).tolist()
        return hollow and high <= low + middle and 4 * (high - middle) < middle - low
    if _is_metric(sample):
        return (hollow or n >= FEW) and _likeness(sample) > (0 if hollow and n >= FEW else 0.3)
    return n >= FEW and _likeness(sample) > max(0.3, 0.2 + 3 / n)


def _sample(values):
    """The matrix of at most `SAMPLED` leaves, with 0 on the diagonal."""
    n = len(values) if values.ndim == 2 else (1 + round((1 + 8 * len(values)) ** 0.5)) // 2
    some = np.unique(np.linspace(0, n - 1, min(n, SAMPLED)).astype(np.int64))
    if values.ndim == 2:
        sample = values[np.ix_(some, some)].astype(np.float64)
    else:
        i, j = np.triu_indices(len(some), 1)
        a, b = some[i], some[j]
        sample = np.zeros((len(some), len(some)))
        sample[i, j] = sample[j, i] = values[a * n - a * (a + 1) // 2 + b - a - 1]
    np.fill_diagonal(sample, 0)
    return sample


def _likeness(sample):
    """The rank correlation, over pairs of leaves, of numbers with the unlikeness of the two rows.

    Rows are alike as far as they correlate over the other leaves, so that neither sums of rows nor units
    matter. Distances measure near 1, similarities near -1, numbers without a structure near 0.
    """
    n = len(sample)
    others = sample.sum(axis=1)[:, None] - sample
    variance = (sample**2).sum(axis=1)[:, None] - sample**2 - others**2 / (n - 2)
    covariance = np.einsum("ik,jk->ij", sample, sample) - others * others.T / (n - 2)
    pairs = np.triu_indices(n, 1)
    spread = (variance * variance.T)[pairs]
    told = spread > 1e-18
    if told.sum() < 3:
        return 0.0
    likeness = covariance[pairs][told] / np.sqrt(spread[told])
    unlike, numbers = _ranks(-np.round(likeness, 9)), _ranks(sample[pairs][told])
    spread = (unlike**2).sum() * (numbers**2).sum()
    return float((unlike * numbers).sum() / np.sqrt(spread)) if spread else 0.0


def _is_metric(sample):
    """Whether the triangle inequality holds, not only because numbers (up to 1) are about the same."""
    if sample[np.triu_indices(len(sample), 1)].min() >= 0.5:
        return False
    return all(bool((sample <= row[:, None] + row + 1e-9).all()) for row in sample)


def _ranks(values):
    """Ranks less their mean, those of equal values the same."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - counts / 2 - len(values) / 2)[which.ravel()]
