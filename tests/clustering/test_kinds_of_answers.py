"""Answers of several rows: each counts as one answer, of whatever kind."""

from itertools import permutations

import numpy as np
import pytest

import ordhc
from ordhc.clustering.answering import Crowd, simulated
from ordhc.clustering.expected import heights_of_pairs
from ordhc.comparison.choices import Choices, order_of
from ordhc.errors import InputError, OrdhcWarning
from support.random_data import random_tree


def chosen(rows, count, n):
    """(reference, the chosen ones, the others): some of several in no order."""
    rows = np.asarray(rows)
    table = [(row[0], near, far) for row in rows for near in row[1 : count + 1] for far in row[count + 1 :]]
    answers = np.repeat(np.arange(len(rows)), count * (rows.shape[1] - 1 - count))
    return ordhc.Triplets(table, n_leaves=n, answers=answers)


def extremes(rows, n):
    """(reference, best, the others, worst)."""
    rows, width = np.asarray(rows), np.shape(rows)[1]
    pattern = [(0, 1, far) for far in range(2, width)] + [
        (0, near, width - 1) for near in range(2, width - 1)
    ]
    answers = np.repeat(np.arange(len(rows)), len(pattern))
    return ordhc.Triplets(rows[:, pattern].reshape(-1, 3), n_leaves=n, answers=answers)


KINDS = {
    "odd": lambda rows, n: ordhc.Triplets.from_odd_one_out(np.asarray(rows)[:, :3], n_leaves=n),
    "central": lambda rows, n: ordhc.Triplets.from_most_central(np.asarray(rows)[:, :3], n_leaves=n),
    "ranked": lambda rows, n: ordhc.Triplets.from_ranking(rows, n_ranked=2, n_leaves=n),
    "chosen": lambda rows, n: chosen(rows, 2, n),
    "extremes": extremes,
}


def probability(kind, answer, closeness):
    """Of an answer as it is asked for, without noise, by (w, w) closeness of its leaves in order."""
    C = np.exp(closeness)
    if kind == "odd":
        return C[1, 2] / (C[1, 2] + C[0, 2] + C[0, 1])
    if kind == "central":
        inner = [C[0, 1] * C[0, 2], C[0, 1] * C[1, 2], C[0, 2] * C[1, 2]]
        return inner[0] / sum(inner)
    others = list(range(1, len(answer)))

    def one_by_one(order, count):
        return np.prod([C[0, order[at]] / C[0, order[at:]].sum() for at in range(count)])

    if kind == "ranked":
        return one_by_one(others, 2)
    if kind == "chosen":
        return sum(one_by_one([*first, *others[2:]], 2) for first in permutations(others[:2]))
    inverse = 1 / C[0]
    return one_by_one(others, 1) * inverse[others[-1]] / inverse[others[1:]].sum()


