"""Trees drawn from the posterior beside AddS3-AL and moves of subtrees: accuracy and time.

python benches/bench_posterior.py [planted] [time] [figure] [--seeds 10] [--rows n2/4,n2/16]

"planted" gives the mean AARI over seeds, for the planted model of the papers (n = 240), with flipped answers,
with clusters of unequal sizes, and for a caterpillar of clusters. "time" gives seconds by the number of
leaves and answers. "figure" draws how many of the summaries' clusters are right by their support,
docs/images/posterior-supports.png, and prints how right trees are expected to be and how right they are.
Supports of all trees are `bench_calibration.py`'s.
"""

import argparse
import time

import numpy as np

import ordhc
from measure import table
from ordhc.tree.dendrogram import lca_size

METHODS = ("adds3-al", "adds3-al+spr")
ROWS = {"n2": 1, "n2/4": 1 / 4, "n2/16": 1 / 16}


def balanced(levels=3, size=30):
    cluster = np.arange(size * 2**levels) // size
    return np.stack([cluster >> (levels - level) for level in range(1, levels + 1)], 1)


def caterpillar(n=240, k=8):
    cluster = np.arange(n) // (n // k)
    return np.stack([np.minimum(cluster, level) for level in range(1, k)], 1)


def unbalanced(seed, n=240, k=8):
    """Clusters of random sizes, split at random."""
    rng = np.random.default_rng(seed + 77)
    sizes = np.maximum(6, np.round(rng.dirichlet(np.full(k, 1.5)) * n).astype(int))
    while sizes.sum() != n:
        at = rng.integers(k)
        if sizes.sum() < n or sizes[at] > 6:
            sizes[at] += np.sign(n - sizes.sum())
    return splits(k, rng)[np.repeat(np.arange(k), sizes)]


def splits(n, rng):
    """Groups that are split at random until all are single ones: (n, L) labels, a column for each level."""
    groups, levels = [list(range(n))], []
    while any(len(group) > 1 for group in groups):
        parts = []
        for group in groups:
            at = rng.integers(1, len(group)) if len(group) > 1 else 1
            parts += [part for part in (group[:at], group[at:]) if part]
        groups = parts
        label = np.empty(n, int)
        for number, group in enumerate(groups):
            label[group] = number
        levels.append(label)
    return np.stack(levels, 1)


