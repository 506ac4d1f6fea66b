"""Gray et al. on 20 Newsgroups: Table 2 and Figure 4 (tau-b by the number of terms), Figure 3 (topics)."""

import itertools
import math
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

import ordhc
from reproduce import data, dot_products, report
from reproduce.dot_products import AUTHORS, NEWSGROUPS, RAW, SCORES
from reproduce.framework import Cell, Experiment, Line, Published, Result, Results, lacking

#: By input, what Table 2 prints for these numbers of terms; the last has all terms.
TERMS = (500, 1000, 5000, 7500, 12818)
_PRINTED = {
    RAW: "0.026 0.55, 0.016 1.0, 0.13 2.2, 0.17 2.5, 0.26 2.9",
    SCORES: "0.017 0.72, 0.047 1.2, 0.12 1.9, 0.15 2.5, 0.24 2.6",
}
WINDOWS = "comp.windows.x"
#: Mean dot products of comp.windows.x, times 10,000, with the topics in alphabetical order, from y_ip_df.csv
#: of the authors' repository.
_WINDOWS_DOTS = (
    125,
    196,
    249,
    169,
    155,
    330,
    127,
    124,
    117,
    110,
    102,
    169,
    141,
    120,
    133,
    117,
    127,
    107,
    125,
    119,
)


# --- Table 2 ---------------------------------------------------------------------------------


def tau(kind: str, terms: int, quick: bool, seed: int) -> Result:
    """Return tau-b of dot products of a random choice of terms, with the labels' truth and the authors'."""
    Y, labels = dot_products.vectors(NEWSGROUPS, seed, quick)
    if terms < TERMS[-1]:
        chosen = np.random.default_rng([seed, terms]).choice(
            Y.shape[1], min(terms, Y.shape[1]), replace=False
        )
        Y = Y[:, np.sort(chosen)]
    X = Y if kind == RAW else ordhc.similarities.pca(Y, min(dot_products.COMPONENTS[NEWSGROUPS], *Y.shape))
    return dot_products.tau_of(NEWSGROUPS, X, labels, dot_products.DOT)


def table2(quick: bool) -> list[Cell]:
    """By truth, input and number of terms."""
    return [
        Cell(
            key=f"dot/table2/{kind.replace(' ', '-')}/{terms}",
            labels=(NEWSGROUPS + truth, kind, "all" if terms == TERMS[-1] else str(terms)),
            run=partial(tau, kind, terms, quick),
            number=number,
            seeds=1 if quick else 5,
            simulated=True,
            published=Published(printed.split()[0], float(printed.split()[1]) / 1000),
            needs=(NEWSGROUPS,),
            lacks=lacking("scipy"),
        )
        for number, truth in (("value", ""), ("authors", AUTHORS))
        for kind, row in _PRINTED.items()
        for terms, printed in zip(TERMS, row.split(", "), strict=True)
    ]


def lines2(results: Results) -> list[Line]:
    """The numbers, and whether tau-b increases with the number of terms, within 2 standard errors."""
    found = report.compare(results)
    for truth, kind in dict.fromkeys(cell.labels[:2] for cell in results):
        cells = {cell: seeds for cell, seeds in results.items() if cell.labels[:2] == (truth, kind)}

        def judge(cells: Results = cells) -> tuple[str, bool]:
            found = [report.mean_and_error(cell, seeds)[:2] for cell, seeds in cells.items()]
            rises = all(
                later > before - 2 * math.hypot(error, other)
                for (before, error), (later, other) in itertools.pairwise(found)
            )
            return ", ".join(f"{mean:.3f}" for mean, _ in found), rises and found[-1][0] > found[0][0]

        said = "performance increases with p"
        found.append(report.claim((truth, kind, "in turn"), said, cells, judge))
    return found


# --- Figure 3 --------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def between(seed: int, quick: bool) -> tuple[list[str], np.ndarray, dict[str, np.ndarray]]:
    """Return the topics, their mean PC scores, and by kind the mean affinities of documents of two topics."""
    Y, labels = dot_products.vectors(NEWSGROUPS, seed, quick)
    topics, at = np.unique([".".join(row) for row in labels.tolist()], return_inverse=True)
    scores = dot_products.scores(NEWSGROUPS, seed, quick)
    member = np.eye(len(topics))[at] / np.bincount(at)[at][:, None]
    centres = member.T @ scores
    far = ordhc.similarity(scores, "euclidean")
    found = {"dot": centres @ centres.T, "vectors": np.asarray((member.T @ Y) @ (member.T @ Y).T)}
    return topics.tolist(), centres, found | {"euclidean": -member.T @ far @ member}


def topics(quick: bool, seed: int) -> Result:
    """Return the numbers that Figure 3 is judged by."""
    names, centres, affinities = between(seed, quick)
    classes = [(data.groups_of(name) or [name])[-1] for name in names]
    windows = names.index(WINDOWS)
    same = np.array(classes) == classes[windows]
    found: Result = {}
    for kind, method in (("dot", "dot-al"), ("euclidean", None)):
        order = np.argsort(-affinities[kind], axis=1)
        others = np.array([[other for other in row if other != at] for at, row in enumerate(order)])
        best = np.array(classes)[others[:, :5]] == np.array(classes)[:, None]
        found[f"{kind}: same class"] = float(best.mean())
        found[f"{kind}: comp"] = float(same[others[windows, :5]].sum())
        found[f"{kind}: crypt"] = float("sci.crypt" in [names[at] for at in others[windows, :5]])
        tree = _tree(centres, method)
        found[f"{kind}: purity"] = float(ordhc.metrics.dendrogram_purity(tree, classes))
    if len(names) == len(_WINDOWS_DOTS):
        found["correlation"] = float(np.corrcoef(affinities["vectors"][windows], _WINDOWS_DOTS)[0, 1])
    else:
        found["correlation"] = float("nan")
    return found


