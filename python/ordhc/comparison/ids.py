"""Convert tables of numbers or names to leaf ids."""

import contextlib
import numbers
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc.comparison.asked import Asked
from ordhc.comparison.units import distinct
from ordhc.errors import InputError


class CodedNames(tuple[str, ...]):
    """Names of leaves, each with its id in the data (for example the code of a stimulus)."""

    #: The id of each name, in ascending order.
    codes: tuple[int, ...]

    @classmethod
    def of(cls, names: Sequence[str], codes: Sequence[int]) -> "CodedNames":
        made = cls(names)
        made.codes = tuple(codes)
        return made


#: If the largest id is below this number, any number of smaller ids may be missing.
FAR = 10_000


def as_ids(
    rows: Any, width: int, columns: tuple[str, ...], names: tuple[str, ...] | None
) -> tuple[NDArray[Any], tuple[str, ...] | None]:
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
            raise InputError(f"leaf {leaf} is too large for a leaf id", row=large[0], leaves=[[leaf]])
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
    if kind in "UTO" and all(issubclass(each, str) for each in set(map(type, table.ravel().tolist()))):
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
                raise InputError(
                    f"{found}, but the first cell is {first}: give ids (numbers) or names (text), not both",
                    row=row,
                )
        small = [_checks.as_int(cell) for cell in cells]
        for at, cell in enumerate(small):
            if cell is None or abs(cell) > np.iinfo(np.int64).max:
                row, column = divmod(at, width)
                reason = "leaf ids are whole numbers" if cell is None else "this is too large for a leaf id"
                raise InputError(f"{columns[column]} is {_checks.quoted(cells[at])}; {reason}", row=row)
        return np.array(small, dtype=np.int64).reshape(table.shape), names
    raise InputError(f"rows of type {table.dtype} are neither ids nor names")


def _read(rows: Any, width: int) -> NDArray[Any]:
    if isinstance(rows, list | tuple) and len({_length(cells) for cells in rows}) > 1:
        raise _ragged(rows, width)
    table = _checks.array("rows", rows)
    if table.dtype.kind == "U":
        # NumPy would convert numbers among names to text; objects keep both.
        with contextlib.suppress(Exception):
            table = np.array(rows, dtype=object)
    return table


def check_reach(table: NDArray[Any], n_leaves: int) -> None:
    """Raise an error if the largest id is far above the number of distinct ids: this is probably a typo.

    Arrays with an element for each leaf would need much memory.
    """
    if n_leaves <= FAR:
        return
    if n_leaves <= 1 << 24:
        seen = np.zeros(n_leaves, dtype=bool)
        seen[table.ravel()] = True
        n_distinct = int(np.count_nonzero(seen))
    else:
        n_distinct = len(distinct(table))
    if n_leaves > 100 * n_distinct:
        row = int(np.flatnonzero((table == n_leaves - 1).any(axis=1))[0])
        raise InputError(
            f"leaf {n_leaves - 1} is far above the {n_distinct} different ids in the data; "
            f"if this id is right, pass n_leaves={n_leaves}",
            row=row,
            leaves=[[n_leaves - 1]],
        )


def distinct_ids(rows: NDArray[Any]) -> NDArray[np.int64]:
    if rows.size and rows.min() >= 0 and rows.max() < 1 << 24:
        seen = np.zeros(int(rows.max()) + 1, dtype=bool)
        seen[rows.ravel()] = True
        return np.flatnonzero(seen).astype(np.int64)
    return distinct(rows).astype(np.int64)


def has_repeats(rows: NDArray[Any], of_pairs: bool) -> NDArray[np.bool_]:
    """Return a mask of the rows in which a leaf occurs twice.

    If rows are pairs of leaves (`of_pairs`), the two leaves of a pair and the two pairs of a row must differ.
    """
    found: NDArray[np.bool_]
    if of_pairs:
        pairs = np.sort(rows.reshape(-1, 2, 2), axis=2)
        found = (pairs[:, 0] == pairs[:, 1]).all(axis=1)
        found |= (rows[:, 0] == rows[:, 1]) | (rows[:, 2] == rows[:, 3])
    elif rows.shape[1] <= 4:
        # Comparing columns is faster than sorting rows, if there are few columns.
        found = np.zeros(len(rows), dtype=bool)
        for one, other in combinations(rows.T, 2):
            found |= one == other
    else:
        ordered = np.sort(rows, axis=1)
        found = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    return found


