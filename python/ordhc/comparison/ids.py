"""Tables of leaf ids, from numbers or names."""

import contextlib
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc.errors import InputError

__all__ = ["as_ids", "check_reach"]

#: Up to this number of leaves ids may have any gaps.
FAR = 10_000


def as_ids(
    rows: Any, width: int, columns: tuple[str, ...], names: tuple[str, ...] | None
) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """(m, width) ids from numbers or names, contiguous, and the names."""
    if isinstance(rows, np.ndarray):
        table = _checks.array("rows", rows)
    else:
        table = _read(rows, width)
    if table.size == 0 and table.ndim <= 2 and (table.ndim < 2 or table.shape[1] in (0, width)):
        return np.zeros((0, width), dtype=np.int64), names
    if table.dtype == object and table.ndim == 1:
        raise _ragged(rows, width)
    if table.ndim != 2 or table.shape[1] != width:
        raise InputError(f"rows have shape {table.shape}; {width} columns are needed: {', '.join(columns)}")
    kind = table.dtype.kind
    if table.dtype in (np.uint8, np.uint16, np.int32):
        return np.ascontiguousarray(table), names
    if kind in "iu" and table.dtype.itemsize < 4:
        return np.ascontiguousarray(table, dtype=np.int32), names
    if kind in "iu":
        large = np.flatnonzero((table > np.iinfo(np.int64).max).any(axis=1)) if kind == "u" else np.zeros(0)
        if large.size:
            leaf = table[large[0]].max()
            raise InputError(f"leaf {leaf} is far beyond any number of leaves", row=large[0], leaves=[[leaf]])
        return np.ascontiguousarray(table, dtype=np.int64), names
    if kind == "f":
        table = table.astype(np.float64) if table.dtype.itemsize < 8 else table
        wrong = np.argwhere(~(np.isfinite(table) & (table == np.floor(table)) & (np.abs(table) < 2**53)))
        if len(wrong):
            row, column = wrong[0]
            raise InputError(
                f"{columns[column]} is {table[row, column]}; leaf ids are whole numbers", row=row
            )
        return np.ascontiguousarray(table, dtype=np.int64), names
    if kind in "UTO" and all(isinstance(cell, str) for cell in table.ravel().tolist()):
        return _coded(table, names)
    if kind == "O":
        cells = table.ravel().tolist()
        for at, cell in enumerate(cells):
            row, column = divmod(at, width)
            found = f"{columns[column]} is {_checks.quoted(cell)}"
            text = isinstance(cell, str)
            if not text and (isinstance(cell, bool | np.bool_) or not isinstance(cell, numbers.Real)):
                raise InputError(f"{found}, neither id nor name", row=row)
            if text != isinstance(cells[0], str):
                first = _checks.quoted(cells[0])
                raise InputError(f"{found}, the first cell is {first}: give ids or names, not both", row=row)
        small = [_checks.as_int(cell) for cell in cells]
        for at, cell in enumerate(small):
            if cell is None or abs(cell) > np.iinfo(np.int64).max:
                row, column = divmod(at, width)
                reason = "leaf ids are whole numbers" if cell is None else "far beyond any number of leaves"
                raise InputError(f"{columns[column]} is {_checks.quoted(cells[at])}; {reason}", row=row)
        return np.array(small, dtype=np.int64).reshape(table.shape), names
    raise InputError(f"rows of type {table.dtype} are neither ids nor names")


def _read(rows: Any, width: int) -> NDArray[Any]:
    """A table of what is no array."""
    if isinstance(rows, list | tuple) and len({_length(cells) for cells in rows}) > 1:
        raise _ragged(rows, width)
    table = _checks.array("rows", rows)
    if table.dtype.kind == "U":
        # NumPy turns numbers among names into names; as objects they stay what they were.
        with contextlib.suppress(Exception):
            table = np.array(rows, dtype=object)
    return table


def check_reach(table: NDArray[Any], n_leaves: int) -> None:
    """Refuse ids that are far above the number of different ones: a slip, which would cost much memory."""
    if n_leaves <= FAR:
        return
    if n_leaves <= 1 << 24:
        seen = np.zeros(n_leaves, dtype=bool)
        seen[table.ravel()] = True
        distinct = int(np.count_nonzero(seen))
    else:
        distinct = len(np.unique(table))
    if n_leaves > 100 * distinct:
        row = int(np.flatnonzero((table == n_leaves - 1).any(axis=1))[0])
        raise InputError(
            f"leaf {n_leaves - 1} is far above the {distinct} different ids that there are: "
            f"pass n_leaves={n_leaves} if it is meant",
            row=row,
            leaves=[[n_leaves - 1]],
        )


def _coded(table: NDArray[Any], names: tuple[str, ...] | None) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    cells = table.ravel().tolist()
    if names is None:
        names = tuple(dict.fromkeys(cells))
    codes = {name: code for code, name in enumerate(names)}
    ids = np.empty(len(cells), dtype=np.int64)
    for at, cell in enumerate(cells):
        code = codes.get(cell)
        if code is None:
            row = at // table.shape[1]
            raise InputError(_checks.unknown_name(cell, names), row=row)
        ids[at] = code
    return ids.reshape(table.shape), names


def _ragged(rows: Any, width: int) -> InputError:
    for row, cells in enumerate(rows):
        length = _length(cells)
        if length != width:
            return InputError(f"{length} columns instead of {width}", row=row)
    return InputError(f"rows are no table of {width} columns")


def _length(cells: Any) -> int:
    try:
        return 1 if isinstance(cells, str | bytes) else len(cells)
    except Exception:
        return 1
