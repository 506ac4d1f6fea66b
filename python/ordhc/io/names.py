"""Read the names of leaves."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ordhc._checks import names as checked_names
from ordhc._checks import quoted
from ordhc._checks import text as checked_text
from ordhc.comparison.ids import CodedNames
from ordhc.comparison.suspects import alike
from ordhc.errors import InputError, warn
from ordhc.io.files import read_bytes, text_of
from ordhc.io.guard import reading, refuse_others
from ordhc.io.paths import Source, checked_path, delimiter_of, name_of, suffix_of
from ordhc.io.sheet import Sheet, listed, read_sheet

_USUAL = ("name", "label", "item", "object", "stimulus", "leaf_name", "item_name")


def read_names(source: Source, column: str | None = None) -> tuple[str, ...]:
    """Read the names of leaves, in order.

    Parameters
    ----------
    source
        A text file with one name per line; or a csv or tsv file with a header and a column of names. A table
        can also have a column `id` of whole numbers; then the names are sorted by id. Passed as `names=` or
        `--names`, such a table gives a name to each id in the answers.
        ``"items.csv:label"`` is the column `label` of the file `items.csv`.
    column
        The column of names. By default `name`, or else the only column with another usual name (label, item,
        object, ...).

    Returns
    -------
    tuple of str
        The names.

    Raises
    ------
    InputError
        A name or an id occurs twice (with both lines); a name is missing; the column is missing or ambiguous.

    Examples
    --------
    >>> import io
    >>> from ordhc.io import read_names
    >>> file = io.StringIO("code,label\\nx1,cat\\nx2,dog\\n")
    >>> file.name = "items.csv"
    >>> read_names(file)
    ('cat', 'dog')
    """
    file, named = names_file(source)
    column = named if column is None else checked_text("column", column)
    name = name_of(file)
    data = read_bytes(file)
    with reading(name, "names", data):
        if column is not None or suffix_of(file, (".csv", ".tsv")):
            delimiter = delimiter_of(file) or _delimiter(data)
            return _from_sheet(read_sheet(data, name, "names", delimiter), column)
        refuse_others(data, name, "names")
        lines = enumerate(text_of(data, name).split("\n"), start=1)
        found = [(line.strip(), number) for number, line in lines if line.strip()]
        _warn_of_table([line for line, _ in found], name)
        return _unique(found, name)


def _delimiter(data: bytes) -> str | None:
    """Return a comma if the header is one word, so that blanks in names are not delimiters; else None."""
    header = next(iter(data.lstrip().splitlines()), b"").decode(errors="replace").strip()
    return None if re.search(r"[\s,;|]", header) else ","


def _warn_of_table(lines: list[str], source: str) -> None:
    if lines and lines[0].lower() in _USUAL:
        warn(
            f"{source}:1: {quoted(lines[0])} is read as the name of a leaf: if it is a header, "
            "name the file .csv"
        )
    for delimiter in ("\t", ",", ";"):
        counts = {line.count(delimiter) for line in lines}
        if len(lines) > 1 and len(counts) == 1 and counts != {0}:
            warn(
                f"{source}: every line has a {quoted(delimiter)}, but {quoted(lines[0], 40)} is read as "
                f"the name of a leaf: if this is a table, give the column that has the names: {source}:COLUMN"
            )
            return


def names_file(source: Source) -> tuple[Source, str | None]:
    """Return the file and the column of a source such as `items.csv:label`; the column may be None."""
    if not isinstance(source, str | os.PathLike):
        return source, None
    path = checked_path(source, "names")
    found = re.fullmatch(r"(.+\.(?:csv|tsv|txt)(?:\.(?:gz|bz2|xz|zst))?):([^/\\]+)", path, re.IGNORECASE)
    if found is None or Path(path).exists():
        return source, None
    return found.group(1), found.group(2)


def _from_sheet(sheet: Sheet, column: str | None) -> tuple[str, ...]:
    at = sheet.column(column) if column is not None else usual_column(sheet)
    found = []
    for row in range(1, len(sheet.rows)):
        if at >= len(sheet.rows[row]) or not sheet.rows[row][at]:
            raise InputError(
                "the name is missing; the row may be cut short", path=sheet.source, line=sheet.lines[row]
            )
        sheet.check_width(row)
        found.append((sheet.rows[row][at], sheet.lines[row]))
    names = _unique(found, sheet.source)
    by = sheet.find(["id"])
    if by is None or by == at:
        return names
    place: dict[int, int] = {}
    for row in range(1, len(sheet.rows)):
        cell, line = sheet.rows[row][by].strip(), sheet.lines[row]
        if not (cell.isascii() and cell.isdigit() and len(cell) < 10):
            reason = f"the id is {quoted(cell)}; it must be a whole number"
            raise InputError(reason, path=sheet.source, line=line)
        if int(cell) in place:
            before = sheet.lines[place[int(cell)] + 1]
            reason = f"the id {int(cell)} occurs twice, first in line {before}"
            raise InputError(reason, path=sheet.source, line=line)
        place[int(cell)] = row - 1
    ids = sorted(place)
    ordered = tuple(names[place[leaf]] for leaf in ids)
    return ordered if ids == list(range(len(names))) else CodedNames.of(ordered, ids)


def usual_column(sheet: Sheet) -> int:
    found = {at for name in _USUAL if (at := sheet.find([name])) is not None}
    if (at := sheet.find(["name"])) is not None:
        return at
    if len(found) == 1:
        return found.pop()
    which = [sheet.header[at] for at in sorted(found)]
    reason = (
        f"the names may be in {listed(which)}"
        if found
        else f"there is no column 'name'; there are {listed(sheet.header)}"
    )
    file = Path(sheet.source).name
    raise InputError(
        f"{reason}; give the column that has the names, such as {quoted(f'{file}:{sheet.header[-1]}')}",
        path=sheet.source,
        line=sheet.lines[0],
    )


def _unique(found: list[tuple[str, int]], source: str) -> tuple[str, ...]:
    if not found:
        raise InputError("there are no names", path=source)
    first: dict[str, int] = {}
    for name, line in found:
        if name in first:
            reason = f"the name {quoted(name)} occurs twice, first in line {first[name]}"
            raise InputError(reason, path=source, line=line)
        first[name] = line
    names = tuple(first)
    if odd := alike(names, "leaves"):
        warn(f"{source}: {odd[0]}")
    return names


def as_names(names: Any) -> tuple[str, ...] | None:
    if names is None or isinstance(names, CodedNames):
        return names
    if isinstance(names, str | os.PathLike) or hasattr(names, "read"):
        return read_names(names)
    return checked_names(names)
