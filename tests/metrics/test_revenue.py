"""What is proven of revenues, on all small trees."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import metrics
from ordhc.errors import InputError
from ordhc.testing.strategies import quadruplets, triplets
from ordhc.tree.dendrogram import lca_size
from support import metric_twins as naive
from support import twins

QUICK = settings(deadline=None, max_examples=60)


def all_triples(tree):
    """(i, j, k) wherever i and j join before k, either of them as the anchor."""
    size = naive.sizes(tree)
    rows = itertools.permutations(range(tree.n_leaves), 3)
    return ordhc.Triplets([(i, j, k) for i, j, k in rows if size[i, j] < size[i, k]], tree.n_leaves)


def size_tables(trees):
    """|H(i v j)| of each tree, with the leaf itself as 0."""
    n = trees[0].n_leaves
    i, j = np.indices((n, n))
    return np.array([lca_size(tree, i, j) * (i != j) for tree in trees])


@pytest.mark.parametrize(("n", "how_many"), [(1, 1), (2, 1), (3, 3), (4, 15), (5, 105), (6, 945)])
def test_all_trees_are_there(n, how_many):
    trees = naive.binary_trees(n)
    assert len({frozenset(naive.members(tree)) for tree in trees}) == len(trees) == how_many
    some = trees[:: how_many // 50 + 1]
    for tree, table in zip(some, size_tables(some), strict=True):
        assert all(table[pair] == size for pair, size in naive.sizes(tree).items())


@pytest.mark.parametrize("n", [3, 4, 5])
def test_a_tree_alone_maximises_the_revenue_of_its_triples(n):
    trees = naive.binary_trees(n)
    for at, truth in enumerate(trees):
        t = all_triples(truth)
        revenues = [metrics.triplet_revenue(tree, t) for tree in trees]
        best = revenues.pop(at)
        assert best == naive.revenue(truth, t) > max(revenues)
        assert float(metrics.satisfied(truth, t)) == 1.0


def test_a_tree_of_six_leaves_alone_maximises_the_revenue_of_its_triples():
    trees = naive.binary_trees(6)
    tables = size_tables(trees).reshape(len(trees), 36)
    shapes = {tuple(sorted(tree.sizes.tolist())): at for at, tree in enumerate(trees)}
    assert len(shapes) == 6
    # By truth, how often its triples have a pair as the farther one, less how often as the closer one.
    net = np.zeros((len(trees), 36), dtype=np.int64)
    for row, truth in zip(net, trees, strict=True):
        i, j, k = all_triples(truth).rows.T.astype(np.int64)
        assert len(i) == 2 * 20
        np.add.at(row, 6 * i + k, 1)
        np.add.at(row, 6 * i + j, -1)
    revenues = net @ tables.T
    best = revenues.diagonal().copy()
    np.fill_diagonal(revenues, -(10**6))
    assert (revenues.max(axis=1) < best).all()
    np.fill_diagonal(revenues, best)
    for at in shapes.values():
        t = all_triples(trees[at])
        assert [metrics.triplet_revenue(tree, t) for tree in trees] == revenues[at].tolist()


def whole_similarity(data):
    return ordhc.similarity(data, "adds3" if isinstance(data, ordhc.Triplets) else "adds4", dtype="int64")


def assert_theorem(tree, data, name):
    """The revenue, minus the cost and the dual revenue of additive similarities are one number."""
    S = whole_similarity(data)
    assert not S.diagonal().any()
    assert S.sum() == 0
    of_comparisons = ordhc.score(tree, data, name)
    assert type(of_comparisons) is int
    assert of_comparisons == naive.revenue(tree, data)
    assert of_comparisons == -metrics.dasgupta_cost(tree, S) == metrics.dasgupta_revenue(tree, S)
    condensed = S[np.triu_indices(len(S), 1)]
    assert of_comparisons == -metrics.dasgupta_cost(tree, condensed)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_revenue_is_minus_the_cost_on_all_trees(n):
    rng = np.random.default_rng(n)
    pairs = np.array(twins.pairs_of(n))
    for tree in naive.binary_trees(n):
        m = int(rng.integers(1, 40))
        three = np.array([rng.choice(n, 3, replace=False) for _ in range(m)])
        assert_theorem(tree, ordhc.Triplets(three, n), "triplet_revenue")
        four = [pairs[rng.choice(len(pairs), 2, replace=False)].ravel() for _ in range(m)]
        assert_theorem(tree, ordhc.Quadruplets(np.array(four), n), "quadruplet_revenue")


@QUICK
@given(triplets(), st.data())
def test_the_triplet_revenue_is_minus_the_cost(t, data):
    assert_theorem(data.draw(naive.trees(t.n_leaves)), t, "triplet_revenue")


@QUICK
@given(quadruplets(), st.data())
def test_the_quadruplet_revenue_is_minus_the_cost(q, data):
    assert_theorem(data.draw(naive.trees(q.n_leaves)), q, "quadruplet_revenue")


@QUICK
@given(triplets(weighted=True), st.data())
def test_triplets_count_as_quadruplets(t, data):
    tree = data.draw(naive.trees(t.n_leaves))
    assert metrics.quadruplet_revenue(tree, t) == metrics.triplet_revenue(tree, t)
    assert metrics.triplet_revenue(tree, t) == float(naive.revenue(tree, t))


@QUICK
@given(st.one_of(triplets(weighted=True), quadruplets(weighted=True)), st.data())
def test_weighted_revenues(comparisons, data):
    """Quarters are exact as floats, too."""
    tree = data.draw(naive.trees(comparisons.n_leaves))
    n, weights = comparisons.n_leaves, comparisons.weights
    score = metrics.triplet_revenue if isinstance(comparisons, ordhc.Triplets) else metrics.quadruplet_revenue
    found = score(tree, comparisons)
    assert type(found) is float
    assert found == float(naive.revenue(tree, comparisons))
    if len(weights):
        share = score(tree, comparisons, normalize=True)
        assert share == pytest.approx(found / ((n - 2) * weights.sum()), rel=1e-12)
        assert -1 <= share <= 1
    name = "adds3" if isinstance(comparisons, ordhc.Triplets) else "adds4"
    S = ordhc.similarity(comparisons, name)
    assert metrics.dasgupta_revenue(tree, S) == pytest.approx(found, abs=1e-9)


def test_large_revenues_are_exact():
    tree = naive.random_tree(100, 0)
    t = ordhc.Triplets(np.array([np.random.default_rng(1).permutation(100)[:3] for _ in range(1500)]), 100)
    assert_theorem(tree, t, "triplet_revenue")


def test_enormous_weights_are_errors():
    tree = "(((0,1),2),3);"
    for rows, weights in (([(0, 1, 3)] * 2, [1e308] * 2), ([(0, 1, 3), (0, 3, 1)], [1.7e308, 1.7e308])):
        t = ordhc.Triplets(rows, 4, weights=weights)
        for score in (metrics.triplet_revenue, metrics.quadruplet_revenue):
            for normalize in (False, True):
                with pytest.raises(InputError, match="weights are so large .* rescale them"):
                    score(tree, t, normalize=normalize)
        with pytest.raises(InputError, match="weights are so large .* rescale them"):
            metrics.satisfied(tree, t)
    t = ordhc.Triplets([(0, 1, 3)], 4, weights=[1e307])
    assert metrics.triplet_revenue(tree, t) == 2e307
    assert metrics.triplet_revenue(tree, t, normalize=True) == 1.0


def test_nothing_to_divide_by():
    for weights in (None, [0.0, 0.0]):
        t = ordhc.Triplets([] if weights is None else [(0, 1, 2), (0, 2, 1)], 4, weights=weights)
        assert metrics.triplet_revenue("((0,1),(2,3));", t) == 0
        with pytest.raises(InputError, match="upper bound of the revenue is 0"):
            metrics.triplet_revenue("((0,1),(2,3));", t, normalize=True)
        with pytest.raises(InputError, match="no comparisons"):
            metrics.satisfied("((0,1),(2,3));", t)
