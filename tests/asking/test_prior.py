"""Learners that begin with a tree."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Learner, oracles
from ordhc.cli import group
from ordhc.errors import InputError
from ordhc.metrics import robinson_foulds, triplet_distance
from support.learners import by_settings
from support.random_data import random_tree

NAMES = tuple("abcdefgh")
TRUTH = ordhc.as_dendrogram("(((a,b),(c,d)),((e,f),(g,h)));")


def persistent(truth, p, seed):
    return oracles.noisy(truth, p, noise="persistent", seed=seed)


def with_moved_leaves(tree, count, seed):
    """Some leaves change places with others."""
    order = np.arange(tree.n_leaves)
    chosen = np.random.default_rng(seed).choice(tree.n_leaves, count, replace=False)
    order[chosen] = np.roll(chosen, 1)
    return tree.relabel(order)


@pytest.mark.parametrize("shape", ["yule", "balanced"])
def test_two_questions_a_leaf_halve_what_is_wrong(shape):
    truth = random_tree(300, 3, shape)
    prior = with_moved_leaves(truth, 16, 4)
    before = triplet_distance(prior, truth)
    after = [
        triplet_distance(
            ordhc.learn(
                persistent(truth, 0.85, seed),
                300,
                method=ordhc.learners.Revise(p=0.85, noise="persistent", schedule="rounds", prior=prior),
                budget=600,
                seed=seed,
            ),
            truth,
        )
        for seed in range(5)
    ]
    assert before > 0.06
    assert np.median(after) < before / 2


def test_a_useless_prior_is_left_aside():
    truth, other = random_tree(60, 1, "yule"), random_tree(60, 2, "yule")
    counts = []
    for start in ({}, {"prior": other}):
        learner = Learner(60, **by_settings(p=0.85, noise="persistent", **start))
        tree = ordhc.learn(persistent(truth, 0.85, 0), learner=learner)
        counts.append(learner.status.n_answered)
        assert triplet_distance(tree, truth) < 0.3
    assert counts[0] < counts[1] <= 1.2 * counts[0]


def test_without_questions_the_tree_is_the_prior():
    prior = random_tree(40, 5, "uniform")
    tree = Learner(40, method=ordhc.learners.Revise(prior=prior)).tree()
    assert robinson_foulds(tree, prior) == 0
    assert tree.support is None


def test_right_answers_confirm_what_is_right():
    tree = ordhc.learn(oracles.from_tree(TRUTH), method=ordhc.learners.Revise(prior=TRUTH), budget=30)
    assert robinson_foulds(tree, TRUTH) == 0
    support = tree.support[:-1]
    assert np.nanmin(support) == 1
    assert np.isfinite(support).sum() >= 4
    again = ordhc.as_dendrogram(tree.to_newick())
    assert np.array_equal(np.isnan(again.support), np.isnan(tree.support))
    assert ordhc.as_dendrogram(json.loads(json.dumps(tree.to_dict()))) == tree


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_leaves(n):
    prior = ordhc.as_dendrogram({1: "0;", 2: "(0,1);", 3: "(0,(1,2));"}[n])
    truth = ordhc.as_dendrogram({1: "0;", 2: "(0,1);", 3: "((0,1),2);"}[n])
    learner = Learner(n, method=ordhc.learners.Revise(prior=prior))
    assert learner.done == (n < 3)
    ordhc.learn(oracles.from_tree(truth), learner=learner)
    assert learner.done
    assert learner.status.n_answered <= 1


@given(st.integers(1, 14), st.integers(0, 5), st.booleans(), st.sampled_from([1.0, 0.7]))
@settings(max_examples=60, deadline=None)
def test_any_answers_come_to_an_end(n, seed, is_contradictory, p):
    """Whatever the answers, no question comes twice; the same seed asks the same."""
    prior, random = random_tree(n, seed, "uniform"), np.random.default_rng(seed)
    right = oracles.from_tree(random_tree(n, seed, "uniform"))
    logs = []
    for _ in range(2):
        learner, asked = Learner(n, method=ordhc.learners.Revise(p=p, prior=prior), budget=60, seed=seed), []
        answers = iter(np.random.default_rng(seed).integers(-1, 3, 1000).tolist())
        while not learner.done:
            questions = learner.ask()
            if not len(questions):
                assert learner.done
                break
            asked += questions.rows.tolist()
            given_ = [next(answers) for _ in questions.ids] if is_contradictory else right(questions.rows)
            order = random.permutation(len(questions))
            learner.tell(questions.ids[order], np.asarray(given_)[order])
            assert learner.tree().n_leaves == n
        logs.append((asked, learner.tree()))
    assert logs[0] == logs[1]
    if not is_contradictory:
        keys = [tuple(sorted(row)) for row in logs[0][0]]
        assert len(set(keys)) == len(keys)
        assert robinson_foulds(logs[0][1], prior) == 0


def test_nodes_of_many_children():
    star, tree = ordhc.as_dendrogram("(0,1,2,3,4,5,6,7);"), random_tree(8, 0, "yule")
    assert robinson_foulds(Learner(8, method=ordhc.learners.Revise(prior=star)).tree(), star) == 0
    # A star says nothing: what is asked then is asked without it.
    assert (
        triplet_distance(ordhc.learn(oracles.from_tree(tree), method=ordhc.learners.Revise(prior=star)), tree)
        == 0
    )
    # Whoever says of all that none are closer gets a star.
    flat = ordhc.learn(
        lambda rows: np.full(len(rows), -1), 8, method=ordhc.learners.Revise(prior=tree), budget=56
    )
    assert len(set(flat.heights.tolist())) < 4


def test_leaves_are_found_by_name(tmp_path):
    oracle = oracles.from_tree(TRUTH)
    turned = ordhc.as_dendrogram("(((h,g),(f,e)),((d,c),(b,a)));")
    path = tmp_path / "prior.nwk"
    ordhc.write_tree(turned, path)
    for prior in (turned, "(((h,g),(f,e)),((d,c),(b,a)));", path, str(path), turned.to_dict()):
        tree = ordhc.learn(oracle, method=ordhc.learners.Revise(prior=prior), budget=0)
        assert tree.names == NAMES
        assert triplet_distance(tree, TRUTH) == 0
    # Names come from the prior where nobody else has some.
    assert (
        ordhc.learn(
            lambda rows: np.full(len(rows), -1), method=ordhc.learners.Revise(prior=turned), budget=0
        ).names
        == turned.names
    )


def test_a_session_keeps_its_prior(tmp_path):
    binary = ordhc.Dendrogram(TRUTH.merges, range(1, 8), names=NAMES)
    ordhc.Session(tmp_path / "a", NAMES, method=ordhc.learners.Revise(prior=binary)).close()
    for options in ({}, {"prior": binary}):
        with ordhc.Session(tmp_path / "a", **by_settings(**options)) as session:
            assert ordhc.as_dendrogram(session.settings["prior"]) == binary.replace(names=None)
            assert robinson_foulds(session.tree(), TRUTH) == 0
    with pytest.raises(InputError, match="prior is"):
        ordhc.Session(
            tmp_path / "a",
            method=ordhc.learners.Revise(prior=binary.relabel([1, 2, 0, *range(3, 8)]).replace(names=NAMES)),
        )


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"prior": "((a,b),(c,d));"}, "the leaf 'e' and 3 more is in the learner, but not in the prior"),
        ({"prior": "((((a,b),(c,d)),((e,f),(g,h))),i);"}, "the leaf 'i' is in the prior, but not in the"),
        ({"prior": "((0,1),2);"}, "the prior has 3 leaves, the learner has 8"),
        ({"prior": TRUTH, "method": "quick"}, "quick takes no prior"),
        ({"prior": TRUTH, "method": "single"}, "single takes no prior"),
        ({"method": "revise"}, "revise needs a prior"),
        ({"prior_strength": 3.0}, "insertion takes no prior_strength; revise does"),
        ({"prior": TRUTH, "prior_strength": 0.0}, "prior_strength = 0 must be more than 0"),
        ({"prior": TRUTH, "prior_strength": np.inf}, "prior_strength"),
        ({"prior": 3}, "not a tree"),
    ],
)
def test_bad_priors(options, part):
    with pytest.raises(InputError, match=part):
        Learner(NAMES, **by_settings(**options))


def test_priors_without_names_or_files(tmp_path):
    with pytest.raises(InputError, match="give names instead of n_leaves"):
        Learner(8, method=ordhc.learners.Revise(prior=TRUTH))
    with pytest.raises(FileNotFoundError):
        Learner(8, method=ordhc.learners.Revise(prior=str(tmp_path / "nothing.nwk")))


def test_sessions_keep_the_prior(tmp_path):
    prior = with_moved_leaves(random_tree(30, 1, "yule"), 4, 2)
    truth, path = random_tree(30, 1, "yule"), tmp_path / "answers.ordhc"
    oracle = persistent(truth, 0.9, 1)
    with ordhc.Session(
        path, n_leaves=30, method=ordhc.learners.Revise(prior=prior, parallel=4), budget=40
    ) as session:
        asked = session.ask(15, who="ann")
        session.tell(asked.ids, oracle(asked.rows), who="ann")
    with ordhc.Session(path, method=ordhc.learners.Revise(prior=prior)) as session:
        tree = ordhc.learn(oracle, session=session)
        assert session.status.n_answered == 40
        assert session.done
        assert tree.support is not None
    with ordhc.Session(path) as session:
        assert session.tree() == tree


def test_command_line(tmp_path):
    for name, tree in (("truth", TRUTH), ("prior", ordhc.as_dendrogram("(((h,b),(c,d)),((e,f),(g,a)));"))):
        ordhc.write_tree(tree, tmp_path / f"{name}.nwk")
    arguments = ["learn", "--oracle", "tree", "--source", str(tmp_path / "truth.nwk"), "--json"]
    result = CliRunner().invoke(
        group, [*arguments, "--prior", str(tmp_path / "prior.nwk"), "--prior-strength", "5", "--budget", "20"]
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["n_answers"] == 20
    missing = CliRunner().invoke(group, [*arguments, "--prior", str(tmp_path / "nothing.nwk")])
    assert missing.exit_code != 0
    assert "nothing.nwk" in str(missing.exception)
