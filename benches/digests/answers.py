"""Trees of answers by every method, similarities, preferences, moves of subtrees."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ordhc
from digests.listing import Listing, Rough, on_one_thread, outcome, roughly, shape_of
from ordhc import oracles
from ordhc.plugins import registry

#: The part `posteriors` has it.
ELSEWHERE = ["posterior-al"]


def run(listing: Listing) -> None:
    """Add all lines about trees of answers."""
    data = all_answers()
    of_methods(listing, data)
    of_similarities(listing, data)
    of_large_similarities(listing)
    of_preferences(listing)
    of_moves(listing, data)


def points(n: int, seed: int = 0) -> NDArray[np.float64]:
    """Points in groups, in a plane."""
    rng = np.random.default_rng([n, seed])
    return (rng.integers(-3000, 3000, (4, 2))[rng.integers(0, 4, n)] + rng.integers(-800, 800, (n, 2))) / 8.0


def rows(n: int, m: int, width: int, seed: int = 0) -> NDArray[np.int64]:
    """Sets of leaves, in random order."""
    rng = np.random.default_rng([n, m, width, seed])
    return np.argsort(rng.random((m, n)), axis=1)[:, :width] if n < 200 else distinct(rng, n, m, width)


def distinct(rng: np.random.Generator, n: int, m: int, width: int) -> NDArray[np.int64]:
    """The same of so many leaves that sorting all of them would take long."""
    found = rng.integers(0, n, (2 * m, width))
    ordered = np.sort(found, axis=1)
    return found[(ordered[:, 1:] != ordered[:, :-1]).all(axis=1)][:m]


def quadruplets(n: int, m: int, seed: int = 0) -> ordhc.Quadruplets:
    """Answers to which of two pairs is closer, one of ten wrong."""
    asked = rows(n, m, 4, seed)
    first = np.asarray(oracles.from_vectors(points(n))(asked)) == 1
    first ^= np.random.default_rng(seed).random(len(asked)) < 0.1
    return ordhc.Quadruplets(np.where(first[:, None], asked, asked[:, [2, 3, 0, 1]]), n_leaves=n)


def odd(n: int, m: int, wrong: float = 0.1, seed: int = 0) -> NDArray[np.int64]:
    """Rows (odd, a, b), some of them wrong."""
    asked = rows(n, m, 3, seed)
    found = np.asarray(oracles.from_vectors(points(n))(asked))
    rng = np.random.default_rng(seed)
    found = np.where(rng.random(len(asked)) < wrong, rng.integers(0, 3, len(asked)), found)
    return np.take_along_axis(asked, np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[found], axis=1)


def all_answers() -> dict[str, Any]:
    """Comparisons of every form: planted, random, with weights, with leaves without answers."""
    rng = np.random.default_rng(3)
    random = rows(14, 700, 3)
    return {
        "random": ordhc.Triplets(random, n_leaves=14),
        "weighted": ordhc.Triplets(random, n_leaves=15, weights=rng.integers(1, 9, len(random)) / 4),
        "thirds": ordhc.Triplets(random, n_leaves=15, weights=rng.integers(1, 9, len(random)) / 3),
        "odd": ordhc.Triplets.from_odd_one_out(odd(24, 1500), n_leaves=24),
        "quadruplets": quadruplets(24, 1500),
        "weighted quadruplets": ordhc.Quadruplets(
            quadruplets(14, 500).rows, n_leaves=15, weights=rng.integers(1, 9, 500) / 4
        ),
        "planted": ordhc.datasets.planted(3000, levels=2, leaves_per_cluster=8, seed=1)[0],
        "planted quadruplets": ordhc.datasets.planted(
            3000, levels=2, leaves_per_cluster=8, quadruplets=True, flip=0.1, seed=1
        )[0],
        "satisfiable": satisfiable(12),
        "complete": complete(8),
    }


def satisfiable(n: int) -> ordhc.Triplets:
    """Triplets that a tree satisfies."""
    truth = ordhc.linkage(np.arange(n * (n - 1) // 2)[::-1].copy(), "single", dissimilarity=True)
    asked = rows(n, 300, 3)
    found = np.asarray(oracles.from_tree(truth)(asked))
    return ordhc.Triplets.from_odd_one_out(
        np.take_along_axis(asked, np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[found], axis=1), n_leaves=n
    )


def complete(n: int) -> ordhc.Quadruplets:
    """Comparisons of all pairs of pairs."""
    i, j = np.triu_indices(n, 1)
    far = np.random.default_rng(n).permutation(len(i))
    a, b = np.triu_indices(len(i), 1)
    near, other = np.where(far[a] < far[b], a, b), np.where(far[a] < far[b], b, a)
    return ordhc.Quadruplets(np.stack([i[near], j[near], i[other], j[other]], axis=1), n_leaves=n)


def of_methods(listing: Listing, data: dict[str, Any]) -> None:
    """Trees by every built-in method, of every form of answers; with initial clusters and random ties."""
    for method in registry.names("method"):
        if method in ELSEWHERE:
            continue
        columns = {
            kind: outcome(lambda c=c, m=method: ordhc.cluster(c, method=m)) for kind, c in data.items()
        }
        named = {kind.replace(" ", "-"): tree for kind, tree in columns.items()}
        if "lengths" in method:
            named = {kind: Rough(tree) for kind, tree in named.items()}
        listing.add_columns(f"method {method}", named)
        for kind in ("odd", "quadruplets"):
            call = on_one_thread(lambda c=data[kind], m=method: ordhc.cluster(c, method=m))
            listing.expect_equal(f"method {method} {kind} on one thread", columns[kind], outcome(call))
    for method in ("adds3-al", "adds3-al+spr", "mulk3-al", "3-al", "4-al", "adds3-al+lengths+spr"):
        call = lambda m=method: ordhc.cluster(
            data["odd"], method=m, initial_clusters=np.arange(24) % 7, tie_seed=3
        )
        listing.add(f"method {method} initial clusters", roughly(call))
    for linkage in ("single", "complete", "weighted", "ward", "centroid", "median"):
        call = lambda x=linkage: ordhc.cluster(data["odd"], similarity="adds3", linkage=x)
        listing.add(f"adds3 {linkage}", call)


def of_similarities(listing: Listing, data: dict[str, Any]) -> None:
    """Similarities of answers, with lengths, by answers, in every layout and type."""
    for name in ("adds3", "adds4", "mulk3", "mulk4", "4k"):
        columns = {
            kind.replace(" ", "-"): outcome(lambda c=c, x=name: ordhc.similarity(c, x))
            for kind, c in data.items()
        }
        listing.add_columns(f"similarity {name}", columns)
        for layout in ("condensed", "sparse") if name.startswith("adds") else ("condensed",):
            kind = "quadruplets" if "4" in name else "odd"
            call = lambda k=kind, x=name, y=layout: ordhc.similarity(data[k], x, layout=y)
            listing.same(f"similarity {name} {layout}", call, on_one_thread(call))
    for kind in ("odd", "quadruplets", "planted"):
        listing.add(f"lengths {kind}", roughly(lambda c=data[kind]: ordhc.similarities.leaf_lengths(c)))
        name = "adds4" if kind == "quadruplets" else "adds3"
        listing.add(
            f"similarity {name} {kind} less lengths",
            roughly(lambda c=data[kind], x=name: ordhc.similarity(c, x, lengths=True)),
        )
    raw = lambda: ordhc.similarity(data["odd"], "mulk3", normalize=False)
    listing.add("similarity mulk3 raw", raw)
    narrow = lambda: ordhc.similarity(data["odd"], "adds3", dtype="int32")
    listing.add("similarity adds3 int32", narrow)


def of_large_similarities(listing: Listing) -> None:
    """AddS in place, in a copy for each thread, in buckets, of few answers; MulK3 of bytes and of signs."""
    for n, m in ((60, 400_000), (400, 300_000), (3000, 100_000), (3000, 12_000)):
        triplets = ordhc.Triplets(
            rows(n, m, 3, 5) if n > 200 else distinct(np.random.default_rng(5), n, m, 3), n_leaves=n
        )
        weights = np.random.default_rng(m).integers(1, 5, len(triplets)) / 2
        weighted = ordhc.Triplets(triplets.rows, n_leaves=n, weights=weights)
        for kind, data in (("counts", triplets), ("weights", weighted)):
            call = lambda c=data: ordhc.similarity(c, "adds3", layout="condensed")
            listing.same(f"adds3 {n} leaves {m} {kind}", call, on_one_thread(call))
            if n == 3000:
                call = lambda c=data: ordhc.cluster(c, method="adds3-al")
                listing.same(f"adds3-al {n} leaves {m} {kind}", call, on_one_thread(call))
    for n, m in ((60, 60_000), (60, 400_000), (60, 3_000)):
        triplets = ordhc.Triplets(distinct(np.random.default_rng(7), n, m, 3), n_leaves=n)
        call = lambda c=triplets: ordhc.similarity(c, "mulk3", layout="condensed")
        listing.same(f"mulk3 {n} leaves {m}", call, on_one_thread(call))
    once = ordhc.Triplets(distinct(np.random.default_rng(8), 60, 400_000, 3), n_leaves=60)
    asked = np.sort(np.asarray(once.rows)[:, 1:], axis=1)
    first = np.unique(np.column_stack([np.asarray(once.rows)[:, :1], asked]), axis=0, return_index=True)[1]
    signs = ordhc.Triplets(np.asarray(once.rows)[np.sort(first)], n_leaves=60)
    call = lambda: ordhc.similarity(signs, "mulk3", layout="condensed")
    listing.same("mulk3 60 leaves, each question once", call, on_one_thread(call))


def of_preferences(listing: Listing) -> None:
    """Preferences in lists, in tables of 16 bits and in wide ones, and on the way from one to another."""
    for method, n, m in (
        ("3-al", 40, 200),
        ("3-al", 60, 60_000),
        ("3-al", 60, 2_000),
        ("4-al", 30, 200_000),
        ("4-al", 40, 4_000),
    ):
        if method == "3-al":
            asked: Any = ordhc.Triplets.from_odd_one_out(odd(n, m), n_leaves=n)
        else:
            asked = quadruplets(n, m)
        weighted = type(asked)(asked.rows, n_leaves=n, weights=1 + np.arange(len(asked)) % 3 / 2)
        for kind, data in (("counts", asked), ("weights", weighted)):
            call = lambda c=data, x=method: ordhc.cluster(c, method=x)
            listing.same(f"{method} {n} leaves {m} {kind}", call, on_one_thread(call))
    # So many answers about the same leaves that 16 bits don't hold their sums.
    many = ordhc.Triplets(np.tile(rows(6, 40, 3), (3000, 1)), n_leaves=6)
    listing.add("3-al many of the same", lambda: ordhc.cluster(many, method="3-al"))


def plain_tree(data: Any) -> ordhc.Dendrogram:
    """The tree to begin with."""
    with warnings.catch_warnings():
        # Of leaves without answers.
        warnings.simplefilter("ignore")
        return ordhc.cluster(data, method="adds4-al" if isinstance(data, ordhc.Quadruplets) else "adds3-al")


def of_moves(listing: Listing, data: dict[str, Any]) -> None:
    """Moves of subtrees by every objective, for answers and for matrices of three widths."""
    for kind in ("odd", "weighted", "quadruplets"):
        start = plain_tree(data[kind])
        for objective in ("revenue",) if kind == "quadruplets" else ("revenue", "satisfied"):
            call = lambda t=start, c=data[kind], x=objective: ordhc.refine(t, c, x, seed=1)
            listing.same(f"refine {objective} {kind}", call, on_one_thread(call))
    for n in (3, 33, 200):
        S = np.random.default_rng(n).integers(-9, 30, (n, n)) * 0.25
        S = S + S.T
        start = ordhc.linkage(S, "average", dissimilarity=False)
        for name, matrix in (("whole", np.floor(S)), ("quarters", S), ("small", S * 1e-7)):
            call = lambda t=start, S=matrix: shape_of(
                ordhc.refine(t, S, "dasgupta", dissimilarity=False, seed=2)
            )
            listing.add(f"refine matrix {n} {name}", call)
