"""Pictures of dendrograms, with Matplotlib (the extra `plot`)."""

import io as bytes_io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ordhc._signals import interrupts_later
from ordhc.errors import InputError, MissingExtraError
from ordhc.tree.dendrogram import Dendrogram

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PICTURES", "plot_dendrogram", "save_plot", "svg"]

PICTURES = (".svg", ".png", ".pdf")
#: Distinguishable with any colour vision (Okabe & Ito 2008, without yellow and black).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#5f6a72"
_SIDES = ("right", "left", "top", "bottom")


def need_matplotlib() -> Any:
    """Matplotlib, or an error that says how to get it."""
    try:
        with interrupts_later():
            import matplotlib
            import matplotlib.figure
    except ImportError:
        raise MissingExtraError.of("a picture", "matplotlib", "plot") from None
    return matplotlib


def plot_dendrogram(
    tree: Dendrogram,
    ax: "Axes | None" = None,
    *,
    orientation: str = "right",
    n_clusters: int | None = None,
    labels: bool = True,
    support: bool = True,
    font_size: float | None = None,
    line_width: float = 1.2,
    title: str | None = None,
) -> "Axes":
    """Draw a dendrogram.

    Parameters
    ----------
    tree
        The dendrogram.
    ax
        Where to draw; by default a new figure whose size grows with the number of leaves, and which pyplot
        does not know. `Dendrogram.plot` draws where pyplot does.
    orientation
        The side on which the leaves stand: "right", "left", "top" or "bottom".
    n_clusters
        Colour this many clusters.
    labels
        Whether to write the leaves' names.
    support
        Whether to write the support of each merge, in percent, where the tree has it.
    font_size, line_width, title
        As they say.

    Returns
    -------
    matplotlib.axes.Axes
        The axes, which know their figure.
    """
    need_matplotlib()
    from matplotlib.collections import LineCollection

    if orientation not in _SIDES:
        raise InputError(f"orientation is {orientation!r}, not one of {', '.join(_SIDES)}")
    sideways = orientation in ("right", "left")
    if ax is None:
        ax = _figure(tree, sideways, labels).add_subplot()
    segments, colors, leaf_colors, span = _brackets(tree, n_clusters)
    if not sideways:
        segments = segments[:, :, ::-1]
    ax.add_collection(LineCollection(list(segments), colors=colors, linewidths=line_width, capstyle="round"))
    if support and tree.support is not None:
        _write_support(ax, segments, tree.support, sideways)
    across, along = (ax.yaxis, ax.xaxis) if sideways else (ax.xaxis, ax.yaxis)
    set_across, set_along = (ax.set_ylim, ax.set_xlim) if sideways else (ax.set_xlim, ax.set_ylim)
    n = tree.n_leaves
    set_across((n - 0.4, -0.6) if sideways else (-0.6, n - 0.4))
    leaf_end, root_end = span
    flipped = orientation in ("right", "top")
    set_along((root_end, leaf_end) if flipped else (leaf_end, root_end))
    order = tree.leaf_order()
    if labels:
        size = font_size or float(np.clip(640 / max(n, 1), 5.0, 10.0))
        names = tree.labels
        texts = [names[leaf] if len(names[leaf]) <= 60 else names[leaf][:58] + "…" for leaf in order]
        across.set_ticks_position(orientation)  # type: ignore[arg-type]
        across.set_ticks(range(n), labels=texts, fontsize=size)
        # Those of a side that is not shown by default are turned too.
        across.set_tick_params(labelrotation=0 if sideways else 90)
    else:
        across.set_ticks([])
    across.set_tick_params(length=0)
    if labels and n_clusters is not None:
        for text, leaf in zip(across.get_ticklabels(), order, strict=True):
            text.set_color(leaf_colors[leaf])
    along.set_label_text(tree.kind, color=GREY)
    along.set_tick_params(colors=GREY, labelsize=8)
    for spine in ax.spines.values():
        spine.set_visible(False)
    if title:
        ax.set_title(title, loc="left", fontsize=12)
    return ax


def _write_support(
    ax: "Axes", segments: NDArray[np.float64], support: NDArray[np.float64], sideways: bool
) -> None:
    """Percents at the middles of the brackets; the root has all leaves in every tree."""
    size = float(np.clip(640 / max(len(support), 1), 4.0, 7.0))
    for bracket, share in zip(segments[:-1], support[:-1].tolist(), strict=True):
        if share == share:
            x, y = bracket[1:3].mean(axis=0)
            ax.text(
                x,
                y,
                f"{100 * share:.0f}",
                fontsize=size,
                color=GREY,
                ha="center",
                va="center",
                bbox={"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none"},
                rotation=0 if sideways else 90,
            )


