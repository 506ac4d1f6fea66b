"""Learning by asking: python benches/bench_learning.py [--large] [group ...].

Groups are questions, noise, speed, session, waiting and methods; by default all. --large adds n = 10,000
to the questions,
50 builds of n = 1,000 to the noise and n = 1,000,000 to the speed.
"""

import math
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import ordhc
from measure import table
from ordhc import learners, oracles

LARGE = "--large" in sys.argv
SHAPES = ("uniform", "yule", "balanced", "caterpillar")
KINDS = {
    "quick": learners.Quick(),
    "insertion": learners.Insertion(),
    "insertion, exact": learners.Insertion(exact=True),
    "insertion, parallel=100": learners.Insertion(parallel=100),
    "balanced": learners.Insertion(schedule="balanced"),
    "rounds": learners.Insertion(schedule="rounds"),
}


def information_bound(n):
    """The logarithm to base 3 of the number of binary trees, (2n - 3)!!."""
    return (math.lgamma(2 * n - 1) - math.lgamma(n) - (n - 1) * math.log(2)) / math.log(3)


def questions():
    rows = []
    for n in (100, 1000, 10_000) if LARGE else (100, 1000):
        for shape in SHAPES:
            truth = ordhc.datasets.random_tree(n, shape=shape, seed=1)
            for name, kind in KINDS.items():
                if name == "insertion, exact" and n > 1000:
                    continue
                learner = ordhc.Learner(n, kind, seed=1)
                tree = ordhc.learn(truth, learner=learner)
                assert ordhc.metrics.robinson_foulds(tree, truth) == 0
                asked = learner.status.n_answered
                ratios = (f"{asked / (n * math.log2(n)):.3f}", f"{asked / information_bound(n):.2f}")
                rows.append((f"{n:,}", shape, name, *ratios, f"{learner.n_rounds:,}"))
    print("Questions to the true tree, one run each\n")
    table(("n", "tree", "learner", "/ (n log2 n)", "/ bound", "rounds"), rows)


def noise():
    rows = []
    for n, runs in ((100, 200), (1000, 50)) if LARGE else ((100, 200),):
        for p in (0.9, 0.8, 0.7):
            for wrong in ("random", "adversarial"):
                for method in ("robust", "majority"):
                    asked, n_wrong, rounds = 0, 0, 0
                    for seed in range(runs):
                        truth = ordhc.datasets.random_tree(n, shape="uniform", seed=seed)
                        oracle = oracles.noisy(truth, p, wrong=wrong, seed=seed)
                        learner = ordhc.Learner(n, ordhc.learners.named(method, p=p, delta=0.05), seed=seed)
                        tree = ordhc.learn(oracle, learner=learner)
                        n_wrong += ordhc.metrics.robinson_foulds(tree, truth) > 0
                        asked += learner.status.n_answered
                        rounds += learner.n_rounds
                    each = (f"{asked / runs / n:.1f}", f"{rounds / runs:,.0f}", f"{n_wrong} of {runs}")
                    rows.append((f"{n:,}", p, wrong, method, *each))
    print("Wrong answers with probability 1 - p, delta = 0.05, uniform trees\n")
    table(("n", "p", "wrong answers", "learner", "questions a leaf", "rounds", "wrong trees"), rows)


def speed():
    rows = []
    for n in (10_000, 100_000, *((1_000_000,) if LARGE else ())):
        for shape in SHAPES:
            truth = ordhc.datasets.random_tree(n, shape=shape, seed=1)
            for name in ("balanced", "rounds"):
                learner = ordhc.Learner(n, KINDS[name])
                start = time.perf_counter()
                ordhc.learn(truth, learner=learner)
                seconds = time.perf_counter() - start
                each = f"{learner.status.n_answered / seconds / 1e6:.1f}"
                rows.append((f"{n:,}", shape, name, f"{seconds:.2f}", each, f"{learner.n_rounds:,}"))
    print("`learn` with an oracle that is called in batches, once each; insertion itself is measured by")
    print("`cargo run --release --example questions`\n")
    table(("n", "tree", "schedule", "s", "million answers/s", "rounds"), rows)


