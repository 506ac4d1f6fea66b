"""Learners, and the loop that asks."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import oracles
from ordhc.errors import InputError
from ordhc.tree.dendrogram import lca_size
from support.learners import by_settings
from support.random_data import random_tree
from support.trees import same

KINDS = [
    {"method": "insertion"},
    {"method": "insertion", "exact": True},
    {"method": "insertion", "parallel": 4},
    {"schedule": "balanced"},
    {"schedule": "rounds"},
    {"method": "quick"},
    {"repeat": 3},
]
SHAPES = ["uniform", "yule", "balanced", "caterpillar"]


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=25)
@given(
    n=st.integers(1, 40), shape=st.sampled_from(SHAPES), seed=st.integers(0, 1000), batch=st.integers(1, 9)
)
def test_the_true_tree_is_found(kind, n, shape, seed, batch):
    truth = random_tree(n, seed, shape)
    oracle = oracles.Counting(oracles.from_tree(truth))
    tree = ordhc.learn(oracle, n, batch=batch, seed=seed, **by_settings(**kind))
    assert same(tree, truth)
    if n > 2 and kind.get("exact"):
        assert oracle.n_questions <= n * math.log2(n)


@pytest.mark.parametrize("kind", KINDS)
def test_nodes_of_many_children(kind):
    for newick in ("(0,1,2,3,4);", "((0,1,2),(3,4),5,6);", "((0,1,2,3),4);"):
        truth = ordhc.as_dendrogram(newick)
        assert same(ordhc.learn(truth, truth.n_leaves, **by_settings(**kind)), truth)


@settings(deadline=None, max_examples=20)
@given(n=st.integers(3, 16), seed=st.integers(0, 100), data=st.data())
def test_answers_in_any_order_and_any_part(n, seed, data):
    truth = random_tree(n, seed, "uniform")
    oracle = oracles.from_tree(truth)
    kind = data.draw(st.sampled_from(KINDS))
    learner = ordhc.Learner(n, seed=seed, **by_settings(**kind))
    open_questions = {}
    while not learner.done:
        asked = learner.ask(data.draw(st.integers(1, 8)))
        open_questions.update(dict(asked))
        assert learner.n_open == len(open_questions) == len(learner.open)
        assert dict(learner.open) == open_questions
        chosen = data.draw(st.permutations(sorted(open_questions)))[: data.draw(st.integers(1, 4))]
        rows = np.array([open_questions.pop(number) for number in chosen])
        learner.tell(chosen, oracle(rows))
        tree = learner.tree()
        assert tree.n_leaves == n
        assert (learner.status.remaining == 0) == learner.done
    assert same(learner.tree(), truth)
    assert learner.status.remaining == 0
    assert learner.status.n_answered == learner.n_asked >= learner.n_rounds > 0
    assert learner.status.n_placed == n


def test_contradictions_end():
    for kind, seed in itertools.product(KINDS, range(3)):
        random = np.random.default_rng(seed)
        tree = ordhc.learn(
            lambda rows, random=random: random.integers(-1, 3, len(rows)),
            30,
            seed=seed,
            **by_settings(**kind),
        )
        assert tree.n_leaves == 30


def test_budgets_and_limits():
    truth = random_tree(50, 1, "balanced")
    oracle = oracles.Counting(oracles.from_tree(truth))
    tree = ordhc.learn(oracle, 50, budget=40)
    assert (oracle.n_questions, tree.n_leaves) == (40, 50)
    learner = ordhc.Learner(50, method=ordhc.learners.Insertion(schedule="rounds"), limit=7, budget=20)
    assert len(learner.ask()) == 7
    assert len(learner.ask()) == 0
    ordhc.learn(oracle, learner=learner)
    assert (learner.status.n_answered, learner.done, learner.status.remaining) == (20, True, 0)
    learner = ordhc.Learner(50, seed=3)
    ordhc.learn(oracle, learner=learner, budget=30)
    assert learner.status.n_answered == 30
    ordhc.learn(oracle, learner=learner)
    assert same(learner.tree(), truth)
    assert learner.status.n_answered == ordhc_questions(truth, seed=3)
    few, many = (ordhc.Learner(50, method=ordhc.learners.Insertion(parallel=k), seed=0) for k in (1, 16))
    for one in (few, many):
        ordhc.learn(truth, learner=one)
    assert many.n_rounds < few.n_rounds / 3


def ordhc_questions(truth, **settings):
    oracle = oracles.Counting(truth)
    ordhc.learn(oracle, truth.n_leaves, **by_settings(**settings))
    return oracle.n_questions


def test_errors_keep_all_answers():
    truth = random_tree(40, 2, "yule")
    right = oracles.from_tree(truth)
    calls = 0

    def fails(rows):
        nonlocal calls
        calls += 1
        if calls % 20 == 0:
            raise ConnectionError("lost")
        return right(rows)

    learner = ordhc.Learner(40)
    errors = []
    while not learner.done:
        try:
            ordhc.learn(fails, learner=learner)
        except ConnectionError as error:
            errors.append(error)
    assert errors
    assert all(error.learner is learner for error in errors)
    assert "answers are kept" in errors[0].__notes__[0]
    tree = learner.tree()
    assert same(tree, truth)
    assert learner.status.n_answered == ordhc_questions(truth)
    with pytest.raises(InputError, match="answers of shape .* to 1 questions") as told:
        ordhc.learn(lambda rows: [0, 1, 2], 5)
    assert told.value.learner.status.n_answered == 0
    with pytest.raises(InputError, match=r"answer 0 is 5, outside -1..2"):
        ordhc.learn(lambda rows: np.full(len(rows), 5), 5)


@pytest.mark.parametrize("repeat", [1, 3])
def test_bad_tells(repeat):
    learner = ordhc.Learner(6, method=ordhc.learners.Insertion(schedule="rounds"), repeat=repeat)
    questions = learner.ask(4)
    for ids, answers, text in [
        ([99], [0], "answer 0: question 99|99"),
        ([questions.ids[0]], [3], "answer 0 is 3, outside -1..2"),
        ([0, 1], [0], r"shape \(1,\) for ids of shape \(2,\)"),
        ([0.5], [0], r"ids\[0\] = 0.5 is not a whole number"),
        ([0], [0.5], r"answers\[0\] = 0.5 is not a whole number"),
    ]:
        with pytest.raises(InputError, match=text):
            learner.tell(ids, answers)
    learner.tell(questions.ids[:1], [0])
    with pytest.raises(InputError, match="answer 1"):
        learner.tell([questions.ids[1], questions.ids[0]], [1, 1])
    assert learner.status.n_answered == 2
    learner.tell([], [])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_leaves": 0}, "n_leaves = 0"),
        ({"method": "fast"}, "method is 'fast', not one of insertion, quick, robust"),
        ({"schedule": "x"}, "schedule is 'x', not one of questions, balanced, rounds"),
        ({"method": "quick", "schedule": "rounds"}, "quick takes no schedule; insertion, robust, revise do"),
        ({"parallel": 0}, "parallel = 0"),
        ({"exact": True, "parallel": 2}, "exact=True places one leaf after the other"),
        ({"repeat": 2}, "repeat = 2 is even"),
        ({"budget": -1}, "budget = -1"),
        ({"seed": -1}, "seed = -1"),
        ({"seed": 2**64}, "seed = 18446744073709551616 is above"),
        ({"n_leaves": 2**70}, "n_leaves = 1180591620717411303424 is above 2147483647"),
        ({"n_leaves": 2.5}, r"n_leaves = 2\.5 is not a whole number"),
        ({"parallel": 2**70}, "parallel = "),
        ({"p": "often"}, "p = 'often' is neither a number nor 'by person'"),
        ({"p": 0.5}, "p = 0.5 must be more than 1/2"),
        ({"p": float("nan")}, "p = nan"),
        ({"p": 0.9, "delta": 0}, "delta = 0 must be between 0 and 1"),
        ({"p": 0.9, "assume": "x"}, "assume is 'x', not one of adversarial, uniform"),
        ({"p": 0.9, "noise": "x"}, "noise is 'x'"),
        ({"method": "single", "p": 0.9}, "single takes no p; .*give repeat=3"),
        ({"method": "4k-active", "n_landmarks": 2, "q": 0.5}, "not both"),
        ({"schedule": "rounds", "parallel": 3}, "parallel = 3 needs the schedule 'questions'"),
        ({"schedule": "rounds", "exact": True}, "exact=True places one leaf after the other"),
        ({"method": "robust"}, "robust needs p"),
        ({"p": "by person"}, "needs a Session"),
        ({"p": 0.8, "assume": "uniform", "noise": "persistent"}, "assume = 'uniform' needs noise='indep"),
        ({"prior": "((((0,1),2),3),4);", "noise": "persistent"}, "noise = 'persistent' needs p below 1"),
    ],
)
def test_bad_settings(options, text):
    with pytest.raises(InputError, match=text):
        ordhc.Learner(**by_settings(**{"n_leaves": 5, **options}))


def test_learning_without_leaves_or_an_oracle():
    with pytest.raises(InputError, match="give n_leaves"):
        ordhc.learn(lambda rows: rows)
    with pytest.raises(InputError, match="an oracle must be a callable"):
        ordhc.learn(5, 3)


# --- pairs -----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=20)
@given(n=st.integers(1, 24), seed=st.integers(0, 1000), batch=st.integers(1, 7))
def test_linkages_from_pairs(n, seed, batch):
    S = np.random.default_rng(seed).random((n, n))
    S = S + S.T
    for method in ("single", "complete"):
        want = ordhc.linkage(S, method, dissimilarity=False)
        learner = ordhc.Learner(n, method)
        asked = oracles.Recording(oracles.from_similarity(S))
        tree = ordhc.learn(asked, learner=learner, batch=batch)
        assert len(np.unique(asked.rows, axis=0)) == len(asked.rows)
        assert tree.merges.tolist() == want.merges.tolist()
        assert learner.width == 4
        assert learner.n_asked <= 2.5 * n * n + n * max(math.log2(max(n, 2)), 1)
        assert ordhc.learn(oracles.from_similarity(S), n, method, repeat=3).n_leaves == n


def test_active_kernels():
    truth = random_tree(32, 0, "balanced")
    S = -np.array(
        [[lca_size(truth, i, j) if i != j else 0 for j in range(32)] for i in range(32)], dtype=float
    )
    S += np.random.default_rng(0).normal(size=S.shape, scale=0.01)
    S = S + S.T
    learner = ordhc.Learner(32, ordhc.learners.FourKActive(n_landmarks=8, n_references=20), seed=1)
    tree = ordhc.learn(oracles.from_similarity(S), learner=learner)
    assert learner.n_rounds == 1
    assert learner.n_asked <= 32 * 8 * 20
    assert tree.kind == "similarity"
    assert ordhc.metrics.aari(tree, truth, levels=[2, 4]) > 0.5
    half = ordhc.Learner(32, "4k-active", budget=500)
    ordhc.learn(oracles.from_similarity(S), learner=half)
    assert half.n_asked <= 500


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.int32, np.float64])
def test_whole_numbers_of_any_type(kind):
    truth = ordhc.as_dendrogram("((0,1),(2,3));")
    tree = ordhc.learn(
        truth,
        kind(4),
        seed=kind(3),
        method=ordhc.learners.Insertion(parallel=kind(2)),
        budget=kind(9),
        repeat=kind(1),
    )
    assert tree == ordhc.learn(truth, 4, seed=3, method=ordhc.learners.Insertion(parallel=2), budget=9)


@pytest.mark.parametrize("n", [2**31 - 1, 2**30])
@pytest.mark.parametrize("kind", [*KINDS[:6], {"p": 0.9}, {"method": "majority", "p": 0.9}])
def test_too_many_leaves_are_an_error_with_the_bytes(kind, n):
    with pytest.raises(MemoryError, match=r"a learner .* needs \d+ bytes"):
        ordhc.Learner(n, **by_settings(**kind))
