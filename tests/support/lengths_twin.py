"""Lengths of leaves and AddS weighted by them, slow and plain, and answers by lengths alone."""

import numpy as np

import ordhc


def plain_lengths(data):
    """As `ordhc.similarities.leaf_lengths`, by plain Newton steps over single rows."""
    n, rows = data.n_leaves, data.rows.astype(int)
    weights = np.ones(len(rows)) if data.weights is None else data.weights.copy()
    if data.answers is not None:
        person = np.zeros(len(rows), int) if data.groups is None else data.groups
        own = list(zip(person.tolist(), data.answers.tolist(), strict=True))
        weights /= [own.count(answer) for answer in own]
    X = np.zeros((len(rows), n))
    pairs = [(0, 1, 0, 2), (0, 1, 2, 3)][rows.shape[1] - 3]
    for column, sign in zip(pairs, (-1, -1, 1, 1), strict=True):
        np.add.at(X, (np.arange(len(rows)), rows[:, column]), sign)
    balance, number = X.T @ weights, np.abs(X).T @ weights
    if not (balance**2 - number).sum() > 3 * np.sqrt(2 * (number**2).sum()):
        return np.zeros(n)
    lengths, variance = np.zeros(n), 1.0

    def loss(lengths):
        return weights @ np.logaddexp(0, -X @ lengths) + lengths @ lengths / (2 * variance)

    def fitted(lengths):
        for _ in range(100):
            p = 1 / (1 + np.exp(-X @ lengths))
            curvature = weights * p * (1 - p)
            gradient = X.T @ (weights * (1 - p)) - lengths / variance
            step = np.linalg.solve((X.T * curvature) @ X + np.eye(n) / variance, gradient)
            while loss(lengths + step) > loss(lengths) + 1e-9:
                step /= 2
            lengths = lengths + step
            if np.abs(step).max() < 1e-9:
                break
        return lengths, (np.abs(X).T @ curvature)

    for _ in range(40):
        lengths, information = fitted(lengths)
        before = variance
        variance = min(25, (lengths @ lengths) / (information / (information + 1 / variance)).sum())
        if variance <= 1e-4:
            return np.zeros(n)
        if abs(np.log(variance / before)) < 1e-2:
            break
    return fitted(lengths)[0]


def plain_adds(data, lengths):
    """(n, n) AddS, in which an answer of probability p by lengths alone counts 2 (1 - p) of its weight."""
    S = np.zeros((data.n_leaves, data.n_leaves))
    weights = np.ones(len(data)) if data.weights is None else data.weights
    for row, weight in zip(data.rows.astype(int).tolist(), weights, strict=True):
        near, far = (row[:2], [row[0], row[2]]) if len(row) == 3 else (row[:2], row[2:])
        p = 1 / (1 + np.exp(lengths[near].sum() - lengths[far].sum()))
        for (i, j), sign in ((near, 1), (far, -1)):
            S[i, j] += sign * weight * 2 * (1 - p)
            S[j, i] = S[i, j]
    return S


def random_answers(width, n, m, seed, sd=1.0, weighted=False):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n) * sd
    rows = np.argsort(rng.random((m, n)), axis=1)[:, :width]
    if width == 3:
        odds = truth[rows[:, 2]] - truth[rows[:, 1]]
        turned = rows[:, [0, 2, 1]]
    else:
        odds = truth[rows[:, 2:]].sum(1) - truth[rows[:, :2]].sum(1)
        turned = rows[:, [2, 3, 0, 1]]
    rows = np.where((rng.random(m) > 1 / (1 + np.exp(-odds)))[:, None], turned, rows)
    weights = rng.integers(0, 4, m).astype(float) if weighted else None
    kind = ordhc.Triplets if width == 3 else ordhc.Quadruplets
    return kind(rows, n_leaves=n + 1, weights=weights), np.append(truth, 0)
