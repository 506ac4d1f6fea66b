"""How pictures of the site look: the same for examples and pages."""

from typing import Any

#: Settings of Matplotlib.
STYLE = {
    "figure.figsize": (7.2, 4.6),
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    "savefig.facecolor": "white",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "svg.fonttype": "path",
    "svg.hashsalt": "ordhc",
    "legend.frameon": False,
}


def reset(gallery_conf: dict[str, Any], name: str) -> None:
    """Begin each example with the same settings."""
    import matplotlib

    matplotlib.rcParams.update(STYLE)