@pytest.mark.parametrize("kind", KINDS)
def test_simulated_answers_are_as_frequent_as_the_model_says(kind):
    n, noise, m = 5, 0.05, 20_000
    rng = np.random.default_rng(3)
    H = heights_of_pairs(random_tree(n, 2))
    H = 1.2 * (H.max() - H) + 0.2 * rng.random((n, n))
    H = (H + H.T) / 2
    like = KINDS[kind]([range(n)], n)
    found = simulated(H, Crowd.of(like, noise, {}), m, like, 1)
    answers = {}
    for leaves in permutations(range(n)):
        data = KINDS[kind]([leaves], n)
        key = frozenset(data)
        at = np.ix_(leaves, leaves)
        answers[key] = (probability(kind, leaves, H[at]), frozenset(leaves[:3]), leaves[0])
    numbers = found.answers[len(like) :]
    rows = np.asarray(found.rows[len(like) :])
    size = len(like)
    assert len(rows) == m * size
    assert (numbers.reshape(m, size) == numbers[::size, None]).all()
    counts = {}
    for answer in rows.reshape(m, size, 3).tolist():
        key = frozenset(map(tuple, answer))
        counts[key] = counts.get(key, 0) + 1
    assert set(counts) <= set(answers)
    # Questions are drawn evenly: three leaves, or a reference.
    question = 1 if kind in ("odd", "central") else 2
    n_questions = len({told[question] for told in answers.values()})
    n_answers = len(answers) // n_questions
    for key, told in answers.items():
        p = (2 * noise / n_answers + (1 - 2 * noise) * told[0]) / n_questions
        assert counts.get(key, 0) / m == pytest.approx(p, abs=5 * np.sqrt(p / m) + 1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_probability_of_whole_answers(kind):
    """By heights of the trees that were drawn."""
    n = 5
    rng = np.random.default_rng(1)
    data = KINDS[kind]([rng.permutation(n) for _ in range(30)], n)
    p = ordhc.posterior(data, chains=1, sweeps=6, burn_in=5, lengths=False)
    (tree,), noise = p.trees, p.diagnostics.noise[0, -1]
    leaves = rng.permutation(n)
    asked = KINDS[kind]([leaves], n)
    said = p.predict_answers(asked)
    n_answers = {"odd": 3, "central": 3, "ranked": 12, "chosen": 6, "extremes": 12}[kind]
    clear = probability(kind, leaves, heights_of_pairs(tree)[np.ix_(leaves, leaves)])
    np.testing.assert_allclose(said, 2 * noise / n_answers + (1 - 2 * noise) * clear, rtol=1e-6)


def test_predictions_of_whole_answers():
    rng = np.random.default_rng(2)
    names = list("abcde")
    odd = ordhc.Triplets.from_odd_one_out(
        [rng.permutation(5)[:3] for _ in range(20)], n_leaves=5, names=names
    )
    p = ordhc.posterior(odd, chains=2, sweeps=20)
    likely = p.predict_answers(odd)
    assert likely.shape == (len(odd),)
    np.testing.assert_allclose(-np.log(likely).mean(), p.log_loss(odd))
    # The mean over all trees, as the diagnostics have the noise by chain and sweep.
    assert p.noise == p.diagnostics.noise.mean()
    assert p.n_trees == len(p.trees) > 0
    single = ordhc.Triplets(odd.rows[::2], n_leaves=5, names=names)
    np.testing.assert_array_equal(p.predict_answers(single), p.predict(single))
    # Leaves are found by their names, whatever their order.
    order = rng.permutation(5)
    other = ordhc.Triplets(
        np.argsort(order)[odd.rows], n_leaves=5, names=[names[leaf] for leaf in order], answers=odd.answers
    )
    np.testing.assert_array_equal(p.predict_answers(other), likely)
    for kind, table in zip(
        Choices.of(odd).kinds, map(p.answer_tables(odd), Choices.of(odd).kinds), strict=True
    ):
        np.testing.assert_allclose(table.sum(axis=1), 1.0)
        np.testing.assert_allclose(table[:, 0], likely[::2][kind.answer])
    with pytest.raises(InputError, match="predict_answers takes Triplets or Quadruplets, not list"):
        p.predict_answers([(0, 1, 2)])
    with pytest.warns(OrdhcWarning, match="no answers"):
        two = ordhc.posterior(ordhc.Quadruplets(np.zeros((0, 4), dtype=int), n_leaves=2))
    assert (two.n_trees, np.isnan(two.noise)) == (0, True)


def test_orders_of_rows():
    assert order_of(np.array([[4, 2, 9], [2, 4, 9]])) == ([(2, 4), (2, 9), (4, 9)], [1, 2])
    assert order_of(np.array([[4, 2, 9], [9, 2, 4]])) == ([(2, 4), (2, 9), (4, 9)], [2, 1])
    assert order_of(np.array([[0, 1, 2, 3]])) == ([(0, 1), (2, 3)], [1, 1])
    assert order_of(np.array([[0, 1, 2], [3, 4, 5]])) is None
    assert order_of(np.array([[0, 1, 2], [0, 2, 1]])) is None
    assert order_of(np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1]])) is None


