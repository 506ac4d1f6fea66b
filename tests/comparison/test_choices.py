"""Whole answers as choices: kinds, probabilities, the likeliest answer, and bounds for the best predictor."""

import itertools
import math

import numpy as np
import pytest

import ordhc
from ordhc.clustering.answer_scores import answer_scores, tables_of
from ordhc.clustering.expected import heights_of_pairs
from ordhc.comparison.choices import Choices, right_of
from ordhc.comparison.luce import choice_logarithms
from ordhc.errors import InputError
from ordhc.evaluate.answers import answer_ceilings
from ordhc.plugins import registry
from ordhc.testing import check_metric

SHAPES = {
    "triplet": [(0, 1, 2)],
    "quadruplet": [(0, 1, 2, 3)],
    "odd one out": [(0, 1, 2), (1, 0, 2)],
    "most central": [(0, 1, 2), (2, 1, 0)],
    "ranking of 4 items": [(0, i, j) for i, j in itertools.combinations(range(1, 5), 2)],
    "ranking of 2 of 4 items": [(0, i, j) for i, j in itertools.combinations(range(1, 5), 2) if i < 3],
    "1 of 4 items": [(0, 1, j) for j in (2, 3, 4)],
    "2 of 5 items": [(0, i, j) for i in (1, 2) for j in (3, 4, 5)],
    "3 of 6 items": [(0, i, j) for i in (1, 2, 3) for j in (4, 5, 6)],
    "3 of 4 items": [(0, i, 4) for i in (1, 2, 3)],
    "best and worst of 5 items": [(0, 1, j) for j in (2, 3, 4, 5)] + [(0, j, 5) for j in (2, 3, 4)],
    "2 of 4 pairs": [(0, 1, 4, 5), (0, 1, 6, 7), (2, 3, 4, 5), (2, 3, 6, 7)],
}


def answers_like(name, count, n, rng):
    """Answers of a kind about random leaves, their rows shuffled."""
    shape = np.array(SHAPES[name])
    rows = [rng.permutation(rng.permutation(n)[shape]) for _ in range(count)]
    kind = ordhc.Triplets if shape.shape[1] == 3 else ordhc.Quadruplets
    return kind(np.concatenate(rows), n_leaves=n, answers=np.repeat(np.arange(count), len(shape)))


def symmetric(n, rng, scale=1.0):
    S = rng.normal(size=(n, n)) * scale
    return S + S.T


@pytest.mark.parametrize("name", SHAPES)
def test_kinds_are_told_and_their_answers_have_a_probability_of_one(name):
    rng = np.random.default_rng(0)
    (kind,) = Choices.of(answers_like(name, 30, 9, rng)).kinds
    assert kind.name == name
    assert len(kind) == 30
    assert len({tuple(order) for order in kind.orders.tolist()}) == kind.n_possible
    P = kind.probabilities(symmetric(9, rng), noise=0.1)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-9)


@pytest.mark.parametrize("name", SHAPES)
def test_probabilities_are_those_of_the_posterior(name):
    rng = np.random.default_rng(1)
    data = answers_like(name, 60, 9, rng)
    p = ordhc.posterior(data, chains=1, sweeps=1, burn_in=0, lengths=True)
    assert len(p.trees) == 1
    closeness = heights_of_pairs(p.trees[0]) - p.lengths - p.lengths[:, None]
    noise = float(p.diagnostics.noise[0, 0])
    found, expected = answer_scores(Choices.of(data), tables_of([closeness], [noise])), p.score_answers(data)
    np.testing.assert_allclose(found.losses[0], expected.losses[0], rtol=1e-6)
    np.testing.assert_allclose(found.right[0], expected.right[0], rtol=1e-9)
    assert p.accuracy(data) == expected.accuracy
    assert p.log_loss(data) == expected.log_loss


@pytest.mark.parametrize("name", SHAPES)
def test_the_likeliest_answer_is_the_sorted_one(name):
    rng = np.random.default_rng(2)
    (kind,) = Choices.of(answers_like(name, 200, 9, rng)).kinds
    for S in (symmetric(9, rng), np.round(symmetric(9, rng)), np.zeros((9, 9))):
        np.testing.assert_allclose(kind.right(S), right_of(kind.probabilities(S)), rtol=1e-9)


