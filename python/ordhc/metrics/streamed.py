"""Score a tree against comparisons that are read block by block.

The results equal those for all comparisons at once, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.comparison.comparisons import Comparisons, fitting_comparisons
from ordhc.errors import InputError
from ordhc.io.scan import Scan
from ordhc.tree.dendrogram import Dendrogram, engine_tree
from ordhc.tree.matching import prepared

#: The compiled code adds up this number of rows at a time. The same boundaries here give the same rounding.
_ROWS = 1 << 14


def matched(tree: Any, scan: Scan, kinds: tuple[str, ...], what: str) -> Dendrogram:
    """Return the tree with its leaves numbered as in the files."""
    found, _ = prepared(
        tree, fitting_comparisons(scan.without_rows(), kinds, f"metric {what!r}"), kinds, what
    )
    return found


def revenue_of(tree: Dendrogram, data: Scan | Comparisons, progress: Progress | None = None) -> int | float:
    """Return the revenue of a tree of the same leaves; an exact int if the comparisons have no weights."""
    if not isinstance(data, Scan):
        return _ordhc.revenue(engine_tree(tree), data.rows, data.weights, progress)
    blocks = _blocks(data, progress)
    if not data.weighted:
        return sum(int(_ordhc.revenue(engine_tree(tree), block.rows, None)) for block in blocks)
    total = _Sum()
    for rows, weights in _cut(blocks):
        total.add(float(_ordhc.revenue(engine_tree(tree), rows, weights)))
    return _finite(total.value, "revenue")


def best_of(data: Scan | Comparisons, progress: Progress | None = None) -> int | float:
    """Return the upper bound of the revenue, (n - 2) times the sum of weights."""
    if not isinstance(data, Scan):
        return _ordhc.best_revenue(data.rows, data.weights, data.n_leaves)
    each = max(0, data.n_leaves - 2)
    if not data.weighted:
        return len(data) * each
    total = _Sum()
    for block in _blocks(data, progress):
        assert block.weights is not None
        for weight in (block.weights * each).tolist():
            total.add(weight)
    return _finite(total.value, "best revenue")


def satisfied_of(
    tree: Dendrogram, scan: Scan, progress: Progress | None = None
) -> tuple[float, float, float]:
    """Return the total weights of comparisons that a tree agrees with, disagrees with and does not decide."""
    total = np.zeros(3)
    blocks = _blocks(scan, progress)
    parts: Iterable[tuple[Any, Any]] = _cut(blocks) if scan.weighted else ((b.rows, None) for b in blocks)
    for rows, weights in parts:
        total += _ordhc.satisfied(engine_tree(tree), rows, weights)
    agreed, disagreed, unresolved = total.tolist()
    return agreed, disagreed, unresolved


def _blocks(scan: Scan, progress: Progress | None) -> Iterator[Comparisons]:
    done = 0
    for block in scan:
        yield block
        done += len(block)
        if progress is not None:
            progress(min(1.0, done / max(1, len(scan))))


def _cut(blocks: Iterable[Comparisons]) -> Iterator[tuple[Any, Any]]:
    """Yield the rows and weights of `blocks` in pieces of `_ROWS` rows; the last piece can be shorter."""
    rest: list[tuple[Any, Any]] = []
    held = 0
    for block in blocks:
        rest.append((block.rows, block.weights))
        held += len(block)
        if held < _ROWS:
            continue
        rows, weights = (np.concatenate(parts) for parts in zip(*rest, strict=True))
        whole = held - held % _ROWS
        for start in range(0, whole, _ROWS):
            yield rows[start : start + _ROWS], weights[start : start + _ROWS]
        rest, held = [(rows[whole:], weights[whole:])], held - whole
    if held:
        rows, weights = (np.concatenate(parts) for parts in zip(*rest, strict=True))
        yield rows, weights


class _Sum:
    """A sum of floats that compensates rounding errors (Neumaier 1974), as sums in the compiled code do."""

    def __init__(self) -> None:
        self.total = self.lost = 0.0

    def add(self, x: float) -> None:
        total = self.total + x
        large, small = (self.total, x) if abs(self.total) >= abs(x) else (x, self.total)
        self.lost += (large - total) + small
        self.total = total

    @property
    def value(self) -> float:
        return self.total + self.lost


def _finite(value: float, what: str) -> float:
    if not np.isfinite(value):
        raise InputError(f"the weights are so large that the {what} overflows a float; rescale them")
    return value
