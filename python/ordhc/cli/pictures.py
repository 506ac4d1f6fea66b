"""Show pictures of leaves in terminals with graphics."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ordhc._checks import on_one_line

if TYPE_CHECKING:
    from rich.console import Console

#: Heights in lines of the terminal: the space for text, the smallest picture and the largest picture.
_OTHERS, _LOWEST, _HIGHEST = 10, 3, 14


class Pictures:
    """A display of pictures, one above the other, for terminals with kitty's graphics or Sixels.

    The package textual-image asks the terminal for its graphics, and draws the pictures. `files` has the file
    of each leaf's picture, by the leaf's name.
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
        # Kitty's graphics encode the positions of a picture as colours, so colours must not be changed.
        self._console = Console(stderr=True, color_system="truecolor")

    def show(self, names: Sequence[str], n_all: int) -> None:
        """Show the pictures of the leaves `names`, and nothing for a leaf without a picture.

        The height of a picture depends on `n_all`, the number of leaves in the question.
        """
        if self._kind is None:
            return
        height = max(_LOWEST, min(_HIGHEST, (self._console.height - _OTHERS) // n_all))
        for name in names:
            if (path := self._files.get(name)) is None:
                continue
            try:
                self._console.print(self._kind(path, height=height, width="auto"))
            except Exception as error:
                # The file may be damaged. The name is shown anyway, so the interview continues.
                self._console.print(
                    on_one_line(f"     {path}: {error}"), style="dim", markup=False, highlight=False
                )


def _is_terminal(console: "Console") -> bool:
    files = (sys.__stdin__, sys.__stdout__)
    return console.is_terminal and all(file is not None and file.isatty() for file in files)