def session():
    truth = ordhc.datasets.random_tree(10_000, shape="uniform", seed=1)
    oracle = oracles.from_tree(truth)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for batch in (1, 10, 100, 1000):
            path = Path(folder) / f"{batch}.ordhc"
            wanted = min(100_000, 1000 * batch)
            with ordhc.Session(
                path, n_leaves=10_000, method=ordhc.learners.Insertion(schedule="rounds")
            ) as kept:
                start = time.perf_counter()
                told = 0
                while told < wanted:
                    asked = kept.ask(batch)
                    kept.tell(asked.ids, oracle(asked.rows))
                    told += len(asked)
                seconds = time.perf_counter() - start
            start = time.perf_counter()
            with ordhc.Session(path) as kept:
                assert kept.status.n_answered == told
            opened = time.perf_counter() - start
            rows.append((f"{batch:,}", f"{told:,}", f"{told / seconds:,.0f}", f"{opened:.2f}"))
    print("A session with one writer, each batch on the disk before the next\n")
    table(("batch", "answers", "answers/s", "s to reopen"), rows)


def waiting(asked=1000):
    """How long a person waits for a question of `uncertain`, with answers that were imported before."""
    rows = []
    for n in (200, 1000, 5000):
        truth = ordhc.datasets.random_tree(n, shape="yule", seed=1)
        oracle = oracles.noisy(truth, 0.85, seed=2)
        for m in (0, 100_000, 1_000_000):
            triples = np.random.default_rng(3).integers(0, n, (int(1.1 * m) + 100, 3))
            different = (triples != np.roll(triples, 1, axis=1)).all(axis=1)
            triples = triples[different][:m]
            with (
                tempfile.TemporaryDirectory() as folder,
                ordhc.Session(
                    Path(folder) / "a", n_leaves=n, method="uncertain", budget=10**7, fill={}, durable=False
                ) as kept,
            ):
                began = time.perf_counter()
                kept.add_answers(triples, oracle(triples))
                imported = time.perf_counter() - began
                seconds = []
                for k in range(asked):
                    began = time.perf_counter()
                    questions = kept.ask(who=f"p{k % 20}")
                    seconds.append(time.perf_counter() - began)
                    kept.tell(questions.ids, oracle(questions.rows), who=f"p{k % 20}")
                cells = [f"{1000 * x:,.0f}" for x in (seconds[0], *np.quantile(seconds, (0.5, 0.99, 1)))]
                rows.append((f"{n:,}", f"{m:,}", f"{imported:.1f}", *cells))
                print(rows[-1], flush=True)
    print(f"`uncertain` in a session, {asked:,} questions one after the other after an import\n")
    head = (
        "n",
        "imported answers",
        "import (s)",
        "first question (ms)",
        "median (ms)",
        "p99 (ms)",
        "longest (ms)",
    )
    table(head, rows)


def methods(n=5000, asked=100):
    """How long the first questions of each method take with many leaves."""
    truth = ordhc.datasets.random_tree(n, shape="yule", seed=1)
    rows = []
    for name in ("insertion", "quick", "robust", "robust-paper", "majority", "revise", "uncertain", *PAIRS):
        settings = {"p": 0.9} if name in ("robust", "robust-paper", "majority") else {}
        if name == "revise":
            settings = {"prior": truth}
        began = time.perf_counter()
        learner = ordhc.Learner(n, learners.named(name, **settings), seed=1, budget=10**6)
        made = time.perf_counter() - began
        near, seconds = oracles.from_tree(truth), []
        for _ in range(asked):
            began = time.perf_counter()
            questions = learner.ask(1)
            seconds.append(time.perf_counter() - began)
            learner.tell(questions.ids, near(questions.rows))
        began = time.perf_counter()
        learner.tree()
        rows.append((name, f"{made:.2f}", *(f"{1000 * x:.1f}" for x in (np.median(seconds), max(seconds)))))
        rows[-1] = (*rows[-1], f"{time.perf_counter() - began:.2f}")
    print(f"The first {asked} questions of each method, {n:,} leaves, one run each\n")
    table(("method", "made (s)", "median question (ms)", "longest (ms)", "tree (s)"), rows)


PAIRS = ("single", "complete", "4k-active")
GROUPS = {
    "questions": questions,
    "noise": noise,
    "speed": speed,
    "session": session,
    "waiting": waiting,
    "methods": methods,
}


def main():
    for name in [text for text in sys.argv[1:] if text in GROUPS] or GROUPS:
        GROUPS[name]()


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
