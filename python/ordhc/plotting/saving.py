"""Write trees into files: pictures, and html pages to explore."""

import os
from inspect import signature
from pathlib import Path
from typing import Any

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.io.paths import checked_path
from ordhc.plotting.drawing import checked_options, options_of_pictures, plot_dendrogram
from ordhc.plotting.figures import PICTURES, picture_bytes
from ordhc.plotting.pages import PAGES, page
from ordhc.tree.dendrogram import Dendrogram


def save_plot(tree: Dendrogram, path: str | os.PathLike[str], **options: Any) -> None:
    """Draw a tree into a file; `Dendrogram.savefig` documents the formats, the options and the errors.

    Examples
    --------
    >>> import ordhc
    >>> d = ordhc.Dendrogram([(0, 1)], [0.5])
    >>> save_plot(d, "tree.pdf", texts={"0": "purrs"})
    Traceback (most recent call last):
    ordhc.errors.InputError: texts is an option of html pages; .pdf files have no such option
    """
    from ordhc.io.files import write_bytes
    from ordhc.io.paths import name_of

    suffix = Path(checked_path(path)).suffix.lower()
    drawn, shown = [*options_of_pictures(), "dpi"], list(signature(page).parameters)[1:]
    if suffix in PAGES:
        _check_options_of_pages(options, shown, drawn)
        write_bytes(path, page(tree, **options).encode())
        return
    if suffix not in PICTURES:
        raise InputError(f"the ending is none of {', '.join((*PICTURES, *PAGES))}", path=name_of(path))
    for name in options:
        if name in shown and name not in drawn:
            raise InputError(f"{name} is an option of html pages; {suffix} files have no such option")
    checked_options(options, "dpi")
    dpi = options.pop("dpi", 150)
    write_bytes(path, picture_bytes(suffix[1:], lambda: plot_dendrogram(tree, **options), dpi))


def _check_options_of_pages(given: dict[str, Any], shown: list[str], drawn: list[str]) -> None:
    has = f"an html page has {', '.join(shown[:-1])} and {shown[-1]}"
    for name in given:
        if name in shown:
            continue
        if name in drawn:
            raise InputError(f"{name} is an option of svg, png and pdf files; {has}")
        raise InputError(f"{_checks.unknown_option('a page', name, shown)}; {has}")
