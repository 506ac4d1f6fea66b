"""Questions chosen by expected information beside random ones, `robust` and `majority`.

python benches/bench_uncertain.py [close] [constant] [time] [--seeds 10]

Planted tree of eight clusters of thirty leaves, three levels. "close": answers by level and a normal deviate
for each pair, one level being 1.5 deviations, drawn anew for each answer. "constant": answers right with
p = .8. Mean AARI by the number of questions. "time": seconds until there is the next batch of 50 questions,
and the tree.
"""

import argparse
import time

import numpy as np

import ordhc
from bench_posterior import balanced
from measure import table


def levels_of(labels):
    return (labels[:, None] == labels[None]).cumprod(axis=2).sum(axis=2)


def close(labels, seed, delta=1.5):
    level, rng = levels_of(labels), np.random.default_rng(seed + 5)

    def oracle(rows):
        a, b, c = np.asarray(rows).T
        near = np.stack([level[b, c], level[a, c], level[a, b]], 1) * delta
        return (near + rng.normal(size=near.shape)).argmax(1).astype(np.int8)

    return oracle


def constant(labels, seed, p=0.8):
    """Where neither pair is closer, any answer."""
    level, rng = levels_of(labels), np.random.default_rng(seed + 5)

    def oracle(rows):
        a, b, c = np.asarray(rows).T
        near = np.stack([level[b, c], level[a, c], level[a, b]], 1) + 0.1 * rng.random((len(a), 3))
        told = near.argmax(1)
        wrong = rng.random(len(a)) > p
        told[wrong] = (told[wrong] + rng.integers(1, 3, wrong.sum())) % 3
        return told.astype(np.int8)

    return oracle


def truth(seed):
    labels = balanced()
    return labels[np.random.default_rng(seed).permutation(len(labels))]


def asked(method, oracle, n, checks, seed, **settings):
    """The trees after so many answers."""
    learner = ordhc.Learner(n, method, budget=checks[-1], seed=seed, **settings)
    trees = []
    for check in checks:
        while learner.n_answered < check and not learner.done:
            questions = learner.ask(min(60, check - learner.n_answered))
            learner.tell(questions.ids, oracle(questions.rows))
        trees.append(learner.tree())
    return trees


def at_random(oracle, n, checks, seed):
    rng = np.random.default_rng(seed)
    recorded = ordhc.oracles.recording(oracle)
    trees = []
    for before, check in zip((0, *checks), checks, strict=False):
        recorded(np.array([rng.permutation(n)[:3] for _ in range(check - before)]))
        trees.append(ordhc.posterior(recorded.comparisons(n)).tree)
    return trees


def curves(noise, checks, seeds, methods):
    found = {method: [] for method in methods}
    for seed in range(seeds):
        labels = truth(seed)
        for method in methods:
            oracle = noise(labels, seed)
            if method == "random":
                trees = at_random(oracle, len(labels), checks, seed)
            else:
                settings = {} if method == "uncertain" else {"p": 0.8}
                trees = asked(method, oracle, len(labels), checks, seed, **settings)
            found[method].append([ordhc.metrics.aari(tree, labels) for tree in trees])
    lines = [(method, *(f"{x:.3f}" for x in np.mean(rows, axis=0))) for method, rows in found.items()]
    print(f"{noise.__name__}, n = 240, {seeds} seeds: AARI by the number of questions\n")
    table(("questions", *(f"{check:,}" for check in checks)), lines)


def timing():
    lines = []
    for size, a_leaf in ((104 // 8, 20), (240 // 8, 15)):
        labels = balanced(3, size)
        n = len(labels)
        learner = ordhc.Learner(n, "uncertain", budget=10**9)
        oracle = close(labels, 0)
        while learner.n_answered < a_leaf * n:
            questions = learner.ask(n)
            learner.tell(questions.ids, oracle(questions.rows))
        seconds = []
        for call, given in ((learner.ask, (50,)), (learner.tree, ())):
            start = time.perf_counter(), time.process_time()
            call(*given)
            seconds += [time.perf_counter() - start[0], time.process_time() - start[1]]
        lines.append((n, a_leaf * n, *(f"{x:.2f}" for x in seconds)))
    table(("leaves", "answers", "50 questions (s)", "of processors", "tree (s)", "of processors"), lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["close", "constant", "time"])
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    if "close" in given.what:
        curves(close, (1200, 1920, 2400, 3600, 4800), given.seeds, ("uncertain", "random"))
    if "constant" in given.what:
        checks = (1200, 2400, 4800, 7200)
        curves(constant, checks, given.seeds, ("uncertain", "random", "robust", "majority"))
    if "time" in given.what:
        timing()
