"""Names of leaves from files."""

import os
from collections.abc import Sequence

from ordhc._checks import names as checked_names
from ordhc._checks import quoted
from ordhc.errors import InputError
from ordhc.io.files import Source, name_of, read_bytes, suffix_of, text_of
from ordhc.io.guard import reading, refuse_others
from ordhc.io.sheet import Sheet, located, read_sheet


def read_names(source: Source) -> tuple[str, ...]:
    """Read the names of leaves, in order.

    A text file has one name a line; a csv or tsv file has a header with a column `name` and, if its
    rows aren't in order, `id` with the numbers 0..n-1.
    """
    name = name_of(source)
    data = read_bytes(source)
    suffix = suffix_of(source, (".csv", ".tsv"))
    with reading(name, "names", data):
        if not suffix:
            refuse_others(data, name, "names")
            return _unique([line.strip() for line in text_of(data, name).split("\n") if line.strip()], name)
        return _unique(_from_sheet(read_sheet(data, name, "names", "\t" if suffix == ".tsv" else None)), name)


def _from_sheet(sheet: Sheet) -> list[str]:
    at = sheet.column("name")
    found = []
    for row in range(1, len(sheet.rows)):
        if at >= len(sheet.rows[row]) or not sheet.rows[row][at]:
            raise InputError(
                "the name is missing; the row may be cut short", path=sheet.source, line=sheet.lines[row]
            )
        sheet.check_width(row)
        found.append(sheet.rows[row][at])
    by = sheet.find(["id"])
    if by is None:
        return found
    place: dict[int, int] = {}
    for row in range(1, len(sheet.rows)):
        cell = sheet.rows[row][by].strip()
        if not (cell.isascii() and cell.isdigit() and len(cell) < 10):
            raise InputError(
                f"ids must be whole numbers; here one is {quoted(cell)}",
                path=sheet.source,
                line=sheet.lines[row],
            )
        place[int(cell)] = row - 1
    if sorted(place) != list(range(len(found))):
        first = min(place, default=0)
        hint = "; they begin with 1: subtract 1" if first == 1 == max(place) - len(found) + 1 else ""
        raise InputError(f"ids must be 0..{len(found) - 1}, each once{hint}", path=sheet.source)
    return [found[place[leaf]] for leaf in range(len(found))]


def _unique(found: list[str], name: str) -> tuple[str, ...]:
    if not found:
        raise InputError("there are no names", path=name)
    try:
        return checked_names(found) or ()
    except InputError as error:
        raise located(error, name) from None


def as_names(names: Sequence[str] | Source | None) -> tuple[str, ...] | None:
    """Names given as a sequence or as a file."""
    if names is None:
        return None
    if isinstance(names, str | os.PathLike):
        return read_names(names)
    if isinstance(names, Sequence):
        return checked_names(names)
    return read_names(names) if hasattr(names, "read") else checked_names(names)
