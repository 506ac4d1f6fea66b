"""Store a column as its distinct cells and one index per row, so that each distinct cell is handled once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Column:
    """A column of cells."""

    #: The distinct cells; some may belong to no row.
    different: list[Any]
    #: (m,) the index of each row's cell in `different`; -1 for rows without a cell.
    places: NDArray[np.int32]

    @classmethod
    def of(cls, cells: Sequence[Any]) -> "Column":
        """Return the column of `cells`; distinct cells are in order of first appearance.

        Cells that compare equal, such as 1 and 1.0, become one distinct cell.
        """
        number = {cell: at for at, cell in enumerate(dict.fromkeys(cells))}
        return cls(list(number), np.fromiter(map(number.__getitem__, cells), np.int32, len(cells)))

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: NDArray[Any]) -> "Column":
        return Column(self.different, self.places[rows])

    def each(self, function: Callable[[Any], Any], dtype: Any = object) -> NDArray[Any]:
        """Return the result of `function` for each row's cell, (m,).

        The function is called once for each distinct cell, and once with None for rows without a cell.
        """
        values = np.empty(len(self.different) + 1, dtype=dtype)
        # The index -1 (no cell) selects the last element, the result for None.
        values[:] = [function(cell) for cell in (*self.different, None)]
        return values[self.places]

    def mapped(self, function: Callable[[Any], Any]) -> "Column":
        number: dict[Any, int] = {}
        made = [function(cell) for cell in (*self.different, None)]
        own = [-1 if cell is None else number.setdefault(cell, len(number)) for cell in made]
        return Column(list(number), np.array(own, dtype=np.int32)[self.places])

    def objects(self) -> NDArray[np.object_]:
        return self.each(lambda cell: cell)

    def tolist(self) -> list[Any]:
        found: list[Any] = self.objects().tolist()
        return found

    def used(self) -> list[Any]:
        there = np.zeros(len(self.different) + 1, dtype=bool)
        there[self.places] = True
        cells = (*self.different, None)
        return [cells[at] for at in np.flatnonzero(there).tolist()]


def together(columns: Sequence[Column]) -> tuple[list[Any], NDArray[np.int32]]:
    number: dict[Any, int] = {}
    places = np.empty((len(columns[0]), len(columns)), dtype=np.int32)
    for at, column in enumerate(columns):
        own = [number.setdefault(cell, len(number)) for cell in column.different]
        places[:, at] = np.array([*own, -1], dtype=np.int32)[column.places]
    return list(number), places
