"""The public API of the crate as its documentation shows it, compared with the committed listing.

cargo doc --package ordhc --no-deps
python .ci/public_api.py [--write]
"""

import difflib
import html
import re
import sys
from pathlib import Path

DOCUMENTATION = Path("target/doc/ordhc")
LISTING = Path("rust/ordhc/public-api.txt")
#: Sections of a page that repeat the declaration, or say what the type's author did not write.
LEFT_OUT = (
    "variants",
    "fields",
    "synthetic-implementations",
    "blanket-implementations",
    "implementors",
    "deref-methods",
)

_PARTS = re.compile(
    r'<h2 id="(?P<section>[\w-]+)"'
    r'|<pre class="rust item-decl"><code>(?P<item>.*?)</code></pre>'
    r'|<(?P<tag>h[34]) class="code-header">(?P<header>.*?)</(?P=tag)>',
    re.DOTALL,
)


def text_of(markup: str) -> str:
    """Code without links and comments, on one line."""
    markup = re.sub(
        r'<div class="docblock.*?</div>|<span class="comment">.*?</span>', "", markup, flags=re.DOTALL
    )
    plain = html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"</div>|<br>", " ", markup)))
    return " ".join(plain.split())


def page(path: Path) -> list[str]:
    """Return the declaration of an item, its own methods and its traits."""
    place = ".".join(path.relative_to(DOCUMENTATION).with_suffix("").parts)
    found: list[str] = []
    section = ""
    for part in _PARTS.finditer(path.read_text(encoding="utf-8")):
        if part["section"]:
            section = part["section"]
        elif part["item"]:
            found.append(text_of(part["item"]))
        elif not section.startswith(LEFT_OUT):
            is_method = part["tag"] == "h4"
            if not (is_method and section.startswith("trait-implementations")):
                found.append(text_of(part["header"]))
    return [f"{place}: {line}" for line in dict.fromkeys(found)]


def listing() -> list[str]:
    """All lines, sorted by item."""
    # Pages of items that are gone may still lie there; this one is always new.
    names = re.findall(
        r'<li><a href="([\w/.]+\.html)"', (DOCUMENTATION / "all.html").read_text(encoding="utf-8")
    )
    return [line for name in sorted(set(names)) for line in page(DOCUMENTATION / name)]


def main() -> int:
    """Compare the listing, or write it."""
    found = "\n".join(listing()) + "\n"
    if "--write" in sys.argv[1:]:
        LISTING.write_text(found, encoding="utf-8")
        return 0
    known = LISTING.read_text(encoding="utf-8")
    changes = list(
        difflib.unified_diff(known.splitlines(), found.splitlines(), "committed", "now", lineterm="", n=0)
    )
    if changes:
        print(*changes, sep="\n")
        print(f"the public API is another than in {LISTING}: `make api` writes the listing anew")
    return int(bool(changes))


if __name__ == "__main__":
    sys.exit(main())
