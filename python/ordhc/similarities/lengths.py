"""Estimate lengths of leaves, and reduce the weight of answers that lengths alone explain.

The length of a leaf is large if the leaf is untypical, which means far from all other leaves.

In the answer "a is closer to b than to c", b is the near leaf and c is the far leaf. Lengths depend only on
counts of near and far leaves. Files are therefore read twice: once for these counts, and once to add up the
weighted answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._checks import quoted
from ordhc._progress import Progress, part
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.rows import changed
from ordhc.comparison.units import answers_of
from ordhc.errors import InputError
from ordhc.io.blocks import Piece
from ordhc.io.parts import fingerprint, parts_of, pieces_in_parts
from ordhc.io.scan import Block, Scan
from ordhc.io.spill import Spill
from ordhc.io.survey import Survey

_C = TypeVar("_C", bound=Triplets | Quadruplets)

#: With `lengths=None`, lengths of leaves (how untypical each leaf is) are used if their standard deviation is
#: at least this value. If all true lengths are 0, estimated lengths have smaller standard deviations: 0.17
#: for simulated answers from random trees of 80 leaves, 0.05 for trees of `datasets.planted`. If the true
#: standard deviation is 0.5, the estimates have 0.3 to 0.4. The data sets Car and Food have 0.9 and 0.35.
_LEAST_SPREAD = 0.25
#: The fraction of the progress for counting near and far leaves. The rest is for fitting lengths.
_COUNTING = 0.7
#: Reduced weights are multiples of 2^-20, and at most twice the original weight. Their sums are exact in any
#: order if the total weight is below this limit.
_EXACT_BELOW = 2.0**32


def leaf_lengths(data: Triplets | Quadruplets) -> NDArray[np.float64]:
    """Return the length of each leaf: how untypical it is, judged by how often it is near and far in answers.

    Parameters
    ----------
    data
        Triplets or quadruplets of n leaves. A weight is a number of answers. The rows of one answer (for
        example of an odd one out) count as one answer together.

    Returns
    -------
    ndarray
        (n,) lengths in units of log odds, with mean 0. A leaf with a large length is far from all other
        leaves. A leaf without answers has length 0. All lengths are 0 if leaves differ by no more than
        chance.

    Raises
    ------
    InputError
        The data are neither `Triplets` nor `Quadruplets`.

    Notes
    -----
    The model is a logistic regression [1]_. With the logistic function sigma and the lengths L, the
    probability that a is closer to b than to c is sigma(L(c) - L(b)). The probability that i and j are closer
    than k and l is sigma(L(k) + L(l) - L(i) - L(j)). Lengths have a normal prior, whose variance is estimated
    from the data by empirical Bayes [2]_. The model ignores the tree, so lengths are smaller than those of an
    additive tree, by about a third.

    References
    ----------
    .. [1] Bradley and Terry, "Rank analysis of incomplete block designs", Biometrika 39, 1952.
    .. [2] MacKay, "Bayesian interpolation", Neural Computation 4, 1992.

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([(0, 1, 2), (1, 0, 2)] * 20)
    >>> ordhc.similarities.leaf_lengths(t).argmax()
    np.int64(2)
    """
    if not isinstance(data, Triplets | Quadruplets):
        raise InputError(
            f"leaf lengths need Triplets or Quadruplets, not {type(data).__name__}: pass ordhc.Triplets(rows)"
        )
    return _counted(data).lengths(1.0, None)


def less_lengths(
    data: _C, lengths: bool | None, *, unit: float = 1.0, progress: Progress | None = None
) -> tuple[_C, bool]:
    """Return the comparisons with less weight for untypical leaves, and True if weights were changed.

    The length of a leaf is large if the leaf is untypical, which means far from all other leaves. The weight
    of each answer is multiplied by 2 (1 - p), where p is the probability of the answer by lengths alone.
    `unit` is the number of answers that a weight of 1 means.

    If `lengths` is False, the weights are not changed. If `lengths` is None, they are changed only if the
    standard deviation of the lengths is at least 0.25.
    """
    if not _may_use_lengths(lengths):
        return data, False
    found = _used(_counted(data).lengths(unit, progress), lengths)
    if found is None:
        return data, False
    weights = _ordhc.weights_less_lengths(data.rows, data.weights, found)
    return changed(data, weights=weights), True


def scan_less_lengths(
    scan: Scan,
    lengths: bool | None,
    spill: Spill,
    *,
    unit: float = 1.0,
    number: NDArray[np.int64] | None = None,
    progress: Progress | None = None,
) -> tuple[Scan, bool]:
    """Reduce the weights of answers in files, as `less_lengths` does; this needs one pass over the files.

    Each row counts as one answer, because scans do not read which rows belong together. If weights are not
    whole numbers, this process counts in the order of the rows, because rounding depends on the order. When
    lengths are fitted, leaves are ordered by `number`, because rounding depends on this order, too. By
    default leaves keep their order.
    """
    if not _may_use_lengths(lengths):
        return scan, False
    counting, fitting = part(progress, 0, _COUNTING), part(progress, _COUNTING, 1)
    try:
        if scan.in_parts and scan.survey.whole:
            tasks = [(some,) for some in pieces_in_parts(scan)]
            counts = _ordhc.NearFarCounts(scan.n_leaves, len(scan))
            for folder in parts_of(scan, _Counts(scan, number), tasks, spill, counting):
                keys, weights, largest = (np.load(Path(folder) / f"{name}.npy") for name in _COLUMNS)
                counts.merge(keys, weights, float(largest))
        else:
            counts = _counted_blocks(scan, scan.blocks(), number, counting)
        found = _used(counts.lengths(unit, fitting), lengths)
        total = counts.total()
    except MemoryError as error:
        raise MemoryError(
            f"{error}. Lengths need up to 72 bytes for each distinct combination of nearer and farther "
            "leaves in answers: turn lengths off (lengths=False)"
        ) from None
    if found is None:
        return scan, False
    return _LessLengths(scan, found if number is None else found[number], exact=total < _EXACT_BELOW), True


class _LessLengths(Scan):
    """Comparisons in files, with less weight for answers that are likely by lengths of leaves alone."""

    def __init__(self, scan: Scan, lengths: NDArray[np.float64], *, exact: bool) -> None:
        self.__dict__.update(scan.__dict__)
        self._whole, self._lengths, self._exact = scan, lengths, exact

    def key(self, pieces: Sequence[Piece], *, with_survey: bool = True) -> tuple[Any, ...]:
        own = fingerprint(self._lengths, self._exact)
        return ("less lengths", own, self._whole.key(pieces, with_survey=with_survey))

    @property
    def survey(self) -> Survey:
        known = self._whole.survey
        return replace(known, weighted=True, whole=known.whole and self._exact, weights=None)

    def blocks(
        self, pieces: Sequence[Piece] | None = None, *, progress: Progress | bool | None = None
    ) -> Iterator[Block]:
        for block in self._whole.blocks(pieces, progress=progress):
            data = block.data
            weights = _ordhc.weights_less_lengths(data.rows, data.weights, self._lengths)
            yield replace(block, data=changed(data, weights=weights))


#: The names of the files in which a task stores counts of near and far leaves.
_COLUMNS = ("keys", "weights", "largest")


@dataclass(frozen=True)
class _Counts:
    """A task that counts how often each leaf is near and far in the answers of some pieces of the files."""

    scan: Scan
    number: NDArray[np.int64] | None

    def name(self, pieces: tuple[Piece, ...]) -> str:
        return fingerprint("near and far", self.number, self.scan.key(pieces))

    def make(self, folder: Path, pieces: tuple[Piece, ...], *, progress: Progress | None = None) -> None:
        counts = _counted_blocks(self.scan, self.scan.blocks(pieces, progress=progress), self.number, None)
        columns: tuple[Any, ...] = counts.columns()
        for column, values in zip(_COLUMNS, columns, strict=True):
            np.save(folder / f"{column}.npy", values)


def _counted_blocks(
    scan: Scan, blocks: Iterator[Block], number: NDArray[np.int64] | None, progress: Progress | None
) -> _ordhc.NearFarCounts:
    """Return how often each leaf is near and far in answers; rounding depends on the order of `blocks`."""
    counts, done = _ordhc.NearFarCounts(scan.n_leaves, len(scan)), 0
    own = None if number is None else number.astype(np.int32)
    for block in blocks:
        data = block.data
        rows: Any = data.rows if own is None else own[data.rows]
        counts.add(rows, data.weights, None)
        done += len(data)
        if progress is not None:
            progress(min(1.0, done / max(1, len(scan))))
    return counts


def _counted(data: Triplets | Quadruplets) -> _ordhc.NearFarCounts:
    weights = data.weights
    if data.answers is not None:
        numbers = answers_of(data)
        share = 1 / np.bincount(numbers)[numbers]
        weights = share if weights is None else share * weights
    counts = _ordhc.NearFarCounts(data.n_leaves, len(data))
    counts.add(data.rows, weights, None)
    return counts


def _may_use_lengths(lengths: Any) -> bool:
    if not (lengths is None or isinstance(lengths, bool | np.bool_)):
        raise InputError(
            f"lengths is {quoted(lengths)}; it must be True, False, or None (used if lengths vary enough)"
        )
    return lengths is None or bool(lengths)


def _used(found: NDArray[np.float64], lengths: bool | None) -> NDArray[np.float64] | None:
    if not found.any() or (lengths is None and found.std() < _LEAST_SPREAD):
        return None
    return found
