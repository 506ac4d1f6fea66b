"""AddS similarities of comparisons in files, which are read block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress, part
from ordhc._workers import worth
from ordhc.comparison.canonical import keys_in_order
from ordhc.comparison.comparisons import fitting_comparisons
from ordhc.io.blocks import Piece, is_parquet
from ordhc.io.parts import fingerprint, parts_of, pieces_in_parts
from ordhc.io.scan import Scan
from ordhc.io.spill import Spill
from ordhc.similarities.bucketed import bucketed_sums
from ordhc.similarities.mapped import mapped_sums
from ordhc.similarities.spilled import PairSums
from ordhc.similarities.triangles import (
    add_blocks,
    add_in_parts,
    empty_sums,
    mark_answered,
    prefers_triangles,
)

#: `canonical_order_of` adds integers modulo this prime.
_FIELD = np.uint64(2**61 - 1)
#: The number of sums that are converted to float64 at a time.
_STEP = 1 << 18
#: Estimated seconds for each row: to add the row to the sums, to read it from text, to read it from Parquet.
_ADDED, _TEXT, _COLUMNS = 24e-9, 85e-9, 15e-9
#: Estimated seconds for each pair of leaves: to add a worker's sum to the total, or to write it to a file.
_MERGED, _WRITTEN = 6e-9, 1e-9


def dense_sums(
    scan: Scan,
    spill: Spill,
    progress: Progress | None = None,
    *,
    floats: bool = False,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the n(n-1)/2 AddS similarities in SciPy's order, and a mask of leaves with answers.

    The similarities have the same bits as for all comparisons in memory.
    Sums of whole numbers are exact in any order. Other weights are added in the order of the rows. With
    `floats`, sums of whole numbers are returned as float64, without further memory.
    """
    n = scan.n_leaves
    triangles = prefers_triangles(scan) if scan.in_parts else False
    seconds = len(scan) * (_ADDED + (_COLUMNS if is_parquet(scan.files[0]) else _TEXT))
    executor = worth(scan.executor, seconds, (_MERGED if triangles else _WRITTEN) * n * (n - 1) / 2)
    if executor is None:
        scan = scan.without_executor()
    answered = np.zeros(n, dtype=bool)
    if scan.in_parts and not triangles:
        pairs = empty_sums(n, len(scan), scan.weighted or floats)
        return bucketed_sums(scan, spill, pairs, answered, progress), answered
    whole: NDArray[Any] | None = None
    if floats and not scan.weighted and len(scan) < 2**31:
        # Count in int32 in the second half of the memory of `pairs`; later convert to float64 from the front.
        pairs = empty_sums(n, 0, True)
        whole = pairs.view(np.int32)[len(pairs) :]
    else:
        pairs = empty_sums(n, len(scan), scan.weighted)
    sums = pairs if whole is None else whole
    if scan.in_parts:
        add_in_parts(sums, scan, spill, answered, progress)
    else:
        add_blocks(sums, scan, scan.blocks(progress=progress), answered)
    if whole is not None:
        for start in range(0, len(pairs), _STEP):
            some = slice(start, min(start + _STEP, len(pairs)))
            pairs[some] = whole[some].copy()
    return pairs.astype(np.float64, copy=False) if floats else pairs, answered


def sparse_sums(
    scan: Scan,
    spill: Spill,
    *,
    both: bool,
    number: NDArray[Any] | None = None,
    progress: Progress | None = None,
) -> tuple[PairSums, NDArray[np.bool_]]:
    """Return the AddS similarities of pairs with answers, and a mask of leaves with answers.

    `both` stores each pair as (i, j) and as (j, i). `number` has the new number of each leaf, or is None.
    """
    n = scan.n_leaves
    if scan.in_parts:
        return mapped_sums(scan, spill, both=both, number=number, progress=progress)
    answered = np.zeros(n, dtype=bool)
    sums = PairSums(n, scan.memory, spill, both=both, whole=scan.survey.whole)
    for block in scan.blocks(progress=progress):
        data = block.data
        mark_answered(answered, data)
        sums.add(data.rows if number is None else number[data.rows], data.weights)
    return sums, answered


def canonical_order_of(
    scan: Scan, accepts: tuple[str, ...], what: str, progress: Progress | None = None
) -> NDArray[np.int64]:
    """Return an order of the leaves that depends on the comparisons, not on how the leaves are numbered.

    The result is the `canonical_order` of the comparisons in the files of `scan`, which are read a few times.
    `accepts` are the accepted types, "triplets" or "quadruplets". If `accepts` has only "quadruplets",
    triplets are converted first. An error about a type that is not accepted begins with `what`.
    """
    n, survey = scan.n_leaves, scan.survey
    job = _CanonicalSums(scan, accepts, what, 1.0 if survey.whole else survey.largest_weight)

    passes = count(1)

    def sums(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
        # The number of passes depends on the answers, so each pass takes half of the remaining progress.
        left = 2.0 ** -next(passes)
        own = part(progress, 1 - 2 * left, 1 - left)
        if scan.resume is None:
            return job.add(keys, None, own)
        tasks = [(keys, some) for some in pieces_in_parts(scan)]
        with Spill(scan.spill) as spill:
            folders = parts_of(scan, job, tasks, spill, own)
        total = np.zeros(n, dtype=np.uint64)
        for folder in folders:
            # Sums modulo a prime are exact, so their order does not matter.
            total = (total + np.load(Path(folder) / "sums.npy")) % _FIELD
        return total

    return keys_in_order(n, sums)


@dataclass(frozen=True)
class _CanonicalSums:
    """The task of one pass of `canonical_order_of` over some pieces of the files."""

    scan: Scan
    accepts: tuple[str, ...]
    what: str
    unit: float

    def name(self, keys: NDArray[np.uint64], pieces: tuple[Piece, ...]) -> str:
        return fingerprint("canonical", self.accepts, self.unit, keys, self.scan.key(pieces))

    def make(
        self,
        folder: Path,
        keys: NDArray[np.uint64],
        pieces: tuple[Piece, ...],
        *,
        progress: Progress | None = None,
    ) -> None:
        np.save(folder / "sums.npy", self.add(keys, pieces, progress))

    def add(
        self, keys: NDArray[np.uint64], pieces: Sequence[Piece] | None, progress: Progress | None = None
    ) -> NDArray[np.uint64]:
        found = np.zeros(self.scan.n_leaves, dtype=np.uint64)
        for block in self.scan.blocks(pieces, progress=progress):
            fitting = fitting_comparisons(block.data, self.accepts, self.what)
            _ordhc.canonical_sums(fitting.rows, fitting.weights, self.unit, keys, found)
        return found
