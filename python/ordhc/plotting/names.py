"""Write the names of leaves and collapsed clusters beside a tree or around it."""

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ordhc.plotting.categories import Categories
from ordhc.plotting.figures import points_of
from ordhc.plotting.palette import Theme, readable
from ordhc.plotting.shapes import Rectangle, Shapes
from ordhc.plotting.sizes import longest_name
from ordhc.plotting.truncated import Truncated

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

#: The maximum number of names that are tick labels. More names are texts of the axes, which is much faster.
MOST_TICKS = 150


def write_names(
    ax: "Axes",
    drawn: Truncated,
    shapes: Shapes,
    names: list[str],
    columns: int,
    size: float,
    branches: Categories | None,
    taken: dict[int, int],
    inks: Theme,
    room: float = 0.0,
) -> None:
    """Write the names of the tips in the colours of their branches; names that are too long are cut.

    `room` is the space for pictures between tips and names, in points.
    """
    from matplotlib.text import Text
    from matplotlib.transforms import ScaledTranslation

    colours = [
        inks.ink
        if branches is None or id(tip) not in taken
        else readable(branches.colours[taken[id(tip)]], inks.background)
        for tip in drawn.tips
    ]
    if names and size:
        breadth, tallness = points_of(ax)
        whole = breadth if not isinstance(shapes, Rectangle) or shapes.sideways else tallness
        names = drawn.names(longest_name(shapes, whole, size))
    if not isinstance(shapes, Rectangle) or len(names) > MOST_TICKS:
        widest = max(names, key=len, default="")
        inches = ax.get_figure(root=True).dpi_scale_trans  # type: ignore[union-attr]
        kind = _plain_text() if len(names) > MOST_TICKS else Text
        for tip, name, colour in zip(drawn.tips, names if size else [], colours, strict=False):
            at = shapes.label(tip, columns)
            place = ax.transData
            if room:
                right, up = at.direction
                # Pictures are upright squares, which are longer in diagonal directions.
                away = room * (abs(right) + abs(up))
                place += ScaledTranslation(away * right / 72, away * up / 72, inches)
            text = kind(
                at.x,
                at.y,
                name,
                fontsize=size,
                color=colour,
                rotation=at.angle,
                rotation_mode="anchor",
                ha="right" if at.is_flipped else "left",
                va="center",
                parse_math=False,
                transform=place,
                clip_on=False,
            )
            # The layout engine measures only the widest name, which is enough and faster.
            text.set_in_layout(name == widest)
            ax.add_artist(text)
            # `add_artist` clips the text at the axes, unlike `Axes.text`, so remove the clip path.
            text.set_clip_path(None)
        if isinstance(shapes, Rectangle):
            (ax.yaxis if shapes.sideways else ax.xaxis).set_ticks([])
        return
    axis = ax.yaxis if shapes.sideways else ax.xaxis
    if names and size:
        axis.set_ticks_position(shapes.orientation)  # type: ignore[arg-type]
        axis.set_ticks([tip.place for tip in drawn.tips], labels=names, fontsize=size, parse_math=False)
        # `set_tick_params` also rotates labels at the top and the right, which Matplotlib hides by default.
        axis.set_tick_params(labelrotation=0 if shapes.sideways else 90, pad=2 + room)
        for text, colour in zip(axis.get_ticklabels(), colours, strict=True):
            text.set_color(colour)
    else:
        axis.set_ticks([])
    axis.set_tick_params(length=0)


@lru_cache(maxsize=1)
def _plain_text() -> "type[Text]":
    """Return a `Text` class for single lines, which skips the layout of lines and so draws twice as fast."""
    from matplotlib.colors import to_rgba
    from matplotlib.text import Text

    lines: dict[Any, float] = {}

    class Plain(Text):
        measured: tuple[Any, float] | None = None

        def draw(self, renderer: Any) -> None:
            if not self.get_visible() or not self.get_text():
                return
            prop, angle = self.get_fontproperties(), self.get_rotation()
            x, y = self.get_transform().transform(self.get_unitless_position()).tolist()
            # All names have the same font, so the height of a line is measured only once.
            key = (type(renderer), renderer.points_to_pixels(1.0), prop)
            if key not in lines:
                _, height, descent = renderer.get_text_width_height_descent("lp", prop, False)
                lines[key] = height / 2 - descent
            down, along = lines[key], 0.0
            if self.get_horizontalalignment() == "right":
                if self.measured is None or self.measured[0] != key:
                    width, _, _ = renderer.get_text_width_height_descent(self.get_text(), prop, False)
                    self.measured = key, width
                along = -self.measured[1]
            turn = math.radians(angle)
            x += along * math.cos(turn) + down * math.sin(turn)
            y += along * math.sin(turn) - down * math.cos(turn)
            if renderer.flipy():
                y = renderer.get_canvas_width_height()[1] - y
            context = renderer.new_gc()
            context.set_foreground(to_rgba(self.get_color()), isRGBA=True)
            renderer.open_group("text", self.get_gid())
            renderer.draw_text(context, x, y, self.get_text(), prop, angle, ismath=False, mtext=self)
            renderer.close_group("text")
            context.restore()
            self.stale = False

    return Plain
