"""Trees of other packages become dendrograms."""

import io
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.cluster.hierarchy import linkage, to_tree

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from support.newick import dendrograms as any_dendrograms

networkx = pytest.importorskip("networkx")

TEXT = "((ant:1,'b b':1):2,(cat:1.5,dog:1.5,eel:1.5):1.5);"


def same_nodes(found, expected):
    assert found.names == expected.names
    assert ordhc.metrics.robinson_foulds(found, expected) == 0


@settings(deadline=None, max_examples=60)
@given(any_dendrograms())
def test_graphs_have_all_of_a_tree(tree):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        found = ordhc.as_dendrogram(tree.to_networkx())
    assert found == tree
    assert found.scale == tree.scale


def test_graphs_with_lengths():
    graph = networkx.DiGraph()
    graph.add_edge("root", "x", weight=1.0)
    graph.add_edge("root", "c", weight=3.0)
    graph.add_edge("x", "a", weight=2.0)
    graph.add_edge("x", "b", weight=2.0)
    found = ordhc.as_dendrogram(graph)
    assert found == ordhc.Dendrogram.from_newick("((a:2,b:2):1,c:3);")


@pytest.mark.parametrize("edges", [[(0, 1), (2, 1)], [(0, 1), (1, 0)], [(0, 1), (2, 3)]])
def test_graphs_that_are_no_trees(edges):
    with pytest.raises(InputError, match="the networkx graph is not a rooted tree"):
        ordhc.as_dendrogram(networkx.DiGraph(edges))
    with pytest.raises(InputError, match="has no root"):
        ordhc.as_dendrogram(networkx.Graph(edges))


def test_dendropy():
    dendropy = pytest.importorskip("dendropy")
    found = ordhc.as_dendrogram(dendropy.Tree.get(data=TEXT, schema="newick"))
    assert found == ordhc.Dendrogram.from_newick(TEXT)


def test_biopython():
    phylo = pytest.importorskip("Bio.Phylo")
    expected = ordhc.Dendrogram.from_newick(TEXT)
    tree = phylo.read(io.StringIO(TEXT), "newick")
    assert ordhc.as_dendrogram(tree) == expected
    assert ordhc.as_dendrogram(tree.root) == expected


@pytest.mark.parametrize("package", ["ete3", "ete4"])
def test_ete(package):
    ete = pytest.importorskip(package)
    found = ordhc.as_dendrogram(ete.Tree(TEXT))
    assert found == ordhc.Dendrogram.from_newick(TEXT)
    assert found.support is None


def test_scipy_nodes():
    Z = linkage(np.random.default_rng(0).random((9, 2)), "average")
    found, expected = ordhc.as_dendrogram(to_tree(Z)), ordhc.Dendrogram.from_linkage_matrix(Z)
    assert found.names is None
    assert ordhc.metrics.robinson_foulds(found, expected) == 0
    assert ordhc.metrics.merge_distortion(found, expected) == 0


def test_single_linkage_trees_of_hdbscan():
    class SingleLinkageTree:
        """What hdbscan gives, as far as it is used."""

        def __init__(self, matrix):
            self._matrix = matrix

        def to_numpy(self):
            return self._matrix

        def get_clusters(self, cut_distance):
            raise NotImplementedError

    Z = linkage(np.random.default_rng(0).random((9, 2)), "single")
    assert ordhc.as_dendrogram(SingleLinkageTree(Z)) == ordhc.Dendrogram.from_linkage_matrix(Z)


def test_a_table_with_a_column_of_clades_is_no_tree():
    pandas = pytest.importorskip("pandas")
    from ordhc.tree.foreign import newick_of

    assert newick_of(pandas.DataFrame({"clades": [1, 1, 2], "root": [1, 1, 1]})) is None
