"""Whether supports and predictions are true: of what is said with probability s a share of s should be right.

python benches/bench_calibration.py [measure] [table] [figure] [--methods posterior,bootstrap]
    [--results FILE] [--leaves 60] [--seeds 10] [--first-seed 0] [--trees yule]
    [--answers 4,16] [--noise close] [--kinds odd,central@1]

Answers about random trees (Yule, uniform), balanced ones, caterpillars, and planted ones (eight clusters, of
which all leaves are alike). "constant": right with p = .8. "close": each pair's similarity is the depth of
its ancestor and a normal deviate, a level being 1.5 deviations, new for each answer. Counted are all clusters
of all drawn trees (of all resamples), and 2,000 triplets of which two leaves are closer in the true tree.

"--kinds" are kinds of answers: triplets, quadruplets, odd (one out of three), central (the most central of
three), chosen (2 of 6 that are closest to a reference), ranked (4, by closeness to a reference), bestworst
(the closest and the farthest of 4). Their noise is "close", or "luce": as "close", with Gumbel deviates. A
leaf has as many answers, whatever their kind. With them `expected` is compared with the tree's true accuracy.
"central@1" are answers about additive trees: lengths of leaves have a standard deviation of 1. "--no-lengths"
has ultrametric trees only.

"measure" adds to a file what it does not yet hold; "table" and "figure" (docs/images/calibration.png) read
it. Standard errors are those over trees: what is said of one tree is right or wrong together.
"""

import argparse
import itertools
import json
import time
from pathlib import Path

import numpy as np

import ordhc
from bench_posterior import balanced, clusters
from measure import table
from ordhc.tree.dendrogram import lca_size

SHAPES = ("yule", "uniform", "balanced", "caterpillar", "planted")
ANSWERS = (4, 16, 64, 240)
NOISES = ("constant", "close")
ANSWER_KINDS = ("triplets", "quadruplets", "odd", "central", "chosen", "ranked", "bestworst")
KINDS = ("clusters", "triplets")
BINS = 10
#: Bins of fewer are not shown.
FEWEST = 100


