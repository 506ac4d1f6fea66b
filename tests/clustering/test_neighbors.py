"""Vectors along their nearest neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.clustering import neighbors as along
from ordhc.errors import InputError

pytest.importorskip("scipy")

LINKAGES = [
    ("cosine", "average"),
    ("cosine", "complete"),
    ("euclidean", "ward"),
    ("euclidean", "average"),
    ("euclidean", "weighted"),
    ("euclidean", "complete"),
    ("euclidean", "single"),
    ("sqeuclidean", "average"),
]


@pytest.fixture
def few(monkeypatch):
    """Links count from 10 vectors on, until 5 clusters are left."""
    monkeypatch.setattr(along, "_FEW", 5)
    monkeypatch.setattr(along, "_MOST", 5)


def blobs(n, p=8, seed=0):
    random = np.random.default_rng(seed)
    centres = np.repeat(random.normal(size=(4, p)) * 2, 3, 0) + random.normal(size=(12, p))
    # On one side of the origin: cosines are positive, as in a tree.
    return centres[random.integers(0, 12, n)] + random.normal(size=(n, p)) * 0.3 + 6


def assert_heights_are_means(tree, X, initial=None):
    """Each merge has the mean cosine of its parts, or the least height of the parts if that is less."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosines = unit @ unit.T
    n = len(X)
    leaves, highest = [[leaf] for leaf in range(n)], [np.inf] * n
    for (i, j), height in zip(tree.merges.tolist(), tree.heights.tolist(), strict=True):
        a, b = leaves[i], leaves[j]
        leaves.append(a + b)
        if initial is not None and len(set(initial[leaves[-1]])) == 1:
            highest.append(np.inf)
            continue
        expected = min(cosines[np.ix_(a, b)].mean(), highest[i], highest[j])
        assert height == pytest.approx(expected, abs=1e-6)
        highest.append(height)
    assert len(leaves[-1]) == n
    assert (np.diff(tree.heights) <= 0).all()


@pytest.mark.usefixtures("few")
@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 60),
    k=st.integers(1, 12),
    seed=st.integers(0, 1000),
    kind=st.sampled_from(["blobs", "grid"]),
)
def test_heights(n, k, seed, kind):
    X = blobs(n, seed=seed)
    if kind == "grid":
        # Many equal vectors, many equally near ones.
        X = np.random.default_rng(seed).integers(1, 3, (n, 2)).astype(float)
    assert_heights_are_means(ordhc.cluster(ordhc.Vectors(X, neighbors=k), similarity="cosine"), X)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", ["blobs", "tied"])
@pytest.mark.parametrize("n", [1, 2, 3, 40])
@pytest.mark.parametrize(("similarity", "linkage"), LINKAGES)
def test_all_neighbors_are_all_pairs(n, kind, similarity, linkage):
    X = blobs(n) if kind == "blobs" else np.random.default_rng(n).integers(1, 4, (n, 3)).astype(float)
    expected = ordhc.cluster(X, similarity=similarity, linkage=linkage)
    for neighbors in (max(1, n - 1), n + 7):
        found = ordhc.cluster(ordhc.Vectors(X, neighbors=neighbors), similarity=similarity, linkage=linkage)
        assert found == expected


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("groups", [2, 30])
def test_initial_clusters(groups):
    X = blobs(90)
    initial = np.random.default_rng(1).integers(0, groups, 90)
    tree = ordhc.cluster(ordhc.Vectors(X, neighbors=7), similarity="cosine", initial_clusters=initial)
    assert ordhc.score(tree, initial, "ari", n_clusters=len(set(initial.tolist()))) == 1
    assert_heights_are_means(tree, X, initial)
    one = ordhc.cluster(ordhc.Vectors(X, neighbors=7), similarity="cosine", initial_clusters=[0] * 90)
    assert one.n_leaves == 90


@pytest.mark.parametrize(("similarity", "linkage"), LINKAGES)
def test_close_to_all_pairs(similarity, linkage):
    X = blobs(2500).astype(np.float32)
    told = []
    with_some = ordhc.cluster(
        ordhc.Vectors(X, neighbors=15), similarity=similarity, linkage=linkage, progress=told.append
    )
    assert told == sorted(told)
    assert told[-1] == 1
    again = ordhc.cluster(ordhc.Vectors(X, neighbors=15), similarity=similarity, linkage=linkage)
    assert with_some == again
    exact = ordhc.cluster(X, similarity=similarity, linkage=linkage)
    assert float(ordhc.metrics.kendall_tau_b(with_some, exact)) > 0.95
    assert ordhc.score(with_some, exact.cut(12), "aari") > 0.95


