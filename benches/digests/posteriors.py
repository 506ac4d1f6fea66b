"""Trees drawn by how likely they are: every kind of answer, with lengths and without, of several people.

Chains take logarithms: lines are of rounded numbers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import ordhc
from digests.answers import odd, points, quadruplets, rows
from digests.listing import Listing, Rough, on_one_thread, outcome, roughly

N = 12


def run(listing: Listing) -> None:
    """Add all lines about posteriors."""
    for kind, data in kinds().items():
        for lengths in (True, False):
            call = lambda c=data, x=lengths: drawn(c, lengths=x)
            found = outcome(call)
            suffix = "with lengths" if lengths else "without lengths"
            listing.add(f"posterior {kind} {suffix}", Rough(found))
            if kind in ("odd", "ranking", "people"):
                name = f"posterior {kind} {suffix} on one thread"
                listing.expect_equal(name, found, outcome(on_one_thread(call)))
    data = kinds()["odd"]
    listing.add("posterior seed 7", roughly(lambda: drawn(data, seed=7)))
    listing.add("posterior repeats same", roughly(lambda: drawn(kinds()["people"], repeats="same")))
    listing.add("posterior default", roughly(lambda: ordhc.cluster(data)))
    for scale in ("heights", "lengths"):
        call = lambda x=scale: ordhc.cluster(data, method="posterior-al", sweeps=40, scale=x)
        listing.add(f"posterior-al {scale}", roughly(call))
    p = ordhc.posterior(data, chains=2, sweeps=40)
    other = kinds()["triplets"]
    # Cuts of almost equal heights differ between processors, and AARI with them.
    listing.add("posterior forecast", roughly(lambda: p.forecast(data, 200, repeats=2).accuracy))
    listing.add("posterior expected", roughly(lambda: p.expected.accuracy))
    listing.add(
        "posterior predicts", roughly(lambda: [p.predict(other), p.accuracy(other), p.log_loss(other)])
    )


def kinds() -> dict[str, Any]:
    """Answers of every kind, about the same points."""
    ranked = orders(5)
    people = np.arange(len(odd(N, 500))) % 6
    answers = np.where(people[:, None] == 5, rows(N, 500, 3, 9), odd(N, 500))
    triplets = ordhc.Triplets(
        np.array([[a, b, c] if d else [a, c, b] for a, b, c, d in closer(rows(N, 300, 3, 4))]), n_leaves=N
    )
    return {
        "triplets": triplets,
        "weighted": ordhc.Triplets(triplets.rows, n_leaves=N, weights=1 + np.arange(300) % 3 / 2),
        "quadruplets": quadruplets(N, 300),
        "odd": ordhc.Triplets.from_odd_one_out(odd(N, 300), n_leaves=N),
        "central": ordhc.Triplets.from_most_central(central(rows(N, 300, 3)), n_leaves=N),
        "ranking": ordhc.Triplets.from_ranking(ranked, n_ranked=2, n_leaves=N),
        "ranking of all": ordhc.Triplets.from_ranking(ranked, n_ranked=4, n_leaves=N),
        "best and worst": table(
            ranked, [(0, 1, far) for far in range(2, 5)] + [(0, near, 4) for near in (2, 3)]
        ),
        "two of four": table(ranked, [(0, near, far) for near in (1, 2) for far in (3, 4)]),
        "people": ordhc.Triplets.from_odd_one_out(answers, n_leaves=N, groups=people),
        "people of several answers": ordhc.Triplets.from_ranking(
            ranked, n_ranked=2, n_leaves=N, groups=np.arange(len(ranked)) % 4
        ),
        "few": ordhc.Triplets([[0, 1, 2], [3, 4, 5]], n_leaves=7),
    }


def squares(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
    """Squared distances."""
    X = points(N)
    x, y = (X[left] - X[right]).T if left.ndim == 1 else np.moveaxis(X[left] - X[right], -1, 0)
    return x * x + y * y


def closer(asked: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows (anchor, a, b) and whether a is the closer one; one of ten is wrong."""
    right = squares(asked[:, 0], asked[:, 1]) < squares(asked[:, 0], asked[:, 2])
    right ^= np.random.default_rng(2).random(len(asked)) < 0.1
    return np.column_stack([asked, right])


def central(asked: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows with the most central one first."""
    cost = sum(squares(asked, np.roll(asked, shift, axis=1)) for shift in (1, 2))
    return np.take_along_axis(asked, np.argsort(cost, axis=1, kind="stable"), axis=1)


def orders(width: int) -> NDArray[np.int64]:
    """Rows (reference, nearest, ..., farthest), of which one of ten is in random order."""
    asked = rows(N, 150, width)
    far = squares(np.repeat(asked[:, :1], width - 1, axis=1), asked[:, 1:])
    right = np.take_along_axis(asked[:, 1:], np.argsort(far, axis=1, kind="stable"), axis=1)
    random = np.arange(len(asked)) % 10 == 0
    return np.column_stack([asked[:, :1], np.where(random[:, None], asked[:, 1:], right)])


def table(asked: NDArray[np.int64], pattern: list[tuple[int, int, int]]) -> ordhc.Triplets:
    """Answers of several triplets each."""
    numbers = np.repeat(np.arange(len(asked)), len(pattern))
    return ordhc.Triplets(asked[:, pattern].reshape(-1, 3), n_leaves=N, answers=numbers)


def drawn(data: Any, **settings: Any) -> tuple[Any, ...]:
    """What a short posterior says."""
    p = ordhc.posterior(data, chains=2, sweeps=40, **settings)
    return (
        p.tree,
        p.dendrogram,
        p.consensus,
        p.support,
        p.similarity,
        p.lengths,
        dict(p.noise_by_group),
        len(p.trees),
    )
