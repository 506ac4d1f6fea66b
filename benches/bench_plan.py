"""How right trees are by the number of answers: the table behind `ordhc.plan`, and its advice tried out.

python benches/bench_plan.py measure [--items 12,30,100,200] [--methods ...] [--output studies.csv]
python benches/bench_plan.py merge studies.csv ...      writes python/ordhc/plans/answers.csv
python benches/bench_plan.py verify [--runs 8]          fresh studies of the size that it recommends

The truth is a tree of eight groups of equal size (within one item), in pairs, in pairs of pairs. A question
shows three items drawn at random, or those that `Learner(method="uncertain")` chooses; the answer is the odd
one out. `accuracy` is the share of answers to random questions that are right, of questions that have a right
answer (not all three items are in one group). With the noise

* "constant" every such answer is right with that probability, and wrong ones are the two others alike;
* "close" each of the three pairs counts with its level and a normal deviate, new for each answer: the closer
  groups are, the more answers are wrong, as people's are. The size of a level is what gives `accuracy`.
* "lengths" is as "close", and each item has a length by which it is farther from all others, drawn from a
  normal distribution with a standard deviation of half a level. The right answer is the one by the lengths of
  paths, which may differ from the one by the groups.

Columns: `items`, `answers_per_item`, `accuracy`, `noise`, `method`; `aari` the mean adjusted Rand index of
the cuts into 2, 4 and 8 groups; `aari_low`, `aari_high` between which 80% of studies are; `heldout` the share
of 2,000 further answers to random questions that the tree has right; `heldout_low`, `heldout_high`; `runs`
the number of studies. Quantiles are those of the normal distribution, cut off at 1, with the mean of the runs
and the deviation of all runs of the method with so many items whose mean is within 0.1. Where a study has
found the tree twice in a row, with more answers than that it counts as found again and is not run.
"""

import argparse
import csv
import itertools
import time
from pathlib import Path

import numpy as np

import ordhc
from measure import table

TABLE = Path(__file__).parent.parent / "python" / "ordhc" / "plans" / "answers.csv"
NOISES = ("close", "constant", "lengths")
#: The standard deviation of lengths of items, in levels.
DEVIATION = 0.5
ACCURACIES = (0.6, 0.7, 0.8, 0.9, 1.0)
#: Numbers of items, and of studies of so many.
ITEMS = {12: 8, 30: 6, 100: 4, 200: 2}
#: Answers an item.
CHECKS = {
    "adds3-al+spr": (2, 4, 8, 16, 32, 64, 128),
    "posterior-al": (2, 4, 8, 16, 32, 64),
    "uncertain": (2, 4, 6, 8, 12, 16, 24, 32),
}
HELD_OUT = 2_000
#: What is tried out: numbers of items, accuracies and targets, none of which was measured.
CASES = ((20, 0.85, 0.9), (50, 0.75, 0.85), (100, 0.85, 0.9))
RAW = ("items", "accuracy", "noise", "method", "seed", "answers_per_item", "aari", "heldout")
STUDY = RAW[:5]
KEYS = ("items", "answers_per_item", "accuracy", "noise", "method")
SCORES = ("aari", "aari_low", "aari_high", "heldout", "heldout_low", "heldout_high")
#: Of 80%.
Z = 1.2816
#: Means of scores that differ by so much have about the same deviation.
ALIKE = 0.1


def groups(n, seed=None):
    """(n, 3) the groups of items at three levels, in random order."""
    group = np.arange(n) * 8 // n
    if seed is not None:
        group = np.random.default_rng(seed).permutation(group)
    return np.stack([group >> 2, group >> 1, group], 1)


def questions(n, m, rng):
    """(m, 3) different items each, at random."""
    rows = np.empty((0, 3), dtype=np.int64)
    while len(rows) < m:
        drawn = rng.integers(n, size=(m, 3))
        fine = (drawn[:, 0] != drawn[:, 1]) & (drawn[:, 0] != drawn[:, 2]) & (drawn[:, 1] != drawn[:, 2])
        rows = np.concatenate([rows, drawn[fine]])
    return rows[:m]


def levels_of_pairs(labels, rows):
    """(m, 3) at how many levels the two others of each leaf are together."""
    a, b, c = labels[np.asarray(rows)].transpose(1, 0, 2)
    return np.stack([(x == y).sum(axis=1) for x, y in ((b, c), (a, c), (a, b))], 1)


def lengths_of_pairs(lengths, rows):
    """(m, 3) the sum of the lengths of the two others of each leaf."""
    found = lengths[np.asarray(rows)]
    return found.sum(axis=1, keepdims=True) - found


