"""Linkages of vectors, with a matrix of pairs and without: sizes and dimensions at every threshold.

Coordinates are whole numbers: dot products and squares are exact, in whatever order BLAS adds them. Of
cosines only the shapes of trees are compared.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

import ordhc
from digests.listing import Listing, Rough, on_one_thread, outcome, shape_of

SIZES = [1, 2, 31, 33, 255, 257]
DIMENSIONS = [2, 5, 9, 12, 13, 50]
#: Of more columns distances come from products by BLAS, which round.
DIRECT = 128
#: What can do without a matrix.
FREE = [
    ("dot", "average"), ("dot", "single"), ("cosine", "average"), ("cosine", "single"),
    ("sqeuclidean", "average"), ("sqeuclidean", "single"), ("euclidean", "single"), ("euclidean", "ward"),
    ("manhattan", "single"),
]  # fmt: skip
#: What needs one.
FULL = [("euclidean", "average"), ("manhattan", "complete"), ("euclidean", "centroid"), ("dot", "complete")]

#: What goes along nearest neighbours.
ALONG = [
    ("euclidean", "ward"), ("euclidean", "average"), ("euclidean", "weighted"), ("euclidean", "complete"),
    ("euclidean", "single"), ("sqeuclidean", "average"), ("cosine", "average"),
]  # fmt: skip


def run(listing: Listing) -> None:
    """Add all lines about vectors."""
    for n in SIZES:
        for p in DIMENSIONS:
            for kind in ("spread", "tied", "shifted"):
                of_vectors(listing, n, p, kind, FREE + FULL)
    for p in DIMENSIONS:
        of_vectors(listing, 3000, p, "spread", FREE)
    of_vectors(listing, 3000, 2, "tied", FREE)
    of_vectors(listing, 257, DIRECT + 2, "spread", FREE + FULL)
    of_forms(listing)
    of_neighbors(listing)


def of_neighbors(listing: Listing) -> None:
    """Trees along links, from a search in all pairs and by descent, and along given neighbours."""
    for n, p in [(2100, 13), (5000, 5)]:
        X = vectors(n, p, "spread")
        given = (np.arange(n)[:, None] + [-2, -1, 1, 2]) % n
        for neighbors, name in [(8, "searched"), (given, "given")]:
            columns = {}
            for similarity, linkage in ALONG:
                call = tree(ordhc.Vectors(X, neighbors=neighbors), similarity, linkage)
                found = outcome(call)
                columns[f"{similarity}-{linkage}"] = shapes(found) if similarity == "cosine" else found
                listing.expect_equal(
                    f"vectors {n} neighbours {name} {similarity} {linkage} on one thread",
                    found,
                    outcome(on_one_thread(call)),
                )
            listing.add_columns(f"vectors {n} x {p} neighbours {name}", columns)


def of_vectors(listing: Listing, n: int, p: int, kind: str, criteria: list[tuple[str, str]]) -> None:
    """A line of all criteria; without a matrix the tree must be that from the matrix."""
    X = vectors(n, p, kind)
    columns = {}
    for similarity, linkage in criteria:
        call = tree(X, similarity, linkage)
        found = outcome(call)
        columns[f"{similarity}-{linkage}"] = found
        name = f"vectors {n} x {p} {kind} {similarity} {linkage}"
        listing.expect_equal(f"{name} on one thread", found, outcome(on_one_thread(call)))
        if (similarity, linkage) in FREE and n < 3000:
            for memory in ("vectors", "matrix"):
                other = outcome(tree(ordhc.Vectors(X, storage=memory), similarity, linkage))
                # Cosines that are equal but for rounding are told apart by rounding.
                if similarity != "cosine" or kind != "tied":
                    listing.expect_alike(f"{name} memory {memory}", found, other)
    if p > DIRECT:
        columns = {key: Rough(value) for key, value in columns.items()}
    columns = {key: shapes(value) if key.startswith("cosine") else value for key, value in columns.items()}
    if kind == "tied":
        columns = {key: value for key, value in columns.items() if not key.startswith("cosine")}
    listing.add_columns(f"vectors {n} x {p} {kind}", columns)


def of_forms(listing: Listing) -> None:
    """Sparse vectors, float32, initial clusters, principal components, moves, heights of leaves."""
    X = vectors(257, 50, "tied")
    sparse = csr_array(X * (np.random.default_rng(1).random(X.shape) < 0.2))
    for similarity, linkage in [("dot", "average"), ("euclidean", "ward"), ("cosine", "complete")]:
        made = [outcome(tree(rows, similarity, linkage)) for rows in (sparse, sparse.toarray())]
        if similarity != "cosine":
            listing.expect_alike(f"sparse vectors {similarity}", *made)
        listing.add(f"sparse vectors {similarity} {linkage}", shapes(made[0]))
    narrow = vectors(257, 9, "spread").astype(np.float32)
    for similarity, linkage in FREE:
        made = [outcome(tree(rows, similarity, linkage)) for rows in (narrow, narrow.astype(np.float64))]
        if similarity != "cosine":
            listing.expect_equal(f"vectors of float32 {similarity} {linkage}", *made)
        listing.add(f"vectors of float32 {similarity} {linkage}", shapes(made[0]))
    labels = np.random.default_rng(2).integers(0, 20, 257)
    for p in (2, 50):
        X = vectors(257, p, "spread")
        listing.add(f"vectors initial clusters {p}", tree(X, "dot", "average", initial_clusters=labels))
        listing.add(f"vectors moved {p}", lambda X=X: shape_of(moved(X)))
        heights = outcome(lambda X=X: tree(X, "dot", "average")().leaf_heights)
        listing.add(f"vectors heights of leaves {p}", heights)
    for name in ("pca-dot", "pca-cosine"):
        X = vectors(65, 9, "spread")
        listing.add(f"vectors {name}", lambda X=X, x=name: shape_of(tree(X, x, "average", n_components=3)()))


def moved(X: Any) -> ordhc.Dendrogram:
    """The tree of distances whose subtrees are moved."""
    start = tree(X, "euclidean", "average")()
    return ordhc.refine(start, ordhc.similarity(X, "euclidean"), dissimilarity=True)


def shapes(found: Any) -> Any:
    """The shape of a tree, also of one with warnings."""
    if isinstance(found, Rough):
        found = found.value
    if isinstance(found, tuple):
        return shapes(found[0]), found[1]
    return shape_of(found) if isinstance(found, ordhc.Dendrogram) else found


def tree(X: Any, similarity: str, linkage: str, **settings: Any) -> Callable[[], Any]:
    """The call that makes a tree."""
    return lambda: ordhc.cluster(X, similarity=similarity, linkage=linkage, **settings)


def vectors(n: int, p: int, kind: str) -> NDArray[np.float64]:
    """Points with whole coordinates: in groups that are far apart, of few values, or far from zero."""
    rng = np.random.default_rng([n, p])
    if kind == "tied":
        return rng.integers(0, 4, (n, p)).astype(np.float64)
    if kind == "shifted":
        # The longest vector is the nearest of all others, by dot products.
        return rng.integers(5000, 6000, (n, p)).astype(np.float64)
    centers = rng.integers(-20_000, 20_000, (12, p))
    return (centers[rng.integers(0, 12, n)] + rng.integers(-4000, 4000, (n, p))).astype(np.float64)
