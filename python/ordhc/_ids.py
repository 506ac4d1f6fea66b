"""Tables of leaf ids, from numbers or names."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.errors import InputError

__all__ = ["as_ids"]


def as_ids(
    rows: ArrayLike, width: int, columns: tuple[str, ...], names: tuple[str, ...] | None
) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """(m, width) ids from numbers or names, contiguous, and the names."""
    try:
        table = np.asarray(rows)
    except ValueError:
        raise _ragged(rows, width) from None
    if table.dtype.kind == "U" and not isinstance(rows, np.ndarray):
        # NumPy turns numbers among names into names; as objects they stay what they were.
        table = np.array(rows, dtype=object)
    if table.size == 0 and table.ndim <= 2 and (table.ndim < 2 or table.shape[1] in (0, width)):
        return np.zeros((0, width), dtype=np.int64), names
    if table.dtype == object and table.ndim == 1:
        raise _ragged(rows, width)
    if table.ndim != 2 or table.shape[1] != width:
        raise InputError(f"rows have shape {table.shape}; {width} columns are needed: {', '.join(columns)}")
    kind = table.dtype.kind
    if table.dtype in (np.uint8, np.uint16, np.int32) and table.dtype.isnative:
        return np.ascontiguousarray(table), names
    if kind in "iu" and table.dtype.itemsize < 4:
        return np.ascontiguousarray(table, dtype=np.int32), names
    if kind in "iu":
        large = np.flatnonzero((table > np.iinfo(np.int64).max).any(axis=1)) if kind == "u" else np.zeros(0)
        if large.size:
            raise InputError(
                f"row {large[0]}: leaf {table[large[0]].max()} is far beyond any number of leaves"
            )
        return np.ascontiguousarray(table, dtype=np.int64), names
    if kind == "f":
        wrong = np.argwhere(~(np.isfinite(table) & (table == np.floor(table)) & (np.abs(table) < 2**53)))
        if len(wrong):
            row, column = wrong[0]
            raise InputError(
                f"row {row}: {columns[column]} is {table[row, column]}; leaf ids are whole numbers"
            )
        return np.ascontiguousarray(table, dtype=np.int64), names
    if kind in "UTO" and all(isinstance(cell, str) for cell in table.ravel().tolist()):
        return _coded(table, names)
    if kind == "O":
        cells = table.ravel().tolist()
        for at, cell in enumerate(cells):
            number = isinstance(cell, int | float | np.number) and not isinstance(cell, bool)
            if not number or isinstance(cells[0], str):
                row, column = divmod(at, width)
                found = f"row {row}: {columns[column]} is {cell!r}"
                if isinstance(cell, str) or number:
                    if isinstance(cell, str) == isinstance(cells[0], str):
                        continue
                    raise InputError(f"{found}, the first cell is {cells[0]!r}: give ids or names, not both")
                raise InputError(f"{found}, neither id nor name")
        return as_ids(_checks.numbers_of("rows", table), width, columns, names)
    raise InputError(f"rows of type {table.dtype} are neither ids nor names")


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
            raise InputError(f"row {row}: {_checks.unknown_name(cell, names)}")
        ids[at] = code
    return ids.reshape(table.shape), names


def _ragged(rows: Any, width: int) -> InputError:
    for row, cells in enumerate(rows):
        length = len(cells) if hasattr(cells, "__len__") else 1
        if length != width:
            return InputError(f"row {row}: {length} columns instead of {width}")
    return InputError(f"rows are no table of {width} columns")
