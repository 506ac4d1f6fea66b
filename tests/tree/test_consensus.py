"""Consensus trees and distances of many trees beside plain sets and other packages."""

import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Dendrogram, metrics
from ordhc.errors import InputError
from support import metric_twins as naive
from support.newick import read_newick

QUICK = settings(deadline=None, max_examples=60)


@st.composite
def newick_trees(draw, n):
    """Newick text over a, b, ... with nodes of any degrees."""
    there = draw(st.permutations("abcdefgh"[:n]))
    while len(there) > 1:
        k = min(len(there), draw(st.sampled_from([2, 2, 2, 3, 4])))
        start = draw(st.integers(0, len(there) - k))
        there[start : start + k] = [f"({','.join(there[start : start + k])})"]
    return there[0] + ";"


@st.composite
def forests(draw):
    """A few trees of the same leaves, some of them alike."""
    n = draw(st.integers(1, 8))
    kinds = draw(st.lists(newick_trees(n), min_size=1, max_size=4))
    texts = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=7))
    return [read_newick(text) for text in texts]


def sets(tree):
    return {frozenset(node.leaf_names): node for node in tree.nodes() if not node.is_leaf}


def twin(trees, weights, threshold, extended):
    """The clusters of the consensus with their shares, by plain sets."""
    times, first = {}, {}
    for at, (tree, weight) in enumerate(zip(trees, weights, strict=True)):
        for cluster, node in sets(tree).items():
            times[cluster] = times.get(cluster, 0) + weight
            first.setdefault(cluster, (at, node.label))
    shares = {cluster: count / sum(weights) for cluster, count in times.items()}
    taken = {cluster for cluster, share in shares.items() if share > 0.5 and share >= threshold}
    if extended:
        for cluster in sorted(set(shares) - taken, key=lambda c: (-shares[c], len(c), first[c])):
            if all(not cluster & other or cluster <= other or other <= cluster for other in taken):
                taken.add(cluster)
    return {cluster: shares[cluster] for cluster in taken}


@QUICK
@given(forests(), st.sampled_from([0.5, 0.6, 0.75, 1.0]), st.booleans(), st.data())
def test_clusters_are_those_of_plain_sets(trees, threshold, extended, data):
    # Powers of two, so that shares are exact.
    size = len(trees)
    weights = data.draw(st.none() | st.lists(st.sampled_from([0.5, 1, 2]), min_size=size, max_size=size))
    found = ordhc.consensus(trees, threshold=threshold, extended=extended, weights=weights)
    wanted = twin(trees, weights or [1] * len(trees), threshold, extended)
    mine = {cluster: node.support for cluster, node in sets(found).items()}
    assert mine.keys() == wanted.keys()
    for cluster, share in wanted.items():
        assert math.isclose(mine[cluster], share)
    assert found.names == trees[0].names
    assert found.scale == ("shape" if len(trees[0]) > 1 else "heights")
    if len(set(map(Dendrogram.to_newick, trees))) == 1:
        assert sets(found).keys() == sets(trees[0]).keys()
    mixed = [tree.relabel(np.roll(np.arange(len(tree)), at)) for at, tree in enumerate(trees)]
    assert (
        sets(ordhc.consensus(mixed, threshold=threshold, weights=weights)).keys()
        == twin(trees, weights or [1] * len(trees), threshold, False).keys()
    )


@QUICK
@given(forests(), st.booleans(), st.randoms())
def test_heights_are_means(trees, similar, random):
    def measured(tree):
        heights = np.cumsum([random.choice([0.1, 1, 1 / 3]) for _ in tree.sizes])
        kind = "similarity" if similar else "dissimilarity"
        # Leaf heights are numbered as names, which differ from tree to tree.
        return Dendrogram.from_parents(
            tree.parents, heights=-heights if similar else heights, kind=kind, names=tree.names
        )

    trees = [measured(tree) for tree in trees]
    found = ordhc.consensus(trees)
    if len(found) == 1:
        return
    assert found.kind == trees[0].kind
    assert found.is_monotone
    for cluster, node in sets(found).items():
        others = [there[cluster] for there in map(sets, trees) if cluster in there]
        below = [child.height for child in node.children if not child.is_leaf]
        mean = np.mean([other.height for other in others])
        limit = max if not similar else min
        assert math.isclose(node.height, limit([mean, *below]))


@QUICK
@given(forests(), st.booleans(), st.randoms())
def test_lengths_are_means(trees, some_have_heights, random):
    def measured(tree, by_height):
        if by_height:
            return Dendrogram.from_parents(tree.parents, heights=np.arange(len(tree.sizes)), names=tree.names)
        lengths = [2 + random.random() for _ in range(len(tree.parents))]
        lengths[random.randrange(len(tree.parents))] = math.nan
        # Otherwise leaves may be equally far from the root, and the tree has heights too.
        lengths[0] = 10.0
        return Dendrogram.from_parents(tree.parents, lengths=lengths, names=tree.names)

    trees = [measured(tree, some_have_heights and at % 2) for at, tree in enumerate(trees)]
    found = ordhc.consensus(trees)
    if len(found) == 1:
        return
    assert found.scale == "lengths"
    for node in found.nodes():
        others = [each.node(list(node.leaf_names)) for each in trees]
        lengths = [
            other.branch_length
            for other in others
            if other.size == node.size and other.branch_length is not None
        ]
        if lengths:
            assert math.isclose(node.branch_length, np.mean(lengths))
        else:
            assert node.branch_length is None


