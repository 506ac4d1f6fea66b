"""Lengths of leaves: additive trees from answers."""

import numpy as np
import pytest
from scipy.special import expit

import ordhc
from ordhc.clustering.expected import heights_of_pairs
from support.random_data import random_tree


def additive(n, m, spread, seed=0, kind="triplets"):
    """Answers about a tree whose leaves have lengths, the heights and the lengths."""
    rng = np.random.default_rng(seed)
    truth = random_tree(n, seed)
    H = -heights_of_pairs(truth) if truth.kind == "dissimilarity" else heights_of_pairs(truth)
    levels, at = np.unique(H, return_inverse=True)
    H = np.log2(1 + np.arange(len(levels)))[at].reshape(n, n)
    off = ~np.eye(n, dtype=bool)
    H = 1.2 * (H - H[off].min()) / H[off].std()
    lengths = spread * rng.normal(size=n)
    rows = np.array([rng.permutation(n)[:3] for _ in range(m)])
    D = lengths + lengths[:, None] - H
    if kind == "central":
        places = [(at, (at + 1) % 3, (at + 2) % 3) for at in range(3)]
        sums = np.stack([D[rows[:, i], rows[:, j]] + D[rows[:, i], rows[:, k]] for i, j, k in places])
        first = np.argmax(-sums + rng.gumbel(size=sums.shape), axis=0)
        order = rows[np.arange(m)[:, None], (first[:, None] + [0, 1, 2]) % 3]
        return ordhc.Triplets.from_most_central(order, n_leaves=n), truth, lengths
    a, b, c = rows.T
    swap = rng.random(m) > 0.02 + 0.96 * expit(D[a, c] - D[a, b])
    rows[swap] = rows[swap][:, [0, 2, 1]]
    return ordhc.Triplets(rows, n_leaves=n), truth, lengths


def test_lengths_and_trees_are_found():
    t, truth, lengths = additive(30, 3000, 1.5)
    p = ordhc.posterior(t, sweeps=60, chains=2)
    assert p.lengths.shape == (30,)
    assert p.lengths.mean() == pytest.approx(0, abs=1e-9)
    assert np.corrcoef(p.lengths, lengths)[0, 1] > 0.85
    low, high = p.lengths_interval.T
    assert (low <= p.lengths).all()
    assert (p.lengths <= high).all()
    # How right the tree is depends on the root, of which answers say little; the posterior knows that.
    right = 1 - ordhc.metrics.triplet_distance(p.tree, truth)
    assert right > max(0.75, p.expected.low - 0.05)


def test_predictions_know_lengths():
    t, _, _ = additive(16, 1000, 1.5)
    train, test = t.split(0.8, seed=1)
    p = ordhc.posterior(train, sweeps=60, chains=2)
    plain = ordhc.posterior(train, sweeps=60, chains=2, lengths=False)
    assert plain.lengths is None
    assert plain.lengths_interval is None
    said, less = (np.log(each.predict(test)).mean() for each in (p, plain))
    assert said > less + 0.02
    turned = ordhc.Triplets(test.rows[:, [0, 2, 1]], n_leaves=16)
    np.testing.assert_allclose(p.predict(test) + p.predict(turned), 1)


def test_predictions_are_the_mean_over_trees():
    t, _, _ = additive(8, 100, 1.0)
    p = ordhc.posterior(t, chains=1, sweeps=6, burn_in=5)
    (tree,), noise = p.trees, p.diagnostics.noise[0, -1]
    C = heights_of_pairs(tree) - p.lengths - p.lengths[:, None]
    a, b, c = t.rows.T.astype(int)
    np.testing.assert_allclose(p.predict(t), noise + (1 - 2 * noise) * expit(C[a, b] - C[a, c]), rtol=1e-6)
    i, j, k, last = np.array([(0, 1, 2, 3), (0, 4, 2, 5), (6, 1, 7, 3)]).T
    said = p.predict(np.stack([i, j, k, last], axis=1))
    np.testing.assert_allclose(said, noise + (1 - 2 * noise) * expit(C[i, j] - C[k, last]), rtol=1e-6)


def test_without_lengths_in_truth_they_are_small():
    t, labels = ordhc.datasets.planted(4000, levels=2, leaves_per_cluster=10, seed=1)
    p = ordhc.posterior(t)
    plain = ordhc.posterior(t, lengths=False)
    assert p.lengths.std() < 0.3
    scores = [ordhc.score(each.tree, labels, metric="aari") for each in (p, plain)]
    assert scores[0] > scores[1] - 0.05


def test_forecasts_simulate_lengths():
    t, _, _ = additive(12, 150, 1.5)
    p = ordhc.posterior(t, sweeps=40)
    later = p.forecast(t, 30, repeats=3)
    assert later.accuracy > p.expected.accuracy
