"""Solvers that minimise the loss of an embedding, and report their progress."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc._ordhc import EmbeddingLoss

Floats = NDArray[np.float64]
Report = Callable[[int], None]

#: Above this number of leaves, an iterative method computes only the needed eigenvectors.
_MANY = 50


@dataclass(frozen=True)
class Solution:
    """The result of a solver: the best points, their loss, and whether the solver converged."""

    points: Floats
    loss: float
    n_iterations: int
    converged: bool


def lbfgs(
    loss: EmbeddingLoss, start: Floats, max_iterations: int, tolerance: float, report: Report, /
) -> Solution:
    from scipy.optimize import minimize

    shape, weight = start.shape, loss.total_weight
    iterations = 0

    def evaluate(x: Floats) -> tuple[float, Floats]:
        value, gradient = loss.evaluate(x.reshape(shape))
        return value / weight, gradient.ravel() / weight

    def count(_: Floats) -> None:
        nonlocal iterations
        iterations += 1
        report(iterations)

    options = {"maxiter": max_iterations, "maxfun": 20 * max_iterations, "ftol": tolerance, "gtol": 0.0}
    found = minimize(evaluate, start.ravel(), jac=True, method="L-BFGS-B", callback=count, options=options)
    points = np.ascontiguousarray(found.x.reshape(shape))
    return Solution(points, float(found.fun) * weight, int(found.nit), iterations < max_iterations)


def paper(
    loss: EmbeddingLoss, start: Floats, max_iterations: int, _tolerance: float, report: Report, /
) -> Solution:
    """Minimise the loss with the published gradient descent of t-STE, which has its own stopping rule.

    A step is eta n/|T| times the gradient, for n leaves and triplets of total weight |T|. Eta starts at 2.
    Eta grows by 1% after a decrease of the loss by more than 1e-7, and is halved otherwise. Five steps in a
    row without such a decrease end the descent.
    """
    points, best_points = start, start
    value = best = np.inf
    eta, failures, iteration = 2.0, 0, 0
    while iteration < max_iterations and failures < 5:
        before = value
        value, gradient = loss.evaluate(points)
        if value < best:
            best, best_points = value, points
        points = points - eta * len(points) / loss.total_weight * gradient
        if before > value + 1e-7:
            failures = 0
            eta *= 1.01
        else:
            failures += 1
            eta *= 0.5
        iteration += 1
        report(iteration)
    return Solution(best_points, float(best), iteration, failures >= 5)


def projected(
    loss: EmbeddingLoss, start: Floats, max_iterations: int, tolerance: float, report: Report, /
) -> Solution:
    """Minimise the loss with projected gradient descent over Gram matrices, with backtracking.

    Each step is projected on the positive semidefinite matrices of rank d, for points in d dimensions.
    """
    from scipy.spatial.distance import squareform

    n, d = start.shape
    weight = loss.total_weight
    points = start
    value, pulls = loss.evaluate_pairs(points)
    step = float(n)
    for iteration in range(1, max_iterations + 1):
        slope = squareform(-pulls / weight)
        slope[np.diag_indices(n)] = -slope.sum(axis=1)
        gram = points @ points.T
        halved = False
        while True:
            moved = _root(gram - step * slope, d)
            change = moved @ moved.T - gram
            moved_value, moved_pulls = loss.evaluate_pairs(moved)
            promised = np.vdot(slope, change) + np.vdot(change, change) / (2 * step)
            if moved_value <= value + weight * promised or step < 1e-12:
                break
            step /= 2
            halved = True
        report(iteration)
        fall = value - moved_value
        if fall > 0:
            points, value, pulls = moved, moved_value, moved_pulls
        if fall <= tolerance * value:
            return Solution(points, float(value), iteration, True)
        step *= 1 if halved else 2
    return Solution(points, float(value), max_iterations, False)


def _root(matrix: Floats, rank: int) -> Floats:
    """Return points in at most `rank` dimensions whose Gram matrix is closest to `matrix`."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import eigsh

    n = len(matrix)
    rank = min(rank, n)
    if n > _MANY and rank < n - 1:
        values, vectors = eigsh(matrix, rank, which="LA", v0=np.ones(n) + np.arange(n) / n)
    else:
        values, vectors = eigh(matrix, subset_by_index=(n - rank, n - 1))
    return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0)))


#: Functions that minimise a loss and call `report` with the number of each iteration.
SOLVERS: Mapping[str, Callable[[EmbeddingLoss, Floats, int, float, Report], Solution]] = {
    "lbfgs": lbfgs,
    "paper": paper,
    "projected": projected,
}
