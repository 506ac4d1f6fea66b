"""The function `plot_dendrogram`, which draws trees with Matplotlib (the extra `plot`)."""

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.plotting.categories import columns_of, names_by_place, of_cut, of_mapping
from ordhc.plotting.figures import (
    PICTURES,
    axes_for,
    matplotlib_settings,
    need_matplotlib,
    picture_bytes,
    points_of,
)
from ordhc.plotting.marks import (
    draw_columns,
    draw_marked,
    draw_node_names,
    draw_support,
    legend,
    widths_of,
)
from ordhc.plotting.names import write_names
from ordhc.plotting.palette import Theme
from ordhc.plotting.pictures import ROW, draw_pictures, pictures_of, size_of_pictures
from ordhc.plotting.scales import draw_scale
from ordhc.plotting.shapes import Circle, Rectangle, Shapes, Unrooted
from ordhc.plotting.sizes import LARGEST, SMALLEST, figure_size, longest_name, longest_share
from ordhc.plotting.truncated import Truncated
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.node import Node

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PICTURES", "checked_options", "need_matplotlib", "options_of_pictures", "plot_dendrogram", "svg"]

_SIDES = ("right", "left", "top", "bottom")
_LAYOUTS = ("rectangular", "circular", "unrooted")
_SUPPORT = ("numbers", "dots", "width")
_SCALES = ("axis", "bar", "none")
#: The maximum number of tips (leaves and collapsed clusters) with support as numbers by default. Larger
#: pictures show dots.
MOST_NUMBERS = 150
#: The width of two characters, in em. A circle has names on both sides, so names of k characters need the
#: width of 2 k characters.
_WIDE = 1.04
#: The space for a support value, in points.
_NUMBER = 11.0
#: The smallest distance between leaders, the dotted lines from leaves to names, in points. Closer lines would
#: look like a grey area.
_BETWEEN = 2.5