class Truth:
    """A tree: its clusters, and by pair of leaves the depth of the lowest common ancestor."""

    def __init__(self, shape, n, seed, deviation=0.0):
        rng = np.random.default_rng(seed)
        self.lengths = deviation * np.random.default_rng([seed, 1]).normal(size=n)
        if shape == "planted":
            labels = balanced(3, -(-n // 8))[:n][rng.permutation(n)]
            self.depth = (labels[:, None] == labels[None]).cumprod(axis=2).sum(axis=2)
            groups = {tuple(np.flatnonzero(row >= level)) for row in self.depth for level in range(1, 4)}
            self.clusters = {sum(1 << int(leaf) for leaf in group) for group in groups}
        else:
            tree = ordhc.datasets.random_tree(n, shape=shape, seed=seed)
            order = rng.permutation(n)
            self.tree = tree.relabel(order)
            self.depth = np.zeros((n, n), dtype=int)
            members = [np.array([leaf]) for leaf in order]
            for a, b in tree.merges:
                members.append(np.concatenate([members[a], members[b]]))
            for inside in members[n:-1]:
                self.depth[np.ix_(inside, inside)] += 1
            self.clusters = {sum(1 << int(leaf) for leaf in inside) for inside in members[n:-1]}

    def answers(self, m, noise, rng):
        n = len(self.depth)
        rows = np.argsort(rng.random((m, n)), axis=1)[:, :3] if n < 100 else distinct(n, m, rng)
        near, far = (self.depth[rows[:, 0], rows[:, at]] for at in (1, 2))
        if noise == "close":
            swap = 1.5 * (near - far) + np.sqrt(2) * rng.normal(size=m) < 0
        else:
            swap = np.where(near == far, rng.random(m) < 0.5, (near < far) ^ (rng.random(m) > 0.8))
        rows[swap] = rows[swap][:, [0, 2, 1]]
        return ordhc.Triplets(rows, n_leaves=n)

    def answers_of_kind(self, kind, m, noise, rng):
        """Each pair of a question has a similarity of its own, new for each answer."""
        n = len(self.depth)
        width = {"quadruplets": 4, "chosen": 7, "ranked": 5, "bestworst": 5}.get(kind, 3)
        leaves = np.argsort(rng.random((m, n)), axis=1)[:, :width]

        def closeness(a, b):
            lengths = self.lengths[leaves[:, a]] + self.lengths[leaves[:, b]]
            return 1.5 * self.depth[leaves[:, a], leaves[:, b]] - lengths

        def similarity(a, b):
            return closeness(a, b) + (rng.gumbel(size=m) if noise == "luce" else rng.normal(size=m))

        at = np.arange(m)
        if kind == "quadruplets":
            swap = similarity(0, 1) < similarity(2, 3)
            leaves[swap] = leaves[swap][:, [2, 3, 0, 1]]
            return ordhc.Quadruplets(leaves, n_leaves=n)
        if kind in ("odd", "central"):
            others = np.stack([similarity(1, 2), similarity(0, 2), similarity(0, 1)])
            first = others.argmax(axis=0) if kind == "odd" else others.argmin(axis=0)
            rows = leaves[at[:, None], (first[:, None] + [0, 1, 2]) % 3]
            make = ordhc.Triplets.from_odd_one_out if kind == "odd" else ordhc.Triplets.from_most_central
            return make(rows, n_leaves=n)
        order = np.argsort([-similarity(0, place) for place in range(1, width)], axis=0).T
        others = leaves[at[:, None], 1 + order]
        if kind == "triplets":
            return ordhc.Triplets(np.column_stack([leaves[:, 0], others]), n_leaves=n)
        if kind == "ranked":
            rows = np.column_stack([leaves[:, 0], others])
            return ordhc.Triplets.from_ranking(rows, n_ranked=4, n_leaves=n)
        near, far = np.repeat([0, 1], 4), np.tile([2, 3, 4, 5], 2)
        if kind == "bestworst":
            best, worst = order[:, 0], order[:, -1]
            if noise == "luce":
                # The farthest is a choice of its own among those that remain.
                farness = np.stack([rng.gumbel(size=m) - closeness(0, place) for place in range(1, width)])
                farness[best, at] = -np.inf
                worst = farness.argmax(axis=0)
            key = np.zeros((m, 4))
            key[at, best], key[at, worst] = -1, 1
            others = leaves[at[:, None], 1 + key.argsort(axis=1, kind="stable")]
            near, far = np.array([0, 0, 0, 1, 2]), np.array([1, 2, 3, 3, 3])
        k = len(near)
        rows = np.stack([np.repeat(leaves[:, :1], k, axis=1), others[:, near], others[:, far]], axis=2)
        return ordhc.Triplets(rows.reshape(-1, 3), n_leaves=n, answers=np.repeat(at, k))

    def questions(self, m, rng):
        """Whose answer is clear, near before far."""
        rows = distinct(len(self.depth), 5 * m, rng)
        near, far = (self.depth[rows[:, 0], rows[:, at]] for at in (1, 2))
        swap = near < far
        rows[swap] = rows[swap][:, [0, 2, 1]]
        return rows[near != far][:m]


def distinct(n, m, rng):
    rows = rng.integers(n, size=(2 * m + 100, 3))
    return rows[(np.diff(np.sort(rows, axis=1)) > 0).all(axis=1)][:m]


def supports(trees, truth, n):
    counts = {}
    for tree in trees:
        for cluster in clusters(tree):
            counts[cluster] = counts.get(cluster, 0) + 1
    whole = (1 << n) - 1
    return [(k / len(trees), c in truth.clusters) for c, k in counts.items() if c != whole]


def sides(rows, trees):
    """The share of trees that say so, among those that say so or the contrary."""
    for_it, against = np.zeros(len(rows)), np.zeros(len(rows))
    for tree in trees:
        near, far = (np.asarray(lca_size(tree, rows[:, 0], rows[:, at])) for at in (1, 2))
        for_it += near < far
        against += near > far
    return (for_it + 0.5) / (for_it + against + 1)


def measured(method, shape, n, a_leaf, noise, seed, kind=None, *, how):
    """Pairs of what is said and what is so, of clusters and of triplets; given a kind, what is expected."""
    rng = np.random.default_rng([seed, n, a_leaf])
    kind, _, deviation = (kind or "").partition("@")
    truth = Truth(shape, n, seed, float(deviation or 0))
    if not kind:
        data = truth.answers(n * a_leaf, noise, rng)
    else:
        data = truth.answers_of_kind(kind, n * a_leaf, noise, rng)
    rows = truth.questions(2000, rng)
    if method == "posterior":
        found = ordhc.posterior(data, seed=seed, **how)
        share = found.predict(rows, of="tree")
    else:
        found = ordhc.bootstrap(data, method="adds3-al+spr", n_resamples=100, seed=seed)
        share = sides(rows, found.trees)
    told = np.stack([np.maximum(share, 1 - share), share >= 0.5], 1)
    expected = None
    if kind and method == "posterior":
        right = 1 - ordhc.metrics.triplet_distance(found.tree, truth.tree)
        expected = [found.expected.accuracy, found.expected.low, found.expected.high, float(right)]
    return np.array(supports(found.trees, truth, n), dtype=float), told, expected


def binned(pairs):
    """By bin how many there are, and the sums of what is said and what is so."""
    told, right = pairs.T
    at = np.minimum((BINS * told).astype(int), BINS - 1)
    return [np.bincount(at, of, BINS).tolist() for of in (None, told, right)]


def measure(given):
    path = Path(given.results)
    known = {tuple(run["case"]) for run in runs_of(path)}
    how = {name: getattr(given, name) for name in ("chains", "sweeps") if getattr(given, name)}
    how |= {"lengths": False} if given.no_lengths else {}
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    for seed, method in itertools.product(seeds, given.methods):
        settings = itertools.product(given.trees, given.answers, given.noise, given.kinds or [None])
        for shape, a_leaf, noise, kind in settings:
            case = (method, shape, given.leaves, a_leaf, noise, seed, *([kind] if kind else []))
            if case in known:
                continue
            start = time.process_time()
            *pairs, expected = measured(*case, how=how)
            found = [binned(each) for each in pairs]
            run = {"case": case, "clusters": found[0], "triplets": found[1], "expected": expected}
            run["seconds"] = round(time.process_time() - start, 2)
            with path.open("a") as file:
                file.write(json.dumps(run) + "\n")


def runs_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def curve(runs, kind):
    """By bin of at least `FEWEST`: what is said, what is so, the error of their difference, how many."""
    sums = np.array([run[kind] for run in runs])
    count, told, right = sums.sum(axis=0)
    # The sum of the differences over runs: its variance is that of independent runs.
    apart = sums[:, 2] - sums[:, 1]
    mean = apart.sum(axis=0) / np.maximum(count, 1)
    error = np.sqrt(((apart - mean * sums[:, 0]) ** 2).sum(axis=0)) / np.maximum(count, 1)
    at = count >= FEWEST
    return told[at] / count[at], right[at] / count[at], error[at], count[at].astype(int)


def broken(*values):
    """Lines don't go across bins that are left out."""
    gaps = np.flatnonzero(np.diff(values[0]) > 1.5 / BINS) + 1
    return [np.insert(of, gaps, np.nan) for of in values]


def cell(runs, kind):
    told, right, error, _ = curve(runs, kind)
    return ", ".join(f"{s:.2f}: {x:.2f} ± {e:.2f}" for s, x, e in zip(told, right, error, strict=True))


def tables(given):
    runs = runs_of(Path(given.results))
    for method in given.methods:
        mine = [run for run in runs if run["case"][0] == method]
        print(f"{method}, {len(mine)} runs, {sum(run['seconds'] for run in mine):.0f} seconds\n")
        cases = {"all": mine}
        for at, what in ((1, "{}"), (2, "{} leaves"), (3, "{} answers a leaf"), (4, "{}"), (6, "{}")):
            for value in dict.fromkeys(run["case"][at] for run in mine if len(run["case"]) > at):
                cases[what.format(value)] = [run for run in mine if run["case"][at : at + 1] == [value]]
        lines = []
        for name, of in cases.items():
            worst = [max(np.abs(np.subtract(*curve(of, kind)[:2])), default=0) for kind in KINDS]
            lines.append(
                (name, cell(of, "clusters"), f"{worst[0]:.2f}", cell(of, "triplets"), f"{worst[1]:.2f}")
            )
        table(("", "support: right", "off by", "probability of a triplet: right", "off by"), lines)
        lines = []
        for name, of in cases.items():
            known = np.array([run["expected"] for run in of if run.get("expected")])
            if len(known):
                said, low, high, right = known.T
                covered = np.mean((low <= right) & (right <= high))
                lines.append(
                    (name, len(known), f"{said.mean():.3f}", f"{right.mean():.3f}", f"{covered:.2f}")
                )
        if lines:
            table(("", "sets", "expected", "right", "within the interval"), lines)


def figure(given):
    import matplotlib.pyplot as plt

    runs = runs_of(Path(given.results))
    drawn, axes = plt.subplots(1, 2, figsize=(7.6, 4.0), constrained_layout=True)
    colors = {"posterior": "#1f6f8b", "bootstrap": "#d1603d"}
    for ax, kind, title in zip(axes, KINDS, ("Clusters", "Triplets"), strict=True):
        low = 0.0 if kind == "clusters" else 0.5
        ax.fill_between([low, 1], [low - 0.05, 0.95], [low + 0.05, 1.05], color="#eeeeee", lw=0, zorder=0)
        ax.plot([low, 1], [low, 1], color="#999999", lw=0.8, zorder=1)
        for method in given.methods:
            mine = [run for run in runs if run["case"][0] == method]
            told, right, error = broken(*curve(mine, kind)[:3])
            ax.errorbar(
                told,
                right,
                2 * error,
                color=colors[method],
                marker="o",
                ms=4,
                lw=1.6,
                capsize=2,
                label=method,
            )
            for shape in SHAPES:
                some = [run for run in mine if run["case"][1] == shape]
                told, right = broken(*curve(some, kind)[:2])
                ax.plot(told, right, color=colors[method], lw=0.7, alpha=0.35, zorder=1)
        ax.set(xlim=(low, 1), ylim=(low, 1), title=title, aspect="equal")
        ax.set_xlabel("support" if kind == "clusters" else "share of trees that say so")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("share that is right")
    axes[0].legend(frameon=False, loc="upper left")
    drawn.savefig("docs/images/calibration.png", dpi=144)


def words_of(text):
    return text.split(",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["measure", "table"])
    parser.add_argument("--methods", type=words_of, default=("posterior", "bootstrap"))
    parser.add_argument("--results", default="calibration.jsonl")
    parser.add_argument("--leaves", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--trees", type=words_of, default=SHAPES)
    parser.add_argument("--answers", type=lambda text: [int(x) for x in text.split(",")], default=ANSWERS)
    parser.add_argument("--noise", type=words_of, default=NOISES)
    parser.add_argument("--kinds", type=words_of)
    parser.add_argument("--no-lengths", action="store_true")
    parser.add_argument("--sweeps", type=int)
    parser.add_argument("--chains", type=int)
    given = parser.parse_args()
    for work in (measure, tables, figure):
        if work.__name__.removesuffix("s") in given.what:
            work(given)
