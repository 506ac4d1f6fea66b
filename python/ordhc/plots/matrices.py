"""A tree beside the similarities that it was made from."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.plotting.drawing import plot_dendrogram
from ordhc.plotting.figures import axes_for, points_of
from ordhc.plotting.palette import Theme
from ordhc.tree.matching import prepared

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["heatmap"]

#: Cells of larger matrices are means of several.
MOST_CELLS = 1500
ORDERS = ("tree", "optimal")


def heatmap(
    tree: Any,
    S: ArrayLike,
    *,
    ax: "Axes | None" = None,
    order: str = "tree",
    n_clusters: int | None = None,
    cmap: str = "cividis",
    labels: bool = True,
    colorbar: bool = True,
    dissimilarity: bool | None = None,
) -> "Axes":
    """Draw a matrix with its rows and columns in the order of a tree, which stands at its left.

    Parameters
    ----------
    tree
        See `ordhc.as_dendrogram`.
    S
        (n, n), or the n(n-1)/2 pairs as SciPy orders them; a data frame is matched by its names.
    ax
        Where to draw the matrix; the tree stands in axes of its own within the same room.
    order
        "tree", as the tree writes its leaves, or "optimal", turned so that neighbours are alike
        (`Dendrogram.leaf_order`).
    n_clusters
        Colour this many clusters, and draw lines between them.
    cmap
        A colour map of Matplotlib.
    labels
        Whether to write names; where they fit.
    colorbar
        Whether to show which value has which colour.
    dissimilarity
        Whether smaller is closer in `S`; by default as the tree's heights.

    Returns
    -------
    matplotlib.axes.Axes
        Those of the matrix.

    Examples
    --------
    >>> import ordhc
    >>> S = [[0, 5, 1], [5, 0, 2], [1, 2, 0]]
    >>> ax = ordhc.plots.heatmap(ordhc.linkage(S), S)
    >>> ax.images[0].get_array().shape
    (3, 3)
    """
    order = _checks.choice("order", order, ORDERS)
    found, values = prepared(tree, S, ("similarity",), "heatmap")
    n = found.n_leaves
    if order == "optimal":
        found = found._with(standing=found.leaf_order(values, dissimilarity=dissimilarity))
    places = found.leaf_order()
    less = found.kind == "dissimilarity" if dissimilarity is None else dissimilarity
    less = _checks.flag("dissimilarity", less)
    side = float(np.clip(0.14 * n, 3.2, 9.0))
    ax = axes_for(ax, (side * 1.45 + 0.8, side + 0.5))
    inks = Theme.of(None, ax)
    image = _ordered(values, places)
    drawn = ax.imshow(
        image,
        cmap=f"{cmap}_r" if less and not cmap.endswith("_r") else cmap,
        aspect="auto",
        interpolation="nearest",
        extent=(-0.5, n - 0.5, n - 0.5, -0.5),
    )
    beside = ax.inset_axes((-0.36, 0.0, 0.35, 1.0))
    plot_dendrogram(
        found, beside, labels=False, truncate=False, n_clusters=n_clusters, scale="none", support=False
    )
    beside.set_ylim(n - 0.5, -0.5)
    beside.patch.set_visible(False)
    ax.tick_params(length=0, colors=inks.ink)
    for spine in ax.spines.values():
        spine.set_visible(False)
    size = min(0.8 * min(points_of(ax)) * 0.7 / n, 9.0)
    ax.set_xticks([])
    if labels and size >= 3:
        names = [" ".join(found.labels[leaf].split()) for leaf in places.tolist()]
        short = [name if len(name) <= 30 else name[:29] + "…" for name in names]
        ax.yaxis.tick_right()
        ax.set_yticks(range(n), labels=short, fontsize=size, parse_math=False)
        ax.tick_params(length=0)
    else:
        ax.set_yticks([])
    if n_clusters is not None:
        flat = found.cut(n_clusters)[places]
        for at in np.flatnonzero(flat[1:] != flat[:-1]).tolist():
            for line in (ax.axhline, ax.axvline):
                line(at + 0.5, color=inks.background, linewidth=0.8)
    figure = ax.get_figure(root=True)
    if colorbar and figure is not None:
        bar = figure.colorbar(drawn, ax=ax, orientation="horizontal", shrink=0.5, aspect=30, pad=0.03)
        bar.ax.tick_params(labelsize=7, colors=inks.line)
        bar.outline.set_visible(False)
        bar.set_label("dissimilarity" if less else "similarity", fontsize=8, color=inks.ink)
    return ax


def _ordered(values: NDArray[Any], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Rows and columns in this order, the diagonal left out; of large matrices means of blocks."""
    n = len(places)
    blocks = np.minimum(np.arange(n) * MOST_CELLS // n, MOST_CELLS - 1) if n > MOST_CELLS else np.arange(n)
    k = int(blocks[-1]) + 1
    starts = np.flatnonzero(np.diff(blocks, prepend=-1))
    found = np.empty((k, k))
    for block, start in enumerate(starts.tolist()):
        stop = int(starts[block + 1]) if block + 1 < k else n
        rows = np.empty((stop - start, n))
        for at, leaf in enumerate(places[start:stop].tolist()):
            rows[at] = _row(values, leaf, n)[places]
            rows[at, start + at] = np.nan
        counts = np.add.reduceat((~np.isnan(rows)).sum(axis=0), starts)
        sums = np.add.reduceat(np.nansum(rows, axis=0), starts)
        found[block] = np.divide(sums, counts, out=np.full(k, np.nan), where=counts > 0)
    return found


def _row(values: NDArray[Any], leaf: int, n: int) -> NDArray[np.float64]:
    if values.ndim == 2:
        return np.array(values[leaf], dtype=np.float64)
    row = np.full(n, np.nan)
    before = np.arange(leaf)
    row[:leaf] = values[before * (2 * n - before - 1) // 2 + leaf - before - 1]
    start = leaf * (2 * n - leaf - 1) // 2
    row[leaf + 1 :] = values[start : start + n - leaf - 1]
    return row
