"""Lengths of edges: to the bit in files, as paths between leaves, and what paths are for."""

import itertools
import json
import math
import pickle
import random
import struct
import warnings

import networkx
import numpy as np
import pytest
import scipy.cluster.hierarchy as hierarchy
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Dendrogram
from ordhc.errors import InputError, OrdhcWarning
from ordhc.tree.dendrogram import lca_size
from support.trees import clusters_of, members, random_nest, renumbered, tree_of

QUICK = settings(deadline=None, max_examples=60)
ANY_FLOAT = (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(0, 2.3e-308)
    | st.floats(-1e-5, 1e-5)
    | st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("d", struct.pack("Q", bits))[0])
).filter(math.isfinite)


def quietly(call, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        return call(*args, **options)


def bits(values):
    """Numbers as they are in memory, so that 0.0 and -0.0 differ; all NaN are alike."""
    values = np.asarray(values, dtype=np.float64)
    return ["nan" if value != value else struct.pack("d", value) for value in values.tolist()]


def random_tree(seed, *, n=None, lengths=None, star=True):
    """A tree of any degree with lengths that are multiples of 1/8, so that sums are exact."""
    source = random.Random(seed)
    nest = random_nest(source.randint(1, 9) if n is None else n, source, star=star)
    shape = renumbered(tree_of(nest, source), source) if isinstance(nest, list) else Dendrogram([], [])
    choose = lengths or (lambda: source.choice([0, 1, 3, 8, 20]) / 8)
    options = {"support": [len(c) / 10 for c in clusters_of(shape)], "node_names": names_of(shape)}
    values = [choose() for _ in range(len(shape.parents))]
    return Dendrogram.from_parents(shape.parents, lengths=values, **options)


def names_of(tree):
    return ["+".join(map(str, sorted(cluster))) for cluster in clusters_of(tree)]


def graph_of(tree, lengths=None):
    """The tree without a direction, for another package to find paths in."""
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(tree.parents)))
    for node, (parent, length) in enumerate(zip(tree.parents, lengths or tree.lengths, strict=True)):
        if parent >= 0:
            graph.add_edge(node, int(parent), length=float(length))
    return graph


def paths_of(tree, lengths=None):
    """The length of the path between each pair of leaves, (n, n), by networkx."""
    graph, n = graph_of(tree, lengths), tree.n_leaves
    found = np.zeros((n, n))
    for leaf in range(n):
        for other, path in networkx.single_source_shortest_path(graph, leaf).items():
            if other < n:
                found[leaf, other] = sum(graph.edges[a, b]["length"] for a, b in itertools.pairwise(path))
    return found


# Files.


@QUICK
@given(st.lists(ANY_FLOAT, min_size=6, max_size=6), st.sampled_from([None, math.nan]))
def test_lengths_come_back_to_the_bit(values, unknown):
    values[4] = values[4] if unknown is None else unknown
    tree = Dendrogram.from_parents([4, 4, 5, 5, 5, -1], lengths=values, names=["a", "b", "c", "d"])
    expected = bits(tree.lengths)
    text = tree.to_newick()
    for found in (
        quietly(Dendrogram.from_newick, text, tree.names),
        quietly(Dendrogram.from_newick, tree.to_newick(heights=True)),
        ordhc.as_dendrogram(json.loads(json.dumps(tree.to_dict()))),
        pickle.loads(pickle.dumps(tree)),
        quietly(ordhc.as_dendrogram, tree.to_networkx()),
    ):
        assert found.scale == "lengths"
        assert bits(found.lengths) == expected
        assert found == tree
        assert [bits(quietly(Dendrogram.from_newick, found.to_newick(), tree.names).lengths)] == [expected]


@QUICK
@given(st.lists(ANY_FLOAT.map(lambda x: f"{x:.17g}"), min_size=3, max_size=3))
def test_numbers_of_17_digits_are_read_to_the_bit(digits):
    text = "(a:{},b:{},c:{});".format(*digits)
    tree = Dendrogram.from_newick(text)
    assert bits(tree.lengths[:3]) == bits([float(each) for each in digits])
    # What is written is the shortest text of the number: never more digits than Python's.
    mine = [part.split(":")[1].strip(");") for part in tree.to_newick().split(",")]
    for written, value in zip(mine, tree.lengths[:3].tolist(), strict=True):
        assert float(written) == value
        assert len(significant(written)) <= len(significant(repr(value)))


