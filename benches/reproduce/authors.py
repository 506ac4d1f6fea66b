"""The draws of the authors of the revenue paper, number by number.

Their code draws the similarities of the planted model once, with NumPy's seed 0, and then only the triplets,
ten times."""

import random
from functools import lru_cache

import numpy as np

import ordhc


@lru_cache(maxsize=1)
def similarities(snr: float, n_pure: int, levels: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return (n, n) similarities (mu = 0.8, sigma = 0.1) and nested labels (n, levels)."""
    noise, order, _ = _draws(n_pure * 2**levels)
    pure = np.arange(len(order)) // n_pure
    labels = np.stack([pure >> (levels - level) for level in range(1, levels + 1)], axis=1)
    apart = (labels[:, None] != labels[None]).sum(axis=2)
    noise = np.triu(0.1 * noise, 1)
    S = 0.8 - 0.1 * snr * apart + noise + noise.T
    place = np.argsort(order)
    return S[np.ix_(place, place)], labels[place]


def start(n: int, seed: int) -> np.ndarray:
    """Return the points from which t-STE starts in a run: the generator goes on from run to run."""
    source = _draws(n)[2]
    return [1e-4 * source.randn(n, 2) for _ in range(seed + 1)][-1]


def _draws(n: int) -> tuple[np.ndarray, np.ndarray, np.random.RandomState]:
    """Return the noise of the similarities, the order of the leaves, and the generator after both."""
    source = np.random.RandomState(0)
    return source.normal(size=(n, n)), source.permutation(n), source


def triplets(S: np.ndarray, number: int, seed: int) -> ordhc.Triplets:
    """Return distinct triplets, drawn by number with Python's generator, whose seed they raise by 42."""
    n = len(S)
    pairs = (n - 1) * (n - 2) // 2
    at = np.array(random.Random(seed + 42).sample(range(n * pairs), number))
    anchor, pair = np.divmod(at, pairs)
    # Pairs in the order (0, 1), (0, 2), ..., (1, 2), ... of the others; row i begins at starts[i].
    starts = np.concatenate([[0], np.cumsum(np.arange(n - 2, 0, -1))])
    i = np.searchsorted(starts, pair, side="right") - 1
    j = pair - starts[i] + i + 1
    i, j = i + (i >= anchor), j + (j >= anchor)
    is_near = S[anchor, i] > S[anchor, j]
    return ordhc.Triplets(
        np.stack([anchor, np.where(is_near, i, j), np.where(is_near, j, i)], axis=1), n_leaves=n
    )
