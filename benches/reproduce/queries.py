"""Emamjomeh-Zadeh & Kempe: Adaptive hierarchical clustering using ordinal queries (2018). The paper has
theorems only: here they are as figures.
"""

import math
from functools import partial

import numpy as np

import ordhc
from reproduce import curves, report
from reproduce.framework import Cell, Experiment, Line, Result, Results

SHAPES = ("uniform", "yule", "balanced", "caterpillar")
LEARNERS = {
    "insertion (Alg. 3-4)": ordhc.learners.Insertion(exact=True),
    "insertion, ordhc": ordhc.learners.Insertion(),
    "quick (Alg. 1-2)": ordhc.learners.Quick(),
}
EXACT, OURS, QUICK = LEARNERS
NOISY = {"robust, ordhc": "robust", "paper, section 5": "robust-paper", "majority": "majority"}
SIZES = (16, 64, 256, 1024, 4096)
NOISY_SIZES = (16, 32, 64, 128, 256, 512)
DELTAS = (0.5, 0.2, 0.1, 0.05, 0.01, 0.001)


def random_tree(shape: str, n: int, seed: int) -> ordhc.Dendrogram:
    """Return a random tree; of "threes", a Yule tree of which every leaf is a ((x, y), z)."""
    if shape != "threes":
        return ordhc.datasets.random_tree(n, shape=shape, seed=seed)
    leaves = np.random.default_rng(seed).permutation(n).reshape(-1, 3).tolist()
    nodes = [f"(({x},{y}),{z})" for x, y, z in leaves]
    for first, second in ordhc.datasets.random_tree(n // 3, shape="yule", seed=seed).merges.tolist():
        nodes.append(f"({nodes[first]},{nodes[second]})")
    return ordhc.as_dendrogram(nodes[-1] + ";")


def n_log_n(n: float) -> float:
    """n log2 n."""
    return n * math.log2(n)


def information_bound(n: float) -> float:
    """The logarithm to base 3 of the number of binary trees, (2n - 3)!!."""
    return (math.lgamma(2 * n - 1) - math.lgamma(n) - (n - 1) * math.log(2)) / math.log(3)


def _cell(name: str, labels: tuple[str, ...], run: partial[Result], seeds: int, quick: bool) -> Cell:
    key = "/".join(("queries", name, *labels)).replace(", ", "-").replace(" ", "-")
    return Cell(key=key, labels=labels, run=run, seeds=2 if quick else seeds, simulated=True)


def _runs(results: Results, panel: str, method: str) -> dict[float, list[Result]]:
    return curves.lines(results, panel).get(method, {})


def _slower_than_log(points: dict[float, list[Result]], number: str) -> tuple[str, bool]:
    """Whether a ratio grows more slowly than log n, from the middle of the sizes on."""
    xs = sorted(points)
    low, high = xs[(len(xs) - 1) // 2], xs[-1]
    ratios = [curves.mean(points[x], number) for x in (low, high)]
    text = f"{ratios[0]:.3g} at {low:.0f}, {ratios[1]:.3g} at {high:.0f}"
    return text, ratios[1] / ratios[0] < math.log(high) / math.log(low)


# --- right answers ---------------------------------------------------------------------------


def _learn(shape: str, method: str, n: int, seed: int) -> Result:
    truth = random_tree(shape, n, seed)
    learner = ordhc.Learner(n, LEARNERS[method], seed=seed)
    tree = ordhc.learn(truth, learner=learner)
    wrong = ordhc.metrics.robinson_foulds(tree, truth) > 0
    return {"ratio": learner.status.n_answered / n_log_n(n), "wrong": float(wrong)}


def theorem43(quick: bool) -> list[Cell]:
    """Questions by shape, learner and n."""
    return [
        _cell("right", (shape, method, str(n)), partial(_learn, shape, method, n), 10, quick)
        for shape in SHAPES
        for n in (SIZES[:3] if quick else SIZES)
        for method in LEARNERS
    ]


def claims43(results: Results) -> list[Line]:
    """Theorems 3.2 and 4.3, and the lower bound."""
    found = []
    for shape in SHAPES:
        cells = {cell: seeds for cell, seeds in results.items() if cell.labels[0] == shape}

        def at_most(shape: str = shape) -> tuple[str, bool]:
            runs = [run for found in _runs(results, shape, EXACT).values() for run in found]
            largest, wrong = max(run["ratio"] for run in runs), sum(run["wrong"] for run in runs)
            text = f"at most {largest:.3f} n log2 n; {wrong:.0f} of {len(runs)} trees wrong"
            return text, largest <= 1 and not wrong

        def grows(shape: str = shape) -> tuple[str, bool]:
            text, slow = _slower_than_log(_runs(results, shape, QUICK), "ratio")
            return f"/ (n log2 n): {text}", slow

        def needed(shape: str = shape) -> tuple[str, bool]:
            over = {
                method: curves.mean(points[n], "ratio") * n_log_n(n) / information_bound(n)
                for method, points in curves.lines(results, shape).items()
                for n in (max(points),)
            }
            text = ", ".join(f"{method} {ratio:.2f}" for method, ratio in over.items())
            return f"/ bound at the largest n: {text}", min(over.values()) > 0.9

        found += [
            report.claim((shape, EXACT), "Theorem 4.3: right, at most n log2 n questions", cells, at_most),
            report.claim((shape, QUICK), "Theorem 3.2: O(n log n) questions on average", cells, grows),
            report.claim((shape, "all"), "Section 3: Omega(n log n) questions are needed", cells, needed),
        ]
    return found


# --- wrong answers ---------------------------------------------------------------------------


def _learn_noisy(p: float, delta: float, method: str, n: int, seed: int) -> Result:
    truth = random_tree("uniform", n, seed)
    oracle = ordhc.oracles.noisy(truth, p, wrong="adversarial", seed=seed)
    learner = ordhc.Learner(n, ordhc.learners.named(NOISY[method], p=p, delta=delta), seed=seed)
    wrong = ordhc.metrics.robinson_foulds(ordhc.learn(oracle, learner=learner), truth) > 0
    asked = learner.status.n_answered
    return {
        "ratio": asked / (n_log_n(n) + n * math.log2(1 / delta)),
        "questions": asked / n,
        "wrong": float(wrong),
    }


BY_DELTA = "n = 64, p = 0.8"


def theorem51(quick: bool) -> list[Cell]:
    """Questions by p, method and n; and by delta."""
    cells = [
        (f"p = {p}", method, n, p, 0.05, str(n))
        for p in (0.9, 0.8, 0.7)
        for n in (NOISY_SIZES[:2] if quick else NOISY_SIZES)
        for method in NOISY
    ]
    cells += [
        (BY_DELTA, method, 16 if quick else 64, 0.8, delta, str(round(math.log2(1 / delta), 2)))
        for delta in (DELTAS[1:5:3] if quick else DELTAS)
        for method in NOISY
    ]
    return [
        _cell(
            "noisy",
            (panel, method, x),
            partial(_learn_noisy, p, delta, method, n),
            2 if method == "paper, section 5" else 20,
            quick,
        )
        for panel, method, n, p, delta, x in cells
        # The paper's constants: millions of questions.
        if method != "paper, section 5" or (n <= 64 and p > 0.7 and (n < 64 or panel != BY_DELTA or quick))
    ]


def claims51(results: Results) -> list[Line]:
    """Theorem 5.1."""
    found = []
    for method in NOISY:
        cells = {cell: seeds for cell, seeds in results.items() if cell.labels[1] == method}
        panels = dict.fromkeys(cell.labels[0] for cell in cells)

        def right(cells: Results = cells) -> tuple[str, bool]:
            # By the same delta: all panels but the last.
            runs = [r for c, f in cells.items() if c.labels[0] != BY_DELTA for r in f.values()]
            wrong, allowed = sum(run["wrong"] for run in runs), 0.05 * len(runs)
            text = f"{wrong:.0f} of {len(runs)} trees wrong, {allowed:.1f} allowed"
            return text, wrong <= allowed + 2 * math.sqrt(0.95 * allowed)

        def bounded(panels: dict[str, None] = panels, method: str = method) -> tuple[str, bool]:
            judged = {
                p: _slower_than_log(_runs(results, p, method), "ratio") for p in panels if p != BY_DELTA
            }
            text = "; ".join(f"{panel}: {text}" for panel, (text, _) in judged.items())
            return text, all(slow for _, slow in judged.values())

        found.append(report.claim((method, "delta"), "right with probability 1 - delta (0.05)", cells, right))
        if method != "majority":
            said = "O(n log n + n log 1/delta) questions: the ratio to that is bounded"
            found.append(report.claim((method, "questions"), said, cells, bounded))
    return found


# --- questions that are not chosen ------------------------------------------------------------

PASSIVE_SIZES = (33, 66, 129)
PASSIVE_SHARES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
RECONSTRUCTIONS = {"BUILD": "build", "AddS3-AL": "adds3-al"}


def _alone(tree: ordhc.Dendrogram) -> int:
    """How many clusters {x, y} have a third leaf beside them: one triple only tells that they are there."""
    sizes = np.concatenate([np.ones(tree.n_leaves, dtype=np.int64), tree.sizes])
    return int((np.sort(sizes[tree.merges], axis=1) == [1, 2]).all(axis=1).sum())


def _reconstruct(shape: str, method: str, n: int, share: float, seed: int) -> Result:
    truth = random_tree(shape, n, seed)
    every = ordhc.datasets.comparisons_of(truth).rows.astype(np.int64)
    # A triple is two triplets.
    every = every[every[:, 0] < every[:, 1]]
    rng = np.random.default_rng([seed, n, round(1000 * share)])
    every = every[rng.random(len(every)) < share]
    rows = np.concatenate([every, every[:, [1, 0, 2]]])
    tree = ordhc.cluster(ordhc.Triplets(rows, n_leaves=n), method=RECONSTRUCTIONS[method])
    shared = n - 2 - ordhc.metrics.robinson_foulds(tree, truth, normalize=False) / 2
    alone = _alone(truth)
    return {
        "right": shared / (n - 2),
        "exact": float(shared == n - 2),
        "possible": 1 - (1 - share) * 2 / 3 * alone / (n - 2),
        "possible exact": (1 - (1 - share) * 2 / 3) ** alone,
    }


def theorem23(quick: bool) -> list[Cell]:
    """Clusters right by shape, method and size, and share of the triples."""
    return [
        _cell(
            "passive",
            (shape, f"{method}, n = {n}", str(share)),
            partial(_reconstruct, shape, method, n, share),
            20,
            quick,
        )
        for shape in ("threes", "uniform")
        for n in (PASSIVE_SIZES[:1] if quick else PASSIVE_SIZES)
        for share in (PASSIVE_SHARES[1::4] if quick else PASSIVE_SHARES)
        for method in RECONSTRUCTIONS
    ]


def claims23(results: Results) -> list[Line]:
    """Theorem 2.3: for each size, how often the whole tree is found, and the bound for any method."""
    found = []
    for panel, method in dict.fromkeys((cell.labels[0], cell.labels[1]) for cell in results):
        cells = {cell: seeds for cell, seeds in results.items() if cell.labels[:2] == (panel, method)}

        def judge(panel: str = panel, method: str = method) -> tuple[str, bool]:
            points = _runs(results, panel, method)
            share = max(points)
            runs = points[share]
            exact, bound = curves.mean(runs, "exact"), curves.mean(runs, "possible exact")
            error = math.sqrt(bound * (1 - bound) / len(runs))
            few = min(points)
            text = f"of {share:.0%} of triples {exact:.0%} of trees found, by any method {bound:.0%} at most"
            text += f"; of {few:.0%} {curves.mean(points[few], 'right'):.0%} of the clusters"
            return text, exact <= bound + 2 * error

        said = "Theorem 2.3: no method finds the tree without a constant share of all triples"
        found.append(report.claim((panel, method), said, cells, judge))
    return found


EXPERIMENTS = (
    Experiment(
        name="queries/theorem43",
        title="Queries, Theorems 3.2 and 4.3: number of questions for n leaves, if all answers are right",
        columns=("tree", "learner"),
        cells=theorem43,
        lines=claims43,
        draw=curves.figure(
            [
                [
                    curves.Panel(
                        shape,
                        "ratio",
                        "questions / (n log2 n)",
                        bounds={
                            "Theorem 4.3": lambda _: 1.0,
                            "information": lambda n: information_bound(n) / n_log_n(n),
                        },
                    )
                    for shape in SHAPES
                ]
            ],
            "n",
            log_x=True,
        ),
        remarks="""The paper has no experiments: its theorems are drawn. *O(n log n)* is judged by whether
the ratio to n log2 n grows more slowly than log n between the middle and the largest n (sizes are 16 to
4,096). The information bound is log3 (2n - 3)!!, for trees that are drawn uniformly; others may be found
with less.""",
    ),
    Experiment(
        name="queries/theorem51",
        title="Queries, Theorem 5.1: number of questions for n leaves, answers right with probability p",
        columns=("learner", "what"),
        cells=theorem51,
        lines=claims51,
        draw=curves.figure(
            [
                [
                    curves.Panel(
                        f"p = {p}",
                        "questions",
                        "questions / n",
                        f"p = {p}, delta = 0.05",
                        {"log2 n + log2 1/delta": lambda n: math.log2(n / 0.05)},
                    )
                    for p in (0.9, 0.8, 0.7)
                ]
            ],
            "n",
            log_x=True,
            log_y=True,
        ),
        remarks="""Uniform trees; wrong answers are always the same one of the two, delta is 0.05. *Ratio* is
questions / (n log2 n + n log2 1/delta), judged as above. The algorithm of the paper's section 5 asks
thousands of questions a leaf: up to n = 64 with p = 0.8 and 0.9, 2 seeds; the others up to n = 512, 20
seeds. Majorities need O(n log^2 n). Deltas from 0.5 to 0.001 at n = 64, p = 0.8 are in the CSV of points.""",
    ),
    Experiment(
        name="queries/theorem23",
        title="Queries, Theorem 2.3: trees from questions about random triples of leaves",
        columns=("tree", "method"),
        cells=theorem23,
        lines=claims23,
        draw=curves.figure(
            [[curves.Panel(shape, "right", "clusters found") for shape in ("threes", "uniform")]],
            "share of triples",
        ),
        remarks="""A cluster {x, y} in ((x, y), z) shows in no triple but {x, y, z}; whoever does not see
that triple can only guess, and is right one time in three. The bound takes the tree's clusters of this kind;
trees of *threes* have n / 3 of them. Random triples are seen with the same probability each.""",
    ),
)
