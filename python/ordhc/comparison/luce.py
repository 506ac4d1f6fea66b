"""Compute the probability of people's choices among pairs of leaves, by Luce's model.

The model is that of Luce 1959, "Individual choice behavior".
`rust/ordhc/src/posterior/luce.rs` has the same model for the posterior of trees; a test compares both.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Lower limit of a utility minus the largest utility, so that products of weights stay above 0.
_LOWEST = -300.0
#: Logarithms of the times at which `_several` evaluates its integrand.
_TIMES = np.arange(-120, 21) * 0.25
#: The maximum number of values of the integrand that are held at once, to limit memory.
_AT_ONCE = 4_000_000


def choice_logarithms(
    utilities: NDArray[Any], blocks: Sequence[int], *, slopes: bool = False
) -> tuple[Floats, Floats | None]:
    """Return the log probability that people rank options in the given order, which can have ties.

    Parameters
    ----------
    utilities
        (a, k) the utility of each option, the best option first. The weight of an option is the exponential
        of its utility.
    blocks
        The number of options of each rank, best rank first, with sum k. People choose the options one after
        the other, each with a probability in proportion to its weight. The order of options of equal rank
        does not count. If one option has the last rank and several have the rank before, people choose the
        last option as the worst, with a probability in proportion to 1 / weight.
    slopes
        True also returns the derivatives.

    Returns
    -------
    logarithms : ndarray of shape (a,)
    derivatives : ndarray of shape (a, k), or None
        The derivatives of the log probabilities by the utilities.

    Examples
    --------
    >>> import numpy as np
    >>> odd_one_out = choice_logarithms(np.log([[2.0, 1.0, 1.0]]), [1, 2])[0]
    >>> float(np.exp(odd_one_out[0]).round(6))
    0.5
    """
    U = np.asarray(utilities, dtype=np.float64)
    total = np.zeros(len(U))
    D = np.zeros_like(U) if slopes else None
    first = 0
    for at, size in enumerate(blocks[:-1]):
        left, last = U[:, first:], at == len(blocks) - 2
        if size == 1:
            found, slope = _best(left)
        elif last and blocks[-1] == 1:
            found, slope = _best(-left[:, ::-1])
            slope = -slope[:, ::-1]
        elif size == 2:
            found, slope = _two(left)
        else:
            found, slope = _several(left, size)
        total += found
        if D is not None:
            D[:, first:] += slope
        first += size
    return total, D


def _best(U: Floats) -> tuple[Floats, Floats]:
    """Return the log-likelihood that the first option is chosen from all, and its gradient."""
    W = np.exp(U - U.max(axis=1, keepdims=True))
    total = W.sum(axis=1)
    slope = -W / total[:, None]
    slope[:, 0] += 1
    return U[:, 0] - U.max(axis=1) - np.log(total), slope


def _weights(U: Floats) -> Floats:
    weights: Floats = np.exp(np.maximum(U - U.max(axis=1, keepdims=True), _LOWEST))
    return weights


def _two(U: Floats) -> tuple[Floats, Floats]:
    """Return the log-likelihood that the first two options come first, in either order, and its gradient."""
    W = _weights(U)
    a, b, others = W[:, 0], W[:, 1], W[:, 2:]
    rest = others.sum(axis=1)
    first, second, whole = 1 / (a + rest), 1 / (b + rest), a + b + rest
    both = first + second
    found = np.log(a) + np.log(b) - np.log(whole) + np.log(both)
    of_rest = -1 / whole - (first**2 + second**2) / both
    slope = np.empty_like(W)
    slope[:, 0] = 1 - a / whole - a * first**2 / both
    slope[:, 1] = 1 - b / whole - b * second**2 / both
    slope[:, 2:] = others * of_rest[:, None]
    return found, slope


def _several(U: Floats, size: int) -> tuple[Floats, Floats]:
    """Return the log-likelihood that the first `size` options come first, in any order, and its gradient.

    Let each option arrive after an exponential time whose rate is its weight. The probability is an integral
    over the first arrival among the other options. The trapezoidal rule on a logarithmic time scale
    converges fast.
    """
    W = _weights(U)
    rest = W[:, size:].sum(axis=1, keepdims=True)
    found, slope = np.empty(len(U)), np.empty_like(W)
    step = max(1, _AT_ONCE // (len(_TIMES) * size))
    density = np.exp(_TIMES - np.exp(_TIMES)) * 0.25
    for start in range(0, len(U), step):
        part = slice(start, start + step)
        rates = W[part, :size] / rest[part]
        times = rates[:, :, None] * np.exp(_TIMES)
        came = -np.expm1(-times)
        each = came.prod(axis=1) * density
        value = each.sum(axis=1)
        # The derivative of log(1 - exp(-x)) by log x.
        grows = np.where(times < 500, times / np.expm1(np.clip(times, 1e-300, 500)), 0.0)
        found[part] = np.log(value)
        of_chosen = (grows * each[:, None]).sum(axis=2) / value[:, None]
        slope[part, :size] = of_chosen
        # Only ratios of weights matter, so the derivatives of a row add up to 0.
        shares = W[part, size:] / rest[part]
        slope[part, size:] = -shares * of_chosen.sum(axis=1, keepdims=True)
    return found, slope
