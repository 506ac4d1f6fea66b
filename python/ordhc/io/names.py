"""Names of leaves from files."""

import csv
import io as text_io
import os
from collections.abc import Sequence

from ordhc.comparisons import _checked_names
from ordhc.errors import InputError
from ordhc.io.files import Source, name_of, read_bytes, suffix_of, text_of


def read_names(source: Source) -> tuple[str, ...]:
    """Read the names of leaves, in order.

    A text file has one name a line; a csv or tsv file has a header with a column `name` and, if its
    rows aren't in order, `id` with the numbers 0..n-1.
    """
    name = name_of(source)
    text = text_of(read_bytes(source), name)
    suffix = suffix_of(source, (".csv", ".tsv"))
    if not suffix:
        return _unique([line.strip() for line in text.splitlines() if line.strip()], name)
    rows = csv.DictReader(text_io.StringIO(text), delimiter="," if suffix == ".csv" else "\t")
    if "name" not in (rows.fieldnames or []):
        raise InputError(f"{name}:1: there is no column `name`; the header has {rows.fieldnames}")
    table = list(rows)
    for at, row in enumerate(table):
        if not row["name"]:
            raise InputError(f"{name}:{at + 2}: the name is missing; the row may be cut short")
    found = [row["name"] for row in table]
    if "id" in (rows.fieldnames or []):
        try:
            ids = [int(row["id"]) for row in table]
        except (TypeError, ValueError) as error:
            raise InputError(f"{name}: ids must be whole numbers: {error}") from None
        if sorted(ids) != list(range(len(ids))):
            raise InputError(f"{name}: ids must be 0..{len(ids) - 1}, each once")
        found = [found[at] for at in sorted(range(len(ids)), key=ids.__getitem__)]
    return _unique(found, name)


def _unique(found: list[str], name: str) -> tuple[str, ...]:
    if not found:
        raise InputError(f"{name}: there are no names")
    try:
        return _checked_names(found) or ()
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def as_names(names: Sequence[str] | Source | None) -> tuple[str, ...] | None:
    """Names given as a sequence or as a file."""
    if names is None:
        return None
    if isinstance(names, str | os.PathLike):
        return read_names(names)
    if isinstance(names, Sequence):
        return _checked_names(names)
    return read_names(names) if hasattr(names, "read") else _checked_names(tuple(names))
