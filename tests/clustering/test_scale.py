"""Trees do not depend on the scale of weights, nor on how often all answers are repeated."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ordhc
from ordhc.comparison.scale import in_units, unit_of
from ordhc.errors import InputError

METHODS = {
    ordhc.Triplets: ("adds3-al+spr", "adds3-al", "mulk3-al", "3-al", "consistency", "build"),
    ordhc.Quadruplets: ("adds4-al+spr", "adds4-al", "mulk4-al", "4-al"),
}
#: How heights grow with all weights.
DEGREES = {"mulk3-al": 2, "mulk4-al": 2, "consistency": 0, "build": 0}
FACTORS = (2, 3, 0.1, 1e-3)
CASES = [(kind, method) for kind, methods in METHODS.items() for method in methods]


@st.composite
def answers(draw):
    """Rows and small weights, of which some are equal: ties."""
    n, m = draw(st.integers(4, 12)), draw(st.integers(1, 50))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = np.array([random.permutation(n)[:4] for _ in range(m)])
    return n, rows, random.integers(1, draw(st.sampled_from((2, 5))), m).astype(float)


def tree_of(data, method):
    try:
        return ordhc.cluster(data, method=method)
    except InputError:
        # No tree satisfies all answers.
        assert method == "build"
        return None


def check_same(tree, other, factor=1.0):
    assert (tree is None) == (other is None)
    if tree is not None:
        assert np.array_equal(tree.merges, other.merges)
        assert np.allclose(tree.heights * factor, other.heights, rtol=1e-9, atol=1e-12 * abs(factor))


@pytest.mark.filterwarnings("ignore::ordhc.errors.OrdhcWarning")
@pytest.mark.parametrize(("kind", "method"), CASES)
@given(case=answers())
def test_scale_changes_nothing(kind, method, case):
    n, rows, weights = case
    rows = rows[:, : 3 if kind is ordhc.Triplets else 4]
    data = kind(rows, n_leaves=n, weights=weights)
    tree = tree_of(data, method)
    degree = DEGREES.get(method, 1)
    for factor in FACTORS:
        other = tree_of(kind(rows, n_leaves=n, weights=weights * factor), method)
        check_same(tree, other, float(factor) ** degree)
    # The kernels divide by roots: three times as much is rounded otherwise, which may settle a tie otherwise.
    times = 2 if degree == 2 else 3
    repeated = kind(np.repeat(rows, times, axis=0), n_leaves=n, weights=np.repeat(weights, times))
    check_same(tree, tree_of(repeated, method), float(times) ** degree)
    as_rows = kind(np.repeat(rows, weights.astype(int), axis=0), n_leaves=n)
    check_same(tree, tree_of(as_rows, method))


@pytest.mark.filterwarnings("ignore::ordhc.errors.OrdhcWarning")
@given(case=answers(), objective=st.sampled_from(("revenue", "satisfied")))
def test_scale_changes_no_refinement(case, objective):
    n, rows, weights = case
    rows = rows[:, :3]
    start = ordhc.cluster(ordhc.Triplets(rows, n_leaves=n, weights=weights), method="adds3-al")
    degree = 1 if objective == "revenue" else 0
    tree = ordhc.refine(start, ordhc.Triplets(rows, n_leaves=n, weights=weights), objective=objective)
    for factor in FACTORS:
        scaled = ordhc.Triplets(rows, n_leaves=n, weights=weights * factor)
        check_same(tree, ordhc.refine(start, scaled, objective=objective), float(factor) ** degree)
    as_rows = ordhc.Triplets(np.repeat(rows, weights.astype(int), axis=0), n_leaves=n)
    check_same(tree, ordhc.refine(start, as_rows, objective=objective))


@given(
    n=st.integers(3, 20),
    seed=st.integers(0, 2**32),
    factor=st.sampled_from((2.0, 3.0, 0.1, 1e-3)),
    few=st.booleans(),
)
@example(n=4, seed=0, factor=0.1, few=True)
def test_scale_of_similarities_changes_no_refinement(n, seed, factor, few):
    random = np.random.default_rng(seed)
    S = random.integers(0, 4 if few else 1000, (n, n)).astype(float)
    S += S.T
    start = ordhc.linkage(S, "average", dissimilarity=False)
    tree, other = (ordhc.refine(start, k * S, dissimilarity=False) for k in (1, factor))
    assert ordhc.score(other, S, metric="dasgupta_cost") == ordhc.score(tree, S, metric="dasgupta_cost")
    if factor in (2.0, 3.0):
        # Other factors round: of places that are worth the same one may be a little better.
        assert np.array_equal(tree.merges, other.merges)


@pytest.mark.filterwarnings("ignore::ordhc.errors.OrdhcWarning")
@given(case=answers(), factor=st.sampled_from(FACTORS), blocks=st.integers(1, 3))
def test_scans_have_units_too(tmp_path_factory, case, factor, blocks):
    n, rows, weights = case
    data = ordhc.Triplets(rows[:, :3], n_leaves=n, weights=weights * factor)
    folder = tmp_path_factory.mktemp("scan")
    for at, part in enumerate(np.array_split(np.arange(len(rows)), min(blocks, len(rows)))):
        ordhc.write_comparisons(data[part], folder / f"{at}.csv")
    scan = ordhc.scan(folder, n_leaves=n)
    for method in ("adds3-al+spr", "adds3-al", "mulk3-al"):
        check_same(ordhc.cluster(data, method=method), ordhc.cluster(scan, method=method))


@given(
    counts=st.lists(st.integers(1, 1000), min_size=1, max_size=30, unique=True),
    unit=st.sampled_from((1.0, 0.1, 1e-3, 1 / 3, 7.0, 2.0**-40, 1e12)),
)
def test_units_are_found(counts, unit):
    counts = np.sort(counts)
    common = int(np.gcd.reduce(counts))
    found = unit_of(counts * unit)
    assert found == pytest.approx(unit * common, rel=1e-9)
    assert np.array_equal(np.rint(counts * unit / found), counts // common)


def test_measurements_have_no_unit():
    data = ordhc.Triplets([(0, 1, 2), (1, 0, 2)], weights=[1.0, 2**0.5])
    assert in_units(data) == (data, 1.0)
    assert unit_of(np.zeros(0)) is None
    assert unit_of(np.array([1e-300, 1.0])) is None
    assert unit_of(np.arange(1.0, 1002.0)) is None


def test_errors_name_leaves_as_the_caller_does():
    data = ordhc.Triplets([(0, 5, 1), (2, 0, 5), (5, 0, 2)], n_leaves=7)
    for more in ({}, {"tie_seed": 1}):
        with pytest.raises(InputError, match=r": \((2, 0, 5|5, 0, 2)\) and \((2, 0, 5|5, 0, 2)\)$"):
            ordhc.cluster(data, method="build", **more)
    few = ordhc.Quadruplets([(0, 5, 5, 6)], n_leaves=8)
    with pytest.raises(InputError) as caught:
        ordhc.cluster(few, method="4-sl")
    # Leaves 0, 5 and 6 are not called 0, 1 and 2.
    assert "5" in str(caught.value)
    assert "6" in str(caught.value)
