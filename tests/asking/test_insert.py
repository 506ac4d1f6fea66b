"""New items find their places in a tree that exists, and the tree stays as it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import learners, oracles
from ordhc.errors import InputError
from support.random_data import random_tree

METHODS = ("insertion", learners.Insertion(exact=True), learners.Insertion(schedule="rounds"))
METHODS += (learners.Robust(p=0.99), learners.Majority(p=0.95), learners.Insertion(schedule="balanced"))


def named(tree):
    return tree.replace(names=[f"item {leaf}" for leaf in range(tree.n_leaves)])


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(2, 30),
    shape=st.sampled_from(["uniform", "yule", "balanced", "caterpillar"]),
    seed=st.integers(0, 1000),
    data=st.data(),
)
def test_the_true_tree_is_found_and_old_clusters_stay(n, shape, seed, data):
    truth = named(random_tree(n, seed, shape))
    new = data.draw(st.lists(st.sampled_from(truth.names), min_size=1, max_size=n - 1, unique=True))
    start = truth.prune(new)
    method = data.draw(st.sampled_from(METHODS))
    tree = ordhc.insert(start, new, oracles.from_tree(truth), method, seed=seed)
    assert ordhc.metrics.robinson_foulds(tree, truth) == 0
    if start.n_leaves > 1:
        kept = tree.keep(list(start.names))
        assert ordhc.metrics.robinson_foulds(kept, start) == 0
        assert kept.cophenetic().tolist() == start.cophenetic().tolist()
    assert tree.is_monotone
    assert set(tree.settings["inserted"]) == set(new)


@settings(deadline=None, max_examples=30)
@given(n=st.integers(3, 20), seed=st.integers(0, 1000))
def test_lengths_and_annotations_stay(n, seed):
    random = np.random.default_rng(seed)
    shape = named(random_tree(n, seed, "uniform"))
    lengths = random.integers(1, 9, len(shape.parents)).astype(float)
    lengths[-1] = np.nan
    labels = [f"clade {k}" for k in range(len(shape.parents) - n)]
    support = random.integers(0, 9, len(labels)) / 8
    truth = ordhc.Dendrogram.from_parents(
        shape.parents, lengths=lengths, names=shape.names, node_names=labels, support=support
    )
    start = truth.prune([truth.names[0]])
    tree = ordhc.insert(start, truth.names[0], oracles.from_tree(truth))
    assert ordhc.metrics.robinson_foulds(tree, truth) == 0
    assert np.allclose(tree.keep(list(start.names)).patristic(), start.patristic())
    for node in start.nodes():
        if not node.is_leaf:
            same = tree.node(list(node.leaf_names))
            assert (same.name, same.support) == (node.name, node.support)


def test_similarities_and_shapes_stay():
    S = np.array([[9, 8, 2, 1], [8, 9, 2, 1], [2, 2, 9, 5], [1, 1, 5, 9]], float)
    start = ordhc.linkage(S, "average", dissimilarity=False, names=["a", "b", "c", "d"])
    tree = ordhc.insert(start, "e", oracles.from_tree("((a,(b,e)),(c,d));"))
    assert tree.kind == "similarity"
    assert tree.keep(["a", "b", "c", "d"]).heights.tolist() == start.heights.tolist()
    assert tree.node(["b", "e"]).height > 8
    above = ordhc.insert(start, "e", oracles.from_tree("(((a,b),(c,d)),e);"))
    assert above.root.height < start.root.height
    plain = ordhc.insert("((0,1),2);", 3, oracles.from_tree("((0,1),(2,3));"))
    assert plain.scale == "shape"
    assert plain.to_newick() == "((0,1),(2,3));"


def test_an_edge_of_length_zero_is_not_divided():
    start = ordhc.Dendrogram([(0, 1), (2, 3)], [0.0, 1.0], names=["a", "b", "c"])
    tree = ordhc.insert(start, "d", oracles.from_tree("((a,(b,d)),c);"))
    assert ordhc.metrics.triplet_distance(tree, "((a,(b,d)),c);") == 0
    elsewhere = ordhc.insert(start, "d", oracles.from_tree("((a,b),(c,d));"))
    assert elsewhere.keep(["a", "b", "c"]).heights.tolist() == [0.0, 1.0]


def test_ultrametric_lengths_are_heights():
    start = ordhc.as_dendrogram("((a:1,b:1):2,c:3);")
    tree = ordhc.insert(start, "d", oracles.from_tree("((a,(b,d)),c);"))
    assert tree.to_newick() == "(c:3,(a:1,(b:0.5,d:0.5):0.5):2);"


def test_nodes_of_many_children_take_more():
    tree = ordhc.insert("((a,b,c),d);", "new", oracles.from_tree("((a,b,c,new),d);"))
    assert set(tree.node(["a", "b"]).leaf_names) == {"a", "b", "c", "new"}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_small_trees(n):
    truth = named(random_tree(n + 1, 1, "yule"))
    start = truth.prune([truth.names[0]]) if n > 1 else ordhc.Dendrogram([], [], names=["item 1"])
    if n == 1:
        truth = ordhc.Dendrogram([(0, 1)], [1.0], names=["item 0", "item 1"])
    tree = ordhc.insert(start, "item 0", oracles.from_tree(truth))
    assert ordhc.metrics.robinson_foulds(tree, truth) == 0


def test_one_item_takes_log_n_questions():
    truth = named(random_tree(500, 2, "uniform"))
    for name in truth.names[:20]:
        asked = oracles.Counting(oracles.from_tree(truth))
        ordhc.insert(truth.prune([name]), name, asked, learners.Insertion(exact=True))
        assert asked.n_questions <= np.log2(2 * 500 - 3)


def test_noisy_answers_and_the_posterior():
    truth = named(random_tree(40, 4, "yule"))
    start = truth.prune([truth.names[7]])
    right = 0
    for seed in range(20):
        noisy = oracles.noisy(oracles.from_tree(truth), 0.8, seed=seed)
        tree = ordhc.insert(start, truth.names[7], noisy)
        right += ordhc.metrics.robinson_foulds(tree, truth) == 0
        places = tree.settings["inserted"][truth.names[7]]
        assert places[0]["probability"] > 0.5
        assert sum(place["probability"] for place in places) <= 1 + 1e-9
    assert right >= 17
    learner = ordhc.Learner(truth.names, learners.Robust(p=0.8), start=start)
    before = learner.places(truth.names[7])
    assert {place.where for place in before} <= {"beside", "under"}
    assert 0.9 < sum(place.probability for place in before) <= 1 + 1e-9
    assert learner.places(3) == []


def test_a_session_begins_with_a_tree(tmp_path):
    truth = named(random_tree(20, 5, "yule"))
    start = truth.prune([truth.names[0], truth.names[1]])
    with ordhc.Session(tmp_path / "a.ordhc", truth.names, start=start) as session:
        assert session.status.n_placed == 18
        ordhc.learn(oracles.from_tree(truth), session=session)
    with ordhc.Session(tmp_path / "a.ordhc", start=start) as again:
        assert ordhc.metrics.robinson_foulds(again.tree(), truth) == 0
    with pytest.raises(InputError, match="start is"):
        ordhc.Session(tmp_path / "a.ordhc", start=truth.prune([truth.names[5]]))


@pytest.mark.parametrize(
    ("tree", "items", "method", "why"),
    [
        ("((a,b),c);", "a", None, "the tree already has a leaf 'a'"),
        ("((a,b),c);", [], None, "items is empty"),
        ("((0,1),2);", 4, None, r"the new leaves of a tree of 3 leaves without names must be \[3\]"),
        ("((a,b),c);", "d", "quick", "quick takes no start"),
        ("((a,b),c);", "d", "uncertain", "uncertain takes no start"),
        ("((a,b),c);", "d", "single", "single takes no start"),
    ],
)
def test_what_cannot_be_inserted_is_explained(tree, items, method, why):
    with pytest.raises(InputError, match=why):
        ordhc.insert(tree, items, lambda rows: np.zeros(len(rows), int), method)


def test_starts_are_checked():
    with pytest.raises(InputError, match="start= has 3 leaves, more than the 2 leaves of the learner"):
        ordhc.Learner(2, start="((0,1),2);")
    with pytest.raises(InputError, match="start= has the leaf 'c', which is not a leaf of the learner"):
        ordhc.Learner(["a", "b", "d", "e"], start="((a,b),c);")
