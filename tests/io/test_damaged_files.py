"""Files that are damaged, or made to take long: refused at once, in words of ordhc."""

import io
import json
import os
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuzz_readers
import ordhc
from ordhc import Dendrogram
from ordhc.errors import InputError

#: Damaged files in all that the readers are given.
COUNT = int(os.environ.get("ORDHC_FUZZ", "5000"))
TREE = Dendrogram([(0, 1), (3, 2)], [1.0, 2.0], names=["a", "b", "c"])


@pytest.mark.parametrize("n", [0, 2, 4, 10**18, -1, "3", 2.5])
def test_json_with_another_number_of_leaves(n):
    document = TREE.to_dict() | {"n_leaves": n}
    with pytest.raises(InputError, match="n_leaves"):
        ordhc.read_tree(io.StringIO(json.dumps(document)))
    with pytest.raises(InputError, match="n_leaves"):
        ordhc.as_dendrogram(document)


@pytest.mark.parametrize("key", ["n_leaves", "parents"])
def test_json_that_lacks_a_key(key):
    document = TREE.to_dict()
    del document[key]
    with pytest.raises(InputError, match="a dict that has the keys n_leaves and parents"):
        ordhc.as_dendrogram(document)


@pytest.mark.parametrize("shape", [(3, 0), (0,), (0, 7), (0, 2), (1, 0, 4), (2, 3), ()])
def test_linkage_matrices_of_other_shapes(tmp_path, shape):
    np.save(tmp_path / "z.npy", np.zeros(shape))
    for read in (
        lambda: Dendrogram.from_linkage_matrix(np.zeros(shape)),
        lambda: ordhc.read_tree(tmp_path / "z.npy"),
    ):
        with pytest.raises(InputError, match="Z has shape"):
            read()
    assert Dendrogram.from_linkage_matrix(np.zeros((0, 4))).n_leaves == 1


@pytest.mark.parametrize(
    "text",
    [
        "#NEXUS\n" + "[" * 10**6,
        "#NEXUS\n" + "]" * 10**5 + "[" * 10**5,
        "#NEXUS\nBEGIN TREES;\nTREE t = (a,b);\nEND;\n" + "[" * 10**5,
        "#NEXUS\nBEGIN TREES;\nTREE t = (" + "[" * 10**5 + "a,b);\nEND;\n",
        "#NEXUS\n" + "'[" * 10**5,
    ],
    ids=["open", "closed before", "after", "within", "quoted"],
)
def test_nexus_with_comments_that_have_no_end(text):
    pytest.importorskip("dendropy")
    with pytest.raises(InputError, match=r"the comment that begins here with \[ has no \]"):
        ordhc.read_tree(io.StringIO(text))


def test_newick_in_quotes_without_end():
    with pytest.raises(InputError, match="more text after"):
        ordhc.read_trees(io.StringIO("(a,b);(c,d);" + "'" * 10_001 + "[" * 10**5))


@given(name=st.text(alphabet=string.punctuation + " ab1é", max_size=4))
def test_nexus_holds_all_names_or_refuses_them(tmp_path_factory, name):
    pytest.importorskip("dendropy")
    path = tmp_path_factory.mktemp("nexus") / "t.nex"
    for tree in (TREE.replace(names=[name, "aa", "bb"]), TREE.replace(node_names=[name, None])):
        if name in ("", "(", ")", ",", ":", ";"):
            with pytest.raises(InputError, match="cannot be written as NEXUS"):
                ordhc.write_tree(tree, path)
            continue
        ordhc.write_tree(tree, path)
        found = ordhc.read_tree(path)
        assert sorted(found.names) == sorted(tree.names)
        if tree.node_names is not None:
            assert set(found.node_names) == {name, None}


NPZ = {
    "group names alone": ({"group_names": np.array(["a", "b"])}, "group_names, but no groups"),
    "weights in three dimensions": ({"weights": np.ones((1, 3, 3))}, r"weights have shape \(1, 3, 3\)"),
    "one group": ({"groups": np.array(1)}, r"groups have shape \(\)"),
    "answers of others": (
        {"answers": np.arange(5)},
        r"answers have shape \(5,\); one value for each of 2 rows",
    ),
}


@pytest.mark.parametrize(("arrays", "message"), NPZ.values(), ids=NPZ)
@pytest.mark.parametrize("skip_bad", [False, True])
def test_npz_with_parts_that_do_not_fit(tmp_path, arrays, message, skip_bad):
    np.savez(tmp_path / "a.npz", rows=np.array([(0, 1, 2), (0, 0, 1)]), **arrays)
    with pytest.raises(InputError, match=message) as found:
        ordhc.read_answers(tmp_path / "a.npz", skip_bad=skip_bad)
    assert "cannot be read as" not in str(found.value)


@pytest.mark.filterwarnings("ignore:.*taken as names")
@pytest.mark.parametrize("text", ["99\n", "99,99,99\n", "0,1\n"])
def test_rankings_of_too_few(text):
    with pytest.raises(InputError) as found:
        ordhc.read_answers(io.StringIO(text), "ranking")
    assert "cannot be read as" not in str(found.value)


@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
def test_one_row_of_a_million_cells(mark):
    text = mark * 1_000_001 + "\n0,1,2\n"
    for read in (ordhc.read_answers, lambda file: ordhc.read_answers(file, exclude=["ann"])):
        with pytest.raises(InputError, match="1: the first line has 1,000,002 cells, more than 1,000,000"):
            read(io.StringIO(text))


def test_many_bad_rows_are_counted_not_listed(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", rows=np.zeros((2_000_000, 3), dtype=np.uint8))
    with pytest.raises(
        InputError, match="row 0: leaf 0 occurs twice .*; 2,000,000 of 2,000,000 rows are bad"
    ):
        ordhc.read_answers(tmp_path / "a.npz")


@pytest.mark.parametrize("seed", range(2))
def test_readers_give_a_result_or_an_error(tmp_path, seed):
    troubles, tally = fuzz_readers.run(COUNT // 2, seed, tmp_path)
    assert [(name, found) for _, name, found, _ in troubles] == []
    assert sum(tally.values()) == COUNT // 2
    for kind in {kind for kind, _ in tally}:
        # Mutations are neither all fatal nor all harmless.
        assert tally[kind, "error"] > 10
        assert tally[kind, "result"] > 0


def test_the_fuzzer_notices_what_it_looks_for():
    for error in (KeyError("x"), InputError("x" * 501), InputError("\x07")):

        def fails(_, error=error):
            raise error

        assert fuzz_readers.trouble(fails, b"", "t.csv")[0]
    assert fuzz_readers.trouble(lambda _: None, b"", "t.csv") == (None, "result")
