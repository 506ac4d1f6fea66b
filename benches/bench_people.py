"""Sessions of many people: python benches/bench_people.py [--large] [speed | open | people].

`speed` asks and tells for 200 people; `open` opens a session of many answers; `people` compares
estimates of how reliable people are. By default all.
"""

import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import ordhc
from measure import table
from ordhc import oracles
from ordhc.asking.people import dawid_skene, interval

LARGE = "--large" in sys.argv
#: How, threads, questions at a time, whether every answer waits for the disk.
CASES = (
    ("one thread", 1, 1, True),
    ("one thread, ten at a time", 1, 10, True),
    ("20 threads", 20, 1, True),
    ("one thread, not durable", 1, 1, False),
    ("one thread, ten at a time, not durable", 1, 10, False),
)
CROWD = [f"person {k}" for k in range(200)]


def speed():
    rows = []
    for name, n_threads, k, durable in CASES:
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
            rows.append((name, f"{total / (time.perf_counter() - start):,.0f}"))
            session.close()
    print("Ask + tell, 200 people who hold leases, 100 leaves, pairs a second\n")
    table(("how", "pairs / s"), rows)


def caterpillar(n):
    text = "0"
    for leaf in range(1, n):
        text = f"({text},{leaf})"
    return text + ";"


def opening():
    n = 1_000_000 if LARGE else 100_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a"
        chance = np.random.default_rng(0)
        with ordhc.Session(path, n_leaves=1000, fill="random") as session:
            batch = 5000
            for at in range(n // batch):
                who = CROWD[at % 200]
                questions = session.ask(batch, who=who)
                session.tell(questions.ids, chance.integers(0, 3, len(questions)), who=who)
        start = time.perf_counter()
        with ordhc.Session(path) as session:
            took = time.perf_counter() - start
            count = session.n_answered
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count:,} answers open in {took:.2f} s; at most {peak:,.0f} MB in all\n")


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
    groups = {"speed": speed, "open": opening, "people": people}
    for name in [name for name in sys.argv[1:] if name in groups] or groups:
        groups[name]()