def names_of_ids(ids: NDArray[np.int64], asked: Asked) -> tuple[str, ...] | None:
    """Return the name of each id in a file or frame, or None if ids are the positions of leaves.

    `ids` has the distinct ids, sorted. Ids mean names in three cases:

    - `names` were read from a table that has an id for each name (`CodedNames`).
    - `names` are whole numbers, and some id equals a name at another position. For example, id 101 is the
      first of the names 101 to 112.
    - Without `names`, `n_leaves` and `ids_from`, more than half of the ids 0..max never occur. As positions,
      these would be leaves without answers.
    """
    names, ids_from = asked.names, asked.ids_from
    if isinstance(names, CodedNames):
        if ids_from is not None:
            if names.codes == tuple(range(ids_from, ids_from + len(names))):
                return None
            raise InputError("the table of names has a column of ids: leave out ids_from (--ids-from)")
        coded = dict(zip(names.codes, names, strict=True))
        return tuple(coded.get(leaf, f"id {leaf}") for leaf in ids.tolist())
    if ids_from is None and len(ids) and ids[0] >= 0:
        if names is not None:
            known = numbers_of(names)
            elsewhere = [leaf for leaf in ids.tolist() if leaf in known and known[leaf][0] != leaf]
            if elsewhere:
                unknown = [leaf for leaf in ids.tolist() if leaf not in known]
                if unknown and ids[-1] < len(names):
                    raise InputError(
                        f"id {elsewhere[0]} is one of the names, but {unknown[0]} is not; if ids are "
                        "positions in the names, pass ids_from=0 (--ids-from 0)"
                    )
                return tuple(known[leaf][1] if leaf in known else str(leaf) for leaf in ids.tolist())
        elif asked.n_leaves is None and 2 * len(ids) <= ids[-1]:
            if len(ids) > 1 and ids[-1] > 2 * ids[-2]:
                check_reach(ids[:, None], int(ids[-1]) + 1)
            return tuple(map(str, ids.tolist()))
    if asked.by_name:
        raise InputError(
            "has ids, but the tree's leaves have names; give --names FILE with the name of each id"
        )
    return None


def numbers_of(names: Sequence[str]) -> dict[int, tuple[int, str]]:
    """Return a dict from each id to the position and text of its name; empty if names have no ids.

    The id of a name is its code (`CodedNames`), or its value if all names are distinct whole numbers.
    """
    if isinstance(names, CodedNames):
        return {code: (at, name) for at, (code, name) in enumerate(zip(names.codes, names, strict=True))}
    if not all(name.isascii() and name.isdigit() and len(name) < 19 for name in names):
        return {}
    found = {int(name): (at, name) for at, name in enumerate(names)}
    return found if len(found) == len(names) else {}


def check_ids_from(given: Any) -> int | None:
    return None if given is None else _checks.whole("ids_from", given, at_least=0, at_most=2**31)


def shifted(rows: NDArray[Any], ids_from: int | None) -> NDArray[Any]:
    """Convert ids that are counted from `ids_from` to ids from 0."""
    return rows.astype(np.int64) - ids_from if ids_from else rows


def _coded(table: NDArray[Any], names: tuple[str, ...] | None) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    cells = table.ravel().tolist()
    if names is None:
        names = tuple(dict.fromkeys(cells))
        for name in names:
            if name.isascii():
                continue
            try:
                _checks.text("the name", name)
            except InputError as error:
                raise InputError(error.reason, row=cells.index(name) // table.shape[1]) from None
    codes = {name: code for code, name in enumerate(names)}
    ids = list(map(codes.get, cells))
    if None in ids:
        # `LeafNumbers` also matches blanks with underscores. The dict comes first, because it is faster.
        ids = list(map(_checks.LeafNumbers(names).get, cells))
    if None in ids:
        at = ids.index(None)
        raise InputError(_checks.unknown_name(cells[at], names), row=at // table.shape[1])
    return np.array(ids, dtype=np.int64).reshape(table.shape), names


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
