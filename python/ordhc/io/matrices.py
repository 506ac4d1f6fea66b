"""Read matrices of distances or similarities of all pairs of leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc._checks import quoted
from ordhc.io.numbers import Numbers, read_numbers
from ordhc.io.paths import Source

#: The largest relative difference of entries (i, j) and (j, i) of a symmetric matrix, as in `ordhc.linkage`.
_TOLERANCE = 1e-8


def read_matrix(
    path: Source, *, dissimilarity: bool, delimiter: str | None = None
) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Read a matrix of all pairs of leaves from npy, csv, tsv or Parquet, and the names of the leaves.

    Parameters
    ----------
    path
        An (n, n) symmetric matrix, with or without the names of rows and columns, as R's
        ``write.csv(as.matrix(d))`` and pandas' ``to_csv`` and ``to_parquet`` write it. The diagonal is
        ignored. A file of one row or one column has the n(n-1)/2 pairs in SciPy's order.
    dissimilarity
        True if larger numbers mean farther apart, False if larger numbers mean more alike.
    delimiter
        The character between columns of text; by default detected.

    Returns
    -------
    matrix, names
        (n, n) or (n(n-1)/2,) numbers; n names, or None.

    Raises
    ------
    InputError
        The matrix is not square or not symmetric; rows and columns have different names; a number is missing
        or not finite; or a dissimilarity is negative. The message has the row and the column.

    Examples
    --------
    >>> import io, ordhc
    >>> from ordhc.io import read_matrix
    >>> D, names = read_matrix(io.StringIO(',cat,dog\\ncat,0,2\\ndog,2,0\\n'), dissimilarity=True)
    >>> ordhc.linkage(D, dissimilarity=True, names=names).to_newick()
    '(cat:1,dog:1);'
    """
    dissimilarity = _checks.flag("dissimilarity", dissimilarity)
    found = read_numbers(path, "a matrix", delimiter)
    if found.rows is None and found.columns is None and 1 in found.values.shape and found.values.size > 1:
        found = replace(found, values=found.values.ravel())
    values, names = found.values, found.rows
    if values.ndim == 2:
        names = _names_of(found)
        _check_square(found)
    else:
        _checks.leaves_of_condensed(len(values))
        wrong = np.flatnonzero(~np.isfinite(values))
        if wrong.size:
            raise found.error(f"the value at {wrong[0]} is {values[wrong[0]]}, not finite")
    if dissimilarity:
        _check_negative(found)
    return values, names


def _names_of(found: Numbers) -> tuple[str, ...] | None:
    n, p = found.values.shape
    if n != p:
        raise found.error(
            f"the table has {n:,} rows and {p:,} columns of numbers; a matrix of pairs is square (a table "
            "with one row for each leaf has vectors: --vectors, ordhc.io.read_vectors)"
        )
    if found.rows is not None and found.columns is not None and found.rows != found.columns:
        at = next(at for at in range(n) if found.rows[at] != found.columns[at])
        differ = "are in another order" if set(found.rows) == set(found.columns) else "have other names"
        raise found.error(
            f"the columns {differ} than the rows: row {at} is {quoted(found.rows[at])}, column {at} "
            f"is {quoted(found.columns[at])}; give rows and columns in the same order",
            at,
        )
    return found.rows or found.columns


def _check_square(found: Numbers) -> None:
    values = found.values
    for row in range(len(values)):
        own, other = values[row], values[:, row]
        wrong = ~np.isfinite(own)
        wrong[row] = False
        for column in np.flatnonzero(wrong)[:1].tolist():
            state = "is missing" if np.isnan(own[column]) else f"is {own[column]}"
            raise found.error(f"{found.cell(row, column)} {state}; all pairs need finite numbers", row)
        with np.errstate(invalid="ignore"):
            apart = np.abs(own - other) > _TOLERANCE * np.maximum(np.abs(own), np.abs(other))
        apart[row] = False
        for column in np.flatnonzero(apart & np.isfinite(other))[:1].tolist():
            raise found.error(
                f"the matrix is not symmetric: {found.cell(row, column)} is {own[column]}, but "
                f"{found.cell(column, row)} is {other[column]}; both must be the same number",
                row,
            )


def _check_negative(found: Numbers) -> None:
    values = found.values
    below = values < 0
    if values.ndim == 2:
        np.fill_diagonal(below, False)
    for place in np.argwhere(below)[:1].tolist():
        where = found.cell(*place) if len(place) == 2 else f"the value at {place[0]}"
        raise found.error(
            f"{where} is {values[tuple(place)]}; distances are 0 or larger. If larger numbers mean more "
            "alike, the numbers are similarities: --similarities, dissimilarity=False",
            place[0] if len(place) == 2 else None,
        )