def significant(text):
    return text.lower().split("e")[0].lstrip("-").replace(".", "").strip("0")


@QUICK
@given(st.lists(ANY_FLOAT.filter(lambda x: abs(x) < 1e300), min_size=4, max_size=4), st.booleans())
def test_heights_come_back_to_the_bit(values, with_own):
    tree = Dendrogram.from_parents(
        [5, 5, 6, 6, 7, 7, 7, -1], heights=values[:3], leaf_heights=[*values, 1.0] if with_own else None
    )
    for found in (
        Dendrogram.from_newick(tree.to_newick(heights=True)),
        ordhc.as_dendrogram(json.loads(json.dumps(tree.to_dict()))),
        ordhc.as_dendrogram(tree.to_networkx()),
    ):
        assert bits(found.heights) == bits(tree.heights)
        assert (found.leaf_heights is None) == (tree.leaf_heights is None)
        if with_own:
            assert bits(found.leaf_heights) == bits(tree.leaf_heights)
        assert found == tree


# Trees with heights.


@pytest.mark.parametrize("linkage", ["average", "single", "complete", "centroid"])
@pytest.mark.parametrize("n", [2, 3, 40])
def test_the_path_between_leaves_is_the_height_at_which_they_join(linkage, n):
    distances = np.random.default_rng(n).random(n * (n - 1) // 2)
    tree = ordhc.linkage(distances, linkage, dissimilarity=True)
    read = Dendrogram.from_newick(tree.to_newick())
    assert (tree.scale, read.scale) == ("heights", "lengths")
    expected = hierarchy.cophenet(tree.to_linkage_matrix())
    for found in (tree.cophenetic(), tree.patristic(), read.cophenetic(), read.patristic()):
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    np.testing.assert_allclose(paths_of(tree)[np.triu_indices(n, 1)], expected, rtol=1e-13)
    if linkage != "centroid":
        np.testing.assert_allclose(np.sort(read.heights), np.sort(tree.heights), rtol=1e-13)
        assert np.array_equal(read.cut(path=0.4), tree.cut(height=0.4))


@pytest.mark.parametrize("method", ["dot-al"])
def test_dot_products_have_leaves_at_heights_of_their_own(method):
    X = np.random.default_rng(0).normal(size=(12, 4))
    # Vectors at random have negative dot products, which is a warning.
    tree = quietly(ordhc.cluster, X, method=method)
    assert tree.leaf_heights is not None
    assert len(set(tree.leaf_heights.tolist())) > 1
    assert Dendrogram.from_newick(tree.to_newick(heights=True)) == tree
    assert ordhc.as_dendrogram(tree.to_dict()) == tree
    assert ordhc.as_dendrogram(tree.to_networkx()) == tree
    read = Dendrogram.from_newick(tree.to_newick())
    # The path goes from one leaf up to the node and down to the other; edges are half the difference.
    own, joint = tree.leaf_heights, tree.cophenetic(square=True)
    expected = (own[:, None] + own[None, :]) / 2 - joint
    np.fill_diagonal(expected, 0)
    for each in (tree, read):
        np.testing.assert_allclose(each.patristic(square=True), expected, atol=1e-12)
    np.testing.assert_allclose(paths_of(read), expected, atol=1e-12)
    with pytest.raises(InputError, match="lengths but no heights"):
        read.heights  # noqa: B018


# Trees with lengths.


@pytest.mark.parametrize("seed", range(60))
def test_paths_are_those_of_networkx(seed):
    source = random.Random(seed)
    with_negative = (lambda: source.randint(-8, 20) / 8) if seed % 2 else None
    tree = random_tree(seed, lengths=with_negative)
    expected = paths_of(tree)
    assert np.array_equal(tree.patristic(square=True), expected)
    assert np.array_equal(tree.cophenetic(square=True), expected)
    assert np.array_equal(tree.patristic(), expected[np.triu_indices(tree.n_leaves, 1)])
    assert np.array_equal(tree.cophenetic(), tree.patristic())


@pytest.mark.parametrize("seed", range(60))
def test_collapsed_clusters_are_where_their_nodes_were(seed):
    tree = random_tree(seed)
    k = random.Random(seed).randint(1, tree.n_leaves)
    labels = quietly(tree.cut, k)
    top = quietly(tree.collapse, k)
    tops = [tree.node(np.flatnonzero(labels == label)).label for label in range(labels.max() + 1)]
    graph = graph_of(tree)
    for a, b in itertools.combinations(range(len(tops)), 2):
        expected = networkx.shortest_path_length(graph, tops[a], tops[b], weight="length")
        assert top.patristic(square=True)[a, b] == expected


@pytest.mark.parametrize("seed", range(90))
def test_cuts_by_depth_and_path(seed):
    tree, source = random_tree(seed), random.Random(seed)
    paths, whole = paths_of(tree), members(tree)
    above = [sum(cluster < other for other in whole) for cluster in whole]
    for depth in range(6):
        expected = {
            c for c, at in zip(whole, above, strict=True) if at == depth or (at < depth and len(c) == 1)
        }
        assert groups(tree.cut(depth=depth)) == expected
    assert np.array_equal(tree.cut(depth=10**6), np.arange(tree.n_leaves))
    for limit in {*paths.ravel().tolist(), source.randint(0, 80) / 16}:
        fits = [c for c in whole if paths[np.ix_(list(c), list(c))].max() <= limit]
        expected = {c for c in fits if not any(c < other for other in fits)}
        assert groups(tree.cut(path=limit)) == expected
    # By number: the node of the longest path goes first.
    reach = [paths[np.ix_(list(c), list(c))].max() for c in whole[tree.n_leaves :]]
    for k in range(1, tree.n_leaves + 1):
        labels = quietly(tree.cut, k)
        assert labels.max() < k
        widest = max(paths[np.ix_(list(c), list(c))].max() for c in groups(labels))
        gone = [r for c, r in zip(whole[tree.n_leaves :], reach, strict=True) if not within(c, labels)]
        assert not gone or min(gone) >= widest


def groups(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels.tolist())}


