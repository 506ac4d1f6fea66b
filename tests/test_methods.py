"""The methods beside their naive twins."""

import itertools
import re
import warnings
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
import scipy.cluster.hierarchy
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import squareform

import ordhc
from support import twins
from support.comparisons import WEIGHTS, WHOLE, comparisons, data_of, with_labels
from support.trees import clusters_of

FROM_TRIPLETS = ["adds3-al", "mulk3-al", "3k-al", "3-al"]
FROM_QUADRUPLETS = ["adds4-al", "mulk4-al", "4k-al", "4-al"]
EXACT = ["adds3-al", "3-al", *FROM_QUADRUPLETS]
FEW = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))


def for_method(method, **options):
    return comparisons(3 if method in FROM_TRIPLETS else 4, **options)


@st.composite
def matrices(draw, max_leaves=8):
    n = draw(st.integers(2, max_leaves))
    y = draw(st.lists(st.integers(-3, 3), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    return squareform(np.array(y))


def rule_of(method, data):
    """The twin of a method, with exact values unless they are normalised."""
    rows, weights, n = data.rows.tolist(), data.weights, data.n_leaves
    if method in FROM_QUADRUPLETS and isinstance(data, ordhc.Triplets):
        rows = twins.as_quadruplets(rows)
    return {
        "adds3-al": lambda: twins.average(twins.adds3(rows, weights, n)),
        "mulk3-al": lambda: twins.average(twins.mulk3(rows, weights, n, True)),
        "3k-al": lambda: twins.average(twins.mulk3(rows, weights, n, True)),
        "mulk3-raw": lambda: twins.average(twins.mulk3(rows, weights, n, False)),
        "3-al": lambda: twins.three_al(rows, weights),
        "adds4-al": lambda: twins.average(twins.adds4(rows, weights, n)),
        "mulk4-al": lambda: twins.average(twins.mulk4(rows, weights, n)),
        "4k-al": lambda: twins.average(twins.four_k(rows, weights, n)),
        "4-al": lambda: twins.four_al(rows, weights),
    }[method]()


def expected_merges(method, data, labels=None):
    """(cluster, height) of each merge; leaves without an answer come last, in order."""
    if labels is not None:
        found = twins.agglomerate(data.n_leaves, rule_of(method, data), labels)
        return [(a | b, float(value)) for a, b, value in found]
    answered = twins.mentioned(data.rows, data.weights)
    found = twins.agglomerate(answered, rule_of(method, data))
    merges = [(a | b, float(value)) for a, b, value in found]
    whole = frozenset(answered)
    for leaf in sorted(set(range(data.n_leaves)) - whole):
        height = merges[-1][1] if merges else 0.0
        if whole:
            merges.append((whole | {leaf}, height))
        whole |= {leaf}
    return merges


def assume_no_near_ties(method, data, labels=None):
    leaves = twins.mentioned(data.rows, data.weights) if labels is None else data.n_leaves
    assume(twins.smallest_gap(leaves, rule_of(method, data), labels) > 1e-9)


def assume_no_rounded_ties(method, data, labels=None):
    """Means of whole similarities are exact, those of others may be rounded: no ties there."""
    if method not in ("3-al", "4-al") and data.weights is not None and (data.weights % 1).any():
        assume_no_near_ties(method, data, labels)


def clustered(data, method, **options):
    """The tree; exactly leaves without an answer are warned of."""
    if len(twins.mentioned(data.rows, data.weights)) == data.n_leaves:
        return ordhc.cluster(data, method=method, **options)
    with pytest.warns(ordhc.OrdhcWarning):
        return ordhc.cluster(data, method=method, **options)


def assert_merges(tree, expected):
    """The last merges of the tree are the expected ones."""
    first = len(tree.merges) - len(expected)
    assert clusters_of(tree)[first:] == [cluster for cluster, _ in expected]
    heights = [height for _, height in expected]
    np.testing.assert_allclose(tree.heights[first:], heights, rtol=1e-9, atol=1e-9)


# The twins by hand.


def test_twin_of_x_by_hand():
    rows = [(0, 1, 2), (0, 1, 2), (0, 2, 1), (1, 0, 2)]
    x = twins.x3(rows, None, 3)
    assert (x[0, 1, 2], x[0, 2, 1], x[1, 0, 2], x[1, 2, 0], x[2, 0, 1]) == (1, -1, 1, -1, 0)
    x = twins.x3(rows, [0.25, 0.5, 3, 2], 3)
    assert (x[0, 1, 2], x[0, 2, 1], x[1, 0, 2]) == (Fraction(-9, 4), Fraction(9, 4), 2)
    x = twins.x4([(0, 1, 2, 3), (3, 2, 1, 0), (1, 0, 3, 2)], [1, Fraction(1, 3), 2])
    for i, j in ((0, 1), (1, 0)):
        for k, l in ((2, 3), (3, 2)):  # noqa: E741
            assert x[i, j, k, l] == Fraction(8, 3) == -x[k, l, i, j]
    assert len(x) == 8
    assert twins.mentioned([(4, 1, 2), (1, 2, 0)], [1, 0]) == [1, 2, 4]


def test_twins_of_adds_by_hand():
    rows, weights = [(0, 1, 2), (1, 0, 2), (2, 0, 1)], [1, 1, 0.5]
    expected = [[0, 2, Fraction(-1, 2)], [2, 0, Fraction(-3, 2)], [Fraction(-1, 2), Fraction(-3, 2), 0]]
    assert twins.adds3(rows, weights, 3) == expected
    assert twins.adds4(twins.as_quadruplets(rows), weights, 3) == expected


def test_twin_of_mulk3_by_hand():
    rows = [(0, 2, 3), (1, 2, 3), (1, 0, 3)]
    raw = [[1, 1, 0, 0], [1, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert twins.mulk3(rows, None, 4, False) == raw
    K = twins.mulk3(rows, None, 4, True)
    np.testing.assert_allclose(np.array(K)[:2, :2], [[1, 1 / sqrt(2)], [1 / sqrt(2), 1]])
    # Anchor 0 answers {1, 2} both ways: the pair counts, its x is 0. Repeats and rows of no weight don't.
    more = [*rows, (0, 1, 2), (0, 2, 1), (1, 2, 3), (0, 1, 3)]
    K = twins.mulk3(more, [1] * 6 + [0], 4, True)
    np.testing.assert_allclose(np.array(K)[:2, :2], [[1 / 2, 2 / 2], [2 / 2, (4 + 1) / 2]])
    assert twins.mulk3(more, [1] * 6 + [0], 4, False)[1][:2] == [2, 5]


def test_twins_of_mulk4_and_4k_by_hand():
    rows = [(0, 2, 3, 4), (1, 2, 3, 4)]
    K = np.zeros((5, 5), dtype=int)
    K[0, 1] = K[1, 0] = 1  # r = 2, pair {3, 4}
    np.fill_diagonal(K, [1, 1, 2, 2, 2])
    np.testing.assert_array_equal(twins.mulk4(rows, None, 5), K)
    S = np.zeros((5, 5), dtype=int)
    S[0, 2] = S[2, 0] = S[1, 2] = S[2, 1] = 1
    S[3, 4] = S[4, 3] = -2
    np.testing.assert_array_equal(twins.adds4(rows, None, 5), S)
    np.testing.assert_array_equal(twins.four_k(rows, None, 5), K + 2 * S)
    # r is neither i nor j: x(01; kl) x(10; kl) would make K_01 positive here.
    assert twins.mulk4([(0, 1, 2, 3)], None, 4)[0][1] == 0


def test_twin_of_4k_is_the_sum_with_infinite_selfsimilarity():
    rng = np.random.default_rng(5)
    n, pairs = 5, twins.pairs_of(5)
    rows = [sum((pairs[at] for at in rng.choice(10, 2, replace=False)), ()) for _ in range(40)]
    weights = rng.choice(WEIGHTS, 40)
    x = twins.x4(rows, weights)

    def answer(i, r, k, m):
        return 1 if i == r else x.get((i, r, k, m), 0)

    K = twins.four_k(rows, weights, n)
    for i, j in itertools.permutations(range(n), 2):
        terms = (answer(i, r, k, m) * answer(j, r, k, m) for k, m in pairs for r in range(n))
        assert K[i][j] == sum(terms)


def test_twin_of_agglomeration_by_hand():
    S = [[0, 3, 1, 0], [3, 0, 2, 0], [1, 2, 0, 1], [0, 0, 1, 0]]
    sets = [frozenset(leaves) for leaves in ([0], [1], [0, 1], [2], [0, 1, 2], [3])]
    for rule, heights in (
        (twins.average, [3, Fraction(3, 2), Fraction(1, 3)]),
        (twins.single, [3, 2, 1]),
        (twins.complete, [3, 1, 0]),
    ):
        merges = twins.agglomerate(4, rule(S))
        assert merges == [(*sets[2 * at : 2 * at + 2], heights[at]) for at in range(3)]
    assert twins.smallest_gap(4, twins.average(S)) == Fraction(1, 2)
    merges = twins.agglomerate(4, twins.average(S), [9, 2, 9, 2])
    assert merges == [(frozenset({0, 2}), frozenset({1, 3}), Fraction(3 + 0 + 2 + 1, 4))]
    ties = twins.agglomerate(4, twins.average([[1] * 4] * 4))
    assert [a | b for a, b, _ in ties] == [{0, 1}, {0, 1, 2}, {0, 1, 2, 3}]
    # {1, 2} and {0, 3}: smallest leaves 0 and 1 go before 0 and 4.
    T = np.zeros((5, 5), dtype=int)
    T[1, 2] = T[2, 1] = T[0, 3] = T[3, 0] = 5
    found = [a | b for a, b, _ in twins.agglomerate(5, twins.complete(T.tolist()))]
    assert found == [{0, 3}, {1, 2}, {0, 1, 2, 3}, {0, 1, 2, 3, 4}]
    assert twins.agglomerate([1, 4], twins.single(T.tolist())) == [(frozenset({1}), frozenset({4}), 0)]


def test_twin_of_3_al_by_hand():
    rows = [(0, 1, 2), (1, 0, 2)]
    W = twins.three_al(rows, None)
    singles = [(0,), (1,), (2,)]
    values = [W(p, q, singles) for p, q in itertools.combinations(singles, 2)]
    assert values == [1, Fraction(-1, 2), Fraction(-1, 2)]
    assert [(a | b, value) for a, b, value in twins.agglomerate(3, W)] == [({0, 1}, 1), ({0, 1, 2}, 0)]
    W = twins.three_al([(0, 2, 3), (1, 2, 3), (2, 0, 3), (2, 3, 1), (3, 2, 0)], None)
    clusters = [(0, 1), (2,), (3,)]
    # {0, 1} is closer to 2 than to 3 by 2/2; 2 is closer to {0, 1} than to 3 by (1 - 1)/2.
    assert W((0, 1), (2,), clusters) == Fraction(1, 2) * (1 + 0)
    # {0, 1} is closer to 3 than to 2 by -1; 3 is closer to {0, 1} than to 2 by -1/2.
    assert W((0, 1), (3,), clusters) == Fraction(1, 2) * (-1 - Fraction(1, 2))
    assert W((2,), (3,), clusters) == Fraction(1, 2) * (0 + Fraction(1, 2))


def test_twin_of_4_al_by_hand():
    W = twins.four_al([(0, 1, 0, 2)], None)
    singles = [(0,), (1,), (2,)]
    values = [W(p, q, singles) for p, q in itertools.combinations(singles, 2)]
    assert values == [Fraction(1, 3), Fraction(-1, 3), 0]
    assert [value for _, _, value in twins.agglomerate(3, W)] == [Fraction(1, 3), 0]
    W = twins.four_al([(0, 2, 2, 3), (3, 1, 2, 0), (0, 1, 2, 3)], [1, 0.5, 4])
    clusters = [(0, 1), (2,), (3,)]
    # 02 beats 23 by 1, 13 beats 02 by 1/2; 01 is inside a cluster and doesn't count.
    assert W((0, 1), (2,), clusters) == Fraction(1, 3) * (Fraction(1, 2) - Fraction(1, 8))
    assert W((0, 1), (3,), clusters) == Fraction(1, 3) * Fraction(1, 8)
    assert W((2,), (3,), clusters) == Fraction(1, 3) * Fraction(-1, 2)


def test_twin_of_build_by_hand():
    sets = {frozenset(leaves) for leaves in ([0], [1], [2], [3], [0, 1], [2, 3], [0, 1, 2, 3])}
    assert twins.build([(0, 1, 2), (0, 1, 3), (2, 3, 0)], 4) == sets
    assert twins.build([(0, 1, 2)], 4) == sets - {frozenset([2, 3])}
    assert twins.build([(0, 1, 2), (0, 1, 3), (0, 2, 3)], 4) == sets - {frozenset([2, 3])} | {
        frozenset([0, 1, 2])
    }
    assert twins.build([], 1) == {frozenset([0])}
    assert twins.build([(0, 1, 2), (0, 2, 1)], 3) is None
    cycle = [(0, 1, 2), (1, 2, 3), (2, 3, 0)]
    assert twins.build(cycle, 4) is None
    assert all(twins.build([*two], 4) for two in itertools.combinations(cycle, 2))


def test_clusters_of_a_dendrogram_by_hand():
    tree = ordhc.Dendrogram([(1, 3), (0, 2), (4, 5)], [1.0, 2.0, 3.0])
    assert clusters_of(tree) == [{1, 3}, {0, 2}, {0, 1, 2, 3}]


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


@FEW
@given(comparisons(3))
def test_adds_are_the_twins(t):
    expected = np.array(twins.adds3(t.rows, t.weights, t.n_leaves), dtype=float)
    np.testing.assert_array_equal(ordhc.similarity(t, "adds3"), expected)
    np.testing.assert_array_equal(ordhc.similarity(t.to_quadruplets(), "adds4"), expected)
    assert twins.adds4(twins.as_quadruplets(t.rows), t.weights, t.n_leaves) == expected.tolist()


# Methods.


@pytest.mark.parametrize("method", EXACT)
@FEW
@given(st.data())
def test_methods_are_their_twins(method, data):
    given = data.draw(for_method(method))
    assume_no_rounded_ties(method, given)
    assert_merges(clustered(given, method), expected_merges(method, given))


@pytest.mark.parametrize("method", FROM_QUADRUPLETS)
@FEW
@given(comparisons(3))
def test_triplets_serve_as_quadruplets(method, t):
    assume_no_rounded_ties(method, t)
    tree = clustered(t, method)
    assert_merges(tree, expected_merges(method, t))
    assert clustered(t.to_quadruplets(), method) == tree


@FEW
@given(comparisons(3, min_leaves=3, max_leaves=6, min_size=8, max_size=60))
def test_mulk3_al_is_its_twin(t):
    assume_no_near_ties("mulk3-al", t)
    tree = clustered(t, "mulk3-al")
    assert_merges(tree, expected_merges("mulk3-al", t))
    assert clustered(t, "3k-al") == tree


@FEW
@given(comparisons(3, answered=True, min_leaves=3))
def test_raw_mulk3_al_is_its_twin(t):
    assume_no_rounded_ties("mulk3-raw", t)
    parameters = {"normalize": False}
    tree = ordhc.cluster(t, similarity="mulk3", linkage="average", similarity_parameters=parameters)
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


# Initial clusters.


@pytest.mark.parametrize("method", EXACT)
@FEW
@given(st.data())
def test_methods_start_from_initial_clusters(method, data):
    given, labels = data.draw(with_labels(for_method(method, min_leaves=3, answered=True)))
    assume_no_rounded_ties(method, given, labels)
    tree = ordhc.cluster(given, method=method, initial_clusters=labels)
    assert_initial(tree, labels)
    assert_merges(tree, expected_merges(method, given, labels))


@FEW
@given(with_labels(comparisons(3, min_leaves=3, max_leaves=6, min_size=8, max_size=60, answered=True)))
def test_mulk3_al_starts_from_initial_clusters(case):
    t, labels = case
    assume_no_near_ties("mulk3-al", t, labels)
    tree = ordhc.cluster(t, method="mulk3-al", initial_clusters=np.array(labels))
    assert_initial(tree, labels)
    assert_merges(tree, expected_merges("mulk3-al", t, labels))


@pytest.mark.parametrize("name", ["single", "complete", "average"])
@FEW
@given(with_labels(matrices()))
def test_linkages_start_from_initial_clusters(name, case):
    S, labels = case
    tree = ordhc.linkage(S, name, initial_clusters=labels)
    assert_initial(tree, labels)
    rule = getattr(twins, name)(S.tolist())
    expected = [(a | b, float(value)) for a, b, value in twins.agglomerate(len(S), rule, labels)]
    assert_merges(tree, expected)
    apart = ordhc.linkage(S, name, initial_clusters=list(range(len(S))))
    np.testing.assert_array_equal(apart.merges, ordhc.linkage(S, name).merges)


def assert_initial(tree, labels):
    first = {}
    for label in labels:
        first.setdefault(label, len(first))
    assert tree.cut(n_clusters=len(first)).tolist() == [first[label] for label in labels]
    assert len(tree.merges) == len(labels) - 1


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ([0, 0, 1], r"initial_clusters has shape \(3,\); a label for each of 4 leaves is needed"),
        ([0] * 5, r"initial_clusters has shape \(5,\)"),
        ([], r"initial_clusters has shape \(0,\)"),
        ([0, 0.5, 1, 1], r"initial_clusters\[1\] = 0.5 is no whole number"),
        (["a", "b", "a", "b"], "initial_clusters of type <U1 are no whole numbers"),
    ],
)
def test_bad_initial_clusters_are_explained(labels, text):
    t = ordhc.Triplets([(0, 1, 2), (3, 1, 2)])
    for method in (*FROM_TRIPLETS, *FROM_QUADRUPLETS):
        with pytest.raises(ordhc.InputError, match=text):
            ordhc.cluster(t, method=method, initial_clusters=labels)
    for name in ("single", "complete", "average"):
        with pytest.raises(ordhc.InputError, match=text):
            ordhc.linkage(np.zeros((4, 4)), name, initial_clusters=labels)


# 4-SL and 4-CL.


def complete_quadruplets(n, seed):
    """All comparisons of pairs, each in a random direction of writing, and the similarities."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(n * (n - 1) // 2) + 1
    pairs = twins.pairs_of(n)
    rows = []
    for a, b in itertools.combinations(range(len(pairs)), 2):
        close, far = (a, b) if y[a] > y[b] else (b, a)
        rows.append([*rng.permutation(pairs[close]), *rng.permutation(pairs[far])])
    return ordhc.Quadruplets(np.array(rows, dtype=int)[rng.permutation(len(rows))], n), y


@pytest.mark.parametrize(("method", "name"), [("4-sl", "single"), ("4-cl", "complete")])
@FEW
@given(st.integers(3, 6), st.integers(0, 2**32 - 1))
def test_4_sl_and_4_cl_are_single_and_complete_linkage(method, name, n, seed):
    q, y = complete_quadruplets(n, seed)
    found = clusters_of(ordhc.cluster(q, method=method))
    rule = twins.four_sl if method == "4-sl" else twins.four_cl
    assert found == [a | b for a, b, _ in twins.agglomerate(n, rule(q.rows, q.weights))]
    Z = scipy.cluster.hierarchy.linkage(len(y) + 1.0 - y, name)
    assert found == clusters_of(ordhc.Dendrogram.from_scipy(Z))


@pytest.mark.parametrize("method", ["4-sl", "4-cl"])
@FEW
@given(st.integers(3, 6), st.integers(0, 2**32 - 1), st.data())
def test_a_missing_comparison_is_named(method, n, seed, data):
    q, _ = complete_quadruplets(n, seed)
    gone = data.draw(st.integers(0, len(q) - 1))
    row = q.rows[gone].tolist()
    with pytest.raises(ordhc.InputError) as error:
        ordhc.cluster(q[np.arange(len(q)) != gone], method=method)
    for pair in (row[:2], row[2:]):
        assert names_in_order(str(error.value), pair) or names_in_order(str(error.value), pair[::-1])


def names_in_order(text, leaves):
    """Whether the numbers stand in the text one after another."""
    return re.search(r"(?<!\d)" + r"\D+".join(map(str, leaves)) + r"(?!\d)", text) is not None


# BUILD.


def random_clusters(n, rng):
    """The clusters of a random binary tree, singletons included."""
    active = [frozenset([leaf]) for leaf in range(n)]
    clusters = set(active)
    while len(active) > 1:
        a = active.pop(rng.integers(len(active)))
        b = active.pop(rng.integers(len(active)))
        active.append(a | b)
        clusters.add(a | b)
    return clusters


def triples_of(clusters, n):
    """All (i, j, k) with a cluster that has i and j, but not k."""
    return [
        (i, j, k)
        for i, j in twins.pairs_of(n)
        for k in range(n)
        if any(i in c and j in c and k not in c for c in clusters)
    ]


def built(triples, n):
    """The clusters of method "build", singletons included."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ordhc.OrdhcWarning)
        tree = ordhc.cluster(data_of(triples, n, width=3), method="build")
    return set(clusters_of(tree)) | {frozenset([leaf]) for leaf in range(n)}


@FEW
@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_build_finds_the_tree_of_all_its_triples(n, seed):
    rng = np.random.default_rng(seed)
    clusters = random_clusters(n, rng)
    triples = triples_of(clusters, n)
    assert twins.build(triples, n) == clusters
    triples = [(j, i, k) if rng.random() < 0.5 else (i, j, k) for i, j, k in triples]
    assert built([triples[at] for at in rng.permutation(len(triples))], n) == clusters


@FEW
@given(st.integers(3, 8), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_build_resolves_the_tree_of_some_triples(n, seed, share):
    rng = np.random.default_rng(seed)
    triples = [t for t in triples_of(random_clusters(n, rng), n) if rng.random() < share]
    found = built(triples, n)
    assert twins.build(triples, n) <= found
    assert len(found) == 2 * n - 1


@FEW
@given(comparisons(3, min_leaves=3, max_leaves=6, max_size=8))
def test_build_tells_consistent_triples_from_others(t):
    triples = t.rows.tolist()
    clusters = twins.build(triples, t.n_leaves)
    if clusters is None:
        with pytest.raises(ordhc.InputError, match="no tree satisfies"):
            built(triples, t.n_leaves)
    else:
        assert clusters <= built(triples, t.n_leaves)


def lists(text, triple):
    i, j, k = triple
    return names_in_order(text, (i, j, k)) or names_in_order(text, (j, i, k))


@pytest.mark.parametrize(
    "conflict", [[(0, 1, 2), (0, 2, 1)], [(0, 1, 2), (1, 2, 0)], [(0, 1, 2), (1, 2, 3), (2, 3, 0)]]
)
def test_build_lists_triples_that_no_tree_has(conflict):
    others = [(4, 5, 6), (6, 7, 4), (8, 9, 4), (8, 9, 7)]
    with pytest.raises(ordhc.InputError) as error:
        built([others[0], conflict[0], *others[1:], *conflict[1:]], 10)
    text = str(error.value)
    assert all(lists(text, triple) for triple in conflict)
    assert not any(lists(text, triple) for triple in others)


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
@FEW
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
    ("adds3-al", 30, ["floats", "whole", "none"]),
    ("mulk3-al", 30, ["floats"]),
    ("3-al", 30, ["floats", "quarters", "none"]),
    ("adds4-al", 24, ["floats", "whole", "none"]),
    ("mulk4-al", 14, ["floats", "whole", "none"]),
    ("4k-al", 14, ["floats", "whole", "none"]),
    ("4-al", 20, ["floats", "quarters", "none"]),
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
    with pytest.raises(ordhc.InputError, match=r"\(cat, dog, car\), \(dog, car, cat\)"):
        ordhc.cluster(t, method="build")
    q = ordhc.Quadruplets([("cat", "dog", "dog", "car")])
    with pytest.raises(ordhc.InputError, match=r"the pairs \(cat, dog\) and \(cat, car\)"):
        ordhc.cluster(q, method="4-cl")


def test_vectors():
    X = 0.3 + np.random.default_rng(0).random(size=(12, 5))
    dot = X @ X.T / 5
    assert np.allclose(ordhc.similarity(X, "dot"), dot)
    lengths = np.linalg.norm(X, axis=1)
    assert np.allclose(ordhc.similarity(X, "cosine"), X @ X.T / lengths[:, None] / lengths)
    tree = ordhc.cluster(X, method="dot-al", memory="matrix")
    assert tree.with_leaf_heights(None) == ordhc.linkage(ordhc.similarity(X, "dot"))
    start = np.arange(12) % 4
    d = ordhc.cluster(X.tolist(), method="cosine-al", initial_clusters=start)
    assert np.array_equal(d.cut(4), start)
    assert ordhc.cluster(X, method="dot-al", tie_seed=3) == ordhc.cluster(X, method="dot-al", tie_seed=3)
    assert ordhc.similarity([[0.0, 0.0], [1.0, 1.0]], "cosine", layout="condensed").tolist() == [0.0]
    X[3, 2] = np.nan
    with pytest.raises(ordhc.InputError, match="row 3, column 2: nan is not finite"):
        ordhc.cluster(X, method="dot-al")
    with pytest.raises(ordhc.InputError, match="takes vectors, not Triplets"):
        ordhc.cluster(ordhc.Triplets([(0, 1, 2)]), method="dot-al")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "3-al", "similarity": "adds3"}, "not both"),
        ({"similarity": "adds3", "linkage": "3-al"}, "leave out the similarity"),
        ({"method": "4-sl", "normalize": True}, "no parameter 'normalize'"),
        ({"method": "mulk3-al", "normalise": True}, "there are: normalize"),
        ({"method": "build", "initial_clusters": [0, 0, 1]}, "takes no initial_clusters"),
        ({"initial_clusters": [0, 0]}, r"shape \(2,\)"),
        ({"initial_clusters": [0, 0.5, 1]}, r"initial_clusters\[1\] = 0.5 is no whole"),
        ({"initial_clusters": ["a", "b", "c"]}, "no whole numbers"),
    ],
)
def test_bad_options(options, text):
    with pytest.raises(ordhc.InputError, match=text):
        ordhc.cluster(ordhc.Triplets([(0, 1, 2)]), **options)


def test_linkages_of_comparisons_take_no_matrix():
    with pytest.raises(ordhc.InputError, match="ordhc.cluster"):
        ordhc.linkage(np.eye(3), "3-al")
