"""Make or find the axes to draw in, and write figures into files."""

import io as bytes_io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ordhc import _checks
from ordhc._signals import interrupts_later
from ordhc.errors import InputError, MissingExtraError
from ordhc.plotting.palette import DARK, LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURES = (".svg", ".png", ".pdf")
MILLIMETRES = 25.4
#: Settings for files: text in SVG stays editable, and PDF embeds fonts as TrueType, as journals require.
EXPORT = {"svg.hashsalt": "ordhc", "svg.fonttype": "none", "pdf.fonttype": 42, "ps.fonttype": 42}
#: Characters that XML does not allow, but names can contain.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def need_matplotlib() -> Any:
    """Return the module matplotlib; raise `MissingExtraError` with the command to install it."""
    try:
        with interrupts_later():
            import matplotlib
            import matplotlib.figure
    except ImportError:
        raise MissingExtraError.of("a picture", "matplotlib", "plot") from None
    return matplotlib


@contextmanager
def matplotlib_settings(changes: Mapping[str, Any]) -> Iterator[None]:
    """Change Matplotlib's settings during the block, and restore only the changed settings.

    `matplotlib.rc_context` restores all settings, including "interactive". The first figure of a notebook
    switches interactive mode on. If `rc_context` switched interactive mode off again, notebooks would not
    show later figures.
    """
    settings = need_matplotlib().rcParams
    before = {name: settings[name] for name in changes}
    settings.update(changes)
    try:
        yield
    finally:
        settings.update(before)


def axes_for(
    ax: "Axes | None", size: tuple[float, float], *, theme: str | None = None, pyplot: bool = True
) -> "Axes":
    """Return the axes to draw in: `ax`, or pyplot's current axes if they are empty, or axes of a new figure.

    If pyplot cannot make a figure, because its backend needs a screen, the new figure is not managed by
    pyplot.

    `size` is the width and height of a new figure in inches. `theme` sets the background of the axes, and of
    their figure if it has no other axes; None does not change the background. With `pyplot=False` pyplot's
    current axes are ignored, and a new figure is not managed by pyplot.
    """
    need_matplotlib()
    if ax is not None:
        if not hasattr(ax, "transData"):
            raise InputError(f"ax is {_checks.quoted(ax)}, not axes of Matplotlib")
        found = ax
    else:
        found = _current(size) if pyplot else _new(size).add_subplot()
    figure = found.get_figure(root=True)
    if theme is not None and figure is not None:
        back = (DARK if theme == "dark" else LIGHT).background
        found.set_facecolor(back)
        if len(figure.axes) == 1:
            figure.set_facecolor(back)
    return found


def points_of(ax: "Axes") -> tuple[float, float]:
    """Return the approximate width and height of axes with labels, in points.

    The exact size is unknown until Matplotlib's layout engine runs.
    """
    figure = ax.get_figure(root=True)
    box = ax.get_window_extent()
    dots = 72.0 / (100.0 if figure is None else figure.dpi)
    if figure is not None and len(figure.axes) == 1 and figure.get_layout_engine() is not None:
        # The layout engine will stretch the only axes of a figure over the whole figure.
        return figure.bbox.width * dots * 0.98, max(figure.bbox.height * dots - 40, 10.0)
    return box.width * dots, box.height * dots


def _new(size: tuple[float, float]) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def _current(size: tuple[float, float]) -> "Axes":
    try:
        from matplotlib import pyplot

        if not pyplot.get_fignums() or pyplot.gca().has_data():
            pyplot.figure(figsize=size, layout="constrained")
        ax = pyplot.gca()
        figure = ax.get_figure(root=True)
        if figure is not None and len(figure.axes) == 1 and figure.get_layout_engine() is None:
            # Without a layout engine, long names would extend beyond the figure.
            figure.set_layout_engine("constrained")
        return ax
    except ImportError:
        return _new(size).add_subplot()


def picture_bytes(kind: str, draw: Callable[[], "Axes"], dpi: float = 150) -> bytes:
    """Return the figure that `draw` returns as an svg, png or pdf file; equal figures give equal bytes."""
    dpi = _checks.number("dpi", dpi, at_least=10, at_most=4800)
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    buffer = bytes_io.BytesIO()
    with matplotlib_settings(EXPORT), warnings.catch_warnings():
        if kind == "svg":
            # SVG files contain text. The viewer draws it with its own fonts, so glyphs can be missing here.
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = draw().get_figure(root=True)
        if figure is None:
            raise InputError("the axes are in no figure")
        # Level 3 is below the default: stronger compression would take longer than drawing the figure.
        packing: dict[str, Any] = {"pil_kwargs": {"compress_level": 3}} if kind == "png" else {}
        face = figure.get_facecolor()
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata, facecolor=face, **packing)
    made = buffer.getvalue()
    return _NO_XML.sub("\ufffd", made.decode()).encode() if kind == "svg" else made
