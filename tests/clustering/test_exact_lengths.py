"""The posterior of four and five leaves with lengths, beside sums over all trees and draws from the prior.

Nothing of the package takes part in the sums: all rooted trees of any degree are enumerated; heights, lengths
and the noise are drawn from their priors, and each draw counts by the likelihood of the answers.
"""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

import ordhc

#: By how much a leaf is longer than another one.
BY = 0.5
BALANCES = (-0.5, -0.2, -0.08, 0.0, 0.3, 0.6, 1.0, 1.5, 2.2, 3.0)
NODES = range(-5, 8)


def trees_of(leaves):
    """Yield all rooted trees of any degree, each as the set of its clusters of two leaves and more."""
    leaves = tuple(leaves)
    if len(leaves) == 1:
        yield frozenset()
        return
    for parts in partitions(leaves):
        if len(parts) > 1:
            for below in product_of([list(trees_of(part)) for part in parts]):
                yield frozenset({frozenset(leaves)}.union(*below))


def partitions(leaves):
    """Yield all ways to part leaves."""
    if not leaves:
        yield []
        return
    first, *rest = leaves
    for size in range(len(rest) + 1):
        for mates in combinations(rest, size):
            others = [leaf for leaf in rest if leaf not in mates]
            for parts in partitions(others):
                yield [(first, *mates), *parts]


def product_of(choices):
    """Yield all ways to take one of each."""
    if not choices:
        yield []
        return
    for first in choices[0]:
        for rest in product_of(choices[1:]):
            yield [first, *rest]


def prior_of(trees):
    """Return the share of each tree: a node of s leaves counts exp(node) (s - 1)^-balance."""
    found = np.zeros(len(trees))
    for balance in BALANCES:
        for node in NODES:
            each = [np.prod([np.exp(node) * (len(c) - 1.0) ** -balance for c in tree]) for tree in trees]
            found += np.array(each) / np.sum(each) / (len(BALANCES) * len(NODES))
    return found


def drawn_paths(tree, n, m, rng):
    """Draw heights and lengths: (m, n, n) minus the lengths of paths, (m, n) lengths, (m,) weights."""
    # Steps of height are gamma deviates of one of five shapes, whose mean is inverse gamma (2, 2).
    inner = [cluster for cluster in tree if len(cluster) < n]
    shape = rng.choice([1, 2, 3, 4, 6], m)[:, None]
    mean = 2.0 / rng.gamma(2.0, size=(m, 1))
    steps = rng.gamma(np.broadcast_to(shape, (m, len(inner)))) * mean / shape
    # Lengths are normal; their variance is inverse gamma (1, 0.01). Large ones are rare beforehand: half of
    # the draws are even over the logarithm from 0.01 to 100, and all are weighted accordingly.
    variance = np.where(rng.random(m) < 0.5, 0.01 / rng.gamma(1.0, size=m), 10 ** rng.uniform(-2, 2, m))
    density = 0.01 / variance**2 * np.exp(-0.01 / variance)
    even = np.where((variance > 0.01) & (variance < 100), 1 / (variance * np.log(1e4)), 0.0)
    lengths = rng.normal(size=(m, n)) * np.sqrt(variance)[:, None]
    close = -(lengths[:, :, None] + lengths[:, None, :])
    for at, cluster in enumerate(inner):
        for a, b in combinations(sorted(cluster), 2):
            close[:, a, b] += steps[:, at]
            close[:, b, a] += steps[:, at]
    return close, lengths, density / (0.5 * density + 0.5 * even)


def likelihood(answers, close, noise):
    """Return (m,) probabilities of answers: triplets (a, b, c), and ("odd", i, j, k), of which i is odd."""
    total = np.zeros(len(close))
    for answer, count in Counter(answers).items():
        if answer[0] == "odd":
            _, i, j, k = answer
            pairs = np.stack([close[:, j, k], close[:, i, k], close[:, i, j]], axis=1)
            pairs = np.exp(pairs - pairs.max(axis=1, keepdims=True))
            clear, chance = pairs[:, 0] / pairs.sum(axis=1), 1 / 3
        else:
            a, b, c = answer
            clear = 1 / (1 + np.exp(np.clip(close[:, a, c] - close[:, a, b], -500, 500)))
            chance = 0.5
        total += count * np.log(2 * noise * chance + (1 - 2 * noise) * clear)
    return np.exp(total)


def clusters_of(n):
    """List all sets of two leaves and more, but that of all leaves."""
    return [frozenset(some) for size in range(2, n) for some in combinations(range(n), size)]


