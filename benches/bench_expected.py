"""How right trees are expected to be, now and after more answers, beside how right they are.

python benches/bench_expected.py [--seeds 4] [--answers 8,16] [--more 24] [--raw FILE]
    [--kinds planted,unequal,balanced,yule] [--noises "constant .8,close 1,close 2"]

Random questions about planted, balanced and Yule trees of 60 to 64 leaves, and planted ones whose clusters
are of unequal sizes: which of three is the odd one out. "constant p": answers right with probability p.
"close d": the closeness of each pair by its level and a normal deviate, a level being d deviations, new for
each answer. For so many answers a leaf: `expected` and `forecast` of the posterior, and the truth. AARI is
that of 2, 4 and 8 clusters; of Yule trees there is none.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import ordhc
from bench_posterior import balanced, splits
from bench_uncertain import close, constant
from measure import table
from ordhc.tree.dendrogram import engine_tree


def trees(kind, seed):
    """(n, L) labels by level."""
    rng = np.random.default_rng(seed + 31)
    if kind == "planted":
        labels = balanced(3, 8)
    elif kind == "unequal":
        sizes = np.maximum(2, np.round(64 * rng.dirichlet(np.full(8, 2.0))).astype(int))
        cluster = np.repeat(np.arange(8), sizes)
        labels = np.stack([cluster >> 2, cluster >> 1, cluster], 1)
    elif kind == "balanced":
        labels = balanced(6, 1)
    else:
        # Sizes of a Yule tree's parts are uniform.
        labels = splits(60, rng)
    return labels[rng.permutation(len(labels))]


def tree_of(labels):
    """The dendrogram of labels by level."""
    n, n_levels = labels.shape
    parents, heights = [-1] * n, []
    cluster_of = np.arange(n)
    for level in range(n_levels - 1, -2, -1):
        label = labels[:, level] if level >= 0 else np.zeros(n, int)
        for value in np.unique(label):
            parts = np.unique(cluster_of[label == value])
            if len(parts) > 1:
                for part in parts.tolist():
                    parents[part] = len(parents)
                cluster_of[label == value] = len(parents)
                parents.append(-1)
                heights.append(float(n_levels - level))
    return ordhc.Dendrogram.from_parents(parents, heights=heights)


def asked(oracle, n, counts, rng):
    """Answers to random questions, so many in all."""
    recorded, found = ordhc.oracles.Recording(oracle), []
    for count in counts:
        recorded(np.array([rng.permutation(n)[:3] for _ in range(count - recorded.n_questions)]))
        found.append(recorded.comparisons(n))
    return found


def truth_of(tree, labels, truth):
    """Accuracy, and AARI of 2, 4 and 8 clusters where the truth has these."""
    aari = ordhc.metrics.aari(tree, labels[:, :3]) if labels.shape[1] in (3, 6) else np.nan
    same, different, only_truth, *_ = ordhc._ordhc.triplet_counts(engine_tree(truth), engine_tree(tree), None)
    return same / (same + different + only_truth), aari


NOISES = {
    "constant .7": lambda labels, seed: constant(labels, seed, 0.7),
    "constant .8": lambda labels, seed: constant(labels, seed, 0.8),
    "constant .9": lambda labels, seed: constant(labels, seed, 0.9),
    "close 1": lambda labels, seed: close(labels, seed, 1.0),
    "close 2": lambda labels, seed: close(labels, seed, 2.0),
}


def case(kind, noise, a_leaf, more, seed):
    labels = trees(kind, seed)
    n, truth = len(labels), tree_of(labels)
    counts = (a_leaf * n, (a_leaf + more) * n)
    few, whole = asked(NOISES[noise](labels, seed), n, counts, np.random.default_rng(seed))
    p = ordhc.posterior(few, seed=seed)
    forecast = p.forecast(few, more, seed=seed)
    later = ordhc.posterior(whole, seed=seed)
    now, then = truth_of(p.tree, labels, truth), truth_of(later.tree, labels, truth)
    return {
        "kind": kind, "noise": noise, "a_leaf": a_leaf, "more": more, "seed": seed,
        "expected": [p.expected.accuracy, p.expected.aari], "low": p.expected.low, "high": p.expected.high,
        "now": now, "forecast": [forecast.accuracy, forecast.aari],
        "forecast_low": forecast.low, "forecast_high": forecast.high, "then": then,
        "expected_then": [later.expected.accuracy, later.expected.aari],
    }  # fmt: skip


def shown(found):
    """A table: means over seeds and noises, and of differences their standard error."""
    lines = []
    for kind in dict.fromkeys(one["kind"] for one in found):
        for a_leaf in sorted({one["a_leaf"] for one in found}):
            some = [one for one in found if (one["kind"], one["a_leaf"]) == (kind, a_leaf)]
            for at, what in enumerate(("accuracy", "AARI")):
                told = np.array(
                    [[one[key][at] for key in ("expected", "now", "forecast", "then")] for one in some]
                )
                if np.isnan(told).any():
                    continue
                wrong = np.stack([told[:, 0] - told[:, 1], told[:, 2] - told[:, 3]], 1)
                error = wrong.std(axis=0) / np.sqrt(len(some))
                means = [f"{x:.3f}" for x in told.mean(axis=0)]
                within = np.mean([one["low"] <= one["now"][0] <= one["high"] for one in some])
                lines.append(
                    (kind, a_leaf, what, *means[:2], f"{error[0]:.3f}", *means[2:], f"{error[1]:.3f}")
                    + ((f"{within:.0%}",) if at == 0 else ("",))
                )
    head = (
        "tree",
        "answers a leaf",
        "what",
        "expected",
        "true",
        "±",
        "forecast",
        "true then",
        "±",
        "within low to high",
    )
    table(head, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--answers", default="8,16")
    parser.add_argument("--more", type=int, default=24)
    parser.add_argument("--kinds", default="planted,unequal,balanced,yule")
    parser.add_argument("--noises", default="constant .8,close 1,close 2")
    parser.add_argument("--raw", type=Path, help="keep what is found in this file, and go on with it")
    given = parser.parse_args()
    known = []
    if given.raw and given.raw.exists():
        known = [json.loads(line) for line in given.raw.read_text().splitlines()]
    for seed in range(given.seeds):
        for a_leaf in map(int, given.answers.split(",")):
            for kind in given.kinds.split(","):
                for noise in given.noises.split(","):
                    asked_for = {
                        "kind": kind,
                        "noise": noise,
                        "a_leaf": a_leaf,
                        "more": given.more,
                        "seed": seed,
                    }
                    if any(asked_for.items() <= one.items() for one in known):
                        continue
                    known.append(case(kind, noise, a_leaf, given.more, seed))
                    if given.raw:
                        with given.raw.open("a") as file:
                            print(json.dumps(known[-1]), file=file)
    print(f"{given.seeds} seeds, {given.noises}, {given.more} answers a leaf more\n")
    shown([one for one in known if one["more"] == given.more])