@pytest.mark.usefixtures("few")
def test_neighbors_may_be_given():
    from scipy.sparse import csr_array
    from sklearn.neighbors import NearestNeighbors

    X = blobs(60)
    index = NearestNeighbors(n_neighbors=8).fit(X)
    distances, indices = index.kneighbors(X)
    some = indices.copy()
    some[:, 5:] = -1
    for linkage in ("ward", "single"):
        how = {"similarity": "euclidean", "linkage": linkage}
        own = ordhc.cluster(ordhc.Vectors(X, neighbors=7), **how)
        forms = [indices, (distances, indices), (indices, distances), index.kneighbors_graph(X)]
        for given_neighbors in forms:
            assert ordhc.cluster(ordhc.Vectors(X, neighbors=given_neighbors), **how) == own
        fewer = ordhc.cluster(ordhc.Vectors(X, neighbors=some), **how)
        assert fewer == ordhc.cluster(ordhc.Vectors(X, neighbors=indices[:, :5]), **how)
        # Links count whatever the numbers of leaves are.
        tied = ordhc.cluster(ordhc.Vectors(X, neighbors=indices), tie_seed=3, **how)
        np.testing.assert_allclose(tied.heights, own.heights, rtol=1e-9)
        empty = ordhc.cluster(ordhc.Vectors(X, neighbors=csr_array((60, 60))), **how)
        assert empty.n_leaves == 60


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((2100, 3)),
        np.repeat(np.arange(3.0), 700)[:, None],
        np.arange(2100.0)[:, None],
        np.concatenate([np.zeros(2099), [1e6]])[:, None],
    ],
    ids=["constant", "three values", "a line", "an outlier"],
)
def test_odd_vectors(X):
    for linkage in ("ward", "average", "complete", "single"):
        tree = ordhc.cluster(ordhc.Vectors(X, neighbors=4), similarity="euclidean", linkage=linkage)
        exact = ordhc.cluster(X, similarity="euclidean", linkage=linkage)
        assert tree.n_leaves == 2100
        assert tree.heights[-1] == pytest.approx(exact.heights[-1], rel=0.2)
        if len(np.unique(X)) <= 3:
            np.testing.assert_allclose(tree.heights, exact.heights, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"neighbors": 0}, "neighbors = 0 is below 1"),
        ({"neighbors": 2.5}, "neighbors = 2.5 is not a whole number"),
        (
            {"neighbors": np.zeros((19, 3), int)},
            r"neighbors has shape \(19, 3\); it must have a row for each of 20",
        ),
        ({"neighbors": np.full((20, 3), 20)}, "row 0: neighbors: column 0 is 20; leaves are 0 to 19"),
        ({"neighbors": (np.zeros((20, 3)), np.zeros((20, 3)))}, "the other distances"),
        ({"neighbors": np.full((20, 3), 0.5)}, "is not a whole number"),
        ({"neighbors": 3, "similarity": "cosine", "linkage": "ward"}, "cannot use nearest neighbours"),
        ({"neighbors": 3, "linkage": "centroid"}, "cannot use nearest neighbours: use linkage"),
        ({"neighbors": 3, "method": "cosine-al+spr"}, "without moves of subtrees"),
        ({"neighbors": 3, "similarity": "dot"}, "cannot use nearest neighbours: use similarity"),
    ],
)
def test_what_does_not_go(options, told):
    how = {"similarity": None if "method" in options else "cosine", **options}
    neighbors = how.pop("neighbors")
    with pytest.raises(InputError, match=told):
        ordhc.cluster(ordhc.Vectors(blobs(20), neighbors=neighbors), **how)


def test_sparse_vectors_are_refused():
    from scipy.sparse import csr_array

    with pytest.raises(InputError, match="found for dense vectors"):
        ordhc.cluster(ordhc.Vectors(csr_array(np.eye(9)), neighbors=3), similarity="cosine")