def current_axes(tree: Dendrogram, **options: Any) -> "Axes":
    """Pyplot's current axes, or those of a new figure of pyplot if there are none or something is in them.

    Where pyplot can't have a figure (its backend needs a screen) it is one that pyplot does not know.
    """
    need_matplotlib()
    sideways = options.get("orientation", "right") in ("right", "left")
    labels = bool(options.get("labels", True))
    try:
        from matplotlib import pyplot

        if not pyplot.get_fignums() or pyplot.gca().has_data():
            pyplot.figure(figsize=_size(tree, sideways, labels), layout="constrained")
        ax = pyplot.gca()
        figure = ax.get_figure(root=True)
        if figure is not None and len(figure.axes) == 1 and figure.get_layout_engine() is None:
            # Else long names are cut off.
            figure.set_layout_engine("constrained")
        return ax
    except ImportError:
        return _figure(tree, sideways, labels).add_subplot()


def _figure(tree: Dendrogram, sideways: bool, labels: bool) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=_size(tree, sideways, labels), layout="constrained")


def _size(tree: Dendrogram, sideways: bool, labels: bool) -> tuple[float, float]:
    room = float(np.clip(0.18 * tree.n_leaves, 2.0, 60.0)) + 1.0
    longest = min(60, max(len(name) for name in tree.labels)) if labels else 0
    depth = 6.0 + 0.065 * longest
    return (depth, room) if sideways else (room, depth)


def _brackets(
    tree: Dendrogram, n_clusters: int | None
) -> tuple[NDArray[np.float64], list[str], list[str], tuple[float, float]]:
    """The lines of all merges, (n - 1, 4, 2) as (height, place), their colours, the leaves' colours.

    The last is the span of heights from the leaves' side to the root's.
    """
    n = tree.n_leaves
    merges, heights = tree.merges, tree.heights
    rising = tree.kind == "dissimilarity"
    low, high = (heights.min(), heights.max()) if len(heights) else (0.0, 1.0)
    margin = 0.03 * (high - low or abs(high) or 1.0)
    leaf_height = min(0.0, low) if rising else high + 2 * margin
    span = (leaf_height, high + margin) if rising else (leaf_height, low - margin)

    place = np.empty(2 * n - 1)
    place[tree.leaf_order()] = np.arange(n)
    height = np.concatenate([np.full(n, leaf_height), heights])
    segments = np.empty((n - 1, 4, 2))
    # The outermost children of each merge's node: a node of many stands between these.
    ends = np.empty((n - 1, 2))
    joined = np.zeros(n - 1, dtype=bool) if tree.joined is None else tree.joined
    for merge, (a, b) in enumerate(merges):
        below = [ends[part - n] if part >= n and joined[part - n] else place[[part]] for part in (a, b)]
        ends[merge] = min(below[0].min(), below[1].min()), max(below[0].max(), below[1].max())
        place[n + merge] = ends[merge].mean()
        h = heights[merge]
        segments[merge] = [
            (height[a], place[a]),
            (h, place[a]),
            (h, place[b]),
            (height[b], place[b]),
        ]

    leaf_colors = [GREY] * n
    colors = [GREY] * (n - 1)
    if n_clusters is not None:
        flat = tree.cut(n_clusters)
        # Neighbours in the picture get different colours.
        rank: dict[int, int] = {}
        for leaf in tree.leaf_order():
            rank.setdefault(int(flat[leaf]), len(rank))
        leaf_colors = [PALETTE[rank[int(label)] % len(PALETTE)] for label in flat]
        of_cluster = list(leaf_colors)
        for merge, (a, _) in enumerate(merges):
            of_cluster.append(of_cluster[a] if merge < n - n_clusters else GREY)
            colors[merge] = of_cluster[-1]
    return segments, colors, leaf_colors, span


def save_plot(tree: Dendrogram, path: str | os.PathLike[str], **options: Any) -> None:
    """Draw a dendrogram into an svg, png or pdf file; the same tree gives the same file.

    Parameters
    ----------
    tree
        The dendrogram.
    path
        The file; its ending decides the format.
    **options
        As `plot_dendrogram` takes them.
    """
    from ordhc.io.files import write_bytes

    suffix = Path(path).suffix.lower()
    if suffix not in PICTURES:
        raise InputError(f"the ending is none of {', '.join(PICTURES)}", path=path)
    write_bytes(path, _picture(tree, suffix[1:], **options))


def svg(tree: Dendrogram, **options: Any) -> str:
    """The picture as an SVG element."""
    text = _picture(tree, "svg", **options).decode()
    return text[text.index("<svg") :]


def _picture(tree: Dendrogram, kind: str, **options: Any) -> bytes:
    matplotlib = need_matplotlib()
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    buffer = bytes_io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "ordhc", "svg.fonttype": "path"}):
        sideways = options.get("orientation", "right") in ("right", "left")
        figure = _figure(tree, sideways, bool(options.get("labels", True)))
        plot_dendrogram(tree, figure.add_subplot(), **options)
        figure.savefig(buffer, format=kind, dpi=150, metadata=metadata)
    return buffer.getvalue()
