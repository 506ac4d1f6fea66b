"""Questions with responses, in the forms that cblearn has."""

import numpy as np


def questions(seed, n=8, m=60):
    """Rows (i, j, k) with responses: 1 if i is closer to j, -1 if to k."""
    rng = np.random.default_rng(seed)
    X = np.array([rng.choice(n, 3, replace=False) for _ in range(m)])
    return X, rng.choice([-1, 1], m)


def tensor(X, y, n):
    """The responses at their leaves, summed."""
    M = np.zeros((n, n, n), dtype=int)
    np.add.at(M, tuple(X.T), y)
    return M


def sorted_questions(X, y):
    """As cblearn's `standard=True`: the smaller of the two leaves first."""
    turned = X[:, 1] > X[:, 2]
    return np.where(turned[:, None], X[:, [0, 2, 1]], X), np.where(turned, -y, y)
