"""Lengths of leaves from how often they are near and far, and AddS of answers weighted by them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.plugins import registry

RNG = np.random.default_rng(4)

#: Some leaves have no answers on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.*no answers and (is|are) merged last")


def plain_lengths(data):
    """The same by plain Newton steps over single rows."""
    n, rows = data.n_leaves, data.rows.astype(int)
    weights = np.ones(len(rows)) if data.weights is None else data.weights
    X = np.zeros((len(rows), n))
    pairs = [(0, 1, 0, 2), (0, 1, 2, 3)][rows.shape[1] - 3]
    for column, sign in zip(pairs, (-1, -1, 1, 1), strict=True):
        np.add.at(X, (np.arange(len(rows)), rows[:, column]), sign)
    balance, number = X.T @ weights, np.abs(X).T @ weights
    if not (balance**2 - number).sum() > 3 * np.sqrt(2 * (number**2).sum()):
        return np.zeros(n)
    lengths, variance = np.zeros(n), 1.0

    def loss(lengths):
        return weights @ np.logaddexp(0, -X @ lengths) + lengths @ lengths / (2 * variance)

    def fitted(lengths):
        for _ in range(100):
            p = 1 / (1 + np.exp(-X @ lengths))
            curvature = weights * p * (1 - p)
            gradient = X.T @ (weights * (1 - p)) - lengths / variance
            step = np.linalg.solve((X.T * curvature) @ X + np.eye(n) / variance, gradient)
            while loss(lengths + step) > loss(lengths) + 1e-9:
                step /= 2
            lengths = lengths + step
            if np.abs(step).max() < 1e-9:
                break
        return lengths, (np.abs(X).T @ curvature)

    for _ in range(40):
        lengths, information = fitted(lengths)
        before = variance
        variance = min(25, (lengths @ lengths) / (information / (information + 1 / variance)).sum())
        if variance <= 1e-4:
            return np.zeros(n)
        if abs(np.log(variance / before)) < 1e-2:
            break
    return fitted(lengths)[0]


def random_answers(width, n, m, seed, sd=1.0, weighted=False):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n) * sd
    rows = np.argsort(rng.random((m, n)), axis=1)[:, :width]
    if width == 3:
        odds = truth[rows[:, 2]] - truth[rows[:, 1]]
        turned = rows[:, [0, 2, 1]]
    else:
        odds = truth[rows[:, 2:]].sum(1) - truth[rows[:, :2]].sum(1)
        turned = rows[:, [2, 3, 0, 1]]
    rows = np.where((rng.random(m) > 1 / (1 + np.exp(-odds)))[:, None], turned, rows)
    weights = rng.integers(0, 4, m).astype(float) if weighted else None
    kind = ordhc.Triplets if width == 3 else ordhc.Quadruplets
    return kind(rows, n_leaves=n + 1, weights=weights), np.append(truth, 0)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([3, 4]),
    st.integers(5, 9),
    st.integers(0, 400),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 1.0, 5.0]),
    st.booleans(),
)
def test_lengths_are_those_of_plain_newton_steps(width, n, m, seed, sd, weighted):
    data, _ = random_answers(width, n, m, seed, sd, weighted)
    assert np.allclose(ordhc.leaf_lengths(data), plain_lengths(data), atol=1e-4)


def test_quadruplets_with_a_leaf_in_both_pairs():
    rows = RNG.integers(0, 6, size=(400, 4))
    rows = rows[(rows[:, 0] != rows[:, 1]) & (rows[:, 2] != rows[:, 3])]
    rows = np.where((rows[:, :2].sum(1) > rows[:, 2:].sum(1))[:, None], rows[:, [2, 3, 0, 1]], rows)
    same = np.sort(rows[:, :2]) == np.sort(rows[:, 2:])
    data = ordhc.Quadruplets(rows[~same.all(1)], n_leaves=6)
    assert np.allclose(ordhc.leaf_lengths(data), plain_lengths(data), atol=1e-4)
    assert ordhc.leaf_lengths(data)[5] > 0.5


@pytest.mark.parametrize("sd", [1, 2])
@pytest.mark.parametrize("width", [3, 4])
def test_lengths_are_recovered(width, sd):
    data, truth = random_answers(width, 60, 6000, sd, sd)
    found = ordhc.leaf_lengths(data)
    assert np.corrcoef(found[:-1], truth[:-1])[0, 1] > 0.95
    assert found[-1] == 0
    assert abs(found.mean()) < 1e-9
    assert 0.75 * sd < found.std() < 1.25 * sd


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_answers_no_lengths(n):
    assert ordhc.leaf_lengths(ordhc.Triplets(np.zeros((0, 3), int), n_leaves=n)).tolist() == [0] * n


def test_contradictions_and_answers_without_weight_say_nothing():
    both = ordhc.Triplets([(0, 1, 2), (0, 2, 1)] * 100)
    nothing = ordhc.Triplets([(0, 1, 2)] * 100, weights=np.zeros(100))
    for data in (both, nothing):
        assert not ordhc.leaf_lengths(data).any()
        tree = ordhc.cluster(data, method="adds3-al", lengths=True)
        assert tree.settings["similarity_parameters"]["lengths"] is False


def test_separable_answers_and_leaves_without_answers():
    found = ordhc.leaf_lengths(ordhc.Triplets([(0, 1, 2)] * 1000, n_leaves=5))
    assert 2 < found[2] < 25
    assert np.isclose(found[1], -found[2])
    assert found[[0, 3, 4]].tolist() == [0, 0, 0]
    large = ordhc.Triplets([(0, 1, 2)] * 3, weights=[1e300] * 3)
    assert np.isfinite(ordhc.leaf_lengths(large)).all()


def test_leaves_renumbered_and_rows_shuffled():
    data, _ = random_answers(3, 30, 3000, 5)
    number = RNG.permutation(31)
    rows = RNG.permutation(number[data.rows])
    found = ordhc.leaf_lengths(ordhc.Triplets(rows, n_leaves=31))
    assert np.allclose(found[number], ordhc.leaf_lengths(data), atol=1e-6)
    same = ordhc.Triplets(RNG.permutation(data.rows), n_leaves=31)
    assert np.array_equal(ordhc.leaf_lengths(same), ordhc.leaf_lengths(data))
    one = ordhc.cluster(data, method="adds3-al+lengths+spr")
    other = ordhc.cluster(ordhc.Triplets(rows, n_leaves=31), method="adds3-al+lengths+spr")
    assert ordhc.metrics.robinson_foulds(other.relabel(np.argsort(number)), one) == 0


def test_rows_of_one_answer_are_one_answer():
    odd = np.argsort(RNG.random((500, 8)), axis=1)[:, :3]
    odd = np.sort(odd, axis=1)[:, ::-1]
    data = ordhc.Triplets.from_odd_one_out(odd, n_leaves=8)
    halved = ordhc.Triplets(data.rows, n_leaves=8, weights=np.full(1000, 0.5))
    assert ordhc.leaf_lengths(data).any()
    assert np.allclose(ordhc.leaf_lengths(data), ordhc.leaf_lengths(halved), atol=1e-9)


@pytest.mark.parametrize("width", [3, 4])
def test_adds_of_answers_weighted_by_what_lengths_leave_open(width):
    data, _ = random_answers(width, 12, 900, 3, weighted=True)
    found, rows = ordhc.leaf_lengths(data), data.rows
    near, far = (rows[:, :2], rows[:, [0, 2]]) if width == 3 else (rows[:, :2], rows[:, 2:])
    open_ = 2 / (1 + np.exp(found[far].sum(1) - found[near].sum(1)))
    expected = np.zeros((13, 13))
    for pairs, sign in ((near, 1), (far, -1)):
        np.add.at(expected, (pairs[:, 0], pairs[:, 1]), sign * data.weights * open_)
    expected += expected.T
    name = f"adds{width}"
    S = ordhc.similarity(data, name, lengths=True)
    assert np.allclose(S, expected, atol=1e-2)
    assert not np.allclose(S, ordhc.similarity(data, name), atol=1)
    assert np.allclose(ordhc.similarity(data, name, lengths=True, layout="sparse").toarray(), S)
    tree = ordhc.cluster(data, similarity=name, linkage="average", lengths=True)
    assert np.allclose(tree.heights.max(), ordhc.linkage(S[:12, :12]).heights.max())


def test_methods_and_settings_say_whether_lengths_were_used():
    data, _ = random_answers(3, 20, 2000, 1)
    by_name = ordhc.cluster(data, method="adds3-al+lengths+spr")
    given = ordhc.cluster(data, method="adds3-al+spr", lengths=True)
    asked = ordhc.cluster(data, method="adds3-al+spr", lengths=None)
    for tree in (by_name, given, asked):
        assert tree.settings["similarity_parameters"]["lengths"] is True
        assert np.array_equal(tree.merges, by_name.merges)
    plain = ordhc.cluster(data, method="adds3-al+spr")
    assert plain.settings["similarity_parameters"]["lengths"] is False
    four = ordhc.cluster(random_answers(4, 10, 900, 1)[0], method="adds4-al+lengths+spr")
    assert four.settings["method"] == "adds4-al+lengths+spr"
    with pytest.raises(ordhc.InputError, match="lengths is 'yes', not True, False or None"):
        ordhc.cluster(data, method="adds3-al", lengths="yes")


def test_data_without_lengths_have_the_same_tree_to_the_bit():
    data, _ = ordhc.simulate_planted(3600, seed=0)
    for method in ("adds3-al", "adds3-al+spr"):
        plain = ordhc.cluster(data, method=method)
        for lengths in (None, True):
            tree = ordhc.cluster(data, method=method, lengths=lengths)
            assert np.array_equal(tree.merges, plain.merges)
            assert np.array_equal(tree.heights, plain.heights)


def test_bootstrap_and_select_weigh_answers_of_each_resample():
    data, _ = random_answers(3, 15, 1500, 2)
    weighed = ordhc.bootstrap(data, method="adds3-al", lengths=True, n_resamples=8, seed=1)
    plain = ordhc.bootstrap(data, method="adds3-al", n_resamples=8, seed=1)
    assert weighed.tree.settings["similarity_parameters"]["lengths"] is True
    assert not np.array_equal(weighed.tree.heights, plain.tree.heights)
    assert not np.array_equal(weighed.trees[0].heights, plain.trees[0].heights)
    found = ordhc.select(data, ["adds3-al+spr", "adds3-al+lengths+spr"])
    assert {candidate.method for candidate in found.candidates} == {"adds3-al+spr", "adds3-al+lengths+spr"}


def test_lengths_of_scans_are_refused(tmp_path):
    data, _ = random_answers(3, 8, 400, 2)
    file = tmp_path / "answers.csv"
    ordhc.write_comparisons(data, file)
    scan = ordhc.scan(file)
    for work in (
        lambda: ordhc.cluster(scan, method="adds3-al", lengths=True),
        lambda: ordhc.similarity(scan, "adds3", lengths=True),
    ):
        with pytest.raises(ordhc.InputError, match=r"lengths=True .* scan.read\(\)"):
            work()
    tree = ordhc.cluster(scan, method="adds3-al", lengths=None)
    assert tree.settings["similarity_parameters"]["lengths"] is False


def test_vectors_and_sessions_have_no_leaf_lengths():
    with pytest.raises(ordhc.InputError, match="not ndarray"):
        ordhc.leaf_lengths(np.eye(3))


def test_answers_of_two_people_with_the_same_numbers_are_two_answers():
    rows = np.repeat([(0, 1, 2), (1, 0, 2)], 30, axis=0)
    own = np.arange(60)
    apart = ordhc.Triplets(rows, answers=own)
    both = ordhc.Triplets(rows, answers=own % 30, groups=np.repeat(["ann", "bob"], 30))
    assert np.array_equal(ordhc.leaf_lengths(both), ordhc.leaf_lengths(apart))


def test_a_similarity_of_others_may_be_adds_without_lengths(monkeypatch):
    data, _ = random_answers(3, 8, 200, 1)
    found = registry.get("similarity", "adds3")
    mine = replace(found, name="mine", parameters={})
    names = {("similarity", "mine"): mine}
    get = registry.get
    monkeypatch.setattr(registry, "get", lambda kind, name: names.get((kind, name)) or get(kind, name))
    tree = ordhc.cluster(data, similarity="mine", linkage="average")
    assert tree.with_settings(None) == ordhc.cluster(data, method="adds3-al").with_settings(None)
    assert len(ordhc.bootstrap(data, similarity="mine", linkage="average", n_resamples=3).trees) == 3
