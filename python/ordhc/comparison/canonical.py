"""Order leaves by the data, so that the results of searches do not depend on how leaves are numbered."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.comparison.comparisons import Comparisons, Quadruplets
from ordhc.comparison.rows import changed

_C = TypeVar("_C", bound=Comparisons)


def canonical_order(data: Comparisons) -> NDArray[np.int64]:
    """Return the leaves in an order that depends neither on their numbers nor on the order of rows.

    Only leaves that the data cannot distinguish are ordered by their numbers.
    """
    return _ordhc.canonical_order(data.rows, data.weights, data.n_leaves)


def keys_in_order(n: int, sums: Callable[[NDArray[np.uint64]], NDArray[np.uint64]]) -> NDArray[np.int64]:
    """Return the `canonical_order` of n leaves, for comparisons that are not in memory.

    `sums` receives a key for each leaf; at first all keys are 0. `sums` hashes each comparison from the keys
    of its leaves, and returns for each leaf the sum of the hashes of its comparisons. The sums give new keys.
    `sums` is called again as long as new keys distinguish more leaves.
    """
    keys = np.zeros(n, dtype=np.uint64)
    while n > 1 and (found := _ordhc.canonical_keys(keys, sums(keys))) is not None:
        keys = found
    return np.argsort(keys, kind="stable").astype(np.int64)


def in_order(data: _C, order: NDArray[np.int64], *, sort: bool = True) -> _C:
    """Return comparisons in which leaf `order[i]` gets the number i and keeps its name.

    Unless `sort` is False, the rows are sorted, and so are the two leaves of each pair of quadruplets.
    """
    rows = np.argsort(order).astype(data.rows.dtype).take(data.rows, mode="wrap")
    names = None if data.names is None else tuple(data.names[leaf] for leaf in order.tolist())
    if not sort:
        return changed(data, rows=rows, names=names)
    if isinstance(data, Quadruplets):
        # "a and b" and "b and a" are the same pair.
        rows = np.sort(rows.reshape(-1, 2, 2), axis=2).reshape(-1, 4)
    shape = (len(order),) * rows.shape[1]
    beside = (data.weights, data.answers, data.groups)
    if all(values is None for values in beside) and len(order) ** len(shape) < 2**62:
        keys = np.ravel_multi_index(tuple(rows.T), shape)
        keys.sort()
        rows = np.column_stack(np.unravel_index(keys, shape)).astype(rows.dtype)
        return changed(data, rows=rows, names=names)
    sort_by = () if data.weights is None else (data.weights,)
    by_content = np.lexsort((*sort_by, *rows.T[::-1]))
    weights, answers, groups = (None if values is None else values[by_content] for values in beside)
    rows = rows[by_content]
    return changed(data, rows=rows, names=names, weights=weights, answers=answers, groups=groups)
