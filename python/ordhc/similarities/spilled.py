"""Sums of pairs that may exceed memory: sorted runs of sums in files, which are merged block by block."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.comparison.units import distinct
from ordhc.io.spill import Spill, mapped

#: Bytes of memory for each row (comparison) while a run (sorted sums of pairs of leaves) is made, without and
#: with weights; and for each pair of leaves while runs are merged.
PER_ROW, PER_WEIGHTED_ROW, PER_ENTRY = 200, 300, 72


@dataclass
class Run:
    """Sorted `keys` (pairs of leaves as integers) and `values` (their sums), in memory or in two files."""

    length: int
    keys: Any
    values: Any

    @classmethod
    def all_in(cls, folder: Path) -> "list[Run]":
        found = []
        for keys in sorted(folder.glob("*.keys")):
            length = keys.stat().st_size // 8
            values = keys.with_suffix(".values")
            # `written_run` stores small integers as int32, so the size of the file shows the type.
            kind = np.int32 if length and values.stat().st_size == 4 * length else np.float64
            found.append(cls(length, str(keys), (str(values), kind)))
        return found

    def cuts(self, bounds: NDArray[np.uint64]) -> NDArray[np.intp]:
        return np.searchsorted(self._all_keys(), bounds)

    def part(self, start: int, end: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        if isinstance(self.keys, np.ndarray):
            return self.keys[start:end], self.values[start:end]
        path, kind = self.values
        keys = np.fromfile(self.keys, np.uint64, end - start, offset=8 * start)
        values = np.fromfile(path, kind, end - start, offset=np.dtype(kind).itemsize * start)
        return keys, values.astype(np.float64, copy=False)

    def sample(self, step: int) -> NDArray[np.uint64]:
        return self._all_keys()[::step].copy()

    def _all_keys(self) -> NDArray[np.uint64]:
        return self.keys if isinstance(self.keys, np.ndarray) else mapped(self.keys, np.uint64)


class PairSums:
    """Sums for pairs of leaves: comparisons are added, and the sums are returned in the order of pairs.

    If the sums need more than `memory` bytes, sorted runs of pairs and sums are written to files of `spill`.
    If `both` is True, the result has each pair twice: as (i, j) and as (j, i). `whole` is True if all weights
    are whole numbers. Then partial sums have no rounding errors.
    """

    def __init__(self, n_leaves: int, memory: int, spill: Spill, *, both: bool, whole: bool) -> None:
        self.n_leaves, self.memory, self.spill = n_leaves, memory, spill
        self.both, self.whole = both, whole
        self.runs: list[Run] = []
        self._rows: list[NDArray[Any]] = []
        self._weights: list[NDArray[np.float64] | None] = []
        self.n_held = 0

    def add(self, rows: NDArray[Any], weights: NDArray[np.float64] | None) -> None:
        per_row = PER_ROW if weights is None else PER_WEIGHTED_ROW
        most = max(1000, self.memory // per_row)
        for start in range(0, len(rows), most):
            part = slice(start, min(start + most, len(rows)))
            if self.n_held + part.stop - part.start > most:
                self._make_run(spilled=True)
            # Copy, so that the memory of the block that was read can be freed.
            self._rows.append(np.array(rows[part], dtype=np.int32))
            self._weights.append(None if weights is None else np.array(weights[part]))
            self.n_held += part.stop - part.start

    def take_runs(self, folder: Path, count: int, *, last: bool) -> list[Run]:
        if last:
            self._make_run(spilled=False)
        taken, self.runs = self.runs, []
        return [
            written_run(folder / f"{count + at:06}", *run.part(0, run.length)) for at, run in enumerate(taken)
        ]

    def _make_run(self, *, spilled: bool) -> None:
        if not self.n_held:
            return
        rows = self._rows[0] if len(self._rows) == 1 else np.concatenate(self._rows)
        weights = None
        if any(part is not None for part in self._weights):
            parts = [
                np.ones(len(at)) if part is None else part
                for at, part in zip(self._rows, self._weights, strict=True)
            ]
            weights = np.concatenate(parts)
        self._rows, self._weights, self.n_held = [], [], 0
        keys, values = _ordhc.pair_run(rows, weights, self.n_leaves, self.both, self.whole)
        del rows, weights
        run = written_run(self.spill.path("run"), keys, values) if spilled else Run(len(keys), keys, values)
        self.runs.append(run)

    def sums(self) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.float64]]]:
        """Yield pairs of leaves in ascending order and their sums, block by block, without sums of 0.

        A pair (i, j) is stored as the key i 2^32 + j.
        """
        self._make_run(spilled=bool(self.runs))
        if not self.runs:
            return
        if len(self.runs) == 1 and self.whole and isinstance(self.runs[0].keys, np.ndarray):
            yield self.runs[0].part(0, self.runs[0].length)
            return
        for _, parts in self.chunks():
            yield _ordhc.merged_runs([run.part(start, end) for run, start, end in parts])

    def chunks(self, at_least: int = 1) -> Iterator[tuple[int, tuple[tuple[Run, int, int], ...]]]:
        """Yield the number of each chunk of pairs that `bounds` gives, and its part of each run.

        A part is a run, the index of its first pair, and the index after its last pair. Chunks without pairs
        are left out.
        """
        bounds = self.bounds(at_least)
        cuts = [[0, *run.cuts(bounds).tolist(), run.length] for run in self.runs]
        for chunk in range(len(bounds) + 1):
            parts = [(run, *cut[chunk : chunk + 2]) for run, cut in zip(self.runs, cuts, strict=True)]
            if some := tuple(part for part in parts if part[1] < part[2]):
                yield chunk, some

    def bounds(self, at_least: int = 1) -> NDArray[np.uint64]:
        """Return keys (pairs of leaves as integers) that divide all pairs into chunks that fit into memory.

        All pairs with the same first leaf are in the same chunk.
        """
        total = sum(run.length for run in self.runs)
        blocks = max(at_least, -(-total * PER_ENTRY // self.memory))
        if blocks < 2:
            return np.zeros(0, dtype=np.uint64)
        step = max(1, min(1 << 16, total // (64 * blocks)))
        samples = np.sort(np.concatenate([run.sample(step) for run in self.runs]))
        if not len(samples):
            return samples
        found = samples[np.arange(1, blocks) * len(samples) // blocks] >> np.uint64(32) << np.uint64(32)
        return distinct(found)


def written_run(path: Path, keys: NDArray[np.uint64], values: NDArray[np.float64]) -> Run:
    """Write a run (sorted pairs of leaves, with their sums) to files; store small integers as int32."""
    small = bool((values == np.floor(values)).all()) and (not len(values) or np.abs(values).max() < 2**31)
    kind = np.int32 if small else np.float64
    names = (f"{path}.keys", f"{path}.values")
    keys.tofile(names[0])
    values.astype(kind, copy=False).tofile(names[1])
    return Run(len(keys), names[0], (names[1], kind))


def csr_of(
    sums: PairSums, dtype: str, number: NDArray[np.int64] | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the row pointers, columns and values of a CSR matrix; large arrays are mapped from files.

    Pointers and columns are int32, or int64 if there may be 2^31 entries or more. `number` has the
    new number of each leaf; a negative number leaves a leaf out. New numbers must keep the order of leaves.
    """
    n = sums.n_leaves
    counts = np.zeros(n, dtype=np.int64)
    kind = np.dtype(dtype)
    most = sum(run.length for run in sums.runs) + 4 * sums.n_held
    places = np.dtype(np.int32 if most < 2**31 else np.int64)
    columns, values = Growing(sums, places), Growing(sums, kind)
    for keys, found in sums.sums():
        counts += np.bincount((keys >> np.uint64(32)).astype(np.int64), minlength=n)
        at = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
        columns.add((at if number is None else number[at]).astype(places))
        values.add(found.astype(kind, copy=False))
    if number is not None:
        counts = counts[number >= 0]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(places)
    return starts, columns.array(), values.array()


class Growing:
    """An array to which parts are appended: in memory up to a sixteenth of `sums.memory`, then in a file."""

    def __init__(self, sums: PairSums, kind: np.dtype[Any]) -> None:
        self.kind, self.most, self.spill = kind, sums.memory // 16, sums.spill
        self.parts: list[NDArray[Any]] = []
        self.length = 0
        self.file: Any = None

    def add(self, part: NDArray[Any]) -> None:
        self.length += len(part)
        if self.file is None and self.length * self.kind.itemsize > self.most:
            self.file = self.spill.path("csr").open("wb")
            for earlier in self.parts:
                earlier.tofile(self.file)
            self.parts = []
        if self.file is None:
            self.parts.append(part)
        else:
            part.tofile(self.file)

    def array(self) -> NDArray[Any]:
        if self.file is None:
            return np.concatenate(self.parts) if self.parts else np.zeros(0, dtype=self.kind)
        self.file.close()
        # On POSIX, mapped memory stays valid after its file is deleted, so delete the file now.
        found = mapped(self.file.name, self.kind)
        if os.name == "posix":
            Path(self.file.name).unlink()
        return found
