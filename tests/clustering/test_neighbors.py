"""Vectors by their nearest neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.clustering import linked
from ordhc.errors import InputError

pytest.importorskip("scipy")


@pytest.fixture
def few_by_all_pairs(monkeypatch):
    monkeypatch.setattr(linked, "_LEAST", 5)


def blobs(n, p=8, seed=0):
    random = np.random.default_rng(seed)
    centres = np.repeat(random.normal(size=(4, p)) * 2, 3, 0) + random.normal(size=(12, p))
    # On one side of the origin: cosines are positive, as in a tree.
    return centres[random.integers(0, 12, n)] + random.normal(size=(n, p)) * 0.3 + 6


def assert_heights_are_means(tree, X, initial=None):
    """Each merge stands at the mean cosine between its parts, or at the least of these where one is less."""
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


@pytest.mark.usefixtures("few_by_all_pairs")
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


@pytest.mark.usefixtures("few_by_all_pairs")
@pytest.mark.parametrize("n", [1, 2, 3, 40, 300])
def test_all_neighbors_are_all_pairs(n):
    X = blobs(n)
    found = ordhc.cluster(ordhc.Vectors(X, neighbors=max(1, n - 1)), similarity="cosine")
    expected = ordhc.cluster(X, similarity="cosine")
    assert n == 1 or float(ordhc.metrics.kendall_tau_b(found, expected)) > 1 - 1e-9
    np.testing.assert_allclose(found.heights, expected.heights, atol=1e-9)


@pytest.mark.usefixtures("few_by_all_pairs")
@pytest.mark.parametrize("groups", [2, 30])
def test_initial_clusters(groups):
    X = blobs(90)
    initial = np.random.default_rng(1).integers(0, groups, 90)
    tree = ordhc.cluster(ordhc.Vectors(X, neighbors=7), similarity="cosine", initial_clusters=initial)
    assert ordhc.score(tree, initial, "ari", n_clusters=len(set(initial.tolist()))) == 1
    assert_heights_are_means(tree, X, initial)
    one = ordhc.cluster(ordhc.Vectors(X, neighbors=7), similarity="cosine", initial_clusters=[0] * 90)
    assert one.n_leaves == 90


def test_equal_vectors(monkeypatch):
    monkeypatch.setattr(linked, "_LEAST", 2)
    rounds = []
    plain = linked._Graph.step
    monkeypatch.setattr(linked._Graph, "step", lambda *args: rounds.append(1) or plain(*args))
    line = np.column_stack([np.arange(999), np.arange(1, 1000)])
    X = np.ones((1000, 3)) / np.sqrt(3)
    tree = linked.linked_dot_linkage(X, line[:, 0], line[:, 1], None, None)
    np.testing.assert_allclose(tree.heights, 1)
    # As many as merge at random, not one after the other.
    assert len(rounds) < 60


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:15 neighbours leave")
@pytest.mark.parametrize(
    ("similarity", "linkage"), [("cosine", "average"), ("cosine", "single"), ("euclidean", "average")]
)
def test_close_to_all_pairs(similarity, linkage):
    pytest.importorskip("pynndescent")
    X = blobs(2500).astype(np.float32)
    told = []
    with_some = ordhc.cluster(
        ordhc.Vectors(X, neighbors=15), similarity=similarity, linkage=linkage, progress=told.append
    )
    assert told == sorted(told)
    assert told[-1] == 1
    again = ordhc.cluster(ordhc.Vectors(X, neighbors=15), similarity=similarity, linkage=linkage)
    assert with_some == again
    if linkage == "average" and similarity == "cosine":
        exact = ordhc.cluster(X, similarity=similarity, linkage=linkage)
        assert float(ordhc.metrics.kendall_tau_b(with_some, exact)) > 0.95
        assert ordhc.score(with_some, exact.cut(12), "aari") > 0.95


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"neighbors": 0}, "neighbors = 0 is below 1"),
        ({"neighbors": 2.5}, "neighbors = 2.5 is not a whole number"),
        ({"neighbors": 3, "linkage": "ward"}, "linkages of nearest neighbours are"),
        ({"neighbors": 3, "method": "cosine-al+spr"}, "without moves of subtrees"),
        ({"neighbors": 3, "similarity": "dot"}, "has no nearest neighbours"),
    ],
)
def test_what_does_not_go(options, told):
    how = {"similarity": None if "method" in options else "cosine", **options}
    neighbors = how.pop("neighbors")
    with pytest.raises(InputError, match=told):
        ordhc.cluster(ordhc.Vectors(blobs(20), neighbors=neighbors), **how)
