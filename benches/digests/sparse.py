"""Linkages of sparse similarities: what isn't stored is zero, or unknown."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

import ordhc
from digests.listing import Listing, on_one_thread, outcome

LINKAGES = ["single", "complete", "average"]
GRAPHS = ["random", "grid", "star", "blobs", "dense"]
NUMBERS = ["uniform", "whole", "signs"]


def run(listing: Listing) -> None:
    """Add all lines about sparse similarities."""
    for n in (1, 2, 3, 65, 600, 5000):
        for graph in GRAPHS:
            if n == 5000 and graph == "dense":
                continue
            ends = edges(graph, n)
            for numbers in NUMBERS if n < 5000 else ["whole" if graph == "grid" else "uniform"]:
                S = similarities(ends, numbers, n)
                for missing in ("zero", "ignore"):
                    columns = {linkage: tree(S, linkage, missing) for linkage in LINKAGES}
                    listing.add_columns(f"sparse {n} {graph} {numbers} {missing}", columns)
                    for linkage in LINKAGES:
                        one = on_one_thread(lambda S=S, x=linkage, m=missing: made(S, x, m))
                        name = f"sparse {n} {graph} {numbers} {missing} {linkage} on one thread"
                        listing.expect_equal(name, columns[linkage], outcome(one))
                        if n <= 600 and missing == "zero":
                            full = outcome(lambda S=S, x=linkage: made(S.toarray(), x))
                            listing.expect_alike(
                                f"sparse {n} {graph} {numbers} {linkage} in full", full, columns[linkage]
                            )
    S = similarities(edges("random", 600), "uniform", 600)
    labels = np.random.default_rng(6).integers(0, 40, 600)
    for missing in ("zero", "ignore"):
        columns = {x: tree(S, x, missing, initial_clusters=labels, tie_seed=2) for x in LINKAGES}
        listing.add_columns(f"sparse initial clusters {missing}", columns)
    far = {x: tree(S, x, "ignore", dissimilarity=True) for x in LINKAGES}
    listing.add_columns("sparse dissimilarities", far)


def made(S: Any, linkage: str, missing: str = "zero", **settings: Any) -> ordhc.Dendrogram:
    """The tree."""
    return ordhc.linkage(S, linkage, **{"dissimilarity": False, "missing": missing, **settings})


def tree(S: Any, linkage: str, missing: str, **settings: Any) -> Any:
    """The tree, and its warnings."""
    return outcome(lambda: made(S, linkage, missing, **settings))


def edges(graph: str, n: int) -> NDArray[np.int64]:
    """Pairs i < j that are stored."""
    rng = np.random.default_rng([GRAPHS.index(graph), n])
    match graph:
        case "random":
            pairs = rng.integers(0, n, (6 * n, 2))
        case "grid":
            width = int(n**0.5)
            leaves = np.arange(n)
            right = np.stack([leaves, leaves + 1], axis=1)[leaves % width != width - 1]
            pairs = np.concatenate([right, np.stack([leaves, leaves + width], axis=1)])
        case "star":
            # Three hubs.
            pairs = np.concatenate(
                [np.stack([np.full(n, hub), np.arange(n)], axis=1) for hub in (0, n // 2, n - 1)]
            )
        case "blobs":
            # Links within twenty groups, few between them.
            leaves = rng.integers(0, n, (12 * n, 2))
            near = leaves[:, 0] * 20 // n == leaves[:, 1] * 20 // n
            pairs = leaves[near | (np.arange(len(leaves)) % 40 == 0)]
        case "dense":
            pairs = np.stack(np.triu_indices(n, 1), axis=1)
            pairs = pairs[rng.random(len(pairs)) < 0.5]
    pairs = np.sort(pairs[(pairs < n).all(axis=1)], axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]].reshape(-1, 2), axis=0)


def similarities(ends: NDArray[np.int64], numbers: str, n: int) -> csr_array:
    """The matrix, each pair in both triangles."""
    rng = np.random.default_rng([NUMBERS.index(numbers), n])
    match numbers:
        case "uniform":
            values = rng.random(len(ends)) + 0.1
        case "whole":
            values = rng.integers(1, 10, len(ends)).astype(np.float64)
        case "signs":
            values = rng.integers(-5, 6, len(ends)) * 0.1
    i, j = ends.T
    return coo_array(
        (np.tile(values, 2), (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n)
    ).tocsr()
