"""Read vectors of leaves: numbers in columns, one row for each leaf."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ordhc.io.numbers import read_numbers
from ordhc.io.paths import Source


def read_vectors(
    path: Source, *, delimiter: str | None = None
) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """Read vectors from npy, csv, tsv or Parquet, and the names of their leaves.

    Parameters
    ----------
    path
        One row of numbers for each leaf. In csv, tsv and Parquet one column can have the names of the leaves:
        the row names of R and the index of pandas, as ``write.csv`` and ``to_csv`` write them; a first column
        of text; or a column with the header name, leaf, item or id.
    delimiter
        The character between columns of text; by default detected.

    Returns
    -------
    vectors, names
        (n, p) numbers; n names, or None.

    Raises
    ------
    InputError
        A cell is missing or not a finite number (with its line); or a name occurs twice.

    Examples
    --------
    >>> import io
    >>> from ordhc.io import read_vectors
    >>> read_vectors(io.StringIO("name,x,y\\ncat,0,1\\ndog,1,1.5\\n"))
    (array([[0. , 1. ],
           [1. , 1.5]]), ('cat', 'dog'))
    """
    found = read_numbers(path, "vectors", delimiter)
    values = found.values
    if values.ndim != 2:
        raise found.error(f"has {values.dtype} of shape {values.shape}, not (n, p) numbers")
    values = values.astype(np.float64, copy=False)
    found.check_finite()
    return values, found.rows
