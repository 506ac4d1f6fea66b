"""Oracles, and what is around them."""

import asyncio
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import oracles
from ordhc.errors import InputError
from ordhc.tree.dendrogram import lca_size
from support.random_data import random_tree
from support.trees import same


def all_questions(n):
    return np.array(list(itertools.permutations(range(n), 3)), dtype=np.int64).reshape(-1, 3)


@settings(deadline=None, max_examples=30)
@given(n=st.integers(3, 9), seed=st.integers(0, 500))
def test_oracles_agree(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    rows = all_questions(n)
    of_vectors = oracles.from_vectors(X)(rows)
    assert np.array_equal(of_vectors, oracles.from_similarity(-D)(rows))
    assert np.array_equal(oracles.from_vectors(X, "dot")(rows), oracles.from_similarity(X @ X.T)(rows))
    triplets = oracles.Recording(oracles.from_similarity(-D))
    triplets(rows)
    assert np.array_equal(oracles.recorded(triplets.comparisons())(rows), of_vectors)
    tree = ordhc.linkage(-D, dissimilarity=False)
    heights = -np.array([[lca_size(tree, i, j) if i != j else 0 for j in range(n)] for i in range(n)])
    assert np.array_equal(oracles.from_tree(tree)(rows), oracles.from_similarity(heights)(rows))


def test_quadruplets():
    S = np.array([[0, 5, 1, 2], [5, 0, 3, 4], [1, 3, 0, 4], [2, 4, 4, 0]])
    oracle = oracles.from_similarity(S)
    assert oracle([[0, 1, 2, 3], [2, 3, 0, 1], [1, 3, 2, 3]]).tolist() == [1, -1, 0]
    kept = oracles.recorded(ordhc.Quadruplets([(0, 1, 2, 3)], n_leaves=4))
    assert kept([[1, 0, 3, 2], [2, 3, 0, 1]]).tolist() == [1, -1]
    with pytest.raises(InputError, match="do not decide the question about 0, 2, 1, 3"):
        kept([[0, 2, 1, 3]])


def test_recorded_answers():
    t = ordhc.Triplets([("a", "b", "c"), ("a", "c", "b"), ("a", "c", "b")])
    assert oracles.recorded(t)([[0, 1, 2]]).tolist() == [1]
    with pytest.raises(InputError, match="do not decide the question about a, b, c"):
        oracles.recorded(ordhc.Triplets([], names=["a", "b", "c"]))([[0, 1, 2]])
    assert oracles.recorded(ordhc.Triplets([], n_leaves=3), missing="none")([[0, 1, 2]]).tolist() == [-1]
    with pytest.raises(InputError, match="missing is 'x'"):
        oracles.recorded(t, missing="x")


@pytest.mark.parametrize("wrong", ["random", "adversarial"])
def test_noise(wrong):
    truth = random_tree(12, 0, "uniform")
    right = oracles.from_tree(truth)
    rows = np.tile(all_questions(12), (8, 1))
    answers = oracles.noisy(right, 0.8, wrong=wrong, seed=1)(rows)
    share = (answers == right(rows)).mean()
    assert abs(share - 0.8) < 0.01
    assert set(answers.tolist()) == {0, 1, 2}
    assert np.array_equal(oracles.noisy(right, 1.0)(rows), right(rows))
    assert not (oracles.noisy(right, 0.0, wrong=wrong)(rows) == right(rows)).any()
    again = oracles.noisy(right, 0.8, wrong=wrong, seed=1)(rows)
    assert np.array_equal(again, answers)
    voted = oracles.majority(oracles.noisy(right, 0.8, wrong=wrong, seed=2), 41)(rows)
    assert (voted == right(rows)).mean() > 0.995
    star = oracles.noisy(ordhc.as_dendrogram("(0,1,2);"), 0.0)([[0, 1, 2]])
    assert star[0] in (0, 1, 2)
    assert len(oracles.noisy(right, 0.5)(np.zeros((0, 3), dtype=int))) == 0


@pytest.mark.parametrize("wrong", ["random", "adversarial", "none"])
@pytest.mark.parametrize("width", [3, 4])
def test_persistent_errors(width, wrong):
    S = np.random.default_rng(0).random((30, 30))
    right = oracles.from_similarity(S + S.T)
    rows = np.array(list(itertools.combinations(range(30), width)))
    liar = oracles.noisy(right, 0.8, wrong=wrong, noise="persistent", seed=4)
    answers = liar(rows)
    assert (answers == right(rows)).mean() == pytest.approx(0.8, abs=0.02)
    # The answer does not depend on the batch, nor on the order of the leaves.
    assert answers[:50].tolist() == [liar(row[None])[0] for row in rows[:50]]
    assert (liar(rows[::-1])[::-1] == answers).all()
    if width == 3:
        order = [2, 0, 1]
        turned = liar(rows[:, order])
        told = np.where(answers < 0, -1, rows[np.arange(len(rows)), answers])
        again = np.where(turned < 0, -1, rows[:, order][np.arange(len(rows)), turned])
        assert (told == again).all()
    else:
        assert (liar(rows[:, [3, 2, 1, 0]]) == -answers).all()
        assert (liar(rows[:, [1, 0, 2, 3]]) == answers).all()
    assert (oracles.noisy(right, 0.8, wrong=wrong, noise="persistent", seed=5)(rows) != answers).any()
    assert (liar.p, liar.noise) == (0.8, "persistent")
    assert oracles.noisy(liar, 0.9).noise == "persistent"
    assert oracles.noisy(right, 1.0, noise="persistent").noise is None


def test_persistent_errors_in_a_batch_with_ties():
    # What is asked beside a question does not change its answer.
    right = oracles.from_tree("(((0,1),2),(3,4,5));")
    liar = oracles.noisy(right, 0.5, noise="persistent", seed=1)
    alone = [liar([row])[0] for row in ([0, 1, 2], [3, 4, 5], [0, 3, 4])]
    assert liar([[0, 1, 2], [3, 4, 5], [0, 3, 4]]).tolist() == alone


def test_wrappers():
    truth = random_tree(16, 0, "balanced")
    kept = oracles.Recording(truth)
    tree = ordhc.learn(kept, 16, method=ordhc.learners.Insertion(schedule="balanced"))
    assert same(tree, truth)
    assert kept.n_questions == len(kept.rows) == len(kept.answers) > kept.n_batches
    assert ordhc.metrics.satisfied(tree, kept.comparisons(16)).agreed == 1
    helpers = [oracles.Counting(truth) for _ in range(3)]
    assert same(ordhc.learn(helpers, 16, method=ordhc.learners.Insertion(schedule="rounds")), truth)
    assert all(helper.n_questions > 0 for helper in helpers)

    async def slow(rows):
        await asyncio.sleep(0)
        return oracles.from_tree(truth)(rows)

    assert same(ordhc.learn(slow, 16), truth)
    assert same(ordhc.learn([slow, slow], 16), truth)
    for bad, text in (([], "the list of oracles is empty"), ([3], "not int; see ordhc.oracles")):
        with pytest.raises(InputError, match=text):
            ordhc.learn(bad, 16)


def test_a_person(monkeypatch, capsys):
    given = iter(["x", "3", "0"])
    monkeypatch.setattr("builtins.input", lambda text: next(given))
    assert oracles.person(["cat", "dog", "car"])([[0, 1, 2], [2, 1, 0]]).tolist() == [2, -1]
    assert "Please answer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "text"),
    [([[0, 1, 9]], "row 0: a leaf of"), ([[0, 1]], r"questions must be \(m, 3\)"), ([[0, 1, 1]], "row 0")],
)
def test_bad_questions(rows, text):
    with pytest.raises(InputError, match=text):
        oracles.from_tree("((0,1),2);")(rows)


