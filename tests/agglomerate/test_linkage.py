"""Linkages beside SciPy, beside the naive engine, and on bad input."""

import itertools

import numpy as np
import pytest
import scipy.cluster.hierarchy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

import ordhc
from ordhc.errors import InputError
from support import twins
from support.engines import merged
from support.processes import printed
from support.trees import clusters_of

ALL = ["single", "complete", "average", "weighted", "ward", "centroid", "median"]
REDUCIBLE = ALL[:5]


def clusters(tree):
    """Each merge as its set of leaves with its height."""
    return dict(zip(clusters_of(tree), tree.heights, strict=True))


def distinct(draw_seed, n):
    """Pairwise different values, far enough apart that rounding cannot tie them."""
    rng = np.random.default_rng(draw_seed)
    m = n * (n - 1) // 2
    return (rng.permutation(m) + rng.uniform(0.0, 0.5, m)) / max(m, 1)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n", [2, 3, 5, 31, 64, 65, 300, 511, 512, 513])
def test_equals_scipy_from_points(name, n):
    y = pdist(np.random.default_rng(n).normal(size=(n, 4)))
    ours = ordhc.linkage(y, name, dissimilarity=True)
    theirs = scipy.cluster.hierarchy.linkage(y, name)
    np.testing.assert_allclose(ours.to_linkage_matrix(), theirs, rtol=1e-9)
    square = ordhc.linkage(squareform(y), name, dissimilarity=True)
    assert square == ours


