"""Data frames: columns by their names, in any order."""

import itertools
import sys

import numpy as np
import pytest

import ordhc
from ordhc import OrdinalClustering, Quadruplets, Triplets
from ordhc.errors import InputError, MissingExtraError, OrdhcWarning

ROWS = [(0, 1, 2), (1, 0, 3), (2, 3, 0), (3, 2, 1)]


class Frame:
    """As much of a frame as pandas and polars have in common."""

    def __init__(self, columns, index=None):
        self._columns = dict(zip(columns, index, strict=True)) if index else dict(columns)

    @property
    def columns(self):
        return list(self._columns)

    def __getitem__(self, name):
        return np.asarray(self._columns[name])

    def __array__(self, dtype=None, copy=None):
        return np.column_stack([np.asarray(column) for column in self._columns.values()])


def arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def records(columns):
    arrays = [np.asarray(column) for column in columns.values()]
    table = np.zeros(len(arrays[0]), dtype=[(n, a.dtype) for n, a in zip(columns, arrays, strict=True)])
    for name, values in zip(columns, arrays, strict=True):
        table[name] = values
    return table


KINDS = {"frame": Frame, "arrow": arrow, "records": records, "dict": dict}


def table(names, rows=ROWS, **more):
    return {**dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), **more}


@pytest.mark.parametrize("kind", KINDS)
def test_columns_go_by_name_in_any_order(kind):
    make = KINDS[kind]
    expected = ordhc.cluster(Triplets(ROWS), method="adds3-al")
    for names in (("anchor", "near", "far"), ("head", "winner", "loser"), ("Anchor", "positive", "negative")):
        whole = table(names)
        for order in itertools.permutations(names):
            data = make({name: whole[name] for name in order})
            assert Triplets(data) == Triplets(ROWS), order
            assert OrdinalClustering("adds3-al").fit(data).dendrogram_ == expected
    four = [(0, 1, 2, 3), (2, 3, 0, 2)]
    for order in itertools.permutations("ijkl"):
        data = make({name: table("ijkl", four)[name] for name in order})
        assert Quadruplets(data) == Quadruplets(four)
        assert OrdinalClustering(method="adds4-al").fit(data).n_features_in_ == 4


@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_other_kinds_go_by_name(kind):
    make = KINDS[kind]
    for first, method in [("odd", Triplets.from_odd_one_out), ("central", Triplets.from_most_central)]:
        names = (first, "a", "b")
        who = ["ann", "bob", "ann", "cid"]
        expected = method(ROWS, weights=[1, 2, 3, 4], groups=who)
        for order in itertools.permutations(names):
            data = make({**{n: table(names)[n] for n in order}, "count": [1, 2, 3, 4], "participant": who})
            assert method(data) == expected
            with pytest.raises(InputError, match=f"for ordhc.Triplets.from_{method.__name__[5:]}"):
                Triplets(data)
    data = make({"b": [2, 2], "response": [1, -1], "anchor": [0, 0], "a": [1, 1]})
    assert Triplets.from_responses(data) == Triplets([(0, 1, 2), (0, 2, 1)])
    assert OrdinalClustering().fit(data).n_features_in_ == 3
    data = make({"first": [1, 2], "second": [2, 1], "reference": [0, 3], "third": [3, 0]})
    assert Triplets.from_ranking(data, 1) == Triplets.from_ranking([(0, 1, 2, 3), (3, 2, 1, 0)], 1)


@pytest.mark.parametrize("kind", KINDS)
def test_further_columns(kind):
    data = KINDS[kind](
        table(
            ("near", "far", "anchor"),
            [(1, 2, 0), (0, 3, 1)],
            weight=[0.5, 2],
            answer=[7, 7],
            person=["x", "y"],
        )
    )
    t = Triplets(data)
    assert t.weights.tolist() == [0.5, 2]
    assert t.answers.tolist() == [7, 7]
    assert (t.groups.tolist(), t.group_names) == ([0, 1], ("x", "y"))
    assert Triplets(data, weights=[1, 1]).weights.tolist() == [1, 1]
    model, plain = OrdinalClustering(), OrdinalClustering()
    weighted = ordhc.Triplets([(0, 1, 2), (1, 0, 3)], weights=[0.5, 2])
    assert model.fit(data).dendrogram_ == plain.fit(weighted).dendrogram_


def test_names_of_leaves_in_frames():
    data = {"far": ["car", "car"], "anchor": ["cat", "dog"], "near": ["dog", "cat"]}
    assert Triplets(data).names == ("cat", "dog", "car")
    assert Triplets(Frame(data)) == Triplets([("cat", "dog", "car"), ("dog", "cat", "car")])


