"""Fit models of how close leaves are: a length for each leaf alone, flat clusters, points in space."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.choices import Choices, Kind
from ordhc.evaluate.structure.fitting import answer_loss, minimised

Floats = NDArray[np.float64]

#: Candidate standard deviations of the normal priors: of the lengths of leaves, and of coordinates of points.
_DEVIATIONS = (0.03, 0.1, 0.3, 1.0, 3.0)
_SPREADS = (0.3, 0.6, 1.2, 2.4, 5.0)
#: For `_stacked`: the pseudo-count of the prior in answers, for each model; the number of iterations.
_EVEN, _ROUNDS = 1.0, 100
_CLUSTERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
_ITERATIONS, _TOLERANCE = 60, 1e-5
#: The logit of the share of random answers at which the solver begins. The share is twice the noise.
_START = float(np.log(0.04 / 0.96))
#: Added to squared distances, so that distances are differentiable at 0.
_ROUNDED = 1e-3


@dataclass(frozen=True)
class Fitted:
    """A fitted model of how close leaves are.

    `closeness` is (n, n), larger for closer leaves. `noise` is half of the share of answers that are given by
    chance. The solver ended at `parameters`; another fit can begin there.
    """

    closeness: Floats
    noise: float
    parameters: Floats

    def __call__(self, kind: Kind) -> Floats:
        return kind.probabilities(self.closeness, self.noise)


def loss_of(choices: Choices, model: Fitted) -> float:
    total, weight = 0.0, 0.0
    for kind in choices.kinds:
        logarithms = np.log(model(kind)[:, 0])
        total -= float(kind.weights @ logarithms)
        weight += float(kind.weights.sum())
    return total / weight


def _noise(t: float) -> tuple[float, float]:
    """Map any number to a noise in (0, 0.5); return the noise and its derivative."""
    share = 1 / (1 + np.exp(-np.clip(t, -30, 30)))
    return 0.5 * float(share), 0.5 * float(share * (1 - share))


def _prior(noise: float) -> tuple[float, float]:
    """Return minus the log prior of the noise, and its derivative.

    The prior counts as half an answer given by chance, and 10 answers that are not.
    """
    share = max(2 * noise, 1e-12)
    return -0.5 * float(np.log(share)) - 10 * float(np.log1p(-share)), -0.5 * (1 - share) + 10 * share


def _points(
    choices: Choices, dimensions: int, deviation: float, spread: float, start: Floats | None = None
) -> Fitted:
    """Fit a model of closeness: a point and a length for each leaf.

    The closeness of two leaves is minus the Euclidean distance of their points, minus the lengths of both
    leaves. So a leaf of large length is far from all others. `deviation` and `spread` are the standard
    deviations of the normal priors of lengths and of coordinates. `start` has the parameters to begin with:
    coordinates, lengths, and the logit of twice the noise, (n * (d + 1) + 1,).
    """
    n = choices.n_leaves
    size = n * dimensions
    if start is None:
        start = np.zeros(size + n + 1)
        start[-1] = _START

    def unpacked(x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        X, lengths = x[:size].reshape(n, dimensions), x[size:-1]
        squares = np.einsum("ij,ij->i", X, X)
        D = squares[:, None] + squares - 2 * (X @ X.T)
        np.maximum(D, 0, out=D)
        D = np.sqrt(D + _ROUNDED)
        return X, lengths, D, -D - lengths - lengths[:, None]

    def function(x: Floats) -> tuple[float, Floats]:
        X, lengths, D, S = unpacked(x)
        noise, slope = _noise(float(x[-1]))
        loss, G, by_noise = answer_loss(choices, S, noise)
        gradient = np.empty_like(x)
        W = -G / D
        gradient[:size] = (W.sum(axis=1)[:, None] * X - W @ X).ravel() + x[:size] / spread**2
        gradient[size:-1] = -G.sum(axis=1) + lengths / deviation**2
        of_noise, slope_of_noise = _prior(noise)
        gradient[-1] = by_noise * slope + slope_of_noise
        loss += of_noise
        loss += 0.5 * float(x[:size] @ x[:size]) / spread**2 + 0.5 * float(lengths @ lengths) / deviation**2
        return loss, gradient

    found, _ = minimised(function, start, iterations=_ITERATIONS, tolerance=_TOLERANCE)
    return Fitted(unpacked(found)[3], _noise(float(found[-1]))[0], found)


def _clusters(choices: Choices, labels: NDArray[np.int64], deviation: float) -> Fitted:
    """Fit a model of closeness: a length for each leaf, and a number for leaves in the same cluster.

    The closeness of two leaves falls by the lengths of both leaves. If both leaves are in the same cluster,
    their closeness rises by the number, which all clusters share.
    """
    is_same = (labels[:, None] == labels).astype(np.float64)
    start = np.zeros(choices.n_leaves + 2)
    start[0], start[-1] = 1.0, _START

    def function(x: Floats) -> tuple[float, Floats]:
        lengths = x[1:-1]
        noise, slope = _noise(float(x[-1]))
        loss, G, by_noise = answer_loss(choices, x[0] * is_same - lengths - lengths[:, None], noise)
        of_noise, slope_of_noise = _prior(noise)
        gradient = np.empty_like(x)
        # Each pair is in the matrix twice.
        gradient[0] = 0.5 * float((G * is_same).sum())
        gradient[1:-1] = -G.sum(axis=1) + lengths / deviation**2
        gradient[-1] = by_noise * slope + slope_of_noise
        return loss + of_noise + 0.5 * float(lengths @ lengths) / deviation**2, gradient

    x, _ = minimised(function, start, iterations=_ITERATIONS, tolerance=_TOLERANCE)
    lengths = x[1:-1]
    return Fitted(x[0] * is_same - lengths - lengths[:, None], _noise(float(x[-1]))[0], x)


def chosen_effects(inner: Choices, apart: Choices, whole: Choices) -> tuple[Fitted, float]:
    """Fit a model of closeness by lengths of leaves alone; return the model and the deviation of its prior.

    The closeness of two leaves is minus the lengths of both leaves. The standard deviation of the prior
    is the one with which a model of the answers `inner` predicts the answers `apart` best. The returned model
    is fitted to all answers, `whole`.
    """
    losses = [loss_of(apart, _points(inner, 0, deviation, 1.0)) for deviation in _DEVIATIONS]
    deviation = _DEVIATIONS[int(np.argmin(losses))]
    return _points(whole, 0, deviation, 1.0), deviation


def chosen_clusters(
    inner: Choices,
    apart: Choices,
    whole: Choices,
    deviation: float,
    cuts: tuple[Callable[[int], NDArray[np.int64]], Callable[[int], NDArray[np.int64]]],
) -> Fitted:
    """Fit a model of closeness by flat clusters.

    The number of clusters is the one with which a model of the answers `inner` predicts the answers `apart`
    best. The returned model is fitted to all answers, `whole`. The closeness of two leaves falls
    by the lengths of both leaves. `deviation` is the standard deviation of the lengths' prior.

    `cuts` are two functions that take a number of clusters and return (n,) labels. The first cuts a tree made
    of `inner`, the second a tree made of `whole`.
    """
    numbers = [number for number in _CLUSTERS if number <= max(2, whole.n_leaves // 2)]
    losses = [loss_of(apart, _clusters(inner, cuts[0](number), deviation)) for number in numbers]
    number = numbers[int(np.argmin(losses))]
    return _clusters(whole, cuts[1](number), deviation)


def chosen_points(
    inner: Choices,
    apart: Choices,
    whole: Choices,
    deviation: float,
    dimensions: tuple[int, ...],
    first: Floats,
) -> tuple[dict[int, Fitted], dict[int, float]]:
    """Fit a model of closeness for each number of dimensions: a point and a length for each leaf.

    The closeness of two leaves is minus the distance of their points, minus the lengths of both leaves. Each
    model has the prior of coordinates with which a model of the answers `inner` predicts the answers `apart`
    best. The returned models are fitted to all answers, `whole`.

    `deviation` is the standard deviation of the lengths' prior. The solver begins at `first`, points of shape
    (n, d). Fits in fewer dimensions begin at the principal components of the fit before.

    Return the models and their weights by number of dimensions. With these weights, whose sum is 1, the mean
    of models of `inner` predicts `apart` best.
    """
    models, tried, n = {}, {}, whole.n_leaves
    for d in sorted(dimensions, reverse=True):
        begin = _principal(first, d)
        best: tuple[float, float, Fitted] | None = None
        for spread in _SPREADS:
            scaled = begin * (spread / max(float(np.sqrt((begin**2).mean())), 1e-9))
            start = np.concatenate([scaled.ravel(), np.zeros(n), [_START]])
            model = _points(inner, d, deviation, spread, start)
            loss = loss_of(apart, model)
            if best is None or loss < best[0]:
                best = (loss, spread, model)
        assert best is not None
        tried[d] = best[2]
        models[d] = _points(whole, d, deviation, best[1], best[2].parameters)
        first = models[d].parameters[: n * d].reshape(n, d)
    return models, dict(zip(tried, _stacked(apart, list(tried.values())).tolist(), strict=True))


def _stacked(choices: Choices, models: list[Fitted]) -> Floats:
    """Return the weights, with sum 1, for which the weighted mean of predictions has the smallest log loss.

    This is stacking of predictive distributions (Yao, Vehtari, Simpson & Gelman 2018), by the EM algorithm.
    The prior counts as one answer for each model.
    """
    weights = np.full(len(models), 1 / len(models))
    likely = np.concatenate([np.stack([model(kind)[:, 0] for model in models]) for kind in choices.kinds], 1)
    counted = np.concatenate([kind.weights for kind in choices.kinds])
    for _ in range(_ROUNDS):
        shares = weights[:, None] * likely
        weights = _EVEN + (shares / shares.sum(axis=0)) @ counted
        weights /= weights.sum()
    return weights


def _principal(X: Floats, d: int) -> Floats:
    X = X - X.mean(axis=0)
    if X.shape[1] <= d:
        return np.pad(X, ((0, 0), (0, d - X.shape[1])))
    left, scale, _ = np.linalg.svd(X, full_matrices=False)
    return with_signs(left[:, :d] * scale[:d])


def with_signs(X: Floats) -> Floats:
    """Return points with the signs of coordinates fixed: the largest absolute value of each is positive.

    The signs of eigenvectors and singular vectors depend on the linear algebra library.
    """
    signs = np.sign(X[np.abs(X).argmax(axis=0), np.arange(X.shape[1])])
    return X * np.where(signs == 0, 1.0, signs)
