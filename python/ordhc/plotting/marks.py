"""Draw support, marks, names of nodes, columns of categories, and legends on and beside a tree."""

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ordhc.plotting.categories import Categories
from ordhc.plotting.figures import points_of
from ordhc.plotting.palette import Theme, palette
from ordhc.plotting.shapes import Rectangle, Shapes
from ordhc.plotting.sizes import longest_name
from ordhc.plotting.truncated import Item, Truncated

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: The minimum number of characters of a cut name. If fewer fit, the name is left out.
_SHORTEST = 8


def support_of(drawn: Truncated) -> list[tuple[Item, float]]:
    """Return the inner nodes with known support, largest first.

    The root is left out, because all trees contain the cluster of all leaves.
    """
    support, n = drawn.tree.support, drawn.tree.n_leaves
    if support is None:
        return []
    inner = [i for i in drawn.items() if i is not drawn.root and i.label >= n and not i.is_rest]
    found = [(item, float(support[item.label - n])) for item in inner]
    return sorted((pair for pair in found if pair[1] == pair[1]), key=lambda pair: -pair[0].size)


def widths_of(drawn: Truncated, line: float, shown: str | None, least: float | None) -> dict[int, float]:
    """Return the width of the branch of each `Item`, by `id(item)`; empty unless `shown` is "width"."""
    if shown != "width":
        return {}
    thinnest, widest = 0.4 * line, 3.0 * line
    return {
        id(item): thinnest if least is not None and share < least else thinnest + share * (widest - thinnest)
        for item, share in support_of(drawn)
    }


def draw_support(
    ax: "Axes",
    drawn: Truncated,
    shapes: Shapes,
    shown: str,
    least: float | None,
    inks: Theme,
    size: float,
    line: float,
) -> NDArray[np.float64]:
    """Draw support at the nodes, as numbers in percent or as dots; return the boxes of the numbers in pixels.

    The boxes are (k, 4): left, bottom, right, top.
    """
    taken = np.zeros((0, 4))
    known = [(item, share) for item, share in support_of(drawn) if least is None or share >= least]
    if not known:
        return taken
    places = np.array([shapes.node(item) for item, _ in known])
    if shown == "dots":
        areas = [(1.2 + 3.0 * share) ** 2 * max(line, 0.6) for _, share in known]
        dots = ax.scatter(places[:, 0], places[:, 1], s=areas, c=inks.ink, linewidths=0, zorder=3)
        dots.set_gid("ordhc-support")
        return taken
    small = float(np.clip(0.72 * (size or 7.0), 3.5, 7.0))
    lines = _segments(ax, drawn, shapes)
    scale = ax.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
    turned = isinstance(shapes, Rectangle) and not shapes.sideways
    pixels = ax.transData.transform(places).tolist()
    for (_, share), place, (x, y) in zip(known, places.tolist(), pixels, strict=True):
        text = f"{100 * share:.0f}"
        extent = np.array([0.64 * small * len(text), small])[:: -1 if turned else 1]
        # These boxes are approximate, because the layout of the figure is not known yet.
        spots = [(spot, _box(x, y, spot, extent, scale)) for spot in _spots(shapes)]
        free = [(spot, box) for spot, box in spots if not _overlaps(box, taken).any()]
        if not free:
            continue
        spot, box = min(free, key=lambda found: int(_overlaps(found[1], lines).sum()))
        taken = np.vstack([taken, box])
        ax.annotate(
            text,
            (place[0], place[1]),
            xytext=spot[:2],
            textcoords="offset points",
            fontsize=small,
            color=inks.line,
            rotation=90 if turned else 0,
            ha=spot[2],
            va=spot[3],
            zorder=3,
            gid="ordhc-support",
        ).set_in_layout(False)
    return taken


