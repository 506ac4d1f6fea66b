"""The index of comparisons finds what looking at all rows finds."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError
from support.processes import run

NAMES = ("cat", "dog", "car", "bus", "owl", "elk")


@settings(deadline=None, max_examples=60)
@given(
    rows=st.lists(st.permutations(range(6)).map(lambda leaves: leaves[:3]), max_size=30),
    dtype=st.sampled_from([np.uint8, np.uint16, np.int32]),
    asked=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    named=st.booleans(),
)
def test_rows_are_found_as_by_looking_at_all(rows, dtype, asked, named):
    names = NAMES if named else None
    data = ordhc.Triplets(np.array(rows, dtype).reshape(-1, 3), n_leaves=6, names=names, copy=False)
    index = data.index()
    leaves = [NAMES[leaf] for leaf in asked] if named else asked
    expected = [at for at, row in enumerate(rows) if set(asked) <= set(row)]
    assert index.about(*leaves).tolist() == expected
    counts = Counter((row[0], *sorted(row[1:])) for row in rows)
    nearer = Counter((row[0], *sorted(row[1:])) for row in rows if row[1] < row[2])
    found = index.questions()
    number = (lambda leaf: NAMES.index(leaf)) if named else int
    keys = [tuple(map(number, key)) for key in zip(found["anchor"], found["a"], found["b"], strict=True)]
    totals = (found["n_a"] + found["n_b"]).tolist()
    assert dict(zip(keys, totals, strict=True)) == counts
    assert totals == sorted(totals, reverse=True)
    assert [nearer[key] for key in keys] == found["n_a"].tolist()
    some = index.questions(*leaves)
    assert len(some["a"]) == sum(set(asked) <= set(key) for key in keys)


def test_one_leaf_is_a_view():
    index = ordhc.Triplets([(0, 1, 2), (1, 0, 2), (3, 1, 2)]).index()
    assert np.shares_memory(index.about(1), index._rows)
    with pytest.raises(ValueError, match="read-only"):
        index.about(1)[0] = 7


def test_pairs():
    data = ordhc.Quadruplets([(0, 1, 2, 3), (3, 2, 1, 0), (0, 1, 0, 2), (0, 2, 1, 0)])
    index = data.index()
    assert index.about(0).tolist() == [0, 1, 2, 3]
    found = index.questions(3)
    assert [found[name].tolist() for name in ("i", "j", "k", "l", "n_ij", "n_kl")] == [
        [0],
        [1],
        [2],
        [3],
        [1],
        [1],
    ]
    assert index.questions(1, 2)["n_ij"].tolist() == [1, 1]


def test_nothing_and_mistakes():
    empty = ordhc.Triplets(np.zeros((0, 3), int), n_leaves=4).index()
    assert empty.about(0).tolist() == []
    assert {name: len(column) for name, column in empty.questions().items()} == dict.fromkeys(
        ("anchor", "a", "b", "n_a", "n_b"), 0
    )
    index = ordhc.Triplets([("cat", "dog", "car")]).index()
    with pytest.raises(InputError, match="'cta' is unknown"):
        index.about("cta")
    with pytest.raises(InputError, match="leaf = 3"):
        index.about(3)
    with pytest.raises(InputError, match="needs at least one leaf"):
        index.about()


def test_the_command_line_tells_what_was_asked(tmp_path, capsys):
    path = tmp_path / "a.ordhc"
    with ordhc.Session(path, names=NAMES[:4]) as session:
        session.add_answers([[0, 1, 2], [2, 1, 0], [0, 1, 3]], [2, 1, -1], who="ann")
        session.add_answers([[0, 1, 2]], [2], who="bob")
    code, out, _ = run(capsys, "session", "about", path, "cat", "dog")
    assert code == 0
    assert out.splitlines()[0] == "4 answers to 2 questions"
    assert "cat | dog | car" in out
    assert "car 2, dog 1" in out
    assert "none 1" in out
    code, out, _ = run(capsys, "session", "about", path, "bus", "--json")
    assert (code, '"n_people": 1' in out) == (0, True)
    code, _, err = run(capsys, "session", "about", path, "cta")
    assert (code, "'cta' is unknown" in err) == (2, True)