def test_rows_of_one_answer_count_as_one():
    """Triplets are right about as often as expected; much less often if every row were an answer."""
    n, found = 20, []
    for seed in range(8):
        truth = random_tree(n, seed, "yule")
        heights = heights_of_pairs(truth)
        levels, at = np.unique(-heights if truth.kind == "dissimilarity" else heights, return_inverse=True)
        H = 6 * at.reshape(n, n) / len(levels)
        crowd, like = Crowd(None, np.ones(1), np.array([0.02])), chosen([range(7)], 2, n)
        data = simulated(H, crowd, n, like, seed)[len(like) :]
        rows = np.array([np.random.default_rng([seed, at]).permutation(n)[:3] for at in range(1000)])
        closer = H[rows[:, 0], rows[:, 1]] - H[rows[:, 0], rows[:, 2]]
        rows[closer < 0] = rows[closer < 0][:, [0, 2, 1]]
        rows = rows[closer != 0]
        for each in (data, ordhc.Triplets(data.rows, n_leaves=n)):
            p = ordhc.posterior(each, seed=seed, sweeps=80, lengths=False, repeats="new").predict(
                rows, of="tree"
            )
            found.append((np.maximum(p, 1 - p).mean() - (p > 0.5).mean(), -np.log(p).mean()))
    excess, loss = np.reshape(found, (8, 2, 2)).mean(axis=0).T
    assert abs(excess[0]) < 0.06 < 0.1 < excess[1]
    assert loss[0] < loss[1] - 0.06


def test_answers_of_no_known_kind_are_warned_of():
    rows = [(0, 1, 2), (3, 4, 5), (1, 0, 2), (4, 3, 5)]
    data = ordhc.Triplets(rows, answers=[0, 0, 1, 1])
    with pytest.warns(OrdhcWarning, match="2 answers have several rows"):
        p = ordhc.posterior(data, chains=1, sweeps=6)
    assert len(p.notes) == 1
    with pytest.warns(OrdhcWarning, match="several rows"):
        ordhc.cluster(data, method="posterior-al", sweeps=6)
    # As if each row counted half.
    half = ordhc.Triplets(rows, weights=[0.5] * 4)
    np.testing.assert_allclose(p.similarity, ordhc.posterior(half, chains=1, sweeps=6).similarity)
    # The same row ten times is one.
    many = ordhc.Triplets([(0, 1, 2)] * 10, answers=[0] * 10)
    found = [ordhc.posterior(each, sweeps=400, lengths=False) for each in (many, ordhc.Triplets([(0, 1, 2)]))]
    assert found[0].notes == ()
    said = [p.predict([(0, 1, 2)])[0] for p in found]
    assert said[0] == pytest.approx(said[1], abs=0.04)


def test_numbers_of_answers_are_each_persons_own():
    """Two people with the same numbers stay apart where people don't matter."""
    rng = np.random.default_rng(0)
    rows = [rng.permutation(6)[:3] for _ in range(20)]
    data = ordhc.Triplets.from_odd_one_out(rows, n_leaves=6)
    mixed = ordhc.Triplets(data, answers=data.answers % 10, groups=data.answers // 10)
    one = ordhc.posterior(data, sweeps=6)
    other = ordhc.posterior(mixed, sweeps=6, unit="answer")
    assert other.notes == ()
    np.testing.assert_array_equal(one.similarity, other.similarity)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_and_numbers_of_leaves_do_not_matter(kind):
    n = 8
    rng = np.random.default_rng(5)
    data = KINDS[kind]([rng.permutation(n) for _ in range(25)], n)
    order, rows = rng.permutation(n), rng.permutation(len(data))
    numbers = rng.permutation(100)[data.answers]
    moved = ordhc.Triplets(order[data.rows.astype(int)][rows], n_leaves=n, answers=numbers[rows])
    one, other = (ordhc.posterior(each, chains=1, sweeps=6, lengths=True) for each in (data, moved))
    np.testing.assert_allclose(other.similarity[np.ix_(order, order)], one.similarity)
    np.testing.assert_allclose(other.lengths[order], one.lengths)
    paths, same = (each.tree.cophenetic(square=True) for each in (one, other))
    np.testing.assert_allclose(same[np.ix_(order, order)], paths, atol=1e-9)
