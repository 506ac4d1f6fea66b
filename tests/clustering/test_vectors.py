"""Hierarchies from vectors."""

import json
import warnings

import numpy as np
import pytest
import scipy.cluster.hierarchy as sch
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from ordhc.similarities.principal import select_dimension
from support.trees import clusters_of


def positive(n, p, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).random((n, p)).astype(dtype) + dtype(0.1)


def naive_dot(X):
    """Algorithm 1 of Gray et al., word for word: merges as sets, heights, heights of leaves."""
    n, p = X.shape
    alpha = {(frozenset([i]), frozenset([j])): X[i] @ X[j] / p for i in range(n) for j in range(n)}
    parts = [frozenset([i]) for i in range(n)]
    heights, parents = {}, {}
    while len(parts) > 1:
        pairs = [(u, v) for a, u in enumerate(parts) for v in parts[a + 1 :]]
        u, v = max(pairs, key=lambda pair: alpha[pair])
        w = u | v
        heights[w] = alpha[u, v]
        parents[u] = parents[v] = w
        parts = [part for part in parts if part not in (u, v)]
        for x in parts:
            value = len(u) / len(w) * alpha[u, x] + len(v) / len(w) * alpha[v, x]
            alpha[w, x] = alpha[x, w] = value
        parts.append(w)
    one = [frozenset([i]) for i in range(n)]
    return heights, [max(heights[parents[leaf]], alpha[leaf, leaf]) for leaf in one]


@pytest.mark.parametrize("memory", ["auto", "matrix", "vectors"])
@settings(deadline=None, max_examples=40)
@given(n=st.integers(2, 14), p=st.integers(1, 6), seed=st.integers(0, 10_000))
def test_dot_products_are_the_papers_algorithm(memory, n, p, seed):
    X = positive(n, p, seed)
    tree = ordhc.cluster(ordhc.Vectors(X, storage=memory), method="dot-al")
    heights, own = naive_dot(X)
    found = dict(zip(clusters_of(tree), tree.heights.tolist(), strict=True))
    assert found.keys() == heights.keys()
    np.testing.assert_allclose([found[c] for c in heights], list(heights.values()), rtol=1e-12)
    np.testing.assert_allclose(tree.leaf_heights, own, rtol=1e-12)
    assert tree.kind == "similarity"
    Z = tree.to_linkage_matrix()
    assert sch.is_valid_linkage(Z)
    assert sch.is_monotonic(Z)


@settings(deadline=None, max_examples=40)
@given(n=st.integers(1, 60), p=st.integers(1, 8), seed=st.integers(0, 10_000), groups=st.integers(1, 5))
def test_with_and_without_a_matrix_agree(n, p, seed, groups):
    X = positive(n, p, seed)
    start = np.random.default_rng(seed).integers(0, groups, n) if seed % 2 else None
    for similarity in ("dot", "cosine"):
        trees = [
            ordhc.cluster(ordhc.Vectors(X, storage=memory), similarity=similarity, initial_clusters=start)
            for memory in ("matrix", "vectors")
        ]
        if p > 1 or similarity == "dot":
            assert trees[0].merges.tolist() == trees[1].merges.tolist()
        np.testing.assert_allclose(trees[0].heights, trees[1].heights, rtol=1e-9)
        np.testing.assert_allclose(trees[0].leaf_heights, trees[1].leaf_heights, rtol=1e-9)


@pytest.mark.parametrize("name", ["dot", "cosine", "euclidean", "sqeuclidean"])
def test_any_form_of_vectors(name):
    X = positive(40, 7, 3)
    X[X < 0.5] = 0
    want = ordhc.cluster(ordhc.Vectors(X, storage="auto"), similarity=name)
    forms = {
        "Fortran order": np.asfortranarray(X),
        "a view": np.repeat(X, 2, axis=1)[:, ::2],
        "read only": np.frombuffer(X.tobytes()).reshape(X.shape),
        "a list": X.tolist(),
        "CSR": sp.csr_matrix(X),
        "CSC": sp.csc_matrix(X),
        "COO array": sp.coo_array(X),
        "wide ids": sp.csr_matrix(X),
    }
    forms["wide ids"].indices = forms["wide ids"].indices.astype(np.int64)
    forms["wide ids"].indptr = forms["wide ids"].indptr.astype(np.int64)
    for form, data in forms.items():
        tree = ordhc.cluster(data, similarity=name)
        assert tree.merges.tolist() == want.merges.tolist(), form
        np.testing.assert_allclose(tree.heights, want.heights, rtol=1e-12)
    for data in (X.astype(np.float32), sp.csr_matrix(X.astype(np.float32))):
        tree = ordhc.cluster(data, similarity=name)
        assert tree.merges.tolist() == want.merges.tolist()
        np.testing.assert_allclose(tree.heights, want.heights, rtol=1e-4)