def test_the_likeliest_of_too_many_answers_to_enumerate():
    rng = np.random.default_rng(3)
    rows = np.array([(0, i, j) for i, j in itertools.combinations(range(1, 9), 2)])
    S = symmetric(9, rng)
    best = 1 + np.argsort(-S[0, 1:])
    best = np.concatenate([[0], best])
    swapped = best.copy()
    swapped[[3, 4]] = best[[4, 3]]
    data = ordhc.Triplets(
        np.concatenate([best[rows], swapped[rows]]), n_leaves=9, answers=np.repeat([0, 1], len(rows))
    )
    (kind,) = Choices.of(data).kinds
    assert kind.n_possible == math.factorial(8)
    assert not kind.is_enumerated
    assert len(kind.orders) == 8
    assert right_of(kind.probabilities(S)).tolist() == kind.right(S).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "blocks", [(1, 1), (1, 2), (2, 1), (1, 1, 1, 1), (2, 3), (3, 2), (4, 4), (7, 2), (1, 3, 1)]
)
def test_derivatives_of_log_probabilities(blocks):
    rng = np.random.default_rng(4)
    U = rng.normal(size=(5, sum(blocks))) * 2
    _, D = choice_logarithms(U, blocks, slopes=True)
    for at in range(U.shape[1]):
        step = np.zeros_like(U)
        step[:, at] = 1e-5
        up, down = (choice_logarithms(U + sign * step, blocks)[0] for sign in (1, -1))
        np.testing.assert_allclose(D[:, at], (up - down) / 2e-5, atol=1e-6)


def test_extreme_utilities_give_finite_logarithms():
    U = np.array([[-1e4, 1e4, 0.0, 5e3, -5e3, 1.0]])
    for blocks in [(1, 5), (2, 4), (3, 3), (5, 1), (1, 1, 1, 3), (1, 4, 1)]:
        value, slope = choice_logarithms(U, blocks, slopes=True)
        assert np.isfinite(value).all()
        assert np.isfinite(slope).all()
        assert value[0] <= 0


def test_rows_of_no_known_kind_share_the_weight_of_an_answer():
    data = ordhc.Triplets([(0, 1, 2), (3, 4, 5), (0, 1, 3)], n_leaves=6, answers=[0, 0, 1], weights=[2, 2, 1])
    choices = Choices.of(data)
    (kind,) = choices.kinds
    assert kind.name == "triplet"
    assert choices.gathered([np.array([1.0, 0.0, 1.0])])[0].tolist() == [0.5, 1.0]
    assert choices.gathered([np.ones(3)])[1].tolist() == [2.0, 1.0]


def test_a_repeated_row_counts_once_and_rows_without_weight_do_not_count():
    rows = [(0, 1, 2), (0, 1, 2), (1, 0, 2), (0, 2, 1)]
    data = ordhc.Triplets(rows, answers=[0] * 4, weights=[1, 1, 1, 0])
    (kind,) = Choices.of(data).kinds
    assert kind.name == "odd one out"
    assert kind.weights.tolist() == [1.0]


