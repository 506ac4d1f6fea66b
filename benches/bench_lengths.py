"""AddS with and without lengths of leaves: the share of triples of leaves that trees have right.

python benches/bench_lengths.py [--seeds 5]

Additive trees of 80 leaves, random ("yule") and of four even levels ("levels"), with 6,000 answers and
lengths of leaves of a standard deviation `sd`, in heights; and the papers' planted model with n^2 / 16
answers (AARI), which has no lengths. "asked for" is how often lengths=None uses lengths.
"""

import argparse

import numpy as np

import ordhc
from bench_posterior import answers, balanced
from measure import table
from ordhc.tree.dendrogram import lca_size


def yule(n, rng):
    """How early leaves part in a random tree: (n, n), larger is closer."""
    near, clusters = np.zeros((n, n)), [[leaf] for leaf in range(n)]
    for left in range(n - 1, 0, -1):
        a, b = sorted(rng.choice(len(clusters), 2, replace=False))
        near[np.ix_(clusters[a], clusters[b])] = near[np.ix_(clusters[b], clusters[a])] = left
        clusters[a] += clusters.pop(b)
    return np.log2(1 + near)


def levels(n, rng):
    """The same of a tree of eight clusters, by halves."""
    label = rng.permutation(np.arange(n) * 8 // n)
    return 1.5 * sum((label[:, None] >> level) == (label >> level) for level in (2, 1, 0))


def additive(kind, sd, seed, n=80, m=6000):
    """Answers about an additive tree, how close its leaves are without lengths, and the lengths."""
    rng = np.random.default_rng(seed)
    near = {"yule": yule, "levels": levels}[kind](n, rng)
    near = near / near.std() * 1.2
    lengths = rng.normal(size=n) * sd
    rows = np.argsort(rng.random((m, n)), axis=1)[:, :3]
    a, b, c = rows.T
    odds = near[a, b] - near[a, c] + lengths[c] - lengths[b]
    swap = rng.random(m) > 0.02 + 0.96 / (1 + np.exp(-odds))
    rows[swap] = rows[swap][:, [0, 2, 1]]
    return ordhc.Triplets(rows, n_leaves=n), near, lengths


def right(tree, near, m=20_000):
    """The share of triples that a tree resolves as the truth does; unresolved ones count half."""
    rng = np.random.default_rng(0)
    a, b, c = np.argsort(rng.random((m, len(near))), axis=1)[:, :3].T
    truth = np.sign(near[a, b] - near[a, c])
    said = np.sign(lca_size(tree, a, c) - lca_size(tree, a, b))
    told = truth != 0
    return float(np.where(said == 0, 0.5, said == truth)[told].mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    rows = []

    def measure(name, sd, made, score):
        found = []
        for seed in seeds:
            data, truth, lengths = made(seed)
            trees = [
                ordhc.cluster(data, method="adds3-al+spr", lengths=which) for which in (False, True, None)
            ]
            correlation = np.corrcoef(ordhc.similarities.leaf_lengths(data), lengths)[0, 1] if sd else np.nan
            asked = trees[2].settings["similarity_parameters"]["lengths"]
            found.append([*(score(tree, truth) for tree in trees), asked, correlation])
        rows.append([name, sd, *(f"{value:.3f}" for value in np.mean(found, axis=0))])

    for kind in ("yule", "levels"):
        for sd in (0, 0.5, 1, 2):
            measure(kind, sd, lambda seed, kind=kind, sd=sd: additive(kind, sd, seed), right)
    few = lambda seed: (*answers(balanced(), 240**2 // 16, seed), None)  # noqa: E731
    measure("planted, n^2/16", 0, few, lambda tree, labels: float(ordhc.metrics.aari(tree, labels)))
    table(["answers", "sd", "without", "with", "None", "asked for", "correlation of lengths"], rows)


if __name__ == "__main__":
    main()
