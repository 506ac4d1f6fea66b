"""Make the html page to explore a tree, a single file that works without a network."""

import json
import math
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from ordhc import _checks
from ordhc._version import __version__
from ordhc.plotting.palette import palette
from ordhc.plotting.pictures import data_uri, of_leaves
from ordhc.plotting.positions import positions_of
from ordhc.tree.dendrogram import Dendrogram, shape_of

PAGES = (".html", ".htm")

#: The maximum number of leaves of a page within a notebook. Larger pages would make notebook files too large.
MOST_INLINE = 5000

_SCRIPTS = ("model.js", "view.js", "controls.js", "start.js")
#: The number of colours that are written into the page. For more clusters the page computes colours itself.
_COLOURS = 60


def page(
    tree: Dendrogram,
    *,
    n_clusters: int | None = None,
    support_threshold: float | None = None,
    texts: Mapping[Any, Any] | None = None,
    pictures: Mapping[Any, Any] | None = None,
    title: str | None = None,
) -> str:
    """Return the html page as text.

    `n_clusters` is the maximum number of clusters that the page colours when it opens, as in
    `Dendrogram.cut`. Support below `support_threshold`, from 0 to 1, is not shown; the branches above such
    nodes are dashed.

    `texts` and `pictures` map names of leaves to the text or picture that is shown when the pointer is on the
    leaf. A text is escaped. A picture is bytes or the path of a file (png, jpeg, gif, webp, svg), and is
    copied into the page. If Pillow is installed, png, jpeg and webp are scaled down to sides of 512 pixels.
    """
    clusters = 1
    if n_clusters is not None:
        clusters = _checks.whole("n_clusters", n_clusters, at_least=1, at_most=tree.n_leaves)
        # `cut` raises an error with the reason if the tree cannot be cut into clusters.
        tree.cut(clusters)
    least = 0.0
    if support_threshold is not None:
        least = _checks.number("support_threshold", support_threshold, at_least=0, at_most=1)
    shown = f"{tree.n_leaves:,} leaves" if title is None else _checks.text("title", title)
    data = _nodes(tree)
    places = {leaf: at for at, leaf in enumerate(data["number"]) if leaf is not None}
    data["text"] = {
        places[leaf]: _checks.text("texts", text) for leaf, text in of_leaves(tree, "texts", texts).items()
    }
    data["picture"] = {
        places[leaf]: data_uri(given) for leaf, given in of_leaves(tree, "pictures", pictures).items()
    }
    data |= {"palette": palette(_COLOURS), "clusters": clusters, "threshold": round(100 * least)}
    parts = {
        "TITLE": escape(shown),
        "VERSION": escape(__version__),
        "STYLE": _asset("page.css"),
        "SCRIPT": "\n".join(_asset(name) for name in _SCRIPTS),
        "DATA": _json(data),
    }
    # Split the template at "@" once, so that a name such as "@DATA@" within an inserted text is not replaced.
    pieces = _asset("page.html").split("@")
    return "".join(parts.get(piece, piece) if at % 2 else piece for at, piece in enumerate(pieces))


def inline(tree: Dendrogram, height: int = 480) -> str:
    """Return HTML of the page for a notebook; trees of more than `MOST_INLINE` leaves are shown as text.

    The page is in a sandboxed frame, so that its scripts cannot access the notebook.
    """
    text = f"<code>{escape(repr(tree))}</code>"
    if tree.n_leaves > MOST_INLINE:
        return text
    return (
        f'<div>{text}<iframe title="Tree" sandbox="allow-scripts allow-downloads" allow="clipboard-write" '
        f'style="border: 1px solid #d5dade; height: {height}px; width: 100%" '
        f'srcdoc="{escape(page(tree), quote=True)}"></iframe></div>'
    )


def _asset(name: str) -> str:
    return (files("ordhc.plotting") / "page" / name).read_text(encoding="utf-8")


def _json(data: Any) -> str:
    """Return JSON that is safe within HTML, because `<`, `>` and `&` are escaped."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _nodes(tree: Dendrogram) -> dict[str, Any]:
    """Return the data of all nodes as columns, parents before their children."""
    n, shape = tree.n_leaves, shape_of(tree)
    labels = np.fromiter(shape.preorder(shape.root), dtype=np.int64)
    at = np.full(len(tree.parents), -1)
    at[labels] = np.arange(len(labels))
    above = np.array(shape.parents)[labels]
    positions = positions_of(tree)
    # `rank` is the order in which the page opens nodes: the last merge first. In a cladogram, which has no
    # order of merges, the nodes nearest to the root are opened first.
    rank = np.full(len(labels), -1)
    inner = np.flatnonzero(labels >= n)
    depth = np.zeros(len(labels))
    if positions.label is None:
        for node, parent in enumerate(at[above[1:]].tolist(), start=1):
            depth[node] = depth[parent] + 1
    rank[inner[np.lexsort((-labels[inner], depth[inner]))]] = np.arange(len(inner))
    names, inside = tree.labels, tree.node_names
    support: list[float | None] | None = None
    if tree.support is not None:
        shares = [math.nan if label < n else float(tree.support[label - n]) for label in labels.tolist()]
        support = [None if share != share else round(share, 4) for share in shares]
    return {
        "leaves": n,
        "label": positions.label,
        "word": "height" if tree.scale == "heights" else positions.label,
        "leaf_end": _short(positions.leaf_end),
        "root_end": _short(positions.root_end),
        "parent": np.where(above < 0, -1, at[above]).tolist(),
        "height": [_short(height) for height in positions.at[labels].tolist()],
        "support": support,
        "rank": rank.tolist(),
        "number": [label if label < n else None for label in labels.tolist()],
        "name": [
            names[label] if label < n else (inside[label - n] or "") if inside is not None else ""
            for label in labels.tolist()
        ],
    }


def _short(value: float) -> float:
    return float(f"{value:.9g}")