def test_whole_numbers_and_data_frames():
    counts = np.random.default_rng(1).integers(0, 5, (12, 4))

    class Frame:
        """What counts of a data frame."""

        index = tuple(f"row {i}" for i in range(12))

        def __array__(self, dtype=None, copy=None):
            return np.array(counts, dtype=dtype)

    tree = ordhc.cluster(Frame(), method="dot-al")
    assert tree.names == Frame.index
    assert tree.replace(names=None) == ordhc.cluster(counts.astype(float), method="dot-al")
    assert ordhc.cluster(counts.astype(np.uint8), method="dot-al") == tree.replace(names=None)


def test_the_callers_arrays_stay_as_they_are():
    X = positive(30, 5)
    S = sp.csr_matrix((np.ones(4), np.array([2, 2, 1, 0]), np.array([0, 2, 3, 4])), (3, 3))
    assert not S.has_canonical_format
    before, parts = X.copy(), S.data.copy()
    for name in ("dot", "cosine", "euclidean", "manhattan"):
        ordhc.cluster(X, similarity=name)
    assert np.array_equal(X, before)
    assert ordhc.similarity(S, "dot").tolist() == (S @ S.T / 3).toarray().tolist()
    assert np.array_equal(S.data, parts)


@pytest.mark.parametrize("linkage", ["single", "complete", "average", "ward", "centroid"])
@pytest.mark.parametrize(("name", "metric"), [("euclidean", "euclidean"), ("manhattan", "cityblock")])
def test_distances_give_scipys_trees(name, metric, linkage):
    X = np.random.default_rng(5).normal(size=(60, 4))
    tree = ordhc.cluster(X, similarity=name, linkage=linkage)
    Z = sch.linkage(pdist(X, metric), linkage)
    assert tree.kind == "dissimilarity"
    np.testing.assert_allclose(tree.heights, Z[:, 2], rtol=1e-9)
    assert tree.leaf_heights is None


def test_distances_of_close_vectors_are_right():
    X = 1e6 + np.random.default_rng(0).normal(size=(50, 3)) * 1e-3
    X = np.concatenate([X, X[:10]])
    np.testing.assert_allclose(ordhc.similarity(X, "euclidean"), squareform(pdist(X)), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(
        ordhc.similarity(X, "sqeuclidean", layout="condensed"), pdist(X, "sqeuclidean"), rtol=1e-6, atol=1e-18
    )


def test_cosines_of_extreme_vectors():
    X = np.array([[1e-200, 0.0], [1e200, 1e200], [0.0, 0.0], [3.0, 4.0]])
    want = [[1, 0.5**0.5, 0, 0.6], [0.5**0.5, 1, 0, 0.7 * 2**0.5], [0, 0, 0, 0], [0.6, 0.7 * 2**0.5, 0, 1]]
    np.testing.assert_allclose(ordhc.similarity(X, "cosine"), want, atol=1e-12)
    np.testing.assert_allclose(ordhc.similarity(sp.csr_matrix(X), "cosine"), want, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("name", ["dot", "cosine", "pca-dot", "pca-cosine", "euclidean", "manhattan"])
def test_few_vectors(name, n):
    X = positive(n, 4)
    tree = ordhc.cluster(X, similarity=name)
    assert tree.n_leaves == n
    if n == 1 and name == "dot":
        np.testing.assert_allclose(tree.leaf_heights, [X[0] @ X[0] / 4])


def test_duplicates_and_zeros():
    X = np.repeat([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], 5, axis=0)
    for name in ("dot", "cosine"):
        for memory in ("matrix", "vectors"):
            cut = ordhc.cluster(ordhc.Vectors(X, storage=memory), similarity=name).cut(7)
            assert len(set(cut[:5])) == len(set(cut[5:10])) == 1


# --- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([[1.0, np.nan]], "row 0: column 1: nan is not finite"),
        (sp.csr_matrix([[0, 1.0], [0, np.inf]]), "row 1: column 1: inf is not finite"),
        (np.zeros((0, 3)), r"shape \(0, 3\)"),
        ([1.0, 2.0], r"shape \(2,\)"),
        ([["a"]], "must be numbers, not text"),
        (
            [[1e200], [1e200]],
            "row 0: the vectors are too large: the squared length of this row overflows; rescale",
        ),
        (np.full((2, 1), 1e30, dtype=np.float32), "overflows float32"),
    ],
)
def test_bad_vectors(data, text):
    with pytest.raises(InputError, match=text):
        ordhc.cluster(ordhc.Vectors(data, storage="matrix"), similarity="dot")


