"""Nodes that rest on few distinct questions: contracted, and why."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from support.learners import by_settings
from support.processes import run
from support.random_data import random_tree
from support.trees import clusters

TRUTH = "((((0,1),2),(3,4)),((5,6),(7,(8,9))));"


def nested(node):
    """A tree as frozensets, which the order of children doesn't change."""
    return node.label if node.is_leaf else frozenset(nested(child) for child in node.children)


def twin(tree, questions, at_least):
    """Contraction by nested lists and sets of leaves: bottom up, each node looked at by all questions."""
    found = []

    def walk(node):
        """The children of a node, after those that rest on little have been replaced by their own."""
        if node.is_leaf:
            return node.label
        children = []
        for child in node.children:
            inner = walk(child)
            if child.is_leaf or speaks(inner, leaves_of(inner), set(node.leaves.tolist())) >= at_least:
                children.append(inner)
            else:
                found.append(frozenset(leaves_of(inner)))
                children.extend(inner)
        return children

    def speaks(inner, inside, above):
        parts = [set(leaves_of(part)) for part in inner]
        count = 0
        for three, odd in questions.items():
            pair = [leaf for leaf in three if leaf != odd]
            apart = not any(set(pair) <= part for part in parts)
            if odd in above - inside and set(pair) <= inside and apart:
                count += 1
        return count

    def leaves_of(part):
        return {part} if isinstance(part, int) else set().union(*map(leaves_of, part))

    def frozen(part):
        return part if isinstance(part, int) else frozenset(map(frozen, part))

    return frozen(walk(tree.root)), found


@given(st.integers(0, 10_000), st.integers(0, 5), st.sampled_from([0.0, 0.3]))
def test_it_is_what_its_twin_does(seed, at_least, wrong):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 9))
    tree = ordhc.as_dendrogram(TRUTH) if seed % 3 == 0 else random_tree(n, seed, "degree")
    triples = list(combinations(range(tree.n_leaves), 3))
    chosen = [
        triples[at] for at in random.permutation(len(triples))[: int(random.integers(0, len(triples) + 1))]
    ]
    questions = {}
    if chosen:
        answers = ordhc.oracles.from_tree(tree)(chosen)
        for three, odd in zip(chosen, answers.tolist(), strict=True):
            if random.random() < wrong:
                odd = int(random.integers(0, 3))
            if odd >= 0:
                questions[three] = three[odd]
    rows = [(*(leaf for leaf in three if leaf != odd), odd) for three, odd in questions.items()]
    data = ordhc.Triplets(np.array(rows, dtype=int).reshape(-1, 3), tree.n_leaves)
    found = ordhc.supported(tree, data, at_least)
    expected, gone = twin(tree, questions, at_least)
    assert nested(found.root) == expected
    assert sorted(reason["size"] for reason in found.settings["contracted"]) == sorted(map(len, gone))
    # Asking the same again changes nothing.
    twice = ordhc.Triplets(np.array(rows * 2, dtype=int).reshape(-1, 3), tree.n_leaves)
    assert ordhc.supported(tree, twice, at_least) == found
    assert ordhc.as_dendrogram(found.to_dict()) == found


def test_support_and_reasons():
    tree = ordhc.as_dendrogram("(((a,b),c),(d,e),f);")
    answers = [
        ("a", "b", "c"),
        ("a", "c", "d"),
        ("b", "c", "e"),
        ("a", "e", "c"),
        ("d", "e", "a"),
        ("b", "e", "d"),
    ]
    found = ordhc.supported(tree, ordhc.Triplets(answers, names=tree.names), 2)
    assert nested(found.root) == frozenset([frozenset([0, 1, 2]), 3, 4, 5])
    (abc,) = [node for node in found.root.children if not node.is_leaf]
    # Two questions speak for it, and one against.
    assert abc.support == pytest.approx(2 / 3)
    reasons = [dict(reason) for reason in found.settings["contracted"]]
    assert reasons == [
        {"leaves": (0, 1), "size": 2, "questions": 1, "against": 0},
        {"leaves": (3, 4), "size": 2, "questions": 1, "against": 1},
    ]
    assert found.names == tree.names
    whole = ordhc.supported(tree, ordhc.Triplets(answers, names=tree.names), 0)
    assert nested(whole.root) == nested(tree.root)
    star = ordhc.supported(tree, ordhc.Triplets(answers, names=tree.names), 99)
    assert nested(star.root) == frozenset(range(6))


