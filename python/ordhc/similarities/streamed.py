"""AddS of comparisons that come block by block."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.comparison.canonical import keys_in_order
from ordhc.comparison.comparisons import Comparisons, Triplets
from ordhc.io.scan import Scan
from ordhc.io.spill import Spill
from ordhc.similarities.mapped import mapped_sums
from ordhc.similarities.spilled import PairSums

__all__ = ["Dense", "blocks_of", "canonical_order_of", "dense_sums", "sparse_sums"]


#: Values that are converted at a time.
_STEP = 1 << 18
#: Rows that are added at a time: fewer would be added by one thread, if pairs are many.
GATHERED = 1 << 21


@dataclass
class Dense:
    """The n(n-1)/2 sums of pairs as SciPy orders them, and which leaves have answers of positive weight."""

    pairs: NDArray[Any]
    answered: NDArray[np.bool_]


def blocks_of(scan: Scan, progress: Progress | None = None) -> Iterable[Comparisons]:
    """The comparisons of a scan, telling progress."""
    total, done = max(1, len(scan)), 0
    for block in scan:
        yield block
        done += len(block)
        if progress is not None:
            progress(min(1.0, done / total))


def mark_answered(answered: NDArray[np.bool_], data: Comparisons) -> None:
    """Mark the leaves of rows of positive weight."""
    if not answered.all():
        rows = data.rows if data.weights is None else data.rows[data.weights > 0]
        answered[rows.ravel()] = True


def empty_sums(n_leaves: int, n_rows: int, weighted: bool) -> NDArray[Any]:
    """Zeros for sums of pairs: whole numbers unless there are weights, as narrow as the rows allow."""
    kind = np.float64 if weighted else np.int32 if n_rows < 2**31 else np.int64
    n_pairs = n_leaves * (n_leaves - 1) // 2
    _ordhc.check_memory("the similarities", np.dtype(kind).itemsize * n_pairs)
    return np.zeros(n_pairs, dtype=kind)


def dense_sums(
    scan: Scan,
    spill: Spill,
    progress: Progress | None = None,
    *,
    floats: bool = False,
) -> Dense:
    """AddS with a place for every pair: what all comparisons at once give, bit for bit.

    Whole numbers are exact in any order; weights are added in the order of the rows. With `floats` whole
    numbers become float64, in the same memory.
    """
    n = scan.n_leaves
    if scan.executor is not None:
        mapped, answered = mapped_sums(scan, spill, both=False, progress=progress)
        pairs = empty_sums(n, len(scan), scan.weighted or floats)
        for keys, values in mapped.sums():
            low, high = (
                (keys >> np.uint64(32)).astype(np.int64),
                (keys & np.uint64(0xFFFFFFFF)).astype(np.int64),
            )
            pairs[low * (2 * n - low - 1) // 2 + high - low - 1] = values
        return Dense(pairs, answered)
    answered = np.zeros(n, dtype=bool)
    whole: NDArray[Any] | None = None
    if floats and not scan.weighted and len(scan) < 2**31:
        # The second half of the floats holds numbers of half their size, which become floats from the front.
        pairs = empty_sums(n, 0, True)
        whole = pairs.view(np.int32)[len(pairs) :]
    else:
        pairs = empty_sums(n, len(scan), scan.weighted)
    sums = pairs if whole is None else whole
    for rows, weights in _gathered(scan, len(pairs), answered, progress):
        _ordhc.adds_into(sums, rows, weights, n)
    if whole is not None:
        for start in range(0, len(pairs), _STEP):
            part = slice(start, min(start + _STEP, len(pairs)))
            pairs[part] = whole[part].copy()
    return Dense(pairs.astype(np.float64, copy=False) if floats else pairs, answered)


def _gathered(
    scan: Scan, n_pairs: int, answered: NDArray[np.bool_], progress: Progress | None
) -> Iterator[tuple[NDArray[Any], NDArray[np.float64] | None]]:
    """The rows and weights of many blocks together, in arrays that are used again."""
    most = min(max(GATHERED, n_pairs // 256 + 1), 4 * GATHERED, max(1, len(scan)))
    held = np.empty((most, 3 if scan.kind is Triplets else 4), dtype=np.int32)
    weights = np.empty(most) if scan.weighted else None
    filled = 0
    for block in blocks_of(scan, progress):
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


def sparse_sums(
    scan: Scan,
    spill: Spill,
    *,
    both: bool,
    number: NDArray[Any] | None = None,
    progress: Progress | None = None,
) -> tuple[PairSums, NDArray[np.bool_]]:
    """AddS of the pairs that answers are about, and which leaves have answers; `number` renumbers leaves."""
    n = scan.n_leaves
    if scan.executor is not None:
        return mapped_sums(scan, spill, both=both, number=number, progress=progress)
    answered = np.zeros(n, dtype=bool)
    sums = PairSums(n, scan.memory, spill, both=both, whole=scan.survey.whole)
    for block in blocks_of(scan, progress):
        mark_answered(answered, block)
        sums.add(block.rows if number is None else number[block.rows], block.weights)
    return sums, answered


def canonical_order_of(scan: Scan, fitted: Callable[[Comparisons], Comparisons]) -> NDArray[np.int64]:
    """The order of `comparison.canonical`, found in a few passes."""
    n, survey = scan.n_leaves, scan.survey
    unit = 1.0 if survey.whole else survey.largest_weight

    def sums(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
        found = np.zeros(n, dtype=np.uint64)
        for block in scan:
            fitting = fitted(block)
            _ordhc.canonical_sums(fitting.rows, fitting.weights, unit, keys, found)
        return found

    return keys_in_order(n, sums)
