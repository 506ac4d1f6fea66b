"""What scores and trees do not take, and what they say then."""

import numpy as np
import pytest

import ordhc
from ordhc import metrics
from ordhc.errors import InputError
from support import metric_twins as naive

BINARY = ordhc.as_dendrogram("((0:1,1:1):2,(2:2,3:2):1);")
SHAPE = ordhc.as_dendrogram("((0,1),(2,3));")
OF_NINE = ordhc.Triplets([(0, 1, 8)])
LARGER = naive.random_tree(9, 0)
SIMILARITIES = naive.random_tree(4, 0, kind="similarity")
NAMED = "((a,b),(c,d));"
WITH_NAN = np.zeros((4, 4))
WITH_NAN[1, 2] = WITH_NAN[2, 1] = np.nan
BY_NAME = naive.Series([0, 0, 1, 1], list("abcc"))
UNEVEN = np.arange(16).reshape(4, 4)


@pytest.mark.parametrize(
    ("form", "options", "text"),
    [
        ("a", {}, "'a' is not Newick text; read files by ordhc.read_tree"),
        (BINARY, {"n_leaves": 3}, "the tree has 4 leaves, not 3"),
        (BINARY, {"names": ["a"]}, "names has 1 entries for 4 leaves"),
        ("(a,b);", {"names": ["a", "c"]}, "the tree's leaf 'b' is not in names"),
        (None, {}, "NoneType of shape () is not a tree; pass a Dendrogram, Newick text, Z of SciPy"),
        ([], {}, "list of shape (0,) is not a tree"),
        (np.zeros((2, 2, 2)), {}, "ndarray of shape (2, 2, 2) is not a tree"),
        ([[0, 1, 5]], {"n_leaves": 3}, "list of shape (1, 3) is not a tree of 3 leaves"),
        ([[0, 1], [2]], {}, "the tree cannot be read as an array"),
        ([[0, 1, 1.0, 3]], {}, "Z[0, 3] is 3, but merge 0 makes 2 leaves"),
        ([[0, 0], [0, 1]], {"n_leaves": 3}, "merge 0"),
        ([("a", "x"), ("b", "x"), ("c", "y")], {}, "column 1 of the labels is coarser than column 0"),
        ([("a", "a", "x"), ("a", "b", "x"), ("b", "c", "y")], {}, "column 2 of the labels is coarser"),
    ],
)
def test_forms_that_are_no_tree(form, options, text):
    with pytest.raises(InputError) as caught:
        ordhc.as_dendrogram(form, **options)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("name", "tree", "reference", "options", "text"),
    [
        # Leaves.
        ("triplet_revenue", BINARY, OF_NINE, {}, "the tree has 4 leaves, the comparisons have 9"),
        ("dasgupta_cost", BINARY, np.zeros((3, 3)), {}, "the tree has 4 leaves, the matrix has 3"),
        ("dasgupta_cost", BINARY, np.zeros(10), {}, "the tree has 4 leaves, the matrix has 5"),
        ("cophenetic_correlation", BINARY, LARGER, {}, "the tree has 4 leaves, not 9"),
        ("ari", BINARY, [0, 1, 1], {}, "labels have shape (3,); the tree has 4 leaves"),
        ("kendall_tau_b", BINARY, "((0,1),2);", {}, "the tree has 3 leaves, not 4"),
        ("robinson_foulds", "((0,1),2);", BINARY, {}, "the tree has 3 leaves, not 4"),
        # Names.
        ("ari", NAMED, [0, 0, 1, 1], {}, "the leaves of the labels have no names: read the text with"),
        ("merge_distortion", NAMED, BINARY, {}, "the leaves of the reference have no names"),
        ("merge_distortion", BINARY, NAMED, {}, "the leaves of the tree have no names: read the text with"),
        ("dasgupta_cost", NAMED, np.zeros((4, 4)), {}, "the leaves of the matrix have no names"),
        ("dasgupta_cost", NAMED, np.zeros(6), {}, "the leaves of the matrix have no names"),
        ("triplet_revenue", NAMED, [(0, 1, 2)], {}, "the leaves of the comparisons have no names"),
        ("triplet_distance", NAMED, "((a,b),(c,e));", {}, "different names: 'd' is only in the tree"),
        ("ari", NAMED, BY_NAME, {}, "different names: 'd' is only in the tree"),
        # Kinds and shapes.
        ("triplet_revenue", BINARY, ordhc.Quadruplets([(0, 1, 2, 3)]), {}, "takes triplets, not Quadruplets"),
        ("merge_distortion", LARGER, OF_NINE, {}, "metric 'merge_distortion' takes tree, not Triplets"),
        ("ari", BINARY, BINARY, {}, "ari takes labels, not Dendrogram"),
        ("dasgupta_cost", BINARY, NAMED, {}, "dasgupta_cost takes similarity, not str"),
        ("dasgupta_cost", BINARY, np.zeros((4, 3)), {}, "the matrix has shape (4, 3); (n, n) or a condensed"),
        ("dasgupta_cost", BINARY, np.zeros(5), {}, "n(n-1)/2 values; 5 is no such number"),
        ("dasgupta_revenue", BINARY, [[0, 1], [2]], {}, "of dasgupta_revenue cannot be read as an array"),
        ("satisfied", BINARY, [[0, 1, 2], [2, 1]], {}, "of satisfied cannot be read as an array"),
        ("triplet_revenue", BINARY, [[0, 1]], {}, "rows have shape (1, 2); 3 columns are needed"),
        ("triplet_revenue", BINARY, [[0, 1, 4]], {}, "row 0: leaf 4 is outside 0..=3"),
        ("triplet_distance", BINARY, 3, {}, "int of shape () is not a tree of 4 leaves"),
        ("cophenetic_correlation", BINARY, np.zeros((5, 3)), {}, "not a tree of 4 leaves"),
        ("merge_distortion", BINARY, SIMILARITIES, {}, "both must be of the same kind"),
        # Values.
        ("dasgupta_cost", BINARY, WITH_NAN, {}, "the value at [1, 2] is NaN"),
        ("cophenetic_correlation", BINARY, -WITH_NAN, {}, "the value at [1, 2] is NaN"),
        ("cophenetic_correlation", BINARY, UNEVEN, {}, "not symmetric: [0, 1] is 1 but [1, 0] is 4"),
        ("cophenetic_correlation", BINARY, np.ones(6), {}, "the values of the matrix are all the same (1)"),
        ("ari", BINARY, ["a", None, "b", "b"], {}, "the label of leaf 1 in column 0 is missing"),
        ("dendrogram_purity", BINARY, [0.0, 1.0, 1.0, np.nan], {}, "label of leaf 3 in column 0 is missing"),
        ("aari", BINARY, [("a", "b")] * 3 + [("a", None)], {}, "the label of leaf 3 in column 1 is missing"),
        ("ari", BINARY, [(0, 1)] * 4, {}, "ari takes one label for each leaf, not 2 columns (use aari)"),
        ("dendrogram_purity", BINARY, [1, 2, 3, 4], {}, "none of the 4 classes has two leaves"),
        # Settings.
        ("ari", BINARY, [0, 0, 1, 1], {"n_clusters": 5}, "n_clusters = 5 is outside 1..=4"),
        ("ari", BINARY, [0, 0, 1, 1], {"n_clusters": 0}, "n_clusters = 0 is below 1"),
        ("ari", BINARY, [0, 0, 1, 1], {"n_clusters": 1.5}, "n_clusters = 1.5 is not a whole number"),
        ("aari", BINARY, [0, 0, 1, 1], {"levels": [1]}, "contain 1, but the labels have columns 0 to 0"),
        ("aari", BINARY, [0, 0, 1, 1], {"levels": "deep"}, "levels is 'deep'"),
        (
            "kendall_tau_b",
            BINARY,
            BINARY,
            {"include_self": False, "tie_self": True},
            "needs include_self=True",
        ),
        ("aari", BINARY, [0, 0, 1, 1], {"levels": []}, "there are no levels to average"),
        ("aari", BINARY, BINARY, {"levels": [5]}, "n_clusters = 5 is outside 1..=4"),
        ("aari", BINARY, "(0:1,1:1,2:1,3:1);", {}, "all merges of the reference have the same height"),
        # Trees of shape alone.
        ("ari", SHAPE, [0, 0, 1, 1], {}, "neither heights nor lengths, and so no order of merges: cut it"),
        ("ari", SHAPE, [0, 0, 1, 1], {"n_clusters": 5}, "n_clusters = 5 is outside 1..=4"),
        ("aari", SHAPE, [0, 0, 1, 1], {}, 'no order of merges to cut by: give levels="depth"'),
        ("aari", BINARY, SHAPE, {}, 'no order of merges to cut by: give levels="depth"'),
        ("cophenetic_correlation", SHAPE, UNEVEN + UNEVEN.T, {}, "has neither heights nor lengths"),
        ("merge_distortion", SHAPE, BINARY, {}, "has neither heights nor lengths"),
    ],
)
def test_errors(name, tree, reference, options, text):
    for score in (getattr(metrics, name), lambda *trees, **options: ordhc.score(*trees, name, **options)):
        with pytest.raises(InputError) as caught:
            score(tree, reference, **options)
        assert text in str(caught.value)
