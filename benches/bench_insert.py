"""Questions for a new item in a tree that exists, and how often its place is right.

python benches/bench_insert.py [--paper]
"""

import sys

import numpy as np

import ordhc
from measure import random_tree, table
from ordhc import learners, oracles

RUNS, P = 50, 0.8
METHODS = {
    "Insertion(exact=True), right answers": learners.Insertion(exact=True),
    "Insertion(), right answers": learners.Insertion(),
    "Robust(p=0.8)": learners.Robust(p=P),
    "Robust(p=0.8, assume='uniform')": learners.Robust(p=P, assume="uniform"),
}
if "--paper" in sys.argv:
    METHODS["RobustPaper(p=0.8)"] = learners.RobustPaper(p=P)


def one(truth, method, seed):
    """Insert a random leaf into a tree without it; return whether its place is right, and the questions."""
    name = truth.names[int(np.random.default_rng(seed).integers(truth.n_leaves))]
    right = oracles.from_tree(truth)
    answers = oracles.noisy(right, P, seed=seed) if method.right < 1 else right
    asked = oracles.Counting(answers)
    try:
        tree = ordhc.insert(truth.prune([name]), name, asked, method, seed=seed)
    except ordhc.errors.InputError:
        # The paper's method refuses a place that its own verification contradicts.
        return False, asked.n_questions
    return ordhc.metrics.robinson_foulds(tree, truth) == 0, asked.n_questions


def main():
    rows = []
    for n in (50, 200, 1000):
        for shape in ("yule", "uniform"):
            for name, method in METHODS.items():
                found = []
                for seed in range(RUNS):
                    truth = random_tree(shape, n + 1, seed)
                    truth = truth.replace(names=[f"item {leaf}" for leaf in range(n + 1)])
                    found.append(one(truth, method, seed))
                right, asked = np.array(found, float).T
                error = asked.std(ddof=1) / np.sqrt(RUNS)
                bound = f"{np.log2(2 * n - 1):.1f}"
                mean = f"{asked.mean():.1f} ± {error:.1f}"
                rows.append((f"{n:,}", shape, name, mean, bound, f"{right.mean():.0%}"))
    print(f"One new item, means of {RUNS} trees with standard errors\n")
    table(("leaves", "tree", "method", "questions", "log2(2n - 1)", "right"), rows)


main()
