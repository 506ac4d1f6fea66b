"""Lengths of leaves, and answers weighted by what lengths alone do not explain."""

from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._checks import quoted
from ordhc._progress import Progress
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.units import answers_of
from ordhc.errors import InputError

__all__ = ["LENGTHS_OF_SCANS", "leaf_lengths", "less_lengths"]

#: Why lengths of a scan are refused.
LENGTHS_OF_SCANS = (
    "lengths=True looks at all answers again and again: it needs them in memory, scan.read(); "
    "or leave out lengths"
)

_C = TypeVar("_C", bound=Triplets | Quadruplets)

#: Lengths of a smaller standard deviation are what trees without lengths give, too: random trees of 80 leaves
#: .17, planted ones .05. Those of Car have .9, of Food .35, of trees whose lengths have .5 .3 to .4.
_ASKED_FOR = 0.25
#: Weights are multiples of 1 / this, so that their sums do not depend on the order of rows.
_PARTS = 2.0**20


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
    >>> ordhc.leaf_lengths(t).argmax()
    np.int64(2)
    """
    if not isinstance(data, Triplets | Quadruplets):
        raise InputError(
            f"leaf lengths are of Triplets or Quadruplets, not {type(data).__name__}: "
            "make ordhc.Triplets(rows)"
        )
    return _ordhc.leaf_lengths(data.rows, _shared(data), data.n_leaves, None)


def less_lengths(data: _C, lengths: bool | None, progress: Progress | None = None) -> tuple[_C, bool]:
    """Weigh answers by how little lengths of leaves explain them, and say whether that changed anything.

    The weight of an answer is multiplied by 2 (1 - p), where p is its probability by lengths alone. With
    `lengths` None that is done only if lengths are larger than those that trees without lengths give.
    """
    if not (lengths is None or isinstance(lengths, bool | np.bool_)):
        raise InputError(
            f"lengths is {quoted(lengths)}, not True, False or None, where the answers ask for them"
        )
    if lengths is not None and not lengths:
        return data, False
    found = _ordhc.leaf_lengths(data.rows, _shared(data), data.n_leaves, progress)
    if not found.any() or (lengths is None and found.std() < _ASKED_FOR):
        return data, False
    rows = data.rows
    if isinstance(data, Triplets):
        odds = found[rows[:, 1]] - found[rows[:, 2]]
    else:
        odds = found[rows[:, 0]] + found[rows[:, 1]] - found[rows[:, 2]] - found[rows[:, 3]]
    # 1 - p, and never 0: an answer without weight would be none.
    with np.errstate(over="ignore"):
        weights = np.maximum(1.0, np.rint(_PARTS * 2 / (1 + np.exp(-odds)))) / _PARTS
    if data.weights is not None:
        weights *= data.weights
    return cast(_C, data._changed(weights=weights)), True


def _shared(data: Triplets | Quadruplets) -> NDArray[np.float64] | None:
    """The weights of rows, of which those of one answer share one."""
    if data.answers is None:
        return data.weights
    numbers = answers_of(data)
    share = 1 / np.bincount(numbers)[numbers]
    return share if data.weights is None else share * data.weights
