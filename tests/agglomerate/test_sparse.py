"""Sparse similarities beside full matrices; answers of few pairs beside AddS of all."""

import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError, MissingExtraError, OrdhcWarning
from support.engines import merged
from support.random_data import random_comparisons

LINKAGES = ("single", "complete", "average")


@st.composite
def pairs(draw, values=None):
    """n, and values of some pairs."""
    n = draw(st.integers(1, 12))
    values = st.integers(-3, 3) | st.sampled_from([0.1, 0.2, 0.3, -0.7]) if values is None else values
    places = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).map(lambda pair: (min(pair), max(pair)))
    return n, draw(st.dictionaries(places, values, max_size=n * n))


def matrix(n, values, kind="upper"):
    """The pairs in one triangle, in both, or in either."""
    S = sp.dok_array((n, n))
    for (i, j), value in values.items():
        if kind != "lower" and not (kind == "either" and (i + j) % 2):
            S[i, j] = value
        if kind == "lower" or kind == "both" or (kind == "either" and (i + j) % 2):
            S[j, i] = value
    return S.tocsr()


@settings(deadline=None)
@given(pairs(), st.sampled_from(["upper", "lower", "both", "either"]), st.sampled_from(LINKAGES), st.data())
def test_absent_pairs_are_zero(data, kind, name, more):
    n, values = data
    S = matrix(n, values, kind)
    full = np.zeros((n, n))
    for (i, j), value in values.items():
        full[i, j] = full[j, i] = value
    labels = more.draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    seed = more.draw(st.none() | st.integers(0, 5))
    found = ordhc.linkage(S, name, dissimilarity=False, initial_clusters=labels, tie_seed=seed)
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
    turned = None if labels is None else np.array(labels)[order]
    shuffled = np.ascontiguousarray(full[np.ix_(order, order)])
    expected = merged(shuffled, name, labels=turned).relabel(order)
    assert found.kind == "similarity"
    assert found.merges.tolist() == expected.merges.tolist()
    np.testing.assert_allclose(found.heights, expected.heights, rtol=1e-12, atol=1e-12)


@settings(deadline=None)
@given(pairs(st.integers(1, 9)), st.sampled_from(LINKAGES), st.booleans())
def test_what_is_all_known_is_as_the_full_matrix(data, name, dissimilarity):
    n, values = data
    full = np.full((n, n), 4.0)
    for (i, j), value in values.items():
        full[i, j] = full[j, i] = value
    np.fill_diagonal(full, -4)
    found = ordhc.linkage(sp.coo_array(full), name, missing="ignore", dissimilarity=dissimilarity)
    expected = ordhc.linkage(full, name, dissimilarity=dissimilarity)
    assert found.merges.tolist() == expected.merges.tolist()
    assert found.heights.tolist() == expected.heights.tolist()
    assert found.kind == expected.kind


def test_unknown_pairs_count_for_nothing():
    # Two chains: 0-1-2 and 3-4; 5 is alone.
    S = matrix(6, {(0, 1): 4.0, (1, 2): 3.0, (0, 2): 1.0, (3, 4): 2.5})
    for name, height in [("single", 3.0), ("average", 2.0), ("complete", 1.0)]:
        with pytest.warns(OrdhcWarning, match="3 separate trees") as told:
            tree = ordhc.linkage(S, name, dissimilarity=False, missing="ignore", names=list("abcdef"))
        assert told[0].filename == __file__
        lowest = min(height, 2.5)
        assert sorted(tree.heights.tolist(), reverse=True) == tree.heights.tolist()
        assert sorted(tree.heights.tolist()) == sorted([4.0, height, 2.5, lowest, lowest])
        assert tree.cut(n_clusters=3).tolist() == [0, 0, 0, 1, 1, 2]
        assert tree.merges[-1].tolist() == [5, 9]
    with pytest.warns(OrdhcWarning, match="3 separate trees"):
        tree = ordhc.linkage(sp.csr_array((3, 3)), dissimilarity=False, missing="ignore")
    assert tree.merges.tolist() == [[0, 1], [2, 3]]
    assert tree.heights.tolist() == [0.0, 0.0]


