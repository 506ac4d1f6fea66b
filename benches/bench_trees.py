"""Better trees: what moving subtrees, completion and choice by held-out answers give.

python benches/bench_trees.py [planted | select | data | satisfied | numberings | time] ... [--seeds 10]

The planted model has 240 leaves, delta / sigma = 1.5, permuted. "completion" and "tste-al" need the package
ordhc-embedding; "data" needs ORDHC_DATA.
"""

import argparse
import itertools
import os
import time
from pathlib import Path

import numpy as np

import ordhc
from measure import table
from ordhc.plugins import registry
from ordhc.tree.dendrogram import lca_size

TIMES = {"16 n^2": 16, "4 n^2": 4, "n^2": 1, "n^2/4": 1 / 4, "n^2/16": 1 / 16}
#: By method: the least AARI, row by row.
BARS = {"adds3-al+spr": (0.99, 0.99, 0.92, 0.80, 0.55), "completion": (0.99, 0.99, 0.98, 0.87, 0.70)}
METHODS = ("adds3-al", "adds3-al+spr", "mulk3-al", "tste-al", "completion")


def planted(times, seed):
    return ordhc.datasets.planted(int(times * 240**2), delta=0.15, sigma=0.1, seed=seed)


def methods():
    return [name for name in METHODS if name in registry.names("method")]


def agreement(t, labels, name):
    return float(ordhc.metrics.aari(ordhc.cluster(t, method=name), labels))


def bench_planted(seeds):
    rows = []
    for at, (what, times) in enumerate(TIMES.items()):
        data = [planted(times, seed) for seed in range(seeds)]
        cells = []
        for name in methods():
            values = [agreement(t, labels, name) for t, labels in data]
            bar = f" (bar {BARS[name][at]})" if name in BARS else ""
            cells.append(f"{np.mean(values):.3f} ± {np.std(values) / np.sqrt(seeds):.3f}{bar}")
        rows.append((what, *cells))
    print(f"AARI, planted model, {seeds} seeds\n")
    table(("triplets", *methods()), rows)


def bench_select(seeds):
    rows = []
    for what, times in TIMES.items():
        good, chosen = 0, []
        for seed in range(seeds):
            t, labels = planted(times, seed)
            values = {name: agreement(t, labels, name) for name in methods()}
            best = ordhc.select(t, methods(), seed=seed).best
            good += values[best] >= max(values.values()) - 0.02
            chosen.append(best)
        counts = ", ".join(f"{name} {chosen.count(name)}" for name in sorted(set(chosen)))
        rows.append((what, f"{good} of {seeds}", counts))
    print("\nordhc.select: how often within .02 AARI of the best method (bar: 8 of 10)\n")
    table(("triplets", "good", "chosen"), rows)


def bench_time(_):
    rows = []
    for n_leaves, m, bar in ((30, 240**2, 0.1), (250, 4_000_000, 30)):
        t, _ = ordhc.datasets.planted(m, leaves_per_cluster=n_leaves, delta=0.15, sigma=0.1)
        seconds = []
        for _ in range(5 if m < 1e6 else 1):
            start = time.perf_counter()
            ordhc.cluster(t, method="adds3-al+spr")
            seconds.append(time.perf_counter() - start)
        rows.append((f"{t.n_leaves:,} leaves, {m:,} triplets", f"{np.median(seconds):.3f}", bar))
    print("\nadds3-al+spr\n")
    table(("data", "seconds", "bar"), rows)


def bench_data(_):
    folder = Path(os.environ["ORDHC_DATA"])
    rows = []
    for name, file, bar in (("Food", "food_triplets.csv.gz", 6.137e6), ("Car", "car_triplets.csv", 1.562e5)):
        t = ordhc.read_answers(folder / file)
        start = time.perf_counter()
        tree = ordhc.cluster(t, method="adds3-al+spr")
        seconds = time.perf_counter() - start
        plain = ordhc.score(ordhc.cluster(t, method="adds3-al+spr"), t)
        rows.append((name, f"{plain:,}", f"{ordhc.score(tree, t):,}", f"{bar:,.0f}", f"{seconds:.2f}"))
    print("\nTriplet revenue of answers\n")
    table(("data", "adds3-al", "adds3-al+spr", "bar", "seconds"), rows)
    from reproduce.revenue_data import FEATURES, cosines

    rows = []
    for name, features in FEATURES.items():
        X = features(0)
        S = cosines(X)
        plain = ordhc.linkage(S, "average", dissimilarity=False)
        start = time.perf_counter()
        better = ordhc.refine(plain, S, dissimilarity=False)
        seconds = time.perf_counter() - start
        costs = [ordhc.metrics.dasgupta_cost(tree, S) for tree in (plain, better)]
        gain = 100 * (costs[0] - costs[1]) / abs(costs[0])
        rows.append((name, len(X), f"{costs[0]:.6g}", f"{costs[1]:.6g}", f"{gain:.3f}%", f"{seconds:.2f}"))
    print("\nDasgupta's cost of cosine similarities\n")
    table(("data", "n", "average linkage", "refined", "lower by", "seconds"), rows)


