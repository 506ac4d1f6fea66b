"""The twins of the methods, by hand."""

import itertools
from fractions import Fraction
from math import sqrt

import numpy as np

import ordhc
from support import twins
from support.comparisons import WEIGHTS
from support.trees import clusters_of


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
