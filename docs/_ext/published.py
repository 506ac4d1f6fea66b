"""Links to the site's own address lead to its pages, and are checked.

What is read elsewhere, too (the README, those of plugins, the changelog), names pages by their published
address.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

_LOG = logging.getLogger(__name__)


def resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Turn addresses of pages into relative links."""
    base = app.config.html_baseurl
    for node in doctree.findall(nodes.reference):
        address = node.get("refuri", "")
        if not address.startswith(base) or app.builder.format != "html":
            continue
        page, _, anchor = address.removeprefix(base).partition("#")
        if page.startswith("rust/"):
            node["refuri"] = app.builder.get_relative_uri(docname, "index").removesuffix("index.html") + page
            continue
        target = (page or "index.html").removesuffix(".html")
        target = f"{target}index" if target.endswith("/") else target
        if target not in app.env.found_docs:
            _LOG.warning("no such page: %s", address, location=node, type="published")
            continue
        uri = app.builder.get_relative_uri(docname, target)
        node["refuri"] = f"{uri}#{anchor}" if anchor else uri
        node["internal"] = True


def setup(app: Sphinx) -> dict[str, Any]:
    """After all other links are resolved."""
    app.connect("doctree-resolved", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