def best_pair_merge_first(t, ratio):
    """Wu 2004: merge the pair of clusters that most triplets want and fewest forbid."""
    n = t.n_leaves
    together = np.zeros((n, n, n))
    for anchor, near, far in t.rows:
        together[anchor, near, far] += 1
        together[near, anchor, far] += 1
    alive = list(range(n))
    label = {leaf: leaf for leaf in alive}
    merges = []
    while len(alive) > 1:
        few = together[np.ix_(alive, alive, alive)]
        k = len(alive)
        inner = np.einsum("abb->ab", few)
        wanted = few.sum(axis=2) - inner - inner.T
        # (a, x | b) forbids merging a and b while x is elsewhere.
        apart = few.sum(axis=1) - inner - np.einsum("aab->ab", few)
        forbidden = apart + apart.T
        score = wanted - forbidden
        if ratio:
            score = score / np.maximum(wanted + forbidden, 1)
        score[np.arange(k), np.arange(k)] = -np.inf
        a, b = sorted(np.unravel_index(np.argmax(score), score.shape))
        i, j = alive[a], alive[b]
        merges.append((label[i], label[j]))
        label[i] = n + len(merges) - 1
        for axis in range(3):
            into, gone = [slice(None)] * 3, [slice(None)] * 3
            into[axis], gone[axis] = i, j
            together[tuple(into)] += together[tuple(gone)]
            together[tuple(gone)] = 0
        alive.remove(j)
    return ordhc.Dendrogram(merges, np.arange(1.0, n))


def bench_satisfied(seeds):
    """Rooted triplets of random trees of 60 leaves, 3,000 of them, a fifth wrong."""
    found = {}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        truth = ordhc.datasets.random_tree(60, shape="uniform", seed=seed)
        rows = []
        for _ in range(3000):
            i, j, k = rng.permutation(60)[:3]
            a, b, c = min(itertools.permutations((i, j, k)), key=lambda r: lca_size(truth, r[0], r[1]))
            rows.append((a, b, c) if rng.random() > 0.2 else ((a, c, b), (c, b, a))[rng.integers(2)])
        t = ordhc.Triplets(rows, n_leaves=60)
        trees = {
            "the tree itself": lambda truth=truth: truth,
            "best pair merge first, difference": lambda t=t: best_pair_merge_first(t, False),
            "best pair merge first, ratio": lambda t=t: best_pair_merge_first(t, True),
            "adds3-al": lambda t=t: ordhc.cluster(t, method="adds3-al"),
            "adds3-al+spr": lambda t=t: ordhc.cluster(t, method="adds3-al+spr"),
            "consistency": lambda t=t: ordhc.cluster(t, method="consistency"),
        }
        for name, make in trees.items():
            start = time.perf_counter()
            tree = make()
            seconds = time.perf_counter() - start
            share = float(ordhc.score(tree, t, "satisfied"))
            found.setdefault(name, []).append((share, ordhc.score(tree, truth, "triplet_distance"), seconds))
    print(f"\n3,000 rooted triplets of 60 leaves, 20% wrong, {seeds} seeds\n")
    rows = [(name, *(f"{value:.4f}" for value in np.mean(values, axis=0))) for name, values in found.items()]
    table(("method", "satisfied", "triplet distance from the truth", "seconds"), rows)


def noisy_answers(n, m, seed, noise=1.5):
    """Answers by noisy distances in a random tree, about some leaves more often than about others."""
    rng = np.random.default_rng(seed)
    truth = ordhc.datasets.random_tree(n, shape="yule", seed=seed)
    often = rng.gamma(1.0, size=n) + 0.05
    rows = np.array([rng.choice(n, 3, replace=False, p=often / often.sum()) for _ in range(m)])
    far = [[np.log2(lca_size(truth, int(i), int(other))) for other in others] for i, *others in rows]
    wrong = np.diff(np.array(far) + noise * rng.normal(size=(m, 2)), axis=1)[:, 0] < 0
    rows[wrong, 1:] = rows[wrong, :0:-1]
    return ordhc.Triplets(rows, n)


def bench_numberings(seeds):
    """Results for as many numberings of the leaves as there are seeds, rows in random order."""
    rows = []
    for name, t in (
        ("400 leaves, 9,107 triplets", noisy_answers(400, 9107, 0)),
        ("100 leaves, 3,000 triplets", noisy_answers(100, 3000, 0)),
    ):
        for method, metric in (
            ("adds3-al", "satisfied"),
            ("adds3-al+spr", "triplet_revenue"),
            ("consistency", "satisfied"),
        ):
            values, seconds = [], []
            for seed in range(seeds):
                rng = np.random.default_rng(seed)
                number = rng.permutation(t.n_leaves)
                moved = ordhc.Triplets(number[t.rows[rng.permutation(len(t))]], t.n_leaves)
                start = time.process_time()
                tree = ordhc.cluster(moved, method=method)
                seconds.append(time.process_time() - start)
                values.append(float(ordhc.score(tree, moved, metric)))
            spread = f"{min(values):.6g} to {max(values):.6g}"
            rows.append((name, method, metric, spread, f"{np.median(seconds):.2f}"))
    print(f"\n{seeds} numberings of the leaves\n")
    table(("data", "method", "score", "from ... to", "CPU seconds"), rows)


GROUPS = {
    "planted": bench_planted,
    "select": bench_select,
    "data": bench_data,
    "satisfied": bench_satisfied,
    "numberings": bench_numberings,
    "time": bench_time,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []])
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    for name in options.groups or GROUPS:
        GROUPS[name](options.seeds)


if __name__ == "__main__":
    main()
