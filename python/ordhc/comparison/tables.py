"""Tables of answers with named columns, and a record of the rows that are left out."""

import contextlib
import json
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc._checks import nearest, quoted
from ordhc.comparison.coded import Column
from ordhc.comparison.frames import column_names, column_of, eager
from ordhc.errors import InputError, SkippedRowsWarning

#: Words that mean a missing leaf; blank cells are missing, too.
MISSING = ("NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL")
#: If all cells of a column have these types, `tidy` is called only once for equal cells, to save time.
_COUNTED = {str, int, float, type(None)}
#: Maximum number of rows or columns that a message lists.
SHOWN = 10


def missing_words(what: str, given: Iterable[str] | None, names: Iterable[str] | None = None) -> list[str]:
    """Return the words that mean "missing": `given` and the usual words, except names of leaves."""
    if given is None:
        words: list[Any] = list(MISSING)
    else:
        words = _checks.listed(what, given)
        if not all(isinstance(word, str) for word in words):
            raise InputError(f"{what} is {quoted(words)}; it must be a list of texts")
        words = [word.strip() for word in words if word.strip()]
        words += [word for word in MISSING if words and word not in words]
    known = set(names or ())
    return [word for word in words if word not in known]


def tidy(cell: Any) -> Any:
    """Return a cell as None, an integer, a float, or text without surrounding blanks."""
    if type(cell) is int:
        return _short(cell)
    if isinstance(cell, str):
        return cell.strip() or None
    if cell is None or cell is np.ma.masked or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell))
    if isinstance(cell, np.datetime64 | np.timedelta64):
        return None if np.isnat(cell) else str(cell.item())
    if isinstance(cell, numbers.Real):
        whole = _checks.as_int(cell)
        if whole is not None:
            return _short(whole)
        return None if math.isnan(float(cell)) else float(cell)
    if isinstance(cell, list | tuple | dict | np.ndarray):
        plain = cell.tolist() if isinstance(cell, np.ndarray) else cell
        return json.dumps(plain, ensure_ascii=False, default=str)
    try:
        return str(cell).strip() or None
    except Exception as error:
        raise InputError(f"{quoted(cell)} cannot be converted to text") from error


def text_of(cell: Any) -> str:
    if type(cell) is str:
        return cell.strip()
    found = tidy(cell)
    return "" if found is None else str(found)


def _short(number: int) -> int:
    if _is_printable(number):
        return number
    raise InputError(f"{quoted(number)} is too long")


def _is_printable(value: Any) -> bool:
    """Return True if a value can be printed: Python refuses to print integers of more than 4,300 digits."""
    return not isinstance(value, int) or value.bit_length() < 2048


@dataclass
class Table:
    """A table of answers, whose columns are read by name when they are needed."""

    #: The names of the columns: text, or numbers for columns without names.
    names: list[Any]
    #: A function that receives a column's name, and returns the cells.
    read: Callable[[Any], Column | Sequence[Any]]
    #: The number of rows.
    length: int
    #: The name of the file in messages; None for a frame.
    source: str | None = None
    #: The line of each row in the file; None without lines.
    lines: Sequence[int] | None = None
    #: True if all cells are text, as in files. Then ids are texts of digits.
    text: bool = False
    #: The reason for each row that cannot be read, by the row's number.
    bad: dict[int, str] = field(default_factory=dict)
    _columns: dict[Any, Column] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.names:
            if not _is_printable(name):
                raise self.error(f"{quoted(name)} cannot be the name of a column")

    def coded(self, name: Any) -> Column:
        if name not in self._columns:
            found = self._tidied(name)
            if len(found) != self.length:
                raise self.error(f"column {quoted(name)} has {len(found)} rows, the first one {self.length}")
            self._columns[name] = found
        return self._columns[name]

    def _tidied(self, name: Any) -> Column:
        found: list[Any] = []
        try:
            given = self.read(name)
            if isinstance(given, Column):
                return given.mapped(tidy)
            kinds = set(map(type, given))
            if kinds <= _COUNTED or kinds <= {str, bool, type(None)}:
                with contextlib.suppress(InputError):
                    return Column.of(given).mapped(tidy)
            # Cells before an unreadable cell are kept, so `len(found)` is the row of the unreadable cell.
            found.extend(map(tidy, given))
        except InputError as error:
            raise self.error(f"column {quoted(name)}: {error}", len(found)) from error
        return Column.of(found).mapped(lambda cell: cell)

    def cells(self, name: Any) -> list[Any]:
        return self.coded(name).tolist()

    def cell(self, name: Any, row: int) -> Any:
        place = self.coded(name).places[row]
        return None if place < 0 else self.coded(name).different[place]

    def raw(self, name: Any) -> Sequence[Any]:
        found = self.read(name)
        return found.tolist() if isinstance(found, Column) else found

    def place(self, row: int) -> dict[str, Any]:
        return {"line": int(self.lines[row])} if self.lines is not None else {"row": row}

    def error(self, reason: str, row: int | None = None) -> InputError:
        return InputError(reason, path=self.source, **({} if row is None else self.place(row)))

    def number(self, row: int) -> int:
        return row if self.lines is None else int(self.lines[row])

    def find(self, name: Any) -> Any:
        """Return a column's name as the table spells it, ignoring case; None if there is no such column.

        Several columns of this name are an error.
        """
        exact = [
            there for there in self.names if there == name and isinstance(there, str) == isinstance(name, str)
        ]
        if not exact and isinstance(name, str):
            plain = name.strip().casefold()
            exact = [there for there in self.names if str(there).strip().casefold() == plain]
        if len(exact) > 1:
            raise self.error(f"there are {len(exact)} columns {quoted(name)}; column names must differ")
        return exact[0] if exact else None

    def column(self, name: Any, what: str) -> Any:
        """Return a column's name as the table spells it; the column must exist."""
        if not isinstance(name, str):
            number = _checks.as_int(name)
            if number is None or abs(number) >= 2**63:
                raise InputError(f"{what}: {quoted(name)} cannot be the name of a column")
            name = number
        found = self.find(name)
        if found is None:
            there = [str(each) for each in self.names]
            shown = ", ".join(quoted(each, 40)[1:-1] for each in there[:SHOWN])
            more = f", ... ({len(there)} in all)" if len(there) > SHOWN else ""
            raise self.error(
                f"there is no column {quoted(name)} ({what}); there are {shown}{more}"
                f"{nearest(str(name), there)}"
            )
        return found

    def first_of(self, names: Iterable[str]) -> Any:
        for name in names:
            if (found := self.find(name)) is not None:
                return found
        return None

    def with_columns(self, columns: Mapping[Any, Sequence[Any]]) -> "Table":
        names = [*self.names, *(name for name in columns if name not in self.names)]

        def read(name: Any) -> Column | Sequence[Any]:
            return columns[name] if name in columns else self.read(name)

        known = {name: column for name, column in self._columns.items() if name not in columns}
        return replace(self, names=names, read=read, _columns=known)