def within(cluster, labels):
    return len({labels[leaf] for leaf in cluster}) == 1


# Another root.


def splits(tree):
    """By split of the leaves, as the side without leaf 0, the support and the length of its edge."""
    n, found = tree.n_leaves, {}
    support = [math.nan] * n + (
        tree.support.tolist() if tree.support is not None else [math.nan] * len(tree.sizes)
    )
    for node, cluster in enumerate(members(tree)[:-1]):
        side = cluster if 0 not in cluster else frozenset(range(n)) - cluster
        found.setdefault(side, []).append((support[node], float(tree.lengths[node])))
    # The two edges at a root of two children are one edge. All trees have the edges of leaves.
    return {
        side: (
            max((s for s, _ in edges if s == s), default=None) if 1 < len(side) < n - 1 else None,
            sum(length for _, length in edges),
        )
        for side, edges in found.items()
    }


def unrooted(seed):
    """A tree with support of splits; of two edges at the root, which are one split, one or both have it."""
    source = random.Random(seed)
    tree = random_tree(seed, n=source.randint(2, 9))
    n, sides = tree.n_leaves, [set(child.leaves.tolist()) for child in tree.root.children]
    support = [min(len(c), n - len(c)) / 10 + len(c & {0, 1, 2}) % 3 % 2 / 100 for c in clusters_of(tree)]
    if len(sides) == 2:
        at = [clusters_of(tree).index(side) for side in sides if len(side) > 1]
        for one in at:
            support[one] = 0.75
        if len(at) == 2 and source.randrange(2):
            support[source.choice(at)] = math.nan
    return tree.replace(support=support)


