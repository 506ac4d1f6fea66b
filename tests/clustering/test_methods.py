"""The methods beside their naive twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError
from support import twins
from support.comparisons import WEIGHTS, WHOLE, comparisons, data_of
from support.methods import (
    EXACT,
    FEW,
    FROM_QUADRUPLETS,
    FROM_TRIPLETS,
    assert_initial,
    assert_merges,
    assume_no_near_ties,
    assume_no_rounded_ties,
    clustered,
    expected_merges,
    for_method,
)
from support.trees import clusters_of

FEWER = settings(FEW, max_examples=20)

# Similarities.


@FEW
@given(comparisons(3), st.booleans())
def test_mulk3_is_the_formula(t, normalize):
    K = ordhc.similarity(t, "mulk3", normalize=normalize)
    expected = np.array(twins.mulk3(t.rows, t.weights, t.n_leaves, normalize), dtype=float)
    np.testing.assert_allclose(K, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    if normalize:
        np.testing.assert_array_equal(ordhc.similarity(t, "mulk3"), K)
    else:
        np.testing.assert_array_equal(K, expected)
    condensed = ordhc.similarity(t, "mulk3", normalize=normalize, layout="condensed")
    np.testing.assert_array_equal(condensed, K[np.triu_indices(t.n_leaves, 1)])


@FEW
@given(st.one_of(comparisons(4), comparisons(3)), st.sampled_from(["mulk4", "4k"]))
def test_mulk4_and_4k_are_the_formulas(data, name):
    K = ordhc.similarity(data, name)
    n, rows = data.n_leaves, data.rows.tolist()
    if isinstance(data, ordhc.Triplets):
        rows = twins.as_quadruplets(rows)
        np.testing.assert_array_equal(ordhc.similarity(data.to_quadruplets(), name), K)
    twin = twins.mulk4 if name == "mulk4" else twins.four_k
    expected = np.array(twin(rows, data.weights, n), dtype=float)
    upper = np.triu_indices(n, 1)
    np.testing.assert_array_equal(K[upper], expected[upper])
    np.testing.assert_array_equal(K, K.T)
    if name == "mulk4":
        np.testing.assert_array_equal(np.diag(K), np.diag(expected))
    np.testing.assert_array_equal(ordhc.similarity(data, name, layout="condensed"), K[upper])


# Methods.


@pytest.mark.parametrize("method", EXACT)
@FEWER
@given(st.data())
def test_methods_are_their_twins(method, data):
    given = data.draw(for_method(method))
    assume_no_rounded_ties(method, given)
    assert_merges(clustered(given, method), expected_merges(method, given))


@pytest.mark.parametrize("method", FROM_QUADRUPLETS)
@FEWER
@given(comparisons(3))
def test_triplets_serve_as_quadruplets(method, t):
    assume_no_rounded_ties(method, t)
    tree = clustered(t, method)
    assert_merges(tree, expected_merges(method, t))
    assert clustered(t.to_quadruplets(), method) == tree


@FEWER
@given(comparisons(3, min_leaves=3, max_leaves=6, min_size=8, max_size=60))
def test_mulk3_al_is_its_twin(t):
    assume_no_near_ties("mulk3-al", t)
    tree = clustered(t, "mulk3-al")
    assert_merges(tree, expected_merges("mulk3-al", t))


@FEW
@given(comparisons(3, answered=True, min_leaves=3))
def test_raw_mulk3_al_is_its_twin(t):
    assume_no_rounded_ties("mulk3-raw", t)
    parameters = {"normalize": False}
    tree = ordhc.cluster(t, similarity=("mulk3", parameters), linkage="average")
    assert_merges(tree, expected_merges("mulk3-raw", t))


@pytest.mark.parametrize("method", [*FROM_TRIPLETS, *FROM_QUADRUPLETS])
def test_leaves_without_answers_come_last(method):
    rows = [(5, 2, 3), (2, 5, 3), (0, 1, 4)]
    for weights, tail in ((None, []), ([1, 1, 0], [0, 1, 4])):
        t = ordhc.Triplets(rows, 8, None, weights)
        data = t if method in FROM_TRIPLETS else t.to_quadruplets()
        tree = clustered(data, method)
        tail = [*tail, 6, 7]
        whole = frozenset(range(8))
        expected = [whole - set(tail[at + 1 :]) for at in range(len(tail))]
        assert clusters_of(tree)[-len(tail) :] == expected
        assert set(tree.heights[-len(tail) :]) == {tree.heights[-len(tail) - 1]}
    for n in (2, 4):
        tree = clustered(data_of([], n, width=data.rows.shape[1]), method)
        assert clusters_of(tree) == [frozenset(range(at)) for at in range(2, n + 1)]
        assert tree.heights.tolist() == [0.0] * (n - 1)


# Numbers of leaves; larger data.


def random_data(width, n, m, seed, kind="floats"):
    """Comparisons that mention all leaves; weights without ties, small ones with, or none."""
    rng = np.random.default_rng(seed)
    pairs = twins.pairs_of(n)
    if width == 3:
        rows = [rng.choice(n, 3, replace=False).tolist() for _ in range(m)]
        rows += [[leaf, (leaf + 1) % n, (leaf + 2) % n] for leaf in range(n)]
    else:
        rows = [[*pairs[a], *pairs[b]] for a, b in (rng.choice(len(pairs), 2, False) for _ in range(m))]
        rows += [[leaf, (leaf + 1) % n, leaf, (leaf + 2) % n] for leaf in range(n)]
    weights = None
    if kind == "floats":  # few bits, so that sums and products of some of them are exact
        weights = rng.integers(1, 2**16, len(rows)) / 2**14
    elif kind != "none":
        weights = rng.choice([w for w in (WEIGHTS if kind == "quarters" else WHOLE) if w], len(rows))
    return data_of(rows, n, weights)


@pytest.mark.parametrize("method", [*FROM_TRIPLETS, *FROM_QUADRUPLETS])
@FEWER
@given(st.integers(3, 7), st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_renumbering_leaves_renumbers_the_tree(method, n, m, seed):
    data = random_data(3 if method in FROM_TRIPLETS else 4, n, m, seed)
    assume_no_near_ties(method, data)
    order = np.random.default_rng(seed + 1).permutation(n)
    renumbered = data_of(order[data.rows], n, data.weights)
    before = ordhc.cluster(data, method=method)
    after = ordhc.cluster(renumbered, method=method)
    mapped = [frozenset(int(order[leaf]) for leaf in cluster) for cluster in clusters_of(before)]
    assert clusters_of(after) == mapped
    np.testing.assert_allclose(after.heights, before.heights, rtol=1e-9, atol=1e-9)


# Ties are decided alike where means are exact; those of normalised values are up to rounding.
LARGER = [
    ("adds3-al", 24, ["floats", "whole"]),
    ("mulk3-al", 18, ["floats"]),
    ("3-al", 18, ["floats", "none"]),
    ("adds4-al", 20, ["whole", "none"]),
    ("mulk4-al", 11, ["floats", "whole"]),
    ("4k-al", 11, ["floats", "none"]),
    ("4-al", 12, ["floats", "quarters"]),
]


@pytest.mark.parametrize(
    ("method", "n", "kind"), [(method, n, kind) for method, n, kinds in LARGER for kind in kinds]
)
def test_methods_are_their_twins_on_more_leaves(method, n, kind):
    data = random_data(3 if method in FROM_TRIPLETS else 4, n, n * n, n, kind)
    assert_merges(ordhc.cluster(data, method=method), expected_merges(method, data))
    labels = np.random.default_rng(0).integers(0, n // 2, n).tolist()
    tree = ordhc.cluster(data, method=method, initial_clusters=labels)
    assert_initial(tree, labels)
    assert_merges(tree, expected_merges(method, data, labels))


def test_errors_name_leaves_that_have_names():
    t = ordhc.Triplets([("cat", "dog", "car"), ("dog", "car", "cat"), ("car", "bus", "cat")])
    with pytest.raises(InputError, match=r"\(cat, dog, car\) and \(dog, car, cat\)"):
        ordhc.cluster(t, method="build")
    q = ordhc.Quadruplets([("cat", "dog", "dog", "car")])
    with pytest.raises(InputError, match=r"the pairs \(cat, dog\) and \(cat, car\)"):
        ordhc.cluster(q, method="4-cl")


def test_vectors():
    X = 0.3 + np.random.default_rng(0).random(size=(12, 5))
    dot = X @ X.T / 5
    assert np.allclose(ordhc.similarity(X, "dot"), dot)
    lengths = np.linalg.norm(X, axis=1)
    assert np.allclose(ordhc.similarity(X, "cosine"), X @ X.T / lengths[:, None] / lengths)
    tree = ordhc.cluster(ordhc.Vectors(X, storage="matrix"), method="dot-al")
    bare = ordhc.linkage(ordhc.similarity(X, "dot"), dissimilarity=False)
    assert tree.leaf_heights is not None
    assert bare.leaf_heights is None
    assert ordhc.Dendrogram(tree.merges, tree.heights, kind="similarity") == bare
    start = np.arange(12) % 4
    d = ordhc.cluster(X.tolist(), method="cosine-al", initial_clusters=start)
    assert np.array_equal(d.cut(4), start)
    assert ordhc.cluster(X, method="dot-al", tie_seed=3) == ordhc.cluster(X, method="dot-al", tie_seed=3)
    assert ordhc.similarity([[0.0, 0.0], [1.0, 1.0]], "cosine", layout="condensed").tolist() == [0.0]
    X[3, 2] = np.nan
    with pytest.raises(InputError, match="row 3: column 2: nan is not finite"):
        ordhc.cluster(X, method="dot-al")
    with pytest.raises(InputError, match="takes vectors, not Triplets"):
        ordhc.cluster(ordhc.Triplets([(0, 1, 2)]), method="dot-al")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "3-al", "similarity": "adds3"}, "not both"),
        ({"similarity": "adds3", "linkage": "3-al"}, "leave out the similarity"),
        ({"method": "4-sl", "normalize": True}, "no parameter 'normalize'"),
        ({"method": "mulk3-al", "normalise": True}, "there are: normalize"),
        ({"method": "build", "initial_clusters": [0, 0, 1]}, "takes no initial_clusters"),
    ],
)
def test_bad_options(options, text):
    with pytest.raises(InputError, match=text):
        ordhc.cluster(ordhc.Triplets([(0, 1, 2)]), **options)


def test_linkages_of_comparisons_take_no_matrix():
    with pytest.raises(InputError, match="ordhc.cluster"):
        ordhc.linkage(np.eye(3), "3-al", dissimilarity=False)