def table_of(data: Any) -> Table:
    if isinstance(data, Table):
        return data
    data = eager(data)
    names = column_names(data)
    if names is None:
        raise InputError(
            f"from_frame needs named columns (a data frame, a dict of columns or a list of dicts), "
            f"not {quoted(data)}"
        )
    if not names:
        raise InputError("the frame has no columns")

    def read(name: Any) -> Sequence[Any]:
        column = column_of(data, name)
        if column.ndim != 1:
            raise InputError(f"column {quoted(name)} has shape {column.shape}; one cell per row is needed")
        found: Sequence[Any] = column.tolist()
        return found

    return Table(list(names), read, len(read(names[0])))


class LeftOut:
    """A record of the rows that are left out, by reason; each row is counted under its first reason."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.reasons: dict[str, list[int]] = {}
        #: A more specific reason for some of these rows, by the row's number.
        self.details: dict[int, str] = {}
        #: A mask of the table's rows: True for rows that are not left out.
        self.kept = np.ones(table.length, dtype=bool)
        for row, reason in table.bad.items():
            self.add([row], reason)

    def add_bad(self, bad: Mapping[int, str]) -> None:
        self.details.update(bad)
        self.add(sorted(bad), "that cannot be used")

    def add(self, rows: Sequence[int] | NDArray[np.intp], reason: str) -> int:
        found = np.asarray(rows, dtype=np.intp)
        new = found[self.kept[found]].tolist()
        if new:
            self.kept[new] = False
            self.reasons.setdefault(reason, []).extend(new)
        return len(new)

    @property
    def rows(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.kept)

    def summary(self) -> str:
        unit = "row" if self.table.lines is None else "line"
        parts = []
        for reason, rows in list(self.reasons.items())[:SHOWN]:
            first = min(rows)
            detail = f": {self.details[first]}" if first in self.details else ""
            parts.append(f"{len(rows):,} {reason} ({unit} {self.table.number(first)}{detail})")
        more = len(self.reasons) - SHOWN
        return ", ".join(parts) + (f", and {more} more reasons" if more > 0 else "")

    def check_some(self) -> None:
        if not self.kept.any():
            if not self.table.length:
                raise self.table.error("there are no rows")
            raise self.table.error(f"none of {self.table.length:,} rows is left: {self.summary()}")

    def warning(self) -> SkippedRowsWarning | None:
        if not self.reasons:
            return None
        rows = [
            (self.table.number(row), self.details.get(row, reason))
            for reason, some in self.reasons.items()
            for row in some
        ]
        count = len(rows)
        where = "" if self.table.source is None else f"{self.table.source}: "
        text = f"{where}{count:,} of {self.table.length:,} rows are left out: {self.summary()}"
        counts = {reason: len(some) for reason, some in self.reasons.items()}
        return SkippedRowsWarning(text, sorted(rows), counts)
