"""Lengths of leaves, and answers weighted by what lengths alone do not explain.

Lengths depend on the near and far leaves of answers alone. So files are read twice: once to count near and
far leaves, and once to add up the weighted answers.
"""

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

__all__ = ["leaf_lengths", "less_lengths", "scan_less_lengths"]

_C = TypeVar("_C", bound=Triplets | Quadruplets)

#: Lengths of a smaller standard deviation are what trees without lengths give, too: random trees of 80 leaves
#: .17, planted ones .05. Those of Car have .9, of Food .35, of trees whose lengths have .5 .3 to .4.
_ASKED_FOR = 0.25
#: The share of progress in which answers are counted; then lengths are fitted.
_COUNTING = 0.7
#: Weights less lengths are multiples of 2^-20, and at most twice the weight. Below this total weight their
#: sums are exact in any order.
_EXACT_BELOW = 2.0**32


def leaf_lengths(data: Triplets | Quadruplets) -> NDArray[np.float64]:
    """Estimate how untypical each leaf is, from how often it is the far leaf and how often the near one.

    Parameters
    ----------
    data
        Triplets or quadruplets of n leaves. A weight is a number of answers; rows of one answer (as of an
        odd one out) count as one answer together.

    Returns
    -------
    ndarray
        (n,) lengths in units of log odds, with mean 0. A long leaf is far from all others. All
        lengths are 0 if leaves differ by no more than chance; a leaf without answers has length 0.

    Raises
    ------
    InputError
        The data are neither `Triplets` nor `Quadruplets`.

    Notes
    -----
    P(a is closer to b than to c) = sigma(l(c) - l(b)), of quadruplets sigma(l(k) + l(l) - l(i) - l(j)): a
    logistic regression [1]_ with a normal prior, whose variance comes from the data by empirical Bayes [2]_.
    The tree is left out, so that lengths are smaller than those of an additive tree, by about a third.

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
            f"leaf lengths are of Triplets or Quadruplets, not {type(data).__name__}: "
            "make ordhc.Triplets(rows)"
        )
    return _counted(data).lengths(1.0, None)


def less_lengths(
    data: _C, lengths: bool | None, *, unit: float = 1.0, progress: Progress | None = None
) -> tuple[_C, bool]:
    """Weigh answers by how little lengths of leaves explain them.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets`.
    lengths
        True weighs answers, False does not. None weighs answers if lengths are larger than the lengths that
        answers from trees without lengths give.
    unit
        How many answers a weight of 1 stands for.
    progress
        Receives the completed fraction in [0, 1].

    Returns
    -------
    tuple
        The data, in which the weight of each answer is multiplied by 2 (1 - p), where p is its probability
        by lengths alone; and True if that was done, False if the data are as given.
    """
    if not _may_be_asked(lengths):
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
    """Do the same as `less_lengths` for answers in files, in one pass over the files.

    Parameters
    ----------
    scan
        The answers. Each row is one answer, because scans read no numbers of answers. The scan's executor
        counts them, or this process in parts that `resume` keeps. Weights that are not whole are counted by
        this process, in the order of the rows, because their sums depend on the order.
    lengths, unit, progress
        As in `less_lengths`.
    spill
        Where workers put their counts.
    number
        (n,) other numbers of the leaves, in which lengths are fitted. Rounding depends on these numbers.

    Raises
    ------
    MemoryError
        The counts do not fit into memory.
    """
    if not _may_be_asked(lengths):
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
            f"{error}. Lengths need up to 72 bytes for each different combination of near and far leaves: "
            "leave out lengths (lengths=False)"
        ) from None
    if found is None:
        return scan, False
    return _LessLengths(scan, found if number is None else found[number], exact=total < _EXACT_BELOW), True


class _LessLengths(Scan):
    """The comparisons of a scan, weighted by how little lengths of leaves explain them."""

    def __init__(self, scan: Scan, lengths: NDArray[np.float64], *, exact: bool) -> None:
        self.__dict__.update(scan.__dict__)
        self._whole, self._lengths, self._exact = scan, lengths, exact

    def key(self, pieces: Sequence[Piece], *, with_survey: bool = True) -> tuple[Any, ...]:
        """Return all that the rows depend on."""
        own = fingerprint(self._lengths, self._exact)
        return ("less lengths", own, self._whole.key(pieces, with_survey=with_survey))

    @property
    def survey(self) -> Survey:
        """The facts about all rows; `whole` is True if sums of weights are exact in any order."""
        known = self._whole.survey
        return replace(known, weighted=True, whole=known.whole and self._exact, weights=None)

    def blocks(
        self, pieces: Sequence[Piece] | None = None, *, progress: Progress | bool | None = None
    ) -> Iterator[Block]:
        """Yield the comparisons block by block."""
        for block in self._whole.blocks(pieces, progress=progress):
            data = block.data
            weights = _ordhc.weights_less_lengths(data.rows, data.weights, self._lengths)
            yield replace(block, data=changed(data, weights=weights))


#: The names of the files of a worker's counts.
_COLUMNS = ("keys", "weights", "largest")


@dataclass(frozen=True)
class _Counts:
    """Counts of the answers of some pieces."""

    scan: Scan
    number: NDArray[np.int64] | None

    def name(self, pieces: tuple[Piece, ...]) -> str:
        """Return the name of a part."""
        return fingerprint("near and far", self.number, self.scan.key(pieces))

    def make(self, folder: Path, pieces: tuple[Piece, ...], *, progress: Progress | None = None) -> None:
        """Write a part."""
        counts = _counted_blocks(self.scan, self.scan.blocks(pieces, progress=progress), self.number, None)
        columns: tuple[Any, ...] = counts.columns()
        for column, values in zip(_COLUMNS, columns, strict=True):
            np.save(folder / f"{column}.npy", values)


def _counted_blocks(
    scan: Scan, blocks: Iterator[Block], number: NDArray[np.int64] | None, progress: Progress | None
) -> _ordhc.NearFarCounts:
    """Return the counts of all blocks, added in their order."""
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
    counts = _ordhc.NearFarCounts(data.n_leaves, len(data))
    counts.add(data.rows, _shared(data), None)
    return counts


def _may_be_asked(lengths: Any) -> bool:
    """Whether lengths are to be found: the setting is True or None."""
    if not (lengths is None or isinstance(lengths, bool | np.bool_)):
        raise InputError(
            f"lengths is {quoted(lengths)}, not True, False or None, where the answers ask for them"
        )
    return lengths is None or bool(lengths)


def _used(found: NDArray[np.float64], lengths: bool | None) -> NDArray[np.float64] | None:
    """Return the lengths; None if there are none, or if the answers decide and show none."""
    if not found.any() or (lengths is None and found.std() < _ASKED_FOR):
        return None
    return found


def _shared(data: Triplets | Quadruplets) -> NDArray[np.float64] | None:
    """Return the weights of rows; rows of one answer share the weight of one row."""
    if data.answers is None:
        return data.weights
    numbers = answers_of(data)
    share = 1 / np.bincount(numbers)[numbers]
    return share if data.weights is None else share * data.weights
