"""AddS similarities of comparisons in files, by an executor: tasks make sorted runs, other tasks merge them.

A run is a sorted list of pairs of leaves, each with its AddS similarity by some of the comparisons.

The folder of a task's result is named by a hash of the task's input, so a task that runs twice counts once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress, part
from ordhc.io.blocks import Piece
from ordhc.io.parts import fingerprint, parts_of, pieces_in_parts
from ordhc.io.scan import Scan
from ordhc.io.spill import Spill
from ordhc.similarities.spilled import PairSums, Run, written_run
from ordhc.similarities.triangles import add_answered, mark_answered, save_answered

#: The fraction of the progress for making runs (sorted sums of pairs). The rest is for merging runs.
_MAPPING = 0.8


@dataclass(frozen=True)
class _Runs:
    """A task that makes runs (sorted pairs of leaves, with their sums) from some pieces of the files."""

    scan: Scan
    memory: int
    both: bool
    number: NDArray[Any] | None

    def name(self, pieces: tuple[Piece, ...]) -> str:
        return fingerprint("runs", self.memory, self.both, self.number, self.scan.key(pieces))

    def make(self, folder: Path, pieces: tuple[Piece, ...], *, progress: Progress | None = None) -> None:
        answered = np.zeros(self.scan.n_leaves, dtype=bool)
        sums = PairSums(
            self.scan.n_leaves, self.memory, Spill(folder), both=self.both, whole=self.scan.survey.whole
        )
        runs: list[Run] = []
        for block in self.scan.blocks(pieces, progress=progress):
            data = block.data
            mark_answered(answered, data)
            sums.add(data.rows if self.number is None else self.number[data.rows], data.weights)
            runs += sums.take_runs(folder, len(runs), last=False)
        sums.take_runs(folder, len(runs), last=True)
        save_answered(answered, folder)


@dataclass(frozen=True)
class _Merging:
    """A task that merges one range of pairs of all runs (sorted pairs of leaves, with their sums)."""

    def name(self, block: int, runs: tuple[tuple[Run, int, int], ...]) -> str:
        return fingerprint("merged", block, [(run.keys, start, end) for run, start, end in runs])

    def make(self, folder: Path, _: int, runs: tuple[tuple[Run, int, int], ...], **_how: Any) -> None:
        keys, values = _ordhc.merged_runs([run.part(start, end) for run, start, end in runs])
        written_run(folder / "0", keys, values)


def mapped_sums(
    scan: Scan,
    spill: Spill,
    *,
    both: bool,
    number: NDArray[Any] | None = None,
    progress: Progress | None = None,
) -> tuple[PairSums, NDArray[np.bool_]]:
    """Compute `sparse_sums` in tasks: return the sums of pairs, and a mask of answered leaves."""
    memory, parts = scan.memory, pieces_in_parts(scan)
    job = _Runs(scan, max(16_000_000, memory // max(1, len(parts))), both, number)
    tasks = [(some,) for some in parts]
    folders = parts_of(scan, job, tasks, spill, part(progress, 0, _MAPPING))
    answered = np.zeros(scan.n_leaves, dtype=bool)
    sums = _Merged(scan.n_leaves, memory, spill, both=both, whole=scan.survey.whole)
    add_answered(answered, folders)
    for folder in folders:
        sums.runs += Run.all_in(Path(folder))
    blocks = list(sums.chunks(at_least=len(parts)))
    merged = parts_of(scan, _Merging(), blocks, spill, part(progress, _MAPPING, 1))
    sums.blocks = [run for folder in merged for run in Run.all_in(Path(folder))]
    return sums, answered


class _Merged(PairSums):
    """Sums of pairs of leaves, merged by several tasks.

    `blocks` is a list of runs (sorted pairs of leaves, with their sums). All pairs of a run precede the pairs
    of the next run.
    """

    blocks: list[Run]

    def sums(self) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.float64]]]:
        for run in self.blocks:
            yield run.part(0, run.length)