def test_a_tree_without_lengths_leaves_the_consensus_without():
    with_lengths, without = "((a:1,b:1):1,c:2);", "((a,b),c);"
    assert ordhc.consensus([with_lengths, without]).scale == "shape"
    assert ordhc.consensus([with_lengths, "((a:3,b:1):1,c:9);"]).to_newick() == "(c:5.5,(a:2,b:1)100:1)100;"


@QUICK
@given(forests(), st.integers(1, 3), st.booleans())
def test_trees_that_agree_are_their_consensus(trees, times, by_height):
    tree = trees[0]
    heights = np.arange(1.0, len(tree.sizes) + 1) if by_height else None
    tree = Dendrogram.from_parents(tree.parents, heights=heights, names=tree.names)
    found = ordhc.consensus([tree] * times)
    assert sets(found).keys() == sets(tree).keys()
    for cluster, node in sets(found).items():
        assert node.height == sets(tree)[cluster].height
        assert node.support == 1


@QUICK
@given(forests())
def test_dendropy_has_the_same_majority(trees):
    dendropy = pytest.importorskip("dendropy")
    text = "\n".join(tree.to_newick(branch_lengths=False) for tree in trees)
    if len(trees[0]) < 3:
        return
    theirs = dendropy.TreeList.get(data=text, schema="newick", rooting="force-rooted")
    theirs = theirs.consensus(min_freq=0.5 + 1e-6)
    clusters = {frozenset(leaf.taxon.label for leaf in node.leaf_iter()) for node in theirs.internal_nodes()}
    assert {cluster for cluster in sets(ordhc.consensus(trees)) if len(cluster) > 1} == clusters


def test_strict_consensus_of_biopython():
    consensus = pytest.importorskip("Bio.Phylo.Consensus")
    from Bio import Phylo

    texts = ["(((a,b),c),(d,e));", "(((a,b),d),(c,e));", "((a,b),c,(d,e));", "((((a,b),c),d),e);"]
    theirs = consensus.strict_consensus([Phylo.read(io.StringIO(text), "newick") for text in texts])
    clusters = {frozenset(leaf.name for leaf in node.get_terminals()) for node in theirs.get_nonterminals()}
    assert (
        set(sets(ordhc.consensus(texts, threshold=1.0))) == clusters == {frozenset("ab"), frozenset("abcde")}
    )
    theirs = consensus.majority_consensus([Phylo.read(io.StringIO(text), "newick") for text in texts], 0.5)
    clusters = {frozenset(leaf.name for leaf in node.get_terminals()) for node in theirs.get_nonterminals()}
    assert set(sets(ordhc.consensus(texts))) <= clusters


def test_thresholds_weights_and_places():
    trees = ["((a,b),c);"] * 7 + ["((a,c),b);"] * 3
    for threshold, share in [(0.5, 0.7), (0.7, 0.7), (0.71, None), (1, None)]:
        found = ordhc.consensus(trees, threshold=threshold)
        pair = sets(found).get(frozenset("ab"))
        assert (None if pair is None else pair.support) == share
        assert len(found.parents) == (5 if share else 4)
    weights = [0.1] * 7 + [0.1] * 3
    assert sets(ordhc.consensus(trees, threshold=0.7, weights=weights)).keys() >= {frozenset("ab")}
    assert frozenset("ab") not in sets(ordhc.consensus(trees, weights=[1] * 7 + [7 / 3] * 3))
    assert frozenset("ac") in sets(ordhc.consensus(trees, threshold=1, weights=[0] * 7 + [2] * 3))
    assert ordhc.consensus(iter(trees)).n_leaves == 3
    assert ordhc.consensus([Dendrogram([], [])]) == Dendrogram([], [])
    bare = [Dendrogram([(0, 1), (2, 3)], [1, 2]), Dendrogram([(1, 2), (0, 3)], [1, 4])]
    found = ordhc.consensus(bare)
    assert found.names is None
    assert found.heights.tolist() == [3]
    assert found.parents.tolist() == [3, 3, 3, -1]