def test_of_equally_similar_pairs_the_better_known_goes_first():
    # After 1 and 2: half of the pairs with 0 are known, all with 3.
    S = matrix(4, {(1, 2): 9.0, (0, 1): 5.0, (1, 3): 5.0, (2, 3): 5.0})
    for name in ("average", "complete"):
        assert ordhc.linkage(S, name, dissimilarity=False, missing="ignore").merges.tolist() == [
            [1, 2],
            [3, 4],
            [0, 5],
        ]
    assert ordhc.linkage(S, "single", dissimilarity=False, missing="ignore").merges.tolist() == [
        [1, 2],
        [0, 4],
        [3, 5],
    ]


def test_initial_clusters_without_known_pairs():
    S = matrix(4, {(0, 1): 3.0})
    with pytest.warns(OrdhcWarning, match="2 separate"):
        tree = ordhc.linkage(S, dissimilarity=False, missing="ignore", initial_clusters=[0, 1, 2, 2])
    assert tree.merges.tolist() == [[2, 3], [0, 1], [4, 5]]
    assert tree.heights.tolist() == [3.0, 3.0, 3.0]


def test_input_stays_as_it_is():
    S = sp.csr_matrix(
        (np.array([1, 2, 5, 7], dtype=np.int16), np.array([2, 2, 1, 0]), np.array([0, 3, 3, 4])), shape=(3, 3)
    )
    before = (S.data.copy(), S.indices.copy(), S.indptr.copy())
    with pytest.raises(InputError, match=r"\[2, 0\] is 7 but \[0, 2\] is 3"):
        ordhc.linkage(S, dissimilarity=False)
    for now, then in zip((S.data, S.indices, S.indptr), before, strict=True):
        assert np.array_equal(now, then)
    S = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    assert ordhc.linkage(S, dissimilarity=False).heights.tolist() == [3.0]
    big = sp.csr_array(([1.0], [1], [0, 1, 1]), shape=(2, 2))
    big.indptr = big.indptr.astype(np.int64)
    assert ordhc.linkage(big, dissimilarity=False).heights.tolist() == [1.0]


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [
        ((sp.csr_array((2, 3)),), {}, r"shape \(2, 3\)"),
        ((sp.csr_array(np.array([[0, np.nan], [0, 0]])),), {}, r"similarity at \[0, 1\] is NaN"),
        ((sp.csr_array(np.array([[0, 0], [np.inf, 0]])),), {}, r"similarity at \[1, 0\] is inf"),
        ((sp.csr_array(np.array([[0, 1j], [0, 0]])),), {}, "has type complex128"),
        (
            (sp.csr_array(np.eye(3)), "ward"),
            {},
            r"pass S.toarray\(\), or use one of the linkages single, complete, average",
        ),
        ((sp.csr_array(np.eye(3)), "3-al"), {}, "does not accept a sparse matrix"),
        ((sp.csr_array(np.eye(3)),), {"dissimilarity": True}, "pass missing='ignore'"),
        ((sp.csr_array(np.eye(3)),), {"missing": "nan"}, "missing is 'nan'"),
        ((sp.csr_array(np.eye(3)),), {"overwrite": True}, "no overwrite=True"),
        ((sp.csr_array(np.eye(3)),), {"initial_clusters": [0, 1]}, "a label for each of 3 leaves"),
        ((np.eye(3),), {"missing": "ignore"}, "for sparse matrices; ndarray has all pairs"),
    ],
)
def test_what_does_not_work_is_said(arguments, options, text):
    with pytest.raises(InputError, match=text):
        ordhc.linkage(*arguments, **{"dissimilarity": False, **options})


