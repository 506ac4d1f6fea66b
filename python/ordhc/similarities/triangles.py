"""AddS similarities as a condensed matrix, a sum for each pair of leaves; computed here or by an executor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress, part
from ordhc.comparison.comparisons import Comparisons, Triplets
from ordhc.io.blocks import Piece
from ordhc.io.parts import fingerprint, parts_of, pieces_in_parts
from ordhc.io.scan import Block, Scan
from ordhc.io.spill import Spill, mapped

#: The number of rows that are added at a time. For many leaves, up to four times as many rows are
#: added, because several threads are used only if there is more than one row for 256 pairs of leaves.
GATHERED = 1 << 21
#: Each worker writes its sums to a file. The sums of this number of pairs are read and added at a time.
_STEP = 1 << 22
#: The fraction of the progress at which all workers have computed their sums. The rest is for adding them.
_COUNTING = 0.9
#: The largest number of tasks for each worker. More tasks balance the load better, but each task writes an
#: array of all pairs.
_EACH = 2
#: The number of bytes of an array that fits into a processor's cache.
_CACHED = 16 << 20
#: With this number of rows for each pair of leaves, sums are less data than sorted additions.
_ROWS = 16


def mark_answered(answered: NDArray[np.bool_], data: Comparisons) -> None:
    if not answered.all():
        rows = data.rows if data.weights is None else data.rows[data.weights > 0]
        answered[rows.ravel()] = True


def save_answered(answered: NDArray[np.bool_], folder: Path) -> None:
    """Write the mask of one task to the folder of its results, from which `add_answered` reads it."""
    np.save(folder / "answered.npy", answered)


def add_answered(answered: NDArray[np.bool_], folders: Iterable[str]) -> None:
    """Set `answered` to True for the leaves that any task has marked in its folder."""
    for folder in folders:
        answered |= np.load(Path(folder) / "answered.npy")


def empty_sums(n_leaves: int, n_rows: int, weighted: bool) -> NDArray[Any]:
    """Return zeros for sums of pairs: float64 with weights, else int32, or int64 for 2^31 rows or more."""
    kind = np.float64 if weighted else np.int32 if n_rows < 2**31 else np.int64
    n_pairs = n_leaves * (n_leaves - 1) // 2
    _ordhc.check_memory("the similarities", np.dtype(kind).itemsize * n_pairs)
    return np.zeros(n_pairs, dtype=kind)


def add_blocks(sums: NDArray[Any], scan: Scan, blocks: Iterable[Block], answered: NDArray[np.bool_]) -> None:
    for rows, weights in gathered(scan, (block.data for block in blocks), len(sums), answered):
        _ordhc.adds_into(sums, rows, weights, scan.n_leaves)


def gathered(
    scan: Scan, blocks: Iterable[Comparisons], n_pairs: int, answered: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[Any], NDArray[np.float64] | None]]:
    """Yield rows and weights joined from many blocks; the next iteration overwrites the same arrays."""
    most = min(max(GATHERED, n_pairs // 256 + 1), 4 * GATHERED, max(1, len(scan)))
    held = np.empty((most, 3 if scan.kind is Triplets else 4), dtype=np.int32)
    weights = np.empty(most) if scan.weighted else None
    filled = 0
    for block in blocks:
        mark_answered(answered, block)
        start, own = 0, block.weights
        while start < len(block):
            taken = min(len(block) - start, most - filled)
            held[filled : filled + taken] = block.rows[start : start + taken]
            if weights is not None:
                weights[filled : filled + taken] = 1.0 if own is None else own[start : start + taken]
            start, filled = start + taken, filled + taken
            if filled == most:
                yield held, weights
                filled = 0
    if filled:
        yield held[:filled], None if weights is None else weights[:filled]


def prefers_triangles(scan: Scan) -> bool:
    """Return True if each worker should have an array of all pairs, False if workers write sorted lists.

    An array of all pairs needs memory in each worker, and whole weights, because their sums do not depend on
    the order. The sorted lists of changes of similarities need 8 bytes on disk for each comparison.
    """
    n_pairs = scan.n_leaves * (scan.n_leaves - 1) // 2
    size = n_pairs * (8 if scan.weighted else 4)
    small = size <= _CACHED or len(scan) >= _ROWS * n_pairs
    return scan.survey.whole and size <= scan.memory and small


@dataclass(frozen=True)
class _Triangle:
    """A task that computes the sums of all pairs (a condensed matrix) from some files or row groups."""

    scan: Scan

    def name(self, pieces: tuple[Piece, ...]) -> str:
        # The type of the sums depends on the number of all rows.
        return fingerprint("triangle", len(self.scan) < 2**31, self.scan.key(pieces))

    def make(self, folder: Path, pieces: tuple[Piece, ...], *, progress: Progress | None = None) -> None:
        scan = self.scan
        answered = np.zeros(scan.n_leaves, dtype=bool)
        sums = empty_sums(scan.n_leaves, len(scan), scan.weighted)
        add_blocks(sums, scan, scan.blocks(pieces, progress=progress), answered)
        sums.tofile(folder / "sums")
        save_answered(answered, folder)


def add_in_parts(
    sums: NDArray[Any], scan: Scan, spill: Spill, answered: NDArray[np.bool_], progress: Progress | None
) -> None:
    """Add all comparisons of `scan` to `sums`, in tasks, and set `answered` to True for their leaves.

    The scan's executor runs the tasks, or else this process. A folder `scan.resume` stores their results.
    Each task adds its rows in a condensed matrix of its own, and writes it to a file. The
    caller maps these files into memory and adds them.
    """
    # The number of tasks that pay off: each should have at least two rows for each pair of leaves, because
    # writing, reading and adding the sum of a pair takes about a tenth of the time of a row.
    pays = len(scan) // (2 * len(sums))
    each = max(1, min(_EACH, pays))
    most = max(pays, scan.memory // (sums.itemsize * len(sums)))
    tasks = [(some,) for some in pieces_in_parts(scan, each=each, most=most)]
    folders = parts_of(scan, _Triangle(scan), tasks, spill, part(progress, 0, _COUNTING))
    add_answered(answered, folders)
    for done, folder in enumerate(folders, start=1):
        partial = mapped(Path(folder) / "sums", sums.dtype)
        for start in range(0, len(sums), _STEP):
            sums[start : start + _STEP] += partial[start : start + _STEP]
        del partial
        if progress is not None:
            progress(_COUNTING + (1 - _COUNTING) * done / len(folders))
