"""The members of `Dendrogram`: how many, in which groups, and what the ones with several uses accept."""

import json
import pickle
import re
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Dendrogram
from ordhc.errors import InputError
from ordhc.tree.dendrogram import lca_size
from support.newick import dendrograms

QUICK = settings(deadline=None, max_examples=60)
TEXT = "((((cat:1,dog:1)pets:1,cow:2)90:0,hen:2)animals:1,(car:1,bus:1)40:2)all;"


def tree():
    return Dendrogram.from_newick(TEXT)


def test_there_are_at_most_40_members_and_the_docstring_groups_them():
    members = [name for name in dir(Dendrogram) if not name.startswith("_")]
    assert len(members) <= 40
    bullets = re.findall(r"^    \* [^:`]+: ((?:`\w+`,?\s*)+)$", Dendrogram.__doc__, re.MULTILINE)
    assert len(bullets) == 7
    assert sorted(re.findall(r"`(\w+)`", " ".join(bullets))) == sorted(members)


def test_replace_changes_what_is_given_only():
    d = tree().replace(settings={"linkage": "by hand"}).rotate("all")
    parts = ("names", "node_names", "support", "settings")
    others = {
        "names": list("abcdef"),
        "node_names": ["x", None, None, None, "y"],
        "support": [0.25, 0.5, np.nan, 0.75, 1.0],
        "settings": {"linkage": "average"},
    }

    def told(one):
        return [repr(getattr(one, part)) for part in parts]

    assert told(d.replace()) == told(d)
    for at, part in enumerate(parts):
        for value in (others[part], None):
            found = d.replace(**{part: value})
            assert (getattr(found, part) is None) == (value is None)
            assert told(found)[:at] + told(found)[at + 1 :] == told(d)[:at] + told(d)[at + 1 :]
            assert found.leaf_order().tolist() == d.leaf_order().tolist()
            assert found.lengths.tolist()[:-1] == d.lengths.tolist()[:-1]
    both = d.replace(names=None, support=others["support"])
    assert both.names is None
    assert both.support.tolist()[:2] == [0.25, 0.5]
    assert both.node_names == d.node_names
    with pytest.raises(InputError, match="names has 2 entries for 6 leaves"):
        d.replace(names=["a", "b"])
    with pytest.raises(TypeError):
        d.replace(["a"])


def test_rotate_takes_one_of_three():
    d = tree()
    for wrong in ({}, {"node": 3, "by_size": "ascending"}, {"order": d.labels, "by_size": "ascending"}):
        with pytest.raises(InputError, match="give one of node=, order= and by_size=, not "):
            d.rotate(**wrong)
    with pytest.raises(InputError, match="by_size is 'up', not one of ascending, descending"):
        d.rotate(by_size="up")
    assert d.rotate(0) == d
    assert d.rotate(by_size="descending").leaf_order().tolist() == [0, 1, 2, 3, 4, 5]
    assert d.rotate(by_size="ascending").leaf_order().tolist() == [4, 5, 3, 2, 0, 1]


@QUICK
@given(dendrograms(), st.sampled_from([0.0, 0.3, 0.9]))
def test_ties_are_contracted_before_support(d, least):
    joined = d.contract(ties=True)
    if joined.support is None:
        return
    assert d.contract(least, ties=True) == joined.contract(min_support=least)


def test_contract_says_what_it_needs():
    d = tree()
    with pytest.raises(
        InputError, match="contract needs min_support=, for example 0.5, or ties=True, or both"
    ):
        d.contract()
    with pytest.raises(InputError, match="contract needs"):
        d.contract(ties=False)
    with pytest.raises(InputError, match="ties = 'yes'"):
        d.contract(ties="yes")
    assert d.contract(ties=True).to_newick() == (
        "(((cat:1,dog:1)pets:1,cow:2,hen:2)animals:1,(car:1,bus:1)40:2)all;"
    )
    assert d.contract(min_support=0.5).to_newick() == (
        "((((cat:1,dog:1)pets:1,cow:2)90:0,hen:2)animals:1,car:3,bus:3)all;"
    )
    both = d.contract(min_support=0.5, ties=True)
    assert both.to_newick() == "(((cat:1,dog:1)pets:1,cow:2,hen:2)animals:1,car:3,bus:3)all;"


