"""Trees don't depend on the numbers of leaves and the order of rows."""

import warnings
from functools import partial

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.comparison.canonical import canonical_order
from ordhc.errors import OrdhcWarning


def renumbered(data, number, rng):
    """Leaf i is leaf `number[i]`, rows stand in another order."""
    rows = rng.permutation(len(data))
    weights = None if data.weights is None else data.weights[rows]
    return type(data)(number[data.rows[rows]], data.n_leaves, weights=weights)


def told_apart(data, number, moved):
    """Whether the order that the data give is the same for both numberings: no leaves can be exchanged."""
    order, other = canonical_order(data), canonical_order(moved)
    return np.array_equal(number[order], other)


@given(st.integers(0, 2**32), st.sampled_from([None, "whole", "thirds"]), st.booleans())
@settings(deadline=None, max_examples=25)
def test_searches_do_not_depend_on_numbers_and_rows(seed, weighted, four):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 14))
    m = int(rng.integers(1, 60))
    # Few answers, so that many similarities are equal; contradictions; leaves without answers.
    rows = np.array([rng.permutation(n)[: 4 if four else 3] for _ in range(m)])
    weights = {None: None, "whole": rng.integers(0, 4, m) * 1.0, "thirds": rng.integers(1, 4, m) / 3}[
        weighted
    ]
    kind = ordhc.Quadruplets if four else ordhc.Triplets
    data = kind(rows, n, weights=weights)
    number = rng.permutation(n)
    moved = renumbered(data, number, rng)
    assume(told_apart(data, number, moved))
    back = np.argsort(number)
    calls = [
        partial(ordhc.cluster, method="adds4-al+spr"),
        partial(ordhc.cluster, method="4k-al+spr"),
    ]
    if not four:
        calls += [
            partial(ordhc.cluster, method="adds3-al+spr"),
            partial(ordhc.cluster, method="adds3-al+spr", tie_seed=seed),
            partial(ordhc.cluster, method="consistency"),
            partial(ordhc.cluster, method="mulk3-al+spr"),
            partial(ordhc.cluster, method="3-al+spr"),
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        for call in calls:
            assert call(moved).relabel(back) == call(data), call
        start = ordhc.cluster(data, method=f"adds{4 if four else 3}-al+spr")
    for objective in ("revenue",) if four else ("revenue", "satisfied"):
        refined = ordhc.refine(start, data, objective, seed=seed)
        assert ordhc.refine(start.relabel(number), moved, objective, seed=seed).relabel(back) == refined


def test_equal_vectors_and_numbers():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (25, 4)).astype(float)
    number = rng.permutation(25)
    X[3] = X[7]
    Y = X[np.argsort(number)]
    X, Y = np.unique(X, axis=0), np.unique(Y, axis=0)[rng.permutation(len(np.unique(Y, axis=0)))]
    tree, other = (ordhc.cluster(data, method="dot-al+spr") for data in (X, Y))
    number = [int(np.flatnonzero(np.all(row == X, axis=1))[0]) for row in Y]
    assert other.relabel(number) == tree


def test_several_numberings_give_one_tree_of_few_answers():
    """As with people's answers on hundreds of leaves: few answers a leaf, many contradictions, many ties."""
    rng = np.random.default_rng(5)
    place = rng.random(80)
    rows = np.array([rng.permutation(80)[:3] for _ in range(1500)])
    noisy = np.abs(place[rows[:, :1]] - place[rows[:, 1:]]) + rng.normal(0, 0.3, (1500, 2))
    rows[noisy[:, 0] > noisy[:, 1], 1:] = rows[noisy[:, 0] > noisy[:, 1]][:, [2, 1]]
    t = ordhc.Triplets(rows, 80)
    for method in ("consistency", "adds3-al+spr", "adds4-al+spr"):
        tree = ordhc.cluster(t, method=method)
        for _ in range(2):
            number = rng.permutation(80)
            moved = renumbered(t, number, rng)
            assert ordhc.cluster(moved, method=method).relabel(np.argsort(number)) == tree
