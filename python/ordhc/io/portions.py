"""Some of the comparisons in files: whole files or people, each as often as is said."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc._progress import Progress
from ordhc.comparison import scale
from ordhc.comparison.rows import changed
from ordhc.errors import InputError
from ordhc.io.blocks import Piece
from ordhc.io.scan import Block, Scan
from ordhc.io.survey import Survey

__all__ = ["Portion", "in_units", "rows_of_units", "unit_of"]


def unit_of(scan: Scan, unit: str | None, group: Any = None) -> tuple[str, int]:
    """What is kept together, "group" or "file", and how many there are.

    Raises
    ------
    InputError
        Other units, people that aren't known.
    """
    if group is not None:
        raise InputError("group is for comparisons in memory; of a scan, scan(..., person=COLUMN) reads it")
    persons = scan.group_names
    if unit is None:
        unit = "group" if persons is not None and len(persons) > 1 else "file"
    if unit not in ("group", "file"):
        raise InputError(
            f"unit is {unit!r}; of a scan whole people ('group') or files ('file') are kept together"
        )
    if unit == "group" and persons is None:
        raise InputError("unit is 'group', but no column says whose answers these are")
    return unit, len(persons or ()) if unit == "group" else len(scan.files)


def rows_of_units(scan: Scan, unit: str, count: int, progress: Progress | None = None) -> NDArray[np.int64]:
    """Return the number of rows of each unit."""
    found = np.zeros(count, dtype=np.int64)
    for block in scan.blocks(tell=progress):
        found += np.bincount(block.units(unit), minlength=count)
    return found


class Portion(Scan):
    """The comparisons of a scan, those of each unit as often as `times` says; repeats become weights."""

    def __init__(self, scan: Scan, unit: str, times: NDArray[Any], n_rows: int) -> None:
        self.__dict__.update(scan.__dict__)
        self._whole = scan
        self._unit, self._times, self._n_rows = unit, times, n_rows
        self._repeats = bool((times > 1).any())

    @property
    def survey(self) -> Survey:
        """What is known of all rows."""
        whole = self._whole.survey
        return replace(whole, n_rows=self._n_rows, weighted=whole.weighted or self._repeats)

    def blocks(self, pieces: Sequence[Piece] | None = None, tell: Progress | None = None) -> Iterator[Block]:
        """Yield the comparisons block by block."""
        for block in self._whole.blocks(pieces, tell):
            times = self._times[block.units(self._unit)]
            kept = times > 0
            if not kept.any():
                continue
            data = block.data if kept.all() else block.data[kept]
            if self._repeats:
                weights = times[kept].astype(np.float64)
                data = changed(data, weights=weights if data.weights is None else data.weights * weights)
            yield Block(data, block.file, None if block.persons is None else block.persons[kept])


class _InUnits(Scan):
    """The comparisons of a scan with weights that are whole multiples of a unit."""

    def __init__(self, scan: Scan, unit: float) -> None:
        self.__dict__.update(scan.__dict__)
        self._whole, self._unit = scan, unit
        # Sums in files that workers share are those of these weights.
        self.state = (*scan.state, (unit,))

    @property
    def survey(self) -> Survey:
        """What is known of all rows."""
        return replace(self._whole.survey, whole=True)

    def blocks(self, pieces: Sequence[Piece] | None = None, tell: Progress | None = None) -> Iterator[Block]:
        """Yield the comparisons block by block."""
        for block in self._whole.blocks(pieces, tell):
            weights: Any = block.data.weights
            yield replace(block, data=changed(block.data, weights=np.rint(weights / self._unit)))


def in_units(scan: Scan) -> tuple[Scan, float]:
    """Give a scan with weights as whole multiples of a common unit, and the unit; else the same, and 1."""
    weights = scan.survey.weights
    unit = None if weights is None else scale.unit_of(np.array(sorted(weights)))
    return (scan, 1.0) if unit is None or unit == 1 else (_InUnits(scan, unit), unit)