def test_progress_and_its_errors():
    told = []
    S = sp.random_array((3000, 3000), density=0.01, rng=np.random.default_rng(0))
    S = sp.triu(S, 1)
    ordhc.linkage(S, dissimilarity=False, progress=told.append)
    assert told[-1] == 1.0

    def fail(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        ordhc.linkage(S, dissimilarity=False, progress=fail)


# --- sparse answers --------------------------------------------------------------------------


@pytest.mark.parametrize("quadruplets", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_layout(quadruplets, weighted):
    data = random_comparisons(40, 200, weighted=weighted, quadruplets=quadruplets)
    name = "adds4" if quadruplets else "adds3"
    S = ordhc.similarity(data, name, layout="sparse")
    assert S.format == "csr"
    assert S.has_canonical_format
    assert np.array_equal(S.toarray(), ordhc.similarity(data, name))
    assert (S.data != 0).all()
    if not weighted:
        assert ordhc.similarity(data, name, layout="sparse", dtype="int64").dtype == np.int64
    else:
        with pytest.raises(InputError, match="weighted answers need"):
            ordhc.similarity(data, name, layout="sparse", dtype="int64")


def test_sparse_layout_is_of_adds_and_needs_scipy(monkeypatch):
    data = random_comparisons(10, 20)
    with pytest.raises(InputError, match="'mulk3' has no sparse layout"):
        ordhc.similarity(data, "mulk3", layout="sparse")
    with pytest.raises(InputError, match="not one of square, condensed, sparse"):
        ordhc.similarity(data, layout="csr")
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(MissingExtraError, match="ordhc\\[vectors\\]"):
        ordhc.similarity(data, layout="sparse")


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("weighted", [False, True])
def test_few_answers_take_no_matrix(name, weighted, monkeypatch):
    data = random_comparisons(60, 150, weighted=weighted)
    labels = np.arange(60) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        full = [ordhc.cluster(data, linkage=name, initial_clusters=given) for given in (None, labels)]
        monkeypatch.setattr("ordhc.clustering.routes._MANY", 0)
        monkeypatch.setattr("ordhc.clustering.routes._FEW", 0)
        monkeypatch.setattr(ordhc._ordhc, "adds", None)
        few = [ordhc.cluster(data, linkage=name, initial_clusters=given) for given in (None, labels)]
    for a, b in zip(full, few, strict=True):
        assert a.merges.tolist() == b.merges.tolist()
        np.testing.assert_allclose(a.heights, b.heights, rtol=1e-12, atol=1e-12)


def test_a_million_pairs_of_leaves_need_no_matrix():
    data = random_comparisons(30_000, 60_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        tree = ordhc.cluster(data, method="adds3-al")
    assert tree.n_leaves == 30_000


# --- from a function -------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 12), st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.sampled_from([None, 1, 2])
)
@pytest.mark.filterwarnings("ignore:.*looks like similarities:ordhc.errors.OrdhcWarning")
def test_single_linkage_of_a_function(n, seed, tied, dissimilarity, tie_seed):
    rng = np.random.default_rng(seed)
    S = rng.integers(-2, 3, (n, n)).astype(float) if tied else rng.normal(size=(n, n))
    S = S + S.T
    asked = []

    def similarities(i, others):
        asked.append(i)
        return S[i, others]

    options = {"dissimilarity": dissimilarity, "tie_seed": tie_seed}
    found = ordhc.linkage(similarities, "single", n_leaves=n, **options)
    if n > 1:
        expected = ordhc.linkage(S, "single", **options)
        if not tied:
            assert found.merges.tolist() == expected.merges.tolist()
        assert found.heights.tolist() == expected.heights.tolist()
        assert found.kind == expected.kind
    assert len(asked) == n - 1
    assert len(set(asked)) == n - 1


def test_what_a_function_may_not_give():
    for function, message in [
        (lambda i, others: np.zeros(1), r"returned shape \(1,\) for leaf 0 with 3 others"),
        (
            lambda i, others: "none",
            "result of the function for leaf 0 must be numbers, not text such as 'none'",
        ),
        (lambda i, others: np.where(others == 2, np.nan, 1.0), "returned nan for leaves 0 and 2"),
    ]:
        with pytest.raises(InputError, match=message):
            ordhc.linkage(function, "single", dissimilarity=False, n_leaves=4)
    with pytest.raises(InputError, match="only 'single' does"):
        ordhc.linkage(lambda i, others: others, dissimilarity=False, n_leaves=4)
    with pytest.raises(InputError, match="pass n_leaves"):
        ordhc.linkage(lambda i, others: others, "single", dissimilarity=False)
    with pytest.raises(InputError, match="n_leaves is only for functions"):
        ordhc.linkage(np.zeros((3, 3)), "single", dissimilarity=False, n_leaves=3)
    with pytest.raises(InputError, match="leave out overwrite"):
        ordhc.linkage(lambda i, others: others, "single", dissimilarity=False, n_leaves=4, overwrite=True)
