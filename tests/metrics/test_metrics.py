"""The scores beside their naive twins, SciPy and scikit-learn."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

import ordhc
from ordhc import metrics
from ordhc.errors import InputError
from ordhc.testing.strategies import quadruplets, similarities, triplets
from support import metric_twins as naive

QUICK = settings(deadline=None, max_examples=60)
NO_CORRELATION = "there is no correlation"
COMPARISONS = st.one_of(
    triplets(), triplets(weighted=True), quadruplets(), quadruplets(weighted=True), quadruplets(max_leaves=4)
)


def labels_for(draw, n):
    return draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))


@st.composite
def labelled_trees(draw, **options):
    tree = draw(naive.trees(**options))
    return tree, labels_for(draw, tree.n_leaves)


def square_of(tree):
    """Merge heights as an (n, n) matrix."""
    S = np.zeros((tree.n_leaves, tree.n_leaves))
    for pair, height in naive.heights(tree).items():
        S[pair] = height
    return S


# The twins by hand.


def test_twins_by_hand():
    tree = ordhc.Dendrogram([(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 2.0])
    other = ordhc.Dendrogram([(1, 2), (0, 4), (3, 5)], [1.0, 3.0, 4.0])
    assert naive.sizes(tree)[0, 1] == naive.sizes(tree)[3, 2] == 2
    assert naive.sizes(tree)[3, 0] == 4
    assert naive.revenue(tree, ordhc.Triplets([(0, 1, 2), (3, 0, 2)])) == 2 - 2
    assert naive.revenue(other, ordhc.Quadruplets([(0, 1, 1, 2), (1, 2, 0, 3)])) == (2 - 3) + (4 - 2)
    S = [[0, 5, 1, 0], [5, 0, 2, 0], [1, 2, 0, 7], [0, 0, 7, 0]]
    assert naive.dasgupta_cost(tree, S) == 2 * 5 + 2 * 7 + 4 * 3
    assert naive.dasgupta_revenue(tree, S) == 4 * 15 - 36
    assert naive.cut(tree, 2) == [0, 0, 1, 1]
    assert naive.ari([0, 0, 1, 1], [0, 1, 0, 1]) == -0.5
    assert naive.ari([0, 0, 1, 2], [5, 5, 5, 6]) == pytest.approx(2 * (1 * 3 - 2 * 0) / (1 * 3 + 3 * 5))
    assert naive.nodes(tree, True) == {frozenset({0, 1}), frozenset({0, 1, 2, 3})}
    assert naive.nodes(tree, False) == naive.nodes(tree, True) | {frozenset({2, 3})}
    assert naive.purity(tree, [0, 0, 1, 1], False) == 1.0
    assert naive.purity(tree, [0, 0, 1, 1], True) == 0.75
    assert naive.triples(tree, False) == {(0, 1, 2): 2, (0, 1, 3): 3, (0, 2, 3): 0, (1, 2, 3): 1}
    assert naive.triples(tree, True) == {(0, 1, 2): 2, (0, 1, 3): 3, (0, 2, 3): None, (1, 2, 3): None}
    assert naive.triplet_distance(tree, other, True) == 3
    assert naive.clusters_differ(tree, other, False) == (4, 4)
    assert naive.clusters_differ(tree, other, True) == (3, 3)
    assert naive.merge_distortion(tree, other) == 2.0
    assert naive.closeness(tree, 1, True) == [-1.0, math.inf, -2.0, -2.0]
    assert naive.tau_b([1, 2, 3], [1, 2, 2]) == pytest.approx(2 / math.sqrt(3 * 2))
    assert naive.tau_b([1, 1], [1, 2]) is None


def assert_score(expected, message, score, *args, abs=1e-13, **options):
    """The expected score, or an error with the message if None is expected."""
    if expected is None:
        with pytest.raises(InputError, match=message):
            score(*args, **options)
    else:
        assert score(*args, **options) == pytest.approx(expected, abs=abs)


# By comparisons and similarities.


def assert_satisfied(tree, comparisons):
    found = metrics.satisfied(tree, comparisons)
    expected = [float(share) for share in naive.satisfied(tree, comparisons)]
    np.testing.assert_allclose([found.agreed, found.disagreed, found.unresolved], expected, rtol=1e-14)
    assert float(found) == found.agreed


@QUICK
@given(COMPARISONS.filter(len), st.data())
def test_satisfied(comparisons, data):
    assert_satisfied(data.draw(naive.trees(comparisons.n_leaves)), comparisons)


def test_satisfied_where_merges_are_not_in_order_of_height():
    tree = ordhc.Dendrogram([(0, 1), (2, 3), (4, 5)], [2.0, 1.0, 3.0])
    assert tree.is_monotone
    assert_satisfied(tree, ordhc.Quadruplets([(2, 3, 0, 1), (2, 3, 0, 1), (0, 1, 2, 3)], 4))


@QUICK
@given(naive.trees(), st.data())
def test_dasgupta(tree, data):
    n = tree.n_leaves
    S = data.draw(similarities(min_leaves=n, max_leaves=n))
    S[np.diag_indices(n)] = data.draw(st.sampled_from([0, 100]))
    S = S.astype(data.draw(st.sampled_from(["float64", "float32", "int64", "int32", "int8"])))
    expected = [naive.dasgupta_cost(tree, S.tolist()), naive.dasgupta_revenue(tree, S.tolist())]
    for values in [S, S[np.triu_indices(n, 1)]]:
        found = [metrics.dasgupta_cost(tree, values), metrics.dasgupta_revenue(tree, values)]
        assert found == expected
        assert {type(value) for value in found} == {int if S.dtype.kind == "i" else float}


@pytest.mark.parametrize("trees", naive.LARGE)
def test_dasgupta_of_more_leaves(trees):
    n = trees[0].n_leaves
    S = np.random.default_rng(n).normal(size=(n, n))
    S += S.T
    assert metrics.dasgupta_cost(trees[0], S) == pytest.approx(naive.dasgupta_cost(trees[0], S), rel=1e-11)
    assert metrics.dasgupta_revenue(trees[1], S) == pytest.approx(
        naive.dasgupta_revenue(trees[1], S), rel=1e-11
    )


def test_whole_costs_above_64_bits_are_exact():
    """Whole numbers up to 2^53 are taken, sums have no bound."""
    tree = naive.random_tree(150, 0, chain=True)
    S = np.random.default_rng(0).integers(2**52, 2**53, (150, 150))
    S = np.triu(S, 1) + np.triu(S, 1).T
    expected = naive.dasgupta_cost(tree, S.tolist())
    assert expected > 2**64
    assert metrics.dasgupta_cost(tree, S) == expected
    assert metrics.dasgupta_revenue(tree, -S) == -naive.dasgupta_revenue(tree, S.tolist())
    with pytest.raises(InputError, match="above 2\\^53 and not exact as floats"):
        metrics.dasgupta_cost(tree, S * 2)
    with pytest.raises(InputError, match="rescale them"):
        metrics.dasgupta_cost(tree, np.full((150, 150), 1e307))


@QUICK
@given(naive.trees(), st.data())
def test_cophenetic_correlation(tree, data):
    n = tree.n_leaves
    S = data.draw(similarities(min_leaves=n, max_leaves=n, ties=data.draw(st.booleans())))
    of_matrix = data.draw(st.sampled_from([None, True, False]))
    turned = tree.kind == "dissimilarity" if of_matrix is None else of_matrix
    expected = naive.cophenetic(tree, S, turned)
    for values in (S, S[np.triu_indices(n, 1)]):
        score = metrics.cophenetic_correlation
        assert_score(expected, NO_CORRELATION, score, tree, values, dissimilarity=of_matrix, abs=1e-12)


@QUICK
@given(naive.two_trees())
def test_cophenetic_correlation_of_trees(trees):
    a, b = trees
    expected = naive.cophenetic(a, naive.heights(b), b.kind == "dissimilarity")
    for other, options in ((b, {}), (square_of(b), {"dissimilarity": b.kind == "dissimilarity"})):
        score = metrics.cophenetic_correlation
        assert_score(expected, NO_CORRELATION, score, a, other, **options, abs=1e-12)


@pytest.mark.parametrize("trees", naive.LARGE)
def test_cophenetic_correlation_beside_numpy(trees):
    upper = np.triu_indices(trees[0].n_leaves, 1)
    x, y = (square_of(tree)[upper] for tree in trees)
    expected = np.corrcoef(x, y)[0, 1]
    assert metrics.cophenetic_correlation(*trees) == pytest.approx(expected, abs=1e-12)
    assert metrics.cophenetic_correlation(trees[0], y) == pytest.approx(expected, abs=1e-12)
    assert metrics.cophenetic_correlation(trees[0], -1e6 * y) == pytest.approx(-expected, abs=1e-12)
    assert metrics.cophenetic_correlation(trees[0], y, dissimilarity=False) == pytest.approx(-expected)


@pytest.mark.parametrize("method", ["single", "average", "ward", "centroid", "median"])
def test_cophenetic_correlation_beside_scipy(method):
    points = np.random.default_rng(3).normal(size=(80, 3))
    D = np.linalg.norm(points[:, None] - points, axis=2)
    Z = scipy_linkage(squareform(D), method)
    expected, heights = cophenet(Z, squareform(D))
    assert metrics.cophenetic_correlation(Z, D) == pytest.approx(expected, abs=1e-12)
    assert metrics.cophenetic_correlation(Z, squareform(D)) == pytest.approx(expected, abs=1e-12)
    assert metrics.merge_distortion(Z, Z * [1, 1, 3, 1]) == pytest.approx(2 * heights.max(), rel=1e-12)


# Beside labels.


@QUICK
@given(labelled_trees(), st.data())
def test_ari(tree_and_labels, data):
    tree, labels = tree_and_labels
    n = tree.n_leaves
    k = data.draw(st.none() | st.integers(1, n))
    cut = naive.cut(tree, k or len(set(labels)))
    found = metrics.ari(tree, labels, n_clusters=k)
    assert found == pytest.approx(naive.ari(labels, cut), abs=1e-14)
    assert found == pytest.approx(adjusted_rand_score(labels, cut), abs=1e-12)
    spelled = [f"class {label}" for label in labels]
    assert metrics.ari(tree, spelled, n_clusters=k) == found
    assert metrics.ari(tree, np.array([labels], dtype=float).T, n_clusters=k) == found


@QUICK
@given(naive.trees(), st.data())
def test_aari(tree, data):
    n = tree.n_leaves
    columns = [labels_for(data.draw, n) for _ in range(data.draw(st.integers(1, 3)))]
    table = np.array(columns).T
    assert metrics.aari(tree, table) == pytest.approx(naive.aari(tree, columns), abs=1e-13)
    levels = data.draw(st.lists(st.integers(0, len(columns) - 1), min_size=1, max_size=4))
    expected = naive.aari(tree, [columns[level] for level in levels])
    assert metrics.aari(tree, table, levels=levels) == pytest.approx(expected, abs=1e-13)


@QUICK
@given(naive.two_trees())
def test_aari_of_trees(trees):
    a, b = trees
    n, heights = a.n_leaves, b.heights
    levels = [k for k in range(2, n) if heights[n - k] != heights[n - k - 1]]
    expected = naive.aari(a, [naive.cut(b, k) for k in levels]) if levels else None
    assert_score(expected, "so it has no levels", metrics.aari, a, b)
    k = range(1, n + 1)
    expected = naive.aari(a, [naive.cut(b, k) for k in k])
    assert metrics.aari(a, b, levels=k) == pytest.approx(expected, abs=1e-13)


@QUICK
@given(naive.trees(), st.data())
def test_aari_by_depth(tree, data):
    columns = [labels_for(data.draw, tree.n_leaves) for _ in range(data.draw(st.integers(1, 3)))]
    found = metrics.aari(tree, np.array(columns).T, levels="depth")
    assert found == pytest.approx(naive.aari_by_depth(tree, columns), abs=1e-13)


@QUICK
@given(naive.two_trees())
def test_aari_of_trees_by_depth(trees):
    a, b = trees
    levels = 0
    while len(set(map(tuple, naive.at_depth(b, levels)))) < b.n_leaves:
        levels += 1
    if levels < 2:
        with pytest.raises(InputError, match="so it has no levels"):
            metrics.aari(a, b, levels="depth")
        return
    columns = [[tuple(one) for one in naive.at_depth(b, level)] for level in range(1, levels)]
    assert metrics.aari(a, b, levels="depth") == pytest.approx(naive.aari_by_depth(a, columns), abs=1e-13)
    assert metrics.aari(b, b, levels="depth") == 1.0


@QUICK
@given(naive.trees(), st.randoms())
def test_trees_of_the_same_clusters_have_aari_1_by_depth(tree, random):
    n = tree.n_leaves
    if len(naive.nodes(tree, join_ties=False)) < 2:
        return
    # The same clusters, merged in another order: any cluster whose parts are made may be next.
    waiting, made, merges = list(range(n - 1)), {leaf: leaf for leaf in range(n)}, []
    binary = ordhc.Dendrogram(tree.merges, np.arange(n - 1.0), kind="dissimilarity")
    while waiting:
        ready = [at for at in waiting if all(part in made for part in tree.merges[at].tolist())]
        at = random.choice(ready)
        waiting.remove(at)
        made[n + at] = n + len(merges)
        merges.append([made[part] for part in tree.merges[at].tolist()])
    other = ordhc.Dendrogram(merges, np.arange(n - 1.0), kind="dissimilarity")
    assert metrics.robinson_foulds(binary, other) == 0
    if n > 2:
        assert metrics.aari(other, binary, levels="depth") == 1.0


@pytest.mark.parametrize("trees", naive.LARGE)
def test_ari_and_aari_beside_scikit_learn(trees):
    a, b = trees
    cuts = {k: [tree.cut(k) for tree in trees] for k in (2, 3, 7, 20, 50)}
    scores = {k: adjusted_rand_score(*pair) for k, pair in cuts.items()}
    for k, (_, labels) in cuts.items():
        assert metrics.ari(a, labels) == pytest.approx(scores[k], abs=1e-12)
    mean = sum(scores.values()) / 5
    assert metrics.aari(a, b, levels=list(cuts)) == pytest.approx(mean, abs=1e-12)
    columns = np.column_stack([labels for _, labels in cuts.values()])
    assert metrics.aari(a, columns) == pytest.approx(mean, abs=1e-12)
    if b.is_monotone:
        assert metrics.aari(b, b) == 1.0


@QUICK
@given(labelled_trees(), st.booleans())
def test_purity(tree_and_labels, join_ties):
    tree, labels = tree_and_labels
    expected = naive.purity(tree, labels, join_ties)
    message = "classes has two leaves"
    assert_score(expected, message, metrics.dendrogram_purity, tree, labels, join_ties=join_ties)


@pytest.mark.parametrize("trees", naive.LARGE)
def test_purity_of_more_leaves(trees):
    for tree, n_labels in zip(trees, (3, 20), strict=True):
        labels = np.random.default_rng(0).integers(0, n_labels, tree.n_leaves)
        for join_ties in (False, True):
            found = metrics.dendrogram_purity(tree, labels, join_ties=join_ties)
            assert found == pytest.approx(naive.purity(tree, labels.tolist(), join_ties), abs=1e-13)


# Beside another tree.


def assert_kendall(a, b, include_self, values, tolerance):
    """`values` may have None or NaN where there is no tau-b."""
    values = np.array(values, dtype=float)
    defined = values[~np.isnan(values)]
    if not len(defined):
        with pytest.raises(InputError, match="has a tau-b: all entries of their rankings tie"):
            metrics.kendall_tau_b(a, b, include_self)
        return
    found = metrics.kendall_tau_b(a, b, include_self)
    np.testing.assert_allclose(found.values, values, rtol=0, atol=tolerance)
    assert found.undefined == len(values) - len(defined)
    assert float(found) == found.mean == pytest.approx(defined.mean(), abs=1e-12)
    if len(defined) > 1:
        assert found.standard_error == pytest.approx(scipy.stats.sem(defined), abs=1e-12)
    else:
        assert math.isnan(found.standard_error)


@QUICK
@given(naive.two_trees(), st.booleans())
def test_kendall_tau_b(trees, include_self):
    assert_kendall(*trees, include_self, naive.kendall(*trees, include_self), 1e-14)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("trees", naive.LARGE)
def test_kendall_tau_b_beside_scipy(trees, include_self):
    a, b = trees
    ranks = [
        [scipy.stats.rankdata(naive.closeness(tree, leaf, include_self)) for tree in trees]
        for leaf in range(a.n_leaves)
    ]
    values = [scipy.stats.kendalltau(x, y, variant="b").statistic for x, y in ranks]
    assert_kendall(a, b, include_self, values, 1e-12)


@QUICK
@given(naive.two_trees(), st.integers(0, 2**32 - 1))
def test_kendall_tau_b_that_ties_a_leaf_with_its_class(trees, seed):
    tree, n = trees[0], trees[0].n_leaves
    fine = np.random.default_rng(seed).integers(0, 4, n)
    labels = np.column_stack([fine // 2, fine])
    # Two leaves agree in all columns, else the finest class is another.
    labels[n - 1] = labels[0]
    expected = np.array(naive.kendall_by_labels(tree, labels.tolist()), dtype=float)
    if np.isnan(expected).all():
        return
    found = metrics.kendall_tau_b(tree, labels, tie_self=True)
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-14)
    assert found.mean == pytest.approx(np.nanmean(expected), abs=1e-12)


@pytest.mark.parametrize("way", ["left out", "first", "by the diagonal"])
@pytest.mark.parametrize("dissimilarity", [True, False])
@QUICK
@given(naive.trees(), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_kendall_tau_b_with_a_ranking(dissimilarity, way, tree, high, seed):
    n = tree.n_leaves
    # Not symmetric, with ties.
    ranking = np.random.default_rng(seed).integers(0, high, (n, n))
    values = np.full(n, np.nan)
    for leaf in range(n):
        own = naive.closeness(tree, leaf, include_self=True)
        row = (-1 if dissimilarity else 1) * ranking[leaf].astype(float)
        if way == "first":
            row[leaf] = np.inf
        kept = [at for at in range(n) if way != "left out" or at != leaf]
        pair = [scipy.stats.rankdata([side[at] for at in kept]) for side in (own, row)]
        if len(kept) > 1:
            values[leaf] = scipy.stats.kendalltau(*pair).statistic
    settings = {"include_self": way != "left out", "tie_self": way == "by the diagonal"}
    if np.isnan(values).all():
        with pytest.raises(InputError, match="has a tau-b"):
            metrics.kendall_tau_b(tree, ranking, dissimilarity=dissimilarity, **settings)
        return
    found = metrics.kendall_tau_b(tree, ranking, dissimilarity=dissimilarity, **settings)
    np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-12)
    by_score = ordhc.score(tree, ranking, "kendall_tau_b", dissimilarity=dissimilarity, **settings)
    assert by_score.values.tolist() == pytest.approx(found.values.tolist(), nan_ok=True)


def test_kendall_tau_b_takes_the_matrix_as_the_trees_heights():
    S = np.random.default_rng(0).random((6, 6))
    tree = ordhc.Dendrogram(naive.random_tree(6, 1).merges, np.arange(5.0, 0.0, -1.0), kind="similarity")
    far = ordhc.Dendrogram(tree.merges, -tree.heights)
    assert metrics.kendall_tau_b(tree, S).mean == metrics.kendall_tau_b(far, -S).mean
    assert metrics.kendall_tau_b(tree, S).mean == metrics.kendall_tau_b(tree, -S, dissimilarity=True).mean
    S[2, 3] = np.nan
    with pytest.raises(InputError, match="the matrix"):
        metrics.kendall_tau_b(tree, S)
    with pytest.raises(InputError, match="dissimilarity is only used with a matrix"):
        metrics.kendall_tau_b(tree, tree, dissimilarity=True)


def test_kendall_tau_b_is_one_for_the_same_tree():
    for tree, _ in naive.LARGE:
        opposite = ordhc.Dendrogram(tree.merges, -tree.heights, kind="similarity")
        assert metrics.kendall_tau_b(tree, opposite).values.tolist() == [1.0] * tree.n_leaves


@QUICK
@given(naive.two_trees(kind="similarity") | naive.two_trees(kind="dissimilarity"))
def test_merge_distortion(trees):
    assert metrics.merge_distortion(*trees) == naive.merge_distortion(*trees)


@pytest.mark.parametrize("trees", naive.LARGE)
def test_merge_distortion_of_more_leaves(trees):
    assert metrics.merge_distortion(*trees) == naive.merge_distortion(*trees)
    assert metrics.merge_distortion(trees[0], trees[0]) == 0.0
