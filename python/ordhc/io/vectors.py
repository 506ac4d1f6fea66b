"""Vectors of leaves: numbers in columns, a row a leaf."""

import numpy as np
from numpy.typing import NDArray

from ordhc._checks import quoted
from ordhc.errors import InputError, warn
from ordhc.io.arrays import load_array
from ordhc.io.files import Source, name_of, read_bytes
from ordhc.io.guard import reading
from ordhc.io.sheet import Sheet, read_sheet

__all__ = ["read_vectors"]

#: Columns that hold the names of leaves.
_NAMES = ("name", "leaf", "item", "id")


def read_vectors(path: Source) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """Vectors from npy, csv or tsv, and the names of their leaves.

    Parameters
    ----------
    path
        An (n, p) array as npy; or text with a row a leaf, all numbers, but for a column of names that
        the header calls name, leaf, item or id.

    Returns
    -------
    vectors, names
        (n, p) numbers; n names, or None.

    Raises
    ------
    InputError
        What isn't a number, naming the line.

    Examples
    --------
    >>> import io
    >>> from ordhc.io import read_vectors
    >>> read_vectors(io.StringIO("name,x,y\\ncat,0,1\\ndog,1,1.5\\n"))
    (array([[0. , 1. ],
           [1. , 1.5]]), ('cat', 'dog'))
    """
    name, data = name_of(path), read_bytes(path)
    if not data.strip():
        raise InputError(f"{name}: the file is empty")
    with reading(name, "vectors", data):
        if data.startswith(b"\x93NUMPY"):
            table = load_array(data, name)
            if table.ndim != 2 or table.dtype.kind not in "biuf":
                raise InputError(f"{name}: holds {table.dtype} of shape {table.shape}, not (n, p) numbers")
            return table.astype(np.float64), None
        return _of_sheet(read_sheet(data, name, "vectors"))


def _of_sheet(sheet: Sheet) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    has_header = any(_number(cell) is None for cell in sheet.rows[0])
    at = sheet.find(_NAMES) if has_header else None
    if has_header and at is None and any(_number(cell) is not None for cell in sheet.rows[0]):
        _refuse(sheet, 0, None)
    rows = range(1 if has_header else 0, len(sheet.rows))
    values = []
    for row in rows:
        sheet.check_width(row)
        numbers = [_number(cell) for place, cell in enumerate(sheet.rows[row]) if place != at]
        if None in numbers:
            _refuse(sheet, row, at)
        values.append(numbers)
    width = len(sheet.rows[0]) - (at is not None)
    table = np.array(values, dtype=np.float64).reshape(len(values), width)
    _warn_of_index(sheet, table, at, has_header)
    return table, None if at is None else tuple(sheet.rows[row][at].strip() for row in rows)


def _warn_of_index(sheet: Sheet, table: NDArray[np.float64], at: int | None, has_header: bool) -> None:
    """Warn of the numbers of rows that spreadsheets and data frames write in front, taken for coordinates."""
    if not has_header or at is not None or not table.size:
        return
    name = sheet.header[0]
    counts = table[:, 0] - table[0, 0]
    if (not name or name.startswith("Unnamed")) and np.array_equal(counts, np.arange(len(table))):
        warn(
            f"{sheet.source}: the first column, {quoted(name)}, counts the rows and is taken for a "
            "coordinate: leave it out, or call it id"
        )


def _refuse(sheet: Sheet, row: int, at: int | None) -> None:
    """Raise the error of the first cell of a row that is not a number."""
    wrong = [cell for place, cell in enumerate(sheet.rows[row]) if place != at and _number(cell) is None]
    raise InputError(f"{sheet.source}:{sheet.lines[row]}: {quoted(wrong[0])} is no finite number")


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
