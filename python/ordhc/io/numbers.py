"""Read tables of numbers, with names of rows and columns, from npy, text and Parquet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc._checks import names as checked_names
from ordhc._checks import quoted
from ordhc.comparison.coded import Column
from ordhc.errors import InputError
from ordhc.io.arrays import Table, load_array
from ordhc.io.files import read_content
from ordhc.io.guard import reading
from ordhc.io.paths import Source, delimiter_of, name_of
from ordhc.io.sheet import Sheet, located, read_sheet

_NAMES = ("name", "leaf", "item", "id")
_MISSING = ("", "na", "nan", "null", "none")


@dataclass(frozen=True, eq=False)
class Numbers:
    """A table of numbers, (n, p), from an npy file also (n,); missing numbers are NaN."""

    #: The name of the file, for messages.
    source: str
    values: NDArray[Any]
    #: The names of rows and columns, or None.
    rows: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    #: The line of each row in a text file, or None.
    lines: Sequence[int] | None = None

    def cell(self, row: int, column: int) -> str:
        parts = (("row", self.rows, row), ("column", self.columns, column))
        return ", ".join(f"{what} {at if names is None else quoted(names[at])}" for what, names, at in parts)

    def check_finite(self) -> None:
        for row, column in np.argwhere(~np.isfinite(self.values))[:1].tolist():
            value = self.values[row, column]
            reason = "the number is missing" if np.isnan(value) else f"{value} is not a finite number"
            raise self.error(f"{self.cell(row, column)}: {reason}", row)

    def error(self, reason: str, row: int | None = None) -> InputError:
        line = None if self.lines is None or row is None else self.lines[row]
        return InputError(reason, path=self.source, line=line)


def read_numbers(path: Source, what: str, delimiter: str | None = None) -> Numbers:
    """Return the table of numbers in a file: npy, csv, tsv or Parquet.

    In text the first row is a header if a cell is neither a number nor missing. The first column has the
    names of the rows if its header is empty, as R and pandas write it, or if its cells are text. Otherwise, a
    column with the header name, leaf, item or id has the names of rows.
    """
    name, data = name_of(path), read_content(path)
    with reading(name, what, data):
        try:
            if data.startswith(b"\x93NUMPY"):
                table = load_array(data, name)
                if table.ndim not in (1, 2) or table.dtype.kind not in "biuf":
                    raise InputError(f"has {table.dtype} of shape {table.shape}, not (n, p) numbers")
                return Numbers(name, table)
            if data.startswith(b"PAR1"):
                return _of_parquet(Table(data, name))
            return _of_sheet(read_sheet(data, name, what, delimiter_of(path, delimiter)))
        except InputError as error:
            raise located(error, name) from None


def _named(names: Sequence[Any]) -> tuple[str, ...] | None:
    """Return the names of rows or columns; None if they are 0, 1, ..., as pandas writes a default index."""
    texts = ["" if name is None else str(name).strip() for name in names]
    return None if texts == [str(at) for at in range(len(texts))] else checked_names(texts)


def _of_parquet(table: Table) -> Numbers:
    of_names = table.index() or table.find(_NAMES)
    values: dict[str, NDArray[np.float64]] = {}
    rows: list[Any] | None = None
    for at, column in enumerate(table.column_names):
        if column == of_names:
            cells = table.cells(column)
            rows = cells.tolist() if isinstance(cells, Column) else cells
            continue
        found, absent = table.values(column)
        if not isinstance(found, Column):
            values[column] = np.where(absent, np.nan, found.astype(np.float64))
        elif at or of_names is not None:
            raise InputError(f"column {quoted(column)} is text, not numbers")
        else:
            rows = found.tolist()
    stacked = np.column_stack(list(values.values())) if values else np.zeros((table.n_rows, 0))
    return Numbers(table.source, stacked, None if rows is None else _named(rows), _named(list(values)))


def _of_sheet(sheet: Sheet) -> Numbers:
    first, below = sheet.rows[0], sheet.rows[1] if len(sheet.rows) > 1 else []
    # R's write.table writes no header for the column of row names.
    is_short = len(below) == len(first) + 1
    has_header = is_short or not first[0].strip() or any(_number(cell) is None for cell in first)
    header = ["", *sheet.header] if is_short else sheet.header
    at = _column_of_names(sheet, header, below) if has_header else None
    if has_header and at is None and any(_is_finite(cell) for cell in first):
        wrong = next(cell for cell in first if _number(cell) is None)
        rule = "a table with names needs a header, with an empty cell above the names of rows"
        raise InputError(f"{quoted(wrong)} is not a finite number; {rule}", line=sheet.lines[0])
    start = 1 if has_header else 0
    width = len(header)
    values = np.empty((len(sheet.rows) - start, width - (at is not None)))
    for row, (cells, line) in enumerate(zip(sheet.rows[start:], sheet.lines[start:], strict=True)):
        if len(cells) != width:
            reason = f"{len(cells)} columns instead of {width}; the row may be cut short"
            raise InputError(reason, line=line)
        values[row] = _numbers(cells if at is None else [*cells[:at], *cells[at + 1 :]], line)
    rows = None if at is None else _named([cells[at] for cells in sheet.rows[start:]])
    columns = _named([cell for place, cell in enumerate(header) if place != at]) if has_header else None
    return Numbers(sheet.source, values, rows, columns, sheet.lines[start:])


def _column_of_names(sheet: Sheet, header: Sequence[str], below: Sequence[str]) -> int | None:
    if not header[0] or header[0].startswith("Unnamed:"):
        return 0
    found = sheet.find(_NAMES)
    # A first row with numbers may be data, so a header must have words only.
    has_words = len(below) > 1 and not any(map(_is_finite, header))
    if found is None and has_words and _number(below[0]) is None and all(map(_is_finite, below[1:])):
        return 0
    return found


def _numbers(cells: Sequence[str], line: int) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        found = [_number(cell) for cell in cells]
    if None in found:
        wrong = cells[found.index(None)]
        hint = "; decimals need a point" if re.fullmatch(r"\s*[-+]?\d+,\d+\s*", wrong) else ""
        raise InputError(f"{quoted(wrong)} is not a finite number{hint}", line=line)
    return [value for value in found if value is not None]


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return float("nan") if cell.strip().lower() in _MISSING else None


def _is_finite(cell: str) -> bool:
    value = _number(cell)
    return value is not None and bool(np.isfinite(value))
