"""AddS similarities beside the formula."""

import numpy as np
import pytest
from hypothesis import given, settings

import ordhc
from ordhc.errors import InputError
from support.comparisons import comparisons
from support.processes import printed


def by_formula(q):
    """s_ij = sum over comparisons of w for the closer pair, -w for the farther one."""
    S = np.zeros((q.n_leaves, q.n_leaves))
    weights = np.ones(len(q)) if q.weights is None else q.weights
    for row, weight in zip(q.rows, weights, strict=True):
        i, j, k, l = row if len(row) == 4 else (row[0], row[1], row[0], row[2])  # noqa: E741
        for (a, b), w in (((i, j), weight), ((k, l), -weight)):
            S[a, b] += w
            S[b, a] += w
    return S


@settings(deadline=None)
@given(comparisons(3))
def test_adds3_is_the_formula(t):
    S = ordhc.similarity(t, "adds3")
    np.testing.assert_array_equal(S, by_formula(t))
    assert S.dtype == np.float64
    np.testing.assert_array_equal(ordhc.similarity(t, "adds4"), S)
    np.testing.assert_array_equal(ordhc.similarity(t.to_quadruplets(), "adds4"), S)
    upper = S[np.triu_indices(t.n_leaves, 1)]
    np.testing.assert_array_equal(ordhc.similarity(t, layout="condensed"), upper)


@settings(deadline=None)
@given(comparisons(4))
def test_adds4_is_the_formula(q):
    np.testing.assert_array_equal(ordhc.similarity(q, "adds4"), by_formula(q))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", np.int32])
@pytest.mark.parametrize("layout", ["square", "condensed"])
def test_types_agree(dtype, layout):
    t = ordhc.datasets.planted(3000, levels=2, leaves_per_cluster=5)[0]
    S = ordhc.similarity(t, layout=layout, dtype=dtype)
    assert S.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(S, ordhc.similarity(t, layout=layout))


def test_weights_and_repeats_are_the_same_thing():
    rows = [(0, 1, 2), (0, 2, 1), (1, 0, 2)]
    weighted = ordhc.Triplets(rows, weights=[3, 1, 2])
    repeated = ordhc.Triplets([rows[0]] * 3 + [rows[1]] + [rows[2]] * 2)
    np.testing.assert_array_equal(ordhc.similarity(weighted), ordhc.similarity(repeated))
    assert ordhc.cluster(weighted, method="adds3-al+spr") == ordhc.cluster(repeated, method="adds3-al+spr")
    assert ordhc.score(ordhc.cluster(weighted, method="adds3-al+spr"), weighted) == ordhc.score(
        ordhc.cluster(repeated, method="adds3-al+spr"), repeated
    )


def test_arguments_are_checked():
    t = ordhc.Triplets([(0, 1, 2)], weights=[0.5])
    for arguments, part in [
        ({"name": "adds5"}, "did you mean adds"),
        ({"layout": "flat"}, "'flat'"),
        ({"dtype": "int8"}, "int8"),
        ({"dtype": "int32"}, "floating-point"),
        ({"power": 2}, "no parameter 'power'"),
    ]:
        with pytest.raises(InputError) as error:
            ordhc.similarity(t, **arguments)
        assert part in str(error.value)
    with pytest.raises(InputError, match="takes triplets, not Quadruplets"):
        ordhc.similarity(ordhc.Quadruplets([(0, 1, 2, 3)]), "adds3")
    with pytest.raises(InputError, match="not list"):
        ordhc.similarity([(0, 1, 2)])


THREADS = """
import hashlib, numpy as np, ordhc
t = ordhc.datasets.planted(150_000, levels=3, leaves_per_cluster=30, seed=4)[0]
weighted = ordhc.Triplets(t.rows, weights=np.random.default_rng(0).random(len(t)))
wide = ordhc.Triplets(t.rows * 12, n_leaves=2900, weights=weighted.weights)
digest = hashlib.sha256()
for data in (t, weighted, wide):
    digest.update(ordhc.similarity(data).tobytes())
tree = ordhc.cluster(wide)
digest.update(tree.to_linkage_matrix().tobytes())
digest.update(repr(ordhc.score(tree, wide)).encode())
print(digest.hexdigest())
"""


def test_results_do_not_depend_on_the_number_of_threads():
    digests = set()
    for threads in ("1", "5"):
        digests.add(printed(THREADS, ORDHC_NUM_THREADS=threads))
    assert len(digests) == 1


@pytest.mark.parametrize("self_pairs", [False, True])
def test_the_kernel_of_comparisonhc_is_4k_only_with_self_pairs(self_pairs):
    n = 6
    S = np.random.default_rng(0).integers(0, 50, (n, n))
    S = S + S.T
    np.fill_diagonal(S, 1000)
    answers = np.sign(S[:, :, None, None] - S)
    rows = np.argwhere(answers == 1)
    rows = rows[(rows[:, 0] < rows[:, 1]) & (rows[:, 2] < rows[:, 3])]
    if not self_pairs:
        answers[np.arange(n), np.arange(n)] = 0
    # OrdinalLinkageKernel sums over all reference pairs and all third leaves, i and j too.
    kernel = sum(answers[:, :, k, m] @ answers[:, :, k, m].T for k in range(n) for m in range(k))
    ours = ordhc.similarity(ordhc.Quadruplets(rows, n), "4k" if self_pairs else "mulk4")
    apart = ~np.eye(n, dtype=bool)
    np.testing.assert_array_equal(kernel[apart], ours[apart])