def test_bad_words_for_memory():
    X = positive(5, 2)
    with pytest.raises(InputError, match="storage is 'fast', not one of auto, matrix, vectors"):
        ordhc.cluster(ordhc.Vectors(X, storage="fast"), method="dot-al")
    for parts in ({"similarity": "dot", "linkage": "complete"}, {"similarity": "euclidean"}):
        with pytest.raises(InputError, match="needs a matrix"):
            ordhc.cluster(ordhc.Vectors(X, storage="vectors"), **parts)
    with pytest.raises(InputError, match="overflow|large|finite"):
        ordhc.cluster(ordhc.Vectors([[1e200], [1e200], [1.0]], storage="vectors"), method="dot-al")


def test_a_matrix_that_does_not_fit_names_the_bytes():
    X = sp.csr_matrix((3_000_000, 2))
    with pytest.raises(MemoryError, match="35999988000000 bytes|bytes"):
        ordhc.cluster(X, similarity="dot", linkage="single")


# --- negative similarities -------------------------------------------------------------------


def test_negative_similarities_are_told():
    X = np.random.default_rng(0).normal(size=(80, 3))
    S = (X @ X.T / 3)[np.triu_indices(80, 1)]
    share = f"{(S < 0).mean():.1%} of all pairs have negative dot similarities"
    size = f"{-S[S < 0].sum() / np.abs(S).sum():.1%} of the sum of absolute values"
    for memory in ("matrix", "vectors"):
        with pytest.warns(OrdhcWarning) as told:
            ordhc.cluster(ordhc.Vectors(X, storage=memory), method="dot-al")
        text = str(told[0].message)
        assert share in text
        assert size in text
        assert f"{S[S < 0].mean():.4g} on average, {S.min():.4g} at worst" in text
    with pytest.warns(OrdhcWarning, match="of sampled pairs"):
        ordhc.cluster(
            ordhc.Vectors(np.random.default_rng(0).normal(size=(2500, 3)), storage="vectors"), method="dot-al"
        )
    with pytest.warns(OrdhcWarning, match="negative cosine similarities"):
        ordhc.cluster(sp.csr_matrix(X), method="cosine-al")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ordhc.similarity(X, "dot")
        ordhc.cluster(np.abs(X[:60]), method="dot-al")


# --- what fails on everyday data -----------------------------------------------------------


def iris():
    from sklearn.datasets import load_iris

    return load_iris(return_X_y=True)


def test_what_is_recommended_first_finds_the_classes_of_iris():
    X, classes = iris()
    with pytest.raises(InputError, match="similarity='euclidean', linkage='ward'"):
        ordhc.cluster(X)
    with pytest.raises(InputError, match="similarity='euclidean', linkage='ward'"):
        ordhc.linkage(X, dissimilarity=False)
    d = ordhc.cluster(X, similarity="euclidean", linkage="ward")
    assert ordhc.metrics.ari(d, classes) > 0.7


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("memory", ["matrix", "vectors"])
@pytest.mark.parametrize("settings", [{"method": "dot-al"}, {"similarity": "pca-dot", "n_components": 3}])
def test_dot_products_that_leave_one_cluster_are_told(memory, settings):
    X, classes = iris()
    remedy = r"146 of its 150 leaves in one.*X - X\.mean\(axis=0\).*'ward'"
    with pytest.warns(OrdhcWarning, match=remedy):
        d = ordhc.cluster(ordhc.Vectors(X, storage=memory), **settings)
    assert ordhc.metrics.ari(d, classes) < 0.1
    with pytest.warns(OrdhcWarning) as told:
        d = ordhc.cluster(ordhc.Vectors(X - X.mean(axis=0), storage=memory), **settings)
    assert ["negative" in str(each.message) for each in told] == [True]
    assert ordhc.metrics.ari(d, classes) > 0.5