def _tree(centres: np.ndarray, method: str | None) -> ordhc.Dendrogram:
    if method is None:
        return ordhc.cluster(centres, similarity="euclidean", linkage="average")
    return dot_products.quietly(lambda: ordhc.cluster(centres, method=method))


def figure3(quick: bool) -> list[Cell]:
    """One cell, whose seeds are draws of documents."""
    return [
        Cell(
            key="dot/figure3/topics",
            labels=(NEWSGROUPS,),
            run=partial(topics, quick),
            number="correlation",
            seeds=1 if quick else 5,
            simulated=True,
            needs=(NEWSGROUPS,),
            lacks=lacking("scipy"),
        )
    ]


def lines3(results: Results) -> list[Line]:
    """What the text says of the panels."""

    def means(name: str) -> tuple[float, float]:
        (seeds,) = results.values()
        values = [[run[f"{kind}: {name}"] for run in seeds.values()] for kind in ("dot", "euclidean")]
        return float(np.mean(values[0])), float(np.mean(values[1]))

    def panels_ab() -> tuple[str, bool]:
        dot, far = means("same class")
        return (
            f"of the five best topics {dot:.0%} of the same class by dot product, {far:.0%} by distance",
            dot > far,
        )

    def panel_c() -> tuple[str, bool]:
        dot, crypt = means("comp")[0], means("crypt")[0]
        return f"{dot:.1f} of comp; sci.crypt in {crypt:.0%} of the draws", dot > 3.5 and crypt > 0.5

    def panel_d() -> tuple[str, bool]:
        far = means("comp")[1]
        return f"{far:.1f} of the five nearest topics are of comp", far < means("comp")[0]

    def panels_ef() -> tuple[str, bool]:
        dot, far = means("purity")
        return f"purity of the classes in the trees {dot:.2f} by dot product, {far:.2f} by UPGMA", dot > far

    def numbers() -> tuple[str, bool]:
        (seeds,) = results.values()
        correlation = float(np.mean([run["correlation"] for run in seeds.values()]))
        return f"correlation {correlation:.3f} with the authors' file", correlation > 0.95

    judged = (
        ("(a), (b)", "dot products show the classes of topics, distances do not", panels_ab),
        ("(c)", f"four of the five best topics of {WINDOWS} are of comp, the other is sci.crypt", panel_c),
        ("(c), numbers", f"mean dot products of {WINDOWS}", numbers),
        ("(d)", "by distance the other topics of comp are dissimilar", panel_d),
        ("(e), (f)", "the tree of Algorithm 1 has the classes of topics more than that of UPGMA", panels_ef),
    )
    return [report.claim((panel,), said, results, judge) for panel, said, judge in judged]


def draw3(_results: Results, path: Path) -> None:
    """Dendrograms of the topics, by dot product and by UPGMA, and the affinities of comp.windows.x.

    Without the data the picture stays as it is.
    """
    import matplotlib.pyplot as plt

    if data.why_missing(NEWSGROUPS):
        return

    names, centres, affinities = between(0, quick=False)
    figure, axes = plt.subplots(2, 2, figsize=(12, 9), layout="constrained")
    windows = names.index(WINDOWS)
    for column, (kind, method, title) in enumerate(
        (("dot", "dot-al", "dot products"), ("euclidean", None, "Euclidean distance, UPGMA"))
    ):
        order = [at for at in np.argsort(-affinities[kind][windows]) if at != windows]
        axes[0, column].plot([names[at] for at in order], affinities[kind][windows][order], "o")
        axes[0, column].tick_params(axis="x", labelrotation=90, labelsize=7)
        axes[0, column].set(title=f"{WINDOWS}: {title}")
        merges = _tree(centres, method).merges
        tree = ordhc.Dendrogram(merges, np.arange(1.0, len(names)), names=names)
        tree.plot(ax=axes[1, column], font_size=8, title=f"topics: {title}")
    figure.savefig(path, dpi=80)
    plt.close(figure)


EXPERIMENTS = (
    Experiment(
        name="dot/table2",
        title="Dot products, Table 2 and Figure 4: Kendall tau-b of trees of texts (vectors of word counts)",
        columns=("data", "input", "terms"),
        cells=table2,
        lines=lines2,
        remarks="""The paper does not say how its terms are chosen; ours are drawn at random, other ones for
each seed, of the terms of 5,000 documents, which are also drawn. The truths are those of Table 1. All terms
are 12,818 in the paper.""",
    ),
    Experiment(
        name="dot/figure3",
        title="Dot products, Figure 3: affinities of topics of texts (20 Newsgroups)",
        columns=("panel",),
        cells=figure3,
        lines=lines3,
        draw=draw3,
        remarks="""Means over five draws of 5,000 documents. *The same class* is that of the authors' ranking.
Panels (a) to (d) are of PC scores, the numbers of (c) of vectors.""",
    ),
)
