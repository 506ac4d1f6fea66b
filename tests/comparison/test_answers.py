"""Answers of several rows, and who gave them: what carries them along, and keeps them together."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Quadruplets, Triplets
from ordhc.comparison.canonical import in_order
from ordhc.comparison.units import numbered_rows
from ordhc.errors import InputError
from support.answers import answered, persons


def bags(t):
    """Each answer's rows, weights and person, in any order."""
    found = {}
    weights = [1.0] * len(t) if t.weights is None else t.weights.tolist()
    answers = range(len(t)) if t.answers is None else t.answers.tolist()
    for row, weight, answer, who in zip(t, weights, answers, persons(t), strict=True):
        found.setdefault((answer, who), []).append((row, weight))
    return found


def test_answers_are_numbered_and_people_kept():
    t = Triplets.from_odd_one_out([(2, 0, 1), (0, 1, 2)], groups=["ann", "bob"])
    assert t.answers.tolist() == [0, 0, 1, 1]
    assert t.groups.tolist() == [0, 0, 1, 1]
    assert t.group_names == ("ann", "bob")
    assert t.answers.dtype == t.groups.dtype == np.int32
    assert repr(t) == "<Triplets: 4 of 3 leaves, 2 answers, 2 groups>"
    t = Triplets.from_most_central([(2, 0, 1), (0, 1, 2)], groups=[41, 17])
    assert (t.groups.tolist(), t.group_names) == ([41, 41, 17, 17], None)
    assert Triplets.from_ranking([(0, 1, 2, 3)] * 2).answers.tolist() == [0] * 3 + [1] * 3
    assert Triplets.from_ranking([(0, 1, 2)] * 2).answers is None
    assert Triplets([(0, 1, 2)]).answers is Triplets([(0, 1, 2)]).groups is None
    huge = Triplets([(0, 1, 2)] * 2, groups=[2**40, -1], answers=["x", "y"])
    assert (huge.groups.tolist(), huge.group_names) == ([0, 1], (str(2**40), "-1"))
    assert huge.answers.tolist() == [0, 1]
    for array in (t.answers, t.groups):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


def test_the_caller_keeps_the_arrays():
    given = [np.array(values, dtype=np.int32) for values in ([(0, 1, 2), (1, 0, 2)], [0, 0], [4, 4])]
    t = Triplets(given[0], answers=given[1], groups=given[2])
    for array in given:
        array[:] = 9
    assert (list(t), t.answers.tolist(), t.groups.tolist()) == ([(0, 1, 2), (1, 0, 2)], [0, 0], [4, 4])


@settings(deadline=None)
@given(answered(), st.integers(0, 99), st.data())
def test_answers_go_with_their_rows(t, seed, data):
    assert pickle.loads(pickle.dumps(t)) == t == Triplets(t)
    q = t.to_quadruplets()
    assert isinstance(q, Quadruplets)
    assert (q.answers.tolist(), persons(q)) == (t.answers.tolist(), persons(t))
    assert q.group_names == t.group_names
    at = data.draw(st.lists(st.integers(0, len(t) - 1), max_size=12))
    for index in (np.array(at, dtype=int), slice(1, None, 2), np.arange(len(t)) % 3 == 0):
        part = t[index]
        assert part.answers.tolist() == t.answers[index].tolist()
        assert persons(part) == np.array(persons(t), dtype=object)[index].tolist()
    order = np.random.default_rng(seed).permutation(t.n_leaves)
    moved = in_order(t, order)
    rows = order[moved.rows]
    assert sorted(
        zip(rows.tolist(), moved.answers.tolist(), map(str, persons(moved)), strict=True)
    ) == sorted(zip(t.rows.tolist(), t.answers.tolist(), map(str, persons(t)), strict=True))
    whole = bags(t)
    for unit in ("answer", None):
        parts = t.split(0.5, seed=seed, unit=unit)
        assert parts == t.split(0.5, seed=seed, unit=unit)
        assert {**bags(parts[0]), **bags(parts[1])} == whole
        assert not set(bags(parts[0])) & set(bags(parts[1]))
        if unit is None and len(set(persons(t))) > 1:
            assert not set(persons(parts[0])) & set(persons(parts[1]))
            assert len(set(persons(parts[0]))) == round(0.5 * len(set(persons(t))))
        else:
            assert len(bags(parts[0])) == round(0.5 * len(whole))
    m = len(whole) // 2
    drawn = bags(t.sample(m, seed=seed))
    assert len(drawn) == m
    assert drawn.items() <= whole.items()


