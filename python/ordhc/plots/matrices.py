"""The figure `heatmap`: a matrix of similarities or data in the order of a tree, with the tree beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.plots.frames import shortened
from ordhc.plots.grids import TREE, UPPER, Grid
from ordhc.plotting.drawing import plot_dendrogram
from ordhc.plotting.figures import axes_for
from ordhc.plotting.palette import Theme
from ordhc.plotting.sizes import SMALLEST
from ordhc.tree.convert import as_dendrogram
from ordhc.tree.dendrogram import Dendrogram, replaced
from ordhc.tree.matching import places_of, prepared, with_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

LONGEST = 40
#: The maximum number of rows of the image. In larger matrices, means replace blocks of neighbouring rows.
MOST_CELLS = 1500
ORDERS = ("tree", "optimal")


#: Options of seaborn's clustermap, and hints at what ordhc has instead.
_OF_CLUSTERMAP = {
    "annot": "the values are not written",
    "col_cluster": "pass `column_tree`, or leave it out",
    "col_linkage": "`column_tree` is the tree of the columns",
    "figsize": "pass `ax`, the axes of a figure of the size that you need",
    "method": "make the tree first: ordhc.cluster(X, similarity='euclidean', linkage=...)",
    "metric": "make the tree first: ordhc.cluster(X, similarity=..., linkage='average')",
    "row_cluster": "the rows always follow the tree",
    "row_colors": "`columns` are strips beside the leaves",
    "row_linkage": "`tree` is the tree of the rows",
    "standard_scale": "scale the columns of the data before",
    "xticklabels": "`labels` is True or False; names are those of the columns of a data frame",
    "yticklabels": "`labels` is True or False; names are those of the tree",
    "z_score": "standardize the columns of the data before",
}


def heatmap(
    tree: Any,
    S: ArrayLike,
    *,
    ax: Axes | None = None,
    order: str = "tree",
    n_clusters: int | None = None,
    columns: Any = None,
    palette: Mapping[Any, Any] | None = None,
    cmap: str | None = None,
    vmin: float | None = None,
    vmax: float | None = None,
    center: float | None = None,
    robust: bool | None = None,
    column_tree: Any = None,
    labels: bool = True,
    colorbar: bool = True,
    dissimilarity: bool | None = None,
    **others: Any,
) -> Axes:
    """Draw a matrix with its rows in the order of a tree, and the tree to the left.

    A matrix of pairs of leaves has its columns in the same order. A data matrix, with one row for each leaf,
    keeps the order of its columns, or has the order of `column_tree`, as seaborn's clustermap.

    Parameters
    ----------
    tree
        A tree in any form that `ordhc.as_dendrogram` takes.
    S
        (n, n), or the n(n-1)/2 pairs in SciPy's order; or a data matrix (n, p). An (n, n) matrix is read as
        pairs of leaves, unless `column_tree` is given. Rows of a data frame are matched to leaves by name.
        NaN in data is left blank.
    ax
        The axes to draw in; by default pyplot's current axes if they are empty, else a new figure. Tree,
        matrix, names and colour bar share the area of these axes.
    order
        "tree" (the default) keeps the order of the tree's leaves. "optimal" rotates the tree so that
        neighbouring leaves are similar (`Dendrogram.leaf_order`).
    n_clusters
        The number of clusters to colour, with lines between the clusters. By default no clusters are
        coloured.
    columns, palette
        Categories of the rows as strips between tree and matrix, and their colours, as in `plot_dendrogram`
        (seaborn's ``row_colors``).
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
    column_tree
        A tree of the columns of a data matrix, drawn above it. Columns are matched by name.
    labels
        True, the default, writes names of rows and of the columns of data, unless they would be smaller than
        3 points.
    colorbar
        True, the default, draws a colour bar.
    dissimilarity
        True if smaller values in `S` mean closer leaves. By default `kind` of the tree decides. The argument
        is not allowed for data.
    **others
        There are no other options: an error names the option of ordhc for an option of seaborn's clustermap.

    Returns
    -------
    matplotlib.axes.Axes
        The axes of the matrix.

    Raises
    ------
    InputError
        `S` has another number of leaves, `order` is unknown, or `vmin` is not below `vmax`; or
        ``order="optimal"`` of data, which have no similarities to order by; or other options.

    Examples
    --------
    >>> import ordhc
    >>> S = [[0, 5, 1], [5, 0, 2], [1, 2, 0]]
    >>> ax = ordhc.plots.heatmap(ordhc.linkage(S, dissimilarity=False), S)
    >>> ax.images[0].get_array().shape
    (3, 3)
    """
    for name in others:
        known = [option for option in signature(heatmap).parameters if option != "others"]
        raise InputError(_checks.unknown_option("heatmap", name, known, _OF_CLUSTERMAP))
    order = _checks.choice("order", order, ORDERS)
    table = _table_of(tree, S, column_tree, order, dissimilarity)
    found, rows = table.tree, table.tree.n_leaves
    scale = _scale_of(table.image, vmin, vmax, center, robust)
    side = float(np.clip(0.14 * rows, 3.2, 9.0))
    breadth = side if table.columns is None else float(np.clip(0.2 * table.n_columns, 2.0, 9.0))
    names = [" ".join(found.labels[leaf].split()) for leaf in found.leaf_order().tolist()] if labels else []
    beyond = min(max(map(len, names), default=0), LONGEST) * 0.55 * _font_size(side, rows) / 72
    under = 0.0
    if labels and table.columns is not None:
        size = _font_size(breadth, table.n_columns)
        under = min(max(map(len, table.columns), default=0), LONGEST) * 0.55 * size / 72
    tall = (side + under + 0.7) / (1 - UPPER * (table.column_tree is not None))
    ax = axes_for(ax, ((breadth + beyond) / (1 - TREE), tall))
    inks = Theme.of(None, ax)
    grid = Grid(ax)
    drawn = ax.imshow(
        table.image,
        cmap=_colour_map(cmap, scale, turned=table.turned),
        vmin=scale.low,
        vmax=scale.high,
        aspect="auto",
        interpolation="nearest",
        extent=(-0.5, table.n_columns - 0.5, rows - 0.5, -0.5),
    )
    ax.tick_params(length=0, colors=inks.ink)
    ax.spines[:].set_visible(False)
    _write_names(ax, grid, names, table)
    if n_clusters is not None:
        flat = found.cut(n_clusters)[found.leaf_order()]
        for at in np.flatnonzero(flat[1:] != flat[:-1]).tolist():
            for line in (ax.axhline, ax.axvline) if table.columns is None else (ax.axhline,):
                line(at + 0.5, color=inks.background, linewidth=0.8)
    plain: Any = {"labels": False, "truncate": False, "scale": "none", "support": False}
    beside = grid.add("tree")
    plot_dendrogram(found, beside, n_clusters=n_clusters, columns=columns, palette=palette, **plain)
    beside.set_ylim(rows - 0.5, -0.5)
    beside.patch.set_visible(False)
    if table.column_tree is not None:
        above = grid.add("column tree")
        plot_dendrogram(table.column_tree, above, orientation="bottom", **plain)
        above.set_xlim(-0.5, table.n_columns - 0.5)
        above.patch.set_visible(False)
    if colorbar:
        bar = grid.figure.colorbar(
            drawn, cax=grid.add("colour bar"), orientation="horizontal", extend=scale.extend, extendfrac=0.04
        )
        bar.ax.tick_params(labelsize=7, colors=inks.line)
        bar.outline.set_visible(False)
        bar.set_label(table.title, fontsize=8, color=inks.ink)
    grid.share()
    return ax


@dataclass(frozen=True, eq=False)
class _Table:
    """The parts of a heatmap; `columns` has the names of the columns, or is None for a matrix of pairs.

    `title` is the title of the colour bar. `turned` is True if the colour map is reversed.
    """

    tree: Dendrogram
    image: NDArray[np.float64]
    n_columns: int
    title: str
    turned: bool
    columns: list[str] | None = None
    column_tree: Dendrogram | None = None


def _table_of(tree: Any, S: Any, column_tree: Any, order: str, dissimilarity: bool | None) -> _Table:
    shape = getattr(S, "shape", None)
    shape = np.shape(S) if not isinstance(shape, tuple) else shape
    if column_tree is None and (len(shape) != 2 or shape[0] == shape[1]):
        found, values = prepared(tree, S, ("similarity",), "heatmap")
        if order == "optimal":
            found = replaced(found, written_order=found.leaf_order(values, dissimilarity=dissimilarity))
        less = found.kind == "dissimilarity" if dissimilarity is None else dissimilarity
        less = _checks.flag("dissimilarity", less)
        image = _ordered(values, found.leaf_order())
        return _Table(found, image, found.n_leaves, "dissimilarity" if less else "similarity", less)
    if order == "optimal" or dissimilarity is not None:
        raise InputError(
            "order='optimal' and dissimilarity are for (n, n) similarities, but S is a data matrix: leave "
            "both out; for an optimal order pass tree=tree.rotate(order=tree.leaf_order(D)), with D the "
            "(n, n) similarities or distances of the rows of S"
        )
    found, values, names = with_rows(tree, S)
    places = np.arange(values.shape[1])
    if column_tree is not None:
        column_tree = as_dendrogram(column_tree, n_leaves=len(places))
        places = places_of(column_tree, names, "the columns")[column_tree.leaf_order()]
    image = _block_means(_block_means(values[found.leaf_order()][:, places]).T).T
    labels = [(names or [str(at) for at in range(len(places))])[at] for at in places.tolist()]
    return _Table(found, image, len(places), "value", False, labels, column_tree)


def _block_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    n = len(values)
    if n <= MOST_CELLS:
        return values
    starts = np.arange(MOST_CELLS) * n // MOST_CELLS
    known = ~np.isnan(values)
    counts = np.add.reduceat(known, starts, axis=0, dtype=np.int64)
    sums = np.add.reduceat(np.where(known, values, 0.0), starts, axis=0)
    means: NDArray[np.float64] = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return means


def _write_names(ax: Axes, grid: Grid, names: list[str], table: _Table) -> None:
    ax.set_xticks([])
    ax.set_yticks([])
    height = grid.height - 0.6
    if names and table.columns is not None:
        size = _font_size(grid.width * (1 - TREE) - 0.6, len(table.columns))
        if size:
            short = _cut(table.columns, grid.height, size)
            ax.set_xticks(range(len(short)), labels=short, fontsize=size, rotation=90, parse_math=False)
            height -= max(map(len, short)) * 0.55 * size / 72
    if table.column_tree is not None:
        height -= UPPER * grid.height
    size = _font_size(height, len(names)) if names else 0.0
    if size:
        ax.yaxis.tick_right()
        short = _cut(names, grid.width, size)
        ax.set_yticks(range(len(names)), labels=short, fontsize=size, parse_math=False)
    ax.tick_params(length=0, pad=2)


def _cut(names: list[str], space: float, size: float) -> list[str]:
    return shortened(names, int(np.clip(0.35 * 72 * space / (0.55 * size), 6, LONGEST)))


def _font_size(height: float, n: int) -> float:
    size = min(0.75 * 72 * height / n, 9.0)
    return size if size >= SMALLEST else 0.0


@dataclass(frozen=True)
class _Scale:
    """The values of the first and the last colour, and the part of a colour map that is used.

    `share` is this part, as two fractions of the colour map. `extend` names the ends of the colour bar that
    are arrows, as in Matplotlib.
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
    known = image[~np.isnan(image)] if not np.isnan(image).all() else np.zeros(1)
    least, most = float(known.min()), float(known.max())
    inner = np.percentile(known, [2, 98]).tolist()
    if robust is None:
        robust = inner[1] > inner[0] and inner[1] - inner[0] < (most - least) / 3
    low, high = inner if _checks.flag("robust", robust) else (least, most)
    low = low if vmin is None else _checks.number("vmin", vmin)
    high = high if vmax is None else _checks.number("vmax", vmax)
    if low > high or (low == high and vmin is not None and vmax is not None):
        raise InputError(
            f"the colours begin at {low:g} (vmin) and end at {high:g} (vmax); vmin must be smaller"
        )
    extend = ("neither", "min", "max", "both")[(least < low) + 2 * (most > high)]
    if center is None or low == high:
        return _Scale(low, high, (0.0, 1.0), center is not None, extend)
    middle = _checks.number("center", center)
    reach = max(high - middle, middle - low)
    share = (0.5 + (low - middle) / (2 * reach), 0.5 + (high - middle) / (2 * reach))
    return _Scale(low, high, share, True, extend)


def _colour_map(name: str | None, scale: _Scale, *, turned: bool) -> Colormap:
    import matplotlib
    from matplotlib.colors import ListedColormap

    name = ("RdBu_r" if scale.is_centred else "cividis") if name is None else _checks.text("cmap", name)
    if name not in matplotlib.colormaps:
        raise InputError(f"cmap is {_checks.quoted(name)}, not a colour map of Matplotlib")
    whole = matplotlib.colormaps[name]
    whole = whole.reversed() if turned else whole
    if scale.share == (0.0, 1.0):
        return whole
    return ListedColormap(whole(np.linspace(*scale.share, 256)), name=whole.name)


def _ordered(values: NDArray[Any], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the matrix with rows and columns in the order `places`, and NaN on its diagonal.

    In matrices of more than `MOST_CELLS` rows, neighbouring cells are averaged, without the diagonal.
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