def step(n, accuracy, lengths):
    """The size of a level, in deviations, with which so many answers to random questions are right."""
    rng = np.random.default_rng(0)
    rows = questions(n, 100_000, rng)
    near = levels_of_pairs(groups(n), rows) - lengths_of_pairs(lengths, rows)
    near = near[(near == near.max(axis=1, keepdims=True)).sum(axis=1) == 1]
    right, deviates = near.argmax(axis=1), rng.normal(size=near.shape)
    low, high = 0.0, 64.0
    for _ in range(40):
        middle = (low + high) / 2
        share = ((near * middle + deviates).argmax(axis=1) == right).mean()
        low, high = (middle, high) if share < accuracy else (low, middle)
    return high


class People:
    """Answers about a tree of groups."""

    def __init__(self, n, accuracy, noise, seed):
        self.labels = groups(n, seed)
        self.accuracy = accuracy
        self.lengths = np.zeros(n)
        if noise == "lengths":
            self.lengths = DEVIATION * np.random.default_rng([seed, 4]).normal(size=n)
        self.step = None if noise == "constant" else step(n, accuracy, self.lengths)
        self.rng = np.random.default_rng([seed, 1])

    def __call__(self, rows):
        near = levels_of_pairs(self.labels, rows) - lengths_of_pairs(self.lengths, rows)
        if self.step is not None:
            return (near * self.step + self.rng.normal(size=near.shape)).argmax(axis=1).astype(np.int8)
        # Where no pair is closer any answer will do.
        told = (near + 0.1 * self.rng.random(near.shape)).argmax(axis=1)
        wrong = self.rng.random(len(near)) > self.accuracy
        told[wrong] = (told[wrong] + self.rng.integers(1, 3, wrong.sum())) % 3
        return told.astype(np.int8)


def trees_at_random(people, n, checks, seed, method):
    rng = np.random.default_rng([seed, 2])
    oracle = ordhc.oracles.Recording(people)
    asked = 0
    for check in checks:
        oracle(questions(n, check - asked, rng))
        asked = check
        answers = oracle.comparisons(n)
        yield (
            ordhc.posterior(answers, seed=seed).tree
            if method == "posterior-al"
            else ordhc.cluster(answers, method=method)
        )


