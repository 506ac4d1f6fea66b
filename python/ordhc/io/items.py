"""Read the names of leaves, and the files of their pictures if there are any."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ordhc._checks import quoted
from ordhc.errors import InputError
from ordhc.io.files import read_bytes
from ordhc.io.guard import reading
from ordhc.io.names import names_file, read_names, usual_column
from ordhc.io.paths import Source, delimiter_of, name_of, suffix_of
from ordhc.io.sheet import Sheet, listed, read_sheet

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff")
_COLUMNS = ("picture", "image", "file", "filename", "path", "stimulus_file")


def read_items(source: Source) -> tuple[tuple[str, ...], dict[str, Path]]:
    """Read the names of leaves, and a dict from the names to the files of pictures.

    `source` is a file of names, as for `read_names`, or a folder of pictures. A table of names can have a
    column `picture` (or image, file, path) with the paths of pictures, relative to the folder of the table.
    In a folder of pictures, the names of the files without endings are the names of the leaves, with 2 before
    10.

    Examples
    --------
    >>> import os, tempfile
    >>> from ordhc.io.items import read_items
    >>> folder = tempfile.mkdtemp()
    >>> for name in ("10.png", "9.jpg", "notes.txt"):
    ...     open(os.path.join(folder, name), "w").close()
    >>> read_items(folder)[0]
    ('9', '10')
    """
    if isinstance(source, str | os.PathLike) and Path(source).is_dir():
        return _from_folder(Path(source))
    names = read_names(source)
    file, column = names_file(source)
    if not isinstance(file, str | os.PathLike) or not suffix_of(file, (".csv", ".tsv")):
        return names, {}
    source_name, data = name_of(file), read_bytes(file)
    with reading(source_name, "names", data):
        sheet = read_sheet(data, source_name, "names", delimiter_of(file))
        at = usual_column(sheet) if column is None else sheet.column(column)
        return names, _from_sheet(sheet, at, Path(file).parent)


def _from_folder(folder: Path) -> tuple[tuple[str, ...], dict[str, Path]]:
    files = [path for path in folder.iterdir() if path.suffix.lower() in PICTURES and path.is_file()]
    if not files:
        raise InputError(f"the folder has no pictures ({', '.join(PICTURES)})", path=str(folder))
    files.sort(key=lambda path: [_order(part) for part in re.split(r"(\d+)", path.stem)])
    found: dict[str, Path] = {}
    for path in files:
        if path.stem in found:
            both = listed([found[path.stem].name, path.name])
            raise InputError(f"two pictures have the same name: {both}", path=str(folder))
        found[path.stem] = path
    return tuple(found), found


def _order(part: str) -> tuple[int, int, str]:
    return (0, int(part), part) if part.isascii() and part.isdigit() else (1, 0, part.casefold())


def _from_sheet(sheet: Sheet, names: int, folder: Path) -> dict[str, Path]:
    at = sheet.find(_COLUMNS)
    if at is None or at == names:
        return {}
    found = {}
    for row, line in zip(sheet.rows[1:], sheet.lines[1:], strict=True):
        if not row[at]:
            continue
        path = folder / row[at]
        if not path.is_file():
            reason = f"the picture {quoted(str(path), 200)} of {quoted(row[names], 40)} does not exist"
            raise InputError(reason, path=sheet.source, line=line)
        found[row[names]] = path
    return found
