"""Data by chance, of any size."""

import numpy as np

import ordhc


def random_tree(n, seed=0, shape="uniform"):
    """One of the crate's random trees."""
    return ordhc.datasets.random_tree(n, shape=shape, seed=seed)


def random_comparisons(n, m, seed=0, *, weighted=False, quadruplets=False):
    """About m answers on n leaves, each by chance; fewer where leaves of a row are the same."""
    generator = np.random.default_rng(seed)
    rows = np.sort(generator.integers(0, n, (m, 4 if quadruplets else 3)), axis=1)
    rows = rows[(np.diff(rows, axis=1) > 0).all(axis=1)]
    rows = generator.permuted(rows, axis=1)
    weights = generator.random(len(rows)).round(2) if weighted else None
    kind = ordhc.Quadruplets if quadruplets else ordhc.Triplets
    return kind(rows, n_leaves=n, weights=weights)


def planted(times, seed=0, **model):
    """Triplets of the planted model, `times` as many as pairs of leaves, and the labels of the leaves."""
    settings = {"levels": 2, "leaves_per_cluster": 8, "delta": 0.15, "seed": seed, **model}
    n = 2 ** settings["levels"] * settings["leaves_per_cluster"]
    return ordhc.datasets.planted(int(times * n**2), **settings)


def comparisons_of(n, width, rng):
    """Twenty answers by chance, with weights: triplets or quadruplets, as wide as their rows."""
    kind = ordhc.Triplets if width == 3 else ordhc.Quadruplets
    rows = []
    while len(rows) < 20:
        row = rng.permutation(n)[:width] if n >= width else rng.integers(0, n, width)
        pairs = [{*row[:2]}, {row[0], row[2]}] if width == 3 else [{*row[:2]}, {*row[2:]}]
        if len(pairs[0]) == len(pairs[1]) == 2 and pairs[0] != pairs[1]:
            rows.append(row)
    return kind(rows, n_leaves=n, weights=rng.integers(1, 4, len(rows)))