def trees_asked(people, n, checks, seed):
    learner = ordhc.Learner(n, "uncertain", budget=checks[-1], seed=seed)
    for check in checks:
        while learner.status.n_answered < check:
            asked = learner.ask(min(max(20, n // 2), check - learner.status.n_answered))
            learner.tell(asked.ids, people(asked.rows))
        yield learner.tree()


def study(n, accuracy, noise, method, seed, checks):
    """(checks, 2) AARI and held-out accuracy after so many answers an item."""
    people = People(n, accuracy, noise, seed)
    fresh = People(n, accuracy, noise, seed)
    fresh.rng = np.random.default_rng([seed, 3])
    rows = questions(n, HELD_OUT, fresh.rng)
    unseen = fresh(rows)
    counts = [max(1, round(check * n)) for check in checks]
    if method == "uncertain":
        trees = trees_asked(people, n, counts, seed)
    else:
        trees = trees_at_random(people, n, counts, seed, method)
    found = []
    for tree in trees:
        told = ordhc.oracles.from_tree(tree)(rows)
        found.append((ordhc.metrics.aari(tree, people.labels), (told == unseen).mean()))
        if len(found) > 1 and found[-1][0] == found[-2][0] == 1.0:
            break
    return np.array(found + found[-1:] * (len(checks) - len(found)))


def measure(items, methods, accuracies, noises, output, most):
    """Studies, one after the other, those that are in the file already left out."""
    done = set()
    if Path(output).exists():
        done = {tuple(line[key] for key in STUDY) for line in read(output)}
    else:
        Path(output).write_text(",".join(RAW) + "\n", encoding="utf-8")
    began = time.process_time()
    cases = itertools.product(range(min(most, max(ITEMS.values()))), items, methods, accuracies, noises)
    for seed, n, method, accuracy, noise in cases:
        # Where nobody errs "close" is "constant".
        if seed >= ITEMS[n] or (accuracy == 1 and noise == "close"):
            continue
        case = (str(n), str(accuracy), noise, method, str(seed))
        if case in done:
            continue
        found = study(n, accuracy, noise, method, 100 + seed, CHECKS[method])
        with Path(output).open("a", encoding="utf-8") as file:
            for check, (aari, right) in zip(CHECKS[method], found, strict=True):
                file.write(",".join([*case, str(check), f"{aari:.4f}", f"{right:.4f}"]) + "\n")
        print(*case, f"{time.process_time() - began:.0f} s", flush=True)


def read(path):
    with Path(path).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def ends(values, alike):
    """The mean, and between what 80% are, by the deviation of all studies of about as large a mean."""
    mean = np.mean(values)
    near = [other for other in alike if abs(np.mean(other) - mean) <= ALIKE]
    freedom = sum(len(other) - 1 for other in near)
    deviation = np.sqrt(sum(((other - np.mean(other)) ** 2).sum() for other in near) / freedom)
    return [f"{x:.4f}" for x in (mean, mean - Z * deviation, min(1.0, mean + Z * deviation))]


def merge(parts):
    """Write the studies of `parts` into the table; cells that `parts` have nothing of stay as they are."""
    cases = {}
    for line in itertools.chain(*map(read, parts)):
        # Where nobody errs "close" is "constant".
        is_both = float(line["accuracy"]) == 1 and line["noise"] == "constant"
        noises = ("close", "constant") if is_both else (line["noise"],)
        for noise in noises:
            # By seed, so that a study that is in two files counts once.
            cases.setdefault(cell({**line, "noise": noise}), {})[line["seed"]] = (
                float(line["aari"]),
                float(line["heldout"]),
            )
    cases = {key: np.array(list(found.values())).T for key, found in cases.items()}
    rows = {cell(row): tuple(row.values()) for row in read(TABLE)}
    for key, (aari, right) in cases.items():
        method, noise, n, accuracy, check = key
        alike = [found for other, found in cases.items() if (other[0], other[2]) == (method, n)]
        scores = (*ends(aari, [x for x, _ in alike]), *ends(right, [x for _, x in alike]))
        rows[key] = (n, check, accuracy, noise, method, *scores, len(aari))
    with TABLE.open("w", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*KEYS, *SCORES, "runs"))
        writer.writerows(row for _, row in sorted(rows.items()))


def cell(line):
    """Return the key of a line; keys sort as the lines of the table do."""
    n, check = int(line["items"]), int(line["answers_per_item"])
    return line["method"], line["noise"], n, float(line["accuracy"]), check


def verify(runs, cases, methods, noises):
    """Fresh studies with as many answers as the plan has, beside the target."""
    print(f"AARI of {runs} fresh studies, and how many reach the target, with so many answers an item\n")
    header = ("items", "accuracy", "noise", "method", "target", "low", "expected", "high")
    table(
        header,
        (line for case in cases for noise in noises for line in verified(*case, methods, noise, runs)),
    )


def verified(n, accuracy, target, methods, noise, runs):
    for way in ordhc.plan(n, accuracy, target, noise=noise).ways:
        if way.answers is None or way.method not in methods:
            continue
        checks = [answers / n for answers in (way.answers_low, way.answers, way.answers_high) if answers]
        scores = np.array(
            [study(n, accuracy, noise, way.method, 1000 + seed, checks)[:, 0] for seed in range(runs)]
        )
        shares, means = (scores >= target).mean(axis=0), scores.mean(axis=0)
        told = [
            f"{check:.1f}: {mean:.3f}, {share:.0%}"
            for check, mean, share in zip(checks, means, shares, strict=True)
        ]
        yield n, accuracy, noise, way.method, target, *told, *[""] * (3 - len(told))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["measure", "merge", "verify"])
    parser.add_argument("parts", nargs="*", help="what `measure` has written")
    parser.add_argument("--items", default=",".join(map(str, sorted({*ITEMS, *(n for n, _, _ in CASES)}))))
    parser.add_argument("--methods", default=",".join(CHECKS))
    parser.add_argument("--accuracies", default=",".join(map(str, ACCURACIES)))
    parser.add_argument("--noises", default=",".join(NOISES))
    parser.add_argument("--runs", type=int, default=8, help="of each study, at most")
    parser.add_argument("--output", default="studies.csv")
    given = parser.parse_args()
    if given.what == "measure":
        measure(
            [n for n in ITEMS if str(n) in given.items.split(",")],
            given.methods.split(","),
            [float(x) for x in given.accuracies.split(",")],
            given.noises.split(","),
            given.output,
            given.runs,
        )
    elif given.what == "merge":
        merge(given.parts)
    else:
        cases = [case for case in CASES if str(case[0]) in given.items.split(",")]
        verify(given.runs, cases, given.methods.split(","), given.noises.split(","))
