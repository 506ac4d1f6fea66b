"""Further columns of files of comparisons."""

import csv
import io as bytes_io

import numpy as np
from numpy.typing import NDArray

from ordhc.errors import InputError
from ordhc.io.comparisons import SUFFIXES, _pyarrow_parquet
from ordhc.io.files import Source, name_of, read_bytes, suffix_of, text_of


def read_column(path: Source, column: str) -> NDArray[np.str_]:
    """One column of a file of comparisons as text, a value for each row, for example the participants.

    Text needs a header; npz needs an array of that name.

    Examples
    --------
    >>> import io
    >>> text = io.StringIO("anchor,near,far,who\\n0,1,2,ann\\n1,0,2,bob\\n")
    >>> from ordhc.io import read_column
    >>> read_column(text, "who").tolist()
    ['ann', 'bob']
    """
    source = name_of(path)
    suffix = suffix_of(path, SUFFIXES)
    if source == "-":
        raise InputError("standard input is read once: a further column needs a file")
    data = read_bytes(path)
    if suffix == ".parquet":
        table = _pyarrow_parquet().read_table(bytes_io.BytesIO(data))
        if column not in table.column_names:
            raise _unknown(source, column, table.column_names)
        return np.array([str(value) for value in table[column].to_pylist()])
    if suffix == ".npz":
        with np.load(bytes_io.BytesIO(data), allow_pickle=False) as arrays:
            if column not in arrays:
                raise _unknown(source, column, list(arrays))
            return np.array(arrays[column], dtype=np.str_)
    if suffix == ".npy":
        raise InputError(f"{source}: npy has no columns by name; use csv, parquet or npz")
    lines = [line for line in text_of(data, source).splitlines() if line.strip() and line.lstrip()[0] != "#"]
    if not lines:
        raise InputError(f"{source}: the file is empty")
    delimiter = "\t" if suffix == ".tsv" else max(",;\t ", key=lines[0].count)
    rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    header = [cell.strip() for cell in rows[0]]
    if column not in header:
        raise _unknown(source, column, header)
    at = header.index(column)
    for number, row in enumerate(rows[1:], 1):
        if len(row) <= at:
            raise InputError(f"{source}: row {number} has {len(row)} columns; {column!r} is column {at + 1}")
    return np.array([row[at].strip() for row in rows[1:]])


def _unknown(source: str, column: str, columns: list[str]) -> InputError:
    return InputError(f"{source}: there is no column {column!r}; there are {', '.join(columns)}")
