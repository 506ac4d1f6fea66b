"""Ghoshdastidar, Perrot & von Luxburg: Foundations of comparison-based hierarchical clustering, on data:
Figure 3, Figures 5 to 7 of the first version, and the dendrograms of cars.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

import ordhc
from reproduce import curves, data, methods, report
from reproduce.framework import Cell, Experiment, Line, Published, Result, Results, lacking
from reproduce.revenue_data import cosines

OURS = ("4K-AL", "4-AL", "3-AL", "3K-AL")
METHODS = (*OURS, *methods.EMBEDDINGS)
SHARES = (0.01, 0.04, 0.07, 0.1)
#: The first version has shares from 10 % to 100 %.
LARGE = (0.3, 1.0)
DIMENSIONS = (2, 5, 10, 20)
NEWSGROUPS = "20 Newsgroups"
#: Features by data set, of 20 Newsgroups so many principal components.
FEATURES: dict[str, Callable[[int], np.ndarray]] = {
    "Zoo": lambda _: data.zoo()[0],
    "Glass": lambda _: data.glass(),
    NEWSGROUPS: data.newsgroups_pca,
}
_DOCUMENTS, _QUICK = 200, 30
#: One run of 4-AL on Zoo with 10% of quadruplets, in the notebook zoo.ipynb of the authors' code.
_NOTEBOOK = Published("171748.48")


@lru_cache(maxsize=2)
def _similarities(name: str, quick: bool, seed: int) -> np.ndarray:
    X = FEATURES[name](5 if quick else 100)
    order = np.random.default_rng(seed).permutation(len(X))
    return cosines(X[order[: _QUICK if quick else _DOCUMENTS if name == NEWSGROUPS else len(X)]])


@lru_cache(maxsize=1)
def _drawn(
    name: str, p: float, quadruplets: bool, quick: bool, seed: int
) -> ordhc.Triplets | ordhc.Quadruplets:
    S = _similarities(name, quick, seed)
    return ordhc.datasets.comparisons_of(S, share=p, quadruplets=quadruplets, seed=seed)


def _run(name: str, method: str, p: float, dimension: int, quick: bool, seed: int) -> Result:
    drawn = _drawn(name, p, method in ("4K-AL", "4-AL"), quick, seed)
    tree = methods.fit(method, drawn, seed, n_components=dimension)
    return {"value": float(ordhc.score(tree, _similarities(name, quick, seed), metric="dasgupta_cost"))}


def _cell(
    labels: tuple[str, ...], name: str, method: str, p: float, quick: bool, seeds: int, dimension: int = 2
) -> Cell:
    return Cell(
        key=f"foundations/data/{name}/{method}/{p}/{dimension}".replace(" ", "-"),
        labels=labels,
        run=partial(_run, name, method, p, dimension, quick),
        seeds=1 if quick else seeds,
        simulated=True,
        published=_NOTEBOOK if (name, method, p) == ("Zoo", "4-AL", 0.1) else None,
        needs=(name,) if name == NEWSGROUPS else (),
        lacks=methods.lacks(method) or (lacking("scipy") if name == NEWSGROUPS else ""),
        settings={"n": _QUICK} if quick else {},
    )


def figure3(quick: bool) -> list[Cell]:
    """Dasgupta's cost by data set, method and share of comparisons."""
    return [
        _cell((name, method, str(p)), name, method, p, quick, 10 if name == "Zoo" else 2)
        for name in FEATURES
        for p in (SHARES[::3] if quick else (*SHARES, *LARGE))
        for method in METHODS
        if p not in LARGE or name == "Zoo" or method in ("3-AL", "3K-AL")
    ]


def figure5(quick: bool) -> list[Cell]:
    """Dasgupta's cost by data set, method and dimension of the embedding, from a tenth of the comparisons."""
    dimensions = DIMENSIONS[:2] if quick else DIMENSIONS
    return [
        _cell((name, method, str(d)), name, method, 0.1, quick, 5 if name == "Zoo" else 2, d)
        for name in FEATURES
        for method in methods.EMBEDDINGS
        for d in dimensions
    ] + [
        _cell((name, method, str(d)), name, method, 0.1, quick, 5 if name == "Zoo" else 2)
        for name in FEATURES
        for method in ("3-AL", "3K-AL")
        for d in dimensions
    ]


def claims5(results: Results) -> list[Line]:
    """The performance of embeddings depends on the dimension."""
    found = []
    for name in FEATURES:
        cells = {cell: seeds for cell, seeds in results.items() if cell.labels[0] == name}

        def judge(name: str = name) -> tuple[str, bool]:
            costs = {
                method: {d: curves.mean(runs, "value") for d, runs in sorted(points.items())}
                for method, points in curves.lines(results, name).items()
                if method in methods.EMBEDDINGS
            }
            worse = {method: max(at.values()) / min(at.values()) - 1 for method, at in costs.items()}
            text = ", ".join(
                f"{m}: the worst dimension costs {w:.1%} more than the best" for m, w in worse.items()
            )
            return text, max(worse.values()) > 0.01

        said = "the performance of tSTE-AL and FORTE-AL depends on the dimension"
        found.append(report.claim((name,), said, cells, judge))
    return found


