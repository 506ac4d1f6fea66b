"""How often intervals that are called 95% hold what they are about, and what is said of people.

python benches/bench_intervals.py [measure] [table] [people] [--results FILE] [--studies 180]
    [--cases "people-24;people-96"]

A study: 24 leaves, a random binary tree (Yule; three trees, by turns), people whose reliability is
Beta(6, 2), each of whom answers so many questions drawn at random: which of three is the odd one out, or to
which of two the first one is closer. An answer is right with the person's reliability, otherwise drawn at
random. Where people aren't known, all answers have the same reliability, .75.

"expected" is the mean, over studies of the same tree, of the exact accuracy of trees made from as much data
on answers of new people; "of the tree" is the exact accuracy of the one tree that is made from all answers
of the study, which has more answers than the trees of the folds. `select` compares three methods, by the
share satisfied; "best" is the one that it takes.

"people" counts verdicts: 12 people answer by the tree, and so many others by a tree of their own, by another
tree that they share, or at random.
"""

import argparse
import itertools
import json
import time
from collections import Counter
from pathlib import Path

import numpy as np

import ordhc
from measure import table
from ordhc.clustering.plan import Plan
from ordhc.evaluate.held_out import Answers, held_out, verdicts
from ordhc.evaluate.people import standings
from ordhc.evaluate.trials import parts_of

LEAVES, TREES, FOLDS, RESAMPLES = 24, 3, 5, 100
METHODS = ("adds3-al", "adds3-al+spr", "mulk3-al")
#: People (0: not known), answers of each (of all), and the kind of question.
CASES = {
    "people-24": (24, 30, "odd one out"),
    "people-96": (96, 30, "odd one out"),
    "people-40, triplets": (40, 40, "triplet"),
    "answers-720": (0, 720, "odd one out"),
}
RELIABILITY = (6, 2)
MEAN = 0.75


class Truth:
    """A tree, and what is right about every question."""

    def __init__(self, seed, kind):
        self.kind = kind
        self.tree = ordhc.datasets.random_tree(LEAVES, shape="yule", seed=seed)
        triples = np.array(list(itertools.combinations(range(LEAVES), 3)))
        if kind == "triplet":
            triples = np.concatenate([triples[:, order] for order in ([0, 1, 2], [1, 0, 2], [2, 0, 1])])
        self.questions = triples
        self.right = self.said(self.tree)

    def said(self, tree):
        """(q,) the leaf that a tree has as the odd one out; or 1, -1, 0: is the first of two closer?"""
        if self.kind == "triplet":
            return verdicts(tree, ordhc.Triplets(self.questions, n_leaves=LEAVES)).astype(int)
        found = np.full(len(self.questions), -1)
        for odd in range(3):
            a, b = (at for at in range(3) if at != odd)
            rows = ordhc.Triplets(self.questions[:, [a, b, odd]], n_leaves=LEAVES)
            found[verdicts(tree, rows) == 1] = odd
        return found

    def accuracy(self, tree):
        """The exact share of answers of new people that a tree satisfies."""
        said = self.said(tree)
        if self.kind == "triplet":
            agrees = np.where(said == self.right, MEAN + (1 - MEAN) / 2, (1 - MEAN) / 2)
            return float(np.where(said == 0, 0, np.where(self.right == 0, 0.5, agrees)).mean())
        return float(np.where(said == self.right, MEAN + (1 - MEAN) / 3, (1 - MEAN) / 3).mean())

    def answers(self, people, each, rng):
        asked = rng.integers(len(self.questions), size=max(people, 1) * each)
        who = np.repeat(np.arange(max(people, 1)), each)
        skill = rng.beta(*RELIABILITY, size=people) if people else np.array([MEAN])
        is_right = rng.random(len(asked)) < skill[who]
        groups = who if people else None
        rows = self.questions[asked]
        if self.kind == "triplet":
            at_random = rng.choice([-1, 1], len(asked))
            said = np.where(is_right & (self.right[asked] != 0), self.right[asked], at_random)
            rows[said == -1] = rows[said == -1][:, [0, 2, 1]]
            return ordhc.Triplets(rows, n_leaves=LEAVES, groups=groups)
        odd = np.where(is_right, self.right[asked], rng.integers(3, size=len(asked)))
        order = np.argsort(np.arange(3) != odd[:, None], axis=1, kind="stable")
        rows = np.take_along_axis(rows, order, axis=1)
        return ordhc.Triplets.from_odd_one_out(rows, n_leaves=LEAVES, groups=groups)


def ends(value, low, high):
    return [None if x != x else float(x) for x in (value, low, high)]


def study(case, seed):
    """What is said, with intervals, and what is so."""
    people, each, kind = CASES[case]
    truth = Truth(1000 + seed % TREES, kind)
    data = truth.answers(people, each, np.random.default_rng([seed, people, each]))
    found = ordhc.select(data, METHODS, folds=FOLDS, seed=seed, by="satisfied")
    parts, _ = parts_of(data, FOLDS, seed)
    told, so = {}, {}
    for c in found.candidates:
        told[c.method] = ends(c.satisfied, c.satisfied_low, c.satisfied_high)
        trees = [ordhc.cluster(data[parts != fold], method=c.method) for fold in range(FOLDS)]
        so[c.method] = float(np.mean([truth.accuracy(tree) for tree in trees]))
        so[f"{c.method}, tree"] = truth.accuracy(ordhc.cluster(data, method=c.method))
        told[f"behind {c.method}"] = ends(c.behind, c.behind_low, c.behind_high)
    told["nested"] = ends(found.nested.value, found.nested.low, found.nested.high)
    b = ordhc.bootstrap(data, method="adds3-al", n_resamples=RESAMPLES, seed=seed)
    x = b.intervals["held_out"]
    told["bootstrap"] = ends(x.estimate, x.low, x.high)
    so["bootstrap"] = float(np.mean([truth.accuracy(tree) for tree in b.trees]))
    return {"case": case, "seed": seed, "best": found.best, "told": told, "so": so}