@pytest.mark.parametrize("seed", range(60))
def test_another_root_keeps_paths_splits_and_support(seed):
    tree, source = unrooted(seed), random.Random(seed)
    expected, n = paths_of(tree), tree.n_leaves
    for node in range(len(tree.parents) - 1):
        share = source.choice([0, 0.25, 0.5, 1])
        found = tree.reroot(edge=node, share=share)
        assert found.n_leaves == n
        assert np.array_equal(paths_of(found), expected)
        assert np.array_equal(found.patristic(square=True), expected)
        assert splits(found) == splits(tree)
        # The root is on the edge: one of its two sides is the node's cluster.
        cluster = members(tree)[node]
        sides = {frozenset(child.leaves.tolist()): child for child in found.root.children}
        assert sides.keys() == {cluster, frozenset(range(n)) - cluster}
        assert sides[cluster].branch_length == share * tree.lengths[node]
        assert Dendrogram.from_newick(found.to_newick()).to_newick() == found.to_newick()
        again = tree.reroot(sorted(cluster), share=share)
        assert splits(again) == splits(tree)
        assert set(clusters_of(again)) == set(clusters_of(found))
        # Names stay with nodes: below the edge and off the way to the former root clusters are the same.
        for cluster, name in zip(clusters_of(tree), tree.node_names or (), strict=False):
            if cluster <= members(tree)[node] or not cluster & members(tree)[node]:
                assert found.node(name).leaves.size == len(cluster)


@pytest.mark.parametrize("seed", range(60))
def test_the_midpoint_halves_the_longest_path(seed):
    tree = unrooted(seed)
    paths = paths_of(tree)
    found = tree.reroot(midpoint=True)
    assert np.array_equal(paths_of(found), paths)
    assert splits(found) == splits(tree)
    depths = [
        sum(found.lengths[node] for node in way)
        for way in ([leaf, *ancestors(found, leaf)] for leaf in range(found.n_leaves))
    ]
    assert max(depths) == paths.max() / 2
    sides = [max(depths[leaf] for leaf in child.leaves) for child in found.root.children]
    assert sorted(sides)[-2:] == [paths.max() / 2] * 2


def ancestors(tree, leaf):
    """The nodes above a leaf but the root."""
    found, node = [], int(tree.parents[leaf])
    while node != len(tree.parents) - 1 and node >= 0:
        found.append(node)
        node = int(tree.parents[node])
    return found


def test_an_outgroup_must_be_apart():
    tree = Dendrogram.from_newick("(((cat:1,dog:1):1,cow:2):1,(car:1,bus:1):2);")
    sides = {frozenset(child.leaf_names) for child in tree.reroot(["car", "bus"]).root.children}
    assert sides == {frozenset(["car", "bus"]), frozenset(["cat", "dog", "cow"])}
    # An outgroup around the root is the other side of an edge.
    found = tree.reroot(["cow", "car", "bus"])
    assert {frozenset(child.leaf_names) for child in found.root.children} == {
        frozenset(["cat", "dog"]),
        frozenset(["cow", "car", "bus"]),
    }
    for outgroup, message in [
        (["cat", "cow"], "no edge separates the outgroup from all other leaves: .* also contains 'dog'"),
        (["cat", "car"], "no edge separates the outgroup"),
        (["cat", "dog", "cow", "car", "bus"], "the outgroup has all 5 leaves"),
        ([], "no leaf is given"),
        (["cart"], "cart"),
        ([7], r"leaves\[0\] = 7 is above 4"),
    ]:
        with pytest.raises(InputError, match=message):
            tree.reroot(outgroup)
    for options, message in [
        ({}, "one of outgroup, edge and midpoint"),
        ({"edge": 0, "midpoint": True}, "one of outgroup, edge and midpoint"),
        ({"edge": 8}, "no edge above the root"),
        ({"edge": 9}, "there is no node 9"),
        ({"edge": 0, "share": 1.5}, "share"),
        ({"midpoint": 2}, "midpoint"),
    ]:
        with pytest.raises(InputError, match=message):
            tree.reroot(**options)
    shape = Dendrogram.from_newick("((a,b)90,c,d);")
    with pytest.raises(InputError, match="neither heights nor lengths, and so no midpoint"):
        shape.reroot(midpoint=True)
    found = shape.reroot("d")
    assert (found.scale, found.to_newick()) == ("shape", "(d,(c,(a,b)90));")
    heights = ordhc.linkage([1.0, 4.0, 4.0], dissimilarity=True).reroot([0])
    assert heights.scale == "lengths"
    assert heights.patristic().tolist() == [1, 4, 4]


