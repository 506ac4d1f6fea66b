"""Columns as numbers: what is done with a cell is done once for each different cell, not once a row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Column", "together"]


@dataclass(frozen=True)
class Column:
    """A column of cells.

    Attributes
    ----------
    different
        The different cells; some may have no row.
    places
        (m,) int32, the place of the cell of each row in `different`, -1 for rows without a cell.
    """

    different: list[Any]
    places: NDArray[np.int32]

    @classmethod
    def of(cls, cells: Sequence[Any]) -> "Column":
        """Return cells as codes, numbered in order of first appearance; cells that compare equal are one."""
        number = {cell: at for at, cell in enumerate(dict.fromkeys(cells))}
        return cls(list(number), np.fromiter(map(number.__getitem__, cells), np.int32, len(cells)))

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: NDArray[Any]) -> "Column":
        return Column(self.different, self.places[rows])

    def each(self, function: Callable[[Any], Any], dtype: Any = object) -> NDArray[Any]:
        """Return what a function makes of each row's cell, (m,); it is called once for each cell and None."""
        values = np.empty(len(self.different) + 1, dtype=dtype)
        # The place -1 means the last element.
        values[:] = [function(cell) for cell in (*self.different, None)]
        return values[self.places]

    def mapped(self, function: Callable[[Any], Any]) -> "Column":
        """Return the column of what a function makes of cells, called as in `each`; None means no cell."""
        number: dict[Any, int] = {}
        made = [function(cell) for cell in (*self.different, None)]
        own = [-1 if cell is None else number.setdefault(cell, len(number)) for cell in made]
        return Column(list(number), np.array(own, dtype=np.int32)[self.places])

    def objects(self) -> NDArray[np.object_]:
        """Return the cell of each row, None where there is none; rows of the same cell share one object."""
        return self.each(lambda cell: cell)

    def tolist(self) -> list[Any]:
        """Return `objects` as a list."""
        found: list[Any] = self.objects().tolist()
        return found

    def used(self) -> list[Any]:
        """Return the different cells that have a row, and None if there is a row without a cell."""
        there = np.zeros(len(self.different) + 1, dtype=bool)
        there[self.places] = True
        cells = (*self.different, None)
        return [cells[at] for at in np.flatnonzero(there).tolist()]


def together(columns: Sequence[Column]) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the different cells of some columns, and (m, w) the place of each cell among them."""
    number: dict[Any, int] = {}
    places = np.empty((len(columns[0]), len(columns)), dtype=np.int32)
    for at, column in enumerate(columns):
        own = [number.setdefault(cell, len(number)) for cell in column.different]
        places[:, at] = np.array([*own, -1], dtype=np.int32)[column.places]
    return list(number), places
