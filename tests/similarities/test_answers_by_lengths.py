"""Lengths of leaves from how often they are near and far, and AddS of answers weighted by them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import _ordhc
from ordhc.comparison.rows import changed
from ordhc.errors import InputError
from ordhc.plugins import registry
from support.lengths_twin import plain_adds, plain_lengths, random_answers

RNG = np.random.default_rng(4)

#: Some leaves have no answers on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.*no answers and (is|are) merged last")


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
    assert np.allclose(ordhc.similarities.leaf_lengths(data), plain_lengths(data), atol=1e-4)


def test_quadruplets_with_a_leaf_in_both_pairs():
    rows = RNG.integers(0, 6, size=(400, 4))
    rows = rows[(rows[:, 0] != rows[:, 1]) & (rows[:, 2] != rows[:, 3])]
    rows = np.where((rows[:, :2].sum(1) > rows[:, 2:].sum(1))[:, None], rows[:, [2, 3, 0, 1]], rows)
    same = np.sort(rows[:, :2]) == np.sort(rows[:, 2:])
    data = ordhc.Quadruplets(rows[~same.all(1)], n_leaves=6)
    assert np.allclose(ordhc.similarities.leaf_lengths(data), plain_lengths(data), atol=1e-4)
    assert ordhc.similarities.leaf_lengths(data)[5] > 0.5


@pytest.mark.parametrize("sd", [1, 2])
@pytest.mark.parametrize("width", [3, 4])
def test_lengths_are_recovered(width, sd):
    data, truth = random_answers(width, 60, 6000, sd, sd)
    found = ordhc.similarities.leaf_lengths(data)
    assert np.corrcoef(found[:-1], truth[:-1])[0, 1] > 0.95
    assert found[-1] == 0
    assert abs(found.mean()) < 1e-9
    assert 0.75 * sd < found.std() < 1.25 * sd


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_answers_no_lengths(n):
    assert (
        ordhc.similarities.leaf_lengths(ordhc.Triplets(np.zeros((0, 3), int), n_leaves=n)).tolist() == [0] * n
    )


def test_contradictions_and_answers_without_weight_say_nothing():
    both = ordhc.Triplets([(0, 1, 2), (0, 2, 1)] * 100)
    nothing = ordhc.Triplets([(0, 1, 2)] * 100, weights=np.zeros(100))
    for data in (both, nothing):
        assert not ordhc.similarities.leaf_lengths(data).any()
        tree = ordhc.cluster(data, method="adds3-al", lengths=True)
        assert tree.settings["similarity_parameters"]["lengths"] is False


def test_separable_answers_and_leaves_without_answers():
    found = ordhc.similarities.leaf_lengths(ordhc.Triplets([(0, 1, 2)] * 1000, n_leaves=5))
    assert 2 < found[2] < 25
    assert np.isclose(found[1], -found[2])
    assert found[[0, 3, 4]].tolist() == [0, 0, 0]
    large = ordhc.Triplets([(0, 1, 2)] * 3, weights=[1e300] * 3)
    assert np.isfinite(ordhc.similarities.leaf_lengths(large)).all()


def test_leaves_renumbered_and_rows_shuffled():
    data, _ = random_answers(3, 30, 3000, 5)
    number = RNG.permutation(31)
    rows = RNG.permutation(number[data.rows])
    found = ordhc.similarities.leaf_lengths(ordhc.Triplets(rows, n_leaves=31))
    assert np.allclose(found[number], ordhc.similarities.leaf_lengths(data), atol=1e-6)
    same = ordhc.Triplets(RNG.permutation(data.rows), n_leaves=31)
    assert np.array_equal(ordhc.similarities.leaf_lengths(same), ordhc.similarities.leaf_lengths(data))
    one = ordhc.cluster(data, method="adds3-al+lengths+spr")
    other = ordhc.cluster(ordhc.Triplets(rows, n_leaves=31), method="adds3-al+lengths+spr")
    assert ordhc.metrics.robinson_foulds(other.relabel(np.argsort(number)), one) == 0


def test_rows_of_one_answer_are_one_answer():
    odd = np.argsort(RNG.random((500, 8)), axis=1)[:, :3]
    odd = np.sort(odd, axis=1)[:, ::-1]
    data = ordhc.Triplets.from_odd_one_out(odd, n_leaves=8)
    halved = ordhc.Triplets(data.rows, n_leaves=8, weights=np.full(1000, 0.5))
    assert ordhc.similarities.leaf_lengths(data).any()
    assert np.allclose(
        ordhc.similarities.leaf_lengths(data), ordhc.similarities.leaf_lengths(halved), atol=1e-9
    )


@pytest.mark.parametrize("width", [3, 4])
def test_adds_of_answers_weighted_by_what_lengths_leave_open(width):
    data, _ = random_answers(width, 12, 900, 3, weighted=True)
    expected = plain_adds(data, ordhc.similarities.leaf_lengths(data))
    name = f"adds{width}"
    S = ordhc.similarity(data, name, lengths=True)
    assert np.allclose(S, expected, atol=1e-2)
    assert not np.allclose(S, ordhc.similarity(data, name), atol=1)
    assert np.allclose(ordhc.similarity(data, name, lengths=True, layout="sparse").toarray(), S)
    tree = ordhc.cluster(data, similarity=name, linkage="average", lengths=True)
    assert np.allclose(tree.heights.max(), ordhc.linkage(S[:12, :12], dissimilarity=False).heights.max())


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
    with pytest.raises(InputError, match="lengths is 'yes'; it must be True, False, or None"):
        ordhc.cluster(data, method="adds3-al", lengths="yes")


def test_data_without_lengths_have_the_same_tree_to_the_bit():
    data, _ = ordhc.datasets.planted(3600, seed=0)
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


def test_vectors_and_sessions_have_no_leaf_lengths():
    with pytest.raises(InputError, match="not ndarray"):
        ordhc.similarities.leaf_lengths(np.eye(3))


def test_answers_of_two_people_with_the_same_numbers_are_two_answers():
    rows = np.repeat([(0, 1, 2), (1, 0, 2)], 30, axis=0)
    own = np.arange(60)
    apart = ordhc.Triplets(rows, answers=own)
    both = ordhc.Triplets(rows, answers=own % 30, groups=np.repeat(["ann", "bob"], 30))
    assert np.array_equal(ordhc.similarities.leaf_lengths(both), ordhc.similarities.leaf_lengths(apart))


def test_a_similarity_of_others_may_be_adds_without_lengths(monkeypatch):
    data, _ = random_answers(3, 8, 200, 1)
    found = registry.get("similarity", "adds3")
    mine = replace(found, name="mine", parameters={})
    names = {("similarity", "mine"): mine}
    get = registry.get
    monkeypatch.setattr(registry, "get", lambda kind, name: names.get((kind, name)) or get(kind, name))
    tree = ordhc.cluster(data, similarity="mine", linkage="average")
    assert tree.replace(settings=None) == ordhc.cluster(data, method="adds3-al").replace(settings=None)
    assert len(ordhc.bootstrap(data, similarity="mine", linkage="average", n_resamples=3).trees) == 3


@pytest.mark.parametrize("layout", ["square", "condensed", "sparse"])
def test_whole_numbers_are_refused_where_lengths_weigh_answers(layout):
    data, _ = random_answers(3, 12, 900, 3)
    with pytest.raises(InputError, match="dtype is int64, but these similarities are no whole numbers"):
        ordhc.similarity(data, lengths=True, layout=layout, dtype="int64")
    even, _ = random_answers(3, 12, 900, 3, sd=0)
    found = ordhc.similarity(even, lengths=None, layout=layout, dtype="int64")
    assert found.dtype == np.int64


def test_repeated_answers_are_weights():
    data, _ = random_answers(3, 9, 500, 6)
    times = RNG.integers(0, 4, len(data))
    repeated = data[np.repeat(np.arange(len(data)), times)]
    weighted = changed(data, weights=times.astype(float))
    assert np.array_equal(
        ordhc.similarities.leaf_lengths(repeated), ordhc.similarities.leaf_lengths(weighted)
    )
    assert np.array_equal(ordhc.similarity(repeated, lengths=True), ordhc.similarity(weighted, lengths=True))


@pytest.mark.parametrize("unit", [1, 3, 0.25, 0.1])
def test_a_tree_and_a_similarity_have_the_same_lengths(unit):
    data, _ = random_answers(3, 9, 60, 8, weighted=True)
    data = changed(data, weights=unit * data.weights)
    S = ordhc.similarity(data, lengths=True)
    assert np.allclose(S, plain_adds(data, plain_lengths(data)), atol=1e-3)
    tree = ordhc.cluster(data, method="adds3-al", lengths=True)
    assert np.allclose(tree.heights.min(), ordhc.linkage(S[:9, :9], dissimilarity=False).heights.min())


def drawn(data, units, seed, index):
    """The answers of a resample, as weights."""
    times = _ordhc.draw_times(len(data), units, seed, index)
    kept = np.flatnonzero(times)
    weights = 1.0 if data.weights is None else data.weights[kept]
    return changed(data[kept], weights=times[kept] * weights)


@pytest.mark.parametrize("spr", ["", "+spr"])
@pytest.mark.parametrize("executor", [False, True])
def test_resamples_are_trees_of_the_answers_that_were_drawn(spr, executor):
    odd = np.sort(np.argsort(RNG.random((400, 8)), axis=1)[:, :3], axis=1)[:, ::-1]
    data = ordhc.Triplets.from_odd_one_out(odd, n_leaves=8)
    method = f"adds3-al+lengths{spr}" if spr else "adds3-al"
    with ThreadPoolExecutor(2) as pool:
        found = ordhc.bootstrap(
            data, method=method, lengths=True, n_resamples=4, seed=5, executor=pool if executor else None
        )
    units = np.repeat(np.arange(400), 2)
    for index, tree in enumerate(found.trees):
        sample = drawn(data, units, 5, index)
        # An answer that was drawn twice is two answers to lengths.
        assert np.allclose(ordhc.similarities.leaf_lengths(sample), plain_lengths(sample), atol=1e-4)
        expected = ordhc.cluster(sample, method=method, lengths=True)
        assert expected.settings["similarity_parameters"]["lengths"] is True
        assert np.array_equal(tree.merges, expected.merges)
        assert np.array_equal(tree.heights, expected.heights)
