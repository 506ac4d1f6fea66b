"""Methods and linkages start from initial clusters as their twins do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError
from support import twins
from support.comparisons import comparisons, with_labels
from support.methods import (
    EXACT,
    FEW,
    FROM_QUADRUPLETS,
    FROM_TRIPLETS,
    assert_initial,
    assert_merges,
    assume_no_near_ties,
    assume_no_rounded_ties,
    expected_merges,
    for_method,
    matrices,
)


@pytest.mark.parametrize("method", EXACT)
@FEW
@given(st.data())
def test_methods_start_from_initial_clusters(method, data):
    given, labels = data.draw(with_labels(for_method(method, min_leaves=3, answered=True)))
    assume_no_rounded_ties(method, given, labels)
    tree = ordhc.cluster(given, method=method, initial_clusters=labels)
    assert_initial(tree, labels)
    assert_merges(tree, expected_merges(method, given, labels))


@FEW
@given(with_labels(comparisons(3, min_leaves=3, max_leaves=6, min_size=8, max_size=60, answered=True)))
def test_mulk3_al_starts_from_initial_clusters(case):
    t, labels = case
    assume_no_near_ties("mulk3-al", t, labels)
    tree = ordhc.cluster(t, method="mulk3-al", initial_clusters=np.array(labels))
    assert_initial(tree, labels)
    assert_merges(tree, expected_merges("mulk3-al", t, labels))


@pytest.mark.parametrize("name", ["single", "complete", "average"])
@FEW
@given(with_labels(matrices()))
def test_linkages_start_from_initial_clusters(name, case):
    S, labels = case
    tree = ordhc.linkage(S, name, dissimilarity=False, initial_clusters=labels)
    assert_initial(tree, labels)
    rule = getattr(twins, name)(S.tolist())
    expected = [(a | b, float(value)) for a, b, value in twins.agglomerate(len(S), rule, labels)]
    assert_merges(tree, expected)
    apart = ordhc.linkage(S, name, dissimilarity=False, initial_clusters=list(range(len(S))))
    np.testing.assert_array_equal(apart.merges, ordhc.linkage(S, name, dissimilarity=False).merges)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ([0, 0, 1], r"initial_clusters has shape \(3,\); a label for each of 4 leaves is needed"),
        ([0] * 5, r"initial_clusters has shape \(5,\)"),
        ([], r"initial_clusters has shape \(0,\)"),
        ([0, 0.5, 1, 1], r"initial_clusters\[1\] = 0.5 is not a whole number"),
        (["a", "b", "a", "b"], "initial_clusters of type <U1 are not whole numbers"),
    ],
)
def test_bad_initial_clusters_are_explained(labels, text):
    t = ordhc.Triplets([(0, 1, 2), (3, 1, 2)])
    for method in (*FROM_TRIPLETS, *FROM_QUADRUPLETS):
        with pytest.raises(InputError, match=text):
            ordhc.cluster(t, method=method, initial_clusters=labels)
    for name in ("single", "complete", "average"):
        with pytest.raises(InputError, match=text):
            ordhc.linkage(np.zeros((4, 4)), name, dissimilarity=False, initial_clusters=labels)
