"""Draw the pictures of a report, as SVG elements whose colours follow the page's light or dark theme."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import Any

import numpy as np

from ordhc.comparison.comparisons import Comparisons
from ordhc.plots import agreement, tanglegram
from ordhc.plotting.drawing import plot_dendrogram
from ordhc.plotting.figures import axes_for, picture_bytes
from ordhc.plotting.palette import DARK, LIGHT, palette, readable
from ordhc.reporting.counts import in_numbers
from ordhc.tree.dendrogram import Dendrogram

#: The maximum number of leaves of a figure, because more names are not readable on paper. A larger tree is
#: truncated to `TIPS` tips, or to the number of coloured clusters if that is larger.
WHOLE = 110
FACE_TO_FACE = 110
TIPS = 60
WIDTH = 180.0


def tree_figure(
    tree: Dendrogram, n_clusters: int, unanswered: Sequence[int], *, was_asked: bool
) -> tuple[str, list[str]]:
    """Return an SVG element with the tree of all items that have answers, and sentences for its caption.

    `n_clusters` is the number of clusters to colour. `unanswered` has the leaves without answers. `was_asked`
    is True if `n_clusters` counts only clusters of items with answers.
    """
    sentences = []
    answered = _without(tree, unanswered)
    if answered is not None:
        n_clusters = max(n_clusters - (0 if was_asked else len(unanswered)), 1)
        left_out = in_numbers(len(unanswered), "item", "items")
        sentences.append(f"{left_out} without answers {'is' if len(unanswered) == 1 else 'are'} left out.")
        tree = answered
    n_clusters = min(n_clusters, tree.n_leaves)
    truncate: int | bool = False
    if tree.n_leaves > WHOLE:
        truncate = min(max(TIPS, n_clusters), WHOLE)
        sentences.append(
            f"The {tree.n_leaves:,} items are drawn as the top of the tree; triangles contain the rest."
        )
    is_coloured = not truncate or n_clusters <= truncate
    k = in_numbers(n_clusters, "cluster", "clusters")
    sentences.append(f"Colours are {k}." if is_coloured else f"{k} are too many to colour.")
    coloured = n_clusters if is_coloured else None
    title = f"Dendrogram of {tree.n_leaves:,} items"
    drawn = _dendrogram("tree", tree, coloured or 1, title, truncate=truncate, n_clusters=coloured)
    return drawn, sentences


def misfits_figure(tree: Dendrogram, marked: Sequence[int]) -> str | None:
    """Return a picture of the tree that marks the nodes `marked`; None for more than `WHOLE` items."""
    if tree.n_leaves > WHOLE:
        return None
    title = f"Dendrogram of {tree.n_leaves:,} items, marked where points predict answers better"
    return _dendrogram("misfits", tree.replace(support=None), 2, title, marked=marked, node_names=False)


def lengths_figure(tree: Dendrogram, unanswered: Sequence[int]) -> str | None:
    """Return a picture of a tree with lengths of edges; None for more than `WHOLE` items."""
    tree = _without(tree, unanswered) or tree
    if tree.n_leaves > WHOLE:
        return None
    title = f"Tree of {tree.n_leaves:,} items with lengths of edges"
    return _dendrogram("lengths", tree.replace(support=None), 1, title)


def _dendrogram(key: str, tree: Dendrogram, n_colours: int, title: str, **options: Any) -> str:
    draw = partial(plot_dendrogram, tree, width=WIDTH, theme="light", **options)
    return _inline(key, draw, n_colours, title)


def _without(tree: Dendrogram, unanswered: Sequence[int]) -> Dendrogram | None:
    """Return the tree without unanswered leaves.

    The result is None if no leaf is unanswered, if fewer than two are answered, or if the unanswered leaves
    were not merged last.
    """
    n, few = tree.n_leaves, tree.n_leaves - len(unanswered)
    kept = np.delete(np.arange(n), list(unanswered))
    if not unanswered or few < 2 or tree.node(kept).size > few:
        return None
    return tree.keep(kept)


def tanglegram_figure(
    a: Dendrogram, b: Dendrogram, titles: tuple[str, str], n_clusters: int, key: str = "tanglegram"
) -> str | None:
    """Return a picture of two trees face to face; None for fewer than 3 or too many leaves.

    The ids in the SVG element begin with `key`.
    """
    n = a.n_leaves
    if not 3 <= n <= FACE_TO_FACE:
        return None
    size = (WIDTH / 25.4, min(max(0.15 * n, 2.4), 11.0) + 0.6)
    return _inline(
        key,
        lambda: tanglegram(
            a, b, ax=axes_for(None, size, pyplot=False), n_clusters=min(n_clusters, n), titles=titles
        ),
        n_clusters,
        f"Two trees face to face: {titles[0]} and {titles[1]}",
    )


def agreement_figure(tree: Dendrogram, data: Comparisons) -> str:
    return _inline(
        "levels",
        lambda: agreement(tree, data, ax=axes_for(None, (4.8, 2.7), pyplot=False)),
        1,
        "Share of answers satisfied, by the size of the cluster that decides them",
    )


def _inline(key: str, draw: Callable[[], Any], n_colours: int, title: str) -> str:
    """Return a figure as an SVG element whose colours follow the theme of the page.

    The ids of the element begin with `key`, so that ids are unique on the page. `draw` draws the figure with
    the first `n_colours` colours of the palette, and returns its axes. Screen readers read `title`.
    """
    text = picture_bytes("svg", draw).decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # Matplotlib's style element would apply to the whole page, so it is removed.
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    inks = {
        LIGHT.ink: "var(--ink)",
        LIGHT.line: "var(--line)",
        LIGHT.pale: "var(--pale)",
        LIGHT.background: "var(--back)",
    }
    for colour in palette(max(n_colours, 1)):
        for shown in {colour.lower(), readable(colour, LIGHT.background)}:
            dark = readable(colour, DARK.background)
            inks[shown] = f"light-dark({shown}, {dark})"
    pattern = re.compile("|".join(map(re.escape, inks)), re.IGNORECASE)

    seen: set[str] = set()

    def once(name: re.Match[str]) -> str:
        kept = "" if name[1] in seen else name[0]
        seen.add(name[1])
        return kept

    def own(tag: re.Match[str]) -> str:
        # Matplotlib repeats ids, but ids must be unique on a page. Only the first of equal ids is kept.
        named = re.sub(r'\sid="([^"]*)"', once, tag[0])
        named = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{key}-", named)
        return re.sub(
            r'style="[^"]*"', lambda style: pattern.sub(lambda ink: inks[ink[0].lower()], style[0]), named
        )

    # Replace only within tags, because names of leaves can look like ids or colours.
    text = re.sub(r"<[^>]*>", own, text)
    head, rest = text.split(">", 1)
    width = re.search(r'width="([\d.]+)pt"', head)
    head = re.sub(r'\s(?:width|height)="[\d.]+pt"', "", head)
    points = float(width[1]) if width else 500.0
    label = f'role="img" aria-label="{escape(title, quote=True)}" style="max-width: {points:.0f}pt"'
    return f"{head} {label}>{rest}"