def test_answer_accuracy_of_a_tree():
    tree = "((0,1),(2,3));"
    odd = ordhc.Triplets.from_odd_one_out([(2, 0, 1), (0, 1, 2)], n_leaves=4)
    assert ordhc.score(tree, odd, "answer_accuracy") == 0.5
    # A tree with heights leaves open which of the closer two is the most central.
    central = ordhc.Triplets.from_most_central([(0, 1, 2), (2, 0, 1)], n_leaves=4)
    assert ordhc.score(tree, central, "answer_accuracy") == 0.25
    # Lengths decide: leaf 1 is far from all others.
    assert ordhc.score("((0:1,1:3):1,(2:1,3:1):1);", central[:2], "answer_accuracy") == 1.0
    pairs = ordhc.Quadruplets([(0, 1, 2, 3)])
    heights = ordhc.Dendrogram([(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 3.0])
    assert ordhc.score(heights, pairs, "answer_accuracy") == 1.0
    turned = ordhc.Dendrogram([(0, 1), (2, 3), (4, 5)], [3.0, 2.0, 1.0], kind="similarity")
    assert ordhc.score(turned, pairs, "answer_accuracy") == 1.0
    open_ones = ordhc.Triplets([(2, 0, 1)])
    assert ordhc.score("((0,1),2);", open_ones, "answer_accuracy") == 0.5
    with pytest.raises(InputError, match="positive weight"):
        ordhc.score("((0,1),2);", ordhc.Triplets([(0, 1, 2)], weights=[0]), "answer_accuracy")


def test_answer_accuracy_is_satisfied_where_a_tree_decides_every_row():
    truth = ordhc.datasets.planted(400, levels=2, leaves_per_cluster=4, seed=2)[0]
    tree = ordhc.cluster(truth)
    satisfied = ordhc.metrics.satisfied(tree, truth)
    expected = satisfied.agreed + satisfied.unresolved / 2
    assert ordhc.metrics.answer_accuracy(tree, truth) == pytest.approx(expected, abs=1e-12)


def test_answer_accuracy_passes_the_checks_of_metrics():
    check_metric(registry.get("metric", "answer_accuracy"))


def test_names_of_other_orders_are_matched():
    names = ["a", "b", "c", "d", "e", "f"]
    rng = np.random.default_rng(5)
    rows = np.array([rng.permutation(6)[:3] for _ in range(120)])
    data = ordhc.Triplets(rows, n_leaves=6, names=names)
    p = ordhc.posterior(data, sweeps=30)
    place = rng.permutation(6)
    other = ordhc.Triplets(np.argsort(place)[rows], n_leaves=6, names=[names[at] for at in place])
    assert p.log_loss(other) == pytest.approx(p.log_loss(data), rel=1e-12)


def repeated(p, times, questions, seed, name="odd one out"):
    """Answers with given probabilities to questions that are repeated."""
    rng = np.random.default_rng(seed)
    rows, numbers = [], []
    for question in range(questions):
        leaves = 3 * question + np.arange(3)
        for said in rng.choice(len(p), times, p=p):
            a, b, c = np.roll(leaves, said)
            rows += [(a, b, c), (b, a, c)] if name == "odd one out" else [(a, b, c), (c, b, a)]
            numbers += [len(numbers) // 2] * 2
    return ordhc.Triplets(rows, n_leaves=3 * questions, answers=numbers)


@pytest.mark.parametrize(("times", "questions"), [(2, 3000), (10, 1000)])
@pytest.mark.parametrize("p", [(0.7, 0.2, 0.1), (0.5, 0.5, 0.0), (1 / 3, 1 / 3, 1 / 3), (1.0, 0.0, 0.0)])
def test_the_ceiling_bounds_the_best_predictor(p, times, questions):
    (one,) = answer_ceilings(repeated(p, times, questions, 6))
    best, entropy = max(p), -sum(x * math.log(x) for x in p if x)
    assert one.agreement == pytest.approx(sum(x * x for x in p), abs=0.02)
    assert one.accuracy_low - 0.02 <= best <= one.accuracy_high + 0.02
    assert one.log_loss_low - 0.03 <= entropy <= one.log_loss_high + 0.03
    assert one.n_questions == questions
    assert one.n_answers == questions * times
    if times == 10:
        assert one.accuracy_high - one.accuracy_low < 0.16


def test_equal_answers_that_were_merged_give_no_ceiling():
    rows = [row for q in range(50) for row in [(3 * q, 3 * q + 1, 3 * q + 2), (3 * q, 3 * q + 2, 3 * q + 1)]]
    assert answer_ceilings(ordhc.Triplets(rows)) == ()
    assert answer_ceilings(ordhc.Triplets([(0, 1, 2), (0, 1, 3)])) == ()


def test_counts_are_answers_of_their_own():
    many = ordhc.Triplets([(0, 1, 2)] * 3 + [(0, 2, 1)])
    counted = ordhc.Triplets([(0, 1, 2), (0, 2, 1)], weights=[3, 1])
    assert answer_ceilings(many) == answer_ceilings(counted)
