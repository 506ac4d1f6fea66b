"""Markdown and HTML that others have written, made safe to show."""

import re

import nh3
from markdown_it import MarkdownIt

__all__ = ["cleaned", "from_markdown", "plain"]

_TAGS = set()
for _some in (
    "a abbr b blockquote br caption cite code dd del details dfn div dl dt em figcaption figure",
    "h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp small span strong",
    "sub summary sup table tbody td tfoot th thead tr u ul var wbr",
):
    _TAGS.update(_some.split())
_ATTRIBUTES = {
    "*": {"lang", "dir", "title"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "ol": {"start"},
}
_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def _own(element: str, attribute: str, value: str) -> str | None:
    """Pictures come from the study only; nothing of elsewhere is loaded."""
    if element == "img" and attribute == "src":
        # As browsers read it: without blanks before it and line ends within, and with `\\` for `/`.
        address = re.sub(r"[\t\n\r]|^[\x00-\x20]+", "", value)
        if re.match(r"[a-z][a-z0-9+.-]*:|[/\\]", address, re.IGNORECASE):
            return None
    return value


def cleaned(html: str) -> str:
    """HTML without anything that runs, loads from elsewhere or changes how the page looks.

    Examples
    --------
    >>> cleaned('<b onclick="x()">bold</b><script>alert(1)</script>')
    '<b>bold</b>'
    """
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_own,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def from_markdown(text: str) -> str:
    """Markdown as clean HTML.

    Examples
    --------
    >>> from_markdown("*soft* <script>alert(1)</script>")
    '<p><em>soft</em> </p>\\n'
    """
    return cleaned(_MARKDOWN.render(text))


def plain(html: str) -> str:
    """The text of clean HTML, on one line."""
    from html import unescape

    return " ".join(unescape(re.sub(r"<[^<>]*>", " ", html)).split())
