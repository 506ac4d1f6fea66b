"""Ordinal embeddings: points whose distances agree with triplets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from ordhc import Triplets
from ordhc._ordhc import EmbeddingLoss
from ordhc.errors import InputError
from ordhc.executors import as_executor, run_tasks
from ordhc.progress import Progress, shows_progress
from ordhc_embedding.models import MODELS, Model
from ordhc_embedding.solvers import SOLVERS, Report, Solution

#: A typical number of iterations, for the estimate of the progress.
_USUAL = 50


@dataclass(frozen=True, eq=False)
class Embedding:
    """The points of an embedding, their loss, and the settings of `embed`.

    Attributes
    ----------
    points
        (n, n_components) coordinates, read-only. Rotation and position of the points have no meaning.
    loss
        The weighted sum of the losses of all triplets. For "tste", "ste", "forte" and "ckl" the loss of
        a triplet is the negative logarithm of its probability.
    n_iterations
        The number of iterations from the best start.
    converged
        True if the solver stopped before `max_iterations`.
    model, solver, seed
        The arguments of `embed`.
    parameter
        The model's own parameter (alpha, mu or margin); None if the model has none.
    names
        The names of the leaves, or None.
    """

    points: NDArray[np.float64]
    loss: float
    n_iterations: int
    converged: bool
    model: str
    solver: str
    seed: int
    parameter: float | None
    names: tuple[str, ...] | None

    @property
    def n_components(self) -> int:
        """The number of dimensions of the points."""
        return int(self.points.shape[1])

    def score(self, triplets: Triplets) -> float:
        """Return the mean loss of triplets over the same leaves, for example of held-out answers.

        For "tste", "ste", "forte" and "ckl" the mean loss is the negative mean log-likelihood.
        """
        if triplets.n_leaves != len(self.points):
            raise InputError(
                f"the triplets have {triplets.n_leaves} leaves; the embedding has {len(self.points)} points"
            )
        loss = _loss(triplets, MODELS[self.model], self.parameter)
        if not loss.total_weight > 0:
            raise InputError("there are no triplets with a positive weight to score")
        return loss.evaluate(self.points)[0] / loss.total_weight

    def __repr__(self) -> str:
        n, d = self.points.shape
        return f"<Embedding: {n} leaves in {d} dimensions by {self.model}, loss {self.loss:.4g}>"


@shows_progress("embedding")
def embed(
    triplets: Triplets | ArrayLike,
    model: str = "tste",
    *,
    n_components: int = 2,
    seed: int = 0,
    restarts: int = 1,
    initial: ArrayLike | None = None,
    solver: str | None = None,
    max_iterations: int = 1000,
    tolerance: float = 1e-9,
    alpha: float | None = None,
    mu: float | None = None,
    margin: float | None = None,
    executor: Any = None,
    progress: Progress | bool | None = None,
) -> Embedding:
    """Return an embedding: points whose distances agree with triplets.

    Parameters
    ----------
    triplets
        `Triplets`, or (m, 3) rows (anchor, near, far). Weights multiply the loss; each
        repetition of a row counts.
    model
        "tste", "ste", "forte", "ckl", "gnmds" or "soe".
    n_components
        The number of dimensions, at least 1.
    seed
        The seed of the random start; the same seed gives the same points.
    restarts
        The number of random starts. The result has the smallest loss of all starts.
    initial
        (n, n_components) points to start from, instead of a random start.
    solver
        "lbfgs" (the default): SciPy's L-BFGS-B, from normally distributed coordinates. "paper", for "tste":
        the gradient descent published with the experiments of 2023, from coordinates of size 1e-4.
        "projected", for "forte": the published projected gradient descent over Gram matrices.
    max_iterations
        The largest number of iterations.
    tolerance
        The solver stops when the relative decrease of the loss is smaller. "paper" has its own rule.
    alpha
        The degrees of freedom of "tste", by default max(n_components - 1, 1).
    mu
        A constant that keeps the probabilities of "ckl" away from 0 and 1, by default 0.05.
    margin
        The margin of "soe": the difference by which the far leaf should be farther, by default 1.
    executor
        An executor or a pool of workers, as in `ordhc.bootstrap`. The starts are distributed to the workers;
        the result is the same.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1]. The fraction is an
        estimate, because the number of iterations is not known in advance.

    Returns
    -------
    Embedding
        The embedding. Leaves without answers stay at their start.

    Raises
    ------
    InputError
        A name is unknown; a setting is out of its limits or belongs to another model; `initial` has the wrong
        shape or is not finite; or the loss is not finite.

    Notes
    -----
    The loss and its gradient are computed in Rust on all cores, and do not depend on the number of threads.

    "ste" and "forte" have the same loss, log(1 + exp(d_ij^2 - d_ik^2)). FORTE minimises it over Gram
    matrices of rank d. Coordinates are factors of these matrices, so "lbfgs" minimises the same loss over
    the same set. "lbfgs" finds the result of "projected" in a fraction of the time.

    Examples
    --------
    >>> import numpy as np, ordhc
    >>> from ordhc_embedding import embed
    >>> triplets, _ = ordhc.datasets.planted(2000, levels=2, leaves_per_cluster=5, seed=1)
    >>> found = embed(triplets, "tste", n_components=2)
    >>> found.points.shape, found.converged
    ((20, 2), True)
    """
    triplets = triplets if isinstance(triplets, Triplets) else Triplets(triplets)
    if model not in MODELS:
        raise InputError(f"model is {model!r}; it must be one of {', '.join(MODELS)}")
    kind = MODELS[model]
    solver = kind.solvers[0] if solver is None else solver
    if solver not in kind.solvers:
        raise InputError(f"solver is {solver!r}; {model!r} has {', '.join(kind.solvers)}")
    n_components = _whole("n_components", n_components, 1)
    seed, restarts = _whole("seed", seed, 0), _whole("restarts", restarts, 1)
    max_iterations = _whole("max_iterations", max_iterations, 1)
    if not (isinstance(tolerance, int | float) and 0 <= tolerance < 1):
        raise InputError(f"tolerance is {tolerance!r}; it must be at least 0 and below 1")
    own: float | None = None
    for name, value in (("alpha", alpha), ("mu", mu), ("margin", margin)):
        if value is None:
            continue
        if name != kind.parameter:
            raise InputError(f"{model!r} has no parameter {name!r}")
        if not isinstance(value, int | float | np.number) or not 0 < value < math.inf:
            raise InputError(f"{name} is {value!r}; it must be above 0 and finite")
        own = float(value)
    parameter = kind.value(own, n_components)
    loss = _loss(triplets, kind, parameter)
    starts = _starts(triplets.n_leaves, n_components, seed, restarts, initial, solver)

    assert not isinstance(progress, bool)
    how = (solver, max_iterations, tolerance)
    workers = as_executor(executor)
    if workers is not None:
        tasks = [(triplets, model, parameter, start, *how) for start in starts]
        solutions = run_tasks(workers, _task, tasks, progress=progress)
    else:
        solutions = []
        for number, start in enumerate(starts):

            def report(iteration: int, number: int = number) -> None:
                if progress is not None:
                    share = max(iteration / max_iterations, iteration / (iteration + _USUAL))
                    progress((number + share) / len(starts))

            solutions.append(_solved(loss, start, *how, report))
        if progress is not None:
            progress(1.0)
    # `min` returns the first of equal losses in the order of the starts, so the result is deterministic.
    best = min(solutions, key=lambda found: found.loss)
    points = best.points.copy()
    points.flags.writeable = False
    return Embedding(
        points, best.loss, best.n_iterations, best.converged, model, solver, seed, parameter, triplets.names
    )


def _task(
    triplets: Triplets,
    model: str,
    parameter: float | None,
    start: NDArray[np.float64],
    solver: str,
    max_iterations: int,
    tolerance: float,
) -> Solution:
    loss = _loss(triplets, MODELS[model], parameter)
    return _solved(loss, start, solver, max_iterations, tolerance, lambda _: None)


def _solved(
    loss: EmbeddingLoss,
    start: NDArray[np.float64],
    solver: str,
    max_iterations: int,
    tolerance: float,
    report: Report,
) -> Solution:
    if not loss.total_weight > 0:
        return Solution(start, 0.0, 0, True)
    # The matrices are tiny, so starting BLAS threads takes many times longer than the computation.
    with threadpool_limits(1, "blas"):
        return SOLVERS[solver](loss, start, max_iterations, tolerance, report)


def _loss(triplets: Triplets, model: Model, parameter: float | None) -> EmbeddingLoss:
    return EmbeddingLoss(triplets.rows, triplets.weights, triplets.n_leaves, model.loss, parameter)


def _starts(
    n: int, d: int, seed: int, restarts: int, initial: ArrayLike | None, solver: str
) -> list[NDArray[np.float64]]:
    if initial is None:
        scale = 1e-4 if solver == "paper" else 1.0
        return [np.random.default_rng([seed, at]).normal(size=(n, d)) * scale for at in range(restarts)]
    if restarts > 1:
        raise InputError(f"restarts is {restarts}; with initial points it must be 1, as all starts are equal")
    try:
        points = np.array(initial, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"initial is {type(initial).__name__}; it must be an array of numbers") from None
    if points.shape != (n, d):
        raise InputError(f"initial has shape {points.shape}; it must have shape {(n, d)}")
    wrong = np.argwhere(~np.isfinite(points))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise InputError(f"initial[{row}, {column}] is {points[row, column]}; it must be finite")
    return [points]


def _whole(name: str, value: object, at_least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise InputError(f"{name} is {value!r}; it must be a whole number of at least {at_least}")
    return int(value)
