"""Files: what is read, what is written, what is refused."""

import io
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Dendrogram, Triplets
from ordhc.errors import InputError, MissingExtraError
from ordhc.io import read_names

NAMES = ["a cat", 'say "dog"', "car, red", "été", "#5", "it's"]


def read(text, **options):
    return ordhc.read_answers(io.StringIO(text), **options)


@settings(deadline=None)
@given(st.lists(st.permutations(range(4)).map(lambda p: tuple(p[:3])), min_size=1), st.sampled_from(",\t; "))
@pytest.mark.filterwarnings("ignore:.*as if counted from 1:ordhc.errors.OrdhcWarning")
def test_text_of_any_delimiter(rows, delimiter):
    text = "".join(delimiter.join(map(str, row)) + "\n" for row in rows)
    assert list(read(text)) == rows
    assert list(read("# made up\n\n" + text.rstrip("\n"), comment="#")) == rows


def test_columns_are_found():
    assert list(read("winner,loser,head,rt\n1,2,0,9\n")) == [(0, 1, 2)]
    assert read("anchor,near,far,count\n0,1,2,3\n").weights.tolist() == [3]
    assert read("w,anchor,near,far\n7,0,1,2\n", weights="w").weights.tolist() == [7]
    assert list(read("p,q,r\n1,2,0\n", items=["r", "p", "q"])) == [(0, 1, 2)]
    assert list(read("9,1,2,0\n", items=[3, 1, 2])) == [(0, 1, 2)]
    assert read("\ufeffAnchor,Near,Far\ncat,dog,car\n").names == ("cat", "dog", "car")
    assert list(read("cat,dog,car\n", names=["car", "cat", "dog"], header=False)) == [(1, 2, 0)]
    assert list(ordhc.read_answers(io.BytesIO(b"i,j,k,l\n0,1,2,3\n"), "pairs")) == [(0, 1, 2, 3)]


def test_damaged_files_are_refused(tmp_path):
    t = Triplets([(0, 1, 2)] * 50, weights=np.random.default_rng(0).random(50))
    for name in ["t.csv.gz", "t.npz", "t.parquet"]:
        path = tmp_path / name
        ordhc.write_comparisons(t, path)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(InputError, match=name):
            ordhc.read_answers(path)
        path.write_bytes(b"nonsense")
        with pytest.raises(InputError, match=name):
            ordhc.read_answers(path)
    np.save(tmp_path / "t.npy", t.rows)
    whole = (tmp_path / "t.npy").read_bytes()
    (tmp_path / "t.npy").write_bytes(whole[:-20])
    with pytest.raises(InputError, match="t.npy: the file is cut"):
        ordhc.read_answers(tmp_path / "t.npy")
    with pytest.raises(FileNotFoundError, match="no such file"):
        ordhc.read_answers(tmp_path / "missing.csv")


def test_arrays_as_cblearn_keeps_them(tmp_path):
    np.savez(tmp_path / "a.npz", data=[(0, 1, 2), (0, 1, 2)], target=[1, -1])
    assert list(ordhc.read_answers(tmp_path / "a.npz")) == [(0, 1, 2), (0, 2, 1)]


def test_a_missing_extra_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r'pip install "ordhc\[parquet\]"'):
        ordhc.read_answers(tmp_path / "t.parquet")


def test_names_from_files(tmp_path):
    (tmp_path / "n.txt").write_text("cat\n\ndog \ncar\n")
    assert read_names(tmp_path / "n.txt") == ("cat", "dog", "car")
    (tmp_path / "n.csv").write_text('id,name\n1,dog\n0,"cat, big"\n2,car\n')
    assert read_names(tmp_path / "n.csv") == ("cat, big", "dog", "car")
    assert read("0,1,2\n", names=tmp_path / "n.csv").names == ("cat, big", "dog", "car")
    for text, part in [
        ("id,title\n0,x\n", "no column 'name'"),
        ("id,name\n0,x\n0,y\n", ":3: the id 0 occurs twice, first in line 2"),
        ("id,name\nx,x\n", "a whole number"),
        ("name\nx\nx\n", "'x' occurs twice"),
        ("id,name\n0,x\n1\n", ":3: the name is missing"),
        ("name\n", "no names"),
    ]:
        (tmp_path / "bad.csv").write_text(text)
        with pytest.raises(InputError) as error:
            read_names(tmp_path / "bad.csv")
        assert part in str(error.value)


@pytest.mark.parametrize("name", ["t.json", "t.csv", "t.npy", "t.json.gz"])
def test_trees_come_back(tmp_path, name):
    tree = Dendrogram([(0, 2), (1, 3), (4, 5)], [0.5, 1.0, 1.75], names=None if name[2] != "j" else NAMES[:4])
    ordhc.write_tree(tree, tmp_path / name)
    assert ordhc.read_tree(tmp_path / name) == tree


def test_newick_files_hold_lengths_that_give_the_heights(tmp_path):
    tree = Dendrogram([(0, 2), (1, 3), (4, 5)], [0.5, 1.0, 1.75])
    ordhc.write_tree(tree, tmp_path / "t.nwk")
    back = ordhc.read_tree(tmp_path / "t.nwk")
    assert (back.scale, back.kind, back.names) == ("lengths", tree.kind, None)
    assert back.heights.tolist() == tree.heights.tolist()
    assert back.lengths[:-1].tolist() == tree.lengths[:-1].tolist()
    assert back.parents.tolist() == tree.parents.tolist()


def test_bad_trees_name_the_line(tmp_path):
    for name, text, part in [
        ("t.nwk", "(a,\n(b,c);", "t.nwk:2:"),
        ("t.nwk", "", "empty"),
        ("t.json", '{"merges": [', "t.json:1: not JSON"),
        ("t.json", "[]", "t.json: there are no trees in the file"),
        ("t.json", "[1]", "the keys n_leaves and parents"),
        ("t.csv", "cluster_a,cluster_b,height,size\n0,1,x,2\n", "t.csv:2:"),
        ("t.csv", "0,1,2\n", "t.csv:1: 3 columns instead of 4"),
        ("t.npy", "abc", "is not a .npy"),
    ]:
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError) as error:
            ordhc.read_tree(tmp_path / name)
        assert part in str(error.value)
    with pytest.raises(InputError, match="the ending is none of"):
        ordhc.write_tree(Dendrogram([], []), tmp_path / "t.xyz")


def test_writing_fails_whole(tmp_path):
    with pytest.raises(InputError, match="no folder"):
        ordhc.write_tree(Dendrogram([], []), tmp_path / "none" / "t.nwk")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("quote", ["", '"'])
def test_names_in_a_single_column_hold_blanks(tmp_path, quote):
    path = tmp_path / "items.csv"
    names = ["I lost my card", "My card is gone", "hello"]
    path.write_text(
        "\ufeffname\r\n" + "".join(f"{quote}{name}{quote}\r\n" for name in names), encoding="utf-8"
    )
    assert ordhc.io.read_names(path) == tuple(names)
    path.write_text('label\n"one, or two"\nthree\n', encoding="utf-8")
    assert ordhc.io.read_names(path) == ("one, or two", "three")
    path.write_text("label\none, or two\nthree\n", encoding="utf-8")
    with pytest.raises(InputError, match="2 columns instead of 1"):
        ordhc.io.read_names(path)
