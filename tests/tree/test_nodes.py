"""Trees of nodes of any degree: what they score does not depend on how they are written down."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import metrics
from ordhc.tree.dendrogram import lca_size
from support.random_data import comparisons_of
from support.trees import clusters_in, clusters_of, nests, random_nest, renumbered, tree_of

QUICK = settings(deadline=None, max_examples=60)


@QUICK
@given(nests(), st.randoms(use_true_random=False))
def test_nodes_come_back(nest, random):
    tree = tree_of(nest, random)
    expected = clusters_in(nest)
    again = ordhc.as_dendrogram(tree.to_dict())
    same = tree.relabel(range(tree.n_leaves))
    for found in (tree, again, same, renumbered(tree, random), ordhc.Dendrogram.from_parents(tree.parents)):
        assert sorted(map(sorted, clusters_of(found))) == sorted(map(sorted, expected))
        assert found.scale == "shape"
        assert len(found.parents) == found.n_leaves + len(expected)
        assert found.sizes.tolist() == [len(cluster) for cluster in clusters_of(found)]


@QUICK
@given(nests(), st.randoms(use_true_random=False), st.booleans())
def test_parents_make_the_same_tree_however_nodes_are_numbered(nest, random, by_length):
    tree = tree_of(nest, random)
    other = renumbered(tree, random)
    names = {cluster: f"node {at}" for at, cluster in enumerate(clusters_in(nest))}
    found = []
    for each in (tree, other):
        clusters = clusters_of(each)
        measure = {"heights": [len(cluster) // 3 for cluster in clusters]}
        if by_length:
            leaves = [[leaf] for leaf in range(each.n_leaves)]
            measure = {"lengths": [sum(cluster) % 5 + 1 for cluster in [*leaves, *map(sorted, clusters)]]}
        options = {
            "node_names": [names[cluster] for cluster in clusters],
            "support": [1 / len(cluster) for cluster in clusters],
        }
        found.append(ordhc.Dendrogram.from_parents(each.parents, **measure, **options))
    assert found[0] == found[1]
    assert found[0].to_dict() == found[1].to_dict()
    assert found[0].node_names == tuple(names[cluster] for cluster in clusters_of(found[0]))
    assert found[0].support.tolist() == [1 / len(cluster) for cluster in clusters_of(found[0])]
    if not by_length:
        assert found[0].heights.tolist() == sorted(found[0].heights.tolist())


@QUICK
@given(nests(), st.randoms(use_true_random=False))
def test_merges_are_those_of_nodes_taken_apart(nest, random):
    tree = tree_of(nest, random)
    n = tree.n_leaves
    heights = [float(len(cluster)) for cluster in clusters_of(tree)]
    tree = ordhc.Dendrogram.from_parents(tree.parents, heights=heights)
    merges = tree.merges.tolist()
    assert len(merges) == n - 1
    assert sorted(part for pair in merges for part in pair) == list(range(2 * n - 2))
    assert all(a < b for a, b in merges)
    Z = tree.to_linkage_matrix()
    assert Z[:, :2].tolist() == merges
    binary = ordhc.Dendrogram.from_linkage_matrix(Z)
    assert np.array_equal(binary.cophenetic(), tree.cophenetic())
    assert set(clusters_in(nest)) <= set(clusters_of(binary))
    # Heights differ along every branch, so that ties are the parts of one node.
    assert binary.contract(ties=True) == tree


@pytest.mark.parametrize("text", ["(a,b,c,d);", "(d,c,b,a);", "(b,d,a,c);"])
def test_a_star_says_nothing(text):
    tree = ordhc.Dendrogram.from_newick(text)
    rows = [row for row in itertools.permutations(range(4), 3) if row[1] < row[2]]
    triplets = ordhc.Triplets(rows, n_leaves=4, names=["a", "b", "c", "d"])
    said = metrics.satisfied(tree, triplets)
    assert (len(rows), said.agreed, said.disagreed, said.unresolved) == (12, 0, 0, 1)
    assert metrics.triplet_revenue(tree, triplets) == 0


def test_an_agglomeration_is_binary_until_ties_are_joined():
    tree = ordhc.linkage(np.ones(6), "average", dissimilarity=True)
    assert len(tree.parents) == 7
    assert tree.contract(ties=True) == ordhc.Dendrogram.from_parents([4, 4, 4, 4, -1], heights=[1.0])
    named = tree.replace(node_names=["x", None, "root"], support=[0.5, 0.25, 1.0]).contract(ties=True)
    assert named.node_names == ("root",)
    assert named.support.tolist() == [1.0]


def test_nodes_of_labels():
    tree = ordhc.as_dendrogram(np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 2]]).T)
    assert tree.to_newick() == "((0:0.5,1:0.5,2:0.5):1,(5:1,(3:0.5,4:0.5):0.5):0.5);"
    assert tree.heights.tolist() == [1, 1, 2, 3]
    assert tree.parents.tolist() == [7, 7, 7, 6, 6, 8, 8, 9, 9, -1]


# By brute force: nested lists of leaves, and no code of the package.


def least(clusters, pair):
    """The smallest cluster with both leaves."""
    return min((cluster for cluster in clusters if pair <= cluster), key=len)


def sides_of(row):
    """The two pairs of a comparison, the closer one first."""
    return ({row[0], row[1]}, {row[0], row[2]}) if len(row) == 3 else ({row[0], row[1]}, {row[2], row[3]})


def said_of(clusters, heights, rows, weights):
    """The weights agreed, disagreed and unresolved, and the revenue."""
    sums, revenue = [0, 0, 0], 0
    for row, weight in zip(rows, weights, strict=True):
        near, far = (least(clusters, pair) for pair in sides_of(row))
        revenue += weight * (len(far) - len(near))
        if near < far or far < near:
            sums[far < near] += weight
        elif near == far or heights is None or heights[near] == heights[far]:
            sums[2] += weight
        else:
            # Clusters apart from each other: the one that is lower is closer.
            sums[heights[near] > heights[far]] += weight
    return [part / sum(sums) for part in sums], revenue


@pytest.mark.parametrize("block", range(3))
def test_hundreds_of_trees_by_brute_force(block):
    for seed in range(100 * block, 100 * block + 100):
        source, rng = random.Random(seed), np.random.default_rng(seed)
        n = source.randint(3, 10)
        nest = random_nest(n, source)
        clusters = clusters_in(nest)
        heights = None
        if seed % 2:
            # As heights the sizes of clusters, so that some are equal in different branches.
            heights = {cluster: float(len(cluster)) for cluster in clusters}
        trees = []
        for tree in (tree_of(nest, source), tree_of(nest, source), renumbered(tree_of(nest, source), source)):
            own = None if heights is None else [heights[cluster] for cluster in clusters_of(tree)]
            trees.append(ordhc.Dendrogram.from_parents(tree.parents, heights=own))
            if own is None:
                # Without sorting: as they are read and renumbered.
                trees.append(tree)
        similarity = rng.integers(0, 9, (n, n))
        similarity = np.triu(similarity, 1) + np.triu(similarity, 1).T
        pairs = list(itertools.combinations(range(n), 2))
        sizes = {pair: len(least(clusters, set(pair))) for pair in pairs}
        cost = sum(int(similarity[pair]) * size for pair, size in sizes.items())
        triplets, quadruplets = comparisons_of(n, 3, rng), comparisons_of(n, 4, rng)
        for tree in trees:
            assert [lca_size(tree, i, j) for i, j in pairs] == list(sizes.values())
            assert lca_size(tree, *np.transpose(pairs)[::-1]).tolist() == list(sizes.values())
            assert metrics.dasgupta_cost(tree, similarity) == cost
            assert metrics.dasgupta_revenue(tree, similarity) == n * similarity.sum() // 2 - cost
            for data, revenue_of in (
                (triplets, metrics.triplet_revenue),
                (quadruplets, metrics.quadruplet_revenue),
            ):
                said, revenue = said_of(clusters, heights, data.rows.tolist(), data.weights.tolist())
                found = metrics.satisfied(tree, data)
                assert (found.agreed, found.disagreed, found.unresolved) == pytest.approx(tuple(said))
                assert revenue_of(tree, data) == revenue == ordhc.score(tree, data)


def test_the_classes_of_the_cars():
    cars = ordhc.datasets.load_car()
    tree = ordhc.as_dendrogram(cars.labels)
    assert len(tree.parents) == 60 + len(set(cars.labels.tolist())) + 1
    assert round(metrics.satisfied(tree, cars.triplets).agreed, 3) == 0.271
    assert metrics.triplet_revenue(tree, cars.triplets) == 118_823
    # The same classes with other numbers, and cars in another order.
    order = np.random.default_rng(0).permutation(60)
    names = dict(zip(set(cars.labels.tolist()), "dcbae", strict=False))
    for other in (
        ordhc.as_dendrogram([names[label] for label in cars.labels.tolist()]),
        ordhc.as_dendrogram(cars.labels[order]).relabel(order),
    ):
        assert metrics.satisfied(other, cars.triplets) == metrics.satisfied(tree, cars.triplets)
        assert metrics.triplet_revenue(other, cars.triplets) == 118_823


def test_the_consensus_of_resampled_answers_says_little():
    cars = ordhc.datasets.load_car()
    tree = ordhc.bootstrap(cars.triplets, n_resamples=50, seed=0).consensus
    said = metrics.satisfied(tree, cars.triplets)
    # Most cars are directly below the root, and comparisons of these are not resolved.
    assert round(said.agreed, 3) == 0.011
    assert said.unresolved > 0.98
    assert tree.root.size == 60 > len(tree.parents) - 60
