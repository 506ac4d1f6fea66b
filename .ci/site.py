"""The built site: no page loads anything from elsewhere, links lead somewhere, every public name has a page.

python .ci/site.py [FOLDER]
"""

import os
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
#: Modules whose names are public.
MODULES = [
    "commands",
    "datasets",
    "errors",
    "hooks",
    "io",
    "learners",
    "metrics",
    "oracles",
    "plots",
    "progress",
    "specs",
]
MODULES = ["ordhc", *(f"ordhc.{name}" for name in [*MODULES, "testing", "testing.strategies"])]
#: Pages that are looked at in a browser.
SHOWN = ("index.html", "start.html", "guide.html", "gallery/index.html", "howto/how-many-answers.html")
SHOWN += ("tutorials/pages/study.html", "reference/api/ordhc.cluster.html", "reference/commands/cluster.html")
#: Attributes whose addresses a page loads by itself, by element.
LOADS = {
    "link": "href",
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
}
#: The kinds of <link> that are loaded.
LOADED = {
    "stylesheet",
    "icon",
    "preload",
    "modulepreload",
    "shortcut icon",
    "manifest",
    "prefetch",
    "preconnect",
}


class Page(HTMLParser):
    """The addresses of a page: what it loads, where it links to, what others may link to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses of an element."""
        found = {key: value or "" for key, value in attrs}
        self.anchors.update(found[key] for key in ("id", "name") if key in found)
        address = found.get(LOADS.get(tag, ""), "")
        if address and (tag != "link" or found.get("rel", "") in LOADED):
            self.loads.append(address)
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        self.loads.extend(styled(found.get("style", "")))


def styled(text: str) -> list[str]:
    """Return the addresses that a style sheet loads."""
    return [address.strip("'\" ") for address in re.findall(r"url\(([^)]*)\)|@import\s+", text) if address]


def elsewhere(address: str) -> bool:
    """Whether an address leads to another server."""
    return bool(urlsplit(address).netloc)


def loads(folder: Path) -> Iterator[str]:
    """Yield what pages and style sheets load from other servers, or cannot find."""
    for file in folder.rglob("*.css"):
        for address in styled(file.read_text(encoding="utf-8")):
            if elsewhere(address):
                yield f"{file}: loads {address}"
    for file in pages(folder):
        for address in Page(file.read_text(encoding="utf-8")).loads:
            if elsewhere(address):
                yield f"{file}: loads {address}"
            elif not_there(folder, file, address):
                yield f"{file}: {address} isn't there"


def not_there(folder: Path, file: Path, address: str) -> bool:
    """Whether a page would miss a file; rustdoc names some of other crates that aren't documented here."""
    if address.startswith("data:") or file.is_relative_to(folder / "rust"):
        return False
    return not (file.parent / path_of(address)).exists()


def links(folder: Path) -> Iterator[str]:
    """Links within the site that lead nowhere; rustdoc has checked its own."""
    known: dict[Path, Page] = {}
    for file in pages(folder):
        if file.is_relative_to(folder / "rust"):
            continue
        page = known.setdefault(file, Page(file.read_text(encoding="utf-8")))
        for address in page.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / path_of(address)).resolve() if parts.path else file
            if not target.exists():
                yield f"{file}: {address} leads nowhere"
            elif parts.fragment and target.suffix == ".html":
                other = known.get(target) or known.setdefault(
                    target, Page(target.read_text(encoding="utf-8"))
                )
                if unquote(parts.fragment) not in other.anchors and "/rust/" not in str(target):
                    yield f"{file}: there is no {address}"


def path_of(address: str) -> str:
    """Return the path of an address."""
    return unquote(urlsplit(address).path)


def pages(folder: Path) -> Iterator[Path]:
    """All pages, without templates of the theme, files to download and rustdoc's views of sources."""
    passed = ("_static/", "_downloads/", "rust/src/")
    return (
        file
        for file in sorted(folder.rglob("*.html"))
        if not str(file.relative_to(folder)).startswith(passed)
    )


def names(folder: Path) -> Iterator[str]:
    """Public names without a page."""
    described = {
        anchor
        for file in (folder / "reference/api").glob("*.html")
        for anchor in Page(file.read_text(encoding="utf-8")).anchors
    }
    for module in MODULES:
        if f"module-{module}" not in described and module != "ordhc":
            yield f"{module} has no page"
        for name in import_module(module).__all__:
            if not {f"{module}.{name}", f"ordhc.{name}", f"module-{module}.{name}"} & described:
                yield f"{module}.{name} has no page"


def in_a_browser(folder: Path) -> Iterator[str]:
    """Yield what fails in a browser without a server: requests, errors, pages too wide, no way to search."""
    sys.path.insert(0, str(ROOT / "tests"))
    from playwright.sync_api import sync_playwright

    from support.browsers import browser_path

    if browser_path() is None:
        print("no browser: not looked at in one")
        return
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=browser_path(), args=options)
        asked: list[str] = []
        for width in (1280, 390):
            tab = browser.new_page(viewport={"width": width, "height": 900})
            tab.on("request", lambda request: asked.append(request.url))
            tab.on("pageerror", lambda error: asked.append(f"error: {error}"))
            for name in SHOWN:
                tab.goto((folder / name).as_uri())
                if tab.evaluate("document.documentElement.scrollWidth") > width:
                    yield f"{name}: wider than a window of {width} pixels"
            tab.close()
        # Summaries of what is found can't be fetched from files; titles are in the index.
        tab = browser.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto((folder / "search.html").as_uri() + "?q=linkage")
        tab.wait_for_selector("#search-results li", timeout=20_000)
        if not tab.locator("#search-results a[href*='ordhc.linkage']").count():
            yield "searching for linkage doesn't find ordhc.linkage"
        yield from (url for url in asked if not url.startswith(("file:", "data:")))
        browser.close()


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    os.environ.setdefault("ORDHC_PLUGINS", "")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs/_build/html").resolve()
    if not (folder / "index.html").exists():
        sys.exit(f"{folder}: no site; make docs")
    wrong = [*loads(folder), *links(folder), *names(folder), *in_a_browser(folder)]
    for line in wrong:
        print(line)
    if not wrong:
        print(f"{sum(1 for _ in pages(folder)):,} pages: nothing from elsewhere, no dead link, all names")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
