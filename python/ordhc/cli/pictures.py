"""Pictures of leaves, in terminals that show some."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ordhc._checks import on_one_line

if TYPE_CHECKING:
    from rich.console import Console

#: Lines of the terminal below the pictures, and the smallest and largest height of a picture in lines.
_OTHERS, _LOWEST, _HIGHEST = 10, 3, 14


class Pictures:
    """What shows pictures above each other, where the terminal knows graphics as kitty's or Sixels.

    The terminal is asked; textual-image does that, and the rest.
    """

    def __init__(self, files: Mapping[str, Path], console: "Console") -> None:
        self._files = files
        self._kind: Any = None
        if not files or not _is_terminal(console):
            return
        try:
            from textual_image import renderable
        except ImportError:
            needed = "Pictures at the terminal need: pip install 'ordhc[pictures]'"
            console.print(needed, style="dim", markup=False)
            return
        if renderable.Image not in (renderable.SixelImage, renderable.TGPImage):
            console.print("[dim]This terminal shows no pictures: here are the names.[/dim]")
            return
        from rich.console import Console

        self._kind = renderable.Image
        # Kitty is told by colours where a picture goes: they must arrive as they are.
        self._console = Console(stderr=True, color_system="truecolor")

    def show(self, names: Sequence[str], n_all: int) -> None:
        """The pictures of some leaves, of `n_all` that are shown together; nothing where there is none."""
        if self._kind is None:
            return
        height = max(_LOWEST, min(_HIGHEST, (self._console.height - _OTHERS) // n_all))
        for name in names:
            if (path := self._files.get(name)) is None:
                continue
            try:
                self._console.print(self._kind(path, height=height, width="auto"))
            except Exception as error:
                # A damaged file, an odd terminal: the name is there, and the interview goes on.
                self._console.print(
                    on_one_line(f"     {path}: {error}"), style="dim", markup=False, highlight=False
                )


def _is_terminal(console: "Console") -> bool:
    files = (sys.__stdin__, sys.__stdout__)
    return console.is_terminal and all(file is not None and file.isatty() for file in files)