def test_people_may_number_their_answers_alike():
    t = Triplets(
        [(0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 0, 1)],
        answers=[0, 0, 0, 0],
        groups=["ann", "ann", "bob", "bob"],
    )
    for part in t.split(0.5, unit="answer"):
        assert len(part) == 2
        assert len(set(part.groups.tolist())) == 1
    assert len(t.sample(1)) == 2
    assert t.deduplicate().answers.tolist() == [0, 0, 1, 1]


def test_groups_can_be_drawn_as_a_whole():
    t = Triplets.from_odd_one_out([(2, 0, 1)] * 6, groups=list("aabbcc"))
    part = t.sample(1, unit="group", seed=3)
    assert len(part) == 4
    assert len(set(persons(part))) == 1
    # One person only says nothing about who belongs together.
    alone = Triplets.from_odd_one_out([(2, 0, 1)] * 6, groups=["ann"] * 6)
    assert [len(part) for part in alone.split(0.5)] == [6, 6]


def test_distinct_rows_are_nobodys():
    t = Triplets.from_odd_one_out([(2, 0, 1), (0, 1, 2), (2, 1, 0)], groups=["ann", "bob", "cid"])
    distinct = t.deduplicate(counts=True)
    assert distinct.rows.tolist() == [[0, 1, 2], [1, 0, 2], [1, 2, 0], [2, 1, 0]]
    assert distinct.weights.tolist() == [2, 2, 1, 1]
    assert distinct.answers.tolist() == [0, 0, 1, 1]
    assert (distinct.groups, distinct.group_names) == (None, None)


def test_sessions_and_learners_tell_whose_answers_they_are(tmp_path):
    with ordhc.Session(tmp_path / "s.ordhc", n_leaves=5) as session:
        for who in ("ann", "bob", "ann", None):
            asked = session.ask(1)
            session.tell(asked.ids, [2], who=who)
        t = session.comparisons()
    assert t.answers.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert persons(t) == ["ann"] * 2 + ["bob"] * 2 + ["ann"] * 2 + [""] * 2
    oracle = ordhc.oracles.Recording(ordhc.oracles.from_tree("((0,1),(2,3));"))
    ordhc.learn(oracle, 4)
    kept = oracle.comparisons()
    assert kept.answers.tolist() == np.repeat(np.arange(len(kept) // 2), 2).tolist()
    assert kept.groups is None


BAD = [
    (lambda: Triplets([(0, 1, 2)], answers=[0, 1]), "answers has shape (2,); one entry for each of 1"),
    (lambda: Triplets([(0, 1, 2)], answers=[0.5]), "answers[0] = 0.5 is not a whole number"),
    (lambda: Triplets([(0, 1, 2)], groups=[None]), "groups[0] is None"),
    (lambda: Triplets([(0, 1, 2)], groups=[np.nan]), "groups[0] = nan"),
    (lambda: Triplets([(0, 1, 2)] * 2, groups=np.array(["a", 1], dtype=object)), "groups[1] is 1"),
    (lambda: Triplets([(0, 1, 2)], group_names=["a"]), "without groups"),
    (lambda: Triplets([(0, 1, 2)], groups=[1], group_names=["a"]), "groups[0] is 1; there are 1"),
    (lambda: Triplets([(0, 1, 2)], groups=["b"], group_names=["a"]), "groups are names already"),
    (
        lambda: Triplets.from_odd_one_out([(0, 1, 2)], groups=["a", "b"]),
        "groups has shape (2,); one entry for",
    ),
    (lambda: Triplets.from_odd_one_out([(0, 1, 2)]).sample(2), "m = 2 is more than the number of answers, 1"),
    (lambda: Triplets([(0, 1, 2)]).sample(1, unit="group"), "have no groups"),
    (lambda: Triplets([(0, 1, 2)]).split(unit="row"), "unit is 'row', not one of answer, group"),
]


@pytest.mark.parametrize(("make", "part"), BAD, ids=[part for _, part in BAD])
def test_bad_input_is_explained(make, part):
    with pytest.raises(InputError) as error:
        make()
    assert part in str(error.value)


@given(st.integers(0, 12), st.integers(1, 5), st.sampled_from((2, 5, 2**20, 2**62)), st.integers(0, 2**32))
def test_rows_have_the_numbers_of_numpy(m, k, most, seed):
    rng = np.random.default_rng(seed)
    # Few different rows among many, of small and of huge numbers, below 0, too.
    table = rng.integers(-most, most, size=(max(m // 2, 1), k))[rng.integers(0, max(m // 2, 1), size=m)]
    expected = np.unique(table, axis=0, return_inverse=True)[1].ravel()
    assert numbered_rows(table).tolist() == expected.tolist()