@pytest.mark.filterwarnings("error")
def test_dot_products_of_clusters_are_not_warned_of():
    rng = np.random.default_rng(0)
    X = 1 + rng.normal(size=(4, 300))[rng.integers(0, 4, 200)] + rng.normal(size=(200, 300))
    ordhc.cluster(X, method="dot-al")
    ordhc.cluster(X[:5], method="dot-al")
    ordhc.cluster(X[:1], method="dot-al")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("scale", [1e160, 1e200, 1e300])
@pytest.mark.parametrize(
    "how",
    [
        {"method": "dot-al"},
        {"method": "dot-al", "storage": "vectors"},
        {"method": "dot-al", "storage": "matrix"},
        {"similarity": "dot", "linkage": "single"},
        {"similarity": "dot", "linkage": "complete"},
        {"similarity": "pca-dot", "n_components": 2},
        {"similarity": "pca-dot", "n_components": "rank"},
        {"similarity": "pca-dot"},
    ],
)
def test_vectors_that_are_too_large_are_told(form, scale, how):
    X = positive(30, 5)
    X[3] *= scale
    how = dict(how)
    vectors = ordhc.Vectors(form(X), storage=how.pop("storage", "auto"))
    with pytest.raises(InputError, match="the vectors are too large.*rescale") as told:
        ordhc.cluster(vectors, **how)
    assert told.value.row == 3 or how.get("similarity") == "pca-dot"
    with pytest.raises(InputError, match="rescale"):
        ordhc.similarity(form(X), "dot")


# --- heights of leaves -----------------------------------------------------------------------


def test_heights_of_leaves_stay_with_the_tree(tmp_path):
    X = positive(8, 3)
    tree = ordhc.cluster(X, method="dot-al")
    assert json.loads(json.dumps(tree.to_dict()))["leaf_heights"] == tree.leaf_heights.tolist()
    ordhc.write_tree(tree, tmp_path / "t.json")
    assert ordhc.read_tree(tmp_path / "t.json") == tree
    order = np.random.default_rng(0).permutation(8)
    moved = tree.relabel(order)
    assert moved.leaf_heights[order].tolist() == tree.leaf_heights.tolist()
    how = {"kind": "similarity", "leaf_heights": tree.leaf_heights}
    assert ordhc.Dendrogram(tree.merges, tree.heights, **how) == tree
    assert ordhc.Dendrogram(tree.merges, tree.heights, kind="similarity") != tree
    names = [f"x{i}" for i in range(8)]
    assert tree.replace(names=names).leaf_heights.tolist() == tree.leaf_heights.tolist()
    with pytest.raises(InputError, match=r"leaf_heights has shape \(2,\)"):
        ordhc.Dendrogram(tree.merges, tree.heights, leaf_heights=[1.0, 2.0])
    with pytest.raises(InputError, match="leaf 0 has the height inf"):
        ordhc.Dendrogram.from_parents(tree.parents, heights=tree.heights, leaf_heights=[np.inf] * 8)
    assert not tree.leaf_heights.flags.writeable


# --- principal components --------------------------------------------------------------------


def test_scores_are_of_vectors_that_are_not_centred():
    X = positive(30, 6)
    V = np.linalg.eigh(X.T @ X)[1]
    for r in (1, 3, 6):
        scores = ordhc.similarities.pca(X, r)
        assert scores.shape == (30, r)
        top = V[:, ::-1][:, :r]
        np.testing.assert_allclose(np.abs(scores), np.abs(X @ top), atol=1e-9)
        S = ordhc.similarity(X, "pca-dot", n_components=r)
        np.testing.assert_allclose(S, X @ top @ top.T @ X.T / 6, atol=1e-9)
    assert ordhc.similarities.pca(np.repeat(X[:, :2], 3, axis=1), "rank").shape == (30, 2)
    np.testing.assert_allclose(
        ordhc.similarity(X, "pca-dot", n_components="rank"), ordhc.similarity(X, "dot"), atol=1e-9
    )


def test_truncated_decompositions_equal_full_ones(monkeypatch):
    X = positive(60, 50)
    full = ordhc.similarities.pca(X, 4)
    monkeypatch.setattr("ordhc.similarities.principal._SMALL", 10)
    np.testing.assert_allclose(ordhc.similarities.pca(X, 4), full, atol=1e-8)
    np.testing.assert_allclose(ordhc.similarities.pca(sp.csr_matrix(X), 4), full, atol=1e-8)
    assert np.array_equal(ordhc.similarities.pca(X, 4), ordhc.similarities.pca(X, 4))
    with pytest.raises(InputError, match="of large sparse vectors"):
        ordhc.similarities.pca(sp.csr_matrix(X), "rank")


