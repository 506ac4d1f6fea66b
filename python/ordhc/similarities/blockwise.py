"""MulK3 of comparisons in files: a sum over the pairs that anchors are asked about, by blocks of these."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.io.scan import Scan
from ordhc.similarities.spilled import Spill

__all__ = ["mulk3_sums"]

#: Bytes of a row while its block is worked on.
PER_ROW = 120


def mulk3_sums(
    scan: Scan, normalize: bool, memory: int, spill: Spill, progress: Progress | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """The kernel of all pairs, condensed, its diagonal, and which leaves have answers of positive weight.

    Rows are cut by the smaller of the two leaves that the anchor is compared with; what does not fit into
    `memory` waits in files. Whole weights give what all rows at once give, bit for bit; others differ by
    rounding where there is more than one block.
    """
    n = scan.n_leaves
    n_blocks = min(n, -(-len(scan) * PER_ROW // memory))
    # A smaller leaf is the smaller of two more often.
    shares = 1 - np.sqrt(1 - np.arange(1, n_blocks) / n_blocks)
    cuts = (shares * n).astype(np.int64)
    held: list[list[tuple[NDArray[Any], Any]]] = [[] for _ in range(n_blocks)]
    files = [spill.path(f"mulk3-{at}") for at in range(n_blocks)] if n_blocks > 1 else []
    answered = np.zeros(n, dtype=bool)
    done = 0
    for data in scan:
        answered[(data.rows if data.weights is None else data.rows[data.weights > 0]).ravel()] = True
        if not files:
            held[0].append((data.rows, data.weights))
        else:
            which = np.searchsorted(cuts, data.rows[:, 1:].min(axis=1), side="right")
            for at in np.unique(which).tolist():
                _append(
                    files[at],
                    data.rows[which == at],
                    None if data.weights is None else data.weights[which == at],
                )
        done += len(data)
        if progress is not None:
            progress(0.5 * done / len(scan))
    pairs, diagonal, counts = np.zeros(n * (n - 1) // 2), np.zeros(n), np.zeros(n, dtype=np.int64)
    for at in range(n_blocks):
        rows, weights = _read(files[at], scan.weighted) if files else _joined(held.pop())
        if not len(rows):
            continue
        some, own = _ordhc.mulk3(rows, weights, n, False, None)
        pairs += some
        diagonal += own
        counts += _answered(rows, weights, n)
        if progress is not None:
            progress(0.5 + 0.5 * (at + 1) / n_blocks)
    if normalize:
        with np.errstate(divide="ignore"):
            scales = np.where(counts == 0, 0.0, 1 / np.sqrt(counts))
        start = 0
        for row in range(n - 1):
            pairs[start : start + n - 1 - row] *= scales[row] * scales[row + 1 :]
            start += n - 1 - row
        diagonal = np.where(counts == 0, 0.0, diagonal / np.maximum(counts, 1))
    return pairs, diagonal, answered


def _answered(rows: NDArray[Any], weights: NDArray[np.float64] | None, n: int) -> NDArray[np.int64]:
    """About how many pairs each leaf was asked as an anchor."""
    wide = (rows if weights is None else rows[weights > 0]).astype(np.int64)
    low, high = wide[:, 1:].min(axis=1), wide[:, 1:].max(axis=1)
    keys = np.unique((wide[:, 0] * n + low) * n + high)
    return np.bincount(keys // (n * n), minlength=n)


def _append(path: Path, rows: NDArray[Any], weights: NDArray[np.float64] | None) -> None:
    with path.open("ab") as stream:
        rows.astype(np.int32).tofile(stream)
    if weights is not None:
        with path.with_suffix(".weights").open("ab") as stream:
            weights.tofile(stream)


def _read(path: Path, weighted: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
    if not path.exists():
        return np.zeros((0, 3), dtype=np.int32), None
    rows = np.fromfile(path, np.int32).reshape(-1, 3)
    return rows, np.fromfile(path.with_suffix(".weights")) if weighted else None


def _joined(parts: list[tuple[NDArray[Any], Any]]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    rows = np.concatenate([rows for rows, _ in parts])
    weighted = parts[0][1] is not None
    return rows, np.concatenate([weights for _, weights in parts]) if weighted else None
