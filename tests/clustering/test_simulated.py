"""Simulated trees, similarities, vectors and comparisons."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ordhc
from ordhc import datasets
from ordhc.asking import simulated
from ordhc.errors import InputError
from ordhc.tree.dendrogram import lca_size

SHAPES = ("uniform", "yule", "balanced", "caterpillar", "degree", "joined", "star")


def similarities(n, seed, high=None):
    """Symmetric; whole numbers below `high`, with ties, or all different."""
    rng = np.random.default_rng(seed)
    S = rng.random((n, n)) if high is None else rng.integers(0, high, (n, n))
    return np.triu(S, 1) + np.triu(S, 1).T


def all_of(S, quadruplets):
    """Every comparison of unequal similarities, one by one."""
    n = len(S)
    found = set()
    if quadruplets:
        for first, second in itertools.combinations(itertools.combinations(range(n), 2), 2):
            if S[first] != S[second]:
                found.add((*first, *second) if S[first] > S[second] else (*second, *first))
    else:
        for i, j, k in itertools.permutations(range(n), 3):
            if S[i, j] > S[i, k]:
                found.add((i, j, k))
    return found


def canonical(rows):
    if rows.shape[1] == 3:
        return [tuple(row) for row in rows.tolist()]
    return [(*sorted(row[:2]), *sorted(row[2:])) for row in rows.tolist()]


@pytest.mark.parametrize("quadruplets", [False, True])
@pytest.mark.parametrize("high", [None, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_comparisons_of_similarities(quadruplets, high, n):
    S = similarities(n, 1, high)
    expected = all_of(S, quadruplets)
    for settings in ({}, {"share": 1.0}):
        every = canonical(datasets.comparisons_of(S, quadruplets=quadruplets, **settings).rows)
        assert len(every) == len(expected)
        assert set(every) == expected
    total = simulated._total(n, quadruplets)
    for number in {0, min(1, total), total // 2, total}:
        drawn = canonical(datasets.comparisons_of(S, number, quadruplets=quadruplets, seed=3).rows)
        assert len(set(drawn)) == len(drawn) <= number
        assert set(drawn) <= expected
    assert len(datasets.comparisons_of(S, share=0.0, quadruplets=quadruplets)) == 0


def test_shares_flips_and_seeds():
    S = similarities(40, 2)
    total = simulated._total(40, True)
    drawn = datasets.comparisons_of(S, share=0.1, quadruplets=True, seed=3)
    assert len(drawn) == pytest.approx(0.1 * total, rel=0.05)
    assert drawn == datasets.comparisons_of(S, share=0.1, quadruplets=True, seed=3)
    assert drawn != datasets.comparisons_of(S, share=0.1, quadruplets=True, seed=4)
    a, b, c = datasets.comparisons_of(S, 20_000, flip=0.05).rows.T
    assert np.mean(S[a, b] < S[a, c]) == pytest.approx(0.05, abs=0.01)


def test_chunks_have_all_comparisons(monkeypatch):
    S = similarities(9, 4)
    monkeypatch.setattr(simulated, "_CHUNK", 50)
    for settings in ({}, {"number": 200}, {"share": 0.5, "seed": 2}):
        drawn = canonical(datasets.comparisons_of(S, quadruplets=True, **settings).rows)
        assert len(set(drawn)) == len(drawn)
        assert set(drawn) <= all_of(S, True)
    assert set(canonical(datasets.comparisons_of(S, quadruplets=True).rows)) == all_of(S, True)


def test_pairs_by_number():
    i, j = simulated._pair(np.arange(1225))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(a, b) for b in range(50) for a in range(b)]
    # Where the square root is rounded.
    for j in (94_906_267, 2**31):
        k = np.array([j * (j - 1) // 2 - 1, j * (j - 1) // 2])
        assert [column.tolist() for column in simulated._pair(k)] == [[j - 2, 0], [j - 1, j]]


@given(st.integers(1, 9), st.sampled_from(SHAPES), st.integers(0, 2**32))
def test_triplets_of_a_tree(n, shape, seed):
    tree = datasets.random_tree(n, shape=shape, seed=seed)
    sizes = [[0 if i == j else lca_size(tree, i, j) for j in range(n)] for i in range(n)]
    expected = {(a, b, c) for a, b, c in itertools.permutations(range(n), 3) if sizes[a][b] < sizes[a][c]}
    every = datasets.comparisons_of(tree)
    assert set(canonical(every.rows)) == expected
    assert len(every) == len(expected)
    assert every.n_leaves == n


def test_names_come_from_the_tree():
    drawn = datasets.comparisons_of("((ant,bee),cow);", 3)
    assert drawn.names == ("ant", "bee", "cow")


@pytest.mark.parametrize("shape", SHAPES)
def test_random_trees(shape):
    tree = datasets.random_tree(24, shape=shape, seed=5)
    assert tree == datasets.random_tree(24, shape=shape, seed=5)
    if shape != "star":
        assert tree != datasets.random_tree(24, shape=shape, seed=6)
    assert tree.heights.max() == {"balanced": 5, "caterpillar": 23, "star": 1}.get(shape, tree.heights.max())
    assert datasets.random_tree(1, shape=shape).n_leaves == 1
    with pytest.raises(InputError, match="uniform"):
        datasets.random_tree(4, shape="round")


@pytest.mark.parametrize("quadruplets", [False, True])
def test_planted_compares_the_planted_similarities(quadruplets):
    model = {"levels": 2, "leaves_per_cluster": 6, "delta": 0.3, "seed": 7}
    S, labels = datasets.planted_similarities(**model)
    drawn, same = datasets.planted(500, quadruplets=quadruplets, **model)
    assert (labels == same).all()
    assert (S.T == S).all()
    assert (np.diag(S) == 0).all()
    i, j, *rest = drawn.rows.T
    k, m = rest if quadruplets else (i, rest[0])
    assert (S[i, j] > S[k, m]).all()


def test_planted_similarities_have_the_planted_means():
    S, labels = datasets.planted_similarities(delta=0.2, seed=1)
    apart = (labels[:, None] != labels[None]).sum(axis=2)
    for level in range(4):
        values = S[(apart == level) & ~np.eye(240, dtype=bool)]
        assert values.mean() == pytest.approx(0.8 - 0.2 * level, abs=0.01)
        assert values.std() == pytest.approx(0.1, abs=0.01)
    assert (np.diff(labels[:, 2]) != 0).mean() > 0.5
    in_order = datasets.planted_similarities(delta=0.2, seed=1, permute=False)[1]
    assert (np.diff(in_order[:, 2]) >= 0).all()
    with pytest.raises(InputError, match="at most 20 levels"):
        datasets.planted_similarities(levels=21)


TREE = ordhc.Dendrogram([(0, 1), (3, 2)], [3.0, 1.0], kind="similarity", leaf_heights=[4.0, 3.0, 2.0])


def test_vectors_have_the_heights_as_dot_products():
    X, leaves = datasets.vectors_of(TREE, 200, 20_000, noise=0.5, seed=2)
    assert X.shape == (200, 20_000)
    products = X @ X.T / 20_000
    expected = np.array([[4, 3, 1], [3, 3, 1], [1, 1, 2]])[np.ix_(leaves, leaves)] + 0.25 * np.eye(200)
    np.testing.assert_allclose(products, expected, atol=0.2)
    assert np.bincount(leaves).min() > 40
    again = datasets.vectors_of(TREE, 200, 20_000, noise=0.5, seed=2)
    assert (again[0] == X).all()
    # Without noise the vectors of a leaf are one.
    X, leaves = datasets.vectors_of(TREE, 20, 3, noise=0.0)
    assert len(np.unique(X.round(9), axis=0)) == len(np.unique(leaves))


def test_trees_that_vectors_are_not_drawn_of():
    for tree in (
        "((0,1),2);",
        ordhc.Dendrogram([(0, 1)], [1.0], leaf_heights=[0.0, 0.0]),
        ordhc.Dendrogram([(0, 1)], [1.0], kind="similarity"),
    ):
        with pytest.raises(InputError, match='kind "similarity" with leaf_heights'):
            datasets.vectors_of(tree, 2, 2)
    low = ordhc.Dendrogram([(0, 1)], [2.0], kind="similarity", leaf_heights=[3.0, 1.0])
    with pytest.raises(InputError, match="node 1 has height 1, less than the height 2 of its parent"):
        datasets.vectors_of(low, 2, 2)


def test_comparisons_that_cannot_be_drawn():
    with pytest.raises(InputError, match="give number or share"):
        datasets.comparisons_of(TREE, 1, share=0.5)
    with pytest.raises(InputError, match="number"):
        datasets.comparisons_of(TREE, 10)
    with pytest.raises(InputError, match="has no attribute n_leaves"):
        datasets.comparisons_of(lambda rows: np.ones(len(rows)))


def test_reduced_answers_about_cars():
    car = datasets.load_car(reduced=True)
    assert (len(car.triplets), car.triplets.n_leaves) == (12_112, 60)
    # Rows of the authors' file T_ALL_REDUCED.csv, whose numbers begin with 1: (central, another, another).
    rows = [(59, 47, 34), (37, 36, 43), (43, 35, 38), (60, 57, 59), (51, 48, 49), (44, 36, 60), (59, 49, 58)]
    every = {tuple(row) for row in car.triplets.rows.tolist()}
    for central, one, other in rows:
        assert (one - 1, central - 1, other - 1) in every
        assert (other - 1, central - 1, one - 1) in every
    three = np.sort(car.triplets.rows.astype(int), axis=1)
    assert len(np.unique(three, axis=0)) == 6056
