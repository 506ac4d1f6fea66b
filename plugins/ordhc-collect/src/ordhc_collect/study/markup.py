"""Make Markdown and HTML of untrusted authors safe to show."""

import re
from collections.abc import Callable

import nh3
from markdown_it import MarkdownIt

#: A function that maps a picture's source in a text to the picture's URL; None omits the picture.
Picture = Callable[[str], str | None]

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


def is_elsewhere(address: str) -> bool:
    """Return True if the address of a picture leads to a place outside of the study."""
    # Browsers ignore leading blanks and inner line ends, and treat `\\` as `/`.
    address = re.sub(r"[\t\n\r]|^[\x00-\x20]+", "", address)
    return re.match(r"[a-z][a-z0-9+.-]*:|[/\\]", address, re.IGNORECASE) is not None


def _as_it_is(address: str) -> str | None:
    return None if is_elsewhere(address) else address


def cleaned(html: str, picture: Picture = _as_it_is) -> str:
    """Return HTML without scripts, styles, and pictures from outside of the study.

    Examples
    --------
    >>> cleaned('<b onclick="x()">bold</b><script>alert(1)</script>')
    '<b>bold</b>'
    """

    def own(element: str, attribute: str, value: str) -> str | None:
        return picture(value) if element == "img" and attribute == "src" else value

    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=own,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def from_markdown(text: str, picture: Picture = _as_it_is) -> str:
    """Convert Markdown to clean HTML; `picture` is a function from file names to addresses of pictures.

    Examples
    --------
    >>> from_markdown("*soft* <script>alert(1)</script>")
    '<p><em>soft</em> </p>\\n'
    """
    return cleaned(_MARKDOWN.render(text), picture)


def plain(html: str) -> str:
    """Return the text of clean HTML, on one line."""
    from html import unescape

    return " ".join(unescape(re.sub(r"<[^<>]*>", " ", html)).split())