@pytest.mark.parametrize(
    ("trees", "options", "message"),
    [
        ([], {}, "no trees"),
        ("((a,b),c);", {}, "trees is one str; pass a list of trees"),
        (Dendrogram([(0, 1)], [1]), {}, "trees is one Dendrogram"),
        (3, {}, "trees is 3; give a list"),
        (["((0,1),2);", "(0,1);"], {}, "tree 0 has 3 leaves, tree 1 has 2"),
        (["(0,1);", "(a,b);"], {}, "the leaves of tree 1 have names, those of tree 0 have none"),
        (
            [Dendrogram([(0, 1)], [1]), Dendrogram([(0, 1)], [1], kind="similarity")],
            {},
            "tree 1 similarities",
        ),
        (["(a,b);"], {"threshold": 0.4}, "threshold.*0.5"),
        (["(a,b);"], {"threshold": 70}, "threshold"),
        (["(a,b);"], {"weights": [1, 2]}, r"weights has shape \(2,\)"),
        (["(a,b);"], {"weights": [0]}, "all weights are 0"),
        (["(a,b);"], {"weights": [-1]}, r"weights\[0\] is -1"),
        (["(a,b);"], {"weights": [math.nan]}, r"weights\[0\] is nan"),
    ],
)
def test_what_has_no_consensus(trees, options, message):
    with pytest.raises(InputError, match=message):
        ordhc.consensus(trees, **options)


def test_large_caterpillars():
    n = 5_000
    merges = np.column_stack([np.r_[0, n + np.arange(n - 2)], np.arange(1, n)])
    trees = [Dendrogram(merges, np.arange(n - 1.0) + at) for at in range(3)]
    found = ordhc.consensus(trees, extended=True)
    assert found.replace(support=None) == trees[1]


# --- distances of many trees --------------------------------------------------------------------


@QUICK
@given(forests(), st.booleans())
def test_distances_know_nodes_of_many_children(trees, join_ties):
    first = trees[0]
    found = metrics.tree_distances(trees, normalize=False, join_ties=join_ties)
    triplets = metrics.tree_distances(trees, "triplet_distance", normalize=False, join_ties=join_ties)
    assert (found == found.T).all()
    assert not np.diag(found).any()
    for at, tree in enumerate(trees):
        assert found[0, at] == len(sets(first).keys() ^ sets(tree).keys())
        same = tree.relabel([first.names.index(name) for name in tree.names])
        assert triplets[0, at] == naive.triplet_distance(first, same, join_ties)
        assert metrics.robinson_foulds(first, tree, normalize=False, join_ties=join_ties) == found[0, at]
        labels = ["x", "y"] * 4
        if len(first) > 2:
            purity = naive.purity(same, labels[: len(first)], join_ties)
            assert math.isclose(
                metrics.dendrogram_purity(same, labels[: len(first)], join_ties=join_ties), purity
            )


@QUICK
@given(forests())
def test_dendropy_has_the_same_distances(trees):
    dendropy = pytest.importorskip("dendropy")
    from dendropy.calculate import treecompare

    text = "\n".join(tree.to_newick(branch_lengths=False) for tree in trees)
    theirs = dendropy.TreeList.get(data=text, schema="newick", rooting="force-rooted")
    if len(trees[0]) < 3:
        return
    wanted = [[treecompare.symmetric_difference(a, b) for b in theirs] for a in theirs]
    assert metrics.tree_distances(trees, normalize=False).tolist() == wanted


def test_a_triplet_that_one_tree_resolves_is_one_difference():
    told = []
    distances = metrics.tree_distances(["((a,b),c);", "(a,b,c);"], "triplet_distance", progress=told.append)
    assert distances.tolist() == [[0, 1], [1, 0]]
    assert told == [1.0]
    assert metrics.tree_distances(["(a,b);"]).tolist() == [[0]]
    heights = metrics.tree_distances(["(a:1,b:1);", "(b:3,a:3);"], "merge_distortion")
    assert heights.tolist() == [[0, 4], [4, 0]]
    for metric, options, message in [
        ("aari", {}, "robinson_foulds"),
        ("merge_distortion", {"normalize": True}, "no parameter 'normalize'"),
        ("robinson_foulds", {"normalise": True}, "no parameter 'normalise'"),
    ]:
        with pytest.raises(InputError, match=message):
            metrics.tree_distances(["(a,b);"], metric, **options)
    with pytest.raises(InputError, match="no trees"):
        metrics.tree_distances([])


@pytest.mark.parametrize("function", [metrics.tree_distances, ordhc.consensus])
@pytest.mark.parametrize(
    ("trees", "what"),
    [
        (np.zeros((1000, 3)), r"array of shape \(1000, 3\)"),
        (ordhc.as_dendrogram("((a:1,b:1):1,c:2);").to_linkage_matrix(), r"array of shape \(2, 4\)"),
        ("((a,b),c);", "str"),
        (ordhc.as_dendrogram("((a,b),c);"), "Dendrogram"),
    ],
)
def test_one_tree_is_not_a_list_of_trees(function, trees, what):
    with pytest.raises(InputError, match=f"trees is one {what}; pass a list of trees"):
        function(trees)


def test_an_array_can_have_a_matrix_for_each_tree():
    Z = ordhc.as_dendrogram("((a:1,b:1):1,c:2);").to_linkage_matrix()
    assert metrics.tree_distances(np.stack([Z, Z])).tolist() == [[0, 0], [0, 0]]
