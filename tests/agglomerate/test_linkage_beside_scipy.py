"""Linkages beside SciPy: trees of few leaves, numbers of 32 bits, points of few coordinates."""

import numpy as np
import pytest
import scipy.cluster.hierarchy as sch

import ordhc
from ordhc.errors import InputError, OrdhcWarning

LINKAGES = ("complete", "average", "weighted", "ward")


def pairs(n, seed=0):
    """Distances of points in five dimensions: no ties."""
    X = np.random.default_rng(seed).normal(size=(n, 5))
    i, j = np.triu_indices(n, 1)
    return np.sqrt(((X[i] - X[j]) ** 2).sum(axis=1))


@pytest.mark.parametrize("name", [*LINKAGES, "single"])
def test_numbers_of_32_bits_give_the_tree_of_the_same_numbers_in_64(name):
    y = pairs(1700).astype(np.float32)
    tree = ordhc.linkage(y, name, dissimilarity=True)
    assert tree == ordhc.linkage(y.astype(np.float64), name, dissimilarity=True)
    np.testing.assert_allclose(tree.heights, sch.linkage(y.astype(np.float64), name)[:, 2], rtol=1e-9)


def test_negative_dissimilarities_are_told_whatever_the_layout():
    square = np.array([[0.0, -2.0, 1.0], [-2.0, 0.0, 3.0], [1.0, 3.0, 0.0]])
    for S in (square, square[np.triu_indices(3, 1)], square.astype(np.float32), square.astype(int)):
        with pytest.warns(OrdhcWarning, match="leaves 0 and 1 is negative, -2") as told:
            ordhc.linkage(S, dissimilarity=True)
        assert told[0].filename == __file__
        with pytest.raises(InputError, match="leaves 0 and 1 is negative, -2, but this linkage squares"):
            ordhc.linkage(S, "ward", dissimilarity=True)
    np.fill_diagonal(square, 9.0)
    with pytest.warns(OrdhcWarning, match="the diagonal is the largest of each row"):
        ordhc.linkage(np.abs(square), dissimilarity=True)


@pytest.mark.parametrize("p", [1, 2, 3, 12])
@pytest.mark.parametrize("kind", ["uniform", "clusters", "twice"])
def test_wards_linkage_of_few_coordinates_as_scipy(p, kind):
    random = np.random.default_rng(p)
    X = random.random((700, p))
    if kind == "clusters":
        X += 9 * random.integers(0, 5, (700, 1))
    if kind == "twice":
        X[350:] = X[:350]
    tree = ordhc.cluster(ordhc.Vectors(X, storage="vectors"), similarity="euclidean", linkage="ward")
    expected = sch.linkage(X, "ward")
    np.testing.assert_allclose(tree.heights, expected[:, 2], rtol=1e-9, atol=1e-12)
    if kind != "twice":
        np.testing.assert_array_equal(tree.merges, np.sort(expected[:, :2], axis=1))
