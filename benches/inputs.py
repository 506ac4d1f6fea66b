"""Matrices that linkages are measured on: condensed dissimilarities of n leaves, float64, always the same."""

import os
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist

import ordhc
from ordhc.datasets import planted

#: MNIST's test set has so many images.
IMAGES = 10_000


def uniform(n):
    return np.random.default_rng(0).random(n * (n - 1) // 2)


def clusters(n):
    """Forty clusters in 50 dimensions."""
    random = np.random.default_rng(0)
    return pdist(4 * random.normal(size=(40, 50))[random.integers(0, 40, n)] + random.normal(size=(n, 50)))


def plane(n):
    return pdist(np.random.default_rng(0).random((n, 2)))


def pixels(n):
    """Images of digits; nothing where ORDHC_DATA names no folder with them, or there are too few."""
    folder = os.environ.get("ORDHC_DATA")
    if folder is None or n > IMAGES:
        return None
    images = np.load(Path(folder) / "mnist_test_pixels.npz")["images"][:n].astype(np.float64)
    # Whole numbers below 2^53: exact, whatever the order of the sums.
    products, norms = images @ images.T, (images**2).sum(axis=1)
    i, j = np.triu_indices(n, 1)
    return np.sqrt(norms[i] + norms[j] - 2 * products[i, j])


def integers(n):
    return np.random.default_rng(0).integers(0, 50, n * (n - 1) // 2).astype(np.float64)


def zeros_and_ones(n):
    return np.random.default_rng(0).integers(0, 2, n * (n - 1) // 2).astype(np.float64)


def adds(n, n_triplets):
    """AddS3 of answers of the planted model, as dissimilarities: whole numbers. n is a multiple of 8."""
    triplets, _ = planted(n_triplets, levels=3, leaves_per_cluster=n // 8, seed=0)
    S = ordhc.similarity(triplets, "adds3", layout="condensed")
    return S.max() - S


def sets(n):
    """Sets of about a hundred out of 200 things: what two have in common, and how many they are together."""
    members = (np.random.default_rng(0).random((n, 200)) < 0.5).astype(np.float32)
    common = (members @ members.T).astype(np.float64)[np.triu_indices(n, 1)]
    sizes = members.sum(axis=1, dtype=np.float64)
    return common, np.add.outer(sizes, sizes)[np.triu_indices(n, 1)]


def jaccard(n):
    common, sizes = sets(n)
    return 1 - common / (sizes - common)


def hamming(n):
    common, sizes = sets(n)
    return (sizes - 2 * common) / 200


def cosines(n):
    return 1 - np.clip(1 - pdist(np.random.default_rng(0).normal(size=(n, 20)), "cosine"), -1, 1)


def equal(n):
    return np.ones(n * (n - 1) // 2)


INPUTS = {
    "uniform": uniform,
    "50-d clusters": clusters,
    "plane": plane,
    "MNIST pixels": pixels,
    "integers 0..49": integers,
    "0 and 1": zeros_and_ones,
    "Jaccard": jaccard,
    "Hamming": hamming,
    "cosines": cosines,
    "AddS3, n^2": lambda n: adds(n, n * n),
    "AddS3, n^2/16": lambda n: adds(n, n * n // 16),
    "all equal": equal,
}
