"""Trees of nodes of any degree: what they score does not depend on how they are written down."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import metrics

QUICK = settings(deadline=None, max_examples=100)


@st.composite
def nests(draw, max_leaves=9):
    """A tree as nested lists of leaves."""
    parts = list(range(draw(st.integers(2, max_leaves))))
    while len(parts) > 1:
        degree = draw(st.integers(2, len(parts)))
        chosen = draw(st.permutations(parts))[:degree]
        parts = [part for part in parts if part not in chosen] + [chosen]
    return parts[0]


def leaves_in(nest):
    return [nest] if isinstance(nest, int) else [leaf for child in nest for leaf in leaves_in(child)]


def clusters_of(nest):
    """The leaves of each node."""
    if isinstance(nest, int):
        return []
    return [frozenset(leaves_in(nest)), *itertools.chain.from_iterable(map(clusters_of, nest))]


def written(nest, random):
    """Newick text with children in any order."""
    if isinstance(nest, int):
        return str(nest)
    children = [written(child, random) for child in nest]
    random.shuffle(children)
    return f"({','.join(children)})"


def tree_of(nest, random):
    tree = ordhc.Dendrogram.from_newick(written(nest, random) + ";")
    assert tree.names is None
    return tree


def cut_otherwise(tree, random):
    """The same nodes, each cut into other merges."""
    found = ordhc.Dendrogram.from_newick(tree.to_newick(heights=True))
    merges, joined, n = found.merges.tolist(), found.joined, found.n_leaves
    if joined is None:
        return found
    ends = np.flatnonzero(~joined).tolist()
    for first, last in zip([0, *(end + 1 for end in ends[:-1])], ends, strict=True):
        own = range(n + first, n + last)
        parts = [part for at in range(first, last + 1) for part in merges[at] if part not in own]
        random.shuffle(parts)
        whole = parts[0]
        for at, part in zip(range(first, last + 1), parts[1:], strict=True):
            merges[at], whole = [whole, part], n + at
    return ordhc.Dendrogram(merges, found.heights, kind=found.kind, joined=joined)


def comparisons_of(n, width, rng):
    kind = ordhc.Triplets if width == 3 else ordhc.Quadruplets
    rows = []
    while len(rows) < 20:
        row = rng.permutation(n)[:width] if n >= width else rng.integers(0, n, width)
        pairs = [{*row[:2]}, {row[0], row[2]}] if width == 3 else [{*row[:2]}, {*row[2:]}]
        if len(pairs[0]) == len(pairs[1]) == 2 and pairs[0] != pairs[1]:
            rows.append(row)
    return kind(rows, n_leaves=n, weights=rng.integers(1, 4, len(rows)))


def brute_force(nest, triplets, similarity):
    """Scores by the smallest common cluster of each pair."""
    clusters = clusters_of(nest)

    def size(i, j):
        return min(len(cluster) for cluster in clusters if {i, j} <= cluster)

    said = [0.0, 0.0, 0.0]
    revenue = 0.0
    for (i, j, k), weight in zip(triplets.rows.tolist(), triplets.weights.tolist(), strict=True):
        near, far = size(i, j), size(i, k)
        said[0 if near < far else 1 if near > far else 2] += weight
        revenue += weight * (far - near)
    n = len(similarity)
    cost = sum(similarity[i, j] * size(i, j) for i, j in itertools.combinations(range(n), 2))
    return said, revenue, cost


def scores(tree, other, triplets, quadruplets, similarity, labels):
    said, pairs = metrics.satisfied(tree, triplets), metrics.satisfied(tree, quadruplets)
    return [
        (said.agreed, said.disagreed, said.unresolved),
        (pairs.agreed, pairs.disagreed, pairs.unresolved),
        metrics.triplet_revenue(tree, triplets),
        metrics.quadruplet_revenue(tree, quadruplets),
        metrics.dasgupta_cost(tree, similarity),
        metrics.dasgupta_revenue(tree, similarity),
        metrics.robinson_foulds(tree, other),
        metrics.triplet_distance(tree, other),
        metrics.dendrogram_purity(tree, labels),
        metrics.aari(tree, np.column_stack([labels, labels]), levels="depth"),
        tree.lca_size(*np.triu_indices(tree.n_leaves, 1)).tolist(),
        ordhc.oracles.from_tree(tree)(triplets.rows).tolist(),
    ]


@QUICK
@given(nests(), st.randoms(use_true_random=False), st.integers(0, 2**32 - 1))
def test_scores_go_by_the_smallest_common_cluster(nest, random, seed):
    rng = np.random.default_rng(seed)
    n = len(leaves_in(nest))
    if n < 3:
        return
    trees = [tree_of(nest, random), tree_of(nest, random)]
    trees.append(cut_otherwise(trees[0], random))
    other = tree_of([*range(n - 1), n - 1], random)
    similarity = rng.integers(0, 9, (n, n))
    similarity = np.triu(similarity, 1) + np.triu(similarity, 1).T
    triplets, quadruplets = comparisons_of(n, 3, rng), comparisons_of(n, 4, rng)
    labels = rng.integers(0, 2, n)
    labels[1] = labels[0]
    found = [scores(tree, other, triplets, quadruplets, similarity, labels) for tree in trees]
    assert found[0] == found[1] == found[2]
    said, revenue, cost = brute_force(nest, triplets, similarity)
    assert found[0][0] == pytest.approx(np.array(said) / sum(said))
    assert (found[0][2], found[0][4]) == (revenue, cost)
    assert trees[0].with_branch_lengths(None) == trees[2].with_branch_lengths(None)
    assert metrics.robinson_foulds(trees[0], trees[1]) == metrics.triplet_distance(trees[0], trees[1]) == 0


@QUICK
@given(nests(), st.randoms(use_true_random=False))
def test_nodes_come_back(nest, random):
    tree = tree_of(nest, random)
    expected = set(clusters_of(nest))
    labels = ordhc.Dendrogram.from_dict(tree.to_dict())
    for found in (tree, labels, tree.relabel(range(tree.n_leaves)), cut_otherwise(tree, random)):
        joined = np.zeros(len(found.merges), dtype=bool) if found.joined is None else found.joined
        members = [frozenset([leaf]) for leaf in range(found.n_leaves)]
        for a, b in found.merges.tolist():
            members.append(members[a] | members[b])
        kept = [part for part, is_part in zip(members[found.n_leaves :], joined, strict=True) if not is_part]
        assert set(kept) == expected


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
    assert tree.joined is None
    assert tree.join_ties() == ordhc.Dendrogram.from_newick("(0:1,1:1,2:1,3:1);")
    named = tree.with_node_names(["x", None, "root"]).with_support([0.5, 0.25, 1.0]).join_ties()
    assert named.node_names == (None, None, "root")
    np.testing.assert_array_equal(named.support, [np.nan, np.nan, 1.0])


def test_nodes_of_labels():
    tree = ordhc.as_dendrogram(np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 2]]).T)
    assert tree == ordhc.Dendrogram.from_newick("((0:1,1:1,2:1):2,((3:1,4:1):1,5:2):1);")