# Small trees, stars, lengths of zero, lengths that are not known.


@pytest.mark.parametrize("scale", ["heights", "lengths", "shape"])
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_stars(n, scale):
    own = {"heights": [2.0] * (n > 1), "lengths": [1.0] * n + [math.nan] * (n > 1)}
    options = {} if scale == "shape" else {scale: own[scale]}
    tree = Dendrogram.from_parents([n] * n + [-1] if n > 1 else [-1], **options)
    assert len(tree.parents) == (n + 1 if n > 1 else 1)
    assert ordhc.as_dendrogram(tree.to_dict()) == tree
    assert tree.cut(1).tolist() == tree.cut(depth=0).tolist() == [0] * n
    assert tree.cut(n).tolist() == tree.cut(depth=1).tolist() == list(range(n))
    same = [tree.keep(range(n)), tree.keep(tree.root), tree.contract(ties=True), tree.prune([])]
    assert same == [tree] * 4
    assert lca_size(tree, 0, n - 1) == n
    if scale != "shape":
        assert tree.patristic().tolist() == [2.0] * (n * (n - 1) // 2)
        assert np.array_equal(tree.patristic(square=True), 2.0 * (1 - np.eye(n)))
    if n > 1:
        assert tree.keep([n - 1]).n_leaves == 1
        rooted = tree.reroot([0])
        assert len(rooted.parents) == (3 if n == 2 else n + 2)
        assert {child.size for child in rooted.root.children} == {1, n - 1}
        if scale != "shape":
            assert rooted.patristic().tolist() == tree.patristic().tolist()
            assert tree.cut(path=2.0).tolist() == [0] * n
            assert tree.cut(path=1.9).tolist() == list(range(n))
        with pytest.raises(InputError, match=r"depth = -1"):
            tree.cut(depth=-1)
    else:
        assert tree.reroot([0]) == tree.reroot(midpoint=True) == tree


def test_paths_that_are_too_long():
    tree = Dendrogram.from_newick("((a:1e308,b:1e308):1e308,c:1e308);")
    assert Dendrogram.from_newick(tree.to_newick()) == tree
    for call in (tree.patristic, tree.cophenetic, lambda: tree.reroot(midpoint=True)):
        with pytest.raises(InputError, match="too far from the root"):
            call()
    for call in (lambda: tree.heights, lambda: tree.cut(2), lambda: tree.cut(path=1)):
        with pytest.raises(InputError, match="inf"):
            call()


def test_lengths_of_zero_and_unknown_ones():
    zero = Dendrogram.from_newick("((a:0,b:0):0,(c:0,d:0):0);")
    assert zero.patristic().tolist() == [0.0] * 6
    assert zero.cut(path=0).tolist() == [0, 0, 0, 0]
    assert zero.reroot(midpoint=True).patristic().tolist() == [0.0] * 6
    assert zero.contract(ties=True).to_newick() == "(a:0,b:0,c:0,d:0);"
    text = "((a:1,b):1,c:2,d:0);"
    tree = quietly(Dendrogram.from_newick, text)
    assert tree.to_newick() == text
    assert tree.cut(depth=1).tolist() == [0, 0, 1, 2]
    assert tree.keep(["a", "c", "d"]).patristic().tolist() == [4, 2, 2]
    for call in (
        tree.patristic,
        tree.cophenetic,
        lambda: tree.cut(2),
        lambda: tree.cut(path=1.0),
        lambda: tree.reroot(midpoint=True),
    ):
        with pytest.raises(InputError, match="the edge above .* has no length"):
            call()
    moved = tree.reroot(["c"])
    known = moved.keep([0, 2, 3])
    assert known.patristic().tolist() == [4, 2, 2]
    assert quietly(Dendrogram.from_newick, moved.to_newick()).to_newick() == moved.to_newick()
    for what in ("height", "path"):
        with pytest.raises(InputError, match=f"{what} is NaN|{what}"):
            zero.cut(**{what: math.nan})
