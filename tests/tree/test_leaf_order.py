"""Optimal leaf ordering: neighbours are as close as the tree allows."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError
from ordhc.testing.strategies import dendrograms


def drawings(tree):
    """Every order in which a tree can be drawn without crossings."""
    n = tree.n_leaves
    found = [[(leaf,)] for leaf in range(n)]
    for a, b in tree.merges.tolist():
        pairs = [*itertools.product(found[a], found[b]), *itertools.product(found[b], found[a])]
        found.append([one + other for one, other in pairs])
    return set(found[-1])


def length(order, far):
    return sum(far[one][other] for one, other in itertools.pairwise(order))


@given(dendrograms(min_leaves=1, max_leaves=7), st.data())
def test_no_other_drawing_is_better(tree, data):
    n = tree.n_leaves
    pairs = data.draw(st.lists(st.integers(-3, 3), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    far = np.zeros((n, n), dtype=int)
    far[np.triu_indices(n, 1)] = pairs
    far += far.T
    lengths = {order: length(order, far) for order in drawings(tree)}
    for dissimilarity, best in ((True, min), (False, max)):
        order = tuple(tree.leaf_order(far, dissimilarity=dissimilarity).tolist())
        assert lengths[order] == best(lengths.values())
        assert order == tuple(tree.leaf_order(far.astype(float), dissimilarity=dissimilarity).tolist())
        if n > 1:
            condensed = far[np.triu_indices(n, 1)]
            assert order == tuple(tree.leaf_order(condensed, dissimilarity=dissimilarity).tolist())


@pytest.mark.parametrize("method", ["average", "single", "ward"])
def test_it_is_never_longer_than_scipys(method):
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    from scipy.spatial.distance import pdist, squareform

    far = pdist(np.random.default_rng(3).normal(size=(80, 3)))
    Z = hierarchy.linkage(far, method)
    theirs = hierarchy.leaves_list(hierarchy.optimal_leaf_ordering(Z, far))
    ours = ordhc.Dendrogram.from_linkage_matrix(Z).leaf_order(far)
    assert sorted(ours.tolist()) == list(range(80))
    assert length(ours, squareform(far)) <= length(theirs, squareform(far)) + 1e-9


def test_the_tree_says_what_is_closer():
    S = np.array([[5, 5, 1, 4], [5, 5, 1, 1], [1, 1, 5, 5], [4, 1, 5, 5]])
    alike = ordhc.linkage(S, "average", dissimilarity=False)
    assert alike.leaf_order(S).tolist() == [1, 0, 3, 2]
    far = ordhc.linkage(5 - S, "average", dissimilarity=True)
    assert far.leaf_order(5 - S).tolist() == [1, 0, 3, 2]
    assert far.leaf_order().tolist() == [0, 1, 2, 3]


def test_progress_is_told():
    far = np.random.default_rng(0).random((400, 400))
    told = []
    ordhc.linkage(far + far.T, "average", dissimilarity=True).leaf_order(far + far.T, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1


@pytest.mark.parametrize(
    ("S", "said"),
    [
        (np.zeros((3, 3)), "the tree has 4 leaves, the matrix has 3"),
        (np.zeros(4), "4 is no such number"),
        (np.full((4, 4), np.nan), "NaN"),
        (np.arange(16.0).reshape(4, 4), "not symmetric"),
        ([["a"]], "text"),
    ],
)
def test_bad_matrices_are_explained(S, said):
    tree = ordhc.Dendrogram.from_newick("((0,1),(2,3));")
    with pytest.raises(InputError, match=said):
        tree.leaf_order(S)