@QUICK
@given(dendrograms(), st.data())
def test_a_list_of_leaves_is_the_smallest_cluster_that_has_them(d, data):
    leaves = data.draw(st.lists(st.integers(0, d.n_leaves - 1), min_size=1))
    having = [node for node in d.nodes() if set(leaves) <= set(node.leaves.tolist())]
    smallest = min(having, key=lambda node: (node.size, -node.depth))
    forms = [leaves, tuple(leaves), np.array(leaves), iter(leaves)]
    if d.names is not None:
        forms.append([d.names[leaf] for leaf in leaves])
    for form in forms:
        assert d.node(form) == smallest
    assert smallest.depth == len(having) - 1
    i, j = leaves[0], leaves[-1]
    assert lca_size(d, i, j) == d.node([i, j]).size
    assert d.keep(d.node(leaves)) == d.keep(smallest.leaves)


def test_nodes_and_leaves_are_told_apart():
    d = tree()
    assert d.node(np.int64(3)) == d.node(np.array(3)) == d.node("hen") == d.node(["hen"]) == d.node([3])
    for wrong, said in (
        ([], "no leaf is given"),
        (["pets"], "'pets' is a node, not a leaf"),
        ([6], r"leaves\[0\] = 6 is above 5"),
        (b"cat", "give a list"),
        (1.5, "which"),
        (None, "which"),
    ):
        with pytest.raises(InputError, match=said):
            d.node(wrong)
    with pytest.raises(InputError, match="'pets' is a node, not a leaf"):
        d.keep("pets")
    with pytest.raises(InputError, match="of another tree"):
        d.keep(tree().root)
    assert d.keep(d.node("animals")).names == ("cat", "dog", "cow", "hen")


@QUICK
@given(dendrograms())
def test_as_dendrogram_restores_what_to_dict_returned(d):
    told = d.to_dict()
    for form in (told, json.loads(json.dumps(told)), MappingProxyType(told)):
        again = ordhc.as_dendrogram(form)
        assert again == d
        assert again.to_dict() == told
    other = [f"leaf {leaf}" for leaf in range(d.n_leaves)]
    assert ordhc.as_dendrogram(told, names=other) == d.replace(names=other)
    with pytest.raises(InputError, match=f"has {d.n_leaves} leaves, not {d.n_leaves + 1}"):
        ordhc.as_dendrogram(told, n_leaves=d.n_leaves + 1)
    assert pickle.loads(pickle.dumps(d)).to_dict() == told


def test_other_mappings_are_no_trees():
    for wrong in ({}, {"a": 1}, {"n_leaves": 2}):
        with pytest.raises(InputError, match="a dict that has the keys n_leaves and parents"):
            ordhc.as_dendrogram(wrong)


def test_d3_is_a_format_of_write_tree(tmp_path, capsysbinary):
    d = tree()
    ordhc.write_tree(d, tmp_path / "tree.json", format="d3")
    text = (tmp_path / "tree.json").read_bytes()
    root = json.loads(text)
    assert (root["name"], root["size"], len(root["children"])) == ("all", 6, 2)
    assert root["children"][1]["children"][0]["name"] == "car"
    ordhc.write_tree(d, "-", format="d3")
    assert capsysbinary.readouterr().out == text
    with pytest.raises(
        InputError, match="nested JSON for D3 stores one tree, not 2: write .nwk, .nex or .json"
    ):
        ordhc.write_trees([d, d], tmp_path / "trees.json", format="d3")
    with pytest.raises(InputError, match="keys n_leaves and parents"):
        ordhc.read_tree(tmp_path / "tree.json")
    with pytest.raises(InputError, match="format"):
        ordhc.read_tree(tmp_path / "tree.json", format="d3")
