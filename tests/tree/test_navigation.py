"""Nodes, parts and cuts of dendrograms beside plain dicts."""

import json
import math
import re
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Dendrogram
from ordhc.errors import InputError, MissingExtraError, OrdhcWarning
from ordhc.tree.tables import as_nested_json
from support.newick import clades, dendrograms, read_newick
from support.trees import members

QUICK = settings(deadline=None, max_examples=60)
READ = ["((a:1,b:1)x:1,c:2);", "(d:3,(c:1,a:2)70:1,b:4)root;", "(e,(d,(c,(b,a)99)98)97);", "(b,a,d,c);", "a;"]


def any_tree():
    return dendrograms() | st.sampled_from(READ).map(read_newick)


def plain(tree):
    """Every node as a dict, by its number."""
    nodes = [{"children": [], "leaves": set(leaves)} for leaves in members(tree)]
    for label, above in enumerate(tree.parents.tolist()):
        if above >= 0:
            nodes[above]["children"].append(label)
            nodes[label]["parent"] = above
    return dict(enumerate(nodes))


def leaves_as_written(tree):
    bare = tree.replace(names=None, node_names=None, support=None)
    return [int(leaf) for leaf in re.findall(r"\d+", bare.to_newick(branch_lengths=False))]


@QUICK
@given(any_tree())
def test_nodes_are_those_of_a_plain_walk(tree):
    n, twin = tree.n_leaves, plain(tree)
    seen = list(tree.nodes())
    assert sorted(node.label for node in seen) == sorted(twin)
    assert {node.label for node in tree.nodes("postorder")} == set(twin)
    found = clades(tree)
    for node in seen:
        other = twin[node.label]
        assert {child.label for child in node.children} == set(other["children"])
        assert len(node.children) == len(other["children"]) != 1
        assert set(node.leaves.tolist()) == other["leaves"]
        assert node.size == len(other["leaves"])
        assert node.is_leaf == (node.label < n) == (not node.children)
        assert node.parent == (tree.node(other["parent"]) if "parent" in other else None)
        assert node.leaf_names == tuple(tree.labels[leaf] for leaf in node.leaves)
        name, support, length = found[frozenset(node.leaf_names)]
        if not node.is_leaf:
            assert node.name == name
            if tree.scale == "heights":
                assert node.height == tree.heights[node.label - n]
        elif tree.names is not None:
            assert node.name == tree.names[node.label]
        assert f"{math.nan if node.support is None else node.support}" == support
        if node.branch_length is not None:
            assert f"{node.branch_length + 0.0}" == length


@QUICK
@given(any_tree())
def test_orders(tree):
    order = leaves_as_written(tree)
    assert tree.leaf_order().tolist() == tree.root.leaves.tolist() == order
    before = [node.label for node in tree.nodes()]
    after = [node.label for node in tree.nodes("postorder")]
    assert [label for label in before if label < tree.n_leaves] == order
    assert [label for label in after if label < tree.n_leaves] == order
    for node in tree.nodes():
        for child in node.children:
            assert before.index(node.label) < before.index(child.label)
            assert after.index(node.label) > after.index(child.label)
        together = [leaf for child in node.children for leaf in child.leaves.tolist()] or [node.label]
        assert together == node.leaves.tolist()


@QUICK
@given(any_tree(), st.randoms())
def test_subtrees_keep_all(tree, random):
    node = random.choice(list(tree.nodes()))
    part = tree.keep(node)
    leaves = sorted(node.leaves.tolist())
    assert part.n_leaves == node.size
    assert part.names == (None if tree.names is None else tuple(tree.names[leaf] for leaf in leaves))
    there = {frozenset(leaves[leaf] for leaf in other.leaves): other for other in part.nodes()}
    for other in tree.nodes():
        if not set(other.leaves) <= set(leaves):
            continue
        twin = there.pop(frozenset(other.leaves.tolist()))
        if not other.is_leaf or tree.names is not None:
            assert (twin.name, twin.support) == (other.name, other.support)
        if tree.scale == "heights" and (not other.is_leaf or tree.leaf_heights is not None):
            assert twin.height == other.height
        if other.label != node.label:
            assert twin.branch_length == other.branch_length
        else:
            assert twin.branch_length == (other.branch_length if node == tree.root else None)
        assert [leaves[leaf] for leaf in twin.leaves] == other.leaves.tolist()
    assert not there
    if node == tree.root and (tree.scale != "lengths" or math.isnan(tree.lengths[-1])):
        assert part == tree