def naive_wasserstein(X, r):
    """Algorithm 2, with an assignment for equal halves."""
    from scipy.optimize import linear_sum_assignment

    half = -(-len(X) // 2)
    Y, other = X[:half], X[half:]
    V = np.linalg.svd(Y, full_matrices=False)[2][:r].T
    costs = np.linalg.norm((Y @ V @ V.T)[:, None] - other[None], axis=2)
    return costs[linear_sum_assignment(costs)].mean()


def test_dimensions_by_wasserstein_distance():
    random = np.random.default_rng(3)
    X = random.normal(size=(60, 3)) @ random.normal(size=(3, 20)) * 3 + random.normal(size=(60, 20))
    r, found = select_dimension(X, max_components=8)
    assert list(found) == list(range(1, 9))
    np.testing.assert_allclose([naive_wasserstein(X, k) for k in found], list(found.values()), rtol=1e-9)
    assert r == min(found, key=found.get)
    assert ordhc.similarities.pca(X, max_components=8).shape == (60, r)
    few, part = select_dimension(X, candidates=[2, 5])
    assert part == {2: pytest.approx(found[2]), 5: pytest.approx(found[5])}
    assert few in part
    shuffled = select_dimension(X, max_components=4, seed=1)[1]
    assert shuffled != select_dimension(X, max_components=4)[1]
    assert shuffled == select_dimension(X, max_components=4, seed=1)[1]
    told = []
    odd = select_dimension(sp.csr_matrix(X[:33]), max_components=3, progress=told.append)[0]
    assert 1 <= odd <= 3
    assert told == pytest.approx([1 / 3, 2 / 3, 1])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_components": 0}, "n_components = 0 is below 1"),
        ({"n_components": 9}, "n_components = 9 is above 4"),
        ({"n_components": "elbow"}, "must be a number, 'rank' or 'wasserstein'"),
        ({"candidates": [7]}, "candidates = 7 is above 3"),
        ({"candidates": []}, "candidates is empty"),
    ],
)
def test_bad_components(options, text):
    with pytest.raises(InputError, match=text):
        ordhc.similarities.pca(positive(6, 4), **options)


def test_components_on_the_way():
    X = positive(20, 5)
    tree = ordhc.cluster(X, similarity="pca-dot", n_components=2)
    scores = ordhc.similarities.pca(X, 2)
    again = ordhc.linkage(scores @ scores.T / 5, dissimilarity=False)
    assert tree.merges.tolist() == again.merges.tolist()
    assert (
        ordhc.cluster(ordhc.Vectors(X, storage="vectors"), similarity="pca-cosine", n_components=2).n_leaves
        == 20
    )


@pytest.mark.parametrize("metric", ["correlation", "chebyshev", "cityblock", "jaccard", "canberra"])
def test_distances_of_scipy_by_name_and_by_callable(metric):
    distance = pytest.importorskip("scipy.spatial.distance")
    X = np.random.default_rng(0).integers(1, 9, (11, 6)).astype(float)
    expected = ordhc.linkage(distance.pdist(X, metric), "average", dissimilarity=True)
    assert ordhc.cluster(X, similarity="pdist", metric=metric, linkage="average") == expected
    by_callable = ordhc.cluster(
        X, similarity=("pdist", {"metric": getattr(distance, metric)}), linkage="average"
    )
    assert np.allclose(by_callable.heights, expected.heights)
    assert np.allclose(
        ordhc.similarity(X, "pdist", metric=metric)[np.triu_indices(11, 1)], distance.pdist(X, metric)
    )
    assert ordhc.bootstrap(X, similarity="pdist", metric="cityblock", linkage="average", n_resamples=2).trees


def test_distances_of_scipy_that_fail():
    scipy = pytest.importorskip("scipy.sparse")
    X = np.random.default_rng(0).normal(size=(5, 3))
    for data, metric, message in [
        (X, "corelation", "metric 'corelation' failed: .*corelation"),
        (X, 3, "metric 3 failed"),
        (X, lambda _a, _b: 1 / 0, "failed: 'division by zero'"),
        (X, lambda _a, _b: np.nan, "is not finite for all pairs"),
        (np.ones((4, 3)), "correlation", "metric 'correlation' is not finite"),
        (scipy.csr_array(X), "chebyshev", "pdist does not accept sparse vectors"),
    ]:
        with np.errstate(all="ignore"), pytest.raises(ordhc.errors.InputError, match=message):
            ordhc.cluster(data, similarity="pdist", metric=metric, linkage="average")
