"""Read the items of a study (text, Markdown, pictures, sound, video) from a folder or a table."""

import csv
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ordhc_collect.study.markup import Picture, from_markdown, plain
from ordhc_collect.study.media import MEDIA, Pictures, has_copies, is_shown
from ordhc_collect.study.sections import Problems, Section, confined, suggestion, text_of

_TEXTS = {".txt": "text", ".md": "markdown"}
_COLUMNS = ("id", "text", "markdown", *MEDIA, "alt")
#: Maximum number of characters of an item's text.
_LONG_TEXT = 20_000
#: The size of a file in bytes above which a warning is shown.
_LARGE_FILE = 5_000_000


@dataclass(frozen=True)
class Item:
    """An item that people compare.

    Attributes
    ----------
    html
        The item's text as clean HTML, or None.
    files
        The item's files by kind: "picture", "sound" or "video".
    others
        Further formats of sound and video. The keys are the ends of their URLs: "sound.ogg", "video.webm".
    alt
        A description of the picture, for people who cannot see it.
    """

    name: str
    html: str | None
    files: dict[str, Path]
    alt: str
    others: dict[str, Path] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The text that a screen reader reads."""
        return self.alt or self.name

    def sources(self, kind: str) -> list[tuple[str, str]]:
        """Return the formats of the item's sound or video: the end of each URL, and its MIME type."""
        found = {kind: self.files[kind]} if kind in self.files else {}
        found |= {name: path for name, path in self.others.items() if name.partition(".")[0] == kind}
        return [(name, MEDIA[kind][path.suffix.lower()]) for name, path in found.items()]

    def add(self, kind: str, path: Path) -> bool:
        """Add a file; return False if the item has a picture, or a file of this kind and format, already."""
        if kind not in self.files:
            self.files[kind] = path
            return True
        name = f"{kind}{path.suffix.lower()}"
        known = {self.files[kind].suffix.lower(), *(other.suffix.lower() for other in self.others.values())}
        if kind == "picture" or path.suffix.lower() in known:
            return False
        self.others[name] = path
        return True


def items_of(section: Section, root: Path, pictures: Pictures, problems: Problems) -> tuple[Item, ...]:
    """Return the items of the section [items]; pictures in their Markdown are added to `pictures`."""
    folder = section.path("folder", root, is_folder=True)
    table = section.path("table", root)
    section.close()
    if "folder" in section and "table" in section:
        problems.error("[items]", "has a folder and a table; give only one of them")
        return ()
    if folder is not None:
        found = _of_folder(folder, root, pictures, problems)
        place = f"[items] folder = {folder.name!r}"
    elif table is not None:
        found = _of_table(table, root, pictures, problems)
        place = f"[items] table = {table.name!r}"
    else:
        if "folder" not in section and "table" not in section:
            section.missing("folder", 'name a folder of files (folder = "pictures") or a table (table = ...)')
        return ()
    for name, count in Counter(item.name for item in found).items():
        if count > 1:
            problems.error(place, f"{count} items are called {name!r}; names must be different")
    if len(found) < 3:
        problems.error(place, f"has {len(found)} items; questions need at least 3")
    for item in found:
        for kind, path in (*item.files.items(), *item.others.items()):
            if path.stat().st_size > _LARGE_FILE and not (kind == "picture" and has_copies(path)):
                size = path.stat().st_size / 1e6
                problems.warn(place, f"{path.name} has {size:.0f} MB: people with slow connections will wait")
            elif not path.stat().st_size:
                problems.error(place, f"{path.name} is empty")
            elif kind == "picture" and not is_shown(path):
                problems.error(place, f"{path.name} is not a picture that browsers can show")
    return tuple(found)


def _described(item: Item, fields: dict[str, str], picture: Picture) -> Item:
    html = None
    if fields.get("markdown"):
        html = from_markdown(fields["markdown"], picture)
    elif fields.get("text"):
        escaped = fields["text"].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        html = "<br>".join(escaped.splitlines())
    alt = fields.get("alt") or (plain(html)[:200] if html and not item.files else "")
    return replace(item, html=html, alt=alt)