def plot_dendrogram(
    tree: Dendrogram,
    ax: "Axes | None" = None,
    *,
    layout: str = "rectangular",
    orientation: str = "right",
    truncate: int | bool | None = None,
    n_clusters: int | None = None,
    color_by: Any = None,
    colors: Any = None,
    columns: Any = None,
    palette: Mapping[Any, Any] | None = None,
    marked: Iterable[Node | int | str] = (),
    labels: bool = True,
    pictures: Mapping[Any, Any] | None = None,
    node_names: bool = True,
    support: bool | str = True,
    support_threshold: float | None = None,
    scale: str | None = None,
    width: float | None = None,
    height: float | None = None,
    font: str | None = None,
    font_size: float | None = None,
    line_width: float | None = None,
    theme: str | None = None,
    title: str | None = None,
    pyplot: bool = False,
) -> "Axes":
    """Draw a dendrogram, a phylogram or a cladogram, depending on the tree.

    * A tree with heights is drawn as a dendrogram: nodes are at their heights.
    * A tree with lengths (`Dendrogram.scale`) is drawn as a phylogram: each node is at its distance from the
      root. A dotted line connects the end of a leaf with its name. Edges of negative length run backwards.
    * A tree without heights and lengths, or with an edge of unknown length, is drawn as a cladogram: nodes
      are at levels.

    Parameters
    ----------
    tree
        The tree.
    ax
        The axes to draw in; by default a new figure whose size grows with the number of leaves, and which
        pyplot does not manage. `Dendrogram.plot` draws into pyplot's axes.
    layout
        "rectangular" (the default), "circular", or "unrooted" (straight branches as long as the edges,
        without a mark of the root).
    orientation
        The side of a rectangular tree with the leaves: "right" (the default), "left", "top" or "bottom".
    truncate
        The maximum number of tips: leaves and triangles. The last merges are shown first. Other clusters are
        drawn as triangles, which are wider if they contain more leaves, with names such as "cat +11". In a
        phylogram, a triangle extends from its farthest leaf to its nearest leaf. By default trees of 300
        leaves or more are truncated to 60 tips. False draws all leaves.
    n_clusters
        The number of clusters to colour, as in `Dendrogram.cut`. A tree with lengths is cut by its longest
        paths. A tree without heights and lengths cannot be cut into a number of clusters.
    color_by
        A category of each leaf, by which branches are coloured: a mapping or series by name, or a list in
        the order of the leaves' numbers. Branches above leaves of different categories are grey. A legend
        explains the colours.
    colors
        A colour of each leaf, by name or in the order of the leaves' numbers. Branches above leaves of
        different colours are grey.
    columns
        Categories to draw as strips beside the leaves: one column as in `color_by`, or several columns as a
        data frame or a mapping from titles to columns. The cell of a triangle shows the shares of its leaves.
        A legend explains the colours.
    palette
        A mapping from categories to colours. Other categories have colours that are not used elsewhere in the
        figure.
    marked
        The leaves to mark with dots and the inner nodes to mark with rings, each as a number, a name or a
        `Node`. Leaves and nodes inside triangles are not visible.
    labels
        True, the default, writes the names of leaves, unless they would be smaller than 3 points.
    pictures
        A mapping from names of leaves to pictures, which are drawn between leaves and names: bytes, or the
        paths of png, jpeg, gif or webp files. Pictures are scaled to the space of a leaf, at 300 dots per
        inch; new figures have rows of 30 points for them. Leaves inside triangles have no picture.
    node_names
        True, the default, writes the names of nodes (see `describe`) on branches of rectangular trees if they
        fit. The names of the clusters of `n_clusters` are written as a legend.
    support
        How to show support: "numbers" (in percent), "dots" at the nodes (larger for higher support), "width"
        of lines, or False for nothing. True, the default, shows numbers, or dots for more than 150 tips.
        Numbers that would overlap are left out.
    support_threshold
        From 0 to 1: the smallest support that is shown. With "width", lines of smaller support are thin.
    scale
        "axis" (heights, or distances from the root; rings in a circular tree), "bar" or "none". By default
        "axis" for rectangular trees and for circular phylograms, "bar" for other circular and for unrooted
        trees, "none" for cladograms. The bar of an unrooted tree is a length of edges.
    width, height
        The size of a new figure, in millimetres. A column of a journal is about 85 wide, a page 180.
    font
        The font family.
    font_size
        The size of names, in points; by default up to 10, depending on the space.
    line_width
        The width of branches, in points; by default 0.5 to 1.2, depending on the number of tips.
    theme
        "light" or "dark"; by default the background of the axes decides.
    title
        The title above the tree.
    pyplot
        True draws without `ax` into pyplot's current axes if they are empty, else into a new pyplot figure.
        False, the default, makes a figure that pyplot does not manage.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    InputError
        An option, a colour or a leaf is unknown, or a cladogram has an axis or a bar as `scale`.

    Warns
    -----
    OrdhcWarning
        An edge has no length, so the tree is drawn as a cladogram.

    Examples
    --------
    >>> import ordhc
    >>> d = ordhc.Dendrogram.from_newick("(((cat:1,dog:1)95:1,cow:2)80:1,(car:1,bus:1)60:2);")
    >>> ax = plot_dendrogram(d, n_clusters=2, support="dots", width=85)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['cat', 'dog', 'cow', 'car', 'bus']
    """
    need_matplotlib()
    layout = _checks.choice("layout", layout, _LAYOUTS)
    orientation = _checks.choice("orientation", orientation, _SIDES)
    if scale is not None:
        scale = _checks.choice("scale", scale, _SCALES)
    if scale == "axis" and layout == "unrooted":
        raise InputError("scale 'axis' needs a root; an unrooted tree has scale 'bar' or 'none'")
    if theme is not None:
        theme = _checks.choice("theme", theme, ("light", "dark"))
    if hasattr(labels, "__len__"):
        raise InputError("labels must be True or False; set names in the tree: d.replace(names=[...]).plot()")
    labels, node_names = _checks.flag("labels", labels), _checks.flag("node_names", node_names)
    shown = support if isinstance(support, str) else None
    if shown is not None:
        shown = _checks.choice("support", shown, _SUPPORT)
    least = None
    if support_threshold is not None:
        least = _checks.number("support_threshold", support_threshold, at_least=0, at_most=1)
    for what, value in (("font_size", font_size), ("line_width", line_width)):
        if value is not None:
            _checks.number(what, value, at_least=0, at_most=1000, open_ends=True)
    if sum(given is not None for given in (n_clusters, color_by, colors)) > 1:
        raise InputError("give only one of n_clusters=, color_by= and colors=; columns= shows several")
    branches = None
    if n_clusters is not None:
        branches = of_cut(tree, n_clusters)
    elif colors is not None:
        branches = of_mapping(tree, colors)
    elif color_by is not None:
        (branches,) = columns_of(tree, "color_by", color_by, palette)[:1]
    noted = {which.label if isinstance(which, Node) else tree.node(which).label for which in marked}
    used = 0 if branches is None else len(branches.colours)
    strips = [] if columns is None else columns_of(tree, "columns", columns, palette, after=used)
    drawn = Truncated(tree, truncate, at_least=n_clusters or 1)
    scale = _scale_for(scale, layout, drawn)
    if not isinstance(support, str) and _checks.flag("support", support):
        shown = "numbers" if len(drawn.tips) <= MOST_NUMBERS else "dots"
    shapes: Shapes = Rectangle(drawn, orientation)
    if layout != "rectangular":
        circle = Circle(drawn, opening=14.0 if scale == "axis" else 8.0)
        shapes = circle if layout == "circular" else Unrooted(drawn)
    names = drawn.names() if labels else []
    shown_pictures = pictures_of(tree, pictures)
    row = ROW if shown_pictures else 0.0
    with matplotlib_settings({} if font is None else {"font.family": _checks.text("font", font)}):
        ax = axes_for(ax, figure_size(drawn, shapes, names, width, height, row), theme=theme, pyplot=pyplot)
        inks = Theme.of(theme, ax)
        columns_count = len(strips)
        line = line_width
        if line is None:
            line = float(np.clip(80 / max(len(drawn.tips), 1) ** 0.5 / 10, 0.5, 1.2))
        taken = {} if branches is None else drawn.uniform(branches.codes)
        inked = {} if branches is None else {part: branches.colours[code] for part, code in taken.items()}
        _draw_lines(ax, drawn, shapes, inked, inks, widths_of(drawn, line, shown, least), line)
        draw_columns(ax, drawn, shapes, strips, inks)
        side = size_of_pictures(drawn, shapes, *points_of(ax)) if shown_pictures else 0.0
        margin = 1.4 * side
        if isinstance(shapes, Rectangle):
            margin = _NUMBER if shown == "numbers" and tree.support is not None else 0.0
        size = _set_up(ax, drawn, shapes, names, columns_count, font_size, margin)
        _draw_leaders(ax, drawn, shapes, inks)
        room = draw_pictures(ax, drawn, shapes, shown_pictures, side, columns_count) if side else 0.0
        write_names(ax, drawn, shapes, names, columns_count, size, branches, taken, inks, room)
        draw_scale(ax, drawn, shapes, scale, inks, size)
        taken_boxes = None
        if shown in ("numbers", "dots"):
            taken_boxes = draw_support(ax, drawn, shapes, str(shown), least, inks, size, line)
        draw_marked(ax, drawn, shapes, noted, line)
        if node_names:
            draw_node_names(ax, drawn, shapes, taken_boxes, inks, size)
        named = n_clusters is not None and node_names and bool(names_by_place(tree))
        keys = [*([branches] if branches is not None and (color_by is not None or named) else []), *strips]
        legend(ax, keys, title, inks, size, below=orientation == "top" or layout != "rectangular")
    return ax


