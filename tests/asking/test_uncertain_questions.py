"""What the learner "uncertain" asks: odd ones out, triplets, pairs."""

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError
from ordhc.tree.dendrogram import from_engine
from support.processes import run

TREE = "(((0,1),(2,3)),((4,5),(6,7)));"


@pytest.mark.parametrize("question", ["odd", "triplet", "pairs"])
def test_each_kind_of_question_finds_the_tree(question):
    oracle = ordhc.oracles.from_tree(TREE)
    learner = ordhc.Learner(8, ordhc.learners.Uncertain(question=question), budget=120, seed=1)
    assert learner.width == (3 if question == "odd" else 4)
    rows = []
    while not learner.done:
        asked = learner.ask(8)
        rows.append(asked.rows)
        learner.tell(asked.ids, oracle(asked.rows))
    rows = np.concatenate(rows)
    if question == "triplet":
        np.testing.assert_array_equal(rows[:, 0], rows[:, 2])
        assert (rows[:, 1] != rows[:, 3]).all()
    elif question == "pairs":
        assert (rows[:, 0] != rows[:, 2]).any()
    truth = ordhc.Dendrogram.from_newick(TREE)
    assert ordhc.metrics.triplet_distance(learner.tree(), truth) < 0.1


def test_a_session_keeps_what_is_asked(tmp_path):
    path = tmp_path / "answers.ordhc"
    oracle = ordhc.oracles.from_tree(TREE)
    with ordhc.Session(
        path, n_leaves=8, method=ordhc.learners.Uncertain(question="triplet"), budget=80
    ) as session:
        tree = ordhc.learn(oracle, session=session)
    with ordhc.Session(path) as session:
        assert session.width == 4
        assert session.status.n_answered == 80
        data = session.comparisons()
        assert isinstance(data, ordhc.Quadruplets)
        np.testing.assert_array_equal(data.rows[:, 0], data.rows[:, 2])
        assert session.tree() == tree


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(InputError, match="question"):
        ordhc.Learner(5, ordhc.learners.Uncertain(question="nonsense"))
    with pytest.raises(InputError, match="insertion takes no question; uncertain does"):
        ordhc.learners.named("insertion", question="triplet")
    with pytest.raises(InputError, match="single takes no question; uncertain does"):
        ordhc.learners.named("single", question="triplet")
    with pytest.raises(InputError, match="not both"):
        ordhc.Learner(5, ordhc.learners.Uncertain(question="pairs", among=[[0, 1, 2]]))
    # What a method asks anyway may be said.
    assert ordhc.Learner(5, "single").width == 4
    assert ordhc.Learner(5).width == 3


def test_the_command_asks_triplets(tmp_path, capsys):
    tree, out = tmp_path / "tree.nwk", tmp_path / "out.nwk"
    tree.write_text(TREE)
    how = ["--method", "uncertain", "--question", "triplet", "--budget", "100"]
    code, _, err = run(capsys, "learn", "--oracle", "tree", "--source", tree, *how, "-o", out, "-q")
    assert (code, err) == (0, "")
    found = ordhc.read_tree(out)
    assert ordhc.metrics.triplet_distance(found, ordhc.Dendrogram.from_newick(TREE)) < 0.1


def test_a_tree_compares_pairs():
    rng = np.random.default_rng(1)
    for seed in range(20):
        tree = from_engine(ordhc._ordhc.random_tree("uniform", 7, seed))
        heights = [ordhc.Dendrogram(tree.merges, np.sort(rng.random(6)), kind="dissimilarity"), None]
        for with_heights in heights:
            known = ordhc.Dendrogram.from_newick(tree.to_newick(branch_lengths=False))
            known = known if with_heights is None else with_heights
            below = [{int(leaf) for leaf in node.leaves} for node in known.nodes() if not node.is_leaf]
            height = None if with_heights is None else known.cophenetic(square=True)
            rows = np.array([rng.choice(7, 2, replace=False) for _ in range(80)]).reshape(-1, 4)
            rows = rows[(np.sort(rows[:, :2], axis=1) != np.sort(rows[:, 2:], axis=1)).any(axis=1)]
            found = ordhc.oracles.from_tree(known)(rows)
            for (a, b, c, d), answer in zip(rows.tolist(), found.tolist(), strict=True):
                one = min((set_ for set_ in below if {a, b} <= set_), key=len)
                other = min((set_ for set_ in below if {c, d} <= set_), key=len)
                expected = int(one < other) - int(other < one)
                if height is not None and not (one <= other or other <= one):
                    expected = int(np.sign(height[c, d] - height[a, b]))
                assert answer == expected, (a, b, c, d)
