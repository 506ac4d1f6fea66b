"""Pages that include a file of the repository: links in the file are made to lead to pages of the site.

The links in README.md, ARCHITECTURE.md and the like are paths, so that they work in a clone and on a
repository's page. On the site a file that has a page of its own is replaced by this page.
"""

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
#: Pages of the site by the file that they include or stand for.
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "explanation/architecture.md",
    "CONTRIBUTING.md": "explanation/contributing.md",
    "CHANGELOG.md": "reference/changes.md",
}


def lead_to_pages(_app: Sphinx, path: Path, _parent: str, content: list[str]) -> None:
    """Rewrite the links of an included text as paths from the folder of all pages."""
    source = (DOCS / path).resolve().parent

    def rewritten(match: re.Match[str]) -> str:
        text, target, anchor = match.groups(default="")
        if target.startswith(("http:", "https:", "#")) or not target:
            return match[0]
        file = (source / target).resolve()
        if (known := PAGES.get(os.path.relpath(file, DOCS.parent))) is not None:
            file = DOCS / known
        if not file.is_relative_to(DOCS):
            # Files without a page, such as the licence, are only named.
            return text
        return f"[{text}](/{file.relative_to(DOCS)}{anchor})"

    content[0] = re.sub(r"(?<!!)\[([^\]]*)\]\(([^)#]*)(#[^)]*)?\)", rewritten, content[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Rewrite links when a text is included."""
    app.connect("include-read", lead_to_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
