"""How right trees are expected to be, now and after more answers, beside how right they are.

`benches/bench_expected.py` does the same with more trees, kinds of noise and numbers of answers.
"""

import numpy as np
import pytest

import ordhc
from ordhc.clustering.answering import Crowd, simulated
from ordhc.clustering.expected import expected_of, heights_of_pairs
from support.answers import levels, people


def beside(seed, a_leaf=10, more=16):
    """AARI: expected, true, forecast, and true when there are as many answers."""
    labels = levels(3, 4, seed)
    n, oracle = len(labels), ordhc.oracles.Recording(people(labels, seed=seed))
    rng, posteriors, known = np.random.default_rng(seed), [], []
    for count in (a_leaf, more):
        oracle(np.array([rng.permutation(n)[:3] for _ in range(count * n)]))
        known.append(oracle.comparisons(n))
        posteriors.append(ordhc.posterior(known[-1], seed=seed))
    now, then = (ordhc.metrics.aari(p.tree, labels) for p in posteriors)
    forecast = posteriors[0].forecast(known[0], more, repeats=4, seed=seed)
    return posteriors[0].expected.aari, now, forecast.aari, then


@pytest.mark.slow
def test_trees_are_about_as_right_as_expected():
    found = np.array([beside(seed) for seed in range(4)])
    expected, true, forecast, then = found.mean(axis=0)
    assert expected == pytest.approx(true, abs=0.05), found
    assert forecast == pytest.approx(then, abs=0.05), found
    assert then > true + 0.03
    assert forecast > expected + 0.03
    assert found[:, :2].std(axis=0).max() < 0.2


def test_more_answers_are_of_the_same_people():
    labels = levels(2, 4)
    n, oracle = (
        len(labels),
        ordhc.oracles.from_tree(ordhc.linkage(levels_as_similarity(labels), "average", dissimilarity=False)),
    )
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(n)[:3] for _ in range(400)])
    rows = rows[oracle(rows) >= 0]
    a, b, c = rows[np.arange(len(rows))[:, None], (oracle(rows)[:, None] + [1, 2, 0]) % 3].T
    swap = rng.random(len(rows)) < 0.5
    who = np.where(np.arange(len(rows)) % 4 == 0, "coin", "ann")
    wrong = swap & (who == "coin")
    t = ordhc.Triplets(np.stack([a, np.where(wrong, c, b), np.where(wrong, b, c)], 1), n_leaves=n, groups=who)
    p = ordhc.posterior(t, seed=0)
    assert p.noise_by_group["coin"] > 0.35 > 0.1 > p.noise_by_group["ann"]
    crowd = Crowd.of(t, 0.1, p.noise_by_group)
    later = simulated(heights_of_pairs(p.trees[0]), crowd, 4000, t, 1)
    new = later.groups[len(t) :] == list(t.group_names).index("coin")
    assert new.mean() == pytest.approx(0.25, abs=0.03)
    found = [ordhc.metrics.satisfied(p.trees[0], later[len(t) :][of]) for of in (new, ~new)]
    shares = [one.agreed / (one.agreed + one.disagreed) for one in found]
    assert shares[0] < 0.6 < 0.85 < shares[1]
    # The same trees of one and the same noise forecast something else.
    # One noise for all doesn't explain that the careful ones repeat themselves.
    alike = ordhc.posterior(t, seed=0, unit="answer", repeats="new")
    assert alike.forecast(t, 4, repeats=1) != p.forecast(t, 4, repeats=1)
    nobody = ordhc.Triplets(t.rows, n_leaves=n)
    named = ordhc.posterior(nobody, seed=0, group=who)
    assert named.forecast(nobody, 4, repeats=1) == p.forecast(t, 4, repeats=1)


def levels_as_similarity(labels):
    level = (labels[:, None] == labels[None]).cumprod(axis=2).sum(axis=2)
    noise = np.triu(np.random.default_rng(0).random(level.shape), 1)
    return level + 0.2 * (noise + noise.T)


def test_a_tree_beside_itself_is_right():
    labels = levels(3, 4)
    tree = ordhc.linkage(levels_as_similarity(labels), "average", dissimilarity=False)
    other = tree.relabel(np.roll(np.arange(tree.n_leaves), 1))
    for by_correlation in (False, True):
        same = expected_of(tree, [tree], by_correlation=by_correlation)
        assert same.aari == pytest.approx(1)
        assert same.accuracy == 1
        assert expected_of(tree, [other], by_correlation=by_correlation).aari < 0.7
        both = expected_of(tree, [tree, other], by_correlation=by_correlation)
        assert both.low < both.accuracy < both.high
