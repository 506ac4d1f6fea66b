"""Read one column of a file of comparisons, such as response times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordhc.errors import InputError
from ordhc.io.arrays import Table, load_arrays
from ordhc.io.comparisons import SUFFIXES
from ordhc.io.files import read_bytes
from ordhc.io.guard import reading
from ordhc.io.paths import Source, delimiter_of, name_of, suffix_of
from ordhc.io.sheet import read_sheet, unknown_column


def read_column(path: Source, column: str) -> NDArray[np.str_]:
    """Read one column of a file of comparisons, as text.

    To read the person or the answer number of each row together with the comparisons, use `person=` and
    `answer=` of `ordhc.read_answers` instead.

    Parameters
    ----------
    path
        A csv or tsv file with a header, a Parquet file, or an npz file.
    column
        The name of the column; in npz, the name of an array.

    Returns
    -------
    ndarray of shape (m,)
        The text of each row's value.

    Raises
    ------
    InputError
        The column is missing, or the file cannot be read.

    Examples
    --------
    >>> import io
    >>> text = io.StringIO("anchor,near,far,rt\\n0,1,2,1.5\\n1,0,2,0.9\\n")
    >>> from ordhc.io import read_column
    >>> read_column(text, "rt").tolist()
    ['1.5', '0.9']
    """
    source = name_of(path)
    suffix = suffix_of(path, SUFFIXES)
    data = read_bytes(path)
    with reading(source, "a table", data):
        if suffix == ".parquet":
            table = Table(data, source)
            values = table.values(table.named(column))[0].tolist()
            return np.array([str(value) for value in values], dtype=np.str_)
        if suffix == ".npz":
            arrays = load_arrays(data, source)
            if column not in arrays:
                raise unknown_column(source, column, list(arrays))
            return np.array(arrays[column], dtype=np.str_)
        if suffix == ".npy":
            raise InputError("npy has no named columns; use csv, parquet or npz", path=source)
        sheet = read_sheet(data, source, "a table", delimiter_of(path))
        at = sheet.column(column)
        for row in range(len(sheet.rows)):
            sheet.check_width(row)
        return np.array([row[at] for row in sheet.rows[1:]], dtype=np.str_)