def _of_folder(folder: Path, root: Path, pictures: Pictures, problems: Problems) -> list[Item]:
    """Return the items in a folder; files whose names differ only in the ending belong to one item."""
    kinds = {ending: kind for kind, endings in MEDIA.items() for ending in endings}
    fields: dict[str, dict[str, str]] = {}
    items: dict[str, Item] = {}
    passed = []
    for path in sorted(folder.iterdir(), key=lambda path: _natural(path.name)):
        ending = path.suffix.lower()
        if path.name.startswith(".") or path.is_dir():
            continue
        place = f"[items] folder = {folder.name!r}"
        if ending not in kinds and ending not in _TEXTS:
            passed.append(path.name)
            continue
        if confined(str(path.relative_to(root)), root, place, problems) is None:
            continue
        name = path.stem
        item = items.setdefault(name, Item(name, None, {}, ""))
        if ending in _TEXTS:
            text = text_of(path, place, problems, _LONG_TEXT) or ""
            fields.setdefault(name, {})[_TEXTS[ending]] = text.strip()
        elif not item.add(kinds[ending], path):
            problems.error(place, f"{path.name}: {name!r} has two {kinds[ending]} files; remove one of them")
    if passed:
        listed = ", ".join(passed[:5]) + (", ..." if len(passed) > 5 else "")
        problems.warn(f"[items] folder = {folder.name!r}", f"ignores files of unknown kinds: {listed}")
    shown = pictures.beside(folder, f"[items] folder = {folder.name!r}")
    return [_described(item, fields.get(name, {}), shown) for name, item in items.items()]


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key by which "item2" comes before "item10"."""
    return [
        (0, int(part), "") if part.isdigit() and part.isascii() else (1, 0, part.casefold())
        for part in re.split(r"([0-9]+)", name)
        if part
    ]


def _of_table(table: Path, root: Path, pictures: Pictures, problems: Problems) -> list[Item]:
    place = f"[items] table = {table.name!r}"
    found = []
    for line, row in rows_of_table(table, place, problems, ("id",), _COLUMNS):
        name = row.get("id", "")
        if not name:
            problems.error(f"{place}, line {line}", "the id is empty")
            continue
        item = Item(name, None, {}, "")
        for kind, endings in MEDIA.items():
            for file in filter(None, (part.strip() for part in row.get(kind, "").split(";"))):
                inside = str(table.parent.relative_to(root.resolve()) / file)
                path = confined(inside, root, f"{place}, line {line}, {kind}", problems)
                if path is not None and path.suffix.lower() not in endings:
                    kinds = ", ".join(endings)
                    problems.error(
                        f"{place}, line {line}", f"{path.name} is not a {kind} of a known format: {kinds}"
                    )
                elif path is not None and not item.add(kind, path):
                    problems.error(f"{place}, line {line}", f"{path.name} is a second {kind} of its format")
        if not (item.files or row.get("text") or row.get("markdown")):
            row["text"] = name
        found.append(_described(item, row, pictures.beside(table.parent, f"{place}, line {line}")))
    return found


def rows_of_table(
    path: Path, place: str, problems: Problems, needed: Iterable[str], known: Iterable[str]
) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a csv file, each as a line number and a dict of its cells.

    `place` is the name of the file in messages. A missing column of `needed` is an error, and a column
    that is not in `known` gives a warning.
    """
    known = tuple(known)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head = file.readline()
            file.seek(0)
            delimiter = max(",;\t", key=head.count)
            reader = csv.DictReader(file, delimiter=delimiter, strict=True)
            names = [name.strip() for name in reader.fieldnames or ()]
            reader.fieldnames = names
            for name in needed:
                if name not in names:
                    problems.error(
                        place, f"has no column {name!r}; it has {', '.join(names) or 'no columns'}"
                    )
                    return []
            for name in names:
                if name not in known:
                    problems.warn(place, f"column {name!r} is not used; {suggestion(name, known)}")
            rows = []
            for row in reader:
                if None in row:
                    problems.error(
                        f"{place}, line {reader.line_num}", "has more cells than there are columns"
                    )
                cells = {key: (value or "").strip() for key, value in row.items() if isinstance(key, str)}
                if any(cells.values()):
                    rows.append((reader.line_num, cells))
            return rows
    except UnicodeDecodeError:
        problems.error(place, "is not UTF-8 text; save it as UTF-8")
    except (csv.Error, OSError) as error:
        problems.error(place, f"cannot be read ({error})")
    return []
