"""Supertrees: the consensus of trees whose leaves differ."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.tree.supertrees import _sums, _Tree

pytestmark = pytest.mark.filterwarnings("ignore:the trees have different leaves")


def random_tree(names, rng, binary=True):
    parts = list(names)
    while len(parts) > 1:
        k = 2 if binary else int(rng.integers(2, min(4, len(parts)) + 1))
        chosen = rng.choice(len(parts), k, replace=False).tolist()
        parts = [part for at, part in enumerate(parts) if at not in chosen] + [
            f"({','.join(parts[at] for at in chosen)})"
        ]
    return ordhc.as_dendrogram(parts[0] + ";")


def some_trees(n, n_trees, seed, agree, binary=True):
    """Trees of some leaves each; parts of one tree if they agree."""
    rng = np.random.default_rng(seed)
    names = [f"s{at}" for at in range(n)]
    truth = random_tree(names, rng, binary)
    found = []
    for _ in range(n_trees):
        own = rng.choice(names, int(rng.integers(2, n + 1)), replace=False).tolist()
        found.append(truth.keep(own) if agree else random_tree(own, rng, binary))
    return found


def clusters(tree):
    return {frozenset(tree.labels[leaf] for leaf in node.leaves) for node in tree.nodes() if not node.is_leaf}


def triplets(tree):
    """Return all resolved triplets ab|c of a tree, by its clusters."""
    own = clusters(tree)
    return {
        (frozenset((a, b)), c)
        for three in itertools.combinations(tree.labels, 3)
        for c in three
        for a, b in [[leaf for leaf in three if leaf != c]]
        if any(a in cluster and b in cluster and c not in cluster for cluster in own)
    }


def build(leaves, rules):
    """The clusters of BUILD by enumerated triplets (Aho et al. 1981); None for a contradiction."""
    if len(leaves) < 2:
        return set()
    groups = [{leaf} for leaf in leaves]
    for pair, c in rules:
        if pair <= leaves and c in leaves:
            joined = [group for group in groups if group & pair]
            groups = [group for group in groups if not group & pair] + [set().union(*joined)]
    if len(groups) == 1 and len(leaves) > 2:
        return None
    found = {frozenset(leaves)}
    for group in groups if len(leaves) > 2 else []:
        own = build(group, rules)
        if own is None:
            return None
        found |= own
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 9), st.integers(1, 5), st.integers(0, 10**6), st.booleans())
def test_trees_that_agree_give_the_tree_of_build(n, n_trees, seed, binary):
    trees = some_trees(n, n_trees, seed, agree=True, binary=binary)
    if len({frozenset(tree.labels) for tree in trees}) == 1:
        return
    found = ordhc.consensus(trees)
    names = sorted({name for tree in trees for name in tree.labels})
    assert sorted(found.labels) == names
    rules = set().union(*map(triplets, trees))
    expected = build(set(names), rules)
    # All pairs that a tree has in a cluster are together, also where no third leaf makes a triplet.
    assert clusters(found) == expected
    for tree in trees:
        if tree.n_leaves > 2:
            assert triplets(tree) <= triplets(found.keep(list(tree.labels)))
    support = found.support
    assert np.all(np.isnan(support) | (support == 1))


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 8), st.integers(2, 4), st.integers(0, 10**6), st.booleans())
def test_support_is_the_share_of_triplets(n, n_trees, seed, binary):
    trees = some_trees(n, n_trees, seed, agree=False, binary=binary)
    if len({frozenset(tree.labels) for tree in trees}) == 1:
        return
    weights = np.random.default_rng(seed).integers(1, 4, n_trees)
    found = ordhc.consensus(trees, extended=True, weights=weights)
    rules = [triplets(tree) for tree in trees]
    for node, support in zip(found.nodes("postorder"), [None] * 1000, strict=False):
        if node.is_leaf or node.parent is None:
            continue
        support = found.support[node.label - found.n_leaves]
        agrees = against = 0
        inside = [[found.labels[leaf] for leaf in child.leaves] for child in node.children]
        beside = [
            found.labels[leaf]
            for child in node.parent.children
            if child.label != node.label
            for leaf in child.leaves
        ]
        for one, other in itertools.combinations(inside, 2):
            for a, b, c in itertools.product(one, other, beside):
                for own, weight in zip(rules, weights.tolist(), strict=True):
                    agrees += weight * ((frozenset((a, b)), c) in own)
                    against += weight * ((frozenset((a, c)), b) in own or (frozenset((b, c)), a) in own)
        if agrees + against:
            assert support == pytest.approx(agrees / (agrees + against))
        else:
            assert np.isnan(support)
    # The consensus keeps what more than half of the triplets say.
    kept = ordhc.consensus(trees, weights=weights)
    assert clusters(kept) <= clusters(found)
    assert len(clusters(kept)) - 1 == int((np.isnan(found.support[:-1]) | (found.support[:-1] > 0.5)).sum())


@settings(max_examples=20, deadline=None)
@given(st.integers(3, 8), st.integers(1, 4), st.integers(0, 10**6), st.booleans())
def test_sums_are_adds3_of_the_triplets(n, n_trees, seed, binary):
    trees = some_trees(n, n_trees, seed, agree=False, binary=binary)
    names = sorted({name for tree in trees for name in tree.labels})
    parts = [
        _Tree.of(tree, np.array([names.index(name) for name in tree.labels]), 1.0, len(names))
        for tree in trees
    ]
    rows = [
        (anchor, near, c)
        for tree in trees
        for pair, c in triplets(tree)
        for anchor, near in itertools.permutations(pair)
    ]
    expected = np.zeros((len(names), len(names)))
    if rows:
        expected = ordhc.similarity(ordhc.Triplets(rows, names=names), "adds3", layout="square")
    assert np.array_equal(_sums(parts, len(names)), expected)


def test_trees_that_contradict_each_other():
    most = ["(((a,b),c),d);", "(((a,b),c),e);", "(((a,b),c),f);", "(((a,c),b),g);"]
    found = ordhc.consensus(most)
    assert frozenset("ab") in clusters(found)
    assert frozenset("abc") in clusters(found)
    assert found.support[-3:].tolist() == pytest.approx([0.75, 1, 1])
    # Half of the trees are no majority, and strict consensus needs all.
    assert clusters(ordhc.consensus(["((a,b),c);", "((a,c),b);", "(a,d);"])) == {
        frozenset("abc"),
        frozenset("abcd"),
    }
    assert frozenset("ab") not in clusters(ordhc.consensus(most, threshold=1))
    # Weights decide, a weight of 0 leaves a tree out.
    assert frozenset("ac") in clusters(ordhc.consensus(most, weights=[1, 1, 1, 9]))
    assert "ac" not in {"".join(sorted(c)) for c in clusters(ordhc.consensus(most, weights=[1, 1, 1, 0]))}


def test_noisy_trees_are_better_together():
    rng = np.random.default_rng(5)
    names = [f"s{at}" for at in range(40)]
    truth = random_tree(names, rng)
    trees = []
    for _ in range(12):
        tree = truth.keep(rng.choice(names, 24, replace=False).tolist())
        for name in rng.choice(tree.labels, 2, replace=False).tolist():
            rest = tree.prune([name])
            beside = rest.labels[int(rng.integers(rest.n_leaves))]
            text = rest.to_newick(branch_lengths=False)
            tree = ordhc.as_dendrogram(re.sub(rf"\b{beside}\b", f"({beside},{name})", text))
        trees.append(tree)
    single = np.mean([ordhc.metrics.triplet_distance(tree, truth.keep(list(tree.labels))) for tree in trees])
    found = ordhc.consensus(trees, extended=True)
    assert ordhc.metrics.triplet_distance(found, truth.keep(list(found.labels))) < 0.6 * single


def test_underscores_small_trees_and_warnings():
    with pytest.warns(ordhc.errors.OrdhcWarning, match=r"2 of 4 leaves are in all 2 trees, 'a' is in 1"):
        found = ordhc.consensus(["((a,b_1),c);", "(('b 1',c),d);"])
    assert found.to_newick() == "(d,(c,(a,'b 1')100)100)100;"
    assert ordhc.consensus(["(a,b);", "(c,d);"]).to_newick() == "(a,b,c,d)100;"
    assert ordhc.consensus(["(a,b);", "(b,c);", "(a);"]).n_leaves == 3
    with pytest.raises(ordhc.errors.InputError, match="have names, those of tree"):
        ordhc.consensus([ordhc.Dendrogram([(0, 1)], [1.0]), "(a,b);"])
    with pytest.raises(ordhc.errors.InputError, match="tree 0 has 2 leaves, tree 1 has 3"):
        ordhc.consensus([ordhc.Dendrogram([(0, 1)], [1.0]), ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 2.0])])


@pytest.mark.filterwarnings("error")
def test_the_same_leaves_are_no_supertree():
    names = ordhc.consensus(["((Homo_sapiens,b),c);", "(('Homo_sapiens',b),c);"])
    assert names.labels == ("Homo sapiens", "b", "c")
    assert names.support.tolist() == [1, 1]
