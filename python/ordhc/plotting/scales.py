"""Draw the scale of a picture: an axis, rings around the root, or a bar."""

import math
from functools import partial
from typing import TYPE_CHECKING

from ordhc.plotting.palette import Theme
from ordhc.plotting.shapes import Circle, Rectangle, Shapes, Unrooted
from ordhc.plotting.truncated import Truncated

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_scale(ax: "Axes", drawn: Truncated, shapes: Shapes, scale: str, inks: Theme, size: float) -> None:
    if isinstance(shapes, Rectangle):
        _axis(ax, drawn, shapes, inks, size, shown=scale == "axis")
    elif scale == "axis":
        _rings(ax, drawn, shapes, inks, size)
    if scale == "bar" and drawn.positions.low < drawn.positions.high:
        _bar(ax, drawn, shapes, inks, size or 7.0)


def _ticks(drawn: Truncated, count: int) -> list[float]:
    from matplotlib.ticker import MaxNLocator

    low, high = drawn.positions.low, drawn.positions.high
    ticks = MaxNLocator(nbins=count, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    # The slack accepts rounding errors: in a tree of depth 0.3, the last tick can be 0.30000000000000004.
    slack = 1e-9 * (high - low)
    return [tick for tick in map(float, ticks) if low - slack <= tick <= high + slack]


def _axis(ax: "Axes", drawn: Truncated, shapes: Rectangle, inks: Theme, size: float, *, shown: bool) -> None:
    axis = ax.xaxis if shapes.sideways else ax.yaxis
    if not shown:
        axis.set_ticks([])
        return
    axis.set_ticks(_ticks(drawn, 6))
    axis.set_tick_params(colors=inks.line, labelsize=min(size or 7.0, 8.0), pad=2, length=2.5, width=0.6)
    axis.set_label_text(str(drawn.positions.label), color=inks.line, fontsize=min(size or 7.0, 9.0))
    spine = ax.spines["bottom" if shapes.sideways else "left"]
    spine.set(visible=True, color=inks.line, linewidth=0.6)
    spine.set_bounds(drawn.positions.low, drawn.positions.high)


def _rings(ax: "Axes", drawn: Truncated, shapes: Circle, inks: Theme, size: float) -> None:
    """Draw the scale of a circular tree: a circle around the root for each of several heights.

    The heights are written in the gap between the first and the last leaf.
    """
    from matplotlib.collections import LineCollection

    ticks = _ticks(drawn, 5)
    first, last = -0.5, drawn.width - 0.5
    lines = [shapes.arc(shapes.radius(tick), first, last) for tick in ticks]
    rings = LineCollection(lines, colors=inks.pale, linewidths=0.5, zorder=0.5)
    rings.set_gid("ordhc-rings")
    ax.add_collection(rings)
    small = min(size or 7.0, 7.0)
    style = {"ha": "center", "va": "center", "fontsize": small, "color": inks.line, "gid": "ordhc-scale"}
    for tick in ticks:
        ax.text(0.0, shapes.radius(tick), f"{tick:g}", **style)  # type: ignore[arg-type]
    # Write the label into the corner, where it cannot cover names.
    ax.annotate(
        f"rings:\n{drawn.positions.label}".replace(" from", "\nfrom"),
        (0.0, 0.0),
        xycoords="axes fraction",
        fontsize=small,
        color=inks.line,
    )


def _bar(ax: "Axes", drawn: Truncated, shapes: Shapes, inks: Theme, size: float) -> None:
    depth = abs(drawn.leaf_end - drawn.root_end)
    if isinstance(shapes, Unrooted):
        depth = 0.94 / shapes.unit * drawn.positions.length
    power = 10 ** math.floor(math.log10(0.2 * depth))
    length = max(step * power for step in (1, 2, 5) if step * power <= 0.2 * depth)
    text = f"{length:g}"
    style = {"color": inks.line, "linewidth": 1.0, "clip_on": False, "gid": "ordhc-scale"}
    note = partial(ax.annotate, text, textcoords="offset points", fontsize=size, color=inks.line)
    if isinstance(shapes, Rectangle):
        start, end = drawn.root_end, drawn.root_end + math.copysign(length, shapes.depth)
        # The bar is beyond the last leaf, so extend the limits of the axes.
        place = drawn.width + 0.2
        if shapes.sideways:
            ax.plot([start, end], [place, place], **style)  # type: ignore[arg-type]
            ax.set_ylim(place + 0.4, -0.6)
            at = ((start + end) / 2, place)
            note(at, xytext=(0, -2), ha="center", va="top")
        else:
            ax.plot([place, place], [start, end], **style)  # type: ignore[arg-type]
            ax.set_xlim(-0.6, place + 0.4)
            at = (place, (start + end) / 2)
            note(at, xytext=(2, 0), ha="left", va="center")
        return
    extent = length * 0.94 / depth
    low, high = ax.get_ylim()
    left = ax.get_xlim()[0]
    place = high - 0.02 * (high - low)
    ax.plot([left, left + extent], [place, place], **style)  # type: ignore[arg-type]
    at = (left + extent / 2, place)
    note(at, xytext=(0, -2), ha="center", va="top", annotation_clip=False)
