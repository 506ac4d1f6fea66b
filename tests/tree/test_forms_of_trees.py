"""One tree of nodes of many children in all forms that it can be written in, and back."""

import io
import itertools
import json
import pickle

import numpy as np
import pytest

import ordhc
from ordhc import Dendrogram
from ordhc.errors import InputError
from ordhc.tree.dendrogram import lca_size

dendropy = pytest.importorskip("dendropy")

NAMES = list("abcdefgh")
#: ((a,b,c,d),(e,f,g),h)
PARENTS = [9, 9, 9, 9, 8, 8, 8, 10, 10, 10, -1]
CLUSTERS = {frozenset("efg"), frozenset("abcd"), frozenset("abcdefgh")}
LENGTHS = [0.5, 1.25, 0.1, 3, 1, 2, 1 / 3, 4, 0.7, 0, np.nan]
KINDS = {
    "shape": {},
    "heights": {"heights": [1.5, 1.75, 4.0]},
    "similarities": {"heights": [0.9, 0.3, -1.0], "kind": "similarity"},
    "own leaves": {
        "heights": [0.9, 0.3, -1.0],
        "kind": "similarity",
        "leaf_heights": [1, 2, 3, 4, 1, 2, 3, 1 / 3],
    },
    "lengths": {"lengths": LENGTHS},
}
MORE = {"names": NAMES, "support": [0.98, 0.05, np.nan], "node_names": ["three", None, "all"]}


def made(kind, **more):
    return Dendrogram.from_parents(PARENTS, **KINDS[kind], **{"names": NAMES, **more})


def clusters(tree):
    return {frozenset(node.leaf_names) for node in tree.nodes() if not node.is_leaf}


def test_a_learnt_tree_is_written_as_it_is():
    truth = made("shape")
    # Of three leaves in different parts of a node none is the odd one out.
    rows = [
        (a, b, c)
        for a, b, c in itertools.permutations(range(8), 3)
        if lca_size(truth, a, b) < lca_size(truth, a, c)
    ]
    tree = ordhc.cluster(ordhc.Triplets(rows, n_leaves=8, names=NAMES), method="build")
    assert clusters(tree) == CLUSTERS
    assert tree.to_newick(branch_lengths=False) == "(h,(a,b,c,d),(e,f,g));"
    theirs = dendropy.Tree.get(data=tree.to_newick(), schema="newick", rooting="force-rooted")
    wanted = dendropy.Tree.get(
        data="((a,b,c,d),(e,f,g),h);",
        schema="newick",
        rooting="force-rooted",
        taxon_namespace=theirs.taxon_namespace,
    )
    assert dendropy.calculate.treecompare.symmetric_difference(theirs, wanted) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [{}, MORE], ids=["bare", "with all"])
def test_all_of_a_tree_comes_back(kind, more, tmp_path):
    tree = made(kind, **more)
    assert clusters(tree) == CLUSTERS
    ordhc.write_tree(tree, tmp_path / "t.json")
    for found in (
        Dendrogram.from_newick(tree.to_newick(heights=True)),
        ordhc.read_tree(tmp_path / "t.json"),
        ordhc.as_dendrogram(json.loads(json.dumps(tree.to_dict()))),
        pickle.loads(pickle.dumps(tree)),
        ordhc.as_dendrogram(tree.to_networkx()),
    ):
        assert found == tree
        # How text is written may differ: the order of the leaves, and support in percent.
        written = dict.fromkeys(["leaves_as_written", "support_as_shares"])
        assert found.to_dict() | written == tree.to_dict() | written


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [{}, {"support": MORE["support"]}, {"node_names": MORE["node_names"]}])
@pytest.mark.parametrize("file", ["t.nwk", "t.nex", "t.tre"])
def test_text_has_the_nodes_and_the_lengths(kind, more, file, tmp_path):
    tree = made(kind, **more)
    ordhc.write_tree(tree, tmp_path / file)
    found = ordhc.read_tree(tmp_path / file)
    assert clusters(found) == CLUSTERS
    assert found.scale == ("shape" if kind == "shape" else "lengths")
    for node in tree.nodes():
        twin = found.node(list(node.leaf_names))
        assert (twin.support, twin.branch_length) == (node.support, node.branch_length)
        if node.label >= 8:
            assert twin.name == node.name
    if kind != "shape":
        np.testing.assert_allclose(paths(found), paths(tree), rtol=1e-14, atol=1e-14)


def paths(tree):
    table = tree.patristic(square=True)
    places = [tree.labels.index(name) for name in NAMES]
    return table[np.ix_(places, places)]


@pytest.mark.parametrize("kind", ["shape", "heights", "lengths"])
def test_other_packages_have_the_nodes(kind):
    tree = made(kind)
    text = tree.to_newick()
    theirs = dendropy.Tree.get(data=text, schema="newick", rooting="force-rooted")
    assert {
        frozenset(leaf.taxon.label for leaf in node.leaf_iter()) for node in theirs.internal_nodes()
    } == CLUSTERS
    forms = [theirs]
    phylo = pytest.importorskip("Bio.Phylo")
    forms.append(phylo.read(io.StringIO(text), "newick"))
    ete4 = pytest.importorskip("ete4")
    forms.append(ete4.Tree(text))
    for form in forms:
        found = ordhc.as_dendrogram(form)
        assert clusters(found) == CLUSTERS
        assert found.scale == ("shape" if kind == "shape" else "lengths")
        if kind != "shape":
            np.testing.assert_allclose(paths(found), paths(tree), rtol=1e-14, atol=1e-14)
    if kind == "lengths":
        distances = theirs.phylogenetic_distance_matrix()
        taxa = {taxon.label: taxon for taxon in theirs.taxon_namespace}
        for a, b in itertools.combinations(NAMES, 2):
            expected = distances.patristic_distance(taxa[a], taxa[b])
            assert paths(tree)[NAMES.index(a), NAMES.index(b)] == pytest.approx(expected, rel=1e-12)


def test_scipy_has_the_heights_of_all_pairs():
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    tree = made("heights")
    Z = tree.to_linkage_matrix()
    assert hierarchy.is_valid_linkage(Z, throw=True)
    np.testing.assert_array_equal(hierarchy.cophenet(Z), tree.cophenetic())
    back = ordhc.as_dendrogram(Z, names=NAMES)
    assert back.contract(ties=True) == tree
    assert ordhc.as_dendrogram(hierarchy.to_tree(Z)).replace(names=NAMES).contract(ties=True) == tree
    for kind in ("shape", "lengths"):
        with pytest.raises(InputError, match="the tree has"):
            made(kind).to_linkage_matrix()