@pytest.mark.parametrize(
    "wrap", [lambda oracle: oracles.noisy(oracle, 0.9), lambda oracle: oracles.majority(oracle, 3)]
)
@pytest.mark.parametrize("answer", [np.nan, 7, 258, -2, 0.5, 2**40, np.inf])
def test_answers_that_are_none_are_named(wrap, answer):
    def oracle(rows):
        return np.array([0] * (len(rows) - 1) + [answer])

    with pytest.raises(
        InputError, match=r"question 1, \[4, 2, 3\]: the oracle's answer .* is not 0, 1, 2 or -1"
    ):
        wrap(oracle)([[0, 1, 2], [4, 2, 3]])
    with pytest.raises(InputError, match=r"shape \(1,\) to 2 questions"):
        wrap(lambda rows: [0])([[0, 1, 2], [4, 2, 3]])
    with pytest.raises(InputError, match="is not 1, -1 or 0"):
        wrap(lambda rows: np.full(len(rows), 2))([[0, 1, 2, 3]])


def test_noise_that_says_none():
    rows = [[2, 0, 1]] * 1000
    truth = oracles.from_tree("((0,1),2,3);")
    assert (oracles.noisy(truth, 0.0, wrong="none")(rows) == -1).all()
    assert (oracles.noisy(truth, 0.0, wrong="none")([[3, 2, 0]]) == [2]).all()
    assert set(oracles.noisy(truth, 0.0)([[3, 2, 0]] * 100).tolist()) == {0, 1, 2}
