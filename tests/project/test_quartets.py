"""Triplets as quartets with a leaf for the root, for programs that put quartets together, and their trees."""

import itertools
import shlex
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import ordhc
from ordhc.tree.dendrogram import from_engine, lca_size

BENCHES = Path(__file__).parents[2] / "benches"

#: Of all trees of leaves 0..3 and r that of the heaviest quartets, written with a leaf in the middle.
PROGRAM = """
import itertools, re, sys
lines = [re.findall(r"[\\w.]+", line) for line in open(sys.argv[sys.argv.index("-i") + 1])]
weight = {}
for a, b, c, d, w in lines:
    weight[frozenset([frozenset([a, b]), frozenset([c, d])])] = float(w)
best = None
for middle in "0123r":
    others = [leaf for leaf in "0123r" if leaf != middle]
    for i in range(1, 4):
        left = [others[0], others[i]]
        right = [leaf for leaf in others if leaf not in left]
        told = [(left, right), *((left, [middle, x]) for x in right), *(([middle, x], right) for x in left)]
        worth = sum(weight.get(frozenset(map(frozenset, pair)), 0) for pair in told)
        best = max(best or (0, ""), (worth, f"(({left[0]},{left[1]}),{middle},({right[0]},{right[1]}));"))
open(sys.argv[sys.argv.index("-o") + 1], "w").write(best[1])
"""


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHES))
    return import_module("bench_quartets")


def test_quartets_weigh_what_their_triplets_do(bench):
    t = ordhc.Triplets([(0, 1, 2), (1, 0, 2), (0, 2, 1), (3, 1, 0)], n_leaves=4)
    assert bench.quartets(t) == ["((0,1),(2,r)); 2", "((0,2),(1,r)); 1", "((1,3),(0,r)); 1"]
    weighed = ordhc.Triplets(t.rows, n_leaves=4, weights=[0.5, 1, 3, 2])
    assert bench.quartets(weighed) == ["((0,1),(2,r)); 1.5", "((0,2),(1,r)); 3", "((1,3),(0,r)); 2"]


def unrooted(merges, n, seed):
    """Newick text of a tree with a leaf r at its root, seen from a random inner node."""
    rng = np.random.default_rng(seed)
    top = 2 * n - 2
    near = {"r": [top], top: ["r"]}
    for node, children in enumerate(merges, n):
        for child in children:
            near.setdefault(node, []).append(child)
            near.setdefault(child, []).append(node)

    def written(node, parent):
        children = [written(child, node) for child in near[node] if child != parent]
        rng.shuffle(children)
        return f"({','.join(children)})" if children else str(node)

    return written(int(rng.integers(n, 2 * n - 1)), None) + ";"


@pytest.mark.parametrize("seed", range(5))
def test_a_tree_is_rooted_where_the_root_was(bench, seed):
    n = 3 + 2 * seed
    tree = from_engine(ordhc._ordhc.random_tree("uniform", n, seed))
    text = unrooted(tree.merges.tolist(), n, seed)
    assert ordhc.metrics.triplet_distance(bench.rooted(text, n), tree) == 0


def test_lengths_supports_and_nodes_of_two_neighbours_say_nothing(bench):
    plain = bench.rooted("((0,1),(2,(3,r)));", 4)
    assert plain.to_newick(branch_lengths=False) == "(((0,1),2),3);"
    dressed = bench.rooted("((0:1,1:.5)0.9:2,(2:1e-3,(3,r:7)0.3:1)0.8:2)1;\n", 4)
    assert ordhc.metrics.triplet_distance(dressed, plain) == 0


def test_leaves_that_a_program_leaves_out_stand_at_the_root(bench):
    assert bench.rooted("((0,3),1,r);", 5).to_newick(branch_lengths=False) == "(((0,3),1),2,4);"
    assert bench.rooted("(2,(r,0));", 3).to_newick(branch_lengths=False) == "((2,0),1);"


@pytest.mark.parametrize("newick", ["((0,1),(2,3));", "(((0,1),2),3);", "(0,((1,3),2));"])
def test_what_a_program_makes_of_the_triplets_of_a_tree_is_that_tree(bench, tmp_path, newick):
    tree = ordhc.as_dendrogram(newick)
    rows = [
        (a, b, c)
        for a, b, c in itertools.permutations(range(4), 3)
        if lca_size(tree, a, b) < lca_size(tree, a, c)
    ]
    script = tmp_path / "program with blanks.py"
    script.write_text(PROGRAM)
    command = shlex.join([sys.executable, str(script)])
    t = ordhc.Triplets([*rows, (rows[0][0], rows[0][2], rows[0][1])], n_leaves=4)
    assert ordhc.metrics.triplet_distance(bench.amalgamated(t, command), tree) == 0
