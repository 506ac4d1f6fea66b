"""Triplets and quadruplets: what they accept, what they make, what they refuse."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Quadruplets, Triplets
from ordhc.errors import InputError, OrdhcWarning
from ordhc.testing.strategies import triplets


@st.composite
def any_triplets(draw):
    """With weights and names, or without."""
    t = draw(triplets(weighted=draw(st.booleans())))
    names = draw(st.sampled_from([None, [f"leaf {i}" for i in range(t.n_leaves)]]))
    return Triplets(t.rows, t.n_leaves, names, t.weights)


def test_attributes():
    t = Triplets([(0, 1, 2), (3, 1, 0)], n_leaves=6, weights=[1, 0.5])
    assert t.rows.tolist() == [[0, 1, 2], [3, 1, 0]]
    assert (len(t), t.n_leaves, t.names) == (2, 6, None)
    assert t.weights.tolist() == [1, 0.5]
    assert t.unmentioned.tolist() == [4, 5]
    assert repr(t) == "<Triplets: 2 of 6 leaves, weighted, 2 leaves unmentioned>"
    assert list(t) == [(0, 1, 2), (3, 1, 0)]
    assert Triplets([(0, 1, 2)]).n_leaves == 3
    assert Triplets([(0, 1, 2)]).weights is None
    assert Triplets([], n_leaves=2).rows.shape == (0, 3)
    for array in (t.rows, t.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.float32, np.float64, object])
def test_ids_of_any_whole_type(dtype):
    rows = np.array([(0, 1, 2), (2, 1, 0)], dtype=dtype)
    assert Triplets(rows) == Triplets(rows.tolist()) == Triplets(Triplets(rows))
    assert Triplets(np.asfortranarray(rows)) == Triplets(rows[::-1][::-1])


def test_names_are_looked_up_or_collected():
    rows = [("cat", "dog", "car"), ("dog", "cat", "bus")]
    t = Triplets(rows)
    assert t.names == ("cat", "dog", "car", "bus")
    assert t.rows.tolist() == [[0, 1, 2], [1, 0, 3]]
    fixed = Triplets(rows, names=["bus", "car", "cat", "dog", "cow"])
    assert fixed.rows.tolist() == [[2, 3, 1], [3, 2, 0]]
    assert fixed.unmentioned.tolist() == [4]


BAD = [
    (lambda: Triplets([(0, 1, 2), (0, -1, 2)]), "row 1: leaf -1 is outside 0..=2"),
    (lambda: Triplets([(0, 1, 5)], n_leaves=3), "row 0: leaf 5 is outside 0..=2 (n_leaves = 3)"),
    (lambda: Triplets([(0, 1, 2**40)], n_leaves=3), f"leaf {2**40} is outside"),
    (lambda: Triplets(np.array([(0, 1, 2**63)], dtype=np.uint64)), f"leaf {2**63}"),
    (lambda: Triplets([(0, 1, 2), (1, 1, 2)]), "row 1: leaf 1 occurs twice"),
    (lambda: Triplets([(0, 1, 2), (1, 2, 2)]), "row 1: leaf 2 occurs twice"),
    (lambda: Triplets([(0, 1)]), "3 columns are needed: anchor, near, far"),
    (lambda: Triplets([0, 1, 2]), "shape (3,)"),
    (lambda: Triplets([(0, 1, 2), (0, 1)]), "row 1: 2 columns instead of 3"),
    (lambda: Triplets([(0, 1, 2.5)]), "row 0: far is 2.5; leaf ids are whole"),
    (lambda: Triplets([(0, np.nan, 2)]), "row 0: near is nan"),
    (lambda: Triplets([(0, np.inf, 2)]), "row 0: near is inf"),
    (lambda: Triplets([(0, None, 2)]), "row 0: near is None"),
    (lambda: Triplets([(0, "a", 2)]), "near is"),
    (lambda: Triplets(np.zeros((1, 3), dtype=bool)), "bool"),
    (lambda: Triplets([(0, 1, 2)], weights=[np.nan]), "row 0: weight is nan"),
    (lambda: Triplets([(0, 1, 2)] * 3, weights=[1, np.inf, 1]), "row 1: weight is inf"),
    (lambda: Triplets([(0, 1, 2)], weights=[-1]), "row 0: weight is -1.0"),
    (lambda: Triplets([(0, 1, 2)], weights=[1, 2]), "shape (2,) for 1"),
    (lambda: Triplets([(0, 1, 2)], weights=["x"]), "weights must be numbers"),
    (lambda: Triplets([]), "the number of leaves is unknown"),
    (lambda: Triplets([], n_leaves=0), "n_leaves = 0 is below 1"),
    (lambda: Triplets([(0, 1, 2)], n_leaves=3.5), "3.5 is not a whole number"),
    (lambda: Triplets([(0, 1, 2)], n_leaves=3, names=["a"]), "names has 1 entries, but n_leaves = 3"),
    (lambda: Triplets([(0, 1, 2)], names=["a", "b", "a"]), "'a' occurs twice, at 0 and 2"),
    (lambda: Triplets([(0, 1, 2)], names=["a", "b", 3]), "names[2] is 3"),
    (lambda: Triplets([(0, 1, 2)], names="abc"), "not the string"),
    (lambda: Triplets([("cat", "dgo", "car")], names=["cat", "dog", "car"]), "nearest: 'dog'"),
    (lambda: Triplets(Quadruplets([(0, 1, 2, 3)])), "rows are Quadruplets; Triplets are needed"),
    (lambda: Quadruplets([(0, 1, 2)]), "4 columns are needed"),
    (lambda: Quadruplets([(0, 0, 1, 2)]), "leaf 0 is paired with itself"),
    (lambda: Quadruplets([(0, 1, 2, 3), (2, 1, 1, 2)]), "row 1: the quadruplet [2, 1, 1, 2] compares a pair"),
    (lambda: Triplets.from_responses([(0, 1, 2)], [0]), "row 0: y is 0"),
    (lambda: Triplets.from_responses([(0, 1, 2)], [np.nan]), "row 0: y is nan"),
    (lambda: Triplets.from_responses([(0, 1, 2)], [1, 1]), "shape (2,) for 1"),
    (lambda: Triplets.from_odd_one_out([(0, 1, 1)]), "row 0: leaf 1 occurs twice"),
    (lambda: Triplets.from_odd_one_out([(0, 1, 2), (0, 1, -3)]), "row 1: leaf -3 is outside"),
    (lambda: Triplets.from_ranking([(0, 1)]), "at least two others"),
    (
        lambda: Triplets.from_ranking([(0, 1, 2)], n_ranked=3),
        "above the number of leaves besides the reference, 2",
    ),
    (lambda: Triplets.from_ranking([(0, 1, 2)], n_ranked=0), "below 1"),
    (lambda: Triplets.from_ranking([(0, 1, 2, 1)]), "leaf 1 occurs twice"),
    (lambda: Triplets([(0, 1, 2)]).sample(2), "more than the number of comparisons, 1"),
    (lambda: Triplets([(0, 1, 2)]).split(1.5), "outside 0..1"),
]


@pytest.mark.parametrize(("make", "part"), BAD, ids=[part for _, part in BAD])
def test_bad_input_is_explained(make, part):
    with pytest.raises(InputError) as error:
        make()
    assert part in str(error.value)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(3, 9), st.data())
@pytest.mark.filterwarnings("ignore:.*as if counted from 1:ordhc.errors.OrdhcWarning")
def test_answers_of_other_kinds_become_triplets(seed, m, width, data):
    rng = np.random.default_rng(seed)
    rows = [rng.choice(12, width, replace=False).tolist() for _ in range(m)]
    n_ranked = data.draw(st.integers(1, width - 1))
    expected = [
        (row[0], row[r], row[o]) for row in rows for r in range(1, n_ranked + 1) for o in range(r + 1, width)
    ]
    assert list(Triplets.from_ranking(rows, n_ranked, n_leaves=12)) == expected
    threes = [row[:3] for row in rows]
    odd = [pair for o, a, b in threes for pair in ((a, b, o), (b, a, o))]
    assert list(Triplets.from_odd_one_out(threes, n_leaves=12)) == odd
    central = [pair for c, a, b in threes for pair in ((a, c, b), (b, c, a))]
    weights = rng.random(m)
    made = Triplets.from_most_central(threes, n_leaves=12, weights=weights)
    assert list(made) == central
    assert made.weights.tolist() == np.repeat(weights, 2).tolist()
    y = rng.choice([-1, 1], m)
    answered = [(a, b, c) if up == 1 else (a, c, b) for (a, b, c), up in zip(threes, y, strict=True)]
    assert list(Triplets.from_responses(threes, y, 12)) == answered
    assert list(Triplets.from_responses(threes, y == 1, 12)) == answered
    assert list(Triplets.from_responses(threes, n_leaves=12)) == [tuple(row) for row in threes]


def test_rankings_have_names():
    assert Triplets.from_ranking([("a", "b", "c", "d")], n_ranked=1).names == ("a", "b", "c", "d")


@settings(deadline=None)
@given(any_triplets())
def test_derived_comparisons(t):
    assert pickle.loads(pickle.dumps(t)) == t
    q = t.to_quadruplets()
    assert list(q) == [(i, j, i, k) for i, j, k in t]
    assert (q.n_leaves, q.names) == (t.n_leaves, t.names)
    assert q.to_quadruplets() is q
    distinct = t.deduplicate()
    assert list(distinct) == list(dict.fromkeys(t))
    assert distinct.weights is None
    sums = {}
    for row, weight in zip(t, np.ones(len(t)) if t.weights is None else t.weights, strict=True):
        sums[row] = sums.get(row, 0) + weight
    counted = t.deduplicate(counts=True)
    np.testing.assert_allclose(counted.weights, list(sums.values()))
    np.testing.assert_allclose(ordhc.similarity(counted), ordhc.similarity(t), atol=1e-9)
    part = t.sample(len(t) // 2, seed=3)
    assert part == t.sample(len(t) // 2, seed=3)
    assert len(part) == len(t) // 2
    train, test = t.split(0.6, seed=1)
    assert (train, test) == t.split(0.6, seed=1)
    assert sorted([*train, *test]) == sorted(t)
    assert len(train) == round(0.6 * len(t))
    assert t[: len(t) // 2].n_leaves == t.n_leaves
    assert list(t[np.arange(len(t)) % 2 == 0]) == list(t)[::2]


def test_samples_differ_by_seed():
    t = ordhc.datasets.planted(400, levels=2, leaves_per_cluster=4)[0]
    assert t.sample(50, seed=0) != t.sample(50, seed=1)
    assert len(set(t.sample(50))) == 50


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32])
@settings(deadline=None, max_examples=15)
@given(any_triplets())
def test_narrow_ids_are_used_as_they_are(dtype, t):
    rows = np.ascontiguousarray(t.rows.astype(dtype))
    own = Triplets(rows, t.n_leaves, t.names, t.weights, copy=False)
    assert own == t
    assert not len(t) or (own.rows.dtype == dtype and np.shares_memory(own.rows, rows))
    assert rows.flags.writeable
    for name in ("adds3", "mulk3"):
        assert ordhc.similarity(own, name).tolist() == ordhc.similarity(t, name).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        for method in ("adds3-al", "3-al", "4-al"):
            tree = ordhc.cluster(t, method=method)
            assert ordhc.cluster(own, method=method) == tree
            assert ordhc.score(tree, own) == ordhc.score(tree, t)
    assert own.sample(len(t) // 2, seed=0) == t.sample(len(t) // 2, seed=0)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_narrow_ids_are_checked(dtype):
    with pytest.raises(InputError, match="row 1.*250"):
        Triplets(np.array([(0, 1, 2), (0, 250, 2)], dtype=dtype), n_leaves=5)
    with pytest.raises(InputError, match="row 0"):
        Triplets(np.array([(0, 1, 1)], dtype=dtype))
