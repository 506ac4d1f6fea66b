"""All engines beside fractions: ties, outliers, both signs, numbers of any size."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import _ordhc
from ordhc.errors import InputError, OrdhcWarning
from ordhc.tree.dendrogram import from_engine
from support import engines as engines_of
from support import linkage_twin as twin

NEAR = [1.0, 1.0 + 1e-13, 1.0 - 1e-13, 1.0 + 0.5e-13, 1.0 + 2**-44, 1.0 + 3 * 2**-44, 1.0 + 2e-13]
NEAR += [1.0 + 2**-36, 1.0 - 2**-37, 1.0 + 3 * 2**-36, 1.0 + 2e-11, 1.0 + 5e-11]
KINDS = {
    "whole": st.integers(0, 4).map(float),
    "signs": st.integers(-3, 3).map(float),
    "tenths": st.integers(0, 9).map(lambda x: x * 0.1),
    "signed tenths": st.integers(-4, 4).map(lambda x: x * 0.1),
    "thirds": st.sampled_from([1 / 3, 2 / 3, 0.1 + 0.2, 0.3, 0.7, 1 / 7]),
    "near": st.sampled_from(NEAR),
    "near large whole": st.integers(0, 9).map(lambda x: 1e13 + x),
    "any": st.floats(0, 1),
    "any sign": st.floats(-1, 1),
    "outlier": st.sampled_from([1e15, 1.5, 2.0, 5.0, 2.5, 0.1]),
    "signed outlier": st.sampled_from([1e15, -1e15, 1.5, 2.0, -5.0, 2.5, 0.1]),
    "sizes": st.tuples(st.floats(1, 9), st.integers(-300, 300)).map(lambda x: x[0] * 10.0 ** x[1]),
    "few sizes": st.sampled_from([1e-300, 3e-300, 1.0, 2.0, 1e300, 2e300]),
    "subnormal": st.integers(0, 6).map(lambda x: x * 5e-324),
    "small": st.integers(0, 6).map(lambda x: x * 1e-160),
    "large": st.integers(0, 6).map(lambda x: x * 1e160),
}


def engines(name):
    return ["auto", "nearest-pair", "naive"] + (["chain"] if name in twin.REDUCIBLE else [])


def merged(values, name, dissimilarity, engine, overwrite=False, labels=None):
    if name not in twin.FORMULAS:
        return engines_of.merged(values, name, dissimilarity, engine, overwrite, labels)
    alpha, beta, gamma, reducible, squared = twin.FORMULAS[name]
    rule = _ordhc.Linkage.coefficients(alpha, beta, gamma, {}, reducible=reducible, squared=squared)
    initial = None if labels is None else np.array(labels, dtype=np.int64)
    tree = _ordhc.agglomerate(values, rule, dissimilarity, engine, initial, None, overwrite)
    return from_engine(tree)


def trees(S, name, dissimilarity, labels=None):
    """The tree of every engine, in every layout."""
    for engine in engines(name):
        for layout in (S, S[np.triu_indices(len(S), 1)]):
            for overwrite in (False, True):
                how = (engine, layout.ndim, overwrite)
                yield how, merged(layout.copy(), name, dissimilarity, engine, overwrite, labels)


@st.composite
def matrices(draw):
    kind = draw(st.sampled_from(sorted(KINDS)))
    n = draw(st.integers(2, 8))
    values = draw(st.lists(KINDS[kind], min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    S = np.zeros((n, n))
    S[np.triu_indices(n, 1)] = values
    return kind, S + S.T


def close(height, exact, largest, name, dissimilarity):
    if dissimilarity:
        exact = -exact
        if name in twin.SQUARED:
            root = math.isqrt(int(abs(exact) * 2**4200))
            square, exact = exact, twin.Fraction(root, 2**2100) * (1 if exact >= 0 else -1)
            # Roots of squares that cancel are known to half the digits.
            found = twin.Fraction(height)
            if abs(found * abs(found) - square) <= twin.Fraction(1, 10**12) * largest**2:
                return True
    # Within a tie heights differ by as much as the grid is wide.
    slack = twin.Fraction(1, 10**10) * max(abs(exact), largest)
    # Each term is off by up to the smallest number.
    return abs(twin.Fraction(height) - exact) <= slack + 4 * twin.Fraction(5e-324)


def assert_all_engines_are_the_twin(S, name, dissimilarity, labels=None):
    squared = dissimilarity and name in twin.SQUARED
    assume(not (squared and (S.min() < 0 or S.max() * 1e-250 > S[S > 0].min(initial=1e300))))
    merges, heights = twin.agglomerate(S.tolist(), name, dissimilarity, labels)
    # What cancels is known no better than the values that do.
    cancels = S.min() < 0 or name in ("ward", "centroid", "median", *twin.FORMULAS)
    largest = twin.Fraction(float(np.abs(S).max())) if cancels else 0
    try:
        found = dict(trees(S, name, dissimilarity, labels))
    except OrdhcWarning:
        # Sums of 1 and 1e-300 are more than two floats can tell, and the engines say so.
        there = np.abs(S[S != 0])
        assert there.max() > 1e30 * there.min()
        return
    # Most engines find the same heights to the bit: each is compared with its fraction once.
    right = set()
    for how, tree in found.items():
        assert tree.merges.tolist() == merges, how
        for at, (height, exact) in enumerate(zip(tree.heights.tolist(), heights, strict=True)):
            if (at, height) not in right:
                assert close(height, exact, largest, name, dissimilarity), (how, height, float(exact))
                right.add((at, height))


# Numbers of any sign are given as dissimilarities.
pytestmark = pytest.mark.filterwarnings("ignore:.*looks like similarities:ordhc.errors.OrdhcWarning")

MANY = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", sorted(twin.LINKAGES))
@MANY
@given(matrices(), st.booleans())
def test_all_engines_agree_with_fractions(name, case, dissimilarity):
    assert_all_engines_are_the_twin(case[1], name, dissimilarity)


@pytest.mark.parametrize("name", sorted(twin.LINKAGES))
@settings(MANY, max_examples=40)
@given(matrices(), st.booleans(), st.data())
def test_all_engines_start_from_initial_clusters_as_fractions_do(name, case, dissimilarity, data):
    n = len(case[1])
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    assert_all_engines_are_the_twin(case[1], name, dissimilarity, labels)


@pytest.mark.parametrize("name", ["weighted", "ward", "average", "halves"])
@pytest.mark.parametrize("unit", [1.0, 2.0**-40, -1.0])
def test_what_is_equal_in_36_bits_is_a_tie(name, unit):
    """Of values in 1..2 those are numbers of 36 bits that are multiples of 2^-35."""
    for near, is_larger in [
        (1 + 2**-37, False),
        (1 + 2**-36 - 2**-52, False),
        (1 + 2**-36, True),
        (1 + 2**-35, True),
        (1 + 2**-36 + 2**-52, True),
    ]:
        S = np.full((4, 4), -9.0)
        S[0, 1] = S[1, 0] = unit
        S[2, 3] = S[3, 2] = unit * near
        for how, tree in trees(S, name, False):
            first = [2, 3] if is_larger and unit > 0 else [0, 1]
            assert tree.merges[0].tolist() == first, (near, how)


def test_an_outlier_leaves_the_other_values_what_they_are():
    S = np.full((4, 4), 1.5)
    S[0, 3] = S[3, 0] = -1e15
    S[0, 1] = S[1, 0] = 2.0
    S[1, 2] = S[2, 1] = 5.0
    for how, tree in trees(S, "average", False):
        assert tree.merges[0].tolist() == [1, 2], how


def cancelling():
    """Pairs of seven leaves whose sums lose all digits, with twice as many digits, too."""
    # What remains of 1e300 + 1 + 1e-20 - 1e300 - 1 is less than two floats can tell.
    S = np.full((7, 7), 9e300)
    S[5, :5] = S[:5, 5] = [1e300, 1, 1e-20, -1e300, -1]
    S[6] = S[:, 6] = 2e-21
    S[5, 6] = S[6, 5] = -5
    return S[np.triu_indices(7, 1)]


def test_what_cancels_too_far_is_a_warning():
    values = cancelling()
    for engine in engines("average"):
        with pytest.warns(OrdhcWarning, match="may be wrong there"):
            merged(values, "average", False, engine)


def test_engines_agree_on_more_leaves_than_fractions_can():
    rng = np.random.default_rng(5)
    for n, values in [
        (60, lambda size: rng.integers(0, 10, size) * 0.1),
        (60, lambda size: rng.integers(-5, 6, size) * 0.1),
        (90, lambda size: 1 + rng.integers(0, 20, size) * 1e-14),
        (90, lambda size: rng.standard_normal(size) * 10.0 ** rng.integers(-8, 9, size)),
        (90, lambda size: rng.random(size) * 10.0 ** rng.integers(-150, 150, size)),
    ]:
        S = values(n * (n - 1) // 2)
        for name in sorted(twin.LINKAGES):
            for dissimilarity in (False, True):
                if (
                    dissimilarity
                    and name in twin.SQUARED
                    and (S.min() < 0 or S.max() > 1e249 * S[S > 0].min())
                ):
                    continue
                with warnings.catch_warnings():
                    # Coefficients can cancel what differs by 300 orders of magnitude.
                    warnings.simplefilter("ignore", OrdhcWarning)
                    found = [merged(S.copy(), name, dissimilarity, engine) for engine in engines(name)]
                for tree in found[1:]:
                    assert np.array_equal(tree.merges, found[0].merges), (name, dissimilarity)


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e155, 1e300])
@pytest.mark.parametrize("name", twin.SQUARED)
def test_squares_neither_vanish_nor_overflow(name, unit):
    values = np.array([3.0, 4.0, 5.0])
    expected = merged(values, name, True, "auto").heights
    found = merged(values * unit, name, True, "auto").heights
    assert np.allclose(found / unit, expected, rtol=1e-14)
    with pytest.raises(InputError, match=r"some are below .*, too small beside the largest, 1e0"):
        merged(np.array([1e-260, 1.0, 1.0]), name, True, "auto")


@pytest.mark.parametrize("n", [3, 100, 1600])
@pytest.mark.parametrize(
    ("alpha", "gamma"), [("1/0", "0"), ("-1/0", "0"), ("1", "1e308"), ("1", "1e300 ** 2")]
)
def test_coefficients_that_reach_infinity_are_errors(n, alpha, gamma):
    values = 2.0 * np.random.default_rng(n).permutation(n * (n - 1) // 2)
    for reducible in (False, True):
        rule = _ordhc.Linkage.coefficients(alpha, "0", gamma, {}, reducible=reducible, squared=False)
        for dissimilarity in (False, True):
            with pytest.raises(InputError, match="the linkage gives"):
                _ordhc.agglomerate(values, rule, dissimilarity, "auto", None, None)


def test_a_formula_of_many_terms_is_read():
    many = " + ".join(["1e-6"] * 100_000)
    rule = _ordhc.Linkage.coefficients(f"5 * ({many})", "0", "0", {}, reducible=False, squared=False)
    tree = _ordhc.agglomerate(np.array([3.0, 1.0, 2.0]), rule, False, "auto", None, None)
    assert np.allclose(from_engine(tree).heights, [3.0, 1.5])


def test_reading_what_is_being_overwritten_is_an_error():
    S = np.random.default_rng(0).random(45)
    errors = []

    def told(_):
        for overwrite in (False, True):
            with pytest.raises(InputError) as error:
                ordhc.linkage(S, "single", dissimilarity=False, overwrite=overwrite)
            errors.append(str(error.value))

    ordhc.linkage(S, "average", dissimilarity=False, overwrite=True, progress=told)
    assert errors
    assert all("in use by another call" in error for error in errors)


def test_who_has_called_is_warned_of_values_that_cancel_out():
    with pytest.warns(OrdhcWarning, match="cancel out") as caught:
        ordhc.linkage(cancelling(), dissimilarity=False)
    assert caught[0].filename == __file__


def test_what_cancels_out_is_settled_from_the_leaves_without_a_warning():
    tiny, large = 1e-30, 1e30
    S = [-tiny, large, -large, large, large, tiny, tiny, -large, large, tiny]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = ordhc.linkage(S, "ward", dissimilarity=False)
    # The tree that exact fractions give.
    assert tree.merges.tolist() == [[0, 2], [4, 5], [1, 3], [6, 7]]
    np.testing.assert_allclose(tree.heights, [large, large, tiny, -1.2 * large], rtol=1e-15)


N_EQUAL = 1600
ONE_BY_ONE = [[0, 1]] + [[k, N_EQUAL + k - 2] for k in range(2, N_EQUAL)]


@pytest.mark.parametrize(("x", "dissimilarity"), [(0.0, False), (0.1, True), (3.0, True), (-2.0, False)])
def test_many_leaves_that_are_all_as_near(dissimilarity, x):
    # The first cluster takes all leaves, one after the other, at the one height there is.
    values = np.full(N_EQUAL * (N_EQUAL - 1) // 2, x)
    labels = np.where(np.arange(N_EQUAL) < 3, N_EQUAL, np.arange(N_EQUAL))[::-1].copy()
    for name in ("single", "complete", "average", "weighted", "ward"):
        for engine, overwrite in (("auto", False), ("auto", True), ("chain", False)):
            tree = merged(values.copy(), name, dissimilarity, engine, overwrite)
            assert tree.merges.tolist() == ONE_BY_ONE, (name, engine, overwrite)
            np.testing.assert_allclose(tree.heights, x, rtol=1e-13)
        first = ordhc.linkage(values, name, dissimilarity=dissimilarity, initial_clusters=labels)
        assert first.merges[:2].tolist() == [[N_EQUAL - 3, N_EQUAL - 2], [N_EQUAL - 1, N_EQUAL]]
        np.testing.assert_allclose(first.heights, x, rtol=1e-13)


@pytest.mark.parametrize("x", [0.0, 0.1, 3.0, 1e-200, 1e200])
def test_centroids_of_many_leaves_that_are_all_as_far_are_nearer(x):
    values = np.full(N_EQUAL * (N_EQUAL - 1) // 2, x)
    sizes = np.arange(1, N_EQUAL)
    # By the geometry of a regular simplex; of midpoints by what each merge does to the square.
    midpoints = 2 / 3 + 0.25 ** (sizes - 1) / 3
    for name, squares in (("centroid", 0.5 + 0.5 / sizes), ("median", midpoints)):
        for overwrite in (False, True):
            tree = ordhc.linkage(values.copy(), name, dissimilarity=True, overwrite=overwrite)
            assert tree.merges.tolist() == ONE_BY_ONE, name
            np.testing.assert_allclose(tree.heights, x * np.sqrt(squares), rtol=1e-12)