def answers(labels, m, seed, flip=0.0, delta=0.15, sigma=0.1):
    """Triplets of different questions by one noisy similarity for each pair, and the labels, permuted."""
    rng = np.random.default_rng(seed)
    n, levels = labels.shape
    labels = labels[rng.permutation(n)]
    level = (labels[:, None] == labels[None]).cumprod(axis=2).sum(axis=2)
    W = np.triu(rng.normal(0.8 - (levels - level) * delta, sigma), 1)
    W += W.T
    keys = np.zeros(0, dtype=np.int64)
    while len(keys) < m:
        rows = rng.integers(n, size=(2 * m, 3))
        rows = rows[(rows[:, 0] != rows[:, 1]) & (rows[:, 0] != rows[:, 2]) & (rows[:, 1] < rows[:, 2])]
        keys = np.unique(np.concatenate([keys, (rows @ [n * n, n, 1])]))
    keys = rng.permutation(keys)[:m]
    rows = np.stack([keys // (n * n), keys // n % n, keys % n], 1)
    swap = (W[rows[:, 0], rows[:, 1]] < W[rows[:, 0], rows[:, 2]]) ^ (rng.random(m) < flip)
    rows[swap] = rows[swap][:, [0, 2, 1]]
    return ordhc.Triplets(rows, n_leaves=n), labels


def planted(seeds, rows, chosen):
    cases = {
        "planted": (lambda _: balanced(), 0.0),
        "5 % flipped": (lambda _: balanced(), 0.05),
        "20 % flipped": (lambda _: balanced(), 0.2),
        "unbalanced": (unbalanced, 0.0),
        "caterpillar": (lambda _: caterpillar(), 0.0),
    }
    for case, (labels, flip) in cases.items():
        if chosen and case not in chosen:
            continue
        lines = []
        for row in rows:
            found = []
            for seed in range(seeds):
                t, truth = answers(labels(seed), int(ROWS[row] * 240**2), seed, flip)
                scores = [ordhc.metrics.aari(ordhc.cluster(t, method=method), truth) for method in METHODS]
                start = time.perf_counter()
                p = ordhc.posterior(t, seed=seed)
                seconds = time.perf_counter() - start
                mixing = p.diagnostics
                found.append([*scores, ordhc.metrics.aari(p.tree, truth), mixing.r_hat, seconds])
            mean = np.mean(found, axis=0)
            error = np.std(found, axis=0)[2] / np.sqrt(seeds)
            lines.append(
                (row, *(f"{x:.3f}" for x in mean[:3]), f"{error:.3f}", f"{mean[3]:.2f}", f"{mean[4]:.1f}")
            )
        print(f"{case}, n = 240, {seeds} seeds: AARI\n")
        table(("triplets", *METHODS, "posterior-al", "± (standard error)", "R-hat", "seconds"), lines)


def timing():
    lines = []
    for n, m in ((60, 60 * 16), (240, 240**2 // 16), (240, 240**2 // 4), (240, 240**2), (2000, 400_000)):
        t = yule(n, m, 0)[0]
        start = time.perf_counter(), time.process_time()
        p = ordhc.posterior(t)
        spent = time.perf_counter() - start[0], time.process_time() - start[1]
        lines.append((n, m, f"{spent[0]:.1f}", f"{spent[1]:.1f}", f"{p.diagnostics.r_hat:.2f}"))
    table(("leaves", "triplets", "seconds", "of processors", "R-hat"), lines)


def yule(n, m, seed, accuracy=0.8):
    """Answers about a random tree that are right by chance, the tree, and the sizes of smallest clusters."""
    rng = np.random.default_rng(seed)
    truth = ordhc.datasets.random_tree(n, shape="yule", seed=seed)
    rows = resolved(truth, m, rng)
    swap = rng.random(m) > accuracy
    rows[swap] = rows[swap][:, [0, 2, 1]]
    return ordhc.Triplets(rows, n_leaves=n), truth


def resolved(truth, m, rng):
    """(m, 3) questions whose answer is clear in the tree, near before far."""
    rows = rng.integers(truth.n_leaves, size=(3 * m + 100, 3))
    rows = rows[(np.diff(np.sort(rows, axis=1)) > 0).all(axis=1)]
    near, far = (np.asarray(lca_size(truth, rows[:, 0], rows[:, at])) for at in (1, 2))
    swap = near > far
    rows[swap] = rows[swap][:, [0, 2, 1]]
    return rows[near != far][:m]


def clusters(tree):
    """The leaves of each inner node, as bits."""
    sets = [1 << leaf for leaf in range(tree.n_leaves)] + [0] * (len(tree.sizes))
    for node, above in enumerate(tree.parents[:-1].tolist()):
        sets[above] |= sets[node]
    return sets[tree.n_leaves :]


def figure(seeds, n=60):
    import matplotlib.pyplot as plt

    drawn, axes = plt.subplots(1, 2, figsize=(7.2, 3.8), constrained_layout=True)
    for ax, a_leaf in zip(axes, (16, 64), strict=True):
        found, truths, lines = [], [], []
        for seed in range(seeds):
            t, truth = yule(n, n * a_leaf, seed)
            p = ordhc.posterior(t, seed=seed)
            found.append(p.tree)
            truths.append(truth)
            right = 1 - ordhc.metrics.triplet_distance(p.tree, truth)
            lines.append(
                (seed, *(f"{x:.3f}" for x in (p.expected.low, p.expected.accuracy, p.expected.high, right)))
            )
        ordhc.plots.support_calibration(found, truths, ax=ax)
        ax.set_title(f"{a_leaf} answers a leaf", pad=16, fontsize=10)
        table(("seed", "low", "accuracy that is expected", "high", "accuracy"), lines)
    drawn.savefig("docs/images/posterior-supports.png", dpi=144)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["planted", "time"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--cases", default="", help="of planted, all if nothing is said")
    given = parser.parse_args()
    if "planted" in given.what:
        planted(given.seeds, given.rows.split(","), given.cases.split(",") if given.cases else None)
    if "time" in given.what:
        timing()
    if "figure" in given.what:
        figure(given.seeds)
