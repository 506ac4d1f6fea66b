"""Sessions of many people: python benches/bench_people.py [--large] [speed | open | people | promise].

`speed` asks and tells for 200 people; `open` opens sessions of many answers; `people` compares
estimates of how reliable people are; `promise` learns trees from crowds of whom some are hardly ever
right. By default all.
"""

import subprocess
import sys
import tempfile
import threading
import time
from itertools import product
from pathlib import Path

import numpy as np

import ordhc
from measure import table
from ordhc import oracles
from ordhc.asking.people import dawid_skene, interval

LARGE = "--large" in sys.argv
#: How, threads, questions at a time.
CASES = (("one at a time", 1, 1), ("ten at a time", 1, 10), ("20 threads", 20, 1))
CROWD = [f"person {k}" for k in range(200)]


def speed():
    rows = []
    for (name, n_threads, k), durable in product(CASES, (None, True, False)):
        with tempfile.TemporaryDirectory() as folder:
            session = ordhc.Session(Path(folder) / "a", n_leaves=100, p=0.7, durable=durable)
            oracle = oracles.noisy(ordhc.as_dendrogram(caterpillar(100)), 0.7, seed=1)
            for who in CROWD:
                session.ask(k, who=who)
            total = 4000

            def work(session, oracle, crowd, k, pairs):
                for at in range(pairs // k):
                    who = crowd[at % len(crowd)]
                    questions = session.ask(k, who=who)
                    session.tell(questions.ids, oracle(questions.rows), who=who)

            start = time.perf_counter()
            threads = [
                threading.Thread(
                    target=work, args=(session, oracle, CROWD[t::n_threads], k, total // n_threads)
                )
                for t in range(n_threads)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            rows.append((name, str(durable), f"{total / (time.perf_counter() - start):,.0f}"))
            session.close()
    print("Ask + tell, 200 people who hold leases, 100 leaves, pairs a second\n")
    table(("how", "durable", "pairs / s"), rows)


def caterpillar(n):
    text = "0"
    for leaf in range(1, n):
        text = f"({text},{leaf})"
    return text + ";"


OPEN = """
import resource, sys, time
import ordhc
start, busy = time.perf_counter(), time.process_time()
session = ordhc.Session(sys.argv[1])
took, busy = time.perf_counter() - start, time.process_time() - busy
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{session.n_answered:,} answers, {sys.argv[2]}, open in {took:.2f} s, {busy:.2f} s of them busy; "
      f"at most {peak:,.0f} MB in all")
"""


def opening():
    n, n_leaves, batch = 1_000_000 if LARGE else 100_000, 2000, 5000
    chance = np.random.default_rng(0)
    for kind in ("imported", "asked and told"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a"
            settings = {"parallel": 1, "fill": "random", "distinct": False}
            with ordhc.Session(path, n_leaves=n_leaves, **settings) as session:
                for at in range(n // batch):
                    who = CROWD[at % 200]
                    if kind == "imported":
                        leaves = np.array([chance.choice(n_leaves, 3, replace=False) for _ in range(batch)])
                        session.add_answers(leaves, chance.integers(0, 3, batch), who=who)
                        continue
                    questions = session.ask(batch, who=who)
                    session.tell(questions.ids, chance.integers(0, 3, len(questions)), who=who)
            # In a process of its own, for its memory.
            subprocess.run([sys.executable, "-c", OPEN, path, kind], check=True)
    print()


def people():
    rows = []
    chance = np.random.default_rng(0)
    for n_people, each, n_questions in ((10, 20, 40), (50, 40, 400), (200, 40, 1000), (200, 40, 4000)):
        errors = {name: [] for name in ("one coin", "beta", "plurality")}
        inside = {name: [] for name in errors}
        for _ in range(20):
            p = chance.beta(6, 2, n_people)
            p[: n_people // 10] = 1 / 3
            who = np.repeat(np.arange(n_people), each)
            questions = np.concatenate(
                [chance.choice(n_questions, each, replace=False) for _ in range(n_people)]
            )
            right = chance.random(len(who)) < p[who]
            answers = np.where(right, 0, chance.integers(1, 3, len(who))).astype(np.int8)
            # The right answer is 0 of every question: nobody knows that.
            known = np.full(n_questions, -1, dtype=np.int8)
            alpha, beta = dawid_skene(questions, answers, who, n_people, known, 3)
            for name, (a, b) in {
                "one coin": (alpha, beta),
                "beta": leave_one_out(questions, answers, who, n_people, n_questions),
                "plurality": plurality(questions, answers, who, n_people, n_questions),
            }.items():
                errors[name].append(np.abs(a / (a + b) - p).mean())
                low, high = interval(a, b)
                inside[name].append(((low <= p) & (p <= high)).mean())
        for name in errors:
            rows.append(
                (
                    n_people,
                    each,
                    n_questions,
                    name,
                    f"{np.mean(errors[name]):.3f}",
                    f"{np.mean(inside[name]):.2f}",
                )
            )
    print("How reliable people are, from questions that several answered; a tenth answer by chance\n")
    table(("people", "answers each", "questions", "estimate", "mean error", "in the 90% interval"), rows)


def promise():
    """Wrong trees and questions a leaf, by what is known of the people."""
    kinds = {
        "Beta(6, 2)": lambda chance: chance.beta(6, 2, 20),
        "0.25 (3 of 10) or 0.85": lambda _: np.repeat([0.25, 0.85], [6, 14]),
        "0.6 or 0.95": lambda _: np.repeat([0.6, 0.95], [10, 10]),
    }
    ways = ("constant", "true", "gold 0", "gold 5", "gold 20", "low end, gold 20")
    n_trees = 200 if LARGE else 20
    rows = []
    for (name, crowd), alike in product(kinds.items(), (False, True)):
        cells = []
        for way in ways:
            found = [learned(crowd, way, alike, seed) for seed in range(n_trees)]
            wrong, asked = (sum(column) for column in zip(*found, strict=True))
            cells.append(f"{wrong}, {asked / n_trees:.0f}")
        rows.append((f"{name}, wrong ones {'all the same' if alike else 'anything'}", *cells))
    print(f"Trees of 30 leaves, delta = 0.05: wrong ones of {n_trees}, and questions a leaf\n")
    table(("people are right", *ways), rows)


def learned(crowd, way, alike, seed, n=30):
    chance = np.random.default_rng(seed)
    accuracy = crowd(chance)
    truth = ordhc.as_dendrogram(nested(n, chance))
    oracle = oracles.from_tree(truth)
    p, claims = 2 / 3, np.full(len(accuracy), np.nan)
    if way == "constant":
        p = accuracy.mean()
    elif way == "true":
        claims = np.maximum(accuracy, 0.5)
    else:
        n_gold = int(way.split()[-1])
        right = chance.binomial(n_gold, accuracy)
        a, b = 2.0 + right, 1.0 + n_gold - right
        claims = np.maximum(interval(a, b)[0] if "low" in way else a / (a + b), 0.5)
    learner = ordhc.Learner(n, "robust", p=p, parallel=10, seed=seed)
    while not learner.done:
        questions = learner.ask(20)
        told, least = oracle(questions.rows).astype(int), questions.rows.argmin(axis=1)
        who = chance.integers(0, len(accuracy), len(told))
        other = (told + 1 + chance.integers(1, 4, len(told))) % 4 - 1
        if alike:
            other = np.where(told == least, -1, least)
        told = np.where(chance.random(len(told)) < accuracy[who], told, other)
        learner.tell(questions.ids, told, p=None if way == "constant" else claims[who])
    return ordhc.metrics.robinson_foulds(learner.tree(), truth) > 0, learner.n_answered / n


def nested(n, chance):
    parts = [str(leaf) for leaf in range(n)]
    while len(parts) > 1:
        chance.shuffle(parts)
        parts.append(f"({parts.pop()},{parts.pop()})")
    return parts[0] + ";"


def counts_of(questions, answers, n_questions):
    return np.bincount(questions * 3 + answers, minlength=3 * n_questions).reshape(-1, 3).astype(float)


def leave_one_out(questions, answers, who, n_people, n_questions):
    """Right is what most others say; the parameters of Beta distributions."""
    counts = counts_of(questions, answers, n_questions)[questions]
    counts[np.arange(len(who)), answers] -= 1
    use = counts.sum(axis=1) > 0
    best = counts == counts.max(axis=1, keepdims=True)
    right = (best / best.sum(axis=1, keepdims=True))[np.arange(len(who)), answers]
    agreed = np.bincount(who[use], right[use], minlength=n_people)
    return 2 + agreed, 1 + np.bincount(who[use], minlength=n_people) - agreed


def plurality(questions, answers, who, n_people, n_questions):
    """Right is what most say, oneself included."""
    counts = counts_of(questions, answers, n_questions)[questions]
    use = counts.sum(axis=1) > 1
    best = counts == counts.max(axis=1, keepdims=True)
    right = (best / best.sum(axis=1, keepdims=True))[np.arange(len(who)), answers]
    agreed = np.bincount(who[use], right[use], minlength=n_people)
    return 2 + agreed, 1 + np.bincount(who[use], minlength=n_people) - agreed


if __name__ == "__main__":
    groups = {"speed": speed, "open": opening, "people": people, "promise": promise}
    for name in [name for name in sys.argv[1:] if name in groups] or groups:
        groups[name]()