# Of more leaves several rounds gather columns, each in parts of the rows.
@pytest.mark.parametrize(
    ("name", "n"),
    [("single", 1700), ("complete", 1700), ("average", 1700), ("weighted", 1700), ("average", 2900)],
)
def test_equals_scipy_from_any_matrix_at_the_condensed_size(name, n):
    y = np.random.default_rng(5).random(n * (n - 1) // 2)
    theirs = scipy.cluster.hierarchy.linkage(y, name)
    for values, overwrite in ((y, False), (y.copy(), True)):
        ours = ordhc.linkage(values, name, dissimilarity=True, overwrite=overwrite).to_linkage_matrix()
        np.testing.assert_allclose(ours[:, 2], theirs[:, 2], rtol=1e-10)
        np.testing.assert_array_equal(ours[:, [0, 1, 3]], theirs[:, [0, 1, 3]])


@pytest.mark.parametrize("name", ALL)
def test_similarities_mirror_dissimilarities(name):
    y = pdist(np.random.default_rng(1).normal(size=(30, 3)))
    if name in ("ward", "centroid", "median"):
        offset = 7.0 if name == "ward" else 0.0
        similar = ordhc.linkage(offset - y**2, name, dissimilarity=False)
        expected = np.sqrt(offset - similar.heights)
    else:
        similar = ordhc.linkage(7.0 - y, name, dissimilarity=False)
        expected = 7.0 - similar.heights
    other = ordhc.linkage(y, name, dissimilarity=True)
    np.testing.assert_array_equal(similar.merges, other.merges)
    np.testing.assert_allclose(expected, other.heights, rtol=1e-7)
    assert (similar.kind, other.kind) == ("similarity", "dissimilarity")


@settings(deadline=None)
@given(st.integers(1, 25), st.integers(0, 2**32 - 1), st.sampled_from(ALL))
def test_renumbering_leaves_renumbers_the_tree(n, seed, name):
    S = squareform(distinct(seed, n)) if n > 1 else np.zeros((1, 1))
    order = np.random.default_rng(seed + 1).permutation(n)
    before = clusters(ordhc.linkage(S, name, dissimilarity=False))
    after = clusters(ordhc.linkage(S[np.ix_(order, order)], name, dissimilarity=False))
    renamed = {frozenset(int(order[leaf]) for leaf in cluster): height for cluster, height in after.items()}
    assert set(renamed) == set(before)
    for cluster, height in before.items():
        assert renamed[cluster] == pytest.approx(height, rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_average_of_counts_is_exact_greedy(n, seed):
    y = np.random.default_rng(seed).integers(-2, 3, n * (n - 1) // 2)
    expected = twins.agglomerate(n, twins.average(squareform(y).tolist()))
    found = clusters(ordhc.linkage(y, dissimilarity=False))
    assert list(found.items()) == [(a | b, float(height)) for a, b, height in expected]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.int8, np.uint16, bool])
def test_types_layouts_and_orders(dtype):
    square = squareform(np.arange(1, 29)).astype(dtype)
    expected = ordhc.linkage(square.astype(np.float64), dissimilarity=False)
    read_only = square.copy()
    read_only.flags.writeable = False
    swapped = square.astype(square.dtype.newbyteorder())
    for S in (
        square,
        np.asfortranarray(square),
        np.repeat(square, 2, 0)[::2],
        read_only,
        swapped,
        square.tolist(),
    ):
        assert ordhc.linkage(S, dissimilarity=False) == expected


def test_input_is_left_alone():
    S = squareform(distinct(3, 50))
    before = S.copy()
    for name in ALL:
        ordhc.linkage(S, name, dissimilarity=False)
    np.testing.assert_array_equal(S, before)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n", [1, 2, 3, 40, 600])
def test_a_matrix_can_be_handed_over(name, n):
    y = pdist(np.random.default_rng(n).normal(size=(n, 4)))
    for S, initial in itertools.product(
        (y, squareform(y) if n > 1 else np.zeros((1, 1))), (None, np.arange(n) // 2)
    ):
        for dissimilarity in (True, False):
            how = {"dissimilarity": dissimilarity, "initial_clusters": initial}
            expected = ordhc.linkage(S, name, **how)
            found = ordhc.linkage(S.copy(), name, overwrite=True, **how)
            np.testing.assert_array_equal(found.merges, expected.merges)
            np.testing.assert_allclose(found.heights, expected.heights, rtol=1e-12)


def test_what_cannot_be_handed_over_is_explained():
    S = squareform(distinct(3, 9))
    read_only = S.copy()
    read_only.flags.writeable = False
    for wrong in (S.tolist(), S.astype(np.float32), np.asfortranarray(S)[:, ::2], read_only):
        with pytest.raises(InputError, match="overwrite=True needs a writable"):
            ordhc.linkage(wrong, dissimilarity=False, overwrite=True)


THREADS = """
import hashlib
import numpy as np
import ordhc
n = 1800
digest = hashlib.sha256()
m = n * (n - 1) // 2
for values in (np.random.default_rng(1).random(m), np.random.default_rng(2).integers(0, 99, m) * 0.1):
    for name in ("average", "complete", "ward", "single"):
        digest.update(ordhc.linkage(values, name, dissimilarity=True).to_linkage_matrix().tobytes())
    digest.update(ordhc.linkage(values, dissimilarity=False, overwrite=True).to_linkage_matrix().tobytes())
print(digest.hexdigest())
"""


def test_trees_do_not_depend_on_the_number_of_threads():
    digests = set()
    for threads in ("1", "3"):
        digests.add(printed(THREADS, ORDHC_NUM_THREADS=threads))
    assert len(digests) == 1


def test_inversions_of_centroids_are_kept():
    y = [1.0, 1.01, 1.01]  # an almost equilateral triangle
    tree = ordhc.linkage(y, "centroid", dissimilarity=True)
    np.testing.assert_allclose(tree.to_linkage_matrix(), scipy.cluster.hierarchy.linkage(y, "centroid"))
    assert tree.heights[1] < tree.heights[0]
    assert not tree.is_monotone


@pytest.mark.parametrize("name", ALL)
def test_few_leaves(name):
    assert ordhc.linkage([[5.0]], name, dissimilarity=False).to_newick() == "0;"
    assert ordhc.linkage([], name, dissimilarity=False).n_leaves == 1
    assert ordhc.linkage([2.0], name, dissimilarity=False).heights.tolist() == [2.0]
    assert ordhc.linkage([2.0], name, dissimilarity=True).heights.tolist() == [2.0]


def test_tie_seed_gives_another_order_of_ties_reproducibly():
    S = np.ones((12, 12))
    plain = ordhc.linkage(S, dissimilarity=False)
    seeded = [ordhc.linkage(S, dissimilarity=False, tie_seed=seed) for seed in (1, 1, 2)]
    assert seeded[0] == seeded[1]
    assert seeded[0] != plain
    assert seeded[0] != seeded[2]
    untied = squareform(distinct(0, 12))
    assert set(clusters(ordhc.linkage(untied, dissimilarity=False, tie_seed=3))) == set(
        clusters(ordhc.linkage(untied, dissimilarity=False))
    )


@pytest.mark.parametrize(
    ("S", "part"),
    [
        ([[0, np.nan], [np.nan, 0]], "[0, 1] is NaN"),
        ([[0, 1], [np.inf, 0]], "[1, 0] is inf"),
        ([1.0, 2.0, np.nan], "position 2 (pair [1, 2]) is NaN"),
        ([[0, 1], [2, 0]], "not symmetric: [0, 1] is 1 but [1, 0] is 2"),
        ([[0, 1, 2], [1, 0, 3]], "shape (2, 3)"),
        ([1, 2, 3, 4], "n(n-1)/2"),
        (np.zeros((2, 2, 2)), "shape (2, 2, 2)"),
        (np.zeros((0, 0)), "n_leaves = 0"),
        ([["a", "b"], ["c", "d"]], "has text (<U1), not numbers"),
        (np.full((3, 3), 1e308), "overflow"),
        (np.array([2**60, 1, 1]), "2^53"),
        (np.array([2**60, 1, 1], dtype=np.uint64), "2^53"),
        (np.array([1, 2**63, 1], dtype=np.uint64), "the value at [1] is 9223372036854775808"),
        (np.array([[0, 2**64 - 1], [2**64 - 1, 0]], dtype=">u8"), "at [0, 1] is 18446744073709551615"),
    ],
)
def test_bad_matrices_are_explained(S, part):
    with pytest.raises(InputError) as error:
        ordhc.linkage(S, dissimilarity=False)
    assert part in str(error.value)


def test_unsigned_numbers_are_taken():
    S = np.array([[2**64 - 1, 5, 1], [5, 0, 2**53], [1, 2**53, 0]], dtype=np.uint64)
    tree = ordhc.linkage(S, "single", dissimilarity=False)
    assert tree.merges.tolist() == [[1, 2], [0, 3]]
    assert tree.heights.tolist() == [2.0**53, 5.0]
    assert ordhc.linkage(squareform(S, checks=False), "single", dissimilarity=False) == tree
    assert ordhc.linkage(np.zeros(0, dtype=np.uint64), dissimilarity=False).n_leaves == 1


def test_bad_arguments_are_explained():
    y = [1.0, 2.0, 3.0]
    for arguments, part in [
        ({"name": "averge"}, "did you mean average"),
        ({"engine": "chain"}, "no parameter 'engine'"),
        ({"precision": "single"}, "no parameter 'precision'"),
        ({"beta": 1}, "no parameter 'beta'"),
        ({"names": ["a"]}, "1 entries for 3 leaves"),
    ]:
        with pytest.raises(InputError) as error:
            ordhc.linkage(y, dissimilarity=False, **arguments)
        assert part in str(error.value)
    with pytest.raises(InputError, match="negative"):
        ordhc.linkage([-1.0, 2.0, 3.0], "ward", dissimilarity=True)


def test_a_matrix_too_large_is_refused_before_it_is_made():
    t = ordhc.Triplets([(0, 1, 2)], n_leaves=1_000_000)
    with pytest.raises(MemoryError, match="bytes"):
        ordhc.similarity(t)
    t = ordhc.Triplets(np.arange(999_999).reshape(-1, 3))
    with pytest.raises(MemoryError, match="bytes"):
        ordhc.cluster(t, linkage="weighted")


def test_progress_is_told_and_its_errors_stop_the_work():
    y = np.random.default_rng(0).random(1600 * 1599 // 2)
    told = []
    merged(y, "average", True, "nearest-pair", progress=told.append)
    assert told[-1] == 1.0
    assert all(0 <= share <= 1 for share in told)

    def stop(share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        ordhc.linkage(y, "average", dissimilarity=True, progress=stop)
