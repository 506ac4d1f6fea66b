"""The figure `heatmap`: a matrix of similarities in the order of a tree, with the tree beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.plots.rooms import TREE, Room
from ordhc.plotting.drawing import plot_dendrogram
from ordhc.plotting.figures import axes_for
from ordhc.plotting.palette import Theme
from ordhc.plotting.sizes import SMALLEST
from ordhc.tree.matching import prepared
from ordhc.tree.parts import replaced

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

__all__ = ["heatmap"]

#: The maximum number of characters of a name. Longer names are cut.
LONGEST = 40
#: The maximum number of rows of the picture. Larger matrices are reduced to means of blocks.
MOST_CELLS = 1500
ORDERS = ("tree", "optimal")


def heatmap(
    tree: Any,
    S: ArrayLike,
    *,
    ax: "Axes | None" = None,
    order: str = "tree",
    n_clusters: int | None = None,
    columns: Any = None,
    palette: Mapping[Any, Any] | None = None,
    cmap: str | None = None,
    vmin: float | None = None,
    vmax: float | None = None,
    center: float | None = None,
    robust: bool | None = None,
    labels: bool = True,
    colorbar: bool = True,
    dissimilarity: bool | None = None,
) -> "Axes":
    """Draw a matrix with its rows and columns in the order of a tree, and the tree to the left.

    Parameters
    ----------
    tree
        A tree in any form that `ordhc.as_dendrogram` takes.
    S
        (n, n), or the n(n-1)/2 pairs in SciPy's order. Rows of a data frame are matched to leaves by name.
    ax
        The axes to draw in; by default pyplot's current axes if they are empty, else a new figure. Tree,
        matrix, names and colour bar share the area of these axes.
    order
        "tree" (the default) keeps the order of the tree's leaves. "optimal" turns the tree so that neighbours
        are similar (`Dendrogram.leaf_order`).
    n_clusters
        The number of clusters to colour, with lines between the clusters. By default no clusters are
        coloured.
    columns, palette
        Categories as strips between tree and matrix, and their colours, as in `plot_dendrogram`.
    cmap
        The name of a Matplotlib colour map, which is reversed for dissimilarities. By default "cividis", or
        "RdBu_r" with `center`.
    vmin, vmax
        The values of the first and the last colour. By default the smallest and the largest value, or
        percentiles (see `robust`).
    center
        The value of the middle colour. By default the colours are not centred.
    robust
        True makes the colours range from the 2nd to the 98th percentile of the values, and draws arrows at
        the ends of the colour bar. False uses the whole range. By default True if these percentiles are
        within a third of the range, because a few extreme values would give all other values the same
        colour.
    labels
        True, the default, writes names, unless they would be smaller than 3 points.
    colorbar
        True, the default, draws a colour bar.
    dissimilarity
        True if smaller values in `S` mean closer leaves. By default `kind` of the tree decides.

    Returns
    -------
    matplotlib.axes.Axes
        The axes of the matrix.

    Raises
    ------
    InputError
        `S` has another number of leaves, `order` is unknown, or `vmin` is not below `vmax`.

    Examples
    --------
    >>> import ordhc
    >>> S = [[0, 5, 1], [5, 0, 2], [1, 2, 0]]
    >>> ax = ordhc.plots.heatmap(ordhc.linkage(S, dissimilarity=False), S)
    >>> ax.images[0].get_array().shape
    (3, 3)
    """
    order = _checks.choice("order", order, ORDERS)
    found, values = prepared(tree, S, ("similarity",), "heatmap")
    n = found.n_leaves
    if order == "optimal":
        found = replaced(found, standing=found.leaf_order(values, dissimilarity=dissimilarity))
    places = found.leaf_order()
    less = found.kind == "dissimilarity" if dissimilarity is None else dissimilarity
    less = _checks.flag("dissimilarity", less)
    image = _ordered(values, places)
    scale = _scale_of(image, vmin, vmax, center, robust)
    side = float(np.clip(0.14 * n, 3.2, 9.0))
    names = [" ".join(found.labels[leaf].split()) for leaf in places.tolist()] if labels else []
    beyond = min(max(map(len, names), default=0), LONGEST) * 0.55 * _font_size(side, n) / 72
    ax = axes_for(ax, ((side + beyond) / (1 - TREE), side + 0.7))
    inks = Theme.of(None, ax)
    room = Room(ax)
    drawn = ax.imshow(
        image,
        cmap=_colour_map(cmap, scale, turned=less),
        vmin=scale.low,
        vmax=scale.high,
        aspect="auto",
        interpolation="nearest",
        extent=(-0.5, n - 0.5, n - 0.5, -0.5),
    )
    ax.tick_params(length=0, colors=inks.ink)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xticks([])
    size = _font_size(room.height - 0.6, n)
    if labels and size:
        longest = int(np.clip(0.35 * 72 * room.width / (0.55 * size), 6, LONGEST))
        short = [name if len(name) <= longest else name[: longest - 1] + "…" for name in names]
        ax.yaxis.tick_right()
        ax.set_yticks(range(n), labels=short, fontsize=size, parse_math=False)
        ax.tick_params(length=0, pad=2)
    else:
        ax.set_yticks([])
    if n_clusters is not None:
        flat = found.cut(n_clusters)[places]
        for at in np.flatnonzero(flat[1:] != flat[:-1]).tolist():
            for line in (ax.axhline, ax.axvline):
                line(at + 0.5, color=inks.background, linewidth=0.8)
    beside = room.beside()
    plot_dendrogram(
        found,
        beside,
        labels=False,
        truncate=False,
        n_clusters=n_clusters,
        columns=columns,
        palette=palette,
        scale="none",
        support=False,
    )
    beside.set_ylim(n - 0.5, -0.5)
    beside.patch.set_visible(False)
    if colorbar:
        bar = room.figure.colorbar(
            drawn, cax=room.below(), orientation="horizontal", extend=scale.extend, extendfrac=0.04
        )
        bar.ax.tick_params(labelsize=7, colors=inks.line)
        bar.outline.set_visible(False)
        bar.set_label("dissimilarity" if less else "similarity", fontsize=8, color=inks.ink)
    room.share()
    return ax


def _font_size(height: float, n: int) -> float:
    """Return the font size in points for `n` rows in `height` inches; 0 if names do not fit."""
    size = min(0.75 * 72 * height / n, 9.0)
    return size if size >= SMALLEST else 0.0


@dataclass(frozen=True)
class _Scale:
    """The values of the first and the last colour, and the part of a colour map that is used.

    `extend` names the ends of the colour bar that are arrows, as in Matplotlib.
    """

    low: float
    high: float
    share: tuple[float, float]
    is_centred: bool
    extend: str


def _scale_of(
    image: NDArray[np.float64],
    vmin: float | None,
    vmax: float | None,
    center: float | None,
    robust: bool | None,
) -> _Scale:
    """Return the scale of colours for an image; the rules for `center` and `robust` are seaborn's."""
    known = image[~np.isnan(image)]
    if not len(known):
        known = np.zeros(1)
    least, most = float(known.min()), float(known.max())
    inner = [float(value) for value in np.percentile(known, [2, 98])]
    if robust is None:
        robust = inner[1] > inner[0] and inner[1] - inner[0] < (most - least) / 3
    low, high = inner if _checks.flag("robust", robust) else (least, most)
    low = low if vmin is None else _checks.number("vmin", vmin)
    high = high if vmax is None else _checks.number("vmax", vmax)
    if low > high or (low == high and vmin is not None and vmax is not None):
        raise InputError(
            f"the colours begin at {low:g} (vmin) and end at {high:g} (vmax); vmin must be smaller"
        )
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}.get(
        (least < low, most > high), "neither"
    )
    if center is None or low == high:
        return _Scale(low, high, (0.0, 1.0), center is not None, extend)
    middle = _checks.number("center", center)
    reach = max(high - middle, middle - low)
    share = (0.5 + (low - middle) / (2 * reach), 0.5 + (high - middle) / (2 * reach))
    return _Scale(low, high, share, True, extend)


def _colour_map(name: str | None, scale: _Scale, *, turned: bool) -> "Colormap":
    """Return the part of a colour map that the values need; reversed if `turned`."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    name = ("RdBu_r" if scale.is_centred else "cividis") if name is None else _checks.text("cmap", name)
    if name not in matplotlib.colormaps:
        raise InputError(f"cmap is {_checks.quoted(name)}, no colour map of Matplotlib")
    whole = matplotlib.colormaps[name]
    whole = whole.reversed() if turned else whole
    if scale.share == (0.0, 1.0):
        return whole
    return ListedColormap(whole(np.linspace(*scale.share, 256)), name=whole.name)


def _ordered(values: NDArray[Any], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the matrix with rows and columns in the order `places`, and NaN on its diagonal.

    Matrices of more than `MOST_CELLS` rows are reduced to means of blocks, which ignore the diagonal.
    """
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
