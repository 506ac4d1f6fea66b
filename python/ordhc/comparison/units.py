"""Group rows of comparisons by answer, by question and by person."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc.comparison.coded import Column
from ordhc.errors import InputError

if TYPE_CHECKING:
    from ordhc.comparison.rows import Rows as Comparisons

UNITS = ("answer", "group")
_LARGEST = np.iinfo(np.int32).max
#: Maximum number of codes when columns are combined into one column of codes, which must fit in 64 bits.
_MOST_CODES = 2**62

Numbers = NDArray[np.int64]


def first_rows(codes: NDArray[Any], n: int) -> Numbers:
    """Return the first row in which each code occurs, (n,); codes are numbers from 0 to n - 1.

    For a code that does not occur, the result is the number of rows.
    """
    end = len(codes)
    first = np.full(n, end)
    start, length = 0, 4096
    # Usually all codes occur in the first rows, so search growing parts of the rows.
    while start < end and first.max(initial=0) == end:
        part = codes[start : start + length]
        found = np.full(n, end)
        # Assign backwards, because NumPy keeps the last value that is assigned to an element.
        found[part[::-1]] = np.arange(start + len(part) - 1, start - 1, -1)
        np.minimum(first, found, out=first)
        start, length = start + length, 2 * length
    return first


def ranked(first: Numbers, end: int) -> tuple[Numbers, Numbers]:
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < end)]
    rank = np.zeros(len(first), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank, order


def numbered(values: NDArray[Any]) -> tuple[Numbers, NDArray[Any]]:
    if values.dtype.kind in "iu" and len(values) and values.min() >= 0 and values.max() < len(values):
        # Small integers, such as codes, need no sorting of all rows.
        rank, order = ranked(first_rows(values, int(values.max()) + 1), len(values))
        return rank[values], order.astype(values.dtype)
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank, order = ranked(first, len(values))
    return rank[inverse.ravel()], distinct[order]


def coded(what: str, values: Any, m: int) -> tuple[NDArray[np.int32], tuple[str, ...] | None]:
    """Return (m,) values as int32, and the name of each number.

    Integers that fit are returned unchanged, without names. Other values are numbered in order of first
    appearance; their names are the values as text.
    """
    table = _checks.array(what, values)
    if table.shape != (m,):
        raise InputError(f"{what} has shape {table.shape}; one entry for each of {m} rows is needed")
    if table.dtype.kind == "O":
        _same_kind(what, table.tolist())
    if table.dtype.kind in "iuf" or (table.dtype.kind == "O" and not (m and isinstance(table[0], str))):
        table = _checks.whole_numbers(what, table)
        if not len(table) or (table.min() >= 0 and table.max() <= _LARGEST):
            return table.astype(np.int32), None
    found = Column.of(table.tolist())
    return found.places, tuple(_checks.text(what, str(value)) for value in found.different)


def _same_kind(what: str, cells: list[Any]) -> None:
    if set(map(type, cells)) == {str}:
        return
    for at, cell in enumerate(cells):
        if not isinstance(cell, str) and _checks.as_int(cell) is None:
            raise InputError(f"{what}[{at}] is {_checks.quoted(cell)}, neither a whole number nor text")
        if isinstance(cell, str) != isinstance(cells[0], str):
            raise InputError(
                f"{what}[{at}] is {_checks.quoted(cell)}, {what}[0] is {_checks.quoted(cells[0])}: "
                "give numbers or text, not both"
            )


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values, sorted.

    The result equals ``np.unique(values)``, which is several times slower if most values are distinct.

    Examples
    --------
    >>> import numpy as np
    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values, axis=None)
    kept = np.ones(len(ordered), dtype=bool)
    kept[1:] = ordered[1:] != ordered[:-1]
    return ordered[kept]


def numbered_rows(table: Numbers) -> Numbers:
    """Return the number of each row among the distinct rows in ascending order, (m,).

    The result equals ``np.unique(table, axis=0, return_inverse=True)[1]``, but is several times as fast.

    Examples
    --------
    >>> import numpy as np
    >>> numbered_rows(np.array([[2, 1], [0, 5], [2, 1], [0, 3]])).tolist()
    [2, 1, 2, 0]
    """
    codes, count = np.zeros(len(table), dtype=np.int64), 1
    for column in table.T if len(table) else ():
        own = column - column.min()
        width = int(own.max()) + 1
        if count * width > _MOST_CODES:
            # Number the distinct values: there are at most as many as rows, so the products fit.
            codes, own = (np.unique(each, return_inverse=True)[1].astype(np.int64) for each in (codes, own))
            count, width = int(codes.max()) + 1, int(own.max()) + 1
        codes, count = codes * width + own, count * width
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def groups_of(data: "Comparisons") -> Numbers | None:
    """Return the person of each row, numbered from 0, or None if there are fewer than two people."""
    if data.groups is None:
        return None
    codes, distinct = numbered(data.groups)
    return codes if len(distinct) > 1 else None


def answers_of(data: "Comparisons") -> Numbers:
    """Return the answer of each row, numbered from 0 in order of first appearance.

    Each answer belongs to one person: rows of two persons with the same number are two answers.
    """
    if data.answers is None:
        return np.arange(len(data.rows))
    answers = data.answers.astype(np.int64)
    if data.groups is not None:
        answers += data.groups.astype(np.int64) << 32
    return numbered(answers)[0]


def count_answers(data: "Comparisons") -> int:
    return len(data.rows) if data.answers is None else int(answers_of(data).max(initial=-1)) + 1


def units_of(data: "Comparisons", unit: str | None) -> tuple[Numbers, str]:
    """Return the unit of each row, numbered from 0, and the kind of unit: "group" or "answer".

    A unit of the kind "group" has all rows of a person. A unit of the kind "answer" has all rows of an
    answer. If `unit` is None, the kind is "group" if two or more people are known, else "answer".
    """
    if unit is not None:
        _checks.choice("unit", unit, UNITS)
    if unit == "group" and data.groups is None:
        raise InputError("unit is 'group', but the comparisons have no groups")
    groups = groups_of(data) if unit != "answer" else None
    if groups is not None:
        return groups, "group"
    if unit == "group":
        return np.zeros(len(data), dtype=np.int64), "group"
    return answers_of(data), "answer"


def row_questions(data: "Comparisons") -> Numbers:
    """Return the question of each row, numbered from 0; the direction of the answer does not matter."""
    rows = data.rows.astype(np.int64)
    n = data.n_leaves
    if rows.shape[1] == 3:
        first, second = rows[:, 0] * n + rows[:, 1], rows[:, 0] * n + rows[:, 2]
    else:
        pairs = np.sort(rows.reshape(-1, 2, 2), axis=2)
        first, second = (pairs[:, :, 0] * n + pairs[:, :, 1]).T
    _, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    count = int(codes.max()) + 1 if len(codes) else 1
    codes = np.sort(codes.reshape(2, -1), axis=0)
    return np.unique(codes[0] * count + codes[1], return_inverse=True)[1].astype(np.int64)


def questions_of(data: "Comparisons") -> tuple[Numbers, Numbers]:
    """Assign numbers from 0 to questions and to distinct answers; return both numbers for each row.

    Two answers of several rows have the same question if they have the same leaves and the same form: the odd
    one out of three, the most central of three, or a ranking by a reference. Answers with the same rows, in
    any order, are equal, and have the same second number.
    """
    alone = row_questions(data)
    said = _contents(data, alone)
    answers = answers_of(data)
    sizes = np.bincount(answers)
    if not len(sizes) or sizes.max() == 1:
        return alone, said
    question = alone.copy()
    content = said.copy()
    by_answer = np.argsort(answers, kind="stable")
    ends = np.cumsum(sizes)
    free = [int(alone.max()) + 1, int(said.max()) + 1]
    for size in np.unique(sizes[sizes > 1]).tolist():
        which = np.flatnonzero(sizes == size)
        rows = by_answer[(ends[which] - size)[:, None] + np.arange(size)]
        table = data.rows[rows].astype(np.int64)
        constant = (table == table[:, :1]).all(axis=1)
        reference = np.where(constant[:, 0], table[:, 0, 0], -1)
        asked = np.column_stack([sorted_leaves(table.reshape(len(which), -1)), constant, reference])
        for at, (target, key) in enumerate([(question, asked), (content, np.sort(said[rows], axis=1))]):
            codes = numbered_rows(key)
            target[rows] = (codes + free[at])[:, None]
            free[at] += int(codes.max()) + 1
    return numbered(question)[0], numbered(content)[0]


def _contents(data: "Comparisons", question: Numbers) -> Numbers:
    """Return a number for each row: equal numbers mean the same question and the same answer."""
    rows = data.rows
    if rows.shape[1] == 3:
        return 2 * question + (rows[:, 1] < rows[:, 2])
    near, far = np.sort(rows[:, :2], axis=1), np.sort(rows[:, 2:], axis=1)
    less = np.where(near[:, 0] == far[:, 0], near[:, 1] < far[:, 1], near[:, 0] < far[:, 0])
    return 2 * question + less


def sorted_leaves(table: Numbers) -> Numbers:
    """Return the distinct leaves of each row in ascending order; -1 replaces repeats and comes first."""
    table = np.sort(table, axis=1)
    table[:, 1:][table[:, 1:] == table[:, :-1]] = -1
    return np.sort(table, axis=1)


def shares_of(data: "Comparisons") -> NDArray[np.float64] | None:
    """Return for each row 1 / (number of rows of its answer that have a positive weight), (m,), or None.

    Weights multiplied by these shares give each answer the mean weight of its rows. None means that all
    shares would be equal.
    """
    weights = data.weights
    if data.answers is None:
        return None
    answers = answers_of(data)
    counted = np.ones(len(data)) if weights is None else (weights > 0).astype(np.float64)
    sizes = np.bincount(answers, counted)
    if not len(sizes) or (sizes.min() == sizes.max() and (weights is None or counted.all())):
        return None
    return 1 / np.maximum(sizes, 1)[answers]
