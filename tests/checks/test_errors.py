"""Errors carry what they are about as fields."""

import pickle

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError


def _error(call):
    with pytest.raises(InputError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize(
    ("call", "row", "leaves"),
    [
        (lambda: ordhc.Triplets([[0, 1, 2], [0, 1, 1]]), 1, ((0, 1, 1),)),
        (lambda: ordhc.Triplets([[0, 1, 7]], n_leaves=3), 0, ((7,),)),
        (lambda: ordhc.Triplets([[0, 1, 2]], weights=[np.nan]), 0, None),
        (lambda: ordhc.Triplets([[0, 1, 2.5]]), 0, None),
        (lambda: ordhc.Triplets.from_ranking([[0, 1, 1]]), 0, ((0, 1, 1),)),
        (lambda: ordhc.linkage([[0, 1], [2, 0]], dissimilarity=False), None, ((0, 1),)),
        (lambda: ordhc.linkage([1.0, np.nan, 2.0], dissimilarity=False), None, ((0, 2),)),
        (lambda: ordhc.cluster([[1.0, 2.0], [0.0, np.inf]], method="dot-al"), 1, None),
        (lambda: ordhc.linkage(np.eye(3), "no linkage", dissimilarity=False), None, None),
    ],
)
def test_rows_and_leaves(call, row, leaves):
    error = _error(call)
    assert (error.row, error.leaves, error.line, error.path) == (row, leaves, None, None)
    place = "" if row is None else f"row {row}: "
    assert str(error) == f"{place}{error.reason}"


def test_contradictions_are_groups_of_leaves():
    t = ordhc.Triplets([("cat", "dog", "car"), ("cat", "car", "dog"), ("car", "bus", "cat")])
    error = _error(lambda: ordhc.cluster(t, method="build"))
    assert {frozenset(group) for group in error.leaves} == {frozenset({0, 1, 2})}
    assert "(cat, dog, car)" in str(error)
    error = _error(lambda: ordhc.cluster(ordhc.Quadruplets([[0, 1, 1, 2]]), method="4-cl"))
    assert error.leaves == ((0, 1), (0, 2))


@pytest.mark.parametrize("tie_seed", [None, 3])
def test_leaves_of_errors_are_numbered_as_in_the_data(tmp_path, tie_seed):
    rows = [(0, 5, 1), (2, 8, 5), (5, 8, 2), (8, 5, 2)]
    for weights in (None, [0, 1, 1, 1]):
        t = ordhc.Triplets(rows, n_leaves=10, weights=weights)
        error = _error(lambda t=t: ordhc.cluster(t, method="build", tie_seed=tie_seed))
        assert set(error.leaves) <= {(2, 8, 5), (5, 8, 2), (8, 5, 2)}
        assert all(str(group) in str(error) for group in error.leaves)
    q = ordhc.Quadruplets([(4, 9, 4, 7), (9, 7, 4, 9)], n_leaves=12)
    error = _error(lambda: ordhc.cluster(q, method="4-sl", tie_seed=tie_seed))
    assert set(map(frozenset, error.leaves)) == {frozenset({4, 7}), frozenset({7, 9})}
    assert all(str(group) in str(error) for group in error.leaves)


def test_files_and_lines(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("anchor,near,far\n0,1,2\n0,1,1\n")
    error = _error(lambda: ordhc.read_answers(path))
    assert (error.path, error.line, error.leaves) == (str(path), 3, ((0, 1, 1),))
    assert str(error).startswith(f"{path}:3: leaf 1 occurs twice")
    path.write_text('anchor,near,far\n0,1,2\n0,"1,1\n')
    error = _error(lambda: ordhc.read_answers(path))
    assert (error.path, error.line, error.row) == (str(path), 3, None)
    path.write_text("")
    error = _error(lambda: ordhc.read_answers(path))
    assert (error.path, error.line, str(error)) == (str(path), None, f"{path}: the file is empty")
    tree = tmp_path / "tree.nwk"
    tree.write_text("(0,\n(1,2);")
    error = _error(lambda: ordhc.read_tree(tree))
    assert (error.path, error.line) == (str(tree), 2)
    rows = tmp_path / "rows.npy"
    np.save(rows, np.array([[0, 1, 2], [2, 2, 1]]))
    error = _error(lambda: ordhc.read_answers(rows))
    assert (error.path, error.row, error.line) == (str(rows), 1, None)


def test_messages_are_made_of_fields():
    assert str(InputError("why", row=3)) == "row 3: why"
    assert str(InputError("why", line=3)) == "line 3: why"
    assert str(InputError("why", path="a.csv", line=3)) == "a.csv:3: why"
    assert str(InputError("why", path="a.npy", row=3)) == "a.npy: row 3: why"
    error = InputError("why", path="a.npy", leaves=np.array([[1, 2]]))
    copy = pickle.loads(pickle.dumps(error))
    for each in (error, copy):
        assert (str(each), each.reason, each.leaves) == ("a.npy: why", "why", ((1, 2),))
