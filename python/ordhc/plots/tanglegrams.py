"""The figure `tanglegram`: two trees of the same leaves, face to face."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ordhc.plots.frames import shortened
from ordhc.plotting.categories import of_cut
from ordhc.plotting.drawing import plot_dendrogram
from ordhc.plotting.figures import axes_for, points_of
from ordhc.plotting.palette import Theme
from ordhc.tree.dendrogram import replaced
from ordhc.tree.matching import prepared
from ordhc.tree.untangling import crossings, entanglement, untangled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The width of each tree, as a fraction of the whole width.
TREE = 0.27


def tanglegram(
    a: Any,
    b: Any,
    *,
    ax: "Axes | None" = None,
    n_clusters: int | None = None,
    titles: tuple[str, str] | None = None,
    labels: bool = True,
    line_width: float = 0.9,
) -> "Axes":
    """Draw two trees face to face, with a line between each leaf of `a` and the same leaf of `b`.

    Both trees are turned so that few lines cross. The number of crossings and the
    entanglement are written below; `ordhc.metrics.entanglement` returns both.

    Parameters
    ----------
    a, b
        Trees of the same leaves, in any form that `ordhc.as_dendrogram` takes. Leaves are matched by name.
    ax
        The axes to draw in; by default pyplot's current axes if they are empty, else a new figure. Each tree
        has axes of its own inside the area of `ax`.
    n_clusters
        The number of clusters of `a` whose lines are coloured. By default all lines are grey.
    titles
        The two titles above the trees.
    labels
        True, the default, writes the names of leaves if they fit.
    line_width
        The width of the lines between leaves, in points.

    Returns
    -------
    matplotlib.axes.Axes
        The axes of the lines.

    Examples
    --------
    >>> import ordhc
    >>> ax = ordhc.plots.tanglegram("((a,b),(c,d));", "((d,a),(b,c));")
    >>> ax.get_xlabel()
    '1 crossing, entanglement 0.16'
    """
    first, second = prepared(a, b, ("tree",), "tanglegram")
    n = first.n_leaves
    left, right = untangled(first, second)
    first, second = replaced(first, written_order=left), replaced(second, written_order=right)
    ax = axes_for(ax, (7.5, float(np.clip(0.16 * n, 2.4, 40.0)) + 0.6))
    inks = Theme.of(None, ax)
    ax.set(xlim=(0, 1), ylim=(n - 0.4, -0.6), xticks=[], yticks=[])
    ax.patch.set_visible(False)
    ax.spines[:].set_visible(False)
    breadth, tallness = points_of(ax)
    size = min(0.75 * tallness / n, 9.0)
    space = 0.01
    if labels and size >= 3:
        longest = int(np.clip(0.16 * breadth / (0.55 * size), 4, 40))
        texts = shortened(first.labels, longest)
        space = 0.01 + max(map(len, texts)) * 0.58 * size / breadth
        for order, x, side in ((left, TREE + 0.01, "left"), (right, 0.99 - TREE, "right")):
            for place, leaf in enumerate(order.tolist()):
                ax.text(
                    x,
                    place,
                    texts[leaf],
                    ha=side,
                    va="center",
                    fontsize=size,
                    color=inks.ink,
                    parse_math=False,
                )
    groups = None if n_clusters is None else of_cut(first, n_clusters)
    from matplotlib.collections import LineCollection

    leaves = range(n)
    starts, ends = np.argsort(left).tolist(), np.argsort(right).tolist()
    lines = [[(TREE + space, starts[leaf]), (1 - TREE - space, ends[leaf])] for leaf in leaves]
    if groups is None:
        colours = [inks.line] * n
    else:
        colours = [groups.colours[groups.codes[leaf]] for leaf in leaves]
    drawn = LineCollection(lines, colors=colours, linewidths=line_width, alpha=0.8)
    drawn.set_gid("ordhc-ties")
    ax.add_collection(drawn)
    given = ("", "") if titles is None else titles
    for tree, start, side, title in (
        (first, 0.0, "right", given[0]),
        (second, 1 - TREE, "left", given[1]),
    ):
        beside = ax.inset_axes((start, 0.0, TREE, 1.0))
        plot_dendrogram(
            tree,
            beside,
            orientation=side,
            labels=False,
            truncate=False,
            support=False,
            scale="none",
            n_clusters=n_clusters if tree is first else None,
        )
        beside.set_ylim(n - 0.4, -0.6)
        beside.patch.set_visible(False)
        if title:
            beside.set_title(title, fontsize=10, color=inks.ink)
    count = crossings(left, right)
    scores = f"{count:,} crossing{'s' * (count != 1)}, entanglement {entanglement(left, right):.2g}"
    ax.set_xlabel(scores, color=inks.line, fontsize=8)
    return ax
