"""The simulated model of Gray et al. (section D.1), and their Figure 2: errors of estimated affinities."""

import math
import statistics
from functools import partial
from pathlib import Path

import numpy as np

import ordhc
from reproduce.framework import Cell, Experiment, Line, Result, Results
from reproduce.report import DIFFERS, EXTRA, MISSING, REPRODUCED

#: Nodes 0 to 4 are the leaves that the paper numbers 1 to 5; the first three have one parent, the others
#: another.
TREE = ordhc.Dendrogram(
    [(0, 1), (5, 2), (3, 4), (6, 7)],
    [3.0, 3.0, 2.0, 1.0],
    kind="similarity",
    leaf_heights=[8.0, 5.0, 5.0, 2.5, 9.0],
)
SIMULATIONS = 100


def labels_of(leaves: np.ndarray) -> np.ndarray:
    """Nested labels: the parent, and the leaf."""
    return np.column_stack([leaves > 2, leaves]).astype(np.int64)


def affinities(leaves: np.ndarray) -> np.ndarray:
    """The true affinity of every pair: the height at which their leaves merge."""
    return TREE.cophenetic(square=True)[np.ix_(leaves, leaves)]


def errors(n: int, p: int, seed: int) -> Result:
    """The largest error over pairs, of dot products of vectors and of principal component scores.

    r is the number of leaves that occur, as the rank of the true affinities.
    """
    Y, leaves = ordhc.datasets.vectors_of(TREE, n, p, seed=seed)
    truth = affinities(leaves)[np.triu_indices(n, 1)]
    r = len(np.unique(leaves))
    return {
        "raw": float(np.abs(ordhc.similarity(Y, "dot", layout="condensed") - truth).max()),
        "pca": float(
            np.abs(ordhc.similarity(Y, "pca-dot", layout="condensed", n_components=r) - truth).max()
        ),
    }


def lines_of(quick: bool) -> dict[tuple[str, str], list[tuple[int, int, int]]]:
    """By panel and line, its points: x, n and p."""
    xs = [20, 40] if quick else list(range(100, 1100, 100))
    growth = {
        "p ~ log n": [round(1 + math.log(n)) for n in xs],
        "p ~ sqrt n": [round(math.sqrt(n)) for n in xs],
        "p ~ n / log n": [round(n / round(math.log(n))) for n in xs],
        "p ~ n": xs,
    }
    found = {("(a)", name): [(n, n, p - ps[0] + 10) for n, p in zip(xs, ps, strict=True)]
             for name, ps in growth.items()}  # fmt: skip
    sizes = (10, 20) if quick else (10, 100, 1000)
    found |= {("(b)", f"p = {p}"): [(n, n, p) for n in xs] for p in sizes}
    return found | {("(c)", f"n = {n}"): [(p, n, p) for p in xs] for n in sizes}


def figure2(quick: bool) -> list[Cell]:
    """The points of Figure 2."""
    return [
        Cell(
            key=f"dot/figure2/{panel[1]}/{line.replace(' / ', '_over_').replace(' ', '')}/{x}",
            labels=(panel, line, str(x)),
            run=partial(errors, n, p),
            seeds=2 if quick else SIMULATIONS,
            simulated=True,
            settings={"n": n, "p": p},
        )
        for (panel, line), points in lines_of(quick).items()
        for x, n, p in points
    ]


def claims(results: Results) -> list[Line]:
    """What the paper says of each line of the figure, and the paired difference of the two errors."""
    by_line: dict[tuple[str, str], list[tuple[Cell, list[Result]]]] = {}
    for cell, found in results.items():
        by_line.setdefault((cell.labels[0], cell.labels[1]), []).append((cell, list(found.values())))
    lines = []
    for (panel, line), points in by_line.items():
        said = "PCA very slightly smaller" if panel in ("(a)", "(b)") else ""
        if (panel, line) == ("(c)", "n = 10"):
            said = "PCA larger"
        if not all(found for _, found in points):
            lines.append(Line((panel, line), said, "", "", MISSING))
            continue
        raw = [statistics.fmean(r["raw"] for r in found) for _, found in points]
        pca = [statistics.fmean(r["pca"] for r in found) for _, found in points]
        ratio = sum(pca) / sum(raw)
        differences = [[r["pca"] - r["raw"] for r in found] for _, found in points]
        variance = sum(statistics.variance(d) / len(d) for d in differences if len(d) > 1)
        gap = (sum(pca) - sum(raw)) / math.sqrt(variance) if variance else 0.0
        ours = f"{raw[0]:.2f} to {raw[-1]:.2f}, with PCA {ratio - 1:+.1%}"
        if not said:
            verdict = EXTRA
        else:
            held = gap < -2 if "smaller" in said else gap > 2
            verdict = REPRODUCED if held else DIFFERS
        lines.append(Line((panel, line), said, ours, f"{gap:+.1f}", verdict))
    return lines


def plot(results: Results, path: Path) -> None:
    """Three panels: n and p growing, p fixed, n fixed; vectors black, PCA red.

    Bars are two standard errors, as in the authors' code; the caption says standard deviations.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(15, 4.5), constrained_layout=True)
    titles = {"(a)": "n and p growing", "(b)": "p fixed", "(c)": "n fixed"}
    by_line: dict[tuple[str, str], list[tuple[int, list[Result]]]] = {}
    for cell, found in results.items():
        key = (cell.labels[0], cell.labels[1])
        by_line.setdefault(key, []).append((int(cell.labels[2]), list(found.values())))
    for (panel, line), points in by_line.items():
        ax = axes[["(a)", "(b)", "(c)"].index(panel)]
        for name, colour in (("raw", "black"), ("pca", "red")):
            values = [[r[name] for r in found] for _, found in points]
            ax.errorbar(
                [x for x, _ in points],
                [statistics.fmean(v) for v in values],
                yerr=[2 * statistics.stdev(v) / math.sqrt(len(v)) if len(v) > 1 else 0 for v in values],
                fmt="-o",
                markersize=3,
                capsize=2,
                color=colour,
            )
        end = points[-1]
        at = (end[0], statistics.fmean(r["raw"] for r in end[1]))
        ax.annotate(line, at, xytext=(6, -3), textcoords="offset points", fontsize=9)
    for ax, (panel, title) in zip(axes, titles.items(), strict=True):
        ax.set(title=f"{panel} {title}", yscale="log", xlabel="p" if panel == "(c)" else "n")
        left, right = ax.get_xlim()
        ax.set_xlim(left, right + 0.18 * (right - left))
        ax.grid(visible=True, which="both", alpha=0.3)
    axes[0].set_ylabel("largest error")
    axes[0].plot([], [], "-o", color="black", label="vectors")
    axes[0].plot([], [], "-o", color="red", label="PCA")
    axes[0].legend()
    figure.savefig(path, dpi=100)
    plt.close(figure)


FIGURE2 = Experiment(
    name="dot/figure2",
    title="Dot products, Figure 2: the largest error of estimated affinities",
    columns=("panel", "line"),
    cells=figure2,
    lines=claims,
    draw=plot,
    remarks="""The paper prints no numbers. *Published* is what it says of each line. *Ours* is the mean of
the largest error at both ends, and how much larger it is with PCA over the whole line; the difference is
the paired one of these two errors. A line is reproduced if that difference has the sign that the paper
says, by more than 2 standard errors. The sizes of n and p are those of the authors' code, as are bars of
two standard errors (the caption says standard deviations). r is the number of leaves of the tree that
occur.""",
)
