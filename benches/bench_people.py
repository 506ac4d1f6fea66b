"""Many people: python benches/bench_people.py [--large] [speed | open | people | promise | groups | level].

`speed` asks and tells for 200 people; `open` opens sessions of many answers; `people` compares
estimates of how reliable people are; `promise` learns trees from crowds of whom some are hardly ever
right; `groups` looks for groups of people with trees of their own (`ordhc.people_groups`); `level`
checks the permutation test of docs/howto/compare-groups.md where groups do not differ. By default all.
"""

import subprocess
import sys
import tempfile
import threading
import time
from itertools import permutations, product
from pathlib import Path

import numpy as np

import ordhc
from bench_structure import tree_heights
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
            session = ordhc.Session(
                Path(folder) / "a", n_leaves=100, method=ordhc.learners.Robust(p=0.7), durable=durable
            )
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
n = session.status.n_answered
print(f"{n:,} answers, {sys.argv[2]}, open in {took:.2f} s, {busy:.2f} s of them busy")
print(f"at most {peak:,.0f} MB in all")
"""


def opening():
    n, n_leaves, batch = 1_000_000 if LARGE else 100_000, 2000, 5000
    chance = np.random.default_rng(0)
    for kind in ("imported", "asked and told"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a"
            settings = {"method": ordhc.learners.Insertion(parallel=1), "fill": "random", "distinct": False}
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
    learner = ordhc.Learner(n, ordhc.learners.Robust(p=p, parallel=10), seed=seed)
    while not learner.done:
        questions = learner.ask(20)
        told, least = oracle(questions.rows).astype(int), questions.rows.argmin(axis=1)
        who = chance.integers(0, len(accuracy), len(told))
        other = (told + 1 + chance.integers(1, 4, len(told))) % 4 - 1
        if alike:
            other = np.where(told == least, -1, least)
        told = np.where(chance.random(len(told)) < accuracy[who], told, other)
        learner.tell(questions.ids, told, p=None if way == "constant" else claims[who])
    return ordhc.metrics.robinson_foulds(learner.tree(), truth) > 0, learner.status.n_answered / n


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


def groups_of_people():
    """People put right, and the number of trees found, 30 items."""
    n_sets = 20 if LARGE else 2
    #: How many people follow each tree, answers of each, lengths, noise, people who answer at random.
    cases = {
        "one tree": ((40,), 60, False, 0.0, 0),
        "one tree, lengths": ((40,), 60, True, 0.0, 0),
        "one tree, lengths, noise by person": ((40,), 60, True, 0.4, 0),
        "two trees": ((20, 20), 60, False, 0.0, 0),
        "two trees, lengths": ((20, 20), 60, True, 0.0, 0),
        "two trees, 30 and 10 people": ((30, 10), 60, False, 0.0, 0),
        "two trees, 10 answers each": ((20, 20), 10, False, 0.0, 0),
        "two trees, 6 people at random": ((20, 20), 60, False, 0.0, 6),
        "three trees": ((14, 14, 14), 60, False, 0.0, 0),
    }
    rows = []
    for name, (sizes, each, has_lengths, most_noise, n_random) in cases.items():
        numbers, right, seconds = [], [], []
        for seed in range(n_sets):
            chance = np.random.default_rng((seed, len(rows)))
            first = tree_heights(30, chance)
            lengths = chance.normal(size=30) if has_lengths else np.zeros(30)
            trees = [first, *(elsewhere(first, 0.3, chance) for _ in sizes[1:])]
            follows = np.repeat(np.arange(len(sizes)), sizes)
            noise = chance.uniform(0, most_noise, len(follows))
            at_random = np.arange(len(follows)) % 7 == 0 if n_random else np.zeros(len(follows), dtype=bool)
            noise[at_random] = 0.5
            data = said([tree - lengths - lengths[:, None] for tree in trees], follows, noise, each, chance)
            start = time.perf_counter()
            found = ordhc.people_groups(data, seed=seed)
            seconds.append(time.perf_counter() - start)
            numbers.append(found.n_trees)
            if found.n_trees == len(sizes):
                member = np.array([found.memberships[who] for who in range(len(follows))]).argmax(axis=1)
                ways = [np.array(way)[follows] == member for way in permutations(range(len(sizes)))]
                right.append(max(way[~at_random].mean() for way in ways))
        share = f"{np.mean(right):.3f}" if right else ""
        counts = ", ".join(str(numbers.count(k)) for k in (1, 2, 3))
        rows.append((name, counts, share, f"{np.mean(seconds):.0f}"))
        print(rows[-1], flush=True)
    print(f"\nGroups of people, {n_sets} sets each; people put right where the number of trees is right\n")
    table(("people follow", "found 1, 2, 3 trees", "people put right", "seconds"), rows)


def level():
    """How often the permutation test says that two groups differ, though all people follow one tree."""
    n_sets, n_drawn = 200, 59
    rows = []
    for most_noise in (0.0, 0.4):
        rejected = 0
        for seed in range(n_sets):
            chance = np.random.default_rng((seed, 7))
            lengths = chance.normal(size=30)
            tree = tree_heights(30, chance) - lengths - lengths[:, None]
            noise = chance.uniform(0, most_noise, 40)
            data = said([tree], np.zeros(40, dtype=int), noise, 60, chance)
            people = np.asarray(data.groups)

            def distance(group, data=data, people=people):
                inside = np.isin(people, group)
                one, other = (ordhc.cluster(data[part], method="adds3-al") for part in (inside, ~inside))
                return ordhc.metrics.triplet_distance(one, other)

            found = distance(np.arange(20))
            drawn = [distance(chance.permutation(40)[:20]) for _ in range(n_drawn)]
            rejected += (1 + sum(each >= found for each in drawn)) / (1 + n_drawn) <= 0.05
        rows.append(("noise by person" if most_noise else "the same noise", f"{rejected / n_sets:.3f}"))
    print(f"\nPermutation test at 5%, {n_sets} sets of 40 people with 60 answers each who follow one tree\n")
    table(("people", "found to differ"), rows)


def elsewhere(H, distance, chance):
    """A tree with leaves exchanged at random until a share of the triples is resolved otherwise."""
    a, b, c = np.argsort(chance.random((4000, len(H))), axis=1)[:, :3].T
    order, other = np.arange(len(H)), H
    closest = np.stack([H[a, b], H[a, c], H[b, c]]).argmax(axis=0)
    while (np.stack([other[a, b], other[a, c], other[b, c]]).argmax(axis=0) != closest).mean() < distance:
        i, j = chance.choice(len(H), 2, replace=False)
        order[[i, j]] = order[[j, i]]
        other = H[np.ix_(order, order)]
    return other


def said(trees, follows, noise, each, chance):
    """Answers by choice in proportion to exp(closeness), a share of twice the noise by a coin."""
    rows = []
    for tree, share in zip(follows, noise, strict=True):
        S = trees[tree]
        a, b, c = np.argsort(chance.random((each, len(S))), axis=1)[:, :3].T
        is_near = chance.random(each) < 1 / (1 + np.exp(S[a, c] - S[a, b]))
        is_near = np.where(chance.random(each) < 2 * share, chance.random(each) < 0.5, is_near)
        rows.append(np.where(is_near[:, None], np.column_stack([a, b, c]), np.column_stack([a, c, b])))
    people = np.repeat(np.arange(len(follows)), each)
    return ordhc.Triplets(np.concatenate(rows), n_leaves=len(trees[0]), groups=people)


if __name__ == "__main__":
    groups = {"speed": speed, "open": opening, "people": people, "promise": promise}
    groups |= {"groups": groups_of_people, "level": level}
    for name in [name for name in sys.argv[1:] if name in groups] or groups:
        groups[name]()