def claims(results: Results) -> list[Line]:
    """What the text says of each data set, and the number of the notebook."""
    found = []
    for name in FEATURES:
        of_data = {cell: seeds for cell, seeds in results.items() if cell.labels[0] == name}
        ours = {cell: seeds for cell, seeds in of_data.items() if cell.labels[1] in OURS}
        embedded = {cell: seeds for cell, seeds in of_data.items() if cell.labels[1] not in OURS}

        def costs(name: str = name) -> dict[str, dict[float, float]]:
            lines = curves.lines(results, name)
            return {
                method: {p: curves.mean(runs, "value") for p, runs in points.items()}
                for method, points in lines.items()
            }

        def stable(costs: Callable[[], dict[str, dict[float, float]]] = costs) -> tuple[str, bool]:
            ranges = {m: max(at.values()) / min(at.values()) - 1 for m, at in costs().items() if m in OURS}
            return ", ".join(f"{m} varies by {r:.2%}" for m, r in ranges.items()), max(ranges.values()) < 0.05

        def better(costs: Callable[[], dict[str, dict[float, float]]] = costs) -> tuple[str, bool]:
            means = {m: sum(at.values()) / len(at) for m, at in costs().items()}
            best = min(mean for m, mean in means.items() if m not in OURS)
            return ", ".join(f"{m} {mean:.4g}" for m, mean in means.items()), all(
                means[m] < 1.02 * best for m in ("4K-AL", "4-AL")
            )

        found += [
            report.claim((name, "ours", ""), "the share of comparisons has no large impact", ours, stable),
            report.claim(
                (name, "embeddings", ""), "4K-AL and 4-AL are comparable or better", embedded, better
            ),
        ]
    return found + report.compare({cell: seeds for cell, seeds in results.items() if cell.published})


# --- cars ------------------------------------------------------------------------------------

REDUCED = "12,112"
CAR_METHODS = ("3-AL", "3K-AL", "tSTE-AL", "FORTE-AL")


def _car_run(method: str, reduced: bool, seed: int) -> Result:
    triplets = data.cars(reduced=reduced)
    return {"value": float(ordhc.score(methods.fit(method, triplets, seed), triplets))}


def cars(quick: bool) -> list[Cell]:
    """The revenue of the trees of cars."""
    return [
        Cell(
            key=f"foundations/cars/{method}/{number}",
            labels=(number, method),
            run=partial(_car_run, method, reduced),
            seeds=1 if quick else 10,
            simulated=True,
            lacks=methods.lacks(method),
        )
        for number, reduced in ((REDUCED, True), ("14,194", False))
        for method in CAR_METHODS
    ]


def draw_cars(results: Results, path: Path) -> None:
    """The trees of seed 0, one below the other; merges one step apart, as heights are of different kinds."""
    import matplotlib.pyplot as plt

    # Those that were run elsewhere may lack their plugin here.
    shown = [cell.labels[1] for cell in results if not cell.lacks and cell.labels[0] == REDUCED]
    figure, axes = plt.subplots(
        len(shown), 1, figsize=(12, 3.2 * len(shown)), squeeze=False, layout="constrained"
    )
    for method, ax in zip(shown, axes[:, 0], strict=True):
        merges = methods.fit(method, data.cars(reduced=True), 0).merges
        tree = ordhc.Dendrogram(merges, np.arange(1.0, len(merges) + 1), kind="dissimilarity")
        tree.plot(ax=ax, orientation="bottom", font_size=7, title=method).set_ylabel("merge")
    figure.savefig(path, dpi=80)
    plt.close(figure)


EXPERIMENTS = (
    Experiment(
        name="foundations/figure3",
        title="Foundations, Figure 3: Dasgupta's cost on real data by share p of known comparisons",
        columns=("data", "method", "p"),
        cells=figure3,
        lines=claims,
        draw=curves.figure([[curves.Panel(name, "value", "Dasgupta's cost") for name in FEATURES]], "p"),
        remarks="""The paper prints no numbers; *published* is what its text says, and the cost that is
printed in a notebook of the authors' code. Comparisons are of cosines of the features as they are (20
Newsgroups: 200 random documents, 100 principal components of counts of words), without those of equal
cosines. The quadruplet methods have a share p of all quadruplets; 3-AL, 3K-AL and embeddings in 2 dimensions
have it of all triplets. The shares are 0.01, 0.04, 0.07 and 0.1, and of the first version 0.3 and 1, with 10
seeds on Zoo and 2 elsewhere. On Glass and 20 Newsgroups 0.3 and 1 are run with 3-AL and 3K-AL only: there
are 260 and 198 million quadruplets. *Comparable* means a cost of at most 2% more, *no large impact* less
than 5%.""",
    ),
    Experiment(
        name="foundations/figure5",
        title="Foundations (first version), Figures 5 to 7: Dasgupta's cost by dimension of embeddings",
        columns=("data",),
        cells=figure5,
        lines=claims5,
        draw=curves.figure(
            [[curves.Panel(name, "value", "Dasgupta's cost") for name in FEATURES]], "dimension"
        ),
        remarks="""A tenth of all triplets, dimensions 2, 5, 10 and 20; 3-AL and 3K-AL need none. *Depends*
means that the worst dimension costs at least 1% more than the best.""",
    ),
    Experiment(
        name="foundations/cars",
        title="Foundations, supplement: dendrograms of cars",
        columns=("triplets", "method"),
        cells=cars,
        lines=report.compare,
        draw=draw_cars,
        remarks="""Numbers are triplet revenues; the paper has the dendrograms only. They are of the 12,112
triplets of the reduced answers, `load_car(reduced=True)`; 14,194 are those of all answers.""",
    ),
)
