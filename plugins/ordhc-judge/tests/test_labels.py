"""Names for clusters: what the prompts hold, what becomes of what a model writes."""

import re

import numpy as np
import ordhc_judge
import pytest
from helpers import judged
from ordhc_judge.examples import messages, taxonomy
from ordhc_judge.labels import _name_in

import ordhc
from conftest import ITEMS, TREE
from ordhc.errors import InputError

NAMED = "(((0,1,2)small,(3,4)large)forest,((5,6)water,(7,(8,9)wings)air)others,((10,11),(12,13)));"


def named(tree, server, items=ITEMS, **settings):
    with judged(server, items, **settings.pop("judge", {})) as judge:
        return ordhc_judge.label(tree, judge, **settings)


def test_names_from_the_top_down(served):
    server = served(NAMED)
    tree = ordhc.as_dendrogram(TREE)
    found = named(tree, server, criterion="unused", judge={"criterion": "habitat"})
    names = {frozenset(node.leaves.tolist()): node.name for node in found.nodes() if not node.is_leaf}
    assert names[frozenset((0, 1, 2))] == "small"
    assert names[frozenset(range(5))] == "forest"
    assert names[frozenset((8, 9))] == "wings"
    assert ordhc.metrics.robinson_foulds(found, tree) == 0
    assert found.merges.tolist() == tree.merges.tolist()
    # One question each, parents before children.
    prompts = [body["messages"][0]["content"] for body in server.bodies]
    assert len(prompts) >= len(names)
    assert "It is a part of" not in prompts[0]
    inner = next(prompt for prompt in prompts if "- ibis thing" in prompt and "* hen thing" in prompt)
    assert "Items are grouped by habitat." in inner
    assert "It is a part of the group 'air'." in inner
    assert set(re.findall(r"^[-*] .*$", inner, re.M)) == {"- ibis thing", "- jay thing", "* hen thing"}
    assert server.bodies[0].get("logprobs") is None


def test_medoids_are_shown(served):
    server = served()
    # A tree in which one part is much larger: each part is shown by the leaf in its middle.
    named(ordhc.as_dendrogram(TREE), server, examples=3, levels=1)
    shown = re.findall(r"^- (.*)$", server.bodies[0]["messages"][0]["content"], re.M)
    assert len(shown) == 3
    places = [ITEMS.index(text) for text in shown]
    assert [place < 5 for place in places].count(True) == 1
    assert [5 <= place < 10 for place in places].count(True) == 1


def test_levels_sizes_and_what_is_stored(served, tmp_path):
    server = served(NAMED)
    tree = ordhc.as_dendrogram(TREE).replace(names=ITEMS)
    top = named(tree, server, levels=2)
    assert sum(node.name is not None for node in top.nodes() if not node.is_leaf) == 4
    large = named(tree, server, min_size=5)
    assert all(node.name is None or node.size >= 5 for node in large.nodes() if not node.is_leaf)
    full = named(tree, server)
    ordhc.write_tree(full, tmp_path / "t.nwk")
    assert ordhc.read_tree(tmp_path / "t.nwk").node("wings").size == 2
    full.savefig(tmp_path / "t.svg")
    assert "wings" in (tmp_path / "t.svg").read_text(encoding="utf-8")
    full.savefig(tmp_path / "t.html")
    assert "wings" in (tmp_path / "t.html").read_text(encoding="utf-8")
    assert ordhc.as_dendrogram(full.to_dict()) == full
    assert "wings" in full.collapse(depth=2).to_newick() or "air" in full.collapse(depth=2).to_newick()


def test_siblings_have_different_names(served, monkeypatch):
    server = served()
    monkeypatch.setattr(server.model, "name", lambda _: "Things")
    found = named(ordhc.as_dendrogram(TREE), server)
    for node in found.nodes():
        if not node.is_leaf:
            names = [child.name for child in node.children if not child.is_leaf]
            assert len(set(names)) == len(names)
            assert node.name not in names
            assert all(name.startswith("Things") for name in names)
    again = [body["messages"][0]["content"] for body in server.bodies if "must not be called" in str(body)]
    assert any("It must not be called 'Things'." in prompt for prompt in again)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Lost cards", "Lost cards"),
        ('"Lost cards."', "Lost cards"),
        ("Name: **Lost cards**", "Lost cards"),
        ("<think>hm\nLost?</think>\n\nCards\n", "Cards"),
        ("Sure! Here it is:\nLost\tcards", "Lost cards"),
        ("a" * 30 + " " + "b" * 50, "a" * 30),
        ("", None),
        ("...", None),
        (None, None),
        ("\x1b[31mred\x00", "[31mred"),
        ("smile \ud83d", "smile \ufffd"),
    ],
)
def test_what_a_model_writes(text, name):
    assert _name_in(text) == name


def test_without_names_or_with_faults(served, monkeypatch):
    monkeypatch.setattr("ordhc_judge.client._FIRST_WAIT", 0.002)
    server = served(NAMED, faults={"refusal": 1.0})
    found = named(ordhc.as_dendrogram(TREE), server)
    assert found.node_names is None or not any(found.node_names)
    server.faults = {"500": 0.3}
    found = named(ordhc.as_dendrogram(TREE), server)
    assert found.root.name is not None


def test_nothing_is_asked_twice(served, tmp_path):
    server = served(NAMED)
    settings = {"cache": tmp_path / "c.sqlite", "rpm": None}
    first = ordhc_judge.label(TREE_OF(), ITEMS, server.url, "model", **settings)
    asked = server.requests
    assert ordhc_judge.label(TREE_OF(), ITEMS, server.url, "model", **settings) == first
    assert server.requests == asked


def TREE_OF():  # noqa: N802
    return ordhc.as_dendrogram(TREE)


def test_small_trees(served):
    server = served()
    one = ordhc.Dendrogram(np.zeros((0, 2), int), [])
    with judged(server, ["ant thing"]) as judge:
        assert ordhc_judge.label(one, judge).n_leaves == 1
    assert server.requests == 0


def test_mistakes(served):
    server = served()
    tree = TREE_OF()
    for items, settings, message in (
        (ITEMS, {}, "needs a server"),
        (ITEMS[:3], {"url": server.url, "model": "m"}, "3 items for 14 leaves"),
        (ITEMS, {"url": server.url, "model": "m", "minsize": 3}, "no setting minsize"),
        (ITEMS, {"url": server.url, "model": "m", "min_size": 1}, "min_size = 1"),
        (ITEMS, {"url": server.url, "model": "m", "examples": 0}, "examples = 0"),
    ):
        with pytest.raises(InputError, match=message):
            ordhc_judge.label(tree, items, **settings)
    with ordhc_judge.Judge(server.url, "m", ITEMS) as judge:
        for items, settings, message in (
            (judge, {"budget": {"calls": 3}}, "leave out budget"),
            (ITEMS, {"judge": judge, "url": server.url, "timeout": 3}, "leave out url, timeout"),
        ):
            with pytest.raises(InputError, match=message):
                ordhc_judge.label(tree, items, **settings)


def test_the_examples():
    texts, labels = messages()
    assert len(set(texts)) == len(texts) == 150
    tree = ordhc.Dendrogram.from_newick(taxonomy())
    assert tree.n_leaves == 150
    topics = {node.name: node.size for node in tree.root.children}
    assert topics == {"Cards": 30, "Transfers": 30, "Account": 30, "App": 30, "Loans": 30}
    for node in tree.nodes():
        if node.size == 6:
            assert {labels[leaf][0].capitalize() for leaf in node.leaves.tolist()} == {node.name}
