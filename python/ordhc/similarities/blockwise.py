"""MulK3 (Kendall's kernel of triplets) of comparisons in files, computed for one block of pairs at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress, part
from ordhc.comparison.units import distinct
from ordhc.io.blocks import Piece
from ordhc.io.parts import fingerprint, parts_of, pieces_in_parts, ranges
from ordhc.io.scan import Scan
from ordhc.io.spill import Spill
from ordhc.similarities.triangles import add_answered, mark_answered, save_answered

#: Bytes of memory that computing the kernel needs for each row (comparison).
PER_ROW = 120
#: With `resume`, the maximum number of blocks, unless the limit of memory or the workers need more.
_BLOCKS = 16
#: The condensed kernel of some comparisons, its diagonal, and for each leaf the number of distinct pairs of
#: leaves that are compared with it.
Kernel = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]


def mulk3_sums(
    scan: Scan,
    normalize: bool,
    spill: Spill,
    progress: Progress | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return condensed MulK3, its diagonal, and a mask of the leaves with answers of positive weight.

    A row (a, b, c) compares leaves b and c with leaf a. Rows are divided into blocks by the smaller number of
    b and c, so that all rows that compare the same two leaves are in one block. If the rows exceed
    `scan.memory`, blocks are written to files.

    If all weights are whole numbers, the result has the same bits as for all rows in one block. Otherwise,
    values from several blocks can differ by rounding.
    """
    n = scan.n_leaves
    answered = np.zeros(n, dtype=bool)
    n_blocks = max(1, min(n, -(-len(scan) * PER_ROW // scan.memory)))
    if not scan.in_parts and n_blocks == 1:
        before, progress = part(progress, 0, 0.3), part(progress, 0.3, 1)
        whole = scan.read(progress=before)
        mark_answered(answered, whole)
        return *_normalized(_kernel(whole.rows, whole.weights, n, progress), normalize), answered
    if scan.in_parts and scan.survey.whole:
        # Sums of whole numbers are exact, so the number of blocks does not change the result.
        most = min(_BLOCKS, scan.memory // (8 * n * max(1, n - 1)))
        n_blocks = max(n_blocks, len(ranges(scan, n, each=2, most=most)))
    before, after = part(progress, 0, 0.5), part(progress, 0.5, 1)
    sums: Kernel = (np.zeros(n * (n - 1) // 2), np.zeros(n), np.zeros(n, dtype=np.int64))
    split = _Split(scan, n_blocks)
    parts = pieces_in_parts(scan) if scan.in_parts else [tuple(scan.pieces)]
    folders = parts_of(scan, split, [(some,) for some in parts], spill, before)
    kernels = _Kernels(scan, tuple(folders))
    found: Iterable[Iterable[NDArray[Any]]]
    if scan.in_parts:
        made = parts_of(scan, kernels, [(block,) for block in range(n_blocks)], spill, after)
        found = ([np.load(Path(folder) / f"{at}.npy") for at in range(3)] for folder in made)
    else:
        found = (
            kernels.of(block, part(after, block / n_blocks, (block + 1) / n_blocks))
            for block in range(n_blocks)
        )
    for kernel in found:
        for total, some in zip(sums, kernel, strict=True):
            np.add(total, some, out=total)
    add_answered(answered, folders)
    return *_normalized(sums, normalize), answered


@dataclass(frozen=True)
class _Split:
    """A task that reads pieces of files, and appends each row to the file of its block, see `mulk3_sums`."""

    scan: Scan
    n_blocks: int

    def name(self, pieces: tuple[Piece, ...]) -> str:
        return fingerprint("mulk3", self.n_blocks, self.scan.key(pieces))

    def make(self, folder: Path, pieces: tuple[Piece, ...], *, progress: Progress | None = None) -> None:
        n = self.scan.n_leaves
        # The smaller leaf of a pair more often has a small number than a large number. So the first blocks
        # get fewer leaves than the last blocks, and all blocks have about the same number of rows.
        shares = 1 - np.sqrt(1 - np.arange(1, self.n_blocks) / self.n_blocks)
        cuts = (shares * n).astype(np.int64)
        answered = np.zeros(n, dtype=bool)
        for block in self.scan.blocks(pieces, progress=progress):
            rows, weights = block.data.rows, block.data.weights
            mark_answered(answered, block.data)
            which = np.searchsorted(cuts, rows[:, 1:].min(axis=1), side="right")
            for at in np.unique(which).tolist():
                some = which == at
                _append(folder / str(at), rows[some], None if weights is None else weights[some])
        save_answered(answered, folder)


@dataclass(frozen=True)
class _Kernels:
    """A task that computes the kernel of one block of rows, which `_Split` wrote to `folders`."""

    scan: Scan
    folders: tuple[str, ...]

    def name(self, block: int) -> str:
        return fingerprint("kernel", block, self.folders, self.scan.weighted)

    def make(self, folder: Path, block: int, *, progress: Progress | None = None) -> None:
        for at, values in enumerate(self.of(block, progress)):
            np.save(folder / f"{at}.npy", values)

    def of(self, block: int, progress: Progress | None = None) -> Kernel:
        found = [_read(Path(folder) / str(block), self.scan.weighted) for folder in self.folders]
        rows = np.concatenate([rows for rows, _ in found])
        weights = np.concatenate([own for _, own in found if own is not None]) if self.scan.weighted else None
        return _kernel(rows, weights, self.scan.n_leaves, progress)


def _kernel(
    rows: NDArray[Any], weights: NDArray[np.float64] | None, n: int, progress: Progress | None = None
) -> Kernel:
    if not len(rows):
        return np.zeros(n * (n - 1) // 2), np.zeros(n), np.zeros(n, dtype=np.int64)
    pairs, diagonal = _ordhc.mulk3(rows, weights, n, False, progress)
    wide = (rows if weights is None else rows[weights > 0]).astype(np.int64)
    low, high = wide[:, 1:].min(axis=1), wide[:, 1:].max(axis=1)
    keys = distinct((wide[:, 0] * n + low) * n + high)
    return pairs, diagonal, np.bincount(keys // (n * n), minlength=n)


def _normalized(sums: Kernel, normalize: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the kernel K of all pairs, and its diagonal; with `normalize`, K_ij is divided by sqrt(c_i c_j).

    c_i is the number of distinct pairs of leaves that answers compare with leaf i.
    """
    pairs, diagonal, counts = sums
    if normalize:
        n = len(counts)
        with np.errstate(divide="ignore"):
            scales = np.where(counts == 0, 0.0, 1 / np.sqrt(counts))
        start = 0
        for row in range(n - 1):
            pairs[start : start + n - 1 - row] *= scales[row] * scales[row + 1 :]
            start += n - 1 - row
        diagonal = np.where(counts == 0, 0.0, diagonal / np.maximum(counts, 1))
    return pairs, diagonal


def _append(path: Path, rows: NDArray[Any], weights: NDArray[np.float64] | None) -> None:
    with path.open("ab") as stream:
        rows.astype(np.int32).tofile(stream)
    if weights is not None:
        with path.with_suffix(".weights").open("ab") as stream:
            weights.tofile(stream)


def _read(path: Path, weighted: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
    if not path.exists():
        return np.zeros((0, 3), dtype=np.int32), np.zeros(0) if weighted else None
    rows = np.fromfile(path, np.int32).reshape(-1, 3)
    return rows, np.fromfile(path.with_suffix(".weights")) if weighted else None