def covered(runs, told, so):
    """The share of intervals that hold the truth, with its standard error, and what intervals are off."""
    rows = [(run["told"][told(run)], truth) for run, truth in zip(runs, so, strict=True)]
    rows = [(row, truth) for row, truth in rows if row[1] is not None]
    inside = np.mean([low <= truth <= high for (_, low, high), truth in rows])
    bias = np.mean([value - truth for (value, _, _), truth in rows])
    width = np.mean([high - low for (_, low, high), _ in rows])
    return [
        f"{inside:.3f} ± {np.sqrt(inside * (1 - inside) / len(rows)):.3f}",
        f"{bias:+.4f}",
        f"{width:.3f}",
    ]


def expected(runs, name):
    """By study the mean of what is so over all studies of the same tree."""
    values = np.array([run["so"][name(run)] for run in runs])
    trees = np.array([run["seed"] % TREES for run in runs])
    return values, np.array([values[trees == tree].mean() for tree in trees])


def tables(path):
    runs = [json.loads(line) for line in path.read_text().splitlines()]
    lines = []
    for case in CASES:
        mine = [run for run in runs if run["case"] == case]
        if not mine:
            continue
        whole = {method: expected(mine, lambda _, m=method: m)[1] for method in METHODS}

        def line(what, told, so, of=mine, case=case):
            lines.append((case, len(of), what, *covered(of, told, so)))

        for method in METHODS:
            line(f"{method}: expected", lambda _, m=method: m, whole[method])
        method = METHODS[1]
        tree = expected(mine, lambda _, m=method: f"{m}, tree")[0]
        line(f"{method}: of the tree", lambda _, m=method: m, tree)
        chosen = np.array([whole[run["best"]][at] for at, run in enumerate(mine)])
        line("best: expected", lambda run: run["best"], chosen)
        line(
            "best: of the tree",
            lambda run: run["best"],
            expected(mine, lambda run: f"{run['best']}, tree")[0],
        )
        line("chosen within folds", lambda _: "nested", expected(mine, lambda run: run["best"])[1])
        differences = [
            (run, f"behind {method}", whole[run["best"]][at] - whole[method][at])
            for at, run in enumerate(mine)
            for method in METHODS
            if method != run["best"]
        ]
        names = iter([name for _, name, _ in differences])
        line(
            "differences from the best",
            lambda _, names=names: next(names),
            [gap for *_, gap in differences],
            [run for run, *_ in differences],
        )
        line("bootstrap, held out", lambda _: "bootstrap", expected(mine, lambda _: "bootstrap")[1])
    table(("case", "intervals", "of what", "covered", "bias", "width"), lines)


def verdicts_of(each, odd_ones, how, seed):
    """What is said of people who answer by the tree, and of the others."""
    rng = np.random.default_rng([seed, each, odd_ones])
    most = 12
    truths = [Truth(1000 + seed, "odd one out")] * most
    for person in range(odd_ones):
        truths.append(Truth(5000 + 100 * seed + (person if how == "own" else 0), "odd one out"))
    # The odd one comes first.
    parts = [truth.answers(0, each, rng).rows[::2, [2, 0, 1]] for truth in truths]
    if how == "random":
        parts[most:] = [rng.permuted(part, axis=1) for part in parts[most:]]
    groups = np.repeat(np.arange(len(parts)), each)
    data = ordhc.Triplets.from_odd_one_out(np.concatenate(parts), n_leaves=LEAVES, groups=groups)
    answers = Answers.of(data)
    plan = Plan.of(data, method="adds3-al+spr")
    apart = held_out(data, plan, answers, folds=FOLDS, seed=seed, unit="group")
    said = {standing.who: standing.verdict for standing in standings(data, answers, apart, seed=seed)}
    return [said[str(person)] for person in range(len(parts))], most


def people_table(studies):
    lines = []
    for (each, odd_ones), how in itertools.product(
        ((40, 4), (80, 4), (160, 4), (80, 8)), ("own", "shared", "random")
    ):
        most_said, others_said = Counter(), Counter()
        for seed in range(studies):
            said, most = verdicts_of(each, odd_ones, how, seed)
            most_said.update(said[:most])
            others_said.update(said[most:])
        for who, counts in (("by the tree", most_said), (how, others_said)):
            whole = sum(counts.values())
            lines.append(
                (each, odd_ones, who, ", ".join(f"{k} {v / whole:.2f}" for k, v in counts.most_common()))
            )
    table(("answers each", "others", "people", "verdicts"), lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["measure", "table"], help="measure, table, people")
    parser.add_argument("--results", default="intervals.jsonl")
    parser.add_argument("--studies", type=int, default=180)
    parser.add_argument("--cases", default=";".join(CASES), help="separated by semicolons")
    given = parser.parse_args()
    results = Path(given.results)
    if "measure" in given.what:
        done = set()
        if results.exists():
            lines = map(json.loads, results.read_text().splitlines())
            done = {(run["case"], run["seed"]) for run in lines}
        start = time.process_time()
        for seed, name in itertools.product(range(given.studies), given.cases.split(";")):
            if (name, seed) not in done:
                with results.open("a") as file:
                    file.write(json.dumps(study(name, seed)) + "\n")
        print(f"{time.process_time() - start:.0f} seconds")
    if "people" in given.what:
        people_table(given.studies)
    if "table" in given.what:
        tables(results)
