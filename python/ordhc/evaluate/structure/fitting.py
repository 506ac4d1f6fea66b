"""Compute the log loss of answers as a function of closeness, and minimise functions by L-BFGS."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.choices import Choices
from ordhc.comparison.luce import choice_logarithms

Floats = NDArray[np.float64]

#: Number of past steps (with their changes of the gradient) from which L-BFGS approximates the curvature.
_MEMORY = 10
#: A step is accepted if the value falls by at least this share of the fall that the slope predicts (Armijo).
_ARMIJO = 1e-4


def answer_loss(choices: Choices, S: Floats, noise: float) -> tuple[float, Floats, float]:
    """Return the weighted sum of the log losses of answers, in nats, and its derivatives.

    `S` is the symmetric (n, n) closeness of leaves. `noise` is half of the share of answers that are given by
    chance. The derivatives are those with respect to `S`, symmetric (n, n), and to `noise`.
    """
    n = len(S)
    loss, by_noise, by_pair = 0.0, 0.0, np.zeros(n * n)
    for kind in choices.kinds:
        i, j = kind.pairs[..., 0], kind.pairs[..., 1]
        logarithms, slopes = choice_logarithms(S[i, j], kind.blocks, slopes=True)
        assert slopes is not None
        clear = np.exp(logarithms)
        likely = 2 * noise / kind.n_possible + (1 - 2 * noise) * clear
        loss -= float(kind.weights @ np.log(likely))
        by_noise -= float(kind.weights @ ((2 / kind.n_possible - 2 * clear) / likely))
        slopes *= (-kind.weights * (1 - 2 * noise) * clear / likely)[:, None]
        by_pair += np.bincount((i * n + j).ravel(), slopes.ravel(), n * n)
    G = by_pair.reshape(n, n)
    return loss, G + G.T, by_noise


def minimised(
    function: Callable[[Floats], tuple[float, Floats]], start: Floats, *, iterations: int, tolerance: float
) -> tuple[Floats, float]:
    """Return the minimum of a function, as its point and value, by L-BFGS with backtracking.

    `function` returns the value and the gradient at a point (k,). The search ends after `iterations` steps,
    or when the value falls by at most the share `tolerance` of the value.
    This is algorithm 7.4 of Nocedal & Wright 2006, "Numerical Optimization".

    Examples
    --------
    >>> import numpy as np
    >>> x, value = minimised(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(2),
    ...                      iterations=20, tolerance=1e-12)
    >>> x.round(6).tolist(), round(value, 9)
    ([3.0, 3.0], 0.0)
    """
    x = start.copy()
    value, gradient = function(x)
    steps: list[tuple[Floats, Floats, float]] = []
    for iteration in range(iterations):
        direction = -_inverse(steps, gradient)
        slope = float(direction @ gradient)
        if slope >= 0:
            steps, direction, slope = [], -gradient, -float(gradient @ gradient)
        if slope == 0:
            break
        length = 1.0 if iteration or not np.any(gradient) else min(1.0, 1 / float(np.abs(gradient).max()))
        for _ in range(30):
            moved = x + length * direction
            moved_value, moved_gradient = function(moved)
            if moved_value <= value + _ARMIJO * length * slope:
                break
            length /= 2
        else:
            break
        step, change = moved - x, moved_gradient - gradient
        curvature = float(step @ change)
        if curvature > 1e-10 * float(change @ change) ** 0.5 * float(step @ step) ** 0.5:
            steps = [*steps[-_MEMORY + 1 :], (step, change, curvature)]
        fall = value - moved_value
        x, value, gradient = moved, moved_value, moved_gradient
        if fall <= tolerance * abs(value):
            break
    return x, value


def _inverse(steps: list[tuple[Floats, Floats, float]], gradient: Floats) -> Floats:
    """Multiply the gradient by the approximate inverse of the curvature (L-BFGS)."""
    found, shares = gradient.copy(), []
    for step, change, curvature in reversed(steps):
        shares.append(float(step @ found) / curvature)
        found -= shares[-1] * change
    if steps:
        _, change, curvature = steps[-1]
        found *= curvature / float(change @ change)
    for (step, change, curvature), share in zip(steps, reversed(shares), strict=True):
        found += (share - float(change @ found) / curvature) * step
    return found
