"""Divide the area of axes between a matrix, the tree beside it, a colour bar below it, and names."""

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

#: In inches: the gap between parts of the grid, the thickness of the colour bar, and the space below the bar
#: for the numbers and the title of the bar.
GAP, BAR, BELOW = 0.06, 0.1, 0.36
#: In inches: the space right of a matrix without names, for half of the colour bar's last number.
END = 0.15
#: The width of the tree, as a fraction of the whole width.
TREE = 0.27
#: The height of the tree of the columns, as a fraction of the whole height.
UPPER = 0.16
#: The row and the column of each part of the grid.
_PLACES = {"matrix": (2, 2), "tree": (2, 0), "column tree": (1, 2), "colour bar": (5, 2)}


class Grid:
    """A grid that replaces axes. The axes move into the middle of the grid, and hold the matrix.

    The columns of the grid are the tree, a gap, the matrix and the names. The rows are a legend, the tree of
    the columns, the matrix, the names of the columns, a gap, the colour bar and its numbers. `Grid` measures
    the texts to find the sizes of these parts, unless a layout engine of Matplotlib does that.
    """

    def __init__(self, ax: "Axes") -> None:
        from matplotlib.gridspec import GridSpec, GridSpecFromSubplotSpec

        self.ax = ax
        figure = ax.get_figure(root=False)
        root = ax.get_figure(root=True)
        assert figure is not None
        assert root is not None
        self.figure: Figure | SubFigure = figure
        self._dpi = root.dpi
        spec = ax.get_subplotspec()
        self.has_engine = root.get_layout_engine() is not None and spec is not None
        box = root.bbox if self.has_engine and len(root.axes) == 1 else ax.get_window_extent()
        self.width, self.height = box.width / root.dpi, box.height / root.dpi
        if spec is None:
            place = ax.get_position(original=True)
            sides = {"left": place.x0, "right": place.x1, "bottom": place.y0, "top": place.y1}
            whole = GridSpec(1, 1, figure, **sides)  # type: ignore[arg-type]
            spec = whole[0]
        self._is_free = ax.get_subplotspec() is None
        self._grid = GridSpecFromSubplotSpec(7, 4, spec, wspace=0, hspace=0)
        self._parts = {"matrix": ax}

    def add(self, part: str) -> "Axes":
        """Return new axes for a part, a key of `_PLACES`."""
        self._parts[part] = self.figure.add_subplot(self._grid[_PLACES[part]])
        # The axes get their final size now, because the sizes of the tree's texts depend on it.
        self.share()
        return self._parts[part]

    def share(self) -> None:
        """Give the tree, the matrix, the names and the colour bar the space that they need."""
        tree = TREE * self.width
        names, under = END, 0.0
        if self.ax.get_yticklabels():
            names = 0.0 if self.has_engine else self._extent("y")
        if self.ax.get_xticklabels() and not self.has_engine:
            under = self._extent("x")
        legend = self._parts["tree"].get_legend() if "tree" in self._parts else None
        above = 0.0
        if legend is not None:
            legend.set_in_layout(False)
            above = legend.get_window_extent().height / self._dpi + 2 * GAP
        bar = [GAP, BAR, 0.0 if self.has_engine else BELOW] if "colour bar" in self._parts else [0.0] * 3
        upper = UPPER * self.height if "column tree" in self._parts else 0.0
        used = above + upper + under + sum(bar)
        # Matplotlib divides by these sizes, so they must not be 0.
        rows = [above, upper, max(self.height - used, 0.3 * self.height), under, *bar]
        parts = [tree, GAP, max(self.width - tree - GAP - names, 0.3 * self.width), names]
        self._grid.set_height_ratios([max(part, 1e-6) for part in rows])
        self._grid.set_width_ratios([max(part, 1e-6) for part in parts])
        for part, axes in self._parts.items():
            axes.set_subplotspec(self._grid[_PLACES[part]])
            if self._is_free:
                axes.set_in_layout(False)

    def _extent(self, axis: str) -> float:
        labels = self.ax.get_yticklabels() if axis == "y" else self.ax.get_xticklabels()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            boxes = [label.get_window_extent() for label in labels]
        return max(box.width if axis == "y" else box.height for box in boxes) / self._dpi + GAP