def _draw_lines(
    ax: "Axes",
    drawn: Truncated,
    shapes: Shapes,
    inked: dict[int, str],
    inks: Theme,
    widths: dict[int, float],
    line: float,
) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    lines, colours, thick = [], [], []
    # Coloured branches come last, so that they are drawn over grey branches.
    edges = [(item, child) for item in drawn.opened for child in item.children]
    for item, child in sorted(edges, key=lambda edge: id(edge[1]) in inked):
        lines.append(shapes.branch(item, child))
        colours.append(inked.get(id(child), inks.line))
        thick.append(widths.get(id(child), line))
    branches = LineCollection(lines, colors=colours, linewidths=thick, capstyle="round", joinstyle="round")
    branches.set_gid("ordhc-branches")
    ax.add_collection(branches)
    closed = [tip for tip in drawn.tips if tip.size > 1]
    if closed:
        tints = [inked.get(id(tip), inks.line) for tip in closed]
        outlines = [shapes.triangle(tip) for tip in closed]
        filled = PolyCollection(
            outlines, facecolors=tints, edgecolors=tints, alpha=0.55, linewidths=0.6 * line
        )
        filled.set_gid("ordhc-collapsed")
        ax.add_collection(filled)


def _draw_leaders(ax: "Axes", drawn: Truncated, shapes: Shapes, inks: Theme) -> None:
    from matplotlib.collections import LineCollection

    breadth, tallness = points_of(ax)
    if isinstance(shapes, Rectangle):
        room, depth = tallness if shapes.sideways else breadth, abs(shapes.depth)
    else:
        room, depth = 2 * min(breadth, tallness), 1.0
    if room < _BETWEEN * drawn.width:
        return
    leads = [shapes.leader(tip) for tip in drawn.tips]
    # Leave out very short lines: in ultrametric trees, they are due to rounding errors.
    leads = [lead for lead in leads if np.abs(lead[0] - lead[1]).max() > 2e-3 * depth]
    if leads:
        dotted = (0, (1, 2.5))
        leaders = LineCollection(leads, colors=inks.line, linewidths=0.5, linestyles=dotted, zorder=1)
        leaders.set_gid("ordhc-leaders")
        ax.add_collection(leaders)


