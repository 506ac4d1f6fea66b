"""Read a large file block by block, so that reading needs little more memory than the rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.comparison.asked import Asked
from ordhc.comparison.coded import Column
from ordhc.errors import InputError
from ordhc.io.blocks import Piece, read_piece
from ordhc.io.parsed import Parsed
from ordhc.io.paths import STDIO, Source

#: Files of at least this number of bytes are read block by block.
LARGE = 1 << 22
#: A full array grows by its length divided by this number.
_GROWTH = 16
_INT32 = np.iinfo(np.int32)


class _CannotJoinError(Exception):
    """Blocks of a file cannot be joined, so the file must be read at once."""


class Growing:
    """An array to which rows are appended; `width` is the number of columns, None for one dimension.

    The array grows by `realloc`, which moves the pages of a large array instead of copying them. So there is
    never a second copy in memory.

    Examples
    --------
    >>> rows = Growing(np.int32, 2)
    >>> rows.add(np.array([[1, 2]]))
    >>> rows.add(np.array([[3, 4], [5, 6]]))
    >>> rows.array().tolist()
    [[1, 2], [3, 4], [5, 6]]
    """

    def __init__(self, dtype: Any, width: int | None = None) -> None:
        self._tail = () if width is None else (width,)
        self._held = np.empty((0, *self._tail), dtype)
        self._filled = 0

    def add(self, values: NDArray[Any]) -> None:
        end = self._filled + len(values)
        if end > len(self._held):
            self._resize(max(end, len(self._held) + len(self._held) // _GROWTH))
        self._held[self._filled : end] = values
        self._filled = end

    @property
    def n_bytes(self) -> int:
        return self._held[: self._filled].nbytes

    def array(self) -> NDArray[Any]:
        """Return the array; nothing can be appended afterwards."""
        self._resize(self._filled)
        return self._held

    def _resize(self, length: int) -> None:
        # NumPy need not check for views, because this class has returned none.
        self._held.resize((length, *self._tail), refcheck=False)


class _Lines(Sequence[int]):
    """The line number of each row; of consecutive lines, only the first number is stored."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._parts: list[int | NDArray[Any]] = []

    def add(self, count: int, first: int, numbers: NDArray[Any] | Sequence[int] | None) -> None:
        self._ends.append((self._ends[-1] if self._ends else 0) + count)
        if numbers is None:
            self._parts.append(first)
        elif count and numbers[-1] - numbers[0] == count - 1:
            self._parts.append(first + int(numbers[0]))
        else:
            self._parts.append(first + np.asarray(numbers))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, int | np.integer):
            return self._array()[key]
        at = int(np.searchsorted(self._ends, key, side="right"))
        row = int(key) - (self._ends[at - 1] if at else 0)
        part = self._parts[at]
        return part + row if isinstance(part, int) else int(part[row])

    def _array(self) -> NDArray[np.int64]:
        sizes = np.diff([0, *self._ends])
        found = [
            np.arange(part, part + size) if isinstance(part, int) else part
            for part, size in zip(self._parts, sizes.tolist(), strict=True)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])


