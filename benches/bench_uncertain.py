"""Questions chosen by expected information beside random ones, `robust` and `majority`.

python benches/bench_uncertain.py [close] [constant] [binary] [additive] [people] [recorded] [time]
    [--seeds 10] [--sets Car,Food]

"additive" has 4 seeds by default, which take some minutes.

Planted tree of eight clusters of thirty leaves, three levels. "close": answers by level and a normal deviate
for each pair, one level being 1.5 deviations, drawn anew for each answer. "constant": answers right with
p = .8. Mean AARI by the number of questions. "people": clusters of eight leaves, two answers to each
question, by people all of whom are right with p = .8, or a third each with p = .95, .8 and .65, whom the
learner knows or not; answers until AARI .95. "binary": trees of 100 leaves drawn uniformly, answers right
with p = .8; the share of triplets that are right. "additive": random trees of 40 leaves whose leaves have
lengths of a standard deviation of 0, 1 or 2 heights; "which is the odd one out?" and "is A more like B or
C?", answered by the lengths of paths; the share of triples of leaves that are right, with its standard error,
by the questions for each leaf. "random, no lengths" is the same random answers and
``ordhc.posterior(lengths=False)``. "recorded": Car and Food, from the folder
ORDHC_DATA, as oracles that know only some answers; of answers to a fifth of the questions, which nobody asks,
the share that the posterior predicts (half of those about which it is even), the share of those about which
it isn't even, how many these are, and the log loss; and docs/images/recorded-answers.png. "time": seconds
until there is the next batch of 50 questions, and the tree.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np

import ordhc
from bench_lengths import right, yule
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


def by_paths(near, lengths, question, seed):
    """Answers by the lengths of paths: the closest of three pairs, or of two pairs that share a leaf."""
    rng = np.random.default_rng(seed + 5)
    close = near - lengths - lengths[:, None]

    def oracle(rows):
        rows = np.asarray(rows)
        if question == "triplet":
            i, j, k, m = rows.T
            told = close[i, j] - close[k, m] > rng.logistic(size=len(rows))
            return np.where(told, 1, -1).astype(np.int8)
        a, b, c = rows.T
        pairs = np.stack([close[b, c], close[a, c], close[a, b]], 1)
        return (pairs + rng.gumbel(size=pairs.shape)).argmax(1).astype(np.int8)

    return oracle


def asked(method, oracle, n, checks, seed):
    """The trees after so many answers."""
    learner = ordhc.Learner(n, method, budget=checks[-1], seed=seed)
    trees = []
    for check in checks:
        while learner.status.n_answered < check and not learner.done:
            questions = learner.ask(min(60, check - learner.status.n_answered))
            learner.tell(questions.ids, oracle(questions.rows))
        trees.append(learner.tree())
    return trees


def at_random(oracle, n, checks, seed, question="odd", **how):
    rng = np.random.default_rng(seed)
    recorded = ordhc.oracles.Recording(oracle)
    trees = []
    for before, check in zip((0, *checks), checks, strict=False):
        rows = np.array([rng.permutation(n)[:3] for _ in range(check - before)])
        recorded(rows if question == "odd" else rows[:, [0, 1, 0, 2]])
        trees.append(ordhc.posterior(recorded.comparisons(n), **how).dendrogram)
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
                chosen = ordhc.learners.named(method, **settings)
                trees = asked(chosen, oracle, len(labels), checks, seed)
            found[method].append([ordhc.metrics.aari(tree, labels) for tree in trees])
    lines = [(method, *(f"{x:.3f}" for x in np.mean(rows, axis=0))) for method, rows in found.items()]
    print(f"{noise.__name__}, n = 240, {seeds} seeds: AARI by the number of questions\n")
    table(("questions", *(f"{check:,}" for check in checks)), lines)


def binary(seeds, n=100, p=0.8, checks=(5, 10, 15, 20, 25)):
    found = {method: [] for method in ("uncertain", "random", "robust", "majority")}
    for seed in range(seeds):
        truth = ordhc.datasets.random_tree(n, shape="uniform", seed=seed)
        for method, rows in found.items():
            oracle, counts = ordhc.oracles.noisy(truth, p, seed=seed), [n * check for check in checks]
            if method == "random":
                trees = at_random(oracle, n, counts, seed)
            else:
                trees = asked(method, oracle, n, counts, seed, **({} if method == "uncertain" else {"p": p}))
            rows.append([1 - ordhc.metrics.triplet_distance(tree, truth) for tree in trees])
    lines = [(method, *(f"{x:.3f}" for x in np.mean(rows, axis=0))) for method, rows in found.items()]
    print(
        f"binary trees, n = {n}, {seeds} seeds: triplets that are right, by the number of questions a leaf\n"
    )
    table(("questions", *map(str, checks)), lines)


def additive(seeds, n=40, checks=(8, 10, 13, 17, 22)):
    lines = []
    counts = [n * check for check in checks]
    for question in ("odd", "triplet"):
        for deviation in (0, 1, 2):
            found = {"uncertain": [], "random": [], "random, no lengths": []}
            for seed in range(seeds):
                rng = np.random.default_rng(seed)
                near = yule(n, rng)
                near *= 2 / near.std()
                lengths = deviation * rng.normal(size=n)
                for method, rows in found.items():
                    oracle = by_paths(near, lengths, question, seed)
                    if method == "uncertain":
                        trees = asked(method, oracle, n, counts, seed, question=question)
                    else:
                        trees = at_random(oracle, n, counts, seed, question, lengths=method == "random")
                    rows.append([right(tree, near) for tree in trees])
            for method, rows in found.items():
                error = (
                    np.std(rows, axis=0, ddof=1) / np.sqrt(seeds)
                    if seeds > 1
                    else np.full(len(checks), np.nan)
                )
                cells = [f"{x:.3f} ± {e:.3f}" for x, e in zip(np.mean(rows, axis=0), error, strict=True)]
                lines.append((question, deviation, method, *cells))
    print(f"additive trees, n = {n}, {seeds} seeds: triples that are right, by the questions a leaf\n")
    table(("asked", "sd of lengths", "questions", *map(str, checks)), lines)


def people(seeds, n_people=30):
    lines = []
    mixed = (0.95, 0.8, 0.65)
    for name, reliabilities, are_known in (
        ("all .8, known", (0.8,), True),
        (".95, .8, .65, known", mixed, True),
        (".95, .8, .65, not known", mixed, False),
    ):
        needed = []
        for seed in range(seeds):
            labels = balanced(3, 8)
            labels = labels[np.random.default_rng(seed).permutation(len(labels))]
            oracles = [
                constant(labels, 1000 * seed + k, reliabilities[k % len(reliabilities)])
                for k in range(n_people)
            ]
            needed.append(until(0.95, labels, oracles, seed, are_known))
        lines.append((name, f"{np.mean(needed):,.0f}", f"{np.std(needed) / np.sqrt(seeds):,.0f}"))
    table(("people", "answers until AARI .95", "± (standard error)"), lines)


def until(goal, labels, oracles, seed, are_known, batch=4):
    """How many answers of people, each of whom is asked a few questions in turn, a tree takes."""
    n, chance = len(labels), np.random.default_rng(seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        ordhc.Session(
            Path(folder) / "a",
            n_leaves=n,
            method="uncertain",
            repeat=2,
            budget=10**6,
            seed=seed,
            durable=False,
        ) as session,
    ):
        checked = 2 * n
        while (checked := int(1.2 * checked)) < 200 * n:
            while session.status.n_answered < checked:
                k = chance.integers(len(oracles))
                questions = session.ask(batch, who=f"p{k}", fill={})
                session.tell(questions.ids, oracles[k](questions.rows), who=f"p{k}" if are_known else None)
            if ordhc.metrics.aari(session.tree(), labels) >= goal:
                return checked
    return 200 * n


SETS = {"Car": ("car_triplets.csv", 60), "Food": ("food_triplets.csv.gz", 100)}


HELD_OUT = ("held-out answers predicted", "of those that aren't even", "share of these", "log loss")


def held_out(predicted, rows):
    """The share of answers that are the likelier ones, all and where one is; how often one is; log loss."""
    p = predicted.predict(rows)
    is_told = np.abs(p - 0.5) > 1e-9
    right = p > 0.5
    everywhere = np.mean(np.where(is_told, right, 0.5))
    return everywhere, np.mean(right[is_told]), np.mean(is_told), -np.mean(np.log(p))


def recorded(seeds, sets, checks=(250, 500, 1000, 2000, 4000)):
    import matplotlib.pyplot as plt

    drawn, axes = plt.subplots(
        1, len(sets), figsize=(3.6 * len(sets), 3.2), layout="constrained", squeeze=False
    )
    for ax, name in zip(axes[0], sets, strict=True):
        file, n = SETS[name]
        rows = ordhc.read_answers(Path(os.environ["ORDHC_DATA"]) / file, n_leaves=n).rows.astype(int)
        found = {"uncertain": [], "random": []}
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            # All answers about the same three leaves are on one side.
            keys = np.sort(rows, axis=1) @ [n * n, n, 1]
            apart = np.isin(keys, rng.permutation(np.unique(keys))[: len(np.unique(keys)) // 5])
            known, unseen = ordhc.Triplets(rows[~apart], n_leaves=n), rows[apart]
            oracle = ordhc.oracles.recorded(known)
            asker = ordhc.Learner(n, ordhc.learners.Uncertain(among=oracle.known), seed=seed)
            order = rng.permutation(oracle.known)
            for method, curve in found.items():
                asked, curve_here = ordhc.oracles.Recording(oracle), []
                for check in checks:
                    while asked.n_questions < check:
                        some = min(50, check - asked.n_questions)
                        if method == "random":
                            asked(order[asked.n_questions :][:some])
                            continue
                        questions = asker.ask(some)
                        asker.tell(questions.ids, asked(questions.rows))
                    p = ordhc.posterior(asked.comparisons(n), seed=seed)
                    curve_here.append(held_out(p, unseen))
                curve.append(curve_here)
        print(f"{name}, {seeds} seeds, by the number of questions\n")
        means = {method: np.mean(curve, axis=0).T for method, curve in found.items()}
        lines = [
            (what, method, *(f"{x:.3f}" for x in means[method][at]))
            for at, what in enumerate(HELD_OUT)
            for method in found
        ]
        table(("", "questions", *(f"{check:,}" for check in checks)), lines)
        for method, colour, style in (("uncertain", "#0072B2", "-"), ("random", "#D55E00", "--")):
            curve = np.array(found[method])[:, :, 0]
            mean, error = curve.mean(axis=0), curve.std(axis=0) / np.sqrt(seeds)
            ax.errorbar(
                checks, mean, error, label=method, color=colour, linestyle=style, marker="o", markersize=4
            )
        ax.set(
            xscale="log",
            xlabel="questions",
            title=name,
            xticks=checks,
            xticklabels=[f"{x:,}" for x in checks],
        )
        ax.minorticks_off()
        ax.grid(alpha=0.3)
    axes[0][0].set_ylabel("held-out answers predicted")
    axes[0][0].legend(frameon=False)
    drawn.savefig("docs/images/recorded-answers.png", dpi=144)


def timing():
    lines = []
    for size, a_leaf in ((104 // 8, 20), (240 // 8, 15)):
        labels = balanced(3, size)
        n = len(labels)
        learner = ordhc.Learner(n, "uncertain", budget=10**9)
        oracle = close(labels, 0)
        spent = []
        while learner.status.n_answered < a_leaf * n:
            start = time.perf_counter(), time.process_time()
            questions = learner.ask(50)
            spent.append((time.perf_counter() - start[0], time.process_time() - start[1]))
            learner.tell(questions.ids, oracle(questions.rows))
        last = np.array(spent[-10:])
        start = time.perf_counter(), time.process_time()
        learner.tree()
        took = time.perf_counter() - start[0], time.process_time() - start[1]
        seconds = (*last.max(axis=0), *last.mean(axis=0), *took)
        lines.append((n, a_leaf * n, *(f"{x:.2f}" for x in seconds)))
    head = ("leaves", "answers", "50 questions, at most (s)", "of processors", "on average", "of processors")
    table((*head, "tree (s)", "of processors"), lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["close", "constant", "time"])
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--sets", default="Car,Food")
    given = parser.parse_args()
    seeds = given.seeds or 10
    if "close" in given.what:
        curves(close, (1200, 1920, 2400, 3600, 4800), seeds, ("uncertain", "random"))
    if "constant" in given.what:
        checks = (1200, 2400, 4800, 7200)
        curves(constant, checks, seeds, ("uncertain", "random", "robust", "majority"))
    if "binary" in given.what:
        binary(seeds)
    if "additive" in given.what:
        additive(given.seeds or 4)
    if "people" in given.what:
        people(seeds)
    if "recorded" in given.what:
        recorded(seeds, given.sets.split(","))
    if "time" in given.what:
        timing()
