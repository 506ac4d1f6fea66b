"""Compute the sizes of figures and names."""

import numpy as np

from ordhc import _checks
from ordhc.plotting.figures import MILLIMETRES
from ordhc.plotting.shapes import Rectangle, Shapes
from ordhc.plotting.truncated import Truncated

#: The limits of the automatic font size of names, in points. `font_size` can exceed them.
SMALLEST, LARGEST = 3.0, 10.0


def figure_size(
    drawn: Truncated,
    shapes: Shapes,
    names: list[str],
    width: float | None,
    height: float | None,
    row: float = 0.0,
) -> tuple[float, float]:
    """Return the width and height of a new figure in inches; `width` and `height` are in millimetres.

    `row` is the smallest space for a leaf, in points.
    """
    given = [
        None if value is None else _checks.number(what, value, at_least=10, at_most=10_000) / MILLIMETRES
        for what, value in (("width", width), ("height", height))
    ]
    longest = max(map(len, names), default=0)
    font = float(np.clip(640 / drawn.width, 6.0, LARGEST))
    if isinstance(shapes, Rectangle):
        # Figures narrower than 5 inches have small names, to leave space for the tree.
        narrow = given[0] if shapes.sideways else given[1]
        if narrow is not None and narrow < 5:
            font = min(font, 7.0)
        room = float(np.clip(drawn.width * max(font * 1.32, row) / 72, 1.2, 60.0)) + 0.8
        depth = 6.0 + 0.0065 * font * longest
        own = (depth, room) if shapes.sideways else (room, depth)
    else:
        # Circular trees with many leaves have small names, so that the figure does not become too large.
        font = float(np.clip(640 / drawn.width, 4.0, LARGEST))
        around = (
            max(drawn.width * max(font * 1.25, row) / 72 / np.pi, 3.5) + 2 * row / 72 + 0.015 * font * longest
        )
        side = given[0] or given[1] or float(min(around, 40.0))
        own = (side, side)
    return given[0] or own[0], given[1] or own[1]


def longest_share(shapes: Shapes) -> float:
    """Return the upper limit of (number of characters of a name * font size / width of the axes)."""
    return 0.42 / 0.55 if isinstance(shapes, Rectangle) else 0.24 / 0.55


def longest_name(shapes: Shapes, points: float, size: float) -> int:
    return int(np.clip(longest_share(shapes) * points / size, 6, 60))