class _Labels:
    """The answer or the person of each row: a number, or a text numbered in order of first appearance."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}
        self._codes = Growing(np.int32)
        self._are_texts: bool | None = None

    def add(self, values: NDArray[Any], texts: Sequence[str] | None) -> None:
        if self._are_texts is None:
            self._are_texts = texts is not None
        if not self._are_texts:
            if texts is not None:
                raise _CannotJoinError
            self._codes.add(_narrow(values))
            return
        if texts is None:
            different, values = np.unique(values, return_inverse=True)
            texts = [str(value) for value in different.tolist()]
        own = [self.number.setdefault(text, len(self.number)) for text in texts]
        self._codes.add(np.array(own, dtype=np.int32)[values])

    def array(self) -> NDArray[Any]:
        return self._codes.array()

    @property
    def texts(self) -> tuple[str, ...] | None:
        return tuple(self.number) if self._are_texts else None


def _narrow(values: NDArray[Any]) -> NDArray[np.int32]:
    if values.dtype.kind not in "iu":
        raise _CannotJoinError
    if len(values) and not (values.min() >= _INT32.min and values.max() <= _INT32.max):
        raise _CannotJoinError
    return values.astype(np.int32, copy=False)


def is_read_in_blocks(source: Source, suffix: str) -> bool:
    if hasattr(source, "read") or os.fspath(source) == STDIO or suffix in (".npz", ".npy"):
        return False
    path = Path(source)
    return path.is_file() and path.stat().st_size >= LARGE


def joined(path: str, asked: Asked, progress: Progress | None) -> Parsed | None:
    """Return all rows of a file, read block by block; None if the file must be read at once.

    A file is read at once if a row is invalid, because the message about it may depend on other rows.
    """
    made, done, is_checked = _Joined(), 0.0, False

    def report(share: float) -> None:
        nonlocal done
        done = share
        if progress is not None:
            progress(share)

    try:
        for parsed in read_piece(Piece(path, 0), asked, whole=True, progress=report):
            made.add(parsed)
            if done > 0 and not is_checked:
                # Estimate the memory of all rows from the first block, before the rest is read.
                is_checked = True
                _ordhc.check_memory("the comparisons", int(made.n_bytes * (1 / done - 1)))
        return made.parsed()
    except (InputError, _CannotJoinError):
        return None


class _Joined:
    def __init__(self) -> None:
        self._last: Parsed | None = None
        self._rows: Growing | None = None
        self._code: dict[str, int] | None = None
        self._weights, self._answers, self._groups = Growing(np.float64), _Labels(), _Labels()
        self._lines = _Lines()
        self._missing: list[tuple[int, str]] = []
        self._bad: list[tuple[int, str]] = []
        self._adaptive: bool | None = None

    @property
    def n_bytes(self) -> int:
        each = 0 if self._rows is None else self._rows.n_bytes
        return each + self._weights.n_bytes

    def add(self, parsed: Parsed) -> None:
        self._last = parsed
        self._missing += parsed.missing
        self._bad += parsed.bad
        if parsed.adaptive is not None:
            self._adaptive = bool(self._adaptive or parsed.adaptive)
        count = len(parsed.rows)
        if not count:
            return
        if self._rows is None:
            self._rows = Growing(np.int32, parsed.rows.shape[1])
            self._code = None if parsed.names is None else {}
        self._rows.add(self._numbered(parsed))
        self._lines.add(count, parsed.first, parsed.numbers)
        if parsed.weights is not None:
            weights = np.asarray(parsed.weights)
            if weights.dtype.kind not in "fiu":
                raise _CannotJoinError
            self._weights.add(weights)
        if parsed.answers is not None:
            values: Any = np.asarray(parsed.answers)
            texts = None
            if values.dtype == object:
                column = Column.of(values.tolist())
                texts, values = column.different, column.places
            self._answers.add(values, texts)
        if parsed.groups is not None:
            self._groups.add(np.asarray(parsed.groups), parsed.group_names)

    def _numbered(self, parsed: Parsed) -> NDArray[np.int32]:
        code = self._code
        if (code is None) != (parsed.names is None):
            raise _CannotJoinError
        if code is None:
            return _narrow(parsed.rows)
        own = [code.setdefault(name, len(code)) for name in parsed.names or ()]
        if own == list(range(len(own))):
            return parsed.rows.astype(np.int32, copy=False)
        return np.array(own, dtype=np.int32)[parsed.rows]

    def parsed(self) -> Parsed | None:
        last, count = self._last, len(self._lines)
        if last is None or self._rows is None:
            return None
        found = Parsed(last.source, self._rows.array(), unit=last.unit, ids_from=last.ids_from)
        found.names = None if self._code is None else list(self._code)
        found.delimiter, found.has_header = last.delimiter, last.has_header
        found.numbers, found.missing, found.bad = self._lines, self._missing, self._bad
        found.adaptive = self._adaptive
        weights, answers, groups = (each.array() for each in (self._weights, self._answers, self._groups))
        if not {len(weights), len(answers), len(groups)} <= {0, count}:
            return None
        found.weights = weights if len(weights) else None
        found.answers = answers if len(answers) else None
        if len(groups):
            found.groups, found.group_names = groups, self._groups.texts
        return found