def draw_marked(ax: "Axes", drawn: Truncated, shapes: Shapes, marked: Collection[int], line: float) -> None:
    colour, n = palette(2)[1], drawn.tree.n_leaves
    items = [item for item in drawn.items() if item.label in marked and not item.is_rest]
    for some, face, area in (
        ([item for item in items if item.label < n], colour, 12.0),
        ([item for item in items if item.label >= n], "none", 26.0),
    ):
        if some:
            x, y = zip(*map(shapes.node, some), strict=True)
            dots = ax.scatter(x, y, s=area, facecolors=face, edgecolors=colour, zorder=4, clip_on=False)
            # Dots of leaves have no outline, so that they cover less of the names. Clusters have rings.
            dots.set_linewidth(0 if face == colour else 1.3 * max(line, 0.8))
            dots.set_gid("ordhc-marked-leaves" if face == colour else "ordhc-marked-nodes")


def draw_node_names(
    ax: "Axes",
    drawn: Truncated,
    shapes: Shapes,
    taken: NDArray[np.float64] | None,
    inks: Theme,
    size: float,
) -> None:
    names, n = drawn.tree.node_names, drawn.tree.n_leaves
    if names is None or not isinstance(shapes, Rectangle):
        return
    small = float(np.clip(0.8 * (size or 7.0), 4.0, 8.0))
    scale = ax.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
    breadth, tallness = points_of(ax)
    depth = abs(ax.get_xlim()[1] - ax.get_xlim()[0]) if shapes.sideways else abs(np.diff(ax.get_ylim())[0])
    whole = breadth if shapes.sideways else tallness
    # The names beside the tree use a part of the width of the axes.
    longest = max(map(len, drawn.names(longest_name(shapes, whole, size)))) if size else 0
    along = (0.96 * whole - 0.58 * size * longest) / depth
    boxes = np.zeros((0, 4)) if taken is None else taken
    style = {
        "right": (-2.0, -1.5, "right", "top"),
        "left": (2.0, -1.5, "left", "top"),
        "top": (1.5, -2.0, "left", "top"),
        "bottom": (1.5, 2.0, "left", "bottom"),
    }[shapes.orientation]
    for item in drawn.opened:
        for child in item.children:
            name = None if child.label < n or child.is_rest else names[child.label - n]
            if not child.children or name is None:
                continue
            fitting = int((abs(child.height - item.height) * along - 4) / (0.58 * small))
            if fitting < min(len(name), _SHORTEST):
                continue
            text = name if len(name) <= fitting else name[: fitting - 1].rstrip(" ,") + "…"
            place = shapes.node(child)
            x, y = ax.transData.transform(place).tolist()
            extent = np.array([0.58 * small * len(text), small])[:: 1 if shapes.sideways else -1]
            box = _box(x, y, style, extent, scale)
            if _overlaps(box, boxes).any():
                continue
            boxes = np.vstack([boxes, box])
            ax.annotate(
                text,
                place,
                xytext=style[:2],
                textcoords="offset points",
                fontsize=small,
                fontstyle="italic",
                color=inks.line,
                rotation=0 if shapes.sideways else 90,
                ha=style[2],
                va=style[3],
                zorder=3,
                parse_math=False,
                gid="ordhc-node-name",
            ).set_in_layout(False)


Spot = tuple[float, float, str, str]


def _spots(shapes: Shapes) -> list[Spot]:
    """Return possible positions of a number beside its node, the best first.

    A position is an offset (x, y) in points, and the horizontal and the vertical alignment of the text.
    """
    if not isinstance(shapes, Rectangle):
        return [(-1.0, 1.0, "right", "bottom"), (1.0, 1.0, "left", "bottom"), (1.0, -1.0, "left", "top")]
    return {
        "right": [(-1.5, 0.8, "right", "bottom"), (-1.5, -1.0, "right", "top"), (1.5, 0.0, "left", "center")],
        "left": [(1.5, 0.8, "left", "bottom"), (1.5, -1.0, "left", "top"), (-1.5, 0.0, "right", "center")],
        "top": [(-0.8, -1.5, "right", "top"), (1.0, -1.5, "left", "top"), (0.0, 1.5, "center", "bottom")],
        "bottom": [
            (-0.8, 1.5, "right", "bottom"),
            (1.0, 1.5, "left", "bottom"),
            (0.0, -1.5, "center", "top"),
        ],
    }[shapes.orientation]


