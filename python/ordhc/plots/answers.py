"""Figures of how well trees satisfy answers: by level of the tree, and by number of answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, part, shows_progress
from ordhc.clustering.cluster import fit
from ordhc.clustering.plan import Plan
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.units import shares_of
from ordhc.errors import InputError
from ordhc.evaluate.ceiling import chance_of, noise_ceiling, satisfied_share
from ordhc.evaluate.trials import parts_of
from ordhc.plots.frames import ceiling_band, plain_axes, plot_shares, reference_line
from ordhc.plotting.palette import palette
from ordhc.similarities.similarity import fitting
from ordhc.tree.dendrogram import engine_tree, lca_size
from ordhc.tree.matching import prepared

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def agreement(
    tree: Any, answers: Triplets | Quadruplets | ArrayLike, *, ax: Axes | None = None, n_bins: int = 8
) -> Axes:
    """Draw the share of the answers that a tree satisfies, for each level of the tree.

    The level of an answer is the size of the smallest cluster that contains all leaves of the answer. Small
    clusters are near the leaves; the largest cluster is the root. Bars at the bottom show the number of
    answers.

    Parameters
    ----------
    tree
        A tree in any form that `ordhc.as_dendrogram` takes.
    answers
        `Triplets` or `Quadruplets`, preferably answers from which the tree was not made.
    ax
        The axes to draw in; by default pyplot's current axes if they are empty, else a new figure.
    n_bins
        The maximum number of levels, by default 8. The sizes of clusters grow by the same factor from level
        to level.

    Returns
    -------
    matplotlib.axes.Axes
        The axes. Points are the satisfied share of the answers' weight. Bars at the points are 95% intervals
        (Wilson), which assume that rows are independent.

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.datasets.planted(400, levels=2, leaves_per_cluster=3, seed=1)
    >>> ax = ordhc.plots.agreement(ordhc.cluster(t), t)
    >>> ax.get_xlabel()
    'leaves of the cluster that decides'
    """
    n_bins = _checks.whole("n_bins", n_bins, at_least=1, at_most=1000)
    found, data = prepared(tree, answers, ("triplets", "quadruplets"), "agreement")
    if data.weights is not None:
        data = data[data.weights > 0]
    if not len(data):
        raise InputError("there are no comparisons (of positive weight) to satisfy")
    rows = data.rows
    pairs = ((0, 1), (0, 2)) if rows.shape[1] == 3 else ((0, 1), (2, 3))
    sizes = np.max([lca_size(found, rows[:, i], rows[:, j]) for i, j in pairs], axis=0)
    edges = np.unique(np.geomspace(sizes.min(), sizes.max() + 1, n_bins + 1).round(6))
    bins = np.clip(np.searchsorted(edges, sizes, side="right") - 1, 0, max(len(edges) - 2, 0))
    kept = np.unique(bins)
    shares, counts, middles = [], [], []
    for at in kept.tolist():
        inside = bins == at
        weights = None if data.weights is None else data.weights[inside]
        satisfied = _ordhc.satisfied(engine_tree(found), np.ascontiguousarray(rows[inside]), weights)
        shares.append(satisfied[0] / sum(satisfied))
        counts.append(int(inside.sum()))
        middles.append(float(np.exp(np.log(sizes[inside]).mean())))
    ax, inks = plain_axes(ax, "leaves of the cluster that decides", "answers satisfied")
    share, count = np.array(shares), np.array(counts, dtype=np.float64)
    ax.set_xscale("log")
    behind = ax.twinx()
    behind.bar(
        edges[kept],
        count,
        np.diff(edges)[kept],
        align="edge",
        color=inks.pale,
        edgecolor=inks.background,
        zorder=0,
    )
    behind.set_ylim(0, count.max() * 4)
    behind.set_yticks([0, int(count.max())])
    behind.tick_params(length=0, labelsize=7, colors=inks.line)
    behind.set_ylabel("answers", fontsize=8, color=inks.line, loc="bottom")
    behind.spines[:].set_visible(False)
    ax.set_zorder(behind.get_zorder() + 1)
    ax.patch.set_visible(False)
    plot_shares(ax, middles, share, count)
    ax.set_ylim(0, 1.02)
    ticks = [
        size
        for size in (2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
        if edges[0] <= size <= edges[-1]
    ]
    ax.set_xticks(ticks, labels=[f"{size:,}" for size in ticks])
    ax.xaxis.minorticks_off()
    reference_line(ax, chance_of(found, data), "chance", inks)
    return ax


@shows_progress("learning")
def learning_curve(
    data: Triplets | Quadruplets,
    methods: str | Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    sizes: Sequence[int] | None = None,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> Axes:
    """Draw the accuracy on held-out answers against the number of answers from which trees are made.

    Answers are split into folds, as in `ordhc.select`. For each fold, trees are made from growing numbers of
    the other folds' answers, and scored on this fold.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets`.
    methods
        A name, or a list of names, as in `ordhc.cluster`. By default "adds3-al" for triplets and "adds4-al"
        for quadruplets.
    ax
        The axes to draw in; by default pyplot's current axes if they are empty, else a new figure.
    sizes
        The numbers of rows to make trees from. By default eight numbers, from a fiftieth of the rows to all.
    folds
        The number of folds, by default 5.
    seed
        The seed of the random numbers, by default 0. The same seed gives the same figure.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    matplotlib.axes.Axes
        The axes. Lines are means over folds, one line for each method, with the standard error as a band. The
        dashed line is chance. If at least a hundred answers are to repeated questions, a horizontal band is
        the noise ceiling.

    Raises
    ------
    InputError
        A method is unknown, a size is larger than the number of rows, or there are fewer questions than
        folds.

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.datasets.planted(400, levels=2, leaves_per_cluster=3, seed=1)
    >>> ax = ordhc.plots.learning_curve(t, ["adds3-al", "mulk3-al"], folds=2)
    >>> [line.get_label() for line in ax.lines[:2]]
    ['adds3-al', 'mulk3-al']
    """
    progress = _checks.callback("progress", progress)
    if not isinstance(data, Triplets | Quadruplets):
        raise InputError(f"learning_curve takes Triplets or Quadruplets, not {type(data).__name__}")
    folds = _checks.whole("folds", folds, at_least=2)
    seed = _checks.seed(seed)
    if methods is None:
        methods = ["adds3-al" if isinstance(data, Triplets) else "adds4-al"]
    methods = _checks.words("methods", [methods] if isinstance(methods, str) else methods)
    plans = [Plan.of(data, method=name) for name in methods]
    parts, _ = parts_of(data, folds, seed)
    fewest = min(int((parts != fold).sum()) for fold in range(folds))
    if sizes is None:
        counts = np.unique(np.geomspace(max(fewest / 50, 1), fewest, 8).astype(np.int64)).tolist()
    else:
        counts = sorted(
            {
                _checks.whole("sizes", size, at_least=1, at_most=fewest)
                for size in _checks.listed("sizes", sizes)
            }
        )
        if not counts:
            raise InputError("sizes is empty; give numbers of rows")
    scores = np.empty((len(plans), len(counts), folds))
    chances = []
    done, fits = 0, scores.size
    for fold in range(folds):
        unseen = data[parts == fold]
        order = np.random.default_rng([seed, fold]).permutation(np.flatnonzero(parts != fold))
        for at, count in enumerate(counts):
            seen = data[np.sort(order[:count])]
            for which, plan in enumerate(plans):
                own = part(progress, done / fits, (done + 1) / fits)
                tree, _ = fit(plan, fitting(seen, plan.accepts, plan.title), progress=own)
                scores[which, at, fold] = satisfied_share(tree, unseen, shares_of(unseen))
                if count == counts[-1] and which == 0:
                    chances.append(chance_of(tree, unseen))
                done += 1
    ax, inks = plain_axes(ax, "answers", "held-out answers satisfied")
    means, errors = scores.mean(axis=2), scores.std(axis=2, ddof=1) / np.sqrt(folds)
    for name, mean, error, colour in zip(methods, means, errors, palette(len(methods)), strict=True):
        ax.plot(counts, mean, "o-", color=colour, markersize=3.5, linewidth=1.3, label=name)
        ax.fill_between(counts, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)
    if len(counts) > 1:
        ax.set_xscale("log")
    reference_line(ax, float(np.mean(chances)), "chance", inks)
    ceiling_band(ax, noise_ceiling(data), inks)
    if len(methods) > 1:
        ax.legend(frameon=False, fontsize=8, labelcolor=inks.ink)
    return ax
