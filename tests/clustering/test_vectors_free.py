"""Linkages of vectors without a matrix of pairs, beside those with one."""

import numpy as np
import pytest
import scipy.cluster.hierarchy as sch
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

import ordhc
from ordhc.errors import InputError


def positive(n, p, seed=0):
    return np.random.default_rng(seed).random((n, p)) + 0.1


@settings(deadline=None)
@given(
    st.integers(1, 30),
    st.integers(1, 6),
    st.sampled_from(["euclidean", "sqeuclidean", "manhattan", "dot"]),
    st.integers(0, 1000),
    st.booleans(),
)
def test_single_linkage_needs_no_matrix(n, p, similarity, seed, single):
    random = np.random.default_rng(seed)
    # Euclidean distances in a matrix come from dot products, whose rounding parts ties.
    X = random.normal(size=(n, p)) if "euclidean" in similarity else random.integers(0, 4, (n, p))
    X = X.astype(np.float32 if single else np.float64)
    trees = [
        ordhc.cluster(ordhc.Vectors(X, storage=memory), similarity=similarity, linkage="single")
        for memory in ("matrix", "vectors", "auto")
    ]
    for tree in trees[1:]:
        assert tree.merges.tolist() == trees[0].merges.tolist()
        np.testing.assert_allclose(tree.heights, trees[0].heights, rtol=1e-6 if single else 1e-9)
        assert tree.kind == trees[0].kind


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 40), st.integers(1, 14), st.integers(0, 1000), st.booleans())
def test_average_linkage_of_squared_distances_needs_no_matrix(n, p, seed, tied):
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, (n, p)).astype(float) if tied else random.normal(size=(n, p))
    trees = [
        ordhc.cluster(ordhc.Vectors(X, storage=memory), similarity="sqeuclidean", linkage="average")
        for memory in ("matrix", "vectors", "auto")
    ]
    for tree in trees[1:]:
        assert tree.merges.tolist() == trees[0].merges.tolist()
        np.testing.assert_allclose(tree.heights, trees[0].heights, rtol=1e-9)
        assert tree.kind == "dissimilarity"
    if n > 1 and not tied:
        np.testing.assert_allclose(trees[1].heights, sch.linkage(pdist(X, "sqeuclidean"), "average")[:, 2])


@pytest.mark.parametrize("linkage", ["average", "single", "ward"])
def test_many_points_of_few_coordinates(linkage):
    random = np.random.default_rng(1)
    measures = {
        "average": ("sqeuclidean", "dot"),
        "single": ("euclidean", "manhattan"),
        "ward": ("euclidean",),
    }
    for X in (random.random((700, 2)), random.integers(0, 12, (700, 2)).astype(float)):
        for similarity in measures[linkage]:
            free, full = (
                ordhc.cluster(ordhc.Vectors(X, storage=memory), similarity=similarity, linkage=linkage)
                for memory in ("vectors", "matrix")
            )
            assert free.merges.tolist() == full.merges.tolist()
            np.testing.assert_allclose(free.heights, full.heights, rtol=1e-9, atol=1e-12)


def test_initial_clusters_of_squared_distances_need_a_matrix():
    X = positive(9, 2)
    start = [0, 0, 1, 1, 2, 3, 4, 5, 6]
    tree = ordhc.cluster(X, similarity="sqeuclidean", linkage="average", initial_clusters=start)
    again = ordhc.linkage(pdist(X, "sqeuclidean"), "average", dissimilarity=True, initial_clusters=start)
    assert tree.merges.tolist() == again.merges.tolist()
    with pytest.raises(InputError, match="needs a matrix to start from initial_clusters"):
        ordhc.cluster(
            ordhc.Vectors(X, storage="vectors"),
            similarity="sqeuclidean",
            linkage="average",
            initial_clusters=start,
        )


@pytest.mark.parametrize("sparse", [False, True])
def test_ward_needs_no_matrix(sparse):
    X = positive(70, 20)
    X[:, 3:] *= np.random.default_rng(0).random(X[:, 3:].shape) < 0.2
    data = sp.csr_matrix(X) if sparse else X
    free = ordhc.cluster(ordhc.Vectors(data, storage="vectors"), similarity="euclidean", linkage="ward")
    full = ordhc.cluster(ordhc.Vectors(X, storage="matrix"), similarity="euclidean", linkage="ward")
    assert free.merges.tolist() == full.merges.tolist()
    np.testing.assert_allclose(free.heights, full.heights, rtol=1e-9)
    cosine = [
        ordhc.cluster(ordhc.Vectors(data, storage=memory), similarity="cosine", linkage="single")
        for memory in ("matrix", "vectors")
    ]
    assert cosine[0].merges.tolist() == cosine[1].merges.tolist()
    np.testing.assert_allclose(cosine[0].leaf_heights, cosine[1].leaf_heights)
