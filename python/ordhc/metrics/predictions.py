"""Score predicted answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordhc import _checks
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError


def log_loss(predicted: Any, comparisons: Triplets | Quadruplets | ArrayLike) -> float:
    """Return the log loss of predicted comparisons; lower is better.

    The log loss is the mean of -ln(p), where p is the probability that was predicted for the given
    comparison.

    Parameters
    ----------
    predicted
        An object with a method `predict`, such as `ordhc.results.Posterior`, or the (m,) probabilities.
    comparisons
        `Triplets`, `Quadruplets`, or (m, 3) or (m, 4) leaf ids. Use comparisons that `predicted` was not made
        from.

    Returns
    -------
    float
        The mean, weighted if the comparisons have weights. Guessing scores ln 2 = 0.693. A comparison that
        was predicted with probability 0 gives infinity.

    Raises
    ------
    InputError
        If no comparison has a positive weight, or a value in `predicted` is not a probability. The error
        names the row.

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([("cat", "dog", "car"), ("dog", "cat", "car"), ("cat", "dog", "car")])
    >>> round(ordhc.metrics.log_loss([0.5, 0.5, 1.0], t), 3)
    0.462
    >>> ordhc.metrics.log_loss(ordhc.posterior(t), t) < 0.6
    True
    """
    if not isinstance(comparisons, Triplets | Quadruplets):
        table = _checks.whole_numbers("comparisons", comparisons)
        if table.ndim != 2 or table.shape[1] not in (3, 4):
            raise InputError(f"comparisons have shape {table.shape}; (m, 3) or (m, 4) is needed")
        comparisons = (Triplets if table.shape[1] == 3 else Quadruplets)(table)
    if callable(getattr(predicted, "predict", None)):
        predicted = predicted.predict(comparisons)
    p = _checks.numbers_of("predicted", predicted, (len(comparisons),))
    wrong = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if wrong.size:
        raise InputError(
            f"predicted[{wrong[0]}] is {p[wrong[0]]}; a probability is from 0 to 1", row=int(wrong[0])
        )
    weights = comparisons.weights
    weights = np.ones(len(p)) if weights is None else weights
    if not weights.sum() > 0:
        raise InputError("there are no comparisons (of positive weight) to predict")
    if not np.isfinite(weights.sum()):
        raise InputError("the weights are so large that their sum overflows a float; rescale them")
    with np.errstate(divide="ignore"):
        losses = -np.log(p[weights > 0])
    return float((losses * weights[weights > 0]).sum() / weights.sum())
