"""How often `ordhc.structure` gives the right verdict, and how often the coin-flip test rejects a tree.

    python benches/bench_structure.py                          # 10 sets, some minutes on two cores
    python benches/bench_structure.py --seeds 5                # 50 sets
    python benches/bench_structure.py --coins trees --seeds 60 # the level of the test; one set a seed
    python benches/bench_structure.py --coins points --seeds 60 # its power

Each set has 40, 80 or 120 items and 20, 50 or 100 answers an item, to "is A more like B or C?" or "which
is the odd one out?", of trees, spaces, a circle, a star or noise. A verdict "few" (too few answers) counts
as right only for 20 answers an item. Sets for the coin-flip test are smaller, half of them with 25 people.
"""

import argparse
import time

import numpy as np

import ordhc

#: What is simulated, and the verdicts that are right. A line is a special tree.
RIGHT = {
    "ultrametric tree": {"tree"},
    "planted clusters": {"tree"},
    "additive tree": {"tree"},
    "line": {"line"},
    "2 dimensions": {"map"},
    "3 dimensions": {"map"},
    "5 dimensions": {"map"},
    "circle": {"map"},
    "star": {"effects"},
    "noise": {"nothing"},
}


def tree_heights(n: int, rng: np.random.Generator) -> np.ndarray:
    """Closeness of the leaves of a random tree, by coalescence, uniform over pairs of leaves."""
    H = np.zeros((n, n))
    clusters = [[leaf] for leaf in range(n)]
    height = 0.0
    while len(clusters) > 1:
        height += 1.0
        i, j = sorted(rng.choice(len(clusters), 2, replace=False))
        for a in clusters[i]:
            for b in clusters[j]:
                H[a, b] = H[b, a] = -height
        clusters[i] += clusters.pop(j)
    off = ~np.eye(n, dtype=bool)
    _, inverse = np.unique(H[off], return_inverse=True)
    shares = np.cumsum(np.bincount(inverse)) / off.sum()
    H[off] = shares[inverse]
    return 6 * H


def closeness_of(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, n) closeness in units of the noise of answers."""
    if kind == "noise":
        return np.zeros((n, n))
    if kind == "star":
        lengths = rng.normal(size=n)
        return -lengths - lengths[:, None]
    if kind == "planted clusters":
        labels = np.arange(n) * 8 // n
        return 1.5 * sum((labels[:, None] // step == labels // step).astype(float) for step in (1, 2, 4))
    if "tree" in kind:
        H = tree_heights(n, rng)
        lengths = rng.normal(size=n) if kind == "additive tree" else np.zeros(n)
        return H - lengths - lengths[:, None]
    if kind == "circle":
        angles = 2 * np.pi * rng.random(n)
        X = np.column_stack([np.cos(angles), np.sin(angles)])
    else:
        X = rng.random((n, 1)) if kind == "line" else rng.normal(size=(n, int(kind[0])))
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    return -5 * D / np.median(D[~np.eye(n, dtype=bool)])


def answers_from(S: np.ndarray, m: int, odd: bool, rng: np.random.Generator) -> ordhc.Triplets:
    """Answers by choice in proportion to exp(closeness)."""
    n = len(S)
    a, b, c = np.argsort(rng.random((m, n)), axis=1)[:, :3].T
    pairs = [(a, b, c), (a, c, b), (b, c, a)] if odd else [(a, b, c), (a, c, b)]
    U = np.stack([S[i, j] for i, j, _ in pairs], axis=1)
    said = np.argmax(U + rng.gumbel(size=U.shape), axis=1)
    rows = np.stack([np.stack(pair, axis=1) for pair in pairs], axis=1)[np.arange(m), said]
    if odd:
        return ordhc.Triplets.from_odd_one_out(rows[:, [2, 0, 1]], n_leaves=n)
    return ordhc.Triplets(rows, n_leaves=n)


#: What the coin-flip test is tried on.
COINS = {
    "trees": ("ultrametric tree", "additive tree", "planted clusters"),
    "points": ("line", "2 dimensions", "3 dimensions", "5 dimensions"),
}


def with_people(data: ordhc.Triplets, people: int, rng: np.random.Generator) -> ordhc.Triplets:
    """Return answers of some people, by chance."""
    answers = np.arange(len(data)) if data.answers is None else data.answers
    return ordhc.Triplets(
        data.rows,
        n_leaves=data.n_leaves,
        answers=data.answers,
        groups=rng.integers(0, people, int(np.max(answers)) + 1)[answers],
    )


def coins(kinds: tuple[str, ...], seeds: range) -> None:
    """Print how often the coin-flip test rejects a tree."""
    found: dict[str, list[bool]] = {}
    for seed in seeds:
        kind = kinds[seed % len(kinds)]
        rng = np.random.default_rng((1, seed))
        n, each = int(rng.choice([20, 30, 60])), int(rng.choice([15, 30, 60]))
        odd, people = bool(rng.random() < 0.5), int(rng.choice([0, 25]))
        data = answers_from(closeness_of(kind, n, rng), n * each, odd, rng)
        data = with_people(data, people, rng) if people else data
        test = ordhc.structure(data, seed=seed).coins
        is_rejected = test.p_value <= 0.05
        for group in (kind, "people" if people else "questions", f"{each} answers an item", "all"):
            found.setdefault(group, []).append(is_rejected)
        print(
            f"{kind:18s} n {n:2d}, {each} answers an item, {'odd' if odd else 'triplets':8s} "
            f"{people:2d} people: {test.n_answers:5d} coin flips, {test.share}, p {test.p_value:.3f}",
            flush=True,
        )
    for group in sorted(found):
        print(f"{group:20s} rejected {sum(found[group]):3d} of {len(found[group]):3d}")


def main() -> None:
    """Print the verdicts, or what the coin-flip test says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--coins", choices=list(COINS))
    arguments = parser.parse_args()
    if arguments.coins:
        coins(COINS[arguments.coins], range(arguments.first, arguments.first + arguments.seeds))
        return
    right = tried = 0
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        for at, (kind, verdicts) in enumerate(RIGHT.items()):
            rng = np.random.default_rng((seed, at))
            # Each seed visits other combinations of sizes.
            n, each = (40, 80, 120)[(at + seed) % 3], (20, 50, 100)[(at // 3 + seed) % 3]
            odd = bool((at + seed) % 2)
            data = answers_from(closeness_of(kind, n, rng), n * each, odd, rng)
            start = time.perf_counter()
            found = ordhc.structure(data, seed=seed)
            is_right = found.verdict.kind in (verdicts | ({"few"} if each == 20 else set()))
            right, tried = right + is_right, tried + 1
            print(
                f"{kind:18s} n {n:3d}, {each:3d} answers an item, {'odd' if odd else 'triplets':8s} "
                f"{'right' if is_right else 'WRONG'}: {found.verdict.kind:8s} "
                f"{'sure' if found.verdict.sure else '    '} "
                f"tree {found.tree_share}, points {found.points_share}, {found.dimensions} d, "
                f"{time.perf_counter() - start:.1f} s",
                flush=True,
            )
    print(f"{right} of {tried} right")


if __name__ == "__main__":
    main()
