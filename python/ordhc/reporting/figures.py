"""The pictures of a report, within the page: in its own colours, light and dark."""

import re
from collections.abc import Callable
from html import escape
from typing import Any

from ordhc.comparison.comparisons import Comparisons
from ordhc.plots import agreement, tanglegram
from ordhc.plotting.drawing import plot_dendrogram
from ordhc.plotting.figures import axes_for, picture_bytes
from ordhc.plotting.palette import DARK, LIGHT, palette, readable
from ordhc.tree.dendrogram import Dendrogram

__all__ = ["agreement_figure", "tanglegram_figure", "tree_figure"]

#: Larger trees would not be read on paper: they are truncated, or left out.
WHOLE = 110
FACE_TO_FACE = 110
TIPS = 60
WIDTH = 180.0


def tree_figure(tree: Dendrogram, n_clusters: int) -> tuple[str, bool]:
    """The tree, and whether all of it is seen."""
    whole = tree.n_leaves <= WHOLE
    drawn = _inline(
        "tree",
        lambda: plot_dendrogram(
            tree,
            width=WIDTH,
            truncate=False if whole else TIPS,
            n_clusters=min(n_clusters, tree.n_leaves),
            theme="light",
        ),
        n_clusters,
        f"Dendrogram of {tree.n_leaves:,} items",
    )
    return drawn, whole


def tanglegram_figure(a: Dendrogram, b: Dendrogram, titles: tuple[str, str], n_clusters: int) -> str | None:
    """Two trees face to face, or None if they are too large."""
    n = a.n_leaves
    if not 3 <= n <= FACE_TO_FACE:
        return None
    size = (WIDTH / 25.4, min(max(0.15 * n, 2.4), 11.0) + 0.6)
    return _inline(
        "tanglegram",
        lambda: tanglegram(
            a, b, ax=axes_for(None, size, pyplot=False), n_clusters=min(n_clusters, n), titles=titles
        ),
        n_clusters,
        f"Trees by {titles[0]} and by {titles[1]}, face to face",
    )


def agreement_figure(tree: Dendrogram, data: Comparisons) -> str:
    """Answers satisfied by the level of the tree."""
    return _inline(
        "levels",
        lambda: agreement(tree, data, ax=axes_for(None, (4.8, 2.7), pyplot=False)),
        1,
        "Share of answers satisfied, by the size of the cluster that decides them",
    )


def _inline(key: str, draw: Callable[[], Any], n_colours: int, title: str) -> str:
    """An SVG element whose inks follow the page's theme, and whose ids are its own."""
    text = picture_bytes("svg", draw).decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # What Matplotlib says of all elements is meant for those of its own.
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
        # What Matplotlib names alike is no longer found by name but for the first.
        named = re.sub(r'\sid="([^"]*)"', once, tag[0])
        named = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{key}-", named)
        return re.sub(
            r'style="[^"]*"', lambda style: pattern.sub(lambda ink: inks[ink[0].lower()], style[0]), named
        )

    # Within tags alone: names may look like anything.
    text = re.sub(r"<[^>]*>", own, text)
    head, rest = text.split(">", 1)
    width = re.search(r'width="([\d.]+)pt"', head)
    head = re.sub(r'\s(?:width|height)="[\d.]+pt"', "", head)
    points = float(width[1]) if width else 500.0
    label = f'role="img" aria-label="{escape(title, quote=True)}" style="max-width: {points:.0f}pt"'
    return f"{head} {label}>{rest}"
