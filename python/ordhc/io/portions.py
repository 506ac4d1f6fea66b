"""Make resamples and folds of comparisons in files: repeat or leave out whole files or people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc._progress import Progress
from ordhc.comparison import scale
from ordhc.comparison.rows import changed
from ordhc.errors import InputError
from ordhc.io.blocks import Piece
from ordhc.io.parts import fingerprint, parts_of, pieces_in_parts
from ordhc.io.scan import Block, Scan
from ordhc.io.spill import Spill
from ordhc.io.survey import Survey


def unit_of(scan: Scan, unit: str | None, group: Any = None) -> tuple[str, int]:
    """Return the unit that resamples and folds draw or leave out as a whole, and the number of units.

    The unit is "group" (all rows of a person) or "file" (all rows of a file of `scan`). If `unit` is None,
    the unit is "group" if `scan` has rows of more than one person, and "file" otherwise. The argument `group`
    must be None, because it is only allowed for comparisons in memory.
    """
    if group is not None:
        raise InputError("group= is for comparisons in memory; for a scan, use scan(..., person=COLUMN)")
    persons = scan.group_names
    if unit is None:
        unit = "group" if persons is not None and len(persons) > 1 else "file"
    if unit not in ("group", "file"):
        raise InputError(
            f"unit is {unit!r}; for a scan, give 'group' (rows of a person) or 'file' (rows of a file)"
        )
    if unit == "group" and persons is None:
        raise InputError("unit is 'group', but the files have no column of people: scan(..., person=COLUMN)")
    return unit, len(persons or ()) if unit == "group" else len(scan.files)


def rows_of_units(scan: Scan, unit: str, count: int, progress: Progress | None = None) -> NDArray[np.int64]:
    job = _RowsOfUnits(scan, unit, count)
    if scan.resume is None:
        return job.count(None, progress)
    tasks = [(some,) for some in pieces_in_parts(scan)]
    with Spill(scan.spill) as spill:
        folders = parts_of(scan, job, tasks, spill, progress)
        found = [np.load(Path(folder) / "rows.npy") for folder in folders]
    total: NDArray[np.int64] = np.sum(found, axis=0, dtype=np.int64)
    return total


@dataclass(frozen=True)
class _RowsOfUnits:
    scan: Scan
    unit: str
    n_units: int

    def name(self, pieces: tuple[Piece, ...]) -> str:
        return fingerprint("rows of units", self.unit, self.n_units, self.scan.key(pieces))

    def make(self, folder: Path, pieces: tuple[Piece, ...], *, progress: Progress | None = None) -> None:
        np.save(folder / "rows.npy", self.count(pieces, progress))

    def count(self, pieces: Sequence[Piece] | None, progress: Progress | None = None) -> NDArray[np.int64]:
        found = np.zeros(self.n_units, dtype=np.int64)
        for block in self.scan.blocks(pieces, progress=progress):
            found += np.bincount(block.units(self.unit), minlength=self.n_units)
        return found


class Portion(Scan):
    """Comparisons in files, with all comparisons of person or file i repeated `times[i]` times.

    A repeated comparison becomes one row with a weight. People or files with `times` 0 are left out.
    """

    def __init__(self, scan: Scan, unit: str, times: NDArray[Any], n_rows: int) -> None:
        self.__dict__.update(scan.__dict__)
        self._whole = scan
        self._unit, self._times, self._n_rows = unit, times, n_rows
        self._repeats = bool((times > 1).any())

    def key(self, pieces: Sequence[Piece], *, with_survey: bool = True) -> tuple[Any, ...]:
        which = fingerprint(self._unit, self._times)
        return ("portion", which, self._whole.key(pieces, with_survey=with_survey))

    @property
    def survey(self) -> Survey:
        whole = self._whole.survey
        return replace(whole, n_rows=self._n_rows, weighted=whole.weighted or self._repeats)

    def blocks(
        self, pieces: Sequence[Piece] | None = None, *, progress: Progress | bool | None = None
    ) -> Iterator[Block]:
        for block in self._whole.blocks(pieces, progress=progress):
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
    """Comparisons in files, with weights made whole: divided by their greatest common divisor."""

    def __init__(self, scan: Scan, unit: float) -> None:
        self.__dict__.update(scan.__dict__)
        self._whole, self._unit = scan, unit

    def key(self, pieces: Sequence[Piece], *, with_survey: bool = True) -> tuple[Any, ...]:
        return ("in units", self._unit, self._whole.key(pieces, with_survey=with_survey))

    @property
    def survey(self) -> Survey:
        return replace(self._whole.survey, whole=True)

    def blocks(
        self, pieces: Sequence[Piece] | None = None, *, progress: Progress | bool | None = None
    ) -> Iterator[Block]:
        for block in self._whole.blocks(pieces, progress=progress):
            weights: Any = block.data.weights
            yield replace(block, data=changed(block.data, weights=np.rint(weights / self._unit)))


def in_units(scan: Scan) -> tuple[Scan, float]:
    """Return comparisons in files with weights divided by their greatest common divisor, and the divisor.

    Return `scan` itself and 1 if there are no weights, or if the weights have no common divisor.
    """
    weights = scan.survey.weights
    unit = None if weights is None else scale.unit_of(np.array(sorted(weights)))
    return (scan, 1.0) if unit is None or unit == 1 else (_InUnits(scan, unit), unit)
