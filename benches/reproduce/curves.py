"""Figures of a number against another, a line for each method, and what a text says of such lines."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reproduce.framework import Result, Results

#: The same colour and marker for a method in every figure.
_STYLES = {
    "AddS3-AL": ("C0", "o"),
    "AddS4-AL": ("C0", "o"),
    "MulK3-AL": ("C2", "s"),
    "tSTE-AL": ("C1", "^"),
    "FORTE-AL": ("C5", "v"),
    "4K-AL": ("C3", "s"),
    "4K-AL-act": ("C6", "D"),
    "4K-AL-act, q = 1": ("C5", "d"),
    "4-AL": ("C4", "^"),
    "4-AL-I3": ("C8", "<"),
    "4-AL-I5": ("C9", ">"),
    "3-AL": ("C2", "o"),
    "3K-AL": ("C0", "D"),
    "SL": ("C7", "x"),
    "CL": ("black", "+"),
}


@dataclass(frozen=True)
class Panel:
    """A part of a figure: its cells have the labels (name, method, x). `bounds` are dashed lines."""

    name: str
    number: str
    y: str
    title: str = ""
    bounds: Mapping[str, Callable[[float], float]] = field(default_factory=dict)


def lines(results: Results, panel: str) -> dict[str, dict[float, list[Result]]]:
    """Of a panel, by method and x, the results of all seeds that were run."""
    found: dict[str, dict[float, list[Result]]] = {}
    for cell, seeds in results.items():
        if seeds and cell.labels[0] == panel:
            found.setdefault(cell.labels[1], {})[float(cell.labels[2])] = [
                result for _, result in sorted(seeds.items())
            ]
    return found


def mean(results: Sequence[Result], number: str) -> float:
    """The mean over seeds."""
    return statistics.fmean(result[number] for result in results)


def figure(
    grid: Sequence[Sequence[Panel]], x: str, *, log_x: bool = False, log_y: bool = False
) -> Callable[[Results, Path], None]:
    """Draws means over seeds, with bars of a standard deviation."""

    def draw(results: Results, path: Path) -> None:
        import matplotlib.pyplot as plt

        size = (5 * len(grid[0]), 3.6 * len(grid))
        drawn, axes = plt.subplots(len(grid), len(grid[0]), figsize=size, squeeze=False, layout="constrained")
        names = list(dict.fromkeys(cell.labels[1] for cell in results))
        for panels, row in zip(grid, axes, strict=True):
            for panel, ax in zip(panels, row, strict=True):
                for method, points in lines(results, panel.name).items():
                    colour, marker = _STYLES.get(method, (f"C{names.index(method) % 10}", "o"))
                    xs = sorted(points)
                    spreads = [[r[panel.number] for r in points[at]] for at in xs]
                    ax.errorbar(
                        xs,
                        [statistics.fmean(values) for values in spreads],
                        yerr=[statistics.stdev(v) if len(v) > 1 else 0.0 for v in spreads],
                        color=colour,
                        marker=marker,
                        markersize=4,
                        capsize=2,
                        label=method,
                    )
                for (what, bound), style in zip(panel.bounds.items(), ("--", ":", "-."), strict=False):
                    xs = sorted({at for points in lines(results, panel.name).values() for at in points})
                    ax.plot(xs, [bound(at) for at in xs], style, color="black", linewidth=1, label=what)
                ax.set(title=panel.title or panel.name, xlabel=x, ylabel=panel.y)
                if log_x:
                    ax.set_xscale("log", base=2)
                if log_y:
                    ax.set_yscale("log")
                ax.grid(visible=True, alpha=0.3)
        axes[0][0].legend(fontsize=8)
        drawn.savefig(path, dpi=80)
        plt.close(drawn)

    return draw
