"""Functions that all figures share: axes without a frame, reference lines, and the noise ceiling."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc.evaluate.ceiling import NoiseCeiling
from ordhc.evaluate.intervals import wilson
from ordhc.plotting.figures import axes_for
from ordhc.plotting.palette import Theme, palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plain_axes(
    ax: "Axes | None", x: str, y: str, *, size: tuple[float, float] = (4.8, 3.4)
) -> tuple["Axes", Theme]:
    """Return axes without a frame, with the labels `x` and `y`, and the colours of their theme."""
    ax = axes_for(ax, size)
    inks = Theme.of(None, ax)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(inks.line)
    ax.tick_params(colors=inks.line, labelsize=8)
    ax.set_xlabel(x, color=inks.ink, fontsize=9)
    ax.set_ylabel(y, color=inks.ink, fontsize=9)
    return ax, inks


def plot_shares(ax: "Axes", x: ArrayLike, shares: NDArray[np.float64], counts: NDArray[np.float64]) -> None:
    """Plot shares of `counts` things as points, with 95% intervals (Wilson)."""
    low, high = wilson(shares, counts)
    errors = np.stack([shares - low, high - shares]).clip(min=0)
    colour = palette(1)[0]
    ax.errorbar(x, shares, errors, fmt="o-", color=colour, markersize=4, linewidth=1.2, capsize=2)


def shortened(names: Iterable[str], longest: int) -> list[str]:
    """Return names on one line each, with at most `longest` characters."""
    plain = [" ".join(name.split()) for name in names]
    return [name if len(name) <= longest else name[: longest - 1] + "…" for name in plain]


def reference_line(ax: "Axes", value: float, name: str, inks: Theme, *, upright: bool = False) -> None:
    """Draw a dashed line at `value` with its name; horizontal, or vertical if `upright`."""
    line = ax.axvline if upright else ax.axhline
    line(value, color=inks.line, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1, gid=f"ordhc-{name}")
    across = ax.get_xaxis_transform() if upright else ax.get_yaxis_transform()
    ax.text(
        *((value, 1.0) if upright else (1.0, value)),
        f" {name}" if upright else f"{name} ",
        transform=across,
        color=inks.line,
        fontsize=7,
        ha="center" if upright else "right",
        va="bottom",
    )


def ceiling_band(ax: "Axes", ceiling: NoiseCeiling | None, inks: Theme, *, upright: bool = False) -> None:
    """Draw the noise ceiling (the best possible score) as a band; nothing if too few answers estimate it."""
    if ceiling is None or not ceiling.is_reliable:
        return
    span = ax.axvspan if upright else ax.axhspan
    span(ceiling.lower, ceiling.upper, color=inks.pale, zorder=0).set_gid("ordhc-ceiling")
    reference_line(ax, ceiling.lower, "noise ceiling", inks, upright=upright)