def _set_up(
    ax: "Axes",
    drawn: Truncated,
    shapes: Shapes,
    names: list[str],
    columns: int,
    font_size: float | None,
    margin: float,
) -> float:
    """Set the limits of the axes, and return the font size of names in points, 0 if names do not fit.

    `margin` is in points.
    """
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    breadth, tallness = points_of(ax)
    if isinstance(shapes, Rectangle):
        # Support values are on the root's side of their nodes, so the picture needs space beyond the root.
        room = margin / (0.6 * (breadth if shapes.sideways else tallness))
        along = (drawn.root_end - min(room, 0.2) * shapes.depth, shapes.reach(columns))
        across = (drawn.width - 0.4, -0.6)
        if shapes.orientation in ("left", "bottom"):
            along = along[::-1]
        if shapes.sideways:
            ax.set(xlim=along, ylim=across)
        else:
            ax.set(xlim=across[::-1], ylim=along)
        room = (tallness if shapes.sideways else breadth) / drawn.width
    else:
        ax.set_aspect("equal")
        ax.set(xticks=[], yticks=[])
        ax.patch.set_visible(False)
        side, most = min(breadth, tallness) - 2 * margin, max(map(len, names), default=0)
        # Names must fit into the axes, so longer names need a smaller circle.
        room = np.pi * side / (drawn.width + 0.8 * np.pi * _WIDE * most)
        room = max(room, np.pi * side * (1 - _WIDE * longest_share(shapes)) / drawn.width)
    fitting = float(min(0.8 * room, LARGEST if isinstance(shapes, Rectangle) else 8.0))
    size = font_size or (fitting if fitting >= SMALLEST else 0.0)
    if not isinstance(shapes, Rectangle):
        longest = min(most, longest_name(shapes, side, size)) if size else 0
        reach = shapes.reach(columns) / max(1 - _WIDE * size * longest / side, 0.3)
        reach *= (side + 2 * margin) / side
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
    return size


def _scale_for(scale: str | None, layout: str, drawn: Truncated) -> str:
    if drawn.positions.label is None:
        if scale in ("axis", "bar"):
            raise InputError(
                f"scale {scale!r} needs heights, or a length of every edge; this tree has neither: "
                "leave scale out, or give scale='none'"
            )
        return "none"
    if scale is not None:
        return scale
    if layout == "circular":
        return "axis" if drawn.tree.scale == "lengths" else "bar"
    return "axis" if layout == "rectangular" else "bar"


#: Names of options in SciPy, seaborn and Matplotlib, and hints at the options of ordhc.
_ELSEWHERE = {
    "above_threshold_color": "`palette` and `colors` give colours",
    "cmap": "`palette` and `colors` give colours",
    "color_threshold": "`n_clusters` is the number of coloured clusters",
    "figsize": "`width` and `height` are in millimetres",
    "leaf_font_size": "`font_size` is in points",
    "leaf_rotation": "names are turned as the layout needs",
    "p": "`truncate` is the number of tips",
    "row_colors": "`columns` are strips beside the leaves",
    "truncate_mode": "`truncate` is the number of tips",
}


def options_of_pictures() -> list[str]:
    return list(signature(plot_dendrogram).parameters)[2:]


def checked_options(given: Mapping[str, Any], *others: str) -> Mapping[str, Any]:
    """Return `given`; raise `InputError` with similar names if `plot_dendrogram` has no such option.

    `others` are further names to accept.
    """
    known = [*options_of_pictures(), *others]
    for name in given:
        if name not in known:
            reason = _checks.unknown_option("a picture", name, known, _ELSEWHERE)
            raise InputError(f"{reason}; help(ordhc.plotting.plot_dendrogram) lists all options")
    return given


def svg(tree: Dendrogram, **options: Any) -> str:
    """Return the picture of a tree as an SVG element; options as in `plot_dendrogram`."""
    text = picture_bytes("svg", lambda: plot_dendrogram(tree, **options)).decode()
    return text[text.index("<svg") :]
