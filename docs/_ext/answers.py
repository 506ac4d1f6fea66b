"""How many answers a study needs, by the table that comes with ordhc: figures, and plans as printed."""

from importlib.resources import files
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import figures
import ordhc

#: The name, colour and marker of each method.
METHODS = {
    "uncertain": ("chosen questions", "#2b6f77", "o"),
    "posterior-al": ("random questions, posterior", "#b3541e", "s"),
    "adds3-al+spr": ("random questions, AddS3 and moves", "#7a6aa8", "^"),
}
SCORES = {"aari": "AARI with the true groups", "heldout": "new answers that the tree has right"}


def table() -> pd.DataFrame:
    """Return the measured table."""
    with (files("ordhc") / "plans" / "answers.csv").open() as file:
        return pd.read_csv(file)


def _axes(n: int) -> list[plt.Axes]:
    figures.reset({}, "")
    columns = min(3, n)
    rows = -(-n // columns)
    _, axes = plt.subplots(rows, columns, figsize=(8.6, 2.9 * rows), sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[n:]:
        ax.set_visible(False)
    for ax in axes.flat[max(0, n - columns) : n]:
        ax.xaxis.set_tick_params(labelbottom=True)
    return list(axes.flat[:n])


def _draw(ax: plt.Axes, rows: pd.DataFrame, score: str) -> None:
    for method, (label, colour, mark) in METHODS.items():
        found = rows[rows.method == method].sort_values("answers_per_item")
        x = found.answers_per_item
        ax.fill_between(
            x, found[f"{score}_low"], found[f"{score}_high"], color=colour, alpha=0.12, linewidth=0
        )
        ax.plot(x, found[score], color=colour, marker=mark, markersize=4, linewidth=1.6, label=label)
    ax.set_xscale("log", base=2)
    ticks = [2, 4, 8, 16, 32, 64, 128]
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.grid(axis="y", color="#e3e6e8", linewidth=0.7)
    ax.set_axisbelow(True)


def _finish(axes: list[plt.Axes], score: str) -> None:
    fig = axes[0].figure
    fig.supxlabel("answers for each item", fontsize=10)
    fig.supylabel(SCORES[score], fontsize=10)
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=9)
    axes[0].set_ylim(0 if score == "aari" else 0.3, 1.02)


def by_accuracy(score: str = "aari", noise: str = "close") -> None:
    """Draw a panel for each accuracy, with the largest number of items that was measured with all methods."""
    rows = table()
    n = (
        rows.groupby("items")
        .accuracy.nunique()
        .pipe(lambda counts: counts[counts == counts.max()].index.max())
    )
    rows = rows[(rows["items"] == n) & (rows.noise == noise)]
    accuracies = sorted(rows.accuracy.unique())
    axes = _axes(len(accuracies))
    for ax, accuracy in zip(axes, accuracies, strict=True):
        _draw(ax, rows[rows.accuracy == accuracy], score)
        ax.set_title(f"{accuracy:.0%} of the answers right", fontsize=10)
    _finish(axes, score)


def by_items(accuracy: float = 0.8, noise: str = "close") -> None:
    """Draw a panel for each number of items."""
    rows = table()
    rows = rows[(rows.accuracy == accuracy) & (rows.noise == noise)]
    sizes = sorted(rows["items"].unique())
    axes = _axes(len(sizes))
    for ax, n in zip(axes, sizes, strict=True):
        _draw(ax, rows[rows["items"] == n], "aari")
        ax.set_title(f"{n} items", fontsize=10)
    _finish(axes, "aari")


def by_noise(accuracy: float = 0.8) -> None:
    """Draw the models of wrong answers beside each other."""
    rows = table()
    n = rows["items"].max()
    titles = {
        "close": "wrong where items are close",
        "constant": "wrong anywhere",
        "lengths": "close; untypical items",
    }
    axes = _axes(len(titles))
    for ax, (noise, title) in zip(axes, titles.items(), strict=True):
        _draw(ax, rows[(rows["items"] == n) & (rows.accuracy == accuracy) & (rows.noise == noise)], "aari")
        ax.set_title(title, fontsize=10)
    _finish(axes, "aari")


def needed(target: float = 0.9) -> None:
    """Answers for each item that reach a target, by items and accuracy, as `ordhc.plan` says."""
    figures.reset({}, "")
    measured = sorted(table()["items"].unique())
    sizes = [n for n in (12, 20, 30, 50, 100, 200) if n <= measured[-1]]
    accuracies = np.array([0.6, 0.7, 0.8, 0.9, 1.0])
    methods = ["uncertain", "posterior-al"]
    plans = {(n, p): ordhc.plan(n, p, target=target) for n in sizes for p in accuracies}
    fig, axes = plt.subplots(1, 2, figsize=(8.6, 0.9 + 0.42 * len(sizes)), sharey=True)
    for ax, method in zip(axes, methods, strict=True):
        ways = [[plans[n, p][method] for p in accuracies] for n in sizes]
        shown = np.array([[way.answers_per_leaf or 2 * way.most for way in row] for row in ways])
        ax.imshow(np.log2(shown), cmap="YlGnBu", vmin=1, vmax=8, aspect="auto")
        for y, row in enumerate(ways):
            for x, way in enumerate(row):
                text = f">{way.most:g}" if way.answers_per_leaf is None else f"{way.answers_per_leaf:.0f}"
                dark = np.log2(shown[y, x]) > 4.8
                ax.text(x, y, text, ha="center", va="center", color="white" if dark else "#22303a")
        ax.set_title(METHODS[method][0], fontsize=10)
        ax.set_xticks(range(len(accuracies)), [f"{p:.0%}" for p in accuracies])
        ax.set_yticks(range(len(sizes)), [f"{n} items" for n in sizes])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    fig.supxlabel("of the answers are right", fontsize=10)


class PlanDirective(SphinxDirective):
    """The output of `ordhc.plan(n_leaves, accuracy)`."""

    required_arguments = 2

    def run(self) -> list[nodes.Node]:
        """Return the text as nodes."""
        text = str(ordhc.plan(int(self.arguments[0]), float(self.arguments[1])))
        return [nodes.literal_block(text, text, language="text")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("ordhc-plan", PlanDirective)
    return {"parallel_read_safe": True}