def quietly(call, *args, **options):
    """The result of a cut that may have fewer clusters than asked for, which is a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        return call(*args, **options)


def has_paths(tree):
    return tree.scale != "shape" and not np.isnan(tree.lengths[:-1]).any()


@QUICK
@given(any_tree().filter(has_paths), st.data())
def test_the_top_of_a_tree_is_its_cut(tree, data):
    if tree.scale == "lengths" or data.draw(st.booleans()):
        options = {"n_clusters": data.draw(st.integers(1, tree.n_leaves))}
    else:
        options = {"height": data.draw(st.sampled_from([*tree.heights.tolist(), 0.5]))}
    labels, top = quietly(tree.cut, **options), quietly(tree.collapse, **options)
    assert top.n_leaves == labels.max() + 1
    assert len(set(top.names)) == top.n_leaves
    assert top.scale == tree.scale
    whole = {frozenset(cluster) for cluster in members(tree)}
    for cluster in members(top):
        assert frozenset(np.flatnonzero(np.isin(labels, list(cluster))).tolist()) in whole
    mine = {frozenset(np.unique(labels[node.leaves]).tolist()): node for node in tree.nodes("postorder")}
    tops = [tree.node(np.flatnonzero(labels == label)) for label in range(top.n_leaves)]
    for node in top.nodes():
        cluster = frozenset(node.leaves.tolist())
        other = tops[node.label] if node.is_leaf else mine[cluster]
        if not node.is_leaf:
            assert (node.support, node.name) == (other.support, other.name)
        if tree.scale == "heights":
            assert node.height == other.height
        elif node.parent is not None:
            assert node.branch_length == other.branch_length
    if top.n_leaves == tree.n_leaves:
        same = top.replace(names=None)
        assert same == tree.replace(names=None) or not math.isnan(tree.lengths[-1])


def says_nothing_of_support(tree):
    return tree.support is None and any(node.parent and not node.is_leaf for node in tree.nodes())


@QUICK
@given(any_tree(), st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]))
@example(Dendrogram([(0, 1), (2, 4), (3, 5)], [1.0, 2, 3], support=[0.1, np.nan, np.nan]), 0.3)
def test_nodes_of_little_support_are_contracted(tree, least):
    if says_nothing_of_support(tree):
        with pytest.raises(InputError, match="no support"):
            tree.contract(least)
        return
    found = tree.contract(least)
    weak = [
        node for node in tree.nodes() if node.parent and node.support is not None and node.support < least
    ]
    assert found == tree or weak
    there = {tuple(sorted(node.leaves)): node for node in found.nodes()}
    stay = [node for node in tree.nodes() if node not in weak]
    assert there.keys() == {tuple(sorted(node.leaves)) for node in stay}
    assert found.scale == tree.scale
    if tree.scale == "heights":
        assert found.is_monotone or not tree.is_monotone
    for node in stay:
        twin, length = there[tuple(sorted(node.leaves))], node.branch_length
        above = node.parent
        while above in weak:
            if length is not None and above.branch_length is not None:
                length += above.branch_length
            above = above.parent
        assert (twin.name, twin.support) == (node.name, node.support)
        if tree.scale == "heights":
            assert twin.height == node.height
        assert (None if twin.parent is None else sorted(twin.parent.leaves)) == (
            None if above is None else sorted(above.leaves)
        )
        assert twin.branch_length == (None if length is None else pytest.approx(length))
    again = ordhc.as_dendrogram(json.loads(json.dumps(found.to_dict())))
    assert again == found
    # Where only nodes that have gone had a support, none is left to contract by.
    assert says_nothing_of_support(found) or found == found.contract(least)


def test_what_is_contracted():
    tree = read_newick("((((a:1,b:1)30:1,c:2)80:1,d:3)40:1,e:4);")
    assert tree.contract(0.5).to_newick() == "((a:2,b:2,c:2)80:2,d:4,e:4);"
    assert tree.contract(1.0).to_newick() == "(a:4,b:4,c:4,d:4,e:4);"
    assert tree.contract(0.3) == tree
    for least in (-0.1, 1.1, np.nan):
        with pytest.raises(InputError, match="min_support"):
            tree.contract(least)
    with pytest.raises(InputError, match=r"no support: make a tree with support by ordhc\.bootstrap"):
        tree.replace(support=None).contract(0.5)
    assert Dendrogram([(0, 1)], [1.0]).contract(0.5).n_leaves == 2


@pytest.mark.parametrize("n", [1, 2, 3])
def test_small_trees(n):
    tree = Dendrogram(
        [(0, 1), (2, 3)][: n - 1], [1.0, 2.0][: n - 1], kind="similarity" if n == 1 else "dissimilarity"
    )
    assert [node.size for node in tree.nodes("postorder")] == [[1], [1, 1, 2], [1, 1, 1, 2, 3]][n - 1]
    assert tree.root.parent is None
    assert tree.root.branch_length is None
    assert tree.keep(tree.root) == tree
    assert tree.collapse(1).n_leaves == 1
    assert tree.collapse(n).replace(names=None) == tree
    assert json.loads(as_nested_json(tree.root))["size"] == n
    assert tree.to_networkx().number_of_nodes() == 2 * n - 1
    assert len(tree.to_frame()) == 2 * n - 1


def test_names_of_collapsed_clusters():
    top = read_newick("(((a:1,b:1)x:1,c:2):1,((d:1,e:1):1,f:2)y:1);").collapse(4)
    assert top.names == ("x", "c", "d +1", "f")
    assert top.to_newick() == "((x:1,c:2):1,('d +1':1,f:2)y:1);"
    twice = read_newick("(((a:1,b:1):1,c:2)y:1,((d:1,e:1):1,f:2)y:1);")
    assert twice.collapse(2).names == ("y (8)", "y (9)")
    assert read_newick("((a:1,b:1):1,('a +1':1,d:1)y:1);").collapse(3).names == ("a +1 (4)", "a +1", "d")
    assert Dendrogram.from_newick("(((a,b)x,c),((d,e),f)y);").collapse(depth=1).to_newick() == "('a +2',y);"
    with pytest.raises(InputError, match="n_clusters = 9"):
        top.collapse(9)
    with pytest.raises(InputError, match="give one of n_clusters, height, depth and path, not none"):
        top.collapse()


def test_nodes_by_name():
    tree = Dendrogram.from_newick("((cat:1,dog:1)pets:1,(cow:1,pig:1)pets:1);")
    assert tree.node("cat").label == tree.node(0).label == 0
    with pytest.raises(InputError, match="2 nodes have the name 'pets': pass one of their numbers, 4, 5"):
        tree.node("pets")
    with pytest.raises(InputError, match="'cta' is unknown.*cat"):
        tree.node("cta")
    with pytest.raises(InputError, match="there is no node 7; nodes are 0 to 6"):
        tree.node(7)
    with pytest.raises(InputError, match="below 0"):
        tree.node(-1)
    with pytest.raises(InputError, match="no node has a name"):
        Dendrogram([(0, 1)], [1.0]).node("0")
    with pytest.raises(InputError, match="there is no node 5; nodes are 0 to 4"):
        read_newick("(a,b,c,d);").node(5)
    with pytest.raises(InputError, match="of another tree"):
        tree.keep(tree.keep("cat").root)
    with pytest.raises(InputError, match="preorder"):
        tree.nodes("sideways")
    assert tree.node("cat") != tree.keep("cat").node("cat")
    assert {tree.node("cat"): 1}[tree.node(0)] == 1


def test_cuts_of_many_levels():
    tree = read_newick("(((a:1,b:1):1,(c:1,d:1):1):1,((e:2,f:2):.5,g:2.5):.5);")
    labels = tree.cut([1, 2, 4, 7])
    for column, k in zip(labels.T, [1, 2, 4, 7], strict=True):
        assert column.tolist() == tree.cut(k).tolist()
    assert ordhc.as_dendrogram(labels).n_leaves == 7
    assert tree.cut(height=[4.0, 1.0]).T.tolist() == [[0, 0, 0, 0, 1, 1, 2], list(range(7))]
    # Of two nodes with paths of 4 the larger one is undone first.
    assert tree.cut(4).tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert tree.cut(5, min_size=2).tolist() == [0, 0, 1, 1, -1, -1, -1]
    assert tree.cut(height=4.0, min_size=3).tolist() == [0, 0, 0, 0, -1, -1, -1]
    assert tree.cut(height=[4.0], min_size=8).tolist() == [[-1]] * 7
    assert tree.cut([]).shape == (7, 0)
    assert tree.cut(np.array([2, 3])).shape == (7, 2)
    for wrong in ([0, 2], [2.5], [8], [[1, 2]], ["2"], [True]):
        with pytest.raises(InputError):
            tree.cut(wrong)
    with pytest.raises(InputError, match="min_size"):
        tree.cut(2, min_size=0)


@QUICK
@given(any_tree(), st.integers(1, 4))
def test_small_clusters_are_noise(tree, least):
    for k in range(1, tree.n_leaves + 1):
        options = {"n_clusters": k} if has_paths(tree) else {"depth": k - 1}
        labels, found = quietly(tree.cut, **options), quietly(tree.cut, **options, min_size=least)
        assert labels.max() < k or "depth" in options
        sizes = np.bincount(labels)
        assert ((found == -1) == (sizes[labels] < least)).all()
        kept = found[found >= 0]
        firsts = [int(label) for label in dict.fromkeys(kept.tolist())]
        assert firsts == list(range(len(firsts)))
        for label in firsts:
            assert len(set(labels[found == label].tolist())) == 1


@QUICK
@given(any_tree())
def test_tables_graphs_and_json_tell_the_same(tree):
    nodes = {node.label: node for node in tree.nodes()}
    table = tree.to_frame("dict")
    assert sorted(table["label"]) == table["label"] == sorted(nodes)
    frames = [tree.to_frame().to_dict("list"), tree.to_frame("polars").to_dict(as_series=False)]
    frames.append(tree.to_frame("pyarrow").to_pydict())
    import pandas

    for frame in frames:
        assert {
            name: [None if cell is None or cell is pandas.NA or cell != cell else cell for cell in cells]
            for name, cells in frame.items()
        } == table
    graph, nested = tree.to_networkx(), {}
    waiting = [(json.loads(as_nested_json(tree.root)), None)]
    while waiting:
        data, parent = waiting.pop()
        nested[data["label"]] = (data, parent)
        waiting += [(child, data["label"]) for child in data.get("children", [])]
    assert graph.number_of_nodes() == len(nodes) == len(nested)
    for at, label in enumerate(table["label"]):
        node = nodes[label]
        row = {name: cells[at] for name, cells in table.items()}
        above = None if node.parent is None else node.parent.label
        facts = {"height": node.height, "size": node.size, "support": node.support, "name": node.name}
        assert row == {
            "label": label,
            "parent": above,
            **facts,
            "branch_length": node.branch_length,
            "is_leaf": node.is_leaf,
        }
        there = {key: value for key, value in facts.items() if value is not None}
        assert dict(graph.nodes[label]) == {**there, "is_leaf": node.is_leaf}
        assert list(graph.predecessors(label)) == ([] if above is None else [above])
        data, parent = nested[label]
        assert parent == above
        assert data.get("name") == (tree.labels[label] if node.is_leaf else node.name)
        assert [data.get(key) for key in ("height", "size", "support")] == list(facts.values())[:3]
        assert data.get("branch_length") == node.branch_length
        assert [child["label"] for child in data.get("children", [])] == [kid.label for kid in node.children]


def test_missing_packages_are_named(monkeypatch):
    import sys

    tree = read_newick("(a,b);")
    for package in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingExtraError, match=f"pip install {package}"):
            tree.to_frame(package)
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"ordhc\[trees\]"):
        tree.to_networkx()
    with pytest.raises(InputError, match="backend"):
        tree.to_frame("excel")


def test_caterpillars_need_no_recursion():
    n = 8_000
    merges = np.column_stack([np.r_[0, n + np.arange(n - 2)], np.arange(1, n)])
    tree = Dendrogram(merges, np.arange(n - 1.0))
    assert sum(node.size for node in tree.nodes()) == n + n * (n + 1) // 2 - 1
    assert as_nested_json(tree.root).count("children") == n - 1
    deep = tree.keep(tree.node(n + 5_000))
    assert deep.n_leaves == 5_002
    assert tree.collapse(5_000).n_leaves == 5_000
    assert len(tree.to_frame("dict")["label"]) == 2 * n - 1
    assert tree.heights is tree.heights
    assert tree.labels is tree.labels
    assert tree.merges is tree.merges
