"""Whether `select` chooses well: python benches/bench_select.py [sets].

Answers by random trees of 60 leaves, of which a share is wrong. The score is the share of leaf triples that a
method's tree gets right; regret is what the chosen method has less than the best of those compared.
"""

import sys
from functools import partial
from itertools import count, cycle, islice

import numpy as np

import ordhc
from measure import table
from ordhc.tree.dendrogram import lca_size

N, FOLDS = 60, 5
METHODS = ("adds3-al", "adds3-al+spr", "mulk3-al", "posterior-al")
ALWAYS = "posterior-al"
#: The tree, the question, the number of answers, and the share of them that are wrong.
KINDS = (
    ("yule", "triplet", 600, 0.15),
    ("planted", "odd", 1200, 0.15),
    ("balanced", "triplet", 1800, 0.3),
    ("yule", "odd", 600, 0.3),
    ("planted", "triplet", 1800, 0.15),
    ("balanced", "odd", 1200, 0.0),
    ("yule", "triplet", 3600, 0.3),
)


def truth(kind, rng):
    """A tree of N leaves in a random order, as nested labels or as merges."""
    order = rng.permutation(N)
    if kind == "planted":
        return ordhc.as_dendrogram(np.stack([order % 2, order % 4], axis=1))
    roots, merges = order.tolist(), []
    while len(roots) > 1:
        one, other = (0, 1) if kind == "balanced" else rng.choice(len(roots), 2, replace=False)
        pair = (roots[one], roots[other])
        roots = [root for root in roots if root not in pair] + [N + len(merges)]
        merges.append(pair)
    return ordhc.Dendrogram(merges, np.arange(1.0, N))


def answers(tree, question, m, wrong, rng):
    """Answers about random triples; those to ties are random."""
    rows = np.array([rng.permutation(N)[:3] for _ in range(m)])
    a, b, c = rows.T
    size = partial(lca_size, tree)
    # The odd one out is the one whose two others are closest.
    sizes = np.stack([size(b, c), size(a, c), size(a, b)], axis=1) + rng.random((m, 3)) / 2
    if question == "odd":
        odd = sizes.argmin(axis=1)
        is_wrong = rng.random(m) < wrong
        odd = np.where(is_wrong, (odd + rng.integers(1, 3, m)) % 3, odd)
        odd_first = rows[np.arange(m)[:, None], (odd[:, None] + [0, 1, 2]) % 3]
        return ordhc.Triplets.from_odd_one_out(odd_first, n_leaves=N)
    turned = (sizes[:, 2] > sizes[:, 1]) ^ (rng.random(m) < wrong)
    rows[turned] = rows[turned][:, [0, 2, 1]]
    return ordhc.Triplets(rows, n_leaves=N)


def main():
    n_sets = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    regrets, rows = [], []
    for seed, (kind, question, m, wrong) in islice(zip(count(), cycle(KINDS)), n_sets):
        rng = np.random.default_rng(seed)
        tree = truth(kind, rng)
        data = answers(tree, question, m, wrong, rng)
        right = {
            name: 1 - ordhc.metrics.triplet_distance(ordhc.cluster(data, method=name), tree)
            for name in METHODS
        }
        best = max(right.values())
        chosen = [ordhc.select(data, METHODS, folds=FOLDS, by=by).best for by in ("revenue", "satisfied")]
        fast = "adds3-al+spr"
        regrets.append([best - right[name] for name in (*chosen, ALWAYS, fast)])
        rows.append((kind, question, m, wrong, *chosen, *(f"{right[name]:.3f}" for name in METHODS)))
        print(*rows[-1], *np.round(np.mean(regrets, axis=0), 4), flush=True)
    table(("tree", "question", "answers", "wrong", "by revenue", "by satisfied", *METHODS), rows)
    mean = np.mean(regrets, axis=0)
    names = ("select by revenue", "select by satisfied", f"always {ALWAYS}", f"always {fast}")
    table(("choice", "mean regret"), [(n, f"{r:.4f}") for n, r in zip(names, mean, strict=True)])


if __name__ == "__main__":
    main()
