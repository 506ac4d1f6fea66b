"""The room of axes, shared by a matrix, the tree beside it, a colour bar below it and names."""

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["Room"]

#: Inches: between parts, the thickness of a colour bar, and the room for its numbers and its name.
GAP, BAR, BELOW = 0.06, 0.1, 0.36
#: Beyond the matrix if there are no names, for half of the last number of the colour bar.
END = 0.15
#: The tree's part of the width.
TREE = 0.27


class Room:
    """A grid in the place of axes, which move to its middle.

    From left to right it holds the tree, a gap, the matrix and the names; from top to bottom a legend, the
    matrix, a gap, the colour bar and its numbers. It measures texts, unless a layout engine makes room for
    them.
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
        self._grid = GridSpecFromSubplotSpec(5, 4, spec, wspace=0, hspace=0)
        self._beside: Axes | None = None
        self._below: Axes | None = None

    def beside(self) -> "Axes":
        """The axes of the tree."""
        self._beside = self.figure.add_subplot(self._grid[1, 0])
        # The size of its texts follows that of the axes.
        self.share()
        return self._beside

    def below(self) -> "Axes":
        """The axes of the colour bar."""
        self._below = self.figure.add_subplot(self._grid[3, 2])
        return self._below

    def share(self) -> None:
        """Give every part as much as it needs."""
        tree = TREE * self.width
        names = END
        if self.ax.get_yticklabels():
            names = 0.0 if self.has_engine else self._names()
        legend = None if self._beside is None else self._beside.get_legend()
        above = 0.0
        if legend is not None:
            legend.set_in_layout(False)
            above = legend.get_window_extent().height / self._dpi + 2 * GAP
        bar = [0.0, 0.0, 0.0] if self._below is None else [GAP, BAR, 0.0 if self.has_engine else BELOW]
        used = above + sum(bar)
        # Zeros would divide by zero.
        rows = [above, max(self.height - used, 0.3 * self.height), *bar]
        parts = [tree, GAP, max(self.width - tree - GAP - names, 0.3 * self.width), names]
        self._grid.set_height_ratios([max(part, 1e-6) for part in rows])
        self._grid.set_width_ratios([max(part, 1e-6) for part in parts])
        for each, spec in ((self.ax, (1, 2)), (self._beside, (1, 0)), (self._below, (3, 2))):
            if each is not None:
                each.set_subplotspec(self._grid[spec])
                if self._is_free:
                    each.set_in_layout(False)

    def _names(self) -> float:
        """The width of the longest name, in inches."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            widths = [label.get_window_extent().width for label in self.ax.get_yticklabels()]
        return max(widths) / self._dpi + GAP