def summed(n, answers, asked, draws, seed):
    """The probability of each cluster, of each answer in `asked`, and that leaf 0 is longer than another.

    `draws` is the number of draws from the prior, for all trees together.
    """
    rng = np.random.default_rng(seed)
    trees = list(trees_of(range(n)))
    clusters = dict.fromkeys(clusters_of(n), 0.0)
    told, longer, total = np.zeros(len(asked)), np.zeros(n), 0.0
    m = draws // len(trees)
    for tree, share in zip(trees, prior_of(trees), strict=True):
        close, lengths, drawn = drawn_paths(tree, n, m, rng)
        # Beta(1, 4), up to 0.45.
        noise = 1 - (1 - rng.random(m) * (1 - 0.55**4)) ** 0.25
        weight = share / m * drawn * likelihood(answers, close, noise)
        total += weight.sum()
        for cluster in tree:
            if cluster in clusters:
                clusters[cluster] += weight.sum()
        for at, answer in enumerate(asked):
            told[at] += (weight * likelihood([answer], close, noise)).sum()
        longer += weight @ (lengths[:, :1] > lengths + BY)
    return np.array(list(clusters.values())) / total, told / total, longer / total


def comparisons_of(answers, n):
    """Return the answers as `Triplets`, which `posterior` takes."""
    rows, numbers = [], []
    for number, answer in enumerate(answers):
        mine = [answer]
        if answer[0] == "odd":
            _, i, j, k = answer
            mine = [(j, k, i), (k, j, i)]
        rows += mine
        numbers += [number] * len(mine)
    return ordhc.Triplets(rows, n_leaves=n, answers=numbers)


#: Answers that are predicted.
ROWS = [(0, 1, 2), (1, 2, 0), (2, 3, 0), (1, 2, 3), (2, 0, 1), (3, 2, 0)]
ODD = [("odd", 0, 1, 2), ("odd", 3, 0, 1)]
#: Leaf 0 is unlike all others, though 0 and 1 are a cluster: answers that no tree without lengths explains.
FOUR = [
    *((0, 1, 2), (0, 1, 3), (0, 1, 2), (0, 1, 3), (1, 2, 0), (1, 3, 0), (2, 1, 0), (3, 1, 0)),
    *((2, 3, 0), (3, 2, 0), (2, 1, 0), (3, 1, 0), (1, 2, 0), (1, 3, 0)),
] * 2
FIVE = [
    *((0, 1, 2), (0, 1, 3), (0, 1, 4), (1, 2, 0), (1, 3, 0), (2, 1, 0), (3, 1, 0), (4, 1, 0)),
    *(("odd", 0, 1, 2), ("odd", 0, 3, 4), ("odd", 2, 3, 4), ("odd", 0, 2, 4)),
] * 2


def test_trees_are_counted_as_schroeder_does():
    assert [len(set(trees_of(range(n)))) for n in (2, 3, 4, 5)] == [1, 4, 26, 236]
    assert prior_of(list(trees_of(range(4)))).sum() == pytest.approx(1)


@pytest.mark.parametrize(("n", "answers", "draws"), [(4, FOUR, 1_600_000), (5, FIVE, 600_000)])
def test_the_sampler_agrees_with_sums_over_all_trees(n, answers, draws, monkeypatch):
    halves = [summed(n, answers, ROWS + ODD, draws, seed) for seed in (1, 2)]
    # Other draws give nearly the same sums.
    for one, other in zip(*halves, strict=True):
        assert np.abs(one - other).max() < 0.03
    shares, told, longer = (np.mean(both, axis=0) for both in zip(*halves, strict=True))
    monkeypatch.setattr("ordhc.clustering.posterior._KEPT", 4_000)
    p = ordhc.posterior(comparisons_of(answers, n), chains=4, sweeps=6_100, burn_in=100, repeats="new")
    found = dict.fromkeys(clusters_of(n), 0.0)
    for tree in p.trees:
        for node in tree.nodes():
            if 1 < node.size < n:
                found[frozenset(node.leaves.tolist())] += 1 / len(p.trees)
    np.testing.assert_allclose(list(found.values()), shares, atol=0.025)
    of_odd = [np.exp(-p.log_loss(comparisons_of([answer], n))) for answer in ODD]
    np.testing.assert_allclose([*p.predict(ROWS), *of_odd], told, atol=0.02)
    drawn = p._lengths
    np.testing.assert_allclose((drawn[:, :1] > drawn + BY).mean(axis=0), longer, atol=0.03)
    # These answers ask for lengths: the model without them predicts other things.
    without = ordhc.posterior(comparisons_of(answers, n), sweeps=1_000, lengths=False, repeats="new")
    assert np.abs(without.predict(ROWS) - told[: len(ROWS)]).max() > 0.05
