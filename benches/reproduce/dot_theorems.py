"""Gray et al.: Theorem 1 and Proposition 1 (heights of merges), Theorem 3 (cosines) as figures."""

import math
from functools import partial

import numpy as np

import ordhc
from reproduce import curves, dot_errors, dot_products, report
from reproduce.framework import Cell, Experiment, Line, Result, Results

FEATURES = (1000, 4000, 16_000, 64_000)
ROOTS = (100, 400, 1600, 6400)
N = 60
#: The shortest branch of the simulated tree.
SHORTEST = 0.5
THEOREM1, THEOREM3 = "Theorem 1", "Theorem 3"


def distortion(p: int, seed: int) -> Result:
    """Return how much merge heights differ from the truth, beside the error of the dot products."""
    X, leaves = ordhc.datasets.vectors_of(dot_errors.TREE, N, p, seed=seed)
    truth = dot_errors.affinities(leaves)[np.triu_indices(N, 1)]
    error = float(np.abs(ordhc.similarity(X, "dot", layout="condensed") - truth).max())
    tree = dot_products.quietly(lambda: ordhc.cluster(X, method="dot-al"))
    found = float(np.abs(tree.cophenetic() - truth).max())
    return {
        "ratio": found / error,
        "within": float(error < SHORTEST / 2),
        "monotone": float(tree.is_monotone),
    }


def cosine_error(p: int, seed: int) -> Result:
    """Return sqrt(p) times the largest error of cosines of vectors that are scaled by random factors."""
    random = np.random.default_rng(seed)
    shape = ordhc.datasets.random_tree(N, seed=seed)
    heights = 1 - shape.heights / (shape.heights.max() + 1)
    tree = ordhc.Dendrogram(shape.merges, heights, kind="similarity", leaf_heights=np.ones(N))
    X, leaves = ordhc.datasets.vectors_of(tree, N, p, noise=0.0, seed=seed)
    X *= random.lognormal(size=(N, 1))
    truth = tree.cophenetic(square=True)[np.ix_(leaves, leaves)]
    return {"error": math.sqrt(p) * float(np.abs(ordhc.similarity(X, "cosine") - truth).max())}


def cells(quick: bool) -> list[Cell]:
    """By theorem and number of features."""
    runs = ((THEOREM1, distortion, "ratio", FEATURES), (THEOREM3, cosine_error, "error", ROOTS))
    return [
        Cell(
            key=f"dot/theorems/{theorem}/{p}".replace(" ", "-"),
            labels=(theorem, theorem, str(p)),
            run=partial(run, p),
            number=number,
            seeds=2 if quick else 20,
            simulated=True,
        )
        for theorem, run, number, features in runs
        for p in (features[:2] if quick else features)
    ]


def claims(results: Results) -> list[Line]:
    """What the theorems and the proposition say."""

    def runs() -> list[Result]:
        return [run for points in curves.lines(results, THEOREM1)[THEOREM1].values() for run in points]

    def theorem1() -> tuple[str, bool]:
        ratios = [run["ratio"] for run in runs() if run["within"]]
        largest = max(ratios, default=0.0)
        return f"at most {largest:.3f} times the error in {len(ratios)} runs", largest <= 1 + 1e-9

    def proposition1() -> tuple[str, bool]:
        return f"in {sum(run['monotone'] for run in runs()):.0f} of {len(runs())} runs", all(
            run["monotone"] for run in runs()
        )

    def theorem3() -> tuple[str, bool]:
        means = [
            curves.mean(found, "error")
            for _, found in sorted(curves.lines(results, THEOREM3)[THEOREM3].items())
        ]
        return f"sqrt(p) times the error: {', '.join(f'{mean:.2f}' for mean in means)}", max(
            means
        ) < 1.5 * means[0]

    judged = (
        (
            THEOREM1,
            THEOREM1,
            "merge heights err no more than affinities, if these err less than b / 2",
            theorem1,
        ),
        ("Proposition 1", THEOREM1, "heights rise from the root to the leaves", proposition1),
        (THEOREM3, THEOREM3, "cosines err by O(1 / sqrt(p)) where noise scales the vectors", theorem3),
    )
    return [
        report.claim((name,), said, {c: seeds for c, seeds in results.items() if c.labels[0] == panel}, judge)
        for name, panel, said, judge in judged
    ]


EXPERIMENTS = (
    Experiment(
        name="dot/theorems",
        title="Dot products, Theorems 1 and 3, Proposition 1: heights of merges, and cosines",
        columns=("what",),
        cells=cells,
        lines=claims,
        draw=curves.figure(
            [
                [
                    curves.Panel(
                        THEOREM1, "ratio", "distortion / error", bounds={"Theorem 1": lambda _: 1.0}
                    ),
                    curves.Panel(THEOREM3, "error", "sqrt(p) times the largest error"),
                ]
            ],
            "p",
            log_x=True,
        ),
        remarks=f"""{N} vectors. Theorem 1 has the tree of the simulations, whose shortest branch b is
{SHORTEST}; Theorem 3 has uniform random trees whose leaves have height 1, and vectors times log-normal
factors.""",
    ),
)