def test_unnamed_columns_go_by_position():
    for names in (range(3), ("x", "y", "z"), ("a", "b", "c"), ("column_0", "column_1", "column_2")):
        assert Triplets(Frame(table(names))) == Triplets(ROWS)


BAD = [
    (table(("anchor", "close", "away")), "'anchor' alone does not say which column is which"),
    (table(("x", "y", "z"), weight=[1] * 4), "anchor, near, far are needed"),
    (table(("x", "y")[:2], [(0, 1)]), "anchor, near, far are needed"),
    (table("ijkl", [(0, 1, 2, 3)]), "i, j, k, l are for ordhc.Quadruplets"),
    ({**table(("anchor", "near", "far")), **table(("head", "winner", "loser"))}, "hold both"),
    (table(("anchor", "near", "far"), weight=[1] * 4, count=[1] * 4), "mean the same"),
    ({**table(("anchor", "near", "far")), "Near": [1] * 4}, "2 columns 'near'"),
    (table(("anchor", "near", "far"), [(0, 1, None)]), "row 0: far is None"),
    ({"anchor": [0, 1], "near": [1], "far": [2, 3]}, "column 1 has shape (1,)"),
    (table(("anchor", "near", "far"), [(0, 1, 2.5)]), "row 0: far is 2.5"),
]


@pytest.mark.parametrize(("data", "part"), BAD, ids=[part for _, part in BAD])
def test_bad_frames_are_explained(data, part):
    for make in (dict, Frame):
        with pytest.raises(InputError) as error:
            Triplets(make(data))
        assert part in str(error.value)


def test_missing_values_in_arrow_are_missing():
    pa = pytest.importorskip("pyarrow")
    data = pa.table({"anchor": [0, None], "near": [1, 1], "far": [2, 2]})
    with pytest.raises(InputError, match="row 1: anchor is nan"):
        Triplets(data)


def test_frames_of_other_packages_go_through_narwhals(monkeypatch):
    polars = pytest.importorskip("polars")
    lazy = polars.LazyFrame({"far": [2, 3], "near": [1, 0], "anchor": [0, 1]})
    assert Triplets(lazy) == Triplets.from_frame(lazy) == Triplets(ROWS[:2])
    assert OrdinalClustering().fit(lazy).dendrogram_ == ordhc.cluster(Triplets(ROWS[:2]))
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(
        MissingExtraError, match=r'a lazy frame needs narwhals: pip install "ordhc\[frames\]"'
    ):
        Triplets(lazy)
    # What has columns of its own needs no other package.
    assert Triplets(lazy.collect()) == Triplets(ROWS[:2])


def test_lists_of_dicts_have_columns():
    rows = [dict(zip(("far", "anchor", "near", "worker"), (c, a, b, "ann"), strict=True)) for a, b, c in ROWS]
    assert Triplets(rows) == Triplets(ROWS, groups=["ann"] * 4)
    with pytest.raises(InputError, match="needs named columns"):
        Triplets.from_frame([(0, 1, 2)])


LONG = 10**5000
ANSWERS = {"a": ["x", "y"], "b": ["y", "z"], "c": ["z", "w"], "odd": ["z", "y"], "who": ["ann", "bob"]}
ASKED = {"kind": "odd-one-out", "items": ["a", "b", "c"], "chosen": "odd", "chosen_as": "name"}
ODD = {
    "columns": ({LONG: [1], "b": [2], "c": [3]}, {}),
    "cells": ({"anchor": [LONG], "near": [2], "far": [3]}, {}),
    "items": (ANSWERS, {**ASKED, "items": [LONG, "b", "c"]}),
    "chosen": (ANSWERS, {**ASKED, "chosen": LONG}),
    "answers": ({**ANSWERS, "odd": [LONG, "y"]}, ASKED),
    "exclude": (ANSWERS, {**ASKED, "exclude": {"who": LONG}}),
}


@pytest.mark.parametrize("where", ODD)
def test_long_numbers_as_cells_and_names_are_explained(where):
    data, asked = ODD[where]
    with pytest.raises(InputError, match="a number of 5001 digits"):
        Triplets.from_frame(data, **asked)


def test_times_are_text_and_no_time_is_none():
    times = [np.timedelta64(3, "s"), np.timedelta64(3, "s"), np.timedelta64(4, "s")]
    t = Triplets.from_frame({"anchor": ["a", "a", "b"], "near": ["b", "c", "c"], "far": times})
    assert t.names == ("a", "b", "0:00:03", "c", "0:00:04")
    with pytest.warns(OrdhcWarning, match="1 of 2 rows are left out: 1 without an item"):
        Triplets.from_frame(
            {"anchor": ["a", "a"], "near": ["b", "c"], "far": ["c", np.timedelta64("NaT", "s")]}
        )