def test_learning_from_a_persistent_liar():
    n = 128
    truth = random_tree(n, 1, "balanced")
    settings = {"p": 0.85, "noise": "persistent", "seed": 1}
    n_nodes, n_wrong = np.zeros(2, int), np.zeros(2, int)
    for seed in range(2):
        oracle = ordhc.oracles.noisy(truth, 0.9, noise="persistent", seed=seed)
        plain, careful = (
            ordhc.learn(oracle, n, supported_by=least, **by_settings(**settings)) for least in (0, 2)
        )
        own = [sum(not node.is_leaf for node in tree.nodes()) for tree in (plain, careful)]
        assert own[1] < own[0]
        assert len(careful.settings["contracted"]) == own[0] - own[1]
        assert all(reason["questions"] < 2 for reason in careful.settings["contracted"])
        n_nodes += own
        n_wrong += [len(clusters(tree) - clusters(truth)) for tree in (plain, careful)]
    # More of what is left is true.
    assert n_wrong[1] / n_nodes[1] < n_wrong[0] / n_nodes[0]
    assert ordhc.metrics.triplet_distance(ordhc.learn(oracle, n, **by_settings(**settings)), plain) == 0


def test_merges_of_equal_height_are_one_node():
    truth = ordhc.as_dendrogram("((0,1,2,3,4),(5,6,7),8);")
    tree = ordhc.learn(ordhc.oracles.from_tree(truth), supported_by=1)
    assert tree.settings["contracted"] == ()
    assert nested(tree.root) == nested(truth.root)
    assert {node.support for node in tree.root.children if not node.is_leaf} == {1.0}


def test_going_on_sessions_and_the_command_line(tmp_path, capsys):
    truth = ordhc.as_dendrogram(TRUTH)
    oracle = ordhc.oracles.from_tree(truth)
    expected = ordhc.learn(oracle, supported_by=1)
    with ordhc.Session(tmp_path / "s.ordhc", n_leaves=10) as session:
        assert ordhc.learn(oracle, session=session, supported_by=1) == expected
    learner = ordhc.Learner(10)
    ordhc.learn(oracle, learner=learner, budget=5)
    assert ordhc.learn(oracle, learner=learner, supported_by=1) == expected
    elsewhere = ordhc.Learner(10)
    asked = elsewhere.ask()
    elsewhere.tell(asked.ids, oracle(asked.rows))
    with pytest.raises(InputError, match="1 of the learner's answers were given outside of it"):
        ordhc.learn(oracle, learner=elsewhere, supported_by=1)
    with pytest.raises(InputError, match="three leaves"):
        ordhc.learn(lambda rows: np.ones(len(rows), int), 5, "single", supported_by=1)
    ordhc.write_tree(truth, tmp_path / "t.nwk")
    source = ["--oracle", "tree", "--source", tmp_path / "t.nwk"]
    code, _, err = run(capsys, "learn", *source, "--supported-by", 99, "-o", tmp_path / "star.nwk")
    assert (code, err) == (0, "")
    assert sum(not node.is_leaf for node in ordhc.read_tree(tmp_path / "star.nwk").nodes()) == 1
    code, _, err = run(capsys, "learn", tmp_path / "x.ordhc", "--supported-by", 2)
    assert (code, err) == (2, "ordhc: --supported-by needs --oracle\n")


def test_mistakes():
    tree = ordhc.as_dendrogram(TRUTH)
    for wrong_tree, triplets, at_least in (
        ("x", ordhc.Triplets([(0, 1, 2)]), 1),
        (tree, [(0, 1, 2)], 1),
        (tree, ordhc.Triplets([(0, 1, 20)]), 1),
        (tree.replace(names=list("abcdefghij")), ordhc.Triplets([("a", "b", "z")]), 1),
        (tree, ordhc.Triplets([(0, 1, 2)]), -1),
        (tree, ordhc.Triplets([(0, 1, 2)]), 1.5),
    ):
        with pytest.raises(InputError):
            ordhc.supported(wrong_tree, triplets, at_least)


def test_a_judge_that_never_changes_its_mind_is_warned_of():
    with pytest.warns(OrdhcWarning, match="all 2 questions got the same answer each time"):
        estimate, _ = ordhc.oracles.estimate_p([[0, 0, 0], [2, 2, 2], [1]])
    assert estimate == 1
    ordhc.oracles.estimate_p([[0, 0, 0], [2, 2, 1]])