def _box(x: float, y: float, spot: Spot, extent: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    shares = {"left": 0.0, "bottom": 0.0, "center": -0.5, "right": -1.0, "top": -1.0}
    low = np.array([x, y]) + scale * (np.array(spot[:2]) + extent * (shares[spot[2]], shares[spot[3]]))
    return np.concatenate([low, low + scale * extent])


def _overlaps(box: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    inside = (others[:, :2] < box[2:]) & (others[:, 2:] > box[:2])
    return inside[:, 0] & inside[:, 1]


def _segments(ax: "Axes", drawn: Truncated, shapes: Shapes) -> NDArray[np.float64]:
    """Return a box around each segment of each branch, in pixels: left, bottom, right, top, (k, 4)."""
    lines = [shapes.branch(item, child) for item in drawn.opened for child in item.children]
    pairs = np.concatenate([np.concatenate([line[:-1], line[1:]], axis=1) for line in lines])
    ends = ax.transData.transform(pairs.reshape(-1, 2)).reshape(-1, 2, 2)
    return np.concatenate([ends.min(axis=1) - 0.01, ends.max(axis=1) + 0.01], axis=1)


def draw_columns(
    ax: "Axes", drawn: Truncated, shapes: Shapes, columns: Sequence[Categories], inks: Theme
) -> None:
    from matplotlib.collections import PolyCollection

    for at, column in enumerate(columns):
        placed = column.codes[drawn.order]
        outlines: list[NDArray[np.float64]] = []
        colours: list[str] = []
        for tip in drawn.tips:
            counts = np.bincount(placed[tip.first : tip.first + tip.size] + 1, minlength=1)
            start = 0.0
            for code in np.flatnonzero(counts).tolist():
                end = start + counts[code] / tip.size
                outlines.append(shapes.cell(tip, at, start, end))
                colours.append(inks.pale if code == 0 else column.colours[code - 1])
                start = end
        cells = PolyCollection(outlines, facecolors=colours, edgecolors=inks.background, linewidths=0.2)
        cells.set_gid(f"ordhc-column-{at}")
        ax.add_collection(cells)


def legend(
    ax: "Axes", keys: Sequence[Categories], title: str | None, inks: Theme, size: float, *, below: bool
) -> None:
    from matplotlib.patches import Patch

    entries: list[Patch] = []
    for key in keys:
        if key.title is not None and len(keys) > 1:
            entries.append(Patch(facecolor="none", edgecolor="none", label=f"{key.title}:"))
        for name, colour in zip(key.names, key.colours, strict=True):
            entries.append(Patch(facecolor=colour, label=name if len(name) <= 40 else name[:39] + "…"))
    rows = 0
    small = float(np.clip(size or 7.0, 5.0, 9.0))
    if entries:
        figure = ax.get_figure(root=True)
        room = figure.get_size_inches()[0] * 72 * 0.9 if figure is not None else 400.0
        widest = max(len(str(entry.get_label())) for entry in entries)
        across = max(1, min(len(entries), int(room / (small * (0.55 * widest + 2.8)))))
        rows = math.ceil(len(entries) / across)
        single = keys[0].title if len(keys) == 1 else None
        drawn = ax.legend(
            handles=entries,
            ncols=across,
            fontsize=small,
            title=single,
            title_fontsize=small,
            frameon=False,
            labelcolor=inks.ink,
            loc="upper left" if below else "lower left",
            bbox_to_anchor=(0.0, -0.02 if below else 1.0),
            borderaxespad=0.2,
            borderpad=0.2,
            handlelength=1.0,
            handleheight=0.9,
            columnspacing=1.0,
            labelspacing=0.3,
        )
        drawn.get_title().set_color(inks.ink)
        drawn.set_gid("ordhc-legend")
        rows += single is not None
    if title:
        lifted = 0.0 if below else rows * small * 1.45
        ax.set_title(title, loc="left", fontsize=max(small + 2, 9), color=inks.ink, pad=6 + lifted)
