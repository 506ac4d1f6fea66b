"""What `cluster` should do when nothing is named: average linkage of AddS, or moves of subtrees after it.

python benches/bench_default.py [held-out] [time] [--seeds 3]

"held-out" compares by five folds of answers that the trees have not seen: the difference of revenue (as a
share of the best conceivable) and of satisfied answers, with moves minus without. Data sets of ORDHC_DATA are
included if that is set. "time" gives seconds by the number of leaves and answers.
"""

import argparse
import os
from pathlib import Path

import numpy as np

import ordhc
from measure import median_seconds, table
from ordhc.tree.dendrogram import lca_size

SHAPES = ("yule", "uniform")


def noisy(kind, n, m, seed, noise, quadruplets=False):
    """Answers by noisy distances (log2 of the size of the smallest cluster with both) in a random tree."""
    rng = np.random.default_rng(seed)
    truth = ordhc.datasets.random_tree(n, shape=kind, seed=seed)
    width = 4 if quadruplets else 3
    rows = rng.integers(n, size=(2 * m, width))
    rows = rows[(np.diff(np.sort(rows, axis=1)) > 0).all(axis=1)][:m]
    pairs = (rows[:, :2], rows[:, 2:]) if quadruplets else (rows[:, [0, 1]], rows[:, [0, 2]])
    first, second = (np.log2(lca_size(truth, *pair.T)) + noise * rng.normal(size=len(rows)) for pair in pairs)
    wrong = first > second
    rows[wrong] = rows[wrong][:, [2, 3, 0, 1] if quadruplets else [0, 2, 1]]
    return (ordhc.Quadruplets if quadruplets else ordhc.Triplets)(rows, n)


def simulated(seeds):
    for seed in range(seeds):
        for times in (1 / 16, 1 / 4, 1, 4):
            m = int(times * 240**2)
            yield f"planted 240, {times:g} n^2", ordhc.datasets.planted(m, seed=seed)[0]
        for kind in SHAPES:
            for n, a_leaf in ((12, 10), (30, 10), (30, 60), (100, 20), (100, 200), (300, 30)):
                for noise in (0.5, 2.0):
                    t = noisy(kind, n, n * a_leaf, seed, noise)
                    yield f"{kind} {n}, {a_leaf} answers a leaf, noise {noise}", t
            for n, a_leaf in ((30, 60), (100, 20), (100, 200)):
                q = noisy(kind, n, n * a_leaf, seed, 1.0, quadruplets=True)
                yield f"quadruplets: {kind} {n}, {a_leaf} a leaf", q


def recorded():
    data = os.environ.get("ORDHC_DATA")
    if not data:
        return
    folder = Path(data)
    responses = np.genfromtxt(folder / "car_responses.csv", delimiter=",", names=True)
    central = np.column_stack([responses[name] for name in ("central", "left", "middle", "right")]).astype(
        int
    )
    others = np.array([[leaf for leaf in row[1:] if leaf != row[0]] for row in central])
    yield "Car", ordhc.Triplets.from_most_central(np.column_stack([central[:, 0], others]), 60)
    food = ordhc.read_answers(folder / "food_triplets_counts.csv.gz")
    yield "Food", food
    for m in (300, 1000, 3000, 10000):
        yield f"Food, {m} of its triplets", food.sample(m, seed=1)
    yield "Material", ordhc.read_answers(folder / "material_train_triplets.csv.gz")
    rows = ordhc.read_answers(folder / "things_test10_triplets.csv.gz").rows
    yield "THINGS", ordhc.Triplets(rows, 1854, answers=np.arange(len(rows)) // 2)
    for name, skip in (("zoo100", 2), ("glass", 1)):
        vectors = _numbers(folder / f"{name}.csv", skip)
        n = len(vectors)
        near = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
        rng = np.random.default_rng(0)
        rows = np.array([rng.choice(n, 3, replace=False) for _ in range(n * 30)])
        told = near[rows[:, 0], rows[:, 1]] - near[rows[:, 0], rows[:, 2]]
        told += 0.3 * near.std() * rng.normal(size=len(rows))
        rows[told > 0] = rows[told > 0][:, [0, 2, 1]]
        yield f"{name}, 30 noisy answers a leaf", ordhc.Triplets(rows, n)


def _numbers(path, drop):
    """The columns of numbers, each scaled to [0, 1], without the classes at the end."""
    lines = [line.split(",") for line in path.read_text().splitlines()]
    kept = [at for at in range(len(lines[0]) - drop) if lines[1][at].replace(".", "", 1).isdigit()]
    values = np.array([[float(line[at]) for at in kept] for line in lines[1:]])
    return (values - values.min(0)) / np.maximum(np.ptp(values, axis=0), 1e-12)


def bench_held_out(seeds):
    gains = {}
    for name, t in [*recorded(), *simulated(seeds)]:
        prefix = "adds3-al" if isinstance(t, ordhc.Triplets) else "adds4-al"
        found = ordhc.select(t, [prefix, f"{prefix}+spr"])
        plain, moved = sorted(found.candidates, key=lambda candidate: candidate.method)
        gain = (plain.revenue, moved.revenue, plain.satisfied, moved.satisfied, plain.seconds, moved.seconds)
        gains.setdefault(name, []).append(gain)
        print(name, *(f"{value:.4f}" for value in gain), flush=True)
    rows = []
    for name, values in gains.items():
        r0, r1, s0, s1, t0, t1 = np.mean(values, axis=0)
        rows.append(
            (name, f"{r0:.4f}", f"{r1 - r0:+.4f}", f"{s0:.4f}", f"{s1 - s0:+.4f}", f"{t0:.3f}", f"{t1:.3f}")
        )
    table(("data", "revenue", "moves", "satisfied", "moves", "seconds", "with moves"), rows)


def bench_time(_):
    rows = []
    for n, a_leaf in ((240, 240), (1000, 100), (2000, 30), (2000, 1000), (5000, 30), (5000, 500)):
        t = noisy("yule", n, n * a_leaf, 0, 1.0)
        seconds = [
            median_seconds(lambda m=m, t=t: ordhc.cluster(t, method=m), 1 if n > 1000 else 3)
            for m in ("adds3-al", "adds3-al+spr")
        ]
        rows.append((n, len(t), *(f"{s:.2f}" for s in seconds)))
        print(rows[-1], flush=True)
    table(("leaves", "answers", "adds3-al", "adds3-al+spr"), rows)


GROUPS = {"held-out": bench_held_out, "time": bench_time}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for name in options.groups or GROUPS:
        GROUPS[name](options.seeds)


if __name__ == "__main__":
    main()
