"""Figures of the calibration of support, and of the scores of methods."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.evaluate.bootstrap import Bootstrap
from ordhc.evaluate.select import SCORES, Selection
from ordhc.plots.frames import ceiling_band, plain_axes, plot_shares, reference_line
from ordhc.plotting.palette import palette
from ordhc.tree.consensus import cluster_codes
from ordhc.tree.matching import prepared

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def support_calibration(trees: Any, references: Any, *, ax: "Axes | None" = None, n_bins: int = 10) -> "Axes":
    """Draw the share of true clusters against the support of the clusters.

    If support is calibrated, points are on the diagonal: for example, 80% of the clusters with a support of
    0.8 are in the true tree. Points below the diagonal mean that support is too high.

    Parameters
    ----------
    trees
        A tree with support, a `Bootstrap`, or a list of them, for example from many simulations.
    references
        The true tree, or a list with the true tree of each of `trees`.
    ax
        The axes to draw in; by default pyplot's current axes if they are empty, else a new figure.
    n_bins
        The number of bins of equal width from 0 to 1, by default 10.

    Returns
    -------
    matplotlib.axes.Axes
        The axes. Each point is the share of true clusters in a bin, with a 95% interval (Wilson). Numbers at
        the top are the numbers of clusters.

    Raises
    ------
    InputError
        A tree has no support, the numbers of references and trees differ, or the leaves differ.

    Examples
    --------
    >>> import ordhc
    >>> true = ordhc.Dendrogram.from_newick("(((a,b),c),(d,e));")
    >>> found = ordhc.Dendrogram.from_newick("(((a,b)90,d)40,(c,e)60);")
    >>> ax = ordhc.plots.support_calibration(found, true, n_bins=2)
    >>> ax.lines[0].get_ydata().tolist()
    [0.0, 0.5]
    """
    n_bins = _checks.whole("n_bins", n_bins, at_least=1, at_most=1000)
    given = list(trees) if isinstance(trees, list | tuple) else [trees]
    known = list(references) if isinstance(references, list | tuple) else [references] * len(given)
    if len(known) != len(given) or not given:
        raise InputError(f"{len(known)} references for {len(given)} trees; give one, or one for each")
    support, is_true = [], []
    for tree, reference in zip(given, known, strict=True):
        tree = tree.tree if isinstance(tree, Bootstrap) else tree
        found, other = prepared(tree, reference, ("tree",), "support_calibration")
        if found.support is None:
            raise InputError("the tree has no support; make a tree with support by ordhc.bootstrap")
        bits = np.random.default_rng(0).integers(0, 2**64, (found.n_leaves, 2), dtype=np.uint64)
        true = set(map(tuple, cluster_codes(other, bits).tolist()))
        codes = cluster_codes(found, bits).tolist()
        # The root is left out, because all trees contain the cluster of all leaves.
        for share, code in zip(found.support[:-1].tolist(), codes[:-1], strict=True):
            if share == share:
                support.append(share)
                is_true.append(tuple(code) in true)
    ax, inks = plain_axes(ax, "support", "clusters that are true", size=(3.6, 3.6))
    values, hits = np.array(support), np.array(is_true, dtype=np.float64)
    bins = np.minimum((values * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(bins, minlength=n_bins).astype(np.float64)
    some = count > 0
    x = np.bincount(bins, values, n_bins)[some] / count[some]
    y = np.bincount(bins, hits, n_bins)[some] / count[some]
    plot_shares(ax, x, y, count[some])
    ax.plot([0, 1], [0, 1], color=inks.line, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    for at, many in zip(x.tolist(), count[some].tolist(), strict=True):
        ax.text(
            at,
            1.01,
            f"{many:,.0f}",
            transform=ax.get_xaxis_transform(),
            fontsize=6,
            ha="center",
            va="bottom",
            color=inks.line,
        )
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    return ax


def compare(
    scores: Selection | Mapping[str, Any],
    *,
    ax: "Axes | None" = None,
    by: str | None = None,
) -> "Axes":
    """Draw the scores of methods with their intervals, the best method on top.

    Parameters
    ----------
    scores
        The `Selection` that `ordhc.select` returns; or a mapping from names to intervals, each an interval of
        `Bootstrap.intervals` or a tuple (value, low, high).
    ax
        The axes to draw in; by default pyplot's current axes if they are empty, else a new figure.
    by
        The score of a `Selection` to draw: "revenue" or "satisfied". By default the score by which the
        selection chose the best method.

    Returns
    -------
    matplotlib.axes.Axes
        The axes. For a `Selection`, intervals are 95% intervals, and the axes have lines for chance and, if
        known, for the noise ceiling.

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.datasets.planted(2000, levels=2, leaves_per_cluster=6, seed=1)
    >>> ax = ordhc.plots.compare(ordhc.select(t, ["adds3-al", "mulk3-al"], folds=2))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['adds3-al', 'mulk3-al']
    """
    if isinstance(scores, Selection):
        by = scores.by if by is None else _checks.choice("by", by, SCORES)
        what = f"held-out {by}"
        table = [
            (each.method, *(getattr(each, f"{by}{end}") for end in ("", "_low", "_high")))
            for each in scores.candidates
        ]
        chance = 0.0 if by == "revenue" else float(np.mean([each.chance for each in scores.candidates]))
        ceiling = scores.ceiling if by == "satisfied" else None
    else:
        if by is not None:
            raise InputError("`by` is only for the result of ordhc.select: leave it out for other scores")
        if not isinstance(scores, Mapping) or not scores:
            raise InputError(
                f"scores are {_checks.quoted(scores)}; pass the result of ordhc.select or a mapping of scores"
            )
        what, chance, ceiling = "score", None, None
        table = [(str(name), *_interval(str(name), value)) for name, value in scores.items()]
    table.sort(key=lambda row: -row[1])
    ax, inks = plain_axes(ax, what, "", size=(5.2, 0.32 * len(table) + 1.0))
    values = np.array([row[1:] for row in table], dtype=np.float64)
    # Unknown intervals (NaN) are drawn as points without bars.
    errors = np.nan_to_num(np.stack([values[:, 0] - values[:, 1], values[:, 2] - values[:, 0]]))
    places = np.arange(len(table))
    ax.errorbar(
        values[:, 0],
        places,
        xerr=errors,
        fmt="o",
        color=palette(1)[0],
        markersize=5,
        linewidth=1.4,
        capsize=3,
    )
    ax.set_yticks(places, labels=[row[0] for row in table], color=inks.ink, fontsize=9, parse_math=False)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=inks.pale, linewidth=0.6)
    ax.set_axisbelow(True)
    ceiling_band(ax, ceiling, inks, upright=True)
    if chance is not None:
        reference_line(ax, chance, "chance", inks, upright=True)
    return ax


def _interval(name: str, given: Any) -> tuple[float, float, float]:
    if hasattr(given, "estimate"):
        given = (given.estimate, given.low, given.high)
    values = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    if len(values) != 3:
        raise InputError(f"scores[{name!r}] is {_checks.quoted(given)}; give (value, low, high)")
    value, low, high = (_checks.number(f"scores[{name!r}]", each) for each in values)
    if not low <= value <= high:
        raise InputError(f"scores[{name!r}]: {value:g} is not between {low:g} and {high:g}")
    return value, low, high
