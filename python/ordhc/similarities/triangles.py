"""AddS with a place for every pair of leaves, counted here or by an executor."""

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
from ordhc.io.scan import Scan
from ordhc.io.spill import Spill

__all__ = ["add_blocks", "add_in_parts", "empty_sums", "mark_answered", "prefers_triangles"]

#: Rows that are added at a time: one thread adds fewer rows, if there are many pairs.
GATHERED = 1 << 21
#: Pairs of a partial triangle that are added at a time.
_STEP = 1 << 22
#: The share of progress before partial triangles are added.
_COUNTING = 0.9
#: The largest number of partial triangles for each worker. Several balance the load.
_EACH = 4


def mark_answered(answered: NDArray[np.bool_], data: Comparisons) -> None:
    """Mark the leaves of rows of positive weight."""
    if not answered.all():
        rows = data.rows if data.weights is None else data.rows[data.weights > 0]
        answered[rows.ravel()] = True


def empty_sums(n_leaves: int, n_rows: int, weighted: bool) -> NDArray[Any]:
    """Return zeros for sums of pairs: whole numbers unless there are weights, as narrow as the rows allow."""
    kind = np.float64 if weighted else np.int32 if n_rows < 2**31 else np.int64
    n_pairs = n_leaves * (n_leaves - 1) // 2
    _ordhc.check_memory("the similarities", np.dtype(kind).itemsize * n_pairs)
    return np.zeros(n_pairs, dtype=kind)


def add_blocks(
    sums: NDArray[Any], scan: Scan, blocks: Iterable[Comparisons], answered: NDArray[np.bool_]
) -> None:
    """Add the comparisons of blocks of a scan to the sums of pairs, in order, and mark their leaves."""
    for rows, weights in _gathered(scan, blocks, len(sums), answered):
        _ordhc.adds_into(sums, rows, weights, scan.n_leaves)


def _gathered(
    scan: Scan, blocks: Iterable[Comparisons], n_pairs: int, answered: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[Any], NDArray[np.float64] | None]]:
    """Yield the rows and weights of many blocks together, in arrays that are used again."""
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
    """Return whether workers count in a triangle each, instead of sorting the pairs of their rows.

    Sums of whole numbers don't depend on their order. Other weights are added in the order of the rows, so
    they are sorted, and so are pairs that exceed the memory of the scan.
    """
    n_pairs = scan.n_leaves * (scan.n_leaves - 1) // 2
    return scan.survey.whole and n_pairs * (8 if scan.weighted else 4) <= scan.memory


@dataclass(frozen=True)
class _Triangle:
    """The sums of some pieces."""

    scan: Scan

    def name(self, pieces: tuple[Piece, ...]) -> str:
        """Return the name of a part: its values are as wide as all rows need."""
        return fingerprint("triangle", len(self.scan) < 2**31, self.scan.key(pieces))

    def make(self, folder: Path, pieces: tuple[Piece, ...], *, progress: Progress | None = None) -> None:
        """Write a part."""
        scan = self.scan
        answered = np.zeros(scan.n_leaves, dtype=bool)
        sums = empty_sums(scan.n_leaves, len(scan), scan.weighted)
        add_blocks(sums, scan, (block.data for block in scan.blocks(pieces, progress=progress)), answered)
        sums.tofile(folder / "sums")
        np.save(folder / "answered.npy", answered)


def add_in_parts(
    sums: NDArray[Any], scan: Scan, spill: Spill, answered: NDArray[np.bool_], progress: Progress | None
) -> None:
    """As `add_blocks` of all blocks, by the scan's executor, or in parts that `resume` keeps.

    Each task counts in a triangle of its own, which goes to a file. The caller maps these files into memory
    and adds them up.
    """
    # A triangle is written, read and added in about the time of a tenth of a row for each pair.
    pays = len(scan) // (2 * len(sums))
    each = max(1, min(_EACH, pays))
    most = max(pays, scan.memory // (sums.itemsize * len(sums)))
    tasks = [(some,) for some in pieces_in_parts(scan, each=each, most=most)]
    folders = parts_of(scan, _Triangle(scan), tasks, spill, part(progress, 0, _COUNTING))
    for done, folder in enumerate(folders, start=1):
        np.logical_or(answered, np.load(Path(folder) / "answered.npy"), out=answered)
        partial = np.memmap(Path(folder) / "sums", dtype=sums.dtype, mode="r")
        for start in range(0, len(sums), _STEP):
            sums[start : start + _STEP] += partial[start : start + _STEP]
        del partial
        if progress is not None:
            progress(_COUNTING + (1 - _COUNTING) * done / len(folders))
