"""Learners whose answers may be wrong."""

import numpy as np
import pytest

import ordhc
from ordhc import oracles
from ordhc.errors import InputError
from support.learners import by_settings
from support.random_data import random_tree
from support.trees import DEGREES, same


@pytest.mark.parametrize("method", ["robust", "robust-paper", "majority"])
@pytest.mark.parametrize("wrong", ["random", "adversarial"])
def test_wrong_answers(method, wrong):
    n = 6 if method == "robust-paper" else 20
    good = 0
    for seed in range(10):
        truth = random_tree(n, seed, "uniform")
        oracle = oracles.noisy(truth, 0.85, wrong=wrong, seed=seed)
        tree = ordhc.learn(oracle, n, method=ordhc.learners.named(method, p=0.85, delta=0.05), seed=seed)
        good += same(tree, truth)
    # Ten wrong ones are expected in 200: four in ten are as good as impossible.
    assert good >= 7


@pytest.mark.parametrize("options", [{"parallel": 8}, {"schedule": "balanced"}, {"schedule": "rounds"}])
def test_wrong_answers_side_by_side(options):
    truth = random_tree(60, 1, "yule")
    learner = ordhc.Learner(60, seed=2, **by_settings(p=0.9, **options))
    one = ordhc.Learner(60, method=ordhc.learners.Robust(p=0.9), seed=2)
    for each in (learner, one):
        ordhc.learn(oracles.noisy(truth, 0.9, seed=3), learner=each)
    assert learner.n_rounds < one.n_rounds / 2
    assert ordhc.metrics.triplet_distance(learner.tree(), truth) < 0.1
    assert "done" in repr(learner)


def test_persistent_and_uniform_noise():
    truth = random_tree(40, 1, "uniform")
    stubborn = oracles.Recording(oracles.noisy(truth, 0.9, noise="persistent", seed=1))
    learner = ordhc.Learner(40, method=ordhc.learners.Robust(p=0.9, noise="persistent"), seed=0)
    ordhc.learn(stubborn, learner=learner)
    assert len(np.unique(np.sort(stubborn.rows, axis=1), axis=0)) == learner.n_asked
    assert ordhc.metrics.triplet_distance(learner.tree(), truth) < 0.2
    few, many = (
        ordhc.Learner(40, method=ordhc.learners.Robust(p=0.8, assume=kind), seed=0)
        for kind in ("uniform", "adversarial")
    )
    for each in (few, many):
        ordhc.learn(oracles.noisy(truth, 0.8, seed=3), learner=each)
    assert few.n_asked < many.n_asked


def test_estimates_of_p():
    for bad, text in [([[5]], "the answer 5"), ([], "no answers|answers")]:
        with pytest.raises(InputError, match=text):
            ordhc.oracles.estimate_p(bad)


@pytest.mark.parametrize(
    ("method", "wrong", "options"),
    [
        ("robust", "random", {}),
        ("robust", "adversarial", {}),
        ("robust", "adversarial", {"schedule": "rounds"}),
        ("robust", "none", {"schedule": "rounds"}),
        ("robust", "none", {"parallel": 3}),
        ("majority", "random", {}),
        ("majority", "adversarial", {}),
        ("majority", "none", {}),
    ],
)
def test_wrong_answers_about_trees_of_any_degree(method, wrong, options):
    failures = 0
    for seed in range(30):
        truth = ordhc.as_dendrogram(DEGREES[seed % 3])
        oracle = oracles.noisy(truth, 0.75, wrong=wrong, seed=seed)
        found = ordhc.learn(
            oracle, truth.n_leaves, seed=seed, **by_settings(method=method, p=0.75, delta=0.1, **options)
        )
        failures += not same(found, truth)
    # At most 3 are expected; more than 8 have a probability below 0.002.
    assert failures <= 8


def test_the_paper_knows_binary_trees_only():
    truth = ordhc.as_dendrogram(DEGREES[0])
    learner = ordhc.Learner(9, ordhc.learners.RobustPaper(p=0.9))
    with pytest.raises(InputError, match="binary trees only"):
        ordhc.learn(oracles.noisy(truth, 0.9, seed=3), learner=learner)
    assert not learner.done
    assert learner.status.n_answered > 0
    assert learner.tree().n_leaves == 9
    with pytest.raises(InputError, match="binary trees only"):
        learner.ask(1)


def test_many_repeats_take_no_memory():
    learner = ordhc.Learner(5, repeat=2**31 - 1)
    first, then = learner.ask(1), learner.ask(3)
    assert first.ids.tolist() == [0]
    assert then.ids.tolist() == [1, 2, 3]
    assert (then.rows == first.rows[0]).all()
    learner.tell([2, 0], [1, -1])
    assert learner.open.ids.tolist() == [1, 3]
    assert learner.n_open == 2
    for number, text in ((0, "answered already"), (4, "never asked"), (2**31, "never asked")):
        with pytest.raises(InputError, match=f"question {number}: it [a-z]+ {text}"):
            learner.tell([number], [0])
    with pytest.raises(InputError, match="repeat = 2147483649 is above 2147483647"):
        ordhc.Learner(5, repeat=2**31 + 1)
