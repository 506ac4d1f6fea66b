"""Pages of the gallery whose source has gone are removed, or Sphinx would still show them."""

import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx


def remove(app: Sphinx) -> None:
    """Remove what was made of examples that aren't there any more."""
    gallery = app.config.sphinx_gallery_conf
    for sources, pages in zip(gallery["examples_dirs"], gallery["gallery_dirs"], strict=True):
        source, folder = Path(app.srcdir) / sources, Path(app.srcdir) / pages
        kept = {file.stem for file in source.glob("*.py")} | {"index", f"{folder.name}_jupyter"}
        for file in folder.glob("*"):
            if file.is_dir() and file.name != "images":
                shutil.rmtree(file)
            elif file.is_file() and file.name.split(".")[0] not in kept:
                file.unlink()


def setup(app: Sphinx) -> dict[str, Any]:
    """Before the gallery is made."""
    app.connect("builder-inited", remove, priority=100)
    return {"parallel_read_safe": True}
